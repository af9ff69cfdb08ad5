//! `evaluate`: what is asked for, and what comes of it.

use super::bench::{AnyMethod, Bench, BenchRequest};
use super::detection::{Detected, Search};
use super::orders::{Orders, Traced, mean, std_dev};
use super::output::hand_over;
use crate::Error;
use crate::observer::Observer;
use crate::receiver::Receiver;
use crate::request::Task;
use dshap_evaluate::Curve;
use serde::Serialize;

/// What is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Share of the targets that are made wrong, to be detected; a tenth by default.
    pub noise: Option<f64>,
    /// So many times, with other rows each time; curves are means.
    pub repeats: usize,
}

impl Trial {
    /// Share of the targets that are made wrong.
    pub(super) fn share(&self) -> f64 {
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
    /// Rows valued.
    pub n_rows: usize,
    /// Test rows that curves are judged on, the same for all methods.
    pub n_test: usize,
    /// Other test rows, that some methods value rows by; 0 where none does.
    pub n_valuing: usize,
    /// Which methods do.
    pub valuing: Vec<&'static str>,
    /// Where test rows come from: `test` or `points`.
    pub test_from: &'static str,
    /// Rows of the smallest set on a curve: `q`, without a ridge.
    pub least_rows: usize,
    /// Share of targets made wrong; absent where none can be.
    pub noise: Option<f64>,
    /// How many that is.
    pub n_wrong: Option<usize>,
    /// So many times.
    pub repeats: usize,
    /// Method by method, chance last.
    pub methods: Vec<MethodResult>,
    /// The curves, which are rows of the output.
    #[serde(skip)]
    pub curves: Vec<Curve>,
    /// Doubts.
    pub warnings: Vec<String>,
}

/// How a method did. Curves are summed up by the mean of their utility, as a share
/// of that of all rows. Standard deviations are between single runs (repeats,
/// random orders, orders of tied rows), absent where there was one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResult {
    /// The method.
    pub method: &'static str,
    /// Half of the rows, and then the others from the highest value down.
    pub addition_high: f64,
    /// Its standard deviation.
    pub addition_high_std_dev: Option<f64>,
    /// The same from the lowest up.
    pub addition_low: f64,
    /// Its standard deviation.
    pub addition_low_std_dev: Option<f64>,
    /// All rows less those of the highest value.
    pub removal_high: f64,
    /// Its standard deviation.
    pub removal_high_std_dev: Option<f64>,
    /// All rows less those of the lowest.
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
    /// The area by large penalties, where values have them.
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

/// Evaluates every method of a request, and chance; tidy rows, one for each point
/// of each curve, go to `receiver`.
///
/// # Errors
///
/// [`Error`], with nothing written that was not completed.
pub fn evaluate(
    request: &BenchRequest,
    trial: Trial,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Evaluation, Error> {
    let misplaced = |what: &str| Err(Error::Misplaced { what: what.into() });
    if !(trial.share() > 0.0 && trial.share() < 1.0) {
        return misplaced("`--noise` must be a number between 0 and 1");
    }
    if trial.repeats == 0 {
        return misplaced("`--repeats` must be 1 at least");
    }
    if trial.noise.is_some() && request.said.model.task == Some(Task::Density) {
        return misplaced(
            "`--noise` does not go with `--task density`: there are no targets to be made wrong",
        );
    }
    let others = request.methods.iter().copied().filter(|method| *method != AnyMethod::CHANCE);
    let bench = Bench::read(request, others.chain([AnyMethod::CHANCE]).collect(), true, observer)?;
    let measure = bench.measure()?;
    let (utility, least_rows) = (measure.name, measure.least_rows);
    let seed = request.said.seed();
    let orders = Orders { measure, design: &bench.design, repeats: trial.repeats, seed, observer };
    let search = Search { bench: &bench, trial, seed, observer };
    let whole = orders.whole()?;

    let (mut curves, mut methods) = (Vec::new(), Vec::new());
    let mut warnings: Vec<String> = bench.doubts_of_brier().into_iter().collect();
    warnings.extend(bench.doubts_of_missing("has no part in the trial"));
    let n_wrong = search.n_wrong();
    if n_wrong == 0 && bench.task != Task::Density {
        warnings
            .push("all targets are the same, so that none can be made wrong and none is looked for".into());
    }
    for (number, &method) in bench.methods.iter().enumerate() {
        let timed = bench.values(number, None, seed, observer)?;
        warnings.extend(timed.warnings.iter().map(|words| format!("{}: {words}", method.word())));
        let mut found = Detected { seconds: timed.seconds, ..Detected::default() };
        if n_wrong > 0 {
            search.detect(number, &mut found, &mut curves)?;
        }
        let value = Some(timed.value.as_slice()).filter(|_| method != AnyMethod::CHANCE);
        let addition = orders.addition(method.word(), value)?;
        let removal = orders.removal(method.word(), value)?;
        // Chance has one order, whichever end.
        let [(addition_high, addition_high_std_dev), (addition_low, addition_low_std_dev)] =
            ends(&addition, whole);
        let [(removal_high, removal_high_std_dev), (removal_low, removal_low_std_dev)] =
            ends(&removal, whole);
        curves.extend(addition.into_iter().chain(removal).map(|traced| traced.curve));
        let mean_of = |found: &[f64]| (!found.is_empty()).then(|| mean(found));
        methods.push(MethodResult {
            method: method.word(),
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
        });
    }
    warnings.extend(doubts_of_whole(whole));
    hand_over(&curves, whole, receiver)?;
    let (n_valuing, valuing) = bench.valuing();
    Ok(Evaluation {
        version: env!("CARGO_PKG_VERSION"),
        task: bench.task.name(),
        task_guessed: bench.task_guessed,
        utility,
        utility_of_all: whole,
        n_rows: bench.parts.players.n_rows(),
        n_test: bench.judging().n_rows(),
        n_valuing,
        valuing,
        test_from: bench.parts.test_from,
        least_rows,
        noise: (n_wrong > 0).then_some(trial.share()),
        n_wrong: (n_wrong > 0).then_some(n_wrong),
        repeats: trial.repeats,
        methods,
        curves,
        warnings,
    })
}

/// The mean of the first and the last curve as a share of `whole`, and how much it
/// differs between runs.
fn ends(curves: &[Traced], whole: f64) -> [(f64, Option<f64>); 2] {
    [curves.first(), curves.last()].map(|traced| match traced {
        None => (f64::NAN, None),
        Some(Traced { curve, means }) => {
            (mean(&curve.height) / whole, std_dev(means).map(|spread| spread / whole.abs()))
        }
    })
}

/// Says that shares of a utility mean nothing, where they do.
pub(super) fn doubts_of_whole(whole: f64) -> Option<String> {
    let what =
        "all rows together are worth no more than no model, so that shares of their utility mean nothing";
    (whole <= 0.0).then(|| what.into())
}
