//! Sums over rows that arrive in chunks: the same bits however they are cut.
//!
//! Rows are gathered into blocks of [`BLOCK_ROWS`] counted from the first row, each
//! block is summed on one thread, and blocks are merged like the digits of a binary
//! counter.

use crate::{BLOCK_ROWS, Error, Rows};
use faer::Mat;
use std::fmt::Debug;

/// What is summed over rows.
pub(crate) trait Sweep: Sync + Debug {
    /// The sums.
    type Sums: Send + Debug;

    /// Sums over at most [`BLOCK_ROWS`] rows, on one thread.
    fn of_block(&self, rows: Rows<'_>) -> Self::Sums;

    /// Adds the sums over later rows.
    fn absorb(sums: &mut Self::Sums, later: Self::Sums);

    /// Whether all of them are finite.
    fn is_finite(sums: &Self::Sums) -> bool;

    /// The longest run of blocks that may be summed next: `2^level` of them.
    fn longest_run(&self) -> u32 {
        u32::MAX
    }

    /// Sums over a run of `2^level` full blocks, or over a single block.
    fn of_run(&mut self, rows: Rows<'_>, level: u32) -> Self::Sums
    where
        Self: Sized,
    {
        of_blocks(self, rows, level)
    }
}

/// A sweep in progress.
#[derive(Debug, Clone)]
pub(crate) struct BlockSums<S: Sweep> {
    pub(crate) sweep: S,
    pub(crate) n_features: usize,
    pub(crate) n_rows: usize,
    /// Rows of a block that is not full yet, column-major with the target last.
    pub(crate) pending: Mat<f64>,
    pub(crate) n_pending: usize,
    /// Their weights, once there are any.
    pub(crate) pending_weights: Option<Vec<f64>>,
    pub(crate) n_blocks: u64,
    /// Merged blocks, each `2^level` of them, largest first.
    pub(crate) merged: Vec<(u32, S::Sums)>,
}

impl<S: Sweep> BlockSums<S> {
    pub(crate) fn new(n_features: usize, sweep: S) -> Self {
        Self {
            sweep,
            n_features,
            n_rows: 0,
            pending: Mat::new(),
            n_pending: 0,
            pending_weights: None,
            n_blocks: 0,
            merged: Vec::new(),
        }
    }

    /// Rows so far, including those of weight 0.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds rows. After an error the sums must not be used further.
    pub(crate) fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        if rows.n_features() != self.n_features {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features });
        }
        rows.check_weights()?;
        self.n_rows += rows.len();
        let mut start = 0;
        if self.n_pending > 0 {
            start = self.fill_pending(rows, 0)?;
            if self.n_pending == BLOCK_ROWS {
                let block = self.take_pending();
                self.push_merged(0, block)?;
            }
        }
        while rows.len() - start >= BLOCK_ROWS {
            // The longest aligned run of blocks: a subtree of the counter.
            let available = ((rows.len() - start) / BLOCK_ROWS) as u64;
            let aligned = available.ilog2().min(self.n_blocks.trailing_zeros());
            let level = aligned.min(self.sweep.longest_run());
            let len = BLOCK_ROWS << level;
            let run = self.sweep.of_run(rows.slice(start, len), level);
            if !S::is_finite(&run) {
                return Err(rows.explain_not_finite(start, len));
            }
            self.push_merged(level, run)?;
            start += len;
        }
        self.fill_pending(rows, start)?;
        Ok(())
    }

    /// The sums over all rows.
    pub(crate) fn finish(mut self) -> Result<S::Sums, Error> {
        if self.n_pending > 0 {
            let block = self.take_pending();
            self.merged.push((0, block));
        }
        let (_, mut total) = self.merged.pop().ok_or(Error::NoRows)?;
        while let Some((_, mut larger)) = self.merged.pop() {
            S::absorb(&mut larger, total);
            total = larger;
        }
        if !S::is_finite(&total) {
            return Err(Error::TooLarge);
        }
        Ok(total)
    }

    /// Copies rows from `start` on until the pending block is full; returns
    /// the first row not copied.
    fn fill_pending(&mut self, rows: Rows<'_>, start: usize) -> Result<usize, Error> {
        let len = (BLOCK_ROWS - self.n_pending).min(rows.len() - start);
        if len == 0 {
            return Ok(start);
        }
        let needed = self.n_pending + len;
        if self.pending.nrows() < needed {
            // Grows by doubling, so that a small table stays small.
            let capacity = needed.next_power_of_two().min(BLOCK_ROWS);
            self.pending.resize_with(capacity, self.n_features + 1, |_, _| 0.0);
        }
        for j in 0..=self.n_features {
            let cells = &mut self.pending.col_as_slice_mut(j)[self.n_pending..needed];
            rows.copy_centred(j, start, 0.0, 0.0, cells);
            // Checked here, while the caller's row numbers are known.
            if !cells.iter().all(|cell| cell.is_finite()) {
                return Err(rows.explain_not_finite(start, len));
            }
        }
        if rows.weights().is_some() || self.pending_weights.is_some() {
            let weights = self.pending_weights.get_or_insert_with(Vec::new);
            weights.resize(self.n_pending, 1.0);
            match rows.weights() {
                Some(added) => weights.extend_from_slice(&added[start..start + len]),
                None => weights.resize(needed, 1.0),
            }
        }
        self.n_pending = needed;
        Ok(start + len)
    }

    fn take_pending(&mut self) -> S::Sums {
        let (features, target) = self.pending.as_ref().split_at_col(self.n_features);
        let n = std::mem::take(&mut self.n_pending);
        let target = target.col(0).subrows(0, n);
        let target = target.try_as_col_major().expect("an owned matrix is column-major").as_slice();
        let mut rows = Rows::new(features.subrows(0, n), target).expect("both are cut to the same length");
        let weights = self.pending_weights.take();
        if let Some(weights) = &weights {
            rows = rows.with_weights(weights).expect("there is a weight for each pending row");
        }
        self.sweep.of_run(rows, 0)
    }

    fn push_merged(&mut self, level: u32, run: S::Sums) -> Result<(), Error> {
        if !S::is_finite(&run) {
            return Err(Error::TooLarge);
        }
        self.n_blocks += 1 << level;
        let (mut level, mut run) = (level, run);
        while let Some((_, mut left)) = self.merged.pop_if(|(have, _)| *have == level) {
            S::absorb(&mut left, run);
            (level, run) = (level + 1, left);
        }
        self.merged.push((level, run));
        Ok(())
    }
}

/// Sums over a power of two of full blocks, merged as a balanced tree.
pub(crate) fn of_blocks<S: Sweep>(sweep: &S, rows: Rows<'_>, level: u32) -> S::Sums {
    if level == 0 {
        return sweep.of_block(rows);
    }
    let half = BLOCK_ROWS << (level - 1);
    let (mut left, right) = rayon::join(
        || of_blocks(sweep, rows.slice(0, half), level - 1),
        || of_blocks(sweep, rows.slice(half, half), level - 1),
    );
    S::absorb(&mut left, right);
    left
}
