//! The penalty, chosen once for all coalitions.

use super::linear::ridge_slopes;
use crate::{Error, Moments};
use rayon::prelude::*;

/// Penalties that are tried, as shares of the mean sum of squares of a column: from 1e-8
/// to 10 in half decades.
const TRIED: std::ops::RangeInclusive<i32> = -16..=2;

/// A penalty and how well it predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RidgeChoice {
    /// The penalty γ on the sum of squares.
    pub ridge: f64,
    /// The mean squared error of predictions for folds that a model was not fitted to.
    pub error: f64,
}

/// Chooses the penalty with the smallest mean squared error when each fold is predicted
/// from all others. Only the moments of folds are needed.
///
/// # Errors
///
/// [`Error::NoRows`] with fewer than two folds that have rows, [`Error::TooLarge`].
pub fn choose_ridge(folds: &[Moments]) -> Result<RidgeChoice, Error> {
    if folds.len() < 2 {
        return Err(Error::NoRows);
    }
    let mut pairs = Vec::with_capacity(folds.len());
    for (left_out, fold) in folds.iter().enumerate() {
        let mut others = folds.iter().enumerate().filter(|(other, _)| *other != left_out);
        let (_, first) = others.next().expect("there are at least two folds");
        let mut train = first.clone();
        for (_, other) in others {
            train.merge(other)?;
        }
        pairs.push((train, fold));
    }
    let p = folds[0].n_features();
    let n_test: f64 = folds.iter().map(Moments::weight).sum();
    let (train, fold) = &pairs[0];
    let squares: f64 = (0..p).map(|j| train.centred(j, j) + fold.centred(j, j)).sum();
    let unit = if squares > 0.0 { squares / p as f64 } else { 1.0 };
    let tried: Vec<RidgeChoice> = TRIED
        .into_par_iter()
        .map(|half_decades| {
            let ridge = unit * 10_f64.powf(f64::from(half_decades) / 2.0);
            let errors = pairs.iter().map(|(train, test)| left_out_errors(train, test, ridge));
            RidgeChoice { ridge, error: errors.sum::<f64>() / n_test }
        })
        .collect();
    let best = tried.into_iter().min_by(|one, two| one.error.total_cmp(&two.error));
    best.filter(|best| best.error.is_finite()).ok_or(Error::TooLarge)
}

/// Sum of squared errors of a fold, predicted from other rows.
fn left_out_errors(train: &Moments, test: &Moments, ridge: f64) -> f64 {
    let p = train.n_features();
    let slopes = ridge_slopes(train, ridge);
    let mut rest = test.mean(p) - train.mean(p);
    let mut about_mean = test.centred(p, p);
    for (i, b) in slopes.iter().enumerate() {
        rest -= b * (test.mean(i) - train.mean(i));
        let below: f64 = slopes[..i].iter().enumerate().map(|(j, c)| c * test.centred(i, j)).sum();
        about_mean += 2.0 * b * (0.5 * b * test.centred(i, i) + below - test.centred(p, i));
    }
    about_mean.max(0.0) + test.weight() * rest * rest
}
