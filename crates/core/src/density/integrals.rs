//! The constant that makes values of sets of different sizes comparable.

use super::fit::DensityFit;
use super::size_weights::SizeWeights;
use super::sums::CHUNK_POINTS;
use crate::Error;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Integrals of the density `p` and of its smoothed form `p_h = p*k_h`.
///
/// From a reference they are means over pairs of its rows; for a known density the fields
/// can be set directly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairIntegrals {
    /// `∫ p·p_h`, the mean of `k_h(Z − Z')`.
    pub cross: f64,
    /// `∫ p_h²`, the mean of `(k*k)_h(Z − Z')`.
    pub smoothed_square: f64,
    /// `∫ k_h² = (k*k)_h(0)`.
    pub kernel_square: f64,
}

impl PairIntegrals {
    /// From pairs of reference rows: all of them. From a larger reference, `most_rows`
    /// rows are drawn with `seed` and each is paired with all others. Time is that of
    /// valuing these rows.
    ///
    /// # Errors
    ///
    /// [`Error::FewRows`] for a reference of one row; [`Error::BadOption`] for
    /// `most_rows = 0`.
    pub fn of(fit: &DensityFit, most_rows: usize, seed: u64) -> Result<Self, Error> {
        let n = fit.n_rows();
        if n < 2 {
            return Err(Error::FewRows { n_rows: n, needed: 2 });
        }
        if most_rows == 0 {
            return Err(Error::BadOption { what: "pairs need at least one row" });
        }
        let rows: Vec<usize> = if n <= most_rows { (0..n).collect() } else { sample(n, most_rows, seed) };
        let chunk = |rows: &[usize]| {
            let points = fit.rows_of(rows);
            let sums = fit.kernel_sums(&fit.smoother(), &points, Some(rows), false);
            sums.iter().fold([0.0; 2], |[plain, convolved], sums| {
                let at = fit.densities(sums, n - 1);
                [plain + at.plain, convolved + at.convolved]
            })
        };
        let chunks: Vec<[f64; 2]> = rows.par_chunks(CHUNK_POINTS).map(chunk).collect();
        let total = |i: usize| chunks.iter().map(|chunk| chunk[i]).sum::<f64>() / rows.len() as f64;
        Ok(Self { cross: total(0), smoothed_square: total(1), kernel_square: fit.convolved_peak() })
    }

    /// `C₀` for sets of the size of `weights`, without the multiples of `∫p²` that
    /// cancel against those of the value:
    ///
    /// ```text
    /// C₀ = offset/m + D (∫k_h² − ∫p_h²) + (A + B − 1/m)(∫p_h² − 2∫p·p_h) + B ∫p·p_h
    /// ```
    ///
    /// `offset` is `C_den − ∫p²`.
    pub fn constant(&self, weights: SizeWeights, offset: f64) -> f64 {
        let SizeWeights { own: a, joint: b, spread: d, .. } = weights;
        let per_size = weights.of_empty();
        offset * per_size
            + d * (self.kernel_square - self.smoothed_square)
            + (a + b - per_size) * (self.smoothed_square - 2.0 * self.cross)
            + b * self.cross
    }
}

/// `count` of `0..n` without repetition, ascending (Floyd's algorithm).
fn sample(n: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen = BTreeSet::new();
    for last in n - count..n {
        // The high half of a product: uniform on 0..=last up to 2⁻⁶⁴ n.
        let drawn = ((u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64) as usize;
        if !chosen.insert(drawn) {
            chosen.insert(last);
        }
    }
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_sets_and_every_row_has_its_chance() {
        let mut counts = [0; 20];
        for seed in 0..4000 {
            let rows = sample(20, 5, seed);
            assert!(rows.len() == 5 && rows.windows(2).all(|pair| pair[0] < pair[1]), "{rows:?}");
            rows.iter().for_each(|&row| counts[row] += 1);
        }
        // Binomial(4000, ¼) has deviation 27; a row that is never drawn would be 36 of
        // them away.
        assert!(counts.iter().all(|&count| (count - 1000_i32).abs() < 140), "{counts:?}");
    }
}
