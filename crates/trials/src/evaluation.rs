//! `evaluate`: the trial and its result.

use crate::bench::{Bench, BenchRequest, seed_in};
use crate::entrant::Entrant;
use crate::figure::Curve;
use crate::hand_out::method_of;
use crate::judgement::Judgement;
use crate::orders::{Effort, Orders, RANDOM_ORDERS, Traced, mean, std_dev};
use crate::output::hand_over;
use crate::search::{Detected, Search};
use crate::steps::Steps;
use dshap_catalogue::Task;
use dshap_catalogue::options::TASK;
use dshap_models::sets::Baseline;
use dshap_models::{Error, Observer, RowRole, Warning};
use dshap_run::Receiver;
use serde::Serialize;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Share of the targets that are made wrong, to be detected: above 0 and below 1.
    /// A tenth by default. At least one target is made wrong, and not all.
    pub noise: Option<f64>,
    /// Number of repetitions, each with other halves and other wrong targets; curves
    /// are means. 0 counts as 1.
    pub repeats: usize,
}

impl Trial {
    /// Share of the targets that are made wrong.
    pub(crate) fn share(&self) -> f64 {
        self.noise.unwrap_or(0.1)
    }
}

/// What an evaluation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    /// The version of dshap.
    pub version: &'static str,
    /// `regression`, `classification` or `density`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// What sets are worth: `squared-error`, `accuracy`, `log-loss` or
    /// `integrated-squared-error`.
    pub utility: &'static str,
    /// What all rows are worth.
    pub utility_of_all: f64,
    /// Rows of the table that have numbers.
    pub n_table_rows: usize,
    /// Rows valued: of large tables, and of tables without test rows, some of them.
    pub n_rows: usize,
    /// Test rows that curves are judged on, the same for all methods.
    pub n_test: usize,
    /// Other test rows, which some methods value by; 0 if none does.
    pub n_valuing: usize,
    /// The methods that value by them.
    pub valuing: Vec<String>,
    /// Where test rows come from: `test` or `points`.
    pub test_from: &'static str,
    /// Rows of the smallest set on a curve: `q` if there is no ridge.
    pub least_rows: usize,
    /// Share of targets made wrong; absent if none can be.
    pub noise: Option<f64>,
    /// How many that is.
    pub n_wrong: Option<usize>,
    /// Number of repetitions.
    pub repeats: usize,
    /// Random orders that the curves of chance are means of.
    pub random_orders: usize,
    /// Method by method, chance last.
    pub methods: Vec<MethodResult>,
    /// What to make of it.
    pub judgement: Judgement,
    /// The curves, which are also the rows of the output.
    #[serde(skip)]
    pub curves: Vec<Curve>,
    /// What is doubtful.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

/// How a method did. A curve is summed up by its mean utility, as a share of the
/// utility of all rows. Standard deviations are between single runs (repeats, random
/// orders, orders of tied rows); absent if there was one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResult {
    /// The method.
    pub method: String,
    /// Half of the rows, and the others added from the highest value down.
    pub addition_high: f64,
    /// Its standard deviation.
    pub addition_high_std_dev: Option<f64>,
    /// The same from the lowest value up.
    pub addition_low: f64,
    /// Its standard deviation.
    pub addition_low_std_dev: Option<f64>,
    /// All rows, with those of the highest value removed first.
    pub removal_high: f64,
    /// Its standard deviation.
    pub removal_high_std_dev: Option<f64>,
    /// All rows, with those of the lowest value removed first.
    pub removal_low: f64,
    /// Its standard deviation.
    pub removal_low_std_dev: Option<f64>,
    /// How well low values point at wrong targets: area under the ROC curve.
    pub auc: Option<f64>,
    /// Its standard deviation.
    pub auc_std_dev: Option<f64>,
    /// F1 of flagging as many rows as are wrong.
    pub f1: Option<f64>,
    /// Its standard deviation.
    pub f1_std_dev: Option<f64>,
    /// The area by large penalties, if values have a penalty.
    pub penalty_auc: Option<f64>,
    /// Its standard deviation.
    pub penalty_auc_std_dev: Option<f64>,
    /// F1 by large penalties.
    pub penalty_f1: Option<f64>,
    /// Its standard deviation.
    pub penalty_f1_std_dev: Option<f64>,
    /// How long all valuations took.
    pub seconds: f64,
}

/// Evaluates every method of a request, and chance. The points of all curves go to
/// `receiver`, one per row.
///
/// # Errors
///
/// [`Error`]; an output that was not completed is not written.
pub fn evaluate(
    request: &BenchRequest,
    trial: Trial,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Evaluation, Error> {
    let trial = Trial { repeats: trial.repeats.max(1), ..trial };
    if trial.noise.is_some() && request.given.is(&TASK, Task::Density.name()) {
        return Err(Error::NoTargets);
    }
    let chance = method_of(Baseline::Random);
    let others = request.methods.iter().filter(|entrant| entrant.method != chance).cloned();
    let bench = Bench::read(request, others.chain([Entrant::of(chance)]).collect(), true, observer)?;
    let (design, task) = (&bench.table.design, bench.table.task);
    let measure = bench.measure()?;
    let (utility, least_rows) = (measure.name, measure.least_rows);
    let seed = seed_in(&request.given);
    let effort = Effort::of(&measure);
    let orders = Orders { measure, design, repeats: trial.repeats, seed, effort, observer };
    let n_others = bench.methods.len() as u64 - 1;
    // Values, searches, and both ends of two curves; chance searches in many orders.
    let n_steps = n_others * (3 + trial.repeats as u64) + 3 + (trial.repeats * RANDOM_ORDERS) as u64;
    let steps = Steps::new(observer, n_steps);
    let search = Search { bench: &bench, trial, seed, steps: &steps };
    let whole = orders.whole()?;

    let (mut curves, mut methods) = (Vec::new(), Vec::new());
    let mut warnings: Vec<Warning> = bench.brier_warning().into_iter().collect();
    warnings.extend(bench.missing_warning(RowRole::Trial));
    let n_wrong = search.n_wrong();
    if n_wrong == 0 && task != Task::Density {
        warnings.push(Warning::EqualTargets);
    }
    for number in 0..bench.methods.len() {
        let tried = tried(number, &search, &orders, whole)?;
        warnings.extend(tried.warnings);
        curves.extend(tried.curves);
        methods.push(tried.result);
    }
    steps.finished();
    warnings.extend(whole_warning(whole));
    let n_valued = bench.parts.players.n_rows();
    let judgement = Judgement::of(&methods, &curves, whole, n_valued, n_wrong, trial.repeats);
    hand_over(&curves, whole, receiver)?;
    let (n_valuing, valuing) = bench.valuing();
    Ok(Evaluation {
        version: env!("CARGO_PKG_VERSION"),
        task: task.name(),
        task_guessed: bench.table.task_guessed,
        utility,
        utility_of_all: whole,
        n_table_rows: bench.n_usable,
        n_rows: n_valued,
        n_test: bench.judging().n_rows(),
        n_valuing,
        valuing,
        test_from: bench.parts.test_from,
        least_rows,
        noise: (n_wrong > 0).then_some(trial.share()),
        n_wrong: (n_wrong > 0).then_some(n_wrong),
        repeats: trial.repeats,
        random_orders: effort.orders,
        methods,
        judgement,
        curves,
        warnings,
    })
}

/// What was found about one method.
struct Tried {
    result: MethodResult,
    curves: Vec<Curve>,
    warnings: Vec<Warning>,
}

/// Values the rows by the method of that number, looks for wrong targets, and measures sets along its
/// curves.
fn tried(number: usize, search: &Search<'_>, orders: &Orders<'_>, whole: f64) -> Result<Tried, Error> {
    let (bench, steps) = (search.bench, search.steps);
    let entrant = &bench.methods[number];
    steps.of_method(entrant);
    let timed = bench.values(number, None, search.seed, steps)?;
    steps.done();
    let mut curves = Vec::new();
    let mut found = Detected { seconds: timed.seconds, ..Detected::default() };
    if search.n_wrong() > 0 {
        search.detect(number, &mut found, &mut curves)?;
    }
    let is_chance = entrant.method == method_of(Baseline::Random);
    let value = Some(timed.value.as_slice()).filter(|_| !is_chance);
    let addition = orders.addition(&entrant.name, value)?;
    steps.done();
    let removal = orders.removal(&entrant.name, value)?;
    steps.done();
    let result = MethodResult::of(&entrant.name, &found, ends(&addition, whole), ends(&removal, whole));
    curves.extend(addition.into_iter().chain(removal).map(|traced| traced.curve));
    Ok(Tried { result, curves, warnings: timed.warnings })
}

/// A mean and its standard deviation between runs.
type Spread = (f64, Option<f64>);

impl MethodResult {
    /// Both ends of the curves, the high one first. Chance has one curve, which counts for both.
    fn of(method: &str, found: &Detected, addition: [Spread; 2], removal: [Spread; 2]) -> Self {
        let [(addition_high, addition_high_std_dev), (addition_low, addition_low_std_dev)] = addition;
        let [(removal_high, removal_high_std_dev), (removal_low, removal_low_std_dev)] = removal;
        let mean_of = |found: &[f64]| (!found.is_empty()).then(|| mean(found));
        Self {
            method: method.into(),
            addition_high,
            addition_high_std_dev,
            addition_low,
            addition_low_std_dev,
            removal_high,
            removal_high_std_dev,
            removal_low,
            removal_low_std_dev,
            auc: mean_of(&found.auc),
            auc_std_dev: std_dev(&found.auc),
            f1: mean_of(&found.f1),
            f1_std_dev: std_dev(&found.f1),
            penalty_auc: mean_of(&found.penalty_auc),
            penalty_auc_std_dev: std_dev(&found.penalty_auc),
            penalty_f1: mean_of(&found.penalty_f1),
            penalty_f1_std_dev: std_dev(&found.penalty_f1),
            seconds: found.seconds,
        }
    }
}

/// The mean of the first and of the last curve as a share of `whole`, each with its
/// standard deviation between runs.
fn ends(curves: &[Traced], whole: f64) -> [Spread; 2] {
    [curves.first(), curves.last()].map(|traced| match traced {
        None => (f64::NAN, None),
        Some(Traced { curve, means }) => {
            (mean(&curve.height) / whole, std_dev(means).map(|spread| spread / whole.abs()))
        }
    })
}

/// Warns that shares of a utility mean nothing, if all rows are worth nothing.
pub(crate) fn whole_warning(whole: f64) -> Option<Warning> {
    (whole <= 0.0).then_some(Warning::WorthlessWhole)
}
