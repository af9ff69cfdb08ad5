//! Where things are on the page, in units of the SVG.

use crate::Figure;

/// Width of a chart within its axes.
pub(crate) const CHART_WIDTH: f64 = 232.0;
/// Height of a chart within its axes.
pub(crate) const CHART_HEIGHT: f64 = 168.0;
/// Size of the text of ticks and legends.
pub(crate) const TEXT: f64 = 11.0;
/// Size of the title.
pub(crate) const TITLE_TEXT: f64 = 15.0;
/// Size of titles of panels.
pub(crate) const PANEL_TITLE: f64 = 12.5;

const LEFT: f64 = 68.0;
const RIGHT: f64 = 14.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 50.0;
const TITLE: f64 = 40.0;
const LEGEND_ROW: f64 = 22.0;
const EDGE: f64 = 10.0;
/// Length of a line in the legend, including the space after it.
pub(crate) const LEGEND_KEY: f64 = 34.0;
const LEGEND_GAP: f64 = 22.0;

/// Mean width of a letter of DejaVu Sans over its size; enough to place a legend.
const LETTER: f64 = 0.56;

/// The page.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    columns: usize,
    /// Height of the title, if there is one.
    title: f64,
    /// Left end of the panels, which are centred under a long title.
    left: f64,
    /// Height of names under a horizontal axis, beyond that of numbers.
    pub(crate) names_height: f64,
    /// Left end and middle of each entry of the legend.
    pub(crate) legend: Vec<(f64, f64)>,
}

impl Layout {
    pub(crate) fn new(figure: &Figure, names: &[&str]) -> Self {
        let columns = figure.columns.min(figure.panels.len().max(1));
        let rows = figure.panels.len().div_ceil(columns);
        let panels_width = columns as f64 * (LEFT + CHART_WIDTH + RIGHT);
        let width = 2.0 * EDGE + panels_width.max(text_width(&figure.title, TITLE_TEXT));
        let names_height = figure
            .panels
            .iter()
            .flat_map(|panel| &panel.x.names)
            .map(|name| text_width(name, TEXT) * std::f64::consts::FRAC_1_SQRT_2)
            .fold(0.0, f64::max);
        let title = if figure.title.is_empty() { 0.0 } else { TITLE };
        let top = title + rows as f64 * (ABOVE + CHART_HEIGHT + BELOW + names_height);
        let mut legend: Vec<(f64, f64)> = Vec::new();
        let (mut x, mut row) = (EDGE + 8.0, 0);
        for name in names {
            let entry = LEGEND_KEY + text_width(name, TEXT);
            if x + entry > width - EDGE && x > EDGE + 8.0 {
                (x, row) = (EDGE + 8.0, row + 1);
            }
            legend.push((x, top + LEGEND_ROW * (row as f64 + 0.5)));
            x += entry + LEGEND_GAP;
        }
        let legend_rows = if names.is_empty() { 0 } else { row + 1 };
        let height = top + legend_rows as f64 * LEGEND_ROW + EDGE;
        let left = (width - panels_width) / 2.0;
        Self { width, height, columns, title, left, names_height, legend }
    }

    /// The upper left corner of the chart of panel `i`.
    pub(crate) fn chart(&self, i: usize) -> (f64, f64) {
        let (row, column) = (i / self.columns, i % self.columns);
        let x = self.left + column as f64 * (LEFT + CHART_WIDTH + RIGHT) + LEFT;
        let y = self.title + row as f64 * (ABOVE + CHART_HEIGHT + BELOW + self.names_height) + ABOVE;
        (x, y)
    }
}

/// Approximate length of a line of text.
fn text_width(words: &str, size: f64) -> f64 {
    LETTER * size * words.chars().count() as f64
}
