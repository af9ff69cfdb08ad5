//! What the user might do about an error.

use std::io;

use crate::error::Error;

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
            Error::Changed { .. } => {
                Some("wait until it is complete, or read a copy that nothing writes to".into())
            }
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
            Error::NotText { .. } => Some(
                "CSV and NDJSON as UTF-8 text (also .gz and .zst), Parquet, Arrow and NPY can be read".into(),
            ),
            Error::Malformed { .. } => Some("the file seems to be damaged; copy or write it again".into()),
            Error::Unsupported { advice, .. } => Some((*advice).to_owned()),
            Error::Json { reason, .. } => Some(json_hint(reason)),
            Error::UnknownKey { .. } => {
                Some("give every record the same keys, with null where a value is unknown".into())
            }
            Error::RepeatedKey { .. } => Some("keep one of them".into()),
            Error::NotAValue { column, .. } => Some(format!("leave it out with `--exclude {column}`")),
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
            Error::UnnamedCell { .. } => {
                Some("name the column in the header, or remove the delimiter at the end of each line".into())
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
            Error::NumbersOnly { .. } => {
                Some("leave the column out, or write Parquet or Arrow instead".into())
            }
            Error::UnknownFormat { .. } => Some(
                "end the name in .csv, .json, .ndjson, .parquet, .arrow or .npy, or give `--format`".into(),
            ),
            _ => None,
        }
    }
}

fn json_hint(reason: &str) -> String {
    let what = if reason.starts_with("EOF") {
        "write each record on one line, for example with `jq -c .`"
    } else if reason.contains("UTF-8") {
        "save the file as UTF-8, for example with `iconv -f latin1 -t utf-8`"
    } else {
        "write one object on each line; NaN and Infinity are not JSON, null is"
    };
    what.to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

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
