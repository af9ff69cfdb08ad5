//! Density: a reference, or a sample of it, that is smoothed.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the model: how it is learned, what it knows |
//! | `options.rs` | the options of a density estimate |
//! | `rows.rs` | what values rows, those of a sampled reference included |
//! | `merge.rs` | one density made of several |
//! | `facts.rs`, `document.rs` | what is known about it; its part of the valuer file |

mod document;
mod facts;
mod merge;
mod options;
mod rows;

pub(crate) use document::{DensityDocument, parse};
pub use facts::DensityFacts;
pub use merge::{MergedDensity, merge};
pub use options::{DEFAULT_SAMPLES, PAPER_SAMPLES, options};
pub use rows::DensityRows;

use crate::Error;
use crate::columns::{ColumnStats, ColumnSums};
use crate::facts::Facts;
use crate::file::{Arrays, Document};
use crate::how::How;
use crate::method::{Makes, Method};
use crate::model::{Ask, Learned, Model};
use crate::observer::{Observer, Stage};
use crate::reference::{Pass, Reference, RowCounts};
use crate::reservoir::Reservoir;
use crate::row_valuer::{CoreRows, RowValuer};
use crate::warning::Warning;
use dshap::density::{DensityBuilder, DensityFit, DensityMethod, DensityOptions, DensityValuer};
use dshap::{Sizes, Valuer};
use dshap_catalogue::options::{SAMPLES, SEED};
use dshap_catalogue::{Given, Task};
use dshap_table::Design;
use faer::MatRef;
use rows::DensityRun;
use std::sync::Arc;

/// Progress of cross-validation is reported in this many parts.
const WATCHED: u64 = 1000;

/// Values that differ by less than this share of themselves have few digits left.
const FEW_DIGITS: f64 = 1e-9;

/// A smoothed reference.
#[derive(Debug, Clone)]
pub struct DensityModel {
    /// The fit, of all reference rows or of a sample.
    pub fit: Arc<DensityFit>,
    /// The options of the fit, as given.
    pub given: Given,
    /// Means and spreads over all rows of the reference, column by column.
    pub columns: ColumnStats,
    /// Rows of the reference, of which the fit may hold a sample.
    pub n_reference: usize,
    /// The numbers of the rows in that sample, where they are known.
    pub sampled: Option<Arc<[u64]>>,
}

impl DensityModel {
    /// Whether the fit holds only some of the reference rows.
    pub fn is_sample(&self) -> bool {
        self.fit.n_rows() < self.n_reference
    }

    /// The seed of the sample.
    fn seed(&self) -> u64 {
        self.given.count(&SEED).unwrap_or(0)
    }

    /// What is doubtful beyond the warnings of core.
    fn own_warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.is_sample() && !self.given.has(&SAMPLES) {
            let (n_reference, n_used) = (self.n_reference, self.fit.n_rows());
            warnings.push(Warning::ReferenceSample { n_reference, n_used, seed: self.seed() });
        }
        if self.fit.log_unit() != 0.0 {
            warnings.push(Warning::LogUnit { power: self.fit.log_unit() });
        }
        warnings
    }
}

impl Model for DensityModel {
    fn task(&self) -> Task {
        Task::Density
    }

    fn n_rows(&self) -> usize {
        self.n_reference
    }

    fn dim(&self, _: &How) -> usize {
        self.fit.dim()
    }

    fn dropped(&self) -> Vec<usize> {
        self.fit.constant_columns().to_vec()
    }

    fn mean(&self, column: usize) -> f64 {
        self.columns.mean[column]
    }

    fn std_dev(&self, column: usize) -> f64 {
        self.columns.std_dev[column]
    }

    fn n_rows_held(&self) -> usize {
        self.fit.n_rows()
    }

    fn held_bytes(&self) -> u64 {
        self.fit.n_bytes() as u64
    }

    /// An estimate can be made of any set, so sets of every size count.
    fn sizes(&self, how: &How, _: &Design) -> Result<Sizes, Error> {
        Ok(Sizes::new(1, how.sizes().max.unwrap_or(self.n_reference)).with_semivalue(how.semivalue()))
    }

    fn default_min(&self, _: &How, _: &Design, _: usize) -> usize {
        1
    }

    fn valuer(&self, ask: &Ask<'_>) -> Result<Option<Box<dyn Valuer>>, Error> {
        let method = density_method(ask.how).ok_or_else(|| ask.incomplete())?;
        let sizes = self.sizes(ask.how, ask.design)?;
        let valuer = DensityValuer::new(self.fit.clone(), sizes.max(), method)
            .and_then(|valuer| valuer.with_semivalue(sizes.semivalue()));
        let valuer = valuer.map_err(|error| Error::core(error, ask.design))?;
        let valuer = valuer.with_std_error(ask.extras.std_error);
        Ok(Some(Box::new(DensityRows::new(valuer, sizes, self))))
    }

    fn row_valuer<'a>(&'a self, ask: Ask<'a>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        let valuer = self.valuer(&ask)?.ok_or_else(|| ask.incomplete())?;
        Ok(Box::new(DensityRun { rows: CoreRows::new(valuer, ask.design), model: self }))
    }

    fn describe(&self, how: &How, _: &Design, facts: &mut Facts) {
        facts.density = Some(DensityFacts::of(self));
        // A closed form draws nothing; the seed of a sample stands beside the sample.
        let draws = matches!(density_method(how), Some(DensityMethod::Algorithm5(_)));
        facts.seed = draws.then(|| how.seed());
    }

    fn write(&self, _: &How, document: &mut Document) -> Arrays {
        let (stored, arrays) = document::write(self);
        document.density = Some(stored);
        arrays
    }

    fn is_of(&self, table: &dyn Reference) -> Result<bool, Error> {
        let mut columns = ColumnSums::new(table.design().n_columns());
        let counts = table.each(Pass::new(Stage::Fit), &mut |rows, _| {
            columns.add(rows);
            Ok(())
        })?;
        let n_rows = usize::try_from(counts.n_usable).ok();
        Ok(n_rows == Some(self.n_reference) && columns.finish() == self.columns)
    }

    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

/// Reads a reference and smooths it.
///
/// # Errors
///
/// [`Error`].
pub fn learn(how: &How, reference: &dyn Reference) -> Result<Learned, Error> {
    let (design, given) = (reference.design(), options::of_fit(&how.given));
    let n_columns = design.n_columns();
    let most = options::most_rows(how);
    // Rows are there twice while they are packed. A small file has few, however it is written.
    let held = (16 * n_columns as u64).saturating_mul(most as u64);
    let reserved = held.min(reference.n_bytes().saturating_mul(64));
    let mut reservoir = Reservoir::new(n_columns, most, given.count(&SEED).unwrap_or(0));
    let mut columns = ColumnSums::new(n_columns);
    let rows = reference.each(Pass { reserved, ..Pass::new(Stage::Fit) }, &mut |rows, _| {
        columns.add(rows);
        reservoir.look_at(rows);
        Ok(())
    })?;
    let n_seen = reservoir.n_seen();
    learned_of(how, design, columns, n_seen, rows, reference.observer(), |each| reservoir.drain(each))
}

/// Smooths the rows of a sample of `n_seen` rows, which `drain` hands over in their order;
/// it returns their numbers if they are not all.
///
/// # Errors
///
/// [`Error`].
pub fn learned_of(
    how: &How,
    design: &Design,
    columns: ColumnSums,
    n_seen: u64,
    rows: RowCounts,
    observer: &dyn Observer,
    drain: impl FnOnce(EachSampled<'_>) -> Result<Option<Vec<u64>>, dshap::Error>,
) -> Result<Learned, Error> {
    if n_seen == 0 {
        return Err(Error::NothingLeft);
    }
    let given = options::of_fit(&how.given);
    let n_reference = n_seen as usize;
    let core = |error| Error::core(error, design);
    let mut builder = DensityBuilder::new(design.n_columns());
    let sampled = drain(&mut |rows| builder.push(rows)).map_err(core)?;
    let columns = columns.finish();
    if sampled.is_some() {
        // All rows say how a column is spread, even where the sample has one value of it.
        builder = builder.scaled_by(&columns.mean, &columns.std_dev).map_err(core)?;
    }
    let fit = smooth(builder, options(&given), observer).map_err(core)?;
    let sampled = sampled.map(Arc::from);
    let model = Box::new(DensityModel { fit: Arc::new(fit), given, columns, n_reference, sampled });
    Ok(Learned { model, rows, n_passes: 1, extra_passes: Vec::new(), sample: None })
}

/// What is done with the rows of a sample, some at a time.
pub type EachSampled<'a> = &'a mut dyn FnMut(MatRef<'_, f64>) -> Result<(), dshap::Error>;

/// Rows of the sample, and the seed it is drawn by.
pub fn sample_of(how: &How) -> (usize, u64) {
    (options::most_rows(how), options::of_fit(&how.given).count(&SEED).unwrap_or(0))
}

/// Smooths rows, watched while bandwidths are tried.
fn smooth(
    builder: DensityBuilder,
    options: DensityOptions,
    observer: &dyn Observer,
) -> Result<DensityFit, dshap::Error> {
    let n_rows = builder.n_rows() as u64;
    observer.begin(Stage::Bandwidth, WATCHED);
    let watch = |done: usize, total: usize| {
        observer.advance(WATCHED * done as u64 / total.max(1) as u64, n_rows);
        !observer.is_interrupted()
    };
    let fit = builder.finish_while(options, &watch);
    observer.end();
    fit
}

/// How core values densities, if the method does.
fn density_method(how: &How) -> Option<DensityMethod> {
    match how.method.makes {
        Makes::Density(make) => Some(make(how)),
        _ => None,
    }
}

/// Values that a shared constant leaves few digits, if there is a part without it. Given are the lowest
/// and the highest of them and how many there are.
pub fn swallowed_digits(
    method: &Method,
    lowest: Option<f64>,
    highest: Option<f64>,
    n_valued: u64,
) -> Option<Warning> {
    let (lowest, highest) = lowest.zip(highest).filter(|_| method.entry.parts.have("relative"))?;
    let is_told_apart = highest - lowest > FEW_DIGITS * lowest.abs().max(highest.abs());
    (n_valued > 1 && !is_told_apart).then_some(Warning::SwallowedDigits)
}
