//! The statistics of many points for one set, by a few matrix products.

use super::conditional::SetStats;
use super::coordinates::{Coordinates, column, product};
use super::observed::SetMiss;
use super::sets::{FixedSet, dot};
use crate::linear::fit::PANEL_ROWS;
use faer::{Mat, MatRef};

/// Less than this of a determinant leaves no digits for the rest of the set.
pub(super) const LEAST_ROOM: f64 = 1e-10;

/// The population relative to a point.
///
/// For an unseen point it is the reference: `Σ = ςI` with `ς = 1/n`. A reference row `x`
/// is valued against the others, for which, in the coordinates of all rows, `Σ = ς(I −
/// c·xxᵀ)`; where rows are centred by their means, which are treated as known, each moves
/// by `kx` and the point itself to `cx`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    /// `ς`.
    pub(super) scale: f64,
    /// `c`, or 0 for unseen points.
    pub(super) removed: f64,
    /// What the point is multiplied by.
    pub(super) stretch: f64,
    /// `k`.
    pub(super) shift: f64,
}

impl Frame {
    pub(super) fn unseen(n_rows: usize) -> Self {
        Self { scale: 1.0 / n_rows as f64, removed: 0.0, stretch: 1.0, shift: 0.0 }
    }

    /// `centred`: by means that are treated as known.
    pub(super) fn left_out(n_rows: usize, centred: bool) -> Self {
        let (n, rest) = (n_rows as f64, n_rows as f64 - 1.0);
        let (stretch, shift) = if centred { (n / rest, 1.0 / rest) } else { (1.0, 0.0) };
        Self { scale: 1.0 / rest, removed: stretch, stretch, shift }
    }
}

/// Points for which the statistics are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Panel<'a> {
    /// At most [`PANEL_ROWS`] points.
    pub(super) points: MatRef<'a, f64>,
    /// Whether each of them is a row of the set that must not count.
    pub(super) in_set: bool,
    /// How far the coefficients move when the point leaves the reference, as a
    /// multiple of it; empty for unseen points.
    pub(super) coef_steps: &'a [f64],
    /// Residuals of the points that leave the reference, by the coefficients of all rows;
    /// empty for unseen points, or if the targets of sets do not count.
    pub(super) residuals: &'a [f64],
}

/// Buffers of one thread.
#[derive(Debug)]
pub(super) struct PanelWork {
    pub(super) step: Mat<f64>,
    own_step: Mat<f64>,
    moved: Mat<f64>,
    back: Mat<f64>,
    pulled: Mat<f64>,
    /// One per point; those that leave a singular set are `None`.
    pub(super) stats: Vec<Option<SetStats>>,
    /// One per point, if the targets of sets count.
    pub(super) misses: Vec<SetMiss>,
}

pub(super) type Lanes = [f64; PANEL_ROWS];

impl PanelWork {
    pub(super) fn new(coordinates: &Coordinates) -> Self {
        let dim = coordinates.dim();
        let panel = || Mat::zeros(PANEL_ROWS, dim);
        let ridge_panel = || Mat::zeros(if coordinates.ridge().is_some() { PANEL_ROWS } else { 0 }, dim);
        Self {
            step: panel(),
            own_step: ridge_panel(),
            moved: ridge_panel(),
            back: ridge_panel(),
            pulled: ridge_panel(),
            stats: Vec::with_capacity(PANEL_ROWS),
            misses: Vec::new(),
        }
    }

    /// Leaves the statistics of the points of `panel` in `stats`.
    ///
    /// For a point `x` the normal equations are `A + k(txᵀ + xtᵀ) + φxxᵀ`, with
    /// `A` and `t` those of the set and `φ = sk²`, less `1 + 2k` when the
    /// point's own row has to go. With `b = A⁻¹x`, `r = A⁻¹t`, `l = xᵀb`,
    /// `τ = xᵀr`, `ρ = tᵀr` their determinant is that of `A` times
    ///
    /// ```text
    /// D = (1 + kτ)² + l(φ − k²ρ),      and      Bx = ((1 + kτ)b − kl·r)/D.
    /// ```
    pub(super) fn solve(
        &mut self,
        panel: Panel<'_>,
        set: &FixedSet,
        frame: Frame,
        coordinates: &Coordinates,
    ) {
        let Frame { scale, removed, stretch: c, shift: k } = frame;
        let x = panel.points;
        let (len, dim) = (x.nrows(), x.ncols());
        let own = if panel.in_set { 1.0 } else { 0.0 };
        let phi = (set.n_rows as f64 - own) * k * k - own * (1.0 + 2.0 * k);
        let rho = dot(&set.sum, &set.solved_sum);
        let left_of_ones = set.room_of_ones();
        let must_leave = panel.in_set && set.beside_ones;

        product(self.step.as_mut().subrows_mut(0, len), x, set.inverse.as_ref());
        let (mut l, mut tau): (Lanes, Lanes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for j in 0..dim {
            let r = set.solved_sum[j];
            let cells = column(x, j).iter().zip(self.step.col_as_slice(j));
            for ((l, tau), (x, b)) in l.iter_mut().zip(&mut tau).zip(cells) {
                *l += x * b;
                *tau += x * r;
            }
        }
        let (mut room, mut on_step, mut on_sum): (Lanes, Lanes, Lanes) =
            ([1.0; PANEL_ROWS], [0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for i in 0..len {
            let tilt = 1.0 + k * tau[i];
            room[i] = tilt * tilt + l[i] * (phi - k * k * rho);
            on_step[i] = c * tilt / room[i];
            on_sum[i] = -c * k * l[i] / room[i];
        }
        let mut norm_sq: Lanes = [0.0; PANEL_ROWS];
        for j in 0..dim {
            let r = set.solved_sum[j];
            for (i, b) in self.step.col_as_slice(j)[..len].iter().enumerate() {
                let step = on_step[i] * b + on_sum[i] * r;
                norm_sq[i] += step * step;
            }
        }
        self.stats.clear();
        self.stats.extend((0..len).map(|i| {
            let reach = c * l[i] / room[i];
            let spread = scale * (norm_sq[i] - removed * reach * reach);
            let stats = SetStats { leverage: c * reach, spread, ..SetStats::default() };
            // A row that must not count may be the only one of its category: its leverage beside
            // a column of ones, l + (1 − τ)²/(s − ρ), is then 1.
            let beside = 1.0 - l[i] - (1.0 - tau[i]).powi(2) / left_of_ones;
            let is_determined = !must_leave || beside > LEAST_ROOM;
            // NaN fails the comparisons, too.
            (room[i] > LEAST_ROOM && is_determined).then_some(stats)
        }));
        let solved = Solved { frame, phi, rho, l, tau, room, on_step, on_sum };
        if let Some(targets) = &set.targets {
            self.add_targets(panel, set, targets, &solved);
        } else if let Some(ridge) = coordinates.ridge() {
            self.add_ridge(panel, set, &solved, ridge, coordinates.coef());
        }
    }

    /// What `h₁` and `h₂` need. `B` is applied once more by the same formula,
    /// for any right-hand side `f` with `f₀ = A⁻¹f`: with `X = xᵀBf`, `T = tᵀBf`
    ///
    /// ```text
    /// Bf = f₀ − kX·r − (kT + φX)·b
    /// X = ((1 + kτ)xᵀf₀ − kl·tᵀf₀)/D      T = ((1 + kτ + φl)tᵀf₀ − (kρ + φτ)xᵀf₀)/D
    /// ```
    fn add_ridge(
        &mut self,
        panel: Panel<'_>,
        set: &FixedSet,
        solved: &Solved,
        ridge: MatRef<'_, f64>,
        coef: &[f64],
    ) {
        let Solved { frame, phi, rho, l, tau, room, on_step, on_sum } = solved;
        let Frame { scale, removed, stretch: c, shift: k } = *frame;
        let x = panel.points;
        let (len, dim) = (x.nrows(), x.ncols());

        // The point's own step Bx, and Σ times it.
        for j in 0..dim {
            let r = set.solved_sum[j];
            let cells = column(x, j).iter().zip(self.step.col_as_slice(j));
            let out = self.own_step.col_as_slice_mut(j).iter_mut().zip(self.moved.col_as_slice_mut(j));
            for (i, ((x, b), (step, moved))) in cells.zip(out).enumerate() {
                *step = on_step[i] * b + on_sum[i] * r;
                *moved = scale * (*step - removed * (c * l[i] / room[i]) * x);
            }
        }
        let moved = self.moved.as_ref().subrows(0, len);
        product(self.back.as_mut().subrows_mut(0, len), moved, set.inverse.as_ref());
        let (mut xf, mut tf): (Lanes, Lanes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for j in 0..dim {
            let t = set.sum[j];
            let cells = column(x, j).iter().zip(self.back.col_as_slice(j));
            for ((xf, tf), (x, f)) in xf.iter_mut().zip(&mut tf).zip(cells) {
                *xf += x * f;
                *tf += t * f;
            }
        }
        let (mut less_sum, mut less_step): (Lanes, Lanes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for i in 0..len {
            let tilt = 1.0 + k * tau[i];
            let reach = (tilt * xf[i] - k * l[i] * tf[i]) / room[i];
            let drift = ((tilt + phi * l[i]) * tf[i] - (k * rho + phi * tau[i]) * xf[i]) / room[i];
            less_sum[i] = k * reach;
            less_step[i] = k * drift + phi * reach;
        }
        for j in 0..dim {
            let r = set.solved_sum[j];
            let back = self.back.col_as_slice_mut(j)[..len].iter_mut().zip(self.step.col_as_slice(j));
            for (i, (back, b)) in back.enumerate() {
                *back -= less_sum[i] * r + less_step[i] * b;
            }
        }

        // The ridge meets the step first, then what Σ and B made of it.
        let (own_step, back) = (self.own_step.as_ref().subrows(0, len), self.back.as_ref().subrows(0, len));
        for (is_spread, vectors) in [(false, own_step), (true, back)] {
            product(self.pulled.as_mut().subrows_mut(0, len), vectors, ridge);
            let (mut pull, mut damping): (Lanes, Lanes) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
            for j in 0..dim {
                let (x, step, pulled) =
                    (column(x, j), self.own_step.col_as_slice(j), self.pulled.col_as_slice(j));
                for i in 0..len {
                    let coef = coef[j] - panel.coef_steps.get(i).map_or(0.0, |by| by * x[i]);
                    pull[i] += pulled[i] * coef;
                    damping[i] += pulled[i] * step[i];
                }
            }
            for (i, stats) in self.stats.iter_mut().enumerate() {
                let Some(stats) = stats else { continue };
                if is_spread {
                    (stats.pull_spread, stats.damping_spread) = (pull[i], damping[i]);
                } else {
                    (stats.pull, stats.damping) = (pull[i], damping[i]);
                }
            }
        }
    }
}

/// What the first solve found, one number per point.
pub(super) struct Solved {
    pub(super) frame: Frame,
    pub(super) phi: f64,
    pub(super) rho: f64,
    pub(super) l: Lanes,
    pub(super) tau: Lanes,
    pub(super) room: Lanes,
    pub(super) on_step: Lanes,
    pub(super) on_sum: Lanes,
}
