//! Second moments as a triangle.
//!
//! With the centred rows as `A`, products are `G = AᵀA` and the triangle is `L`
//! with `G = L Lᵀ`, which orthogonal transformations find without forming `G`.
//! Where a column is a combination of others but for a share `s` of its
//! variation, `G` has lost `log₁₀ 1/s` digits of it and `L` half as many.
//! Triangles of two sets of rows are merged as those of two blocks are (TSQR:
//! Demmel, Grigori, Hoemmen and Langou 2012).

use super::block::{Counts, first_means, lane_sum};
use super::{Combination, Moments, MomentsForm};
use crate::Rows;
use crate::factor::{add_to_root, lower_root};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};
use std::borrow::Cow;

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

    /// Adds the triangle of other rows, and `√weight · δ` as one row more.
    pub(super) fn add_triangle(&mut self, other: &Moments, delta: &[f64], weight: f64) {
        let k = delta.len();
        let root = weight.sqrt();
        let rows = Mat::from_fn(k + 1, k, |i, j| if i < k { other.lower[(j, i)] } else { root * delta[j] });
        add_to_root(&mut self.lower, rows);
    }

    pub(super) fn recombined_triangle(&self, columns: &[&Combination]) -> Mat<f64> {
        lower_root(Mat::from_fn(self.lower.ncols(), columns.len(), |l, j| {
            columns[j].sum(|column| self.lower[(column, l)])
        }))
    }

    /// The sums of products, made if they are not held.
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

    pub(super) fn into_products(mut self) -> Self {
        self.make_products();
        self
    }
}
