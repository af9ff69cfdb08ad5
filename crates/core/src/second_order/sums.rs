//! What is summed over the reference for an expansion, pass by pass.
//!
//! Rows come as `z`, in coordinates in which `E[w xxᵀ]` is the identity; see
//! `expansion.rs`. Each sweep uses the result of the one before, so nothing larger than
//! `p × p` is ever stored: third moments appear only contracted with a matrix or
//! direction that is already known.

use super::left_out::normal_at_zero;
use super::options::{Spread, Utility};
use crate::Rows;
use crate::blocks::Sweep;
use crate::classification::LogisticFit;
use crate::classification::fit::PanelWork;
use crate::linear::fit::PANEL_ROWS;
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Col, Mat, MatRef, Par, Side};
use std::sync::Arc;

/// What one expansion needs from a pass.
#[derive(Debug, Clone)]
pub(super) enum Task {
    /// `E[e²zzᵀ]`, and slope and curvature of the Brier score; those of log-loss
    /// are known from the fit.
    Second { utility: Utility },
    /// Slope and curvature of accuracy, smoothed by estimates with this mean
    /// and spread.
    Smoothed { centre: Col<f64>, spread: Mat<f64> },
    /// Third moments contracted with `V`, `G = H⁻¹`, if it is not the identity, and
    /// `r`, if it is not 0.
    Third { utility: Utility, spread: Spreading, inverse: Option<Mat<f64>>, turn: Option<Col<f64>> },
    /// `E[w₁(zᵀAz)z]` and `E[we(zᵀBz)z]`.
    Closing { a: Mat<f64>, b: Mat<f64> },
}

/// The sums of a task. `row_weights` documents which vector and matrix is which.
#[derive(Debug)]
pub(super) struct TaskSums {
    pub(super) vectors: Vec<Col<f64>>,
    /// Lower triangles.
    pub(super) matrices: Vec<Mat<f64>>,
}

/// Tasks of all expansions, each at its own fit, in one pass.
#[derive(Debug)]
pub(super) struct JointSweep {
    pub(super) spread: Spread,
    pub(super) tasks: Vec<(Arc<LogisticFit>, Task)>,
}

/// Per row: weights of the vectors `E[cz]` and of the matrices `E[czzᵀ]`.
struct Weights {
    vectors: Vec<[f64; PANEL_ROWS]>,
    matrices: Vec<[f64; PANEL_ROWS]>,
}

impl Sweep for JointSweep {
    type Sums = Vec<TaskSums>;

    fn of_block(&self, rows: Rows<'_>) -> Vec<TaskSums> {
        self.tasks.iter().map(|(fit, task)| self.of_task(fit, task, rows)).collect()
    }

    fn absorb(sums: &mut Vec<TaskSums>, later: Vec<TaskSums>) {
        for (sums, later) in sums.iter_mut().zip(later) {
            sums.vectors.iter_mut().zip(&later.vectors).for_each(|(sum, add)| *sum += add);
            sums.matrices.iter_mut().zip(&later.matrices).for_each(|(sum, add)| *sum += add);
        }
    }

    fn is_finite(sums: &Vec<TaskSums>) -> bool {
        sums.iter().all(|sums| {
            sums.vectors.iter().all(|sum| sum.is_all_finite())
                && sums.matrices.iter().all(|sum| sum.is_all_finite())
        })
    }
}

impl JointSweep {
    fn of_task(&self, fit: &LogisticFit, task: &Task, rows: Rows<'_>) -> TaskSums {
        let p = fit.dim();
        let (n_vectors, n_matrices) = task.n_sums();
        let mut sums = TaskSums {
            vectors: vec![Col::zeros(p); n_vectors],
            matrices: vec![Mat::zeros(p, p); n_matrices],
        };
        let mut work = PanelWork::new(fit);
        let mut scaled = Mat::zeros(PANEL_ROWS, p);
        let n = fit.n_rows() as f64;
        for start in (0..rows.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(rows.len() - start);
            if fit.solve_panel(rows, start, len, false, &mut work).is_err() {
                // The caller then looks for the cell.
                sums.vectors[0].fill(f64::NAN);
                return sums;
            }
            whiten(&mut work, n);
            let weights = self.row_weights(fit, task, &work, rows.slice(start, len));
            let z = work.panel.x.as_ref();
            for (sum, weights) in sums.vectors.iter_mut().zip(&weights.vectors) {
                let column = faer::ColRef::from_slice(weights);
                matmul(sum.as_mat_mut(), Accum::Add, z.transpose(), column.as_mat(), 1.0, Par::Seq);
            }
            for (sum, weights) in sums.matrices.iter_mut().zip(&weights.matrices) {
                for k in 0..p {
                    let cells = scaled.col_as_slice_mut(k).iter_mut().zip(work.panel.x.col_as_slice(k));
                    cells.zip(weights).for_each(|((scaled, z), weight)| *scaled = z * weight);
                }
                // Sums are symmetric, so only the lower triangle is stored.
                triangular::matmul(
                    sum.as_mut(),
                    BlockStructure::TriangularLower,
                    Accum::Add,
                    z.transpose(),
                    BlockStructure::Rectangular,
                    scaled.as_ref(),
                    BlockStructure::Rectangular,
                    1.0,
                    Par::Seq,
                );
            }
        }
        sums
    }

    /// The weight of each row of a panel; missing rows have weight 0.
    fn row_weights(&self, fit: &LogisticFit, task: &Task, work: &PanelWork, rows: Rows<'_>) -> Weights {
        let (len, n) = (rows.len(), fit.n_rows() as f64);
        let share = |i: usize| rows.weights().map_or(1.0, |weights| weights[i] * fit.weight_scale()) / n;
        let (n_vectors, n_matrices) = task.n_sums();
        let none = [0.0; PANEL_ROWS];
        let mut out = Weights { vectors: vec![none; n_vectors], matrices: vec![none; n_matrices] };
        let z = work.panel.x.as_ref();
        // If a label is replaced by its probability, only the mean squared surprise is
        // left, which is the weight.
        let trusts_model = self.spread == Spread::ModelBased;
        let row = |i: usize| {
            let row = &work.row[i];
            let e = if trusts_model { 0.0 } else { row.surprise };
            let e2 = if trusts_model { row.weight } else { row.surprise * row.surprise };
            (row.weight, row.weight_slope, row.weight * (1.0 - 6.0 * row.weight), e, e2)
        };
        match task {
            Task::Second { utility } => {
                for i in 0..len {
                    let (w, w1, _, e, e2) = row(i);
                    let c = share(i);
                    out.matrices[0][i] = c * e2;
                    if *utility == Utility::Brier {
                        out.vectors[0][i] = -2.0 * c * e * w;
                        out.matrices[1][i] = 2.0 * c * (w * w - e * w1);
                    }
                }
            }
            Task::Smoothed { centre, spread } => {
                let (mu, tau2) = (along(z, centre), quadratic(z, spread));
                for i in (0..len).filter(|&i| tau2[i] > 0.0) {
                    let density = normal_at_zero(mu[i], tau2[i]);
                    let towards =
                        if trusts_model { (0.5 * work.eta()[i]).tanh() } else { 2.0 * rows.y()[i] - 1.0 };
                    let slope = share(i) * towards * density;
                    out.vectors[0][i] = -slope;
                    out.matrices[0][i] = slope * mu[i] / tau2[i];
                }
            }
            Task::Third { utility, spread, inverse, turn } => {
                let spread = spread.forms(z);
                let inverse = match inverse {
                    Some(inverse) => quadratic(z, inverse),
                    None => work.spread.map(|norm_sq| norm_sq * n),
                };
                let turned = turn.as_ref().map(|turn| along(z, turn));
                for i in 0..len {
                    let (w, w1, w2, e, _) = row(i);
                    let c = share(i);
                    // K[V] and h.
                    out.vectors[0][i] = c * w1 * spread[i];
                    out.vectors[1][i] = c * w * e * inverse[i];
                    let Some(turned) = &turned else { continue };
                    // Q₃, l₄, m_r and HHH; K_r and N.
                    let third = match utility {
                        Utility::LogLoss => w1,
                        Utility::Brier => 6.0 * w * w1 - 2.0 * e * w2,
                        Utility::Accuracy => 0.0,
                    };
                    out.vectors[2][i] = c * third * spread[i];
                    out.vectors[3][i] = c * w2 * turned[i] * spread[i];
                    out.vectors[4][i] = c * w1 * e * inverse[i] * turned[i];
                    out.vectors[5][i] = c * w * w * inverse[i] * turned[i];
                    out.matrices[0][i] = c * w1 * turned[i];
                    out.matrices[1][i] = c * w * e * turned[i];
                }
            }
            Task::Closing { a, b } => {
                let (a, b) = (quadratic(z, a), quadratic(z, b));
                for i in 0..len {
                    let (w, w1, _, e, _) = row(i);
                    out.vectors[0][i] = share(i) * w1 * a[i];
                    out.vectors[1][i] = share(i) * w * e * b[i];
                }
            }
        }
        out
    }
}

impl Task {
    fn n_sums(&self) -> (usize, usize) {
        match self {
            Task::Second { utility: Utility::Brier } => (1, 2),
            Task::Second { .. } => (1, 1),
            Task::Smoothed { .. } => (1, 1),
            Task::Third { turn: None, .. } => (2, 0),
            Task::Third { turn: Some(_), .. } => (6, 2),
            Task::Closing { .. } => (2, 0),
        }
    }
}

/// Turns the result of a solve into `z`: `E[w zzᵀ] = I`.
pub(super) fn whiten(work: &mut PanelWork, n: f64) {
    let root = n.sqrt();
    for k in 0..work.panel.x.ncols() {
        work.panel.x.col_as_slice_mut(k).iter_mut().for_each(|cell| *cell *= root);
    }
}

/// `V`, to be contracted with rows: by its triangular root, which takes half as long, if
/// it has one.
#[derive(Debug, Clone)]
pub(super) enum Spreading {
    Root(Mat<f64>),
    Whole(Mat<f64>),
}

impl Spreading {
    pub(super) fn new(spread: &Mat<f64>) -> Self {
        match spread.llt(Side::Lower) {
            Ok(factor) => Spreading::Root(factor.L().to_owned()),
            // Rounding may make it slightly negative along some direction.
            Err(_) => Spreading::Whole(spread.clone()),
        }
    }

    /// `zᵀVz` of each row of a panel.
    pub(super) fn forms(&self, z: MatRef<'_, f64>) -> [f64; PANEL_ROWS] {
        let root = match self {
            Spreading::Root(root) => root,
            Spreading::Whole(spread) => return quadratic(z, spread),
        };
        let mut turned = Mat::zeros(PANEL_ROWS, root.ncols());
        triangular::matmul(
            turned.as_mut(),
            BlockStructure::Rectangular,
            Accum::Replace,
            z,
            BlockStructure::Rectangular,
            root.as_ref(),
            BlockStructure::TriangularLower,
            1.0,
            Par::Seq,
        );
        products(turned.as_ref(), turned.as_ref())
    }
}

/// `zᵀMz` of each row of a panel.
pub(super) fn quadratic(z: MatRef<'_, f64>, matrix: &Mat<f64>) -> [f64; PANEL_ROWS] {
    let mut turned = Mat::zeros(PANEL_ROWS, matrix.ncols());
    matmul(turned.as_mut(), Accum::Replace, z, matrix.as_ref(), 1.0, Par::Seq);
    products(z, turned.as_ref())
}

/// `zᵀv` of each row of a panel.
pub(super) fn along(z: MatRef<'_, f64>, vector: &Col<f64>) -> [f64; PANEL_ROWS] {
    let mut out = [0.0; PANEL_ROWS];
    for k in 0..vector.nrows() {
        let v = vector[k];
        cells(z, k).iter().zip(&mut out).for_each(|(z, out)| *out += z * v);
    }
    out
}

/// Scalar products of the rows of two panels.
pub(super) fn products(left: MatRef<'_, f64>, right: MatRef<'_, f64>) -> [f64; PANEL_ROWS] {
    let mut out = [0.0; PANEL_ROWS];
    for k in 0..left.ncols() {
        let pairs = cells(left, k).iter().zip(cells(right, k));
        pairs.zip(&mut out).for_each(|((a, b), out)| *out += a * b);
    }
    out
}

/// A column of a panel.
pub(super) fn cells(matrix: MatRef<'_, f64>, column: usize) -> &[f64] {
    let column = matrix.col(column).try_as_col_major();
    column.expect("an owned matrix is column-major").as_slice()
}
