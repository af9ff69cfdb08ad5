//! Rows in memory, as numbers.

use crate::Error;
use dshap::{Rows, Values};
use dshap_table::{Design, Encoded};
use faer::Mat;

/// Rows of a table, encoded and held in memory.
#[derive(Debug, Clone)]
pub struct HeldRows {
    x: Mat<f64>,
    y: Vec<f64>,
}

impl HeldRows {
    /// Joins batches.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for weights, which sets of rows do not have.
    pub fn join(batches: Vec<Encoded>, design: &Design) -> Result<Self, Error> {
        if batches.iter().any(|batch| batch.weights.is_some()) {
            return Err(Error::core(dshap::Error::Weighted, design));
        }
        let n_rows = batches.iter().map(|batch| batch.y.len()).sum();
        let mut x = Mat::zeros(n_rows, design.n_columns());
        let mut y = Vec::with_capacity(n_rows);
        for batch in batches {
            for j in 0..design.n_columns() {
                x.col_as_slice_mut(j)[y.len()..y.len() + batch.y.len()]
                    .copy_from_slice(batch.x.col_as_slice(j));
            }
            y.extend(batch.y);
        }
        Ok(Self { x, y })
    }

    /// A copy of rows.
    pub fn copy(rows: Rows<'_>) -> Self {
        let x = Mat::from_fn(rows.len(), rows.n_features(), |i, j| rows.x()[(i, j)]);
        Self { x, y: rows.y().to_vec() }
    }

    /// All cells, column by column, and the targets.
    pub fn to_parts(&self) -> (Vec<f64>, Vec<f64>) {
        let cells = (0..self.x.ncols()).flat_map(|j| self.x.col_as_slice(j).iter().copied());
        (cells.collect(), self.y.clone())
    }

    /// Rows from their numbers, unless those are not finite or too few.
    pub fn from_parts(x: &[f64], y: Vec<f64>, n_columns: usize) -> Option<Self> {
        let n_rows = y.len();
        let finite = |cell: &f64| cell.is_finite();
        if n_rows.checked_mul(n_columns) != Some(x.len()) || !x.iter().chain(&y).all(finite) {
            return None;
        }
        Some(Self { x: Mat::from_fn(n_rows, n_columns, |i, j| x[j * n_rows + i]), y })
    }

    /// Bytes of all cells and targets.
    pub fn n_bytes(&self) -> u64 {
        8 * self.y.len() as u64 * (self.x.ncols() as u64 + 1)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Some rows, some columns.
    pub fn select(&self, rows: &[usize], columns: &[usize]) -> Self {
        let x = Mat::from_fn(rows.len(), columns.len(), |i, j| self.x[(rows[i], columns[j])]);
        Self { x, y: rows.iter().map(|&row| self.y[row]).collect() }
    }

    /// Some rows, all columns.
    pub fn select_rows(&self, rows: &[usize]) -> Self {
        self.select(rows, &(0..self.x.ncols()).collect::<Vec<_>>())
    }

    /// The features, one column each.
    pub fn x(&self) -> &Mat<f64> {
        &self.x
    }

    /// The features, to be changed.
    pub fn x_mut(&mut self) -> &mut Mat<f64> {
        &mut self.x
    }

    /// The targets: numbers, or the numbers of classes.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// The targets, to be changed.
    pub fn y_mut(&mut self) -> &mut [f64] {
        &mut self.y
    }

    /// The rows as a view.
    ///
    /// # Errors
    ///
    /// None that can happen: features and targets have one length.
    pub fn rows(&self) -> Result<Rows<'_>, dshap::Error> {
        Rows::new(self.x.as_ref(), &self.y)
    }
}

/// The values of `len` rows from `start` on.
pub fn slice_of(values: &Values, start: usize, len: usize) -> Values {
    let cut = |column: &[f64]| column[start..start + len].to_vec();
    Values {
        value: cut(&values.value),
        std_error: values.std_error.as_deref().map(cut),
        parts: values.parts.iter().map(|(part, column)| (*part, cut(column))).collect(),
        notes: values
            .notes
            .iter()
            .filter(|(row, _)| (start..start + len).contains(row))
            .map(|&(row, note)| (row - start, note))
            .collect(),
        truncation: values.truncation.as_ref().map(|rows| rows[start..start + len].to_vec()),
        ..Values::default()
    }
}
