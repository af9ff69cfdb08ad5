//! The terms of a row in an expansion.

use super::expansion::Expansion;
use super::options::SecondOrderOptions;
use super::sums::{Spreading, along, cells, products, quadratic, whiten};
use crate::classification::LogisticFit;
use crate::classification::fit::PanelWork;
use crate::classification::logit::Logit;
use crate::linear::fit::PANEL_ROWS;
use crate::{Error, Rows};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Col, Mat, MatRef, Par};
use std::sync::Arc;

/// Derivatives of the utility of the refitted model, as rows join the reference: the
/// effect of a row in sets of about `s` rows.
///
/// ```text
/// gain(s) = φ₁/(s+1) + φ₂/(2(s+1)²) − (2s+1)/(2s(s+1)²)·Eφ₂ + s/(2(s+1)³)·Eφ₃
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RowTerms {
    /// `φ₁`: the row alone, to first order. 0 under log-loss without a ridge.
    pub first: f64,
    /// The part of `φ₂` that is quadratic in the row's influence; not positive if the
    /// utility is concave.
    pub second_square: f64,
    /// The part of `φ₂` that is linear in it.
    pub second_linear: f64,
    /// `Eφ₂`, the same for all rows.
    pub mean_second: f64,
    /// The part of `Eφ₃` that the label does not change.
    pub third_position: f64,
    /// The part of `Eφ₃` that is linear in the row's influence.
    pub third_linear: f64,
    /// What a small ridge adds to `c`.
    pub ridge: f64,
    /// `w·xᵀH₀⁻¹x`, the squared distance on the working variables.
    pub dist_sq: f64,
    /// `w·xᵀVx`.
    pub spread: f64,
    /// `|e|·xᵀH⁻¹x`: over `s`, by how much the row moves its own log-odds in a set
    /// of `s` rows, to first order.
    pub pull: f64,
    /// `π` under the reference fit.
    pub prob: f64,
    /// `w = π(1 − π)`.
    pub weight: f64,
}

impl RowTerms {
    /// `c`: the expected gain of joining sets of `s` rows is `c/s² + O(s⁻³)`
    /// where `φ₁ = 0`.
    pub fn coefficient(&self) -> f64 {
        0.5 * (self.second_square + self.second_linear) - self.mean_second
            + 0.5 * (self.third_position + self.third_linear)
            + self.ridge
    }

    /// The expected gain of joining a set of `s` rows, to second order, without the
    /// effect, the same for all rows, of a ridge that matters less in a larger set.
    pub fn gain(&self, s: f64) -> f64 {
        let t = s + 1.0;
        self.first / t + (0.5 * (self.second_square + self.second_linear) + self.ridge) / (t * t)
            - (2.0 * s + 1.0) / (2.0 * s * t * t) * self.mean_second
            + s / (2.0 * t * t * t) * (self.third_position + self.third_linear)
    }
}

/// A fit, its expansion, and what follows from both for all rows.
#[derive(Debug)]
pub(super) struct RowForm {
    pub(super) fit: Arc<LogisticFit>,
    pub(super) expansion: Expansion,
    /// `V`.
    spread: Spreading,
    /// `W − N`, as they appear together.
    position: Mat<f64>,
    /// Whether `q` and `r` are 0, and with them all their products.
    pub(super) is_plain: bool,
    pub(super) options: SecondOrderOptions,
    /// `β + b/s`, the mean estimate from `s` rows.
    pub(super) centre: Col<f64>,
    /// `H⁻¹g₀`; 0 without the ridge of a fit.
    shrinking: Col<f64>,
    /// `D̃Pβ + Pr`, the effect of a small ridge along a row's influence.
    along_ridge: Option<Col<f64>>,
}

/// Buffers of one thread.
#[derive(Debug)]
pub(super) struct TermsWork {
    pub(super) panel: PanelWork,
    pub(super) influence: InfluenceWork,
}

/// Buffers for the influences of a panel of rows.
#[derive(Debug)]
pub(super) struct InfluenceWork {
    pulled: Mat<f64>,
    solved: Mat<f64>,
}

impl RowForm {
    pub(super) fn new(fit: Arc<LogisticFit>, expansion: Expansion, options: SecondOrderOptions) -> Self {
        let centre = expansion.centre(&fit);
        let position = &expansion.position - &expansion.turned_position;
        let is_plain = (0..fit.dim()).all(|k| expansion.slope[k] == 0.0);
        let along_ridge = (options.small_ridge > 0.0)
            .then(|| &expansion.net_curvature * &expansion.penalty_slope + penalised(&fit, &expansion.turn));
        let spread = Spreading::new(&expansion.spread);
        let shrinking =
            if fit.ridge() > 0.0 { &expansion.inverse * &expansion.pull } else { Col::zeros(fit.dim()) };
        Self { fit, spread, position, is_plain, options, centre, shrinking, along_ridge, expansion }
    }

    /// Without the moments that values do not need, if there are many forms.
    pub(super) fn for_values_only(mut self) -> Self {
        let expansion = &mut self.expansion;
        let mut unused = vec![
            &mut expansion.noise,
            &mut expansion.curvature,
            &mut expansion.turned_skew,
            &mut expansion.position,
            &mut expansion.turned_position,
        ];
        if self.fit.ridge() == 0.0 {
            unused.push(&mut expansion.inverse);
        }
        if self.options.is_resummed(self.fit.ridge()) {
            unused.extend([&mut expansion.net_curvature, &mut expansion.spread, &mut self.position]);
        }
        unused.into_iter().for_each(|matrix| *matrix = Mat::new());
        self
    }

    /// Bytes that a form for values only takes.
    pub(super) fn n_bytes(&self) -> usize {
        let p = self.fit.dim();
        let matrices = if self.options.is_resummed(self.fit.ridge()) { 2 } else { 7 };
        8 * p * (matrices * p + 20)
    }

    pub(super) fn work(&self) -> TermsWork {
        let p = self.fit.dim();
        TermsWork {
            panel: PanelWork::new(&self.fit),
            influence: InfluenceWork { pulled: Mat::zeros(PANEL_ROWS, p), solved: Mat::zeros(PANEL_ROWS, p) },
        }
    }

    /// Terms of a panel of rows from `start` on; with `left_out`, of reference rows, each
    /// left out. `None` if a row alone determines a coefficient.
    pub(super) fn panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        left_out: bool,
        work: &mut TermsWork,
        out: &mut [Option<RowTerms>],
    ) -> Result<(), Error> {
        let (fit, expansion) = (&*self.fit, &self.expansion);
        let TermsWork { panel, influence } = work;
        fit.solve_panel(rows, start, out.len(), left_out, panel)?;
        let n = fit.n_rows() as f64;
        whiten(panel, n);
        let own = |i: usize| left_out.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
        let logits: Vec<Option<Logit>> =
            (0..out.len()).map(|i| fit.logit_of(panel, i, rows.y()[start + i], own(i))).collect();
        let z = panel.panel.x.as_ref();
        let surprise = |i: usize| logits[i].map_or(0.0, |row| row.surprise);
        let e: [f64; PANEL_ROWS] = std::array::from_fn(|i| if i < out.len() { surprise(i) } else { 0.0 });
        let psi = self.influences(z, out.len(), surprise, influence);
        let spread = self.spread.forms(z);
        // Log-loss without a ridge: D̃ is the identity and W is V.
        let (square, position) = if self.options.is_resummed(fit.ridge()) {
            (std::array::from_fn(|i| panel.spread[i] * n * e[i] * e[i]), spread)
        } else {
            (quadratic(psi, &expansion.net_curvature), quadratic(z, &self.position))
        };
        let linear = along(psi, &expansion.along_influence);
        let none = [0.0; PANEL_ROWS];
        let when = |needed: bool, made: &dyn Fn() -> [f64; PANEL_ROWS]| if needed { made() } else { none };
        let turned = !self.is_plain;
        let first = when(turned, &|| along(psi, &expansion.slope));
        let turn = when(turned, &|| along(z, &expansion.turn));
        let psi_turn = when(turned, &|| along(psi, &expansion.turn));
        let psi_z = when(turned || fit.ridge() > 0.0, &|| products(psi, z));
        // The part of the ridge in a row's influence: eH⁻¹z is ψ and H⁻¹g₀.
        let shrinking = when(fit.ridge() > 0.0, &|| along(z, &self.shrinking));
        let bias = when(turned, &|| along(z, &expansion.bias));
        let ridge = self.small_ridge_terms(z, psi, &turn, &logits);
        let room = |i: usize| {
            1.0 - own(i).map_or(0.0, |own| panel.row[i].weight * own * fit.weight_scale() * panel.damped[i])
        };
        for (i, out) in out.iter_mut().enumerate() {
            *out = logits[i].map(|row| {
                let (w, w1) = (row.weight, row.weight_slope);
                RowTerms {
                    first: -first[i],
                    second_square: -square[i],
                    second_linear: 2.0 * (w * turn[i] * psi_z[i] - psi_turn[i]),
                    mean_second: expansion.mean_second,
                    third_position: 2.0 * w * position[i]
                        + w1 * turn[i] * spread[i]
                        + 2.0 * w * turn[i] * bias[i]
                        + expansion.constant,
                    third_linear: linear[i],
                    ridge: ridge[i],
                    dist_sq: w * n * panel.spread[i],
                    spread: w * spread[i],
                    pull: match fit.ridge() > 0.0 {
                        true => (psi_z[i] + shrinking[i]).abs(),
                        false => row.surprise.abs() * n * panel.spread[i],
                    } / room(i),
                    prob: panel.row[i].prob,
                    weight: panel.row[i].weight,
                }
            });
        }
        if left_out && self.options.is_resummed(fit.ridge()) {
            self.leave_out_of_products(rows.slice(start, out.len()), panel, &spread, out);
        } else if left_out {
            self.leave_out_of_slope(rows.slice(start, out.len()), work, out);
        }
        Ok(())
    }

    /// `ψ = H⁻¹(ez − g₀)` of each row of a panel.
    pub(super) fn influences<'w>(
        &self,
        z: MatRef<'_, f64>,
        len: usize,
        surprise: impl Fn(usize) -> f64,
        work: &'w mut InfluenceWork,
    ) -> MatRef<'w, f64> {
        let mut e = [0.0; PANEL_ROWS];
        e.iter_mut().take(len).enumerate().for_each(|(i, e)| *e = surprise(i));
        for k in 0..self.fit.dim() {
            let pull = self.expansion.pull[k];
            let cells = work.pulled.col_as_slice_mut(k).iter_mut().zip(cells(z, k));
            cells.zip(&e).for_each(|((pulled, z), e)| *pulled = e * z - pull);
        }
        if self.fit.ridge() == 0.0 {
            return work.pulled.as_ref();
        }
        let (solved, inverse) = (work.solved.as_mut(), self.expansion.inverse.as_ref());
        matmul(solved, Accum::Replace, work.pulled.as_ref(), inverse, 1.0, Par::Seq);
        work.solved.as_ref()
    }

    /// `γ(ψᵀD̃H⁻¹Pβ − w(rᵀz)(zᵀH⁻¹Pβ) + rᵀPψ)`, where `H⁻¹` is 1: a small ridge is
    /// for fits without one.
    fn small_ridge_terms(
        &self,
        z: MatRef<'_, f64>,
        psi: MatRef<'_, f64>,
        turn: &[f64; PANEL_ROWS],
        rows: &[Option<Logit>],
    ) -> [f64; PANEL_ROWS] {
        let mut out = [0.0; PANEL_ROWS];
        let Some(along_ridge) = &self.along_ridge else { return out };
        let (linear, along_z) = (along(psi, along_ridge), along(z, &self.expansion.penalty_slope));
        for (i, row) in rows.iter().enumerate() {
            let w = row.map_or(0.0, |row| row.weight);
            out[i] = self.options.small_ridge * (linear[i] - w * turn[i] * along_z[i]);
        }
        out
    }
}

/// `Pv`: in these coordinates `P` is `nL⁻¹ diag L⁻ᵀ`.
fn penalised(fit: &LogisticFit, vector: &Col<f64>) -> Col<f64> {
    let (lower, _) = fit.factors();
    let design = fit.design();
    let n = fit.n_rows() as f64;
    let mut solved = vector.as_mat().to_owned();
    solve_upper_triangular_in_place(lower.transpose(), solved.as_mut(), Par::Seq);
    for k in 0..solved.nrows() {
        solved[(k, 0)] *= n * design.cost(k);
    }
    solve_lower_triangular_in_place(lower.as_ref(), solved.as_mut(), Par::Seq);
    solved.col(0).to_owned()
}

/// The largest eigenvalue of `P` in these coordinates; 0 if there is none.
pub(super) fn largest_penalty(fit: &LogisticFit) -> f64 {
    let p = fit.dim();
    let (lower, _) = fit.factors();
    let design = fit.design();
    let mut root = Mat::from_fn(p, p, |i, j| if i == j { design.cost(i).sqrt() } else { 0.0 });
    solve_lower_triangular_in_place(lower.as_ref(), root.as_mut(), Par::Seq);
    let eigenvalues = (&root * root.transpose()).self_adjoint_eigenvalues(faer::Side::Lower);
    fit.n_rows() as f64 * eigenvalues.map_or(0.0, |all| all.into_iter().fold(0.0, f64::max))
}
