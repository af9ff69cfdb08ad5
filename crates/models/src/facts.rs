//! What is known about a fitted reference and how it values rows.

use crate::Error;
use crate::density::DensityFacts;
use crate::how::How;
use crate::kept_tests::{KeptTests, TestFacts};
use crate::logistic::ClassFacts;
use crate::method::Method;
use crate::methods;
use crate::neighbours::NeighbourFacts;
use crate::second_order::SecondOrderFacts;
use crate::sets::BaselineFacts;
use crate::valuer::FittedValuer;
use dshap_catalogue::Value;
use dshap_catalogue::options::{BOUND_C, BOUND_EDGE, CONSTANT, CONVENTION, SEED, TARGETS};
use dshap_table::Design;
use serde::Serialize;

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
    /// How set sizes are weighted, if not as Shapley values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semivalue: Option<String>,
    /// Which targets drawn sets have, if not expected ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<String>,
    /// Seed of methods that draw.
    pub seed: Option<u64>,
    /// The target, if there is one.
    pub target: Option<String>,
    /// Raw feature columns.
    pub features: Vec<String>,
    /// The column with the weights of reference rows.
    pub weight: Option<String>,
    /// Whether there is an intercept: regression centres features and target by the
    /// reference means, classification has a column of ones.
    pub intercept: bool,
    /// Whether the models refit their intercept on each set.
    pub refit_intercept: bool,
    /// `γ`, for methods that take one.
    pub ridge: Option<f64>,
    /// Whether it is for standardised features instead of features as given.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ridge_standardised: bool,
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
    /// The variance of the target; without an intercept, about 0.
    pub target_var: Option<f64>,
    /// Regression: how much the scaled design magnifies errors, an estimate of its
    /// condition number.
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
    /// What only baselines have.
    #[serde(flatten)]
    pub baseline: Option<BaselineFacts>,
    /// The rows that values are for, if they are not rows like the reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestFacts>,
    /// What the columns were reduced to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pca: Option<ComponentFacts>,
    /// Columns left out of the design because they are constant or dependent.
    pub dropped_columns: Vec<String>,
}

/// What is known about principal components that replace columns.
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

impl Facts {
    /// The method, as it is described and made.
    pub fn described(&self) -> &'static Method {
        methods::find(self.method).expect("facts are about a method that there is")
    }

    /// The facts of a valuer that values rows as `how` says.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes.
    pub fn of(valuer: &FittedValuer, how: &How) -> Result<Self, Error> {
        let FittedValuer { design, model, .. } = valuer;
        let (sizes, choice) = (model.sizes(how, design)?, how.sizes());
        let number = |option| match how.value(option) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        };
        let dropped = model.dropped().into_iter().map(|column| design.column_name(column).to_string());
        let mut facts = Self {
            task: model.task().name(),
            task_guessed: valuer.task_guessed,
            method: how.method.name(),
            constant: how.constant(),
            convention: how.convention(),
            semivalue: Some(how.semivalue())
                .filter(|law| *law != dshap::Semivalue::Shapley)
                .map(|law| law.to_string()),
            targets: how.given.word(&TARGETS).filter(|word| *word != "expected").map(String::from),
            seed: how.method.entry.takes(&SEED, None).map(|_| how.seed()),
            target: design.target().map(String::from),
            features: design.features().map(String::from).collect(),
            weight: design.weight().map(String::from),
            intercept: model.intercept(),
            refit_intercept: false,
            ridge: None,
            ridge_standardised: false,
            bound_constants: number(&BOUND_C).zip(number(&BOUND_EDGE)),
            p: model.dim(how),
            q: sizes.min(),
            q_default: choice.min.is_none(),
            m: sizes.max(),
            m_default: choice.max.is_none(),
            n_reference: model.n_rows(),
            effective_rows: model.effective_rows(),
            noise_var: None,
            r_squared: None,
            target_var: None,
            condition: None,
            value_digits: None,
            classification: None,
            second_order: None,
            density: None,
            neighbours: None,
            baseline: None,
            tests: model.kept_tests().map(KeptTests::facts),
            pca: ComponentFacts::of(design),
            dropped_columns: design.constant_features().map(String::from).chain(dropped).collect(),
        };
        model.describe(how, design, &mut facts);
        Ok(facts)
    }
}

impl How {
    /// The constant that values hold, if that has a name.
    fn constant(&self) -> Option<String> {
        match self.value(&CONSTANT) {
            Some(_) if self.is_printed() => Some("theorem".into()),
            Some(Value::Word(word)) => Some(word),
            _ => self.method.constant.map(String::from),
        }
    }

    /// Whether sums are as defined, as printed, or of the authors' program.
    fn convention(&self) -> &'static str {
        match self.value(&CONVENTION) {
            _ if self.is_printed() => "printed",
            Some(Value::Word(word)) if word == "authors" => "authors",
            None => self.method.convention,
            Some(_) => "definition",
        }
    }
}
