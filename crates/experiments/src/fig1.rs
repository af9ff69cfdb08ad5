//! Figure 1: time against m, and the paper's largest case.

use crate::addition::{Ranker, rankers};
use crate::data::{Part, Split, Task, shifted_classes, standard_regression};
use crate::ledger::{Column, Row, Unit};
use crate::markdown::{MarkdownTable, repetitions, seconds};
use crate::output::Output;
use crate::seeds::{Purpose, method_seed, normal, stream};
use crate::settings::{Experiment, Settings};
use crate::statistics::median;
use crate::valuing::{Method, Terms, bound};
use crate::{Error, Table, Watch};
use dshap::classification::{
    AuthorsMoments, AuthorsValuer, ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions,
};
use dshap::linear::{Algorithm3, Convention, FitOptions, LinearFit, LinearMethod, LinearValuer, Side};
use dshap::{Sizes, Valuer};
use dshap_draw::{Axis, Colour, Dash, Figure, Line, Panel as Chart, Point};
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::time::Instant;

const COLUMNS: [Column; 6] = [
    Column::words("task"),
    Column::numbers("p"),
    Column::numbers("m"),
    Column::words("method"),
    Column::numbers("repetition"),
    Column::numbers("seconds"),
];
const TASKS: [Task; 2] = [Task::Regression, Task::Classification];
const DIMS: [usize; 2] = [10, 30];
const REPETITIONS: usize = 5;
const QUICK_REPETITIONS: usize = 2;
/// Rows of the reference, as in the authors' code.
const REFERENCE_ROWS: usize = 48_000;
const QUICK_REFERENCE_ROWS: usize = 5_000;
const TEST_ROWS: usize = 1_000;
/// The paper's largest case, and its smallest set.
const LARGEST: (usize, usize) = (500_000, 1_000);
/// Rows of the largest case that are made and valued at a time; making them is not
/// timed.
const CHUNK_ROWS: usize = 10_000;

/// One case to be timed.
#[derive(Debug, Clone, Copy)]
struct Case {
    task: Task,
    p: usize,
    m: usize,
    ranker: Ranker,
    repetition: usize,
}

impl Case {
    /// The smallest set of the authors' runs.
    fn q(&self) -> usize {
        if self.p < 100 { 50 } else { self.p + 100 }
    }

    /// Selects random streams.
    fn number(&self) -> u64 {
        let task = if self.task == Task::Regression { 0 } else { 1 };
        1000 + 100 * task + self.p as u64 % 97
    }

    fn key(&self) -> Vec<String> {
        let (task, ranker) = (self.task.name().into(), self.ranker.name().into());
        vec![task, self.p.to_string(), self.m.to_string(), ranker, self.repetition.to_string()]
    }
}

/// The cases to be timed, for each method.
fn cases(settings: &Settings) -> Vec<Case> {
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let (ours, paper) = if settings.quick { (1_000, 300) } else { (100_000, 100_000) };
    // D-SHAPLEY updates least squares, but refits logistic models.
    let drawn = |task: Task| match (task, settings.quick) {
        (_, true) => 100,
        (Task::Classification, false) => 1_000,
        _ => 10_000,
    };
    let largest = |ranker: Ranker, task: Task| match ranker {
        Ranker::Ours(Method::Closed) => ours,
        Ranker::Ours(_) => paper,
        Ranker::DShapley => drawn(task),
    };
    let mut cases = Vec::new();
    for repetition in 0..n {
        for task in TASKS {
            for p in DIMS {
                for m in [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000] {
                    for ranker in rankers(repetition < settings.d_shapley("", task, 1)) {
                        if m <= largest(ranker, task) {
                            cases.push(Case { task, p, m, ranker, repetition });
                        }
                    }
                }
            }
        }
    }
    if !settings.quick {
        let (m, p) = LARGEST;
        for ranker in rankers(false) {
            cases.extend(TASKS.map(|task| Case { task, p, m, ranker, repetition: 0 }));
        }
    }
    cases
}

/// Times methods on simulated data, one after another.
pub(crate) fn run(settings: &Settings, folder: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let cases = cases(settings);
    let output = Output::open(folder, Experiment::Fig1, settings, &[])?;
    let plan: Vec<Unit> = cases.iter().map(|case| Unit { key: case.key(), n_rows: 1 }).collect();
    let rows = output.complete(&COLUMNS, &plan, true, watch, |i| {
        let time = time(&cases[i], settings)?;
        Ok(vec![vec![format!("{time:.6}")]])
    })?;
    output.figure(&figure(&rows, settings))?;
    output.summary(&summary(&rows, settings))
}

fn time(case: &Case, settings: &Settings) -> Result<f64, Error> {
    let n_reference = if settings.quick { QUICK_REFERENCE_ROWS } else { REFERENCE_ROWS };
    let mut rng = stream(settings.seed, case.number(), case.repetition, Purpose::Rows);
    let beta: Vec<f64> = (0..case.p).map(|_| normal(&mut rng)).collect();
    let draw = |n: usize, rng: &mut ChaCha8Rng| match case.task {
        Task::Classification => shifted_classes(n, case.p, rng),
        _ => standard_regression(n, &beta, rng),
    };
    let part = |table: Table| Part { x: table.x, y: table.y };
    let reference = part(draw(n_reference, &mut rng));
    if case.m > CHUNK_ROWS && case.p > 100 {
        return time_in_chunks(case, &reference, |n| part(draw(n, &mut rng)));
    }
    let split = Split {
        test: part(draw(TEST_ROWS, &mut rng)),
        points: part(draw(case.m, &mut rng)),
        held_out: part(draw(1, &mut rng)),
        reference,
    };
    let terms = Terms {
        task: case.task,
        q: case.q(),
        m: case.m,
        seed: method_seed(settings.seed, case.number(), case.repetition),
    };
    let began = Instant::now();
    case.ranker.values(terms, &split)?;
    Ok(began.elapsed().as_secs_f64())
}

/// The closed form, or the paper's algorithm, on more points than memory should hold.
fn time_in_chunks(
    case: &Case,
    reference: &Part,
    mut points: impl FnMut(usize) -> Part,
) -> Result<f64, Error> {
    let sizes = Sizes::new(case.q(), case.m);
    let failed = || Error::valuing("value the largest case");
    let mut began = Instant::now();
    let rows = reference.rows()?;
    let is_paper = case.ranker == Ranker::Ours(Method::Paper);
    let valuer: Box<dyn Valuer> = match (case.task, is_paper) {
        (Task::Classification, true) => authors_lower(rows, sizes).map_err(failed())?,
        (Task::Classification, false) => {
            let fit = LogisticFit::of(rows, LogisticOptions::default()).map_err(failed())?;
            let method = ClassificationMethod::default();
            Box::new(ClassificationValuer::new(fit, sizes, method).map_err(failed())?)
        }
        (_, is_paper) => {
            let fit = LinearFit::of(rows, FitOptions::default()).map_err(failed())?;
            let method = match is_paper {
                true => LinearMethod::Algorithm3(Algorithm3::default()),
                false => LinearMethod::default(),
            };
            Box::new(LinearValuer::new(fit, sizes, method).map_err(failed())?)
        }
    };
    let mut time = began.elapsed().as_secs_f64();
    for first in (0..case.m).step_by(CHUNK_ROWS) {
        let chunk = points(CHUNK_ROWS.min(case.m - first));
        began = Instant::now();
        valuer.values(chunk.rows()?).map_err(failed())?;
        time += began.elapsed().as_secs_f64();
    }
    Ok(time)
}

/// Times of one method for one m.
#[derive(Debug, Clone, Copy)]
struct Times {
    m: usize,
    median: f64,
    lowest: f64,
    highest: f64,
}

impl Times {
    fn of(m: usize, times: &[f64]) -> Self {
        let lowest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { m, median: median(times), lowest, highest }
    }

    /// The median, and the range where there are several times.
    fn in_words(&self) -> String {
        if self.lowest == self.highest {
            return seconds(self.median);
        }
        format!("{} ({} – {})", seconds(self.median), seconds(self.lowest), seconds(self.highest))
    }
}

/// Times of one method on one task and p, by m.
fn times(rows: &[Row], task: Task, p: usize, method: &str) -> Vec<Times> {
    let own: Vec<(usize, f64)> = rows
        .iter()
        .filter(|row| row[0] == task.name() && row[1] == p.to_string() && row[3] == method)
        .filter_map(|row| Some((row[2].parse().ok()?, row[5].parse().ok()?)))
        .collect();
    let mut sizes: Vec<usize> = own.iter().map(|(m, _)| *m).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |m: usize| own.iter().filter(|(own, _)| *own == m).map(|(_, time)| *time).collect::<Vec<_>>();
    sizes.into_iter().map(|m| Times::of(m, &at(m))).collect()
}

fn figure(rows: &[Row], settings: &Settings) -> Figure {
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let charts = TASKS.map(|task| {
        let n_drawn = settings.d_shapley("", task, 1);
        let drawn =
            if n_drawn < n { format!("D-SHAPLEY ({})", repetitions(n_drawn)) } else { "D-SHAPLEY".into() };
        let methods = [
            ("d-shapley", drawn.as_str(), Colour::Vermilion),
            ("paper", "the paper's algorithms", Colour::Orange),
            ("closed", "closed form", Colour::Blue),
        ];
        let mut lines = Vec::new();
        for (method, name, colour) in methods {
            // As in the paper: p = 10 dashed, p = 30 solid.
            for (p, dash) in [(DIMS[0], Dash::Dashed), (DIMS[1], Dash::Solid)] {
                let point = |times: &Times| {
                    // The band has the larger distance from the median, but stays above 0.
                    let half = (times.highest - times.median).max(times.median - times.lowest);
                    Point::new(times.m as f64, times.median).with_band(half.min(0.9 * times.median))
                };
                let points: Vec<Point> = times(rows, task, p, method).iter().map(point).collect();
                if !points.is_empty() {
                    let line = Line::new(format!("{name}, p = {p}"), colour, points);
                    lines.push(line.with_marks().with_dash(dash));
                }
            }
        }
        let (x, y) = (Axis::logarithmic("m, points valued"), Axis::logarithmic("seconds"));
        Chart::new(task.name(), x, y, lines)
    });
    let title = format!("Time against m: medians of {}, bands to the furthest", repetitions(n));
    Figure::new(title, 2, charts.to_vec())
}

/// The printed lower bound of Corollary 4 with the stopping rule of Algorithm 4.
fn authors_lower(reference: dshap::Rows<'_>, sizes: Sizes) -> Result<Box<dyn Valuer>, dshap::Error> {
    let fit = LogisticFit::of(reference, LogisticOptions::default())?;
    let mut moments = AuthorsMoments::new(&fit);
    moments.push(reference)?;
    let moments = moments.finish()?;
    Ok(Box::new(AuthorsValuer::new(fit, &moments, sizes, bound(Side::Lower, Convention::Authors, 0.0))?))
}

fn summary(rows: &[Row], settings: &Settings) -> String {
    let n_reference = if settings.quick { QUICK_REFERENCE_ROWS } else { REFERENCE_ROWS };
    let mut text = format!(
        "# Figure 1: time against m\n\n\
         Each method values m points against {n_reference} reference rows, with q = 50 (q = p + 100 from p = 100 on). \
         Times are medians of {repetitions} (lowest to highest in brackets) with {threads} threads. They include the \
         fit, but not the drawing of data. A method is left out where {left_out}.\n\n",
        repetitions = repetitions(settings.repetitions(QUICK_REPETITIONS, REPETITIONS)),
        threads = rayon::current_num_threads(),
        left_out = if settings.quick {
            "it would take more than a moment"
        } else {
            "it would take more than some minutes"
        },
    );
    let mut table =
        MarkdownTable::new(&["task", "p", "m", "D-SHAPLEY", "the paper's algorithm", "closed form"]);
    for task in TASKS {
        for p in DIMS {
            let of = |method| times(rows, task, p, method);
            let (slow, paper, closed) = (of("d-shapley"), of("paper"), of("closed"));
            for one in &closed {
                let at = |times: &[Times]| {
                    times.iter().find(|own| own.m == one.m).map_or_else(|| "–".into(), Times::in_words)
                };
                let (p, m) = (p.to_string(), one.m.to_string());
                table.row(&[task.name().into(), p, m, at(&slow), at(&paper), one.in_words()]);
            }
        }
    }
    text += &table.finish();
    let (m, p) = LARGEST;
    let mut large = MarkdownTable::new(&[
        "task",
        "m",
        "p",
        "printed",
        "the paper's algorithm, this machine",
        "closed form, this machine",
    ]);
    let mut any = false;
    for (task, printed) in [(Task::Regression, "5.3 h"), (Task::Classification, "30 min")] {
        let of = |method| times(rows, task, p, method).into_iter().find(|times| times.m == m);
        let Some(closed) = of("closed") else { continue };
        any = true;
        let paper = of("paper").map_or_else(|| "–".into(), |times| times.in_words());
        let (m, p) = (m.to_string(), p.to_string());
        large.row(&[task.name().into(), m, p, printed.into(), paper, closed.in_words()]);
    }
    if any {
        text += "The paper's largest case:\n\n";
        text += &large.finish();
    }
    text
}
