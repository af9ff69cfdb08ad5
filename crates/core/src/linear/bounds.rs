//! Theorem 3: bounds on a value for any sub-Gaussian inputs.
//!
//! **Setting.** As in Theorem 2, but inputs need only be sub-Gaussian, and sets
//! may be fitted with a ridge `γ`. With high probability all eigenvalues of the
//! whitened `(X_SᵀX_S + γI)⁻¹` of a set of `j` rows lie in `[L_j, U_j]`:
//!
//! ```text
//! t_j = √(log(j√m)/c),   δ_j = (C√p + t_j)/√j
//! L_j = 1/(j(1+δ_j)² + γ λ_max),   U_j = 1/(j·max(1−δ_j, 0)² + γ λ_min)      λ: eigenvalues of Σ⁻¹
//! ```
//!
//! **Result.** On that event the gain of joining such a set lies between the
//! extremes of `a l²((2+al)σ² − e²)/(1+al)²`, which are taken at `L_j`, at `U_j`
//! or, for the lower bound, at a mixture of both; a bound on the value is the sum
//! of these over `j = q−1 … m−1`, divided by `m`.
//!
//! **Assumptions.** `c = ½`, `C = 1` is proved for Gaussian designs. With a ridge the
//! terms `h₁`, `h₂` of Proposition 1 are not covered. Where `δ_j ≥ 1` and `γ = 0` the
//! bound is infinite.
//!
//! [`Convention::Printed`] has the coefficients as printed in the paper, with those of
//! `e²` swapped, so it is not a valid bound. Its `t_j = √(log(jm)/(2c))` is that of the
//! statement, Corollary 4 and Algorithm 4. [`Convention::Authors`] has the same coefficients
//! as the authors' program computes them: `t_j = √(log(j√m)/c)`, and `γ` itself instead of
//! `γλ`.

use super::fit::LinearFit;
use super::gaussian::{Convention, PointStats};
use super::printed_sums::PrintedSums;
use crate::numeric::BranchedRule;
use crate::{Error, Sizes, Warning};

/// Sets this large do not exist. A bound that is infinite up to here stays infinite.
const LARGEST_SIZE: usize = 1 << 50;

/// Which side a value is bounded on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// From below.
    Lower,
    /// From above.
    Upper,
}

/// A bound and its constants.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `convention` | `Definition` | valid bounds, the printed ones, or those of the authors' program |
/// | `tail` | ½, else 1 | `c` of the tail of the eigenvalues |
/// | `edge` | 1 | `C` of their edge |
/// | `ridge` | 0 | `γ`, added to the sum of squares |
/// | `stop` | none | not for valid bounds: Algorithm 4 stops when a term is at most this share of the sum |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// Which side.
    pub side: Side,
    /// Valid, as printed, or as in the authors' program.
    pub convention: Convention,
    /// `c`.
    pub tail: f64,
    /// `C`.
    pub edge: f64,
    /// `γ`.
    pub ridge: f64,
    /// `ρ` of Algorithm 4.
    pub stop: Option<f64>,
}

impl Bound {
    /// The bound with the default constants of its convention.
    pub fn new(side: Side, convention: Convention) -> Self {
        let tail = match convention {
            Convention::Definition => 0.5,
            Convention::Printed | Convention::Authors => 1.0,
        };
        Self { side, convention, tail, edge: 1.0, ridge: 0.0, stop: None }
    }

    /// The smallest set size for which the bound is finite without a ridge: the first `j`
    /// with `δ_j < 1`.
    pub fn first_size(&self, dim: usize, max: usize) -> usize {
        let says_nothing = |j: usize| self.delta(j as f64, dim, max) >= 1.0;
        let mut above = dim.max(1);
        while says_nothing(above) {
            if above > LARGEST_SIZE {
                return above;
            }
            above *= 2;
        }
        // δ falls with j once it is anywhere near 1.
        let (mut below, mut above) = (above / 2, above);
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            if says_nothing(middle) { below = middle } else { above = middle }
        }
        above
    }

    fn delta(&self, j: f64, dim: usize, max: usize) -> f64 {
        let m = max as f64;
        let t_sq = match self.convention {
            Convention::Printed => (j * m).ln() / (2.0 * self.tail),
            Convention::Definition | Convention::Authors => (j * m.sqrt()).ln() / self.tail,
        };
        let t = t_sq.max(0.0).sqrt();
        (self.edge * (dim as f64).sqrt() + t) / j.sqrt()
    }
}

/// A bound for one `(p, q, m)`.
#[derive(Debug)]
pub struct BoundForm {
    dim: usize,
    sizes: Sizes,
    bound: Bound,
    /// What `γ` is multiplied by in `U` and in `L`.
    lambda: (f64, f64),
    rule: BranchedRule,
    printed: PrintedSums,
}

/// The ends of the interval of eigenvalues, and whether it was clipped.
pub(super) struct Ends {
    low: f64,
    high: f64,
    clipped: bool,
}

impl Ends {
    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Formulas change where the interval is clipped.
    pub(super) fn branch(&self) -> u8 {
        u8::from(self.clipped)
    }
}

impl BoundForm {
    /// The form for `dim` design columns; `lambda` are the smallest and the
    /// largest eigenvalue of `Σ⁻¹`, which matter only with a ridge.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] unless `2 ≤ q ≤ m`.
    pub fn new(dim: usize, sizes: Sizes, bound: Bound, lambda: (f64, f64)) -> Result<Self, Error> {
        sizes.check(dim, 2)?;
        let rule = BranchedRule::new(sizes.min() as u64 - 1, sizes.max() as u64 - 1);
        Ok(Self { dim, sizes, bound, lambda, rule, printed: PrintedSums::new(bound.side) })
    }

    /// The form for a fitted reference.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_fit(fit: &LinearFit, sizes: Sizes, bound: Bound) -> Result<Self, Error> {
        let lambda = match bound.convention {
            Convention::Definition | Convention::Printed if bound.ridge > 0.0 => fit.precision_range(),
            // The authors' program adds γ itself after whitening.
            _ => (1.0, 1.0),
        };
        Self::new(fit.dim(), sizes, bound, lambda)
    }

    /// The set sizes summed over.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The bound.
    pub fn bound(&self) -> Bound {
        self.bound
    }

    /// What is doubtful about the bound itself.
    pub fn warning(&self) -> Option<Warning> {
        (self.bound.convention != Convention::Definition).then_some(Warning::NotABound)
    }

    /// The bound on the value of a row. Infinite where there is none.
    pub fn value(&self, row: PointStats) -> f64 {
        let m = self.sizes.max() as f64;
        match (self.bound.convention, self.bound.side, self.bound.stop) {
            (Convention::Definition, Side::Upper, _) => self.rule.sum(|j| self.upper(row, j)) / m,
            (Convention::Definition, Side::Lower, _) => self.rule.sum(|j| self.lower(row, j)) / m,
            (Convention::Printed | Convention::Authors, _, None) => self.whole_printed(row),
            (Convention::Printed | Convention::Authors, side, Some(stop)) => {
                self.printed_until(row, side, stop).0 / m
            }
        }
    }

    /// With a stopping rule: how many set sizes the sum of a row takes, and which share of
    /// the whole sum it keeps.
    pub fn truncation(&self, row: PointStats) -> Option<(usize, f64)> {
        let stop = self.bound.stop.filter(|_| self.bound.convention != Convention::Definition)?;
        let (sum, n_visited) = self.printed_until(row, self.bound.side, stop);
        Some((n_visited, sum / self.sizes.max() as f64 / self.whole_printed(row)))
    }

    fn whole_printed(&self, row: PointStats) -> f64 {
        let [noise, residual] = self.printed.at(row.dist_sq, &self.rule, |j| self.ends(j));
        row.dist_sq * (noise * row.noise_var - residual * row.resid_sq) / self.sizes.max() as f64
    }

    fn ends(&self, j: f64) -> Ends {
        let delta = self.bound.delta(j, self.dim, self.sizes.max());
        let (ridge, (smallest, largest)) = (self.bound.ridge, self.lambda);
        let clipped = delta >= 1.0;
        let room = match self.bound.convention {
            Convention::Definition if clipped => 0.0,
            _ => (1.0 - delta).powi(2),
        };
        Ends {
            low: 1.0 / (j * (1.0 + delta).powi(2) + ridge * largest),
            high: 1.0 / (j * room + ridge * smallest),
            clipped,
        }
    }

    fn upper(&self, row: PointStats, j: f64) -> (u8, f64) {
        let Ends { low, high, clipped } = self.ends(j);
        if high.is_infinite() {
            return (4, if row.dist_sq > 0.0 { f64::INFINITY } else { 0.0 });
        }
        let (at_low, at_high) = (gain(row, low), gain(row, high));
        let branch = 2 * u8::from(clipped);
        if at_low >= at_high { (branch, at_low) } else { (branch + 1, at_high) }
    }

    fn lower(&self, row: PointStats, j: f64) -> (u8, f64) {
        let Ends { low, high, clipped } = self.ends(j);
        let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = row;
        if high.is_infinite() {
            return (8, if a > 0.0 { f64::NEG_INFINITY } else { 0.0 });
        }
        let branch = 4 * u8::from(clipped);
        let (at_low, at_high) = (gain(row, low), gain(row, high));
        let mut least = if at_low <= at_high { (branch, at_low) } else { (branch + 1, at_high) };
        // Between the ends: some eigenvalues at one of them, the others at the other.
        let both = low + high + a * low * high;
        let u = 2.0 * both * (e2 - sigma2) / (sigma2 * a * low * high + e2 * (low + high));
        if 1.0 + a * low < u && u < 1.0 + a * high && (1.0 + u) * sigma2 < e2 {
            let mixed = sigma2 * (low + high - a * low * high / u - both / (u * u))
                - e2 * ((low + high) * u - both) / (u * u);
            if mixed < least.1 {
                least = (branch + 2, mixed);
            }
        }
        least
    }

    fn printed_term(&self, row: PointStats, side: Side, j: f64) -> f64 {
        let Ends { low, high, .. } = self.ends(j);
        let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = row;
        let ratio = ((1.0 + a * low) / (1.0 + a * high)).powi(2);
        match side {
            Side::Lower => a * (low / (1.0 + a * high)).powi(2) * ((2.0 + a * low) * sigma2 - e2 / ratio),
            Side::Upper => a * (high / (1.0 + a * low)).powi(2) * ((2.0 + a * high) * sigma2 - e2 * ratio),
        }
    }

    /// Algorithm 4: term by term until one is small. Returns the sum and its number of terms.
    fn printed_until(&self, row: PointStats, side: Side, stop: f64) -> (f64, usize) {
        let (mut sum, mut n_visited) = (0.0, 0);
        for j in self.sizes.min() - 1..self.sizes.max() {
            let term = self.printed_term(row, side, j as f64);
            sum += term;
            n_visited += 1;
            if term.abs() <= stop * sum.abs() {
                break;
            }
        }
        (sum, n_visited)
    }
}

/// The gain when all eigenvalues are `l`.
fn gain(row: PointStats, l: f64) -> f64 {
    let al = row.dist_sq * l;
    al * l * ((2.0 + al) * row.noise_var - row.resid_sq) / (1.0 + al).powi(2)
}
