//! Twice the digits of a double, for sums whose terms cancel.

use std::ops::{Add, AddAssign, Mul, Sub};

/// A number as the sum of two doubles that do not overlap: about 32 digits.
///
/// Dekker's and Knuth's error-free transformations, without fused operations, so
/// that every machine has the same bits. Magnitudes must stay between about
/// 1e-290 and 1e290; smaller ones lose their second half.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    pub(crate) const ZERO: Self = Self { high: 0.0, low: 0.0 };

    /// The exact product of two doubles.
    pub(crate) fn product(a: f64, b: f64) -> Self {
        let (high, low) = two_product(a, b);
        Self { high, low }
    }

    /// The square, to twice the digits.
    pub(crate) fn square(self) -> Self {
        Self::product(self.high, self.high) + Self::from(2.0 * self.high * self.low)
    }

    /// The nearest double.
    pub(crate) fn value(self) -> f64 {
        self.high
    }

    /// Divided by a double.
    pub(crate) fn over(self, divisor: f64) -> Self {
        let first = self.high / divisor;
        let (product, error) = two_product(first, divisor);
        // The remainder is a double of the size of one rounding error.
        let rest = ((self.high - product) - error + self.low) / divisor;
        quick_two_sum(first, rest)
    }

    /// Divided by another.
    pub(crate) fn over_double(self, divisor: Self) -> Self {
        let first = self.high / divisor.high;
        let rest = self - divisor * first;
        let second = rest.high / divisor.high;
        let rest = rest - divisor * second;
        quick_two_sum(first, second) + Self::from(rest.high / divisor.high)
    }
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> Self {
        Self { high, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let high = two_sum(self.high, other.high);
        let low = two_sum(self.low, other.low);
        let sum = quick_two_sum(high.high, high.low + low.high);
        quick_two_sum(sum.high, sum.low + low.low)
    }
}

impl AddAssign for DoubleDouble {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + Self { high: -other.high, low: -other.low }
    }
}

impl Mul<f64> for DoubleDouble {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        let (product, error) = two_product(self.high, factor);
        quick_two_sum(product, error + self.low * factor)
    }
}

/// `a + b` and its rounding error.
fn two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    let back = high - a;
    DoubleDouble { high, low: (a - (high - back)) + (b - back) }
}

/// The same where `|a| ≥ |b|`, or `a = 0`.
fn quick_two_sum(a: f64, b: f64) -> DoubleDouble {
    let high = a + b;
    DoubleDouble { high, low: b - (high - a) }
}

/// `a · b` and its rounding error.
fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    (product, error)
}

/// The upper and lower 26 bits.
fn split(a: f64) -> (f64, f64) {
    const FACTOR: f64 = 134_217_729.0; // 2²⁷ + 1
    let scaled = FACTOR * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each step has an error of 1e-32; a plain double would lose all digits of the
    /// difference.
    #[test]
    fn products_of_many_ratios_keep_thirty_digits() {
        let mut product = DoubleDouble::from(1.0);
        for i in 1..=100_000 {
            product = (product * (i + 2) as f64).over(i as f64);
        }
        // Π (i + 2)/i = (n + 1)(n + 2)/2
        let exact = 100_001.0 * 100_002.0 / 2.0;
        let difference = (product - DoubleDouble::from(exact)).value();
        assert!(difference.abs() < 1e5 * 1e-31 * exact, "{difference:e}");
    }

    #[test]
    fn a_third_three_times_is_one() {
        let third = DoubleDouble::from(1.0).over(3.0);
        assert!((third * 3.0 - DoubleDouble::from(1.0)).value().abs() < 1e-31);
        let ninth = DoubleDouble::from(1.0).over(9.0);
        assert!((third.square() - ninth).value().abs() < 1e-31);
        let quotient = third.over_double(third * 7.0);
        assert!((quotient * 7.0 - DoubleDouble::from(1.0)).value().abs() < 1e-30);
    }
}
