//! Principal components of the reference: few columns instead of many.
//!
//! The last layer of a network has a thousand columns; the paper values rows on
//! its leading components. They are those of the centred features as given, not
//! scaled, and are fitted to the reference alone.

use crate::{Error, Moments};
use faer::{Mat, Side};

/// The leading principal components of some features.
#[derive(Debug, Clone, PartialEq)]
pub struct PrincipalComponents {
    mean: Vec<f64>,
    axes: Mat<f64>,
    explained: f64,
}

impl PrincipalComponents {
    /// The `n_components` directions in which the features of `moments` vary most, from
    /// the first down. Each axis points to where its largest loading is positive, so that
    /// signs are not arbitrary.
    ///
    /// `O(p³)` time for `p` features, on one thread.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyComponents`] for no components, more than there are features, or
    /// more than the rows determine.
    pub fn of(moments: &Moments, n_components: usize) -> Result<Self, Error> {
        let (p, n_rows) = (moments.n_features(), moments.n_rows());
        let most = p.min(n_rows.saturating_sub(1));
        if n_components == 0 || n_components > most {
            return Err(Error::TooManyComponents { wanted: n_components, n_features: p, n_rows });
        }
        // The largest variance is made about 1: squares of squares must stay finite.
        let variance = |j: usize| moments.centred(j, j);
        let largest = (0..p).map(variance).fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest.recip() } else { 1.0 };
        let cov = Mat::from_fn(p, p, |i, j| moments.centred(i, j) * scale);
        let total: f64 = (0..p).map(|j| cov[(j, j)]).sum();
        let eigen = cov.self_adjoint_eigen(Side::Lower).map_err(|_| Error::TooLarge)?;
        let (vectors, values) = (eigen.U(), eigen.S().column_vector());
        let mut axes = Mat::zeros(p, n_components);
        for k in 0..n_components {
            // faer sorts eigenvalues in ascending order.
            let from = vectors.col(p - 1 - k);
            let further = |peak: f64, cell: &f64| if cell.abs() > peak.abs() { *cell } else { peak };
            let sign = from.iter().fold(0.0, further).signum();
            axes.col_as_slice_mut(k).iter_mut().zip(from.iter()).for_each(|(axis, cell)| *axis = sign * cell);
        }
        let kept: f64 = (p - n_components..p).map(|k| values[k].max(0.0)).sum();
        let explained = if total > 0.0 { (kept / total).min(1.0) } else { 1.0 };
        Ok(Self { mean: (0..p).map(|j| moments.mean(j)).collect(), axes, explained })
    }

    /// Mean of each feature, which is subtracted first.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The axes, one per column, each of length 1.
    pub fn axes(&self) -> &Mat<f64> {
        &self.axes
    }

    /// Share of the features' variance that lies along the axes.
    pub fn explained(&self) -> f64 {
        self.explained
    }
}
