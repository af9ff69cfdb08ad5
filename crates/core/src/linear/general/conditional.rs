//! Proposition 1: what a point brings to the fit on one fixed set.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

/// The population: `Σ`, `β` and `σ²`.
#[derive(Debug, Clone, Copy)]
pub struct Population<'a> {
    /// `Σ`, second moments of the features.
    pub covariance: MatRef<'a, f64>,
    /// `β`, the coefficients of least squares.
    pub coef: &'a [f64],
    /// `σ²`, the noise variance.
    pub noise_var: f64,
}

/// What the gain of a point depends on, for a fixed set of features `X_S` and
/// `B = (X_SᵀX_S + γI)⁻¹`. All but the first two are 0 without a ridge.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SetStats {
    /// `ℓ = xᵀBx`.
    pub leverage: f64,
    /// `Q = xᵀBΣBx`.
    pub spread: f64,
    /// `γ·xᵀBβ`: how far the ridge pulls the prediction at the point.
    pub pull: f64,
    /// `γ·xᵀBΣBβ`.
    pub pull_spread: f64,
    /// `γ·xᵀB²x`.
    pub damping: f64,
    /// `γ·xᵀBΣB²x`.
    pub damping_spread: f64,
}

/// The expected gain of a point, `main − h₁ − 2h₂`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConditionalGain {
    /// `Q((2 + ℓ)σ² − e²)/(1 + ℓ)²`, which is everything without a ridge.
    pub main: f64,
    /// What the ridge changes in the square of the step.
    pub h1: f64,
    /// What the ridge changes in its product with the error before it.
    pub h2: f64,
}

impl SetStats {
    /// The statistics of point `x` for the set with features `set` (one row
    /// each) and the given `ridge`; nothing if the normal equations of the set
    /// are singular.
    ///
    /// One factorisation per call; [`GeneralValuer`](super::GeneralValuer)
    /// shares it among all points.
    pub fn new(set: MatRef<'_, f64>, x: &[f64], population: Population<'_>, ridge: f64) -> Option<Self> {
        let p = x.len();
        let mut normal = set.transpose() * set;
        (0..p).for_each(|j| normal[(j, j)] += ridge);
        let factor = normal.llt(Side::Lower).ok()?;
        let x = Mat::from_fn(p, 1, |j, _| x[j]);
        let coef = Mat::from_fn(p, 1, |j, _| population.coef[j]);
        let dot = |a: &Mat<f64>, b: &Mat<f64>| (0..p).map(|j| a[(j, 0)] * b[(j, 0)]).sum::<f64>();

        let step = factor.solve(&x);
        let moved = population.covariance * &step;
        let back = factor.solve(&moved);
        Some(Self {
            leverage: dot(&x, &step),
            spread: dot(&step, &moved),
            pull: ridge * dot(&step, &coef),
            pull_spread: ridge * dot(&back, &coef),
            damping: ridge * dot(&step, &step),
            damping_spread: ridge * dot(&back, &step),
        })
    }

    /// `E[U(S ∪ z) − U(S) | X_S]` for a point with the signed residual
    /// `e = y − xᵀβ`.
    ///
    /// ```text
    /// h₁ = Q/(1+ℓ)² · [ 2e·pull + pull² − σ²·damping ]
    /// h₂ = [ −e·pull_spread − pull·pull_spread + σ²·damping_spread ] / (1+ℓ)
    /// ```
    #[inline]
    pub fn gain(&self, residual: f64, noise_var: f64) -> ConditionalGain {
        let (e, sigma2) = (residual, noise_var);
        let grown = 1.0 + self.leverage;
        let weight = self.spread / (grown * grown);
        ConditionalGain {
            main: weight * ((2.0 + self.leverage) * sigma2 - e * e),
            h1: weight * ((2.0 * e + self.pull) * self.pull - sigma2 * self.damping),
            h2: (sigma2 * self.damping_spread - (e + self.pull) * self.pull_spread) / grown,
        }
    }
}

impl ConditionalGain {
    /// `main − h₁ − 2h₂`.
    #[inline]
    pub fn total(&self) -> f64 {
        self.main - self.h1 - 2.0 * self.h2
    }
}
