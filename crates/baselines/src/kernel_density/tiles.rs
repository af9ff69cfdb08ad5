//! Sums of kernels over many rows, as vector arithmetic.
//!
//! A row is a lane, the point it meets is the same in all lanes, and lanes are
//! added up in one order whatever the width of the machine's vectors.

use dshap::density::Kernel;
use dshap::numeric::exp_of_negative;

/// Rows side by side.
const LANES: usize = 16;

/// Lanes whose sums stay in registers during the loop over columns. With all sixteen at
/// once the compiler uses scalars instead of vectors.
const BLOCK: usize = 8;

/// Rows in tiles of 16, column by column within a tile. The last tile is padded with
/// zeros, which do not count.
#[derive(Debug, Clone)]
pub(super) struct Tiles {
    dim: usize,
    n_rows: usize,
    cells: Vec<f64>,
}

/// A kernel, or its convolution with itself, divided by its peak.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) kernel: Kernel,
    pub(super) bandwidth: f64,
    pub(super) is_convolved: bool,
}

impl Tiles {
    pub(super) fn new(dim: usize) -> Self {
        Self { dim, n_rows: 0, cells: Vec::new() }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn push(&mut self, row: &[f64]) {
        let lane = self.n_rows % LANES;
        if lane == 0 {
            self.cells.resize(self.cells.len() + self.dim * LANES, 0.0);
        }
        let tile = self.n_rows / LANES * self.dim * LANES;
        for (column, &cell) in self.cells[tile..].chunks_exact_mut(LANES).zip(row) {
            column[lane] = cell;
        }
        self.n_rows += 1;
    }

    /// `Σ shape(x − row)` over all rows.
    pub(super) fn sum(&self, x: &[f64], shape: Shape) -> f64 {
        pulp::Arch::new().dispatch(Sum { tiles: self, x, shape })
    }
}

/// The work of [`Tiles::sum`]; a type rather than a closure, so that it is compiled
/// for each instruction set.
struct Sum<'a> {
    tiles: &'a Tiles,
    x: &'a [f64],
    shape: Shape,
}

impl pulp::WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
        // Constants, so that each kernel has a loop of its own without a branch.
        match (self.shape.kernel, self.shape.is_convolved) {
            (Kernel::Gaussian, false) => self.of_distances(0.5),
            (Kernel::Gaussian, true) => self.of_distances(0.25),
            (Kernel::Uniform, false) => self.of_products(Kernel::Uniform, false),
            (Kernel::Uniform, true) => self.of_products(Kernel::Uniform, true),
            (Kernel::Epanechnikov, false) => self.of_products(Kernel::Epanechnikov, false),
            (Kernel::Epanechnikov, true) => self.of_products(Kernel::Epanechnikov, true),
            (Kernel::Triangular, false) => self.of_products(Kernel::Triangular, false),
            (Kernel::Triangular, true) => self.of_products(Kernel::Triangular, true),
        }
    }
}

impl Sum<'_> {
    /// `Σ exp(−factor·‖x − row‖²/h²)`. Differences are squared and added, column by
    /// column: nothing cancels.
    #[inline(always)]
    fn of_distances(&self, factor: f64) -> f64 {
        let rate = -factor / (self.shape.bandwidth * self.shape.bandwidth);
        let mut sums = LaneSums::new(self.tiles.n_rows);
        for tile in self.tiles.cells.chunks_exact(self.tiles.dim * LANES) {
            let mut lanes = [0.0; LANES];
            for (b, lanes) in lanes.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                let mut dist_sq = [0.0; BLOCK];
                for (column, x) in tile.as_chunks::<LANES>().0.iter().zip(self.x) {
                    let rows = &column.as_chunks::<BLOCK>().0[b];
                    for l in 0..BLOCK {
                        let difference = rows[l] - x;
                        dist_sq[l] = difference.mul_add(difference, dist_sq[l]);
                    }
                }
                *lanes = dist_sq;
            }
            for lane in &mut lanes {
                *lane = exp_of_negative(rate * *lane);
            }
            sums.add(&lanes);
        }
        sums.total()
    }

    /// `Σ Π shape((x − row)/h)`, the product over columns.
    #[inline(always)]
    fn of_products(&self, kernel: Kernel, is_convolved: bool) -> f64 {
        let inverse = 1.0 / self.shape.bandwidth;
        let mut sums = LaneSums::new(self.tiles.n_rows);
        for tile in self.tiles.cells.chunks_exact(self.tiles.dim * LANES) {
            let mut lanes = [0.0; LANES];
            for (b, lanes) in lanes.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
                let mut products = [1.0; BLOCK];
                for (column, x) in tile.as_chunks::<LANES>().0.iter().zip(self.x) {
                    let rows = &column.as_chunks::<BLOCK>().0[b];
                    for l in 0..BLOCK {
                        let u = (rows[l] - x) * inverse;
                        products[l] *= if is_convolved { kernel.convolved_shape(u) } else { kernel.shape(u) };
                    }
                }
                *lanes = products;
            }
            sums.add(&lanes);
        }
        sums.total()
    }
}

/// A sum over rows, lane by lane.
struct LaneSums {
    lanes: [f64; LANES],
    /// Rows left to add.
    left: usize,
}

impl LaneSums {
    #[inline(always)]
    fn new(n_rows: usize) -> Self {
        Self { lanes: [0.0; LANES], left: n_rows }
    }

    #[inline(always)]
    fn add(&mut self, of_rows: &[f64; LANES]) {
        for (l, (lane, of_row)) in self.lanes.iter_mut().zip(of_rows).enumerate() {
            *lane += if l < self.left { *of_row } else { 0.0 };
        }
        self.left = self.left.saturating_sub(LANES);
    }

    #[inline(always)]
    fn total(mut self) -> f64 {
        let mut half = LANES / 2;
        while half > 0 {
            for l in 0..half {
                self.lanes[l] += self.lanes[l + half];
            }
            half /= 2;
        }
        self.lanes[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of every length around a tile or two, against kernels one by one.
    #[test]
    fn tiles_sum_what_rows_sum_one_by_one() {
        let mut state = 1_u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        for (dim, kernel) in
            Kernel::ALL.into_iter().flat_map(|kernel| [(1, kernel), (3, kernel), (9, kernel)])
        {
            // Wide enough for products over nine columns that are not all 0.
            let (bandwidth, x) = (0.7 * (dim as f64).sqrt(), [0.21; 9]);
            let mut tiles = Tiles::new(dim);
            let (mut plain, mut convolved) = (0.0, 0.0);
            for n in 0..=2 * LANES + 3 {
                assert_eq!(tiles.n_rows(), n);
                for (is_convolved, expected) in [(false, plain), (true, convolved)] {
                    let found = tiles.sum(&x[..dim], Shape { kernel, bandwidth, is_convolved });
                    // Terms are at most 1.
                    assert!(
                        (found - expected).abs() <= 1e-15 * n as f64,
                        "{kernel:?}, {n} rows: {found}, {expected}"
                    );
                }
                let row: Vec<f64> = (0..dim).map(|_| number()).collect();
                tiles.push(&row);
                let gaps = || row.iter().zip(&x).map(|(a, b)| (a - b) / bandwidth);
                plain += gaps().map(|u| kernel.at(u) / kernel.peak()).product::<f64>();
                convolved +=
                    gaps().map(|u| kernel.convolved_at(u) / kernel.convolved_peak()).product::<f64>();
            }
            assert!(plain > 0.01 && convolved > 0.01, "{kernel:?}");
        }
    }
}
