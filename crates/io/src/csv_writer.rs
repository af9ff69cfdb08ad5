//! Writing CSV so that reading it gives the same table back.

use std::fmt::Write as _;
use std::io::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema};

use crate::csv::is_missing;
use crate::sink::Failure;

pub(crate) struct CsvWriter<W: Write> {
    output: W,
    /// Text that is not written yet.
    lines: String,
    /// One cell, before it is known whether it needs quotes.
    cell: String,
}

impl<W: Write> CsvWriter<W> {
    /// Begins with the header.
    pub(crate) fn new(output: W, schema: &Schema) -> Result<CsvWriter<W>, Failure> {
        let mut writer = CsvWriter { output, lines: String::new(), cell: String::new() };
        let n_columns = schema.fields().len();
        for (column, field) in schema.fields().iter().enumerate() {
            separate(&mut writer.lines, column);
            push_text(&mut writer.lines, field.name(), n_columns == 1);
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
                column.push(row, is_lone, &mut self.lines, &mut self.cell)?;
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

    fn push(&self, row: usize, is_lone: bool, line: &mut String, cell: &mut String) -> Result<(), Failure> {
        match self {
            Column::Text(texts) if texts.is_null(row) => push_missing(line, is_lone),
            Column::Text(texts) => push_text(line, texts.value(row), is_lone),
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
                    push_text(line, cell, is_lone);
                    cell.clear();
                }
            }
        }
        Ok(())
    }
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
