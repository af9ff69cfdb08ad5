//! Standard errors of values: the reference drawn again, in groups of its rows.
//!
//! A value depends on the reference through its fit, `V`, `b` and, for other
//! utilities, a dozen moments more. Rather than the influence of each row on all
//! of them, everything is computed again for references that are drawn from the
//! reference: a row counts as often as its group was drawn. Groups are rows whose
//! numbers differ by multiples of the number of groups, so that a file that is
//! sorted has no group of one kind.

use crate::{Error, Rows};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// The most groups; in a smaller reference each row is one.
const MAX_GROUPS: usize = 1000;

/// Drawn references without a fit are left out; a larger share of them leaves
/// no spread worth the name.
const LARGEST_SHARE_WITHOUT_FIT: f64 = 0.1;

/// How standard errors are drawn.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `n_replicates` | 100 | references drawn; 100 know a standard error to 7 % | ≥ 2 |
/// | `seed` | 0 | seed of the draws | |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapOptions {
    /// References that are drawn and fitted.
    pub n_replicates: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { n_replicates: 100, seed: 0 }
    }
}

/// What `make` makes of references drawn from `sample`, each row of which
/// `stands_for` so many rows of the reference, or for itself.
pub(super) fn replicates<T: Send>(
    sample: Rows<'_>,
    stands_for: Option<&[f64]>,
    bootstrap: BootstrapOptions,
    make: impl Fn(Rows<'_>) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    if bootstrap.n_replicates < 2 {
        return Err(Error::BadOption { what: "a standard error needs two drawn references at least" });
    }
    if sample.is_empty() {
        return Err(Error::NoRows);
    }
    sample.check_weights()?;
    if let Some(stands_for) = stands_for {
        if stands_for.len() != sample.len() {
            return Err(Error::RowCount { features: sample.len(), targets: stands_for.len() });
        }
        if !stands_for.iter().all(|count| (1.0..f64::INFINITY).contains(count)) {
            return Err(Error::BadOption { what: "a row of a sample stands for one row at least" });
        }
    }
    let replicate = |number: usize| {
        let weights = drawn_weights(sample, stands_for, bootstrap.seed, number as u64);
        make(sample.with_weights(&weights)?)
    };
    let all: Vec<Result<T, Error>> = (0..bootstrap.n_replicates).into_par_iter().map(replicate).collect();
    let (mut made, mut first_error) = (Vec::with_capacity(all.len()), None);
    for replicate in all {
        match replicate {
            Ok(replicate) => made.push(replicate),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let n_without = (bootstrap.n_replicates - made.len()) as f64;
    match first_error {
        Some(error)
            if made.len() < 2 || n_without > LARGEST_SHARE_WITHOUT_FIT * bootstrap.n_replicates as f64 =>
        {
            Err(error)
        }
        _ => Ok(made),
    }
}

/// How often each row counts: its own weight, times how often its group was
/// drawn. The `c` rows that one row of a sample stands for are drawn `c` times on
/// average, with variance `c`.
fn drawn_weights(sample: Rows<'_>, stands_for: Option<&[f64]>, seed: u64, number: u64) -> Vec<f64> {
    // A stream for each replicate, so that threads do not matter.
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(number);
    let n_groups = sample.len().min(MAX_GROUPS);
    let mut counts = vec![0.0; n_groups];
    for _ in 0..n_groups {
        // The high half of a product is uniform up to one part in 2⁵⁴.
        counts[((u128::from(stream.next_u64()) * n_groups as u128) >> 64) as usize] += 1.0;
    }
    let own = |row: usize| sample.weights().map_or(1.0, |weights| weights[row]);
    let drawn = |row: usize| match stands_for.map(|counts| counts[row]) {
        None => counts[row % n_groups],
        Some(c) => c + c.sqrt() * (counts[row % n_groups] - 1.0),
    };
    (0..sample.len()).map(|row| drawn(row) * own(row)).collect()
}

/// Standard deviations of `values` over drawn references; nothing if none were
/// drawn. A value that is missing has none.
pub(super) fn std_errors(
    values: &[f64],
    drawn: impl ExactSizeIterator<Item = Result<Vec<f64>, Error>>,
) -> Result<Option<Vec<f64>>, Error> {
    if drawn.len() == 0 {
        return Ok(None);
    }
    let mut deviations = vec![Deviations::default(); values.len()];
    for drawn in drawn {
        deviations.iter_mut().zip(drawn?).for_each(|(all, value)| all.push(value));
    }
    let error = |(all, value): (&Deviations, &f64)| if value.is_nan() { f64::NAN } else { all.std_dev() };
    Ok(Some(deviations.iter().zip(values).map(error).collect()))
}

/// Mean and sum of squared deviations of values of the same row.
#[derive(Debug, Clone, Copy, Default)]
struct Deviations {
    n: f64,
    mean: f64,
    sum_sq: f64,
}

impl Deviations {
    /// Adds a value (Welford); one that is missing is left out.
    fn push(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.n += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.n;
        self.sum_sq += delta * (value - self.mean);
    }

    /// The standard deviation; NaN for fewer than two values.
    fn std_dev(&self) -> f64 {
        if self.n < 2.0 { f64::NAN } else { (self.sum_sq / (self.n - 1.0)).sqrt() }
    }
}
