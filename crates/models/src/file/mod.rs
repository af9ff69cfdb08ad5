//! The valuer file: a document in JSON and arrays of doubles.
//!
//! The arrays are what each family needs to value rows with the same bits on
//! whatever machine the file is read; `docs/valuers.md` describes them. Each
//! family writes and reads its own part.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the document, and the arrays beside it |
//! | `settings.rs` | the method and its settings |
//! | `history.rs` | where the reference rows came from |

mod history;
mod settings;

pub use history::{Action, InputFile, Step, files_in, forgotten_again, repeated};

use crate::Error;
use crate::density::{self, DensityDocument};
use crate::held_rows::HeldRows;
use crate::how::{How, SizeChoice};
use crate::kept_tests::TestsDocument;
use crate::linear::{self, FitDocument, MomentsDocument, NoiseDocument};
use crate::logistic::{self, LogisticDocument};
use crate::method::Makes;
use crate::methods::general;
use crate::model::Model;
use crate::neighbours::{self, NeighbourDocument, NeighbourModel};
use crate::owner_moments::{OwnerMoments, OwnersDocument};
use crate::sizes::DefaultQ;
use crate::valuer::FittedValuer;
use dshap::linear::{DistanceTable, SetTargets};
use dshap_catalogue::{Measures, Task};
use dshap_io::Container;
use dshap_table::{Design, DesignParts};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// What a valuer file calls itself.
pub(crate) const KIND: &str = "valuer";

/// Version of the format. All up to it can be read.
pub const FORMAT_VERSION: u32 = 7;

/// The version that is written: the first that knew such valuers, so that an
/// older dshap reads what it can.
pub(crate) fn version_for(model: &dyn Model, how: &How) -> u32 {
    let method = how.method;
    match (method.makes, model.task()) {
        // Earlier ones would silently count all rows, or sort them although lists are there.
        _ if model.of::<NeighbourModel>().is_some_and(NeighbourModel::wants_short_lists) => 7,
        _ if model.of::<NeighbourModel>().is_some_and(|model| model.saved_lists().is_some()) => 7,
        // Earlier ones would silently average over targets.
        _ if general::targets(how) == SetTargets::Observed => 7,
        // Earlier ones would silently value rows for data like the reference.
        _ if model.kept_tests().is_some() => 6,
        // Earlier ones would silently weigh set sizes alike.
        _ if how.semivalue() != dshap::Semivalue::Shapley => 5,
        (Makes::Neighbours { .. }, _) => 4,
        _ if method.entry.measures == Measures::RefittedModels => 4,
        (_, Task::Density) => 3,
        (_, Task::Regression | Task::Classification) => 2,
    }
}

/// What stands in the file beside arrays.
#[derive(Serialize, Deserialize)]
pub struct Document {
    /// The dshap that wrote it.
    dshap: String,
    task: TaskWord,
    task_guessed: bool,
    method: serde_json::Map<String, serde_json::Value>,
    /// Absent: chosen by default.
    q: Option<usize>,
    m: Option<usize>,
    pub(crate) intercept: bool,
    /// Absent in files written before it was an option.
    #[serde(default)]
    pub(crate) refit_intercept: bool,
    pub(crate) allow_dependent: bool,
    /// Columns given as categories; absent in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categorical: Vec<String>,
    /// Whether columns have names of their own; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    has_names: Option<bool>,
    design: DesignParts,
    /// What a regression has: this and its fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) moments: Option<MomentsDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fit: Option<FitDocument>,
    /// What a classification has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) logistic: Option<LogisticDocument>,
    /// What a density has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) density: Option<DensityDocument>,
    /// What nearest neighbours have instead of a fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) neighbours: Option<NeighbourDocument>,
    /// How the default `q` is found; absent in older files.
    #[serde(default, skip_serializing_if = "DefaultQ::is_first")]
    pub(crate) default_q: DefaultQ,
    /// How residuals of a regression vary; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<NoiseDocument>,
    /// The rows that values are for; absent in older files and for rows like the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tests: Option<TestsDocument>,
    /// Moments by owner; absent in older files and without owners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    owners: Option<OwnersDocument>,
    history: Vec<Step>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TaskWord {
    Regression,
    Classification,
    Density,
}

/// Arrays by name.
pub type Arrays = Vec<(String, Vec<f64>)>;

/// An array with its name.
pub(crate) fn named(name: &str, numbers: Vec<f64>) -> (String, Vec<f64>) {
    (name.to_string(), numbers)
}

/// What stands in the file of a valuer.
pub(crate) fn write(valuer: &FittedValuer) -> Container {
    let sizes = valuer.how.sizes();
    let mut document = Document {
        dshap: valuer.written_by.clone(),
        task: match valuer.task() {
            Task::Regression => TaskWord::Regression,
            Task::Classification => TaskWord::Classification,
            Task::Density => TaskWord::Density,
        },
        task_guessed: valuer.task_guessed,
        method: settings::write(&valuer.how),
        q: sizes.min,
        m: sizes.max,
        intercept: true,
        refit_intercept: false,
        allow_dependent: true,
        categorical: valuer.categorical.clone(),
        has_names: valuer.has_names,
        design: valuer.design.parts().clone(),
        moments: None,
        fit: None,
        logistic: None,
        density: None,
        neighbours: None,
        default_q: DefaultQ::default(),
        noise: None,
        tests: None,
        owners: None,
        history: valuer.history.clone(),
    };
    let mut arrays = valuer.model.write(&valuer.how, &mut document);
    document.owners = valuer.owners.as_ref().map(|owners| owners.write(&mut arrays));
    arrays.sort_by(|one, two| one.0.cmp(&two.0));
    let document = serde_json::to_string(&document).expect("a valuer has nothing JSON cannot hold");
    let version = version_for(valuer.model.as_ref(), &valuer.how);
    Container { kind: KIND.into(), version, document, arrays }
}

/// Takes the arrays of a container by their names.
pub struct Reading<'a>(&'a mut Container);

impl<'a> Reading<'a> {
    /// The arrays of a container.
    pub fn of(container: &'a mut Container) -> Self {
        Self(container)
    }

    pub(crate) fn take(&mut self, name: &str) -> Result<Vec<f64>, String> {
        self.0.take(name).ok_or_else(|| format!("its array `{name}` is missing"))
    }

    pub(crate) fn take_if_there(&mut self, name: &str) -> Option<Vec<f64>> {
        self.0.take(name)
    }

    pub(crate) fn distances(&mut self, name: &str) -> Result<DistanceTable, String> {
        DistanceTable::from_parts(&self.take(name)?).map_err(|error| error.to_string())
    }

    /// The reference rows of a fit.
    pub(crate) fn rows(&mut self, n_features: usize, n_rows: usize) -> Result<HeldRows, String> {
        let (x, y) = (self.take("rows.x")?, self.take("rows.y")?);
        let rows = HeldRows::from_parts(&x, y, n_features).filter(|rows| rows.n_rows() == n_rows);
        rows.ok_or_else(|| "its rows are not those of its fit".into())
    }
}

pub(crate) fn read(path: &Path) -> Result<FittedValuer, Error> {
    let mut container = Container::read(path, KIND, FORMAT_VERSION)?;
    parse(&mut container).map_err(|what| Error::BadContents { file: path.display().to_string(), what })
}

/// The valuer in a container, or what is wrong with it.
pub(crate) fn parse(container: &mut Container) -> Result<FittedValuer, String> {
    let mut document: Document = serde_json::from_str(&container.document)
        .map_err(|error| format!("its document cannot be read: {error}"))?;
    let format_version = container.version;
    let design = Design::from_parts(document.design.clone()).map_err(|error| error.to_string())?;
    let how = settings::read(&document.method)?;
    let task = match document.task {
        TaskWord::Regression => Task::Regression,
        TaskWord::Classification => Task::Classification,
        TaskWord::Density => Task::Density,
    };
    if !how.method.entry.is_for(task) || how.method.baseline().is_some() {
        return Err("its method is not one of its task".into());
    }
    let mut arrays = Reading(container);
    let needs = (how.method.needs)(&how.given, task);
    let mut given = how.given.clone();
    let model: Arc<dyn Model> = match (how.method.makes, task) {
        (Makes::Neighbours { .. }, _) => {
            if (task == Task::Classification) != design.labels().is_some() {
                return Err("its labels are not those of its task".into());
            }
            let stored = document.neighbours.take().ok_or("its document lacks `neighbours`")?;
            Arc::new(neighbours::parse(&design, stored, &mut given, &mut arrays)?)
        }
        (_, Task::Regression) => Arc::new(linear::parse(&mut document, &design, needs, &mut arrays)?),
        (_, Task::Classification) => {
            Arc::new(logistic::parse(&mut document, &design, &how, needs, &mut given, &mut arrays)?)
        }
        (_, Task::Density) => {
            let stored = document.density.take().ok_or("its document lacks `density`")?;
            Arc::new(density::parse(&design, stored, &mut given, &mut arrays)?)
        }
    };
    let owners = document.owners.take();
    let owners =
        owners.map(|owners| OwnerMoments::read(owners, design.n_columns(), &mut arrays)).transpose()?;
    let how = How { method: how.method, given };
    let how = how.with_fit_options(document.intercept, document.refit_intercept, document.allow_dependent);
    Ok(FittedValuer {
        how: how.with_sizes(SizeChoice { min: document.q, max: document.m }),
        design,
        model,
        task_guessed: document.task_guessed,
        categorical: document.categorical,
        has_names: document.has_names,
        history: document.history,
        owners,
        written_by: document.dshap,
        format_version,
    })
}
