//! Distances and products of a few points and one tile.

use super::lanes::LANES;
use super::tiles::TILE_ROWS;

/// Points that share the loads of a tile: eight accumulators fit into sixteen
/// registers of four lanes.
pub(crate) const GROUP: usize = 4;

/// Points, four at a time coordinate by coordinate, the last few one at a time.
#[derive(Debug)]
pub(crate) struct Groups {
    cells: Vec<f64>,
    dim: usize,
    n_points: usize,
}

impl Groups {
    pub(crate) fn new(points: &[f64], dim: usize) -> Self {
        let mut cells = Vec::with_capacity(points.len());
        let mut fours = points.chunks_exact(GROUP * dim);
        for four in &mut fours {
            for j in 0..dim {
                cells.extend((0..GROUP).map(|p| four[p * dim + j]));
            }
        }
        cells.extend_from_slice(fours.remainder());
        Self { cells, dim, n_points: points.len() / dim }
    }

    pub(crate) fn n_points(&self) -> usize {
        self.n_points
    }

    #[inline(always)]
    pub(crate) fn n_grouped(&self) -> usize {
        self.n_points / GROUP * GROUP
    }

    #[inline(always)]
    pub(crate) fn fours(&self) -> impl Iterator<Item = &[[f64; GROUP]]> {
        let grouped = &self.cells[..self.n_grouped() * self.dim];
        grouped.chunks_exact(GROUP * self.dim).map(|four| four.as_chunks().0)
    }

    #[inline(always)]
    pub(crate) fn ones(&self) -> impl Iterator<Item = &[[f64; 1]]> {
        let alone = &self.cells[self.n_grouped() * self.dim..];
        alone.chunks_exact(self.dim).map(|one| one.as_chunks().0)
    }
}

/// Squared distances of `P` points from the rows of a tile. Differences are
/// squared and added, coordinate by coordinate: nothing cancels.
#[inline(always)]
pub(crate) fn distances<const P: usize>(group: &[[f64; P]], cells: &[f64], out: &mut [[f64; TILE_ROWS]; P]) {
    let columns = cells.as_chunks::<TILE_ROWS>().0;
    for b in 0..TILE_ROWS / LANES {
        let mut sums = [[0.0; LANES]; P];
        for (point, column) in group.iter().zip(columns) {
            let rows = &column.as_chunks::<LANES>().0[b];
            for p in 0..P {
                for l in 0..LANES {
                    let difference = rows[l] - point[p];
                    sums[p][l] = difference.mul_add(difference, sums[p][l]);
                }
            }
        }
        for p in 0..P {
            out[p][b * LANES..(b + 1) * LANES].copy_from_slice(&sums[p]);
        }
    }
}

/// Products over coordinates of a kernel's shape and of its convolution's.
#[inline(always)]
pub(crate) fn products<const P: usize>(
    group: &[[f64; P]],
    cells: &[f64],
    inverse: f64,
    plain: impl Fn(f64) -> f64,
    convolved: impl Fn(f64) -> f64,
    out: &mut [[[f64; TILE_ROWS]; 2]; P],
) {
    // Eight chains of products, four lanes each, hide the latency of a multiplication.
    const WIDTH: usize = 2 * LANES;
    let columns = cells.as_chunks::<TILE_ROWS>().0;
    for (p, out) in out.iter_mut().enumerate() {
        for b in 0..TILE_ROWS / WIDTH {
            let (mut first, mut second) = ([1.0; WIDTH], [1.0; WIDTH]);
            for (point, column) in group.iter().zip(columns) {
                let rows = &column.as_chunks::<WIDTH>().0[b];
                for l in 0..WIDTH {
                    let u = (rows[l] - point[p]).abs() * inverse;
                    first[l] *= plain(u);
                    second[l] *= convolved(u);
                }
            }
            out[0][b * WIDTH..(b + 1) * WIDTH].copy_from_slice(&first);
            out[1][b * WIDTH..(b + 1) * WIDTH].copy_from_slice(&second);
        }
    }
}
