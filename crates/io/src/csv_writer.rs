//! Writing CSV so that reading it gives the same table back.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema};

use crate::csv::{Number, is_missing, number};
use crate::sink::Failure;

pub(crate) struct CsvWriter<W: Write> {
    output: W,
    /// Text that is not written yet.
    lines: String,
    /// One cell, before it is known whether it needs quotes.
    cell: String,
    /// Whether texts that begin formulas are marked as text.
    is_safe: bool,
}

impl<W: Write> CsvWriter<W> {
    /// Begins with the header.
    pub(crate) fn new(output: W, schema: &Schema, is_safe: bool) -> Result<CsvWriter<W>, Failure> {
        let mut writer = CsvWriter { output, lines: String::new(), cell: String::new(), is_safe };
        let n_columns = schema.fields().len();
        for (column, field) in schema.fields().iter().enumerate() {
            separate(&mut writer.lines, column);
            push_text(&mut writer.lines, &made_safe(field.name(), is_safe), n_columns == 1);
        }
        writer.lines.push('\n');
        writer.pass_on()?;
        Ok(writer)
    }

    pub(crate) fn write(&mut self, rows: &RecordBatch) -> Result<(), Failure> {
        // Doubles in their shortest form, dates and times as in ISO 8601.
        let options = FormatOptions::new();
        let columns = rows
            .columns()
            .iter()
            .map(|array| Column::new(array.as_ref(), &options))
            .collect::<Result<Vec<_>, _>>()?;
        let is_lone = columns.len() == 1;
        for row in 0..rows.num_rows() {
            for (position, column) in columns.iter().enumerate() {
                separate(&mut self.lines, position);
                column.push(row, is_lone, &mut self.lines, &mut self.cell, self.is_safe)?;
            }
            self.lines.push('\n');
            if self.lines.len() > 64 << 10 {
                self.pass_on()?;
            }
        }
        self.pass_on()
    }

    pub(crate) fn into_inner(self) -> W {
        self.output
    }

    fn pass_on(&mut self) -> Result<(), Failure> {
        self.output.write_all(self.lines.as_bytes())?;
        self.lines.clear();
        Ok(())
    }
}

enum Column<'a> {
    Text(&'a arrow_array::StringArray),
    /// Anything whose text is decided by its type.
    Other {
        array: &'a dyn Array,
        formatter: ArrayFormatter<'a>,
        /// Numbers and the like never need quotes.
        is_plain: bool,
    },
}

impl<'a> Column<'a> {
    fn new(array: &'a dyn Array, options: &FormatOptions<'a>) -> Result<Column<'a>, Failure> {
        Ok(match array.data_type() {
            DataType::Utf8 => Column::Text(array.as_string::<i32>()),
            data_type => Column::Other {
                array,
                formatter: ArrayFormatter::try_new(array, options)?,
                is_plain: data_type.is_numeric() || *data_type == DataType::Boolean,
            },
        })
    }

    fn push(
        &self,
        row: usize,
        is_lone: bool,
        line: &mut String,
        cell: &mut String,
        is_safe: bool,
    ) -> Result<(), Failure> {
        match self {
            Column::Text(texts) if texts.is_null(row) => push_missing(line, is_lone),
            Column::Text(texts) => push_text(line, &made_safe(texts.value(row), is_safe), is_lone),
            Column::Other { array, .. } if array.is_null(row) => push_missing(line, is_lone),
            Column::Other { formatter, is_plain, .. } => {
                let target = if *is_plain { &mut *line } else { &mut *cell };
                if write!(target, "{}", formatter.value(row)).is_err() {
                    // The formatter keeps the reason to itself.
                    let reason = formatter.value(row).try_to_string();
                    return Err(reason.map_or_else(Failure::from, |text| {
                        Failure::Encode(format!("`{text}` cannot be written"))
                    }));
                }
                if !*is_plain {
                    push_text(line, &made_safe(cell, is_safe), is_lone);
                    cell.clear();
                }
            }
        }
        Ok(())
    }
}

/// A text that spreadsheets take for text. They run cells that begin with one of these
/// signs, and some skip blanks before it; a number is a number to them.
fn made_safe(text: &str, is_safe: bool) -> Cow<'_, str> {
    let runs = || {
        let begins =
            text.starts_with(['\t', '\r', '\n']) || text.trim_start().starts_with(['=', '+', '-', '@']);
        begins && !matches!(number(text.as_bytes()), Number::Value(_))
    };
    if is_safe && runs() { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

fn separate(line: &mut String, column: usize) {
    if column > 0 {
        line.push(',');
    }
}

/// An empty line would be skipped when read, so a lone cell is never empty.
fn push_missing(line: &mut String, is_lone: bool) {
    if is_lone {
        line.push_str("\"\"");
    }
}

fn push_text(line: &mut String, text: &str, is_lone: bool) {
    if text.is_empty() {
        push_missing(line, is_lone);
    } else if needs_quotes(text) {
        line.push('"');
        for (i, part) in text.split('"').enumerate() {
            if i > 0 {
                line.push_str("\"\"");
            }
            line.push_str(part);
        }
        line.push('"');
    } else {
        line.push_str(text);
    }
}

/// Quotes also keep blanks around text, and keep text such as `NA` from being read as
/// a missing value. Text with another delimiter is quoted too, because a reader that
/// guesses could take it for the delimiter.
fn needs_quotes(text: &str) -> bool {
    text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r' | b';' | b'\t' | b'|'))
        || text.trim_ascii().len() < text.len()
        || is_missing(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_begin_formulas_are_marked_and_numbers_are_not() {
        for text in ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "  =1", "-", "-5-6", "=", "\u{a0}=1"] {
            assert_eq!(made_safe(text, true), format!("'{text}"), "{text:?}");
            assert_eq!(made_safe(text, false), text);
        }
        for text in ["", "a=b", "-5", "+1.5e3", " -2 ", "red", "'=1", "2-3"] {
            assert_eq!(made_safe(text, true), text);
        }
    }
}
