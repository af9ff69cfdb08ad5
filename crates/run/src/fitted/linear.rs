//! Regression: moments and least squares.

use super::{Drawer, RowValuer};
use crate::Error;
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::Observer;
use crate::reference::distances_of;
use crate::request::Method;
use dshap::linear::{DistanceTable, FitOptions, GeneralOptions, GeneralValuer, LinearFit, LinearValuer};
use dshap::{Moments, Rows, Sizes};
use dshap_io::Source;
use dshap_table::Design;

/// Least squares, and the moments that it can be made of again.
#[derive(Debug, Clone)]
pub(crate) struct LinearModel {
    pub(crate) moments: Moments,
    pub(crate) fit: LinearFit,
    pub(crate) options: FitOptions,
    /// How far reference rows are from their mean, for calibrated values.
    pub(crate) distances: Option<DistanceTable>,
    /// The reference rows, for values by drawing sets.
    pub(crate) rows: Option<Held>,
}

impl LinearModel {
    pub(crate) fn new(moments: Moments, fit: LinearFit, options: FitOptions) -> Self {
        Self { moments, fit, options, distances: None, rows: None }
    }

    pub(super) fn calibrate(
        &mut self,
        source: &Source,
        design: &Design,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        self.distances = Some(distances_of(source, design, &self.fit, budget, observer)?);
        Ok(())
    }

    /// What values rows, standard errors aside.
    pub(crate) fn linear_valuer(
        &self,
        design: &Design,
        method: Method,
        sizes: Sizes,
    ) -> Result<LinearValuer, Error> {
        let linear = match (method.linear(), &self.distances) {
            (Some(method), _) => LinearValuer::new(self.fit.clone(), sizes, method),
            (None, Some(distances)) => LinearValuer::calibrated(self.fit.clone(), sizes, distances),
            (None, None) => return Err(Error::NotCalibrated),
        };
        linear.map_err(|e| Error::core(e, design))
    }

    pub(super) fn row_valuer(
        &self,
        design: &Design,
        method: Method,
        sizes: Sizes,
        std_error: bool,
    ) -> Result<RowValuer, Error> {
        let linear = self.linear_valuer(design, method, sizes)?.with_std_error(std_error);
        Ok(RowValuer::Linear(Box::new(linear)))
    }

    pub(super) fn drawer(
        &self,
        reference: Rows<'_>,
        sizes: Sizes,
        options: GeneralOptions,
    ) -> Result<Drawer, dshap::Error> {
        Ok(Drawer::Linear(Box::new(GeneralValuer::new(self.fit.clone(), reference, sizes, options)?)))
    }
}
