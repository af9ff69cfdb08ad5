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
pub use learn::{FirstLook, SpreadLogistic, add_distances, learn};

use crate::Error;
use crate::columns::ColumnStats;
use crate::explanation::{Deviations, DistanceKind};
use crate::facts::Facts;
use crate::file::{Arrays, Document};
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::kept_tests::KeptTests;
use crate::linear::moments_of;
use crate::method::{MakeLogistic, Makes, Method};
use crate::methods::{bounds, general};
use crate::model::{Ask, Model};
use crate::observer::Stage;
use crate::reference::{ExtraPass, Reference};
use crate::row_valuer::{CoreRows, RowValuer};
use crate::sample::LabelSample;
use crate::second_order::{Probed, SecondOrder, SecondOrderFacts, SecondOrderModel};
use crate::sizes::DefaultQ;
use crate::warning::Warning;
use dshap::classification::{
    AuthorsOneVsRest, AuthorsValuer, ClassificationValuer, GeneralClassificationValuer, GeneralOneVsRest,
    LogisticFit, LogisticOptions, OneVsRest, with_class,
};
use dshap::linear::{Bound, Convention, DistanceTable, FitOptions, TestMoments};
use dshap::{Moments, Place, Rows, Sizes, Valuer};
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
    /// The rows that values are for, if they are not rows like the reference.
    pub tests: Option<KeptTests>,
    /// How the default `q` of refitted models is found.
    pub default_q: DefaultQ,
    /// Which sets of the sample have fits.
    pub probed: Probed,
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

    /// The moments of the rows that values are for, as the fit of a class sees them.
    pub(crate) fn tests(&self, class: usize) -> Option<&TestMoments> {
        self.tests.as_ref().and_then(|tests| tests.of_fits.get(class))
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

    fn default_min(&self, how: &How, _: &Design, max: usize) -> usize {
        match SecondOrder::of(how) {
            Some(choice) => choice.default_min(self, max),
            None => {
                let usual = Sizes::default_min(self.dim(how), max);
                let enough = self.enough_rows(how, Sizes::new(usual, max));
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

    fn keep_tests(&mut self, tests: &dyn Reference) -> Result<(), Error> {
        self.tests = Some(learn::tests_of(&self.fits, tests)?);
        Ok(())
    }

    fn kept_tests(&self) -> Option<&KeptTests> {
        self.tests.as_ref()
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

    fn error_warnings(&self, _: &How) -> Option<Warning> {
        facts::rough_errors(self)
    }

    /// By the fit that tells the row's own label from the others.
    fn deviations(&self, row: Rows<'_>) -> Result<Option<Deviations>, dshap::Error> {
        let of_fit = |fit: &LogisticFit, row: Rows<'_>| {
            let of_columns = fit.deviations(row)?;
            let dist_sq = fit.stats(row)?.first().map_or(0.0, |stats| stats.dist_sq);
            let average = fit.dim() as f64;
            Ok(Some(Deviations { of_columns, dist_sq, average, kind: DistanceKind::Weighted }))
        };
        match self.only() {
            Some(fit) => of_fit(fit, row),
            None => {
                let class = row.y().first().map_or(0, |&class| class as usize);
                let Some(fit) = self.fits.get(class) else { return Ok(None) };
                with_class(row, class, |row| of_fit(fit, row))
            }
        }
    }

    fn value_with_label(&self, ask: &Ask<'_>, row: Rows<'_>, class: usize) -> Result<Option<f64>, Error> {
        let MakeLogistic::EachFit(make) = Self::make(ask.how.method)? else { return Ok(None) };
        let sizes = self.sizes(ask.how, ask.design)?;
        let core = |error| Error::core(error, ask.design);
        let place = Place { first_row: 0, in_reference: ask.in_reference };
        let given = row.y().first().map_or(0, |&class| class as usize);
        let mut total = 0.0;
        for (own, fit) in self.fits.iter().enumerate() {
            let valuer = make(self, (own, fit.clone()), ask.how, sizes).map_err(core)?;
            let valuer = valuer.ok_or_else(|| ask.incomplete())?;
            let value = |row: Rows<'_>, changes: bool| match changes {
                true => valuer.with_other_label(row, ask.in_reference),
                false => valuer.values_at(row, place, &|_, _| true).map(|values| values.value),
            };
            let values = match self.only() {
                Some(_) => value(row, given != class),
                // Only the two labels concerned change.
                None => {
                    with_class(row, own, |row| value(row, given != class && (own == given || own == class)))
                }
            };
            total += values.map_err(core)?.first().copied().unwrap_or(f64::NAN);
        }
        Ok(Some(total).filter(|total| total.is_finite()))
    }

    fn describe(&self, how: &How, design: &Design, facts: &mut Facts) {
        facts.ridge = Some(self.options.ridge);
        facts.ridge_standardised = self.options.standardised;
        facts.noise_var = Some(1.0);
        facts.classification = Some(ClassFacts::of(self, design));
        let expanded = SecondOrder::of(how).zip(self.second_order.as_ref());
        facts.second_order = expanded.map(|(choice, expanded)| SecondOrderFacts::of(choice, expanded, self));
        if let Some((choice, found)) = SecondOrder::of(how).zip(facts.second_order.as_mut()) {
            found.larger_q = facts.q_default && facts.q > choice.usual_min(self, facts.m);
        }
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
