//! Rows of a reference that arrive in chunks.

use super::column_scale::ColumnScale;
use super::fit::DensityFit;
use super::options::DensityOptions;
use super::tiles::Tiles;
use crate::{Error, Watch};
use faer::MatRef;

/// Collects the rows of a reference, in chunks of any size.
#[derive(Debug, Clone)]
pub struct DensityBuilder {
    tiles: Tiles,
    columns: Option<Vec<ColumnScale>>,
}

impl DensityBuilder {
    /// For rows of `n_features` columns.
    pub fn new(n_features: usize) -> Self {
        Self { tiles: Tiles::new(n_features), columns: None }
    }

    /// Scales columns by these means and standard deviations instead of those of the
    /// rows, if the rows are a sample of more. A column whose standard deviation is 0 is
    /// left out.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`] unless there is one of each per feature.
    pub fn scaled_by(mut self, means: &[f64], std_devs: &[f64]) -> Result<Self, Error> {
        let expected = self.tiles.dim();
        if let Some(found) = [means.len(), std_devs.len()].into_iter().find(|&len| len != expected) {
            return Err(Error::FeatureCount { found, expected });
        }
        let scale = |(&mean, &std): (&f64, &f64)| ColumnScale::new(mean, std);
        self.columns = Some(means.iter().zip(std_devs).map(scale).collect());
        Ok(self)
    }

    /// Rows so far.
    pub fn n_rows(&self) -> usize {
        self.tiles.n_rows()
    }

    /// Adds rows. They are stored, because a density estimate needs its sample. After an
    /// error the builder must not be used further.
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
    /// [`Error::NoRows`]; [`Error::FewRows`] for a single row; [`Error::NoFeatures`] when
    /// all columns are constant;
    /// [`Error::BadBandwidth`]; [`Error::FewRows`] when cross-validation has fewer
    /// rows than folds; [`Error::NoDensity`] when the bandwidth is so small that
    /// no row is near another.
    pub fn finish(self, options: DensityOptions) -> Result<DensityFit, Error> {
        self.finish_while(options, &|_, _| true)
    }

    /// The fit, unless `watch` stops it. Several threads tell `watch` how much of
    /// cross-validation is done.
    ///
    /// # Errors
    ///
    /// As for [`finish`](Self::finish), and [`Error::Interrupted`].
    pub fn finish_while(self, options: DensityOptions, watch: Watch<'_>) -> Result<DensityFit, Error> {
        DensityFit::new(self.tiles, self.columns, options, watch)
    }
}
