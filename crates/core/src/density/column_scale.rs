//! What makes columns comparable.

use super::tiles::Tiles;

/// A spread below this many units in the last place of the largest cell is rounding, as
/// it is for regression.
const CONSTANT_ULPS: f64 = 4.0;

/// The reciprocals and squares of smaller spreads are not to be relied on.
const LEAST_SPREAD: f64 = 1e-150;

/// Mean and spread of a column of the reference.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnScale {
    pub(crate) mean: f64,
    /// With divisor `n`.
    pub(crate) std: f64,
    largest: f64,
    /// Whether the cells differ.
    varies: bool,
}

impl ColumnScale {
    /// From a known mean and standard deviation.
    pub(crate) fn new(mean: f64, std: f64) -> Self {
        Self { mean, std, largest: mean.abs() + std, varies: std > 0.0 }
    }

    /// In two sweeps: the mean, then squares about it.
    pub(crate) fn of(tiles: &Tiles, column: usize) -> Self {
        let n = tiles.n_rows() as f64;
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        let mut varies = false;
        let first = tiles.cell(0, column);
        tiles.scan(column, |cells| {
            varies |= cells.iter().any(|cell| *cell != first);
            sum += cells.iter().map(|cell| cell - first).sum::<f64>();
            largest = cells.iter().fold(largest, |most, cell| most.max(cell.abs()));
        });
        let mean = first + sum / n;
        let (mut sum, mut squares) = (0.0, 0.0);
        tiles.scan(column, |cells| {
            sum += cells.iter().map(|cell| cell - mean).sum::<f64>();
            squares += cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>();
        });
        // The rounding error of the mean is removed from the squares.
        let var = (squares - sum * sum / n) / n;
        Self { mean, std: var.max(0.0).sqrt(), largest, varies }
    }

    pub(crate) fn is_constant(&self) -> bool {
        self.std <= CONSTANT_ULPS * f64::EPSILON * self.largest || self.std < LEAST_SPREAD
    }

    /// Whether the cells differ by more than rounding, but too little to compute with.
    pub(crate) fn is_too_small(&self) -> bool {
        self.varies && self.std < LEAST_SPREAD && self.largest < LEAST_SPREAD / f64::EPSILON
    }
}
