//! Why a run ended without a result.

use crate::baseline::{TEST_SHARE, rows_to_leave};
use dshap_io::{Location, Source};
use dshap_table::{Design, Wanted, closest};

/// Why a run ended without a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] dshap_io::Error),

    /// A valuer or checkpoint could not be read.
    #[error(transparent)]
    Container(#[from] dshap_io::ContainerError),

    /// A valuer or checkpoint whose bytes are sound but make no sense.
    #[error("`{file}` is damaged: {what}")]
    BadContents {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },

    /// A table that does not have the columns a valuer needs.
    #[error(
        "valuer `{valuer}` is for other columns: `{file}` has no {}",
        missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    OtherColumns {
        /// The valuer.
        valuer: String,
        /// The table.
        file: String,
        /// The columns it lacks.
        missing: Vec<String>,
        /// A name that resembles the first of them.
        suggestion: Option<String>,
    },

    /// Test rows that do not have the columns of the reference.
    #[error(
        "the test rows are of other columns: `{file}` has no {}",
        missing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    OtherTest {
        /// The table.
        file: String,
        /// The columns it lacks.
        missing: Vec<String>,
        /// A name that resembles the first of them.
        suggestion: Option<String>,
    },

    /// Valuers that are not of parts of one reference.
    #[error("`{first}` and `{second}` cannot be merged: {what}")]
    CannotMerge {
        /// One valuer.
        first: String,
        /// Another.
        second: String,
        /// Why not.
        what: String,
    },

    /// Too few test rows for some to value by and others to judge on.
    #[error(
        "there {} {n_test} test {}, and `{method}` must not be judged on rows that it values by",
        if *n_test == 1 { "is" } else { "are" },
        if *n_test == 1 { "row" } else { "rows" }
    )]
    FewTestRows {
        /// How many there are.
        n_test: usize,
        /// A method that values by them.
        method: &'static str,
        /// Whether they were kept back from the rows, one in five.
        are_kept_back: bool,
    },

    /// A baseline that cannot be computed.
    #[error(transparent)]
    Baseline(dshap_baselines::Error),

    /// A valuer without the distances that calibrated values need.
    #[error("the valuer holds no distances to calibrate by")]
    NotCalibrated,

    /// A valuer without the moments that second-order values need.
    #[error("the valuer holds no moments of models that are refitted on each set")]
    NotExpanded,

    /// Options that do not go together, or not with the method of a valuer.
    #[error("{what}")]
    Misplaced {
        /// Which, and what they go with.
        what: String,
    },

    /// A valuer without the rows that sets are drawn from.
    #[error("the valuer holds no reference rows to draw sets from")]
    NoRowsToDraw,

    /// A request for a valuer at hand, without one.
    #[error("the request is about a valuer in memory, and none was given")]
    NotAtHand,

    /// A valuer that carries its reference, which is to change.
    #[error(
        "the reference of a valuer with {what} cannot be changed: it holds more of its rows than can be added up"
    )]
    FixedReference {
        /// What the valuer carries of its reference.
        what: String,
    },

    /// A task that the first rows suggested and later ones contradict.
    #[error("the task cannot be guessed: {what}")]
    GuessedWrong {
        /// What is odd about the target.
        what: String,
    },

    /// A valuer of a classification, whose reference is to change.
    #[error("the reference of a classification valuer cannot be changed: a logistic fit is no sum over rows")]
    NoSum,

    /// A valuer of a density, whose reference is to change.
    #[error("a density valuer cannot be updated: its bandwidth and its scaling are those of all its rows")]
    NoUpdate,

    /// A valuer that neighbours are found in, whose reference is to change.
    #[error(
        "the reference of a nearest-neighbour valuer cannot be changed: what columns are divided by, and which rows \
         are test rows, is settled by all its rows"
    )]
    NoNeighbourUpdate,

    /// A valuer without the moments that bounds as printed need.
    #[error("the valuer holds no moments of the authors' variables, which bounds as printed are about")]
    NoAuthorsMoments,

    /// No valuer to be merged.
    #[error("there is nothing to merge")]
    NothingToMerge,

    /// Rows to be forgotten that are not in the reference.
    #[error("the rows of {files} cannot be forgotten: {what}")]
    CannotForget {
        /// Their files.
        files: String,
        /// Why not.
        what: String,
    },

    /// A checkpoint of another run.
    #[error("checkpoint `{file}` is of another run: {what}")]
    OtherCheckpoint {
        /// The checkpoint.
        file: String,
        /// What differs.
        what: String,
    },

    /// A checkpoint that cannot be written.
    #[error("cannot write checkpoint `{file}`: {reason}")]
    Checkpoint {
        /// The checkpoint.
        file: String,
        /// What the system says.
        reason: std::io::Error,
    },

    /// A limit that cannot be kept.
    #[error("{} of memory are too little for this table; about {} are needed", megabytes(*limit, false), megabytes(*needed, true))]
    TooLittleMemory {
        /// The limit, in bytes.
        limit: u64,
        /// What would do, in bytes.
        needed: u64,
        /// Threads that take their part of it.
        n_threads: usize,
    },

    /// More rows held back to be sorted than memory allows.
    #[error("sorting needs all rows in memory, and {n_rows} of them are already more than `--memory` allows")]
    TooMuchHeld {
        /// Rows held.
        n_rows: usize,
    },

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
        before: u64,
        /// Rows in the second.
        after: u64,
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
            Error::Container(error) => error.hint(),
            Error::BadContents { .. } => Some("copy or make the file anew".into()),
            Error::OtherColumns { suggestion: Some(name), .. }
            | Error::OtherTest { suggestion: Some(name), .. } => {
                Some(format!("is it called `{name}` there?"))
            }
            Error::OtherColumns { valuer, .. } => {
                Some(format!("`dshap inspect {valuer}` lists the columns it needs"))
            }
            Error::OtherTest { .. } => {
                Some("test rows need the target and every feature of the reference; `--exclude` leaves a feature out".into())
            }
            // Some say themselves what to do.
            Error::CannotMerge { what, .. } if what.contains("say `--") => None,
            Error::CannotMerge { .. } => Some("fit the parts with the same columns and options".into()),
            Error::NotCalibrated => Some("fit it with `--method calibrated`".into()),
            Error::NotExpanded => Some("fit it with `--method second-order`".into()),
            Error::NoRowsToDraw => Some("fit it with `--method general`".into()),
            Error::FixedReference { .. } => {
                Some("fit the whole reference anew; a valuer without `--pca` and, in regression, by `--method gaussian` can be changed".into())
            }
            Error::NoNeighbourUpdate => Some("fit the whole reference anew: that is reading it once".into()),
            Error::NoSum => Some("fit the whole reference anew".into()),
            Error::GuessedWrong { .. } => Some("say `--task regression` or `--task classification`".into()),
            Error::NoUpdate => {
                Some("fit the new rows on their own and `dshap merge` both, or fit the whole anew".into())
            }
            Error::NoAuthorsMoments => Some("fit it with `--convention printed`".into()),
            Error::CannotForget { .. } => {
                Some("only rows that were fitted or added can be forgotten, and not all of them".into())
            }
            Error::OtherCheckpoint { .. } => Some("delete it to begin anew, or name another".into()),
            Error::TooLittleMemory { n_threads, .. } if *n_threads > 1 => Some(format!(
                "give more with `--memory`, use fewer columns, or fewer than {n_threads} `--threads`: each needs \
                 memory of its own"
            )),
            Error::TooLittleMemory { .. } => Some("give more with `--memory`, or use fewer columns".into()),
            Error::TooMuchHeld { .. } => Some(
                "`--top N` and `--bottom N` need little; or write the rows unsorted with `-o FILE`".into(),
            ),
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
            Error::Baseline(dshap_baselines::Error::TooManySets { .. }) => {
                Some("`--method tmc-shapley` estimates the same values for any number of rows".into())
            }
            Error::Baseline(dshap_baselines::Error::SetSizes { min, .. }) => {
                Some(format!("give an `--m` of at least {min}, or a smaller `--q`"))
            }
            Error::Baseline(dshap_baselines::Error::KernelRange { .. }) => {
                Some("`--bandwidth` sets another, `--pca` makes fewer columns".into())
            }
            Error::Baseline(_) => None,
            Error::FewTestRows { are_kept_back: true, .. } => Some(format!(
                "one row in {TEST_SHARE} is a test row: give {} rows at least, better hundreds, or test rows of their \
                 own with `--test FILE`",
                2 * TEST_SHARE
            )),
            Error::FewTestRows { .. } => Some("give 2 test rows at least, better hundreds".into()),
            Error::TooMuchText => {
                Some("keep fewer columns, or leave `--sort`, `--top` and `--bottom` out".into())
            }
            Error::NothingLeft => Some("`--missing mean` fills in the mean of a column instead".into()),
            Error::Case { .. }
            | Error::Changed { .. }
            | Error::Checkpoint { .. }
            | Error::NothingToMerge
            | Error::NotAtHand
            | Error::Misplaced { .. }
            | Error::Interrupted => None,
        }
    }

    /// Whether whoever read the output has stopped listening.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io(error) if error.is_broken_pipe())
    }

    /// Refuses a table without the columns that a valuer needs.
    pub(crate) fn unless_has_columns(
        source: &Source,
        wanted: &[Wanted],
        valuer: &std::path::Path,
    ) -> Result<(), Self> {
        let names: std::collections::HashSet<&str> = source.schema().names().collect();
        let missing: Vec<String> = wanted
            .iter()
            .filter(|wanted| !names.contains(wanted.name.as_str()))
            .map(|wanted| wanted.name.clone())
            .collect();
        let Some(first) = missing.first() else { return Ok(()) };
        let suggestion = closest(first, source.schema().names()).map(String::from);
        let file = source.files().next().unwrap_or_default().to_string();
        Err(Error::OtherColumns { valuer: valuer.display().to_string(), file, missing, suggestion })
    }

    /// Refuses a table without a column that was named.
    pub(crate) fn unless_has_column(source: &Source, wanted: &Wanted) -> Result<(), Self> {
        if source.schema().column(&wanted.name).is_some() {
            return Ok(());
        }
        let available = source.schema().names().map(String::from).collect();
        let error = dshap_table::Error::NoSuchColumn { name: wanted.name.clone(), available };
        Err(Error::Table { location: None, error })
    }

    /// A table error, with its row turned into a place in a file.
    pub(crate) fn at(error: dshap_table::Error, source: &Source, first_row: u64) -> Self {
        let location = error.row().and_then(|row| source.locate(first_row + row as u64).ok());
        Error::Table { location, error }
    }

    /// What went wrong with a baseline, with columns called by the names of the
    /// design.
    pub(crate) fn baseline(error: dshap_baselines::Error, design: &Design) -> Self {
        match error {
            dshap_baselines::Error::Core(error) => Error::core(error, design),
            error => Error::Baseline(error),
        }
    }

    /// The same error where one row in five was kept back before: what would do is
    /// told in rows of the table.
    pub(crate) fn with_kept_back(mut self) -> Self {
        if let Error::Core { hint, error: dshap::Error::TooFewRows { needed, .. }, .. } = &mut self {
            let in_all = rows_to_leave(*needed);
            *hint = Some(format!(
                "one row in {TEST_SHARE} is kept back as a test row: at least {in_all} rows are needed in all, or \
                 {needed} and test rows of their own with `--test FILE`, or fewer columns: `--features`, `--exclude`"
            ));
        }
        self
    }

    /// A core error, with columns called by the names of the design.
    pub(crate) fn core(error: dshap::Error, design: &Design) -> Self {
        if error == dshap::Error::Interrupted {
            return Error::Interrupted;
        }
        let names = |columns: &[usize]| {
            columns.iter().map(|&j| format!("`{}`", design.column_name(j))).collect::<Vec<_>>().join(", ")
        };
        let target = design.target().unwrap_or_default();
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
            dshap::Error::TooManyComponents { wanted, n_features, n_rows } => (
                format!("{n_rows} reference rows of {n_features} columns do not have {wanted} principal components"),
                Some(match n_features.min(&n_rows.saturating_sub(1)) {
                    0 => "more rows and columns are needed".into(),
                    most => format!("`--pca` goes from 1 to {most} here"),
                }),
            ),
            dshap::Error::TooFewEffectiveRows { effective, dim, needed } => (
                format!(
                    "the weights leave an effective sample of {effective:.1} rows, too few for {dim} design columns"
                ),
                Some(format!("at least {needed} are needed; a few rows have nearly all the weight")),
            ),
            dshap::Error::NoRows => {
                ("no reference row has a positive weight".to_string(), Some("check `--weight`".to_string()))
            }
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
            dshap::Error::ShiftedSizes { min, max, least, shift } => (
                format!(
                    "a shift of κ = {shift:.1} rows leaves nothing of sets of q = {min}: {least} ≤ q ≤ m is needed, \
                     and m = {max}"
                ),
                Some(if max < least {
                    "give a smaller `--shift`, or leave it out: κ is p + 1 then".into()
                } else {
                    format!("give a `--q` between {least} and {max}, or none")
                }),
            ),
            dshap::Error::OtherSizes { min, max } => (
                error.to_string(),
                Some(format!(
                    "give a `--q` of at least {min} and an `--m` of at most {max}, or fit anew for others"
                )),
            ),
            dshap::Error::SetsTooLarge { most, .. } => {
                (error.to_string(), Some(format!("give an `--m` of at most {most}")))
            }
            dshap::Error::SingularSets { .. } => (
                error.to_string(),
                Some(match design.labels() {
                    // In classification a ridge belongs to the fit, not to the sets.
                    Some(_) => "give a larger `--q`, or leave out rare categories".into(),
                    None => "give a `--ridge`, a larger `--q`, or leave out rare categories".into(),
                }),
            ),
            dshap::Error::Weighted => (
                "method `general` draws sets of reference rows and knows no weights".to_string(),
                Some("leave `--weight` out, or use `--method calibrated`".into()),
            ),
            dshap::Error::NeighbourSizes { k, min, max } => (
                error.to_string(),
                Some(if max <= k {
                    format!("give an `--m` of at least {}, or a smaller `--k`", k.saturating_add(1).max(*min))
                } else {
                    format!("give a `--q` of at most {max}, or a larger `--m`")
                }),
            ),
            dshap::Error::InTest { error: inner } => {
                let inner = Error::core((**inner).clone(), design);
                (format!("in the test rows: {inner}"), inner.hint())
            }
            dshap::Error::SilentBound { first, .. } => (
                error.to_string(),
                Some(format!(
                    "at least {first} reference rows are needed, or a larger `--m`, a `--ridge` with a `--q`, or fewer columns"
                )),
            ),
            dshap::Error::NotFinite { column, .. } => {
                (format!("column `{}` is not finite", design.column_name(*column)), None)
            }
            dshap::Error::OneClass { label } => (
                format!(
                    "every reference row has the label `{}` in target `{target}`; classification needs two labels at least",
                    label_word(design, usize::from(*label))
                ),
                Some("add rows with another label, or name another `--target`".into()),
            ),
            dshap::Error::Separated { complete, column, n_apart, n_between, .. } => (
                separated_in_words(*complete, *n_apart, *n_between, design.column_name(*column), target),
                Some("`--ridge 1` (or another penalty) keeps the coefficients finite; or is the target repeated among the features? `--exclude` leaves a column out".into()),
            ),
            dshap::Error::ClassesSeparated { column } => (
                format!(
                    "the features tell labels of `{target}` apart without an error (separation), so the coefficients of a \
                     model of all labels grow for ever; column `{}` has the largest part in it",
                    design.column_name(*column)
                ),
                Some("`--ridge 1` (or another penalty) keeps the coefficients finite; or is the target repeated among the features? `--exclude` leaves a column out".into()),
            ),
            dshap::Error::NotConverged { n_passes } => (
                format!("the logistic fit did not converge in {n_passes} passes"),
                Some("give a `--ridge`, or a larger one; columns of very different size are hard to fit".into()),
            ),
            dshap::Error::InClass { class, error: inner } => {
                let inner = Error::core((**inner).clone(), design);
                let label = label_word(design, *class);
                (format!("label `{label}` against the others: {inner}"), inner.hint())
            }
            dshap::Error::NoDensity { bandwidth, enough } => (
                format!(
                    "with bandwidth {bandwidth} no reference row is near another, and every density is 0"
                ),
                Some(format!("with `--bandwidth {enough:.3e}` half of the rows have another near them")),
            ),
            dshap::Error::NobodyLeft { n_rows } => (
                format!("a set has all {n_rows} reference rows, and none is left to value it against"),
                Some("give a `--reference` of other rows".into()),
            ),
            dshap::Error::FewRows { n_rows, needed } if design.target().is_none() => (
                format!(
                    "{n_rows} reference {} too few: at least {needed} are needed",
                    if *n_rows == 1 { "row is" } else { "rows are" }
                ),
                Some(match needed {
                    2 => "a row is valued against others, and their spread is the scale: give more rows, or a `--reference`".into(),
                    _ => "cross-validation needs a row in each of its folds; `--bandwidth scott` or a number needs none".into(),
                }),
            ),
            other => (other.to_string(), None),
        };
        Error::Core { message, hint, error }
    }
}

fn label_word(design: &Design, class: usize) -> String {
    design.labels().map_or_else(|| class.to_string(), |labels| labels.word(class))
}

/// Why there is no logistic fit.
fn separated_in_words(
    complete: bool,
    n_apart: usize,
    n_between: usize,
    column: &str,
    target: &str,
) -> String {
    let apart = if complete {
        format!("the features tell the labels of `{target}` apart without an error")
    } else {
        format!(
            "the features tell the labels of {n_apart} rows apart without an error, and say nothing about the other {n_between}"
        )
    };
    format!(
        "{apart} (separation), so the coefficients of a logistic fit grow for ever; column `{column}` has the largest part in it"
    )
}

/// A number of bytes as people give it, rounded up where it is a demand.
fn megabytes(bytes: u64, up: bool) -> String {
    let megabytes = if up { bytes.div_ceil(1_000_000) } else { bytes / 1_000_000 };
    format!("{megabytes} MB")
}
