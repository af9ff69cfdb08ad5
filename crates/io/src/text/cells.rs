//! Columns that are built cell by cell, and what can be wrong with a cell.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{Float64Builder, StringBuilder};
use dshap_table::ReadAs;

use crate::error::Error;
use crate::location::Location;

/// A faulty cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellFault {
    /// Position among all columns of the file.
    pub(crate) field: usize,
    pub(crate) text: String,
    pub(crate) problem: Problem,
}

/// What is wrong with a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Problem {
    NotANumber,
    NotABoolean,
    NotFinite,
    NotUtf8,
    Nested(&'static str),
    /// Text follows the closing quote.
    AfterQuote,
    /// An unquoted cell holds a quote.
    StrayQuote,
}

/// The beginning of a cell, for a message: a cell may hold megabytes.
pub(crate) fn excerpt(cell: &[u8]) -> String {
    const MAX_CHARS: usize = 60;
    // No character takes more than four bytes.
    let start = &cell[..cell.len().min(4 * MAX_CHARS + 4)];
    let text = String::from_utf8_lossy(start);
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None if start.len() < cell.len() => format!("{text}…"),
        None => text.to_owned(),
    }
}

impl CellFault {
    /// The error for a cell of the record at `at`, in a file with these columns.
    pub(crate) fn into_error(self, at: Location, names: &[String]) -> Error {
        // A record with too many cells has some that no name belongs to.
        let name = names.get(self.field).cloned();
        let (column, text) = (name.unwrap_or_else(|| format!("column_{}", self.field + 1)), self.text);
        match self.problem {
            Problem::NotANumber => Error::NotANumber { at, column, text },
            Problem::NotABoolean => Error::NotABoolean { at, column, text },
            Problem::NotFinite => Error::NotFinite { at, column, text },
            Problem::NotUtf8 => Error::NotUtf8 { at, column },
            Problem::Nested(what) => Error::NotAValue { at, column, what },
            Problem::AfterQuote => Error::AfterQuote { at, column, text },
            Problem::StrayQuote => Error::StrayQuote { at, column, text },
        }
    }
}

/// A column that is not complete. Each format adds cells in its own way.
pub(crate) enum ColumnBuilder {
    Number(Float64Builder),
    Boolean(Float64Builder),
    Text(StringBuilder),
    AsIs(StringBuilder),
}

impl ColumnBuilder {
    /// An empty column with room for about `n_rows` cells.
    pub(crate) fn new(read_as: ReadAs, n_rows: usize) -> ColumnBuilder {
        match read_as {
            ReadAs::Number => ColumnBuilder::Number(Float64Builder::with_capacity(n_rows)),
            ReadAs::Boolean => ColumnBuilder::Boolean(Float64Builder::with_capacity(n_rows)),
            ReadAs::Text => ColumnBuilder::Text(StringBuilder::with_capacity(n_rows, 8 * n_rows)),
            ReadAs::AsIs => ColumnBuilder::AsIs(StringBuilder::with_capacity(n_rows, 8 * n_rows)),
        }
    }

    pub(crate) fn finish(self) -> ArrayRef {
        match self {
            ColumnBuilder::Number(mut values) | ColumnBuilder::Boolean(mut values) => {
                Arc::new(values.finish())
            }
            ColumnBuilder::Text(mut texts) | ColumnBuilder::AsIs(mut texts) => Arc::new(texts.finish()),
        }
    }
}
