//! What is fitted to a reference.

use crate::Error;
use crate::explanation::Deviations;
use crate::facts::Facts;
use crate::file::{Arrays, Document};
use crate::how::How;
use crate::kept_tests::KeptTests;
use crate::observer::Observer;
use crate::reference::{ExtraPass, Reference};
use crate::row_valuer::{CoreRows, RowValuer};
use crate::warning::Warning;
use dshap::{Rows, Sizes, Valuer};
use dshap_catalogue::Task;
use dshap_table::Design;
use std::any::Any;
use std::fmt::Debug;

/// What values are to come with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extras {
    /// Standard errors, where the method has them.
    pub std_error: bool,
    /// What each of more than two classes contributes.
    pub by_class: bool,
}

/// What a model is asked to value.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// The method and its settings.
    pub how: &'a How,
    /// How columns become numbers.
    pub design: &'a Design,
    /// What values come with.
    pub extras: Extras,
    /// Whether the points are the rows of the reference.
    pub in_reference: bool,
    /// Test rows that are read while points are valued.
    pub tests: Option<&'a dyn Reference>,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl Ask<'_> {
    /// The error of a model that lacks what the method needs of the reference.
    pub fn incomplete(&self) -> Error {
        let task = if self.design.labels().is_some() { Task::Classification } else { Task::Regression };
        let needs = (self.how.method.needs)(&self.how.given, task);
        Error::Incomplete { method: self.how.method.name(), needs }
    }
}

/// A fit of a reference, and what methods need of it. Each family has one: its
/// fit, its facts and its part of the valuer file live in one folder.
pub trait Model: Debug + Send + Sync + Any {
    /// What it predicts.
    fn task(&self) -> Task;

    /// Reference rows.
    fn n_rows(&self) -> usize;

    /// Rows of equal weight that would tell as much.
    fn effective_rows(&self) -> f64 {
        self.n_rows() as f64
    }

    /// `p`, the columns that a method counts.
    fn dim(&self, how: &How) -> usize;

    /// Design columns that were left out of the fit.
    fn dropped(&self) -> Vec<usize>;

    /// Mean of a design column over the reference.
    fn mean(&self, column: usize) -> f64;

    /// Its standard deviation.
    fn std_dev(&self, column: usize) -> f64;

    /// Whether there is an intercept.
    fn intercept(&self) -> bool {
        false
    }

    /// The intercept, where there is one fit and it has one.
    fn intercept_value(&self) -> Option<f64> {
        None
    }

    /// The coefficient of a design column, where there is one fit and it kept the
    /// column.
    fn coefficient(&self, _column: usize) -> Option<f64> {
        None
    }

    /// How many rows of the reference it carries.
    fn n_rows_held(&self) -> usize {
        0
    }

    /// Bytes of the rows it holds in memory while points are valued.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Bytes that references drawn for standard errors take.
    fn drawn_bytes(&self, _how: &How) -> u64 {
        0
    }

    /// The set sizes, with defaults filled in.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] where there are too few rows.
    fn sizes(&self, how: &How, design: &Design) -> Result<Sizes, Error>;

    /// The default `q`, for `p` columns and sets of up to `max` rows.
    fn default_min(&self, how: &How, _design: &Design, max: usize) -> usize {
        Sizes::default_min(self.dim(how), max)
    }

    /// Reads what the method needs of the reference beyond a fit. Returns the
    /// passes it took.
    ///
    /// # Errors
    ///
    /// [`Error`].
    fn complete(&mut self, _how: &How, _pass: ExtraPass, _reference: &dyn Reference) -> Result<usize, Error> {
        Ok(0)
    }

    /// Reads test rows that are still to be read, and keeps them.
    ///
    /// # Errors
    ///
    /// [`Error`].
    fn keep_tests(&mut self, _tests: &dyn Reference) -> Result<(), Error> {
        Ok(())
    }

    /// The test rows whose moments it keeps, if values are for them.
    fn kept_tests(&self) -> Option<&KeptTests> {
        None
    }

    /// The valuer of core that values single rows, where the method has one.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes.
    fn valuer(&self, ask: &Ask<'_>) -> Result<Option<Box<dyn Valuer>>, Error>;

    /// What values the points of a run.
    ///
    /// # Errors
    ///
    /// As [`valuer`](Self::valuer).
    fn row_valuer<'a>(&'a self, ask: Ask<'a>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        match self.valuer(&ask)? {
            Some(valuer) => Ok(Box::new(CoreRows::new(valuer, ask.design))),
            None => Err(ask.incomplete()),
        }
    }

    /// Whether rows can be valued, and what is doubtful about the fit before any
    /// row is valued.
    ///
    /// # Errors
    ///
    /// Why rows cannot be valued.
    fn warnings(&self, ask: &Ask<'_>) -> Result<Vec<Warning>, Error> {
        let valuer = self.row_valuer(*ask)?;
        Ok(valuer.warnings())
    }

    /// What is doubtful about labels, levels and set sizes, given the sizes used.
    fn label_warnings(&self, _how: &How, _sizes: Sizes, _design: &Design) -> Vec<Warning> {
        Vec::new()
    }

    /// What is doubtful about standard errors.
    fn error_warnings(&self, _how: &How) -> Option<Warning> {
        None
    }

    /// What makes a row unusual: its squared distance, column by column, where the family has
    /// one.
    ///
    /// # Errors
    ///
    /// Those of the arithmetic.
    fn deviations(&self, _row: Rows<'_>) -> Result<Option<Deviations>, dshap::Error> {
        Ok(None)
    }

    /// The value that a row would have with another label, where the method tells it without
    /// another fit. A row of the reference is left out as it is.
    ///
    /// # Errors
    ///
    /// As [`valuer`](Self::valuer).
    fn value_with_label(&self, _ask: &Ask<'_>, _row: Rows<'_>, _class: usize) -> Result<Option<f64>, Error> {
        Ok(None)
    }

    /// Adds what only this family knows.
    fn describe(&self, how: &How, design: &Design, facts: &mut Facts);

    /// Writes its part of the valuer file.
    fn write(&self, how: &How, document: &mut Document) -> Arrays;

    /// Whether a table holds the rows it was fitted to, to the last bit that is kept
    /// of them.
    ///
    /// # Errors
    ///
    /// [`Error`].
    fn is_of(&self, table: &dyn Reference) -> Result<bool, Error>;

    /// The same model, to be changed.
    fn boxed(&self) -> Box<dyn Model>;
}

impl dyn Model {
    /// The model as one of a family, if it is.
    pub fn of<T: Model>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// What was learned from a reference.
pub struct Learned {
    /// The model.
    pub model: Box<dyn Model>,
    /// What became of the rows.
    pub rows: crate::RowCounts,
    /// Passes over the reference that it took, beyond one for the design.
    pub n_passes: usize,
    /// Why more than once.
    pub extra_passes: Vec<ExtraPass>,
    /// Some of the rows, to look at their distribution.
    pub sample: Option<crate::RowSample>,
}
