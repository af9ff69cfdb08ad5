//! What was found.

use crate::seal::sealed;
use dshap_models::{InputFile, Warning};
use serde::{Deserialize, Serialize};

/// What each owner is worth, and how that was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The version of dshap.
    pub version: &'static str,
    /// `regression`, `classification` or `density`.
    pub task: &'static str,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
    /// The column that names the owners.
    pub by: String,
    /// The method of row values; absent if rows were not valued.
    pub row_method: Option<&'static str>,
    /// The model whose utility is measured: `ridge`, `logistic`, `knn` or `kde`.
    pub model: &'static str,
    /// What utility is: minus the `squared-error`, and so on.
    pub utility: &'static str,
    /// The owners, by name.
    pub owners: Vec<OwnerLine>,
    /// Pairs of owners, from the strongest substitutes on. With many owners, only pairs of
    /// those that share most rows or have the largest values.
    pub interactions: Vec<Interaction>,
    /// What all owners are worth together: `all − none`, which is the sum of the values.
    pub total: f64,
    /// Utility of all owners together.
    pub all: f64,
    /// Utility of nobody: the buyer's rows alone, or no model.
    pub none: f64,
    /// The penalty of every model, where models have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge: Option<f64>,
    /// Where the penalty comes from: `given`, `five-folds` of all rows, `owners` (each is
    /// predicted from the others), or `too-few-rows` to choose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ridge_from: Option<&'static str>,
    /// Which rows measure utility.
    pub measured_on: Measured,
    /// How many.
    pub n_test: u64,
    /// Folds of cross-fitting; 1 without it.
    pub folds: usize,
    /// How the game was solved.
    pub solved: Solving,
    /// The seed of random orders, and of ties in payouts.
    pub seed: u64,
    /// Rows that belong to nobody.
    pub n_without_owner: u64,
    /// Pairs of owners that have rows in common; absent if nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<Vec<SharedRows>>,
    /// Pairs of owners with rows that are nearly the same, and how many rows of the first
    /// that are; absent if nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<Vec<SharedRows>>,
    /// Whether copies of a row count once.
    pub duplicates_once: bool,
    /// Covariances of the owners' values over test rows, if there are few owners.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covariance: Option<Vec<Vec<f64>>>,
    /// The same of what each owner brings to a buyer who has only the rows of `own`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_own_covariance: Option<Vec<Vec<f64>>>,
    /// Covariances of the row sums of owners, which share one fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_sum_covariance: Option<Vec<Vec<f64>>>,
    /// The files of the owners, with digests if asked for.
    pub rows: Vec<InputFile>,
    /// The test files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Vec<InputFile>>,
    /// The files of the buyer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<InputFile>>,
    /// What is doubtful; front ends make the sentences.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Everything as JSON, with a digest that shows whether somebody changes it.
    pub fn to_json(&self) -> String {
        sealed(self)
    }
}

/// One owner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OwnerLine {
    /// Its name.
    pub owner: String,
    /// Its rows, without those that have a missing cell.
    pub rows: u64,
    /// The sum of the values of its rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_sum: Option<f64>,
    /// The standard error of that sum: its rows share one fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_sum_stderr: Option<f64>,
    /// Their mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row_mean: Option<f64>,
    /// Share of its rows that have a negative value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub below_zero: Option<f64>,
    /// The distributional value of all its rows together, against the rows of the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<f64>,
    /// Row sums and joint values for each of several `m`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<AtSize>,
    /// Its value in the game between owners.
    pub shapley: f64,
    /// The standard error of that.
    pub stderr: Option<f64>,
    /// What it brings to a buyer who has only the rows of `own`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_own: Option<f64>,
    /// The standard error of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_own_stderr: Option<f64>,
    /// Its rows that another owner has too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Its rows that are nearly the same as a row of another owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<u64>,
    /// Its rows that are nearly the same as an earlier row of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near_repeated: Option<u64>,
    /// Its rows that repeat an earlier row of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<u64>,
}

/// What an owner's rows are worth to buyers with so much data.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AtSize {
    /// The largest set size.
    pub m: usize,
    /// The smallest set whose utility counts.
    pub q: usize,
    /// The sum of the values of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_sum: Option<f64>,
    /// The value of all its rows together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joint: Option<f64>,
}

/// How two owners go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interaction {
    /// One owner.
    pub a: String,
    /// The other.
    pub b: String,
    /// Strongly negative: substitutes. Positive: each is worth more with the other.
    pub value: f64,
    /// Its standard error, where owners joined in random orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<f64>,
}

/// Rows that two owners have in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedRows {
    /// One owner.
    pub a: String,
    /// The other.
    pub b: String,
    /// How many different rows both have.
    pub rows: u64,
}

/// Which rows measure utility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// Test rows.
    Test,
    /// The buyer's rows, by cross-fitting.
    Own,
    /// The rows of the owners, by cross-fitting.
    Rows,
}

/// How a game was solved.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum Solving {
    /// All coalitions were tried.
    Coalitions {
        /// How many.
        n: u64,
    },
    /// Owners joined in random orders.
    Permutations {
        /// Rounds, each with one contribution of every owner.
        rounds: usize,
        /// Standard errors wanted, as a share of the spread of the owners' values.
        tolerance: f64,
        /// Whether they became that small.
        reached: bool,
    },
}
