//! How many points are valued at once, and the memory that takes.

/// Points that are valued at once, even if the reference is smaller.
const FEWEST_POINTS: usize = 1 << 16;

/// No block of points is smaller, however little memory there is.
const LEAST_POINTS: usize = 1 << 10;

/// What a thread holds of its test rows, at least.
const THREAD_BYTES: u64 = 16 << 20;

/// Bytes of test rows that are held at a time while they are read.
pub(super) const TEST_BLOCK_BYTES: u64 = 64 << 20;

/// A table in memory is at most this many times as long as its files.
const MOST_GROWTH: u64 = 64;

/// The blocks of points that nearest neighbours want. For each test row the
/// reference is sorted once for all points at hand, so points should wait until
/// they are as many as the reference has rows, or as memory allows. The size of
/// blocks does not change a bit.
///
/// Rows of the reference itself may come batch by batch: all their values are
/// computed when the first of them come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    pub(super) n_reference: usize,
    pub(super) leave_one_out: bool,
    pub(super) index_bytes: u64,
    /// Length of the table of test rows, if it is read while points are valued.
    pub(super) test_table_bytes: Option<u64>,
}

impl Blocks {
    /// Whether the points are the reference, so that all are valued at once.
    pub fn is_leave_one_out(&self) -> bool {
        self.leave_one_out
    }

    /// Points of the largest block that is worth it.
    pub fn most(&self) -> usize {
        if self.leave_one_out { self.n_reference } else { self.n_reference.max(FEWEST_POINTS) }
    }

    /// Points of the smallest block.
    pub fn least(&self) -> usize {
        if self.leave_one_out { self.n_reference } else { LEAST_POINTS }
    }

    /// Bytes needed to value this many points at once, beside the points and the rows
    /// that the model holds.
    pub fn bytes(&self, n_points: usize) -> u64 {
        let threads = rayon::current_num_threads() as u64;
        let (n, points) = (self.n_reference as u64, n_points as u64);
        // Distances and values of four test rows at least, a sorted list, sorted points
        // where there are any but the rows of the list, and means.
        let sorted = if self.leave_one_out { 0 } else { 16 * points };
        threads * (THREAD_BYTES.max(64 * n.max(points)) + 72 * n + sorted) + 40 * points
    }

    /// Bytes of the index that may find near rows; 0 if none is made. It must leave room
    /// for as many points.
    pub fn index_bytes(&self) -> u64 {
        self.index_bytes
    }

    /// Bytes of test rows that are read while points are valued, twice while they are
    /// joined; `share_of` gives the part of some bytes that a limit allows.
    pub fn streamed_bytes(&self, share_of: impl Fn(u64) -> u64) -> u64 {
        let most = |table_bytes: u64| share_of(TEST_BLOCK_BYTES).min(table_bytes.saturating_mul(MOST_GROWTH));
        self.test_table_bytes.map_or(0, |table_bytes| 2 * most(table_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_against_each_other_are_one_block() {
        let blocks =
            Blocks { n_reference: 100, leave_one_out: false, index_bytes: 0, test_table_bytes: None };
        assert_eq!((blocks.most(), blocks.least()), (FEWEST_POINTS, LEAST_POINTS));
        let own = Blocks { leave_one_out: true, ..blocks };
        assert_eq!((own.most(), own.least()), (100, 100));
        assert!(own.bytes(100) < blocks.bytes(100));
    }

    #[test]
    fn test_rows_that_are_held_take_nothing_more() {
        let own = Blocks { n_reference: 9, leave_one_out: true, index_bytes: 0, test_table_bytes: None };
        assert_eq!(own.streamed_bytes(|bytes| bytes), 0);
        let small = Blocks { test_table_bytes: Some(10), ..own };
        assert_eq!(small.streamed_bytes(|bytes| bytes), 2 * 640);
        let large = Blocks { test_table_bytes: Some(u64::MAX), ..own };
        assert_eq!(large.streamed_bytes(|bytes| bytes / 2), TEST_BLOCK_BYTES);
    }
}
