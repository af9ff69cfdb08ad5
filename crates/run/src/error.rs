//! Why a run ended without a result.

use dshap_io::{Location, Source};
use dshap_table::Design;

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] dshap_io::Error),

    /// Columns could not be turned into a design; where, if it is about a row.
    #[error("{}{error}", location.as_ref().map(|at| format!("{at}, ")).unwrap_or_default())]
    Table {
        /// The row at fault.
        location: Option<Location>,
        /// What is wrong.
        error: dshap_table::Error,
    },

    /// An output that would replace an input.
    #[error("`{file}` is an input; writing there would destroy it")]
    OutputIsInput {
        /// The input, as the user named it.
        file: String,
    },

    /// Numbers stored as text.
    #[error("{location}, column `{name}` holds `{text}`: numbers, but as text")]
    NumbersAsText {
        /// The first of them.
        location: Location,
        /// The column.
        name: String,
        /// What stands there.
        text: String,
    },

    /// Text in a column that otherwise holds numbers.
    #[error("{location}, column `{name}` holds `{text}`, but most of the column is numbers")]
    MixedColumn {
        /// The first such cell.
        location: Location,
        /// The column.
        name: String,
        /// What stands there.
        text: String,
    },

    /// The numbers do not allow a valuation.
    #[error("{message}")]
    Core {
        /// The error with columns called by their names.
        message: String,
        /// What to try instead.
        hint: Option<String>,
        /// The error as core has it.
        error: dshap::Error,
    },

    /// The target calls for a task that is not available.
    #[error("target `{target}` {reason}, which asks for classification; this version values regression only")]
    Classification {
        /// The target.
        target: String,
        /// How that was seen.
        reason: &'static str,
    },

    /// Numbers for which a closed form makes no sense.
    #[error("{location}, {reason}")]
    Case {
        /// Where they stand.
        location: Location,
        /// What is wrong with them.
        reason: String,
    },

    /// Every row has a missing cell.
    #[error("every row of the reference has a missing cell")]
    NothingLeft,

    /// More text carried through than one table in memory can hold.
    #[error("the columns carried through hold more than 2 GiB of text, which cannot be sorted in memory")]
    TooMuchText,

    /// The file had other rows the second time it was read.
    #[error(
        "the input changed while it was read: {before} usable rows in the first pass, {after} in the second"
    )]
    Changed {
        /// Rows in the first pass.
        before: usize,
        /// Rows in the second.
        after: usize,
    },

    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// What to try instead.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Io(error) => error.hint(),
            Error::Table { error, .. } => error.hint(),
            Error::OutputIsInput { .. } => Some("give another name with `-o`".into()),
            Error::NumbersAsText { name, .. } => Some(format!(
                "write numbers with a decimal point and nothing else (no comma, currency or percent sign, and in \
                 Parquet as a number type), or say `--categorical {name}` if the column holds categories"
            )),
            Error::MixedColumn { name, .. } => Some(format!(
                "correct the cell, leave it empty if it is missing, or say `--categorical {name}` if the column holds categories"
            )),
            Error::Core { hint, .. } => hint.clone(),
            Error::Classification { reason: "is text", .. } => {
                Some("name a column of numbers with `--target`".into())
            }
            Error::Classification { .. } => {
                Some("`--task regression` takes the two values as numbers".into())
            }
            Error::TooMuchText => {
                Some("keep fewer columns, or leave `--sort`, `--top` and `--bottom` out".into())
            }
            Error::NothingLeft => Some("`--missing mean` fills in the mean of a column instead".into()),
            Error::Case { .. } | Error::Changed { .. } | Error::Interrupted => None,
        }
    }

    /// Whether whoever read the output has stopped listening.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io(error) if error.is_broken_pipe())
    }

    /// A table error, with its row turned into a place in a file.
    pub(crate) fn at(error: dshap_table::Error, source: &Source, first_row: u64) -> Self {
        let location = error.row().and_then(|row| source.locate(first_row + row as u64).ok());
        Error::Table { location, error }
    }

    /// A core error, with columns called by the names of the design.
    pub(crate) fn core(error: dshap::Error, design: &Design) -> Self {
        let names = |columns: &[usize]| {
            columns.iter().map(|&j| format!("`{}`", design.column_name(j))).collect::<Vec<_>>().join(", ")
        };
        let target = design.target();
        let (message, hint) = match &error {
            dshap::Error::NoFeatures { .. } => (
                "no usable feature is left: none varies in the reference".to_string(),
                Some("check `--features` and `--exclude`".to_string()),
            ),
            dshap::Error::TooFewRows { n_rows, dim, needed } => (
                format!("{n_rows} reference rows are too few for {dim} design columns"),
                Some(format!(
                    "at least {needed} rows are needed, or fewer columns: `--features`, `--exclude`"
                )),
            ),
            dshap::Error::ConstantTarget { value } => {
                (format!("target `{target}` is constant ({value})"), Some("name another `--target`".into()))
            }
            dshap::Error::NoNoise => (
                format!(
                    "target `{target}` is a linear function of the features, up to rounding; there is no noise to value rows against"
                ),
                Some("is the target repeated among the features? `--exclude` leaves a column out".into()),
            ),
            dshap::Error::Dependent { columns } => (
                format!("constant or linearly dependent on columns before: {}", names(columns)),
                Some(
                    "leave them out with `--exclude`, or leave out `--dependent error` to have them dropped"
                        .into(),
                ),
            ),
            dshap::Error::Sizes { min, max, least, dim } => (
                format!(
                    "set sizes q = {min}, m = {max} are impossible for {dim} design columns: {least} ≤ q ≤ m is needed"
                ),
                Some(if max < least {
                    format!("give an `--m` of at least {least}; without it m is the number of reference rows")
                } else {
                    format!("give a `--q` between {least} and {max}, or none")
                }),
            ),
            dshap::Error::NotFinite { column, .. } => {
                (format!("column `{}` is not finite", design.column_name(*column)), None)
            }
            other => (other.to_string(), None),
        };
        Error::Core { message, hint, error }
    }
}
