//! Why columns could not be turned into a design.

use crate::Kind;

/// Why columns could not be turned into a design.
///
/// Rows are counted from 0 within the batch at hand.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that no column has.
    #[error("there is no column `{name}`; the columns are {}", quoted(.available))]
    NoSuchColumn {
        /// The name asked for.
        name: String,
        /// The names there are.
        available: Vec<String>,
    },

    /// No target was named.
    #[error("no target column was named; the columns are {}", quoted(.available))]
    NoTarget {
        /// The names there are.
        available: Vec<String>,
    },

    /// Nothing is left to be a feature.
    #[error(
        "no feature column is left{}",
        target.as_ref().map(|target| format!(" besides the target `{target}`")).unwrap_or_default()
    )]
    NoFeatures {
        /// The target, if there is one.
        target: Option<String>,
    },

    /// One column named for two purposes that exclude each other.
    #[error("column `{name}` is named both as {first} and as {second}")]
    TwoRoles {
        /// The column.
        name: String,
        /// One purpose.
        first: &'static str,
        /// The other.
        second: &'static str,
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

    /// A target that names no classes.
    #[error("target `{name}` has {} different labels", if *.more { format!("more than {}", .n_labels) } else { format!("{0} rows and {0}", .n_labels) })]
    TooManyLabels {
        /// The target.
        name: String,
        /// Labels met.
        n_labels: usize,
        /// Whether counting stopped there.
        more: bool,
    },

    /// A reference without a label.
    #[error(
        "no usable row of the reference has a label in target `{name}` (rows of weight 0 are not usable)"
    )]
    NoLabels {
        /// The target.
        name: String,
    },

    /// A reference of one class.
    #[error(
        "every usable reference row has the label `{label}` in target `{name}`; classification needs two labels at least"
    )]
    OneLabel {
        /// The target.
        name: String,
        /// The label.
        label: String,
    },

    /// Labels that are whole numbers too large to be told apart as doubles.
    #[error("the label `{label}` of target `{name}` is too large a number to be told from its neighbours")]
    LargeLabel {
        /// Row of the cell.
        row: usize,
        /// The target.
        name: String,
        /// The label.
        label: f64,
    },

    /// A label that the reference does not have.
    #[error("the label `{label}` of target `{name}` is none of those of the reference: {}", quoted(&.unknown.labels), label = .unknown.label, name = .unknown.name)]
    UnknownLabel {
        /// Row within the batch; absent if a user named the label.
        row: Option<usize>,
        /// Which, and what there is instead.
        unknown: Box<UnknownLabel>,
    },

    /// A positive label where there are more than two.
    #[error(
        "target `{name}` has {n_labels} labels, each of which is told from all others; none is the positive one"
    )]
    PositiveOfMany {
        /// The target.
        name: String,
        /// How many labels.
        n_labels: usize,
    },

    /// A column of categories with a level for every row, or nearly.
    #[error("column `{name}` has {} different values, too many for categories", if *.more { format!("more than {}", .n_levels) } else { format!("{0} rows and {0}", .n_levels) })]
    TooManyLevels {
        /// The column.
        name: String,
        /// Levels met.
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

    /// A NaN or an infinity in a column that claims to have none.
    #[error("the cell of column `{name}` is not a finite number")]
    NotFinite {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
    },

    /// A weight below zero, or beyond all reason.
    #[error("the weight in column `{name}` is {weight:?}; weights are 0 or from 1e-100 to 1e100")]
    BadWeight {
        /// Row within the batch.
        row: usize,
        /// The column.
        name: String,
        /// What stands there.
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

    /// Two designs that are not about the same columns.
    #[error("{what}")]
    Differs {
        /// What differs, in words.
        what: String,
    },

    /// A stored design that cannot have been learned.
    #[error("{what}")]
    Contradiction {
        /// What contradicts what.
        what: &'static str,
    },

    /// Nothing but missing cells, so there is no mean to fill in.
    #[error("column `{name}` has no value at all")]
    AllMissing {
        /// The column.
        name: String,
    },
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
            | Error::LargeLabel { row, .. }
            | Error::BadWeight { row, .. } => Some(*row),
            Error::UnknownLabel { row, .. } => *row,
            _ => None,
        }
    }

    /// What to try instead.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NoSuchColumn { name, available } => {
                let suggestion = crate::closest(name, available.iter().map(String::as_str))?;
                format!("did you mean `{suggestion}`?")
            }
            Error::TwoRoles { name, .. } => format!("name `{name}` only once"),
            Error::TargetKind { kind: Kind::Text, .. } => {
                "text is for `--task classification`; or name a column of numbers with `--target`".into()
            }
            Error::TargetKind { .. } => "name a column of numbers with `--target`".into(),
            Error::LabelKind { .. } => "name another `--target`, or turn it into labels first".into(),
            Error::TooManyLabels { .. } => {
                "numbers are for `--task regression`; or name another `--target`".into()
            }
            Error::NoLabels { .. } => {
                "check the target, and whether rows are left out for missing cells".into()
            }
            Error::OneLabel { .. } => {
                "add rows with another label, or name another `--target`; rows without a label and rows of weight 0 do not count".into()
            }
            Error::LargeLabel { name, .. } => format!("say `--categorical {name}` to take labels for words"),
            Error::UnknownLabel { row: Some(_), .. } => {
                "leave such rows out, or add rows with that label to the reference".into()
            }
            Error::UnknownLabel { unknown, .. } => {
                let labels = unknown.labels.iter().map(String::as_str);
                let suggestion = crate::closest(&unknown.label, labels)?;
                format!("did you mean `{suggestion}`?")
            }
            Error::PositiveOfMany { .. } => "leave `--positive` out".into(),
            Error::NoTarget { .. } => {
                "name the column to predict with `--target COLUMN`; `--task density` needs none".into()
            }
            Error::NoFeatures { .. } => "check `--features` and `--exclude`".into(),
            Error::UnusableKind { name, kind: Kind::Date } => format!(
                "leave it out with `--exclude {name}`, or turn it into numbers first, such as days since a fixed date"
            ),
            Error::UnusableKind { name, kind: Kind::Duration } => {
                format!("leave it out with `--exclude {name}`, or turn it into numbers first, such as hours")
            }
            Error::UnusableKind { name, .. } => format!("leave it out with `--exclude {name}`"),
            Error::TooManyLevels { name, .. } => format!(
                "leave it out with `--exclude {name}`, or carry it through as the name of the rows with `--id {name}`"
            ),
            Error::Missing { can_fill: false, .. } => {
                "`--missing drop` leaves out rows with missing cells; a target or weight cannot be filled in"
                    .into()
            }
            Error::Missing { .. } => {
                "`--missing drop` leaves such rows out, `--missing mean` fills in the mean of the column"
                    .into()
            }
            Error::UnseenLevel { .. } => {
                "`--unseen zero` gives 0 to the columns of all levels that the reference has".into()
            }
            Error::AllMissing { name } => format!("leave it out with `--exclude {name}`"),
            _ => return None,
        })
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
