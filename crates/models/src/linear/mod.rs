//! Regression: moments and least squares.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the model: what it knows, and what values rows by it |
//! | `learn.rs` | one pass for moments, one more for hard columns |
//! | `dummies.rs` | columns of zeros and ones that few rows tell apart |
//! | `noise.rs` | how residuals vary, for standard errors |
//! | `document.rs` | its part of the valuer file |

mod document;
mod dummies;
mod learn;
mod noise;

pub(crate) use document::{FitDocument, parse};
pub use document::{FormWord, MomentsDocument, read_moments, write_moments};
pub use learn::{Keeper, Progress, learn, learned_of, moments_of, sampled_moments_of};
pub use noise::KnownNoise;
pub(crate) use noise::NoiseDocument;

use crate::Error;
use crate::explanation::{Deviations, DistanceKind};
use crate::facts::Facts;
use crate::file::{Arrays, Document};
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::kept_tests::KeptTests;
use crate::method::{MakeLinear, Makes, Method};
use crate::methods::general;
use crate::model::{Ask, Model};
use crate::observer::Stage;
use crate::reference::{ExtraPass, Pass, Reference};
use crate::row_valuer::{CoreRows, RowValuer};
use crate::sizes::DefaultQ;
use crate::warning::Warning;
use dshap::linear::{
    DistanceTable, FitOptions, GeneralValuer, Intercept, LinearFit, LinearValuer, NoiseShape, TestMoments,
};
use dshap::{Moments, Rows, Sizes, Valuer};
use dshap_catalogue::Task;
use dshap_table::Design;

/// Least squares, and the moments that it can be made of again.
#[derive(Debug, Clone)]
pub struct LinearModel {
    /// The moments of the reference.
    pub moments: Moments,
    /// The fit.
    pub fit: LinearFit,
    /// How it was fitted.
    pub options: FitOptions,
    /// How residuals vary, for standard errors.
    pub noise: KnownNoise,
    /// How far reference rows are from their mean, for calibrated values.
    pub distances: Option<DistanceTable>,
    /// The reference rows, for values by drawing sets.
    pub rows: Option<HeldRows>,
    /// The rows that values are for, if they are not rows like the reference.
    pub tests: Option<KeptTests>,
    /// How the default `q` is found.
    pub default_q: DefaultQ,
}

impl LinearModel {
    /// A fit of moments.
    pub fn new(moments: Moments, fit: LinearFit, options: FitOptions, noise: KnownNoise) -> Self {
        let default_q = DefaultQ::Enough;
        Self { moments, fit, options, noise, distances: None, rows: None, tests: None, default_q }
    }

    /// How residuals vary, if that is wanted and known.
    pub(crate) fn noise(&self, is_wanted: bool) -> Option<NoiseShape> {
        is_wanted.then(|| self.noise.shape(&self.fit).cloned()).flatten()
    }

    /// The same with values for given rows.
    pub fn with_tests(self, tests: Option<KeptTests>) -> Self {
        Self { tests, ..self }
    }

    /// The moments of the rows that values are for, if they were given.
    pub(crate) fn tests(&self) -> Option<&TestMoments> {
        self.tests.as_ref().and_then(|tests| tests.of_fits.first())
    }

    /// The reference rows that sets are drawn from.
    fn drawer<'a>(
        &'a self,
        reference: Rows<'a>,
        how: &How,
        sizes: Sizes,
    ) -> Result<GeneralValuer, dshap::Error> {
        GeneralValuer::new(self.fit.clone(), reference, sizes, general::options(how, Task::Regression))
    }

    fn make(method: &Method) -> Result<MakeLinear, Error> {
        match method.makes {
            Makes::Fit { linear: Some(make), .. } => Ok(make),
            _ => Err(Error::Incomplete { method: method.name(), needs: None }),
        }
    }
}

impl Model for LinearModel {
    fn task(&self) -> Task {
        Task::Regression
    }

    fn n_rows(&self) -> usize {
        self.fit.n_rows()
    }

    fn effective_rows(&self) -> f64 {
        self.fit.effective_rows()
    }

    fn dim(&self, _: &How) -> usize {
        self.fit.model_dim()
    }

    fn dropped(&self) -> Vec<usize> {
        self.fit.dropped().to_vec()
    }

    fn mean(&self, column: usize) -> f64 {
        self.moments.mean(column)
    }

    fn std_dev(&self, column: usize) -> f64 {
        (self.moments.centred(column, column) / self.moments.weight()).sqrt()
    }

    fn intercept(&self) -> bool {
        self.fit.intercept()
    }

    fn intercept_value(&self) -> Option<f64> {
        self.fit.intercept_value()
    }

    fn coefficient(&self, column: usize) -> Option<f64> {
        self.fit.kept().binary_search(&column).ok().map(|k| self.fit.coef()[k])
    }

    fn n_rows_held(&self) -> usize {
        self.rows.as_ref().map_or(0, HeldRows::n_rows)
    }

    fn sizes(&self, how: &How, design: &Design) -> Result<Sizes, Error> {
        crate::sizes::of_fit(self, how, design)
    }

    fn default_min(&self, how: &How, design: &Design, max: usize) -> usize {
        let usual = Sizes::default_min(self.dim(how), max);
        match how.is_as_published() || self.default_q.is_first() {
            true => usual,
            false => dummies::default_min(self, design, usual, max),
        }
    }

    fn label_warnings(&self, how: &How, sizes: Sizes, design: &Design) -> Vec<Warning> {
        dummies::rare(self, how, sizes, design).into_iter().collect()
    }

    fn complete(&mut self, _: &How, pass: ExtraPass, reference: &dyn Reference) -> Result<usize, Error> {
        match pass {
            ExtraPass::Rows => self.rows = Some(reference.hold(Stage::Read)?.0),
            _ => self.distances = Some(distances_of(&self.fit, reference)?),
        }
        Ok(1)
    }

    fn keep_tests(&mut self, tests: &dyn Reference) -> Result<(), Error> {
        let (moments, n_left_out) = match moments_of(tests, self.options, None, Stage::Fit) {
            // It is not the reference whose rows are all missing something.
            Err(Error::NothingLeft) => (None, 0),
            read => read.map(|(moments, rows)| (moments, rows.n_left_out()))?,
        };
        self.tests = Some(KeptTests::new(tests, moments.map(|moments| vec![moments]), n_left_out)?);
        Ok(())
    }

    fn kept_tests(&self) -> Option<&KeptTests> {
        self.tests.as_ref()
    }

    fn valuer(&self, ask: &Ask<'_>) -> Result<Option<Box<dyn Valuer>>, Error> {
        let sizes = self.sizes(ask.how, ask.design)?;
        match Self::make(ask.how.method)? {
            MakeLinear::Draws => Ok(None),
            MakeLinear::Rows(make) => {
                let valuer = make(self, ask.how, sizes, ask.extras.std_error);
                let valuer = valuer.map_err(|error| Error::core(error, ask.design))?;
                valuer.map(Some).ok_or(ask.incomplete())
            }
        }
    }

    fn row_valuer<'a>(&'a self, ask: Ask<'a>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        if let Some(valuer) = self.valuer(&ask)? {
            return Ok(Box::new(CoreRows::new(valuer, ask.design)));
        }
        let sizes = self.sizes(ask.how, ask.design)?;
        general::rows(ask, sizes, self.rows.as_ref(), move |reference| {
            Ok(Box::new(self.drawer(reference, ask.how, sizes)?) as Box<dyn Valuer>)
        })
    }

    fn error_warnings(&self, how: &How) -> Option<Warning> {
        let is_sampled = matches!(Self::make(how.method), Ok(MakeLinear::Rows(_)));
        (is_sampled && self.noise.shape(&self.fit).is_none()).then_some(Warning::AssumedNoise)
    }

    fn deviations(&self, row: Rows<'_>) -> Result<Option<Deviations>, dshap::Error> {
        let of_columns = self.fit.deviations(row)?;
        let dist_sq = of_columns.iter().map(|(deviation, pull)| deviation * pull).sum();
        let average = self.fit.dim() as f64;
        Ok(Some(Deviations { of_columns, dist_sq, average, kind: DistanceKind::Mahalanobis }))
    }

    fn describe(&self, how: &How, _: &Design, facts: &mut Facts) {
        facts.refit_intercept = self.fit.intercept_kind() == Intercept::Refitted;
        facts.noise_var = Some(self.fit.noise_var());
        facts.r_squared = Some(self.fit.r_squared());
        facts.target_var = Some(self.fit.target_var());
        facts.condition = Some(self.fit.condition());
        facts.value_digits = Some(self.fit.digits());
        let takes_ridge = how.method.entry.takes(&dshap_catalogue::options::RIDGE, Some(Task::Regression));
        facts.ridge = takes_ridge.map(|_| how.given.number(&dshap_catalogue::options::RIDGE).unwrap_or(0.0));
    }

    fn write(&self, _: &How, document: &mut Document) -> Arrays {
        document::write(self, document)
    }

    fn is_of(&self, table: &dyn Reference) -> Result<bool, Error> {
        let (moments, _) = moments_of(table, self.options, Some(self.moments.form()), Stage::Fit)?;
        Ok(moments.is_some_and(|moments| moments == self.moments))
    }

    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}

/// How far the reference rows are from their mean.
fn distances_of(fit: &LinearFit, reference: &dyn Reference) -> Result<DistanceTable, Error> {
    let mut table = DistanceTable::new();
    let in_place = reference.each_in_place(Stage::Calibrate, &mut |rows| {
        table.add(&LinearValuer::distances(fit, rows)?, rows.weights());
        Ok(())
    })?;
    if !in_place {
        table = DistanceTable::new();
        reference.each(Pass::new(Stage::Calibrate), &mut |rows, _| {
            table.add(&LinearValuer::distances(fit, rows)?, rows.weights());
            Ok(())
        })?;
    }
    Ok(table)
}
