//! `evaluate`: what is asked for, and what comes of it.

use super::bench::{AnyMethod, Bench, BenchRequest};
use super::detection::{Detected, Search};
use super::orders::{Orders, mean};
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
    /// Share of the targets that are made wrong, to be detected.
    pub noise: f64,
    /// So many times, with other rows each time; curves are means.
    pub repeats: usize,
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
    /// Rows that utility is measured on.
    pub n_test: usize,
    /// Where those come from: `test` or `points`.
    pub test_from: &'static str,
    /// Share of targets made wrong; absent for densities, which have none.
    pub noise: Option<f64>,
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
/// of that of all rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodResult {
    /// The method.
    pub method: &'static str,
    /// Half of the rows, and then the others from the highest value down.
    pub addition_high: f64,
    /// The same from the lowest up.
    pub addition_low: f64,
    /// All rows less those of the highest value.
    pub removal_high: f64,
    /// All rows less those of the lowest.
    pub removal_low: f64,
    /// How well low values point at wrong targets: area under the ROC curve.
    pub auc: Option<f64>,
    /// F1 of flagging as many rows as are wrong.
    pub f1: Option<f64>,
    /// The same by large penalties, where values have them.
    pub penalty_auc: Option<f64>,
    /// F1 by large penalties.
    pub penalty_f1: Option<f64>,
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
    if !(trial.noise > 0.0 && trial.noise < 1.0) {
        return misplaced("`--noise` must be a number between 0 and 1");
    }
    if trial.repeats == 0 {
        return misplaced("`--repeats` must be 1 at least");
    }
    let others = request.methods.iter().copied().filter(|method| *method != AnyMethod::CHANCE);
    let bench = Bench::read(request, others.chain([AnyMethod::CHANCE]).collect(), true, observer)?;
    let (utility, seen, utility_name) = bench.utility()?;
    let seed = request.said.seed();
    let orders = Orders { utility, seen, design: &bench.design, repeats: trial.repeats, seed, observer };
    let search = Search { bench: &bench, trial, seed, observer };
    let whole = orders.whole()?;

    let (mut curves, mut methods) = (Vec::new(), Vec::new());
    let mut warnings: Vec<String> = bench.doubts_of_brier().into_iter().collect();
    for (number, &method) in bench.methods.iter().enumerate() {
        let timed = bench.values(number, None, seed, observer)?;
        warnings.extend(timed.warnings.iter().map(|words| format!("{}: {words}", method.word())));
        let mut found = Detected { seconds: timed.seconds, ..Detected::default() };
        if bench.task != Task::Density {
            search.detect(number, &mut found, &mut curves)?;
        }
        let value = Some(timed.value.as_slice()).filter(|_| method != AnyMethod::CHANCE);
        let addition = orders.addition(method.word(), value)?;
        let removal = orders.removal(method.word(), value)?;
        // Chance has one order, whichever end.
        let ends = |curves: &[Curve]| {
            let mean_of = |curve: Option<&Curve>| curve.map_or(f64::NAN, |curve| mean(&curve.height) / whole);
            (mean_of(curves.first()), mean_of(curves.last()))
        };
        let ((addition_high, addition_low), (removal_high, removal_low)) = (ends(&addition), ends(&removal));
        curves.extend(addition.into_iter().chain(removal));
        methods.push(MethodResult {
            method: method.word(),
            addition_high,
            addition_low,
            removal_high,
            removal_low,
            auc: found.mean(found.auc),
            f1: found.mean(found.f1),
            penalty_auc: found.mean(found.penalty_auc).filter(|_| found.has_penalty),
            penalty_f1: found.mean(found.penalty_f1).filter(|_| found.has_penalty),
            seconds: found.seconds,
        });
    }
    warnings.extend(doubts_of_whole(whole));
    hand_over(&curves, whole, receiver)?;
    Ok(Evaluation {
        version: env!("CARGO_PKG_VERSION"),
        task: bench.task.name(),
        task_guessed: bench.task_guessed,
        utility: utility_name,
        utility_of_all: whole,
        n_rows: bench.parts.players.n_rows(),
        n_test: bench.parts.test.n_rows(),
        test_from: bench.parts.test_from,
        noise: (bench.task != Task::Density).then_some(trial.noise),
        repeats: trial.repeats,
        methods,
        curves,
        warnings,
    })
}

/// Says that shares of a utility mean nothing, where they do.
pub(super) fn doubts_of_whole(whole: f64) -> Option<String> {
    let what =
        "all rows together are worth no more than no model, so that shares of their utility mean nothing";
    (whole <= 0.0).then(|| what.into())
}
