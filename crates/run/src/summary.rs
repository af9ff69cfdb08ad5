//! What ran, for people and for the record.

use crate::Error;
use crate::density_facts::DensityFacts;
use crate::fitted::{FittedModel, LogisticModel};
use crate::neighbour_facts::NeighbourFacts;
use crate::request::{Method, SizeChoice};
use crate::saved::{SavedValuer, Step};
use crate::second_order_choice::SecondOrderFacts;
use dshap::classification::LogisticFit;
use dshap::linear::{Bound, Constant, Convention, Intercept, LinearFit};
use dshap_io::{FileDigest, Source};
use dshap_table::{Design, Labels};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is known about a fitted reference and how it values rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facts {
    /// `regression`, `classification` or `density`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// The method.
    pub method: &'static str,
    /// The constant added: `gain`, `theorem` or `full:C`.
    pub constant: Option<String>,
    /// `definition` or `printed`.
    pub convention: &'static str,
    /// Seed of random methods.
    pub seed: Option<u64>,
    /// The target, if there is one.
    pub target: Option<String>,
    /// Raw feature columns.
    pub features: Vec<String>,
    /// The column with the weights of reference rows.
    pub weight: Option<String>,
    /// Whether there is an intercept: in regression features and target are
    /// centred by the reference means, in classification it is a column.
    pub intercept: bool,
    /// Whether the models fit their intercept anew on each set.
    pub refit_intercept: bool,
    /// `γ`, for methods that take one.
    pub ridge: Option<f64>,
    /// `c` and `C` of a bound.
    pub bound_constants: Option<(f64, f64)>,
    /// `p`, the columns of the design.
    pub p: usize,
    /// `q`, the smallest set whose utility counts.
    pub q: usize,
    /// Whether `q` was chosen by default.
    pub q_default: bool,
    /// `m`, the largest set size.
    pub m: usize,
    /// Whether `m` was chosen by default.
    pub m_default: bool,
    /// Reference rows; those of weight 0 and those left out do not count.
    pub n_reference: usize,
    /// Rows of equal weight that would tell as much.
    pub effective_rows: f64,
    /// `σ²`; 1 on the working variables of a logistic fit. A density has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
    /// Regression: share of the target's variation that the features explain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r_squared: Option<f64>,
    /// Regression: how much the scaled design magnifies errors, an estimate of
    /// its condition number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<f64>,
    /// Regression: decimal digits that rounding leaves to a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_digits: Option<u32>,
    /// What only a classification has.
    #[serde(flatten)]
    pub classification: Option<ClassFacts>,
    /// What only second-order values have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_order: Option<SecondOrderFacts>,
    /// What only a density has.
    #[serde(flatten)]
    pub density: Option<DensityFacts>,
    /// What only nearest neighbours have.
    #[serde(flatten)]
    pub neighbours: Option<NeighbourFacts>,
    /// What the columns were reduced to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pca: Option<ComponentFacts>,
    /// Columns left out of the design because they are constant or dependent.
    pub dropped_columns: Vec<String>,
}

/// What is known about principal components in the place of columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComponentFacts {
    /// How many there are.
    pub components: usize,
    /// How many columns they replace.
    pub columns: usize,
    /// Share of those columns' variance that they keep.
    pub explained: f64,
}

impl ComponentFacts {
    fn of(design: &Design) -> Option<Self> {
        let projection = design.projection()?;
        Some(Self {
            components: design.n_columns(),
            columns: design.n_encoded(),
            explained: projection.explained,
        })
    }
}

/// What is known about a fitted classification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassFacts {
    /// The labels, class by class.
    pub labels: Vec<String>,
    /// Reference rows of each.
    pub label_rows: Vec<usize>,
    /// The label that counts as 1; absent where there are more than two.
    pub positive: Option<String>,
    /// `−2 ·` the log-likelihood of the reference, summed over fits.
    pub deviance: f64,
    /// Passes over the reference that the fit took.
    pub fit_passes: usize,
}

impl ClassFacts {
    fn of(model: &LogisticModel, design: &Design) -> Self {
        let label_rows = match model.only() {
            Some(fit) => vec![fit.n_rows() - fit.n_positive(), fit.n_positive()],
            None => model.fits.iter().map(LogisticFit::n_positive).collect(),
        };
        Self {
            labels: design.labels().map(Labels::words).unwrap_or_default(),
            label_rows,
            positive: design.labels().and_then(Labels::positive),
            deviance: model.fits.iter().map(LogisticFit::deviance).sum(),
            fit_passes: model.fits.iter().map(LogisticFit::n_passes).max().unwrap_or(0),
        }
    }
}

impl Facts {
    pub(crate) fn of(valuer: &SavedValuer, method: Method, choice: SizeChoice) -> Result<Self, Error> {
        let SavedValuer { design, model, .. } = valuer;
        let fit = valuer.fit();
        let sizes = valuer.sizes(method, choice)?;
        let (constant, convention, seed) = describe(method);
        let logistic = match model {
            FittedModel::Logistic(model) => Some(model),
            FittedModel::Linear(_) | FittedModel::Density(_) | FittedModel::Neighbours(_) => None,
        };
        let density = match model {
            FittedModel::Density(model) => Some(DensityFacts::of(model)),
            FittedModel::Linear(_) | FittedModel::Logistic(_) | FittedModel::Neighbours(_) => None,
        };
        let neighbours = match (model, method.neighbours()) {
            (FittedModel::Neighbours(model), Some(k)) => Some(NeighbourFacts::of(model, design, k)),
            _ => None,
        };
        let bound = match method {
            Method::Bound(bound) => Some(bound),
            _ => None,
        };
        let dropped = model.dropped().into_iter().map(|column| design.column_name(column).to_string());
        Ok(Self {
            task: valuer.task().name(),
            task_guessed: valuer.task_guessed,
            method: method.name(),
            constant,
            convention,
            seed,
            target: design.target().map(String::from),
            features: design.features().map(String::from).collect(),
            weight: design.weight().map(String::from),
            intercept: model.intercept(),
            refit_intercept: fit.is_some_and(|fit| fit.intercept_kind() == Intercept::Refitted),
            ridge: match method {
                _ if logistic.is_some() => logistic.map(|model| model.options.ridge),
                Method::Bound(bound) => Some(bound.ridge),
                Method::General(options) => Some(options.ridge),
                _ => None,
            },
            bound_constants: bound.map(|bound| (bound.tail, bound.edge)),
            p: model.dim(method),
            q: sizes.min(),
            q_default: choice.min.is_none(),
            m: sizes.max(),
            m_default: choice.max.is_none(),
            n_reference: model.n_rows(),
            effective_rows: model.effective_rows(),
            noise_var: fit.map(LinearFit::noise_var).or(logistic.map(|_| 1.0)),
            r_squared: fit.map(LinearFit::r_squared),
            condition: fit.map(LinearFit::condition),
            value_digits: fit.map(LinearFit::digits),
            classification: logistic.map(|model| ClassFacts::of(model, design)),
            second_order: match method {
                Method::SecondOrder(choice) => logistic.and_then(|fitted| {
                    let expanded = fitted.second_order.as_ref()?;
                    let size = (fitted.fits.len(), model.dim(method));
                    Some(SecondOrderFacts::of(choice, expanded.kind(), expanded.shift(), size))
                }),
                _ => None,
            },
            density,
            neighbours,
            pca: ComponentFacts::of(design),
            dropped_columns: design.constant_features().map(String::from).chain(dropped).collect(),
        })
    }
}

fn describe(method: Method) -> (Option<String>, &'static str, Option<u64>) {
    match method {
        Method::Gaussian { convention: Convention::Printed, .. } => (Some("theorem".into()), "printed", None),
        Method::Gaussian { constant, .. } => {
            let name = match constant {
                Constant::Gain => "gain".into(),
                Constant::Theorem => "theorem".into(),
                Constant::Full(c) => format!("full:{c}"),
            };
            (Some(name), "definition", None)
        }
        Method::Algorithm3(algorithm) => (Some("theorem".into()), "printed", Some(algorithm.seed)),
        Method::Calibrated => (Some("gain".into()), "definition", None),
        Method::SecondOrder(choice) => (Some("gain".into()), "definition", Some(choice.seed)),
        Method::General(options) => (Some("gain".into()), "definition", Some(options.seed)),
        Method::Bound(Bound { convention: Convention::Printed, .. }) => (None, "printed", None),
        Method::Bound(_) | Method::Closed | Method::Knn { .. } | Method::KnnShapley { .. } => {
            (None, "definition", None)
        }
        Method::MonteCarlo(algorithm) => (None, "definition", Some(algorithm.seed)),
    }
}

/// What a further pass over the reference was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExtraPass {
    /// Levels of text columns, and means for missing cells.
    Levels,
    /// Labels, and what [`Levels`](Self::Levels) are.
    Labels,
    /// Moments of all columns, for their principal components.
    Components,
    /// Steps of a logistic fit, a pass each.
    Steps,
    /// Moments anew: columns turned out to be nearly combinations of others.
    HardColumns,
    /// Distances of all rows, to calibrate by.
    Calibration,
    /// All rows, to draw sets from.
    Rows,
    /// Moments of the authors' variables.
    Authors,
    /// Moments of models that are refitted on each set.
    Expansion,
}

/// What was valued and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Version of dshap.
    pub version: &'static str,
    /// The reference and the method.
    #[serde(flatten)]
    pub facts: Facts,
    /// Rows valued, those left out included.
    pub n_points: u64,
    /// Whether each row was valued against the others of its own table.
    pub leave_one_out: bool,
    /// How often the reference was read; not at all with a saved valuer.
    pub reference_passes: usize,
    /// Why more than once.
    pub extra_passes: Vec<ExtraPass>,
    /// Rounds of sets drawn, for methods that draw them.
    pub rounds: Option<usize>,
    /// Sets that were valued in the place of rows, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_sets: Option<usize>,
    /// How the values are spread.
    pub values: Spread,
    /// Everything doubtful.
    pub warnings: Vec<String>,
    /// The files read, with digests if asked for.
    pub points: Vec<InputFile>,
    /// The reference files; absent when points are their own reference.
    pub reference: Option<Vec<InputFile>>,
    /// The valuer used, if one was.
    pub valuer: Option<InputFile>,
}

/// What was fitted, updated or merged, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FitSummary {
    /// Version of dshap.
    pub version: &'static str,
    /// The reference and the method.
    #[serde(flatten)]
    pub facts: Facts,
    /// Decimal digits left in the moments of the column that lost most, once
    /// rows were forgotten.
    pub digits: Option<f64>,
    /// Rows that a killed run had read before this one went on.
    pub resumed_rows: Option<u64>,
    /// What changed of the defaults: `m` and `q` before.
    pub sizes_before: Option<(usize, usize)>,
    /// Text levels that the reference did not have before.
    pub new_levels: Vec<String>,
    /// Text levels that no reference row has any more.
    pub lost_levels: Vec<String>,
    /// Where the reference rows came from.
    pub history: Vec<Step>,
    /// Everything doubtful.
    pub warnings: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// As the user named it.
    pub name: String,
    /// Its size on disk, if digests were asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// SHA-256 in hexadecimal, if asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<String>,
}

impl InputFile {
    /// The files of a source, with digests if asked for.
    pub(crate) fn of(source: &Source, digests: bool) -> Result<Vec<InputFile>, Error> {
        if !digests {
            let plain = |name: &str| InputFile { name: name.into(), bytes: None, sha256: None };
            return Ok(source.files().map(plain).collect());
        }
        let files = source.digests()?.into_iter();
        Ok(files
            .map(|file| InputFile { name: file.name, bytes: Some(file.bytes), sha256: Some(file.sha256) })
            .collect())
    }

    /// A valuer file, with its digest if asked for.
    pub(crate) fn of_valuer(path: &Path, digest: bool) -> Result<InputFile, Error> {
        let name = path.display().to_string();
        if !digest {
            return Ok(InputFile { name, bytes: None, sha256: None });
        }
        let file = FileDigest::of_path(path)?;
        Ok(InputFile { name, bytes: Some(file.bytes), sha256: Some(file.sha256) })
    }

    /// Whether both are known to hold the same bytes.
    pub(crate) fn same_contents(&self, other: &InputFile) -> bool {
        self.sha256.is_some() && self.sha256 == other.sha256 && self.bytes == other.bytes
    }
}

/// How values are spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Rows with a value.
    pub n_valued: u64,
    /// Rows without one.
    pub n_without: u64,
    /// Rows with a negative value.
    pub n_negative: u64,
    /// The lowest value.
    pub lowest: Option<f64>,
    /// The highest value.
    pub highest: Option<f64>,
    /// The sum of the values.
    pub total: f64,
}

impl Spread {
    pub(crate) fn new() -> Self {
        Self { n_valued: 0, n_without: 0, n_negative: 0, lowest: None, highest: None, total: 0.0 }
    }

    pub(crate) fn add(&mut self, n_rows: usize, values: &[f64]) {
        let before = self.n_valued;
        for &value in values.iter().filter(|value| !value.is_nan()) {
            self.n_valued += 1;
            self.n_negative += u64::from(value < 0.0);
            self.lowest = Some(self.lowest.map_or(value, |lowest| lowest.min(value)));
            self.highest = Some(self.highest.map_or(value, |highest| highest.max(value)));
            self.total += value;
        }
        self.n_without += n_rows as u64 - (self.n_valued - before);
    }
}
