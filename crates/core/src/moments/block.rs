//! Moments of a few thousand rows.

use super::{Moments, MomentsForm};
use crate::Rows;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, Par};

/// Rows summed at a time for a first mean.
const PANEL_ROWS: usize = 256;

/// Rows of `n_columns` that a thread copies and centres at a time. With 100 columns they
/// fill a level-2 cache. With many columns all sums are read and written for each panel,
/// and more rows share that cost.
pub const fn panel_rows(n_columns: usize) -> usize {
    if n_columns < 400 { PANEL_ROWS } else { 4 * PANEL_ROWS }
}

impl Moments {
    /// Moments of at most [`BLOCK_ROWS`](super::BLOCK_ROWS) rows, on one thread.
    pub(super) fn of_block(rows: Rows<'_>, form: MomentsForm) -> Self {
        let mut moments = match form {
            MomentsForm::Products => Self::products_of_block(rows),
            MomentsForm::Triangle => Self::triangle_of_block(rows),
        };
        moments.mark_vanished_squares(rows);
        moments
    }

    /// A column that varies has a sum of squares that is not zero, even if its squares
    /// vanish. [`View`](super::View) finds it by that.
    fn mark_vanished_squares(&mut self, rows: Rows<'_>) {
        let mark = match self.form {
            MomentsForm::Products => f64::MIN_POSITIVE,
            // Its square is that number.
            MomentsForm::Triangle => f64::MIN_POSITIVE.sqrt(),
        };
        for column in 0..=self.n_features() {
            if self.centred(column, column) < f64::MIN_POSITIVE
                && self.n_rows > 0
                && has_two_values(rows, column)
            {
                self.lower[(column, column)] = mark;
            }
        }
    }

    fn products_of_block(rows: Rows<'_>) -> Self {
        let (n, k) = (rows.len(), rows.n_features() + 1);
        let counts = Counts::of(rows);
        if counts.n_rows == 0 {
            return Self::none(k, MomentsForm::Products);
        }
        let weight = counts.weight;
        let shift = first_means(rows, weight);
        let panel_rows = panel_rows(k).min(n);
        let mut panel = Mat::<f64>::zeros(panel_rows, k);
        let mut weighted = rows.weights().map(|_| panel.clone());
        let mut rest = vec![0.0; k];
        let mut lower = Mat::<f64>::zeros(k, k);
        for start in (0..n).step_by(panel_rows) {
            let len = panel_rows.min(n - start);
            for j in 0..k {
                let cells = &mut panel.col_as_slice_mut(j)[..len];
                rows.copy_centred(j, start, shift[j], 0.0, cells);
                match &mut weighted {
                    None => rest[j] += lane_sum(cells),
                    Some(weighted) => {
                        let products = &mut weighted.col_as_slice_mut(j)[..len];
                        products.copy_from_slice(cells);
                        rows.multiply_by_weights(start, products);
                        rest[j] += lane_sum(products);
                    }
                }
            }
            let block = panel.as_ref().subrows(0, len);
            let left = weighted.as_ref().map_or(block, |weighted| weighted.as_ref().subrows(0, len));
            triangular::matmul(
                lower.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Add,
                left.transpose(),
                BlockStructure::Rectangular,
                block,
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        for j in 0..k {
            let scaled = rest[j] / weight;
            for (sum, rest) in lower.col_as_slice_mut(j)[j..].iter_mut().zip(&rest[j..]) {
                *sum -= scaled * rest;
            }
        }
        let offset = rest.iter().map(|rest| rest / weight).collect();
        counts.moments(shift, offset, MomentsForm::Products, lower)
    }

    /// Moments of rows that all have weight 0.
    pub(super) fn none(k: usize, form: MomentsForm) -> Self {
        Self {
            n_rows: 0,
            weight: 0.0,
            weight_sq: 0.0,
            shift: vec![0.0; k],
            offset: vec![0.0; k],
            form,
            lower: Mat::zeros(k, k),
            peak: None,
        }
    }
}

/// How many rows there are, and how much they weigh.
pub(super) struct Counts {
    pub(super) n_rows: usize,
    pub(super) weight: f64,
    weight_sq: f64,
}

impl Counts {
    pub(super) fn of(rows: Rows<'_>) -> Self {
        match rows.weights() {
            None => Self { n_rows: rows.len(), weight: rows.len() as f64, weight_sq: rows.len() as f64 },
            Some(weights) => Self {
                n_rows: weights.iter().filter(|&&weight| weight > 0.0).count(),
                weight: lane_sum(weights),
                weight_sq: lane_sum(&weights.iter().map(|weight| weight * weight).collect::<Vec<_>>()),
            },
        }
    }

    pub(super) fn moments(
        self,
        shift: Vec<f64>,
        offset: Vec<f64>,
        form: MomentsForm,
        lower: Mat<f64>,
    ) -> Moments {
        let Self { n_rows, weight, weight_sq } = self;
        Moments { n_rows, weight, weight_sq, shift, offset, form, lower, peak: None }
    }
}

/// Whether the cells of a column differ, in rows that count.
fn has_two_values(rows: Rows<'_>, column: usize) -> bool {
    let cell = |row: usize| match column == rows.n_features() {
        true => rows.y()[row],
        false => rows.x()[(row, column)],
    };
    let counts = |row: &usize| rows.weights().is_none_or(|weights| weights[*row] > 0.0);
    let mut cells = (0..rows.len()).filter(counts).map(cell);
    let first = cells.next();
    cells.any(|cell| Some(cell) != first)
}

/// A first estimate of the means, to be subtracted from every cell. Its error is
/// corrected later, so plain summation is good enough.
pub(super) fn first_means(rows: Rows<'_>, weight: f64) -> Vec<f64> {
    let mut sums = vec![0.0; rows.n_features() + 1];
    let columns: Option<Vec<&[f64]>> = (0..sums.len()).map(|column| rows.cells(column)).collect();
    if let (Some(columns), None) = (columns, rows.weights()) {
        // The same sums in the same order as below, without a copy.
        for (sum, cells) in sums.iter_mut().zip(columns) {
            for panel in cells.chunks(PANEL_ROWS) {
                *sum += lane_sum(panel);
            }
        }
        return sums.iter().map(|sum| sum / weight).collect();
    }
    let mut cells = vec![0.0; PANEL_ROWS.min(rows.len())];
    for start in (0..rows.len()).step_by(PANEL_ROWS) {
        let cells = &mut cells[..PANEL_ROWS.min(rows.len() - start)];
        for (j, sum) in sums.iter_mut().enumerate() {
            rows.copy_centred(j, start, 0.0, 0.0, cells);
            rows.multiply_by_weights(start, cells);
            *sum += lane_sum(cells);
        }
    }
    sums.iter().map(|sum| sum / weight).collect()
}

/// Sum in eight interleaved lanes: fast, and more accurate than one after the other.
pub(super) fn lane_sum(cells: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let chunks = cells.chunks_exact(8);
    let tail: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for (lane, cell) in lanes.iter_mut().zip(chunk) {
            *lane += cell;
        }
    }
    lanes.iter().sum::<f64>() + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lane_sum_counts_every_cell_once() {
        for n in 0..40 {
            let cells: Vec<f64> = (0..n).map(|i| f64::from(i * i) - 7.5).collect();
            assert_eq!(lane_sum(&cells), cells.iter().sum::<f64>(), "{n} cells, exact either way");
        }
    }
}
