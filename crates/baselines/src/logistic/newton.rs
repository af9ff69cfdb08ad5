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
    fn each(&self, dim: usize, mut see: impl FnMut(&'a [f64], usize)) {
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
        let mut waiting: [Expanded<'_>; ROWS_AT_ONCE] = Default::default();
        let mut n_waiting = 0;
        members.each(p, |x, label| {
            let row = Expanded::of(x, symmetric::dot(x, beta), label == positive);
            objective += row.loss;
            waiting[n_waiting] = row;
            n_waiting += 1;
            if n_waiting == ROWS_AT_ONCE {
                self.add_several(&waiting);
                n_waiting = 0;
            }
        });
        waiting[..n_waiting].iter().for_each(|row| self.add(row));
        objective
    }

    /// Adds the terms of one row.
    fn add(&mut self, row: &Expanded<'_>) {
        let x = row.x;
        symmetric::add_scaled(&mut self.gradient, row.residual, x);
        for (j, sums) in self.hessian.chunks_exact_mut(x.len()).enumerate() {
            symmetric::add_scaled(&mut sums[..=j], row.weight * x[j], &x[..=j]);
        }
    }

    /// Adds the terms of several rows, one after the other to each sum: the bits are those of
    /// [`add`](Self::add), and sums are read and written once for all.
    fn add_several(&mut self, rows: &[Expanded<'_>; ROWS_AT_ONCE]) {
        let p = self.gradient.len();
        let [a, b, c, d] = rows;
        let vectors = [a.x, b.x, c.x, d.x];
        add_four(&mut self.gradient, [a.residual, b.residual, c.residual, d.residual], vectors);
        for j in 0..p {
            let scales = [a.weight * a.x[j], b.weight * b.x[j], c.weight * c.x[j], d.weight * d.x[j]];
            add_four(&mut self.hessian[j * p..=j * p + j], scales, vectors);
        }
    }
}

/// Rows whose terms are added at once.
const ROWS_AT_ONCE: usize = 4;

/// What a row adds to the objective, the gradient and the Hessian.
#[derive(Debug, Clone, Copy, Default)]
struct Expanded<'a> {
    x: &'a [f64],
    loss: f64,
    residual: f64,
    weight: f64,
}

impl<'a> Expanded<'a> {
    #[inline]
    fn of(x: &'a [f64], margin: f64, is_positive: bool) -> Self {
        // The loss and both probabilities need the same exponential.
        let tail = (-margin.abs()).exp();
        let (large, small) = (1.0 / (1.0 + tail), tail / (1.0 + tail));
        let prob = if margin >= 0.0 { large } else { small };
        // π(1 − π) from the smaller of the two, which has all its digits.
        let rest = if -margin >= 0.0 { large } else { small };
        let signed = if is_positive { -margin } else { margin };
        Self {
            x,
            loss: signed.max(0.0) + tail.ln_1p(),
            residual: prob - f64::from(u8::from(is_positive)),
            weight: prob * rest,
        }
    }
}

/// `out += scale·v` for one vector after the other. A plain loop: adapters of iterators and arrays
/// are calls in builds without optimisation across the units of a crate.
#[inline(always)]
fn add_four(out: &mut [f64], scales: [f64; ROWS_AT_ONCE], vectors: [&[f64]; ROWS_AT_ONCE]) {
    let n = out.len();
    let ([a, b, c, d], [u, v, w, x]) = (scales, vectors);
    let (u, v, w, x) = (&u[..n], &v[..n], &w[..n], &x[..n]);
    for k in 0..n {
        out[k] = (((out[k] + a * u[k]) + b * v[k]) + c * w[k]) + d * x[k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of saved runs depend on every bit of a fit.
    #[test]
    fn several_rows_at_once_add_the_bits_of_one_after_the_other() {
        let p = 5;
        let mut state = 7_u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
        };
        // The last rows are left over; margins of 0 and of both signs.
        let rows: Vec<f64> = (0..11 * p).map(|i| if i < p { 0.0 } else { 3.0 * number() }).collect();
        let labels: Vec<usize> = (0..11).map(|i| i % 3 % 2).collect();
        let (penalty, beta) = ([0.5, 0.0, 0.1, 2.0, 0.0], [0.3, -1.0, 0.7, 0.0, 40.0]);
        let members = Members { without: Some(4), ..Members::all(&rows, &labels) };
        let mut found = Work { gradient: vec![0.0; p], hessian: vec![0.0; p * p] };
        let objective = found.expand(&members, 1, &penalty, &beta);

        let mut expected = Work { gradient: vec![0.0; p], hessian: vec![0.0; p * p] };
        let mut loss = 0.0;
        for j in 0..p {
            expected.gradient[j] = penalty[j] * beta[j];
            expected.hessian[j * p + j] = penalty[j];
            loss += 0.5 * penalty[j] * beta[j] * beta[j];
        }
        members.each(p, |x, label| {
            let margin = symmetric::dot(x, &beta);
            loss += softplus(if label == 1 { -margin } else { margin });
            let residual = probability(margin) - f64::from(u8::from(label == 1));
            symmetric::add_scaled(&mut expected.gradient, residual, x);
            let weight = probability(margin) * probability(-margin);
            for (j, sums) in expected.hessian.chunks_exact_mut(p).enumerate() {
                symmetric::add_scaled(&mut sums[..=j], weight * x[j], &x[..=j]);
            }
        });
        assert_eq!(objective.to_bits(), loss.to_bits());
        assert_eq!(found.gradient, expected.gradient);
        assert_eq!(found.hessian, expected.hessian);
    }
}
