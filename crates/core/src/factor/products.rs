//! From sums of products, by Cholesky's elimination.

use super::{CLEAR_SHARE, Factor};
use faer::{Mat, Side};

/// Rounding errors of a Gram entry and of an elimination step, in units of `p · ε`.
/// Generous, because exact copies must never count as independent.
const NOISE_FACTOR: f64 = 64.0;

impl Factor {
    /// Factors the symmetric matrix of `entry`, given for `i ≥ j`, whose diagonal is
    /// scaled to about 1. Columns with a false `usable` are dropped without a look;
    /// `inflation` says how much larger than usual the rounding errors of a column are.
    ///
    /// A column depends on earlier ones when what elimination leaves of its
    /// diagonal is no larger than the rounding errors that went into it. With
    /// `b` the coefficients of the column on the earlier ones, those are about
    /// `p ε (1 + |b|₁)²`: they grow when earlier columns are nearly dependent
    /// themselves, which a fixed tolerance would miss.
    pub(crate) fn of_products(
        size: usize,
        usable: impl Fn(usize) -> bool,
        inflation: impl Fn(usize) -> f64,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Self {
        if let Some(factor) = Self::when_clear(size, &usable, &inflation, &entry) {
            return factor;
        }
        let mut lower = Mat::<f64>::zeros(size, size);
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        let mut weakest: Option<(usize, f64)> = None;
        let mut row = vec![0.0; size];
        for column in 0..size {
            if !usable(column) {
                dropped.push(column);
                continue;
            }
            // Forward substitution: the new row of L. Its cost is p²/2, that
            // of all rows p³/6, as for any Cholesky factorisation.
            let rank = kept.len();
            for (k, &earlier) in kept.iter().enumerate() {
                row[k] = entry(column, earlier);
            }
            for k in 0..rank {
                let solved = row[k] / lower[(k, k)];
                row[k] = solved;
                for (later, l) in row[k + 1..rank].iter_mut().zip(&lower.col_as_slice(k)[k + 1..rank]) {
                    *later -= l * solved;
                }
            }
            let diagonal = entry(column, column);
            let pivot = diagonal - row[..rank].iter().map(|l| l * l).sum::<f64>();
            let share = pivot / diagonal / inflation(column);
            if share < CLEAR_SHARE && share <= rounding_noise(&lower, &row[..rank]) {
                dropped.push(column);
                continue;
            }
            for (k, l) in row[..rank].iter().enumerate() {
                lower[(rank, k)] = *l;
            }
            lower[(rank, rank)] = pivot.sqrt();
            kept.push(column);
            if weakest.is_none_or(|(_, least)| share < least) {
                weakest = Some((column, share));
            }
        }
        lower.truncate(kept.len(), kept.len());
        Self { lower, kept, dropped, weakest }
    }

    /// The usual case, by a blocked factorisation: every usable column has enough
    /// variation of its own. `None` if that needs a closer look.
    fn when_clear(
        size: usize,
        usable: impl Fn(usize) -> bool,
        inflation: impl Fn(usize) -> f64,
        entry: impl Fn(usize, usize) -> f64,
    ) -> Option<Self> {
        let (kept, dropped): (Vec<_>, Vec<_>) = (0..size).partition(|&column| usable(column));
        let gram =
            Mat::from_fn(kept.len(), kept.len(), |i, j| if i >= j { entry(kept[i], kept[j]) } else { 0.0 });
        let lower = gram.llt(Side::Lower).ok()?.L().to_owned();
        let shares = kept
            .iter()
            .enumerate()
            .map(|(k, &column)| lower[(k, k)] * lower[(k, k)] / gram[(k, k)] / inflation(column));
        let weakest = kept.iter().copied().zip(shares).min_by(|a, b| a.1.total_cmp(&b.1));
        // NaN fails the comparison, too.
        let clear = weakest.is_none_or(|(_, share)| share >= CLEAR_SHARE);
        clear.then_some(Self { lower, kept, dropped, weakest })
    }
}

/// The part of a pivot that rounding alone can produce.
fn rounding_noise(lower: &Mat<f64>, row: &[f64]) -> f64 {
    let mut coef = row.to_vec();
    for k in (0..coef.len()).rev() {
        let below: f64 = (k + 1..coef.len()).map(|i| lower[(i, k)] * coef[i]).sum();
        coef[k] = (coef[k] - below) / lower[(k, k)];
    }
    let size: f64 = 1.0 + coef.iter().map(|b| b.abs()).sum::<f64>();
    NOISE_FACTOR * (row.len() + 1) as f64 * f64::EPSILON * size * size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factor(gram: &[&[f64]]) -> Factor {
        Factor::of_products(gram.len(), |_| true, |_| 1.0, |i, j| gram[i][j])
    }

    #[test]
    fn rebuilds_the_matrix() {
        let gram: [&[f64]; 3] = [&[1.0, 0.3, -0.2], &[0.3, 0.9, 0.4], &[-0.2, 0.4, 1.1]];
        let found = factor(&gram);
        assert_eq!(found.kept, [0, 1, 2]);
        let product = &found.lower * found.lower.transpose();
        for i in 0..3 {
            for j in 0..3 {
                assert!((product[(i, j)] - gram[i][j]).abs() < 1e-15, "entry {i},{j}");
            }
        }
    }

    #[test]
    fn later_copies_and_combinations_are_dropped() {
        // Columns u, v, u, u + v, w with u, v, w orthonormal up to scale.
        let gram: [&[f64]; 5] = [
            &[1.0, 0.0, 1.0, 1.0, 0.0],
            &[0.0, 1.0, 0.0, 1.0, 0.0],
            &[1.0, 0.0, 1.0, 1.0, 0.0],
            &[1.0, 1.0, 1.0, 2.0, 0.0],
            &[0.0, 0.0, 0.0, 0.0, 1.0],
        ];
        let found = factor(&gram);
        assert_eq!(found.kept, [0, 1, 4]);
        assert_eq!(found.dropped, [2, 3]);
    }

    #[test]
    fn near_copies_stay_and_are_pointed_out() {
        let r = 1.0 - 1e-9;
        let found = factor(&[&[1.0, r], &[r, 1.0]]);
        assert_eq!(found.kept, [0, 1]);
        let (column, share) = found.weakest.unwrap();
        assert_eq!(column, 1);
        assert!((share / 2e-9 - 1.0).abs() < 1e-6, "{share:e}");
    }
}
