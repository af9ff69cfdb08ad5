//! Baselines: values by fitting models to sets of rows, all rows held in memory.
//!
//! | file | holds |
//! |---|---|
//! | `choice.rs` | names, and what was said about them |
//! | `frame.rs` | from encoded rows to what a model sees; utilities |
//! | `job.rs` | one method on rows in memory |
//! | `points.rs` | rows to be valued, with what is carried through beside them |
//!
//! A baseline has no valuer: what it learns is about the rows it was given, and
//! nothing of it could be saved. So it is a request of its own.

mod choice;
mod frame;
mod job;
mod points;

pub use choice::{Baseline, BaselineChoice, UtilityName};
pub(crate) use frame::{AnyUtility, Frame};
pub(crate) use job::{Job, Outcome};

use crate::Error;
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::Observer;
use crate::output::OutputTable;
use crate::overwriting::refuse_overwriting;
use crate::ready::{Columns, How, Valued};
use crate::receiver::Receiver;
use crate::reference::learn_design;
use crate::request::{Model, Resources, Task};
use crate::summary::{InputFile, Spread};
use crate::warnings::of_rows_left_out;
use dshap::neighbours::sample_rows;
use dshap::{Note, Sizes, Values};
use dshap_baselines::CHECK_EVERY;
use dshap_io::Source;
use dshap_table::Design;
pub(crate) use points::Points;
use serde::Serialize;
use std::path::PathBuf;

/// One row in so many measures utility where no test rows were given.
pub(crate) const TEST_SHARE: usize = 5;

/// More sets than this that determine no model deserve a warning.
const MANY_UNDETERMINED: f64 = 0.01;

/// Rows to be valued by a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineRequest {
    /// Files with the points.
    pub points: Vec<String>,
    /// Files with the reference, if it is not the points: D-Shapley only.
    pub reference: Option<Vec<String>>,
    /// Files with the rows that utility is measured on; else a part of the
    /// reference, or of the points.
    pub test: Vec<String>,
    /// Which column plays which part, and how sets are fitted. Its method is not
    /// looked at.
    pub model: Model,
    /// The baseline.
    pub choice: BaselineChoice,
    /// Whether standard errors are wanted.
    pub std_error: bool,
    /// Whether the summary should have digests of the inputs.
    pub digests: bool,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits; nothing is kept for the case that the run is killed.
    pub resources: Resources,
}

/// What a baseline did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineSummary {
    /// The version of dshap.
    pub version: &'static str,
    /// `regression`, `classification` or `density`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// The method.
    pub method: &'static str,
    /// What a set is worth: `squared-error`, `accuracy`, `log-loss` or
    /// `integrated-squared-error`.
    pub utility: &'static str,
    /// The target, if there is one.
    pub target: Option<String>,
    /// Rows valued, those without a value included.
    pub n_points: u64,
    /// Rows that sets are drawn from.
    pub n_reference: usize,
    /// Whether these are the points themselves.
    pub own_reference: bool,
    /// Rows that utility is measured on.
    pub n_test: usize,
    /// Where those come from: `test`, `reference` or `points`.
    pub test_from: &'static str,
    /// Columns of the model.
    pub p: usize,
    /// The smallest set whose utility counts.
    pub q: usize,
    /// The largest set size.
    pub m: usize,
    /// `γ`; a density has none.
    pub ridge: Option<f64>,
    /// Seed of draws and of the choice of test rows.
    pub seed: u64,
    /// Iterations, of methods that draw.
    pub iterations: Option<usize>,
    /// Whether the means came to rest, of methods that draw.
    pub converged: Option<bool>,
    /// Share of the gains of chains that were computed before truncation.
    pub evaluated_share: Option<f64>,
    /// How values are spread.
    pub values: Spread,
    /// Doubts.
    pub warnings: Vec<String>,
    /// The points.
    pub points: Vec<InputFile>,
    /// The reference, if it is not the points.
    pub reference: Option<Vec<InputFile>>,
    /// The test rows, if they were given.
    pub test: Option<Vec<InputFile>>,
}

/// Values the points of a request by a baseline; rows go to `receiver` in their
/// own order.
///
/// # Errors
///
/// [`Error`], with nothing written that was not completed.
pub fn value_by_baseline(
    request: &BaselineRequest,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<BaselineSummary, Error> {
    request.choice.check(request.reference.is_some(), &request.model)?;
    let open = |files: &Vec<String>| {
        let source = Source::open(files)?;
        refuse_overwriting(&source, &request.outputs)?;
        Ok::<_, Error>(source)
    };
    let tables = BaselineTables {
        points: open(&request.points)?,
        reference: request.reference.as_ref().map(open).transpose()?,
        test: (!request.test.is_empty()).then(|| open(&request.test)).transpose()?,
    };
    carry_out(request, &tables, observer, receiver)
}

/// Tables that are open already, or in memory.
#[derive(Debug, Clone)]
pub struct BaselineTables {
    /// The points.
    pub points: Source,
    /// The reference, if it is not the points: D-Shapley only.
    pub reference: Option<Source>,
    /// The rows that utility is measured on, if they are no part of these.
    pub test: Option<Source>,
}

/// As [`value_by_baseline`], of tables at hand: the files of the request are not
/// looked at. Returns the values as columns.
///
/// # Errors
///
/// [`Error`].
pub fn value_tables_by_baseline(
    request: &BaselineRequest,
    tables: &BaselineTables,
    observer: &dyn Observer,
) -> Result<(Valued, BaselineSummary), Error> {
    request.choice.check(tables.reference.is_some(), &request.model)?;
    let how = How { leave_one_out: true, std_error: request.std_error, parts: false };
    let mut columns = Columns::new(how);
    let summary = carry_out(request, tables, observer, &mut columns)?;
    Ok((columns.valued(), summary))
}

fn carry_out(
    request: &BaselineRequest,
    tables: &BaselineTables,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<BaselineSummary, Error> {
    let BaselineRequest { model, choice, .. } = request;
    let BaselineTables { points, reference, test } = tables;
    let budget = Budget::new(request.resources.memory);
    let (design, task, task_guessed) =
        learn_design(reference.as_ref().unwrap_or(points), model, budget, observer)?;
    choice.check_task(task, model)?;
    let at_hand = Points::read(points, &design, &model.selection, budget, observer)?;
    let given = reference.as_ref().map(|source| Held::read(source, &design, budget, observer)).transpose()?;
    let test_rows = test.as_ref().map(|source| Held::read(source, &design, budget, observer)).transpose()?;
    // Chance measures nothing, so that no row need be kept back for it.
    let test_rows = test_rows.or_else(|| (!choice.baseline.measures()).then(|| at_hand.rows.clone()));
    let parts = Parts::split(&at_hand.rows, given.as_ref(), test_rows, choice.seed, &design)?;

    let frame =
        Frame::of(&parts.players, task, model, choice, &design).map_err(|error| parts.explain(error))?;
    let sizes = choice.sizes(task, model, frame.dim(), parts.players.n_rows(), given.is_some());
    let utility = frame.utility(&parts.test, choice.least_rows(sizes), &design)?;
    let players = frame.see(&parts.players);
    let unseen = given.as_ref().map(|_| frame.see(&at_hand.rows));
    let job = Job { choice, utility: &utility, players: &players, points: unseen.as_ref(), sizes };
    let outcome = job.run(observer).map_err(|error| Error::baseline(error, &design))?;

    let values = match &parts.numbers {
        None => outcome.values.clone(),
        Some(numbers) => spread(&outcome.values, numbers, at_hand.rows.n_rows()),
    };
    let with_std_error = request.std_error && values.std_error.is_some();
    let table = OutputTable::new(&at_hand.carried, &[], &design, with_std_error);
    receiver.begin(table.schema())?;
    let mut tally = Spread::new();
    at_hand.hand_over(&values, |place, values| {
        tally.add(place.n_rows, &values.value);
        let remaining = place.remaining.as_deref();
        receiver.rows(table.batch(place.first_row, place.n_rows, place.carried.clone(), values, remaining))
    })?;

    let n_left_out = at_hand.n_rows - at_hand.rows.n_rows() as u64;
    let mut said: Vec<String> = of_rows_left_out("point", n_left_out, "has no value").into_iter().collect();
    said.extend(warnings(&outcome, &parts, choice, sizes, &frame, &design));
    Ok(BaselineSummary {
        version: env!("CARGO_PKG_VERSION"),
        task: task.name(),
        task_guessed,
        method: choice.baseline.word(),
        utility: frame.utility_name(),
        target: design.target().map(String::from),
        n_points: at_hand.n_rows,
        n_reference: players.n_rows(),
        own_reference: given.is_none(),
        n_test: parts.test.n_rows(),
        test_from: parts.test_from,
        p: frame.dim(),
        q: sizes.min(),
        m: sizes.max(),
        ridge: frame.ridge(),
        seed: choice.seed,
        iterations: outcome.n_iterations,
        converged: outcome.converged,
        evaluated_share: outcome.evaluated_share,
        values: tally,
        warnings: said,
        points: InputFile::of(points, request.digests)?,
        reference: reference.as_ref().map(|source| InputFile::of(source, request.digests)).transpose()?,
        test: test.as_ref().map(|source| InputFile::of(source, request.digests)).transpose()?,
    })
}

/// Who plays, and who watches.
pub(crate) struct Parts {
    /// Rows that sets are made of.
    pub(crate) players: Held,
    /// Rows that utility is measured on.
    pub(crate) test: Held,
    pub(crate) test_from: &'static str,
    /// Which of the points the players are, if they are not all of them.
    pub(crate) numbers: Option<Vec<usize>>,
}

impl Parts {
    /// All rows play, and nobody watches.
    pub(crate) fn whole(points: &Held, design: &Design) -> Self {
        let columns: Vec<usize> = (0..design.n_columns()).collect();
        let rows: Vec<usize> = (0..points.n_rows()).collect();
        Self {
            players: points.select(&rows, &columns),
            test: points.select(&[], &columns),
            test_from: "none",
            numbers: None,
        }
    }

    /// What went wrong with the players, who are fewer than the rows of the table where
    /// some are kept back.
    pub(crate) fn explain(&self, error: Error) -> Error {
        if matches!(self.test_from, "points" | "reference") { error.with_kept_back() } else { error }
    }

    pub(crate) fn split(
        points: &Held,
        reference: Option<&Held>,
        test: Option<Held>,
        seed: u64,
        design: &Design,
    ) -> Result<Self, Error> {
        let whole = reference.unwrap_or(points);
        let columns: Vec<usize> = (0..design.n_columns()).collect();
        if let Some(test) = test {
            let rows: Vec<usize> = (0..whole.n_rows()).collect();
            let players = whole.select(&rows, &columns);
            return Ok(Self { players, test, test_from: "test", numbers: None });
        }
        let n = whole.n_rows();
        if n < 2 {
            return Err(Error::core(dshap::Error::FewRows { n_rows: n, needed: 2 }, design));
        }
        let chosen = sample_rows(n, n_kept_back(n), seed);
        let mut is_test = vec![false; n];
        chosen.iter().for_each(|&row| is_test[row] = true);
        let others: Vec<usize> = (0..n).filter(|&row| !is_test[row]).collect();
        let is_own = reference.is_none();
        Ok(Self {
            players: whole.select(&others, &columns),
            test: whole.select(&chosen, &columns),
            test_from: if is_own { "points" } else { "reference" },
            numbers: is_own.then_some(others),
        })
    }
}

/// How many of `n_rows` are test rows.
fn n_kept_back(n_rows: usize) -> usize {
    (n_rows / TEST_SHARE).max(1)
}

/// The fewest rows of which so many are left when test rows are kept back.
pub(crate) fn rows_to_leave(n_left: usize) -> usize {
    let mut n_rows = n_left + 1;
    while n_rows - n_kept_back(n_rows) < n_left {
        n_rows += 1;
    }
    n_rows
}

/// Values of some rows in the places of all; the others are test rows.
fn spread(values: &Values, numbers: &[usize], n_rows: usize) -> Values {
    let place = |column: &[f64]| {
        let mut all = vec![f64::NAN; n_rows];
        numbers.iter().zip(column).for_each(|(&row, &cell)| all[row] = cell);
        all
    };
    let value = place(&values.value);
    let notes = (0..n_rows).filter(|&row| value[row].is_nan()).map(|row| (row, Note::TestRow)).collect();
    Values { std_error: values.std_error.as_deref().map(place), value, notes, ..Values::default() }
}

fn warnings(
    outcome: &Outcome,
    parts: &Parts,
    choice: &BaselineChoice,
    sizes: Sizes,
    frame: &Frame,
    design: &Design,
) -> Vec<String> {
    let mut said: Vec<String> = frame.warnings().iter().map(|w| describe(w, design)).collect();
    if parts.test_from == "points" {
        let what = match parts.test.n_rows() {
            1 => "1 of the rows measures what sets of the others are worth and has no value".to_string(),
            n => format!("{n} of the rows measure what sets of the others are worth and have no value"),
        };
        said.push(format!("{what}; `--test FILE` gives rows for that"));
    }
    said.extend(choice.doubt(sizes));
    match (outcome.converged, outcome.n_iterations) {
        // All iterations were asked for, whether the means come to rest or not.
        (Some(false), Some(_)) if choice.tolerance() == 0.0 => {}
        (Some(false), Some(n)) if n < 2 * CHECK_EVERY => said.push(format!(
            "after {n} iterations nobody can tell whether the means have come to rest: that takes {}; `--stderr` \
             shows how far off they may be",
            2 * CHECK_EVERY
        )),
        (Some(false), Some(n)) => said.push(format!(
            "after {n} iterations the means still moved by more than {} % in a hundred; `--samples` allows \
             more, `--stderr` shows how far off they may be",
            100.0 * choice.tolerance()
        )),
        _ => {}
    }
    if choice.baseline == Baseline::LeaveOneOut && outcome.undetermined_share > 0.0 {
        said.push(
            "all rows together do not determine the coefficients, or lack a label: there is no model to lose, and \
             every value is 0; a `--ridge` helps"
                .into(),
        );
    } else if outcome.undetermined_share > MANY_UNDETERMINED {
        let share = 100.0 * outcome.undetermined_share;
        said.push(match frame.task() {
            Task::Classification => {
                format!("{share:.0} % of the sets lacked a label and were worth nothing; a larger `--q` helps")
            }
            _ => format!(
                "{share:.0} % of the sets did not determine the coefficients and were worth nothing; a larger \
                 `--q` or a `--ridge` helps"
            ),
        });
    }
    said
}

fn describe(warning: &dshap::Warning, design: &Design) -> String {
    warning.describe(|column| design.column_name(column).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_are_left_as_are_needed() {
        for n_left in 1..100 {
            let n_rows = rows_to_leave(n_left);
            assert_eq!(n_rows - n_kept_back(n_rows), n_left);
        }
        assert_eq!(rows_to_leave(18), 22);
    }
}
