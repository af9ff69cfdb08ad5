//! The curves of a trial, and a figure of them.

use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel, Point};

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Rows are added to a random half of them.
    Addition,
    /// Rows are removed from all of them.
    Removal,
    /// Rows whose target is wrong are looked for.
    Detection,
}

/// The order in which rows come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// From the highest value down.
    High,
    /// From the lowest value up.
    Low,
    /// The mean of several random orders.
    Random,
    /// Rows of low value are looked at first.
    Value,
    /// Rows of a large penalty are looked at first.
    Penalty,
}

/// A curve of a trial.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What was tried.
    pub experiment: Experiment,
    /// Whose values.
    pub method: String,
    /// The order in which rows come.
    pub order: Order,
    /// How many rows were added, removed or looked at.
    pub n_rows: Vec<usize>,
    /// What the set is worth then; for a detection, the share of wrong rows found.
    pub height: Vec<f64>,
}

impl Experiment {
    /// All of them, in the order of a figure.
    pub const ALL: [Experiment; 3] = [Experiment::Addition, Experiment::Removal, Experiment::Detection];

    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            Experiment::Addition => "addition",
            Experiment::Removal => "removal",
            Experiment::Detection => "detection",
        }
    }

    /// The texts above, below and beside its panel.
    fn titles(self) -> [&'static str; 3] {
        match self {
            Experiment::Addition => ["Point addition", "rows added", "utility / utility of all rows"],
            Experiment::Removal => ["Point removal", "rows removed", "utility / utility of all rows"],
            Experiment::Detection => {
                ["Detection of wrong targets", "rows looked at", "share of wrong rows found"]
            }
        }
    }
}

impl Order {
    /// All of them.
    pub const ALL: [Order; 5] = [Order::High, Order::Low, Order::Random, Order::Value, Order::Penalty];

    /// The order of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.word() == word)
    }

    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            Order::High => "high",
            Order::Low => "low",
            Order::Random => "random",
            Order::Value => "value",
            Order::Penalty => "penalty",
        }
    }

    /// What the legend calls it; the random order needs no words.
    fn in_words(self) -> Option<&'static str> {
        match self {
            Order::High => Some("high first"),
            Order::Low => Some("low first"),
            Order::Value => Some("by value"),
            Order::Penalty => Some("by penalty"),
            Order::Random => None,
        }
    }

    fn dash(self) -> Dash {
        match self {
            Order::Low | Order::Penalty => Dash::Dashed,
            Order::High | Order::Value | Order::Random => Dash::Solid,
        }
    }
}

/// Draws the curves, one panel per experiment, with utility as a share of `whole`.
/// Each method has one colour; curves of the method `random` are grey. Curves that
/// start with low values or large penalties are dashed.
pub fn figure(title: &str, curves: &[Curve], whole: f64) -> Figure {
    let mut methods: Vec<&str> = Vec::new();
    for curve in curves {
        if curve.method != CHANCE && !methods.contains(&curve.method.as_str()) {
            methods.push(&curve.method);
        }
    }
    let line = |curve: &Curve| {
        let colour = match methods.iter().position(|method| *method == curve.method) {
            Some(number) => COLOURS[number % COLOURS.len()],
            None => Colour::Grey,
        };
        let (name, dash) = match curve.method.as_str() {
            CHANCE => (CHANCE.to_string(), Dash::Dotted),
            method => {
                // Lines that look alike share one name in all panels.
                let is_alike = |other: &Order| {
                    let has_it = |c: &Curve| c.method == method && c.order == *other;
                    other.dash() == curve.order.dash() && curves.iter().any(has_it)
                };
                let orders = Order::ALL.into_iter().filter(is_alike).filter_map(Order::in_words);
                let parts: Vec<&str> = orders.collect();
                let comma = if parts.is_empty() { "" } else { ", " };
                (format!("{method}{comma}{}", parts.join("; ")), curve.order.dash())
            }
        };
        let unit = if curve.experiment == Experiment::Detection { 1.0 } else { whole };
        let points =
            curve.n_rows.iter().zip(&curve.height).map(|(&n, &height)| Point::new(n as f64, height / unit));
        Line::new(name, colour, points.collect()).with_dash(dash)
    };
    let panels: Vec<Panel> = Experiment::ALL
        .into_iter()
        .filter_map(|experiment| {
            let lines: Vec<Line> = curves.iter().filter(|c| c.experiment == experiment).map(line).collect();
            let [title, x, y] = experiment.titles();
            let y = Axis::linear(y).with_least(LEAST_SHARE);
            (!lines.is_empty()).then(|| Panel::new(title, Axis::linear(x), y, lines))
        })
        .collect();
    Figure::new(title, panels.len(), panels)
}

/// The name of chance among methods.
const CHANCE: &str = "random";

/// The lowest share that is shown. A model of hardly more rows than columns may be
/// worse than none by many times what all rows are worth, which would flatten all
/// other curves.
const LEAST_SHARE: f64 = -1.0;

const COLOURS: [Colour; 6] =
    [Colour::Blue, Colour::Vermilion, Colour::Green, Colour::Purple, Colour::Orange, Colour::Sky];
