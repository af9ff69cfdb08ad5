//! Standard errors of values for given test rows, from the reference having been a sample.
//!
//! Delta method for Gaussian rows, and noise as it is or Gaussian; test rows are taken as they are. In coordinates
//! in which `Σ` is the identity, with `v = Mζ`, an error `G` of `Σ`, one `η` of `β`, one `ξ`
//! of the mean and one `ε` of the mean target change
//!
//! ```text
//! a  by −ζᵀGζ − 2ζᵀξ                     b  by −2ζᵀGv − 2(v + (mᵀζ)ζ)ᵀξ        τ by −tr(GM) − 2mᵀξ
//! e  by −ζᵀη − ε                         c  by −e·ρᵀGζ − (ρᵀζ)(ζᵀη + ε) − e(vᵀη + (mᵀζ)ε + (ρ + e̅ζ)ᵀξ)
//! ```
//!
//! where `ρ = mean ζ_t e_t`, `m = mean ζ_t` and `e̅ = mean e_t`. `G` has variance 2 on its diagonal and 1
//! beside it, over `n`.

use super::form::{TargetForm, TargetSums};
use super::{TargetGeometry, TargetStats};
use crate::linear::PointStats;
use crate::linear::noise::{NoiseView, total_variance};
use crate::numeric::Sums;
use faer::Mat;

/// What errors need beyond values: test rows in whitened coordinates.
#[derive(Debug, Clone)]
pub(crate) struct TargetErrors {
    second: Mat<f64>,
    square_trace: f64,
    mean: Vec<f64>,
    score: Vec<f64>,
    mean_resid: f64,
}

/// How sure the parameters of a fit are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sureness<'a> {
    pub(crate) n_rows: f64,
    /// Degrees of freedom of the noise variance.
    pub(crate) degrees: f64,
    pub(crate) is_centred: bool,
    /// How residuals vary; Gaussian noise if that is not known.
    pub(crate) noise: Option<NoiseView<'a>>,
}

/// Derivatives of a value.
struct Slopes {
    by_a: f64,
    by_b: f64,
    by_trace: f64,
    by_score: f64,
    by_e2: f64,
    by_noise: f64,
}

impl TargetErrors {
    /// For a fit of `n` rows.
    pub(crate) fn new(geometry: &TargetGeometry, n: f64) -> Self {
        let p = geometry.mean.len();
        let second = geometry.full();
        let second = Mat::from_fn(p, p, |i, j| n * second[(i, j)]);
        let scaled = |vector: &[f64]| vector.iter().map(|cell| cell * n.sqrt()).collect();
        Self {
            square_trace: second.squared_norm_l2(),
            second,
            mean: scaled(&geometry.mean),
            score: scaled(&geometry.score),
            mean_resid: geometry.mean_resid,
        }
    }

    /// The standard error of the value of a row with whitened features `zeta` and the signed
    /// `residual`.
    pub(crate) fn of(
        &self,
        form: &TargetForm,
        (row, residual): (PointStats, f64),
        tests: TargetStats,
        zeta: &[f64],
        sure: Sureness<'_>,
    ) -> f64 {
        let slopes = slopes(form, row, tests);
        let v: Vec<f64> = (0..zeta.len()).map(|i| dot(self.second.col_as_slice(i), zeta)).collect();
        let (rho, mean) = (&self.score[..], &self.mean[..]);
        let Slopes { by_a, by_b, by_trace, by_score, by_e2, by_noise } = slopes;
        let (a, b, vv) = (dot(zeta, zeta), dot(&v, zeta), dot(&v, &v));
        let (rho_zeta, rho_rho, rho_v) = (dot(rho, zeta), dot(rho, rho), dot(rho, &v));
        let h = by_score * residual;

        // The errors of Σ: twice the squared norm of a symmetric matrix.
        let own = (by_a * a).powi(2)
            + 2.0 * by_b * by_b * (a * vv + b * b)
            + by_trace * by_trace * self.square_trace
            + h * h * (a * rho_rho + rho_zeta * rho_zeta) / 2.0;
        let mixed = by_a * (2.0 * by_b * a * b + by_trace * b + h * a * rho_zeta)
            + by_b * (2.0 * by_trace * vv + h * (b * rho_zeta + a * rho_v))
            + by_trace * h * rho_v;
        let from_sigma = 2.0 * (own + 2.0 * mixed);

        // Those of β and of the means.
        let (along, across) = (-2.0 * residual * by_e2 - by_score * rho_zeta, -h);
        let mean_zeta = dot(mean, zeta);
        let of_target = if sure.is_centred { along - h * mean_zeta } else { 0.0 };
        let of_features: Vec<f64> = (0..zeta.len())
            .map(|i| {
                2.0 * by_a * zeta[i]
                    + 2.0 * by_b * (v[i] + mean_zeta * zeta[i])
                    + 2.0 * by_trace * mean[i]
                    + h * (rho[i] + self.mean_resid * zeta[i])
            })
            .collect();
        let from_features = if sure.is_centred { dot(&of_features, &of_features) } else { 0.0 };
        let from_inputs = from_sigma.max(0.0) + from_features;

        let (sigma2, n) = (row.noise_var, sure.n_rows);
        let own_noise = by_noise * by_noise * sigma2 * sigma2 / sure.degrees;
        let Some(noise) = sure.noise else {
            let from_beta = sigma2 * (along * along * a + 2.0 * along * across * b + across * across * vv);
            let from_target = of_target * of_target * sigma2;
            return ((from_inputs + from_beta.max(0.0) + from_target) / n + 2.0 * own_noise).sqrt();
        };
        let by_zeta = noise.times(zeta);
        let coef: Vec<f64> = zeta.iter().zip(&v).map(|(zeta, v)| along * zeta + across * v).collect();
        let by_coef = noise.times(&coef);
        let from_fit = noise.form(&coef, &by_coef, &coef)
            + 2.0 * of_target * noise.second_along(&coef)
            + of_target * of_target;
        let with_fit = noise.third_along(&coef) + of_target * noise.third();
        let square = |x: &[f64]| noise.form(zeta, &by_zeta, x) - dot(zeta, x);
        let trace = noise.trace(&self.second) - (0..zeta.len()).map(|i| self.second[(i, i)]).sum::<f64>();
        let mut with_inputs =
            by_a * square(zeta) + 2.0 * by_b * square(&v) + by_trace * trace + h * square(rho);
        if sure.is_centred {
            with_inputs += noise.second_along(&of_features);
        }
        let variances = [sigma2 * from_fit.max(0.0) / n, own_noise * (noise.fourth() - 1.0), from_inputs / n];
        let by_sigma2 = by_noise * sigma2;
        total_variance(variances, by_sigma2 * sigma2.sqrt() * with_fit / n, -by_sigma2 * with_inputs / n)
            .sqrt()
    }
}

/// Derivatives by `a` and `b` (each with the other held), `τ`, `c`, `e²` and `σ²`.
fn slopes(form: &TargetForm, row: PointStats, tests: TargetStats) -> Slopes {
    let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = row;
    let TargetSums { plain, spread, score } = form.at(a);
    let (along, across) = form.shares(tests);
    let m = form.sizes().max() as f64;
    let gap = sigma2 - e2;
    // a·H2 and H4 have the derivatives H2 + aH2' and H2.
    let steep = |sums: &Sums| gap * (sums.h2 - a * sums.neg_dh2) + sigma2 * sums.h2;
    let of = |sums: &Sums| gap * sums.a_h2 + sigma2 * sums.h4;
    let by_stretch = if form.dim() == 1 { of(&plain) } else { of(&plain) - of(&spread) };
    let by_b = if a > 0.0 { by_stretch / a } else { 0.0 };
    Slopes {
        by_a: (along * steep(&plain) + across * steep(&spread) - along * by_b - 2.0 * tests.score * score.1)
            / m,
        by_b: by_b / m,
        by_trace: if form.dim() == 1 { 0.0 } else { of(&spread) / m },
        by_score: 2.0 * score.0 / m,
        by_e2: -(along * plain.a_h2 + across * spread.a_h2) / m,
        by_noise: (along * (plain.a_h2 + plain.h4) + across * (spread.a_h2 + spread.h4)) / m,
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
