//! Standard errors of values: the reference drawn again, in groups of its rows.
//!
//! A value depends on the reference through its fit, `V`, `b` and, for other
//! utilities, a dozen moments more. Rather than the influence of each row on all
//! of them, everything is computed again for references that are drawn from the
//! reference: a row counts as often as its group was drawn. Groups are rows whose
//! numbers differ by multiples of the number of groups, so that a file that is
//! sorted has no group of one kind.

use super::options::SecondOrderOptions;
use super::valuer::SecondOrderValuer;
use crate::classification::{LogisticFit, LogisticOptions};
use crate::{Error, Rows, Sizes};
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

/// Valuers of references drawn from `reference`.
pub(super) fn replicates(
    fit: &LogisticFit,
    reference: Rows<'_>,
    sizes: Sizes,
    options: SecondOrderOptions,
    bootstrap: BootstrapOptions,
) -> Result<Vec<SecondOrderValuer>, Error> {
    if bootstrap.n_replicates < 2 {
        return Err(Error::BadOption { what: "a standard error needs two drawn references at least" });
    }
    if reference.is_empty() {
        return Err(Error::NoRows);
    }
    reference.check_weights()?;
    let logistic =
        LogisticOptions { intercept: fit.intercept(), ridge: fit.ridge(), ..LogisticOptions::default() };
    let replicate = |number: usize| {
        let weights = drawn_weights(reference, bootstrap.seed, number as u64);
        let rows = reference.with_weights(&weights)?;
        SecondOrderValuer::of(LogisticFit::of(rows, logistic)?, rows, sizes, options)
    };
    let all: Vec<Result<SecondOrderValuer, Error>> =
        (0..bootstrap.n_replicates).into_par_iter().map(replicate).collect();
    let (mut valuers, mut first_error) = (Vec::with_capacity(all.len()), None);
    for replicate in all {
        match replicate {
            Ok(valuer) => valuers.push(valuer),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    let n_without = (bootstrap.n_replicates - valuers.len()) as f64;
    match first_error {
        Some(error)
            if valuers.len() < 2 || n_without > LARGEST_SHARE_WITHOUT_FIT * bootstrap.n_replicates as f64 =>
        {
            Err(error)
        }
        _ => Ok(valuers),
    }
}

/// How often each row counts: its own weight, times how often its group was drawn.
fn drawn_weights(reference: Rows<'_>, seed: u64, number: u64) -> Vec<f64> {
    // A stream for each replicate, so that threads do not matter.
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(number);
    let n_groups = reference.len().min(MAX_GROUPS);
    let mut counts = vec![0.0; n_groups];
    for _ in 0..n_groups {
        // The high half of a product is uniform up to one part in 2⁵⁴.
        counts[((u128::from(stream.next_u64()) * n_groups as u128) >> 64) as usize] += 1.0;
    }
    let own = |row: usize| reference.weights().map_or(1.0, |weights| weights[row]);
    (0..reference.len()).map(|row| counts[row % n_groups] * own(row)).collect()
}

/// Mean and sum of squared deviations of values of the same row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Deviations {
    n: f64,
    mean: f64,
    sum_sq: f64,
}

impl Deviations {
    /// Adds a value (Welford); one that is missing is left out.
    pub(super) fn push(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.n += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.n;
        self.sum_sq += delta * (value - self.mean);
    }

    /// The standard deviation; NaN for fewer than two values.
    pub(super) fn std_dev(&self) -> f64 {
        if self.n < 2.0 { f64::NAN } else { (self.sum_sq / (self.n - 1.0)).sqrt() }
    }
}
