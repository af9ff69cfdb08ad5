//! What can go wrong with a file, and what to tell the user about it.

use std::fmt;
use std::io;

use dshap_table::{Kind, ReadAs};

/// Where a data row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it, or `standard input`.
    pub file: String,
    /// Where in that file.
    pub place: Place,
}

/// Where in a file a data row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The line on which a record of a text file begins, counted from 1 as an
    /// editor does.
    Line(u64),
    /// The row within a Parquet file, counted from 0 as in our own output.
    Row(u64),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Line(line) => write!(f, "`{}` line {line}", self.file),
            Place::Row(row) => write!(f, "`{}` row {row}", self.file),
        }
    }
}

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
    /// Every field of the header is a number, so the header may be missing.
    NumericHeader {
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
            Note::NumericHeader { file } => write!(
                f,
                "every name in the header of `{file}` is a number; if the header is missing, \
                 its first row of data is lost"
            ),
            Note::NoRowsInPart { file } => write!(f, "`{file}` has a header but no rows"),
            Note::RepeatedFile { file } => {
                write!(f, "`{file}` is given more than once; its rows are repeated")
            }
        }
    }
}

/// Why a table could not be read or written.
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

    /// Writing failed, for the reason the operating system gave.
    #[error("cannot write `{file}`: {}", reason_in_words(reason))]
    Write {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: io::Error,
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
        /// Whether lines end in carriage returns alone, which are not read.
        bare_carriage_returns: bool,
    },

    /// The file is neither text nor Parquet.
    #[error("`{file}` is not text{}", looks_like.map(|what| format!("; it looks like {what}")).unwrap_or_default())]
    NotText {
        /// The file.
        file: String,
        /// What its first bytes suggest it is.
        looks_like: Option<&'static str>,
    },

    /// The file cannot be understood as Parquet.
    #[error("`{file}` is not a readable Parquet file: {reason}")]
    Parquet {
        /// The file.
        file: String,
        /// What the decoder said.
        reason: String,
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

    /// A quoted field is never closed.
    #[error("{at}, a quoted field begins here and is never closed")]
    UnclosedQuote {
        /// The line of the opening quote.
        at: Location,
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

    /// A column of a Parquet file cannot be read in the way asked for.
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
    /// What the user might do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Read { reason, .. } => match reason.kind() {
                io::ErrorKind::UnexpectedEof => {
                    Some("the file seems to be cut short; copy or download it again".into())
                }
                io::ErrorKind::IsADirectory => {
                    Some("name the files in it, for example with a pattern such as `*.csv`".into())
                }
                io::ErrorKind::NotFound => Some("check the name, and the folder the command runs in".into()),
                io::ErrorKind::PermissionDenied => Some("check who may read it with `ls -l`".into()),
                _ => None,
            },
            Error::NoMatch { .. } => Some("check the pattern, and the folder the command runs in".into()),
            Error::EmptyFile { .. } => Some("a table begins with a line of column names".into()),
            Error::DuplicateColumn { .. } => Some("give each column a name of its own in the header".into()),
            Error::UnclosedQuote { .. } => {
                Some("close the quote, or remove it if it is part of the text".into())
            }
            Error::NoFolder { folder, .. } => Some(format!("make it with `mkdir -p {folder}`")),
            Error::NoRows { bare_carriage_returns: true, .. } => {
                Some("its lines end in carriage returns alone; save it with Unix or Windows line ends".into())
            }
            Error::NoRows { .. } => {
                Some("there is a header but nothing below it; was the file cut short?".into())
            }
            Error::NotText { .. } => {
                Some("CSV as UTF-8 text (also .gz and .zst) and Parquet can be read".into())
            }
            Error::NoSuchColumn { available, suggestion, .. } => Some(match suggestion {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("its columns are {}", list(available)),
            }),
            Error::ColumnsDiffer { .. } => {
                Some("all files of one table need the same column names, in any order".into())
            }
            Error::Ragged { expected, found, .. } if found > expected => {
                Some("look for a delimiter inside text that is not quoted, or a decimal comma".into())
            }
            Error::Ragged { .. } => {
                Some("look for a line that was cut short or is not part of the table".into())
            }
            Error::LongRecord { .. } => Some("look for a quote that is never closed".into()),
            Error::NotUtf8 { .. } => {
                Some("save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`".into())
            }
            Error::NotANumber { column, text, .. } => Some(number_hint(column, text)),
            Error::NotFinite { .. } => {
                Some("leave the cell empty if the value is unknown; see `--missing`".into())
            }
            Error::WrongKind { column, .. } => Some(format!("leave it out with `--exclude {column}`")),
            Error::UnknownFormat { .. } => {
                Some("end the name in .csv, .json or .parquet, or give `--format`".into())
            }
            _ => None,
        }
    }

    /// Whether the reader of our output has gone away, which is no failure.
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

fn number_hint(column: &str, text: &str) -> String {
    let digits_and = |allowed: &str| {
        text.bytes().any(|byte| byte.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_digit() || allowed.contains(c))
    };
    let commas = text.matches(',').count();
    if commas == 1 && !text.contains('.') && digits_and("+-,eE") {
        return format!("`{text}` looks like a decimal comma; write decimals with a point");
    }
    if crate::csv::is_date(text.as_bytes()) {
        return format!("`{text}` looks like a date; leave it out with `--exclude {column}`");
    }
    let separators = [',', '.', '\'', ' ', '_', '\u{a0}', '\u{202f}'];
    if text.contains(separators) && digits_and("+-,.' _\u{a0}\u{202f}") {
        return format!("remove the thousands separators from `{text}`");
    }
    if digits_and("+-.,%$€£ ") {
        return format!("remove the unit or sign from `{text}`");
    }
    format!(
        "if the column holds categories, say `--categorical {column}`; if `{text}` means that \
         the value is unknown, leave the cell empty and see `--missing`"
    )
}

/// At most this many names are listed in a hint.
const LISTED: usize = 20;

fn list(names: &[String]) -> String {
    let mut text = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        text.push_str(&format!(" and {} more", names.len() - LISTED));
    }
    text
}

fn wanted_in_words(wanted: ReadAs) -> &'static str {
    match wanted {
        ReadAs::Number => "numbers",
        ReadAs::Boolean => "true and false",
        ReadAs::Text => "text",
        ReadAs::AsIs => "in the first file",
    }
}

/// The operating system's words in our style: lower case and no error number.
fn reason_in_words(reason: &io::Error) -> String {
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

    #[test]
    fn hints_about_numbers_depend_on_what_the_text_looks_like() {
        for (text, expected) in [
            ("1,5", "decimal comma"),
            ("-0,25", "decimal comma"),
            ("1,234.5", "thousands"),
            ("1 000 000", "thousands"),
            ("12 %", "unit"),
            ("$3.50", "unit"),
            ("2024-01-31", "date"),
            ("red", "--categorical shade"),
            ("unknown", "--missing"),
        ] {
            let hint = number_hint("shade", text);
            assert!(hint.contains(expected), "{text}: {hint}");
        }
    }

    #[test]
    fn a_long_list_of_columns_is_cut() {
        let names: Vec<String> = (0..23).map(|i| format!("c{i}")).collect();
        let text = list(&names);
        assert!(text.ends_with("`c19` and 3 more"), "{text}");
    }
}
