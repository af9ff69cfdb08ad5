//! The sum over set sizes under log-loss, in closed form.
//!
//! ```text
//! S1 = Σ 1/(n(n + t)),   S2 = Σ 1/(n + t)²      n = n0, n0 + 1, …, n1
//! ```
//!
//! Both are differences of digamma functions and their derivative, which cancel
//! for small `t` and for few terms. Euler's and Maclaurin's formula has neither
//! difference: the integral of the first is `log1p(u)/t` with
//! `u = t(n1 − n0)/(n0(n1 + t))`.

/// From here on the series below is exact to the last digit: the first omitted term is
/// `B₁₂ n⁻¹³`, and the sum is about `1/n`.
const ASYMPTOTIC: f64 = 16.0;

/// `B_{2k}/(2k)!` for k = 1 … 5.
const EULER_MACLAURIN: [f64; 5] =
    [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30_240.0, -1.0 / 1_209_600.0, 1.0 / 47_900_160.0];

/// Sums over `count` sizes from `first` on, for any `t`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ShiftedSizes {
    /// `n0 > 0`.
    first: f64,
    count: usize,
}

impl ShiftedSizes {
    pub(super) fn new(first: f64, count: usize) -> Self {
        Self { first, count }
    }

    /// `(S1, S2)` for `t ≥ 0`.
    pub(super) fn sums(&self, t: f64) -> (f64, f64) {
        let head = ((ASYMPTOTIC - self.first).ceil().max(0.0) as usize).min(self.count);
        let (mut s1, mut s2) = (0.0, 0.0);
        for i in (0..head).rev() {
            let n = self.first + i as f64;
            s1 += 1.0 / (n * (n + t));
            s2 += 1.0 / ((n + t) * (n + t));
        }
        if head == self.count {
            return (s1, s2);
        }
        let a = self.first + head as f64;
        let b = self.first + (self.count - 1) as f64;
        let (at_a, at_b) = (Term::new(a, t), Term::new(b, t));
        let ((a1, a2), (b1, b2)) = (at_a.derivatives(), at_b.derivatives());
        let (mut tail1, mut tail2) = (b1 - a1, b2 - a2);
        let u = t * (b - a) / (a * (b + t));
        let log_share = if u > 0.0 { u.ln_1p() / u } else { 1.0 };
        tail1 += 0.5 * (at_a.both() + at_b.both()) + log_share * (b - a) / (a * (b + t));
        tail2 += 0.5 * (at_a.square() + at_b.square()) + (b - a) / ((a + t) * (b + t));
        (s1 + tail1, s2 + tail2)
    }
}

/// One term of the sums: `x = 1/n` and `y = 1/(n + t)`.
struct Term {
    x: f64,
    y: f64,
}

impl Term {
    fn new(n: f64, t: f64) -> Self {
        Self { x: 1.0 / n, y: 1.0 / (n + t) }
    }

    fn both(&self) -> f64 {
        self.x * self.y
    }

    fn square(&self) -> f64 {
        self.y * self.y
    }

    /// Derivatives of odd order of `1/(n(n + t))` and of `1/(n + t)²`, each times its
    /// share in Euler's and Maclaurin's formula. With `xy = (x − y)/t` the first are
    /// differences of powers over `t`, divided out: `−j!·xy·Σ xⁱyʲ⁻ⁱ`.
    fn derivatives(&self) -> (f64, f64) {
        let (mut factorial, mut power, mut powers) = (1.0, 1.0, 1.0);
        let (mut both, mut square) = (0.0, 0.0);
        for (j, order) in (1..=9).enumerate() {
            factorial *= f64::from(order);
            power *= self.y;
            powers = self.x * powers + power;
            if j % 2 == 0 {
                let share = EULER_MACLAURIN[j / 2] * factorial;
                both -= share * powers;
                square -= share * f64::from(order + 1) * power;
            }
        }
        (both * self.both(), square * self.square())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_their_terms() {
        for (first, count) in [(0.5, 1), (0.5, 40), (3.5, 12), (12.25, 5000), (700.5, 3), (40.5, 200_000)] {
            for t in [0.0, 1e-12, 1e-3, 0.7, 30.0, 1e5, 1e14] {
                let (s1, s2) = ShiftedSizes::new(first, count).sums(t);
                let term = |i: usize| first + i as f64;
                // From the smallest term up, so that plain sums keep their digits.
                let plain1: f64 = (0..count).rev().map(|i| 1.0 / (term(i) * (term(i) + t))).sum();
                let plain2: f64 = (0..count).rev().map(|i| (term(i) + t).powi(-2)).sum();
                // What 200 000 additions lose.
                let tolerance = 2e-13;
                assert!(
                    (s1 / plain1 - 1.0).abs() < tolerance,
                    "S1 {first} {count} {t}: {:e}",
                    s1 / plain1 - 1.0
                );
                assert!(
                    (s2 / plain2 - 1.0).abs() < tolerance,
                    "S2 {first} {count} {t}: {:e}",
                    s2 / plain2 - 1.0
                );
            }
        }
    }

    /// ψ₁(½) = π²/2, and Σ 1/(n(n+1)) telescopes.
    #[test]
    fn long_sums_reach_their_limits() {
        let count = 1_000_000_000_000;
        let (s1, s2) = ShiftedSizes::new(0.5, count).sums(0.0);
        let limit = std::f64::consts::PI.powi(2) / 2.0 - 1.0 / count as f64;
        assert!((s1 - limit).abs() < 4e-15 && (s2 - limit).abs() < 4e-15, "{s1} {s2}");
        let (s1, _) = ShiftedSizes::new(1.0, 999).sums(1.0);
        assert!((s1 - 0.999).abs() < 1e-15);
    }
}
