//! Coordinates in which the second moments of the reference are the identity.
//!
//! With `G = LLᵀ` the Gram matrix of the reference and `z = L⁻¹x`, a set of `s` of `n`
//! rows has a Gram matrix near `(s/n)I`: factors and inverses keep their digits however
//! nearly dependent the features are. A ridge is not a multiple of the identity there, so
//! the coordinates are rotated to make it diagonal. It is large for features in small
//! units, which must not swamp the others.

use crate::linear::fit::PANEL_ROWS;
use crate::linear::{FitParts, Intercept, LinearFit};
use crate::packed::unpack_lower;
use crate::{Error, Rows};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatRef, Par};

/// From features as given to `z = L⁻¹x`.
#[derive(Debug)]
pub(super) struct Coordinates {
    parts: FitParts,
    lower: Mat<f64>,
    /// The value in the column of a refitted intercept.
    constant: Option<f64>,
    /// `β`, with which `xᵀβ = zᵀcoef`.
    coef: Vec<f64>,
    /// `γI` in these coordinates, which is diagonal, if there is a ridge; an
    /// intercept has none.
    ridge: Option<Mat<f64>>,
    /// The rotation that makes it diagonal.
    turn: Option<Mat<f64>>,
    /// Whether rows are centred by means that are treated as known.
    is_centred: bool,
}

/// Rows in these coordinates, padded with zeros to whole panels.
#[derive(Debug)]
pub(super) struct Whitened {
    pub(super) z: Mat<f64>,
    /// `‖z‖²`, a constant column not counted.
    pub(super) norm_sq: Vec<f64>,
    /// `y − xᵀβ`.
    pub(super) residual: Vec<f64>,
}

impl Coordinates {
    pub(super) fn new(fit: &LinearFit, ridge: f64) -> Result<Self, Error> {
        let parts = fit.to_parts();
        let p = fit.dim();
        let contradiction = Error::Contradiction { what: "the factor does not match the columns in size" };
        let lower = unpack_lower(&parts.lower, p).ok_or(contradiction)?;
        let is_refitted = fit.intercept_kind() == Intercept::Refitted;
        // The ones of an intercept are orthogonal to centred features, and n
        // of them have length √n.
        let constant = is_refitted.then(|| 1.0 / (fit.n_rows() as f64).sqrt());
        let dim = fit.model_dim();
        let mut coef = parts.target_row.clone();
        let (mut diagonal, mut turn) = (None, None);
        if ridge > 0.0 {
            let mut root = Mat::<f64>::zeros(p, p);
            (0..p).for_each(|j| root[(j, j)] = parts.scale[j] * ridge.sqrt());
            solve_lower_triangular_in_place(lower.as_ref(), root.as_mut(), Par::Seq);
            // Singular values of a root keep twice the digits of eigenvalues.
            let svd = root.svd().map_err(|_| Error::TooLarge)?;
            let (u, values) = (svd.U().to_owned(), svd.S().column_vector());
            coef = (0..p).map(|k| u.col_as_slice(k).iter().zip(&coef).map(|(u, b)| u * b).sum()).collect();
            let at = |k: usize| if k < p { values[k] * values[k] } else { 0.0 };
            diagonal = Some(Mat::from_fn(dim, dim, |i, j| if i == j { at(i) } else { 0.0 }));
            turn = Some(u);
        }
        coef.resize(dim, 0.0);
        let is_centred = fit.intercept_kind() == Intercept::Known;
        Ok(Self { parts, lower, constant, coef, ridge: diagonal, turn, is_centred })
    }

    /// Columns of the design that a model fits on each set.
    pub(super) fn dim(&self) -> usize {
        self.coef.len()
    }

    pub(super) fn coef(&self) -> &[f64] {
        &self.coef
    }

    pub(super) fn ridge(&self) -> Option<MatRef<'_, f64>> {
        self.ridge.as_ref().map(Mat::as_ref)
    }

    /// Whether a set must determine the columns beside a column of ones: centred rows have none
    /// of their own.
    pub(super) fn beside_ones(&self) -> bool {
        self.is_centred
    }

    /// `rows` in these coordinates.
    pub(super) fn of(&self, rows: Rows<'_>) -> Result<Whitened, Error> {
        let parts = &self.parts;
        if rows.n_features() != parts.n_features {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: parts.n_features });
        }
        let (n, p) = (rows.len(), parts.kept.len());
        let mut z = Mat::<f64>::zeros(n.next_multiple_of(PANEL_ROWS), self.dim());
        for (k, &column) in parts.kept.iter().enumerate() {
            let cells = &mut z.col_as_slice_mut(k)[..n];
            rows.copy_centred(column, 0, parts.shift[k], parts.offset[k], cells);
            cells.iter_mut().for_each(|cell| *cell *= parts.scale[k]);
        }
        // Whole panels, so that the numbers of a row do not depend on others.
        for start in (0..n).step_by(PANEL_ROWS) {
            let panel = z.as_mut().submatrix_mut(start, 0, PANEL_ROWS, p);
            solve_lower_triangular_in_place(self.lower.as_ref(), panel.transpose_mut(), Par::Seq);
        }
        let mut residual = vec![0.0; n];
        let (shift, offset) = parts.target_centre;
        rows.copy_centred(parts.n_features, 0, shift, offset, &mut residual);
        let mut norm_sq = vec![0.0; n];
        for (k, coef) in parts.target_row.iter().enumerate() {
            for ((norm_sq, residual), z) in norm_sq.iter_mut().zip(&mut residual).zip(z.col_as_slice(k)) {
                *norm_sq += z * z;
                *residual -= z * coef;
            }
        }
        if let Some(turn) = &self.turn {
            let mut turned = Mat::<f64>::zeros(PANEL_ROWS, p);
            for start in (0..n).step_by(PANEL_ROWS) {
                let mut panel = z.as_mut().submatrix_mut(start, 0, PANEL_ROWS, p);
                product(turned.as_mut(), panel.as_ref(), turn.as_ref());
                panel.copy_from(&turned);
            }
        }
        if let Some(constant) = self.constant {
            z.col_as_slice_mut(p)[..n].fill(constant);
        }
        let finite = |cell: &f64| cell.is_finite();
        if !norm_sq.iter().all(finite) || !residual.iter().all(|e| (e * e).is_finite()) {
            return Err(rows.explain_not_finite(0, n));
        }
        Ok(Whitened { z, norm_sq, residual })
    }
}

/// The product of two matrices, on this thread.
pub(super) fn product(out: faer::MatMut<'_, f64>, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    matmul(out, Accum::Replace, left, right, 1.0, Par::Seq);
}

/// The rows with these numbers, padded with zeros to whole panels.
pub(super) fn gather(from: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    let mut out = Mat::zeros(rows.len().next_multiple_of(PANEL_ROWS), from.ncols());
    for k in 0..from.ncols() {
        let cells = column(from, k);
        for (out, &row) in out.col_as_slice_mut(k).iter_mut().zip(rows) {
            *out = cells[row];
        }
    }
    out
}

/// A column of a matrix that is stored column by column.
#[inline]
pub(super) fn column(of: MatRef<'_, f64>, k: usize) -> &[f64] {
    of.col(k).try_as_col_major().expect("every matrix here owns its columns").as_slice()
}
