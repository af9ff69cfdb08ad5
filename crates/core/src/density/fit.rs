//! A reference: rows scaled and packed, and a kernel to smooth them with.

use super::bandwidth::{self, Trial};
use super::builder::DensityBuilder;
use super::column_scale::ColumnScale;
use super::kernel::Kernel;
use super::lanes::KernelSums;
use super::options::{DensityOptions, Scaling, Search};
use super::sums::{Skip, Smoother};
use super::tiles::{LARGEST, Tiles, check_columns, explain};
use super::tree::Tree;
use super::unit::evenly;
use crate::{Error, Warning, Watch};
use faer::MatRef;
use rayon::prelude::*;

/// With more columns, boxes contain nearly everything. With fewer tiles, there is nothing
/// to save.
const MOST_TREE_COLUMNS: usize = 8;
const FEWEST_TREE_TILES: usize = 16;

/// Rows that test the tree, and how much more a tile costs if points visit it one at a
/// time (measured: 2.0 with 3 columns, 2.2 with 6, visiting nearly all).
const TREE_TRIALS: usize = 32;
const TREE_COST: f64 = 2.0;

/// A kernel density estimate, ready to value rows against.
#[derive(Debug, Clone)]
pub struct DensityFit {
    pub(super) n_features: usize,
    pub(super) kept: Vec<usize>,
    pub(super) constant: Vec<usize>,
    pub(super) centre: Vec<f64>,
    pub(super) factor: Vec<f64>,
    pub(super) smoother: Smoother,
    pub(super) curve: Vec<Trial>,
    pub(super) tiles: Tiles,
    pub(super) tree: Option<Tree>,
    pub(super) log_unit: f64,
}

impl DensityFit {
    /// The fit of a reference in memory.
    ///
    /// # Errors
    ///
    /// As for [`DensityBuilder::push`] and [`DensityBuilder::finish`].
    pub fn of(rows: MatRef<'_, f64>, options: DensityOptions) -> Result<Self, Error> {
        let mut builder = DensityBuilder::new(rows.ncols());
        builder.push(rows)?;
        builder.finish(options)
    }

    pub(crate) fn new(
        mut tiles: Tiles,
        columns: Option<Vec<ColumnScale>>,
        options: DensityOptions,
        watch: Watch<'_>,
    ) -> Result<Self, Error> {
        let n_features = tiles.dim();
        match tiles.n_rows() {
            0 => return Err(Error::NoRows),
            // Nothing varies, but not because of the columns.
            1 if columns.is_none() => return Err(Error::FewRows { n_rows: 1, needed: 2 }),
            _ => {}
        }
        let columns: Vec<ColumnScale> = columns.unwrap_or_else(|| {
            (0..n_features).into_par_iter().map(|column| ColumnScale::of(&tiles, column)).collect()
        });
        if let Some(column) = columns.iter().position(ColumnScale::is_too_small) {
            return Err(Error::TooSmall { column });
        }
        let kept: Vec<usize> = (0..n_features).filter(|&column| !columns[column].is_constant()).collect();
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
        let (bandwidth, curve) = bandwidth::choose(&tiles, options.kernel, options.bandwidth, watch)?;
        let columns = ScaledColumns { n_features, kept, centre, factor };
        Self::assemble(columns, tiles, Smoother::new(options.kernel, bandwidth), curve, options.search)
    }

    /// A fit from rows that are already scaled.
    pub(super) fn assemble(
        columns: ScaledColumns,
        tiles: Tiles,
        smoother: Smoother,
        curve: Vec<Trial>,
        search: Search,
    ) -> Result<Self, Error> {
        let ScaledColumns { n_features, kept, centre, factor } = columns;
        let constant = (0..n_features).filter(|column| kept.binary_search(column).is_err()).collect();
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
        fit.plant(search);
        fit.log_unit = fit.find_unit()?;
        Ok(fit)
    }

    /// Builds the tree, if it is wanted and worth it.
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

    /// Features, including constant ones.
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

    /// Features that are the same in all reference rows, ascending. They carry no
    /// information and are left out, also of points.
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

    /// Whether sums use the tree.
    pub fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// The logarithm of the unit of densities and values: they are `e^unit` times the
    /// number reported. It is 0 unless densities are out of the range of doubles: with
    /// hundreds of columns, or with tiny or huge bandwidths. Log densities do not depend
    /// on it.
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
        // Constant columns are not used, but they must be finite.
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

    /// Logarithms of the factors that turn means of shapes into densities, in the unit.
    pub(crate) fn log_factors(&self, sums: &KernelSums) -> Pair {
        // Compact kernels have base 0, and so has the Gaussian kernel next to a row.
        let fall = self.smoother.rate() * sums.base;
        Pair {
            plain: self.log_peak() - 2.0 * fall - self.log_unit,
            convolved: self.log_convolved_peak() - fall - self.log_unit,
        }
    }

    /// Log densities, without the unit, from sums over `n` rows.
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

/// The features that vary, and what is subtracted from them before they are multiplied.
#[derive(Debug)]
pub(super) struct ScaledColumns {
    pub(super) n_features: usize,
    pub(super) kept: Vec<usize>,
    pub(super) centre: Vec<f64>,
    pub(super) factor: Vec<f64>,
}

/// A quantity for the kernel, and the same for its convolution with itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) plain: f64,
    pub(crate) convolved: f64,
}
