//! The mean over test rows, whichever thread was first.

use crate::Error;
use crate::values::Values;
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
struct Mean {
    n: u32,
    mean: f64,
    sum_sq: f64,
}

impl Mean {
    /// The mean, or 0 if it is no more than what rounding leaves of terms that cancel.
    ///
    /// Each of `n` steps rounds the mean so far, and what is added to it, by a few
    /// `ε/2`. Behind the last that is less than `(n/3 + 6)·ε` times the root of the
    /// mean square of the terms, since sums of the first `j` of them are at most
    /// `√(j·n)` times that root.
    fn settled(&self) -> f64 {
        let n = f64::from(self.n);
        let mean_square = self.sum_sq / n + self.mean * self.mean;
        let is_rounding = self.mean.abs() <= (n / 3.0 + 6.0) * f64::EPSILON * mean_square.sqrt();
        if is_rounding && mean_square.is_finite() { 0.0 } else { self.mean }
    }

    /// The standard error of the mean.
    fn std_error(&self) -> f64 {
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

/// What test rows have said so far of some rows: a running mean for each of
/// them. Test rows that do not fit into memory come in blocks, each with a
/// [`NeighbourValuer`](super::NeighbourValuer) of its own; the bits are those of
/// all test rows at once.
#[derive(Debug, Clone)]
pub struct TestMeans {
    means: Vec<Mean>,
    n_tests: usize,
    /// The least test rows that any row may have been told by.
    n_fewest: usize,
}

impl TestMeans {
    /// Of `n_rows` rows, of which nothing has been said yet.
    pub fn new(n_rows: usize) -> Self {
        Self { means: vec![Mean::default(); n_rows], n_tests: 0, n_fewest: 0 }
    }

    pub(super) fn assert_of(&self, n_rows: usize) {
        assert_eq!(self.means.len(), n_rows, "means of other rows");
    }

    /// Test rows so far.
    pub fn n_tests(&self) -> usize {
        self.n_tests
    }

    /// The values, with standard errors if they are asked for and there are any:
    /// those of a mean over test rows, of which two are needed (three, if they are
    /// reference rows).
    ///
    /// # Errors
    ///
    /// [`Error::NoTestRows`], and [`Error::TooLarge`] for cells whose squares have
    /// no place in a double.
    pub fn values(&self, std_error: bool) -> Result<Values, Error> {
        if self.n_tests == 0 {
            return Err(Error::NoTestRows);
        }
        let value: Vec<f64> = self.means.iter().map(Mean::settled).collect();
        if value.iter().any(|value| !value.is_finite()) {
            return Err(Error::TooLarge);
        }
        let std_error = (std_error && self.n_fewest >= 2)
            .then(|| self.means.iter().map(Mean::std_error).collect::<Vec<_>>());
        Ok(Values { value, std_error, ..Values::default() })
    }
}

/// Test rows that are about to say something.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speaking {
    pub(super) n_tests: usize,
    /// Test rows without an opinion of a row: itself.
    pub(super) n_silent: usize,
    /// The most numbers that are needed for one of them.
    pub(super) n_wide: usize,
}

/// Adds what `task` says of the rows of `so_far`.
///
/// A task has some test rows and fills as many rows of numbers, whatever
/// they held before; NaN is no opinion. Tasks run in waves, on all threads; after each wave its numbers
/// are added one test row after the other. So sums do not depend on the waves,
/// and memory is that of a wave. `watch` is told between waves how many test rows are done, and of
/// how many, and says whether to go on.
pub(super) fn add_tests<W: Send>(
    so_far: &mut TestMeans,
    Speaking { n_tests, n_silent, n_wide }: Speaking,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
    work: impl Fn() -> W + Sync,
    task: impl Fn(&mut W, Range<usize>, &mut [f64]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let inverse: Vec<f64> = (0..=so_far.n_tests + n_tests).map(|n| 1.0 / n as f64).collect();
    so_far.n_tests += n_tests;
    so_far.n_fewest += n_tests - n_silent;
    let means = &mut so_far.means;
    let n_rows = means.len();
    let task_tests = (TASK_NUMBERS / n_wide.max(1)).clamp(*TASK_TESTS.start(), *TASK_TESTS.end());
    let n_threads = rayon::current_num_threads();
    // No thread should wait for others where there are few test rows.
    let task_tests = task_tests.min(n_tests.div_ceil(n_threads)).max(1);
    let wave_tests = task_tests * n_threads;
    if n_rows == 0 {
        return Ok(());
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
    Ok(())
}
