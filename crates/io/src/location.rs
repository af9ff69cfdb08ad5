//! Where a row is, in the user's terms.

use std::fmt;

/// Where a data row is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it, or `standard input`.
    pub file: String,
    /// Where in that file.
    pub place: Place,
}

/// Where in a file a data row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The line on which a record of a text file begins, counted from 1 as an
    /// editor does.
    Line(u64),
    /// The row within a file that is not text, counted from 0 as in dshap's own
    /// output.
    Row(u64),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.file, self.place)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}
