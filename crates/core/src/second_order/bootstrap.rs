//! Standard errors of values, by drawing the reference again.
//!
//! A value depends on the reference through its fit, `V`, `b` and, for other utilities, a
//! dozen more moments. Instead of the influence of each row on all of them, everything is
//! summed again for references that are drawn from the reference. Two choices make sure
//! that there is an error wherever there is a value:
//!
//! - A row counts for a number drawn from the exponential distribution, of mean
//!   and variance 1, like the number of times that it would be drawn (the
//!   Bayesian bootstrap of Rubin 1981). No row, and so no label, is ever missing.
//! - The coefficients of a drawn reference are those after one step of Newton's method
//!   from the fit of the reference (the k-step bootstrap of Davidson and MacKinnon 1999,
//!   with k = 1). They differ from those of a fit by terms of order `1/n`, a share `1/√n`
//!   of their spread, and exist even if labels are separated, as they may be in a sample
//!   of the reference.

use crate::linear::fit::PANEL_ROWS;
use crate::valuer::slices_of;
use crate::{Error, Rows, Wants, Warning};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use std::sync::Arc;

/// Drawn references whose sums are singular are left out; if a larger share is lost,
/// there are no errors.
const LARGEST_SHARE_LOST: f64 = 0.1;

/// How standard errors are drawn.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `n_replicates` | 100 | references drawn; 100 give a standard error to 7 % | ≥ 2 |
/// | `seed` | 0 | seed of the draws | |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BootstrapOptions {
    /// References that are drawn.
    pub n_replicates: usize,
    /// Seed of the draws.
    pub seed: u64,
}

impl Default for BootstrapOptions {
    fn default() -> Self {
        Self { n_replicates: 100, seed: 0 }
    }
}

/// What was computed from drawn references; none, unless errors were asked for.
#[derive(Debug)]
pub(super) struct Drawn<T> {
    /// Empty if too many were lost.
    made: Arc<[T]>,
    n_drawn: usize,
    n_lost: usize,
}

impl<T> Clone for Drawn<T> {
    fn clone(&self) -> Self {
        Self { made: Arc::clone(&self.made), ..*self }
    }
}

impl<T> Default for Drawn<T> {
    fn default() -> Self {
        Self { made: Arc::from([]), n_drawn: 0, n_lost: 0 }
    }
}

impl<T> Drawn<T> {
    /// How rows should come to a valuer. With errors each row is valued once more for
    /// every drawn reference.
    pub(super) fn wants(&self) -> Wants {
        if self.n_drawn > 0 { slices_of(PANEL_ROWS) } else { Wants::Batches }
    }

    /// A warning if some were lost.
    pub(super) fn warning(&self) -> Option<Warning> {
        let Self { n_lost, n_drawn, .. } = *self;
        (n_lost > 0).then(|| Warning::LostDraws { n_lost, n_drawn, has_errors: !self.made.is_empty() })
    }
}

/// The results of `make` for references drawn from `sample`, each row of which
/// `stands_for` a number of reference rows, or itself. They start from the result of
/// `start` for the sample with average weights.
pub(super) fn replicates<S: Sync, T: Send>(
    sample: Rows<'_>,
    stands_for: Option<&[f64]>,
    bootstrap: BootstrapOptions,
    start: impl FnOnce(Rows<'_>) -> Result<S, Error>,
    make: impl Fn(&S, Rows<'_>) -> Result<T, Error> + Sync,
) -> Result<Drawn<T>, Error> {
    let n_drawn = bootstrap.n_replicates;
    if n_drawn < 2 {
        return Err(Error::BadOption { what: "a standard error needs at least two drawn references" });
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
            return Err(Error::BadOption { what: "each row of a sample must stand for at least one row" });
        }
    }
    let means = weights(sample, stands_for, |_| 1.0);
    let start = start(sample.with_weights(&means)?)?;
    let replicate = |number: usize| {
        // A stream for each replicate, so that threads do not matter.
        let mut stream = ChaCha8Rng::seed_from_u64(bootstrap.seed);
        stream.set_stream(number as u64);
        let drawn = weights(sample, stands_for, |_| exponential(&mut stream));
        make(&start, sample.with_weights(&drawn)?)
    };
    let all: Vec<Result<T, Error>> = (0..n_drawn).into_par_iter().map(replicate).collect();
    let mut made: Vec<T> = all.into_iter().flatten().collect();
    let n_lost = n_drawn - made.len();
    if made.len() < 2 || n_lost as f64 > LARGEST_SHARE_LOST * n_drawn as f64 {
        made.clear();
    }
    Ok(Drawn { made: made.into(), n_drawn, n_lost })
}

/// How often each row counts: its own weight, times `draw`, whose mean and variance
/// are 1. The `c` rows that one row of a sample stands for count `c` times on
/// average, with variance `c`.
fn weights(sample: Rows<'_>, stands_for: Option<&[f64]>, mut draw: impl FnMut(usize) -> f64) -> Vec<f64> {
    let mut weight = |row: usize| {
        let own = sample.weights().map_or(1.0, |weights| weights[row]);
        let c = stands_for.map_or(1.0, |counts| counts[row]);
        own * (c + c.sqrt() * (draw(row) - 1.0))
    };
    (0..sample.len()).map(&mut weight).collect()
}

/// A number from the exponential distribution of mean 1: always above 0, because 53 bits
/// plus a half are never zero.
fn exponential(stream: &mut ChaCha8Rng) -> f64 {
    let uniform = ((stream.next_u64() >> 11) as f64 + 0.5) * 0.5_f64.powi(53);
    -uniform.ln()
}

/// Standard deviations of `values` over drawn references, with `value_by` giving the
/// values for each; `None` if none were drawn. A missing value has no error.
pub(super) fn std_errors<T>(
    values: &[f64],
    drawn: &Drawn<T>,
    value_by: impl Fn(&T) -> Result<Vec<f64>, Error>,
) -> Result<Option<Vec<f64>>, Error> {
    if drawn.n_drawn == 0 {
        return Ok(None);
    }
    let mut deviations = vec![Deviations::default(); values.len()];
    for made in drawn.made.iter() {
        deviations.iter_mut().zip(value_by(made)?).for_each(|(all, value)| all.push(value));
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
    /// Adds a value (Welford); one that is missing or too large is left out.
    fn push(&mut self, value: f64) {
        if !value.is_finite() {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Exponential numbers have mean 1 and variance 1; means of 100 000 of them are
    /// known to 0.0032, their squares, of variance 20, to 0.014. Five of those are
    /// exceeded once in 900 000 runs of both.
    #[test]
    fn rows_count_once_on_average_with_variance_one() {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let all: Vec<f64> = (0..100_000).map(|_| exponential(&mut stream)).collect();
        let mean = |power: i32| all.iter().map(|x| x.powi(power)).sum::<f64>() / 1e5;
        assert!(all.iter().all(|&x| x > 0.0) && (mean(1) - 1.0).abs() < 0.016, "{}", mean(1));
        assert!((mean(2) - 2.0).abs() < 0.07, "{}", mean(2));
    }

    #[test]
    fn draws_that_fail_are_counted_and_too_many_leave_no_errors() {
        let x = faer::mat![[1.0], [2.0], [3.0_f64]];
        let rows = Rows::new(x.as_ref(), &[0.0, 1.0, 0.0]).expect("as many labels as rows");
        let options = BootstrapOptions { n_replicates: 20, seed: 0 };
        for n_fail in [0, 2, 3] {
            let n_made = std::sync::atomic::AtomicUsize::new(0);
            let make = |_: &(), rows: Rows<'_>| {
                let number = n_made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if number < n_fail { Err(Error::TooLarge) } else { Ok(rows.weights().map_or(0.0, |w| w[0])) }
            };
            let drawn = replicates(rows, None, options, |_| Ok(()), make).expect("rows to draw from");
            let errors = std_errors(&[1.0], &drawn, |&made| Ok(vec![made])).expect("no error");
            let error = errors.expect("errors were asked for")[0];
            let has_errors = n_fail < 3;
            assert_eq!(error.is_nan(), !has_errors);
            let lost = Warning::LostDraws { n_lost: n_fail, n_drawn: 20, has_errors };
            assert_eq!(drawn.warning(), (n_fail > 0).then_some(lost));
        }
    }
}
