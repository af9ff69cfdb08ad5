//! What a reader noticed about a file that it could read all the same, in words.

use crate::Speech;
use dshap_io::Note;

/// What a reader noticed about a file that it could read all the same.
pub fn io_note(note: &Note, speech: &dyn Speech) -> String {
    match note {
        Note::UnnamedColumn { file, name } => {
            format!("a column of `{file}` has no name and is called `{name}`")
        }
        Note::TrailingDelimiter { file } => {
            format!("every line of `{file}` ends with a delimiter, which is ignored")
        }
        Note::NumericHeader { file } => format!(
            "names in the header of `{file}` are numbers; if the file has no header, its first row is lost: give {}",
            speech.option("no_header")
        ),
        Note::Preamble { file, n_lines: 1 } => {
            format!("the first line of `{file}` is not part of the table and is skipped")
        }
        Note::Preamble { file, n_lines } => {
            format!("the first {n_lines} lines of `{file}` are not part of the table and are skipped")
        }
        Note::Footer { file, line } => {
            format!("`{file}` from line {line} on is not part of the table and is skipped")
        }
        Note::SeveralHeaders { file, n_records, name } => format!(
            "the header of `{file}` has {n_records} lines, which are joined; its first column is called \
             `{name}`"
        ),
        Note::CarriageReturns { file } => {
            format!("the lines of `{file}` end in carriage returns alone")
        }
        Note::Quoted { file, by } => {
            format!("cells of `{file}` are quoted by {by}; these quotes are not part of the text")
        }
        Note::Escaped { file, by } => {
            format!("quotes within cells of `{file}` are escaped by {by}, which is not part of the text")
        }
        Note::Delimited { file, by } => {
            let name = match by {
                ' ' => "blanks".to_owned(),
                '\u{1f}' => "unit separators (U+001F)".to_owned(),
                other => format!("`{other}`"),
            };
            format!("cells of `{file}` are taken to be separated by {name}")
        }
        Note::StrayQuote { at, column, text } => {
            format!("{at}, column `{column}` holds `{text}`, where the quote is read as part of the text")
        }
        Note::OtherQuotes { at, column, text } => format!(
            "{at}, column `{column}` holds `{text}`, where the quotes are read as part of the text; cells of this \
             file are not quoted by them"
        ),
        Note::TextAmongNumbers { at, column, text } => format!(
            "{at}, column `{column}` holds `{text}`; other cells are numbers, but the column is read as text"
        ),
        Note::LoneCell { at, text } => {
            format!("{at} holds nothing but `{text}`; remove the line if it is not a row of the table")
        }
        Note::LargeIntegers { file, column } => format!(
            "column `{column}` of `{file}` holds whole numbers above 2^53, which are rounded to about 16 digits \
             if they are used as numbers"
        ),
        Note::NumberedColumns { file } => {
            format!("the columns of `{file}` have no names and are called `column_0` and so on")
        }
        Note::NoEndOfStream { file } => {
            format!("`{file}` has no end marker; if it was cut short, rows are missing")
        }
        Note::MoreThanPromised { file } => {
            format!("`{file}` continues after the rows announced in its header; the rest is ignored")
        }
        Note::NoRowsInPart { file } => format!("`{file}` has a header but no rows"),
        Note::RepeatedFile { file } => {
            format!("`{file}` is given more than once; its rows are repeated")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_speech::{Angled, assert_is_house_style};
    use dshap_io::{Location, Place};

    #[test]
    fn every_note_names_its_file() {
        let file = || "wine.csv".to_string();
        for note in [
            Note::UnnamedColumn { file: file(), name: "column_1".into() },
            Note::TrailingDelimiter { file: file() },
            Note::NumericHeader { file: file() },
            Note::NumberedColumns { file: file() },
            Note::NoEndOfStream { file: file() },
            Note::MoreThanPromised { file: file() },
            Note::NoRowsInPart { file: file() },
            Note::RepeatedFile { file: file() },
        ] {
            let sentence = io_note(&note, &Angled);
            assert!(sentence.contains("`wine.csv`"), "{sentence}");
            assert_is_house_style(&sentence);
        }
    }

    #[test]
    fn ways_of_writing_a_table_are_stated() {
        let file = || "a.csv".to_string();
        let at = Location { file: file(), place: Place::Line(2) };
        let column = || "a".to_string();
        for (note, sentence) in [
            (Note::CarriageReturns { file: file() }, "the lines of `a.csv` end in carriage returns alone"),
            (
                Note::Preamble { file: file(), n_lines: 2 },
                "the first 2 lines of `a.csv` are not part of the table and are skipped",
            ),
            (
                Note::Footer { file: file(), line: 5 },
                "`a.csv` from line 5 on is not part of the table and is skipped",
            ),
            (
                Note::Quoted { file: file(), by: '\'' },
                "cells of `a.csv` are quoted by '; these quotes are not part of the text",
            ),
            (
                Note::Escaped { file: file(), by: '\\' },
                "quotes within cells of `a.csv` are escaped by \\, which is not part of the text",
            ),
            (
                Note::Delimited { file: file(), by: ' ' },
                "cells of `a.csv` are taken to be separated by blanks",
            ),
            (
                Note::StrayQuote { at: at.clone(), column: column(), text: "x\"y".into() },
                "`a.csv` line 2, column `a` holds `x\"y`, where the quote is read as part of the text",
            ),
            (
                Note::OtherQuotes { at: at.clone(), column: column(), text: "'x'".into() },
                "`a.csv` line 2, column `a` holds `'x'`, where the quotes are read as part of the text; cells of \
                 this file are not quoted by them",
            ),
            (
                Note::TextAmongNumbers { at, column: column(), text: "3x".into() },
                "`a.csv` line 2, column `a` holds `3x`; other cells are numbers, but the column is read as text",
            ),
        ] {
            assert_eq!(io_note(&note, &Angled), sentence);
        }
    }
}
