//! One pass of iteratively reweighted least squares: predict, weigh and sum.

use super::super::design::Design;
use super::super::logit::Logit;
use crate::Rows;
use crate::blocks::Sweep;
use crate::linear::fit::PANEL_ROWS;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatRef, Par};
use std::sync::Arc;

/// A row is on its side if the predictor towards its label exceeds this share of the sum
/// of its absolute terms.
pub(crate) const CLEAR_SHARE: f64 = 1e-10;

/// What is summed at the coefficients `beta`.
#[derive(Debug)]
pub(crate) struct NewtonSweep {
    pub(crate) design: Arc<Design>,
    pub(crate) beta: Vec<f64>,
    /// The step that led there.
    pub(crate) step: Vec<f64>,
    /// What a row's own weight is multiplied by.
    pub(crate) weight_scale: f64,
}

/// Sums over rows, each times its own weight.
#[derive(Debug)]
pub(crate) struct NewtonSums {
    /// `Σ −log` of the probability of the label.
    pub(crate) loss: f64,
    /// `Σ x(y − π)`.
    pub(crate) gradient: Vec<f64>,
    /// `Σ W xxᵀ`, lower triangle.
    pub(crate) hessian: Mat<f64>,
    /// `Σ W` and `Σ W²`, whose ratio says how many rows the weights amount to.
    pub(crate) weights: [f64; 2],
    /// Whether every row lies clearly on the side of its label.
    pub(crate) all_apart: bool,
    /// The largest `|xᵀ step|`.
    pub(crate) largest_move: f64,
}

impl Sweep for NewtonSweep {
    type Sums = NewtonSums;

    fn of_block(&self, rows: Rows<'_>) -> NewtonSums {
        let (design, dim) = (&self.design, self.design.dim());
        let mut panel = design.panel();
        let (mut eta, mut moved, mut reach) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        let (mut surprise, mut root) = ([0.0; PANEL_ROWS], [0.0; PANEL_ROWS]);
        let mut sums = NewtonSums {
            loss: 0.0,
            gradient: vec![0.0; dim],
            hessian: Mat::zeros(dim, dim),
            weights: [0.0; 2],
            all_apart: true,
            largest_move: 0.0,
        };
        for start in (0..rows.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(rows.len() - start);
            design.fill(rows, start, len, &mut panel);
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || {
                    panel.times(&self.beta, &mut eta);
                    panel.times(&self.step, &mut moved);
                    panel.reach(&self.beta, &mut reach);
                },
            );
            for i in 0..len {
                let label = rows.y()[start + i];
                let own = rows.weights().map_or(1.0, |weights| weights[start + i] * self.weight_scale);
                let row = Logit::new(eta[i], label);
                surprise[i] = own * row.surprise;
                root[i] = (own * row.weight).sqrt();
                if own > 0.0 {
                    sums.loss += own * row.loss;
                    sums.weights[0] += own * row.weight;
                    sums.weights[1] += own * row.weight * row.weight;
                    let towards = if label == 1.0 { eta[i] } else { -eta[i] };
                    sums.all_apart &= towards > CLEAR_SHARE * reach[i];
                    sums.largest_move = sums.largest_move.max(moved[i].abs());
                }
            }
            surprise[len..].fill(0.0);
            root[len..].fill(0.0);
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (k, gradient) in sums.gradient.iter_mut().enumerate() {
                        let cells = panel.x.col_as_slice_mut(k);
                        *gradient += dot(cells, &surprise);
                        cells.iter_mut().zip(&root).for_each(|(cell, root)| *cell *= root);
                    }
                },
            );
            add_gram(&mut sums.hessian, panel.x.as_ref());
        }
        sums
    }

    fn absorb(sums: &mut NewtonSums, later: NewtonSums) {
        sums.loss += later.loss;
        sums.gradient.iter_mut().zip(&later.gradient).for_each(|(sum, add)| *sum += add);
        sums.hessian += &later.hessian;
        sums.weights.iter_mut().zip(later.weights).for_each(|(sum, add)| *sum += add);
        sums.all_apart &= later.all_apart;
        sums.largest_move = sums.largest_move.max(later.largest_move);
    }

    fn is_finite(sums: &NewtonSums) -> bool {
        // The diagonal bounds the rest.
        let diagonal = (0..sums.hessian.ncols()).map(|k| sums.hessian[(k, k)]);
        sums.loss.is_finite()
            && sums.gradient.iter().copied().chain(diagonal).all(f64::is_finite)
            && sums.largest_move.is_finite()
    }
}

/// Adds `XᵀX` to the lower triangle of `gram`.
pub(crate) fn add_gram(gram: &mut Mat<f64>, x: MatRef<'_, f64>) {
    triangular::matmul(
        gram.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Add,
        x.transpose(),
        BlockStructure::Rectangular,
        x,
        BlockStructure::Rectangular,
        1.0,
        Par::Seq,
    );
}

/// Scalar product in eight interleaved lanes: fast, and more accurate than adding term by
/// term.
#[inline(always)]
fn dot(a: &[f64], b: &[f64; PANEL_ROWS]) -> f64 {
    let mut lanes = [0.0; 8];
    for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    lanes.iter().sum()
}
