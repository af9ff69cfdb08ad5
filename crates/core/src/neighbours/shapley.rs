//! Shapley values of the reference as a finite dataset (Jia et al. 2019).

use super::options::NeighbourTask;
use super::pass::TestMeans;
use super::valuer::NeighbourValuer;
use super::weights::WeightTable;
use crate::values::Values;
use crate::{Error, Sizes, Watch};

impl NeighbourValuer<'_> {
    /// KNN-Shapley: the Shapley values of the reference rows themselves, each by
    /// what it adds to all sets of the others (Jia et al. 2019, unweighted; the
    /// set sizes of the valuer are not used).
    ///
    /// The weights of all sizes from `k` on are `k/(i(i+1))`, for which the [closed
    /// form](super) is the sum of the paper's recursion. Sets of fewer than `k` rows are
    /// added, whose sums are also divided by `k`; with `k ≥ N` there are no others. With
    /// `N` rows, `K = min(k, N)` sizes below `k`, and `y, ȳ` the target of the row and
    /// the mean of the others,
    ///
    /// ```text
    /// classification:  + (K/N) · 1[y = y_t]/k
    /// regression:      − (1/N) [ (y/k − y_t)² + ((K − 1)/k)·y·(y/k − 2y_t + ȳ·K/k) ]
    /// ```
    ///
    /// The empty set is worth 0, as in the paper. Values of a test row add up to
    /// the utility of all rows; rows at the same distance are in random order.
    ///
    /// Any `k` works; [`of_dataset`](NeighbourValuer::of_dataset) makes a valuer for only
    /// this.
    ///
    /// # Errors
    ///
    /// [`Error::TooLarge`], [`Error::Interrupted`].
    pub fn finite_shapley(&self, watch: Watch<'_>) -> Result<Values, Error> {
        let mut means = TestMeans::new(self.reference.len());
        self.add_finite_shapley(&mut means, watch)?;
        means.values(self.with_std_error)
    }

    /// As [`finite_shapley`](Self::finite_shapley) for some of the test rows: adds to the
    /// means so far.
    ///
    /// # Errors
    ///
    /// As for [`finite_shapley`](Self::finite_shapley).
    ///
    /// # Panics
    ///
    /// If `so_far` has another number of rows than the reference.
    pub fn add_finite_shapley(&self, so_far: &mut TestMeans, watch: Watch<'_>) -> Result<(), Error> {
        let (k, n_players) = (self.options.k, self.list_len());
        let has_large_sets = k < n_players;
        let table = has_large_sets
            .then(|| WeightTable::new(n_players - 1, k, Sizes::new(k + 1, n_players)))
            .transpose()?;
        let y = self.reference.y();
        let total: f64 = y.iter().sum();
        let n_small = k.min(n_players) as f64;
        let (n, k) = (n_players as f64, k as f64);
        // A single row has no mean of others, and its factor is 0.
        let n_others = (n - 1.0).max(1.0);
        // Weights of all sizes fall slowly, so an index does not help.
        let table = table.as_ref().map(|table| (table, table.cut_off(self.options.tolerance) + 1));
        self.add_own(so_far, table, watch, |y_t, own, out| match self.options.task {
            NeighbourTask::Classification { .. } => {
                let share = n_small / (n * k);
                for (out, &y) in out.iter_mut().zip(y) {
                    *out += if y == y_t { share } else { 0.0 };
                }
            }
            NeighbourTask::Regression => {
                let total = total - own.map_or(0.0, |own| y[own]);
                for (out, &y) in out.iter_mut().zip(y) {
                    let others = (total - y) / n_others * (n_small / k);
                    let alone = (y / k - y_t).powi(2);
                    *out -= (alone + (n_small - 1.0) / k * y * (y / k - 2.0 * y_t + others)) / n;
                }
            }
        })
    }
}
