//! What the first pass determines: columns, scales and penalties. Also single steps.

use super::super::design::Design;
use super::super::fit::{LogisticFit, Solution};
use super::LogisticOptions;
use super::newton::NewtonSums;
use crate::factor::Factor;
use crate::{Error, Moments};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use std::sync::Arc;

/// What the first pass determined.
#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) design: Arc<Design>,
    pub(crate) dropped: Vec<usize>,
    /// All rows, and those with a positive weight.
    pub(super) n_pushed: usize,
    pub(super) n_rows: usize,
    pub(super) n_labels: [usize; 2],
    /// What each squared coefficient of a column costs, halved.
    pub(super) penalty: Vec<f64>,
    pub(crate) weight_scale: f64,
    pub(crate) effective_rows: f64,
}

impl Setup {
    pub(crate) fn new(
        moments: &Moments,
        n_labels: [usize; 2],
        n_pushed: usize,
        options: LogisticOptions,
    ) -> Result<Self, Error> {
        let p_all = moments.n_features();
        let n_rows = moments.n_rows();
        let n = n_rows as f64;
        let product = |i: usize, j: usize| {
            let sum = if options.intercept { moments.centred(i, j) } else { moments.raw(i, j) };
            sum / moments.weight()
        };
        if !(0..p_all).all(|column| product(column, column).is_finite()) {
            return Err(Error::TooLarge);
        }
        let usable = |column: usize| {
            // What is left of a constant column after centring: each cell was
            // rounded by at most half an ulp of the mean.
            let noise = if options.intercept { 4.0 * f64::EPSILON * moments.mean(column) } else { 0.0 };
            product(column, column) > noise * noise
        };
        // Scaling by a power of two rounds nothing.
        let scale_of = |column: usize| product(column, column).sqrt().recip().log2().round().exp2();
        let scales: Vec<f64> = (0..p_all).map(|j| if usable(j) { scale_of(j) } else { 0.0 }).collect();
        let entry = |i: usize, j: usize| product(i, j) * scales[i] * scales[j];
        let factor = Factor::of_products(p_all, usable, |j| moments.inflation(j), entry);
        let p = factor.kept.len();
        if p == 0 {
            return Err(Error::NoFeatures { n_features: p_all });
        }
        let used = p + usize::from(options.intercept);
        if n_rows < used + 2 {
            // With fewer rows than columns, elimination finds columns dependent that
            // would be independent with more rows.
            let dim = if factor.dropped.is_empty() { p } else { (0..p_all).filter(|&j| usable(j)).count() };
            let dim = dim + usize::from(options.intercept);
            return Err(Error::TooFewRows { n_rows, dim, needed: dim + 3 });
        }
        let effective_rows = moments.effective_rows();
        if effective_rows < used as f64 + 2.0 {
            return Err(Error::TooFewEffectiveRows { effective: effective_rows, dim: p, needed: used + 2 });
        }
        if !options.allow_dependent && !factor.dropped.is_empty() {
            return Err(Error::Dependent { columns: factor.dropped });
        }
        let centre = |column: usize| if options.intercept { moments.mean_parts(column) } else { (0.0, 0.0) };
        let scale: Vec<f64> = factor.kept.iter().map(|&j| scales[j]).collect();
        let variance = || factor.kept.iter().map(|&j| product(j, j)).collect();
        let design = Design {
            n_features: p_all,
            intercept: options.intercept,
            centre: factor.kept.iter().map(|&j| centre(j)).collect(),
            scale,
            variance: options.standardised.then(variance),
            kept: factor.kept,
        };
        let penalty = (0..design.dim()).map(|k| options.ridge * design.cost(k)).collect();
        Ok(Self {
            design: Arc::new(design),
            dropped: factor.dropped,
            n_pushed,
            n_rows,
            n_labels,
            penalty,
            weight_scale: n / moments.weight(),
            effective_rows,
        })
    }

    pub(super) fn penalty_of(&self, beta: &[f64]) -> f64 {
        0.5 * beta.iter().zip(&self.penalty).map(|(b, cost)| cost * b * b).sum::<f64>()
    }

    /// Newton's step from `beta` and the decrement `gᵀH⁻¹g`; `None` if the weights leave
    /// a singular matrix.
    pub(super) fn step(&self, beta: &[f64], sums: &NewtonSums) -> Option<(Vec<f64>, f64)> {
        let dim = beta.len();
        let mut hessian = sums.hessian.clone();
        (0..dim).for_each(|k| hessian[(k, k)] += self.penalty[k]);
        let gradient = Mat::from_fn(dim, 1, |k, _| sums.gradient[k] - self.penalty[k] * beta[k]);
        let step = hessian.llt(Side::Lower).ok()?.solve(&gradient);
        let decrement = (0..dim).map(|k| gradient[(k, 0)] * step[(k, 0)]).sum::<f64>();
        let step = step.col_as_slice(0).to_vec();
        (decrement.is_finite() && step.iter().all(|cell| cell.is_finite())).then_some((step, decrement))
    }

    /// The same without some of the kept features.
    pub(super) fn without(&self, columns: &[usize]) -> Self {
        let design = &*self.design;
        let stays: Vec<usize> =
            (0..design.kept.len()).filter(|&k| columns.binary_search(&design.kept[k]).is_err()).collect();
        let mut dropped = [&self.dropped, columns].concat();
        dropped.sort_unstable();
        let first = design.first();
        Self {
            design: Arc::new(Design {
                kept: stays.iter().map(|&k| design.kept[k]).collect(),
                centre: stays.iter().map(|&k| design.centre[k]).collect(),
                scale: stays.iter().map(|&k| design.scale[k]).collect(),
                variance: design
                    .variance
                    .as_ref()
                    .map(|variance| stays.iter().map(|&k| variance[k]).collect()),
                ..*design
            }),
            dropped,
            penalty: (0..first).chain(stays.iter().map(|k| first + k)).map(|k| self.penalty[k]).collect(),
            ..*self
        }
    }

    pub(super) fn finish(
        &self,
        solution: Solution,
        options: LogisticOptions,
        n_passes: usize,
    ) -> Result<LogisticFit, Error> {
        let penalised = (options.ridge > 0.0).then(|| {
            let mut penalised = solution.hessian.clone();
            (0..self.penalty.len()).for_each(|k| penalised[(k, k)] += self.penalty[k]);
            penalised
        });
        LogisticFit::new(
            Arc::clone(&self.design),
            self.dropped.clone(),
            solution,
            penalised,
            options.ridge,
            (self.n_rows, self.n_labels[1]),
            (self.weight_scale, self.effective_rows),
            n_passes,
        )
        .ok_or(Error::NotConverged { n_passes })
    }
}
