//! Coordinates in which the Hessian of a set's model is the identity.
//!
//! With `β` the model of the rows `X`, `H = LLᵀ` the Hessian of its objective and `P`
//! the penalty, a row is `x̃ = L⁻¹x`, another model is `d = Lᵀ(β′ − β)`, and the
//! gradient of the set's objective at it is
//!
//! ```text
//! g(d) = X̃ᵀ(π(X̃d + Xβ) − y) + P̃d + L⁻¹Pβ,        P̃ = L⁻¹PL⁻ᵀ
//! ```
//!
//! For many models that is two matrix products, with one exponential between them for
//! each row and model.

use super::newton::{Members, curvature};
use crate::symmetric;
use dshap::numeric::exp_of_negative;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};

/// Rows whose margins under all models stay in cache between the two products.
const PANEL_ROWS: usize = 64;

/// A set and its model in these coordinates. Lists of vectors are stored one after the
/// other.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    dim: usize,
    beta: &'a [f64],
    /// `L`, row by row.
    lower: Vec<f64>,
    /// `x̃` of all rows.
    rows: Vec<f64>,
    /// `Xβ`.
    margins: Vec<f64>,
    /// See [`sign`].
    signs: Vec<f64>,
    /// `P̃`.
    penalty: Vec<f64>,
    /// `L⁻¹Pβ`.
    pull: Vec<f64>,
    largest_norm: f64,
}

/// −1 for the label that the model predicts the probability of, else 1: so that with
/// `s` the sign and `t` the margin of a row `π − y = s·σ(s·t)`, to the last digit.
pub(super) fn sign(label: usize, positive: usize) -> f64 {
    if label == positive { -1.0 } else { 1.0 }
}

impl<'a> Frame<'a> {
    /// The frame of the model `beta` of some rows; `None` if the Hessian does not
    /// determine it.
    pub(super) fn new(
        rows: &[f64],
        labels: &[usize],
        positive: usize,
        penalty: &[f64],
        beta: &'a [f64],
    ) -> Option<Self> {
        let dim = beta.len();
        let lower = curvature(&Members::all(rows, labels), positive, penalty, beta)?;
        let mut roots = vec![0.0; dim * dim];
        for (j, penalty) in penalty.iter().enumerate() {
            roots[j * dim + j] = penalty.sqrt();
        }
        let mut frame = Self {
            dim,
            beta,
            lower,
            rows: Vec::new(),
            margins: rows.chunks_exact(dim).map(|x| symmetric::dot(x, beta)).collect(),
            signs: labels.iter().map(|&label| sign(label, positive)).collect(),
            penalty: vec![0.0; dim * dim],
            pull: Vec::new(),
            largest_norm: 0.0,
        };
        frame.rows = frame.turned(rows);
        let squares = frame.rows.chunks_exact(dim).map(|x| symmetric::dot(x, x));
        frame.largest_norm = squares.fold(0.0, f64::max).sqrt();
        let pull: Vec<f64> = penalty.iter().zip(beta).map(|(penalty, beta)| penalty * beta).collect();
        frame.pull = frame.turned(&pull);
        let roots = frame.turned(&roots);
        let roots = columns(&roots, dim);
        let product = columns_mut(&mut frame.penalty, dim);
        matmul(product, Accum::Replace, roots, roots.transpose(), 1.0, Par::Seq);
        Some(frame)
    }

    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// The margin of `x` under the set's own model.
    pub(super) fn margin(&self, x: &[f64]) -> f64 {
        symmetric::dot(x, self.beta)
    }

    /// The largest `‖x̃‖`.
    pub(super) fn largest_norm(&self) -> f64 {
        self.largest_norm
    }

    /// `x̃` of some rows.
    pub(super) fn turned(&self, rows: &[f64]) -> Vec<f64> {
        let mut turned = rows.to_vec();
        solve_lower_triangular_in_place(self.lower(), columns_mut(&mut turned, self.dim), Par::Seq);
        turned
    }

    /// `β′ − β` of some models `d`.
    pub(super) fn turned_back(&self, mut models: Vec<f64>) -> Vec<f64> {
        let upper = self.lower().transpose();
        solve_upper_triangular_in_place(upper, columns_mut(&mut models, self.dim), Par::Seq);
        models
    }

    fn lower(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.lower, self.dim, self.dim)
    }

    /// `g(d)` of some models.
    pub(super) fn gradients(&self, models: &[f64]) -> Vec<f64> {
        let dim = self.dim;
        let models = columns(models, dim);
        let mut out: Vec<f64> = self.pull.iter().copied().cycle().take(dim * models.ncols()).collect();
        let mut gradients = columns_mut(&mut out, dim);
        matmul(gradients.as_mut(), Accum::Add, columns(&self.penalty, dim), models, 1.0, Par::Seq);
        let mut residuals = vec![0.0; PANEL_ROWS * models.ncols()];
        let panels = self.rows.chunks(PANEL_ROWS * dim).zip(self.margins.chunks(PANEL_ROWS));
        for ((rows, margins), signs) in panels.zip(self.signs.chunks(PANEL_ROWS)) {
            let rows = columns(rows, dim);
            let residuals = &mut residuals[..margins.len() * models.ncols()];
            let products = columns_mut(residuals, margins.len());
            matmul(products, Accum::Replace, rows.transpose(), models, 1.0, Par::Seq);
            pulp::Arch::new().dispatch(Residuals { margins, signs, cells: residuals });
            let residuals = columns(residuals, margins.len());
            matmul(gradients.as_mut(), Accum::Add, rows, residuals, 1.0, Par::Seq);
        }
        out
    }
}

/// Vectors of `n` numbers one after the other, as columns.
pub(super) fn columns(cells: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(cells, n, cells.len() / n)
}

/// The same, mutable.
pub(super) fn columns_mut(cells: &mut [f64], n: usize) -> MatMut<'_, f64> {
    let n_columns = cells.len() / n;
    MatMut::from_column_major_slice_mut(cells, n, n_columns)
}

/// Turns changes of margins into residuals `π − y`, model after model. A type rather
/// than a closure, so that it is compiled for each instruction set.
struct Residuals<'a> {
    margins: &'a [f64],
    signs: &'a [f64],
    cells: &'a mut [f64],
}

impl pulp::WithSimd for Residuals<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        for cells in self.cells.chunks_exact_mut(self.margins.len()) {
            for ((cell, margin), sign) in cells.iter_mut().zip(self.margins).zip(self.signs) {
                let t = sign * (margin + *cell);
                let tail = exp_of_negative(-t.abs());
                let larger = if t >= 0.0 { 1.0 } else { tail };
                *cell = sign * larger / (1.0 + tail);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradients are those of the objective at `β′`, by sums over rows in the
    /// coordinates of the coefficients; more rows than one panel.
    #[test]
    fn gradients_are_those_of_the_objective() {
        let dim = 3;
        let cell = |i: usize, j: usize| if j == 2 { 1.0 } else { ((3 * i + 7 * j) as f64 * 0.7).sin() };
        let n = PANEL_ROWS + 9;
        let rows: Vec<f64> = (0..n).flat_map(|i| (0..dim).map(move |j| cell(i, j))).collect();
        let labels: Vec<usize> = (0..n).map(|i| usize::from(cell(i, 0) + 0.5 * cell(i, 4) > 0.2)).collect();
        let (penalty, beta) = ([0.8, 1.7, 0.0], [1.2, -0.3, 0.4]);
        let frame = Frame::new(&rows, &labels, 1, &penalty, &beta).expect("the Hessian is positive");
        let models = [0.0, 0.0, 0.0, 2.0, -1.0, 9.0];
        let changes = frame.turned_back(models.to_vec());
        let found = frame.gradients(&models);
        for (change, found) in changes.chunks_exact(dim).zip(found.chunks_exact(dim)) {
            let other: Vec<f64> = beta.iter().zip(change).map(|(a, b)| a + b).collect();
            let mut gradient: Vec<f64> = penalty.iter().zip(&other).map(|(p, b)| p * b).collect();
            for (x, &label) in rows.chunks_exact(dim).zip(&labels) {
                let margin: f64 = x.iter().zip(&other).map(|(x, b)| x * b).sum();
                let residual = 1.0 / (1.0 + (-margin).exp()) - label as f64;
                gradient.iter_mut().zip(x).for_each(|(g, x)| *g += residual * x);
            }
            for (found, expected) in found.iter().zip(frame.turned(&gradient)) {
                // Some seventy terms of order 1.
                assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
            }
        }
    }
}
