//! Sets of reference rows: which sizes are drawn, and how sets grow.

use super::coordinates::{Coordinates, column};
use super::observed::{SolvedTargets, TargetSums};
use super::panel::LEAST_ROOM;
use crate::Sizes;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Accum, Mat, MatRef, Par, Side};
use std::ops::Range;

/// Sizes are drawn from this many strata, one of each.
const MAX_STRATA: usize = 28;

/// What elimination must leave of a diagonal entry. Sets below it count as singular:
/// fewer than five digits would be left.
const LEAST_PIVOT: f64 = 1e-11;

/// The same relative to the largest entry: columns that should vanish on the
/// set hold the squares of rounding errors.
const LEAST_ENTRY: f64 = 1e-27;

/// Divides the set sizes `q − 1 … m − 1` (without the point) into ranges whose
/// width grows with the size, as the gain decays.
pub(super) fn strata(sizes: Sizes, dim: usize) -> Vec<Range<usize>> {
    let (first, end) = (sizes.min() - 1, sizes.max());
    // Gains vary with the degrees of freedom that a set leaves.
    let freedom = |size: usize| (size - first + 1 + first.saturating_sub(dim)) as f64;
    let n = MAX_STRATA.min(end - first);
    let mut strata = Vec::with_capacity(n);
    let mut start = first;
    for left in (1..=n).rev() {
        let ratio = (freedom(end) / freedom(start)).powf(1.0 / left as f64);
        let width = (freedom(start) * (ratio - 1.0)).round() as usize;
        // Every later range keeps at least one size, and the last takes all.
        let most = end - start - (left - 1);
        let width = if left == 1 { most } else { width.clamp(1, most) };
        strata.push(start..start + width);
        start += width;
    }
    strata
}

/// The sums over a set to which rows are added.
#[derive(Debug, Clone)]
pub(super) struct GrowingSet {
    n_rows: usize,
    /// Lower triangle of `Σ zzᵀ`.
    gram: Mat<f64>,
    /// `Σ z`.
    sum: Vec<f64>,
    /// What the targets of the rows enter, if they count.
    targets: Option<TargetSums>,
}

/// A set that is large enough, and its inverse.
#[derive(Debug)]
pub(super) struct FixedSet {
    pub(super) n_rows: usize,
    /// `A⁻¹`, with `A = Σ zzᵀ` and the ridge.
    pub(super) inverse: Mat<f64>,
    /// `t = Σ z`.
    pub(super) sum: Vec<f64>,
    /// `A⁻¹t`.
    pub(super) solved_sum: Vec<f64>,
    /// Whether columns are determined only beside a column of ones, which the rows do not have.
    pub(super) beside_ones: bool,
    /// How far its coefficients are off, if the targets of its rows count.
    pub(super) targets: Option<SolvedTargets>,
}

impl GrowingSet {
    /// An empty set; `observes` if the targets of its rows count.
    pub(super) fn new(dim: usize, observes: bool) -> Self {
        let targets = observes.then(|| TargetSums::new(dim));
        Self { n_rows: 0, gram: Mat::zeros(dim, dim), sum: vec![0.0; dim], targets }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds rows; `residuals` are theirs, or empty if targets do not count.
    pub(super) fn push(&mut self, rows: MatRef<'_, f64>, residuals: &[f64]) {
        self.n_rows += rows.nrows();
        triangular::matmul(
            self.gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            rows.transpose(),
            BlockStructure::Rectangular,
            rows,
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        for (k, sum) in self.sum.iter_mut().enumerate() {
            *sum += column(rows, k).iter().sum::<f64>();
        }
        if let Some(targets) = &mut self.targets {
            targets.push(rows, residuals);
        }
    }

    /// The set as it is now, unless it is singular, and what its targets say.
    pub(super) fn fit(&self, coordinates: &Coordinates) -> Option<FixedSet> {
        let mut set = self.fix(coordinates.ridge(), coordinates.beside_ones())?;
        set.targets = self.targets.as_ref().map(|targets| targets.solve(&set, coordinates));
        Some(set)
    }

    /// The set as it is now, unless it is singular. With `beside_ones` it is also singular if
    /// its columns span a column of ones. Centring by the means of the reference turns the
    /// column of an absent category into such a constant, which says nothing about the category.
    fn fix(&self, ridge: Option<MatRef<'_, f64>>, beside_ones: bool) -> Option<FixedSet> {
        let beside_ones = beside_ones && ridge.is_none();
        let dim = self.sum.len();
        let largest = (0..dim).map(|k| self.gram[(k, k)]).fold(0.0, f64::max);
        let mut normal = self.gram.clone();
        if let Some(ridge) = ridge {
            normal += ridge;
        }
        let factor = normal.llt(Side::Lower).ok()?;
        let lower = factor.L();
        let clear = |k: usize| {
            let pivot = lower[(k, k)] * lower[(k, k)];
            pivot > LEAST_PIVOT * normal[(k, k)] && pivot > LEAST_ENTRY * largest
        };
        if !(0..dim).all(clear) {
            return None;
        }
        let inverse = factor.inverse();
        let solved_sum: Vec<f64> = (0..dim).map(|k| dot(inverse.col_as_slice(k), &self.sum)).collect();
        let set = FixedSet {
            n_rows: self.n_rows,
            inverse,
            sum: self.sum.clone(),
            solved_sum,
            beside_ones,
            targets: None,
        };
        // NaN fails the comparison, too.
        (!beside_ones || set.room_of_ones() > LEAST_ROOM * self.n_rows as f64).then_some(set)
    }
}

impl FixedSet {
    /// `s − tᵀA⁻¹t`: what the columns leave of a column of ones.
    pub(super) fn room_of_ones(&self) -> f64 {
        self.n_rows as f64 - dot(&self.sum, &self.solved_sum)
    }
}

pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_cover_every_size_once_and_widen() {
        for (q, m, dim) in [(14, 1000, 10), (1, 1, 3), (1, 40, 5), (13, 40, 10), (5, 32, 2), (20, 500_000, 3)]
        {
            let strata = strata(Sizes::new(q, m), dim);
            assert!(strata.len() <= MAX_STRATA);
            assert_eq!(strata.len(), MAX_STRATA.min(m + 1 - q), "as many as there may be");
            assert_eq!((strata[0].start, strata[strata.len() - 1].end), (q - 1, m));
            assert!(strata.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert!(strata.iter().all(|stratum| !stratum.is_empty()));
            if m > 10 * q {
                assert!(strata[0].len() < strata[strata.len() - 1].len());
            }
        }
    }

    #[test]
    fn sets_that_miss_a_direction_are_singular() {
        let mut set = GrowingSet::new(2, false);
        set.push(faer::mat![[1.0, 2.0], [0.5, 1.0], [-3.0, -6.0_f64]].as_ref(), &[]);
        assert!(set.fix(None, false).is_none());
        let ridge = faer::mat![[0.1, 0.0], [0.0, 0.1]];
        assert!(set.fix(Some(ridge.as_ref()), true).is_some());
        set.push(faer::mat![[1.0, 0.0]].as_ref(), &[]);
        let fixed = set.fix(None, false).unwrap();
        assert_eq!((fixed.n_rows, fixed.sum), (4, vec![-0.5, -3.0]));
    }
    /// A category that no row of the set has is the same constant in every row. The column has a
    /// square, but says nothing about the category.
    #[test]
    fn an_absent_category_is_not_determined() {
        let mut set = GrowingSet::new(2, false);
        set.push(faer::mat![[1.0, -0.01], [0.5, -0.01], [-3.0, -0.01], [0.2, -0.01_f64]].as_ref(), &[]);
        assert!(set.fix(None, false).is_some());
        assert!(set.fix(None, true).is_none());
        set.push(faer::mat![[0.3, 0.99]].as_ref(), &[]);
        assert!(set.fix(None, true).is_some());
    }
}
