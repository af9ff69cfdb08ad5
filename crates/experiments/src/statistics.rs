//! Means and their standard errors.

/// The mean of some numbers and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// The mean; NaN of nothing.
    pub mean: f64,
    /// Its standard error; NaN of fewer than two numbers.
    pub std_error: f64,
    /// How many there were.
    pub n: usize,
}

impl MeanEstimate {
    /// The mean of `numbers`.
    pub fn of(numbers: &[f64]) -> Self {
        let n = numbers.len();
        let mean = numbers.iter().sum::<f64>() / n as f64;
        let squares: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
        let std_error = if n < 2 { f64::NAN } else { (squares / (n - 1) as f64 / n as f64).sqrt() };
        Self { mean, std_error, n }
    }

    /// How many standard errors the mean is away from 0.
    pub fn z(&self) -> f64 {
        self.mean / self.std_error
    }
}

/// The middle of some numbers; NaN of nothing.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Spearman's rank correlation; ties share the mean of their ranks.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> f64 {
    let (a, b) = (ranks(one), ranks(other));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let product =
        |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&i, &j| numbers[i].total_cmp(&numbers[j]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut start = 0;
    while start < order.len() {
        let same = order[start..].iter().take_while(|&&i| numbers[i] == numbers[order[start]]).count().max(1);
        for &i in &order[start..start + same] {
            ranks[i] = start as f64 + (same as f64 - 1.0) / 2.0;
        }
        start += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_knows_its_error() {
        let estimate = MeanEstimate::of(&[1.0, 2.0, 3.0, 6.0]);
        assert_eq!(estimate.mean, 3.0);
        // Deviations −2, −1, 0, 3: variance 14/3, over four.
        assert!((estimate.std_error - (14.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert!(MeanEstimate::of(&[1.0]).std_error.is_nan());
    }

    #[test]
    fn ranks_do_not_care_for_sizes_and_ties_are_shared() {
        assert!((rank_correlation(&[1.0, 2.0, 30.0], &[-5.0, 0.0, 0.1]) - 1.0).abs() < 1e-15);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-15);
        // Ranks 0, ½+½, … : (0, 1.5, 1.5, 3) against (0, 1, 2, 3).
        let expected = 4.5 / (4.5_f64 * 5.0).sqrt();
        assert!((rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]) - expected).abs() < 1e-15);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
    }
}
