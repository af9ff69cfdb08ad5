//! A fitted valuer: a design, a model and how they value rows.

use crate::Error;
use crate::facts::Facts;
use crate::file::{self, FORMAT_VERSION, Step, version_for};
use crate::how::How;
use crate::method::{Makes, Method};
use crate::model::{Ask, Extras, Model};
use crate::neighbours::NeighbourModel;
use crate::observer::{Observer, Unwatched};
use crate::owner_moments::OwnerMoments;
use crate::reference::{ExtraPass, Reference};
use crate::warning::Warning;
use dshap::{Sizes, Valuer};
use dshap_catalogue::options::{
    BOUND_C, BOUND_EDGE, CONSTANT, CONVENTION, M, POPULATION, Q, RIDGE, SAMPLES, STOP, TEST,
};
use dshap_catalogue::{Given, Task, Value, check};
use dshap_io::{AtomicFile, Container};
use dshap_table::Design;
use std::path::Path;
use std::sync::Arc;

/// A fitted reference and all that is known about it: fitted once, used any time
/// later.
#[derive(Debug, Clone)]
pub struct FittedValuer {
    /// How columns become numbers.
    pub design: Design,
    /// What was fitted.
    pub model: Arc<dyn Model>,
    /// The method and its settings; set sizes that were not given are chosen by
    /// default each time.
    pub how: How,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// Columns given as categories whatever they hold.
    pub categorical: Vec<String>,
    /// Whether columns have names of their own or are numbered; older files do not
    /// say.
    pub has_names: Option<bool>,
    /// Where the reference rows came from.
    pub history: Vec<Step>,
    /// The moments of each owner, if rows have owners and are summed.
    pub owners: Option<OwnerMoments>,
    /// The dshap that wrote the file; this one if it was made just now.
    pub written_by: String,
    /// Version of the format it was read from.
    pub format_version: u32,
}

impl FittedValuer {
    /// A valuer of a model that was just fitted.
    ///
    /// # Errors
    ///
    /// Why it cannot value anything.
    pub fn new(design: Design, model: Box<dyn Model>, how: How, history: Vec<Step>) -> Result<Self, Error> {
        let format_version = version_for(model.as_ref(), &how);
        let valuer = Self {
            design,
            model: Arc::from(model),
            how,
            task_guessed: false,
            categorical: Vec::new(),
            has_names: None,
            history,
            owners: None,
            written_by: env!("CARGO_PKG_VERSION").into(),
            format_version,
        };
        valuer.sizes(&valuer.how)?;
        if valuer.lacks().is_none() {
            valuer.check()?;
        }
        Ok(valuer)
    }

    /// Refuses a valuer that cannot value anything. With neighbours that depends on
    /// the points: a row of the reference leaves one less.
    fn check(&self) -> Result<(), Error> {
        if self.how.method.is_of_neighbours() {
            return Ok(());
        }
        self.model.row_valuer(self.ask(&self.how)).map(|_| ())
    }

    /// What its method needs of the reference rows beyond a fit.
    pub fn lacks(&self) -> Option<ExtraPass> {
        (self.how.method.needs)(&self.how.given, self.task())
    }

    /// With what its method needs of the reference rows beyond a fit. Returns the
    /// passes it took as well.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn completed(mut self, reference: &dyn Reference) -> Result<(Self, usize), Error> {
        let Some(pass) = self.lacks() else { return Ok((self, 0)) };
        let mut model = self.model.boxed();
        let completed = model.complete(&self.how, pass, reference);
        let n_passes = completed.map_err(|error| error.with_options(&self.how.given))?;
        self.model = Arc::from(model);
        self.check()?;
        Ok((self, n_passes))
    }

    /// With test rows read and kept.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn with_tests(mut self, tests: &dyn Reference) -> Result<Self, Error> {
        let mut model = self.model.boxed();
        model.keep_tests(tests)?;
        self.model = Arc::from(model);
        self.format_version = version_for(self.model.as_ref(), &self.how);
        Ok(self)
    }

    /// With the lists of nearest neighbours that its file is to have, if that many bytes are free
    /// for them.
    ///
    /// # Errors
    ///
    /// [`Error::LongLists`], and why nothing can be valued.
    pub fn with_lists(mut self, observer: &dyn Observer, room: u64) -> Result<Self, Error> {
        if let Some(model) = self.model.of::<NeighbourModel>() {
            let needed = model.keep_lists(&Ask { observer, ..self.ask(&self.how) }, room)?;
            if needed > room {
                return Err(Error::LongLists { room, needed });
            }
        }
        self.format_version = version_for(self.model.as_ref(), &self.how);
        Ok(self)
    }

    /// The same valuer with another model of a changed reference.
    ///
    /// # Errors
    ///
    /// Why it cannot value anything.
    pub fn refitted(self, design: Design, model: Box<dyn Model>) -> Result<Self, Error> {
        let written_by = env!("CARGO_PKG_VERSION").into();
        let valuer = Self { design, model: Arc::from(model), written_by, ..self };
        valuer.check()?;
        Ok(valuer)
    }

    /// What it is for.
    pub fn task(&self) -> Task {
        self.model.task()
    }

    /// What it is asked for rows that are not its reference, with nothing beside
    /// values.
    pub fn ask<'a>(&'a self, how: &'a How) -> Ask<'a> {
        Ask {
            how,
            design: &self.design,
            extras: Extras::default(),
            in_reference: false,
            tests: None,
            observer: &Unwatched,
        }
    }

    /// The set sizes, with defaults filled in.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] where there are too few rows.
    pub fn sizes(&self, how: &How) -> Result<Sizes, Error> {
        self.model.sizes(how, &self.design)
    }

    /// What values single rows, where its method does.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes.
    pub fn valuer(&self, how: &How, extras: Extras) -> Result<Option<Box<dyn Valuer>>, Error> {
        self.model.valuer(&Ask { extras, ..self.ask(how) })
    }

    /// What is doubtful before any row is valued.
    ///
    /// # Errors
    ///
    /// Why rows cannot be valued.
    pub fn warnings(&self) -> Result<Vec<Warning>, Error> {
        self.model.warnings(&self.ask(&self.how))
    }

    /// What is known about it.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes.
    pub fn facts(&self) -> Result<Facts, Error> {
        Facts::of(self, &self.how)
    }

    /// How it values rows with other options than those of the fit. Another method
    /// starts from its own defaults, the same one from the settings of the fit.
    ///
    /// # Errors
    ///
    /// [`Error::SettledByValuer`], [`Error::OtherMethod`], [`Error::Misuse`].
    pub fn how_with(&self, method: Option<&'static Method>, given: &Given) -> Result<How, Error> {
        if let Some(option) = given.options().find(|option| option.is_fixed_by_valuer()) {
            return Err(Error::SettledByValuer { option: option.name });
        }
        let method = method.unwrap_or(self.how.method);
        if !self.can_value_by(method) {
            let (fitted, method) = (self.how.method.name(), method.name());
            return Err(Error::OtherMethod { fitted, method, task: self.task() });
        }
        // A sample was drawn when the reference was fitted, and so was a logistic fit.
        let is_sampled = !matches!(method.makes, Makes::Fit { .. });
        let settled = [(&SAMPLES, is_sampled), (&RIDGE, self.task() == Task::Classification)];
        if let Some((option, _)) = settled.into_iter().find(|(option, is)| *is && given.has(option)) {
            return Err(Error::SettledByValuer { option: option.name });
        }
        let stored = match method == self.how.method {
            true => self.how.given.clone(),
            false => self.how.given.only(|option| {
                option.is_fixed_by_valuer()
                    || [M.name, Q.name].contains(&option.name)
                    || option.name == RIDGE.name && self.task() == Task::Classification
            }),
        };
        let stored = match given.word(&CONVENTION).is_some_and(|now| !stored.is(&CONVENTION, now)) {
            // Another convention has other constants.
            true => [&BOUND_C, &BOUND_EDGE, &CONSTANT, &STOP].into_iter().fold(stored, Given::without),
            false => stored,
        };
        let given_now = given;
        let given = given.or(&stored);
        let task = self.task();
        let relevant = given.only(|option| {
            !option.is_of_methods()
                || given_now.has(option)
                || method.entry.takes(option, Some(task)).is_some()
        });
        // A valuer for given rows values by methods that take them.
        let relevant = match self.model.kept_tests() {
            Some(tests) => {
                let option = if tests.has_targets() { &TEST } else { &POPULATION };
                relevant.with(option, Value::List(Vec::new()))
            }
            None => relevant,
        };
        check(&method.entry, Some(task), &relevant, &crate::methods::entries())?;
        Ok(How { method, given })
    }

    /// Whether its model is of the kind that a method values rows by.
    fn can_value_by(&self, method: &Method) -> bool {
        match (self.how.method.makes, method.makes) {
            (Makes::Fit { .. }, Makes::Fit { linear, logistic }) => match self.task() {
                Task::Regression => linear.is_some(),
                _ => logistic.is_some(),
            },
            (Makes::Density(_), Makes::Density(_)) => true,
            (Makes::Neighbours { .. }, Makes::Neighbours { .. }) => true,
            _ => false,
        }
    }

    /// Whether columns have names of their own, or are numbered `column_0` and so
    /// on. Files that do not say are judged by the names.
    pub fn has_names(&self) -> bool {
        let numbered = (0..).map(|column| format!("column_{column}"));
        self.has_names.unwrap_or_else(|| !self.design.features().zip(numbered).all(|(one, two)| one == two))
    }

    /// Reads a valuer file.
    ///
    /// # Errors
    ///
    /// [`Error::Container`] or [`Error::BadContents`], which say what is wrong.
    pub fn load(path: &Path) -> Result<Self, Error> {
        file::read(path)
    }

    /// Reads the bytes of a valuer file, called `name` in messages.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self, Error> {
        let mut container = Container::from_bytes(bytes, name, file::KIND, FORMAT_VERSION)?;
        file::parse(&mut container).map_err(|what| Error::BadContents { file: name.into(), what })
    }

    /// Writes a valuer file, which appears whole or not at all; returns its length.
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
        file::write(self)
    }
}
