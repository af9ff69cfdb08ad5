//! What both Monte Carlo methods share: running means, and when to stop.

use crate::Error;
use crate::utility::check_finite;
use dshap::{Values, Watch};
use rayon::prelude::*;

/// Iterations between two checks of the means, as in the authors' programs.
pub const CHECK_EVERY: usize = 100;

/// Iterations that run side by side before their results are added in order.
const BLOCK: usize = 20;

/// Keeps the rule finite for rows whose mean is 0, as in the authors' programs.
const FLOOR: f64 = 1e-12;

/// When a Monte Carlo method stops.
///
/// Every 100 iterations, from the 200th on, the means are compared with those of
/// 100 iterations before:
///
/// ```text
/// mean over rows of |mean_t − mean_{t−100}| / (|mean_t| + 1e-12) < tolerance
/// ```
///
/// That is the rule of the authors' programs. It says that the means have converged, not
/// that they are right: standard errors say how far off they may be.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `tolerance` | 0.05 | relative change that is small enough; 0 runs all iterations |
/// | `max_iterations` | 10 000 | maximum number of iterations, converged or not |
/// | `seed` | 0 | every iteration has its own stream, so threads do not matter |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stopping {
    /// Relative change that is small enough.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub max_iterations: usize,
    /// Seed of the generator.
    pub seed: u64,
}

impl Default for Stopping {
    fn default() -> Self {
        Self { tolerance: 0.05, max_iterations: 10_000, seed: 0 }
    }
}

impl Stopping {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::option("the tolerance must be at least 0"));
        }
        if self.max_iterations < 2 {
            return Err(Error::option("errors need at least two iterations"));
        }
        Ok(())
    }
}

/// Values by Monte Carlo, and how they were computed.
#[derive(Debug, Clone, PartialEq)]
pub struct MonteCarlo {
    /// The values; standard errors are those of the Monte Carlo alone.
    pub values: Values,
    /// Iterations.
    pub n_iterations: usize,
    /// Whether the means converged before the last iteration.
    pub converged: bool,
    /// Share of the gains that were computed: less than 1 if chains were truncated.
    pub evaluated_share: f64,
    /// Share of the sets, large enough for a model, that determined none.
    pub undetermined_share: f64,
}

/// The result of an iteration.
pub(crate) struct Iteration {
    /// One for each row.
    pub(crate) gains: Vec<f64>,
    pub(crate) n_evaluated: usize,
    pub(crate) n_sets: usize,
    pub(crate) n_undetermined: usize,
}

/// Running mean and spread (Welford).
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    mean: f64,
    sum_sq: f64,
}

/// Runs `iteration` for 0, 1, … until the means have converged.
pub(crate) fn run(
    n_rows: usize,
    stopping: Stopping,
    watch: Watch<'_>,
    iteration: impl Fn(usize, &(dyn Fn() -> bool + Sync)) -> Option<Iteration> + Sync,
) -> Result<MonteCarlo, Error> {
    stopping.check()?;
    let mut means = vec![Mean::default(); n_rows];
    let mut before: Vec<f64> = Vec::new();
    let (mut n, mut converged) = (0, n_rows == 0);
    let (mut n_evaluated, mut n_sets, mut n_undetermined) = (0_u64, 0_u64, 0_u64);
    while !converged && n < stopping.max_iterations {
        if !watch(n, stopping.max_iterations) {
            return Err(Error::interrupted());
        }
        let go_on = || watch(n, stopping.max_iterations);
        let block: Vec<_> = (n..stopping.max_iterations.min(n + BLOCK))
            .into_par_iter()
            .map(|number| iteration(number, &go_on))
            .collect();
        // In the order of iterations, whichever finished first.
        for found in block {
            let found = found.ok_or_else(Error::interrupted)?;
            n += 1;
            n_evaluated += found.n_evaluated as u64;
            n_sets += found.n_sets as u64;
            n_undetermined += found.n_undetermined as u64;
            for (mean, gain) in means.iter_mut().zip(found.gains) {
                let delta = gain - mean.mean;
                mean.mean += delta / n as f64;
                mean.sum_sq += delta * (gain - mean.mean);
            }
        }
        if n.is_multiple_of(CHECK_EVERY) {
            converged = n >= 2 * CHECK_EVERY && have_come_to_rest(&means, &before, stopping.tolerance);
            before = means.iter().map(|mean| mean.mean).collect();
        }
    }
    let value: Vec<f64> = means.iter().map(|mean| mean.mean).collect();
    check_finite(&value)?;
    let std_error = |mean: &Mean| (mean.sum_sq / (n as f64 - 1.0) / n as f64).sqrt();
    let share = |part: u64, all: u64| part as f64 / all.max(1) as f64;
    Ok(MonteCarlo {
        values: Values { value, std_error: Some(means.iter().map(std_error).collect()), ..Values::default() },
        n_iterations: n,
        converged,
        evaluated_share: share(n_evaluated, (n * n_rows) as u64),
        undetermined_share: share(n_undetermined, n_sets),
    })
}

fn have_come_to_rest(means: &[Mean], before: &[f64], tolerance: f64) -> bool {
    let change = |(now, before): (&Mean, &f64)| (now.mean - before).abs() / (now.mean.abs() + FLOOR);
    let total: f64 = means.iter().zip(before).map(change).sum();
    total / (means.len() as f64) < tolerance
}
