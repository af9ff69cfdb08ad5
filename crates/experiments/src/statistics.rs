//! Means and their standard errors.

/// A mean and its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// The mean; NaN without numbers.
    pub mean: f64,
    /// Its standard error; NaN for fewer than two numbers.
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

    /// How often the mean of normal numbers would be that far above 0 by chance if
    /// their expectation is 0. NaN for fewer than two numbers.
    pub fn p_value(&self) -> f64 {
        if self.n < 2 { f64::NAN } else { student_tail(self.z(), self.n - 1) }
    }
}

/// The probability that Student's t with `freedom` ≥ 1 degrees of freedom is above
/// `t`, by the finite sums of Abramowitz and Stegun 26.7.3 and 26.7.4. The absolute
/// error is the rounding of 1, so tails below 10⁻¹⁵ are not accurate.
fn student_tail(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    // cosʲ θ with the product of (j − 1)/j, (j − 3)/(j − 2), … before it.
    let mut term = match (is_odd, freedom) {
        (true, 1) => 0.0,
        (true, _) => cos,
        (false, _) => 1.0,
    };
    let mut sum = term;
    let first = if is_odd { 3 } else { 2 };
    for j in (first..=freedom.saturating_sub(2)).step_by(2) {
        term *= cos * cos * (j - 1) as f64 / j as f64;
        sum += term;
    }
    let within = if is_odd { (angle + sin * sum) * std::f64::consts::FRAC_2_PI } else { sin * sum };
    (1.0 - within) / 2.0
}

/// The median; NaN without numbers.
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

    /// From SciPy, `scipy.stats.t.sf(t, freedom)`.
    const TAILS: [(f64, usize, f64); 8] = [
        (3.0, 1, 0.10241638234956672),
        (3.0, 2, 0.04773298313335456),
        (3.5, 3, 0.019740518809641387),
        (6.62, 4, 0.001350054282959668),
        (2.0, 5, 0.050969739414929174),
        (4.09, 9, 0.0013585180390354428),
        (3.1578, 49, 0.001360339530500816),
        (3.0, 200, 0.0015215235569529524),
    ];

    #[test]
    fn tails_of_students_t_are_those_of_tables() {
        for (t, freedom, expected) in TAILS {
            assert!((student_tail(t, freedom) / expected - 1.0).abs() < 1e-9, "t = {t}, {freedom}");
            assert!((student_tail(-t, freedom) - (1.0 - expected)).abs() < 1e-12);
        }
        assert_eq!(student_tail(f64::INFINITY, 4), 0.0);
        assert!(MeanEstimate::of(&[1.0]).p_value().is_nan());
        let estimate = MeanEstimate::of(&[1.0, 2.0, 3.0]);
        assert!((estimate.p_value() - student_tail(12_f64.sqrt(), 2)).abs() < 1e-15);
    }

    #[test]
    fn ranks_ignore_sizes_and_ties_share_their_mean_rank() {
        assert!((rank_correlation(&[1.0, 2.0, 30.0], &[-5.0, 0.0, 0.1]) - 1.0).abs() < 1e-15);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-15);
        // Ranks 0, ½+½, … : (0, 1.5, 1.5, 3) against (0, 1, 2, 3).
        let expected = 4.5 / (4.5_f64 * 5.0).sqrt();
        assert!((rank_correlation(&[1.0, 2.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]) - expected).abs() < 1e-15);
        assert_eq!(median(&[3.0, 1.0, 2.0, 10.0]), 2.5);
    }
}
