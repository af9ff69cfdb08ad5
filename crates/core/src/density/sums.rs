//! Sums of a kernel and of its convolution over many rows, fast and with all digits.
//!
//! Points and rows meet in tiles. A row is a lane of a vector, a point is the same
//! in all lanes, and lanes are added up in an order that does not depend on the
//! width of the machine's vectors. A point's sums therefore have the same bits
//! whatever its neighbours, the number of threads or the instruction set.

use super::exp::exp_of_negative;
use super::kernel::{self, Kernel};
use super::tiles::{TILE_ROWS, Tiles};
use rayon::prelude::*;

/// Partial sums are kept for this many lanes, and so is the order of adding.
const LANES: usize = 8;

/// Points that share the loads of a tile: eight accumulators fit into sixteen
/// registers of four lanes.
const GROUP: usize = 4;

/// Tiles that are summed before partial sums are merged.
const SEGMENT_TILES: usize = 64;

/// Points that pass over a segment together.
pub(crate) const CHUNK_POINTS: usize = 64;

/// Sums over rows `b` of the kernel's shape `κ = k/k(0)` and that of its
/// convolution, `χ = (k*k)/(k*k)(0)`.
///
/// For the Gaussian kernel `χ = exp(−r²/4h²)` and `κ = χ²`; each `χ` here is
/// multiplied by `exp(base/4h²)`, `base` being the smallest `r²` of all, so that
/// nothing underflows however far away the rows are. For the others `base` is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KernelSums {
    pub(crate) base: f64,
    /// `Σ κ`
    pub(crate) plain: f64,
    /// `Σ χ`
    pub(crate) convolved: f64,
    /// `Σ κ²`, `Σ κχ`, `Σ χ²`, where asked for.
    pub(crate) squares: [f64; 3],
}

/// Which rows a point does not meet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Skip<'a> {
    /// It meets all.
    None,
    /// Point `i` does not meet row `own[i]`.
    Own(&'a [usize]),
    /// Point `i` does not meet the rows of its fold, every `n_folds`-th.
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

/// The work of [`Smoother::add_tile`], for whatever vectors the machine has. A type
/// of its own rather than a closure: each instruction set compiles it anew, where a
/// closure would be one function for all of them.
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
fn products<const P: usize>(
    group: &[[f64; P]],
    cells: &[f64],
    inverse: f64,
    plain: impl Fn(f64) -> f64,
    convolved: impl Fn(f64) -> f64,
    out: &mut [[[f64; TILE_ROWS]; 2]; P],
) {
    let columns = cells.as_chunks::<TILE_ROWS>().0;
    for b in 0..TILE_ROWS / LANES {
        for (p, out) in out.iter_mut().enumerate() {
            let (mut first, mut second) = ([1.0; LANES], [1.0; LANES]);
            for (point, column) in group.iter().zip(columns) {
                let rows = &column.as_chunks::<LANES>().0[b];
                for l in 0..LANES {
                    let u = (rows[l] - point[p]).abs() * inverse;
                    first[l] *= plain(u);
                    second[l] *= convolved(u);
                }
            }
            out[0][b * LANES..(b + 1) * LANES].copy_from_slice(&first);
            out[1][b * LANES..(b + 1) * LANES].copy_from_slice(&second);
        }
    }
}

/// [`KernelSums`] under way, lane by lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    base: f64,
    plain: [f64; LANES],
    convolved: [f64; LANES],
    squares: [[f64; LANES]; 3],
}

impl Lanes {
    pub(crate) fn new(kernel: Kernel) -> Self {
        let base = KernelSums::empty(kernel).base;
        Self { base, plain: [0.0; LANES], convolved: [0.0; LANES], squares: [[0.0; LANES]; 3] }
    }

    #[inline(always)]
    pub(crate) fn add_gaussian<const SQUARES: bool>(&mut self, dist_sq: &[f64; TILE_ROWS], rate: f64) {
        let lanes = dist_sq.as_chunks::<LANES>().0;
        let mut least = lanes[0];
        for chunk in lanes {
            for l in 0..LANES {
                least[l] = if chunk[l] < least[l] { chunk[l] } else { least[l] };
            }
        }
        let least = least.iter().fold(f64::INFINITY, |a, &b| a.min(b));
        if least < self.base {
            // From nothing, base is infinite and all sums are 0 times 0.
            let factor = exp_of_negative((least - self.base) * rate);
            self.rescale(factor);
            self.base = least;
        }
        if least == f64::INFINITY {
            return;
        }
        let shift = self.base * rate;
        for chunk in lanes {
            for l in 0..LANES {
                let chi = exp_of_negative((-rate).mul_add(chunk[l], shift));
                let kappa = chi * chi;
                self.convolved[l] += chi;
                self.plain[l] += kappa;
                if SQUARES {
                    self.squares[0][l] = kappa.mul_add(kappa, self.squares[0][l]);
                    self.squares[1][l] = kappa.mul_add(chi, self.squares[1][l]);
                    self.squares[2][l] += kappa;
                }
            }
        }
    }

    #[inline(always)]
    fn add_shapes(&mut self, plain: &[f64; TILE_ROWS], convolved: &[f64; TILE_ROWS]) {
        let (plain, convolved) = (plain.as_chunks::<LANES>().0, convolved.as_chunks::<LANES>().0);
        for (kappa, chi) in plain.iter().zip(convolved) {
            for l in 0..LANES {
                self.plain[l] += kappa[l];
                self.convolved[l] += chi[l];
                self.squares[0][l] = kappa[l].mul_add(kappa[l], self.squares[0][l]);
                self.squares[1][l] = kappa[l].mul_add(chi[l], self.squares[1][l]);
                self.squares[2][l] = chi[l].mul_add(chi[l], self.squares[2][l]);
            }
        }
    }

    #[inline(always)]
    fn rescale(&mut self, factor: f64) {
        let square = factor * factor;
        for l in 0..LANES {
            self.convolved[l] *= factor;
            self.plain[l] *= square;
            self.squares[0][l] *= square * square;
            self.squares[1][l] *= square * factor;
            self.squares[2][l] *= square;
        }
    }

    pub(crate) fn total(&self) -> KernelSums {
        let add = |x: &[f64; LANES]| ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
        KernelSums {
            base: self.base,
            plain: add(&self.plain),
            convolved: add(&self.convolved),
            squares: self.squares.each_ref().map(add),
        }
    }
}

impl KernelSums {
    pub(crate) fn empty(kernel: Kernel) -> Self {
        let base = if kernel == Kernel::Gaussian { f64::INFINITY } else { 0.0 };
        Self { base, plain: 0.0, convolved: 0.0, squares: [0.0; 3] }
    }

    /// Adds the sums over other rows; `rate` is that of [`Smoother::rate`].
    pub(crate) fn merge(&mut self, mut other: Self, rate: f64) {
        if other.base < self.base {
            std::mem::swap(self, &mut other);
        }
        if other.base == f64::INFINITY {
            return;
        }
        let factor = exp_of_negative((self.base - other.base) * rate);
        let square = factor * factor;
        self.plain += other.plain * square;
        self.convolved += other.convolved * factor;
        self.squares[0] += other.squares[0] * square * square;
        self.squares[1] += other.squares[1] * square * factor;
        self.squares[2] += other.squares[2] * square;
    }
}
