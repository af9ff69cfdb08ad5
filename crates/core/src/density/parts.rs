//! A fit as plain numbers, to be written to files and read back.

use super::bandwidth::{BANDWIDTH_RANGE, Trial};
use super::fit::{DensityFit, ScaledColumns};
use super::kernel::Kernel;
use super::options::Search;
use super::sums::Smoother;
use super::tiles::{LARGEST, Tiles};
use crate::Error;

/// All numbers of a [`DensityFit`].
#[derive(Debug, Clone, PartialEq)]
pub struct DensityParts {
    /// Features, including constant ones.
    pub n_features: usize,
    /// Features that vary, ascending.
    pub kept: Vec<usize>,
    /// What is subtracted from each of them.
    pub centre: Vec<f64>,
    /// What the difference is multiplied by.
    pub factor: Vec<f64>,
    /// The kernel.
    pub kernel: Kernel,
    /// The bandwidth.
    pub bandwidth: f64,
    /// The bandwidths tried.
    pub curve: Vec<Trial>,
    /// Whether sums use the tree.
    pub tree: bool,
    /// Scaled reference rows, one after the other, in their order.
    pub rows: Vec<f64>,
}

impl DensityFit {
    /// The fit as plain numbers.
    pub fn to_parts(&self) -> DensityParts {
        let rows: Vec<usize> = (0..self.n_rows()).collect();
        DensityParts {
            n_features: self.n_features,
            kept: self.kept.clone(),
            centre: self.centre.clone(),
            factor: self.factor.clone(),
            kernel: self.kernel(),
            bandwidth: self.bandwidth(),
            curve: self.curve.clone(),
            tree: self.has_tree(),
            rows: self.rows_of(&rows),
        }
    }

    /// The fit with these numbers; it gives the same bits.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be those of a fit, and
    /// [`Error::NoDensity`] as for [`DensityBuilder::finish`](super::DensityBuilder::finish).
    pub fn from_parts(parts: DensityParts) -> Result<Self, Error> {
        parts.check()?;
        let DensityParts { n_features, kept, centre, factor, kernel, bandwidth, curve, tree, rows } = parts;
        let mut tiles = Tiles::new(kept.len());
        for row in rows.chunks_exact(kept.len()) {
            tiles.push_row(row);
        }
        let columns = ScaledColumns { n_features, kept, centre, factor };
        let search = if tree { Search::Tree } else { Search::All };
        Self::assemble(columns, tiles, Smoother::new(kernel, bandwidth), curve, search)
    }
}

impl DensityParts {
    /// Whether the numbers can be those of a fit: sizes agree, every number is in
    /// range, and what must be positive is.
    fn check(&self) -> Result<(), Error> {
        let wrong = |what| Err(Error::Contradiction { what });
        let dim = self.kept.len();
        let ascending = self.kept.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || self.kept.last().is_none_or(|&last| last >= self.n_features) {
            return wrong("the columns of the density contradict each other");
        }
        if self.centre.len() != dim || self.factor.len() != dim || !self.rows.len().is_multiple_of(dim) {
            return wrong("the rows of the density do not match its columns in size");
        }
        if self.rows.is_empty() {
            return wrong("the density has no rows");
        }
        let is_scale = |factor: &f64| factor.is_finite() && *factor > 0.0;
        let is_cell = |cell: &f64| cell.abs() <= LARGEST;
        let is_range = BANDWIDTH_RANGE.contains(&self.bandwidth);
        let is_curve = |trial: &Trial| BANDWIDTH_RANGE.contains(&trial.bandwidth);
        if !is_range || !self.curve.iter().all(is_curve) || !self.factor.iter().all(is_scale) {
            return wrong("a scale of the density is not positive");
        }
        if !self.centre.iter().all(|centre| centre.is_finite()) || !self.rows.iter().all(is_cell) {
            return wrong("a number of the density is not finite");
        }
        Ok(())
    }
}
