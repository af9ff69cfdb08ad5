//! Sums of a kernel and of its convolution over many rows, fast and to full precision.
//!
//! Points and rows meet in tiles. A row is a lane of a vector, a point is the same
//! in all lanes, and lanes are added up in an order that does not depend on the
//! width of the machine's vectors. A point's sums therefore have the same bits
//! whatever its neighbours, the number of threads or the instruction set.

use super::kernel::{self, Kernel};
use super::lanes::{KernelSums, Lanes};
use super::tile_kernels::{GROUP, Groups, distances, products};
use super::tiles::{TILE_ROWS, Tiles};
use rayon::prelude::*;

/// Tiles that are summed before partial sums are merged.
const SEGMENT_TILES: usize = 64;

/// Points that pass over a segment together.
pub(crate) const CHUNK_POINTS: usize = 64;

/// Which rows a point skips.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Skip<'a> {
    /// None.
    None,
    /// Point `i` skips row `own[i]`.
    Own(&'a [usize]),
    /// Point `i` skips the rows of its fold, every `n_folds`-th.
    Fold { first_point: usize, n_folds: usize },
}

impl Skip<'_> {
    fn for_points(self, start: usize, len: usize) -> Self {
        match self {
            Skip::Own(own) => Skip::Own(&own[start..start + len]),
            Skip::Fold { first_point, n_folds } => Skip::Fold { first_point: first_point + start, n_folds },
            other => other,
        }
    }

    #[inline(always)]
    fn apply(self, point: usize, tile: usize, mut hide: impl FnMut(usize)) {
        match self {
            Skip::None => {}
            Skip::Own(own) => {
                if own[point] / TILE_ROWS == tile {
                    hide(own[point] % TILE_ROWS);
                }
            }
            Skip::Fold { first_point, n_folds } => {
                let first_row = tile * TILE_ROWS % n_folds;
                let fold = (first_point + point) % n_folds;
                for row in ((fold + n_folds - first_row) % n_folds..TILE_ROWS).step_by(n_folds) {
                    hide(row);
                }
            }
        }
    }
}

/// A kernel with a bandwidth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Smoother {
    pub(crate) kernel: Kernel,
    pub(crate) bandwidth: f64,
    /// Whether sums of squares are wanted too.
    pub(crate) with_squares: bool,
}

impl Smoother {
    pub(crate) fn new(kernel: Kernel, bandwidth: f64) -> Self {
        Self { kernel, bandwidth, with_squares: false }
    }

    /// What squared distances are multiplied by in the exponent of `χ`: `1/4h²`.
    pub(crate) fn rate(&self) -> f64 {
        0.25 / (self.bandwidth * self.bandwidth)
    }

    /// The sums for each of some points, given row by row. Up to [`CHUNK_POINTS`]
    /// at a time share loads; segments are summed in parallel when `in_parallel`.
    pub(crate) fn sums(
        &self,
        tiles: &Tiles,
        points: &[f64],
        skip: Skip<'_>,
        in_parallel: bool,
    ) -> Vec<KernelSums> {
        let groups = Groups::new(points, tiles.dim());
        let n_segments = tiles.n_tiles().div_ceil(SEGMENT_TILES);
        let segment = |segment: usize| {
            let first = segment * SEGMENT_TILES;
            let last = (first + SEGMENT_TILES).min(tiles.n_tiles());
            let mut lanes = vec![Lanes::new(self.kernel); groups.n_points()];
            for tile in first..last {
                self.add_tile(&groups, tiles, tile, skip, &mut lanes);
            }
            lanes
        };
        let mut out = vec![KernelSums::empty(self.kernel); groups.n_points()];
        let mut merge = |lanes: Vec<Lanes>| {
            for (out, lanes) in out.iter_mut().zip(lanes) {
                out.merge(lanes.total(), self.rate());
            }
        };
        if in_parallel && n_segments > 1 {
            (0..n_segments).into_par_iter().map(segment).collect::<Vec<_>>().into_iter().for_each(merge);
        } else {
            (0..n_segments).map(segment).for_each(&mut merge);
        }
        out
    }

    /// Adds the rows of one tile to the sums of some points.
    pub(crate) fn add_tile(
        &self,
        groups: &Groups,
        tiles: &Tiles,
        tile: usize,
        skip: Skip<'_>,
        lanes: &mut [Lanes],
    ) {
        let (cells, len) = (tiles.tile(tile), tiles.tile_len(tile));
        pulp::Arch::new().dispatch(AddTile { smoother: self, groups, cells, tile, len, skip, lanes });
    }

    #[inline(always)]
    fn add_cells(
        &self,
        groups: &Groups,
        cells: &[f64],
        tile: usize,
        len: usize,
        skip: Skip<'_>,
        lanes: &mut [Lanes],
    ) {
        let n_grouped = groups.n_grouped();
        for (g, group) in groups.fours().enumerate() {
            let (start, end) = (g * GROUP, (g + 1) * GROUP);
            self.add_group(group, cells, tile, len, skip.for_points(start, GROUP), &mut lanes[start..end]);
        }
        for (g, group) in groups.ones().enumerate() {
            let start = n_grouped + g;
            self.add_group(group, cells, tile, len, skip.for_points(start, 1), &mut lanes[start..=start]);
        }
    }

    #[inline(always)]
    fn add_group<const P: usize>(
        &self,
        group: &[[f64; P]],
        cells: &[f64],
        tile: usize,
        len: usize,
        skip: Skip<'_>,
        lanes: &mut [Lanes],
    ) {
        if self.kernel == Kernel::Gaussian {
            let mut dist_sq = [[0.0; TILE_ROWS]; P];
            distances(group, cells, &mut dist_sq);
            for (p, (dist_sq, lanes)) in dist_sq.iter_mut().zip(lanes).enumerate() {
                dist_sq[len..].fill(f64::INFINITY);
                skip.apply(p, tile, |row| dist_sq[row] = f64::INFINITY);
                if self.with_squares {
                    lanes.add_gaussian::<true>(dist_sq, self.rate());
                } else {
                    lanes.add_gaussian::<false>(dist_sq, self.rate());
                }
            }
            return;
        }
        let mut shapes = [[[1.0; TILE_ROWS]; 2]; P];
        let inverse = 1.0 / self.bandwidth;
        match self.kernel {
            Kernel::Gaussian => {}
            Kernel::Uniform => products(
                group,
                cells,
                inverse,
                kernel::uniform_shape,
                kernel::uniform_convolved_shape,
                &mut shapes,
            ),
            Kernel::Epanechnikov => products(
                group,
                cells,
                inverse,
                kernel::epanechnikov_shape,
                kernel::epanechnikov_convolved_shape,
                &mut shapes,
            ),
            Kernel::Triangular => products(
                group,
                cells,
                inverse,
                kernel::triangular_shape,
                kernel::triangular_convolved_shape,
                &mut shapes,
            ),
        }
        for (p, (shapes, lanes)) in shapes.iter_mut().zip(lanes).enumerate() {
            let [plain, convolved] = shapes;
            plain[len..].fill(0.0);
            convolved[len..].fill(0.0);
            skip.apply(p, tile, |row| (plain[row], convolved[row]) = (0.0, 0.0));
            lanes.add_shapes(plain, convolved);
        }
    }
}

/// The work of [`Smoother::add_tile`], for whatever vectors the machine has. It is a type
/// instead of a closure, because it is compiled for each instruction set, while a closure
/// would be one function for all.
struct AddTile<'a> {
    smoother: &'a Smoother,
    groups: &'a Groups,
    cells: &'a [f64],
    tile: usize,
    len: usize,
    skip: Skip<'a>,
    lanes: &'a mut [Lanes],
}

impl pulp::WithSimd for AddTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let Self { smoother, groups, cells, tile, len, skip, lanes } = self;
        smoother.add_cells(groups, cells, tile, len, skip, lanes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// What the machine's vectors compute has the bits of the same operations one by one,
    /// for full tiles and others, with rows left out or not.
    #[test]
    fn vectors_have_the_bits_of_plain_arithmetic() {
        let mut state = 1_u64;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        for dim in [1, 3, 32] {
            let mut tiles = Tiles::new(dim);
            tiles.push(Mat::from_fn(200, dim, |_, _| number()).as_ref()).unwrap();
            let points: Vec<f64> = (0..7 * dim).map(|_| number()).collect();
            let groups = Groups::new(&points, dim);
            for kernel in Kernel::ALL {
                let smoother = Smoother { kernel, bandwidth: 0.9 * (dim as f64).sqrt(), with_squares: true };
                for skip in [Skip::None, Skip::Own(&[0, 5, 130, 131, 199, 1, 2])] {
                    let mut lanes = [Lanes::new(kernel); 7];
                    let mut plain = lanes;
                    for tile in 0..2 {
                        smoother.add_tile(&groups, &tiles, tile, skip, &mut lanes);
                        let (cells, len) = (tiles.tile(tile), tiles.tile_len(tile));
                        smoother.add_cells(&groups, cells, tile, len, skip, &mut plain);
                    }
                    assert!(lanes[3].total().convolved > 0.0);
                    for (found, expected) in lanes.iter().zip(&plain) {
                        assert_eq!(found.total(), expected.total(), "{kernel:?} in {dim} dimensions");
                    }
                }
            }
        }
    }
}
