//! Table 2: the datasets, as printed and as the experiments here use them.

use crate::data::{Panel, Rows, Task};
use crate::fig2::wanted;
use crate::ledger::{Column, Unit};
use crate::markdown::MarkdownTable;
use crate::output::Output;
use crate::settings::{Experiment, Settings};
use crate::valuing::DENSITY_ROWS;
use crate::{Error, Watch};
use dshap_draw::{Axis, Colour, Figure, Line, Panel as Chart, Point};
use std::path::Path;

const COLUMNS: [Column; 11] = [
    Column::words("dataset"),
    Column::words("task"),
    Column::numbers("printed_rows"),
    Column::numbers("printed_held_out"),
    Column::numbers("printed_dimension"),
    Column::numbers("reference"),
    Column::numbers("reference_used"),
    Column::numbers("points"),
    Column::numbers("test"),
    Column::numbers("held_out"),
    Column::numbers("dimension"),
];

/// A line of the paper's table.
struct Printed {
    panel: &'static str,
    /// Rows besides those held out.
    rows: usize,
    held_out: usize,
    dimension: usize,
    source: &'static str,
}

const fn printed(
    panel: &'static str,
    rows: usize,
    held_out: usize,
    dimension: usize,
    source: &'static str,
) -> Printed {
    Printed { panel, rows, held_out, dimension, source }
}

/// As printed, by panel.
const PRINTED: [Printed; 12] = [
    printed("gaussian-r", 49_000, 1000, 10, "simulated"),
    printed("abalone", 3177, 1000, 10, "UCI"),
    printed("airfoil", 1003, 500, 5, "UCI"),
    printed("whitewine", 3898, 1000, 11, "UCI"),
    printed("gaussian-c", 49_000, 1000, 3, "simulated"),
    printed("skin-nonskin", 244_057, 1000, 3, "LIBSVM"),
    printed("mnist", 60_000, 5000, 32, "LeCun et al. 2010"),
    printed("cifar10", 50_000, 5000, 32, "Krizhevsky 2009"),
    printed("diabetes", 342, 100, 10, "Efron et al. 2004"),
    printed("australian", 349, 100, 12, "LIBSVM"),
    printed("fashion-mnist", 60_000, 5000, 32, "Xiao et al. 2017"),
    printed("cifar10-density", 50_000, 5000, 32, "Krizhevsky 2009"),
];

/// Counts the rows of each dataset in the division of the first repetition.
pub(crate) fn run(settings: &Settings, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let panels = wanted(Experiment::Table2, settings, |_| true)?;
    let mut output = Output::open(folder, Experiment::Table2, settings, &panels)?;
    let rows = Rows::of_all(&panels, settings, watch)?;
    output.uses(&rows)?;
    let key = |panel: &Panel| vec![panel.name.to_string()];
    let plan: Vec<Unit> = panels.iter().map(|panel| Unit { key: key(panel), n_rows: 1 }).collect();
    let table = output.complete(&COLUMNS, &plan, false, watch, |i| {
        let panel = &panels[i];
        let line = printed_of(panel);
        let split = rows[i].split(panel, settings.handling, settings.seed, 0)?;
        let n_reference = split.reference.y.len();
        let n_used = if panel.task == Task::Density { n_reference.min(DENSITY_ROWS) } else { n_reference };
        let counts = [
            line.rows,
            line.held_out,
            line.dimension,
            n_reference,
            n_used,
            split.points.y.len(),
            split.test.y.len(),
            split.held_out.y.len(),
            split.points.x.ncols(),
        ];
        let cells = counts.iter().map(usize::to_string);
        Ok(vec![std::iter::once(panel.task.name().to_string()).chain(cells).collect()])
    })?;
    output.figure(&figure(&panels, &table))?;
    output.summary(&summary(&panels, &table, settings))
}

fn summary(panels: &[Panel], table: &[Vec<String>], settings: &Settings) -> String {
    let text = format!(
        "# Table 2: datasets\n\n\
         Data handling `{handling}`. The paper counts the rows that are not held out. 200 of them are valued, and the \
         others are the reference. The experiments here follow the authors' program, which also removes test rows, on \
         which D-SHAPLEY measures utility. q is from that program too; the paper does not print it. Features of images \
         are those of the tables at hand.\n\n",
        handling = settings.handling.name(),
    );
    let mut out = MarkdownTable::new(&[
        "dataset",
        "task",
        "source",
        "rows, printed",
        "reference, printed (200 less)",
        "reference, here",
        "test",
        "held out, printed",
        "held out, here",
        "dimension, printed",
        "dimension, here",
        "q",
        "what differs",
    ]);
    for (panel, row) in panels.iter().zip(table) {
        let (line, here) = (printed_of(panel), Here::of(row));
        let q = if panel.task == Task::Density { "–".into() } else { panel.q.to_string() };
        out.row(&[
            panel.name.into(),
            panel.task.name().into(),
            line.source.into(),
            line.rows.to_string(),
            (line.rows - here.points).to_string(),
            here.used.to_string(),
            here.test.to_string(),
            line.held_out.to_string(),
            here.held_out.to_string(),
            line.dimension.to_string(),
            here.dimension.to_string(),
            q,
            differences(line, &here),
        ]);
    }
    text + &out.finish()
}

/// What a dataset is here.
struct Here {
    reference: usize,
    used: usize,
    points: usize,
    test: usize,
    held_out: usize,
    dimension: usize,
}

impl Here {
    fn of(row: &[String]) -> Self {
        let number = |j: usize| row[j].parse::<usize>().unwrap_or(0);
        let [reference, used, points, test, held_out, dimension] = [5, 6, 7, 8, 9, 10].map(number);
        Self { reference, used, points, test, held_out, dimension }
    }
}

fn printed_of(panel: &Panel) -> &'static Printed {
    PRINTED.iter().find(|line| line.panel == panel.name).expect("each panel has a line")
}

/// In words, how a dataset differs from its line in the paper.
fn differences(line: &Printed, here: &Here) -> String {
    let mut found: Vec<String> = Vec::new();
    let expected = line.rows - here.points;
    if here.reference < expected {
        found.push(format!(
            "{} test rows are removed, too: {} reference rows instead of {expected}",
            here.test, here.reference
        ));
    } else if here.reference > expected {
        found.push(format!("{} reference rows instead of {expected}", here.reference));
    }
    if here.used < here.reference {
        found.push(format!(
            "the density is that of {} of {} rows, as in the paper's text",
            here.used, here.reference
        ));
    }
    if here.held_out != line.held_out {
        found.push(format!("{} rows are held out, and {} are for tests", here.held_out, here.test));
    }
    if here.dimension != line.dimension {
        found.push(format!("{} columns", here.dimension));
    }
    if found.is_empty() { "nothing".into() } else { found.join("; ") }
}

/// Rows of each dataset, as printed and here.
fn figure(panels: &[Panel], table: &[Vec<String>]) -> Figure {
    let number = |row: &[String], j: usize| row[j].parse::<f64>().unwrap_or(f64::NAN);
    let line = |name: &str, colour, count: &dyn Fn(&[String]) -> f64| {
        let points = table.iter().enumerate().map(|(i, row)| Point::new((i + 1) as f64, count(row)));
        Line::new(name, colour, points.collect()).with_marks_only()
    };
    let lines = vec![
        line("rows as printed", Colour::Vermilion, &|row| number(row, 2)),
        line("reference rows here", Colour::Blue, &|row| number(row, 6)),
    ];
    let names = panels.iter().map(|panel| panel.name.to_string()).collect();
    let chart = Chart::new("Rows", Axis::named("dataset", names), Axis::logarithmic("rows"), lines);
    Figure::new("Table 2: datasets", 1, vec![chart])
}
