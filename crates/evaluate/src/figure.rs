//! Curves as SVG.

use std::fmt::Write as _;

/// A curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is called in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Whether it is dashed.
    pub dashed: bool,
    /// Lines of the same number have the same colour.
    pub colour: usize,
}

/// A field with curves.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What stands above it.
    pub title: String,
    /// What stands below it.
    pub x: String,
    /// What stands beside it.
    pub y: String,
    /// The curves.
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 240.0;
const MARGIN: f64 = 56.0;
const LEGEND_LINE: f64 = 16.0;

/// Colours that people with any kind of colour vision can tell apart (Okabe and
/// Ito 2008).
const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00"];

/// Panels side by side, with one legend for all.
pub fn figure(panels: &[Panel]) -> String {
    let mut names: Vec<&Line> = Vec::new();
    for line in panels.iter().flat_map(|panel| &panel.lines) {
        if !names.iter().any(|known| known.name == line.name) {
            names.push(line);
        }
    }
    let width = panels.len() as f64 * (WIDTH + MARGIN) + MARGIN;
    let height = HEIGHT + 2.0 * MARGIN + LEGEND_LINE * names.len() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, panel) in panels.iter().enumerate() {
        let left = MARGIN + number as f64 * (WIDTH + MARGIN);
        draw(&mut svg, panel, left);
    }
    for (number, line) in names.iter().enumerate() {
        let y = HEIGHT + 2.0 * MARGIN + LEGEND_LINE * number as f64;
        let _ = writeln!(
            svg,
            "<line x1=\"{MARGIN}\" y1=\"{y}\" x2=\"{}\" y2=\"{y}\" {}/><text x=\"{}\" y=\"{}\">{}</text>",
            MARGIN + 28.0,
            style(line),
            MARGIN + 36.0,
            y + 4.0,
            escaped(&line.name)
        );
    }
    svg + "</svg>\n"
}

fn draw(svg: &mut String, panel: &Panel, left: f64) {
    let points = || panel.lines.iter().flat_map(|line| &line.points);
    let (x0, x1) = range(points().map(|point| point.0));
    let (y0, y1) = range(points().map(|point| point.1));
    let place = |(x, y): (f64, f64)| {
        (left + (x - x0) / (x1 - x0) * WIDTH, MARGIN + (1.0 - (y - y0) / (y1 - y0)) * HEIGHT)
    };
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{MARGIN}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#888\"/>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate({},{}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        left + WIDTH / 2.0,
        MARGIN - 12.0,
        escaped(&panel.title),
        left + WIDTH / 2.0,
        MARGIN + HEIGHT + 32.0,
        escaped(&panel.x),
        left - 42.0,
        MARGIN + HEIGHT / 2.0,
        escaped(&panel.y)
    );
    for tick in ticks(x0, x1) {
        let (x, y) = place((tick, y0));
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.2}\" y1=\"{y:.2}\" x2=\"{x:.2}\" y2=\"{:.2}\" stroke=\"#888\"/>\
             <text x=\"{x:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>",
            y + 4.0,
            y + 16.0,
            label(tick)
        );
    }
    for tick in ticks(y0, y1) {
        let (x, y) = place((x0, tick));
        let _ = writeln!(
            svg,
            "<line x1=\"{:.2}\" y1=\"{y:.2}\" x2=\"{x:.2}\" y2=\"{y:.2}\" stroke=\"#888\"/>\
             <text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\">{}</text>",
            x - 4.0,
            x - 7.0,
            y + 4.0,
            label(tick)
        );
    }
    for line in &panel.lines {
        let path: Vec<String> = line
            .points
            .iter()
            .filter(|point| point.0.is_finite() && point.1.is_finite())
            .map(|&point| place(point))
            .map(|(x, y)| format!("{x:.2},{y:.2}"))
            .collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" {}/>", path.join(" "), style(line));
    }
}

fn style(line: &Line) -> String {
    let dash = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{dash}", COLOURS[line.colour % COLOURS.len()])
}

/// From the least to the greatest of the finite numbers, never empty.
fn range(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = numbers
        .filter(|number| number.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
    if low > high {
        return (0.0, 1.0);
    }
    if low == high {
        let room = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
        return (low - room, high + room);
    }
    (low, high)
}

/// Four to nine round numbers in the range.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let magnitude = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * magnitude).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

fn label(tick: f64) -> String {
    if tick == 0.0 {
        return "0".into();
    }
    if tick.abs() >= 1e5 || tick.abs() < 1e-3 {
        return format!("{tick:.1e}");
    }
    let text = format!("{tick:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn escaped(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .map(|c| match c {
            '&' => "&amp;".to_string(),
            '<' => "&lt;".to_string(),
            '>' => "&gt;".to_string(),
            '"' => "&quot;".to_string(),
            c => c.to_string(),
        })
        .collect()
}
