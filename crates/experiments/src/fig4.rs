//! Figure 4: value against squared distance, for several residuals.

use crate::ledger::{Column, Unit};
use crate::markdown::{MarkdownTable, short};
use crate::output::Output;
use crate::settings::{Experiment, Settings, ShownConstant};
use crate::{Error, Watch};
use dshap::Sizes;
use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel, Point};
use std::path::Path;

const DIMS: [usize; 2] = [10, 30];
const MAX_SIZES: [usize; 3] = [100, 300, 500];
const RESID_SQS: [f64; 5] = [0.0, 1.0, 2.0, 4.0, 8.0];
/// The smallest set of the authors' runs on Gaussian inputs.
const MIN_SIZE: usize = 50;
/// Distances shown, up to three times their mean.
const FULL_STEPS: usize = 300;
const QUICK_STEPS: usize = 60;
const COLUMNS: [Column; 8] = [
    Column::numbers("p"),
    Column::numbers("m"),
    Column::numbers("q"),
    Column::numbers("e2"),
    Column::numbers("d2"),
    Column::numbers("gain"),
    Column::numbers("theorem"),
    Column::numbers("printed"),
];

/// The columns that a figure may show.
const GAIN: usize = 5;
const THEOREM: usize = 6;

/// The three forms of a value on one line of the figure.
struct Forms {
    gain: GaussianForm,
    theorem: GaussianForm,
    printed: GaussianForm,
}

impl Forms {
    fn new(dim: usize, max: usize) -> Result<Self, Error> {
        let form = |constant, convention| {
            GaussianForm::new(dim, Sizes::new(MIN_SIZE, max), constant, convention)
                .map_err(Error::valuing("evaluate Theorem 2"))
        };
        Ok(Self {
            gain: form(Constant::Gain, Convention::Definition)?,
            theorem: form(Constant::Theorem, Convention::Definition)?,
            printed: form(Constant::Theorem, Convention::Printed)?,
        })
    }
}

/// Evaluates Theorem 2 on the grid of the figure.
pub(crate) fn run(settings: &Settings, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let steps = if settings.quick { QUICK_STEPS } else { FULL_STEPS };
    let output = Output::open(folder, Experiment::Fig4, settings, &[])?;
    let cases: Vec<(usize, usize)> = DIMS.iter().flat_map(|&p| MAX_SIZES.map(|m| (p, m))).collect();
    let plan: Vec<Unit> = cases
        .iter()
        .map(|(p, m)| Unit { key: vec![p.to_string(), m.to_string()], n_rows: RESID_SQS.len() * steps })
        .collect();
    let work = |i: usize| {
        let (dim, max) = cases[i];
        let forms = Forms::new(dim, max)?;
        let mut rows = Vec::new();
        for resid_sq in RESID_SQS {
            for step in 1..=steps {
                let dist_sq = 3.0 * dim as f64 * step as f64 / steps as f64;
                let stats = PointStats { dist_sq, resid_sq, noise_var: 1.0 };
                let values =
                    [&forms.gain, &forms.theorem, &forms.printed].map(|form| form.value(stats).value);
                let cells = [MIN_SIZE as f64, resid_sq, dist_sq, values[0], values[1], values[2]];
                rows.push(cells.map(|cell| cell.to_string()).to_vec());
            }
        }
        Ok(rows)
    };
    let rows = output.complete(&COLUMNS, &plan, false, watch, work)?;
    let rows = rows.iter().map(|row| parsed(row)).collect::<Vec<_>>();

    let (name, shown) = match settings.constant {
        ShownConstant::Gain => ("`gain`", GAIN),
        ShownConstant::Theorem => ("constant of Theorem 2", THEOREM),
    };
    let panels = cases.iter().map(|&(p, m)| {
        let colours = [Colour::Blue, Colour::Sky, Colour::Green, Colour::Orange, Colour::Vermilion];
        let dashes = [Dash::Solid, Dash::Dashed, Dash::Solid, Dash::Dashed, Dash::Solid];
        let lines = (0..5).map(|k| {
            let points = line(&rows, p, m, RESID_SQS[k]).map(|row| Point::new(row[4], row[shown])).collect();
            Line::new(format!("e² = {}", RESID_SQS[k]), colours[k], points).with_dash(dashes[k])
        });
        let (x, y) = (Axis::linear("squared distance d²"), Axis::linear(name));
        Panel::new(format!("p = {p}, m = {m}"), x, y, lines.collect())
    });
    let title = format!("Value against distance: {name} (Theorem 2, σ² = 1, q = 50)");
    output.figure(&Figure::new(title, 3, panels.collect()))?;
    output.summary(&summary(&rows, &cases, name, shown))
}

/// The numbers of a row; those that are not numbers are NaN.
fn parsed(row: &[String]) -> [f64; 8] {
    std::array::from_fn(|j| row[j].parse().unwrap_or(f64::NAN))
}

fn line(rows: &[[f64; 8]], p: usize, m: usize, e2: f64) -> impl Iterator<Item = &[f64; 8]> {
    rows.iter().filter(move |row| row[0] == p as f64 && row[1] == m as f64 && row[3] == e2)
}

/// `shown` is the column of the values, and `name` what they are.
fn summary(rows: &[[f64; 8]], cases: &[(usize, usize)], name: &str, shown: usize) -> String {
    let meaning = if shown == GAIN {
        "values are the `gain` of this project (the drop in squared error)"
    } else {
        "values have the constant of Theorem 2, by the definition's set sizes"
    };
    let other = if shown == GAIN {
        "`--constant theorem` shows the latter by the definition"
    } else {
        "`--constant gain` shows `gain`"
    };
    let mut text = format!(
        "# Figure 4: value against distance ({name})\n\n\
         Theorem 2 with σ² = 1 and q = 50, on a grid of squared distances up to 3p; {meaning}, exact to twelve digits. \
         Nothing is random, so there are no repetitions. The table `fig4.csv` also has `gain`, and values with \
         Theorem 2's constant by the definition and as printed; {other}. Curves of `gain` differ from those with \
         Theorem 2's constant by the definition by one number in each panel. The printed sum is one size off, so its \
         curves differ in shape, too.\n\n\
         The paper shows curves and gives no numbers to compare with.\n\n",
    );
    let mut table = MarkdownTable::new(&[
        "p",
        "m",
        "e²",
        "at d² = p",
        "at d² = 3p",
        "lowest",
        "at d²",
        "as d² grows, it",
    ]);
    for &(p, m) in cases {
        for e2 in RESID_SQS {
            let line: Vec<&[f64; 8]> = line(rows, p, m, e2).collect();
            let near = |d2: f64| {
                let nearest = line.iter().min_by(|a, b| (a[4] - d2).abs().total_cmp(&(b[4] - d2).abs()));
                nearest.map_or(f64::NAN, |row| row[shown])
            };
            let lowest = line.iter().min_by(|a, b| a[shown].total_cmp(&b[shown]));
            let (value, at) = lowest.map_or((f64::NAN, f64::NAN), |row| (row[shown], row[4]));
            table.row(&[
                p.to_string(),
                m.to_string(),
                e2.to_string(),
                short(near(p as f64)),
                short(near(3.0 * p as f64)),
                short(value),
                short(at),
                trend(&line, shown).into(),
            ]);
        }
    }
    text += &table.finish();
    text
}

/// Whether values rise or fall along a line.
fn trend(line: &[&[f64; 8]], shown: usize) -> &'static str {
    let rises = line.windows(2).all(|pair| pair[1][shown] >= pair[0][shown]);
    let falls = line.windows(2).all(|pair| pair[1][shown] <= pair[0][shown]);
    let turns_up = || {
        let lowest =
            line.iter().enumerate().min_by(|a, b| a.1[shown].total_cmp(&b.1[shown])).map_or(0, |(i, _)| i);
        line[..=lowest].windows(2).all(|pair| pair[1][shown] <= pair[0][shown])
            && line[lowest..].windows(2).all(|pair| pair[1][shown] >= pair[0][shown])
    };
    match (rises, falls) {
        (true, _) => "rises",
        (_, true) => "falls",
        _ if turns_up() => "falls, then rises",
        _ => "rises, then falls",
    }
}
