//! The valuer file: a document in JSON and arrays of doubles.
//!
//! The arrays are the moments of the reference, from which a regression can be
//! updated, and the fit itself (`document/logistic.rs`, `document/density.rs` and
//! `document/neighbours.rs` have those of others), so that values have the same bits on whatever
//! machine the file is read. `docs/valuers.md` describes both.

mod density;
mod logistic;
mod neighbours;
mod second_order;

use super::{SavedValuer, Step};
use crate::Error;
use crate::fitted::{FittedModel, LinearModel};
use crate::general::Held;
use crate::request::{Method, SizeChoice, Task};
use density::DensityDocument;
use dshap::density::Algorithm5;
use dshap::linear::{
    Algorithm3, Bound, Constant, Convention, DistanceTable, FitOptions, FitParts, GeneralOptions, LinearFit,
    Side,
};
use dshap::{Moments, MomentsForm, MomentsParts};
use dshap_io::Container;
use dshap_table::{Design, DesignParts};
use logistic::LogisticDocument;
use neighbours::NeighbourDocument;
use second_order::SecondOrderMethod;
use serde::{Deserialize, Serialize};
use std::path::Path;

pub(super) const KIND: &str = "valuer";

/// Version of the format. All up to it can be read.
pub const FORMAT_VERSION: u32 = 4;

/// The version that is written: the first that knew such valuers, so that an
/// older dshap reads what it can.
pub(super) fn version_for(task: Task, method: Method) -> u32 {
    match (task, method) {
        (_, Method::SecondOrder(_) | Method::Knn { .. } | Method::KnnShapley { .. }) => 4,
        (Task::Regression | Task::Classification, _) => 2,
        (Task::Density, _) => 3,
    }
}

#[derive(Serialize, Deserialize)]
struct Document {
    /// The dshap that wrote it.
    dshap: String,
    task: TaskWord,
    task_guessed: bool,
    method: MethodDocument,
    /// Absent: chosen by default.
    q: Option<usize>,
    m: Option<usize>,
    intercept: bool,
    /// Absent in files written before it was an option.
    #[serde(default)]
    refit_intercept: bool,
    allow_dependent: bool,
    /// Columns that were said to be categories; absent in older files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    categorical: Vec<String>,
    /// Whether columns have names of their own; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    has_names: Option<bool>,
    design: DesignParts,
    /// What a regression has, this and its fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moments: Option<MomentsDocument>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fit: Option<FitDocument>,
    /// What a classification has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    logistic: Option<LogisticDocument>,
    /// What a density has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    density: Option<DensityDocument>,
    /// What nearest neighbours have, in the place of a fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    neighbours: Option<NeighbourDocument>,
    history: Vec<Step>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TaskWord {
    Regression,
    Classification,
    Density,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case")]
enum MethodDocument {
    Gaussian {
        constant: ConstantDocument,
        convention: ConventionDocument,
    },
    #[serde(rename = "algorithm-3")]
    Algorithm3 {
        stop_draws: f64,
        stop: f64,
        samples: usize,
        seed: u64,
    },
    Calibrated,
    SecondOrder(SecondOrderMethod),
    General {
        ridge: f64,
        stop: f64,
        min_samples: usize,
        samples: usize,
        seed: u64,
    },
    Lower(BoundDocument),
    Upper(BoundDocument),
    Closed,
    MonteCarlo {
        seed: u64,
    },
    Knn {
        k: usize,
    },
    KnnShapley {
        k: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct BoundDocument {
    convention: ConventionDocument,
    c: f64,
    #[serde(rename = "C")]
    edge: f64,
    ridge: f64,
    stop: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ConstantDocument {
    Gain,
    Theorem,
    Full(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ConventionDocument {
    Definition,
    Printed,
}

#[derive(Serialize, Deserialize)]
struct MomentsDocument {
    n_rows: usize,
    weight: f64,
    weight_sq: f64,
    /// Whether rows were taken away, so that there is an array of peaks.
    forgotten: bool,
    /// What the triangle is. Files of version 1 hold products.
    #[serde(default)]
    form: FormWord,
}

/// How second moments are held.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FormWord {
    #[default]
    Products,
    Triangle,
}

#[derive(Serialize, Deserialize)]
struct FitDocument {
    kept: Vec<usize>,
    dropped: Vec<usize>,
    weakest: Option<(usize, f64)>,
    target_centre: (f64, f64),
    rss: f64,
    total: f64,
    target_inflation: f64,
    weight_scale: f64,
    effective_rows: f64,
}

type Arrays = Vec<(String, Vec<f64>)>;

fn named(name: &str, numbers: Vec<f64>) -> (String, Vec<f64>) {
    (name.to_string(), numbers)
}

pub(super) fn write(valuer: &SavedValuer) -> Container {
    let options = valuer.options();
    let mut document = Document {
        dshap: valuer.written_by.clone(),
        task: match valuer.task() {
            Task::Regression => TaskWord::Regression,
            Task::Classification => TaskWord::Classification,
            Task::Density => TaskWord::Density,
        },
        task_guessed: valuer.task_guessed,
        method: valuer.method.into(),
        q: valuer.choice.min,
        m: valuer.choice.max,
        intercept: options.intercept,
        refit_intercept: options.refit_intercept,
        allow_dependent: options.allow_dependent,
        categorical: valuer.categorical.clone(),
        has_names: valuer.has_names,
        design: valuer.design.parts().clone(),
        moments: None,
        fit: None,
        logistic: None,
        density: None,
        neighbours: None,
        history: valuer.history.clone(),
    };
    let mut arrays = match &valuer.model {
        FittedModel::Linear(model) => {
            let (moments, fit, arrays) = write_linear(model);
            (document.moments, document.fit) = (Some(moments), Some(fit));
            arrays
        }
        FittedModel::Logistic(model) => {
            let (logistic, arrays) = logistic::write(model);
            document.logistic = Some(logistic);
            arrays
        }
        FittedModel::Density(model) => {
            let (density, arrays) = density::write(model);
            document.density = Some(density);
            arrays
        }
        FittedModel::Neighbours(model) => {
            let (neighbours, arrays) = neighbours::write(model);
            document.neighbours = Some(neighbours);
            arrays
        }
    };
    if let Some(rows) = valuer.model.rows() {
        let (x, y) = rows.to_parts();
        arrays.extend([named("rows.x", x), named("rows.y", y)]);
    }
    arrays.sort_by(|one, two| one.0.cmp(&two.0));
    let document = serde_json::to_string(&document).expect("a valuer has nothing JSON cannot hold");
    Container { kind: KIND.into(), version: version_for(valuer.task(), valuer.method), document, arrays }
}

fn write_linear(model: &LinearModel) -> (MomentsDocument, FitDocument, Arrays) {
    let fit = model.fit.to_parts();
    let (moments, mut arrays) = write_moments("moments", &model.moments);
    arrays.extend([
        named("fit.coef", fit.coef),
        named("fit.factor", fit.lower),
        named("fit.offset", fit.offset),
        named("fit.scale", fit.scale),
        named("fit.shift", fit.shift),
        named("fit.target_row", fit.target_row),
    ]);
    arrays.extend(model.distances.as_ref().map(|table| named("distances", table.to_parts())));
    let fit = FitDocument {
        kept: fit.kept,
        dropped: fit.dropped,
        weakest: fit.weakest,
        target_centre: fit.target_centre,
        rss: fit.rss,
        total: fit.total,
        target_inflation: fit.target_inflation,
        weight_scale: fit.weight_scale,
        effective_rows: fit.effective_rows,
    };
    (moments, fit, arrays)
}

/// Moments, with arrays whose names begin with `prefix`.
fn write_moments(prefix: &str, moments: &Moments) -> (MomentsDocument, Arrays) {
    let parts = moments.to_parts();
    let document = MomentsDocument {
        n_rows: parts.n_rows,
        weight: parts.weight,
        weight_sq: parts.weight_sq,
        forgotten: parts.peak.is_some(),
        form: parts.form.into(),
    };
    let name = |array: &str| format!("{prefix}.{array}");
    let mut arrays = vec![
        (name(lower_name(parts.form)), parts.lower),
        (name("offset"), parts.offset),
        (name("shift"), parts.shift),
    ];
    arrays.extend(parts.peak.map(|peak| (name("peak"), peak)));
    (document, arrays)
}

/// Takes the arrays of a container by their names.
struct Taking<'a>(&'a mut Container);

impl Taking<'_> {
    fn take(&mut self, name: &str) -> Result<Vec<f64>, String> {
        self.0.take(name).ok_or_else(|| format!("its array `{name}` is missing"))
    }

    fn take_if_there(&mut self, name: &str) -> Option<Vec<f64>> {
        self.0.take(name)
    }

    fn moments(&mut self, prefix: &str, stored: MomentsDocument) -> Result<Moments, String> {
        let form = MomentsForm::from(stored.form);
        let name = |array: &str| format!("{prefix}.{array}");
        Moments::from_parts(MomentsParts {
            n_rows: stored.n_rows,
            weight: stored.weight,
            weight_sq: stored.weight_sq,
            shift: self.take(&name("shift"))?,
            offset: self.take(&name("offset"))?,
            form,
            lower: self.take(&name(lower_name(form)))?,
            peak: if stored.forgotten { Some(self.take(&name("peak"))?) } else { None },
        })
        .map_err(|error| error.to_string())
    }

    fn distances(&mut self, name: &str) -> Result<DistanceTable, String> {
        DistanceTable::from_parts(&self.take(name)?).map_err(|error| error.to_string())
    }

    /// The reference rows of a fit.
    fn rows(&mut self, n_features: usize, n_rows: usize) -> Result<Held, String> {
        let (x, y) = (self.take("rows.x")?, self.take("rows.y")?);
        let rows = Held::from_parts(&x, y, n_features).filter(|rows| rows.n_rows() == n_rows);
        rows.ok_or_else(|| "its rows are not those of its fit".into())
    }
}

pub(super) fn read(path: &Path) -> Result<SavedValuer, Error> {
    let mut container = Container::read(path, KIND, FORMAT_VERSION)?;
    parse(&mut container).map_err(|what| Error::BadContents { file: path.display().to_string(), what })
}

/// The valuer in a container, or what is wrong with it.
pub(super) fn parse(container: &mut Container) -> Result<SavedValuer, String> {
    let mut document: Document = serde_json::from_str(&container.document)
        .map_err(|error| format!("its document cannot be read: {error}"))?;
    let format_version = container.version;
    let design = Design::from_parts(document.design.clone()).map_err(|error| error.to_string())?;
    let method = std::mem::replace(&mut document.method, MethodDocument::Calibrated).method()?;
    let mut arrays = Taking(container);
    let missing = |what: &str| format!("its document cannot be read: missing field `{what}`");
    let model = match document.task {
        TaskWord::Regression | TaskWord::Classification if method.neighbours().is_some() => {
            let has_labels = matches!(document.task, TaskWord::Classification);
            if has_labels != design.labels().is_some() {
                return Err("its labels are not those of its task".into());
            }
            let stored = document.neighbours.take().ok_or_else(|| missing("neighbours"))?;
            FittedModel::Neighbours(neighbours::parse(&design, stored, &mut arrays)?)
        }
        TaskWord::Regression => {
            let moments = document.moments.take().ok_or_else(|| missing("moments"))?;
            let fit = document.fit.take().ok_or_else(|| missing("fit"))?;
            FittedModel::Linear(parse_linear(&document, method, moments, fit, &mut arrays)?)
        }
        TaskWord::Classification => {
            let stored = document.logistic.take().ok_or_else(|| missing("logistic"))?;
            let options = (document.intercept, document.allow_dependent);
            FittedModel::Logistic(logistic::parse(&design, method, options, stored, &mut arrays)?)
        }
        TaskWord::Density => {
            let stored = document.density.take().ok_or_else(|| missing("density"))?;
            FittedModel::Density(density::parse(&design, stored, &mut arrays)?)
        }
    };
    if matches!(method, Method::SecondOrder(_)) && !matches!(model, FittedModel::Logistic(_)) {
        return Err("its method is not one of its task".into());
    }
    let values_densities = method.density().is_some();
    if values_densities != matches!(model, FittedModel::Density(_)) {
        return Err("its method is not one of its task".into());
    }
    Ok(SavedValuer {
        design,
        model,
        task_guessed: document.task_guessed,
        method,
        choice: SizeChoice { min: document.q, max: document.m },
        categorical: document.categorical,
        has_names: document.has_names,
        history: document.history,
        written_by: document.dshap,
        format_version,
    })
}

fn parse_linear(
    document: &Document,
    method: Method,
    moments: MomentsDocument,
    stored: FitDocument,
    arrays: &mut Taking<'_>,
) -> Result<LinearModel, String> {
    if document.design.target.is_none() {
        return Err("its design has no target, which a regression has".into());
    }
    if document.design.labels.is_some() {
        return Err("its design has labels, which a regression has not".into());
    }
    let moments = arrays.moments("moments", moments)?;
    let fit = LinearFit::from_parts(FitParts {
        n_rows: moments.n_rows(),
        n_features: moments.n_features(),
        intercept: document.intercept,
        refit_intercept: document.refit_intercept,
        kept: stored.kept,
        dropped: stored.dropped,
        weakest: stored.weakest,
        shift: arrays.take("fit.shift")?,
        offset: arrays.take("fit.offset")?,
        scale: arrays.take("fit.scale")?,
        target_centre: stored.target_centre,
        lower: arrays.take("fit.factor")?,
        target_row: arrays.take("fit.target_row")?,
        coef: arrays.take("fit.coef")?,
        rss: stored.rss,
        total: stored.total,
        target_inflation: stored.target_inflation,
        form: moments.form(),
        weight_scale: stored.weight_scale,
        effective_rows: stored.effective_rows,
    })
    .map_err(|error| error.to_string())?;
    let distances = match method {
        Method::Calibrated => Some(arrays.distances("distances")?),
        _ => None,
    };
    let rows = match method {
        Method::General(_) => Some(arrays.rows(fit.n_features(), fit.n_rows())?),
        _ => None,
    };
    let design = Design::from_parts(document.design.clone()).map_err(|error| error.to_string())?;
    if design.n_columns() != fit.n_features() {
        return Err("its design has other columns than its fit".into());
    }
    let options = FitOptions {
        intercept: document.intercept,
        refit_intercept: document.refit_intercept,
        allow_dependent: document.allow_dependent,
    };
    Ok(LinearModel { moments, fit, options, distances, rows })
}

impl From<Method> for MethodDocument {
    fn from(method: Method) -> Self {
        match method {
            Method::Gaussian { constant, convention } => MethodDocument::Gaussian {
                constant: match constant {
                    Constant::Gain => ConstantDocument::Gain,
                    Constant::Theorem => ConstantDocument::Theorem,
                    Constant::Full(c) => ConstantDocument::Full(c),
                },
                convention: convention.into(),
            },
            Method::Calibrated => MethodDocument::Calibrated,
            Method::SecondOrder(choice) => MethodDocument::SecondOrder(choice.into()),
            Method::Closed => MethodDocument::Closed,
            Method::MonteCarlo(Algorithm5 { seed }) => MethodDocument::MonteCarlo { seed },
            Method::Knn { k } => MethodDocument::Knn { k },
            Method::KnnShapley { k } => MethodDocument::KnnShapley { k },
            Method::General(GeneralOptions { ridge, tolerance, min_rounds, max_rounds, seed }) => {
                MethodDocument::General {
                    ridge,
                    stop: tolerance,
                    min_samples: min_rounds,
                    samples: max_rounds,
                    seed,
                }
            }
            Method::Bound(Bound { side, convention, tail, edge, ridge, stop }) => {
                let bound = BoundDocument { convention: convention.into(), c: tail, edge, ridge, stop };
                match side {
                    Side::Lower => MethodDocument::Lower(bound),
                    Side::Upper => MethodDocument::Upper(bound),
                }
            }
            Method::Algorithm3(Algorithm3 { inner_tolerance, outer_tolerance, max_draws, seed }) => {
                MethodDocument::Algorithm3 {
                    stop_draws: inner_tolerance,
                    stop: outer_tolerance,
                    samples: max_draws,
                    seed,
                }
            }
        }
    }
}

impl MethodDocument {
    /// The method, unless it has a word that is unknown.
    fn method(self) -> Result<Method, String> {
        Ok(match self {
            MethodDocument::Gaussian { constant, convention } => Method::Gaussian {
                constant: match constant {
                    ConstantDocument::Gain => Constant::Gain,
                    ConstantDocument::Theorem => Constant::Theorem,
                    ConstantDocument::Full(c) => Constant::Full(c),
                },
                convention: convention.into(),
            },
            MethodDocument::Calibrated => Method::Calibrated,
            MethodDocument::SecondOrder(stored) => Method::SecondOrder(stored.choice()?),
            MethodDocument::Closed => Method::Closed,
            MethodDocument::MonteCarlo { seed } => Method::MonteCarlo(Algorithm5 { seed }),
            MethodDocument::Knn { k } => Method::Knn { k },
            MethodDocument::KnnShapley { k } => Method::KnnShapley { k },
            MethodDocument::General { ridge, stop, min_samples, samples, seed } => {
                Method::General(GeneralOptions {
                    ridge,
                    tolerance: stop,
                    min_rounds: min_samples,
                    max_rounds: samples,
                    seed,
                })
            }
            MethodDocument::Lower(bound) => Method::Bound(bound.of(Side::Lower)),
            MethodDocument::Upper(bound) => Method::Bound(bound.of(Side::Upper)),
            MethodDocument::Algorithm3 { stop_draws, stop, samples, seed } => {
                Method::Algorithm3(Algorithm3 {
                    inner_tolerance: stop_draws,
                    outer_tolerance: stop,
                    max_draws: samples,
                    seed,
                })
            }
        })
    }
}

/// The array of second moments.
fn lower_name(form: MomentsForm) -> &'static str {
    match form {
        MomentsForm::Products => "gram",
        MomentsForm::Triangle => "triangle",
    }
}

impl From<MomentsForm> for FormWord {
    fn from(form: MomentsForm) -> Self {
        match form {
            MomentsForm::Products => FormWord::Products,
            MomentsForm::Triangle => FormWord::Triangle,
        }
    }
}

impl From<FormWord> for MomentsForm {
    fn from(form: FormWord) -> Self {
        match form {
            FormWord::Products => MomentsForm::Products,
            FormWord::Triangle => MomentsForm::Triangle,
        }
    }
}

impl BoundDocument {
    fn of(self, side: Side) -> Bound {
        let convention = self.convention.into();
        Bound { side, convention, tail: self.c, edge: self.edge, ridge: self.ridge, stop: self.stop }
    }
}

impl From<Convention> for ConventionDocument {
    fn from(convention: Convention) -> Self {
        match convention {
            Convention::Definition => ConventionDocument::Definition,
            Convention::Printed => ConventionDocument::Printed,
        }
    }
}

impl From<ConventionDocument> for Convention {
    fn from(convention: ConventionDocument) -> Self {
        match convention {
            ConventionDocument::Definition => Convention::Definition,
            ConventionDocument::Printed => Convention::Printed,
        }
    }
}
