//! Newton's method for a softmax fit: where it starts, its steps, and the proof
//! that there is no fit.
//!
//! A direction separates if it makes no row's own class less likely against any other,
//! and some row's own class more likely. The search is that for two classes
//! (`classification/separation.rs`), in pairs of a row and another class.

use super::fit::Whitened;
use super::passes::SoftmaxOptions;
use super::sums::{ClassSums, symmetric};
use crate::classification::LogisticOptions;
use crate::classification::irls::descent::Descent;
use crate::classification::irls::setup::Setup;
use crate::classification::separation::null_part;
use crate::{Error, Moments};
use faer::linalg::solvers::Solve;
use faer::linalg::triangular_solve::solve_upper_triangular_in_place;
use faer::{Mat, Par, Side};
use std::sync::Arc;

/// Newton's method in progress.
#[derive(Debug)]
pub(super) struct Newton {
    pub(super) columns: Arc<Whitened>,
    pub(super) dropped: Vec<usize>,
    pub(super) n_pushed: usize,
    pub(super) n_labels: Vec<usize>,
    pub(super) weight_scale: f64,
    pub(super) effective_rows: f64,
    /// Accepted coefficients, and the step from there.
    pub(super) theta: Mat<f64>,
    pub(super) step: Mat<f64>,
    pub(super) descent: Descent,
}

impl Newton {
    /// The columns, and coefficients that give every row the shares of the classes as its
    /// probabilities.
    pub(super) fn start(
        moments: &Moments,
        counts: Vec<usize>,
        shares: &[f64],
        n_pushed: usize,
        options: SoftmaxOptions,
    ) -> Result<Self, Error> {
        if let Some(class) = counts.iter().position(|&n| n == 0) {
            return Err(Error::EmptyClass { class });
        }
        let SoftmaxOptions { intercept, allow_dependent, .. } = options;
        let logistic = LogisticOptions { intercept, allow_dependent, ..LogisticOptions::default() };
        let setup = Setup::new(moments, [0; 2], n_pushed, logistic)?;
        let singular = Error::NotConverged { n_passes: 1 };
        let columns = Whitened::new(&setup.design, moments).ok_or(singular)?;
        let (dim, n_others) = (columns.design.dim(), counts.len() - 1);
        let start = |k: usize, a: usize| {
            if intercept && k == 0 { (shares[a + 1] / shares[0]).ln() } else { 0.0 }
        };
        Ok(Self {
            columns: Arc::new(columns),
            dropped: setup.dropped,
            n_pushed,
            n_labels: counts,
            weight_scale: setup.weight_scale,
            effective_rows: setup.effective_rows,
            theta: Mat::from_fn(dim, n_others, start),
            step: Mat::zeros(dim, n_others),
            descent: Descent::new(f64::INFINITY, f64::INFINITY),
        })
    }

    /// The coefficients that are tried next.
    pub(super) fn candidate(&self) -> Mat<f64> {
        &self.theta + faer::Scale(self.descent.share()) * &self.step
    }
}

/// Newton's step and the decrement; `None` if the curvature is singular.
pub(super) fn next_step(sums: &ClassSums, dim: usize) -> Option<(Mat<f64>, f64)> {
    let gradient = Mat::from_fn(sums.vectors[0].len(), 1, |k, _| sums.vectors[0][k]);
    let step = symmetric(&sums.matrix, dim).llt(Side::Lower).ok()?.solve(&gradient);
    let decrement = (0..step.nrows()).map(|k| gradient[(k, 0)] * step[(k, 0)]).sum::<f64>();
    let step = Mat::from_fn(dim, step.nrows() / dim, |k, a| step[(a * dim + k, 0)]);
    (decrement.is_finite() && step.is_all_finite()).then_some((step, decrement))
}

/// The part of a direction that leaves pairs on the border where they are, unless
/// some pair moves to the wrong side.
pub(super) fn purified(sums: &ClassSums, direction: &Mat<f64>) -> Option<Mat<f64>> {
    let dim = direction.nrows();
    let flat: Vec<f64> = direction.col_iter().flat_map(|column| column.iter()).copied().collect();
    if sums.n_against > 0 {
        return None;
    }
    let pure = null_part(&symmetric(&sums.matrix, dim), &flat)?;
    Some(Mat::from_fn(dim, direction.ncols(), |k, a| pure[a * dim + k]))
}

/// The error for a direction that separates.
pub(super) fn separated(columns: &Whitened, direction: &Mat<f64>) -> Error {
    let mut beta = direction.clone();
    solve_upper_triangular_in_place(columns.lower.transpose(), beta.as_mut(), Par::Seq);
    let design = &columns.design;
    let size = |k: usize| (0..beta.ncols()).map(|a| beta[(design.first() + k, a)].abs()).fold(0.0, f64::max);
    let largest = (0..design.kept.len()).max_by(|&k, &l| size(k).total_cmp(&size(l)));
    Error::ClassesSeparated { column: largest.map_or(0, |k| design.kept[k]) }
}
