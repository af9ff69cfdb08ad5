//! Rows of the reference, valued against the others.
//!
//! The row's own probability changes most, and is taken from one step of Newton's method.
//! Moments change by a share of `1/n`, which is ignored with two exceptions. At its own
//! position a row has more than that share of `H` and `J`. Under log-loss without a ridge
//! it is left out of them: if it has the share `c/n`, and with `room = 1 − wc·xᵀ(nH)⁻¹x`,
//!
//! ```text
//! H⁻¹x becomes (1 − c/n)H⁻¹x/room     xᵀVx becomes (1 − c/n)(xᵀVx − (c/n)(e·xᵀH⁻¹x)²)/room²
//! ```
//!
//! Under other utilities the slope `q` appears in `φ₁`, which counts `s` times as much as
//! the other derivatives. Without the row the reference moves by `t = −c/(n − c)` towards
//! it, and
//!
//! ```text
//! φ₁ becomes (1 − t)(φ₁ + t·φ₂) − t·(ℓ'z − q)ᵀψ
//! ```
//!
//! first because the coefficients were fitted to the row, then because the
//! utility was measured on it.

use super::options::{Spread, Utility};
use super::sums::{along, products, quadratic};
use super::terms::{RowForm, RowTerms, TermsWork};
use crate::Rows;
use crate::classification::fit::PanelWork;

impl RowForm {
    /// Removes reference rows whose panel is in `work` from `H` and `J`, under log-loss
    /// without a ridge.
    pub(super) fn leave_out_of_products(
        &self,
        rows: Rows<'_>,
        panel: &PanelWork,
        spread: &[f64],
        out: &mut [Option<RowTerms>],
    ) {
        let n = self.fit.n_rows() as f64;
        for (i, out) in out.iter_mut().enumerate() {
            let c = rows.weights().map_or(1.0, |weights| weights[i]) * self.fit.weight_scale();
            // A row at the origin is in neither.
            let is_there = c > 0.0 && panel.spread[i] > 0.0;
            let Some(out) = out.as_mut().filter(|_| is_there) else { continue };
            let row = panel.row[i];
            let reach = n * panel.spread[i];
            let rest = (1.0 - c / n) / (1.0 - row.weight * c * panel.spread[i]);
            let own = c / n * (row.surprise * reach).powi(2);
            let spread_left = match self.options.spread {
                Spread::ModelBased => rest * reach,
                // Rounding may give slightly less than zero.
                Spread::Sandwich => (rest * rest / (1.0 - c / n) * (spread[i] - own)).max(0.0),
            };
            // That of the probability without the row.
            let weight = out.dist_sq / reach;
            out.third_position += 2.0 * weight * (spread_left - spread[i]);
            out.dist_sq *= rest;
            out.second_square *= rest;
            out.third_linear *= rest;
            out.ridge *= rest;
            out.spread = weight * spread_left;
        }
    }

    /// Corrects `φ₁` of reference rows whose panel is in `work`.
    pub(super) fn leave_out_of_slope(
        &self,
        rows: Rows<'_>,
        work: &mut TermsWork,
        out: &mut [Option<RowTerms>],
    ) {
        // With a model-based spread the slope does not depend on the labels.
        if self.is_plain || self.options.spread == Spread::ModelBased {
            return;
        }
        let (fit, expansion) = (&*self.fit, &self.expansion);
        let TermsWork { panel, influence } = work;
        let z = panel.panel.x.as_ref();
        // For the fit that includes the row.
        let psi = self.influences(z, out.len(), |i| panel.row[i].surprise, influence);
        let first = along(psi, &expansion.slope);
        let square = quadratic(psi, &expansion.net_curvature);
        let (turn, psi_turn) = (along(z, &expansion.turn), along(psi, &expansion.turn));
        let psi_z = products(psi, z);
        let slopes = self.slopes(rows, panel);
        let n = fit.n_rows() as f64;
        for (i, out) in out.iter_mut().enumerate() {
            let c = rows.weights().map_or(1.0, |weights| weights[i]) * fit.weight_scale();
            let Some(out) = out.as_mut().filter(|_| c > 0.0) else { continue };
            let t = -c / (n - c);
            let phi1 = -first[i];
            let phi2 = 2.0 * (panel.row[i].weight * turn[i] * psi_z[i] - psi_turn[i]) - square[i];
            out.first = (1.0 - t) * (phi1 + t * phi2) - t * (slopes[i] * psi_z[i] - first[i]);
        }
    }

    /// `ℓ'` of each row.
    fn slopes(&self, rows: Rows<'_>, panel: &PanelWork) -> Vec<f64> {
        let z = panel.panel.x.as_ref();
        match self.options.utility {
            Utility::LogLoss => panel.row[..rows.len()].iter().map(|row| -row.surprise).collect(),
            Utility::Brier => {
                panel.row[..rows.len()].iter().map(|row| -2.0 * row.surprise * row.weight).collect()
            }
            Utility::Accuracy => {
                let (mu, spread) = (along(z, &self.centre), quadratic(z, &self.expansion.spread));
                let slope = |i: usize| {
                    let density = normal_at_zero(mu[i], spread[i] / self.expansion.size);
                    (1.0 - 2.0 * rows.y()[i]) * density
                };
                (0..rows.len()).map(slope).collect()
            }
        }
    }
}

/// The density at 0 of a normal number with this mean and variance; 0 if it does not
/// vary, as for a row at the origin.
pub(super) fn normal_at_zero(mean: f64, variance: f64) -> f64 {
    if variance > 0.0 {
        (-0.5 * mean * mean / variance).exp() / (std::f64::consts::TAU * variance).sqrt()
    } else {
        0.0
    }
}
