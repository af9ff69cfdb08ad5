//! What a front end asks for.

use crate::Error;
use crate::choice::{MethodChoice, RIDGE_MISPLACED};
use crate::density_choice::DensityChoice;
use crate::neighbour_choice::NeighbourChoice;
use crate::second_order_choice::SecondOrder;
use dshap::density::Algorithm5;
use dshap::linear::{
    Algorithm3, Bound, Constant, Convention, FitOptions, GeneralOptions, LinearMethod, Side,
};
use dshap_table::{Missing, Selection, Unseen};
use std::path::PathBuf;
use std::time::Duration;

/// What kind of model the rows are valued for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// A number is predicted.
    Regression,
    /// A label is predicted.
    Classification,
    /// Nothing is predicted: a density is estimated.
    Density,
}

impl Task {
    /// The word users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Task::Regression => "regression",
            Task::Classification => "classification",
            Task::Density => "density",
        }
    }
}

/// A way of valuing rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Theorem 2, exactly.
    Gaussian {
        /// The point-independent constant.
        constant: Constant,
        /// The sum over set sizes.
        convention: Convention,
    },
    /// Proposition 1, for any inputs and with a ridge, by drawing sets.
    General(GeneralOptions),
    /// Theorem 2, calibrated to the distances that reference rows really have.
    Calibrated,
    /// The paper's Monte Carlo.
    Algorithm3(Algorithm3),
    /// Theorem 3: a bound.
    Bound(Bound),
    /// The second-order gain of a model that is refitted on each set.
    SecondOrder(SecondOrder),
    /// Theorem 5, every integral in closed form.
    Closed,
    /// The paper's Monte Carlo for densities.
    MonteCarlo(Algorithm5),
    /// Nearest neighbours, in closed form.
    Knn {
        /// Neighbours that are averaged over.
        k: usize,
    },
    /// Shapley values of a finite dataset for nearest neighbours.
    KnnShapley {
        /// Neighbours that are averaged over.
        k: usize,
    },
}

impl Default for Method {
    fn default() -> Self {
        Method::Gaussian { constant: Constant::default(), convention: Convention::default() }
    }
}

impl Method {
    /// The word users know it by.
    pub fn name(self) -> &'static str {
        match self {
            Method::Gaussian { .. } => "gaussian",
            Method::Calibrated => "calibrated",
            Method::General(_) => "general",
            Method::Algorithm3(_) => "algorithm-3",
            Method::SecondOrder(_) => "second-order",
            Method::Bound(Bound { side: Side::Lower, .. }) => "lower",
            Method::Bound(Bound { side: Side::Upper, .. }) => "upper",
            Method::Closed => "closed",
            Method::MonteCarlo(_) => "monte-carlo",
            Method::Knn { .. } => "knn",
            Method::KnnShapley { .. } => "knn-shapley",
        }
    }

    /// `k`, if rows are valued by their neighbours.
    pub fn neighbours(self) -> Option<usize> {
        match self {
            Method::Knn { k } | Method::KnnShapley { k } => Some(k),
            _ => None,
        }
    }

    /// What core calls it in regression; calibrated and drawn values are made in
    /// other ways.
    pub(crate) fn linear(self) -> Option<LinearMethod> {
        match self {
            Method::Gaussian { constant, convention } => {
                Some(LinearMethod::Gaussian { constant, convention })
            }
            Method::Algorithm3(algorithm) => Some(LinearMethod::Algorithm3(algorithm)),
            Method::Bound(bound) => Some(LinearMethod::Bound(bound)),
            Method::Calibrated
            | Method::General(_)
            | Method::SecondOrder(_)
            | Method::Closed
            | Method::MonteCarlo(_)
            | Method::Knn { .. }
            | Method::KnnShapley { .. } => None,
        }
    }

    /// The same method without a ridge of its own, and that ridge.
    fn without_ridge(self) -> (Method, f64) {
        match self {
            Method::General(options) => {
                (Method::General(GeneralOptions { ridge: 0.0, ..options }), options.ridge)
            }
            Method::Bound(bound) => (Method::Bound(Bound { ridge: 0.0, ..bound }), bound.ridge),
            method => (method, 0.0),
        }
    }

    /// Whether a value is a potential less a penalty.
    pub(crate) fn splits_values(self) -> bool {
        matches!(self, Method::Gaussian { .. } | Method::Calibrated)
    }

    /// Whether it is a bound as printed.
    pub(crate) fn is_printed_bound(self) -> bool {
        matches!(self, Method::Bound(Bound { convention: Convention::Printed, .. }))
    }

    /// Whether a valuer carries more of its reference than moments, so that
    /// rows can be neither added nor taken away.
    pub(crate) fn fixes_reference(self) -> bool {
        matches!(self, Method::Calibrated | Method::General(_))
    }

    /// Whether values have standard errors.
    pub(crate) fn has_std_error(self) -> bool {
        self.neighbours().is_some()
            || matches!(
                self,
                Method::Gaussian { .. }
                    | Method::Calibrated
                    | Method::General(_)
                    | Method::SecondOrder(_)
                    | Method::Closed
            )
    }
}

/// `q` and `m` as far as they were given; the rest is chosen by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SizeChoice {
    /// `q`, the smallest set whose utility counts.
    pub min: Option<usize>,
    /// `m`, the largest set size.
    pub max: Option<usize>,
}

impl SizeChoice {
    /// What is given here, else there.
    pub(crate) fn or(self, other: SizeChoice) -> SizeChoice {
        SizeChoice { min: self.min.or(other.min), max: self.max.or(other.max) }
    }
}

/// What is fitted to a reference, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Which column plays which part.
    pub selection: Selection,
    /// Missing cells.
    pub missing: Missing,
    /// Levels the reference does not have.
    pub unseen: Unseen,
    /// The task, if said.
    pub task: Option<Task>,
    /// The method.
    pub method: Method,
    /// `γ` of the fit, if it was not the method's to take: classification only.
    pub ridge: Option<f64>,
    /// The label that counts as 1, if said: classification only.
    pub positive: Option<String>,
    /// How many principal components of the reference take the place of the
    /// columns, if they do.
    pub n_components: Option<usize>,
    /// The set sizes.
    pub sizes: SizeChoice,
    /// Centring, and what becomes of dependent columns.
    pub fit: FitOptions,
    /// How a reference is smoothed: density only.
    pub density: DensityChoice,
    /// How neighbours are found, and whom they should predict: `knn` and
    /// `knn-shapley` only.
    pub neighbours: NeighbourChoice,
}

impl Model {
    /// A model of `target` by all other columns; the task is guessed.
    pub fn new(target: &str) -> Self {
        Self {
            selection: Selection { target: Some(target.into()), ..Selection::default() },
            missing: Missing::default(),
            unseen: Unseen::default(),
            task: None,
            method: Method::default(),
            ridge: None,
            positive: None,
            n_components: None,
            sizes: SizeChoice::default(),
            fit: FitOptions::default(),
            density: DensityChoice::default(),
            neighbours: NeighbourChoice::default(),
        }
    }

    /// The density of all columns, in closed form.
    pub fn density() -> Self {
        let selection = Selection::default();
        Self { selection, task: Some(Task::Density), method: Method::Closed, ..Self::new("") }
    }
}

impl Model {
    /// The method for a task, and the ridge of the fit: in regression a ridge is
    /// the method's, in classification the fit's, whatever the method.
    pub(crate) fn settled_for(&self, task: Task) -> Result<(Method, f64), Error> {
        let misplaced = |what: &str| Err(Error::Misplaced { what: what.into() });
        if self.method.neighbours().is_some() {
            if let Some(flag) = self.density.first_said() {
                return misplaced(&format!("`{flag}` goes with `--task density` only"));
            }
            return Ok((self.settled_for_neighbours(task)?, 0.0));
        }
        if let Some(flag) = self.neighbours.first_said() {
            return misplaced(&format!("`{flag}` goes with `--method knn` and `knn-shapley` only"));
        }
        if let (true, Some(flag)) = (task != Task::Density, self.density.first_said()) {
            let also = if flag == "--scale" { ", `--method knn` and `knn-shapley`" } else { "" };
            return misplaced(&format!("`{flag}` goes with `--task density`{also} only"));
        }
        if task != Task::Density && self.method.density().is_some() {
            let name = self.method.name();
            return misplaced(&format!("`--method {name}` values densities; say `--task density`"));
        }
        match task {
            Task::Density => Ok((self.settled_for_density()?, 0.0)),
            Task::Regression if self.ridge.is_some() => misplaced(RIDGE_MISPLACED),
            Task::Regression if self.positive.is_some() => {
                misplaced("`--positive` goes with classification only; say `--task classification`")
            }
            Task::Regression if matches!(self.method, Method::SecondOrder(_)) => {
                misplaced(if self.task.is_none() {
                    "`--method second-order` is for classification, and the target looks like one of regression: it has \
                 other than two values; say `--task classification` if they are labels"
                } else {
                    "`--method second-order` is for classification: a linear model that is refitted on each set is \
                 what the other methods value"
                })
            }
            Task::Regression => Ok((self.method, 0.0)),
            Task::Classification if matches!(self.method, Method::Algorithm3(_)) => {
                misplaced("`--method algorithm-3` is for regression only")
            }
            Task::Classification if self.fit.refit_intercept => misplaced(
                "`--refit-intercept` is for regression; in classification the intercept is a column like others",
            ),
            Task::Classification => {
                let (method, ridge) = self.method.without_ridge();
                let ridge = self.ridge.unwrap_or(ridge);
                if let Method::SecondOrder(choice) = method {
                    choice.refuse_with_ridge(ridge).map_err(|what| Error::Misplaced { what })?;
                }
                Ok((method, ridge))
            }
        }
    }
}

/// What may be said differently each time a saved valuer is used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Columns to carry through: a name for rows.
    pub id: Option<String>,
    /// The owner or group of rows.
    pub by: Option<String>,
    /// Others.
    pub keep: Vec<String>,
    /// Missing cells.
    pub missing: Option<Missing>,
    /// Levels the reference does not have.
    pub unseen: Option<Unseen>,
    /// The method and its options.
    pub method: MethodChoice,
    /// The set sizes.
    pub sizes: SizeChoice,
}

/// What rows are valued against.
#[derive(Debug, Clone, PartialEq)]
pub enum Against {
    /// Each other: every row against the rest.
    Themselves(Model),
    /// A reference in files.
    Reference {
        /// The files.
        files: Vec<String>,
        /// What is fitted to them.
        model: Model,
    },
    /// A valuer that was saved.
    Valuer {
        /// Its file.
        file: PathBuf,
        /// What is said differently.
        overrides: Overrides,
    },
    /// A valuer at hand, which is passed beside the request.
    Fitted {
        /// The points are its reference: each is valued against the others.
        leave_one_out: bool,
    },
}

impl Against {
    /// Whether each row is valued against the others of its own table.
    pub(crate) fn is_leave_one_out(&self) -> bool {
        matches!(self, Against::Themselves(_) | Against::Fitted { leave_one_out: true })
    }
}

/// How much memory may be used, and what is kept for the case that the run is
/// killed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resources {
    /// Bytes of resident memory, if there is a limit.
    pub memory: Option<u64>,
    /// Where the state of a fit is kept from time to time.
    pub checkpoint: Option<CheckpointFile>,
}

/// A file for the state of a fit under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointFile {
    /// Where.
    pub path: PathBuf,
    /// How often, at most.
    pub every: Duration,
}

/// Rows to be valued, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueRequest {
    /// Files with the points.
    pub points: Vec<String>,
    /// What they are valued against.
    pub against: Against,
    /// Whether standard errors are wanted.
    pub std_error: bool,
    /// Whether it is told what each of more than two classes contributes.
    pub per_class: bool,
    /// Groups of points that are valued as sets, in the place of rows: density
    /// only.
    pub sets: Option<SetsRequest>,
    /// Whether the summary should have digests of the inputs.
    pub digests: bool,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

/// Groups of points that are valued as sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetsRequest {
    /// The column that names them. To be no feature, it must be the selection's
    /// `by`.
    pub column: String,
    /// Two of them, if only their synergy is wanted.
    pub synergy: Option<(String, String)>,
}

impl ValueRequest {
    /// The points valued against themselves, everything else as by default.
    pub fn new(points: Vec<String>, target: &str) -> Self {
        Self {
            points,
            against: Against::Themselves(Model::new(target)),
            std_error: false,
            per_class: false,
            sets: None,
            digests: false,
            outputs: Vec::new(),
            resources: Resources::default(),
        }
    }
}

/// A reference to be fitted and saved.
#[derive(Debug, Clone, PartialEq)]
pub struct FitRequest {
    /// Files with the reference.
    pub reference: Vec<String>,
    /// What is fitted to it.
    pub model: Model,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

/// A valuer whose reference changes.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateRequest {
    /// The valuer.
    pub valuer: PathBuf,
    /// Files with rows to be added.
    pub add: Vec<String>,
    /// Files with rows to be taken away.
    pub forget: Vec<String>,
    /// Set sizes from now on, as far as said.
    pub sizes: SizeChoice,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

/// Valuers of disjoint references to be made one.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeRequest {
    /// The valuers.
    pub valuers: Vec<PathBuf>,
    /// Set sizes from now on, as far as said.
    pub sizes: SizeChoice,
}
