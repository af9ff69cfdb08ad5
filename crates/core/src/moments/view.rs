//! Moments as a least-squares fit needs them.

use super::{Moments, MomentsForm};
use crate::Rows;
use crate::factor::{Factor, Reduced, lower_root, reduce};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};

/// A column with a smaller share of its own variation has lost five of its sixteen digits
/// when products are formed, and more as the share shrinks.
const HARD_SHARE: f64 = 1e-5;

/// Columns centred or not, weights scaled to sum to the number of rows, columns
/// scaled by powers of two to a length of about 1.
pub(crate) struct View<'a> {
    moments: &'a Moments,
    intercept: bool,
    weight_scale: f64,
}

impl<'a> View<'a> {
    pub(crate) fn new(moments: &'a Moments, intercept: bool) -> Self {
        // Without weights this is 1.
        let weight_scale = moments.n_rows() as f64 / moments.weight();
        Self { moments, intercept, weight_scale }
    }

    /// Sum of products of two columns.
    pub(crate) fn product(&self, i: usize, j: usize) -> f64 {
        let sum = if self.intercept { self.moments.centred(i, j) } else { self.moments.raw(i, j) };
        sum * self.weight_scale
    }

    /// Whether all squares are finite. Moments about the mean always are; without
    /// centring the squared mean is added.
    pub(crate) fn is_finite(&self) -> bool {
        (0..=self.moments.n_features()).all(|column| self.product(column, column).is_finite())
    }

    /// Whether a column has more than one value.
    pub(crate) fn varies(&self, column: usize) -> bool {
        // What is left of a constant column after centring: each cell was
        // rounded by at most half an ulp of the mean.
        let noise = 4.0 * f64::EPSILON * self.moments.mean(column);
        self.product(column, column) > self.moments.n_rows() as f64 * noise * noise
    }

    /// Whether a column has more than one value, but its squares have lost digits, or
    /// vanish.
    pub(crate) fn is_too_small(&self, column: usize) -> bool {
        let square = self.product(column, column);
        let has_vanished = square == 0.0 && !self.intercept && self.moments.mean(column) != 0.0;
        // Squares below this on average are no normal numbers.
        let least = 4.0 * self.moments.n_rows() as f64 * f64::MIN_POSITIVE;
        square < least && (has_vanished || square > 0.0 && self.varies(column))
    }

    /// Whether a column can be part of a fit.
    pub(crate) fn is_usable(&self, column: usize) -> bool {
        self.product(column, column) > 0.0 && (!self.intercept || self.varies(column))
    }

    /// What a feature is multiplied by; 0 if it cannot be part of a fit.
    pub(crate) fn scales(&self) -> Vec<f64> {
        let scale = |column| power_of_two_near(self.product(column, column).sqrt().recip());
        (0..self.moments.n_features())
            .map(|column| if self.is_usable(column) { scale(column) } else { 0.0 })
            .collect()
    }

    /// A factor of the features without dependent ones, and what follows for the target.
    pub(crate) fn reduced(&self, scales: &[f64]) -> Reduced {
        let usable = |column: usize| scales[column] > 0.0;
        let target = self.moments.n_features();
        match self.moments.form {
            MomentsForm::Products => {
                let inflation = |j: usize| self.moments.inflation(j);
                let entry = |i: usize, j: usize| self.product(i, j) * scales[i] * scales[j];
                let factor = Factor::of_products(target, usable, inflation, entry);
                let kept = &factor.kept;
                let mut row =
                    Mat::from_fn(kept.len(), 1, |k, _| self.product(target, kept[k]) * scales[kept[k]]);
                solve_lower_triangular_in_place(factor.lower.as_ref(), row.as_mut(), Par::Seq);
                let target_row = row.col_as_slice(0).to_vec();
                let explained: f64 = target_row.iter().map(|l| l * l).sum();
                let total = self.product(target, target);
                let steps = 16.0 * (kept.len() + 1) as f64;
                let rss_noise = steps * f64::EPSILON * self.moments.inflation(target) * total;
                Reduced { factor, target_row, rss: total - explained, rss_noise }
            }
            MomentsForm::Triangle => {
                let root = self.scaled_root(scales);
                let spread = |j: usize| (self.product(j, j) / self.moments.n_rows() as f64).sqrt();
                let far =
                    |j: usize| if self.intercept { self.moments.mean(j).abs() / spread(j) } else { 0.0 };
                let mut reduced = reduce(&root, usable, far);
                // Removed rows leave their rounding errors behind.
                let inflation = |&column: &usize| self.moments.inflation(column);
                let worst = reduced.factor.kept.iter().map(inflation).fold(1.0, f64::max);
                if let Some((_, share)) = &mut reduced.factor.weakest {
                    *share /= worst;
                }
                reduced
            }
        }
    }

    /// The root of sums of products, target included, if no column is nearly a
    /// combination of others. Constant columns are rows of zeros.
    pub(super) fn root_of_products(&self) -> Option<Mat<f64>> {
        let k = self.moments.n_features() + 1;
        let scale =
            |j| if self.is_usable(j) { power_of_two_near(self.product(j, j).sqrt().recip()) } else { 0.0 };
        let scales: Vec<f64> = (0..k).map(scale).collect();
        let entry = |i: usize, j: usize| self.product(i, j) * scales[i] * scales[j];
        let factor = Factor::of_products(k, |j| scales[j] > 0.0, |j| self.moments.inflation(j), entry);
        let n_usable = scales.iter().filter(|&&scale| scale > 0.0).count();
        let is_clear = factor.weakest.is_none_or(|(_, share)| share >= HARD_SHARE);
        if factor.kept.len() < n_usable || !is_clear {
            return None;
        }
        let by_weight = self.weight_scale.sqrt();
        let mut root = Mat::zeros(k, k);
        for (i, &column) in factor.kept.iter().enumerate() {
            for (l, &earlier) in factor.kept[..=i].iter().enumerate() {
                root[(column, earlier)] = factor.lower[(i, l)] / scales[column] / by_weight;
            }
        }
        Some(root)
    }

    /// Whether sums of products lose so many digits that a triangle is worth its
    /// cost: a column, or the target, is nearly a combination of others.
    /// `moments` are those of `rows`.
    pub(super) fn is_hard(&self, rows: Rows<'_>) -> bool {
        if !self.is_finite() {
            return false;
        }
        if !self.has_weak_column(false) {
            return false;
        }
        // A column that is exactly a combination of others looks the same but does not
        // matter: it is left out in any case.
        let triangle = Moments::triangle_of_block(rows);
        View::new(&triangle, self.intercept).has_weak_column(true)
    }

    /// Whether a column or the target has almost no variation of its own. Dependent
    /// columns count unless they are known to be dependent.
    fn has_weak_column(&self, dependent_are_known: bool) -> bool {
        let scales = self.scales();
        let Reduced { factor, rss, .. } = self.reduced(&scales);
        let n_usable = scales.iter().filter(|&&scale| scale > 0.0).count();
        let has_dependent = factor.kept.len() < n_usable;
        let target = self.moments.n_features();
        let total = self.product(target, target);
        // As many columns as rows explain any target.
        let n_rows = self.moments.n_rows();
        let has_rest = n_rows > factor.kept.len() + 1 + usize::from(self.intercept);
        factor.weakest.is_some_and(|(_, share)| share < HARD_SHARE)
            || (has_dependent && !dependent_are_known)
            || (has_rest && total > 0.0 && rss < HARD_SHARE * total)
    }

    /// The root of the products, features scaled.
    fn scaled_root(&self, scales: &[f64]) -> Mat<f64> {
        let k = scales.len() + 1;
        let by_weight = self.weight_scale.sqrt();
        let scale = |column: usize| scales.get(column).copied().unwrap_or(1.0) * by_weight;
        let lower = &self.moments.lower;
        if self.intercept {
            return Mat::from_fn(k, k, |i, l| lower[(i, l)] * scale(i));
        }
        // About zero instead of the mean: one more row.
        let root = self.moments.weight().sqrt();
        lower_root(Mat::from_fn(k + 1, k, |i, j| {
            if i < k { lower[(j, i)] * scale(j) } else { root * self.moments.mean(j) * scale(j) }
        }))
    }
}

/// Whether products are too inaccurate for this fit.
pub(crate) fn is_hard_share(share: f64) -> bool {
    share < HARD_SHARE
}

/// Scaling by a power of two rounds nothing.
fn power_of_two_near(x: f64) -> f64 {
    x.log2().round().exp2()
}
