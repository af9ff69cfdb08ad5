//! Doubts about a table that could be read.

use std::fmt;

/// A doubt about a table that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The header leaves a column without a name.
    UnnamedColumn {
        /// The file.
        file: String,
        /// The name the column was given.
        name: String,
    },
    /// Every record ends with a delimiter, as if an empty last column without a name
    /// followed. It is left out.
    TrailingDelimiter {
        /// The file.
        file: String,
    },
    /// Every field of the header is a number, so the header may be missing.
    NumericHeader {
        /// The file.
        file: String,
    },
    /// The columns of a file have no names and are numbered from 0.
    NumberedColumns {
        /// The file.
        file: String,
    },
    /// An Arrow stream without an end marker, which may have been cut between two
    /// batches.
    NoEndOfStream {
        /// The file.
        file: String,
    },
    /// A file that continues after the rows announced in its header.
    MoreThanPromised {
        /// The file.
        file: String,
    },
    /// A file that is one part of a table has a header but no rows.
    NoRowsInPart {
        /// The file.
        file: String,
    },
    /// The same file is named more than once, so its rows count twice.
    RepeatedFile {
        /// The file.
        file: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::UnnamedColumn { file, name } => {
                write!(f, "a column of `{file}` has no name and is called `{name}`")
            }
            Note::TrailingDelimiter { file } => {
                write!(f, "every line of `{file}` ends with a delimiter, which is ignored")
            }
            Note::NumericHeader { file } => write!(
                f,
                "every name in the header of `{file}` is a number; if the header is missing, \
                 the first row of data is lost"
            ),
            Note::NumberedColumns { file } => {
                write!(f, "the columns of `{file}` have no names and are called `column_0` and so on")
            }
            Note::NoEndOfStream { file } => {
                write!(f, "`{file}` has no end marker; if it was cut short, rows are missing")
            }
            Note::MoreThanPromised { file } => {
                write!(f, "`{file}` continues after the rows announced in its header; the rest is ignored")
            }
            Note::NoRowsInPart { file } => write!(f, "`{file}` has a header but no rows"),
            Note::RepeatedFile { file } => {
                write!(f, "`{file}` is given more than once; its rows are repeated")
            }
        }
    }
}
