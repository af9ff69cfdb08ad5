//! Doubts about a table that could be read.

use std::fmt;

use crate::location::Location;

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
                "names in the header of `{file}` are numbers; if the header is missing, the first row of data is \
                 lost"
            ),
            Note::Preamble { file, n_lines: 1 } => {
                write!(f, "the first line of `{file}` is not part of the table and is skipped")
            }
            Note::Preamble { file, n_lines } => {
                write!(f, "the first {n_lines} lines of `{file}` are not part of the table and are skipped")
            }
            Note::Footer { file, line } => {
                write!(f, "`{file}` from line {line} on is not part of the table and is skipped")
            }
            Note::SeveralHeaders { file, n_records, name } => write!(
                f,
                "the header of `{file}` has {n_records} lines, which are joined; its first column is called \
                 `{name}`"
            ),
            Note::CarriageReturns { file } => {
                write!(f, "the lines of `{file}` end in carriage returns alone")
            }
            Note::Quoted { file, by } => {
                write!(f, "cells of `{file}` are quoted by {by}; these quotes are not part of the text")
            }
            Note::Escaped { file, by } => {
                write!(
                    f,
                    "quotes within cells of `{file}` are escaped by {by}, which is not part of the text"
                )
            }
            Note::Delimited { file, by } => {
                let name = match by {
                    ' ' => "blanks".to_owned(),
                    '\u{1f}' => "unit separators (U+001F)".to_owned(),
                    other => format!("`{other}`"),
                };
                write!(f, "cells of `{file}` are taken to be separated by {name}")
            }
            Note::StrayQuote { at, column, text } => {
                write!(
                    f,
                    "{at}, column `{column}` holds `{text}`, where the quote is read as part of the text"
                )
            }
            Note::TextAmongNumbers { at, column, text } => write!(
                f,
                "{at}, column `{column}` holds `{text}`; other cells are numbers, but the column is read as text"
            ),
            Note::LoneCell { at, text } => {
                write!(f, "{at} holds nothing but `{text}`; remove the line if it is not a row of the table")
            }
            Note::LargeIntegers { file, column } => write!(
                f,
                "column `{column}` of `{file}` holds whole numbers above 2^53, which are rounded to about 16 digits \
                 if they are used as numbers"
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
