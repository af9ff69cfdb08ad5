//! Why a baseline could not be computed.

/// Why a baseline could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the closed forms would say as well.
    #[error(transparent)]
    Core(#[from] dshap::Error),

    /// No set is both large and small enough.
    #[error("set sizes must satisfy 1 ≤ q ≤ m, got q = {min}, m = {max}")]
    SetSizes {
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `m`, the largest set size.
        max: usize,
    },

    /// More rows than all sets of them can be written out for.
    #[error("{n_rows} rows have too many sets to visit all of them; {most} rows are the limit")]
    TooManySets {
        /// Rows given.
        n_rows: usize,
        /// Rows that would do.
        most: usize,
    },

    /// A kernel so narrow or wide, in so many dimensions, that its peak is not
    /// a number.
    #[error("a kernel of bandwidth {bandwidth} in {dim} dimensions is beyond what doubles hold")]
    KernelRange {
        /// The bandwidth.
        bandwidth: f64,
        /// Columns.
        dim: usize,
    },

    /// A row that is not there.
    #[error("row {row} is none of the {n_rows} rows, or is named twice")]
    NoSuchRow {
        /// The number given.
        row: usize,
        /// Rows there are.
        n_rows: usize,
    },
}

impl Error {
    /// A setting that makes no sense.
    pub(crate) fn option(what: &'static str) -> Self {
        Error::Core(dshap::Error::BadOption { what })
    }

    /// The caller wanted no more.
    pub(crate) fn interrupted() -> Self {
        Error::Core(dshap::Error::Interrupted)
    }

    /// What is wrong with a row that utility is measured on.
    pub(crate) fn in_test(error: dshap::Error) -> Self {
        Error::Core(dshap::Error::InTest { error: Box::new(error) })
    }
}
