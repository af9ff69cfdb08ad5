//! The paper's simulated data.

use super::Table;
use crate::seeds::{Purpose, normal, stream, unit};
use faer::Mat;
use rand_chacha::ChaCha8Rng;

/// Gaussian-R: `x ~ N(0, I)`, `β ~ N(0, I)`, `y = xᵀβ + noise`, the noise `N(0, 1)`.
pub fn gaussian_r(rows: usize, dim: usize, seed: u64) -> Table {
    regression(rows, dim, &mut stream(seed, 0, 0, Purpose::Rows))
}

/// Gaussian-C: `x ~ N(0, I)`, `P(y = 1) = 1/(1 + e^{−2x₁})`.
pub fn gaussian_c(rows: usize, dim: usize, seed: u64) -> Table {
    classification(rows, dim, &mut stream(seed, 0, 0, Purpose::Rows))
}

/// See [`gaussian_r`].
pub(super) fn regression(rows: usize, dim: usize, rng: &mut ChaCha8Rng) -> Table {
    let beta: Vec<f64> = (0..dim).map(|_| normal(rng)).collect();
    make(rows, dim, rng, |x, rng| x.iter().zip(&beta).map(|(x, b)| x * b).sum::<f64>() + normal(rng))
}

/// See [`gaussian_c`].
pub(super) fn classification(rows: usize, dim: usize, rng: &mut ChaCha8Rng) -> Table {
    make(rows, dim, rng, |x, rng| {
        let prob = 1.0 / (1.0 + (-2.0 * x[0]).exp());
        f64::from(u8::from(unit(rng) < prob))
    })
}

/// Rows of Figure 1's regression. The coefficients are given, so that rows can be
/// drawn in parts.
pub(crate) fn standard_regression(rows: usize, beta: &[f64], rng: &mut ChaCha8Rng) -> Table {
    make(rows, beta.len(), rng, |x, rng| x.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>() + normal(rng))
}

/// Rows of Figure 1's classification: `y ~ Bern(½)`, `x ~ N((2y, 0, …, 0), I)`.
pub(crate) fn shifted_classes(rows: usize, dim: usize, rng: &mut ChaCha8Rng) -> Table {
    let mut table = make(rows, dim, rng, |_, rng| f64::from(u8::from(unit(rng) < 0.5)));
    for (i, y) in table.y.iter().enumerate() {
        table.x[(i, 0)] += 2.0 * y;
    }
    table
}

/// Draws row after row, so that the first rows do not depend on how many follow.
fn make(
    rows: usize,
    dim: usize,
    rng: &mut ChaCha8Rng,
    target: impl Fn(&[f64], &mut ChaCha8Rng) -> f64,
) -> Table {
    let mut x = Mat::zeros(rows, dim);
    let mut row = vec![0.0; dim];
    let mut y = Vec::with_capacity(rows);
    for i in 0..rows {
        for (j, cell) in row.iter_mut().enumerate() {
            *cell = normal(rng);
            x[(i, j)] = *cell;
        }
        y.push(target(&row, rng));
    }
    Table { names: (1..=dim).map(|j| format!("x{j}")).collect(), x, y, n_train: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided false-alarm rate 6e-7 per comparison. A coefficient of 1.8 instead
    /// of 2 moves the second mean by 8 standard errors.
    #[test]
    fn classes_follow_the_first_feature() {
        let table = gaussian_c(40_000, 3, 5);
        let n = table.y.len() as f64;
        let mean = |f: &dyn Fn(usize) -> f64| (0..table.y.len()).map(f).sum::<f64>() / n;
        let share = mean(&|i| table.y[i]);
        assert!((share - 0.5).abs() < 5.0 * 0.5 / n.sqrt(), "share {share}");
        // Var(y − π) = E π(1 − π) = 0.1457 for a logit of N(0, 4), so a correct π leaves a
        // mean of (y − π)x₁ of 0 with variance below E x₁²π(1 − π) < 0.05.
        let score = mean(&|i| {
            let x = table.x[(i, 0)];
            (table.y[i] - 1.0 / (1.0 + (-2.0 * x).exp())) * x
        });
        assert!(score.abs() < 5.0 * (0.05 / n).sqrt(), "score {score}");
    }

    #[test]
    fn the_same_seed_gives_the_same_rows_and_more_of_them() {
        let (few, many) = (gaussian_r(10, 4, 3), gaussian_r(20, 4, 3));
        assert_eq!(few.y, many.y[..10]);
        assert_ne!(few.y, gaussian_r(10, 4, 4).y);
    }
}
