//! Figure 1: time against m, and the paper's largest case.

use crate::addition::{Ranker, rankers};
use crate::data::{Part, Split, Task, shifted_classes, standard_regression};
use crate::ledger::{Column, Row, Unit};
use crate::markdown::{MarkdownTable, repetitions, seconds};
use crate::output::Output;
use crate::seeds::{Purpose, method_seed, normal, stream};
use crate::settings::{Experiment, Settings};
use crate::statistics::median;
use crate::valuing::{Method, Terms};
use crate::{Error, Table, Watch};
use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions};
use dshap::linear::{FitOptions, LinearFit, LinearMethod, LinearValuer};
use dshap::{Sizes, Valuer};
use dshap_draw::{Axis, Colour, Figure, Line, Panel as Chart, Point};
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
    let (ours, paper) = if settings.quick { (1_000, 300) } else { (100_000, 10_000) };
    // D-SHAPLEY updates least squares, but refits logistic models.
    let drawn = |task: Task| match (task, settings.quick) {
        (_, true) => 100,
        (Task::Classification, false) => 300,
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
        let ranker = Ranker::Ours(Method::Closed);
        cases.extend(TASKS.map(|task| Case { task, p, m, ranker, repetition: 0 }));
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

/// The closed form on more points than memory should hold.
fn time_in_chunks(
    case: &Case,
    reference: &Part,
    mut points: impl FnMut(usize) -> Part,
) -> Result<f64, Error> {
    let sizes = Sizes::new(case.q(), case.m);
    let failed = || Error::valuing("value the largest case");
    let mut began = Instant::now();
    let valuer: Box<dyn Valuer> = match case.task {
        Task::Classification => {
            let fit = LogisticFit::of(reference.rows()?, LogisticOptions::default()).map_err(failed())?;
            let method = ClassificationMethod::default();
            Box::new(ClassificationValuer::new(fit, sizes, method).map_err(failed())?)
        }
        _ => {
            let fit = LinearFit::of(reference.rows()?, FitOptions::default()).map_err(failed())?;
            Box::new(LinearValuer::new(fit, sizes, LinearMethod::default()).map_err(failed())?)
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

/// Times of one method on one task and p, by m.
fn times(rows: &[Row], task: Task, p: usize, method: &str) -> Vec<(usize, f64)> {
    let own: Vec<(usize, f64)> = rows
        .iter()
        .filter(|row| row[0] == task.name() && row[1] == p.to_string() && row[3] == method)
        .filter_map(|row| Some((row[2].parse().ok()?, row[5].parse().ok()?)))
        .collect();
    let mut sizes: Vec<usize> = own.iter().map(|(m, _)| *m).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let at = |m: usize| own.iter().filter(|(own, _)| *own == m).map(|(_, time)| *time).collect::<Vec<_>>();
    sizes.into_iter().map(|m| (m, median(&at(m)))).collect()
}

fn figure(rows: &[Row], settings: &Settings) -> Figure {
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let charts = TASKS.iter().flat_map(|&task| DIMS.map(|p| (task, p))).map(|(task, p)| {
        let line = |method: &str, name: &str, colour| {
            let points = times(rows, task, p, method).into_iter().map(|(m, time)| Point::new(m as f64, time));
            Line::new(name, colour, points.collect()).with_marks()
        };
        let n_drawn = settings.d_shapley("", task, 1);
        let drawn =
            if n_drawn < n { format!("D-SHAPLEY ({})", repetitions(n_drawn)) } else { "D-SHAPLEY".into() };
        let lines = vec![
            line("d-shapley", &drawn, Colour::Vermilion),
            line("paper", "the paper's algorithms", Colour::Orange),
            line("closed", "closed form", Colour::Blue),
        ];
        let lines = lines.into_iter().filter(|line| !line.points.is_empty()).collect();
        let (x, y) = (Axis::logarithmic("m, points valued"), Axis::logarithmic("seconds"));
        Chart::new(format!("{}, p = {p}", task.name()), x, y, lines)
    });
    Figure::new(format!("Time against m: medians of {}", repetitions(n)), 2, charts.collect())
}

fn summary(rows: &[Row], settings: &Settings) -> String {
    let n_reference = if settings.quick { QUICK_REFERENCE_ROWS } else { REFERENCE_ROWS };
    let mut text = format!(
        "# Figure 1: time against m\n\n\
         Each method values m points against {n_reference} reference rows, with q = 50 (q = p + 100 from p = 100 on). \
         Times are medians of {repetitions} with {threads} threads. They include the fit, but not the drawing of \
         data. A method is left out where {left_out}.\n\n",
        repetitions = repetitions(settings.repetitions(QUICK_REPETITIONS, REPETITIONS)),
        threads = rayon::current_num_threads(),
        left_out = if settings.quick { "it would take more than a moment" } else { "it would take hours" },
    );
    let mut table =
        MarkdownTable::new(&["task", "p", "m", "D-SHAPLEY", "the paper's algorithm", "closed form"]);
    for task in TASKS {
        for p in DIMS {
            let of = |method| times(rows, task, p, method);
            let (slow, paper, closed) = (of("d-shapley"), of("paper"), of("closed"));
            for &(m, time) in &closed {
                let at = |times: &[(usize, f64)]| {
                    seconds(times.iter().find(|(own, _)| *own == m).map_or(f64::NAN, |(_, time)| *time))
                };
                let (p, m) = (p.to_string(), m.to_string());
                table.row(&[task.name().into(), p, m, at(&slow), at(&paper), seconds(time)]);
            }
        }
    }
    text += &table.finish();
    let (m, p) = LARGEST;
    let mut large = MarkdownTable::new(&["task", "m", "p", "paper", "closed form, this machine"]);
    let mut any = false;
    for (task, paper) in [(Task::Regression, "5.3 h"), (Task::Classification, "30 min")] {
        for (found, time) in times(rows, task, p, "closed") {
            if found == m {
                any = true;
                large.row(&[task.name().into(), m.to_string(), p.to_string(), paper.into(), seconds(time)]);
            }
        }
    }
    if any {
        text += "The paper's largest case:\n\n";
        text += &large.finish();
    }
    text
}
