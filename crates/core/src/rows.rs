//! Rows of data, borrowed from whoever holds them.

use crate::Error;
use faer::MatRef;

/// Features and targets of some rows.
///
/// A view: nothing is copied, and any strides will do, so a column-major block
/// from a reader and a row-major NumPy array both fit. Whether the numbers are
/// finite is checked where they are first used, in the same sweep.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    x: MatRef<'a, f64>,
    y: &'a [f64],
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
        Ok(Self { x, y })
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
        Rows { x: self.x.subrows(start, len), y: &self.y[start..start + len] }
    }

    /// Copies `len` cells of a column (the target counts as the last) from row
    /// `start` on, each less `shift` and then less `offset`. Two subtractions
    /// keep the digits of a mean that one double cannot hold.
    #[inline]
    pub(crate) fn copy_centred(&self, column: usize, start: usize, shift: f64, offset: f64, out: &mut [f64]) {
        let centre = |cell: f64| (cell - shift) - offset;
        let len = out.len();
        if column == self.n_features() {
            for (out, &cell) in out.iter_mut().zip(&self.y[start..start + len]) {
                *out = centre(cell);
            }
            return;
        }
        let cells = self.x.col(column).subrows(start, len);
        match cells.try_as_col_major() {
            Some(cells) => {
                for (out, &cell) in out.iter_mut().zip(cells.as_slice()) {
                    *out = centre(cell);
                }
            }
            None => {
                for (out, &cell) in out.iter_mut().zip(cells.iter()) {
                    *out = centre(cell);
                }
            }
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
