//! The paper's Algorithm 3: Monte Carlo with two stopping rules.
//!
//! Kept to reproduce the paper's numbers and to show its truncation. It estimates the
//! printed sum (sizes `q … m`, Theorem 2's constant) and is neither exact nor unbiased:
//! the outer rule stops while the tail of the sum, which decays only like `1/j`, is still
//! to come.

use super::gaussian::PointStats;
use crate::{Error, Sizes};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{ChiSquared, Distribution};

/// Algorithm 3 and its settings.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `inner_tolerance` | 0.01 | `ρ₁`: draws stop when the running mean moves by less, from the second draw on |
/// | `outer_tolerance` | 0.005 | `ρ₂`: sizes stop when the sum moves by less |
/// | `max_draws` | 10 000 | `T`: at most this many draws per set size |
/// | `seed` | 0 | each row has its own stream, so threads do not matter |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Algorithm3 {
    /// `ρ₁`; 0 takes all `T` draws.
    pub inner_tolerance: f64,
    /// `ρ₂`; 0 visits all set sizes.
    pub outer_tolerance: f64,
    /// `T`, the largest number of draws per set size.
    pub max_draws: usize,
    /// Seed of the generator.
    pub seed: u64,
}

impl Default for Algorithm3 {
    fn default() -> Self {
        Self { inner_tolerance: 0.01, outer_tolerance: 0.005, max_draws: 10_000, seed: 0 }
    }
}

/// What Algorithm 3 returns for one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimated value, with Theorem 2's constant.
    pub value: f64,
    /// Set sizes visited before the outer rule stopped.
    pub n_visited: usize,
}

impl Algorithm3 {
    /// Checks that the sum exists: `p + 1 ≤ q ≤ m`.
    pub(crate) fn check(&self, dim: usize, sizes: Sizes) -> Result<(), Error> {
        sizes.check(dim, dim + 1)
    }

    /// The value of row number `row`, whose statistics are given.
    ///
    /// ```text
    /// for j = q … m:   A = mean over draws T ~ χ²(j−p+1) of (a·e² + T·σ²)/(a + T)²
    ///                  value −= (1/m)·(j−1)/(j−p)·A
    /// ```
    pub fn estimate(&self, dim: usize, sizes: Sizes, stats: PointStats, row: u64) -> Estimate {
        let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = stats;
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(row);
        let mut value = 0.0;
        for j in sizes.min()..=sizes.max() {
            let chi_squared = ChiSquared::new((j + 1 - dim) as f64).expect("q ≥ p + 1 was checked");
            let mut mean = 0.0;
            for draw in 1..=self.max_draws.max(1) {
                let t: f64 = chi_squared.sample(&mut rng);
                let term = (a * e2 + t * sigma2) / (a + t).powi(2);
                let before = mean;
                mean += (term - mean) / draw as f64;
                if draw >= 2 && (mean / before - 1.0).abs() <= self.inner_tolerance {
                    break;
                }
            }
            let before = value;
            let weight = if dim == 1 { 1.0 } else { (j - 1) as f64 / (j - dim) as f64 };
            value -= weight * mean / sizes.max() as f64;
            if j > sizes.min() && (before / value - 1.0).abs() <= self.outer_tolerance {
                return Estimate { value, n_visited: j - sizes.min() + 1 };
            }
        }
        Estimate { value, n_visited: sizes.count() }
    }
}
