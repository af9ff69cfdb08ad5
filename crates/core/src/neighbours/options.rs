//! Options: how neighbours are found, and what they predict.

use crate::labels::check_classes;
use crate::{Error, Rows};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The default `k`.
pub const DEFAULT_K: usize = 5;

/// The share of all weight that far rows may have without counting: less than a double can
/// tell.
pub const DEFAULT_TOLERANCE: f64 = 1e-16;

/// What neighbours predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighbourTask {
    /// A label: a whole number from 0 to one less than `n_classes`. The utility
    /// is the share of the `k` nearest with the label of the test row.
    Classification {
        /// Number of classes.
        n_classes: usize,
    },
    /// A number: the mean of the `k` nearest. The utility is minus its squared
    /// error.
    Regression,
}

impl NeighbourTask {
    /// Refuses targets that do not fit the task.
    pub(super) fn check(self, rows: Rows<'_>) -> Result<(), Error> {
        match self {
            NeighbourTask::Classification { n_classes } => check_classes(rows, n_classes),
            NeighbourTask::Regression => Ok(()),
        }
    }
}

/// How far apart two rows are. Only the order of distances matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Metric {
    /// The root of the sum of squared differences.
    #[default]
    Euclidean,
    /// The sum of absolute differences.
    Manhattan,
    /// One minus the cosine of the angle, seen from the mean of the reference if columns
    /// are standardised and from 0 otherwise. A row without direction is at a right angle
    /// to all others.
    Cosine,
}

/// The units in which columns are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Standard deviations of the reference. Columns that do not vary there are
    /// left out.
    #[default]
    Standard,
    /// The units of the columns as given.
    AsGiven,
}

/// How [`NeighbourValuer`](super::NeighbourValuer) finds and uses neighbours.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `k` | 5 | number of neighbours averaged over | ≥ 1 |
/// | `task` | (none) | labels or numbers | |
/// | `metric` | Euclidean | distance | |
/// | `scale` | standard | units of the columns | |
/// | `tolerance` | 1e-16 | far rows with at most this share of all weight are skipped | 0 ≤ … < 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourOptions {
    /// Number of neighbours.
    pub k: usize,
    /// What they predict.
    pub task: NeighbourTask,
    /// How distances are measured.
    pub metric: Metric,
    /// The units of the columns.
    pub scale: Scale,
    /// The furthest rows from a test row, which together have at most this share of the
    /// weight, do not count there. Each term of a value is then off by at most `tolerance
    /// · G_0 / k` (classification), or that times `4·max(y − y_t)²` over reference and
    /// point (regression), where `G_0 ≤ 1` is the sum of all weights. 0 skips no rows. It
    /// saves time if few rows have more weight than that: with large smallest sets, or with
    /// a tolerance such as 0.001. See the [module](super).
    pub tolerance: f64,
}

impl NeighbourOptions {
    /// The defaults for a task.
    pub fn new(task: NeighbourTask) -> Self {
        Self {
            k: DEFAULT_K,
            task,
            metric: Metric::default(),
            scale: Scale::default(),
            tolerance: DEFAULT_TOLERANCE,
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.k == 0 {
            return Err(Error::BadOption { what: "k must be at least 1" });
        }
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(Error::BadOption { what: "the tolerance must be at least 0 and below 1" });
        }
        if matches!(self.task, NeighbourTask::Classification { n_classes: 0 | 1 }) {
            return Err(Error::BadOption { what: "at least two classes are needed" });
        }
        Ok(())
    }
}

/// The rows that utility is measured on.
#[derive(Debug, Clone, Copy)]
pub enum TestRows<'a> {
    /// Rows apart from the reference.
    Given(Rows<'a>),
    /// Reference rows, by their numbers. Each is left out of its own list of
    /// neighbours, and a row is not valued by its own use to itself.
    Reference(&'a [usize]),
}

/// Refuses numbers that are not those of reference rows, or come twice.
pub(super) fn check_numbers(numbers: &[usize], n_rows: usize) -> Result<(), Error> {
    if numbers.is_empty() {
        return Err(Error::NoTestRows);
    }
    if numbers.len() == 1 {
        return Err(Error::BadOption {
            what: "at least two reference rows are needed as test rows, because none tests itself",
        });
    }
    let mut is_taken = vec![false; n_rows];
    for &row in numbers {
        match is_taken.get_mut(row) {
            Some(taken) if !*taken => *taken = true,
            _ => return Err(Error::NotAReferenceRow { row, n_rows }),
        }
    }
    Ok(())
}

/// A random sample of `most` of the numbers `0..n`, in ascending order; all of them if
/// there are no more. For [`TestRows::Reference`] if measuring on every row would take
/// too long: the time grows with their number.
pub fn sample_rows(n: usize, most: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut wanted = most.min(n);
    let mut out = Vec::with_capacity(wanted);
    for row in 0..n {
        // `wanted` of the remaining rows are still to be chosen (Knuth's algorithm S);
        // the product is a whole number below n, up to one part in 2⁶⁴/n.
        let draw = (u128::from(rng.next_u64()) * (n - row) as u128) >> 64;
        if draw < wanted as u128 {
            out.push(row);
            wanted -= 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_size_asked_for_and_are_seeded() {
        assert_eq!(sample_rows(4, 9, 1), [0, 1, 2, 3]);
        let sample = sample_rows(1000, 37, 5);
        assert_eq!(sample.len(), 37);
        assert!(sample.windows(2).all(|pair| pair[0] < pair[1]) && sample[36] < 1000);
        assert_eq!(sample, sample_rows(1000, 37, 5));
        assert_ne!(sample, sample_rows(1000, 37, 6));
    }

    /// 3000 samples of 3 out of 10: each row is in 900 of them, ± 25. A false
    /// alarm at six deviations: once in fifty million runs.
    #[test]
    fn every_row_is_as_likely() {
        let mut counts = [0.0_f64; 10];
        for seed in 0..3000 {
            sample_rows(10, 3, seed).into_iter().for_each(|row| counts[row] += 1.0);
        }
        assert!(counts.iter().all(|count| (count - 900.0).abs() < 6.0 * 25.1), "{counts:?}");
    }
}
