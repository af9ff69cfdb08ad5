//! Figure 1: time against m, and the paper's largest case.

use crate::addition::{Ranker, rankers};
use crate::data::{Part, Split, Task, shifted_classes, standard_regression};
use crate::ledger::{Column, Row, Unit};
use crate::markdown::{MarkdownTable, repetitions, seconds, short};
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
/// The paper's repetitions.
const REPETITIONS: usize = 50;
const QUICK_REPETITIONS: usize = 2;
/// Repetitions of cases of which fifty would take an hour.
const FEW_REPETITIONS: usize = 3;
/// Rows of the reference, as in the authors' code.
const REFERENCE_ROWS: usize = 48_000;
const QUICK_REFERENCE_ROWS: usize = 5_000;
const TEST_ROWS: usize = 1_000;
/// The paper's largest case: m and p.
const LARGEST: (usize, usize) = (500_000, 1_000);
const QUICK_LARGEST: (usize, usize) = (2_000, 120);
/// From this many features on, rows are made and valued in chunks. Making them is not
/// timed.
const MANY_FEATURES: usize = 100;
/// Cells of a chunk, features times rows.
const CHUNK_CELLS: usize = 10_000_000;
const QUICK_CHUNK_CELLS: usize = 100_000;

/// The paper's times in seconds for classification at p = 30 and m = 1000: D-SHAPLEY, and
/// Algorithm 2.
const PRINTED: (f64, f64) = (7015.7, 2.6);
/// The case that they are of.
const PRINTED_CASE: (Task, usize, usize) = (Task::Classification, 30, 1_000);

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
        if self.p < MANY_FEATURES { 50 } else { self.p + 100 }
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

/// How often a case is timed at most: less often where fifty times would take an hour.
/// D-SHAPLEY updates least squares, but refits logistic models.
fn most_repetitions(task: Task, p: usize, m: usize, ranker: Ranker) -> usize {
    let is_long = match (ranker, task) {
        (Ranker::DShapley, Task::Classification) => m * p > 10_000,
        (Ranker::DShapley, _) => m * p > 100_000,
        (Ranker::Ours(_), _) => p >= MANY_FEATURES,
    };
    if is_long { FEW_REPETITIONS } else { REPETITIONS }
}

/// The largest m that a method is timed at.
fn largest_m(task: Task, ranker: Ranker, is_quick: bool) -> usize {
    match (ranker, task, is_quick) {
        (Ranker::Ours(Method::Closed), _, true) => 1_000,
        (Ranker::Ours(_), _, true) => 300,
        (Ranker::DShapley, _, true) => 100,
        (Ranker::Ours(_), _, false) => 100_000,
        (Ranker::DShapley, Task::Classification, false) => 1_000,
        (Ranker::DShapley, _, false) => 10_000,
    }
}

/// The cases to be timed, for each method; the largest come last.
fn cases(settings: &Settings) -> Vec<Case> {
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let mut cases = Vec::new();
    for repetition in 0..n {
        for task in TASKS {
            for p in DIMS {
                for m in [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000] {
                    for ranker in rankers(repetition < settings.d_shapley("", task, n)) {
                        let most = most_repetitions(task, p, m, ranker);
                        if m <= largest_m(task, ranker, settings.quick) && repetition < most {
                            cases.push(Case { task, p, m, ranker, repetition });
                        }
                    }
                }
            }
        }
    }
    let (m, p) = largest_case(settings);
    for ranker in rankers(false) {
        for task in TASKS {
            let n = n.min(most_repetitions(task, p, m, ranker));
            cases.extend((0..n).map(|repetition| Case { task, p, m, ranker, repetition }));
        }
    }
    cases
}

/// m and p of the largest case.
fn largest_case(settings: &Settings) -> (usize, usize) {
    if settings.quick { QUICK_LARGEST } else { LARGEST }
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
    if case.p >= MANY_FEATURES {
        let cells = if settings.quick { QUICK_CHUNK_CELLS } else { CHUNK_CELLS };
        return time_in_chunks(case, &reference, cells / case.p, |n| part(draw(n, &mut rng)));
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
    chunk_rows: usize,
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
    for first in (0..case.m).step_by(chunk_rows) {
        let chunk = points(chunk_rows.min(case.m - first));
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
    n: usize,
    median: f64,
    lowest: f64,
    highest: f64,
}

impl Times {
    fn of(m: usize, times: &[f64]) -> Self {
        let lowest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { m, n: times.len(), median: median(times), lowest, highest }
    }

    /// The median, and in brackets the range; with the number of times where it is not `n`.
    fn in_words(&self, n: usize) -> String {
        let middle = seconds(self.median);
        let range = (self.lowest < self.highest)
            .then(|| format!("{} – {}", seconds(self.lowest), seconds(self.highest)));
        let fewer =
            (self.n < n).then(|| if self.n == 1 { "once".into() } else { format!("{} times", self.n) });
        let more: Vec<String> = range.into_iter().chain(fewer).collect();
        if more.is_empty() { middle } else { format!("{middle} ({})", more.join("; ")) }
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
        let methods = [
            ("d-shapley", "D-SHAPLEY", Colour::Vermilion),
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
                let times = times(rows, task, p, method);
                if let Some(fewest) = times.iter().map(|times| times.n).min() {
                    let fewer =
                        if fewest < n { format!(" (from {n} down to {fewest})") } else { String::new() };
                    let line = Line::new(
                        format!("{name}, p = {p}{fewer}"),
                        colour,
                        times.iter().map(point).collect(),
                    );
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

/// The lower bound of Algorithm 4 with its stopping rule, as in the authors' program.
fn authors_lower(reference: dshap::Rows<'_>, sizes: Sizes) -> Result<Box<dyn Valuer>, dshap::Error> {
    let fit = LogisticFit::of(reference, LogisticOptions::default())?;
    let mut moments = AuthorsMoments::new(&fit);
    moments.push(reference)?;
    let moments = moments.finish()?;
    Ok(Box::new(AuthorsValuer::new(fit, &moments, sizes, bound(Side::Lower, Convention::Authors, 0.0))?))
}

fn summary(rows: &[Row], settings: &Settings) -> String {
    let n_reference = if settings.quick { QUICK_REFERENCE_ROWS } else { REFERENCE_ROWS };
    let n = settings.repetitions(QUICK_REPETITIONS, REPETITIONS);
    let mut text = format!(
        "# Figure 1: time against m\n\n\
         Each method values m points against {n_reference} reference rows, with q = 50 (q = p + 100 from p = 100 on). \
         Times are medians of {repetitions} with {threads} threads, on the machine of this run. Brackets have the \
         lowest and the highest time, and how often a case was timed where that is less often. Times include the fit, \
         but not the drawing of data. The paper's algorithms are Algorithm 3 for regression, and Algorithm 2 with the \
         lower bound of Algorithm 4 for classification. D-SHAPLEY is left out where it would take hours.\n\n",
        repetitions = repetitions(n),
        threads = rayon::current_num_threads(),
    );
    let mut table =
        MarkdownTable::new(&["task", "p", "m", "D-SHAPLEY", "the paper's algorithm", "closed form"]);
    for task in TASKS {
        for p in DIMS {
            let of = |method| times(rows, task, p, method);
            let (slow, paper, closed) = (of("d-shapley"), of("paper"), of("closed"));
            for one in &closed {
                let at = |times: &[Times]| {
                    times.iter().find(|own| own.m == one.m).map_or_else(|| "–".into(), |own| own.in_words(n))
                };
                let (p, m) = (p.to_string(), one.m.to_string());
                table.row(&[task.name().into(), p, m, at(&slow), at(&paper), one.in_words(n)]);
            }
        }
    }
    text += &table.finish();
    text + &beside_the_paper(rows, n) + &largest(rows, settings, n)
}

/// The one case of the figure whose times the paper prints.
fn beside_the_paper(rows: &[Row], n: usize) -> String {
    let (task, p, m) = PRINTED_CASE;
    let at = |method| times(rows, task, p, method).into_iter().find(|times| times.m == m);
    let (drawn, paper) = PRINTED;
    let mut table = MarkdownTable::new(&[
        "time",
        "D-SHAPLEY",
        "the paper's algorithm",
        "closed form",
        "D-SHAPLEY to the paper's algorithm",
    ]);
    let ratio = |drawn: f64, paper: f64| format!("{} to 1", short(drawn / paper));
    table.row(&[
        "printed".into(),
        format!("{drawn} s"),
        format!("{paper} s"),
        "–".into(),
        ratio(drawn, paper),
    ]);
    let found = ["d-shapley", "paper", "closed"].map(at);
    let words = found.map(|times| times.map_or_else(|| "–".into(), |times| times.in_words(n)));
    let both =
        found[0].zip(found[1]).map_or_else(|| "–".into(), |(drawn, paper)| ratio(drawn.median, paper.median));
    table.row(&[vec!["here".into()], words.to_vec(), vec![both]].concat());
    format!(
        "The paper prints two times of the figure, both of {} at p = {p} and m = {m}:\n\n{}",
        task.name(),
        table.finish()
    )
}

/// The largest case, beside the paper's times.
fn largest(rows: &[Row], settings: &Settings, n: usize) -> String {
    let (m, p) = largest_case(settings);
    let mut table = MarkdownTable::new(&[
        "task",
        "m",
        "p",
        "printed",
        "the paper's algorithm, here",
        "closed form, here",
    ]);
    for (task, printed) in [(Task::Regression, "5.3 h"), (Task::Classification, "30 min")] {
        let of = |method| times(rows, task, p, method).into_iter().find(|times| times.m == m);
        let words = |method| of(method).map_or_else(|| "–".into(), |times| times.in_words(n));
        // A smaller case is in no paper.
        let printed = if settings.quick { "–" } else { printed };
        let (m, p) = (m.to_string(), p.to_string());
        table.row(&[task.name().into(), m, p, printed.into(), words("paper"), words("closed")]);
    }
    format!("The largest case:\n\n{}", table.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_run_has_the_cases_and_the_repetitions_of_the_paper() {
        let cases = cases(&Settings::default());
        let n = |task: Task, p: usize, m: usize, ranker: Ranker| {
            let is_it = |case: &&Case| (case.task, case.p, case.m, case.ranker) == (task, p, m, ranker);
            cases.iter().filter(is_it).count()
        };
        let (closed, paper) = (Ranker::Ours(Method::Closed), Ranker::Ours(Method::Paper));
        for task in TASKS {
            for p in DIMS {
                for m in [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000] {
                    assert_eq!((n(task, p, m, closed), n(task, p, m, paper)), (50, 50), "p = {p}, m = {m}");
                }
            }
            let (m, p) = LARGEST;
            assert_eq!((n(task, p, m, closed), n(task, p, m, paper)), (3, 3), "by both methods");
        }
        let drawn = |task, p, m| n(task, p, m, Ranker::DShapley);
        // The two cases of which fifty repetitions would take an hour.
        assert_eq!(drawn(Task::Classification, 30, 1_000), 3);
        assert_eq!(drawn(Task::Regression, 30, 10_000), 3);
        assert_eq!(drawn(Task::Classification, 10, 1_000), 50);
        assert_eq!(drawn(Task::Regression, 30, 3_000), 50);
        assert_eq!(drawn(Task::Regression, 10, 10_000), 50);
        let last = cases.iter().position(|case| case.p == LARGEST.1).expect("it is there");
        assert!(cases[last..].iter().all(|case| case.p == LARGEST.1), "the largest come last");
    }
}
