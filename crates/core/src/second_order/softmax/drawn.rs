//! A valuer for a drawn reference: one step of Newton's method from the fit of the
//! reference, then its moments.

use super::fit::SoftmaxFit;
use super::passes::{SoftmaxPasses, SoftmaxStep};
use super::sums::{ClassSums, ClassSweep, ClassTask, symmetric};
use super::valuer::SoftmaxValuer;
use crate::blocks::BlockSums;
use crate::{Error, Rows};
use faer::linalg::solvers::{DenseSolveCore, Solve};
use faer::{Mat, Side};
use std::sync::Arc;

/// What stays the same for all drawn references.
#[derive(Debug)]
pub(super) struct DrawnStart<'a> {
    valuer: &'a SoftmaxValuer,
    /// The slope of the likelihood, weights summing to the number of rows.
    gradient: Vec<f64>,
}

impl<'a> DrawnStart<'a> {
    /// From the valuer of the reference, for `rows` that stand for it with average
    /// weights.
    pub(super) fn new(valuer: &'a SoftmaxValuer, rows: Rows<'_>) -> Result<Self, Error> {
        let [gradient, _] = sums_at(&valuer.fit, &valuer.fit.theta, rows)?.vectors;
        Ok(Self { valuer, gradient })
    }

    /// The same for the same rows with other weights, as in `classification/one_step.rs`
    /// for two classes.
    pub(super) fn with_weights(&self, rows: Rows<'_>) -> Result<SoftmaxValuer, Error> {
        let fit = &*self.valuer.fit;
        let (dim, singular) = (fit.dim(), || Error::NotConverged { n_passes: 1 });
        let before = sums_at(fit, &fit.theta, rows)?;
        let change = Mat::from_fn(self.gradient.len(), 1, |k, _| before.vectors[0][k] - self.gradient[k]);
        let step = symmetric(&before.matrix, dim).llt(Side::Lower).map_err(|_| singular())?.solve(&change);
        let theta = Mat::from_fn(dim, fit.theta.ncols(), |k, a| fit.theta[(k, a)] + step[(a * dim + k, 0)]);
        if !theta.is_all_finite() {
            return Err(singular());
        }
        let after = sums_at(fit, &theta, rows)?;
        let factor = symmetric(&after.matrix, dim).llt(Side::Lower).map_err(|_| singular())?;
        let mut n_labels = vec![0; fit.n_classes()];
        rows.y().iter().for_each(|&label| n_labels[label as usize] += 1);
        let drawn = SoftmaxFit {
            columns: fit.columns.clone(),
            dropped: fit.dropped.clone(),
            n_labels,
            theta,
            // Not needed for values.
            lower: Mat::new(),
            loss: after.loss,
            n_passes: 1,
            weight_scale: scale_of(rows),
            effective_rows: rows.len() as f64,
        };
        let (sizes, options) = (self.valuer.sizes, self.valuer.options);
        let mut passes = SoftmaxPasses::of_fit(drawn, rows.len(), factor.inverse(), sizes, options);
        loop {
            let mut pass = passes.begin_pass();
            pass.push(rows)?;
            if let SoftmaxStep::Done(valuer) = passes.finish_pass(pass)? {
                return Ok(*valuer);
            }
        }
    }
}

/// Slope and curvature at `theta`, weights summing to the number of rows.
fn sums_at(fit: &SoftmaxFit, theta: &Mat<f64>, rows: Rows<'_>) -> Result<ClassSums, Error> {
    let sweep = ClassSweep {
        columns: Arc::new(fit.columns.clone()),
        theta: theta.clone(),
        weight_scale: scale_of(rows),
        task: ClassTask::Newton { step: Mat::zeros(theta.nrows(), theta.ncols()) },
    };
    let mut sums = BlockSums::new(fit.n_features(), sweep);
    sums.push(rows)?;
    sums.finish()
}

fn scale_of(rows: Rows<'_>) -> f64 {
    rows.weights().map_or(1.0, |weights| rows.len() as f64 / weights.iter().sum::<f64>())
}
