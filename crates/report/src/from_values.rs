//! The page of values that were computed before, such as a file that `dshap value` wrote.

use crate::Gathered;
use crate::charts::sorted;
use crate::html::{Cell, escaped, section, table};
use crate::page::around;
use crate::sections::{self, digest_cell};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use dshap_io::{ScanOptions, Source};
use dshap_models::InputFile;
use dshap_run::{Error, Receiver, quantile};
use dshap_table::{Kind, ReadAs, Wanted};
use dshap_words::{grouped, significant};
use std::sync::Arc;

/// Values without the table they belong to.
#[derive(Debug)]
pub struct ValuesReport<'a> {
    /// What the values are called, such as the name of a file.
    pub title: &'a str,
    /// The files they come from, if they come from files.
    pub files: &'a [InputFile],
    /// What makes this page again, if that is known.
    pub command: Option<&'a str>,
    /// The rows.
    pub rows: &'a Gathered,
}

/// Whether a table is an output of `value`: it has the columns `row` and `value`.
pub fn holds_values(source: &Source) -> bool {
    let is_number = |name| source.schema().column(name).is_some_and(|column| column.kind == Kind::Number);
    is_number("row") && is_number("value")
}

impl Gathered {
    /// Gathers the rows of an output of `value`.
    ///
    /// # Errors
    ///
    /// [`Error`] if the table cannot be read.
    pub fn read(source: &Source, owner_column: Option<&str>) -> Result<Self, Error> {
        let read_as = |kind: &Kind| match kind {
            Kind::Number => ReadAs::Number,
            _ => ReadAs::Text,
        };
        let columns = &source.schema().columns;
        let wanted: Vec<Wanted> = columns
            .iter()
            .map(|column| {
                // Owners may be called by numbers.
                let is_owner = owner_column == Some(column.name.as_str());
                let read_as = if is_owner { ReadAs::Text } else { read_as(&column.kind) };
                Wanted { name: column.name.clone(), read_as }
            })
            .collect();
        let mut gathered = Self::new(owner_column);
        let mut has_begun = false;
        for batch in source.scan(&wanted, ScanOptions::default())? {
            let rows = numbered(&batch?.rows);
            if !has_begun {
                gathered.begin(&rows.schema())?;
                has_begun = true;
            }
            gathered.rows(rows)?;
        }
        Ok(gathered)
    }
}

/// The same rows, with whole numbers as row numbers.
fn numbered(rows: &RecordBatch) -> RecordBatch {
    let schema = rows.schema();
    let (mut fields, mut columns): (Vec<Arc<Field>>, Vec<ArrayRef>) = (Vec::new(), Vec::new());
    for (field, column) in schema.fields().iter().zip(rows.columns()) {
        let whole = (field.name() == "row").then(|| cast(column, &DataType::UInt64).ok()).flatten();
        match whole {
            Some(whole) => {
                fields.push(Arc::new(Field::new("row", DataType::UInt64, true)));
                columns.push(whole);
            }
            None => {
                fields.push(Arc::clone(field));
                columns.push(Arc::clone(column));
            }
        }
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap_or_else(|_| rows.clone())
}

impl ValuesReport<'_> {
    /// The page: one HTML file.
    ///
    /// # Errors
    ///
    /// [`Error::TooMuchText`] when the rows that are shown do not fit into one table.
    pub fn page(&self) -> Result<String, Error> {
        let rows = self.rows;
        let parts = [
            Some(self.overview()),
            sections::distribution(rows, None),
            Some(sections::rows(rows, None)?),
            sections::dependence(rows),
            sections::owners(rows),
            Some(reproduced("values", self.files, self.command)),
        ];
        let body: String = parts.into_iter().flatten().collect();
        Ok(around(self.title, "from values that were computed before", env!("CARGO_PKG_VERSION"), &body))
    }

    fn overview(&self) -> String {
        let values = sorted(self.rows.sample.column("value").unwrap_or_default());
        let mut tiles = vec![("rows with a value", grouped(self.rows.sample.n_seen()))];
        if !values.is_empty() {
            tiles.push(("median value", significant(quantile(&values, 0.5))));
        }
        let tiles: String = tiles
            .iter()
            .map(|(name, number)| format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(number)))
            .collect();
        section(
            "overview",
            "What was valued",
            "These values were computed before, so the page cannot say by which model, nor explain single rows.",
            &format!("<dl class=\"tiles\">\n{tiles}</dl>\n"),
        )
    }
}

/// How to make a page of a file again.
pub(crate) fn reproduced(what: &str, files: &[InputFile], command: Option<&str>) -> String {
    let lines: Vec<Vec<Cell>> = files
        .iter()
        .map(|file| {
            let digest = file.sha256.clone().unwrap_or_default();
            vec![Cell::text(what), Cell::text(file.name.as_str()), digest_cell(digest)]
        })
        .collect();
    let command = command.map(|command| format!("<pre><code>{}</code></pre>\n", escaped(command)));
    let listed = match lines.is_empty() {
        true => String::new(),
        false => table("Files", &["what", "file", "SHA-256"], &lines),
    };
    section(
        "reproduce",
        "How to repeat this",
        &format!("The same {what} and version give the same page."),
        &format!("{}<p>dshap {}.</p>\n{listed}", command.unwrap_or_default(), env!("CARGO_PKG_VERSION")),
    )
}
