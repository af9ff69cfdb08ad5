//! An index of the reference: the nearest rows of a test row without looking at all rows.
//!
//! It is a k-d tree. Rows are halved at the median of the coordinate in which they are
//! spread most, down to leaves of 64, and each node has a box around its rows. A test row
//! visits the nearest leaves first and skips boxes that are further away than the rows it
//! looks for.
//!
//! **Nothing is approximate.** Boxes hold direct coordinates (`space.rs`), and the gap
//! between a test row and a box is computed by the same steps as a direct distance, in
//! the same order. Every step is monotonic, including its rounding, so no row of a box
//! has a direct distance below the gap of the box.

use super::column::Column;
use super::distances::{LANES, direct_distances};
use super::options::Metric;
use super::sort::numbers_mask;
use super::space::{Placed, Space, TestRow};
use rayon::prelude::*;

/// Rows of a leaf: with fewer, boxes take as long as rows; with more, too many rows are
/// visited.
pub(super) const LEAF_ROWS: usize = 64;

/// Rows side by side in a leaf.
const LEAF_PANELS: usize = LEAF_ROWS / LANES;

/// Rows of a node that decide which coordinate is spread most.
const SAMPLED_ROWS: usize = 32;

/// If the furthest row is nearer than this, no step of a distance leaves the range of
/// doubles, not even by products, which are at most ten times as large.
const SAFE_DISTANCE: f64 = 1e290;

/// A k-d tree over the rows of the reference.
#[derive(Debug)]
pub(super) struct Index {
    metric: Metric,
    /// What differences of direct coordinates are multiplied by.
    scales: Vec<f64>,
    /// Numbers of rows, leaf after leaf.
    rows: Vec<u32>,
    /// Their direct coordinates: copies, because neighbours are far apart in the columns
    /// of the table. The last leaf is padded with its last row.
    cells: Vec<[f64; LANES]>,
    /// The lower and the upper corner of each node's box. After a node come the nodes of
    /// the first half of its leaves, then those of the second.
    corners: Vec<f64>,
}

/// Leaves of a node that have not been visited yet.
#[derive(Debug, Clone, Copy)]
struct Branch {
    gap: f64,
    node: usize,
    first_leaf: usize,
    n_leaves: usize,
}

impl Index {
    /// The index of rows, all of which must have a direction if the metric needs one.
    pub(super) fn new(space: &Space, rows: &Placed<'_>) -> Self {
        let mask = numbers_mask(rows.len());
        let mut places: Vec<u64> = (0..rows.len() as u64).collect();
        Arranging { space, rows, mask }.arrange(&mut places);
        let order: Vec<u32> = places.into_par_iter().map(|place| (place & mask) as u32).collect();

        let (p, n_leaves) = (space.columns.len(), order.len().div_ceil(LEAF_ROWS));
        let mut cells = vec![[0.0; LANES]; n_leaves * LEAF_PANELS * p];
        let leaves = cells.par_chunks_exact_mut(LEAF_PANELS * p).zip(order.par_chunks(LEAF_ROWS));
        leaves.for_each(|(cells, leaf)| {
            for (j, column) in space.columns.iter().enumerate() {
                for at in 0..LEAF_ROWS {
                    let row = leaf[at.min(leaf.len() - 1)] as usize;
                    cells[at / LANES * p + j][at % LANES] = space.direct_coordinate(rows, row, column);
                }
            }
        });
        let mut corners = vec![0.0; (2 * n_leaves - 1) * 2 * p];
        enclose(&mut corners, &cells, p);
        let scales = space.columns.iter().map(|column| space.direct_scale(column)).collect();
        Self { metric: space.metric, scales, rows: order, cells, corners }
    }

    /// The maximum size of an index in bytes, also while it is built.
    pub(super) fn n_bytes(n_rows: usize, n_columns: usize) -> u64 {
        let n_leaves = n_rows.div_ceil(LEAF_ROWS) as u64;
        let cells = n_leaves * LEAF_ROWS as u64 * n_columns as u64;
        let corners = 2 * n_leaves * 2 * n_columns as u64;
        8 * (cells + corners) + 12 * n_rows as u64
    }

    /// Number of rows.
    pub(super) fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Whether all distances to a test row are certain to be finite, so that it can visit
    /// leaves.
    pub(super) fn can_visit(&self, test: &TestRow) -> bool {
        let (low, high) = self.corners_of(0);
        let furthest = (0..self.scales.len())
            .map(|j| (test.direct[j] - low[j]).abs().max((test.direct[j] - high[j]).abs()) * self.scales[j]);
        // Also false for NaN.
        !test.is_null && self.add_up(furthest) < SAFE_DISTANCE
    }

    /// Calls `found` with rows and their direct distances to a test row, leaf by leaf,
    /// near ones first. It returns how far away a row may be to matter; boxes beyond that
    /// are skipped.
    pub(super) fn visit(&self, test: &TestRow, mut found: impl FnMut(&[u32], &[f64]) -> f64) {
        let n_leaves = self.rows.len().div_ceil(LEAF_ROWS);
        let mut reach = f64::INFINITY;
        let mut distances = [0.0; LEAF_ROWS];
        let mut branches = vec![Branch { gap: 0.0, node: 0, first_leaf: 0, n_leaves }];
        while let Some(Branch { gap, node, first_leaf, n_leaves }) = branches.pop() {
            if gap > reach {
                continue;
            }
            if n_leaves == 1 {
                let start = first_leaf * LEAF_ROWS;
                let rows = &self.rows[start..self.rows.len().min(start + LEAF_ROWS)];
                let distances = &mut distances[..rows.len()];
                let leaf_cells = LEAF_PANELS * self.scales.len();
                let cells = &self.cells[first_leaf * leaf_cells..(first_leaf + 1) * leaf_cells];
                direct_distances(self.metric, cells, &test.direct, &self.scales, distances);
                reach = found(rows, distances);
                continue;
            }
            let half = n_leaves / 2;
            let branch = |node, first_leaf, n_leaves| {
                let gap = self.gap(test, node);
                Branch { gap, node, first_leaf, n_leaves }
            };
            let one = branch(node + 1, first_leaf, half);
            let other = branch(node + n_nodes(half) + 1, first_leaf + half, n_leaves - half);
            branches.extend(if one.gap <= other.gap { [other, one] } else { [one, other] });
        }
    }

    /// No row of the node's box has a smaller direct distance.
    #[inline]
    fn gap(&self, test: &TestRow, node: usize) -> f64 {
        let (low, high) = self.corners_of(node);
        let gaps = low.iter().zip(high).zip(&test.direct).zip(&self.scales);
        self.add_up(gaps.map(|(((low, high), t), scale)| (low - t).max(t - high).max(0.0) * scale))
    }

    /// Adds up differences as direct distances do.
    #[inline]
    fn add_up(&self, differences: impl Iterator<Item = f64>) -> f64 {
        match self.metric {
            Metric::Manhattan => differences.sum(),
            Metric::Euclidean | Metric::Cosine => differences.map(|d| d * d).sum(),
        }
    }

    #[inline]
    fn corners_of(&self, node: usize) -> (&[f64], &[f64]) {
        let p = self.scales.len();
        self.corners[node * 2 * p..(node + 1) * 2 * p].split_at(p)
    }
}

/// Nodes of a tree.
fn n_nodes(n_leaves: usize) -> usize {
    2 * n_leaves - 1
}

/// Rows being sorted into leaves.
struct Arranging<'a> {
    space: &'a Space,
    rows: &'a Placed<'a>,
    mask: u64,
}

impl Arranging<'_> {
    /// Orders rows, the low bits of `places`, so that leaves hold neighbours. The high
    /// bits hold as much of a coordinate as fits. The order is nearly that of the
    /// coordinate and the same for any number of threads, and boxes work with any order.
    fn arrange(&self, places: &mut [u64]) {
        let n_leaves = places.len().div_ceil(LEAF_ROWS);
        if n_leaves < 2 {
            return;
        }
        let column = self.widest(places);
        for place in places.iter_mut() {
            let row = *place & self.mask;
            *place = (ordered_bits(self.coordinate(row, column)) & !self.mask) | row;
        }
        let middle = n_leaves / 2 * LEAF_ROWS;
        places.select_nth_unstable(middle);
        let (one, other) = places.split_at_mut(middle);
        rayon::join(|| self.arrange(one), || self.arrange(other));
    }

    /// The column in which a few of the rows are spread most.
    fn widest(&self, places: &[u64]) -> &Column {
        let step = places.len().div_ceil(SAMPLED_ROWS);
        let width = |column: &Column| {
            let cells = places.iter().step_by(step).map(|place| self.coordinate(place & self.mask, column));
            let (low, high) = range(cells);
            high - low
        };
        let columns = &self.space.columns;
        let mut widest = (&columns[0], width(&columns[0]));
        for column in &columns[1..] {
            let width = width(column);
            if width > widest.1 {
                widest = (column, width);
            }
        }
        widest.0
    }

    /// Centred and in units of distances.
    fn coordinate(&self, row: u64, column: &Column) -> f64 {
        self.space.product_coordinate(self.rows, row as usize, column)
    }
}

/// Bits in the order of numbers, negative ones too.
fn ordered_bits(number: f64) -> u64 {
    let bits = number.to_bits();
    if number.is_sign_negative() { !bits } else { bits | (1 << 63) }
}

/// Boxes of a node and of all below it, from the cells of its leaves.
fn enclose(corners: &mut [f64], cells: &[[f64; LANES]], p: usize) {
    let leaf_cells = LEAF_PANELS * p;
    let n_leaves = cells.len() / leaf_cells;
    let (own, below) = corners.split_at_mut(2 * p);
    let (low, high) = own.split_at_mut(p);
    if n_leaves == 1 {
        for j in 0..p {
            (low[j], high[j]) = range(cells[j..].iter().step_by(p).flatten().copied());
        }
        return;
    }
    let (one, other) = below.split_at_mut(n_nodes(n_leaves / 2) * 2 * p);
    let (one_cells, other_cells) = cells.split_at(n_leaves / 2 * leaf_cells);
    rayon::join(|| enclose(one, one_cells, p), || enclose(other, other_cells, p));
    for j in 0..p {
        low[j] = one[j].min(other[j]);
        high[j] = one[p + j].max(other[p + j]);
    }
}

fn range(cells: impl Iterator<Item = f64>) -> (f64, f64) {
    cells.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), cell| (low.min(cell), high.max(cell)))
}

#[cfg(test)]
mod tests {
    use super::super::options::Scale;
    use super::*;
    use crate::Rows;
    use dshap_testkit::Draws;
    use faer::Mat;

    /// Rows of which some are equal, some nearly equal, and some far away.
    fn rows(seed: u64, n: usize, p: usize) -> Mat<f64> {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, p, |_, _| draws.normal());
        Mat::from_fn(n, p, |i, j| match i % 5 {
            0 => x[(i, j)].round(),
            1 => x[(i - 1, j)].round() + 1e-13 * x[(i, j)],
            2 if i % 3 == 0 => 1e5 * x[(i, j)],
            _ => x[(i, j)],
        })
    }

    fn with_index(x: &Mat<f64>, metric: Metric, check: impl Fn(&Space, &Placed<'_>, &Index)) {
        let y = vec![0.0; x.nrows()];
        let rows = Rows::new(x.as_ref(), &y).expect("one target per row");
        let space = Space::new(rows, metric, Scale::Standard).expect("features vary");
        let placed = space.place(rows).expect("cells are finite");
        check(&space, &placed, &Index::new(&space, &placed));
    }

    #[test]
    fn every_row_is_in_one_leaf_with_its_direct_distance() {
        for (n, p) in [(1, 1), (63, 2), (64, 3), (65, 1), (1000, 8)] {
            // No column varies in a single row, so there are at least two.
            let x = rows(1, n.max(2), p);
            for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
                with_index(&x, metric, |space, placed, index| {
                    let test = space.test_row(placed, 1);
                    let mut times = vec![0; x.nrows()];
                    index.visit(&test, |rows, distances| {
                        for (&row, distance) in rows.iter().zip(distances) {
                            times[row as usize] += 1;
                            let direct = space.direct(&test, placed, row as usize);
                            assert_eq!(distance.to_bits(), direct.to_bits(), "{metric:?}");
                        }
                        f64::INFINITY
                    });
                    assert!(times.iter().all(|&times| times == 1), "{n} rows of {p}");
                    assert!(Index::n_bytes(x.nrows(), p) >= held_bytes(index));
                });
            }
        }
    }

    fn held_bytes(index: &Index) -> u64 {
        let numbers = index.cells.len() * LANES + index.corners.len();
        (8 * numbers + 4 * index.rows.len()) as u64
    }

    #[test]
    fn no_row_is_nearer_than_the_box_around_it() {
        for p in [1, 2, 7] {
            let x = rows(2, 700, p);
            for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
                with_index(&x, metric, |space, placed, index| {
                    for t in (0..700).step_by(29) {
                        let test = space.test_row(placed, t);
                        check_boxes(index, 0, (0, 11), &test, &|row| space.direct(&test, placed, row));
                    }
                });
            }
        }
    }

    fn check_boxes(
        index: &Index,
        node: usize,
        (first, last): (usize, usize),
        test: &TestRow,
        direct: &dyn Fn(usize) -> f64,
    ) {
        let gap = index.gap(test, node);
        for &row in &index.rows[first * LEAF_ROWS..index.rows.len().min(last * LEAF_ROWS)] {
            assert!(gap <= direct(row as usize), "row {row}, node {node}");
        }
        if last - first > 1 {
            let half = (last - first) / 2;
            check_boxes(index, node + 1, (first, first + half), test, direct);
            check_boxes(index, node + n_nodes(half) + 1, (first + half, last), test, direct);
        }
    }

    /// A ball of ten rows among 25 600 in the plane touches few of 400 leaves.
    #[test]
    fn far_leaves_are_passed_over() {
        let mut draws = Draws::new(3);
        let x = Mat::from_fn(400 * LEAF_ROWS, 2, |_, _| draws.normal());
        with_index(&x, Metric::Euclidean, |space, placed, index| {
            for t in 0..100 {
                let test = space.test_row(placed, t);
                let (mut n_leaves, mut nearest) = (0, Vec::new());
                index.visit(&test, |_, distances| {
                    n_leaves += 1;
                    nearest.extend_from_slice(distances);
                    nearest.sort_by(f64::total_cmp);
                    nearest.truncate(10);
                    nearest[9]
                });
                assert!(n_leaves <= 12, "{n_leaves}");
            }
        });
    }

    #[test]
    fn threads_change_nothing() {
        let x = rows(4, 5000, 3);
        with_index(&x, Metric::Euclidean, |space, placed, index| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread");
            let other = pool.install(|| Index::new(space, placed));
            assert_eq!((&other.rows, &other.corners), (&index.rows, &index.corners));
        });
    }
}
