//! What is summed over the reference, pass by pass.

use super::fit::{ClassProbabilities, Whitened, predictors};
use crate::Rows;
use crate::blocks::Sweep;
use crate::classification::design::DesignPanel;
use crate::classification::irls::newton::CLEAR_SHARE;
use crate::classification::separation::STILL;
use crate::linear::fit::PANEL_ROWS;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use std::sync::Arc;

/// What a pass computes.
#[derive(Debug)]
pub(super) struct ClassSweep {
    pub(super) columns: Arc<Whitened>,
    /// Coefficients, or a direction for the proof of separation: a column for each class
    /// except the first.
    pub(super) theta: Mat<f64>,
    pub(super) weight_scale: f64,
    pub(super) task: ClassTask,
}

#[derive(Debug)]
pub(super) enum ClassTask {
    /// Loss, gradient `Σ e ⊗ x` and `Σ R ⊗ xxᵀ`; `step` led to the coefficients.
    Newton { step: Mat<f64> },
    /// `Σ vvᵀ` of the pairs of a row and another class that the direction barely
    /// separates, `v = (e_y − e_k) ⊗ x`.
    Border,
    /// Pairs on either side of the direction.
    Sides,
    /// `Σ eeᵀ ⊗ xxᵀ`.
    Noise,
    /// `Σ κ ⊗ x` and `Σ (R G_x e) ⊗ x` for `V` and `G = H⁻¹`.
    Bias { spread: Mat<f64>, inverse: Mat<f64>, trusts_model: bool },
}

/// Sums over rows, each times its own weight; the task decides which are computed.
#[derive(Debug)]
pub(super) struct ClassSums {
    pub(super) loss: f64,
    pub(super) vectors: [Vec<f64>; 2],
    /// Blocks on and below the diagonal.
    pub(super) matrix: Mat<f64>,
    /// Whether every row clearly has its own class as the most likely one.
    pub(super) all_apart: bool,
    /// The largest difference that the step makes to log-odds.
    pub(super) largest_move: f64,
    pub(super) n_apart: usize,
    pub(super) n_against: usize,
}

impl Sweep for ClassSweep {
    type Sums = ClassSums;

    fn of_block(&self, rows: Rows<'_>) -> ClassSums {
        let (dim, others) = (self.columns.design.dim(), self.theta.ncols());
        let has_matrix = !matches!(self.task, ClassTask::Sides | ClassTask::Bias { .. });
        let size = if has_matrix { dim * others } else { 0 };
        let mut sums = ClassSums {
            loss: 0.0,
            vectors: [vec![0.0; dim * others], vec![0.0; dim * others]],
            matrix: Mat::zeros(size, size),
            all_apart: true,
            largest_move: 0.0,
            n_apart: 0,
            n_against: 0,
        };
        let mut panel = self.columns.design.panel();
        let mut weights = PanelWeights::new(others);
        for start in (0..rows.len()).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(rows.len() - start);
            self.columns.fill(rows, start, len, &mut panel);
            weights.clear();
            self.weigh(rows.slice(start, len), &panel, &mut weights, &mut sums);
            if has_matrix {
                add_blocks(&mut sums.matrix, panel.x.as_ref(), &weights.pairs);
            }
            for (sum, weights) in sums.vectors.iter_mut().zip(&weights.vectors) {
                add_vectors(sum, &panel, weights);
            }
        }
        sums
    }

    fn absorb(sums: &mut ClassSums, later: ClassSums) {
        sums.loss += later.loss;
        for (sum, later) in sums.vectors.iter_mut().zip(&later.vectors) {
            sum.iter_mut().zip(later).for_each(|(sum, add)| *sum += add);
        }
        sums.matrix += &later.matrix;
        sums.all_apart &= later.all_apart;
        sums.largest_move = sums.largest_move.max(later.largest_move);
        sums.n_apart += later.n_apart;
        sums.n_against += later.n_against;
    }

    fn is_finite(sums: &ClassSums) -> bool {
        sums.loss.is_finite()
            && sums.largest_move.is_finite()
            && sums.vectors.iter().flatten().all(|cell| cell.is_finite())
            && sums.matrix.is_all_finite()
    }
}

impl ClassSweep {
    /// The weight of each row of a panel; missing rows have weight 0.
    fn weigh(&self, rows: Rows<'_>, panel: &DesignPanel, out: &mut PanelWeights, sums: &mut ClassSums) {
        let others = self.theta.ncols();
        let mut eta = vec![[0.0; PANEL_ROWS]; others];
        predictors(panel, &self.theta, &mut eta);
        let mut moved = Vec::new();
        if let ClassTask::Newton { step } = &self.task {
            moved = vec![[0.0; PANEL_ROWS]; others];
            predictors(panel, step, &mut moved);
        }
        let reach = self.reach(panel);
        let forms = match &self.task {
            ClassTask::Bias { spread, inverse, .. } => Some((forms(panel, spread), forms(panel, inverse))),
            _ => None,
        };
        for i in 0..rows.len() {
            let own = rows.weights().map_or(1.0, |weights| weights[i] * self.weight_scale);
            let label = rows.y()[i] as usize;
            // A NaN makes the sums NaN, and the caller then looks for the cell.
            sums.loss += 0.0 * reach[i];
            if own == 0.0 {
                continue;
            }
            let of_class = |class: usize| class.checked_sub(1).map_or(0.0, |a| eta[a][i]);
            let ahead = |class: usize| of_class(label) - of_class(class);
            let rivals = (0..=others).filter(|&class| class != label);
            match &self.task {
                ClassTask::Newton { .. } => {
                    let row = ClassProbabilities::new(eta.iter().map(|eta| eta[i]));
                    sums.loss += own * row.loss(label);
                    sums.all_apart &= rivals.clone().all(|class| ahead(class) > CLEAR_SHARE * reach[i]);
                    let moved = moved.iter().map(|moved| moved[i].abs());
                    sums.largest_move = moved.fold(sums.largest_move, f64::max);
                    for a in 0..others {
                        out.vectors[0][a][i] = own * row.surprise(a, label);
                        (0..=a).for_each(|b| out.pairs[pair(a, b)][i] = own * row.weight(a, b));
                    }
                }
                ClassTask::Border => {
                    for class in rivals {
                        let ahead = ahead(class);
                        sums.n_against += usize::from(ahead <= -STILL);
                        if ahead.abs() < STILL {
                            out.add_difference(label, class, i);
                        }
                    }
                }
                ClassTask::Sides => {
                    for class in rivals {
                        sums.n_apart += usize::from(ahead(class) > CLEAR_SHARE * reach[i]);
                        sums.n_against += usize::from(ahead(class) < -CLEAR_SHARE * reach[i]);
                    }
                }
                ClassTask::Noise => {
                    let row = ClassProbabilities::new(eta.iter().map(|eta| eta[i]));
                    for a in 0..others {
                        let e = own * row.surprise(a, label);
                        (0..=a).for_each(|b| out.pairs[pair(a, b)][i] = e * row.surprise(b, label));
                    }
                }
                ClassTask::Bias { trusts_model, .. } => {
                    let row = ClassProbabilities::new(eta.iter().map(|eta| eta[i]));
                    let Some((spread, inverse)) = &forms else { continue };
                    let s = |a: usize, b: usize| spread[pair(a, b)][i];
                    let pi = &row.prob[1..];
                    let along: Vec<f64> =
                        (0..others).map(|a| (0..others).map(|b| s(a, b) * pi[b]).sum()).collect();
                    let mean: f64 = (0..others).map(|a| pi[a] * s(a, a)).sum();
                    let square: f64 = (0..others).map(|a| pi[a] * along[a]).sum();
                    for a in 0..others {
                        let skew = s(a, a) - 2.0 * along[a] - mean + 2.0 * square;
                        out.vectors[0][a][i] = own * pi[a] * skew;
                    }
                    if *trusts_model {
                        continue;
                    }
                    let pulled: Vec<f64> = (0..others)
                        .map(|a| (0..others).map(|b| inverse[pair(a, b)][i] * row.surprise(b, label)).sum())
                        .collect();
                    for a in 0..others {
                        let felt: f64 = (0..others).map(|b| row.weight(a, b) * pulled[b]).sum();
                        out.vectors[1][a][i] = own * felt;
                    }
                }
            }
        }
    }

    /// Errors of a row's predictors are proportional to this.
    fn reach(&self, panel: &DesignPanel) -> [f64; PANEL_ROWS] {
        let mut reach = [0.0; PANEL_ROWS];
        let largest = (0..self.theta.ncols()).flat_map(|a| self.theta.col_as_slice(a).iter());
        let largest = largest.fold(0.0_f64, |most, cell| most.max(cell.abs()));
        for k in 0..panel.x.ncols() {
            let cells = reach.iter_mut().zip(panel.x.col_as_slice(k));
            cells.for_each(|(reach, x)| *reach += largest * x.abs());
        }
        reach
    }
}

/// The weights of the rows of a panel.
struct PanelWeights {
    vectors: [Vec<[f64; PANEL_ROWS]>; 2],
    /// For the blocks on and below the diagonal.
    pairs: Vec<[f64; PANEL_ROWS]>,
}

impl PanelWeights {
    fn new(others: usize) -> Self {
        let zeros = || vec![[0.0; PANEL_ROWS]; others];
        Self { vectors: [zeros(), zeros()], pairs: vec![[0.0; PANEL_ROWS]; pair(others, 0)] }
    }

    fn clear(&mut self) {
        self.vectors.iter_mut().flatten().chain(&mut self.pairs).for_each(|weights| weights.fill(0.0));
    }

    /// Adds `(e_one − e_other)(e_one − e_other)ᵀ`, without the first class.
    fn add_difference(&mut self, one: usize, other: usize, row: usize) {
        let (a, b) = (one.checked_sub(1), other.checked_sub(1));
        [a, b].into_iter().flatten().for_each(|a| self.pairs[pair(a, a)][row] += 1.0);
        if let (Some(a), Some(b)) = (a, b) {
            self.pairs[pair(a, b)][row] -= 1.0;
        }
    }
}

/// The place of a pair of classes among the blocks on and below the diagonal.
pub(super) fn pair(a: usize, b: usize) -> usize {
    let (a, b) = (a.max(b), a.min(b));
    a * (a + 1) / 2 + b
}

/// `xᵀM_ab x` of each row of a panel, for each pair of classes.
pub(super) fn forms(panel: &DesignPanel, matrix: &Mat<f64>) -> Vec<[f64; PANEL_ROWS]> {
    let dim = panel.x.ncols();
    let others = matrix.ncols() / dim;
    let mut out = vec![[0.0; PANEL_ROWS]; pair(others, 0)];
    let mut turned = Mat::zeros(PANEL_ROWS, dim);
    for a in 0..others {
        for b in 0..=a {
            let block = matrix.as_ref().submatrix(a * dim, b * dim, dim, dim);
            matmul(turned.as_mut(), Accum::Replace, panel.x.as_ref(), block, 1.0, Par::Seq);
            let out = &mut out[pair(a, b)];
            for k in 0..dim {
                let cells = turned.col_as_slice(k).iter().zip(panel.x.col_as_slice(k));
                out.iter_mut().zip(cells).for_each(|(out, (turned, x))| *out += turned * x);
            }
        }
    }
    out
}

/// Adds `Σ w_ab xxᵀ` to each block on and below the diagonal.
fn add_blocks(sum: &mut Mat<f64>, x: MatRef<'_, f64>, weights: &[[f64; PANEL_ROWS]]) {
    let dim = x.ncols();
    let others = sum.ncols() / dim;
    let mut scaled = Mat::zeros(PANEL_ROWS, dim);
    for a in 0..others {
        for b in 0..=a {
            let weights = &weights[pair(a, b)];
            for k in 0..dim {
                let x = x.col(k).try_as_col_major().expect("an owned matrix is column-major").as_slice();
                let cells = scaled.col_as_slice_mut(k).iter_mut().zip(x);
                cells.zip(weights).for_each(|((scaled, x), weight)| *scaled = x * weight);
            }
            let block = sum.as_mut().submatrix_mut(a * dim, b * dim, dim, dim);
            matmul(block, Accum::Add, x.transpose(), scaled.as_ref(), 1.0, Par::Seq);
        }
    }
}

fn add_vectors(sum: &mut [f64], panel: &DesignPanel, weights: &[[f64; PANEL_ROWS]]) {
    let dim = panel.x.ncols();
    for (a, weights) in weights.iter().enumerate() {
        for k in 0..dim {
            let cells = panel.x.col_as_slice(k).iter().zip(weights);
            sum[a * dim + k] += cells.map(|(x, weight)| x * weight).sum::<f64>();
        }
    }
}

/// The full symmetric matrix, from its blocks on and below the diagonal.
pub(super) fn symmetric(blocks: &Mat<f64>, dim: usize) -> Mat<f64> {
    Mat::from_fn(blocks.nrows(), blocks.ncols(), |i, j| match (i / dim).cmp(&(j / dim)) {
        std::cmp::Ordering::Less => blocks[(j, i)],
        std::cmp::Ordering::Greater => blocks[(i, j)],
        std::cmp::Ordering::Equal => 0.5 * (blocks[(i, j)] + blocks[(j, i)]),
    })
}
