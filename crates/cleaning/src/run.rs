//! `clean`: a table read, examined and written.

use crate::actions::{Act, Action};
use crate::examined::{Examined, Kind};
use crate::folds::FOLDS;
use crate::output::{CleanedAs, Marks, hand_over};
use crate::suspects::{Suspects, find_suspects};
use crate::trial::{Extent, Tried, try_actions};
use crate::verdict::{Recommended, Verdict};
use dshap_catalogue::options::{KEEP, POSITIVE, REPEATS, SEED, TARGET, TASK, TEST};
use dshap_catalogue::{Given, Group, Task, Value};
use dshap_io::Source;
use dshap_models::{Error, Observer, RowRole, Stage, Warning, methods};
use dshap_run::{HeldTable, Receiver, Resources, all_problems, open_given};
use dshap_table::{Design, Labels};
use serde::Serialize;
use std::path::PathBuf;

/// Suspicious rows that are listed.
const LISTED: usize = 10;

/// A table to be cleaned.
#[derive(Debug, Clone)]
pub struct CleanRequest {
    /// Files with the rows.
    pub rows: Vec<String>,
    /// Options about columns, the task, the seed and repeats, as given.
    pub given: Given,
    /// What is written.
    pub cleaned_as: CleanedAs,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits. There are no checkpoints.
    pub resources: Resources,
}

/// Of options for valuing rows, those that cleaning the same table takes: about files and columns,
/// without those of a method.
pub fn options_of(given: &Given) -> Given {
    let is_used = [TARGET.name, POSITIVE.name, TASK.name];
    given.only(|option| {
        let is_apart = matches!(option.group, Group::Output | Group::Run) || option.name == TEST.name;
        !is_apart && (!option.is_of_methods() || is_used.contains(&option.name))
    })
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleaned {
    /// The version of dshap.
    pub version: &'static str,
    /// `regression` or `classification`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// Rows of the table that have numbers.
    pub n_rows: usize,
    /// Rows that actions were tried on.
    pub n_tested: usize,
    /// Number of repeats of five folds.
    pub repeats: usize,
    /// `squared-error` or `log-loss`.
    pub loss_name: &'static str,
    /// What every action did, and which one is recommended.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Rows that the recommended action is taken on.
    pub n_acted_on: usize,
    /// Rows whose targets contradict the others, whatever is recommended.
    pub n_flagged: usize,
    /// The share of them that are wrong, as estimated; none for numbers.
    pub precision: Option<f64>,
    /// How much the model and the neighbours count.
    pub weights: Vec<f64>,
    /// The most suspicious rows.
    pub most_suspicious: Vec<Listed>,
    /// What is doubtful.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Cleaned {
    /// How many rows an action is taken on.
    pub fn n_acted(&self, action: Action) -> usize {
        action.n_rows(self.n_rows, self.n_flagged)
    }
}

/// A suspicious row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// Its number in the table, from 0.
    pub row: usize,
    /// How suspicious it is.
    pub score: f64,
    /// Its target.
    pub given: String,
    /// What other rows predict.
    pub expected: String,
}

/// What rows in memory are found to be.
#[derive(Debug, Clone, PartialEq)]
pub struct CleanedRows {
    /// Scores, flags and expected targets.
    pub suspects: Suspects,
    /// What actions did.
    pub tried: Tried,
    /// The rows that the recommended action is taken on, most suspicious first.
    pub acted_on: Vec<usize>,
}

/// Finds suspicious rows and tries what to do with them.
///
/// # Errors
///
/// [`dshap::Error`].
pub fn clean_rows(
    examined: &Examined,
    others: &[&[f64]],
    extent: Extent,
    seed: u64,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<CleanedRows, dshap::Error> {
    let suspects = find_suspects(examined, others, seed)?;
    let tried = try_actions(examined, extent, seed, watch)?;
    let rows_of = |chosen: Recommended| chosen.action.rows_of(&suspects, &suspects.ranking());
    let acted_on = tried.verdict.recommended.map_or_else(Vec::new, rows_of);
    Ok(CleanedRows { suspects, tried, acted_on })
}

/// Cleans the table of a request: rows go to `receiver`, with reasons as `reason` words
/// them.
///
/// # Errors
///
/// [`Error`]; an output that was not completed is not written.
pub fn clean(
    request: &CleanRequest,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
    reason: &dyn Fn(&Reason) -> String,
) -> Result<Cleaned, Error> {
    let source = open_given(&request.rows, &request.given, &request.outputs)?;
    let held = hold(&source, &request.given, request.resources.memory, observer)
        .map_err(|error| all_problems(error, &request.rows, &request.given))?;
    let found = clean_held(&held, &[], &request.given, observer)?;
    let marks = Marks { held: &held, found: &found, target: request.given.word(&TARGET).unwrap_or_default() };
    hand_over(&marks, request.cleaned_as, receiver, reason)?;
    source.check_unchanged()?;
    Ok(described(&held, found))
}

/// Finds suspicious rows of an open table, and tries what to do with them. `others` are
/// predictions of its rows, as for [`find_suspects`].
///
/// # Errors
///
/// [`Error`].
pub fn clean_source(
    source: &Source,
    given: &Given,
    others: &[&[f64]],
    observer: &dyn Observer,
) -> Result<CleanedRows, Error> {
    let held = hold(source, given, None, observer)?;
    clean_held(&held, others, given, observer)
}

/// Finds suspicious rows of an open table, without trying anything.
///
/// # Errors
///
/// [`Error`].
pub fn suspects_in(
    source: &Source,
    given: &Given,
    others: &[&[f64]],
    observer: &dyn Observer,
) -> Result<Suspects, Error> {
    let held = hold(source, given, None, observer)?;
    let seed = seed_in(given);
    let examined = kind_of(&held).and_then(|kind| examined(&held, kind, seed))?;
    find_suspects(&examined, others, seed).map_err(|error| Error::core(error, &held.design))
}

fn seed_in(given: &Given) -> u64 {
    given.count(&SEED).unwrap_or(0)
}

fn kind_of(held: &HeldTable) -> Result<Kind, Error> {
    match held.task {
        Task::Regression => Ok(Kind::Numbers),
        Task::Classification => Ok(Kind::Labels(held.design.labels().map_or(2, Labels::n_classes))),
        Task::Density => Err(Error::NothingToClean),
    }
}

fn examined(held: &HeldTable, kind: Kind, seed: u64) -> Result<Examined, Error> {
    let rows = held.rows.rows().and_then(|rows| Examined::new(rows, kind, seed));
    rows.map_err(|error| Error::core(error, &held.design))
}

fn hold(
    source: &Source,
    given: &Given,
    memory: Option<u64>,
    observer: &dyn Observer,
) -> Result<HeldTable, Error> {
    let is_used = [TARGET.name, POSITIVE.name, TASK.name];
    let columns = given.only(|option| !option.is_of_methods() || is_used.contains(&option.name));
    let names: Vec<String> = source.schema().names().map(String::from).collect();
    let columns = columns.with(&KEEP, Value::List(names));
    // Columns as the models of `loo` see them: a level less than a text column has.
    let method = methods::find("loo").expect("it is a method");
    HeldTable::read(source, method, &columns, memory, observer)
}

fn clean_held(
    held: &HeldTable,
    others: &[&[f64]],
    given: &Given,
    observer: &dyn Observer,
) -> Result<CleanedRows, Error> {
    let (kind, seed) = (kind_of(held)?, seed_in(given));
    let usual = Extent::usual(kind);
    let extent = Extent { repeats: given.size(&REPEATS).unwrap_or(usual.repeats).max(1), ..usual };
    let examined = examined(held, kind, seed)?;
    observer.begin(Stage::Trial("testing"), (extent.repeats * FOLDS) as u64);
    let watch = |done: usize, _: usize| {
        observer.advance(done as u64, 0);
        !observer.is_interrupted()
    };
    let found = clean_rows(&examined, others, extent, seed, &watch);
    observer.end();
    found.map_err(|error| Error::core(error, &held.design))
}

fn described(held: &HeldTable, found: CleanedRows) -> Cleaned {
    let CleanedRows { suspects, tried, acted_on } = found;
    let numbers = held.usable_rows();
    let listed = |&place: &usize| Listed {
        row: numbers[place],
        score: suspects.score[place],
        given: target_word(&held.design, held.rows.y()[place]),
        expected: target_word(&held.design, suspects.expected[place]),
    };
    let n_missing = held.n_rows - held.rows.n_rows() as u64;
    Cleaned {
        version: env!("CARGO_PKG_VERSION"),
        task: held.task.name(),
        task_guessed: held.task_guessed,
        n_rows: held.rows.n_rows(),
        n_tested: tried.n_rows,
        repeats: tried.repeats,
        loss_name: if tried.verdict.has_labels() { "log-loss" } else { "squared-error" },
        n_acted_on: acted_on.len(),
        n_flagged: suspects.is_flagged.iter().filter(|flagged| **flagged).count(),
        precision: suspects.precision,
        weights: suspects.weights.clone(),
        most_suspicious: suspects.ranking().iter().take(LISTED).map(listed).collect(),
        verdict: tried.verdict,
        warnings: Warning::rows_left_out(RowRole::Trial, n_missing, &held.design).into_iter().collect(),
    }
}

/// A target as people know it.
pub(crate) fn target_word(design: &Design, target: f64) -> String {
    match design.labels() {
        Some(labels) => labels.word(target as usize),
        None => format!("{}", rounded(target)),
    }
}

/// Six digits: a prediction has no more.
fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}

/// Why a row is suspicious.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Its number is far from what other rows predict.
    Far {
        /// What they predict.
        expected: f64,
        /// In robust standard deviations, with a sign.
        deviations: f64,
    },
    /// Its label is improbable.
    Improbable {
        /// Its probability.
        prob: f64,
        /// The likeliest label.
        expected: String,
        /// The probability of that.
        expected_prob: f64,
    },
}

impl Act {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Act::Drop => "drop",
            Act::Relabel => "relabel",
        }
    }
}
