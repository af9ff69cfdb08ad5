//! Whether all distances are measured, or an index finds the nearest rows.

use super::index::{Index, LEAF_ROWS};
use super::lists::ListWork;
use super::pass::{TestMeans, add_few};
use super::valuer::NeighbourValuer;
use super::weights::WeightTable;
use crate::{Error, Watch};

/// The share of rows that an index may visit and still be faster than blocks.
const LARGEST_SHARE: f64 = 0.2;

/// The number of test rows from which on building an index pays.
const FEWEST_TESTS: usize = 100;

/// How the nearest rows of a test row are found. Values have the same bits for all
/// choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// The faster way.
    #[default]
    Auto,
    /// Distances to all rows, block by block.
    Blocks,
    /// An index of the reference, of [`index_bytes`](NeighbourValuer::index_bytes).
    /// Blocks replace it where it cannot be used: for angles if some rows have no
    /// direction, and for lists of all rows of a dataset.
    Index,
}

impl NeighbourValuer<'_> {
    /// Sets how the nearest rows are found.
    pub fn with_search(mut self, search: Search) -> Self {
        self.search = search;
        self
    }

    /// The size in bytes of an index of this many reference rows, also while it is built.
    pub fn index_bytes(n_rows: usize, n_columns: usize) -> u64 {
        Index::n_bytes(n_rows, n_columns)
    }

    /// The index, if it is to find the `keep` nearest rows.
    pub(super) fn index_for(&self, keep: usize) -> Option<&Index> {
        let (n, p) = (self.placed.len(), self.space.columns.len());
        let is_wanted = match self.search {
            Search::Auto => self.n_tests() >= FEWEST_TESTS && visited_share(n, p, keep) <= LARGEST_SHARE,
            Search::Blocks => false,
            Search::Index => true,
        };
        if !is_wanted || self.placed.has_null() {
            return None;
        }
        if let Some(index) = self.index.get() {
            return Some(index);
        }
        // Not inside the lock: a thread that waits for it could be needed to build the
        // index.
        let index = Index::new(&self.space, &self.placed);
        Some(self.index.get_or_init(|| index))
    }

    /// Adds the values of reference rows by lists that the index finds.
    pub(super) fn add_own_indexed(
        &self,
        so_far: &mut TestMeans,
        index: &Index,
        table: &WeightTable,
        keep: usize,
        watch: Watch<'_>,
    ) -> Result<(), Error> {
        so_far.assert_of(self.placed.len());
        // A row with a value takes two numbers.
        let speaking = self.speaking(2 * keep);
        add_few(so_far, speaking, watch, ListWork::default, |work, t, said| {
            let test = self.test(t);
            self.indexed_list(index, &test, keep, work)?;
            self.own_values(&test, table, work, |row, value| said.push((row as u32, value)));
            said.extend(test.own.map(|own| (own as u32, f64::NAN)));
            Ok(())
        })
    }
}

/// The share of `n` rows in leaves that the ball of the `keep` nearest touches, roughly:
/// along each of `p` coordinates it is as wide as the ball and a leaf together, where
/// rows fill a cube.
fn visited_share(n: usize, p: usize, keep: usize) -> f64 {
    let width = |n_rows: usize| (n_rows as f64 / n as f64).powf(1.0 / p as f64);
    (width(keep) + width(LEAF_ROWS)).powi(p as i32)
}

#[cfg(test)]
mod tests {
    use super::super::options::{NeighbourOptions, NeighbourTask, TestRows};
    use super::*;
    use crate::{Rows, Sizes, Valuer};
    use dshap_testkit::Draws;
    use faer::Mat;

    const TASK: NeighbourTask = NeighbourTask::Regression;

    /// Whether values of `n` rows of `p` columns are found with an index.
    fn is_indexed(n: usize, p: usize, n_tests: usize, q: usize, search: Search) -> bool {
        let mut draws = Draws::new(6);
        let x = Mat::from_fn(n, p, |_, _| draws.normal());
        let y: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
        let rows = Rows::new(x.as_ref(), &y).expect("one target per row");
        let valuer = || {
            let test = TestRows::Given(rows.slice(0, n_tests));
            let valuer = NeighbourValuer::new(rows, test, Sizes::new(q, n), NeighbourOptions::new(TASK));
            valuer.expect("the sizes make sets").with_search(search)
        };
        let (own, unseen) = (valuer(), valuer());
        own.leave_one_out(&|_, _| true).expect("cells are finite");
        unseen.values(rows.slice(0, 3)).expect("cells are finite");
        assert_eq!(own.index.get().is_some(), unseen.index.get().is_some(), "own and unseen rows");
        own.index.get().is_some()
    }

    #[test]
    fn an_index_is_used_where_it_is_faster() {
        let (n, many, few) = (20_000, FEWEST_TESTS, FEWEST_TESTS - 1);
        assert!(is_indexed(n, 2, many, n / 2, Search::Auto));
        assert!(!is_indexed(n, 2, few, n / 2, Search::Auto), "few test rows");
        assert!(!is_indexed(n, 2, many, 6, Search::Auto), "all rows have weight");
        assert!(!is_indexed(n, 16, many, n / 2, Search::Auto), "many columns");
        assert!(!is_indexed(n, 2, many, n / 2, Search::Blocks), "refused");
        assert!(is_indexed(n, 2, 1, n / 2, Search::Index), "asked for");
    }

    #[test]
    fn the_share_grows_with_columns_and_kept_rows_and_falls_with_rows() {
        let share = visited_share(1_000_000, 4, 500);
        assert!(share < visited_share(1_000_000, 5, 500));
        assert!(share < visited_share(1_000_000, 4, 600));
        assert!(share > visited_share(2_000_000, 4, 500));
        // One coordinate: the ball, and a leaf.
        assert!((visited_share(1000, 1, 36) - 0.1).abs() < 1e-15);
    }
}
