//! `κ`, measured: how many rows fewer a set counts as.

use super::options::SecondOrderOptions;
use super::sums::whiten;
use super::valuer::SecondOrderValuer;
use crate::classification::fit::PanelWork;
use crate::classification::{LogisticFit, LogisticOptions};
use crate::linear::fit::PANEL_ROWS;
use crate::{Error, Rows, Sizes};
use faer::{Col, Mat};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Sets without a fit are left out; if a larger share is lost, there is no result.
const LARGEST_SHARE_WITHOUT_FIT: f64 = 0.01;

/// How the shift of set sizes is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShiftOptions {
    /// `s`: rows of each set.
    pub size: usize,
    /// Sets that are drawn and fitted; about a thousand.
    pub n_sets: usize,
    /// Seed of the draws.
    pub seed: u64,
}

/// `κ` from one point of the learning curve of `reference`, the rows `fit` was made from.
///
/// Estimates from `s` rows fall short of the reference fit by about `½tr(HV)/(s − κ)` in
/// log-loss. The mean shortfall of sets drawn from the reference with replacement, each of
/// them fitted, gives `κ`. To first order the shortfall of a set is `½ψᵀHψ` with `ψ` the
/// mean influence of its rows, whose expectation is `½tr(HV)/s`: only what differs from that
/// is averaged. Smaller sets determine `κ` better, as long as they have a fit; a thousand
/// sets of 150 rows leave an error of two or three. Costs a fit of `s` rows and the log-loss
/// of the reference for each set.
///
/// # Errors
///
/// As for [`SecondOrderValuer::of`]; [`Error::BadOption`] for fewer than two
/// sets or a fit with a ridge, [`Error::Weighted`] for rows with weights,
/// [`Error::SingularSets`] if more than one in a hundred sets has no fit.
pub fn measured_shift(fit: &LogisticFit, reference: Rows<'_>, options: ShiftOptions) -> Result<f64, Error> {
    if options.n_sets < 2 || fit.ridge() > 0.0 {
        let what = "the shift is measured with two sets or more, without a ridge";
        return Err(Error::BadOption { what });
    }
    if reference.weights().is_some() {
        return Err(Error::Weighted);
    }
    let s = options.size.max(1) as f64;
    let least = fit.dim() + 2;
    let sizes = Sizes::new(least, least);
    let valuer = SecondOrderValuer::of(fit.clone(), reference, sizes, SecondOrderOptions::default())?;
    // tr(HV), with the sign of a utility.
    let trace: f64 = valuer.expansions().map(|(_, expansion)| -expansion.mean_second).sum();
    let surpluses: Vec<Option<f64>> = (0..options.n_sets)
        .into_par_iter()
        .map(|set| surplus_of_set(fit, reference, options, set as u64))
        .collect();
    let fitted: Vec<f64> = surpluses.into_iter().flatten().collect();
    let n_without = (options.n_sets - fitted.len()) as f64;
    if n_without > LARGEST_SHARE_WITHOUT_FIT * options.n_sets as f64 {
        return Err(Error::SingularSets { size: options.size });
    }
    let own = fit.deviance() / (2.0 * fit.n_rows() as f64);
    let surplus = fitted.iter().map(|surplus| surplus - own).sum::<f64>() / fitted.len() as f64;
    let shortfall = surplus + 0.5 * trace / s;
    Ok(s - 0.5 * trace / shortfall)
}

/// Mean log-loss on the reference of a fit to one drawn set, if it has one, minus its
/// first-order shortfall. Each set has a stream of its own, so that threads do not
/// matter.
fn surplus_of_set(fit: &LogisticFit, reference: Rows<'_>, options: ShiftOptions, set: u64) -> Option<f64> {
    let mut stream = ChaCha8Rng::seed_from_u64(options.seed);
    stream.set_stream(set);
    let n = reference.len() as u64;
    // The high half of a product is uniform up to n/2⁶⁴.
    let mut draw = || ((u128::from(stream.next_u64()) * u128::from(n)) >> 64) as usize;
    let drawn: Vec<usize> = (0..options.size).map(|_| draw()).collect();
    let x = Mat::from_fn(drawn.len(), reference.n_features(), |i, j| reference.x()[(drawn[i], j)]);
    let y: Vec<f64> = drawn.iter().map(|&row| reference.y()[row]).collect();
    let logistic = LogisticOptions { intercept: fit.intercept(), ..LogisticOptions::default() };
    let rows = Rows::new(x.as_ref(), &y).ok()?;
    let of_set = LogisticFit::of(rows, logistic).ok()?;
    // A feature that does not vary in a set has no coefficient.
    if of_set.kept() != fit.kept() {
        return None;
    }
    // Σ ez, with z in coordinates in which H is the identity.
    let mut work = PanelWork::new(fit);
    let mut influence = Col::<f64>::zeros(fit.dim());
    for start in (0..rows.len()).step_by(PANEL_ROWS) {
        let len = PANEL_ROWS.min(rows.len() - start);
        fit.solve_panel(rows, start, len, false, &mut work).ok()?;
        whiten(&mut work, fit.n_rows() as f64);
        for k in 0..fit.dim() {
            let cells = &work.panel.x.col_as_slice(k)[..len];
            influence[k] += cells.iter().zip(&work.row).map(|(z, row)| z * row.surprise).sum::<f64>();
        }
    }
    let expected = 0.5 * influence.squared_norm_l2() / (options.size as f64).powi(2);
    let mut work = PanelWork::new(&of_set);
    let mut sum = 0.0;
    for start in (0..reference.len()).step_by(PANEL_ROWS) {
        let len = PANEL_ROWS.min(reference.len() - start);
        of_set.solve_panel(reference, start, len, false, &mut work).ok()?;
        sum += work.row[..len].iter().map(|row| row.loss).sum::<f64>();
    }
    Some(sum / n as f64 - expected)
}
