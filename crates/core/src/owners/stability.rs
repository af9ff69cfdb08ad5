//! How often a ranking survives resampling.

use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

/// How far values may be off.
#[derive(Debug, Clone, PartialEq)]
pub enum Errors {
    /// Standard errors that do not depend on each other.
    Independent(Vec<f64>),
    /// Covariances, row by row: errors that share test rows.
    Joint(Vec<Vec<f64>>),
}

/// Draws values as they might have come out with other test rows: Gaussian about those
/// that were found.
pub fn resampled(values: &[f64], errors: &Errors, n_draws: usize, seed: u64) -> Vec<Vec<f64>> {
    let n = values.len();
    let root = match errors {
        Errors::Independent(errors) => Mat::from_fn(n, n, |i, j| if i == j { errors[i] } else { 0.0 }),
        Errors::Joint(covariance) => root_of(covariance),
    };
    (0..n_draws)
        .map(|draw| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(draw as u64);
            let noise: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut rng)).collect();
            (0..n).map(|i| values[i] + (0..=i).map(|j| root[(i, j)] * noise[j]).sum::<f64>()).collect()
        })
        .collect()
}

/// A lower triangle whose square is the matrix. A direction without variance stays at
/// zero: values that add up to a constant have one.
fn root_of(covariance: &[Vec<f64>]) -> Mat<f64> {
    let n = covariance.len();
    let mut root = Mat::<f64>::zeros(n, n);
    for j in 0..n {
        let pivot = covariance[j][j] - (0..j).map(|l| root[(j, l)].powi(2)).sum::<f64>();
        if pivot <= 1e-12 * covariance[j][j] {
            continue;
        }
        root[(j, j)] = pivot.sqrt();
        for i in j + 1..n {
            let product: f64 = (0..j).map(|l| root[(i, l)] * root[(j, l)]).sum();
            root[(i, j)] = (covariance[i][j] - product) / root[(j, j)];
        }
    }
    root
}

/// How stable a ranking is.
#[derive(Debug, Clone, PartialEq)]
pub struct Stability {
    /// Share of draws in which all owners have the rank they have.
    pub whole: f64,
    /// Per owner, share of draws in which it has the rank it has.
    pub each: Vec<f64>,
}

impl Stability {
    /// Compares the ranking of `values` with that of draws. Equal values keep their order.
    pub fn of(values: &[f64], draws: &[Vec<f64>]) -> Self {
        // Copies have the same value up to rounding, and rounding is no reason to change places.
        let scale = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        let ranks =
            |values: &[f64]| ranks(&values.iter().map(|value| rounded(*value, scale)).collect::<Vec<_>>());
        let drawn_ranks = ranks;
        let ranks = ranks(values);
        let (mut whole, mut each) = (0, vec![0; values.len()]);
        for draw in draws {
            let drawn = drawn_ranks(draw);
            whole += usize::from(drawn == ranks);
            let same = each.iter_mut().zip(drawn.iter().zip(&ranks));
            same.for_each(|(count, (one, two))| *count += usize::from(one == two));
        }
        let share = |count: usize| count as f64 / draws.len().max(1) as f64;
        Self { whole: share(whole), each: each.into_iter().map(share).collect() }
    }
}

/// A value to nine digits of the largest.
fn rounded(value: f64, scale: f64) -> f64 {
    if scale > 0.0 { (value / scale * 1e9).round() } else { 0.0 }
}

/// The rank of each value, the largest first.
fn ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let mut ranks = vec![0; values.len()];
    order.into_iter().enumerate().for_each(|(rank, owner)| ranks[owner] = rank);
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_values_keep_their_ranks_and_close_ones_do_not() {
        let values = [10.0, 0.1, 0.0];
        let draws = resampled(&values, &Errors::Independent(vec![1.0; 3]), 2000, 7);
        let found = Stability::of(&values, &draws);
        assert!(found.each[0] > 0.999, "{found:?}");
        // P(0.1 + z√2 > 0) = 0.528; five standard deviations of a share of 2000 draws are 0.056.
        assert!((found.whole - 0.528).abs() < 0.056, "{found:?}");
    }

    #[test]
    fn copies_keep_their_places() {
        let values = [1.0, 0.3, 0.3 + 1e-16];
        let joint =
            Errors::Joint(vec![vec![0.01, 0.0, 0.0], vec![0.0, 0.04, 0.04], vec![0.0, 0.04, 0.04 + 1e-17]]);
        let found = Stability::of(&values, &resampled(&values, &joint, 300, 2));
        assert!((found.each[1] - found.each[2]).abs() < 1e-12 && found.whole > 0.99, "{found:?}");
    }

    #[test]
    fn errors_that_move_together_change_no_rank() {
        let values = [1.0, 0.0];
        let joint = Errors::Joint(vec![vec![4.0, 4.0], vec![4.0, 4.0]]);
        let draws = resampled(&values, &joint, 500, 1);
        assert_eq!(Stability::of(&values, &draws).whole, 1.0);
        let mean = draws.iter().map(|draw| draw[0]).sum::<f64>() / 500.0;
        let variance = draws.iter().map(|draw| (draw[0] - mean).powi(2)).sum::<f64>() / 499.0;
        assert!((variance / 4.0 - 1.0).abs() < 0.35, "{variance}");
    }
}
