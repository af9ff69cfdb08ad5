//! Newton's method for one logistic model of a set.

use crate::symmetric;

/// A step that changes no row's margin by more than this is the last: the remaining error
/// is about its square. The objective is no criterion, because it is flat where rows are
/// separated almost with certainty.
const SMALL_STEP: f64 = 1e-6;

/// A step may increase the objective by this share, which is rounding.
const ROUNDING: f64 = 1e-13;

/// More steps than any set needs. Only a step that rounding keeps from decreasing the
/// objective ends earlier.
const MAX_STEPS: usize = 50;

/// Halvings of one step.
const MAX_HALVINGS: usize = 30;

/// The rows of a set, or those with one more or one less.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members<'a> {
    pub(super) rows: &'a [f64],
    pub(super) labels: &'a [usize],
    pub(super) more: Option<(&'a [f64], usize)>,
    pub(super) without: Option<usize>,
}

impl<'a> Members<'a> {
    pub(super) fn all(rows: &'a [f64], labels: &'a [usize]) -> Self {
        Self { rows, labels, more: None, without: None }
    }

    /// Shows all rows, `dim` cells each.
    fn each(&self, dim: usize, mut see: impl FnMut(&[f64], usize)) {
        for (index, (x, &label)) in self.rows.chunks_exact(dim).zip(self.labels).enumerate() {
            if self.without != Some(index) {
                see(x, label);
            }
        }
        if let Some((x, label)) = self.more {
            see(x, label);
        }
    }
}

/// `ln(1 + e^t)`.
pub(super) fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// `1/(1 + e^{−t})`.
pub(super) fn probability(t: f64) -> f64 {
    let tail = (-t.abs()).exp();
    if t >= 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) }
}

/// Minimises `Σ log-loss + ½ Σ penalty·β²` from `beta` on.
pub(super) fn fit(members: &Members<'_>, positive: usize, penalty: &[f64], beta: &mut [f64]) {
    let p = beta.len();
    let mut work = Work { gradient: vec![0.0; p], hessian: vec![0.0; p * p] };
    let mut objective = work.expand(members, positive, penalty, beta);
    let mut step = vec![0.0; p];
    let mut trial = vec![0.0; p];
    for _ in 0..MAX_STEPS {
        if !symmetric::factor(&mut work.hessian, p) {
            // All probabilities are 0 or 1 to the last bit: this is the limit.
            return;
        }
        step.copy_from_slice(&work.gradient);
        symmetric::solve(&work.hessian, &mut step);
        let mut largest: f64 = 0.0;
        members.each(p, |x, _| largest = largest.max(symmetric::dot(x, &step).abs()));
        if largest < SMALL_STEP {
            symmetric::add_scaled(beta, -1.0, &step);
            return;
        }
        let mut length = 1.0;
        let mut is_downhill = false;
        for _ in 0..MAX_HALVINGS {
            trial.copy_from_slice(beta);
            symmetric::add_scaled(&mut trial, -length, &step);
            let reached = work.expand(members, positive, penalty, &trial);
            if reached <= objective + ROUNDING * (1.0 + objective) {
                objective = reached;
                is_downhill = true;
                break;
            }
            length *= 0.5;
        }
        if !is_downhill {
            return;
        }
        beta.copy_from_slice(&trial);
    }
}

/// The Hessian at `beta` as a factor, its lower half row by row; `None` if all
/// probabilities are 0 or 1 to the last bit.
pub(super) fn curvature(
    members: &Members<'_>,
    positive: usize,
    penalty: &[f64],
    beta: &[f64],
) -> Option<Vec<f64>> {
    let p = beta.len();
    let mut work = Work { gradient: vec![0.0; p], hessian: vec![0.0; p * p] };
    work.expand(members, positive, penalty, beta);
    symmetric::factor(&mut work.hessian, p).then_some(work.hessian)
}

struct Work {
    gradient: Vec<f64>,
    /// Its lower half.
    hessian: Vec<f64>,
}

impl Work {
    /// The objective at `beta`, with its gradient and its Hessian.
    fn expand(&mut self, members: &Members<'_>, positive: usize, penalty: &[f64], beta: &[f64]) -> f64 {
        let p = beta.len();
        self.hessian.fill(0.0);
        let mut objective = 0.0;
        for j in 0..p {
            self.gradient[j] = penalty[j] * beta[j];
            self.hessian[j * p + j] = penalty[j];
            objective += 0.5 * penalty[j] * beta[j] * beta[j];
        }
        members.each(p, |x, label| {
            let margin = symmetric::dot(x, beta);
            let is_positive = label == positive;
            objective += softplus(if is_positive { -margin } else { margin });
            let prob = probability(margin);
            let residual = prob - f64::from(u8::from(is_positive));
            symmetric::add_scaled(&mut self.gradient, residual, x);
            // π(1 − π) from the smaller of the two, which has all its digits.
            let weight = prob * probability(-margin);
            for (j, row) in self.hessian.chunks_exact_mut(p).enumerate() {
                symmetric::add_scaled(&mut row[..=j], weight * x[j], &x[..=j]);
            }
        });
        objective
    }
}
