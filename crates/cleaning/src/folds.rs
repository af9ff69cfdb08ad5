//! Rows in random folds.

use crate::examined::Kind;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Folds of a cross-fit.
pub(crate) const FOLDS: usize = 5;

/// The fold of each row. Rows of one label are spread evenly.
pub(crate) fn folds(y: &[f64], kind: Kind, n_folds: usize, seed: u64) -> Vec<usize> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<(u64, usize)> = (0..y.len()).map(|row| (rng.next_u64(), row)).collect();
    order.sort_unstable();
    if kind != Kind::Numbers {
        // A stable sort keeps rows of one label in random order.
        order.sort_by(|one, other| y[one.1].total_cmp(&y[other.1]));
    }
    let mut fold = vec![0; y.len()];
    order.iter().enumerate().for_each(|(place, &(_, row))| fold[row] = place % n_folds);
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_also_within_labels() {
        let y: Vec<f64> = (0..100).map(|row| f64::from(u8::from(row % 10 == 0))).collect();
        let fold = folds(&y, Kind::Labels(2), 5, 3);
        for number in 0..5 {
            let rows: Vec<usize> = (0..100).filter(|&row| fold[row] == number).collect();
            assert_eq!((rows.len(), rows.iter().filter(|&&row| y[row] == 1.0).count()), (20, 2));
        }
        assert_ne!(fold, folds(&y, Kind::Labels(2), 5, 4));
        assert_eq!(fold, folds(&y, Kind::Labels(2), 5, 3));
    }
}
