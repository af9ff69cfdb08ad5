//! Tables a person can read.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
pub(crate) use dshap_words::{counted, grouped, significant};

/// Rows shown from each end of a long table.
const SHOWN_EACH: usize = 10;

/// A table with more rows than this is long.
pub(crate) const LONG_TABLE: usize = 2 * SHOWN_EACH + 5;

/// Longest text shown in a cell.
const MAX_CELL: usize = 24;

/// The table with aligned columns. A long table shows only both ends, with a line between them.
pub(crate) fn render(rows: &RecordBatch, between: impl Fn(usize) -> String) -> String {
    let n = rows.num_rows();
    let schema = rows.schema();
    let shown: Vec<Option<usize>> = if n > LONG_TABLE {
        (0..SHOWN_EACH).map(Some).chain([None]).chain((n - SHOWN_EACH..n).map(Some)).collect()
    } else {
        (0..n).map(Some).collect()
    };
    // A column without an entry, often `note`, is not shown.
    let columns: Vec<usize> =
        (0..rows.num_columns()).filter(|&j| n == 0 || rows.column(j).null_count() < n).collect();
    let texts: Vec<Vec<String>> = columns
        .iter()
        .map(|&j| {
            shown.iter().map(|row| row.map_or(String::new(), |row| cell(rows.column(j), row))).collect()
        })
        .collect();
    let widths: Vec<usize> = columns
        .iter()
        .zip(&texts)
        .map(|(&j, texts)| {
            let name = schema.field(j).name().chars().count();
            texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(name)
        })
        .collect();
    let is_text: Vec<bool> = columns.iter().map(|&j| !schema.field(j).data_type().is_numeric()).collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> = cells
            .iter()
            .enumerate()
            .map(|(k, cell)| {
                let width = widths[k];
                if is_text[k] { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            })
            .collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let mut out = line(columns.iter().map(|&j| schema.field(j).name().as_str()).collect());
    for (i, row) in shown.iter().enumerate() {
        match row {
            Some(_) => out += &line(texts.iter().map(|column| column[i].as_str()).collect()),
            None => out += &format!("{}\n", between(n - 2 * SHOWN_EACH)),
        }
    }
    out
}

fn cell(column: &dyn Array, row: usize) -> String {
    if !column.is_valid(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Float64 => significant(column.as_primitive::<Float64Type>().value(row)),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        _ => shorten(&arrow_cast::display::array_value_to_string(column, row).unwrap_or_default()),
    }
}

/// Text that fits a cell, with control characters escaped.
fn shorten(text: &str) -> String {
    let clean: String = text
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if clean.chars().count() <= MAX_CELL {
        return clean;
    }
    clean.chars().take(MAX_CELL - 1).chain(['…']).collect()
}

/// The text with control characters escaped, except line ends.
pub(crate) fn visible(text: &str) -> String {
    let is_hidden = |c: char| c.is_control() && c != '\n' || turns_text(c);
    text.chars().flat_map(|c| if is_hidden(c) { c.escape_default().collect() } else { vec![c] }).collect()
}

/// Whether a character changes the direction of the text around it, so that a name
/// can look like another one.
fn turns_text(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Cells in columns, the first to the left and the others to the right.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// The text in lines of at most `width` characters, each after `indent` blanks. A longer word has a line of its
/// own.
pub(crate) fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a line");
        let length = line.chars().count();
        if length == 0 {
            *line += word;
        } else if indent + length + 1 + word.chars().count() <= width {
            *line += &format!(" {word}");
        } else {
            lines.push(word.into());
        }
    }
    let blanks = " ".repeat(indent);
    lines.iter().map(|line| format!("{blanks}{line}\n")).collect()
}

/// How long something took, in seconds; times below a millisecond are not told apart.
pub(crate) fn in_seconds(seconds: f64) -> String {
    if seconds < 0.001 { "<0.001".into() } else { format!("{seconds:.3}") }
}

/// A number of bytes to two digits.
pub(crate) fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if amount < 999.5 {
            let digits = usize::from(amount < 9.95 && unit != "bytes");
            return format!("{amount:.digits$} {unit}");
        }
        amount /= 1000.0;
    }
    format!("{amount:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_significant_digits() {
        assert_eq!(significant(0.0), "0");
        assert_eq!(significant(12.345678), "12.346");
        assert_eq!(significant(-0.001234567), "-0.0012346");
        assert_eq!(significant(1234567.8), "1234568");
        assert_eq!(significant(1.5e-9), "1.5000e-9");
    }

    #[test]
    fn long_lines_are_wrapped() {
        assert_eq!(wrapped("one two three", 2, 9), "  one two\n  three\n");
        assert_eq!(wrapped("unbreakable a", 0, 5), "unbreakable\na\n");
        assert_eq!(wrapped("", 0, 5), "\n");
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234), "1 234");
        assert_eq!(grouped(12_345_678), "12 345 678");
    }

    #[test]
    fn sizes_have_two_digits() {
        assert_eq!(size(415), "415 bytes");
        assert_eq!(size(2416), "2.4 kB");
        assert_eq!(size(999_700), "1.0 MB");
        assert_eq!(size(81_000_000_000), "81 GB");
        assert_eq!(size(u64::MAX), "18446744.1 TB");
    }

    #[test]
    fn long_and_strange_text_fits_its_cell() {
        assert_eq!(shorten("a\nb"), "a\\nb");
        assert_eq!(shorten(&"x".repeat(40)).chars().count(), MAX_CELL);
    }
}
