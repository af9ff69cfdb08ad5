//! The utility of a set of points, measured on held-out rows.
//!
//! | task | model of a set | utility |
//! |---|---|---|
//! | regression | least squares with an intercept | `2σ² − MSE`, `σ²` from the reference |
//! | classification | logistic regression with an L2 penalty of 1 | accuracy |
//! | density | Gaussian kernel, the bandwidth of the reference | `2·mean p̂ − ∫p̂²`, less that of one point |
//!
//! These are the utilities of the authors' code. Two things differ: `∫p̂²` is
//! computed, not sampled, and the intercept of a logistic model is not penalised.

use crate::Error;
use crate::data::{Part, Split, Task};
use crate::valuing::density_fit;
use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::linear::{FitOptions, LinearFit};
use faer::MatRef;
use rayon::prelude::*;

/// The penalty of scikit-learn's logistic regression, which the authors used.
const PENALTY: f64 = 1.0;

/// Measures utilities of sets of the points of a split.
#[derive(Debug)]
pub(crate) enum Utility<'a> {
    Regression { split: &'a Split, noise_var: f64 },
    Classification { split: &'a Split },
    Density(DensityUtility),
}

impl<'a> Utility<'a> {
    pub(crate) fn new(task: Task, split: &'a Split) -> Result<Self, Error> {
        Ok(match task {
            Task::Regression => {
                let fit = LinearFit::of(split.reference.rows()?, FitOptions::default());
                let noise_var = fit.map_err(Error::valuing("fit the reference"))?.noise_var();
                Utility::Regression { split, noise_var }
            }
            Task::Classification => Utility::Classification { split },
            Task::Density => {
                let fit = density_fit(&split.reference).map_err(Error::valuing("smooth the reference"))?;
                Utility::Density(DensityUtility::new(&split.points, &split.held_out, fit.bandwidth()))
            }
        })
    }

    /// For each of `sizes`, the utility of that many first points of `order`. Sizes
    /// must not be 0.
    pub(crate) fn curve(&self, order: &[usize], sizes: &[usize]) -> Result<Vec<f64>, Error> {
        match self {
            Utility::Regression { split, noise_var } => {
                let points = split.points.pick(order);
                sizes
                    .iter()
                    .map(|&n| Ok(2.0 * noise_var - squared_error(&points, n, &split.held_out)?))
                    .collect()
            }
            Utility::Classification { split } => {
                let points = split.points.pick(order);
                sizes.iter().map(|&n| accuracy(&points, n, &split.held_out)).collect()
            }
            Utility::Density(utility) => Ok(utility.curve(order, sizes)),
        }
    }
}

/// The mean squared error on `held_out` of least squares on the first `n` points.
fn squared_error(points: &Part, n: usize, held_out: &Part) -> Result<f64, Error> {
    let fit = LinearFit::of(points.rows()?.slice(0, n), FitOptions::default())
        .map_err(Error::valuing(format!("fit {n} points")))?;
    let intercept = fit.intercept_value().unwrap_or(0.0);
    let predicted = linear(held_out.x.as_ref(), fit.kept(), fit.coef(), intercept);
    let squares: f64 = predicted.iter().zip(&held_out.y).map(|(predicted, y)| (y - predicted).powi(2)).sum();
    Ok(squares / held_out.y.len() as f64)
}

/// The accuracy on `held_out` of a logistic model of the first `n` points. Points
/// of one class predict that class.
fn accuracy(points: &Part, n: usize, held_out: &Part) -> Result<f64, Error> {
    let ones = points.y[..n].iter().sum::<f64>();
    let share = |right: usize| right as f64 / held_out.y.len() as f64;
    if ones == 0.0 || ones == n as f64 {
        let label = points.y[0];
        return Ok(share(held_out.y.iter().filter(|y| **y == label).count()));
    }
    let options = LogisticOptions { ridge: PENALTY, ..LogisticOptions::default() };
    let fit = LogisticFit::of(points.rows()?.slice(0, n), options)
        .map_err(Error::valuing(format!("fit {n} points")))?;
    let intercept = fit.intercept_value().unwrap_or(0.0);
    let logit = linear(held_out.x.as_ref(), fit.kept(), fit.coef(), intercept);
    let right = logit.iter().zip(&held_out.y).filter(|(logit, y)| (**logit > 0.0) == (**y > 0.5)).count();
    Ok(share(right))
}

/// `intercept + x·coef` for each row, over the kept columns.
fn linear(x: MatRef<'_, f64>, kept: &[usize], coef: &[f64], intercept: f64) -> Vec<f64> {
    let mut out = vec![intercept; x.nrows()];
    for (&column, coef) in kept.iter().zip(coef) {
        for (out, cell) in out.iter_mut().zip(x.col(column).iter()) {
            *out += coef * cell;
        }
    }
    out
}

/// Utilities of a kernel density estimate, in units of `(k*k)_h(0)`: in many
/// dimensions densities leave the range of doubles, and only ratios are shown.
#[derive(Debug)]
pub(crate) struct DensityUtility {
    /// `(k*k)(z_i − z_j)` of points, by rows.
    pairs: Vec<f64>,
    /// The mean of `k(z_i − z)` over held-out rows `z`.
    reached: Vec<f64>,
    /// The mean utility of one point alone.
    alone: f64,
}

impl DensityUtility {
    pub(crate) fn new(points: &Part, held_out: &Part, bandwidth: f64) -> Self {
        let n = points.x.nrows();
        let dim = points.x.ncols() as i32;
        let scale = 1.0 / (bandwidth * bandwidth);
        // k_h(u)/(k*k)_h(0) = 2^{d/2} exp(−|u|²/2h²), and (k*k)_h(u)/(k*k)_h(0) = exp(−|u|²/4h²).
        let peak = 2_f64.powi(dim).sqrt();
        let rows = |part: &Part| -> Vec<Vec<f64>> {
            (0..part.x.nrows()).map(|i| part.x.row(i).iter().copied().collect()).collect()
        };
        let (own, others) = (rows(points), rows(held_out));
        let dist_sq = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let pairs = own
            .par_iter()
            .flat_map_iter(|a| own.iter().map(move |b| (-0.25 * scale * dist_sq(a, b)).exp()))
            .collect();
        let reached: Vec<f64> = own
            .par_iter()
            .map(|a| {
                let sum: f64 = others.iter().map(|b| (-0.5 * scale * dist_sq(a, b)).exp()).sum();
                peak * sum / others.len() as f64
            })
            .collect();
        let alone = 2.0 * reached.iter().sum::<f64>() / n as f64 - 1.0;
        Self { pairs, reached, alone }
    }

    fn curve(&self, order: &[usize], sizes: &[usize]) -> Vec<f64> {
        let n_points = self.reached.len();
        let (mut reached, mut pairs) = (0.0, 0.0);
        let mut utilities = Vec::with_capacity(order.len());
        for (k, &i) in order.iter().enumerate() {
            let with_others: f64 = order[..k].iter().map(|&j| self.pairs[i * n_points + j]).sum();
            reached += self.reached[i];
            pairs += 1.0 + 2.0 * with_others;
            let n = (k + 1) as f64;
            utilities.push(2.0 * reached / n - pairs / (n * n) - self.alone);
        }
        sizes.iter().map(|&n| utilities[n - 1]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    /// Against sums written out for three points, a bandwidth of ½ and one column.
    #[test]
    fn density_utilities_are_those_of_the_definition() {
        let points = Part { x: mat![[0.1], [0.7], [-0.4_f64]], y: vec![0.0; 3] };
        let held_out = Part { x: mat![[0.0], [0.5], [1.0], [-1.0_f64]], y: vec![0.0; 4] };
        let h: f64 = 0.5;
        let normal =
            |u: f64, s: f64| (-u * u / (2.0 * s * s)).exp() / (s * (2.0 * std::f64::consts::PI).sqrt());
        let (own, others) = ([0.1, 0.7, -0.4], [0.0, 0.5, 1.0, -1.0]);
        let utility = |set: &[f64]| {
            let n = set.len() as f64;
            let square: f64 =
                set.iter().flat_map(|a| set.iter().map(move |b| normal(a - b, h * 2_f64.sqrt()))).sum();
            let reached: f64 = set.iter().flat_map(|a| others.iter().map(move |b| normal(a - b, h))).sum();
            2.0 * reached / n / 4.0 - square / (n * n)
        };
        let unit = normal(0.0, h * 2_f64.sqrt());
        let alone = own.iter().map(|z| utility(&[*z])).sum::<f64>() / 3.0;
        let found = DensityUtility::new(&points, &held_out, h).curve(&[2, 0, 1], &[1, 2, 3]);
        for (n, found) in [1, 2, 3].into_iter().zip(found) {
            let set: Vec<f64> = [2, 0, 1][..n].iter().map(|&i| own[i]).collect();
            let expected = (utility(&set) - alone) / unit;
            // Some ten terms of order 1.
            assert!((found - expected).abs() < 1e-14, "{n} points: {found}, {expected}");
        }
    }

    #[test]
    fn points_of_one_class_predict_it() {
        let points = Part { x: mat![[0.0], [1.0_f64]], y: vec![1.0, 1.0] };
        let held_out = Part { x: mat![[0.0], [1.0], [2.0_f64]], y: vec![1.0, 0.0, 1.0] };
        assert_eq!(accuracy(&points, 2, &held_out).unwrap(), 2.0 / 3.0);
    }

    #[test]
    fn least_squares_errors_are_those_of_a_line() {
        // y = 1 + 2x ± ½, in balance; held out are (3, 7) and (0, 3).
        let points = Part { x: mat![[-1.0], [-1.0], [1.0], [1.0_f64]], y: vec![-0.5, -1.5, 3.5, 2.5] };
        let held_out = Part { x: mat![[3.0], [0.0_f64]], y: vec![7.0, 3.0] };
        let found = squared_error(&points, 4, &held_out).unwrap();
        assert!((found - 2.0).abs() < 1e-12);
    }
}
