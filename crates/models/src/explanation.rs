//! Why a row is worth what it is worth, as facts.
//!
//! Sentences are made from these facts in `dshap-words`.

use serde::Serialize;

/// What explains the value of one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowExplanation {
    /// The row, counted from 0.
    pub row: u64,
    /// The method.
    pub method: &'static str,
    /// Its value, if it has one.
    pub value: Option<f64>,
    /// The standard error of the value, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<f64>,
    /// Why it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Where it stands among all rows valued.
    pub rank: Option<Rank>,
    /// What its position could bring with a perfect target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub potential: Option<f64>,
    /// What its error costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub penalty: Option<f64>,
    /// Target and prediction, if something is predicted.
    pub target: Option<TargetFacts>,
    /// The value it would have with the predicted target or label, where that is known.
    pub value_if_predicted: Option<f64>,
    /// How far it is from other rows.
    pub distance: Option<DistanceFacts>,
    /// What contributes to that, largest contributions first.
    pub features: Vec<FeatureFacts>,
    /// The rows most like it, nearest first.
    pub nearest: NearestRows,
}

/// Where a row stands among all rows with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// Rows of lower value.
    pub n_lower: u64,
    /// Rows with a value.
    pub n_valued: u64,
}

/// Target and prediction of a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum TargetFacts {
    /// A number.
    Number {
        /// The column.
        name: String,
        /// The target that the row has.
        actual: f64,
        /// The target that the model predicts.
        predicted: f64,
        /// `actual − predicted`.
        residual: f64,
        /// The same in standard deviations of the noise, where these are known.
        residual_in_deviations: Option<f64>,
    },
    /// A label.
    Label {
        /// The column.
        name: String,
        /// The label that the row has.
        given: String,
        /// Its probability.
        given_probability: Option<f64>,
        /// The most probable label.
        suggested: Option<String>,
    },
}

/// How far a row is from others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DistanceFacts {
    /// Its square.
    pub squared: f64,
    /// What an average row of the reference has.
    pub average: f64,
    /// How it is measured.
    pub kind: DistanceKind,
}

/// How distances of rows from their mean are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DistanceKind {
    /// Mahalanobis, from the reference mean.
    Mahalanobis,
    /// The same on the weighted rows of a logistic fit.
    Weighted,
    /// A sum of squared standard scores, column by column.
    StandardScores,
}

/// What one feature contributes to the squared distance of a row; one-hot columns count
/// together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureFacts {
    /// The feature.
    pub feature: String,
    /// What the row has there.
    pub cell: Cell,
    /// What contributes to the squared distance. Negative if the feature makes the others
    /// less surprising.
    pub contribution: f64,
}

/// A cell of a feature, and what is usual there.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number {
        /// The cell.
        value: f64,
        /// Mean of the reference.
        mean: f64,
        /// Its standard deviation there, if it is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        std_dev: Option<f64>,
    },
    /// A category.
    Category {
        /// The category.
        value: String,
        /// Share of the reference rows that have it.
        share: f64,
    },
    /// A date.
    Date {
        /// The date.
        value: String,
    },
}

/// Rows most like a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearestRows {
    /// Which rows they were chosen from.
    pub among: NearestAmong,
    /// Neighbours that predict, for nearest neighbours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// The rows, nearest first.
    pub rows: Vec<NearRow>,
}

/// Which rows the nearest ones were chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NearestAmong {
    /// The other rows of its table.
    Table,
    /// The rows of the reference.
    Reference,
}

/// A row like another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearRow {
    /// Its number, from 0.
    pub row: u64,
    /// How far it is.
    pub distance: f64,
    /// Its target or label, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// The squared distance of a row and what it is made of, column by column of the design.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviations {
    /// For each column its deviation from the mean, and the pull of all deviations on it. The
    /// product is what the column contributes.
    pub of_columns: Vec<(f64, f64)>,
    /// The squared distance.
    pub dist_sq: f64,
    /// What an average row has.
    pub average: f64,
    /// How it is measured.
    pub kind: DistanceKind,
}
