//! A figure as SVG.

use crate::axis::Scale;
use crate::layout::{CHART_HEIGHT, CHART_WIDTH, LEGEND_KEY, Layout, PANEL_TITLE, TEXT, TITLE_TEXT};
use crate::{Figure, Line, Panel};
use std::fmt::Write;

const FONT: &str = "DejaVu Sans, Verdana, sans-serif";
const INK: &str = "#262626";
const GRID: &str = "#E3E3E3";

pub(crate) fn render(figure: &Figure) -> String {
    let mut entries: Vec<&Line> = Vec::new();
    for line in figure.panels.iter().flat_map(|panel| &panel.lines) {
        // A line without a name needs no entry.
        if !line.name.is_empty() && !entries.iter().any(|entry| entry.name == line.name) {
            entries.push(line);
        }
    }
    let names: Vec<&str> = entries.iter().map(|line| line.name.as_str()).collect();
    let layout = Layout::new(figure, &names);
    let mut page = Page { text: String::new() };
    page.line(&format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0}" height="{h:.0}" viewBox="0 0 {w:.0} {h:.0}" font-family="{FONT}" font-size="{TEXT}" fill="{INK}">"#,
        w = layout.width,
        h = layout.height
    ));
    page.line(r##"<rect width="100%" height="100%" fill="#FFFFFF"/>"##);
    page.text(layout.width / 2.0, 24.0, "middle", TITLE_TEXT, &figure.title, "");
    for (i, panel) in figure.panels.iter().enumerate() {
        page.panel(panel, layout.chart(i), layout.names_height);
    }
    for (line, (x, y)) in entries.iter().zip(&layout.legend) {
        page.stroke(&format!("M{x:.2} {y:.2}H{:.2}", x + LEGEND_KEY - 8.0), line);
        if line.marked {
            page.mark(x + (LEGEND_KEY - 8.0) / 2.0, *y, line);
        }
        page.text(x + LEGEND_KEY, y + 4.0, "start", TEXT, &line.name, "");
    }
    page.line("</svg>");
    page.text
}

struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, size: f64, words: &str, more: &str) {
        if !words.is_empty() {
            self.line(&format!(
                r#"<text x="{x:.2}" y="{y:.2}" text-anchor="{anchor}" font-size="{size}"{more}>{}</text>"#,
                escaped(words)
            ));
        }
    }

    fn panel(&mut self, panel: &Panel, (left, top): (f64, f64), names_height: f64) {
        let points = || panel.lines.iter().flat_map(|line| &line.points);
        let zero = [0.0].into_iter().filter(|_| panel.lines.iter().any(|line| line.filled));
        let heights = points().flat_map(|p| [p.y - p.band, p.y, p.y + p.band]).chain(zero);
        let is_shown = |number: &f64, least: Option<f64>| least.is_none_or(|least| *number >= least);
        let across = points().map(|point| point.x).filter(|x| is_shown(x, panel.x.least));
        let n_names = panel.x.names.len() as f64;
        let room = [0.5, n_names + 0.5].into_iter().filter(|_| n_names > 0.0);
        let xs = Scale::of(across.chain(room), panel.x.logarithmic);
        let ys = Scale::of(heights.filter(|y| is_shown(y, panel.y.least)), panel.y.logarithmic);
        let (right, bottom) = (left + CHART_WIDTH, top + CHART_HEIGHT);
        let across = |number: f64| xs.place(number).map(|place| left + place * CHART_WIDTH);
        let up = |number: f64| ys.place(number).map(|place| bottom - place * CHART_HEIGHT);

        let named = panel.x.names.iter().enumerate().map(|(i, name)| ((i + 1) as f64, name.clone()));
        let ticks = if panel.x.names.is_empty() { xs.ticks() } else { named.collect() };
        for (number, label) in ticks {
            let Some(x) = across(number) else { continue };
            self.line(&format!(r#"<path d="M{x:.2} {top:.2}V{bottom:.2}" stroke="{GRID}"/>"#));
            if panel.x.names.is_empty() {
                self.text(x, bottom + 16.0, "middle", TEXT, &label, "");
            } else {
                // Names are too long to fit side by side.
                let (x, y) = (x + 4.0, bottom + 13.0);
                let slanted = format!(r#" transform="rotate(-45 {x:.2} {y:.2})""#);
                self.text(x, y, "end", TEXT, &label, &slanted);
            }
        }
        for (number, label) in ys.ticks() {
            let Some(y) = up(number) else { continue };
            self.line(&format!(r#"<path d="M{left:.2} {y:.2}H{right:.2}" stroke="{GRID}"/>"#));
            self.text(left - 6.0, y + 4.0, "end", TEXT, &label, "");
        }
        let is_cut = panel.x.least.or(panel.y.least).is_some();
        if is_cut {
            // A nested picture is clipped at its edges and needs no name that could
            // clash.
            let place =
                format!(r#"x="{left:.2}" y="{top:.2}" width="{CHART_WIDTH}" height="{CHART_HEIGHT}""#);
            let view = format!(r#"viewBox="{left:.2} {top:.2} {CHART_WIDTH} {CHART_HEIGHT}""#);
            self.line(&format!("<svg {place} {view}>"));
        }
        for line in &panel.lines {
            let shown: Vec<(f64, f64, f64, f64)> = line
                .points
                .iter()
                .filter_map(|p| {
                    let lower = up(p.y - p.band).or(up(ys.low()))?;
                    Some((across(p.x)?, up(p.y)?, lower, up(p.y + p.band)?))
                })
                .collect();
            self.band(&shown, line);
            let mut path = String::new();
            for (i, (x, y, ..)) in shown.iter().enumerate() {
                let _ = write!(path, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
            }
            if let (true, Some(first), Some(last), Some(zero)) =
                (line.filled, shown.first(), shown.last(), up(0.0))
            {
                let (right, left, colour) = (last.0, first.0, line.colour.code());
                self.line(&format!(
                    r#"<path d="{path}L{right:.2} {zero:.2}L{left:.2} {zero:.2}Z" fill="{colour}" fill-opacity="0.3"/>"#
                ));
            }
            self.stroke(&path, line);
            // A line with one point would be invisible.
            if line.marked || shown.len() == 1 {
                for (x, y, ..) in &shown {
                    self.mark(*x, *y, line);
                }
            }
        }
        if is_cut {
            self.line("</svg>");
        }
        self.line(&format!(
            r##"<rect x="{left:.2}" y="{top:.2}" width="{CHART_WIDTH}" height="{CHART_HEIGHT}" fill="none" stroke="#8C8C8C"/>"##
        ));
        let middle = (left + right) / 2.0;
        self.text(middle, top - 9.0, "middle", PANEL_TITLE, &panel.title, "");
        self.text(middle, bottom + 34.0 + names_height, "middle", TEXT, &panel.x.label, "");
        let (x, y) = (left - 54.0, (top + bottom) / 2.0);
        self.text(
            x,
            y,
            "middle",
            TEXT,
            &panel.y.label,
            &format!(r#" transform="rotate(-90 {x:.2} {y:.2})""#),
        );
    }

    fn band(&mut self, shown: &[(f64, f64, f64, f64)], line: &Line) {
        if line.points.iter().all(|point| point.band == 0.0) || shown.len() < 2 {
            return;
        }
        let mut path = String::new();
        for (i, (x, _, _, high)) in shown.iter().enumerate() {
            let _ = write!(path, "{}{x:.2} {high:.2}", if i == 0 { 'M' } else { 'L' });
        }
        for (x, _, low, _) in shown.iter().rev() {
            let _ = write!(path, "L{x:.2} {low:.2}");
        }
        let colour = line.colour.code();
        self.line(&format!(r#"<path d="{path}Z" fill="{colour}" fill-opacity="0.18"/>"#));
    }

    fn stroke(&mut self, path: &str, line: &Line) {
        if path.is_empty() || !line.joined {
            return;
        }
        let colour = line.colour.code();
        let dash = line.dash.pattern().map_or(String::new(), |dash| format!(r#" stroke-dasharray="{dash}""#));
        self.line(&format!(
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8" stroke-linejoin="round"{dash}/>"#
        ));
    }

    fn mark(&mut self, x: f64, y: f64, line: &Line) {
        self.line(&format!(r#"<circle cx="{x:.2}" cy="{y:.2}" r="3" fill="{}"/>"#, line.colour.code()));
    }
}

/// Text escaped for XML, which allows no control characters.
fn escaped(words: &str) -> String {
    let plain = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    plain.replace(|c: char| c.is_control(), " ")
}
