//! Theorem 5 averaged over set sizes: three numbers.

use crate::sizes::MAX_SIZE;
use crate::{Error, Semivalue};

/// This many terms are added one by one, and at least up to this `t = n + s`. The rest is
/// an asymptotic series, whose last term at 32 is below 1e-18.
const DIRECT: usize = 64;
const ASYMPTOTIC: f64 = 32.0;

/// `B₂ₖ / (2k)!` for `k = 1 … 6`, from the Bernoulli numbers.
const EULER_MACLAURIN: [f64; 6] = [
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30_240.0,
    -1.0 / 1_209_600.0,
    1.0 / 47_900_160.0,
    -691.0 / 1_307_674_368_000.0,
];

/// The weights of Theorem 5 for sets of `n` rows that join sets of up to `m − 1`.
///
/// ```text
/// A = (1/m) Σ_{s=0}^{m−1} n²/(n+s)²            = (n²/m)[ψ₁(n) − ψ₁(n+m)]
/// B = (1/m) Σ_{s=0}^{m−1} 2ns/(n+s)²           = (2n/m)[ψ(n+m) − ψ(n) − n(ψ₁(n) − ψ₁(n+m))]
/// D = (1/m) Σ_{s=1}^{m−1} [1 − s²/(n+s)²]/s
/// ```
///
/// Polygamma differences cancel when `m ≪ n`. So the sums are computed as sums: the first
/// terms one by one, the others by Euler and Maclaurin, whose integrals are written
/// without cancellation. Relative error below 1e-14 for any `n` and `m`, at the same
/// cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeWeights {
    /// `A(n, m)`: weight of the set's own squared error.
    pub own: f64,
    /// `B(n, m)`: weight of what the set adds to others.
    pub joint: f64,
    /// `D(n, m)`: weight of the variance of other sets' estimates, in the constant.
    pub spread: f64,
    n: usize,
    m: usize,
    semivalue: Semivalue,
}

impl SizeWeights {
    /// The weights for sets of `n_rows`, joining sets of `0 … m − 1` others.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`] for an empty set, [`Error::BadOption`] for `m = 0`,
    /// [`Error::TooLargeSize`] beyond 1e15.
    pub fn new(n_rows: usize, m: usize) -> Result<Self, Error> {
        if n_rows == 0 {
            return Err(Error::NoRows);
        }
        if m == 0 {
            return Err(Error::BadOption { what: "m must be at least 1" });
        }
        if let Some(max) = [m, n_rows].into_iter().find(|&size| size > MAX_SIZE) {
            return Err(Error::TooLargeSize { max });
        }
        let (n, sizes) = (n_rows as f64, m as f64);
        let own = sum(n, m, own_term, own_integral, own_derivative) / sizes;
        let joint = sum(n, m, joint_term, joint_integral, joint_derivative) / sizes;
        // 1/s − s/(n+s)² = 1/s − 1/(n+s) + n/(n+s)². The first two telescope to H_k minus
        // k reciprocals, and the shorter sum loses no digits.
        let (few, many) = if n_rows < m { (n_rows, m) } else { (m - 1, n_rows + 1) };
        let telescoped = reciprocals(1.0, few) - reciprocals(many as f64, few);
        let spread = (telescoped + (own * sizes - 1.0) / n) / sizes;
        Ok(Self {
            own,
            joint,
            spread: if m == 1 { 0.0 } else { spread },
            n: n_rows,
            m,
            semivalue: Semivalue::Shapley,
        })
    }

    /// The same with set sizes weighted by a semivalue:
    /// `A = Σ ω n²/(n+s)²`, `B = Σ ω 2ns/(n+s)²`, `D = Σ ω [1 − s²/(n+s)²]/s`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn weighted(n_rows: usize, m: usize, semivalue: Semivalue) -> Result<Self, Error> {
        let plain = Self::new(n_rows, m)?;
        if semivalue == Semivalue::Shapley {
            return Ok(plain);
        }
        let (n, nodes) = (n_rows as f64, semivalue.counts(0, m as u64 - 1, 0.0, m));
        let sum = |term: &dyn Fn(f64) -> f64| {
            nodes.iter().map(|node| node.weight * term(node.at)).sum::<f64>() / m as f64
        };
        let own = sum(&|s| own_term(n, n + s));
        let joint = sum(&|s| joint_term(n, n + s));
        // [1 − s²/(n+s)²]/s = n(n + 2s)/(s(n+s)²); sets without rows have no estimate.
        let spread = sum(&|s| if s == 0.0 { 0.0 } else { n * (n + 2.0 * s) / (s * (n + s) * (n + s)) });
        Ok(Self { own, joint, spread, semivalue, ..plain })
    }

    /// `ω_0`, the weight of the empty set.
    pub fn of_empty(&self) -> f64 {
        self.semivalue.weight(0.0, self.m)
    }

    /// How set sizes are weighted.
    pub fn semivalue(&self) -> Semivalue {
        self.semivalue
    }

    /// Rows of the set.
    pub fn n_rows(&self) -> usize {
        self.n
    }

    /// `m`, the largest set size that the average counts, one of its rows being
    /// the set.
    pub fn m(&self) -> usize {
        self.m
    }
}

/// `n²/(n+s)²`.
fn own_term(n: f64, t: f64) -> f64 {
    (n / t).powi(2)
}

/// `∫ n²/t² dt` from `a` to `b`.
fn own_integral(n: f64, a: f64, b: f64) -> f64 {
    n * (n / a) * ((b - a) / b)
}

/// The derivative of odd order `j` of `n²/t²`.
fn own_derivative(n: f64, t: f64, j: usize) -> f64 {
    -factorial(j + 1) * (n / t).powi(2) * t.powi(-(j as i32))
}

/// `2ns/(n+s)²`.
fn joint_term(n: f64, t: f64) -> f64 {
    2.0 * (n / t) * ((t - n) / t)
}

/// `∫ 2n(t − n)/t² dt = 2n [ln(b/a) − y] + 2n(1 − n/a)·y` from `a` to `b`, with
/// `y = 1 − a/b`. `ln(b/a) = −ln(1 − y)`, so that the bracket is
/// `y²/2 + y³/3 + …`, all of one sign.
fn joint_integral(n: f64, a: f64, b: f64) -> f64 {
    let y = (b - a) / b;
    let bracket = if y < 0.5 {
        // 52 powers of a number below ½ reach the last bit.
        (2..=54).rev().fold(0.0, |sum, k| (sum + 1.0 / f64::from(k)) * y) * y
    } else {
        (b / a).ln() - y
    };
    2.0 * n * (bracket + ((a - n) / a) * y)
}

/// The derivative of odd order `j` of `2n/t − 2n²/t²`.
fn joint_derivative(n: f64, t: f64, j: usize) -> f64 {
    let j_real = j as f64;
    -2.0 * (n / t) * factorial(j) * (1.0 - (j_real + 1.0) * (n / t)) * t.powi(-(j as i32))
}

/// `Σ_{s=0}^{m−1}` of a term in `t = n + s`.
fn sum(
    n: f64,
    m: usize,
    term: fn(f64, f64) -> f64,
    integral: fn(f64, f64, f64) -> f64,
    derivative: fn(f64, f64, usize) -> f64,
) -> f64 {
    let head = if m <= DIRECT { m } else { (ASYMPTOTIC - n).max(0.0) as usize };
    let mut sum = 0.0;
    // From the last terms, the smallest of A; those of B differ little.
    for s in (0..head).rev() {
        sum += term(n, n + s as f64);
    }
    if head == m {
        return sum;
    }
    let (a, b) = (n + head as f64, n + m as f64);
    let mut tail = 0.0;
    for (k, weight) in EULER_MACLAURIN.iter().enumerate().rev() {
        let j = 2 * k + 1;
        tail += weight * (derivative(n, b, j) - derivative(n, a, j));
    }
    tail -= (term(n, b) - term(n, a)) / 2.0;
    sum + (tail + integral(n, a, b))
}

/// `Σ 1/t` for `count` values of `t` from `first` on: `ψ(first + count) − ψ(first)`.
fn reciprocals(first: f64, count: usize) -> f64 {
    sum(
        first,
        count,
        |_, t| 1.0 / t,
        |_, a, b| ((b - a) / a).ln_1p(),
        |_, t, j| -factorial(j) * t.powi(-(j as i32) - 1),
    )
}

fn factorial(j: usize) -> f64 {
    (2..=j).map(|i| i as f64).product()
}
