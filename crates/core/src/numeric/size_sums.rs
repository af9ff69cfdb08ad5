//! The three sums over set sizes behind Theorem 2, for any squared distance.

use super::chebyshev::Chebyshev;
use super::counting::{CountingRule, Node};
use crate::Sizes;
use std::sync::OnceLock;

/// Step of the trapezoidal rule in `log t`. The integrands are analytic in a
/// strip around the real line and decay at both ends, so the error falls like
/// `exp(−π²/step)`: far below rounding at 1/4.
const STEP: f64 = 0.25;

/// Tables cover `A_LOW ≤ a ≤ A_HIGH`. Outside, one term of the expansion in
/// `a` is exact to double precision (see [`SizeSums::beyond`]).
const A_LOW: f64 = 1e-40;
const A_HIGH: f64 = 1e40;

/// Panels of unit width in `log a`: the nearest singularity, at `log a = log T
/// ± iπ`, makes 14 Chebyshev points converge like `12.6⁻¹⁴`.
const PANEL_NODES: usize = 14;

/// H2, H3, H4 and −∂H2/∂a are evaluated together.
const LANES: usize = 4;

/// Sums over set sizes of chi-squared expectations (Theorem 2).
///
/// With `ν = s − p + 1`, `T ~ χ²(ν)`, `w = (ν + p − 2)/(ν − 1)` and sums over
/// `ν = first ..= last`,
///
/// ```text
/// H2(a) = Σ w E[1/(a+T)²]      = ∫₀^∞ t e^{−at} Σ w y^ν dt            y = (1+2t)^{−1/2}
/// H3(a) = Σ w E[T/(a+T)²]      = ∫₀^∞ t e^{−at} Σ w ν y^{ν+2} dt
/// H4(a) = Σ w E[a/(T(a+T))]    = a ∫₀^∞ e^{−at} Σ w/(ν−2) y^{ν−2} dt
/// ```
///
/// Every integrand is positive, so nothing cancels: the relative error is
/// below 1e-12 for `p ≤ 2000`, `last ≤ 1e7` and every `a ≥ 0` (measured: 6e-14
/// at worst, `docs/accuracy.md`). Building costs `O(log last)`; one evaluation is
/// `O(1)`.
#[derive(Debug)]
pub struct SizeSums {
    nu_first: u64,
    /// `w` of the first term, which alone decides what happens as `a → 0`.
    first_weight: f64,
    first_rho: f64,
    grid: Vec<GridPoint>,
    /// Filled when a point first falls into them; a data set visits about ten.
    panels: Vec<OnceLock<Chebyshev<PANEL_NODES, LANES>>>,
    at_zero: Sums,
    at_low: [f64; LANES],
    at_high: [f64; LANES],
}

/// The sums at one squared distance `a`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// `H2(a)`; infinite at `a = 0` when the first `ν` is 4 or less.
    pub h2: f64,
    /// `a · H2(a)`, finite everywhere.
    pub a_h2: f64,
    /// `H3(a)`; infinite at `a = 0` when the first `ν` is 2.
    pub h3: f64,
    /// `H4(a)`; infinite when the first `ν` is 2.
    pub h4: f64,
    /// `−∂H2/∂a ≥ 0`; infinite at `a = 0` when the first `ν` is 6 or less.
    pub neg_dh2: f64,
}

/// One node of the trapezoidal rule: `t` and the weighted sums over `ν` there.
#[derive(Debug, Clone, Copy)]
struct GridPoint {
    t: f64,
    /// Step, Jacobian and powers of `t` included.
    h2: f64,
    h3: f64,
    h4_over_a: f64,
}

impl SizeSums {
    /// Sums over `ν = nu_first ..= nu_last` for a design of `dim` columns.
    ///
    /// # Panics
    ///
    /// If `dim` is 0, `nu_first < 2` or `nu_last < nu_first`; callers check
    /// their set sizes first.
    pub fn new(dim: usize, nu_first: u64, nu_last: u64) -> Self {
        Self::scaled(dim, nu_first, nu_last, |_| (1.0, 1.0))
    }

    /// The same with `T` replaced by `ρT` and `w` by `ωw`, where `factors` gives
    /// `(ρ, ω)` for a `ν`, which they follow smoothly.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn scaled(dim: usize, nu_first: u64, nu_last: u64, factors: impl Fn(f64) -> (f64, f64)) -> Self {
        let rule = CountingRule::new(nu_first, nu_last);
        Self::of_nodes(dim, (nu_first, nu_last), rule.nodes(), factors, usual_weight(dim))
    }

    /// The same for the sets of some sizes, each with the weight that it has `m` times.
    pub(crate) fn of_sizes(dim: usize, sizes: Sizes, factors: impl Fn(f64) -> (f64, f64)) -> Self {
        Self::weighted(dim, sizes, factors, usual_weight(dim))
    }

    /// The same with another function of `ν` for `w`.
    pub(crate) fn weighted(
        dim: usize,
        sizes: Sizes,
        factors: impl Fn(f64) -> (f64, f64),
        weight: impl Fn(f64) -> f64,
    ) -> Self {
        let nu = |size: usize| (size - dim) as u64;
        let (nu_first, nu_last) = (nu(sizes.min()), nu(sizes.max()));
        // ν = s − p + 1
        let nodes = sizes.semivalue().counts(nu_first, nu_last, dim as f64 - 1.0, sizes.max());
        // Sizes without weight do not decide what happens next to the centre.
        let nu_first = nu_first.max(nodes[0].at.floor() as u64);
        Self::of_nodes(dim, (nu_first, nu_last), &nodes, factors, weight)
    }

    fn of_nodes(
        dim: usize,
        (nu_first, nu_last): (u64, u64),
        nodes: &[Node],
        factors: impl Fn(f64) -> (f64, f64),
        weight: impl Fn(f64) -> f64,
    ) -> Self {
        assert!(dim >= 1, "a design has at least one column");
        assert!(
            (2..=nu_last).contains(&nu_first),
            "degrees of freedom {nu_first}..={nu_last} must start at 2 or above"
        );
        let terms: Vec<Term> = nodes
            .iter()
            .map(|node| {
                let (rho, omega) = factors(node.at);
                Term { nu: node.at, weight: node.weight * weight(node.at) * omega, rho }
            })
            .collect();
        let first = terms[0];
        let grid = grid(&terms, nu_first, nu_last);
        let at_low = integrate(&grid, A_LOW);
        let at_high = integrate(&grid, A_HIGH);
        let moment = |order: u64| {
            // E[1/T^k] = 1/((ν−2)(ν−4)…(ν−2k)), infinite unless ν > 2k.
            if nu_first <= 2 * order {
                return f64::INFINITY;
            }
            let inverse = |term: &Term, k: u64| 1.0 / (term.rho * (term.nu - 2.0 * k as f64));
            terms
                .iter()
                .map(|term| (1..=order).fold(term.weight, |product, k| product * inverse(term, k)))
                .sum()
        };
        let at_zero = Sums {
            h2: moment(2),
            a_h2: 0.0,
            h3: moment(1),
            h4: if nu_first > 2 { 0.0 } else { f64::INFINITY },
            neg_dh2: 2.0 * moment(3),
        };
        let n_panels = (A_HIGH.ln() - A_LOW.ln()).ceil() as usize;
        Self {
            nu_first,
            first_weight: first.weight,
            first_rho: first.rho,
            grid,
            panels: (0..n_panels).map(|_| OnceLock::new()).collect(),
            at_zero,
            at_low,
            at_high,
        }
    }

    /// The sums at `a ≥ 0`, from the table.
    #[inline]
    pub fn at(&self, a: f64) -> Sums {
        if !(A_LOW..=A_HIGH).contains(&a) {
            return self.beyond(a);
        }
        let position = a.ln() - A_LOW.ln();
        let panel = (position as usize).min(self.panels.len() - 1);
        let table = self.panels[panel].get_or_init(|| self.tabulate(panel));
        let scaled = table.at(2.0 * (position - panel as f64) - 1.0);
        let r = 1.0 / (1.0 + a / self.nu_first as f64);
        let h2 = scaled[0] * (r * r);
        Sums {
            h2,
            a_h2: a * h2,
            h3: scaled[1] * (r * r),
            // Interpolating infinities gives NaN.
            h4: if self.nu_first > 2 { a * (scaled[2] * r) } else { f64::INFINITY },
            neg_dh2: scaled[3] * (r * r * r),
        }
    }

    /// The sums at `a ≥ 0`, integrated for this `a` alone. Slower than [`at`](Self::at);
    /// meant for single numbers and for checking the table.
    pub fn integrated_at(&self, a: f64) -> Sums {
        if !(A_LOW..=A_HIGH).contains(&a) {
            return self.beyond(a);
        }
        let [h2, h3, h4_over_a, neg_dh2] = integrate(&self.grid, a);
        Sums { h2, a_h2: a * h2, h3, h4: a * h4_over_a, neg_dh2 }
    }

    /// Interpolates over one panel. The functions are flattened first: as powers of `1 +
    /// a/ν` they would span several orders of magnitude within a panel and lose that many
    /// digits at its lower end.
    fn tabulate(&self, panel: usize) -> Chebyshev<PANEL_NODES, LANES> {
        Chebyshev::interpolate(|x| {
            let a = (A_LOW.ln() + panel as f64 + (x + 1.0) / 2.0).exp();
            let [h2, h3, h4_over_a, neg_dh2] = integrate(&self.grid, a);
            let growth = 1.0 + a / self.nu_first as f64;
            [h2 * growth.powi(2), h3 * growth.powi(2), h4_over_a * growth, neg_dh2 * growth.powi(3)]
        })
    }

    /// Below the table only the first `ν` matters: `E[1/(a+T)^k]` behaves like
    /// `a^{ν/2−k}`, like `−log a` when that exponent is zero, or has a limit.
    /// Above it `a + T = a` in double precision.
    #[cold]
    fn beyond(&self, a: f64) -> Sums {
        if a == 0.0 {
            return self.at_zero;
        }
        if a > A_HIGH {
            let r = A_HIGH / a;
            let [h2, h3, h4_over_a, neg_dh2] = self.at_high;
            return Sums {
                h2: h2 * r * r,
                a_h2: h2 * A_HIGH * r,
                h3: h3 * r * r,
                h4: h4_over_a * A_HIGH,
                neg_dh2: neg_dh2 * r * r * r,
            };
        }
        let r = a / A_LOW;
        let nu = self.nu_first;
        // ∫ t^{k−1} e^{−at} w y^ν dt gains w·(2ρ)^{−ν/2}·log(1/r) when ν = 2k.
        let log_gain = self.first_weight * (0.5 / self.first_rho).powf(nu as f64 / 2.0) * -r.ln();
        let continued = |at_low: f64, k: f64| match nu as f64 / 2.0 - k {
            exponent if exponent < 0.0 => at_low * r.powf(exponent),
            0.0 => at_low + log_gain,
            _ => at_low,
        };
        let [h2, h3, h4_over_a, neg_dh2] = self.at_low;
        let h2 = continued(h2, 2.0);
        // T/(a+T)² has the weight ν y^{ν+2}: the same rule with ν + 2 for ν.
        let h3 = if nu == 2 { h3 + log_gain } else { h3 };
        let h4 = if nu == 4 { h4_over_a + log_gain } else { continued(h4_over_a, 2.0) };
        Sums { h2, a_h2: a * h2, h3, h4: a * h4, neg_dh2: continued(neg_dh2, 3.0) }
    }
}

/// `w = (ν + p − 2)/(ν − 1)` of Theorem 2.
fn usual_weight(dim: usize) -> impl Fn(f64) -> f64 {
    move |nu| 1.0 + (dim as f64 - 1.0) / (nu - 1.0)
}

/// A set size, or what stands for several of them.
#[derive(Debug, Clone, Copy)]
struct Term {
    nu: f64,
    /// `ωw` times the number of sizes it stands for.
    weight: f64,
    rho: f64,
}

/// The nodes in `t` and, at each, the sums over `ν`. They do not depend on `a`.
fn grid(terms: &[Term], nu_first: u64, nu_last: u64) -> Vec<GridPoint> {
    let n_terms = (nu_last - nu_first + 1) as f64;
    let (least_rho, most_rho) = terms
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), term| (least.min(term.rho), most.max(term.rho)));
    let lowest = (1e-16 / (A_HIGH + nu_last as f64 * most_rho)).ln();
    let mut highest = (45.0 / A_LOW).ln();
    if nu_first > 6 {
        // Even without e^{−at}, t³ y^ν is negligible beyond this.
        let vanished = 2.0 * (38.0 + n_terms.ln()) / (nu_first - 6) as f64 + 1.0 - least_rho.ln();
        highest = highest.min(vanished);
    }
    let n_points = ((highest - lowest) / STEP).ceil() as usize;
    (0..=n_points)
        .map(|k| {
            let t = (lowest + k as f64 * STEP).exp();
            let (mut plain, mut by_nu, mut by_inverse) = (0.0, 0.0, 0.0);
            let mut rho_before = f64::NAN;
            let (mut neg_log_y, mut y_sq) = (0.0, 0.0);
            for &Term { nu, weight, rho } in terms {
                if rho != rho_before {
                    // y = (1 + 2ρt)^{−1/2}; one logarithm for all where ρ is 1.
                    neg_log_y = 0.5 * (2.0 * rho * t).ln_1p();
                    y_sq = 1.0 / (1.0 + 2.0 * rho * t);
                    rho_before = rho;
                }
                // Later terms are smaller still, and smaller than 1e-300 times the first.
                if (nu - nu_first as f64) * neg_log_y > 700.0 {
                    break;
                }
                // y^{ν−2} rather than y^ν: it is the largest power needed.
                let power = weight * (-(nu - 2.0) * neg_log_y).exp();
                plain += power * y_sq;
                by_nu += power * y_sq * y_sq * rho * nu;
                by_inverse += power / (rho * (nu - 2.0));
            }
            GridPoint {
                t,
                h2: STEP * t * t * plain,
                h3: STEP * t * t * by_nu,
                h4_over_a: STEP * t * by_inverse,
            }
        })
        .collect()
}

/// `[H2, H3, H4/a, −∂H2/∂a]` by the trapezoidal rule on the grid.
fn integrate(grid: &[GridPoint], a: f64) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for point in grid {
        let at = a * point.t;
        if at > 745.0 {
            break;
        }
        let decay = (-at).exp();
        sums[0] += point.h2 * decay;
        sums[1] += point.h3 * decay;
        sums[2] += point.h4_over_a * decay;
        sums[3] += point.h2 * point.t * decay;
    }
    sums
}
