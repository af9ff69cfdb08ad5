//! From the geometry of a set to its joint value.

use super::{JointValue, SetGeometry};
use crate::numeric::CountingRule;
use crate::{Error, Sizes};

/// Step of the trapezoidal rule in `log t`, as for the sums of Theorem 2.
const STEP: f64 = 0.25;

/// Integrands are followed until they have fallen by this power of e.
const NEGLIGIBLE: f64 = 38.0;

/// Steps of Newton's method for `κ₀`; it converges in a few.
const MOST_STEPS: usize = 100;

/// The joint value for one `(p, q, m)`.
///
/// ```text
/// φ_i = ∫ e^(−t g_i) (1+2t)^(−(s−p+1)/2) Π_{j≠i} (1+2tθ_j)^(−1/2) dt      κ_i = −dφ_i/dε at g + ε
/// θ_j = g_j/(κ₀+g_j)                                                      κ₀ = (s−p+r−1)/(1 + Σ_j 1/(g_j+κ₀))
/// ```
///
/// Exact for one direction. All integrands are positive and `φ⁰ − φ_i` is integrated as one,
/// so nothing cancels before potential and penalty are subtracted.
#[derive(Debug, Clone)]
pub struct JointForm {
    dim: usize,
    sizes: Sizes,
    rule: CountingRule,
}

impl JointForm {
    /// The form for `dim` design columns.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] unless `q ≤ m` and `q ≥ p + 3`.
    pub fn new(dim: usize, sizes: Sizes) -> Result<Self, Error> {
        sizes.check(dim, dim + 3)?;
        let rule = CountingRule::new(sizes.min() as u64 - 1, sizes.max() as u64 - 1);
        Ok(Self { dim, sizes, rule })
    }

    /// The value of a set, for noise of variance `noise_var`.
    pub fn value(&self, set: &SetGeometry, noise_var: f64) -> JointValue {
        let (mut potential, mut penalty) = (0.0, 0.0);
        for node in self.rule.nodes() {
            let gain = self.gain_at(set, noise_var, node.at);
            potential += node.weight * gain.potential;
            penalty += node.weight * gain.penalty;
        }
        let m = self.sizes.max() as f64;
        let (potential, penalty) = (potential / m, penalty / m);
        JointValue { value: potential - penalty, potential, penalty }
    }

    /// `M_s`: what the set adds to `size` others.
    pub fn gain_at(&self, set: &SetGeometry, noise_var: f64, size: f64) -> JointValue {
        let (p, r) = (self.dim as f64, set.squares().len() as f64);
        let scale = (size - 1.0) / (size - p + r - 1.0);
        let saturation = Saturation::of(set.squares(), size - p + r);
        let (mut potential, mut penalty) = (0.0, 0.0);
        for (i, &g) in set.squares().iter().enumerate() {
            let (lost, kappa) = saturation.integrals(set.squares(), i, size - p + 1.0);
            potential += noise_var * (lost + g * kappa);
            penalty += set.scores()[i].powi(2) * kappa;
        }
        let (potential, penalty) = (scale * potential, scale * penalty);
        JointValue { value: potential - penalty, potential, penalty }
    }
}

/// How much of each direction the set determines beside `s` others, `θ`, and how that
/// changes if all `g` grow alike.
struct Saturation {
    theta: Vec<f64>,
    slope: Vec<f64>,
}

impl Saturation {
    fn of(g: &[f64], degrees: f64) -> Self {
        // The left side rises with κ and is concave, so Newton from below climbs to the root.
        let r = g.len() as f64;
        let mut kappa = (degrees - 1.0 - r).max(f64::MIN_POSITIVE);
        for _ in 0..MOST_STEPS {
            let left: f64 = kappa * (1.0 + g.iter().map(|g| 1.0 / (g + kappa)).sum::<f64>());
            let rise: f64 = 1.0 + g.iter().map(|g| g / (g + kappa).powi(2)).sum::<f64>();
            let step = (degrees - 1.0 - left) / rise;
            kappa += step;
            if step.abs() <= 1e-15 * kappa {
                break;
            }
        }
        let squares: f64 = g.iter().map(|g| (g + kappa).powi(-2)).sum();
        let rise: f64 = 1.0 + g.iter().map(|g| g / (g + kappa).powi(2)).sum::<f64>();
        let kappa_slope = kappa * squares / rise;
        Self {
            theta: g.iter().map(|g| g / (kappa + g)).collect(),
            slope: g.iter().map(|g| (kappa - g * kappa_slope) / (kappa + g).powi(2)).collect(),
        }
    }

    /// `φ⁰ − φ_i` and `κ_i`, with `ν = s − p + 1`.
    fn integrals(&self, g: &[f64], i: usize, nu: f64) -> (f64, f64) {
        let largest = g.iter().copied().fold(0.0, f64::max);
        let low = -(nu + largest).ln() - NEGLIGIBLE / 2.0;
        // Powers of t with which the two integrands fall: the second may fall only by e^(−t g).
        let of_first = NEGLIGIBLE / ((nu - 2.0) / 2.0);
        let by_decay = (NEGLIGIBLE / g[i]).ln();
        let of_second = if nu > 4.0 { by_decay.min(NEGLIGIBLE / ((nu - 4.0) / 2.0)) } else { by_decay };
        let high = of_first.max(of_second) + 1.0;
        let n_points = ((high - low) / STEP).ceil() as usize;
        let (mut lost, mut kappa) = (0.0, 0.0);
        for k in 0..=n_points {
            let t = (low + STEP * k as f64).exp();
            let (mut log, mut growth) = (t * g[i], t);
            for (j, (&theta, &slope)) in self.theta.iter().zip(&self.slope).enumerate() {
                if j != i {
                    log += (2.0 * t * theta).ln_1p() / 2.0;
                    growth += t * slope / (1.0 + 2.0 * t * theta);
                }
            }
            let base = t * (-nu / 2.0 * (2.0 * t).ln_1p()).exp();
            lost += base * -(-log).exp_m1();
            kappa += base * growth * (-log).exp();
        }
        (STEP * lost, STEP * kappa)
    }
}
