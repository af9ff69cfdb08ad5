//! Second moments as a triangle.
//!
//! With the centred rows as `A`, products are `G = AᵀA` and the triangle is `L`
//! with `G = L Lᵀ`, which orthogonal transformations find without forming `G`.
//! Where a column is a combination of others but for a share `s` of its
//! variation, `G` has lost `log₁₀ 1/s` digits of it and `L` half as many.
//! Triangles of two sets of rows are merged as those of two blocks are (TSQR:
//! Demmel, Grigori, Hoemmen and Langou 2012).

use super::block::{Counts, first_means, lane_sum};
use super::{Combination, Moments, MomentsForm, View};
use crate::Rows;
use crate::factor::{add_to_root, lower_root};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par, Side};
use std::borrow::Cow;

/// A column left with less of its length than this is a combination of others.
const NO_LENGTH: f64 = 64.0 * f64::EPSILON;

/// If removed rows leave less than this of a direction, only rounding errors are left of
/// it.
const LEAST_LEFT: f64 = 1e-10;

impl Moments {
    /// The triangle of at most `BLOCK_ROWS` rows, on one thread.
    pub(super) fn triangle_of_block(rows: Rows<'_>) -> Self {
        let (n, k) = (rows.len(), rows.n_features() + 1);
        let counts = Counts::of(rows);
        if counts.n_rows == 0 {
            return Self::none(k, MomentsForm::Triangle);
        }
        let shift = first_means(rows, counts.weight);
        let roots: Option<Vec<f64>> = rows.weights().map(|w| w.iter().map(|w| w.sqrt()).collect());
        let mut centred = Mat::<f64>::zeros(n, k);
        let mut weighted = vec![0.0; n];
        let mut offset = Vec::with_capacity(k);
        for (j, &shift) in shift.iter().enumerate() {
            let cells = centred.col_as_slice_mut(j);
            rows.copy_centred(j, 0, shift, 0.0, cells);
            weighted.copy_from_slice(cells);
            rows.multiply_by_weights(0, &mut weighted);
            let missed = lane_sum(&weighted) / counts.weight;
            cells.iter_mut().for_each(|cell| *cell -= missed);
            if let Some(roots) = &roots {
                cells.iter_mut().zip(roots).for_each(|(cell, root)| *cell *= root);
            }
            offset.push(missed);
        }
        counts.moments(shift, offset, MomentsForm::Triangle, lower_root(centred))
    }

    /// Adds the triangle of other rows, and `√weight · δ` as one more row.
    pub(super) fn add_triangle(&mut self, other: &Mat<f64>, delta: &[f64], weight: f64) {
        add_to_root(&mut self.lower, rows_of(other, delta, weight));
    }

    /// Removes the rows of `other` from a triangle, and `√weight · δ`. Does nothing and
    /// returns false if there is no triangle, or if rounding does not allow it.
    ///
    /// With `A = L⁻¹Gᵀ` for rows `G`, what is left is `L(I − AAᵀ)Lᵀ`, so directions with
    /// little variation keep their digits.
    pub(super) fn take_from_triangle(&mut self, other: &Moments, delta: &[f64], weight: f64) -> bool {
        let MomentsForm::Triangle = self.form else { return false };
        let Some(gone) = other.triangle() else { return false };
        let rows = rows_of(&gone, delta, weight);
        let k = delta.len();
        let lower = &self.lower;
        let mut solved = rows.transpose().to_owned();
        for i in 0..solved.ncols() {
            for j in 0..k {
                let length = (0..=j).map(|l| lower[(j, l)] * lower[(j, l)]).sum::<f64>().sqrt();
                let known: f64 = (0..j).map(|l| lower[(j, l)] * solved[(l, i)]).sum();
                // A column that depends on others has no direction of its own.
                let is_own = lower[(j, j)] > NO_LENGTH * (k as f64).sqrt() * length;
                solved[(j, i)] = if is_own { (solved[(j, i)] - known) / lower[(j, j)] } else { 0.0 };
            }
        }
        let left = Mat::<f64>::identity(k, k) - &solved * solved.transpose();
        let Ok(factor) = left.llt(Side::Lower) else { return false };
        let factor = factor.L().to_owned();
        let least = (0..k).map(|j| factor[(j, j)] * factor[(j, j)]).fold(1.0, f64::min);
        if least < LEAST_LEFT {
            return false;
        }
        self.lower = &self.lower * &factor;
        // What is left in the direction that lost most shows how much larger rounding
        // errors are now.
        let peaks = (0..k).map(|j| self.peak_of(j).max(self.centred(j, j) / least)).collect();
        self.peak = Some(peaks);
        true
    }

    /// The triangle, made from products if they are accurate enough.
    pub(super) fn triangle(&self) -> Option<Cow<'_, Mat<f64>>> {
        match self.form {
            MomentsForm::Triangle => Some(Cow::Borrowed(&self.lower)),
            MomentsForm::Products => View::new(self, true).root_of_products().map(Cow::Owned),
        }
    }

    /// Turns both into triangles if one is and the other can be.
    pub(super) fn make_alike(&mut self, other: &Moments) {
        if (self.form, other.form) == (MomentsForm::Products, MomentsForm::Triangle)
            && let Some(triangle) = self.triangle().map(Cow::into_owned)
        {
            (self.form, self.lower) = (MomentsForm::Triangle, triangle);
        }
    }

    pub(super) fn recombined_triangle(&self, columns: &[&Combination]) -> Mat<f64> {
        lower_root(Mat::from_fn(self.lower.ncols(), columns.len(), |l, j| {
            columns[j].sum(|column| self.lower[(column, l)])
        }))
    }

    /// The sums of products, computed if they are not held.
    pub(super) fn products(&self) -> Cow<'_, Mat<f64>> {
        match self.form {
            MomentsForm::Products => Cow::Borrowed(&self.lower),
            MomentsForm::Triangle => {
                let k = self.lower.nrows();
                let mut products = Mat::zeros(k, k);
                triangular::matmul(
                    products.as_mut(),
                    BlockStructure::TriangularLower,
                    Accum::Replace,
                    self.lower.as_ref(),
                    BlockStructure::TriangularLower,
                    self.lower.transpose(),
                    BlockStructure::TriangularUpper,
                    1.0,
                    Par::Seq,
                );
                Cow::Owned(products)
            }
        }
    }

    pub(super) fn make_products(&mut self) {
        if self.form == MomentsForm::Triangle {
            self.lower = self.products().into_owned();
            self.form = MomentsForm::Products;
        }
    }
}

/// A triangle as rows, and `√weight · δ` as one more row.
fn rows_of(lower: &Mat<f64>, delta: &[f64], weight: f64) -> Mat<f64> {
    let (k, root) = (delta.len(), weight.sqrt());
    Mat::from_fn(k + 1, k, |i, j| if i < k { lower[(j, i)] } else { root * delta[j] })
}
