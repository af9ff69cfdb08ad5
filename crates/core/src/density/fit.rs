//! A reference: rows scaled and packed, and a kernel to smooth them with.

use super::bandwidth::{self, Bandwidth, KeepGoing, Trial};
use super::kernel::Kernel;
use super::sums::{CHUNK_POINTS, KernelSums, Skip, Smoother};
use super::tiles::{LARGEST, Tiles, check_columns, explain};
use super::tree::Tree;
use crate::{Error, Warning};
use faer::MatRef;
use rayon::prelude::*;

/// A spread below so many units in the last place of the largest cell is rounding.
const CONSTANT_ULPS: f64 = 8.0;

/// With more columns boxes hold everything, with fewer tiles there is nothing to save.
const MOST_TREE_COLUMNS: usize = 8;
const FEWEST_TREE_TILES: usize = 16;

/// Rows that try out the tree, and how much dearer a tile is when points visit it
/// one at a time (measured: 1.6 to 2.2 for up to 8 columns).
const TREE_TRIALS: usize = 32;
const TREE_COST: f64 = 2.0;

/// Rows whose density is looked at first.
const PROBES: usize = 64;

/// `e^±700` are doubles, with some room.
const LOG_RANGE: f64 = 700.0;

/// Densities within `e^±600` are left in their own unit.
const LOG_COMFORT: f64 = 600.0;

/// How columns are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scaling {
    /// Less the mean of the reference, over its standard deviation (divisor `n`).
    #[default]
    Standard,
    /// Not at all.
    None,
}

/// Which rows of the reference a sum visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Search {
    /// All, or by the tree where trials say that it visits far fewer.
    #[default]
    Auto,
    /// All.
    All,
    /// Those that matter, by a tree of boxes: sums lack at most
    /// [`TREE_TOLERANCE`](super::TREE_TOLERANCE) of themselves.
    Tree,
}

/// How a reference is smoothed.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `kernel` | Gaussian | the kernel |
/// | `bandwidth` | cross-validated | its width, in units of the scaled columns |
/// | `scaling` | standard | what makes columns comparable |
/// | `search` | auto | whether sums may leave out what cannot matter |
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DensityOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// How wide it is.
    pub bandwidth: Bandwidth,
    /// How columns are scaled.
    pub scaling: Scaling,
    /// Which rows a sum visits.
    pub search: Search,
}

/// Collects the rows of a reference, in chunks of any size.
#[derive(Debug, Clone)]
pub struct DensityBuilder {
    tiles: Tiles,
}

impl DensityBuilder {
    /// For rows of `n_features` columns.
    pub fn new(n_features: usize) -> Self {
        Self { tiles: Tiles::new(n_features) }
    }

    /// Rows so far.
    pub fn n_rows(&self) -> usize {
        self.tiles.n_rows()
    }

    /// Adds rows. They are kept: a density estimate is its sample. After an error
    /// the builder must not be used further.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`]; [`Error::NotFinite`] with the row counted within
    /// `rows`, [`Error::TooLarge`].
    pub fn push(&mut self, rows: MatRef<'_, f64>) -> Result<(), Error> {
        self.tiles.push(rows)
    }

    /// The fit.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`]; [`Error::NoFeatures`] when all columns are constant;
    /// [`Error::BadBandwidth`]; [`Error::FewRows`] when cross-validation has fewer
    /// rows than folds; [`Error::NoDensity`] when the bandwidth is so small that
    /// no row is near another.
    pub fn finish(self, options: DensityOptions) -> Result<DensityFit, Error> {
        self.finish_while(options, &|_, _| true)
    }

    /// The fit, as long as `keep_going` agrees: it is told how much of
    /// cross-validation is done and how much there is, from several threads.
    ///
    /// # Errors
    ///
    /// As for [`finish`](Self::finish), and [`Error::Interrupted`].
    pub fn finish_while(
        self,
        options: DensityOptions,
        keep_going: &(dyn Fn(usize, usize) -> bool + Sync),
    ) -> Result<DensityFit, Error> {
        DensityFit::new(self.tiles, options, keep_going)
    }
}

/// A kernel density estimate, ready to value rows against.
#[derive(Debug, Clone)]
pub struct DensityFit {
    n_features: usize,
    kept: Vec<usize>,
    constant: Vec<usize>,
    centre: Vec<f64>,
    factor: Vec<f64>,
    smoother: Smoother,
    curve: Vec<Trial>,
    tiles: Tiles,
    tree: Option<Tree>,
    log_unit: f64,
}

impl DensityFit {
    /// The fit of a reference in one piece.
    ///
    /// # Errors
    ///
    /// As for [`DensityBuilder::push`] and [`DensityBuilder::finish`].
    pub fn of(rows: MatRef<'_, f64>, options: DensityOptions) -> Result<Self, Error> {
        let mut builder = DensityBuilder::new(rows.ncols());
        builder.push(rows)?;
        builder.finish(options)
    }

    fn new(mut tiles: Tiles, options: DensityOptions, keep_going: KeepGoing<'_>) -> Result<Self, Error> {
        let n_features = tiles.dim();
        if tiles.n_rows() == 0 {
            return Err(Error::NoRows);
        }
        let columns: Vec<ColumnScale> =
            (0..n_features).into_par_iter().map(|column| ColumnScale::of(&tiles, column)).collect();
        let (kept, constant): (Vec<usize>, Vec<usize>) =
            (0..n_features).partition(|&column| !columns[column].is_constant());
        if kept.is_empty() {
            return Err(Error::NoFeatures { n_features });
        }
        let (centre, factor): (Vec<f64>, Vec<f64>) = match options.scaling {
            Scaling::Standard => {
                kept.iter().map(|&column| (columns[column].mean, 1.0 / columns[column].std)).unzip()
            }
            Scaling::None => (vec![0.0; kept.len()], vec![1.0; kept.len()]),
        };
        tiles.transform(&kept, |column, cell| (cell - centre[column]) * factor[column]);
        let (bandwidth, curve) = bandwidth::choose(&tiles, options.kernel, options.bandwidth, keep_going)?;
        let smoother = Smoother::new(options.kernel, bandwidth);
        let mut fit = Self {
            n_features,
            kept,
            constant,
            centre,
            factor,
            smoother,
            curve,
            tiles,
            tree: None,
            log_unit: 0.0,
        };
        fit.plant(options.search);
        fit.log_unit = fit.find_unit()?;
        Ok(fit)
    }

    /// Makes the tree, if it is wanted and worth it.
    fn plant(&mut self, search: Search) {
        let is_small = self.dim() > MOST_TREE_COLUMNS || self.tiles.n_tiles() < FEWEST_TREE_TILES;
        if search == Search::All || search == Search::Auto && is_small {
            return;
        }
        let (tiles, tree) = Tree::new(&self.tiles);
        let visits = |row: usize| {
            let mut point = vec![0.0; tiles.dim()];
            tiles.copy_row(row, &mut point);
            tree.sums(&self.smoother, &tiles, &point, None).1
        };
        let rows = evenly(tiles.n_rows(), TREE_TRIALS);
        let n_trials = rows.len();
        let mean = rows.map(visits).sum::<usize>() as f64 / n_trials as f64;
        if search == Search::Tree || mean * TREE_COST < tiles.n_tiles() as f64 {
            self.tiles = tiles;
            self.tree = Some(tree);
        }
    }

    /// The logarithm of the unit in which densities and values are doubles: 0 where
    /// that will do. Refuses bandwidths with which every row is alone.
    fn find_unit(&self) -> Result<f64, Error> {
        let peak = self.log_convolved_peak();
        let n = self.n_rows();
        if n < 2 {
            return Ok(if peak.abs() <= LOG_COMFORT { 0.0 } else { peak.round() });
        }
        let probes: Vec<usize> = evenly(n, PROBES).collect();
        let mut best = self.largest_density(&probes);
        if best.is_none() {
            // Rare, so it may be slow: some other row may have a neighbour.
            let chunks = n.div_ceil(CHUNK_POINTS);
            best = (0..chunks).find_map(|chunk| {
                let rows: Vec<usize> = (chunk * CHUNK_POINTS..n.min((chunk + 1) * CHUNK_POINTS)).collect();
                self.largest_density(&rows)
            });
        }
        let Some(best) = best else {
            let enough = self.enough_for(&probes);
            return Err(Error::NoDensity { bandwidth: self.smoother.bandwidth, enough });
        };
        let fits = peak <= LOG_COMFORT && best >= -LOG_COMFORT;
        Ok(if fits { 0.0 } else { ((peak + best) / 2.0).round() })
    }

    /// The largest log density of some rows, each left out of the reference; none if
    /// all are too small beside the kernel's peak.
    fn largest_density(&self, rows: &[usize]) -> Option<f64> {
        let points = self.rows_of(rows);
        let sums = self.kernel_sums(&self.smoother, &points, Some(rows), true);
        let log = |sums: &KernelSums| {
            let densities = self.log_densities(sums, self.n_rows() - 1);
            let is_there = densities.plain > f64::NEG_INFINITY
                && self.log_convolved_peak() - densities.convolved < LOG_RANGE;
            is_there.then_some(densities.plain)
        };
        sums.iter().filter_map(log).reduce(f64::max)
    }

    /// A bandwidth with which at least one of these rows has a neighbour.
    fn enough_for(&self, rows: &[usize]) -> f64 {
        let points = self.rows_of(rows);
        let kernel = self.smoother.kernel;
        let nearest = |(&row, point): (&usize, &[f64])| {
            let own = self.position(row);
            let distance = |other: usize| {
                let gaps = (0..self.dim()).map(|j| (self.tiles.cell(other, j) - point[j]).abs());
                match kernel {
                    Kernel::Gaussian => gaps.map(|gap| gap * gap).sum::<f64>().sqrt(),
                    _ => gaps.fold(0.0, f64::max),
                }
            };
            (0..self.n_rows()).filter(|&other| other != own).map(distance).fold(f64::INFINITY, f64::min)
        };
        let nearest = rows.iter().zip(points.chunks_exact(self.dim())).map(nearest);
        let nearest = nearest.fold(f64::INFINITY, f64::min);
        // A little more than the least that will do.
        1.01 * match kernel {
            Kernel::Gaussian => nearest / (4.0 * (LOG_RANGE - (self.n_rows() as f64).ln())).sqrt(),
            _ => nearest / kernel.reach(),
        }
    }

    /// Features, constant ones included.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Columns that vary: the dimension of the estimate.
    pub fn dim(&self) -> usize {
        self.kept.len()
    }

    /// Features that vary, ascending.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Features that are the same in all reference rows, ascending. They say
    /// nothing and are left out, of points too.
    pub fn constant_columns(&self) -> &[usize] {
        &self.constant
    }

    /// Reference rows.
    pub fn n_rows(&self) -> usize {
        self.tiles.n_rows()
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.smoother.kernel
    }

    /// The bandwidth, in units of the scaled columns.
    pub fn bandwidth(&self) -> f64 {
        self.smoother.bandwidth
    }

    /// The bandwidths tried in cross-validation, ascending; empty otherwise.
    pub fn curve(&self) -> &[Trial] {
        &self.curve
    }

    /// Whether sums go by the tree.
    pub fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// The logarithm of the unit of densities and values: they are `e^unit` times
    /// the number reported. It is 0 unless doubles end before the densities do, in
    /// hundreds of columns. Log densities are as they are.
    pub fn log_unit(&self) -> f64 {
        self.log_unit
    }

    /// What to add to log densities for densities in units of the features as given.
    pub fn log_scale(&self) -> f64 {
        self.factor.iter().map(|factor| factor.ln()).sum()
    }

    /// Bytes held.
    pub fn n_bytes(&self) -> usize {
        self.tiles.n_bytes() + self.tree.as_ref().map_or(0, Tree::n_bytes)
    }

    /// What is doubtful about the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !self.constant.is_empty() {
            warnings.push(Warning::ConstantColumns { columns: self.constant.clone() });
        }
        let ends = [self.curve.first(), self.curve.last()];
        if ends.into_iter().flatten().any(|trial| trial.bandwidth == self.bandwidth()) {
            warnings.push(Warning::BandwidthAtEdge { bandwidth: self.bandwidth() });
        }
        warnings
    }

    pub(crate) fn smoother(&self) -> Smoother {
        self.smoother
    }

    pub(crate) fn tiles(&self) -> &Tiles {
        &self.tiles
    }

    /// Where a row of the reference is among the tiles.
    pub(crate) fn position(&self, row: usize) -> usize {
        self.tree.as_ref().map_or(row, |tree| tree.position(row))
    }

    /// Scaled cells of reference rows, row by row.
    pub(crate) fn rows_of(&self, rows: &[usize]) -> Vec<f64> {
        let mut points = vec![0.0; rows.len() * self.dim()];
        for (&row, point) in rows.iter().zip(points.chunks_exact_mut(self.dim())) {
            self.tiles.copy_row(self.position(row), point);
        }
        points
    }

    /// Scaled cells of `len` points from `start` on, row by row.
    pub(crate) fn scaled(
        &self,
        points: MatRef<'_, f64>,
        start: usize,
        len: usize,
    ) -> Result<Vec<f64>, Error> {
        check_columns(points, self.n_features)?;
        let mut out = vec![0.0; len * self.dim()];
        for (row, out) in out.chunks_exact_mut(self.dim()).enumerate() {
            for (j, (&column, out)) in self.kept.iter().zip(out).enumerate() {
                *out = (points[(start + row, column)] - self.centre[j]) * self.factor[j];
            }
        }
        // Constant columns do not enter, but what is not a number has no place in them.
        let is_finite =
            |column: &usize| points.col(*column).subrows(start, len).iter().all(|x| x.is_finite());
        if out.iter().all(|cell| cell.abs() <= LARGEST) && self.constant.iter().all(is_finite) {
            return Ok(out);
        }
        Err(explain(points))
    }

    /// Kernel sums of points over the reference; point `i` does not meet reference
    /// row `own[i]`.
    pub(crate) fn kernel_sums(
        &self,
        smoother: &Smoother,
        points: &[f64],
        own: Option<&[usize]>,
        in_parallel: bool,
    ) -> Vec<KernelSums> {
        let own: Option<Vec<usize>> = own.map(|own| own.iter().map(|&row| self.position(row)).collect());
        let Some(tree) = &self.tree else {
            let skip = own.as_deref().map_or(Skip::None, Skip::Own);
            return smoother.sums(&self.tiles, points, skip, in_parallel);
        };
        let sums = |(i, point): (usize, &[f64])| {
            let own = own.as_ref().map(|own| own[i]);
            tree.sums(smoother, &self.tiles, point, own).0
        };
        if in_parallel {
            points.par_chunks_exact(self.dim()).enumerate().map(sums).collect()
        } else {
            points.chunks_exact(self.dim()).enumerate().map(sums).collect()
        }
    }

    pub(crate) fn log_peak(&self) -> f64 {
        self.smoother.kernel.log_peak(self.bandwidth(), self.dim())
    }

    pub(crate) fn log_convolved_peak(&self) -> f64 {
        self.smoother.kernel.log_convolved_peak(self.bandwidth(), self.dim())
    }

    /// `(k*k)_h(0)` in units of [`log_unit`](Self::log_unit).
    pub(crate) fn convolved_peak(&self) -> f64 {
        (self.log_convolved_peak() - self.log_unit).exp()
    }

    /// Logarithms of the factors that make means of shapes densities, in the unit.
    pub(crate) fn log_factors(&self, sums: &KernelSums) -> Pair {
        // Compact kernels have base 0; so has the Gaussian one next to a row.
        let fall = self.smoother.rate() * sums.base;
        Pair {
            plain: self.log_peak() - 2.0 * fall - self.log_unit,
            convolved: self.log_convolved_peak() - fall - self.log_unit,
        }
    }

    /// Log densities, in no unit, from sums over `n` rows.
    pub(crate) fn log_densities(&self, sums: &KernelSums, n: usize) -> Pair {
        if sums.base == f64::INFINITY {
            return Pair { plain: f64::NEG_INFINITY, convolved: f64::NEG_INFINITY };
        }
        let factors = self.log_factors(sums);
        Pair {
            plain: factors.plain + self.log_unit + (sums.plain / n as f64).ln(),
            convolved: factors.convolved + self.log_unit + (sums.convolved / n as f64).ln(),
        }
    }

    /// Densities in the unit, from sums over `n` rows.
    pub(crate) fn densities(&self, sums: &KernelSums, n: usize) -> Pair {
        if sums.base == f64::INFINITY {
            return Pair { plain: 0.0, convolved: 0.0 };
        }
        let factors = self.log_factors(sums);
        Pair {
            plain: factors.plain.exp() * (sums.plain / n as f64),
            convolved: factors.convolved.exp() * (sums.convolved / n as f64),
        }
    }
}

/// A quantity for the kernel, and the same for its convolution with itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) plain: f64,
    pub(crate) convolved: f64,
}

/// Up to `most` of `0..n`, evenly spaced.
fn evenly(n: usize, most: usize) -> impl ExactSizeIterator<Item = usize> {
    let count = n.min(most);
    (0..count).map(move |i| i * n / count)
}

struct ColumnScale {
    mean: f64,
    std: f64,
    largest: f64,
}

impl ColumnScale {
    /// In two sweeps: the mean, then squares about it.
    fn of(tiles: &Tiles, column: usize) -> Self {
        let n = tiles.n_rows() as f64;
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        let first = tiles.cell(0, column);
        tiles.scan(column, |cells| {
            sum += cells.iter().map(|cell| cell - first).sum::<f64>();
            largest = cells.iter().fold(largest, |most, cell| most.max(cell.abs()));
        });
        let mean = first + sum / n;
        let (mut sum, mut squares) = (0.0, 0.0);
        tiles.scan(column, |cells| {
            sum += cells.iter().map(|cell| cell - mean).sum::<f64>();
            squares += cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>();
        });
        // What rounding left of the mean is taken out of the squares.
        let var = (squares - sum * sum / n) / n;
        Self { mean, std: var.max(0.0).sqrt(), largest }
    }

    fn is_constant(&self) -> bool {
        // Denormal deviations have no reciprocal.
        self.std <= CONSTANT_ULPS * f64::EPSILON * self.largest || self.std < 1e-150
    }
}
