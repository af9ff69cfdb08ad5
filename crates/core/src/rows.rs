//! Rows of data, borrowed from whoever holds them.

use crate::Error;
use faer::MatRef;

/// The range of weights other than 0.
pub const WEIGHT_RANGE: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// Features and targets of some rows.
///
/// A view: nothing is copied, and any strides work, so a column-major block from a reader
/// and a row-major NumPy array both fit. Whether the numbers are finite is checked where
/// they are first used, in the same sweep.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    x: MatRef<'a, f64>,
    y: &'a [f64],
    weights: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// Rows with features `x` (one row each) and targets `y`.
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`] when the two differ in length.
    pub fn new(x: MatRef<'a, f64>, y: &'a [f64]) -> Result<Self, Error> {
        if x.nrows() != y.len() {
            return Err(Error::RowCount { features: x.nrows(), targets: y.len() });
        }
        Ok(Self { x, y, weights: None })
    }

    /// The same rows, each with its own share in the reference. Only ratios of
    /// weights matter; a row of weight 0 is not part of the reference. Others are
    /// in [`WEIGHT_RANGE`].
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`] unless there is one weight per row.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Self, Error> {
        if weights.len() != self.len() {
            return Err(Error::RowCount { features: self.len(), targets: weights.len() });
        }
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The weights, if there are any.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.x.ncols()
    }

    /// Features, one row each.
    pub fn x(&self) -> MatRef<'a, f64> {
        self.x
    }

    /// Targets.
    pub fn y(&self) -> &'a [f64] {
        self.y
    }

    /// The `len` rows from `start` on.
    pub fn slice(&self, start: usize, len: usize) -> Rows<'a> {
        Rows {
            x: self.x.subrows(start, len),
            y: &self.y[start..start + len],
            weights: self.weights.map(|weights| &weights[start..start + len]),
        }
    }

    /// The cells of a column (the target counts as the last), if they lie one after
    /// the other.
    #[inline]
    pub(crate) fn cells(&self, column: usize) -> Option<&'a [f64]> {
        if column == self.n_features() {
            return Some(self.y);
        }
        self.x.col(column).try_as_col_major().map(|cells| cells.as_slice())
    }

    /// Copies `len` cells of a column (the target counts as the last) from row
    /// `start` on, each less `shift` and then less `offset`. Two subtractions
    /// keep the digits of a mean that one double cannot hold.
    #[inline]
    pub(crate) fn copy_centred(&self, column: usize, start: usize, shift: f64, offset: f64, out: &mut [f64]) {
        let centre = |cell: f64| (cell - shift) - offset;
        let len = out.len();
        match self.cells(column) {
            Some(cells) => {
                for (out, &cell) in out.iter_mut().zip(&cells[start..start + len]) {
                    *out = centre(cell);
                }
            }
            None => {
                let cells = self.x.col(column).subrows(start, len);
                for (out, &cell) in out.iter_mut().zip(cells.iter()) {
                    *out = centre(cell);
                }
            }
        }
    }

    /// Multiplies cells of rows from `start` on by their weights.
    #[inline]
    pub(crate) fn multiply_by_weights(&self, start: usize, cells: &mut [f64]) {
        if let Some(weights) = self.weights {
            for (cell, weight) in cells.iter_mut().zip(&weights[start..]) {
                *cell *= weight;
            }
        }
    }

    /// Refuses weights that are negative, or whose squares could not be summed.
    pub(crate) fn check_weights(&self) -> Result<(), Error> {
        let is_bad = |weight: &f64| *weight != 0.0 && !WEIGHT_RANGE.contains(weight);
        match self.weights.unwrap_or_default().iter().position(is_bad) {
            Some(row) => Err(Error::BadWeight { row }),
            None => Ok(()),
        }
    }

    /// Explains why arithmetic on `len` rows from `start` on gave something
    /// that is not finite.
    pub(crate) fn explain_not_finite(&self, start: usize, len: usize) -> Error {
        for row in start..start + len {
            for column in 0..=self.n_features() {
                let cell = if column == self.n_features() { self.y[row] } else { self.x[(row, column)] };
                if !cell.is_finite() {
                    return Error::NotFinite { row, column };
                }
            }
        }
        Error::TooLarge
    }
}
