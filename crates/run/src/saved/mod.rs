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
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::Observer;
use crate::reference::{Learned, distances_of};
use crate::request::{Method, Model, SizeChoice, Task};
use crate::summary::InputFile;
use dshap::linear::{DistanceTable, FitOptions, GeneralOptions, GeneralValuer, LinearFit, LinearValuer};
use dshap::{Moments, Sizes, Warning};
use dshap_io::{AtomicFile, Container, Source};
use dshap_table::Design;
use std::path::Path;

/// A fitted reference and all that is known about it.
#[derive(Debug, Clone)]
pub struct SavedValuer {
    pub(crate) design: Design,
    pub(crate) moments: Moments,
    pub(crate) fit: LinearFit,
    pub(crate) options: FitOptions,
    pub(crate) task_guessed: bool,
    pub(crate) method: Method,
    /// What was asked for; the rest is chosen by default each time.
    pub(crate) choice: SizeChoice,
    /// How far reference rows are from their mean, for calibrated values.
    pub(crate) distances: Option<DistanceTable>,
    /// The reference rows, for values by drawing sets.
    pub(crate) rows: Option<Held>,
    pub(crate) history: Vec<Step>,
    /// The dshap that wrote the file; this one if it was made just now.
    pub(crate) written_by: String,
    /// Version of the format it was read from.
    pub(crate) format_version: u32,
}

impl SavedValuer {
    /// A valuer of what was learned, by a model; `files` are the reference.
    pub(crate) fn new(learned: Learned, model: &Model, files: Vec<InputFile>) -> Result<Self, Error> {
        let Learned { design, moments, fit, rows, task_guessed, .. } = learned;
        let step = Step::new(Action::Fit, files, rows, moments.n_rows());
        let valuer = Self {
            design,
            moments,
            fit,
            options: model.fit,
            task_guessed,
            method: model.method,
            choice: model.sizes,
            distances: None,
            rows: None,
            history: vec![step],
            written_by: env!("CARGO_PKG_VERSION").into(),
            format_version: FORMAT_VERSION,
        };
        // What cannot value anything is not worth saving.
        valuer.sizes(valuer.method, valuer.choice)?;
        if valuer.method.linear().is_some() {
            valuer.linear(valuer.method, valuer.choice)?;
        }
        Ok(valuer)
    }

    /// With what its method needs of the reference rows beyond their moments.
    pub(crate) fn completed(
        mut self,
        source: &Source,
        budget: Budget,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        match self.method {
            Method::Calibrated => {
                self.distances = Some(distances_of(source, &self.design, &self.fit, budget, observer)?);
            }
            Method::General(options) => {
                self.rows = Some(Held::read(source, &self.design, budget, observer)?);
                self.general(options, self.choice)?;
            }
            _ => {}
        }
        Ok(self)
    }

    /// The same valuer for a changed reference.
    pub(crate) fn refitted(mut self, design: Design, moments: Moments) -> Result<Self, Error> {
        self.fit = LinearFit::new(&moments, self.options).map_err(|e| Error::core(e, &design))?;
        (self.design, self.moments) = (design, moments);
        self.written_by = env!("CARGO_PKG_VERSION").into();
        self.linear(self.method, self.choice)?;
        Ok(self)
    }

    /// What it is for.
    pub fn task(&self) -> Task {
        Task::Regression
    }

    /// How columns become numbers.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// The least-squares fit.
    pub fn fit(&self) -> &LinearFit {
        &self.fit
    }

    /// The moments of the reference.
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// Where the reference rows came from.
    pub fn history(&self) -> &[Step] {
        &self.history
    }

    /// The set sizes for a choice, defaults filled in.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] when there are too few rows for the default `m`, or for
    /// a bound to say anything.
    pub(crate) fn sizes(&self, method: Method, choice: SizeChoice) -> Result<Sizes, Error> {
        let (n, p) = (self.fit.n_rows(), self.fit.model_dim());
        if choice.max.is_none() && n < p + 3 {
            let error = dshap::Error::TooFewRows { n_rows: n, dim: p, needed: p + 3 };
            return Err(Error::core(error, &self.design));
        }
        let max = choice.max.unwrap_or(n);
        let mut default = Sizes::default_min(p, max);
        if let Method::Bound(bound) = method {
            default = default.max(bound.first_size(p, max) + 1);
            if choice.min.is_none() && default > max {
                let error = dshap::Error::SilentBound { first: default, max };
                return Err(Error::core(error, &self.design));
            }
        }
        Ok(Sizes::new(choice.min.unwrap_or(default), max))
    }

    /// What values rows.
    pub(crate) fn linear(&self, method: Method, choice: SizeChoice) -> Result<LinearValuer, Error> {
        let sizes = self.sizes(method, choice)?;
        let linear = match (method.linear(), &self.distances) {
            (Some(method), _) => LinearValuer::new(self.fit.clone(), sizes, method),
            (None, Some(distances)) => LinearValuer::calibrated(self.fit.clone(), sizes, distances),
            (None, None) => return Err(Error::NotCalibrated),
        };
        linear.map_err(|e| Error::core(e, &self.design))
    }

    /// What values rows by drawing sets of reference rows.
    pub(crate) fn general(
        &self,
        options: GeneralOptions,
        choice: SizeChoice,
    ) -> Result<GeneralValuer, Error> {
        let rows = self.rows.as_ref().ok_or(Error::NoRowsToDraw)?;
        let sizes = self.sizes(Method::General(options), choice)?;
        rows.rows()
            .and_then(|rows| GeneralValuer::new(self.fit.clone(), rows, sizes, options))
            .map_err(|e| Error::core(e, &self.design))
    }

    /// What is doubtful before any row was valued.
    pub(crate) fn doubts(&self) -> Result<Vec<Warning>, Error> {
        match self.method {
            Method::General(options) => Ok(self.general(options, self.choice)?.warnings()),
            method => Ok(self.linear(method, self.choice)?.warnings()),
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

    /// How the reference was fitted.
    pub fn options(&self) -> FitOptions {
        self.options
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
