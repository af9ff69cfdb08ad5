//! Scores of models on test rows.

use super::Score;
use super::accuracy::accuracies;
use super::frame::{columns, columns_mut, sign};
use super::newton::{probability, softplus};
use crate::symmetric::wide_dot;
use dshap::numeric::exp_of_negative;
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};

/// Rows that are scored together.
pub(super) const PANEL_ROWS: usize = 128;

/// Test rows in the columns of the model.
#[derive(Debug, Clone)]
pub(super) struct TestRows {
    pub(super) dim: usize,
    n_classes: usize,
    score: Score,
    /// Row after row.
    pub(super) cells: Vec<f64>,
    pub(super) labels: Vec<usize>,
    pub(super) norms: Vec<f64>,
}

impl TestRows {
    /// Rows of `dim` cells, one after the other.
    pub(super) fn new(
        cells: Vec<f64>,
        dim: usize,
        labels: Vec<usize>,
        n_classes: usize,
        score: Score,
    ) -> Self {
        let norms = cells.chunks_exact(dim).map(|x| wide_dot(x, x).sqrt()).collect();
        Self { dim, n_classes, score, cells, labels, norms }
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Two labels need one model.
    pub(super) fn n_models(&self) -> usize {
        if self.n_classes == 2 { 1 } else { self.n_classes }
    }

    /// Score of predicting the most common label, or the shares of all.
    pub(super) fn score_of_no_model(&self) -> f64 {
        let n = self.len() as f64;
        let mut counts = vec![0.0; self.n_classes];
        self.labels.iter().for_each(|&label| counts[label] += 1.0);
        match self.score {
            Score::Accuracy => counts.iter().fold(0.0, |most: f64, &count| most.max(count)) / n,
            Score::LogLoss => {
                counts.iter().filter(|count| **count > 0.0).map(|count| count / n * (count / n).ln()).sum()
            }
        }
    }

    /// Score of the coefficients `beta`, those of one model after the other.
    pub(super) fn score(&self, beta: &[f64]) -> f64 {
        let mut margins = vec![0.0; self.n_models()];
        let mut total = 0.0;
        for (x, &label) in self.cells.chunks_exact(self.dim).zip(&self.labels) {
            for (margin, beta) in margins.iter_mut().zip(beta.chunks_exact(self.dim)) {
                *margin = wide_dot(x, beta);
            }
            total += match self.score {
                Score::Accuracy => f64::from(u8::from(is_right(&margins, label))),
                Score::LogLoss => log_likelihood(&margins, label),
            };
        }
        total / self.len() as f64
    }

    /// Scores of coefficients that differ from `beta` by `changes`, which has a list
    /// for each model, one change after the other.
    pub(super) fn scores(&self, beta: &[f64], changes: &[Vec<f64>]) -> Vec<f64> {
        match self.score {
            Score::Accuracy => accuracies(self, beta, changes),
            Score::LogLoss => self.log_scores(beta, changes),
        }
    }

    fn log_scores(&self, beta: &[f64], changes: &[Vec<f64>]) -> Vec<f64> {
        let dim = self.dim;
        let moved = |(changes, beta): (&Vec<f64>, &[f64])| -> Vec<f64> {
            changes.iter().zip(beta.iter().cycle()).map(|(change, beta)| beta + change).collect()
        };
        let models: Vec<Vec<f64>> = changes.iter().zip(beta.chunks_exact(dim)).map(moved).collect();
        let mut sums = vec![0.0; changes[0].len() / dim];
        let mut margins = vec![Vec::new(); models.len()];
        let mut of_row = vec![0.0; models.len()];
        for (rows, labels) in self.cells.chunks(PANEL_ROWS * dim).zip(self.labels.chunks(PANEL_ROWS)) {
            let rows = columns(rows, dim).transpose();
            for (margins, models) in margins.iter_mut().zip(&models) {
                margins.resize(labels.len() * sums.len(), 0.0);
                let product = columns_mut(margins, labels.len());
                matmul(product, Accum::Replace, rows, columns(models, dim), 1.0, Par::Seq);
            }
            if let [margins] = margins.as_slice() {
                let signs: Vec<f64> = labels.iter().map(|&label| sign(label, 1)).collect();
                pulp::Arch::new().dispatch(LogLikelihoods { margins, signs: &signs, sums: &mut sums });
                continue;
            }
            for (k, sum) in sums.iter_mut().enumerate() {
                for (i, &label) in labels.iter().enumerate() {
                    for (margin, margins) in of_row.iter_mut().zip(&margins) {
                        *margin = margins[k * labels.len() + i];
                    }
                    *sum += log_likelihood(&of_row, label);
                }
            }
        }
        sums.iter().map(|sum| sum / self.len() as f64).collect()
    }
}

/// Whether the label is the one predicted.
#[inline]
pub(super) fn is_right(margins: &[f64], label: usize) -> bool {
    match margins {
        &[margin] => (margin > 0.0) == (label == 1),
        margins => largest(margins) == label,
    }
}

fn log_likelihood(margins: &[f64], label: usize) -> f64 {
    match margins {
        &[margin] => -softplus(sign(label, 1) * margin),
        margins => {
            let sum: f64 = margins.iter().map(|&margin| probability(margin)).sum();
            -softplus(-margins[label]) - sum.ln()
        }
    }
}

/// The place of the largest number, the first if there are several.
fn largest(numbers: &[f64]) -> usize {
    let mut best = 0;
    for (i, number) in numbers.iter().enumerate() {
        if *number > numbers[best] {
            best = i;
        }
    }
    best
}

/// Adds log-likelihoods of some rows to the sums of some models of two labels. A type
/// rather than a closure, so that it is compiled for each instruction set.
struct LogLikelihoods<'a> {
    /// Model after model.
    margins: &'a [f64],
    signs: &'a [f64],
    sums: &'a mut [f64],
}

impl pulp::WithSimd for LogLikelihoods<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        const LANES: usize = 8;
        for (margins, sum) in self.margins.chunks_exact(self.signs.len()).zip(self.sums) {
            // ln(1 + e^t) is t or 0 and the logarithm of a number from 1 to 2. These are
            // multiplied, which is safe for one panel, so that one logarithm is enough.
            let (mut linear, mut product) = ([0.0; LANES], [1.0; LANES]);
            let mut add = |l: usize, t: f64| {
                linear[l] += if t > 0.0 { t } else { 0.0 };
                product[l] *= 1.0 + exp_of_negative(-t.abs());
            };
            let (margins, margins_left) = margins.as_chunks::<LANES>();
            let (signs, signs_left) = self.signs.as_chunks::<LANES>();
            for (margins, signs) in margins.iter().zip(signs) {
                for l in 0..LANES {
                    add(l, signs[l] * margins[l]);
                }
            }
            for (l, (margin, sign)) in margins_left.iter().zip(signs_left).enumerate() {
                add(l, sign * margin);
            }
            *sum -= linear.iter().sum::<f64>() + product.iter().product::<f64>().ln();
        }
    }
}
