//! Sums over set sizes for models that refit their intercept, for any squared distance.

use super::chebyshev::Chebyshev;
use super::counting::Node;
use crate::Sizes;
use std::sync::OnceLock;

/// Step of the trapezoidal rule in `log t`, as for [`SizeSums`](super::SizeSums).
const STEP: f64 = 0.25;

/// Integrals begin where the integrand is this share of its scale.
const NEGLIGIBLE: f64 = 1e-18;

/// No integral takes more: `t` would overflow.
const MOST_STEPS: u32 = 3000;

/// Tables cover `a ≤ A_HIGH`; beyond, sums follow their last power of `a`.
const A_HIGH: f64 = 1e40;

/// Panels of unit width in `log(1 + a)`. The functions are analytic at `a = 0`.
const PANEL_NODES: usize = 16;

/// The two sums and their derivatives are evaluated together.
const LANES: usize = 4;

/// Sums over set sizes of what a row adds to a model that refits its intercept.
///
/// With `p` features, `a` the squared distance from the mean of the population,
/// `ν = s − p`, `f = 1/(s−1−p)` (0 for one feature), `c = (s+1)/s`, `D = s+1+2t`, `κ = 2t/D`,
/// `v = (s+1)/(sD)` and `y = (1+2t)^(−1/2)`,
///
/// ```text
/// Z = (1+2t/(s+1))^(−p/2) exp(−a·t·s/D)
/// R = (1−κ)²a + pv      h = κ(1−κ)a − pv      h₂ = h² + (1−2κ)²va + 2pv²
/// q₀ = 1/s²   q₁ = −2h/s   q₂ = R(1+(p−1)f) + h₂ + f(p−1)va
/// I₂ = c⁻² ∫ t Z [ q₀ν(ν+2)y^(ν+4) + q₁ν y^(ν+2) + q₂ y^ν ] dt
/// I₁ = c⁻¹ ∫ Z [ q₀ν y^(ν+2) + q₁ y^ν + q₂ y^(ν−2)/(ν−2) ] dt
/// ```
///
/// and a row gains `(σ² − e²)·I₂ + σ²·I₁` for a set of `s ≥ p + 3` rows.
#[derive(Debug)]
pub struct InterceptSums {
    dim: f64,
    /// Set sizes, each with `m` times its weight.
    nodes: Vec<Node>,
    /// Distances on this scale matter.
    scale: f64,
    panels: Vec<OnceLock<Chebyshev<PANEL_NODES, LANES>>>,
}

/// The sums at one squared distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterceptSum {
    /// `Σ I₂`: what an error costs, and a part of what noise lets a row bring.
    pub square: f64,
    /// `Σ I₁`: the other part.
    pub noise: f64,
    /// `∂/∂a Σ I₂`.
    pub square_slope: f64,
    /// `∂/∂a Σ I₁`.
    pub noise_slope: f64,
}

impl InterceptSums {
    /// Sums over the sets of these sizes for `dim` features.
    ///
    /// # Panics
    ///
    /// If `dim` is 0 or sets have fewer than `dim + 3` rows; callers check their set sizes.
    pub fn new(dim: usize, sizes: Sizes) -> Self {
        assert!(dim >= 1, "a design has at least one column");
        assert!(sizes.min() >= dim + 4, "the smallest sets must have at least {} rows", dim + 3);
        let (first, last) = (sizes.min() as u64 - 1, sizes.max() as u64 - 1);
        let nodes = sizes.semivalue().counts(first, last, 0.0, sizes.max());
        let n_panels = A_HIGH.ln().ceil() as usize;
        Self {
            dim: dim as f64,
            nodes,
            scale: (first - dim as u64) as f64,
            panels: (0..n_panels).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The sums at `a ≥ 0`, from the table.
    #[inline]
    pub fn at(&self, a: f64) -> InterceptSum {
        if a >= A_HIGH {
            return self.beyond(a);
        }
        let position = a.ln_1p();
        let panel = (position as usize).min(self.panels.len() - 1);
        let table = self.panels[panel].get_or_init(|| self.tabulate(panel));
        let scaled = table.at(2.0 * (position - panel as f64) - 1.0);
        let r = self.decay(a);
        InterceptSum {
            square: scaled[0] * r,
            noise: scaled[1],
            square_slope: scaled[2] * r * r,
            noise_slope: scaled[3] * r * r,
        }
    }

    /// The sums at `a ≥ 0`, integrated for this `a` alone.
    pub fn integrated_at(&self, a: f64) -> InterceptSum {
        if a >= A_HIGH {
            return self.beyond(a);
        }
        let [square, noise, square_slope, noise_slope] = self.integrate(a);
        InterceptSum { square, noise, square_slope, noise_slope }
    }

    fn decay(&self, a: f64) -> f64 {
        1.0 / (1.0 + a / self.scale)
    }

    fn tabulate(&self, panel: usize) -> Chebyshev<PANEL_NODES, LANES> {
        Chebyshev::interpolate(|x| {
            let a = (panel as f64 + (x + 1.0) / 2.0).exp_m1();
            let [square, noise, square_slope, noise_slope] = self.integrate(a);
            let r = self.decay(a);
            [square / r, noise, square_slope / (r * r), noise_slope / (r * r)]
        })
    }

    /// `I₂` falls like `1/a`, and `I₁` has a limit.
    #[cold]
    fn beyond(&self, a: f64) -> InterceptSum {
        let [square, noise, square_slope, noise_slope] = self.integrate(A_HIGH * (1.0 - 1e-9));
        let r = A_HIGH / a;
        InterceptSum {
            square: square * r,
            noise,
            square_slope: square_slope * r * r,
            noise_slope: noise_slope * r * r,
        }
    }

    fn integrate(&self, a: f64) -> [f64; LANES] {
        let mut sums = [0.0; LANES];
        for node in &self.nodes {
            let of_size = integrate_size(self.dim, node.at, a);
            sums.iter_mut().zip(of_size).for_each(|(sum, one)| *sum += node.weight * one);
        }
        sums
    }
}

/// `[I₂, I₁, ∂I₂/∂a, ∂I₁/∂a]` for sets of `s` rows, by the trapezoidal rule in `log t`.
fn integrate_size(p: f64, s: f64, a: f64) -> [f64; LANES] {
    let nu = s - p;
    let f = if p == 1.0 { 0.0 } else { 1.0 / (s - 1.0 - p) };
    let more = (p - 1.0) * f;
    let c = (s + 1.0) / s;
    let mut sums = [0.0; LANES];
    let centre = 1.0 / (a + nu);
    let lowest = (NEGLIGIBLE * centre).ln();
    for k in 0..MOST_STEPS {
        let t = (lowest + f64::from(k) * STEP).exp();
        let d = s + 1.0 + 2.0 * t;
        let (kappa, rest) = (2.0 * t / d, (s + 1.0) / d);
        let v = (s + 1.0) / (s * d);
        let pull = t * s / d;
        let y_sq = 1.0 / (1.0 + 2.0 * t);
        let log_z = -0.5 * p * (2.0 * t / (s + 1.0)).ln_1p() - 0.5 * nu * (2.0 * t).ln_1p() - a * pull;
        let z = STEP * t * log_z.exp();

        let bend = (1.0 - 2.0 * kappa).powi(2) * v;
        let (h, h_slope) = (kappa * rest * a - p * v, kappa * rest);
        let q0 = 1.0 / (s * s);
        let (q1, q1_slope) = (-2.0 * h / s, -2.0 * h_slope / s);
        let r_slope = rest * rest * (1.0 + more);
        let q2 = r_slope * a + p * v * (1.0 + more) + h * h + bend * a + 2.0 * p * v * v + more * v * a;
        let q2_slope = r_slope + 2.0 * h * h_slope + bend + more * v;

        let square = q0 * nu * (nu + 2.0) * y_sq * y_sq + q1 * nu * y_sq + q2;
        let square_slope = q1_slope * nu * y_sq + q2_slope - pull * square;
        let noise = q0 * nu * y_sq + q1 + q2 / (y_sq * (nu - 2.0));
        let noise_slope = q1_slope + q2_slope / (y_sq * (nu - 2.0)) - pull * noise;
        let terms = [z * t * square, z * noise, z * t * square_slope, z * noise_slope];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        let is_small = |(sum, term): (&f64, f64)| term.abs() <= NEGLIGIBLE * sum.abs();
        if t > centre && sums.iter().zip(terms).all(is_small) {
            break;
        }
    }
    let [square, noise, square_slope, noise_slope] = sums;
    [square / (c * c), noise / c, square_slope / (c * c), noise_slope / c]
}
