//! A few combinations of columns instead of the columns.

use crate::Error;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use serde::{Deserialize, Serialize};

/// Rows that are projected together. Panels are always this long, padded with zeros,
/// so that the result for a row does not depend on which rows came with it.
const PANEL_ROWS: usize = 256;

/// Design columns as combinations of encoded ones, learned on the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Projection {
    /// Mean of each encoded column over the reference.
    pub mean: Vec<f64>,
    /// For each design column, the factors of the encoded columns.
    pub axes: Vec<Vec<f64>>,
    /// Share of the encoded columns' variance that remains.
    pub explained: f64,
}

impl Projection {
    /// Refuses what cannot have been learned on a reference.
    pub(crate) fn check(&self, n_encoded: usize) -> Result<(), Error> {
        let all_finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        let fits = |numbers: &Vec<f64>| numbers.len() == n_encoded && all_finite(numbers);
        let is_sound = fits(&self.mean)
            && self.axes.iter().all(fits)
            && (1..=n_encoded).contains(&self.axes.len())
            && (0.0..=1.0).contains(&self.explained);
        match is_sound {
            true => Ok(()),
            false => Err(Error::Contradiction { what: "the principal components contradict the design" }),
        }
    }

    /// Rows of encoded columns as rows of design columns.
    pub(crate) fn apply(&self, encoded: MatRef<'_, f64>) -> Mat<f64> {
        let (n_rows, p) = (encoded.nrows(), encoded.ncols());
        let axes = Mat::from_fn(p, self.axes.len(), |j, k| self.axes[k][j]);
        let (mut panel, mut out) = (Mat::zeros(PANEL_ROWS, p), Mat::zeros(PANEL_ROWS, self.axes.len()));
        let mut projected = Mat::zeros(n_rows, self.axes.len());
        for start in (0..n_rows).step_by(PANEL_ROWS) {
            let len = PANEL_ROWS.min(n_rows - start);
            for (j, mean) in self.mean.iter().enumerate() {
                let cells = panel.col_as_slice_mut(j);
                cells.fill(0.0);
                let from = encoded.col(j).subrows(start, len);
                cells.iter_mut().zip(from.iter()).for_each(|(cell, from)| *cell = from - mean);
            }
            matmul(out.as_mut(), Accum::Replace, panel.as_ref(), axes.as_ref(), 1.0, Par::Seq);
            projected.subrows_mut(start, len).copy_from(out.subrows(0, len));
        }
        projected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_does_not_depend_on_which_rows_came_with_it() {
        let cell = |i: usize, j: usize| ((i * 7 + j * 13) % 29) as f64 / 3.0 - 4.0;
        let (n, p, k) = (700, 37, 5);
        let projection = Projection {
            mean: (0..p).map(|j| cell(j, 3) / 7.0).collect(),
            axes: (0..k).map(|a| (0..p).map(|j| cell(a, j) / 11.0).collect()).collect(),
            explained: 0.5,
        };
        assert_eq!(projection.check(p), Ok(()));
        assert!(projection.check(p + 1).is_err());
        let x = Mat::from_fn(n, p, cell);
        let whole = projection.apply(x.as_ref());
        for (start, len) in [(0, 1), (3, 256), (255, 300), (699, 1)] {
            let part = projection.apply(x.subrows(start, len));
            assert_eq!(part, whole.subrows(start, len), "rows {start} to {}", start + len);
        }
        for (i, a) in [(0, 0), (699, 4), (256, 2)] {
            let by_hand: f64 = (0..p).map(|j| (x[(i, j)] - projection.mean[j]) * projection.axes[a][j]).sum();
            assert!((whole[(i, a)] - by_hand).abs() < 1e-12);
        }
    }
}
