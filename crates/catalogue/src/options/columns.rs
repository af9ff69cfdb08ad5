//! Which column plays which role, and how columns become numbers.

use crate::option::{Group, OptionEntry, Scope};
use crate::value::{Kind, SIZE, Word};

const COLUMN: OptionEntry = OptionEntry {
    name: "",
    placeholder: "COLUMN",
    takes: Kind::Text,
    group: Group::Columns,
    help: "",
    details: "",
    default: "",
    daily: false,
    scope: Scope::Fit,
};

const COLUMNS: OptionEntry = OptionEntry { placeholder: "A,B", takes: Kind::Names, ..COLUMN };

const POLICY: OptionEntry = OptionEntry { placeholder: "HOW", ..COLUMN };

/// The column to predict.
pub static TARGET: OptionEntry = OptionEntry {
    name: "target",
    help: "The column to predict",
    daily: true,
    scope: Scope::MethodFit,
    ..COLUMN
};

/// The features.
pub static FEATURES: OptionEntry = OptionEntry {
    name: "features",
    help: "The features, separated by commas",
    default: "all columns not used otherwise",
    daily: true,
    ..COLUMNS
};

/// Columns that are not features.
pub static EXCLUDE: OptionEntry =
    OptionEntry { name: "exclude", help: "Columns that are not features", daily: true, ..COLUMNS };

/// A name for rows.
pub static ID: OptionEntry = OptionEntry {
    name: "id",
    help: "A column that names the rows: carried through, not a feature",
    scope: Scope::Always,
    ..COLUMN
};

/// The owner of rows.
pub static BY: OptionEntry = OptionEntry {
    name: "by",
    help: "A column that names the owner or group of a row: carried through, not a feature",
    scope: Scope::Always,
    ..COLUMN
};

/// Weights.
pub static WEIGHT: OptionEntry = OptionEntry {
    name: "weight",
    help: "A column with the weights of reference rows: non-negative; only ratios matter",
    scope: Scope::MethodFit,
    ..COLUMN
};

/// Columns that hold categories.
pub static CATEGORICAL: OptionEntry =
    OptionEntry { name: "categorical", help: "Columns to read as categories whatever they hold", ..COLUMNS };

/// Rare categories.
pub static RARE_LEVELS: OptionEntry = OptionEntry {
    name: "rare_levels",
    placeholder: "N",
    takes: SIZE,
    help: "Pool the categories that fewer than N reference rows have into one, `other`",
    details: "A column without a rare category stays as it is. In a column with `other`, categories that the \
              reference does not have count as `other`, too, whatever {unseen} says. Columns may have up to a million \
              categories, as long as 256 remain. A saved valuer keeps its `other` when it is updated.",
    default: "none are pooled",
    ..COLUMN
};

/// Dates.
pub static DATES: OptionEntry = OptionEntry {
    name: "dates",
    placeholder: "FORM",
    takes: Kind::Choice {
        words: &[
            Word { word: "days", means: "days since 1970-01-01, with the time of day as a fraction" },
            Word {
                word: "parts",
                means: "year, month, weekday (Monday is 0), and the hour if there are times",
            },
        ],
    },
    help: "Turn columns of dates into numbers",
    details: "Dates are written as 2024-01-31 or 2024/1/31, also with a time of day.",
    default: "dates are an error",
    ..COLUMN
};

/// The label that counts as 1.
pub static POSITIVE: OptionEntry = OptionEntry {
    name: "positive",
    placeholder: "LABEL",
    help: "The label that counts as 1; values do not depend on it, `prob` does",
    default: "the larger or later of the two",
    scope: Scope::MethodFit,
    ..COLUMN
};

/// Principal components.
pub static PCA: OptionEntry = OptionEntry {
    name: "pca",
    placeholder: "K",
    takes: SIZE,
    help: "Reduce the columns to the K leading principal components of the reference",
    details: "For embeddings, such as the last layer of a network. Columns are centred, not scaled.",
    ..COLUMN
};

/// Missing cells.
pub static MISSING: OptionEntry = OptionEntry {
    name: "missing",
    takes: Kind::Choice {
        words: &[
            Word { word: "error", means: "an error" },
            Word { word: "drop", means: "the row is left out" },
            Word { word: "mean", means: "the mean of the reference column" },
        ],
    },
    help: "What to do with missing cells",
    default: "error",
    daily: true,
    scope: Scope::Always,
    ..POLICY
};

/// Categories that the reference does not have.
pub static UNSEEN: OptionEntry = OptionEntry {
    name: "unseen",
    takes: Kind::Choice {
        words: &[
            Word { word: "error", means: "an error" },
            Word { word: "zero", means: "0 in every column of the feature" },
        ],
    },
    help: "What to do with categories that the reference does not have",
    default: "error",
    scope: Scope::Always,
    ..POLICY
};

/// Columns that depend on others.
pub static DEPENDENT: OptionEntry = OptionEntry {
    name: "dependent",
    takes: Kind::Choice {
        words: &[
            Word { word: "drop", means: "dropped with a warning" },
            Word { word: "error", means: "an error" },
        ],
    },
    help: "What to do with columns that are constant or depend on earlier ones",
    default: "drop",
    scope: Scope::MethodFit,
    ..POLICY
};

pub(super) const ALL: &[&OptionEntry] = &[
    &TARGET,
    &FEATURES,
    &EXCLUDE,
    &ID,
    &BY,
    &WEIGHT,
    &CATEGORICAL,
    &RARE_LEVELS,
    &DATES,
    &POSITIVE,
    &PCA,
    &MISSING,
    &UNSEEN,
    &DEPENDENT,
];
