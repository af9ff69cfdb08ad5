//! Repeated cross-fitting of all actions.
//!
//! Each repeat divides the rows into folds. Scores come from the training folds alone;
//! each action changes the training folds, models are fitted again, and losses are those
//! of the held-out fold, whose targets nobody changes.

use crate::actions::Action;
use crate::examined::{Examined, Kind};
use crate::folds::{FOLDS, folds};
use crate::noise::{Residuals, labels_likelihood};
use crate::predict::{For, predict};
use crate::stack::{LEAST_PROB, mixed};
use crate::suspects::scored;
use crate::verdict::Verdict;
use dshap::Error;
use dshap::neighbours::sample_rows;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps the seeds of repeats apart.
const APART: u64 = 7_919;

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Number of repeats of five folds.
    pub repeats: usize,
    /// Rows at most; of more, a random sample is tried.
    pub most_rows: usize,
}

impl Extent {
    /// For targets of a kind: a fit of many classes costs as many fits of two.
    pub fn usual(kind: Kind) -> Self {
        let most_rows = match kind {
            Kind::Numbers | Kind::Labels(..=3) => 4_000,
            Kind::Labels(_) => 2_000,
        };
        Self { repeats: 2, most_rows }
    }
}

/// What a trial found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// Rows that were tried.
    pub n_rows: usize,
    /// Number of repeats.
    pub repeats: usize,
    /// What every action did, and which one is recommended.
    pub verdict: Verdict,
}

/// Held-out rows under one action, repeat by repeat. Labels: the probability of the
/// given one. Numbers: the residual.
pub(crate) type HeldOut = Vec<Vec<f64>>;

/// Tries all actions. `watch` hears how many of all splits are done, from any thread, and
/// returns whether to go on.
///
/// # Errors
///
/// [`Error::Interrupted`]; others if no model can be fitted.
pub fn try_actions(
    examined: &Examined,
    extent: Extent,
    seed: u64,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<Tried, Error> {
    let chosen = sample_rows(examined.n_rows(), extent.most_rows, seed);
    let part;
    let examined = if chosen.len() < examined.n_rows() {
        part = examined.part(&chosen, seed)?;
        &part
    } else {
        examined
    };
    let actions = Action::all(examined.kind);
    let splits: Vec<(usize, usize)> =
        (0..extent.repeats).flat_map(|repeat| (0..FOLDS).map(move |fold| (repeat, fold))).collect();
    let done = AtomicUsize::new(0);
    let parts: Vec<Split> = splits
        .par_iter()
        .map(|&(repeat, fold)| {
            let split = Split::tried(examined, &actions, repeat, fold, seed)?;
            let n_done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if watch(n_done, splits.len()) { Ok(split) } else { Err(Error::Interrupted) }
        })
        .collect::<Result<_, Error>>()?;
    let n = examined.n_rows();
    // Doing nothing is first.
    let mut held_out: Vec<HeldOut> = vec![vec![vec![0.0; n]; extent.repeats]; actions.len() + 1];
    for (&(repeat, _), split) in splits.iter().zip(&parts) {
        for (action, found) in split.found.iter().enumerate() {
            split.rows.iter().zip(found).for_each(|(&row, &found)| held_out[action][repeat][row] = found);
        }
    }
    let verdict = match examined.kind {
        Kind::Numbers => Verdict::of(&actions, &held_out, n, squared_losses, number_likelihoods),
        Kind::Labels(n_classes) => {
            let likelihoods = |runs: &HeldOut| label_likelihoods(runs, n_classes);
            Verdict::of(&actions, &held_out, n, log_losses, likelihoods)
        }
    };
    Ok(Tried { n_rows: n, repeats: extent.repeats, verdict })
}

/// One held-out fold.
struct Split {
    rows: Vec<usize>,
    /// Doing nothing, then action by action.
    found: Vec<Vec<f64>>,
}

impl Split {
    fn tried(
        examined: &Examined,
        actions: &[Action],
        repeat: usize,
        fold: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        let seed = seed.wrapping_add(APART.wrapping_mul(repeat as u64 + 1));
        let y = &examined.y;
        let fold_of = folds(y, examined.kind, FOLDS, seed);
        let (rows, train): (Vec<usize>, Vec<usize>) =
            (0..examined.n_rows()).partition(|&row| fold_of[row] == fold);
        let suspects = scored(examined, y, &train, seed)?;
        let ranking = suspects.ranking();
        let held_out = |train: &[usize], targets: &[f64]| -> Result<Vec<f64>, Error> {
            let both = predict(examined, targets, train, &rows, For::Losses)?;
            let mixed = mixed(&[&both.model, &both.near], &suspects.weights);
            Ok(match examined.kind {
                Kind::Numbers => {
                    rows.iter().zip(&mixed).map(|(&row, predicted)| y[row] - predicted).collect()
                }
                Kind::Labels(n_classes) => {
                    let given = |(place, &row): (usize, &usize)| mixed[place * n_classes + y[row] as usize];
                    rows.iter().enumerate().map(given).collect()
                }
            })
        };
        let mut found = vec![held_out(&train, y)?];
        for action in actions {
            let (left, targets) = action.taken(&train, y, &suspects, &ranking);
            found.push(held_out(&left, &targets)?);
        }
        Ok(Self { rows, found })
    }
}

/// Log-likelihoods of all held-out rows: as they are, and if some may be wrong.
pub(crate) struct Likelihoods {
    pub(crate) plain: Vec<Vec<f64>>,
    pub(crate) robust: Vec<Vec<f64>>,
    /// The share of wrong targets in the latter.
    pub(crate) rate: f64,
}

fn squared_losses(residual: f64) -> f64 {
    residual * residual
}

fn log_losses(prob: f64) -> f64 {
    -prob.clamp(LEAST_PROB, 1.0).ln()
}

fn views(runs: &HeldOut) -> Vec<&[f64]> {
    runs.iter().map(Vec::as_slice).collect()
}

fn number_likelihoods(runs: &HeldOut) -> Likelihoods {
    let views = views(runs);
    let of = |residuals: Residuals| -> Vec<Vec<f64>> {
        let run = |run: &&[f64]| run.iter().map(|&residual| residuals.log_density(residual)).collect();
        views.iter().map(run).collect()
    };
    let fitted = Residuals::fitted(&views);
    Likelihoods { plain: of(Residuals::plain(&views)), robust: of(fitted), rate: fitted.rate }
}

fn label_likelihoods(runs: &HeldOut, n_classes: usize) -> Likelihoods {
    let (robust, rate) = labels_likelihood(&views(runs), n_classes);
    let plain = runs.iter().map(|run| run.iter().map(|&prob| -log_losses(prob)).collect()).collect();
    Likelihoods { plain, robust, rate }
}
