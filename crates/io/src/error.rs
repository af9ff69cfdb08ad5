//! What can go wrong with a file.

use std::io;

use dshap_table::{Kind, ReadAs};

use crate::facts::{JsonFault, LooksLike, NoRowsIn, Unsupported};
use crate::location::Location;

/// Why a table could not be read or written.
///
/// These are facts, with files, lines and columns as fields. What the user can do
/// about them depends on the front end, so `dshap-words` says it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading failed, for the reason the operating system or a decompressor gave.
    #[error("cannot read `{file}`: {}", reason_in_words(reason))]
    Read {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: io::Error,
    },

    /// A file is not the same as when it was first opened.
    #[error("`{file}` changed while it was read")]
    Changed {
        /// The file.
        file: String,
    },

    /// Writing failed, for the reason the operating system gave.
    #[error("cannot write `{file}`: {}", reason_in_words(reason))]
    Write {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: io::Error,
    },

    /// Another run replaced an output file meanwhile.
    #[error("cannot write `{file}`: another run has written it meanwhile")]
    Replaced {
        /// The file.
        file: String,
    },

    /// The folder of an output file does not exist.
    #[error("cannot write `{file}`: folder `{folder}` does not exist")]
    NoFolder {
        /// The output file.
        file: String,
        /// The folder that is missing.
        folder: String,
    },

    /// No input was named.
    #[error("no input file is given")]
    NoInput,

    /// Standard input is named more than once.
    #[error("standard input `-` can be read only once")]
    RepeatedStandardInput,

    /// A glob pattern matches no file.
    #[error("no file matches `{pattern}`")]
    NoMatch {
        /// The pattern.
        pattern: String,
    },

    /// A glob pattern cannot be understood.
    #[error("`{pattern}` is not a valid pattern: {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },

    /// The file has no bytes, or nothing but blank lines.
    #[error("`{file}` is empty")]
    EmptyFile {
        /// The file.
        file: String,
    },

    /// The table has a header but no rows.
    #[error("`{file}` has no rows")]
    NoRows {
        /// The file, or the first of several.
        file: String,
        /// What has no rows.
        within: NoRowsIn,
    },

    /// The file is neither text nor in one of the binary formats that are read.
    #[error("`{file}` {}", not_text(*looks_like))]
    NotText {
        /// The file.
        file: String,
        /// What its first bytes suggest it is.
        looks_like: Option<LooksLike>,
    },

    /// The file cannot be understood as Parquet.
    #[error("`{file}` is not a readable Parquet file: {reason}")]
    Parquet {
        /// The file.
        file: String,
        /// What the decoder said.
        reason: String,
    },

    /// The file cannot be understood in the format that it seems to have.
    #[error("`{file}` is not a readable {format} file: {reason}")]
    Malformed {
        /// The file.
        file: String,
        /// The name of the format.
        format: &'static str,
        /// What is wrong with it.
        reason: String,
    },

    /// The file is well-formed but holds something that is not read.
    #[error("`{file}` {what}")]
    Unsupported {
        /// The file.
        file: String,
        /// What it is or holds.
        what: Unsupported,
    },

    /// A line is not a JSON object.
    #[error("{at} is not a JSON object: {fault}")]
    Json {
        /// The line.
        at: Location,
        /// What is wrong with it.
        fault: JsonFault,
    },

    /// A JSON object has a key that no earlier one had.
    #[error("{at} has the key `{key}`, which none of the first {n_known} records has")]
    UnknownKey {
        /// The line.
        at: Location,
        /// The key.
        key: String,
        /// How many records settled the columns.
        n_known: u64,
    },

    /// A JSON object has the same key twice.
    #[error("{at} has the key `{key}` more than once")]
    RepeatedKey {
        /// The line.
        at: Location,
        /// The key.
        key: String,
    },

    /// A cell is a list or an object.
    #[error("{at}, column `{column}` holds {what}, which is not a single value")]
    NotAValue {
        /// The row.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        what: &'static str,
    },

    /// A file has more columns than any table.
    #[error("`{file}` has more than {limit} columns")]
    TooManyColumns {
        /// The file.
        file: String,
        /// The most columns allowed.
        limit: usize,
    },

    /// Two columns share a name.
    #[error("column `{name}` occurs more than once in `{file}`")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        name: String,
    },

    /// Files of one table do not have the same columns.
    #[error("`{file}` has no column `{column}`, which `{other}` has")]
    ColumnsDiffer {
        /// The file without the column.
        file: String,
        /// The file with the column.
        other: String,
        /// The column.
        column: String,
    },

    /// A column that was asked for is not there.
    #[error("no column `{name}` in `{file}`")]
    NoSuchColumn {
        /// The file, or the first of several.
        file: String,
        /// The name asked for.
        name: String,
        /// The names that exist.
        available: Vec<String>,
        /// A name that differs by little.
        suggestion: Option<String>,
    },

    /// A record has more or fewer fields than the header.
    #[error("{at} has {found} {}, expected {expected}", if *found == 1 { "field" } else { "fields" })]
    Ragged {
        /// The record.
        at: Location,
        /// Fields of the header.
        expected: usize,
        /// Fields of the record.
        found: usize,
    },

    /// A record holds something in a last column that has no name. The column was
    /// empty in the first records, so it was ignored.
    #[error("{at} holds `{text}` after its last column, where earlier lines hold nothing")]
    UnnamedCell {
        /// The record.
        at: Location,
        /// What it holds.
        text: String,
    },

    /// A quoted field is never closed.
    #[error("{at}, a quoted field begins here and is never closed")]
    UnclosedQuote {
        /// The line of the opening quote.
        at: Location,
    },

    /// Text follows the quote that closes a cell.
    #[error("{at}, column `{column}` holds `{text}`, where text follows the closing quote")]
    AfterQuote {
        /// The record.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds, quotes included.
        text: String,
    },

    /// An unquoted cell of a numeric column holds a quote.
    #[error("{at}, column `{column}` holds `{text}`, a quote among numbers")]
    StrayQuote {
        /// The record.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },

    /// A record is too long to be one.
    #[error("{at}, the record is longer than {limit} MiB")]
    LongRecord {
        /// The record.
        at: Location,
        /// The longest record allowed, in MiB.
        limit: usize,
    },

    /// Text or a column name is not valid UTF-8.
    #[error("{at}, column `{column}` is not valid UTF-8")]
    NotUtf8 {
        /// The record.
        at: Location,
        /// The column.
        column: String,
    },

    /// A cell of a numeric column is not a number.
    #[error("{at}, column `{column}` holds `{text}`, which is not a number")]
    NotANumber {
        /// The row.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },

    /// A cell of a boolean column is neither true nor false.
    #[error("{at}, column `{column}` holds `{text}`, which is neither true nor false")]
    NotABoolean {
        /// The row.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },

    /// A number is infinite or too large for a double.
    #[error("{at}, column `{column}` holds `{text}`, which is not finite")]
    NotFinite {
        /// The row.
        at: Location,
        /// The column.
        column: String,
        /// What the cell holds.
        text: String,
    },

    /// A column of a typed file cannot be read in the way asked for.
    #[error("column `{column}` of `{file}` holds {kind} and cannot be read as {}", wanted_in_words(*wanted))]
    WrongKind {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What its cells hold.
        kind: Kind,
        /// How it was asked for.
        wanted: ReadAs,
    },

    /// The name of an output file does not say its format.
    #[error("cannot tell the format of `{file}` from its name")]
    UnknownFormat {
        /// The output file.
        file: String,
    },

    /// A column cannot be written to a file that holds numbers only.
    #[error("cannot write `{file}`: column `{column}` is not numeric, and NPY holds numbers only")]
    NumbersOnly {
        /// The output file.
        file: String,
        /// The column.
        column: String,
    },

    /// Rows cannot be represented in the output format.
    #[error("cannot write `{file}`: {reason}")]
    Encode {
        /// The output file.
        file: String,
        /// What the encoder said.
        reason: String,
    },
}

impl Error {
    /// Whether the program that reads the output has gone away, which is not a
    /// failure.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Error::Write { reason, .. } if reason.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn read(file: &str, reason: io::Error) -> Error {
        Error::Read { file: file.to_owned(), reason }
    }

    pub(crate) fn write(file: &str, reason: io::Error) -> Error {
        Error::Write { file: file.to_owned(), reason }
    }
}

fn not_text(looks_like: Option<LooksLike>) -> String {
    match looks_like {
        None => "is not text".into(),
        Some(LooksLike::Utf16) => "is UTF-16 text; only UTF-8 is read".into(),
        Some(what) => format!("is not text; it looks like {what}"),
    }
}

fn wanted_in_words(wanted: ReadAs) -> &'static str {
    match wanted {
        ReadAs::Number => "numbers",
        ReadAs::Boolean => "true and false",
        ReadAs::Text => "text",
        ReadAs::AsIs => "in the first file",
    }
}

/// The operating system's words in lower case and without an error number.
pub(crate) fn reason_in_words(reason: &io::Error) -> String {
    let text = reason.to_string();
    let text = match text.find(" (os error ") {
        Some(end) => &text[..end],
        None => &text,
    };
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => reason.kind().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operating_system_reasons_are_lower_case_and_carry_no_number() {
        let error = Error::write("out.csv", io::Error::from_raw_os_error(28));
        assert_eq!(error.to_string(), "cannot write `out.csv`: no space left on device");
    }

    #[test]
    fn only_a_closed_pipe_is_a_broken_pipe() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(Error::write("standard output", closed).is_broken_pipe());
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(!Error::write("standard output", full).is_broken_pipe());
    }
}
