//! How large batches may be so that a run stays within its memory.

use crate::scan::READ_AHEAD;
use dshap::{BLOCK_ROWS, panel_rows};
use dshap_io::{ScanOptions, Source};
use dshap_models::{Error, Sums};
use dshap_table::Wanted;

/// The program itself, its threads' stacks, and what allocators keep back.
const BASE_BYTES: u64 = 24 << 20;

/// A batch exists up to this many times: worked on, waiting, being read, its pieces
/// before they are joined, encoded, and on its way out.
const COPIES: u64 = 5 + READ_AHEAD as u64;

/// Batches of wide tables are larger than others, so that each thread has a block to sum,
/// but no larger than this.
const WIDE_BATCH_BYTES: usize = 128 << 20;

/// Batches of a table in memory are copies, so they are small.
const MEMORY_BATCH_BYTES: usize = 2 << 20;

/// Smaller batches than this would take longer to hand over than to work on.
const LEAST_BATCH_BYTES: u64 = 256 << 10;

/// More bytes than a pipe will bring.
const BEYOND_PIPES: u64 = 1 << 50;

/// The budget of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    limit: Option<u64>,
    reserved: u64,
    /// Whether later passes read the same rows, so that keeping them saves time.
    keeps: bool,
    /// What is summed at once, now and in the pass that sums most.
    now: Sums,
    most: Sums,
}

impl Budget {
    pub(crate) fn new(limit: Option<u64>) -> Self {
        Self { limit, reserved: 0, keeps: false, now: Sums::ONE, most: Sums::ONE }
    }

    /// The same budget for rows that are read more than once: they are kept in memory if
    /// they fit.
    pub(crate) fn keeping(self, yes: bool) -> Self {
        Self { keeps: yes, ..self }
    }

    /// The same budget for rows that are held as numbers while they are read: within a limit
    /// there is no room for them twice.
    pub(crate) fn holding(self) -> Self {
        self.keeping(self.keeps && self.limit.is_none())
    }

    /// Whether later passes read the same rows.
    pub(crate) fn keeps(&self) -> bool {
        self.keeps
    }

    /// The same budget with these bytes set aside.
    pub(crate) fn reserving(self, bytes: u64) -> Self {
        Self { reserved: bytes, ..self }
    }

    /// The same budget with further bytes set aside.
    pub(crate) fn reserving_more(self, bytes: u64) -> Self {
        self.reserving(self.reserved.saturating_add(bytes))
    }

    /// The same budget for these sums, and for those of a later pass: too little
    /// memory for that one is too little now.
    pub(crate) fn for_sums(self, now: Sums, later: Sums) -> Self {
        Self { now, most: later, ..self }
    }

    /// Refuses rows that take more memory than there is: `bytes` after a share of
    /// their table.
    pub(crate) fn check_held(&self, bytes: u64, share: f64) -> Result<(), Error> {
        let fixed = BASE_BYTES + self.reserved;
        match self.limit {
            Some(limit) if limit < fixed + bytes => {
                let all = bytes as f64 / share.clamp(f64::MIN_POSITIVE, 1.0);
                let needed = fixed.saturating_add(all as u64);
                Err(Error::TooLittleMemory { limit, needed, n_threads: 1 })
            }
            _ => Ok(()),
        }
    }

    /// These bytes, or a small part of the limit if that is less.
    pub(crate) fn share_of(&self, bytes: u64) -> u64 {
        self.limit.map_or(bytes, |limit| bytes.min(limit / 32))
    }

    /// Bytes that are left.
    pub(crate) fn room(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit.saturating_sub(BASE_BYTES + self.reserved))
    }

    /// How to scan `wanted` of `source` for a design of `n_columns`.
    pub(crate) fn scan_options(
        &self,
        source: &Source,
        wanted: &[Wanted],
        n_columns: usize,
    ) -> Result<ScanOptions, Error> {
        // Columns that are only kept take memory like others.
        let all = if self.keeps { source.with_expected(wanted) } else { wanted.to_vec() };
        let mut options = ScanOptions { row_multiple: BLOCK_ROWS, ..ScanOptions::default() };
        if source.is_in_memory() {
            options.batch_bytes = MEMORY_BATCH_BYTES;
        } else {
            let block_each = 8 * wanted.len() * BLOCK_ROWS * rayon::current_num_threads().next_power_of_two();
            options.batch_bytes = options.batch_bytes.max(block_each.min(WIDE_BATCH_BYTES));
        }
        let Some(limit) = self.limit else {
            if self.keeps && !source.is_in_memory() {
                options.keep_bytes = spare_bytes() as usize;
            }
            return Ok(options);
        };
        // One-hot columns make an encoded batch larger than it was when read.
        let growth = (n_columns as u64 + 1).div_ceil(wanted.len().max(1) as u64).max(1);
        let least = LEAST_BATCH_BYTES * (COPIES + growth);
        let fixed = |n_bytes: u64| {
            // However it is read, a small table takes little; compression may hide a lot.
            let overhead = source.scan_overhead(&all).min(n_bytes.saturating_mul(64));
            let sums = [self.now, self.most].map(|sums| arithmetic_bytes(n_bytes, n_columns, sums));
            BASE_BYTES + self.reserved + sums[0].max(sums[1]) + overhead + source.kept_bytes() as u64
        };
        let mut fixed_bytes = fixed(source.n_bytes_known().unwrap_or(BEYOND_PIPES));
        if limit < fixed_bytes + least {
            fixed_bytes -= source.kept_bytes() as u64;
            source.forget_kept();
        }
        if limit < fixed_bytes + least {
            // Less may do for a pipe, but only its end tells.
            fixed_bytes = fixed(source.n_bytes());
        }
        if limit < fixed_bytes + least {
            let n_threads = rayon::current_num_threads();
            return Err(Error::TooLittleMemory { limit, needed: fixed_bytes + least, n_threads });
        }
        let room = limit - fixed_bytes;
        let keeps = self.keeps && !source.is_in_memory();
        let may_fit = keeps && source.likely_bytes(&all).is_some_and(|bytes| bytes <= room / 4);
        // A table that is small beside the limit is worth more in memory than large batches.
        let for_batches = if may_fit && room / 2 >= least { room / 2 } else { room };
        let batch_bytes = (for_batches / (COPIES + growth)).min(options.batch_bytes as u64);
        if keeps {
            // Later passes may set more aside.
            options.keep_bytes = ((room - batch_bytes * (COPIES + growth)) / 2) as usize;
        }
        Ok(ScanOptions { batch_bytes: batch_bytes as usize, ..options })
    }
}

/// Bytes that a session may keep for later calls without being asked: a part of what is free,
/// and never so much that it would be missed.
pub(crate) fn spare_bytes() -> u64 {
    const MOST: u64 = 2 << 30;
    // Where the system does not say what is free.
    const UNKNOWN: u64 = 512 << 20;
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let free_kib = free.and_then(|rest| rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    free_kib.map_or(UNKNOWN, |kib| (kib << 10) / 4).min(MOST)
}

/// How many bytes of finished rows may be held back to be sorted.
pub fn held_bytes(limit: Option<u64>) -> Option<u64> {
    // Sorting copies them once.
    limit.map(|limit| limit.saturating_sub(BASE_BYTES) / 4)
}

/// The most rows that a table can have: a row takes a byte at least, and
/// compression may hide a factor of ten.
pub(crate) fn most_rows(source: &Source) -> u64 {
    source.n_bytes_known().unwrap_or(BEYOND_PIPES).saturating_mul(10)
}

/// Moments under way, the fit, and the buffers of each thread, for a table of
/// `n_bytes` on disk.
fn arithmetic_bytes(n_bytes: u64, n_columns: usize, sums: Sums) -> u64 {
    let threads = rayon::current_num_threads() as u64;
    let k = n_columns as u64 + 1;
    // A cell takes a byte at least; compression may hide a factor of ten.
    let most_blocks = (10 * n_bytes / k / BLOCK_ROWS as u64).max(1);
    let levels = u64::from(most_blocks.ilog2()) + 1;
    let square = 8 * k * k;
    sums.n_squares as u64 * square * (levels + 2 * threads + 4)
        + sums.n_blocks as u64 * 8 * k * (BLOCK_ROWS as u64 + 2 * panel_rows(k as usize) as u64 * threads)
}
