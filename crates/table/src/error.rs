//! Why columns could not be turned into a design.

use crate::Kind;
use std::fmt;

/// Why columns could not be turned into a design.
///
/// These are facts: columns, labels and levels by name, rows counted from 0 within
/// the batch at hand. What the user can do about them depends on the front end, so
/// `dshap-words` says it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no column has.
    #[error("there is no column `{name}`; the columns are {}", quoted(.available))]
    NoSuchColumn {
        /// The name asked for.
        name: String,
        /// The names that exist.
        available: Vec<String>,
    },

    /// No target was named.
    #[error("no target column was named; the columns are {}", quoted(.available))]
    NoTarget {
        /// The names that exist.
        available: Vec<String>,
    },

    /// No column is left to be a feature.
    #[error(
        "no feature column is left{}",
        target.as_ref().map(|target| format!(" besides the target `{target}`")).unwrap_or_default()
    )]
    NoFeatures {
        /// The target, if there is one.
        target: Option<String>,
    },

    /// One column in two roles that exclude each other.
    #[error("column `{name}` is named both as {first} and as {second}")]
    TwoRoles {
        /// The column.
        name: String,
        /// One role.
        first: Role,
        /// The other.
        second: Role,
    },

    /// A column that cannot be made into numbers.
    #[error("column `{name}` holds {kind} values, which cannot be used as a feature")]
    UnusableKind {
        /// The column.
        name: String,
        /// What it holds.
        kind: Kind,
    },

    /// A target that is not a number.
    #[error("target `{name}` holds {kind} values; regression needs numbers")]
    TargetKind {
        /// The column.
        name: String,
        /// What it holds.
        kind: Kind,
    },

    /// A target that cannot be labels.
    #[error("target `{name}` holds {kind} values, which cannot be labels")]
    LabelKind {
        /// The column.
        name: String,
        /// What it holds.
        kind: Kind,
    },

    /// A target that is not a classification.
    #[error(
        "target `{name}` has {}",
        if *.more { format!("more than {n_labels} different labels") } else { format!("a different label in each of its {n_labels} rows") }
    )]
    TooManyLabels {
        /// The target.
        name: String,
        /// Labels found.
        n_labels: usize,
        /// Whether counting stopped there.
        more: bool,
    },

    /// A reference without a label.
    #[error("no usable reference row has a label in target `{name}` (rows of weight 0 are not usable)")]
    NoLabels {
        /// The target.
        name: String,
    },

    /// A reference with one label only.
    #[error(
        "every usable reference row has the label `{label}` in target `{name}`; classification needs at least two labels"
    )]
    OneLabel {
        /// The target.
        name: String,
        /// The label.
        label: String,
    },

    /// A label that is a whole number so large that doubles round it.
    #[error("the label `{label}` of target `{name}` is so large that it cannot be told from the next number")]
    LargeLabel {
        /// Row of the cell.
        row: usize,
        /// The target.
        name: String,
        /// The label.
        label: f64,
    },

    /// A label that the reference does not have.
    #[error("the label `{label}` of target `{name}` does not occur in the reference, whose labels are {}", quoted(&.unknown.labels), label = .unknown.label, name = .unknown.name)]
    UnknownLabel {
        /// Row within the batch; absent if a user named the label.
        row: Option<usize>,
        /// The label, and those of the reference.
        unknown: Box<UnknownLabel>,
    },

    /// A positive label for a target with more than two labels.
    #[error("target `{name}` has {n_labels} labels; a positive label needs exactly two")]
    PositiveOfMany {
        /// The target.
        name: String,
        /// How many labels.
        n_labels: usize,
    },

    /// A text column with a level for every row, or with too many levels.
    #[error(
        "column `{name}` has {}, too many for categories",
        if *.more { format!("more than {n_levels} different values") } else { format!("a different value in each of its {n_levels} rows") }
    )]
    TooManyLevels {
        /// The column.
        name: String,
        /// Levels found.
        n_levels: usize,
        /// Whether counting stopped there.
        more: bool,
    },

    /// A missing cell.
    #[error("the cell of column `{name}` is missing")]
    Missing {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
        /// Whether it could be filled in: a target or a weight cannot.
        can_fill: bool,
    },

    /// A level that the reference does not have.
    #[error("the cell of column `{name}` is `{level}`, which no reference row has")]
    UnseenLevel {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
        /// The level.
        level: String,
    },

    /// A cell among dates that is none.
    #[error("the cell of column `{name}` is `{text}`, which is no date")]
    NotADate {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
        /// What the cell holds.
        text: String,
    },

    /// A NaN or an infinity.
    #[error("the cell of column `{name}` is not a finite number")]
    NotFinite {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
    },

    /// A weight that is negative, or too small or too large.
    #[error("the weight in column `{name}` is {weight:?}; a weight is 0 or between 1e-100 and 1e100")]
    BadWeight {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
        /// What the cell holds.
        weight: f64,
    },

    /// A weight column that does not hold numbers.
    #[error("weight column `{name}` holds {kind} values; weights are numbers")]
    WeightKind {
        /// The column.
        name: String,
        /// What it holds.
        kind: Kind,
    },

    /// Two designs that cannot become one.
    #[error("{0}")]
    Differs(Difference),

    /// A stored design that cannot have been learned.
    #[error("{what}")]
    Contradiction {
        /// What contradicts what.
        what: &'static str,
    },

    /// A column with missing cells only, so there is no mean to fill in.
    #[error("column `{name}` has no value at all")]
    AllMissing {
        /// The column.
        name: String,
    },
}

/// What a user can name a column as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The column to predict.
    Target,
    /// The column that names the rows.
    Id,
    /// The column with the owner or group of each row.
    By,
    /// The column with the weights of reference rows.
    Weight,
    /// A feature.
    Features,
    /// A column that is not a feature.
    Exclude,
}

impl Role {
    /// The name of the option that gives a column this role.
    pub fn option(self) -> &'static str {
        match self {
            Role::Target => "target",
            Role::Id => "id",
            Role::By => "by",
            Role::Weight => "weight",
            Role::Features => "features",
            Role::Exclude => "exclude",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Target => "the target",
            Role::Id => "the name of the rows",
            Role::By => "the group of the rows",
            Role::Weight => "the weight",
            Role::Features => "a feature",
            Role::Exclude => "a column to leave out",
        })
    }
}

/// Why two designs cannot become one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// They predict different columns.
    #[error("their targets are `{first}` and `{second}`")]
    Targets {
        /// The target of one.
        first: String,
        /// That of the other.
        second: String,
    },
    /// Only one has a target.
    #[error("only one of them has a target")]
    OneTarget,
    /// Only one reads its target as text.
    #[error("the target is text in only one of them")]
    TextTarget,
    /// Only one gives the first level of a text feature a column.
    #[error("only one of them has a column for every level")]
    AllLevels,
    /// A feature that only one has.
    #[error("only one of them has the feature `{name}`")]
    Feature {
        /// The feature.
        name: String,
    },
    /// A feature that is text in only one.
    #[error("feature `{name}` is text in only one of them")]
    TextFeature {
        /// The feature.
        name: String,
    },
    /// A text feature whose rare levels are pooled, but not the same ones.
    #[error("they do not pool the same rare levels of feature `{name}`")]
    Pooled {
        /// The feature.
        name: String,
    },
    /// Only one has weights.
    #[error("only one of them has weights")]
    Weights,
    /// Only one fills missing cells with means.
    #[error("only one of them fills missing cells with means")]
    Means,
}

/// A label that the reference does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownLabel {
    /// The target.
    pub name: String,
    /// The label.
    pub label: String,
    /// The labels of the reference.
    pub labels: Vec<String>,
}

impl Error {
    /// The row within the batch, if the error is about one.
    pub fn row(&self) -> Option<usize> {
        match self {
            Error::Missing { row, .. }
            | Error::UnseenLevel { row, .. }
            | Error::NotFinite { row, .. }
            | Error::NotADate { row, .. }
            | Error::LargeLabel { row, .. }
            | Error::BadWeight { row, .. } => Some(*row),
            Error::UnknownLabel { row, .. } => *row,
            _ => None,
        }
    }
}

fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text += &format!(" and {} more", names.len() - SHOWN);
    }
    text
}
