//! A sum over rows, the same however they come.

use serde::{Deserialize, Serialize};

/// Rows of a block, as in the sums of `dshap`.
pub(crate) const BLOCK_ROWS: u64 = 4096;

/// Sums of blocks of rows, merged like the digits of a binary counter.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct BlockSum {
    /// The block that is not full.
    open: f64,
    /// Merged blocks, each `2^level` of them, largest first.
    merged: Vec<(u32, f64)>,
}

impl BlockSum {
    pub(crate) fn add(&mut self, number: f64) {
        self.open += number;
    }

    /// The block is full.
    pub(crate) fn close(&mut self) {
        let block = std::mem::take(&mut self.open);
        self.push(0, block);
    }

    fn push(&mut self, mut level: u32, mut sum: f64) {
        while let Some((_, left)) = self.merged.pop_if(|(have, _)| *have == level) {
            (level, sum) = (level + 1, left + sum);
        }
        self.merged.push((level, sum));
    }

    /// Adds the sum over later rows; `is_whole` if no block is open here.
    pub(crate) fn absorb(&mut self, later: BlockSum, is_whole: bool) {
        if is_whole {
            later.merged.into_iter().for_each(|(level, sum)| self.push(level, sum));
            self.open = later.open;
        } else {
            *self = Self { open: self.total() + later.total(), merged: Vec::new() };
        }
    }

    pub(crate) fn total(&self) -> f64 {
        self.merged.iter().rev().fold(self.open, |total, (_, sum)| sum + total)
    }
}
