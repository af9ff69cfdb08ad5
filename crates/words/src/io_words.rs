//! Files that cannot be read or written, in words.

use crate::Speech;
use crate::listing::listed;
use crate::table_words::{leave_out_or_convert, numbers_as_names};
use dshap_io::{ContainerError, Error, JsonFault, LooksLike, NoRowsIn, Resembles, Unsupported};
use dshap_table::{Kind, ReadAs};
use std::io;

const AS_UTF_8: &str = "save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`";
const DAMAGED: &str = "the file seems to be damaged; copy or write it again";

/// What is wrong with a file.
pub fn io_error(error: &Error, speech: &dyn Speech) -> String {
    let cell = |at, column: &str| speech.cell(Some(at), column);
    match error {
        Error::NotAValue { at, column, what } => {
            format!("{} holds {what}, which is not a single value", cell(at, column))
        }
        Error::NotUtf8 { at, column } => format!("{} is not valid UTF-8", cell(at, column)),
        Error::NotANumber { at, column, text } => {
            format!("{} holds `{text}`, which is not a number", cell(at, column))
        }
        Error::NotABoolean { at, column, text } => {
            format!("{} holds `{text}`, which is neither true nor false", cell(at, column))
        }
        Error::NotFinite { at, column, text } => {
            format!("{} holds `{text}`, which is not finite", cell(at, column))
        }
        Error::AfterQuote { at, column, text } => {
            format!("{} holds `{text}`, where text follows the closing quote", cell(at, column))
        }
        Error::StrayQuote { at, column, text } => {
            format!("{} holds `{text}`, a quote among numbers", cell(at, column))
        }
        // The others name no cell and nothing that front ends spell differently.
        other => other.to_string(),
    }
}

/// What to do about a file error.
pub fn io_hint(error: &Error, speech: &dyn Speech) -> Option<String> {
    Some(match error {
        Error::Read { reason, .. } => read_hint(reason, speech)?,
        Error::Write { reason, .. } => match reason.kind() {
            io::ErrorKind::NotFound => format!("check the name, and {}", speech.working_folder()),
            io::ErrorKind::IsADirectory => "give the name of a file in it".into(),
            io::ErrorKind::PermissionDenied => "check who may write there".into(),
            _ => return None,
        },
        Error::Changed { .. } => "wait until it is complete, or read a copy that nothing writes to".into(),
        Error::Replaced { .. } => "run it again; it then starts from the file as it is now".into(),
        Error::NoFolder { folder, .. } => format!("make it with {}", speech.make_folder(folder)),
        Error::NoMatch { .. } => format!("check the pattern, and {}", speech.working_folder()),
        Error::EmptyFile { .. } => "a table begins with a line of column names".into(),
        Error::NoRows { within: NoRowsIn::Header, .. } => {
            "there is a header but nothing below it; was the file cut short?".into()
        }
        Error::NotText { looks_like: Some(LooksLike::Utf16), .. } => {
            "save the file as UTF-8, for example with `iconv -f utf-16 -t utf-8`".into()
        }
        Error::NotText { looks_like: Some(LooksLike::Npz), .. } => {
            "save its table alone with `numpy.save`".into()
        }
        Error::NotText { .. } => {
            "these can be read: CSV and NDJSON as UTF-8 text (also .gz and .zst), Parquet, Arrow and NPY"
                .into()
        }
        Error::Parquet { .. } | Error::Malformed { .. } => DAMAGED.into(),
        Error::Unsupported { what, .. } => unsupported_hint(what).into(),
        Error::Json { fault, .. } => match fault {
            JsonFault::CutShort { .. } => "write each record on one line, for example with `jq -c .`".into(),
            JsonFault::NotUtf8 => AS_UTF_8.into(),
            _ => "write one object on each line; NaN and Infinity are not JSON, null is".into(),
        },
        Error::UnknownKey { .. } => {
            "give every record the same keys, with null where a value is unknown".into()
        }
        Error::RepeatedKey { .. } => "keep one of them".into(),
        Error::NotAValue { column, .. } => speech.leave_out(column),
        Error::TooManyColumns { .. } => {
            "are rows and columns exchanged, or keys names of their own in each record? wide tables of numbers \
             can be read from Parquet or NPY"
                .into()
        }
        Error::DuplicateColumn { name, .. } if name.parse::<f64>().is_ok() => numbers_as_names(speech),
        Error::DuplicateColumn { .. } => "give each column a different name".into(),
        Error::ColumnsDiffer { .. } => {
            "all files of one table need the same column names, in any order".into()
        }
        Error::NoSuchColumn { available, suggestion, .. } => match suggestion {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("its columns are {}", listed(available)),
        },
        Error::Ragged { expected, found, .. } if found > expected => {
            "look for a delimiter inside text that is not quoted, or a decimal comma".into()
        }
        Error::Ragged { .. } => "look for a line that was cut short or is not part of the table".into(),
        Error::UnnamedCell { .. } => {
            "name the column in the header, or remove the delimiter at the end of each line".into()
        }
        Error::UnclosedQuote { .. } => "close the quote, or remove it if it is part of the text".into(),
        Error::AfterQuote { .. } => {
            "remove the quotes, or double those that are part of the text, as in \"5\"\" pipe\"".into()
        }
        Error::StrayQuote { .. } => {
            "remove the quote, or look for a delimiter that is missing before it".into()
        }
        Error::LongRecord { .. } => "look for a quote that is never closed".into(),
        Error::NotUtf8 { .. } => AS_UTF_8.into(),
        Error::NotANumber { column, text, .. } => number_hint(column, text, speech),
        Error::NotABoolean { .. } => {
            format!("write true or false; if the value is unknown, {}", unknown_value(speech))
        }
        Error::NotFinite { .. } => format!("if the value is unknown, {}", unknown_value(speech)),
        Error::WrongKind { column, kind, wanted, .. } => wrong_kind_hint(column, kind, *wanted, speech),
        Error::UnknownFormat { .. } => format!(
            "end the name in .csv, .json, .ndjson, .parquet, .arrow or .npy, or give {}",
            speech.option("format")
        ),
        Error::NumbersOnly { .. } => "leave the column out, or write Parquet or Arrow instead".into(),
        _ => return None,
    })
}

/// What is wrong with a file that dshap wrote.
pub fn container_error(error: &ContainerError, _speech: &dyn Speech) -> String {
    error.to_string()
}

/// What to do about a file that dshap wrote.
pub fn container_hint(error: &ContainerError, speech: &dyn Speech) -> Option<String> {
    match error {
        ContainerError::Read { reason, .. } => read_hint(reason, speech),
        ContainerError::Newer { .. } => Some("it was made by a newer dshap; update this one".into()),
        ContainerError::Truncated { .. } | ContainerError::Damaged { .. } => {
            Some("copy the file again, or make it again".into())
        }
        _ => None,
    }
}

fn read_hint(reason: &io::Error, speech: &dyn Speech) -> Option<String> {
    Some(match reason.kind() {
        io::ErrorKind::UnexpectedEof => "the file seems to be cut short; copy or download it again".into(),
        io::ErrorKind::IsADirectory => speech.name_a_file(),
        io::ErrorKind::NotFound => format!("check the name, and {}", speech.working_folder()),
        io::ErrorKind::PermissionDenied => "check who may read it".into(),
        _ => return None,
    })
}

fn unsupported_hint(what: &Unsupported) -> &'static str {
    match what {
        Unsupported::FirstFeather => "write it again as Arrow, for example with pandas' `to_feather`",
        Unsupported::JsonArray => "turn it into lines, for example with `jq -c '.[]'`",
        Unsupported::Columns { .. } => {
            "a table has one row for each observation and one column for each property"
        }
        Unsupported::Dimensions { .. } => {
            "save an array with one or two dimensions, for example after `reshape`"
        }
        Unsupported::NestedArrays | Unsupported::NestedRecords => "save a column for each of them",
        Unsupported::PythonObjects => "convert them first, for example with `.astype(float)`",
        Unsupported::ComplexNumbers => "save real and imaginary parts as columns of doubles",
        Unsupported::Dates => "save numbers, such as days since a fixed date",
        _ => "save doubles, for example after `.astype(float)`",
    }
}

fn number_hint(column: &str, text: &str, speech: &dyn Speech) -> String {
    match Resembles::of(text) {
        Some(Resembles::DecimalComma) => {
            format!("`{text}` looks like a decimal comma; write decimals with a point")
        }
        Some(Resembles::Date) => format!("`{text}` looks like a date; {}", speech.leave_out(column)),
        Some(Resembles::Thousands) => format!("remove the thousands separators from `{text}`"),
        Some(Resembles::Unit) => format!("remove the unit or sign from `{text}`"),
        _ => format!(
            "if the column holds categories, use {}; if `{text}` means that the value is unknown, {}",
            speech.set("categorical", column),
            unknown_value(speech)
        ),
    }
}

fn unknown_value(speech: &dyn Speech) -> String {
    format!("{} and see {}", speech.missing_cell(), speech.option("missing"))
}

fn wrong_kind_hint(column: &str, kind: &Kind, wanted: ReadAs, speech: &dyn Speech) -> String {
    let leave_out = || speech.leave_out(column);
    match wanted {
        ReadAs::Number if matches!(kind, Kind::Text) => format!("{}, or give it as numbers", leave_out()),
        ReadAs::Number => leave_out_or_convert(column, kind, speech),
        ReadAs::Boolean => format!("{}, or give it as true and false", leave_out()),
        ReadAs::Text => format!("{}, or give it as text", leave_out()),
        ReadAs::AsIs => "give the column the same type in all files".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_speech::{Angled, assert_is_house_style};
    use dshap_io::{Location, Place};

    fn failed(kind: io::ErrorKind) -> io::Error {
        io::Error::new(kind, "it did not work")
    }

    /// Every variant, with and without a hint, each about `wine.csv` or its column
    /// `age`.
    fn all() -> Vec<Error> {
        let file = || "wine.csv".to_string();
        let column = || "age".to_string();
        let at = || Location { file: file(), place: Place::Line(3) };
        let read = |kind| Error::Read { file: file(), reason: failed(kind) };
        let write = |kind| Error::Write { file: file(), reason: failed(kind) };
        let no_rows = |within| Error::NoRows { file: file(), within };
        let not_text = |looks_like| Error::NotText { file: file(), looks_like };
        let unsupported = |what| Error::Unsupported { file: file(), what };
        let json = |fault| Error::Json { at: at(), fault };
        let not_a_number = |text: &str| Error::NotANumber { at: at(), column: column(), text: text.into() };
        let reason = || "it ends".to_string();
        let wrong = |kind, wanted| Error::WrongKind { file: file(), column: column(), kind, wanted };
        vec![
            read(io::ErrorKind::UnexpectedEof),
            read(io::ErrorKind::IsADirectory),
            read(io::ErrorKind::NotFound),
            read(io::ErrorKind::PermissionDenied),
            read(io::ErrorKind::Other),
            Error::Changed { file: file() },
            write(io::ErrorKind::NotFound),
            write(io::ErrorKind::IsADirectory),
            write(io::ErrorKind::PermissionDenied),
            write(io::ErrorKind::StorageFull),
            Error::Replaced { file: file() },
            Error::NoFolder { file: file(), folder: "out".into() },
            Error::NoMatch { pattern: "wine.csv*".into() },
            Error::Pattern { pattern: "wine.csv[".into(), reason: "it is open".into() },
            Error::EmptyFile { file: file() },
            no_rows(NoRowsIn::Header),
            no_rows(NoRowsIn::Memory),
            not_text(None),
            not_text(Some(LooksLike::Utf16)),
            not_text(Some(LooksLike::Npz)),
            not_text(Some(LooksLike::Sqlite)),
            Error::Parquet { file: file(), reason: reason() },
            Error::Malformed { file: file(), format: "NPY", reason: reason() },
            unsupported(Unsupported::FirstFeather),
            unsupported(Unsupported::JsonArray),
            unsupported(Unsupported::Columns { n_columns: 0 }),
            unsupported(Unsupported::Dimensions { n_dimensions: 3 }),
            unsupported(Unsupported::NestedArrays),
            unsupported(Unsupported::NestedRecords),
            unsupported(Unsupported::PythonObjects),
            unsupported(Unsupported::NumberWidth { bits: 128 }),
            unsupported(Unsupported::ComplexNumbers),
            unsupported(Unsupported::Dates),
            unsupported(Unsupported::CellType { descr: "<q8".into() }),
            json(JsonFault::NotUtf8),
            json(JsonFault::CutShort { reason: reason() }),
            json(JsonFault::Syntax { reason: reason() }),
            Error::UnknownKey { at: at(), key: column(), n_known: 10 },
            Error::RepeatedKey { at: at(), key: column() },
            Error::NotAValue { at: at(), column: column(), what: "a list" },
            Error::TooManyColumns { file: file(), limit: 200_000 },
            Error::DuplicateColumn { file: file(), name: column() },
            Error::ColumnsDiffer { file: file(), other: "more.csv".into(), column: column() },
            Error::NoSuchColumn { file: file(), name: column(), available: vec![], suggestion: None },
            Error::Ragged { at: at(), expected: 2, found: 1 },
            Error::Ragged { at: at(), expected: 2, found: 3 },
            Error::UnnamedCell { at: at(), text: "x".into() },
            Error::UnclosedQuote { at: at() },
            Error::AfterQuote { at: at(), column: column(), text: "\"5\"6".into() },
            Error::StrayQuote { at: at(), column: column(), text: "5\"6".into() },
            Error::LongRecord { at: at(), limit: 64 },
            Error::NotUtf8 { at: at(), column: column() },
            not_a_number("1,5"),
            not_a_number("2024-01-31"),
            not_a_number("1,234.5"),
            not_a_number("12 %"),
            not_a_number("red"),
            Error::NotABoolean { at: at(), column: column(), text: "perhaps".into() },
            Error::NotFinite { at: at(), column: column(), text: "inf".into() },
            wrong(Kind::Date, ReadAs::Number),
            wrong(Kind::Text, ReadAs::Number),
            wrong(Kind::Other("list".into()), ReadAs::Text),
            wrong(Kind::Number, ReadAs::Boolean),
            wrong(Kind::Number, ReadAs::AsIs),
            Error::UnknownFormat { file: file() },
            Error::NumbersOnly { file: file(), column: column() },
            Error::Encode { file: file(), reason: reason() },
        ]
    }

    #[test]
    fn every_error_names_its_file_in_house_style() {
        for error in all() {
            let message = io_error(&error, &Angled);
            assert!(message.contains("wine.csv"), "{message}");
            assert_is_house_style(&message);
            assert_is_house_style(&error.to_string());
            if let Some(hint) = io_hint(&error, &Angled) {
                assert_is_house_style(&hint);
            }
        }
        for error in [Error::NoInput, Error::RepeatedStandardInput] {
            assert_is_house_style(&io_error(&error, &Angled));
        }
    }

    #[test]
    fn hints_about_numbers_depend_on_what_the_text_looks_like() {
        for (text, expected) in [
            ("1,5", "`1,5` looks like a decimal comma; write decimals with a point"),
            ("1 000 000", "remove the thousands separators from `1 000 000`"),
            ("12 %", "remove the unit or sign from `12 %`"),
            ("2024-01-31", "`2024-01-31` looks like a date; <leave out shade>"),
            (
                "red",
                "if the column holds categories, use <categorical is shade>; if `red` means that the value is \
                 unknown, <missing cell> and see <missing>",
            ),
        ] {
            assert_eq!(number_hint("shade", text, &Angled), expected);
        }
    }

    #[test]
    fn hints_are_spelled_by_the_front_end() {
        let hint = |error: &Error| io_hint(error, &Angled).unwrap();
        let folder = Error::NoFolder { file: "out/a.csv".into(), folder: "out".into() };
        assert_eq!(hint(&folder), "make it with <make out>");
        let gone = Error::Read { file: "a.csv".into(), reason: failed(io::ErrorKind::NotFound) };
        assert_eq!(hint(&gone), "check the name, and <working folder>");
        let gone = ContainerError::Read { file: "a.dshap".into(), reason: failed(io::ErrorKind::NotFound) };
        assert_eq!(container_hint(&gone, &Angled).unwrap(), "check the name, and <working folder>");
        assert!(hint(&Error::UnknownFormat { file: "a".into() }).ends_with("or give <format>"));
    }

    #[test]
    fn every_error_about_a_file_of_dshap_names_it() {
        let file = || "wine.dshap".to_string();
        for error in [
            ContainerError::Read { file: file(), reason: failed(io::ErrorKind::PermissionDenied) },
            ContainerError::Foreign { file: file(), looks_like: None },
            ContainerError::Foreign { file: file(), looks_like: Some(LooksLike::Text) },
            ContainerError::Truncated { file: file(), bytes: 7 },
            ContainerError::Damaged { file: file(), what: "its header cannot be read".into() },
            ContainerError::OtherKind { file: file(), found: "checkpoint".into(), expected: "valuer" },
            ContainerError::Newer { file: file(), version: 9, newest: 1 },
        ] {
            let message = container_error(&error, &Angled);
            assert!(message.contains("`wine.dshap`"), "{message}");
            assert_is_house_style(&message);
            if let Some(hint) = container_hint(&error, &Angled) {
                assert_is_house_style(&hint);
            }
        }
    }
}
