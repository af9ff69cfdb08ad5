//! What is fitted to a reference, task by task, and what values rows by it.
//!
//! | file | holds |
//! |---|---|
//! | `linear.rs` | regression: moments and least squares |
//! | `logistic.rs` | classification: a logistic fit, or one for each class |
//! | `learn.rs` | the passes of a logistic fit |
//! | `second_order.rs`, `probe.rs` | classification by models that are refitted on each set; sets that have no fit |
//! | `density.rs`, `reservoir.rs` | density: a reference, or a sample of it, that is smoothed |
//! | `neighbours.rs`, `neighbour_sizes.rs`, `hold.rs` | nearest neighbours: reference and test rows; their set sizes |
//! | `row_valuer.rs` | row by row, or by drawing sets |
//!
//! A further task is a further variant of [`FittedModel`]; what runs over files
//! asks it for what it needs and does not know tasks.

mod density;
mod hold;
mod learn;
mod linear;
mod logistic;
mod neighbour_sizes;
mod neighbours;
mod probe;
mod reservoir;
mod row_valuer;
mod second_order;

pub(crate) use density::{ColumnSums, DensityModel, smooth};
pub(crate) use hold::Share;
pub(crate) use learn::learn_logistic;
pub(crate) use linear::LinearModel;
pub(crate) use logistic::{ColumnStats, LogisticModel};
pub(crate) use neighbour_sizes::counted;
pub(crate) use neighbours::{NeighbourModel, Tests};
pub(crate) use reservoir::Reservoir;
pub(crate) use row_valuer::{Drawer, Extras, RowValuer};
pub(crate) use second_order::{SecondOrderEngine, SecondOrderModel};

use crate::Error;
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::Observer;
use crate::request::{Method, Task};
use crate::summary::ExtraPass;
use dshap::density::DensityValuer;
use dshap::linear::GeneralOptions;
use dshap::{Part, Rows, Sizes};
use dshap_io::Source;
use dshap_table::Design;
use std::sync::Arc;

/// A fit of a reference, and what methods need of it.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "a run has one or two of them")]
pub(crate) enum FittedModel {
    Linear(LinearModel),
    Logistic(LogisticModel),
    Density(DensityModel),
    Neighbours(NeighbourModel),
}

impl FittedModel {
    pub(crate) fn task(&self) -> Task {
        match self {
            FittedModel::Linear(_) => Task::Regression,
            FittedModel::Logistic(_) => Task::Classification,
            FittedModel::Density(_) => Task::Density,
            FittedModel::Neighbours(model) => model.task(),
        }
    }

    /// Reference rows.
    pub(crate) fn n_rows(&self) -> usize {
        match self {
            FittedModel::Linear(model) => model.fit.n_rows(),
            FittedModel::Logistic(model) => model.first().n_rows(),
            FittedModel::Density(model) => model.n_reference,
            FittedModel::Neighbours(model) => model.reference.n_rows(),
        }
    }

    pub(crate) fn effective_rows(&self) -> f64 {
        match self {
            FittedModel::Linear(model) => model.fit.effective_rows(),
            FittedModel::Logistic(model) => model.first().effective_rows(),
            FittedModel::Density(model) => model.n_reference as f64,
            FittedModel::Neighbours(model) => model.reference.n_rows() as f64,
        }
    }

    /// `p`, the columns that a method counts.
    pub(crate) fn dim(&self, method: Method) -> usize {
        match self {
            FittedModel::Linear(model) => model.fit.model_dim(),
            FittedModel::Logistic(model) => model.dim(method),
            FittedModel::Density(model) => model.fit.dim(),
            FittedModel::Neighbours(model) => model.columns.mean.len() - model.constant.len(),
        }
    }

    pub(crate) fn intercept(&self) -> bool {
        match self {
            FittedModel::Linear(model) => model.fit.intercept(),
            FittedModel::Logistic(model) => model.first().intercept(),
            FittedModel::Density(_) | FittedModel::Neighbours(_) => false,
        }
    }

    /// The intercept, where there is one fit and it has one.
    pub(crate) fn intercept_value(&self) -> Option<f64> {
        match self {
            FittedModel::Linear(model) => model.fit.intercept_value(),
            FittedModel::Logistic(model) => model.only().and_then(|fit| fit.intercept_value()),
            FittedModel::Density(_) | FittedModel::Neighbours(_) => None,
        }
    }

    /// The coefficient of a design column, where there is one fit and it kept
    /// the column.
    pub(crate) fn coefficient(&self, column: usize) -> Option<f64> {
        let (kept, coef) = match self {
            FittedModel::Linear(model) => (model.fit.kept(), model.fit.coef()),
            FittedModel::Logistic(model) => model.only().map(|fit| (fit.kept(), fit.coef()))?,
            FittedModel::Density(_) | FittedModel::Neighbours(_) => return None,
        };
        kept.binary_search(&column).ok().map(|k| coef[k])
    }

    /// Design columns that were left out, of any fit there is.
    pub(crate) fn dropped(&self) -> Vec<usize> {
        match self {
            FittedModel::Linear(model) => model.fit.dropped().to_vec(),
            FittedModel::Logistic(model) => model.dropped(),
            FittedModel::Density(model) => model.fit.constant_columns().to_vec(),
            FittedModel::Neighbours(model) => model.constant.clone(),
        }
    }

    /// Mean of a design column over the reference.
    pub(crate) fn mean(&self, column: usize) -> f64 {
        match self {
            FittedModel::Linear(model) => model.moments.mean(column),
            FittedModel::Logistic(model) => model.columns.mean[column],
            FittedModel::Density(model) => model.columns.mean[column],
            FittedModel::Neighbours(model) => model.columns.mean[column],
        }
    }

    /// Its standard deviation.
    pub(crate) fn std_dev(&self, column: usize) -> f64 {
        match self {
            FittedModel::Linear(LinearModel { moments, .. }) => {
                (moments.centred(column, column) / moments.weight()).sqrt()
            }
            FittedModel::Logistic(model) => model.columns.std_dev[column],
            FittedModel::Density(model) => model.columns.std_dev[column],
            FittedModel::Neighbours(model) => model.columns.std_dev[column],
        }
    }

    /// The parts that values come with, in order.
    pub(crate) fn parts(&self, method: Method, by_class: bool) -> Vec<Part> {
        if let (Method::SecondOrder(_), FittedModel::Logistic(model)) = (method, self) {
            let expanded = model.second_order.as_ref();
            return expanded.map(|expanded| expanded.parts(model.fits.len(), by_class)).unwrap_or_default();
        }
        let mut parts = Vec::new();
        if method.splits_values() {
            parts.extend([Part::Potential, Part::Penalty]);
        }
        match self {
            FittedModel::Linear(_) => parts.extend([Part::DistSq, Part::ResidSq]),
            FittedModel::Logistic(model) if model.only().is_some() => {
                parts.extend([Part::DistSq, Part::Prob, Part::Weight]);
            }
            // Each class has its own; only what adds up is told unasked.
            FittedModel::Logistic(model) if by_class => {
                parts.extend(
                    (0..model.fits.len()).flat_map(|class| [Part::ValueOf(class), Part::ProbOf(class)]),
                );
            }
            FittedModel::Logistic(_) | FittedModel::Neighbours(_) => {}
            FittedModel::Density(_) => {
                parts.extend(method.density().map(DensityValuer::parts).unwrap_or_default());
            }
        }
        parts
    }

    /// The reference rows, where the model carries them.
    pub(crate) fn rows(&self) -> Option<&Held> {
        match self {
            FittedModel::Linear(model) => model.rows.as_ref(),
            FittedModel::Logistic(model) => model.rows.as_ref(),
            FittedModel::Density(_) | FittedModel::Neighbours(_) => None,
        }
    }

    /// How many rows of the reference it carries, all or a sample.
    pub(crate) fn n_rows_held(&self) -> usize {
        match self {
            FittedModel::Linear(model) => model.rows.as_ref().map_or(0, Held::n_rows),
            FittedModel::Logistic(model) => model.sample.len() + model.rows.as_ref().map_or(0, Held::n_rows),
            FittedModel::Density(model) => model.fit.n_rows(),
            FittedModel::Neighbours(model) => model.reference.n_rows(),
        }
    }

    /// Bytes of the rows it holds in memory while points are valued.
    pub(crate) fn held_bytes(&self) -> u64 {
        match self {
            FittedModel::Density(model) => model.fit.n_bytes() as u64,
            FittedModel::Neighbours(model) => model.held_bytes(),
            FittedModel::Linear(_) | FittedModel::Logistic(_) => 0,
        }
    }

    /// Bytes that references drawn for standard errors take.
    pub(crate) fn drawn_bytes(&self, method: Method) -> u64 {
        match (self, method) {
            (FittedModel::Logistic(model), Method::SecondOrder(_)) => {
                model.second_order.as_ref().map_or(0, |model| model.drawn_bytes())
            }
            _ => 0,
        }
    }

    /// What a method needs of the reference beyond a fit: one more pass.
    pub(crate) fn lacks(&self, method: Method) -> Option<ExtraPass> {
        match (self, method) {
            (FittedModel::Density(_) | FittedModel::Neighbours(_), _) => None,
            (_, Method::Calibrated) => Some(ExtraPass::Calibration),
            (_, Method::General(_)) => Some(ExtraPass::Rows),
            (FittedModel::Logistic(_), method) if method.is_printed_bound() => Some(ExtraPass::Authors),
            (FittedModel::Logistic(_), Method::SecondOrder(_)) => Some(ExtraPass::Expansion),
            _ => None,
        }
    }

    /// Takes that pass.
    pub(crate) fn complete(
        &mut self,
        method: Method,
        sizes: Sizes,
        design: &Design,
        source: &Source,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<(), Error> {
        if let (Method::SecondOrder(choice), FittedModel::Logistic(model)) = (method, &mut *self) {
            let expanded = model.expand(choice, sizes, source, design, budget, observer)?;
            model.second_order = Some(Arc::new(expanded));
            return Ok(());
        }
        match (self.lacks(method), self) {
            (_, FittedModel::Neighbours(model)) => model.complete(design, budget, observer)?,
            (None, _) | (_, FittedModel::Density(_)) => {}
            (Some(ExtraPass::Rows), FittedModel::Linear(model)) => {
                model.rows = Some(Held::read(source, design, budget, observer)?);
            }
            (Some(ExtraPass::Rows), FittedModel::Logistic(model)) => {
                model.rows = Some(Held::read(source, design, budget, observer)?);
            }
            (Some(_), FittedModel::Linear(model)) => model.calibrate(source, design, budget, observer)?,
            (Some(ExtraPass::Authors), FittedModel::Logistic(model)) => {
                model.learn_authors(source, design, budget, observer)?;
            }
            (Some(_), FittedModel::Logistic(model)) => model.calibrate(source, design, budget, observer)?,
        }
        Ok(())
    }

    /// Passes that completing it took, beyond the first.
    pub(crate) fn n_more_passes(&self) -> usize {
        match self {
            FittedModel::Logistic(LogisticModel { second_order: Some(model), .. }) => {
                model.n_passes.saturating_sub(1)
            }
            _ => 0,
        }
    }

    /// What values rows, one by one.
    pub(crate) fn row_valuer(
        &self,
        design: &Design,
        method: Method,
        sizes: Sizes,
        extras: Extras,
    ) -> Result<RowValuer, Error> {
        match self {
            FittedModel::Linear(model) => model.row_valuer(design, method, sizes, extras.std_error),
            FittedModel::Logistic(model) => model.row_valuer(design, method, sizes, extras),
            FittedModel::Density(model) => model.row_valuer(design, method, sizes, extras.std_error),
            FittedModel::Neighbours(_) => {
                let what = "neighbours are found for all rows at once".into();
                Err(Error::Misplaced { what })
            }
        }
    }

    /// What values rows by drawing sets of `reference`.
    pub(crate) fn drawer(
        &self,
        reference: Rows<'_>,
        sizes: Sizes,
        options: GeneralOptions,
        by_class: bool,
    ) -> Result<Drawer, dshap::Error> {
        match self {
            FittedModel::Linear(model) => model.drawer(reference, sizes, options),
            FittedModel::Logistic(model) => model.drawer(reference, sizes, options, by_class),
            FittedModel::Neighbours(_) => {
                Err(dshap::Error::BadOption { what: "neighbours are not valued by drawing sets of rows" })
            }
            FittedModel::Density(_) => {
                Err(dshap::Error::BadOption { what: "a density is not valued by drawing sets of rows" })
            }
        }
    }
}
