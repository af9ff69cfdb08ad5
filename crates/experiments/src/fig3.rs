//! Figure 3: synergy of two points, threshold and probability against h.

use crate::ledger::{Column, Unit};
use crate::markdown::{MarkdownTable, short};
use crate::output::Output;
use crate::settings::{Experiment, Settings};
use crate::{Error, Watch};
use dshap::density::{Border, UniformExample};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel, Point};
use std::path::Path;

/// The paper's setting.
const MAX_SIZE: usize = 100;
const C_DEN: f64 = 0.2;
/// Bandwidths in hundredths, from 0.05 to 0.35.
const HUNDREDTHS: std::ops::RangeInclusive<usize> = 5..=35;
/// The bandwidths of this project's high-precision table, and its thresholds.
const PRINTED: [(usize, f64); 7] = [
    (5, 0.009_999),
    (10, 0.018_725),
    (15, 0.026_164),
    (20, 0.032_303),
    (25, 0.037_129),
    (30, 0.040_628),
    (35, 0.042_785),
];
const COLUMNS: [Column; 7] = [
    Column::numbers("h"),
    Column::numbers("m"),
    Column::numbers("c_den"),
    Column::numbers_or_nothing("threshold"),
    Column::numbers("probability_printed"),
    Column::numbers("probability_inside"),
    Column::numbers("probability_exact"),
];

/// Evaluates Example 2 for bandwidths from 0.05 to 0.35.
pub(crate) fn run(settings: &Settings, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let output = Output::open(folder, Experiment::Fig3, settings, &[])?;
    let step = if settings.quick { 5 } else { 1 };
    let hundredths: Vec<usize> = HUNDREDTHS.step_by(step).collect();
    let bandwidth = |i: usize| hundredths[i] as f64 / 100.0;
    let plan: Vec<Unit> =
        (0..hundredths.len()).map(|i| Unit { key: vec![bandwidth(i).to_string()], n_rows: 1 }).collect();
    let work = |i: usize| {
        let example = |border| {
            UniformExample::new(bandwidth(i), MAX_SIZE, C_DEN, border)
                .map_err(Error::valuing("evaluate Example 2"))
        };
        let (printed, exact) = (example(Border::Printed)?, example(Border::Exact)?);
        // If no distance has synergy, the cell stays empty.
        let threshold = printed.threshold().map_or(String::new(), |threshold| threshold.to_string());
        let [whole, inside, borders] =
            [printed.printed_probability(), printed.synergy_probability(), exact.synergy_probability()]
                .map(|p| p.to_string());
        Ok(vec![vec![MAX_SIZE.to_string(), C_DEN.to_string(), threshold, whole, inside, borders]])
    };
    let rows = output.complete(&COLUMNS, &plan, false, watch, work)?;
    let cell = |row: &[String], j: usize| row[j].parse().unwrap_or(f64::NAN);
    let column = |j: usize| rows.iter().map(|row| Point::new(cell(row, 0), cell(row, j))).collect::<Vec<_>>();
    let lines = vec![
        Line::new("synergy threshold", Colour::Vermilion, column(3)).with_dash(Dash::Dashed),
        Line::new("probability as printed: points in [h/2, 1 − h/2]", Colour::Blue, column(4)),
        Line::new("probability, ends of [0, 1] counted", Colour::Green, column(6)).with_dash(Dash::Dashed),
        Line::new("probability for points in [h, 1 − h]", Colour::Sky, column(5)).with_dash(Dash::Dotted),
    ];
    let axes = (Axis::linear("bandwidth h"), Axis::linear("distance, probability").with_least(0.0));
    let panel = Panel::new("m = 100, C_den = 0.2", axes.0, axes.1, lines);
    output.figure(&Figure::new("Synergy of two points, uniform kernel", 1, vec![panel]))?;

    let mut text = String::from(
        "# Figure 3: synergy of two points\n\n\
         Example 2 of the paper in closed form: uniform kernel of width h on uniform data, m = 100, C_den = 0.2. \
         Nothing is random, so there are no repetitions. The paper shows curves; the second column has the \
         threshold by its formulas, evaluated with 60 digits by an independent program. The paper draws points from \
         [h/2, 1 − h/2], but its formulas hold in [h, 1 − h] only. The last two columns correct this: by counting \
         the ends of [0, 1], or by drawing points from [h, 1 − h].\n\n",
    );
    let mut table = MarkdownTable::new(&[
        "h",
        "threshold, independent",
        "threshold, ours",
        "probability as printed, points in [h/2, 1 − h/2]",
        "the same, ends counted",
        "points in [h, 1 − h]",
    ]);
    for (at, expected) in PRINTED {
        if let Some(row) = rows.iter().find(|row| (cell(row, 0) - at as f64 / 100.0).abs() < 1e-9) {
            table.row(&[
                row[0].clone(),
                format!("{expected:.6}"),
                format!("{:.6}", cell(row, 3)),
                short(cell(row, 4)),
                short(cell(row, 6)),
                short(cell(row, 5)),
            ]);
        }
    }
    text += &table.finish();
    output.summary(&text)
}
