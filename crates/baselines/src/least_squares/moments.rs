//! Test rows, reduced to their moments.

use super::Centre;
use crate::{Error, symmetric};
use dshap::Rows;

/// Second moments of test rows, or of a population: all that squared error
/// depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct TestMoments {
    /// `E[xxᵀ]`, row by row.
    pub(super) gram: Vec<f64>,
    /// `E[xy]`.
    pub(super) cross: Vec<f64>,
    /// `E[y²]`.
    pub(super) target_sq: f64,
}

impl TestMoments {
    /// Those of `y = xᵀβ + noise` with `E[xxᵀ]` given row by row.
    ///
    /// # Errors
    ///
    /// [`dshap::Error::Contradiction`] if the numbers contradict each other.
    pub fn of_model(second_moments: &[f64], coef: &[f64], noise_var: f64) -> Result<Self, Error> {
        let p = coef.len();
        let contradiction = |what| Err(dshap::Error::Contradiction { what }.into());
        if second_moments.len() != p * p {
            return contradiction("there must be one second moment for each pair of features");
        }
        if !second_moments.iter().chain(coef).chain([&noise_var]).all(|cell| cell.is_finite()) {
            return contradiction("the moments must be finite");
        }
        let symmetric =
            (0..p).all(|i| (0..i).all(|j| second_moments[i * p + j] == second_moments[j * p + i]));
        if !symmetric || noise_var < 0.0 {
            return contradiction("second moments must be symmetric and the noise variance not negative");
        }
        let mut cross = vec![0.0; p];
        symmetric::multiply(second_moments, coef, &mut cross);
        let target_sq = symmetric::dot(coef, &cross) + noise_var;
        Ok(Self { gram: second_moments.to_vec(), cross, target_sq })
    }

    pub(super) fn zero(p: usize) -> Self {
        Self { gram: vec![0.0; p * p], cross: vec![0.0; p], target_sq: 0.0 }
    }

    pub(super) fn dim(&self) -> usize {
        self.cross.len()
    }

    pub(super) fn add(&mut self, x: &[f64], y: f64) {
        symmetric::add_outer(&mut self.gram, 1.0, x);
        symmetric::add_scaled(&mut self.cross, y, x);
        self.target_sq += y * y;
    }

    pub(super) fn divide(&mut self, n: f64) {
        self.gram.iter_mut().chain(&mut self.cross).chain([&mut self.target_sq]).for_each(|cell| *cell /= n);
    }

    pub(super) fn is_finite(&self) -> bool {
        self.gram.iter().chain(&self.cross).chain([&self.target_sq]).all(|cell| cell.is_finite())
    }
}

/// One over the root mean square of each centred feature; 1 where that is 0.
pub(super) fn scales(rows: Rows<'_>, centre: &Centre) -> Vec<f64> {
    (0..rows.n_features())
        .map(|column| {
            let mean = match centre {
                Centre::Origin => 0.0,
                Centre::Means { x, .. } => x[column],
            };
            let sum_sq: f64 = rows.x().col(column).iter().map(|cell| (cell - mean).powi(2)).sum();
            let scale = (rows.len() as f64 / sum_sq).sqrt();
            if scale.is_normal() { scale } else { 1.0 }
        })
        .collect()
}
