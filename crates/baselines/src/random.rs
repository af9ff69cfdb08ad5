//! Random values, which any method must beat.

use crate::population::stream;
use dshap::Values;
use rand_chacha::rand_core::Rng;

/// A random number between 0 and 1 for each row, which any method must beat.
pub fn random(n_rows: usize, seed: u64) -> Values {
    let mut rng = stream(seed, 0);
    let value = (0..n_rows).map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).collect();
    Values { value, ..Values::default() }
}
