//! Rows in tiles of 128, each coordinate of a tile side by side in memory.

use crate::Error;
use faer::MatRef;

/// Rows of a tile. With 32 columns a tile takes 32 kB: it stays in cache while points
/// pass over it.
pub(crate) const TILE_ROWS: usize = 128;

/// Cells beyond this could not be squared, summed and divided by a squared bandwidth.
pub(crate) const LARGEST: f64 = 1e120;

/// Rows, cut into tiles; within a tile column by column. The last tile is padded with
/// zeros, which do not count.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tiles {
    dim: usize,
    n_rows: usize,
    cells: Vec<f64>,
}

impl Tiles {
    pub(crate) fn new(dim: usize) -> Self {
        Self { dim, n_rows: 0, cells: Vec::new() }
    }

    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_tiles(&self) -> usize {
        self.n_rows.div_ceil(TILE_ROWS)
    }

    /// Bytes held.
    pub(crate) fn n_bytes(&self) -> usize {
        self.cells.capacity() * size_of::<f64>()
    }

    /// The cells of a tile: column `j` at `j · TILE_ROWS`.
    pub(crate) fn tile(&self, tile: usize) -> &[f64] {
        let len = self.dim * TILE_ROWS;
        &self.cells[tile * len..(tile + 1) * len]
    }

    /// Rows of a tile that count.
    pub(crate) fn tile_len(&self, tile: usize) -> usize {
        (self.n_rows - tile * TILE_ROWS).min(TILE_ROWS)
    }

    pub(crate) fn cell(&self, row: usize, column: usize) -> f64 {
        self.cells[self.at(row, column)]
    }

    fn at(&self, row: usize, column: usize) -> usize {
        (row / TILE_ROWS * self.dim + column) * TILE_ROWS + row % TILE_ROWS
    }

    /// Copies one row.
    pub(crate) fn copy_row(&self, row: usize, out: &mut [f64]) {
        for (column, out) in out.iter_mut().enumerate() {
            *out = self.cell(row, column);
        }
    }

    /// Room for `n` more rows, of zeros.
    fn grow(&mut self, n: usize) {
        self.n_rows += n;
        self.cells.resize(self.n_tiles() * TILE_ROWS * self.dim, 0.0);
    }

    /// Adds one row.
    pub(crate) fn push_row(&mut self, row: &[f64]) {
        self.grow(1);
        for (column, &cell) in row.iter().enumerate() {
            let at = self.at(self.n_rows - 1, column);
            self.cells[at] = cell;
        }
    }

    /// Adds rows as they are.
    pub(crate) fn push(&mut self, x: MatRef<'_, f64>) -> Result<(), Error> {
        check_columns(x, self.dim)?;
        let first = self.n_rows;
        self.grow(x.nrows());
        for column in 0..self.dim {
            for (i, &cell) in x.col(column).iter().enumerate() {
                let at = self.at(first + i, column);
                self.cells[at] = cell;
            }
        }
        if self.cells[first / TILE_ROWS * TILE_ROWS * self.dim..].iter().all(|cell| cell.abs() <= LARGEST) {
            return Ok(());
        }
        Err(explain(x))
    }

    /// Calls `each` with the cells of a column, a tile at a time, in order.
    pub(crate) fn scan(&self, column: usize, mut each: impl FnMut(&[f64])) {
        for tile in 0..self.n_tiles() {
            let start = column * TILE_ROWS;
            each(&self.tile(tile)[start..start + self.tile_len(tile)]);
        }
    }

    /// Keeps some columns and changes their cells, in place.
    pub(crate) fn transform(&mut self, kept: &[usize], change: impl Fn(usize, f64) -> f64) {
        let (n_tiles, dim) = (self.n_tiles(), self.dim);
        for tile in 0..n_tiles {
            let len = self.tile_len(tile);
            for (new, &old) in kept.iter().enumerate() {
                // The new place is never behind the old one, nor that of a later column.
                let from = (tile * dim + old) * TILE_ROWS;
                let to = (tile * kept.len() + new) * TILE_ROWS;
                for i in 0..len {
                    self.cells[to + i] = change(new, self.cells[from + i]);
                }
                self.cells[to + len..to + TILE_ROWS].fill(0.0);
            }
        }
        self.dim = kept.len();
        self.cells.truncate(n_tiles * self.dim * TILE_ROWS);
        self.cells.shrink_to_fit();
    }

    /// The same rows in another order: `order[i]` comes `i`-th.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        let mut out = Self::new(self.dim);
        out.grow(order.len());
        for column in 0..self.dim {
            for (i, &row) in order.iter().enumerate() {
                let at = out.at(i, column);
                out.cells[at] = self.cell(row, column);
            }
        }
        out
    }
}

pub(crate) fn check_columns(x: MatRef<'_, f64>, expected: usize) -> Result<(), Error> {
    if x.ncols() != expected {
        return Err(Error::FeatureCount { found: x.ncols(), expected });
    }
    Ok(())
}

/// The error for the first cell that is not finite, or for cells that are too large.
pub(crate) fn explain(x: MatRef<'_, f64>) -> Error {
    for row in 0..x.nrows() {
        for column in 0..x.ncols() {
            if !x[(row, column)].is_finite() {
                return Error::NotFinite { row, column };
            }
        }
    }
    Error::TooLarge
}
