//! What is wrong or doubtful about owners, payouts and receipts, as facts.

use dshap::owners::PayoutError;

/// Why owners have no values or cannot be paid.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OwnersFault {
    /// No column names the owners.
    NoColumn,
    /// A column of owners without an entry.
    NoOwner {
        /// The column.
        column: String,
    },
    /// A method whose models have no game between owners.
    NoGame {
        /// The method.
        method: &'static str,
    },
    /// An option that has no meaning here.
    NotForOwners {
        /// The option.
        option: &'static str,
        /// What is predicted.
        task: dshap_catalogue::Task,
    },
    /// A segment without a table of contributions.
    SegmentAlone,
    /// A valuer that does not hold the moments of owners.
    NoMoments {
        /// The valuer.
        valuer: String,
    },
    /// An option about rows, which a valuer does not hold.
    NeedsRows {
        /// The option.
        option: &'static str,
    },
    /// A valuer without rows to test on.
    NoTests {
        /// The valuer.
        valuer: String,
    },
    /// A budget that cannot be divided.
    Payout(PayoutError),
    /// An amount that is not a whole number of units.
    NotWhole {
        /// The option: `budget`, `floor` or `cap`.
        option: &'static str,
        /// Its amount.
        amount: String,
        /// The unit.
        unit: String,
    },
    /// A table without a column that payouts need.
    Lacks {
        /// The table.
        file: String,
        /// The column.
        column: String,
    },
    /// A cell that is not a number.
    NotANumber {
        /// The table.
        file: String,
        /// The column.
        column: String,
        /// The owner.
        owner: String,
    },
    /// An owner that comes twice.
    Twice {
        /// The table.
        file: String,
        /// The owner.
        owner: String,
    },
    /// A result that is not as dshap wrote it.
    Edited {
        /// The file.
        file: String,
    },
    /// A receipt that cannot be read.
    BadManifest {
        /// The file.
        file: String,
        /// What is wrong with it.
        what: String,
    },
}

impl OwnersFault {
    /// Whether it is about what was asked rather than about data.
    pub fn is_usage(&self) -> bool {
        match self {
            OwnersFault::NoColumn
            | OwnersFault::NoGame { .. }
            | OwnersFault::NotForOwners { .. }
            | OwnersFault::SegmentAlone
            | OwnersFault::NeedsRows { .. }
            | OwnersFault::NotWhole { .. } => true,
            OwnersFault::Payout(error) => {
                !matches!(error, PayoutError::Nobody | PayoutError::NothingToPayFor { .. })
            }
            _ => false,
        }
    }
}

/// What a user should know about the values of owners.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OwnersWarning {
    /// Rows without an owner.
    RowsWithoutOwner {
        /// How many.
        n_rows: u64,
        /// The column that is empty there.
        column: String,
    },
    /// The rows of the owners are also the test rows.
    OwnersMeasure {
        /// Test rows.
        n_rows: u64,
    },
    /// Rows that several owners have.
    SharedRows {
        /// How many different ones.
        n_rows: usize,
        /// Two owners that share most.
        owners: (String, String),
        /// Rows that those two share.
        n_shared: usize,
        /// Whether copies count once already.
        once: bool,
    },
    /// Orders ended before errors were small enough.
    RoughOrders {
        /// Rounds.
        n_rounds: usize,
        /// Errors wanted, as a share of the spread of owners' values.
        tolerance: f64,
    },
    /// Too few test rows for standard errors.
    OneTestRow,
    /// The game has values, but single rows have none: there are too few for the columns.
    NoRowValues {
        /// Rows of all owners.
        n_rows: usize,
        /// Columns of the design.
        dim: usize,
    },
    /// A valuer without the moments of owners, although a column names them.
    OwnersNotKept {
        /// The column.
        column: String,
    },
    /// A ranking that rarely survives resampling.
    FragileRanking {
        /// The share of draws in which it does.
        share: f64,
        /// Draws.
        n_draws: usize,
    },
}

impl From<OwnersFault> for crate::Error {
    fn from(fault: OwnersFault) -> Self {
        crate::Error::Owners(fault)
    }
}

impl From<OwnersWarning> for crate::Warning {
    fn from(warning: OwnersWarning) -> Self {
        crate::Warning::Owners(warning)
    }
}

/// How a result differs from its receipt.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// The receipt itself was changed after it was written.
    Receipt,
    /// Another version of dshap wrote it. This alone is no fault.
    Version {
        /// That version.
        then: String,
    },
    /// A file that was read is not there.
    MissingFile {
        /// The file.
        file: String,
    },
    /// A file that was read has other contents now.
    ChangedFile {
        /// The file.
        file: String,
    },
    /// A table without a digest of its own: nothing shows whether it was edited before it was
    /// read. This alone is no fault.
    Unsealed {
        /// The table.
        file: String,
    },
    /// A part of the result is another one.
    Result {
        /// Which part, such as `owners.acme.payout`.
        place: String,
        /// What the receipt says.
        then: String,
        /// What comes out now.
        now: String,
    },
}

impl Difference {
    /// Whether it means that the receipt cannot be trusted.
    pub fn is_fault(&self) -> bool {
        !matches!(self, Difference::Version { .. } | Difference::Unsealed { .. })
    }
}
