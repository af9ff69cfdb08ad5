//! What a point brings to the fit on one fixed set whose targets are those observed.
//!
//! Nothing is averaged over noise, so neither a noise variance nor a linear mean is assumed.
//! With `d = β̂ − β`, which the targets of the set and a ridge determine, a point moves the
//! coefficients by `Bx·(e − xᵀd)/(1 + ℓ)`. Rows of the reference have `Σ xε = 0`, so the
//! squared error over them is `dᵀΣd` and a constant, whatever their mean is.

use super::conditional::SetStats;
use super::coordinates::{Coordinates, column};
use super::panel::{Lanes, Panel, PanelWork, Solved};
use super::sets::{FixedSet, dot};
use crate::linear::fit::PANEL_ROWS;
use faer::MatRef;

/// How far the coefficients of a set, fitted to given targets, are from `β`, as a point
/// meets it; `d = β̂ − β`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SetMiss {
    /// `xᵀd`.
    pub at_point: f64,
    /// `xᵀBΣd`.
    pub along_step: f64,
}

impl SetStats {
    /// `U(S ∪ z) − U(S)` for a point with the signed residual `e = y − xᵀβ` and a set with
    /// given targets, with any ridge.
    ///
    /// ```text
    /// −2r·xᵀBΣd/(1 + ℓ) − r²Q/(1 + ℓ)²,      r = e − xᵀd
    /// ```
    #[inline]
    pub fn observed_gain(&self, residual: f64, miss: SetMiss) -> f64 {
        let step = (residual - miss.at_point) / (1.0 + self.leverage);
        -step * (2.0 * miss.along_step + step * self.spread)
    }
}

/// The sums over a set that its targets enter.
#[derive(Debug, Clone)]
pub(super) struct TargetSums {
    /// `w = Σ zε`.
    moment: Vec<f64>,
    /// `ω = Σ ε`.
    residual: f64,
}

/// The same for a set that is large enough.
#[derive(Debug)]
pub(super) struct SolvedTargets {
    /// `g = A⁻¹(w − Γβ)`, with the ridge `Γ`.
    miss: Vec<f64>,
    /// `ω`.
    residual: f64,
}

impl TargetSums {
    pub(super) fn new(dim: usize) -> Self {
        Self { moment: vec![0.0; dim], residual: 0.0 }
    }

    /// Adds rows with these residuals.
    pub(super) fn push(&mut self, rows: MatRef<'_, f64>, residuals: &[f64]) {
        for (k, moment) in self.moment.iter_mut().enumerate() {
            *moment += dot(column(rows, k), residuals);
        }
        self.residual += residuals.iter().sum::<f64>();
    }

    pub(super) fn solve(&self, set: &FixedSet, coordinates: &Coordinates) -> SolvedTargets {
        let mut moment = self.moment.clone();
        if let Some(ridge) = coordinates.ridge() {
            let pulled = moment.iter_mut().zip(coordinates.coef()).enumerate();
            pulled.for_each(|(k, (moment, coef))| *moment -= ridge[(k, k)] * coef);
        }
        let miss = (0..moment.len()).map(|k| dot(set.inverse.col_as_slice(k), &moment)).collect();
        SolvedTargets { miss, residual: self.residual }
    }
}

impl PanelWork {
    /// Leaves what the points meet in `misses`.
    ///
    /// When a point leaves the reference, the targets of a set change as its rows do: the
    /// right-hand side becomes `w − Γβ + k·e·t + (kω + φe)x`, with `e` the residual of the
    /// point. Solving for it by the formula of [`add_ridge`](Self::add_ridge) gives
    /// `d = g + k(e − X)r + (kω + φ(e − X) − kT)b` relative to the `β` of all rows, and
    /// `X = xᵀd`. The others' `β` is that less `step·x`.
    pub(super) fn add_targets(
        &mut self,
        panel: Panel<'_>,
        set: &FixedSet,
        targets: &SolvedTargets,
        solved: &Solved,
    ) {
        let Solved { frame, phi, rho, l, tau, room, on_step, on_sum } = solved;
        let (c, k) = (frame.stretch, frame.shift);
        let x = panel.points;
        let (len, dim) = (x.nrows(), x.ncols());
        let at = |of: &[f64], i: usize| of.get(i).copied().unwrap_or(0.0);

        let (mut reach, mut norm_sq): (Lanes, Lanes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for (j, miss) in targets.miss.iter().enumerate() {
            for ((reach, norm_sq), x) in reach.iter_mut().zip(&mut norm_sq).zip(column(x, j)) {
                *reach += x * miss;
                *norm_sq += x * x;
            }
        }
        let on_set = dot(&set.sum, &targets.miss);
        let (mut of_sum, mut of_step): (Lanes, Lanes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        let mut at_point: Lanes = [0.0; PANEL_ROWS];
        for i in 0..len {
            let residual = at(panel.residuals, i);
            let (tilt, on_own) = (1.0 + k * tau[i], k * targets.residual + phi * residual);
            let from_point = reach[i] + k * residual * tau[i] + on_own * l[i];
            let from_sum = on_set + k * residual * rho + on_own * tau[i];
            let moved = (tilt * from_point - k * l[i] * from_sum) / room[i];
            let drift = ((tilt + phi * l[i]) * from_sum - (k * rho + phi * tau[i]) * from_point) / room[i];
            of_sum[i] = k * (residual - moved);
            of_step[i] = on_own - phi * moved - k * drift;
            at_point[i] = moved + at(panel.coef_steps, i) * norm_sq[i];
        }
        let mut along: Lanes = [0.0; PANEL_ROWS];
        for j in 0..dim {
            let (r, g) = (set.solved_sum[j], targets.miss[j]);
            for (i, (x, b)) in column(x, j).iter().zip(self.step.col_as_slice(j)).enumerate() {
                let miss = g + of_sum[i] * r + of_step[i] * b + at(panel.coef_steps, i) * x;
                along[i] += miss * (on_step[i] * b + on_sum[i] * r);
            }
        }
        self.misses.clear();
        self.misses.extend((0..len).map(|i| {
            let own_reach = c * l[i] / room[i];
            let along_step = frame.scale * (along[i] - frame.removed * at_point[i] * own_reach);
            SetMiss { at_point: c * at_point[i], along_step }
        }));
    }
}
