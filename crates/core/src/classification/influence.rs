//! Standard errors of values, from what each reference row contributes.
//!
//! The reference is a sample, and a value computed from it differs from that of
//! the whole population. To first order the difference is a mean over reference
//! rows of an influence `ψ`, so its variance is that of `ψ` over the number of
//! rows. With `δβ = Σ̃⁻¹x(y − π)` the influence of a row on the coefficients and
//! `u = Σ̃⁻¹x*` of the valued row,
//!
//! ```text
//! δη* = x*ᵀδβ                                   the predictor of the valued row
//! δQ  = −W(uᵀx)² − cᵀδβ,   c = E[W'(uᵀx)²x]      Q = x*ᵀΣ̃⁻¹x*: rows drawn, and weights that follow β
//! ψ   = ∂value/∂η*·δη* + ∂value/∂Q·δQ
//! ```
//!
//! The mean square of `ψ` is taken over reference rows themselves (the "sandwich"):
//! neither a distribution of the inputs nor a true logistic model is assumed. A sample of
//! the reference is enough: a thousand rows give a standard error to a few per cent.

use super::fit::{LogisticFit, PanelWork};
use super::working::RowGeometry;
use crate::linear::GaussianForm;
use crate::linear::fit::PANEL_ROWS;
use crate::{Error, Rows};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatRef, Par};

/// Rows of the reference, in coordinates in which `Σ̃` is the identity.
#[derive(Debug)]
pub(super) struct Influence {
    z: Mat<f64>,
    /// The same times `Σ̃(Σ̃ + γ/n)⁻¹`, if there is a ridge.
    damped: Option<Mat<f64>>,
    /// `y − π`, `W` and `W'`, each per row.
    surprise: Vec<f64>,
    weight: Vec<f64>,
    weight_slope: Vec<f64>,
    /// The weights of rows, including those they stand for; they sum to 1.
    share: Vec<f64>,
    /// The weights of their variances: weights squared, times the rows they stand for;
    /// they sum to 1.
    square_share: Vec<f64>,
}

/// Influences of the sampled rows on the values of a panel of rows.
#[derive(Debug)]
pub(super) struct InfluencePanel {
    /// One row per valued row, one column per sampled row.
    psi: Mat<f64>,
}

impl Influence {
    /// From some or all rows of the reference; `stands_for` is the number of rows each
    /// was taken from, if that differs between them.
    pub(super) fn new(
        fit: &LogisticFit,
        sample: Rows<'_>,
        stands_for: Option<&[f64]>,
    ) -> Result<Self, Error> {
        sample.check_weights()?;
        if let Some(counts) = stands_for.filter(|counts| counts.len() != sample.len()) {
            return Err(Error::RowCount { features: sample.len(), targets: counts.len() });
        }
        let n = sample.len();
        let dim = fit.dim();
        let mut lines = vec![(Vec::new(), fit_row(0.0)); n];
        fit.for_panels(sample, false, &mut lines, |work, _, lines| {
            for (i, (z, row)) in lines.iter_mut().enumerate() {
                z.extend((0..dim).map(|k| work.panel.x[(i, k)]));
                *row = work.row[i];
            }
        })?;
        let root = (fit.n_rows() as f64).sqrt();
        let z = Mat::from_fn(n, dim, |i, k| root * lines[i].0[k]);
        let (lower, penalised) = fit.factors();
        let damped = penalised.map(|penalised| {
            // Lᵀ H_γ⁻¹ L z, with H_γ = L_γL_γᵀ.
            let mut solved = lower * z.transpose();
            solve_lower_triangular_in_place(penalised.as_ref(), solved.as_mut(), Par::Seq);
            solve_upper_triangular_in_place(penalised.transpose(), solved.as_mut(), Par::Seq);
            (lower.transpose() * solved).transpose().to_owned()
        });
        let own = |i: usize| sample.weights().map_or(1.0, |weights| weights[i]);
        let count = |i: usize| stands_for.map_or(1.0, |counts| counts[i]);
        let total: f64 = (0..n).map(|i| count(i) * own(i)).sum();
        let total_sq: f64 = (0..n).map(|i| count(i) * own(i) * own(i)).sum();
        if !(total > 0.0 && total_sq > 0.0) {
            return Err(Error::NoRows);
        }
        Ok(Self {
            z,
            damped,
            surprise: lines.iter().map(|(_, row)| row.surprise).collect(),
            weight: lines.iter().map(|(_, row)| row.weight).collect(),
            weight_slope: lines.iter().map(|(_, row)| row.weight_slope).collect(),
            share: (0..n).map(|i| count(i) * own(i) / total).collect(),
            square_share: (0..n).map(|i| count(i) * own(i) * own(i) / total_sq).collect(),
        })
    }

    /// An empty panel.
    pub(super) fn panel(&self) -> InfluencePanel {
        InfluencePanel { psi: Mat::zeros(PANEL_ROWS, self.z.nrows()) }
    }

    /// Adds the influences on the values of the rows of a solved panel.
    pub(super) fn add(
        &self,
        fit: &LogisticFit,
        form: &GaussianForm,
        work: &PanelWork,
        rows: &[Option<RowGeometry>],
        out: &mut InfluencePanel,
    ) {
        let (n_rows, dim) = (rows.len(), fit.dim());
        let root = (fit.n_rows() as f64).sqrt();
        let points = Mat::from_fn(n_rows, dim, |i, k| root * work.panel.x[(i, k)]);
        let damped = self.damped.as_ref().unwrap_or(&self.z);
        // uᵀx for each valued and each sampled row, and x*ᵀδβ/(y − π).
        let along = product(points.as_ref(), self.z.transpose());
        let reach = self.damped.as_ref().map(|damped| product(points.as_ref(), damped.transpose()));
        // By columns, as matrices are stored.
        let mut bend = along.clone();
        for s in 0..self.z.nrows() {
            let slope = self.share[s] * self.weight_slope[s];
            bend.col_as_slice_mut(s).iter_mut().for_each(|cell| *cell = slope * cell.powi(2));
        }
        let bend = product(product(bend.as_ref(), self.z.as_ref()).as_ref(), damped.transpose());
        let reach = reach.as_ref().unwrap_or(&along);
        let slopes: Vec<(f64, f64)> = rows
            .iter()
            .map(|row| {
                row.as_ref().map_or((0.0, 0.0), |row| {
                    let (by_eta, by_spread) = slopes(form, row);
                    // A row that is left out has the same u up to a factor.
                    (by_eta, by_spread * row.stretch * row.stretch)
                })
            })
            .collect();
        for s in 0..self.z.nrows() {
            let (surprise, weight) = (self.surprise[s], self.weight[s]);
            let (along, reach, bend) = (along.col_as_slice(s), reach.col_as_slice(s), bend.col_as_slice(s));
            let out = out.psi.col_as_slice_mut(s);
            for (i, (by_eta, by_spread)) in slopes.iter().enumerate() {
                let spread = weight * along[i] * along[i] + bend[i] * surprise;
                out[i] += by_eta * reach[i] * surprise - by_spread * spread;
            }
        }
    }

    /// For each row of the panel, the variance of its value times the effective number of
    /// reference rows.
    pub(super) fn variances(&self, panel: &InfluencePanel) -> [f64; PANEL_ROWS] {
        let mut mean = [0.0; PANEL_ROWS];
        for (s, share) in self.share.iter().enumerate() {
            mean.iter_mut().zip(panel.psi.col_as_slice(s)).for_each(|(mean, psi)| *mean += share * psi);
        }
        // Squared weights, because variances add up that way.
        let mut square = [0.0; PANEL_ROWS];
        for (s, &factor) in self.square_share.iter().enumerate() {
            for (square, (psi, mean)) in square.iter_mut().zip(panel.psi.col_as_slice(s).iter().zip(&mean)) {
                *square += factor * (psi - mean) * (psi - mean);
            }
        }
        square
    }
}

impl InfluencePanel {
    pub(super) fn clear(&mut self) {
        self.psi.fill(0.0);
    }
}

/// Derivatives of a row's value by its predictor and by `Q`.
fn slopes(form: &GaussianForm, geometry: &RowGeometry) -> (f64, f64) {
    let m = form.sizes().max() as f64;
    let RowGeometry { row, spread: q, surprise: r, .. } = *geometry;
    let stats = geometry.stats();
    let (a, product) = (stats.dist_sq, stats.product);
    let sums = form.sums_at(a);
    // ∂(aH2 + H4)/∂a = 2H2 + aH2' and −∂(a·e²·H2)/∂a = −a·e²·H2', times a.
    let steep = if a > 0.0 { a * sums.neg_dh2 } else { 0.0 };
    let by_log_a = (2.0 * sums.a_h2 + (product - a) * steep) / m;
    let by_product = -sums.h2 / m;
    // log a = log W + log Q, and a·e² = Q(y − π)².
    let bend = 1.0 - 2.0 * row.prob;
    let by_eta = by_log_a * bend - 2.0 * by_product * q * r * row.weight;
    let by_spread = if q > 0.0 { by_log_a / q } else { 0.0 } + by_product * r * r;
    (by_eta, by_spread)
}

fn fit_row(eta: f64) -> super::logit::Logit {
    super::logit::Logit::new(eta, 0.0)
}

fn product(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(left.nrows(), right.ncols());
    matmul(out.as_mut(), Accum::Replace, left, right, 1.0, Par::Seq);
    out
}
