//! Figure 2: point addition on the twelve datasets.

use crate::addition::{
    COLUMNS, Curves, HOW_CLAIMS_ARE_TESTED, Order, Ranker, Verdict, n_rows, rankers, repetition,
};
use crate::data::{PANELS, Panel, Rows, Task};
use crate::ledger::{Row, Unit};
use crate::markdown::{MarkdownTable, repetitions, tenths, with_error};
use crate::output::Output;
use crate::settings::{Experiment, Settings};
use crate::{Error, Watch};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel as Chart, Point};
use std::path::Path;

/// The paper's repetitions.
pub(crate) const REPETITIONS: usize = 50;
/// Curves that are closer than this share of what they cover cannot be told apart.
const COINCIDING: f64 = 0.01;
/// Repetitions of the quick version, which takes about a minute.
pub(crate) const QUICK_REPETITIONS: usize = 3;

/// The requested panels among those that `belong`.
pub(crate) fn wanted(
    experiment: Experiment,
    settings: &Settings,
    belong: impl Fn(&Panel) -> bool,
) -> Result<Vec<Panel>, Error> {
    let all: Vec<Panel> = PANELS.into_iter().filter(belong).collect();
    let apart = settings.d_shapley_of.iter().map(|(name, _)| name);
    for name in settings.only.iter().flatten().chain(apart) {
        if !all.iter().any(|panel| panel.name == name) {
            return Err(Error::UnknownPanel {
                name: name.clone(),
                experiment: experiment.name(),
                panels: all.iter().map(|panel| panel.name).collect(),
            });
        }
    }
    Ok(all.into_iter().filter(|panel| settings.wants(panel.name)).collect())
}

/// Does all repetitions of some panels, one repetition after another, so that more
/// can be requested later.
pub(crate) fn curves(
    output: &mut Output,
    panels: &[Panel],
    settings: &Settings,
    watch: &dyn Watch,
    rankers: impl Fn(&Panel, usize) -> Vec<Ranker> + Sync,
) -> Result<Vec<Row>, Error> {
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let rows = Rows::of_all(panels, settings, watch)?;
    output.uses(&rows)?;
    let units: Vec<(usize, usize)> = (0..n).flat_map(|r| (0..panels.len()).map(move |p| (r, p))).collect();
    let plan: Vec<Unit> = units
        .iter()
        .map(|&(r, p)| Unit {
            key: vec![panels[p].name.into(), r.to_string()],
            n_rows: n_rows(rankers(&panels[p], r).len()),
        })
        .collect();
    output.complete(&COLUMNS, &plan, false, watch, |i| {
        let (r, p) = units[i];
        repetition(&panels[p], &rows[p], &rankers(&panels[p], r), settings, r)
    })
}

/// Point addition by exact values.
pub(crate) fn run(settings: &Settings, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let panels = wanted(Experiment::Fig2, settings, |_| true)?;
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let n_d_shapley = |panel: &Panel| settings.d_shapley(panel.name, panel.task, n);
    let mut output = Output::open(folder, Experiment::Fig2, settings, &panels)?;
    let rows = curves(&mut output, &panels, settings, watch, |panel, r| rankers(r < n_d_shapley(panel)))?;
    let curves = Curves::of(&rows);
    output.figure(&figure(&curves, &panels))?;
    output.summary(&summary(&curves, &panels, settings))
}

/// A line of a figure with a band of one standard error.
pub(crate) fn mean_line(
    curves: &Curves,
    panel: &Panel,
    (method, order): (&str, Order),
    (name, colour, dash): (&str, Colour, Dash),
) -> Option<Line> {
    let points: Vec<Point> = curves
        .mean(panel.name, method, order)
        .into_iter()
        .map(|(added, at)| {
            let band = if at.std_error.is_finite() { at.std_error } else { 0.0 };
            Point::new(added, at.mean).with_band(band)
        })
        .collect();
    (!points.is_empty()).then(|| Line::new(name, colour, points).with_dash(dash))
}

/// The label of the vertical axis of a panel.
pub(crate) fn utility_name(task: Task) -> &'static str {
    match task {
        Task::Regression => "relative utility, %",
        Task::Classification => "relative accuracy, %",
        Task::Density => "relative utility, %",
    }
}

fn figure(curves: &Curves, panels: &[Panel]) -> Figure {
    let styles = [
        (("random", Order::Random), ("random order", Colour::Grey, Dash::Dotted)),
        (("d-shapley", Order::Largest), ("D-SHAPLEY, largest first", Colour::Vermilion, Dash::Solid)),
        (("d-shapley", Order::Smallest), ("D-SHAPLEY, smallest first", Colour::Vermilion, Dash::Dashed)),
        (("paper", Order::Largest), ("the paper's algorithms, largest first", Colour::Orange, Dash::Solid)),
        (
            ("paper", Order::Smallest),
            ("the paper's algorithms, smallest first", Colour::Orange, Dash::Dashed),
        ),
        (("closed", Order::Largest), ("closed form, largest first", Colour::Blue, Dash::Solid)),
        (("closed", Order::Smallest), ("closed form, smallest first", Colour::Blue, Dash::Dashed)),
    ];
    let charts = panels.iter().map(|panel| {
        let lines = styles.iter().filter_map(|&(which, style)| mean_line(curves, panel, which, style));
        // Means of fewer repetitions have wider bands.
        let n = curves.n_repetitions(panel.name, "closed", Order::Largest);
        let n_drawn = curves.n_repetitions(panel.name, "d-shapley", Order::Largest);
        let drawn =
            if (1..n).contains(&n_drawn) { format!(", D-SHAPLEY of {n_drawn}") } else { String::new() };
        let name = panel.name.trim_end_matches("-density");
        let title = format!("{name} ({}{drawn}{})", panel.task.name(), coinciding(curves, panel));
        Chart::new(
            title,
            Axis::linear("points added"),
            Axis::linear(utility_name(panel.task)),
            lines.collect(),
        )
    });
    let title = format!("Point addition: {}", means(curves, panels));
    Figure::new(title, 4, charts.collect())
}

/// Says so where the curves of all methods lie on top of each other, so that only the last
/// one drawn is seen.
fn coinciding(curves: &Curves, panel: &Panel) -> &'static str {
    let ends = |method: &str, order| curves.mean(panel.name, method, order).last().map(|(_, at)| at.mean);
    let methods = ["d-shapley", "paper", "closed"];
    let at = |order| methods.iter().filter_map(|method| ends(method, order)).collect::<Vec<f64>>();
    let (largest, smallest) = (at(Order::Largest), at(Order::Smallest));
    let range = |values: &[f64]| {
        let (least, most) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
        most - least
    };
    let all = [largest.as_slice(), &smallest].concat();
    let apart = range(&largest).max(range(&smallest));
    match largest.len() {
        3 if apart < COINCIDING * range(&all) => "; the three methods coincide",
        2 if apart < COINCIDING * range(&all) => "; both methods coincide",
        _ => "",
    }
}

/// What lines and bands show; every repetition has random orders.
pub(crate) fn means(curves: &Curves, panels: &[Panel]) -> String {
    let counts = panels.iter().map(|panel| curves.n_repetitions(panel.name, "random", Order::Random));
    match counts.max().unwrap_or(0) {
        1 => "1 repetition".into(),
        n => format!("means of {n} repetitions, bands of one standard error"),
    }
}

fn summary(curves: &Curves, panels: &[Panel], settings: &Settings) -> String {
    let n = repetitions(settings.repetitions(QUICK_REPETITIONS, REPETITIONS));
    let mut text = format!(
        "# Figure 2: point addition\n\n\
         {n}, seed {seed}, data handling `{handling}`. Each repetition values 200 rows. A model starts \
         with 100 of them (10 on gaussian-c) and gets up to 50 of the other 100. A margin is how far a curve lies \
         on its own side of the random curve of the same repetition: above for largest first, below for smallest \
         first. Margins are in points of relative utility, averaged over the curve. ± is one standard error over \
         repetitions, z is the margin divided by it, and \"in\" counts the repetitions with a positive margin. \
         {HOW_CLAIMS_ARE_TESTED} The paper shows curves without numbers and claims that every margin is positive.\n\n",
        seed = settings.seed,
        handling = settings.handling.name(),
    );
    for (method, title) in [
        ("closed", "Closed form"),
        ("paper", "The paper's algorithms (3; 2 with the lower bound of 4, as in the authors' program; 5)"),
        ("d-shapley", "D-SHAPLEY"),
    ] {
        let table = margins(curves, panels, method);
        if let Some(table) = table {
            text += &format!("## {title}\n\n{table}");
        }
    }
    text + &leads(curves, panels).unwrap_or_default()
}

/// By how much the closed form is ahead of D-SHAPLEY, if it took part in several repetitions.
fn leads(curves: &Curves, panels: &[Panel]) -> Option<String> {
    let mut table =
        MarkdownTable::new(&["panel", "task", "repetitions", "largest first", "z", "smallest first", "z"]);
    let mut any = false;
    for panel in panels {
        let lead = |order| curves.lead(panel.name, "closed", "d-shapley", order).filter(|lead| lead.n > 1);
        let (Some(largest), Some(smallest)) = (lead(Order::Largest), lead(Order::Smallest)) else { continue };
        any = true;
        table.row(&[
            panel.name.into(),
            panel.task.name().into(),
            largest.n.to_string(),
            with_error(largest.mean, largest.std_error),
            tenths(largest.z()),
            with_error(smallest.mean, smallest.std_error),
            tenths(smallest.z()),
        ]);
    }
    any.then(|| {
        format!(
            "## Closed form against D-SHAPLEY\n\n\
             By how many points of relative utility the closed form is ahead: higher for largest first, lower for \
             smallest first. Differences are taken within repetitions and averaged along the curve. A negative \
             number means that D-SHAPLEY is ahead.\n\n{}",
            table.finish()
        )
    })
}

/// A table of margins of one method, if it took part.
pub(crate) fn margins(curves: &Curves, panels: &[Panel], method: &str) -> Option<String> {
    let mut table = MarkdownTable::new(&[
        "panel",
        "task",
        "largest first above random",
        "z",
        "in",
        "smallest first below random",
        "z",
        "in",
        "with 50 added, above",
        "below",
        "claim",
    ]);
    let mut any = false;
    for panel in panels {
        let margin = |order| curves.margin(panel.name, method, order);
        let (Some(largest), Some(smallest)) = (margin(Order::Largest), margin(Order::Smallest)) else {
            continue;
        };
        any = true;
        let words = |estimate: crate::statistics::MeanEstimate| with_error(estimate.mean, estimate.std_error);
        table.row(&[
            panel.name.into(),
            panel.task.name().into(),
            words(largest.overall),
            tenths(largest.overall.z()),
            format!("{} of {}", largest.n_right, largest.overall.n),
            words(smallest.overall),
            tenths(smallest.overall.z()),
            format!("{} of {}", smallest.n_right, smallest.overall.n),
            words(largest.last),
            words(smallest.last),
            claim(largest.verdict(), smallest.verdict()).into(),
        ]);
    }
    any.then(|| table.finish())
}

/// In words, whether both margins are positive beyond chance.
fn claim(largest: Verdict, smallest: Verdict) -> &'static str {
    match (largest, smallest) {
        (Verdict::TooFew, _) | (_, Verdict::TooFew) => "too few",
        (Verdict::Sure, Verdict::Sure) => "holds",
        (Verdict::Sure, Verdict::Open) => "largest first only",
        (Verdict::Open, Verdict::Sure) => "smallest first only",
        (Verdict::Open, Verdict::Open) => "not shown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addition::steps;

    /// One repetition, in which curves go straight to these ends.
    fn curves(ends: &[(&str, f64, f64)]) -> Curves {
        let mut rows: Vec<Row> = Vec::new();
        for (method, largest, smallest) in ends {
            for (order, end) in [(Order::Largest, largest), (Order::Smallest, smallest)] {
                for added in steps() {
                    let relative = 100.0 + (end - 100.0) * added as f64 / 50.0;
                    let cells = ["airfoil", "0", method, order.name(), &added.to_string(), "1"];
                    let mut row: Row = cells.map(String::from).to_vec();
                    row.push(relative.to_string());
                    rows.push(row);
                }
            }
        }
        Curves::of(&rows)
    }

    #[test]
    fn curves_that_lie_on_each_other_are_named_on_the_figure() {
        let airfoil = PANELS.into_iter().find(|panel| panel.name == "airfoil").unwrap();
        let title = |curves: &Curves| figure(curves, &[airfoil]).to_svg();
        let three = curves(&[("closed", 120.0, 90.0), ("paper", 120.2, 90.0), ("d-shapley", 120.0, 89.9)]);
        assert!(title(&three).contains("airfoil (regression; the three methods coincide)"));
        let two = curves(&[("closed", 120.0, 90.0), ("paper", 120.2, 90.0)]);
        assert!(title(&two).contains("airfoil (regression; both methods coincide)"));
        // One curve that ends 1 point away, of 30 that are covered, can be seen.
        for apart in [("d-shapley", 121.0, 90.0), ("d-shapley", 120.0, 89.0)] {
            let seen = curves(&[("closed", 120.0, 90.0), ("paper", 120.2, 90.0), apart]);
            assert!(!title(&seen).contains("coincide"), "{apart:?}");
        }
    }

    #[test]
    fn a_lead_has_the_sign_of_who_is_ahead() {
        let found = curves(&[("closed", 120.0, 90.0), ("d-shapley", 110.0, 80.0)]);
        let lead = |order| found.lead("airfoil", "closed", "d-shapley", order).unwrap().mean;
        // Straight lines from 0 to 10 points over 25 steps have the mean 5.2.
        assert!((lead(Order::Largest) - 5.2).abs() < 1e-12);
        assert!((lead(Order::Smallest) + 5.2).abs() < 1e-12);
    }
}
