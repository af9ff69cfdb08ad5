//! How much each of several predictions counts.

use crate::examined::Kind;

/// No probability is smaller, so that no row is impossible.
pub(crate) const LEAST_PROB: f64 = 1e-6;

/// Steps towards the likeliest weights; each makes the labels likelier.
const STEPS: usize = 60;

/// Weights of a mean of two numbers that are tried.
const TRIED: usize = 20;

/// The weights of several predictions of the same rows, which sum to 1. Labels: those
/// under which the given labels are likeliest (expectation maximisation from equal
/// weights). Numbers: of two predictions, those with the smallest mean distance.
pub(crate) fn weights(predictions: &[&[f64]], y: &[f64], kind: Kind) -> Vec<f64> {
    let n_predictions = predictions.len();
    match kind {
        Kind::Labels(n_classes) => {
            let mut weights = vec![1.0 / n_predictions as f64; n_predictions];
            let likely =
                |k: usize, row: usize| predictions[k][row * n_classes + y[row] as usize].max(LEAST_PROB);
            for _ in 0..STEPS {
                let mut shares = vec![0.0; n_predictions];
                for row in 0..y.len() {
                    let sum: f64 =
                        weights.iter().enumerate().map(|(k, weight)| weight * likely(k, row)).sum();
                    for (k, share) in shares.iter_mut().enumerate() {
                        *share += weights[k] * likely(k, row) / sum;
                    }
                }
                weights = shares.iter().map(|share| share / y.len() as f64).collect();
            }
            weights
        }
        Kind::Numbers => {
            let [one, other] = predictions else { return vec![1.0 / n_predictions as f64; n_predictions] };
            let error = |weight: f64| -> f64 {
                let each = y.iter().zip(one.iter().zip(other.iter()));
                each.map(|(y, (one, other))| (y - weight * one - (1.0 - weight) * other).abs()).sum()
            };
            let tried = (0..=TRIED).map(|step| step as f64 / TRIED as f64);
            // The first of equal errors, from the model down: a tie is the model's.
            let best = tried.rev().map(|weight| (error(weight), weight));
            let best = best.reduce(|best, next| if next.0 < best.0 { next } else { best });
            let weight = best.map_or(1.0, |(_, weight)| weight);
            vec![weight, 1.0 - weight]
        }
    }
}

/// The weighted mean of predictions.
pub(crate) fn mixed(predictions: &[&[f64]], weights: &[f64]) -> Vec<f64> {
    let n = predictions.first().map_or(0, |first| first.len());
    (0..n).map(|i| predictions.iter().zip(weights).map(|(each, weight)| weight * each[i]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_prediction_counts_more() {
        let y = [0.0, 1.0, 1.0, 0.0];
        let good = [0.9, 0.1, 0.2, 0.8, 0.1, 0.9, 0.7, 0.3];
        let poor = [0.5; 8];
        let found = weights(&[&good, &poor], &y, Kind::Labels(2));
        assert!(found[0] > 0.99 && (found[0] + found[1] - 1.0).abs() < 1e-12, "{found:?}");
        let numbers = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(weights(&[&numbers, &[0.0; 4]], &numbers, Kind::Numbers), [1.0, 0.0]);
        assert_eq!(weights(&[&[0.0; 4], &numbers], &numbers, Kind::Numbers), [0.0, 1.0]);
        assert_eq!(mixed(&[&[1.0, 2.0], &[3.0, 6.0]], &[0.5, 0.5]), [2.0, 4.0]);
    }
}
