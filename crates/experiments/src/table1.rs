//! Table 1: the time to value 200 points on each dataset.

use crate::addition::{Ranker, rankers};
use crate::data::{Panel, Rows, Split};
use crate::fig2::wanted;
use crate::ledger::{Column, Unit};
use crate::markdown::{MarkdownTable, repetitions, seconds};
use crate::output::Output;
use crate::seeds::method_seed;
use crate::settings::{Experiment, Settings};
use crate::statistics::median;
use crate::valuing::Terms;
use crate::{Error, Watch};
use dshap_draw::{Axis, Colour, Figure, Line, Panel as Chart, Point};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

const COLUMNS: [Column; 7] = [
    Column::words("dataset"),
    Column::words("method"),
    Column::numbers("repetition"),
    Column::numbers("n_reference"),
    Column::numbers("features"),
    Column::numbers("points"),
    Column::numbers("seconds"),
];
const REPETITIONS: usize = 5;
const QUICK_REPETITIONS: usize = 1;
const N_POINTS: usize = 200;

/// The paper's seconds: D-SHAPLEY, and its own algorithms.
const PRINTED: [(&str, f64, f64); 12] = [
    ("gaussian-r", 229.2, 6.9),
    ("abalone", 226.3, 5.2),
    ("airfoil", 280.7, 4.6),
    ("whitewine", 275.4, 5.1),
    ("gaussian-c", 470.4, 0.7),
    ("skin-nonskin", 788.5, 1.7),
    ("mnist", 536.7, 5.3),
    ("cifar10", 550.7, 3.0),
    ("diabetes", 3307.8, 0.6),
    ("australian", 5219.8, 0.3),
    ("fashion-mnist", 281.7, 23.7),
    ("cifar10-density", 338.6, 28.4),
];

/// Times every method on every dataset, one after another.
pub(crate) fn run(settings: &Settings, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let panels = wanted(Experiment::Table1, settings, |_| true)?;
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let n_d_shapley = |panel: &Panel| settings.d_shapley(panel.name, panel.task, 1);
    let mut output = Output::open(folder, Experiment::Table1, settings, &panels)?;
    let rows = Rows::of_all(&panels, settings, watch)?;
    output.uses(&rows)?;
    let mut units: Vec<(usize, usize, Ranker)> = Vec::new();
    for r in 0..n {
        for (p, panel) in panels.iter().enumerate() {
            units.extend(rankers(r < n_d_shapley(panel)).into_iter().map(|ranker| (r, p, ranker)));
        }
    }
    let plan: Vec<Unit> = units
        .iter()
        .map(|(r, p, ranker)| Unit {
            key: vec![panels[*p].name.into(), ranker.name().into(), r.to_string()],
            n_rows: 1,
        })
        .collect();
    // Methods of one repetition share its rows.
    let last: Mutex<Option<((usize, usize), Split)>> = Mutex::new(None);
    let table = output.complete(&COLUMNS, &plan, true, watch, |i| {
        let (r, p, ranker) = units[i];
        let panel = &panels[p];
        let mut last = last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.as_ref().is_none_or(|(which, _)| *which != (r, p)) {
            *last = Some(((r, p), rows[p].split(panel, settings.handling, settings.seed, r)?));
        }
        let split = &last.as_ref().expect("it was just made").1;
        let terms = Terms {
            task: panel.task,
            q: panel.q,
            m: N_POINTS,
            seed: method_seed(settings.seed, panel.number(), r),
        };
        let began = Instant::now();
        ranker.values(terms, split)?;
        let time = began.elapsed().as_secs_f64();
        let counts = [split.reference.y.len(), split.reference.x.ncols(), N_POINTS].map(|n| n.to_string());
        Ok(vec![[counts.as_slice(), &[format!("{time:.6}")]].concat()])
    })?;

    let times = |panel: &str, method: &str| -> Vec<f64> {
        let own = table.iter().filter(|row| row[0] == panel && row[1] == method);
        own.filter_map(|row| row[6].parse().ok()).collect()
    };
    let n_drawn = panels.iter().map(|panel| times(panel.name, "d-shapley").len()).max().unwrap_or(0);
    let drawn =
        if n_drawn < n { format!("D-SHAPLEY ({})", repetitions(n_drawn)) } else { "D-SHAPLEY".into() };
    let line = |method: &str, name: &str, colour| {
        let points = panels
            .iter()
            .enumerate()
            .map(|(i, panel)| Point::new((i + 1) as f64, median(&times(panel.name, method))));
        Line::new(name, colour, points.collect()).with_marks_only()
    };
    let lines = vec![
        line("d-shapley", &drawn, Colour::Vermilion),
        line("paper", "the paper's algorithms", Colour::Orange),
        line("closed", "closed form", Colour::Blue),
    ];
    let chart = Chart::new(
        "Time to value 200 points",
        Axis::named("dataset", panels.iter().map(|panel| panel.name.to_string()).collect()),
        Axis::logarithmic("seconds"),
        lines.into_iter().filter(|line| line.points.iter().any(|point| point.y.is_finite())).collect(),
    );
    let title = format!("Table 1: medians of {}", repetitions(n));
    output.figure(&Figure::new(title, 1, vec![chart]))?;

    let mut text = format!(
        "# Table 1: time to value 200 points\n\n\
         Medians of up to {repetitions} on this machine with {threads} threads, including the fit and, for \
         densities, the search for a bandwidth. The paper's times are as printed, from other machines and in \
         Python. The D-SHAPLEY here is a fast implementation of the same estimate.\n\n",
        repetitions = repetitions(n),
        threads = rayon::current_num_threads(),
    );
    let mut out = MarkdownTable::new(&[
        "dataset",
        "reference rows",
        "features",
        "D-SHAPLEY, printed",
        "proposed, printed",
        "D-SHAPLEY, here",
        "the paper's algorithm, here",
        "closed form",
        "closed form is faster than D-SHAPLEY by",
    ]);
    for panel in &panels {
        let Some(row) = table.iter().find(|row| row[0] == panel.name) else { continue };
        let [slow, paper, closed] = ["d-shapley", "paper", "closed"].map(|m| median(&times(panel.name, m)));
        let ratio = slow / closed;
        let printed = PRINTED.iter().find(|(name, ..)| *name == panel.name);
        let (drawn, proposed) = printed.map_or((f64::NAN, f64::NAN), |(_, drawn, own)| (*drawn, *own));
        out.row(&[
            panel.name.into(),
            row[3].clone(),
            row[4].clone(),
            format!("{drawn} s"),
            format!("{proposed} s"),
            seconds(slow),
            seconds(paper),
            seconds(closed),
            if ratio.is_finite() { format!("{ratio:.0} times") } else { "–".into() },
        ]);
    }
    text += &out.finish();
    output.summary(&text)
}
