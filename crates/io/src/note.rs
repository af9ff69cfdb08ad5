//! What is doubtful about a table that can be read all the same.

use std::fmt;

/// Something doubtful about a table that can be read all the same.
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
    /// Every record ends with a delimiter, so that a last column without name
    /// and cells seems to follow. It is left out.
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
    /// An Arrow stream that has no mark of its end, so that it may have been
    /// cut between two batches.
    NoEndOfStream {
        /// The file.
        file: String,
    },
    /// A file that goes on after the rows its header promises.
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
                 its first row of data is lost"
            ),
            Note::NumberedColumns { file } => {
                write!(f, "the columns of `{file}` have no names and are called `column_0` and so on")
            }
            Note::NoEndOfStream { file } => {
                write!(f, "`{file}` has no mark of its end; if it was cut short, rows are missing")
            }
            Note::MoreThanPromised { file } => {
                write!(f, "`{file}` goes on after the rows its header promises; what follows is ignored")
            }
            Note::NoRowsInPart { file } => write!(f, "`{file}` has a header but no rows"),
            Note::RepeatedFile { file } => {
                write!(f, "`{file}` is given more than once; its rows are repeated")
            }
        }
    }
}
