//! What a joint value depends on: a set of rows in the coordinates of a fit.

use crate::linear::LinearFit;
use crate::{Error, Moments, Rows};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par, Side};

/// Directions in which a set has less than this share of its largest extent are rounding
/// errors.
const RANK: f64 = 1e-12;

/// A set of rows, whitened: squared extents `g` of its directions and scores `u` along
/// them.
#[derive(Debug, Clone, PartialEq)]
pub struct SetGeometry {
    squares: Vec<f64>,
    scores: Vec<f64>,
}

impl SetGeometry {
    /// The set whose moments are given, seen from a fit to other rows. Its rows are not
    /// needed. Models whose intercept is refitted are treated as if it were known.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::TooLarge`].
    pub fn of(fit: &LinearFit, set: &Moments) -> Result<Self, Error> {
        if set.n_features() != fit.n_features() {
            return Err(Error::FeatureCount { expected: fit.n_features(), found: set.n_features() });
        }
        let (products, coef_row) = fit.about_centre(set);
        Self::of_products(fit, products, &coef_row)
    }

    /// The set of these rows.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of) and [`Moments::of`].
    pub fn of_rows(fit: &LinearFit, rows: Rows<'_>) -> Result<Self, Error> {
        Self::of(fit, &Moments::of(rows)?)
    }

    /// From `X*ᵀX*` and `X*ᵀy*` in the scaled columns of the fit, about its centre.
    fn of_products(fit: &LinearFit, mut products: Mat<f64>, with_target: &[f64]) -> Result<Self, Error> {
        let p = fit.dim();
        let (lower, target_row, n) = fit.factor();
        // L⁻¹ C L⁻ᵀ, by two solves; times n it is the Gram matrix of whitened rows.
        solve_lower_triangular_in_place(lower, products.as_mut(), Par::Seq);
        let mut gram = products.transpose().to_owned();
        solve_lower_triangular_in_place(lower, gram.as_mut(), Par::Seq);
        let mut score = Mat::from_fn(p, 1, |k, _| with_target[k]);
        solve_lower_triangular_in_place(lower, score.as_mut(), Par::Seq);
        let fitted = |k: usize| (0..p).map(|j| gram[(k, j)] * target_row[j]).sum::<f64>();
        let score: Vec<f64> = (0..p).map(|k| (score[(k, 0)] - fitted(k)) * n.sqrt()).collect();
        let gram = Mat::from_fn(p, p, |i, j| n * (gram[(i, j)] + gram[(j, i)]) / 2.0);
        if !gram.as_ref().is_all_finite() || !score.iter().all(|cell| cell.is_finite()) {
            return Err(Error::TooLarge);
        }
        let eigen = gram.self_adjoint_eigen(Side::Lower).map_err(|_| Error::TooLarge)?;
        let values = eigen.S().column_vector();
        let largest = values.iter().copied().fold(0.0, f64::max);
        let (mut squares, mut scores) = (Vec::new(), Vec::new());
        for direction in (0..p).filter(|&k| values[k] > RANK * largest) {
            squares.push(values[direction]);
            scores.push((0..p).map(|k| eigen.U()[(k, direction)] * score[k]).sum());
        }
        Ok(Self { squares, scores })
    }

    /// A set by its numbers: squared extents, all positive, and scores along them.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for extents that are not positive or scores that are not finite.
    pub fn new(squares: Vec<f64>, scores: Vec<f64>) -> Result<Self, Error> {
        let is_extent = |g: &f64| *g > 0.0 && g.is_finite();
        if squares.len() != scores.len()
            || !squares.iter().all(is_extent)
            || !scores.iter().all(|score| score.is_finite())
        {
            return Err(Error::BadOption { what: "a set has positive extents and a score for each" });
        }
        Ok(Self { squares, scores })
    }

    /// `g`, the squared extents.
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// `u`, the scores.
    pub fn scores(&self) -> &[f64] {
        &self.scores
    }
}
