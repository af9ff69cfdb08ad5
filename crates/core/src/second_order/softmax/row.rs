//! From a row's forms to the terms of its value.
//!
//! With `A = (H⁻¹)_x = FFᵀ`, the matrix `FᵀRF` has the eigenvalues `t_j` of `RA`; along
//! its eigenvectors `q_j`
//!
//! ```text
//! tr(RS) = Σ t_j·q_jᵀF⁻¹SF⁻ᵀq_j     eᵀAe = Σ (q_jᵀFᵀe)²     eᵀu = Σ (q_jᵀFᵀe)(q_jᵀF⁻¹u)
//! ```
//!
//! Nothing is divided by a probability, which may be tiny.

use super::fit::ClassProbabilities;
use crate::second_order::resummed::ShiftedSizes;

/// Sweeps of Jacobi's method; six or seven are enough.
const MAX_SWEEPS: usize = 30;

/// A small square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Small {
    n: usize,
    cells: Vec<f64>,
}

impl Small {
    pub(super) fn from_fn(n: usize, cell: impl Fn(usize, usize) -> f64) -> Self {
        Self { n, cells: (0..n * n).map(|k| cell(k / n, k % n)).collect() }
    }

    pub(super) fn at(&self, i: usize, j: usize) -> f64 {
        self.cells[i * self.n + j]
    }

    pub(super) fn set(&mut self, i: usize, j: usize, value: f64) {
        self.cells[i * self.n + j] = value;
    }

    /// Cholesky's factor; `None` unless the matrix is positive definite.
    fn factor(&self) -> Option<Self> {
        let mut lower = Self::from_fn(self.n, |_, _| 0.0);
        for j in 0..self.n {
            for i in j..self.n {
                let known: f64 = (0..j).map(|k| lower.at(i, k) * lower.at(j, k)).sum();
                let rest = self.at(i, j) - known;
                if i == j {
                    if rest.is_nan() || rest <= 0.0 {
                        return None;
                    }
                    lower.set(j, j, rest.sqrt());
                } else {
                    lower.set(i, j, rest / lower.at(j, j));
                }
            }
        }
        Some(lower)
    }

    /// `L⁻¹v` for a lower triangle.
    pub(super) fn solve(&self, v: &[f64]) -> Vec<f64> {
        let mut out: Vec<f64> = Vec::with_capacity(self.n);
        for (i, right) in v.iter().enumerate() {
            let known: f64 = (0..i).map(|k| self.at(i, k) * out[k]).sum();
            out.push((right - known) / self.at(i, i));
        }
        out
    }

    pub(super) fn times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.n).map(|i| (0..self.n).map(|k| self.at(i, k) * v[k]).sum()).collect()
    }

    pub(super) fn transposed_times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.n).map(|i| (0..self.n).map(|k| self.at(k, i) * v[k]).sum()).collect()
    }

    pub(super) fn column(&self, j: usize) -> Vec<f64> {
        (0..self.n).map(|i| self.at(i, j)).collect()
    }

    /// Eigenvalues of a symmetric matrix, and its eigenvectors as columns, by Jacobi's
    /// method: each eigenvalue to full relative precision.
    fn eigen(mut self) -> (Vec<f64>, Self) {
        let n = self.n;
        let mut vectors = Self::from_fn(n, |i, j| f64::from(u8::from(i == j)));
        for _ in 0..MAX_SWEEPS {
            let mut is_diagonal = true;
            for p in 0..n {
                for q in p + 1..n {
                    let off = self.at(p, q);
                    let size = (self.at(p, p) * self.at(q, q)).abs().sqrt();
                    if off == 0.0 || off.abs() <= f64::EPSILON * size {
                        continue;
                    }
                    is_diagonal = false;
                    let theta = (self.at(q, q) - self.at(p, p)) / (2.0 * off);
                    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                    let c = 1.0 / t.hypot(1.0);
                    self.rotate(p, q, c, t * c);
                    vectors.rotate_columns(p, q, c, t * c);
                }
            }
            if is_diagonal {
                break;
            }
        }
        ((0..n).map(|j| self.at(j, j)).collect(), vectors)
    }

    fn rotate(&mut self, p: usize, q: usize, c: f64, s: f64) {
        self.rotate_columns(p, q, c, s);
        for k in 0..self.n {
            let (a, b) = (self.at(p, k), self.at(q, k));
            self.set(p, k, c * a - s * b);
            self.set(q, k, s * a + c * b);
        }
        self.set(p, q, 0.0);
        self.set(q, p, 0.0);
    }

    fn rotate_columns(&mut self, p: usize, q: usize, c: f64, s: f64) {
        for k in 0..self.n {
            let (a, b) = (self.at(k, p), self.at(k, q));
            self.set(k, p, c * a - s * b);
            self.set(k, q, s * a + c * b);
        }
    }
}

/// The moments of the reference at the position of a row.
#[derive(Debug, Clone)]
pub(super) struct RowForms {
    /// `A = (H⁻¹)_x`.
    pub(super) inverse: Small,
    /// `S = V_x`.
    pub(super) spread: Small,
    /// `u_k = xᵀb_k`.
    pub(super) bias: Vec<f64>,
}

/// Terms of a row along one eigenvector.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Axis {
    /// `t_j`.
    pub(super) dist_sq: f64,
    /// Its share of `tr(RS)`.
    pub(super) spread: f64,
    /// Its share of `½eᵀAe`.
    pub(super) surprise: f64,
    /// Its share of `−2eᵀu`.
    pub(super) bias: f64,
}

/// The parts of a value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Split {
    pub(super) potential: f64,
    pub(super) penalty: f64,
    pub(super) correction: f64,
    /// `Σ t_j = tr(RA)`.
    pub(super) dist_sq: f64,
}

impl RowForms {
    /// The terms along each eigenvector; none for a row at the origin, which adds
    /// nothing.
    pub(super) fn axes(&self, row: &ClassProbabilities, label: usize) -> Vec<Axis> {
        let Some((factor, values, vectors)) = self.decomposed(row) else { return Vec::new() };
        let n = self.bias.len();
        let surprise: Vec<f64> = (0..n).map(|a| row.surprise(a, label)).collect();
        let along = vectors.transposed_times(&factor.transposed_times(&surprise));
        let bias = vectors.transposed_times(&factor.solve(&self.bias));
        // F⁻¹S, then F⁻¹(F⁻¹S)ᵀ: symmetric.
        let half: Vec<Vec<f64>> = (0..n).map(|j| factor.solve(&self.spread.column(j))).collect();
        let whole: Vec<Vec<f64>> =
            (0..n).map(|i| factor.solve(&(0..n).map(|j| half[j][i]).collect::<Vec<_>>())).collect();
        let spread = Small::from_fn(n, |i, j| whole[i][j]);
        let axis = |j: usize| {
            let q = vectors.column(j);
            let form: f64 = q.iter().zip(spread.times(&q)).map(|(q, turned)| q * turned).sum();
            // Rounding may give slightly less than zero.
            let dist_sq = values[j].max(0.0);
            Axis {
                dist_sq,
                spread: dist_sq * form,
                surprise: 0.5 * along[j] * along[j],
                bias: -2.0 * along[j] * bias[j],
            }
        };
        (0..n).map(axis).collect()
    }

    /// `F`, the eigenvalues of `FᵀRF` and its eigenvectors.
    pub(super) fn decomposed(&self, row: &ClassProbabilities) -> Option<(Small, Vec<f64>, Small)> {
        let n = self.bias.len();
        let factor = self.inverse.factor()?;
        let weights = Small::from_fn(n, |a, b| row.weight(a, b));
        let half: Vec<Vec<f64>> = (0..n).map(|j| weights.times(&factor.column(j))).collect();
        let inner = |i: usize, j: usize| (0..n).map(|k| factor.at(k, i) * half[j][k]).sum::<f64>();
        let product = Small::from_fn(n, |i, j| inner(i.max(j), i.min(j)));
        let (values, vectors) = product.eigen();
        Some((factor, values, vectors))
    }
}

/// By how much a row moves its own log-odds, along its surprise, in a set of
/// `size` rows.
pub(super) fn moves(axes: &[Axis], size: f64) -> f64 {
    axes.iter().map(|axis| 2.0 * axis.surprise / (size + axis.dist_sq)).sum()
}

impl Split {
    /// The sum over set sizes, divided by `m`.
    pub(super) fn of(axes: &[Axis], sizes: &ShiftedSizes, m: f64) -> Self {
        let mut split = Self::default();
        for axis in axes {
            let (s1, s2) = sizes.sums(axis.dist_sq);
            split.potential += 0.5 * axis.spread * (s1 + s2) / m;
            split.penalty += axis.surprise * s2 / m;
            split.correction += axis.bias * s2 / m;
            split.dist_sq += axis.dist_sq;
        }
        split
    }

    pub(super) fn value(&self) -> f64 {
        self.potential - self.penalty + self.correction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_rebuild_their_matrix() {
        let matrix =
            Small::from_fn(4, |i, j| 1.0 / (1.0 + (i + j) as f64) + f64::from(u8::from(i == j)) * i as f64);
        let (values, vectors) = matrix.clone().eigen();
        for i in 0..4 {
            for j in 0..4 {
                let again: f64 = (0..4).map(|k| vectors.at(i, k) * values[k] * vectors.at(j, k)).sum();
                // Sixteen products of numbers of size 4.
                assert!((again - matrix.at(i, j)).abs() < 64.0 * f64::EPSILON, "{i} {j}: {again}");
            }
        }
    }

    /// Along its axes a row's terms add up to those of the formula.
    #[test]
    fn axes_add_up() {
        let forms = RowForms {
            inverse: Small::from_fn(3, |i, j| if i == j { 5.0 + i as f64 } else { 0.7 }),
            spread: Small::from_fn(3, |i, j| if i == j { 4.0 - i as f64 } else { -0.3 }),
            bias: vec![0.3, -1.1, 0.6],
        };
        let row = ClassProbabilities::new([0.4, -0.8, 1.3].into_iter());
        let axes = forms.axes(&row, 2);
        let (mut trace, mut square, mut linear, mut distance) = (0.0, 0.0, 0.0, 0.0);
        for a in 0..3 {
            linear -= 2.0 * row.surprise(a, 2) * forms.bias[a];
            for b in 0..3 {
                trace += row.weight(a, b) * forms.spread.at(a, b);
                distance += row.weight(a, b) * forms.inverse.at(a, b);
                square += 0.5 * row.surprise(a, 2) * forms.inverse.at(a, b) * row.surprise(b, 2);
            }
        }
        let sum = |term: fn(&Axis) -> f64| axes.iter().map(term).sum::<f64>();
        for (found, expected) in [
            (sum(|axis| axis.spread), trace),
            (sum(|axis| axis.surprise), square),
            (sum(|axis| axis.bias), linear),
            (sum(|axis| axis.dist_sq), distance),
        ] {
            assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
        }
    }
}
