//! Is there a combination of the features that separates the classes?
//!
//! If `(2y − 1)·xᵀd ≥ 0` for every row and some `d` that is not 0 on all of them, the
//! likelihood grows without limit along `d`, and the coefficients do not converge: the
//! classes are separated, completely if no row has `xᵀd = 0`, else quasi-completely.
//!
//! Complete separation shows itself: as the loss goes to 0, the coefficients of some pass
//! put every row on its side, and that is the proof. Under quasi-complete separation the
//! loss stays positive and Newton's method walks on along `d`, by one unit of the
//! predictor per pass, while rows on the border move less and less. So when a step has
//! not become small after many passes:
//!
//! 1. rows that the step moves by less than [`STILL`] count as the border, and the step
//!    is made orthogonal to all of them ([`BorderSweep`]);
//! 2. what is left of it must put every row on its side or on the border, up to
//!    rounding ([`SideSweep`]).
//!
//! Data that are nearly separated fail the second pass, and Newton's method goes on. Data
//! are wrongly called separated only if every row on the wrong side is there by less than
//! 1e-10 of the sum of its absolute terms.

use super::design::Design;
use super::irls::newton::{CLEAR_SHARE, add_gram};
use crate::blocks::Sweep;
use crate::linear::fit::PANEL_ROWS;
use crate::{Error, Rows};
use faer::{Mat, Side};
use std::sync::Arc;

/// Rows on the border move by about `e^{−k}` in pass `k`, the others by 1.
pub(crate) const STILL: f64 = 0.05;

/// Eigenvalues of the border's Gram matrix below this share of the largest are
/// zero up to rounding, per column.
const NO_EXTENT: f64 = 1e-14;

/// Looks for the rows that a direction leaves where they are.
#[derive(Debug)]
pub(super) struct BorderSweep {
    pub(super) design: Arc<Design>,
    pub(super) direction: Vec<f64>,
}

/// The rows that barely move, and whether some move to the wrong side.
#[derive(Debug)]
pub(super) struct BorderSums {
    pub(super) gram: Mat<f64>,
    pub(super) any_against: bool,
}

impl Sweep for BorderSweep {
    type Sums = BorderSums;

    fn of_block(&self, rows: Rows<'_>) -> BorderSums {
        let dim = self.design.dim();
        let mut sums = BorderSums { gram: Mat::zeros(dim, dim), any_against: false };
        let mut panel = self.design.panel();
        let mut moved = [0.0; PANEL_ROWS];
        for start in (0..rows.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(rows.len() - start);
            self.design.fill(rows, start, len, &mut panel);
            panel.times(&self.direction, &mut moved);
            let mut is_still = [false; PANEL_ROWS];
            for i in (0..len).filter(|i| counts(rows, start + i)) {
                let towards = if rows.y()[start + i] == 1.0 { moved[i] } else { -moved[i] };
                sums.any_against |= towards <= -STILL;
                is_still[i] = towards.abs() < STILL;
            }
            for k in 0..dim {
                let cells = panel.x.col_as_slice_mut(k).iter_mut().zip(&is_still);
                cells.filter(|(_, is_still)| !**is_still).for_each(|(cell, _)| *cell = 0.0);
            }
            add_gram(&mut sums.gram, panel.x.as_ref());
        }
        sums
    }

    fn absorb(sums: &mut BorderSums, later: BorderSums) {
        sums.gram += &later.gram;
        sums.any_against |= later.any_against;
    }

    fn is_finite(sums: &BorderSums) -> bool {
        (0..sums.gram.ncols()).all(|k| sums.gram[(k, k)].is_finite())
    }
}

impl BorderSums {
    /// The part of `direction` that leaves the border exactly where it is; `None` if
    /// there is none or rows move to the wrong side.
    pub(super) fn purified(&self, direction: &[f64]) -> Option<Vec<f64>> {
        if self.any_against {
            return None;
        }
        null_part(&self.gram, direction)
    }
}

/// The part of `direction` along which a Gram matrix, of which the lower triangle is
/// read, has no extent; `None` if almost nothing of it is left.
pub(crate) fn null_part(gram: &Mat<f64>, direction: &[f64]) -> Option<Vec<f64>> {
    let eigen = gram.self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (eigen.S(), eigen.U());
    let dim = direction.len();
    let largest = (0..dim).map(|k| values[k]).fold(0.0, f64::max);
    let mut pure = vec![0.0; dim];
    for k in (0..dim).filter(|&k| values[k] <= NO_EXTENT * dim as f64 * largest) {
        let share: f64 = (0..dim).map(|j| vectors[(j, k)] * direction[j]).sum();
        (0..dim).for_each(|j| pure[j] += share * vectors[(j, k)]);
    }
    let length = |d: &[f64]| d.iter().map(|c| c * c).sum::<f64>();
    (length(&pure) > 1e-6 * length(direction)).then_some(pure)
}

/// Counts on which side of a direction the rows lie.
#[derive(Debug)]
pub(super) struct SideSweep {
    pub(super) design: Arc<Design>,
    pub(super) direction: Vec<f64>,
}

/// Rows on their side, on the border, and on the wrong side.
#[derive(Debug, Default)]
pub(super) struct Sides {
    pub(super) n_apart: usize,
    pub(super) n_between: usize,
    pub(super) n_against: usize,
    pub(super) is_finite: bool,
}

impl Sweep for SideSweep {
    type Sums = Sides;

    fn of_block(&self, rows: Rows<'_>) -> Sides {
        let mut sides = Sides { is_finite: true, ..Sides::default() };
        let mut panel = self.design.panel();
        let (mut moved, mut reach) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        for start in (0..rows.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(rows.len() - start);
            self.design.fill(rows, start, len, &mut panel);
            panel.times(&self.direction, &mut moved);
            panel.reach(&self.direction, &mut reach);
            for i in (0..len).filter(|i| counts(rows, start + i)) {
                let towards = if rows.y()[start + i] == 1.0 { moved[i] } else { -moved[i] };
                sides.is_finite &= reach[i].is_finite();
                if towards > CLEAR_SHARE * reach[i] {
                    sides.n_apart += 1;
                } else if towards >= -CLEAR_SHARE * reach[i] {
                    sides.n_between += 1;
                } else {
                    sides.n_against += 1;
                }
            }
        }
        sides
    }

    fn absorb(sides: &mut Sides, later: Sides) {
        sides.n_apart += later.n_apart;
        sides.n_between += later.n_between;
        sides.n_against += later.n_against;
        sides.is_finite &= later.is_finite;
    }

    fn is_finite(sides: &Sides) -> bool {
        sides.is_finite
    }
}

impl Sides {
    /// The error, if the direction separates.
    pub(super) fn verdict(&self, design: &Design, direction: &[f64]) -> Option<Error> {
        (self.n_against == 0 && self.n_apart > 0)
            .then(|| separated(design, direction, self.n_apart, self.n_between))
    }
}

/// The error for a direction that separates.
pub(super) fn separated(design: &Design, direction: &[f64], n_apart: usize, n_between: usize) -> Error {
    // Columns of the design have deviations of about 1.
    let parts = direction[design.first()..].iter().zip(&design.kept);
    let largest = parts.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
    let mut coef = vec![0.0; design.n_features];
    for (&column, part) in design.kept.iter().zip(design.coef(direction)) {
        coef[column] = part;
    }
    Error::Separated {
        complete: n_between == 0,
        column: largest.map_or(0, |(_, &column)| column),
        coef,
        intercept: design.intercept_value(direction).unwrap_or(0.0),
        n_apart,
        n_between,
    }
}

fn counts(rows: Rows<'_>, row: usize) -> bool {
    rows.weights().is_none_or(|weights| weights[row] > 0.0)
}
