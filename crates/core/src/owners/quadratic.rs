//! Contributions to single test rows.

use super::linear::{LinearGame, fold_trace_len};
use crate::{Error, Rows};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

/// Test rows whose products of columns are in memory at once, for each thread.
const PANEL_ROWS: usize = 128;

/// One quadratic form per owner, which gives its contribution to any test row:
///
/// ```text
/// A_g = Σ_C w_gC β_C β_Cᵀ,  b_g = Σ_C w_gC β_C
/// φ_g(t) = −(x_tᵀ A_g x_t − 2 y_t x_tᵀ b_g)          φ_g = mean over t
/// ```
#[derive(Debug, Clone)]
pub struct QuadraticForms {
    n_features: usize,
    n_folds: usize,
    centre: Vec<f64>,
    /// One column per owner.
    traces: Mat<f64>,
}

impl QuadraticForms {
    /// The forms of a game that was solved.
    ///
    /// # Panics
    ///
    /// If the traces are those of another game.
    pub fn new(game: &LinearGame, traces: Mat<f64>) -> Self {
        let (n_features, n_folds) = (game.n_features(), game.n_folds());
        assert_eq!(traces.nrows(), n_folds * fold_trace_len(n_features), "traces of another game");
        Self { n_features, n_folds, centre: game.centre().to_vec(), traces }
    }

    /// Number of owners.
    pub fn n_owners(&self) -> usize {
        self.traces.ncols()
    }

    /// Number of folds.
    pub fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// Contributions of every owner to every test row of a fold: a row for each test row,
    /// a column for each owner.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`], [`Error::TooLarge`].
    ///
    /// # Panics
    ///
    /// If there is no such fold.
    pub fn contributions(&self, rows: Rows<'_>, fold: usize) -> Result<Mat<f64>, Error> {
        assert!(fold < self.n_folds, "fold {fold} of {}", self.n_folds);
        if rows.n_features() != self.n_features {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features });
        }
        let starts: Vec<usize> = (0..rows.len()).step_by(PANEL_ROWS).collect();
        let panels: Vec<Mat<f64>> = starts
            .par_iter()
            .map(|&start| self.panel(rows.slice(start, PANEL_ROWS.min(rows.len() - start)), fold))
            .collect();
        let mut found = Mat::zeros(rows.len(), self.n_owners());
        for (start, panel) in starts.into_iter().zip(panels) {
            for owner in 0..self.n_owners() {
                let cells = &mut found.col_as_slice_mut(owner)[start..start + panel.nrows()];
                cells.copy_from_slice(panel.col_as_slice(owner));
            }
        }
        let is_finite = |owner: usize| found.col_as_slice(owner).iter().all(|cell| cell.is_finite());
        if (0..self.n_owners()).all(is_finite) {
            Ok(found)
        } else {
            Err(rows.explain_not_finite(0, rows.len()))
        }
    }

    fn panel(&self, rows: Rows<'_>, fold: usize) -> Mat<f64> {
        let (p, n) = (self.n_features, rows.len());
        let centred = |column: usize| {
            let mut cells = vec![0.0; n];
            rows.copy_centred(column, 0, self.centre[column], 0.0, &mut cells);
            cells
        };
        let mut seen = vec![vec![1.0; n]];
        seen.extend((0..p).map(centred));
        let target = centred(p);
        let len = fold_trace_len(p);
        let mut features = Mat::<f64>::zeros(n, len);
        let mut place = 0;
        for j in 0..=p {
            for i in j..=p {
                let factor = if i == j { -1.0 } else { -2.0 };
                let cells = features.col_as_slice_mut(place).iter_mut();
                cells.zip(seen[i].iter().zip(&seen[j])).for_each(|(cell, (a, b))| *cell = factor * a * b);
                place += 1;
            }
        }
        for column in &seen {
            let cells = features.col_as_slice_mut(place).iter_mut();
            cells.zip(column.iter().zip(&target)).for_each(|(cell, (x, y))| *cell = 2.0 * x * y);
            place += 1;
        }
        let traces = self.traces.as_ref().subrows(fold * len, len);
        let mut found = Mat::zeros(n, self.n_owners());
        matmul(found.as_mut(), Accum::Replace, features.as_ref(), traces, 1.0, Par::Seq);
        found
    }
}
