//! Classification: a logistic fit, or one for each class against the others.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the model: what it knows, and what values rows by it |
//! | `learn.rs` | the passes of a fit, and those for what methods need beyond it |
//! | `facts.rs` | what is known about labels, and what is doubtful |
//! | `document.rs` | its part of the valuer file |

mod document;
mod facts;
mod learn;

pub use document::LogisticDocument;
pub(crate) use document::{LogisticFitDocument, parse, parse_fit, write_fit};
pub use facts::ClassFacts;
pub use learn::learn;

use crate::Error;
use crate::columns::ColumnStats;
use crate::facts::Facts;
use crate::file::{Arrays, Document};
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::linear::moments_of;
use crate::method::{MakeLogistic, Makes, Method};
use crate::methods::{bounds, general};
use crate::model::{Ask, Model};
use crate::observer::Stage;
use crate::reference::{ExtraPass, Reference};
use crate::row_valuer::{CoreRows, RowValuer};
use crate::sample::LabelSample;
use crate::second_order::{SecondOrder, SecondOrderFacts, SecondOrderModel};
use crate::warning::Warning;
use dshap::classification::{
    AuthorsOneVsRest, AuthorsValuer, ClassificationValuer, GeneralClassificationValuer, GeneralOneVsRest,
    LogisticFit, LogisticOptions, OneVsRest,
};
use dshap::linear::{Bound, Convention, DistanceTable, FitOptions};
use dshap::{Moments, Rows, Sizes, Valuer};
use dshap_catalogue::Task;
use dshap_table::Design;
use std::sync::Arc;

/// Logistic regression: one fit for two classes, else one for each class against
/// all others.
#[derive(Debug, Clone)]
pub struct LogisticModel {
    /// The fits, class by class.
    pub fits: Vec<LogisticFit>,
    /// How they were made.
    pub options: LogisticOptions,
    /// Means and standard deviations of the design columns and, last, of the target.
    pub columns: ColumnStats,
    /// Some reference rows of each class, which standard errors are computed from.
    pub sample: LabelSample,
    /// How far reference rows are from the centre, fit by fit, for calibrated values.
    pub distances: Option<Vec<DistanceTable>>,
    /// Moments of the authors' variables, fit by fit, for bounds of the authors' program.
    pub authors: Option<Vec<Moments>>,
    /// The reference rows, for values by drawing sets.
    pub rows: Option<HeldRows>,
    /// The expansion that second-order values are made of.
    pub second_order: Option<Arc<SecondOrderModel>>,
}

/// Makes the valuer of one fit, by the number of its class.
pub(crate) type MakeEach = fn(
    &LogisticModel,
    (usize, LogisticFit),
    &How,
    Sizes,
) -> Result<Option<ClassificationValuer>, dshap::Error>;

impl LogisticModel {
    /// The first fit, which knows what all have in common.
    pub fn first(&self) -> &LogisticFit {
        self.fits.first().expect("a model has at least one fit")
    }

    /// The fit of two classes.
    pub fn only(&self) -> Option<&LogisticFit> {
        match self.fits.as_slice() {
            [fit] => Some(fit),
            _ => None,
        }
    }

    /// `p` of the largest fit, with the column of the intercept.
    pub(crate) fn largest_dim(&self) -> usize {
        self.fits.iter().map(LogisticFit::dim).max().unwrap_or(0)
    }

    /// A valuer of each fit; with more than two classes they are summed.
    pub(crate) fn of_each_fit(
        &self,
        ask: &Ask<'_>,
        sizes: Sizes,
        make: MakeEach,
    ) -> Result<Box<dyn Valuer>, Error> {
        let core = |error| Error::core(error, ask.design);
        let mut classes = Vec::with_capacity(self.fits.len());
        for (class, fit) in self.fits.iter().enumerate() {
            let valuer = make(self, (class, fit.clone()), ask.how, sizes).map_err(core)?;
            classes.push(valuer.ok_or_else(|| ask.incomplete())?);
        }
        let std_error = ask.extras.std_error && ask.how.method.entry.has_std_errors();
        if self.only().is_some() {
            let valuer = classes.pop().expect("there is a valuer for each fit");
            if !std_error {
                return Ok(Box::new(valuer));
            }
            let valuer = self.with_errors(|rows, counts| valuer.with_std_error_of(rows, Some(counts)));
            return Ok(Box::new(valuer.map_err(core)?));
        }
        let all = OneVsRest::of(classes).map_err(core)?;
        let all = if ask.extras.by_class { all.with_parts_by_class() } else { all };
        if !std_error {
            return Ok(Box::new(all));
        }
        let all = self.with_errors(|rows, counts| all.with_std_error_of(rows, Some(counts)));
        Ok(Box::new(all.map_err(core)?))
    }

    /// A bound of the authors' program, on the authors' variables.
    pub(crate) fn of_authors(
        &self,
        ask: &Ask<'_>,
        sizes: Sizes,
        bound: Bound,
    ) -> Result<Box<dyn Valuer>, Error> {
        let core = |error| Error::core(error, ask.design);
        let authors = self.authors.as_ref().ok_or_else(|| ask.incomplete())?;
        let of_fit =
            |(fit, moments): (&LogisticFit, &Moments)| AuthorsValuer::new(fit.clone(), moments, sizes, bound);
        let mut classes: Vec<AuthorsValuer> =
            self.fits.iter().zip(authors).map(of_fit).collect::<Result<_, _>>().map_err(core)?;
        if self.only().is_some() {
            return Ok(Box::new(classes.pop().expect("there is a valuer for each fit")));
        }
        let all = AuthorsOneVsRest::of(classes).map_err(core)?;
        Ok(Box::new(if ask.extras.by_class { all.with_parts_by_class() } else { all }))
    }

    /// Does something with the sample that standard errors are computed from, and
    /// with how many reference rows each of its rows stands for.
    pub(crate) fn with_errors<T>(
        &self,
        then: impl FnOnce(Rows<'_>, &[f64]) -> Result<T, dshap::Error>,
    ) -> Result<T, dshap::Error> {
        self.sample.with_rows(then).unwrap_or(Err(dshap::Error::NoRows))
    }

    /// What draws sets of reference rows.
    fn drawer(
        &self,
        reference: Rows<'_>,
        ask: &Ask<'_>,
        sizes: Sizes,
    ) -> Result<Box<dyn Valuer>, dshap::Error> {
        let options = general::options(ask.how, Task::Classification);
        let Some(fit) = self.only() else {
            let all = GeneralOneVsRest::new(self.fits.clone(), reference, sizes, options)?;
            return Ok(Box::new(if ask.extras.by_class { all.with_parts_by_class() } else { all }));
        };
        Ok(Box::new(GeneralClassificationValuer::new(fit.clone(), reference, sizes, options)?))
    }

    fn make(method: &Method) -> Result<MakeLogistic, Error> {
        match method.makes {
            Makes::Fit { logistic: Some(make), .. } => Ok(make),
            _ => Err(Error::Incomplete { method: method.name(), needs: None }),
        }
    }
}

impl Model for LogisticModel {
    fn task(&self) -> Task {
        Task::Classification
    }

    fn n_rows(&self) -> usize {
        self.first().n_rows()
    }

    fn effective_rows(&self) -> f64 {
        self.first().effective_rows()
    }

    fn dim(&self, how: &How) -> usize {
        // The authors' variables have no column for the intercept.
        let is_of_authors = bounds::of(how).is_some_and(|bound| bound.convention == Convention::Authors);
        let of = |fit: &LogisticFit| if is_of_authors { fit.kept().len() } else { fit.dim() };
        self.fits.iter().map(of).max().unwrap_or(0)
    }

    fn dropped(&self) -> Vec<usize> {
        let mut dropped: Vec<usize> =
            self.fits.iter().flat_map(|fit| fit.dropped().iter().copied()).collect();
        dropped.sort_unstable();
        dropped.dedup();
        dropped
    }

    fn mean(&self, column: usize) -> f64 {
        self.columns.mean[column]
    }

    fn std_dev(&self, column: usize) -> f64 {
        self.columns.std_dev[column]
    }

    fn intercept(&self) -> bool {
        self.first().intercept()
    }

    fn intercept_value(&self) -> Option<f64> {
        self.only().and_then(LogisticFit::intercept_value)
    }

    fn coefficient(&self, column: usize) -> Option<f64> {
        let fit = self.only()?;
        fit.kept().binary_search(&column).ok().map(|k| fit.coef()[k])
    }

    fn n_rows_held(&self) -> usize {
        self.sample.len() + self.rows.as_ref().map_or(0, HeldRows::n_rows)
    }

    fn drawn_bytes(&self, how: &How) -> u64 {
        let expanded = self.second_order.as_ref().filter(|_| SecondOrder::of(how).is_some());
        expanded.map_or(0, |expanded| expanded.drawn_bytes())
    }

    fn sizes(&self, how: &How, design: &Design) -> Result<Sizes, Error> {
        crate::sizes::of_fit(self, how, design)
    }

    fn default_min(&self, how: &How, max: usize) -> usize {
        match SecondOrder::of(how) {
            Some(choice) => choice.default_min(self, max),
            None => {
                let usual = Sizes::default_min(self.dim(how), max);
                let enough =
                    facts::sure_fit(self, how, Sizes::new(usual, max)).and_then(Warning::enough_rows);
                // A q near m would leave few sizes to sum over.
                enough
                    .filter(|_| !how.is_as_published())
                    .map_or(usual, |enough| enough.min(max / 2).max(usual))
            }
        }
    }

    fn complete(&mut self, how: &How, pass: ExtraPass, reference: &dyn Reference) -> Result<usize, Error> {
        match pass {
            ExtraPass::Rows => self.rows = Some(reference.hold(Stage::Read)?.0),
            ExtraPass::Authors => self.authors = Some(learn::authors_of(&self.fits, reference)?),
            ExtraPass::Expansion => {
                let sizes = self.sizes(how, reference.design())?;
                let (expanded, n_passes) = SecondOrderModel::learn(self, how, sizes, reference)?;
                self.second_order = Some(Arc::new(expanded));
                return Ok(n_passes);
            }
            _ => self.distances = Some(learn::distances_of(&self.fits, reference)?),
        }
        Ok(1)
    }

    fn valuer(&self, ask: &Ask<'_>) -> Result<Option<Box<dyn Valuer>>, Error> {
        let sizes = self.sizes(ask.how, ask.design)?;
        match Self::make(ask.how.method)? {
            MakeLogistic::Draws => Ok(None),
            MakeLogistic::EachFit(make) => self.of_each_fit(ask, sizes, make).map(Some),
            MakeLogistic::Whole(make) => make(self, ask, sizes).map(Some),
        }
    }

    fn row_valuer<'a>(&'a self, ask: Ask<'a>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        if let Some(valuer) = self.valuer(&ask)? {
            return Ok(Box::new(CoreRows::new(valuer, ask.design)));
        }
        let sizes = self.sizes(ask.how, ask.design)?;
        general::rows(ask, sizes, self.rows.as_ref(), move |reference| self.drawer(reference, &ask, sizes))
    }

    fn label_warnings(&self, how: &How, sizes: Sizes, design: &Design) -> Vec<Warning> {
        let mut warnings = facts::rare_labels(self, design);
        match SecondOrder::of(how) {
            Some(choice) => warnings.extend(choice.label_warnings(self, sizes)),
            None => warnings.extend(facts::sure_fit(self, how, sizes)),
        }
        warnings
    }

    fn error_warnings(&self) -> Option<Warning> {
        facts::rough_errors(self)
    }

    fn describe(&self, how: &How, design: &Design, facts: &mut Facts) {
        facts.ridge = Some(self.options.ridge);
        facts.ridge_standardised = self.options.standardised;
        facts.noise_var = Some(1.0);
        facts.classification = Some(ClassFacts::of(self, design));
        let expanded = SecondOrder::of(how).zip(self.second_order.as_ref());
        facts.second_order = expanded.map(|(choice, expanded)| SecondOrderFacts::of(choice, expanded, self));
    }

    fn write(&self, _: &How, document: &mut Document) -> Arrays {
        document::write(self, document)
    }

    fn is_of(&self, table: &dyn Reference) -> Result<bool, Error> {
        let (moments, _) = moments_of(table, FitOptions::default(), None, Stage::Fit)?;
        Ok(moments.is_some_and(|moments| ColumnStats::of(&moments) == self.columns))
    }

    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
