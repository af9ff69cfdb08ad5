//! The mean over test rows, whichever thread was first.

use crate::Error;
use rayon::prelude::*;
use std::ops::Range;

/// Numbers that one task should hold for its test rows (8 MB).
const TASK_NUMBERS: usize = 1 << 20;

/// Test rows of a task: with fewer, packing blocks of rows would take most of the
/// time; more gain nothing.
const TASK_TESTS: std::ops::RangeInclusive<usize> = 4..=16;

/// Rows whose means are brought up to date at once.
const CHUNK_ROWS: usize = 4096;

/// The running mean of what test rows say of a row, and its spread (Welford).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    n: u32,
    pub(super) mean: f64,
    sum_sq: f64,
}

impl Mean {
    /// The standard error of the mean.
    pub(super) fn std_error(&self) -> f64 {
        let n = f64::from(self.n);
        (self.sum_sq / (n - 1.0) / n).sqrt()
    }

    /// `inverse` holds `1/n` at index `n`.
    #[inline]
    fn push(&mut self, value: f64, inverse: &[f64]) {
        self.n += 1;
        let delta = value - self.mean;
        self.mean += delta * inverse[self.n as usize];
        self.sum_sq += delta * (value - self.mean);
    }
}

/// Means over `n_tests` test rows of what `task` says of `n_rows` rows.
///
/// A task has some test rows and fills as many rows of `n_rows` numbers, whatever
/// they held before; NaN is no opinion. Tasks run in waves, on all threads; after each wave its numbers
/// are added one test row after the other. So sums do not depend on the waves,
/// and memory is that of a wave. `n_wide` is the most numbers a task needs for a
/// test row. `watch` is told between waves how many test rows are done, and of
/// how many, and says whether to go on.
pub(super) fn means_over_tests<W: Send>(
    n_tests: usize,
    n_rows: usize,
    n_wide: usize,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
    work: impl Fn() -> W + Sync,
    task: impl Fn(&mut W, Range<usize>, &mut [f64]) -> Result<(), Error> + Sync,
) -> Result<Vec<Mean>, Error> {
    let inverse: Vec<f64> = (0..=n_tests).map(|n| 1.0 / n as f64).collect();
    let mut means = vec![Mean::default(); n_rows];
    let task_tests = (TASK_NUMBERS / n_wide.max(1)).clamp(*TASK_TESTS.start(), *TASK_TESTS.end());
    let n_threads = rayon::current_num_threads();
    // No thread should wait for others where there are few test rows.
    let task_tests = task_tests.min(n_tests.div_ceil(n_threads)).max(1);
    let wave_tests = task_tests * n_threads;
    if n_rows == 0 {
        return Ok(means);
    }
    // Memory is taken once and used in every wave.
    let mut said = vec![0.0; wave_tests.min(n_tests) * n_rows];
    let mut works: Vec<W> = (0..n_threads).map(|_| work()).collect();
    let mut done = 0;
    while done < n_tests {
        if !watch(done, n_tests) {
            return Err(Error::Interrupted);
        }
        let end = n_tests.min(done + wave_tests);
        let said = &mut said[..(end - done) * n_rows];
        let tasks = said.par_chunks_mut(task_tests * n_rows).zip(&mut works).enumerate();
        tasks.try_for_each(|(at, (out, work))| {
            let start = done + at * task_tests;
            task(work, start..end.min(start + task_tests), out)
        })?;
        means.par_chunks_mut(CHUNK_ROWS).enumerate().for_each(|(chunk, means)| {
            let start = chunk * CHUNK_ROWS;
            for values in said.chunks_exact(n_rows) {
                for (mean, &value) in means.iter_mut().zip(&values[start..]) {
                    if !value.is_nan() {
                        mean.push(value, &inverse);
                    }
                }
            }
        });
        done = end;
    }
    Ok(means)
}
