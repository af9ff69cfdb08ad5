//! Why a run ended without a result, as facts.
//!
//! Sentences are made from these facts in `dshap-words`; `Display` here is for
//! Rust programs.

use dshap_catalogue::{Given, Misuse};
use dshap_io::Location;
use dshap_table::{Design, Names};
use std::path::PathBuf;

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

    /// Options that do not go together, or not with the method.
    #[error("options do not go together: {0:?}")]
    Misuse(Misuse),

    /// An option that is settled by the valuer.
    #[error("option `{option}` is settled by the valuer")]
    SettledByValuer {
        /// The option.
        option: &'static str,
    },

    /// A method that a valuer was not fitted for.
    #[error("a valuer fitted by `{fitted}` cannot value rows by `{method}`")]
    OtherMethod {
        /// The method of the valuer.
        fitted: &'static str,
        /// The method asked for.
        method: &'static str,
        /// The task of the valuer.
        task: dshap_catalogue::Task,
    },

    /// A method that leaves nothing to save.
    #[error("method `{method}` has no valuer to save")]
    NotSaved {
        /// The method.
        method: &'static str,
        /// Why not.
        why: &'static str,
    },

    /// A method that cannot be fitted to rows in several places.
    #[error("method `{method}` cannot be fitted to rows in several places")]
    NotSpread {
        /// The method.
        method: &'static str,
    },

    /// The state of a distributed pass that is damaged, or of another pass.
    #[error("the state of a distributed pass cannot be used: {what}")]
    BadPart {
        /// What is wrong.
        what: String,
    },

    /// A table that does not have the columns a valuer needs.
    #[error("`{file}` lacks columns that the valuer needs: {missing:?}")]
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
    #[error("the test rows in `{file}` lack columns of the reference: {missing:?}")]
    OtherTest {
        /// The table.
        file: String,
        /// The columns it lacks.
        missing: Vec<String>,
        /// A name that resembles the first of them.
        suggestion: Option<String>,
    },

    /// Valuers that are not of parts of one reference.
    #[error("`{first}` and `{second}` cannot be merged: {why:?}")]
    CannotMerge {
        /// One valuer.
        first: String,
        /// Another.
        second: String,
        /// Why not.
        why: MergeConflict,
    },

    /// Too few test rows for some to value by and others to judge on.
    #[error("{n_test} test rows are too few to value by `{method}` and to judge on")]
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

    /// A valuer without what its method needs of the reference.
    #[error("the valuer does not hold what `{method}` needs of the reference")]
    Incomplete {
        /// The method.
        method: &'static str,
        /// What it needs.
        needs: Option<crate::ExtraPass>,
    },

    /// A valuer whose reference cannot change.
    #[error("the reference of the valuer cannot change: {why:?}")]
    FixedReference {
        /// Why not.
        why: Fixed,
    },

    /// A task that the first rows suggested and later ones contradict.
    #[error("the task cannot be guessed from target `{target}`")]
    GuessedWrong {
        /// The target.
        target: String,
        /// Whether the first rows had two values and later ones more; else the first
        /// rows had one value and there are two.
        more_later: bool,
    },

    /// No valuer to be merged.
    #[error("there is nothing to merge")]
    NothingToMerge,

    /// Rows to be forgotten that are not in the reference.
    #[error("the rows of {files:?} cannot be forgotten")]
    CannotForget {
        /// Their files.
        files: Vec<String>,
        /// A column that varies more in them than in the whole reference; else
        /// there are too many rows.
        column: Option<String>,
        /// Rows to be forgotten.
        n_rows: usize,
        /// Rows of the reference.
        n_reference: usize,
    },

    /// A checkpoint of another run.
    #[error("checkpoint `{file}` is of another run: {difference:?}")]
    OtherCheckpoint {
        /// The checkpoint.
        file: String,
        /// What differs.
        difference: CheckpointDifference,
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
    #[error("{limit} bytes of memory are too little; about {needed} are needed")]
    TooLittleMemory {
        /// The limit, in bytes.
        limit: u64,
        /// What would do, in bytes.
        needed: u64,
        /// Threads that take their part of it.
        n_threads: usize,
    },

    /// Lists of neighbours that a limit has no room for.
    #[error("the lists of neighbours take {needed} bytes, and {room} are left")]
    LongLists {
        /// What the limit leaves for them, in bytes.
        room: u64,
        /// What they take.
        needed: u64,
    },

    /// More rows held back to be sorted than memory allows.
    #[error("sorting needs all rows in memory, and {n_rows} rows exceed the limit")]
    TooMuchHeld {
        /// Rows held.
        n_rows: usize,
    },

    /// Columns could not be turned into a design; where, if it is about a row.
    #[error("{error}")]
    Table {
        /// The row at fault.
        location: Option<Location>,
        /// What is wrong.
        error: dshap_table::Error,
    },

    /// An output that would replace an input.
    #[error("`{file}` is an input and an output")]
    OutputIsInput {
        /// The input, as the user named it.
        file: String,
    },

    /// Numbers stored as text.
    #[error("{location}: column `{name}` holds the number `{text}` as text")]
    NumbersAsText {
        /// The first of them.
        location: Location,
        /// The column.
        name: String,
        /// What stands there.
        text: String,
    },

    /// Text in a column that otherwise holds numbers.
    #[error("{location}: column `{name}` holds `{text}`, but most of the column is numbers")]
    MixedColumn {
        /// The first such cell.
        location: Location,
        /// The column.
        name: String,
        /// What stands there.
        text: String,
    },

    /// The numbers do not allow a valuation.
    #[error("{error}")]
    Core {
        /// What is wrong.
        error: dshap::Error,
        /// What columns and labels are called.
        names: Box<Names>,
        /// Whether one row in five was kept back as a test row before.
        kept_back: bool,
        /// Options that were given and that only models without a ridge have.
        without_ridge: Vec<&'static str>,
    },

    /// Set sizes of which none counts with nearest neighbours.
    #[error("no set size counts for {} nearest neighbours", .0.k)]
    NeighbourSizes(NeighbourSizesFault),

    /// One reference row, whose columns are to be scaled.
    #[error("one reference row has no spread to scale columns by")]
    OneNeighbour,

    /// A shift of set sizes that cannot be measured.
    #[error("the shift of set sizes cannot be measured")]
    NoMeasuredShift {
        /// Whether the reason is weights; else it is more than two labels.
        weighted: bool,
    },

    /// Values that have no penalty, to be sorted by it.
    #[error("the values have no penalty to sort by")]
    NoPenalty,

    /// Sets of reference rows, of which only a sample is held.
    #[error("sets need all {n_reference} reference rows")]
    SetsOfSample {
        /// Rows of the reference.
        n_reference: usize,
    },

    /// A column of sets without an entry.
    #[error("column `{column}` names no set")]
    NoSets {
        /// The column.
        column: String,
    },

    /// Cells of a column that are missing.
    #[error("column `{name}` has {n_cells} missing cells")]
    MissingCells {
        /// The column.
        name: String,
        /// How many cells.
        n_cells: u64,
        /// Where the first is.
        first: dshap_io::Location,
    },

    /// Several things that are wrong with a table.
    #[error("{} problems", .0.len())]
    Several(Vec<Error>),

    /// A row to be explained that the table does not have.
    #[error("there is no row {row}")]
    NoSuchRow {
        /// The row, counted from 0.
        row: u64,
        /// Rows of the table.
        n_rows: u64,
    },

    /// A set that does not exist.
    #[error("there is no set `{name}`")]
    NoSuchSet {
        /// Its name.
        name: String,
        /// A name that resembles it.
        suggestion: Option<String>,
    },

    /// A set whose rows all have a missing cell.
    #[error("every row of set `{name}` has a missing cell")]
    EmptySet {
        /// Its name.
        name: String,
    },

    /// Numbers for which a closed form makes no sense.
    #[error("{location}: {reason}")]
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
    #[error("the columns carried through hold more than 2 GiB of text")]
    TooMuchText,

    /// The file had other rows the second time it was read.
    #[error("the input changed while it was read: {before} usable rows, then {after}")]
    Changed {
        /// Rows in the first pass.
        before: u64,
        /// Rows in the second.
        after: u64,
    },

    /// Weights in a trial of several methods.
    #[error("trials have no weights")]
    WeightsInTrial,

    /// More best rows asked for than rows are valued.
    #[error("{top} best rows of {n_rows}")]
    TopTooLarge {
        /// Rows asked for.
        top: usize,
        /// Rows valued.
        n_rows: usize,
    },

    /// Wrong targets asked for where there are no targets.
    #[error("a density has no targets to make wrong")]
    NoTargets,

    /// A density has no targets that could be wrong.
    #[error("a density has no targets to clean")]
    NothingToClean,

    /// Values that are not one for each row.
    #[error("`{name}` has {found} values for {n_rows} rows")]
    ValueCount {
        /// What the values are called.
        name: String,
        /// Values.
        found: usize,
        /// Rows.
        n_rows: u64,
    },

    /// A file that cannot be an output beside another.
    #[error("`{}` cannot be written", .0.display())]
    BadOutput(PathBuf),

    /// What is wrong with owners, payouts or receipts.
    #[error("{0:?}")]
    Owners(crate::OwnersFault),

    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// Why two valuers cannot be merged.
#[derive(Debug, Clone, PartialEq)]
pub enum MergeConflict {
    /// They are for different tasks.
    Tasks(dshap_catalogue::Task, dshap_catalogue::Task),
    /// Only one has an intercept.
    Intercept,
    /// Only one is for given test rows, or only those of one have targets.
    Tests,
    /// They value rows by different methods, or with different settings.
    Methods,
    /// Set sizes differ, and none was given.
    Size {
        /// The option: `m` or `q`.
        option: &'static str,
        /// What the first was given; absent if by default.
        first: Option<usize>,
        /// What the second was given.
        second: Option<usize>,
    },
    /// Their columns differ.
    Columns(dshap_table::Error),
    /// Their kernels differ.
    Kernels(&'static str, &'static str),
    /// Only one scales its columns.
    Scaling,
    /// Their bandwidths differ.
    Bandwidths(String, String),
}

/// Why the reference of a valuer cannot change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fixed {
    /// The method stores data of single rows.
    Method(&'static str),
    /// Columns were reduced to principal components.
    Components,
    /// A logistic fit cannot be updated.
    Logistic,
    /// A density can be merged, but not updated.
    Density,
    /// Nearest neighbours.
    Neighbours,
}

/// How a checkpoint differs from the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointDifference {
    /// Another version of dshap wrote it.
    Version(String),
    /// It is of other files.
    Files(Vec<String>),
    /// A file has changed since.
    ChangedFile(String),
    /// An option was another.
    Option(String),
}

/// Set sizes as they were asked for, of which none counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighbourSizesFault {
    /// Neighbours that are averaged over.
    pub k: usize,
    /// The set sizes, with defaults.
    pub q: usize,
    /// The largest.
    pub m: usize,
    /// Whether `m` is the default.
    pub m_default: bool,
    /// Reference rows.
    pub n_reference: usize,
    /// Rows that sets are drawn from.
    pub n_rows: usize,
    /// Whether each test row is left out of its own sets.
    pub without_test: bool,
    /// Whether the row that is valued is left out.
    pub without_point: bool,
    /// Changes each of which alone helps.
    pub remedies: Remedies,
}

/// Changes each of which alone makes sets that count, as small as they can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Remedies {
    /// The largest `k`.
    pub k: Option<usize>,
    /// The largest `q`.
    pub q: Option<usize>,
    /// The smallest `m`.
    pub m: Option<usize>,
    /// The fewest reference rows.
    pub rows: Option<usize>,
    /// The largest `k` and the largest `q` that help together, where none of these
    /// alone does.
    pub k_and_q: Option<(usize, usize)>,
    /// The smallest `m` and the fewest rows that help together, where nothing else
    /// does.
    pub m_and_rows: Option<(usize, usize)>,
}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Error::Misuse(misuse)
    }
}

impl Error {
    /// A core error, with columns called by the names of the design.
    pub fn core(error: dshap::Error, design: &Design) -> Self {
        match error {
            dshap::Error::Interrupted => Error::Interrupted,
            error => Error::Core {
                error,
                names: Box::new(design.names()),
                kept_back: false,
                without_ridge: Vec::new(),
            },
        }
    }

    /// What went wrong with a baseline.
    pub fn baseline(error: dshap_baselines::Error, design: &Design) -> Self {
        match error {
            dshap_baselines::Error::Core(error) => Error::core(error, design),
            error => Error::Baseline(error),
        }
    }

    /// The same error where one row in five was kept back before.
    pub fn with_kept_back(mut self) -> Self {
        if let Error::Core { kept_back, .. } = &mut self {
            *kept_back = true;
        }
        self
    }

    /// The same error of a fit with these options.
    pub(crate) fn with_options(mut self, given: &Given) -> Self {
        if let Error::Core { without_ridge, .. } = &mut self {
            *without_ridge = crate::methods::options_without_ridge(given);
        }
        self
    }

    /// Whether whoever read the output has stopped listening.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Io(error) if error.is_broken_pipe())
    }

    /// Whether it is about what was asked rather than about data.
    pub fn is_usage(&self) -> bool {
        if let Error::Owners(fault) = self {
            return fault.is_usage();
        }
        matches!(
            self,
            Error::Misuse(_)
                | Error::SettledByValuer { .. }
                | Error::OtherMethod { .. }
                | Error::NotSaved { .. }
                | Error::NotSpread { .. }
                | Error::OutputIsInput { .. }
                | Error::NoMeasuredShift { .. }
                | Error::NoPenalty
                | Error::SetsOfSample { .. }
                | Error::NoSets { .. }
                | Error::NoSuchSet { .. }
                | Error::NoSuchRow { .. }
                | Error::EmptySet { .. }
                | Error::WeightsInTrial
                | Error::TopTooLarge { .. }
                | Error::NoTargets
                | Error::NothingToClean
                | Error::ValueCount { .. }
        )
    }
}
