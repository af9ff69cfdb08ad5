//! What to make of a trial: which method to use, whether acting on it helps, how sure
//! that is.

use crate::evaluation::MethodResult;
use crate::figure::{Curve, Experiment, Order};
use serde::Serialize;

/// The share of rows whose removal is looked at.
const REMOVED: f64 = 0.1;

/// Standard errors, or spreads of chance, that make a difference clear.
const CLEAR: f64 = 2.0;

/// From this many repeats on, their spread tells how far they are off.
pub const ENOUGH_REPEATS: usize = 5;

/// What a trial amounts to. A part is absent if no method did better than chance, or if
/// nothing was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The best method to find wrong targets.
    pub detector: Option<Detector>,
    /// The best method to choose rows by.
    pub chooser: Option<Chooser>,
    /// What happens if the lowest rows are removed.
    pub removal: Option<Removal>,
}

/// A method that finds wrong targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Detector {
    /// The method.
    pub method: String,
    /// Whether large penalties find more than low values.
    pub by_penalty: bool,
    /// Area under the ROC curve.
    pub auc: f64,
    /// Its standard error: over repeats, or for fewer than five not less than that of Hanley
    /// and McNeil (1982) for each.
    pub auc_std_error: f64,
    /// The second best method.
    pub next: Option<String>,
    /// Whether the lead over that is more than two standard errors.
    pub leads_clearly: bool,
}

/// A method to choose rows by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chooser {
    /// The method.
    pub method: String,
    /// How much utility its curves have above those of chance, as a share of that of all
    /// rows: the mean over adding high values first and removing low ones first.
    pub advantage: f64,
    /// The spread of chance between its runs, on the same scale.
    pub spread: f64,
    /// Whether the advantage is more than twice the spread.
    pub is_clear: bool,
}

/// What happens to utility if the lowest tenth of the rows is removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Removal {
    /// By this method.
    pub method: String,
    /// The share that is removed.
    pub share: f64,
    /// The change, as a share of the utility of all rows.
    pub change: f64,
    /// The change if rows are removed at random.
    pub by_chance: f64,
}

impl Judgement {
    /// Chance is the last of `methods`. `n_wrong` of `n_rows` targets were made wrong.
    pub(crate) fn of(
        methods: &[MethodResult],
        curves: &[Curve],
        whole: f64,
        n_rows: usize,
        n_wrong: usize,
        repeats: usize,
    ) -> Self {
        let Some((chance, others)) = methods.split_last() else {
            return Self { detector: None, chooser: None, removal: None };
        };
        let chooser = best_chooser(others, chance);
        let method = chooser.as_ref().map(|chooser| chooser.method.as_str());
        Self {
            detector: best_detector(others, n_rows, n_wrong, repeats),
            removal: method.and_then(|method| removal(method, &chance.method, curves, whole, n_rows)),
            chooser,
        }
    }
}

fn best_detector(
    methods: &[MethodResult],
    n_rows: usize,
    n_wrong: usize,
    repeats: usize,
) -> Option<Detector> {
    let mut found: Vec<(f64, Option<f64>, &str, bool)> = Vec::new();
    for method in methods {
        let ways =
            [(method.auc, method.auc_std_dev, false), (method.penalty_auc, method.penalty_auc_std_dev, true)];
        let ways = ways.into_iter().filter_map(|(auc, spread, by_penalty)| Some((auc?, spread, by_penalty)));
        let best = ways.reduce(|best, next| if next.0 > best.0 { next } else { best });
        found.extend(best.map(|(auc, spread, by_penalty)| (auc, spread, method.method.as_str(), by_penalty)));
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    let error_of = |(auc, spread, ..): &(f64, Option<f64>, &str, bool)| {
        // Two repeats may agree by chance.
        let least = match repeats < ENOUGH_REPEATS {
            true => auc_std_error(*auc, n_wrong as f64, (n_rows - n_wrong) as f64),
            false => 0.0,
        };
        spread.unwrap_or(0.0).max(least) / (repeats as f64).sqrt()
    };
    let best = found.first()?;
    let auc_std_error = error_of(best);
    let is_better = best.0 - 0.5 > CLEAR * auc_std_error;
    let next = found.get(1);
    let apart = next.map(|next| CLEAR * auc_std_error.hypot(error_of(next)));
    is_better.then(|| Detector {
        method: best.2.into(),
        by_penalty: best.3,
        auc: best.0,
        auc_std_error,
        next: next.map(|next| next.2.to_string()),
        leads_clearly: next.zip(apart).is_some_and(|(next, apart)| best.0 - next.0 > apart),
    })
}

/// The standard error of an area under the ROC curve of one trial.
fn auc_std_error(auc: f64, n_wrong: f64, n_right: f64) -> f64 {
    let (one, two) = (auc / (2.0 - auc), 2.0 * auc * auc / (1.0 + auc));
    let square =
        auc * (1.0 - auc) + (n_wrong - 1.0) * (one - auc * auc) + (n_right - 1.0) * (two - auc * auc);
    (square.max(0.0) / (n_wrong * n_right).max(1.0)).sqrt()
}

fn best_chooser(methods: &[MethodResult], chance: &MethodResult) -> Option<Chooser> {
    let spreads = [chance.addition_high_std_dev, chance.removal_low_std_dev];
    let spread = spreads.into_iter().flatten().fold(0.0, f64::max);
    let advantage = |method: &MethodResult| {
        let added = method.addition_high - chance.addition_high;
        0.5 * (added + method.removal_low - chance.removal_low)
    };
    let each = methods.iter().map(|method| (advantage(method), &method.method));
    let best = each.filter(|(advantage, _)| advantage.is_finite());
    let (advantage, method) = best.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let is_clear = advantage > CLEAR * spread;
    (advantage > 0.0).then(|| Chooser { method: method.clone(), advantage, spread, is_clear })
}

fn removal(method: &str, chance: &str, curves: &[Curve], whole: f64, n_rows: usize) -> Option<Removal> {
    let change = |method: &str, order: Order| {
        let is_it = |curve: &&Curve| {
            curve.experiment == Experiment::Removal && curve.order == order && curve.method == method
        };
        let curve = curves.iter().find(is_it)?;
        let wanted = REMOVED * n_rows as f64;
        let distance = |place: &usize| (curve.n_rows[*place] as f64 - wanted).abs();
        let place = (0..curve.n_rows.len()).min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        Some((curve.height[place] / whole - 1.0, curve.n_rows[place] as f64 / n_rows as f64))
    };
    let (own, share) = change(method, Order::Low)?;
    let (by_chance, _) = change(chance, Order::Random)?;
    (whole > 0.0).then(|| Removal { method: method.into(), share, change: own, by_chance })
}
