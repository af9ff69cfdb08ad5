//! Why a baseline could not be computed.

/// Why a baseline could not be computed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the closed forms.
    #[error(transparent)]
    Core(#[from] dshap::Error),

    /// No set size is left.
    #[error("set sizes must satisfy 1 ≤ q ≤ m, got q = {min}, m = {max}")]
    SetSizes {
        /// `q`, the smallest set whose utility counts.
        min: usize,
        /// `m`, the largest set size.
        max: usize,
    },

    /// Too many rows to visit all of their sets.
    #[error("{n_rows} rows have too many sets to visit all of them; the limit is {most} rows")]
    TooManySets {
        /// Rows given.
        n_rows: usize,
        /// The largest possible number of rows.
        most: usize,
    },

    /// A kernel so narrow or wide, in so many dimensions, that its peak is not
    /// a number.
    #[error("a kernel of bandwidth {bandwidth} in {dim} dimensions is out of the range of doubles")]
    KernelRange {
        /// The bandwidth.
        bandwidth: f64,
        /// Columns.
        dim: usize,
    },

    /// A row that does not exist.
    #[error("row {row} is not one of the {n_rows} rows, or is given twice")]
    NoSuchRow {
        /// The number given.
        row: usize,
        /// Number of rows.
        n_rows: usize,
    },
}

impl Error {
    /// An option out of range.
    pub(crate) fn option(what: &'static str) -> Self {
        Error::Core(dshap::Error::BadOption { what })
    }

    /// The caller stopped the work.
    pub(crate) fn interrupted() -> Self {
        Error::Core(dshap::Error::Interrupted)
    }

    /// An error about a row that utility is measured on.
    pub(crate) fn in_test(error: dshap::Error) -> Self {
        Error::Core(dshap::Error::InTest { error: Box::new(error) })
    }
}
