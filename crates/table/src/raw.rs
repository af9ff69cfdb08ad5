//! What a table looks like before anything is learned from it.
//!
//! Readers hand over Arrow record batches. This module names what to ask them for, so
//! that a CSV file, a Parquet file and a Python frame are all read the same way.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the cells of a raw column hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of any width.
    Number,
    /// True and false.
    Boolean,
    /// Text, to be one-hot encoded.
    Text,
    /// Dates or times, which have no agreed meaning as numbers.
    Date,
    /// Lengths of time, whose unit the user has to choose.
    Duration,
    /// Anything else, such as lists, under the reader's name for it.
    Other(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Number => "number",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Duration => "duration",
            Kind::Other(name) => name,
        })
    }
}

/// Name and kind of one raw column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawColumn {
    /// The name, unique within its table.
    pub name: String,
    /// What its cells hold.
    pub kind: Kind,
}

/// The columns of a table, in their own order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawSchema {
    /// The columns.
    pub columns: Vec<RawColumn>,
}

impl RawSchema {
    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&RawColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// All names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }
}

/// How a reader hands over a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAs {
    /// A `Float64` array. Missing cells are null; anything else that is not a
    /// number is an error.
    Number,
    /// A `Float64` array of 0 and 1, from true and false (or 0 and 1).
    Boolean,
    /// A `Utf8` array of categories, each as [`spelled`](crate::spelled).
    /// Missing cells are null.
    Text,
    /// The cells unchanged, to be carried through to the output: as text from a CSV
    /// file, else in the file's own type.
    AsIs,
}

/// A column that a scan should read. The same column may be requested more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Name in the table.
    pub name: String,
    /// How to read it.
    pub read_as: ReadAs,
}
