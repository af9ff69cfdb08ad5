//! A fit of the same rows with other weights: one step of Newton's method from a known
//! fit.
//!
//! If the weights of a reference change a little, its coefficients move by `H⁻¹(g − g₀)`
//! up to the square of that, with `g` and `g₀` the slopes of the likelihood with the new
//! and with the old weights, and `H` its curvature with the new ones. Unlike the fit
//! itself the step always exists: it is a weighted least-squares problem, which
//! separation does not affect.

use super::fit::{LogisticFit, Solution, WeightedFactor};
use super::irls::newton::{NewtonSums, NewtonSweep};
use crate::blocks::BlockSums;
use crate::{Error, Rows};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use std::sync::Arc;

/// Where steps start.
#[derive(Debug)]
pub(crate) struct OneStep {
    fit: Arc<LogisticFit>,
    /// `g₀`, weights summing to the number of rows.
    gradient: Vec<f64>,
    /// What each squared coefficient costs, halved, for that number of rows.
    penalty: Vec<f64>,
    ridge: f64,
}

impl OneStep {
    /// Starts at `fit`, for `rows` that stand for the rows it was made from, with their
    /// average weights.
    pub(crate) fn new(fit: Arc<LogisticFit>, rows: Rows<'_>) -> Result<Self, Error> {
        // A ridge on a sum of losses matters more for fewer rows.
        let ridge = fit.ridge() * rows.len() as f64 / fit.n_rows() as f64;
        let design = fit.design();
        let penalty = (0..design.dim()).map(|k| ridge * design.cost(k)).collect();
        let gradient = sums_at(&fit, fit.beta(), rows)?.gradient;
        Ok(Self { fit, gradient, penalty, ridge })
    }

    /// The fit after one step, for the same rows with other weights.
    ///
    /// # Errors
    ///
    /// [`Error::NotConverged`] if these weights do not determine a coefficient, and
    /// [`Error::TooLarge`].
    pub(crate) fn with_weights(&self, rows: Rows<'_>) -> Result<LogisticFit, Error> {
        let singular = || Error::NotConverged { n_passes: 1 };
        let before = sums_at(&self.fit, self.fit.beta(), rows)?;
        let dim = self.gradient.len();
        let mut hessian = before.hessian;
        (0..dim).for_each(|k| hessian[(k, k)] += self.penalty[k]);
        let change = Mat::from_fn(dim, 1, |k, _| before.gradient[k] - self.gradient[k]);
        let step = hessian.llt(Side::Lower).map_err(|_| singular())?.solve(&change);
        let beta: Vec<f64> = self.fit.beta().iter().enumerate().map(|(k, b)| b + step[(k, 0)]).collect();
        if !beta.iter().all(|b| b.is_finite()) {
            return Err(singular());
        }
        let after = sums_at(&self.fit, &beta, rows)?;
        let factor = WeightedFactor::new(&after.hessian);
        if !factor.dropped.is_empty() {
            return Err(singular());
        }
        let penalised = (self.ridge > 0.0).then(|| {
            let mut penalised = after.hessian.clone();
            (0..dim).for_each(|k| penalised[(k, k)] += self.penalty[k]);
            penalised
        });
        let solution =
            Solution { beta, loss: after.loss, hessian: after.hessian, factor, weights: after.weights };
        let n_positive = rows.y().iter().filter(|&&label| label == 1.0).count();
        let (sum, squares) = totals(rows);
        LogisticFit::new(
            self.fit.shared_design(),
            self.fit.dropped().to_vec(),
            solution,
            penalised,
            self.ridge,
            (rows.len(), n_positive),
            (rows.len() as f64 / sum, sum * sum / squares),
            1,
        )
        .ok_or_else(singular)
    }
}

/// Slope and curvature at `beta`, weights summing to the number of rows.
fn sums_at(fit: &LogisticFit, beta: &[f64], rows: Rows<'_>) -> Result<NewtonSums, Error> {
    let sweep = NewtonSweep {
        design: fit.shared_design(),
        beta: beta.to_vec(),
        step: vec![0.0; beta.len()],
        weight_scale: rows.len() as f64 / totals(rows).0,
    };
    let mut sums = BlockSums::new(fit.n_features(), sweep);
    sums.push(rows)?;
    sums.finish()
}

/// `Σw` and `Σw²`.
fn totals(rows: Rows<'_>) -> (f64, f64) {
    match rows.weights() {
        None => (rows.len() as f64, rows.len() as f64),
        Some(weights) => weights.iter().fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classification::LogisticOptions;
    use faer::mat;

    /// Eight rows, both labels at both places. With weights `1 ± h` coefficients
    /// move by `h` to first order, so a step is off by `h²`.
    #[test]
    fn one_step_is_the_fit_up_to_the_square_of_the_change() {
        let x = mat![[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0_f64]];
        let y = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
        let rows = Rows::new(x.as_ref(), &y).expect("as many labels as rows");
        for ridge in [0.0, 0.5] {
            let options = LogisticOptions { ridge, ..LogisticOptions::default() };
            let fit = Arc::new(LogisticFit::of(rows, options).expect("not separated"));
            let error = |h: f64| {
                let weights: Vec<f64> = (0..8).map(|i| 1.0 + h * [1.0, -0.5, 0.3, -0.8][i % 4]).collect();
                let weighted = rows.with_weights(&weights).expect("positive");
                let step =
                    OneStep::new(Arc::clone(&fit), rows).and_then(|start| start.with_weights(weighted));
                let refit = LogisticFit::of(weighted, options).expect("not separated");
                (step.expect("a step").coef()[0] - refit.coef()[0]).abs()
            };
            let (large, small) = (error(0.1), error(0.01));
            assert!(large > 1e-5 && large < 0.1, "{large}");
            // A hundredth, up to the cube.
            assert!(small < 0.02 * large, "{small:e} {large:e}");
        }
    }

    /// Without the row that contradicts the others there is no fit, but there is a step.
    #[test]
    fn a_step_exists_where_the_labels_are_separated() {
        let x = mat![[0.0], [1.0], [2.0], [3.0], [4.0], [5.0_f64]];
        let y = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let rows = Rows::new(x.as_ref(), &y).expect("as many labels as rows");
        let fit = Arc::new(LogisticFit::of(rows, LogisticOptions::default()).expect("not separated"));
        let start = OneStep::new(fit, rows).expect("sums");
        let weights = [1.0, 1.0, 0.0, 1.0, 1.0, 1.0];
        let weighted = rows.with_weights(&weights).expect("not negative");
        assert!(LogisticFit::of(weighted, LogisticOptions::default()).is_err());
        let step = start.with_weights(weighted).expect("a step");
        assert!(step.coef()[0] > 0.0 && step.coef()[0].is_finite());
    }
}
