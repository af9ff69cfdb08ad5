//! A valuer that lasts: fitted once, used any time later.
//!
//! | file | holds |
//! |---|---|
//! | `document.rs` | the valuer file: what stands in it, and reading it back |
//! | `history.rs` | where the reference rows came from |

mod document;
mod history;

pub use document::FORMAT_VERSION;
pub(crate) use document::FormWord;
pub use history::{Action, Step};
pub(crate) use history::{files_in, forgotten_again, repeated};

use crate::Error;
use crate::choice::{MethodChoice, MethodName};
use crate::density_choice::{DensityChoice, NO_MIN_SIZE};
use crate::fitted::{Drawer, Extras, FittedModel, LinearModel, RowValuer};
use crate::memory::Budget;
use crate::neighbour_choice::NeighbourChoice;
use crate::observer::Observer;
use crate::reference::Learned;
use crate::request::{Method, Model, SizeChoice, Task};
use crate::summary::{ExtraPass, InputFile};
use dshap::classification::LogisticFit;
use dshap::density::DensityFit;
use dshap::linear::{FitOptions, GeneralOptions, LinearFit};
use dshap::second_order::SoftmaxFit;
use dshap::{Moments, Sizes};
use dshap_io::{AtomicFile, Container, Note, Source};
use dshap_table::Design;
use std::path::Path;

/// A fitted reference and all that is known about it.
#[derive(Debug, Clone)]
pub struct SavedValuer {
    pub(crate) design: Design,
    pub(crate) model: FittedModel,
    pub(crate) task_guessed: bool,
    pub(crate) method: Method,
    /// What was asked for; the rest is chosen by default each time.
    pub(crate) choice: SizeChoice,
    /// Columns that were said to be categories whatever they hold.
    pub(crate) categorical: Vec<String>,
    /// Whether columns have names of their own or are numbered; files that are
    /// older than the question do not say.
    pub(crate) has_names: Option<bool>,
    pub(crate) history: Vec<Step>,
    /// The dshap that wrote the file; this one if it was made just now.
    pub(crate) written_by: String,
    /// Version of the format it was read from.
    pub(crate) format_version: u32,
}

impl SavedValuer {
    /// A valuer of what was learned of a source, by a model; `files` are the
    /// reference.
    pub(crate) fn new(
        learned: Learned,
        model: &Model,
        source: &Source,
        files: Vec<InputFile>,
    ) -> Result<Self, Error> {
        let Learned { design, model: fitted, method, rows, task_guessed, .. } = learned;
        let step = Step::new(Action::Fit, files, rows, fitted.n_rows());
        let is_numbered = |note: &Note| matches!(note, Note::NumberedColumns { .. });
        let format_version = document::version_for(fitted.task(), method);
        let valuer = Self {
            design,
            model: fitted,
            task_guessed,
            method,
            choice: model.sizes,
            categorical: model.selection.categorical.clone(),
            has_names: Some(!source.notes().iter().any(is_numbered)),
            history: vec![step],
            written_by: env!("CARGO_PKG_VERSION").into(),
            format_version,
        };
        // What cannot value anything is not worth saving. With neighbours that depends on
        // what is valued: a row of the reference leaves one less.
        valuer.sizes(valuer.method, valuer.choice)?;
        if valuer.model.neighbours().is_none() && valuer.lacks().is_none() {
            valuer.row_valuer(valuer.method, valuer.choice, Extras::default())?;
        }
        Ok(valuer)
    }

    /// What its method needs of the reference rows beyond a fit.
    pub(crate) fn lacks(&self) -> Option<ExtraPass> {
        self.model.lacks(self.method)
    }

    /// With what its method needs of the reference rows beyond a fit.
    pub(crate) fn completed(
        mut self,
        source: &Source,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let sizes = self.sizes(self.method, self.choice)?;
        self.model.complete(self.method, sizes, &self.design, source, budget, observer)?;
        if let Method::SecondOrder(_) = self.method {
            self.row_valuer(self.method, self.choice, Extras::default())?;
        }
        if let Method::General(options) = self.method {
            self.drawer(options, self.choice)?;
        }
        Ok(self)
    }

    /// The same valuer for a changed reference.
    pub(crate) fn refitted(mut self, design: Design, moments: Moments) -> Result<Self, Error> {
        let options = self.linear_model()?.options;
        let fit = LinearFit::new(&moments, options).map_err(|e| Error::core(e, &design))?;
        (self.design, self.model) = (design, FittedModel::Linear(LinearModel::new(moments, fit, options)));
        self.written_by = env!("CARGO_PKG_VERSION").into();
        self.row_valuer(self.method, self.choice, Extras::default())?;
        Ok(self)
    }

    /// What it is for.
    pub fn task(&self) -> Task {
        self.model.task()
    }

    /// How columns become numbers.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The least-squares fit of a regression.
    pub fn fit(&self) -> Option<&LinearFit> {
        match &self.model {
            FittedModel::Linear(model) => Some(&model.fit),
            FittedModel::Logistic(_) | FittedModel::Density(_) | FittedModel::Neighbours(_) => None,
        }
    }

    /// The logistic fits of a classification: one for two classes, else one for
    /// each.
    pub fn logistic_fits(&self) -> &[LogisticFit] {
        match &self.model {
            FittedModel::Linear(_) | FittedModel::Density(_) | FittedModel::Neighbours(_) => &[],
            FittedModel::Logistic(model) => &model.fits,
        }
    }

    /// The one model of all labels that second-order values are made of, if it is
    /// such.
    pub fn softmax_fit(&self) -> Option<&SoftmaxFit> {
        match &self.model {
            FittedModel::Logistic(model) => model.second_order.as_ref()?.softmax_fit(),
            _ => None,
        }
    }

    /// The moments of the reference of a regression.
    pub fn moments(&self) -> Option<&Moments> {
        match &self.model {
            FittedModel::Linear(model) => Some(&model.moments),
            FittedModel::Logistic(_) | FittedModel::Density(_) | FittedModel::Neighbours(_) => None,
        }
    }

    /// The smoothed reference of a density.
    pub fn density_fit(&self) -> Option<&DensityFit> {
        match &self.model {
            FittedModel::Density(model) => Some(&model.fit),
            FittedModel::Linear(_) | FittedModel::Logistic(_) | FittedModel::Neighbours(_) => None,
        }
    }

    /// What was said about nearest neighbours, if they value rows.
    pub fn neighbour_choice(&self) -> Option<&NeighbourChoice> {
        self.model.neighbours().map(|model| &model.choice)
    }

    /// What was said about a density.
    pub fn density_choice(&self) -> Option<DensityChoice> {
        match &self.model {
            FittedModel::Density(model) => Some(model.choice),
            FittedModel::Linear(_) | FittedModel::Logistic(_) | FittedModel::Neighbours(_) => None,
        }
    }

    /// The model of a valuer whose reference can change: a sum over rows.
    pub(crate) fn linear_model(&self) -> Result<&LinearModel, Error> {
        match &self.model {
            FittedModel::Linear(model) => Ok(model),
            FittedModel::Logistic(_) => Err(Error::NoSum),
            FittedModel::Density(_) => Err(Error::NoUpdate),
            FittedModel::Neighbours(_) => Err(Error::NoNeighbourUpdate),
        }
    }

    /// Where the reference rows came from.
    pub fn history(&self) -> &[Step] {
        &self.history
    }

    /// Its method, with what is said differently.
    pub(crate) fn method_over(&self, said: MethodChoice) -> Result<Method, Error> {
        let misplaced = |what: &str| Err(Error::Misplaced { what: what.into() });
        let by_neighbours = said.name.map(|name| MethodName::OF_NEIGHBOURS.contains(&name));
        match (&self.model, by_neighbours) {
            (FittedModel::Neighbours(_), _) if said.samples.is_some() => {
                return misplaced("`--samples` belongs to the fit: the valuer has its test rows");
            }
            (FittedModel::Neighbours(_), Some(false)) => {
                return misplaced(
                    "the valuer holds rows to find neighbours among, which `knn` values rows by",
                );
            }
            (FittedModel::Neighbours(_), _) => {
                return said.over(self.method).map_err(|what| Error::Misplaced { what });
            }
            (_, Some(true)) => {
                return misplaced(
                    "the valuer holds no rows to find neighbours among; fit it with `--method knn`",
                );
            }
            _ => {}
        }
        let values_densities = said.name.map(|name| MethodName::OF_DENSITIES.contains(&name));
        match (self.task(), values_densities) {
            (Task::Density, _) if said.samples.is_some() => {
                return misplaced("`--samples` belongs to the fit of a density, which the valuer has");
            }
            (Task::Density, Some(false)) => {
                return misplaced("the valuer is of a density, which is valued by `closed` or `monte-carlo`");
            }
            (Task::Regression | Task::Classification, Some(true)) => {
                return misplaced("the valuer is not of a density, which `closed` and `monte-carlo` are for");
            }
            _ => {}
        }
        if let Some(flag) = said.second_order.first_said() {
            return misplaced(&format!("`{flag}` belongs to the fit, which the valuer has; leave it out"));
        }
        if said.name == Some(MethodName::SecondOrder) && self.task() == Task::Regression {
            return misplaced(
                "`--method second-order` is for classification, and the valuer is of a regression",
            );
        }
        if self.task() == Task::Classification {
            if said.ridge.is_some() {
                return misplaced(
                    "in classification `--ridge` belongs to the fit, which the valuer has; leave it out",
                );
            }
            if said.name == Some(MethodName::Algorithm3) {
                return misplaced("`--method algorithm-3` is for regression only");
            }
        }
        said.over(self.method).map_err(|what| Error::Misplaced { what })
    }

    /// The set sizes for a choice, defaults filled in.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] when there are too few rows for the default `m`, or for
    /// a bound to say anything.
    pub(crate) fn sizes(&self, method: Method, choice: SizeChoice) -> Result<Sizes, Error> {
        if let Some(model) = self.model.neighbours() {
            return model.sizes(method, choice);
        }
        let (n, p) = (self.model.n_rows(), self.model.dim(method));
        if self.task() == Task::Density {
            return match choice.min {
                None => Ok(Sizes::new(1, choice.max.unwrap_or(n))),
                Some(_) => Err(Error::Misplaced { what: NO_MIN_SIZE.into() }),
            };
        }
        if choice.max.is_none() && n < p + 3 {
            let error = dshap::Error::TooFewRows { n_rows: n, dim: p, needed: p + 3 };
            return Err(Error::core(error, &self.design));
        }
        let max = choice.max.unwrap_or(n);
        let mut default = match &self.model {
            FittedModel::Logistic(model) => model.default_min(method, max),
            _ => Sizes::default_min(p, max),
        };
        if let Method::Bound(bound) = method {
            default = default.max(bound.first_size(p, max) + 1);
            if choice.min.is_none() && default > max {
                let error = dshap::Error::SilentBound { first: default, max };
                return Err(Error::core(error, &self.design));
            }
        }
        Ok(Sizes::new(choice.min.unwrap_or(default), max))
    }

    /// What values rows, one by one.
    pub(crate) fn row_valuer(
        &self,
        method: Method,
        choice: SizeChoice,
        extras: Extras,
    ) -> Result<RowValuer, Error> {
        self.model.row_valuer(&self.design, method, self.sizes(method, choice)?, extras)
    }

    /// What values rows by drawing sets of reference rows.
    pub(crate) fn drawer(&self, options: GeneralOptions, choice: SizeChoice) -> Result<Drawer, Error> {
        let rows = self.model.rows().ok_or(Error::NoRowsToDraw)?;
        let sizes = self.sizes(Method::General(options), choice)?;
        rows.rows()
            .and_then(|rows| self.model.drawer(rows, sizes, options, false))
            .map_err(|e| Error::core(e, &self.design))
    }

    /// What is doubtful before any row was valued, in words.
    pub(crate) fn doubts(&self) -> Result<Vec<String>, Error> {
        if self.model.neighbours().is_some() {
            return self.doubts_of_neighbours(self.method, self.choice);
        }
        let mut doubts = match self.method {
            Method::General(options) => self.drawer(options, self.choice)?.warnings(&self.design),
            method => self.row_valuer(method, self.choice, Extras::default())?.warnings(&self.design),
        };
        doubts.extend(self.doubts_of_density());
        Ok(doubts)
    }

    /// Whether a method by neighbours can value rows, and what is doubtful about it.
    pub(crate) fn doubts_of_neighbours(
        &self,
        method: Method,
        choice: SizeChoice,
    ) -> Result<Vec<String>, Error> {
        match self.model.neighbours() {
            Some(model) => model.doubts(&self.design, method, choice, false),
            None => Ok(Vec::new()),
        }
    }

    /// What is doubtful about a density beyond what core says.
    pub(crate) fn doubts_of_density(&self) -> Vec<String> {
        match &self.model {
            FittedModel::Density(model) => model.doubts(),
            FittedModel::Linear(_) | FittedModel::Logistic(_) | FittedModel::Neighbours(_) => Vec::new(),
        }
    }

    /// Reads a valuer file.
    ///
    /// # Errors
    ///
    /// [`Error::Container`] or [`Error::BadContents`], which say what is wrong.
    pub fn load(path: &Path) -> Result<Self, Error> {
        document::read(path)
    }

    /// Reads the bytes of a valuer file, called `name` in messages.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let mut container = Container::from_bytes(bytes, name, document::KIND, FORMAT_VERSION)?;
        document::parse(&mut container).map_err(|what| Error::BadContents { file: name.into(), what })
    }

    /// How it values rows.
    pub fn method(&self) -> Method {
        self.method
    }

    /// The set sizes that were asked for.
    pub fn choice(&self) -> SizeChoice {
        self.choice
    }

    /// The same valuer with other set sizes asked for; what is left out is
    /// chosen by default.
    pub fn with_choice(self, choice: SizeChoice) -> Self {
        Self { choice, ..self }
    }

    /// Columns that were said to be categories whatever they hold.
    pub fn categorical(&self) -> &[String] {
        &self.categorical
    }

    /// Whether columns have names of their own, or are numbered `column_0` and
    /// so on. Files that do not say are judged by the names.
    pub fn has_names(&self) -> bool {
        let numbered = (0..).map(|column| format!("column_{column}"));
        self.has_names.unwrap_or_else(|| !self.design.features().zip(numbered).all(|(one, two)| one == two))
    }

    /// The same valuer, knowing whether its columns have names of their own.
    pub fn with_names(self, has_names: bool) -> Self {
        Self { has_names: Some(has_names), ..self }
    }

    /// How the reference was fitted.
    pub fn options(&self) -> FitOptions {
        match &self.model {
            FittedModel::Linear(model) => model.options,
            FittedModel::Logistic(model) => FitOptions {
                intercept: model.options.intercept,
                allow_dependent: model.options.allow_dependent,
                ..FitOptions::default()
            },
            FittedModel::Density(_) | FittedModel::Neighbours(_) => FitOptions::default(),
        }
    }

    /// Writes a valuer file, which appears whole or not at all; returns its
    /// length.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn save(&self, mut file: AtomicFile) -> Result<u64, Error> {
        let written = self.to_container().write(&mut file);
        let n_bytes =
            written.map_err(|reason| dshap_io::Error::Write { file: file.name().into(), reason })?;
        file.commit()?;
        Ok(n_bytes)
    }

    /// What stands in the file.
    pub fn to_container(&self) -> Container {
        document::write(self)
    }
}
