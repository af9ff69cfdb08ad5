//! A small population whose refits are cheap, and second-order valuers of it.

use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::second_order::{SecondOrderOptions, SecondOrderValuer};
use dshap::{Rows, Sizes};
use dshap_testkit::{Draws, Sample};
use faer::Mat;

pub(crate) fn matrix(sample: &Sample) -> Mat<f64> {
    Mat::from_fn(sample.n_rows(), sample.columns.len(), |i, j| sample.columns[j][i])
}

#[track_caller]
pub(crate) fn second_order(
    sample: &Sample,
    logistic: LogisticOptions,
    (q, m): (usize, usize),
    options: SecondOrderOptions,
) -> SecondOrderValuer {
    let x = matrix(sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap_or_else(|error| panic!("{error}"));
    let fit = LogisticFit::of(rows, logistic).unwrap_or_else(|error| panic!("{error}"));
    let valuer = SecondOrderValuer::of(fit, rows, Sizes::new(q, m), options);
    valuer.unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

/// Rows of a few kinds: `n_kinds` positions, both labels of each, with these
/// probabilities. A set is given by how often it has each kind.
pub(crate) struct Kinds {
    /// The intercept first.
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) y: Vec<f64>,
    pub(crate) prob: Vec<f64>,
}

impl Kinds {
    /// Positions drawn once; labels with the probabilities of a logistic model
    /// with these coefficients, each moved by up to `off` (misspecified if > 0).
    pub(crate) fn new(seed: u64, n_kinds: usize, beta: &[f64], off: f64) -> Self {
        let mut draws = Draws::new(seed);
        let (mut x, mut y, mut prob) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..n_kinds {
            let mut row = vec![1.0];
            row.extend((1..beta.len()).map(|_| draws.normal().clamp(-2.0, 2.0)));
            let eta: f64 = row.iter().zip(beta).map(|(x, b)| x * b).sum::<f64>() + off * draws.normal();
            let one = 1.0 / (1.0 + (-eta).exp());
            for (label, share) in [(1.0, one), (0.0, 1.0 - one)] {
                x.push(row.clone());
                y.push(label);
                prob.push(share / n_kinds as f64);
            }
        }
        Self { x, y, prob }
    }

    pub(crate) fn features(&self) -> Mat<f64> {
        Mat::from_fn(self.x.len(), self.x[0].len() - 1, |i, j| self.x[i][j + 1])
    }

    /// How often a set of `s` rows has each kind.
    pub(crate) fn draw(&self, s: usize, draws: &mut Draws) -> Vec<f64> {
        let mut cumulative = 0.0;
        let edges: Vec<f64> = self
            .prob
            .iter()
            .map(|p| {
                cumulative += p;
                cumulative
            })
            .collect();
        let mut counts = vec![0.0; self.prob.len()];
        for _ in 0..s {
            let u = draws.uniform();
            // The last edge is 1 up to rounding.
            let kind = edges.partition_point(|edge| *edge <= u).min(edges.len() - 1);
            counts[kind] += 1.0;
        }
        counts
    }

    /// The logistic fit to a set, by Newton's method from `start` on; `ridge` is
    /// on the sum of losses, the intercept left out.
    pub(crate) fn refit(&self, counts: &[f64], ridge: f64, start: &[f64]) -> Vec<f64> {
        let p = start.len();
        let mut beta = start.to_vec();
        for _ in 0..50 {
            let mut gradient: Vec<f64> = (0..p).map(|k| if k > 0 { -ridge * beta[k] } else { 0.0 }).collect();
            let mut hessian = vec![vec![0.0; p]; p];
            (1..p).for_each(|k| hessian[k][k] = ridge);
            for (i, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
                let pi = self.probability(i, &beta);
                for k in 0..p {
                    gradient[k] += count * (self.y[i] - pi) * self.x[i][k];
                    (0..p)
                        .for_each(|l| hessian[k][l] += count * pi * (1.0 - pi) * self.x[i][k] * self.x[i][l]);
                }
            }
            let step = solve(hessian, gradient);
            beta.iter_mut().zip(&step).for_each(|(b, step)| *b += step);
            if step.iter().all(|step| step.abs() < 1e-11) {
                return beta;
            }
        }
        panic!("a set has no fit: it is too small for this test");
    }

    pub(crate) fn probability(&self, i: usize, beta: &[f64]) -> f64 {
        let eta: f64 = self.x[i].iter().zip(beta).map(|(x, b)| x * b).sum();
        1.0 / (1.0 + (-eta).exp())
    }
}

/// Gauss's elimination with pivots.
pub(crate) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let p = b.len();
    for k in 0..p {
        let pivot = (k..p).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap_or(k);
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..p {
            let factor = a[i][k] / a[k][k];
            let upper = a[k].clone();
            a[i].iter_mut().zip(upper).skip(k).for_each(|(cell, upper)| *cell -= factor * upper);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..p).rev() {
        b[k] = (b[k] - (k + 1..p).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// How often a set of `s` rows has each kind but the last, less what is expected, and a 1: counts
/// add up to `s`, so that the last adds nothing.
pub(crate) fn surplus(counts: &[f64], prob: &[f64], s: usize) -> Vec<f64> {
    let root = (s as f64).sqrt();
    let kinds = counts.iter().zip(prob).take(counts.len() - 1);
    kinds.map(|(count, prob)| (count - prob * s as f64) / root).chain([1.0]).collect()
}

/// The mean of gains and its standard error. Gains are regressed on the `surplus` of their sets,
/// whose expectation is 0: what is left varies like the gain itself, not `√s` times as much.
pub(crate) fn mean_gain(surplus: &[Vec<f64>], gains: &[f64]) -> (f64, f64) {
    let (n, n_sets) = (surplus[0].len(), surplus.len());
    let mut products = vec![vec![0.0; n]; n];
    let mut right = vec![0.0; n];
    for (line, gain) in surplus.iter().zip(gains) {
        for k in 0..n {
            (0..n).for_each(|l| products[k][l] += line[k] * line[l]);
        }
        right.iter_mut().zip(line).for_each(|(right, x)| *right += x * gain);
    }
    let coef = solve(products, right);
    let fitted = |line: &Vec<f64>| line.iter().zip(&coef).map(|(x, b)| x * b).sum::<f64>();
    let rest: f64 = surplus.iter().zip(gains).map(|(line, gain)| (gain - fitted(line)).powi(2)).sum();
    (coef[n - 1], (rest / (n_sets - n) as f64 / n_sets as f64).sqrt())
}
