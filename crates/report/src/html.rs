//! Text, tables and figures as HTML.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use dshap_draw::Figure;
use dshap_words::{is_hidden, significant};
use std::fmt::Write;

/// Longest text shown in a cell, in characters.
const MAX_CELL: usize = 60;

/// Columns of the user's table that are shown beside the values. More would hide them.
const MAX_COLUMNS: usize = 24;

/// Text that is safe between tags and within attributes. Controls and characters that
/// turn the direction of text become visible.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(' '),
            c if is_hidden(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", c as u32);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// A sentence with `code` in backticks.
pub(crate) fn sentence(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        let part = escaped(part);
        // The last part after an odd number of backticks is not code.
        let is_code = i % 2 == 1 && i < text.matches('`').count();
        out += &if is_code { format!("<code>{part}</code>") } else { part };
    }
    out
}

/// A cell of a table: the text, and the number behind it if there is one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    text: String,
    number: Option<f64>,
    is_words: bool,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let text: String = text.into();
        let short = match text.chars().count() > MAX_CELL {
            true => text.chars().take(MAX_CELL - 1).chain(['…']).collect(),
            false => text,
        };
        Self { text: short, number: None, is_words: false }
    }

    /// Words of the page itself, however long.
    pub(crate) fn long_text(text: &str) -> Self {
        Self { text: text.into(), number: None, is_words: true }
    }

    pub(crate) fn number(number: f64) -> Self {
        Self {
            text: significant(number),
            number: Some(number).filter(|number| number.is_finite()),
            is_words: false,
        }
    }

    pub(crate) fn count(number: u64) -> Self {
        Self { text: dshap_words::grouped(number), number: Some(number as f64), is_words: false }
    }

    /// The number of a row, written as elsewhere on the page.
    pub(crate) fn row(number: u64) -> Self {
        Self { text: number.to_string(), number: Some(number as f64), is_words: false }
    }

    pub(crate) fn share(share: f64) -> Self {
        Self { text: format!("{:.1} %", 100.0 * share), number: Some(share), is_words: false }
    }
}

/// A table with a caption. Its columns can be sorted; a long one can be filtered.
pub(crate) fn table(caption: &str, header: &[&str], rows: &[Vec<Cell>]) -> String {
    let is_number = |column: usize| {
        rows.iter().any(|row| row[column].number.is_some())
            && rows.iter().all(|row| row[column].number.is_some() || row[column].text.is_empty())
    };
    let numeric: Vec<bool> = (0..header.len()).map(is_number).collect();
    let class = |column: usize| if numeric[column] { " class=\"number\"" } else { "" };
    let mut out = format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table><caption>{0}</caption><thead><tr>",
        escaped(caption)
    );
    for (column, name) in header.iter().enumerate() {
        let _ = write!(out, "<th scope=\"col\"{}>{}</th>", class(column), escaped(name));
    }
    out += "</tr></thead><tbody>\n";
    for row in rows {
        out += "<tr>";
        for (column, cell) in row.iter().enumerate() {
            let exact = cell.number.map(|number| format!(" data-number=\"{number}\"")).unwrap_or_default();
            // Sentences wrap; numbers and names do not.
            let class = if cell.is_words { " class=\"words\"" } else { class(column) };
            let _ = write!(out, "<td{class}{exact}>{}</td>", escaped(&cell.text));
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>\n"
}

/// Rows of the output as a table.
pub(crate) fn rows_table(caption: &str, rows: &RecordBatch) -> String {
    let schema = rows.schema();
    let filled = |column: &usize| rows.column(*column).null_count() < rows.num_rows();
    let columns: Vec<usize> = (0..schema.fields().len()).filter(filled).take(MAX_COLUMNS).collect();
    let header: Vec<&str> = columns.iter().map(|&column| schema.field(column).name().as_str()).collect();
    let cells = |row: usize| columns.iter().map(|&column| cell(rows.column(column), row)).collect();
    table(caption, &header, &(0..rows.num_rows()).map(cells).collect::<Vec<Vec<Cell>>>())
}

fn cell(column: &dyn Array, row: usize) -> Cell {
    if !column.is_valid(row) {
        return Cell::text("");
    }
    let text = || array_value_to_string(column, row).unwrap_or_default();
    match column.data_type() {
        DataType::Float64 => Cell::number(column.as_primitive::<Float64Type>().value(row)),
        data_type if data_type.is_integer() => {
            Cell { number: text().parse().ok(), text: text(), is_words: false }
        }
        _ => Cell::text(text()),
    }
}

/// A chart with its table, which screen readers and curious people can open.
pub(crate) fn chart(figure: &Figure, words: &str, table: &str) -> String {
    let svg = figure.to_svg().replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{}\" ", escaped(words)),
        1,
    );
    format!(
        "<figure>\n{svg}<figcaption>{}</figcaption>\n<details><summary>The numbers</summary>\n{table}</details>\n</figure>\n",
        sentence(words)
    )
}

/// A part of the page: a heading, one sentence that says what to see, and what is seen.
pub(crate) fn section(id: &str, heading: &str, what_to_see: &str, body: &str) -> String {
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n<p class=\"lead\">{}</p>\n{body}</section>\n",
        escaped(heading),
        sentence(what_to_see)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_table_becomes_markup() {
        let rows = [vec![Cell::text("<script>alert(1)</script>"), Cell::text("\"' onload=\u{202e}x\u{61c}")]];
        let html = table("a <b>", &["<i>", "b"], &rows);
        assert!(!html.contains("<script") && !html.contains("<i>") && !html.contains("<b>"), "{html}");
        assert!(!html.contains("\u{202e}") && html.contains("\\u{202e}"), "{html}");
        assert!(!html.contains("\u{61c}") && html.contains("\\u{61c}"), "{html}");
    }

    #[test]
    fn code_is_marked_only_between_two_backticks() {
        assert_eq!(sentence("use `--q 5` & more"), "use <code>--q 5</code> &amp; more");
        assert_eq!(sentence("a ` alone"), "a  alone");
    }
}
