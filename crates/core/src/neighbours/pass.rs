//! The mean over test rows, the same for any order of threads.

use crate::valuer::go_on;
use crate::values::Values;
use crate::{Error, Watch};
use rayon::prelude::*;
use std::ops::Range;

/// Numbers that one task should hold for its test rows (8 MB).
const TASK_NUMBERS: usize = 1 << 20;

/// Test rows of a task: with fewer, packing blocks of rows would take most of the
/// time; more gain nothing.
const TASK_TESTS: std::ops::RangeInclusive<usize> = 4..=16;

/// Rows whose means are updated together.
const CHUNK_ROWS: usize = 4096;

/// What a test row adds to a few rows: the number of a row, and a value.
pub(super) type Said = Vec<(u32, f64)>;

/// The running mean of a row over test rows, and its spread (Welford).
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    /// Test rows that count for this row.
    n: u32,
    /// All test rows so far.
    n_tests: u32,
    mean: f64,
    sum_sq: f64,
}

impl Mean {
    /// The mean, or 0 if it is within rounding of terms that cancel.
    ///
    /// Each of `n` steps rounds the mean so far, and what is added to it, by a few `ε/2`.
    /// After the last that is less than `(n/3 + 6)·ε` times the root of the mean square
    /// of the terms, since sums of the first `j` of them are at most `√(j·n)` times that
    /// root.
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

    /// Adds the value by the next test row; NaN does not count. `inverse` holds `1/n` at
    /// index `n`.
    #[inline]
    fn hear(&mut self, value: f64, inverse: &[f64]) {
        self.n_tests += 1;
        if value.is_nan() {
            return;
        }
        self.n += 1;
        let delta = value - self.mean;
        self.mean += delta * inverse[self.n as usize];
        self.sum_sq += delta * (value - self.mean);
    }

    /// Adds the mean over further test rows (Chan, Golub and LeVeque).
    fn absorb(&mut self, later: &Mean) {
        self.n_tests += later.n_tests;
        if later.n == 0 {
            return;
        }
        let (n, m) = (f64::from(self.n), f64::from(later.n));
        let delta = later.mean - self.mean;
        self.mean += delta * (m / (n + m));
        self.sum_sq += later.sum_sq + delta * delta * (n * m / (n + m));
        self.n += later.n;
    }

    /// Adds zeros until `n_tests` test rows have been counted.
    #[inline]
    fn catch_up(&mut self, n_tests: usize, inverse: &[f64]) {
        if self.mean == 0.0 {
            // One more zero changes no bit of it.
            let missed = n_tests as u32 - self.n_tests;
            self.n += missed;
            self.n_tests += missed;
        }
        while self.n_tests < n_tests as u32 {
            self.hear(0.0, inverse);
        }
    }
}

/// Running means of some rows over the test rows so far. Test rows that do not fit into
/// memory come in blocks, each with a [`NeighbourValuer`](super::NeighbourValuer) of its
/// own; the bits are those of all test rows at once.
#[derive(Debug, Clone)]
pub struct TestMeans {
    means: Vec<Mean>,
    n_tests: usize,
    /// The smallest number of test rows that count for any row.
    n_fewest: usize,
}

impl TestMeans {
    /// For `n_rows` rows, without any test rows yet.
    pub fn new(n_rows: usize) -> Self {
        Self { means: vec![Mean::default(); n_rows], n_tests: 0, n_fewest: 0 }
    }

    pub(super) fn assert_of(&self, n_rows: usize) {
        assert_eq!(self.means.len(), n_rows, "means of other rows");
    }

    /// Counts test rows before they are added; returns `1/n` for every `n` up to their
    /// number.
    fn expect(&mut self, Speaking { n_tests, n_silent, .. }: Speaking) -> Vec<f64> {
        self.n_tests += n_tests;
        self.n_fewest += n_tests - n_silent;
        (0..=self.n_tests).map(|n| 1.0 / n as f64).collect()
    }

    /// Test rows so far.
    pub fn n_tests(&self) -> usize {
        self.n_tests
    }

    /// Adds what further test rows say about the same rows. Means are merged as a whole, so
    /// the last digit depends on which test rows were added together.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] for means of another number of rows.
    pub fn merge(&mut self, later: &TestMeans) -> Result<(), Error> {
        if self.means.len() != later.means.len() {
            return Err(Error::Contradiction { what: "means of different rows cannot be merged" });
        }
        // A test row that is a reference row is silent about itself, wherever it is.
        let n_silent = (self.n_tests - self.n_fewest).max(later.n_tests - later.n_fewest);
        self.n_tests += later.n_tests;
        self.n_fewest = self.n_tests.saturating_sub(n_silent);
        for (mean, later) in self.means.iter_mut().zip(&later.means) {
            mean.absorb(later);
        }
        Ok(())
    }

    /// All numbers: test rows, the fewest that count, and three numbers for each row.
    pub fn to_parts(&self) -> Vec<f64> {
        let counts = [self.n_tests as f64, self.n_fewest as f64];
        let of_row = |mean: &Mean| [f64::from(mean.n), mean.mean, mean.sum_sq];
        counts.into_iter().chain(self.means.iter().flat_map(of_row)).collect()
    }

    /// Means from their numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be those of means.
    pub fn from_parts(parts: &[f64]) -> Result<Self, Error> {
        let wrong = Error::Contradiction { what: "the means over test rows do not add up" };
        let Some(([n_tests, n_fewest], rest)) = parts.split_first_chunk::<2>() else { return Err(wrong) };
        let (rows, more) = rest.as_chunks::<3>();
        let is_count = |n: &f64| *n >= 0.0 && n.fract() == 0.0 && *n <= f64::from(u32::MAX);
        let counts = rows.iter().map(|row| &row[0]).chain([n_tests, n_fewest]);
        if !more.is_empty() || !counts.into_iter().all(is_count) || n_fewest > n_tests {
            return Err(wrong);
        }
        let of_row =
            |&[n, mean, sum_sq]: &[f64; 3]| Mean { n: n as u32, n_tests: *n_tests as u32, mean, sum_sq };
        Ok(Self {
            means: rows.iter().map(of_row).collect(),
            n_tests: *n_tests as usize,
            n_fewest: *n_fewest as usize,
        })
    }

    /// The values, with standard errors if asked for. These are of a mean over test rows
    /// and need two of them (three, if they are reference rows).
    ///
    /// # Errors
    ///
    /// [`Error::NoTestRows`], and [`Error::TooLarge`] for cells whose squares are out of
    /// the range of doubles.
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

/// Test rows that are about to be added.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speaking {
    pub(super) n_tests: usize,
    /// Test rows that do not count for a row: the row itself.
    pub(super) n_silent: usize,
    /// The largest number of values needed for one of them.
    pub(super) n_wide: usize,
}

impl Speaking {
    /// Test rows of a task.
    pub(super) fn task_tests(&self) -> usize {
        let task_tests = (TASK_NUMBERS / self.n_wide.max(1)).clamp(*TASK_TESTS.start(), *TASK_TESTS.end());
        // If there are few test rows, no thread should wait for others.
        task_tests.min(self.n_tests.div_ceil(rayon::current_num_threads())).max(1)
    }
}

/// Adds the values that `task` computes for the rows of `so_far`.
///
/// A task has some test rows and fills as many rows of numbers, which may hold anything before; NaN
/// does not count. Tasks run in waves, on all threads; after each wave its numbers are added one
/// test row after the other. So sums do not depend on the waves, and only one wave is in memory.
/// `watch` is called between waves.
pub(super) fn add_tests<W: Send>(
    so_far: &mut TestMeans,
    speaking: Speaking,
    watch: Watch<'_>,
    work: impl Fn() -> W + Sync,
    task: impl Fn(&mut W, Range<usize>, &mut [f64]) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let inverse = so_far.expect(speaking);
    let means = &mut so_far.means;
    let n_rows = means.len();
    if n_rows == 0 {
        return Ok(());
    }
    let (n_tests, task_tests) = (speaking.n_tests, speaking.task_tests());
    let n_threads = rayon::current_num_threads();
    let wave_tests = task_tests * n_threads;
    // Memory is allocated once and reused in every wave.
    let mut said = vec![0.0; wave_tests.min(n_tests) * n_rows];
    let mut works: Vec<W> = (0..n_threads).map(|_| work()).collect();
    let mut done = 0;
    while done < n_tests {
        go_on(watch, done, n_tests)?;
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
                    mean.hear(value, &inverse);
                }
            }
        });
        done = end;
    }
    Ok(())
}

/// The same, with the same bits, if a test row has a value for few rows and 0 for all
/// others. The zeros of a row are added before its next value, or at the end. Most rows
/// are still at 0 then, which zeros do not change.
pub(super) fn add_few<W: Send>(
    so_far: &mut TestMeans,
    speaking: Speaking,
    watch: Watch<'_>,
    work: impl Fn() -> W + Sync,
    task: impl Fn(&mut W, usize, &mut Said) -> Result<(), Error> + Sync,
) -> Result<(), Error> {
    let n_before = so_far.n_tests;
    let inverse = so_far.expect(speaking);
    let (n_tests, task_tests) = (speaking.n_tests, speaking.task_tests());
    let n_threads = rayon::current_num_threads();
    let mut said = vec![Said::new(); (task_tests * n_threads).min(n_tests)];
    let mut works: Vec<W> = (0..n_threads).map(|_| work()).collect();
    // Every thread goes through all values and keeps those of its own rows.
    let own_rows = so_far.means.len().div_ceil(n_threads).max(1);
    for done in (0..n_tests).step_by(said.len().max(1)) {
        go_on(watch, done, n_tests)?;
        let n_wave = said.len().min(n_tests - done);
        let said = &mut said[..n_wave];
        let tasks = said.par_chunks_mut(task_tests).zip(&mut works).enumerate();
        tasks.try_for_each(|(at, (said, work))| {
            said.iter_mut().zip(done + at * task_tests..).try_for_each(|(said, test)| {
                said.clear();
                task(work, test, said)
            })
        })?;
        so_far.means.par_chunks_mut(own_rows).enumerate().for_each(|(at, means)| {
            for (said, test) in said.iter().zip(done..) {
                for &(row, value) in said {
                    if let Some(mean) =
                        (row as usize).checked_sub(at * own_rows).and_then(|row| means.get_mut(row))
                    {
                        mean.catch_up(n_before + test, &inverse);
                        mean.hear(value, &inverse);
                    }
                }
            }
        });
    }
    let n_tests = so_far.n_tests;
    so_far.means.par_iter_mut().for_each(|mean| mean.catch_up(n_tests, &inverse));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_testkit::Draws;

    /// Zeros that are added late give the same result, whatever came before them.
    #[test]
    fn saying_little_is_saying_zero_of_the_rest() {
        let (n_rows, n_tests) = (300, 70);
        let mut draws = Draws::new(1);
        // Few values, none at all, values that cancel, and explicit zeros.
        let mut opinion = || match draws.uniform() {
            u if u < 0.8 => 0.0,
            u if u < 0.85 => f64::NAN,
            u if u < 0.9 => 0.25,
            u if u < 0.95 => -0.25,
            _ => draws.normal(),
        };
        let opinions: Vec<f64> = (0..n_rows * n_tests).map(|_| opinion()).collect();
        let said = |test: usize| &opinions[test * n_rows..(test + 1) * n_rows];
        let speaking = |n_tests| Speaking { n_tests, n_silent: 0, n_wide: n_rows };
        let dense = |means: &mut TestMeans, first: usize, len: usize| {
            add_tests(
                means,
                speaking(len),
                &|_, _| true,
                || (),
                |(), tests, out| {
                    for (out, test) in out.chunks_exact_mut(n_rows).zip(tests) {
                        out.copy_from_slice(said(first + test));
                    }
                    Ok(())
                },
            )
        };
        let few = |means: &mut TestMeans, first: usize, len: usize| {
            add_few(
                means,
                speaking(len),
                &|_, _| true,
                || (),
                |(), test, out| {
                    // In any order, and some zeros.
                    let rows = (0..n_rows as u32).rev().zip(said(first + test).iter().rev());
                    out.extend(
                        rows.filter(|(row, value)| **value != 0.0 || row % 7 == 0).map(|(r, &v)| (r, v)),
                    );
                    Ok(())
                },
            )
        };
        let [mut expected, mut found, mut mixed] = [(); 3].map(|()| TestMeans::new(n_rows));
        assert_eq!(dense(&mut expected, 0, n_tests), Ok(()));
        assert_eq!(few(&mut found, 0, n_tests), Ok(()));
        assert_eq!(few(&mut mixed, 0, 33), Ok(()));
        assert_eq!(dense(&mut mixed, 33, 5), Ok(()));
        assert_eq!(few(&mut mixed, 38, 32), Ok(()));
        let bits = |means: &TestMeans| {
            let bits = |mean: &Mean| (mean.n, mean.n_tests, mean.mean.to_bits(), mean.sum_sq.to_bits());
            means.means.iter().map(bits).collect::<Vec<_>>()
        };
        assert_eq!(bits(&found), bits(&expected));
        assert_eq!(bits(&mixed), bits(&expected));
        assert_eq!((mixed.n_tests, mixed.n_fewest), (expected.n_tests, expected.n_fewest));

        // Test rows that were heard elsewhere are merged, through their numbers.
        let [mut merged, mut later] = [(); 2].map(|()| TestMeans::new(n_rows));
        assert_eq!(dense(&mut merged, 0, 33), Ok(()));
        assert_eq!(dense(&mut later, 33, n_tests - 33), Ok(()));
        let later = TestMeans::from_parts(&later.to_parts()).expect("its own numbers");
        assert_eq!(merged.merge(&later), Ok(()));
        let close = |one: f64, two: f64| (one - two).abs() <= 1e-14 * (1.0 + two.abs());
        for (one, two) in merged.means.iter().zip(&expected.means) {
            assert_eq!((one.n, one.n_tests), (two.n, two.n_tests));
            assert!(close(one.mean, two.mean) && close(one.sum_sq, two.sum_sq), "{one:?} {two:?}");
        }
        assert!(merged.merge(&TestMeans::new(3)).is_err());
        assert!(TestMeans::from_parts(&[1.0]).is_err() && TestMeans::from_parts(&[1.0, 2.0]).is_err());
    }
}
