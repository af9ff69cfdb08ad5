//! Tables a person can read.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
pub(crate) use dshap_words::{counted, grouped, significant, visible_lines as visible};
use std::io::IsTerminal;

/// Rows shown from each end of a long table.
const SHOWN_EACH: usize = 10;

/// A table with more rows than this is long.
pub(crate) const LONG_TABLE: usize = 2 * SHOWN_EACH + 5;

/// Longest text shown in a cell.
const MAX_CELL: usize = 24;

/// How a table is shown.
#[derive(Debug, Clone, Copy, Default)]
struct Style {
    /// The longest line, if it is limited.
    width: Option<usize>,
    /// Whether names and negative numbers stand out.
    colour: bool,
}

impl Style {
    /// That of standard output.
    fn of_stdout() -> Self {
        if !std::io::stdout().is_terminal() {
            return Self::default();
        }
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        // Some terminals do not tell how wide they are.
        Self { width: width.filter(|width| *width > 0), colour: !is_set("NO_COLOR") && !is_dumb }
    }
}

/// Columns that are left out first where a window is too narrow; the value itself never is.
const LEAST_NEEDED: [&str; 8] =
    ["weight", "resid_sq", "dist_sq", "prob", "potential", "correction", "penalty", "predicted"];

/// The table with aligned columns, as standard output shows it. A long table shows only both ends, with a line
/// between them.
pub(crate) fn render(rows: &RecordBatch, between: impl Fn(usize) -> String) -> String {
    render_in(rows, Style::of_stdout(), between)
}

fn render_in(rows: &RecordBatch, style: Style, between: impl Fn(usize) -> String) -> String {
    let n = rows.num_rows();
    let shown: Vec<Option<usize>> = if n > LONG_TABLE {
        (0..SHOWN_EACH).map(Some).chain([None]).chain((n - SHOWN_EACH..n).map(Some)).collect()
    } else {
        (0..n).map(Some).collect()
    };
    // A column without an entry, often `note`, is not shown.
    let has_entry = |column: &usize| n == 0 || rows.column(*column).null_count() < n;
    let columns = (0..rows.num_columns()).filter(has_entry).map(|column| Shown::of(rows, column, &shown));
    let columns = fitting(columns.collect(), style.width);
    let line = |cells: Vec<String>| format!("{}\n", cells.join("  ").trim_end());
    let bold = |text: String| if style.colour { format!("\x1b[1m{text}\x1b[0m") } else { text };
    let mut out = line(columns.iter().map(|column| bold(column.padded(&column.name))).collect());
    for (i, row) in shown.iter().enumerate() {
        match row {
            Some(_) => out += &line(columns.iter().map(|column| column.cell(i, style.colour)).collect()),
            None => out += &format!("{}\n", between(n - 2 * SHOWN_EACH)),
        }
    }
    out
}

/// A column to be shown.
struct Shown {
    name: String,
    is_text: bool,
    cells: Vec<String>,
    width: usize,
}

impl Shown {
    fn of(rows: &RecordBatch, column: usize, shown: &[Option<usize>]) -> Self {
        let schema = rows.schema();
        let field = schema.field(column);
        let text = |row: &Option<usize>| row.map_or(String::new(), |row| cell(rows.column(column), row));
        let cells: Vec<String> = shown.iter().map(text).collect();
        let is_text = !field.data_type().is_numeric();
        let cells = if is_text { cells } else { with_points_aligned(cells) };
        let width = |text: &String| text.chars().count();
        let widest = cells.iter().map(width).max().unwrap_or(0);
        let name = dshap_words::visible(field.name());
        Self { is_text, width: widest.max(width(&name)), name, cells }
    }

    fn padded(&self, text: &str) -> String {
        let width = self.width;
        if self.is_text { format!("{text:<width$}") } else { format!("{text:>width$}") }
    }

    fn cell(&self, i: usize, colour: bool) -> String {
        let padded = self.padded(&self.cells[i]);
        let is_negative = !self.is_text && self.cells[i].trim_start().starts_with('-');
        if colour && is_negative { format!("\x1b[31m{padded}\x1b[0m") } else { padded }
    }
}

/// Numbers with their decimal points below each other.
fn with_points_aligned(cells: Vec<String>) -> Vec<String> {
    let after_point = |cell: &String| match (cell.find('.'), cell.contains('e')) {
        (Some(at), false) => cell.len() - at,
        _ => 0,
    };
    let longest = cells.iter().map(after_point).max().unwrap_or(0);
    let pad = |cell: String| {
        let blanks = if cell.is_empty() || cell.contains('e') { 0 } else { longest - after_point(&cell) };
        format!("{cell}{}", " ".repeat(blanks))
    };
    cells.into_iter().map(pad).collect()
}

/// The columns that fit into a window.
fn fitting(mut columns: Vec<Shown>, width: Option<usize>) -> Vec<Shown> {
    let Some(width) = width else { return columns };
    let needed = |columns: &[Shown]| columns.iter().map(|column| column.width + 2).sum::<usize>();
    for name in LEAST_NEEDED {
        if needed(&columns) <= width + 2 {
            break;
        }
        columns.retain(|column| column.name != name);
    }
    columns
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

/// Text that fits a cell, with hidden characters escaped.
fn shorten(text: &str) -> String {
    let clean = dshap_words::visible(text);
    if clean.chars().count() <= MAX_CELL {
        return clean;
    }
    clean.chars().take(MAX_CELL - 1).chain(['…']).collect()
}

/// Cells in columns, the first to the left and the others to the right, with hidden characters escaped.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| dshap_words::visible(cell))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in &rows {
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
    // A number and its unit stay together.
    let text = text.replace(" %", "\u{a0}%").replace(" ± ", "\u{a0}±\u{a0}");
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
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
    lines.iter().map(|line| format!("{blanks}{}\n", line.replace('\u{a0}', " "))).collect()
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
        assert_eq!(wrapped("up by 4.4 % ± 1 %", 0, 12), "up by\n4.4 % ± 1 %\n", "a number keeps its unit");
    }

    #[test]
    fn decimal_points_are_below_each_other() {
        let cells = ["-0.041624", "12.137", "7", "", "1.5000e-9"].map(String::from).to_vec();
        let aligned = with_points_aligned(cells);
        assert_eq!(aligned, ["-0.041624", "12.137   ", "7       ", "", "1.5000e-9"].map(String::from));
    }

    #[test]
    fn a_narrow_window_shows_fewer_columns() {
        let column = |name: &str| Shown { name: name.into(), is_text: false, cells: Vec::new(), width: 9 };
        let names = ["row", "value", "potential", "penalty", "dist_sq", "resid_sq"];
        let left = |width| {
            let left = fitting(names.map(column).into(), width);
            left.into_iter().map(|column| column.name).collect::<Vec<_>>()
        };
        assert_eq!(left(None), names);
        assert_eq!(left(Some(64)), names);
        assert_eq!(left(Some(45)), ["row", "value", "potential", "penalty"]);
        assert_eq!(left(Some(10)), ["row", "value"]);
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
        assert_eq!(shorten("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(shorten(&"x".repeat(40)).chars().count(), MAX_CELL);
    }
}
