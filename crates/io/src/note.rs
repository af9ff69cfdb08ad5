//! Warnings about a table that could be read.

use crate::location::Location;

/// A warning about a table that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Fields of the header are numbers, where a row would have them, so the header may be
    /// missing.
    NumericHeader {
        /// The file.
        file: String,
    },
    /// Lines before the header are not part of the table.
    Preamble {
        /// The file.
        file: String,
        /// How many.
        n_lines: u64,
    },
    /// Lines after the last row are not part of the table.
    Footer {
        /// The file.
        file: String,
        /// The first of them.
        line: u64,
    },
    /// Several records form the header.
    SeveralHeaders {
        /// The file.
        file: String,
        /// How many.
        n_records: usize,
        /// The name of the first column.
        name: String,
    },
    /// Lines end in carriage returns alone.
    CarriageReturns {
        /// The file.
        file: String,
    },
    /// Cells are quoted by another character than the usual one.
    Quoted {
        /// The file.
        file: String,
        /// The character.
        by: char,
    },
    /// Quotes within quoted cells are escaped.
    Escaped {
        /// The file.
        file: String,
        /// The character.
        by: char,
    },
    /// Cells are separated by a character that few programs write.
    Delimited {
        /// The file.
        file: String,
        /// The character.
        by: char,
    },
    /// An unquoted cell holds a quote.
    StrayQuote {
        /// The first such record.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },
    /// Cells stand between quotes that are none in this file.
    OtherQuotes {
        /// The first such record.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },
    /// A column of numbers holds a few texts, so it is read as text.
    TextAmongNumbers {
        /// The first such record.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },
    /// A row has nothing but its first cell, unlike most.
    LoneCell {
        /// The first such row.
        at: Location,
        /// What the cell holds.
        text: String,
    },
    /// A column holds whole numbers that a double rounds.
    LargeIntegers {
        /// The file.
        file: String,
        /// The column.
        column: String,
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
