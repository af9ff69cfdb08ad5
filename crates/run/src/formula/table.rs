//! Cases that stand in a table, one in each row.

use super::Columns;
use crate::output::free_name;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap_io::Source;
use dshap_models::Error;
use dshap_table::{ReadAs, Wanted};
use std::sync::Arc;

/// A table of cases: its columns as they are, and once more as numbers and words.
pub(super) struct CaseTable<'a> {
    source: &'a Source,
    columns: &'a Columns,
    /// What is read: the columns to be carried, the numbers and the words.
    pub(super) wanted: Vec<Wanted>,
    /// The number of columns to be carried.
    pub(super) n_carried: usize,
    /// Optional numbers that the table has.
    present: Vec<&'static str>,
    /// Words that the table has.
    spoken: Vec<&'static str>,
}

/// The cells of a case, in the order of its columns.
pub(super) struct Cells<'a> {
    pub(super) required: Vec<f64>,
    pub(super) optional: Vec<Option<f64>>,
    pub(super) words: Vec<Option<&'a str>>,
}

impl<'a> CaseTable<'a> {
    pub(super) fn new(source: &'a Source, columns: &'a Columns) -> Self {
        let has = |name: &&'static str| source.schema().column(name).is_some();
        let present: Vec<&'static str> = columns.optional.iter().copied().filter(has).collect();
        let spoken: Vec<&'static str> = columns.words.iter().copied().filter(has).collect();
        let mut wanted = all_of(source);
        let n_carried = wanted.len();
        let read = |name: &str, read_as| Wanted { name: name.into(), read_as };
        wanted.extend(columns.required.iter().chain(&present).map(|name| read(name, ReadAs::Number)));
        wanted.extend(spoken.iter().map(|name| read(name, ReadAs::Text)));
        Self { source, columns, wanted, n_carried, present, spoken }
    }

    /// The columns that are carried, and a number for each form.
    pub(super) fn schema(&self) -> Result<SchemaRef, Error> {
        let forms = self.columns.forms;
        let mut fields = carried_fields(self.source, &self.wanted, self.n_carried, forms)?;
        fields.extend(forms.iter().map(|&name| Field::new(name, DataType::Float64, true)));
        Ok(Arc::new(Schema::new(fields)))
    }

    /// The cells of a row, or which of them is missing.
    pub(super) fn cells<'b>(&self, rows: &'b RecordBatch, row: usize) -> Result<Cells<'b>, String> {
        let Columns { required, optional, words, .. } = self.columns;
        let number = |index: usize| {
            let column = rows.column(self.n_carried + index).as_primitive::<Float64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        let first_word = self.n_carried + required.len() + self.present.len();
        let word = |index: usize| {
            let column = rows.column(first_word + index).as_string::<i32>();
            column.is_valid(row).then(|| column.value(row)).filter(|word| !word.is_empty())
        };
        let place = |names: &[&str], name: &str| names.iter().position(|have| *have == name);
        let needed =
            |(index, name): (usize, &&str)| number(index).ok_or_else(|| format!("{name} is missing"));
        Ok(Cells {
            required: required.iter().enumerate().map(needed).collect::<Result<_, _>>()?,
            optional: optional
                .iter()
                .map(|name| place(&self.present, name).and_then(|index| number(required.len() + index)))
                .collect(),
            words: words.iter().map(|name| place(&self.spoken, name).and_then(word)).collect(),
        })
    }
}

/// All columns of a table, as they are.
pub(super) fn all_of(source: &Source) -> Vec<Wanted> {
    source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::AsIs }).collect()
}

/// The first of the columns wanted. One that has the name of a column to be `added` is renamed.
pub(super) fn carried_fields(
    source: &Source,
    wanted: &[Wanted],
    n_carried: usize,
    added: &[&str],
) -> Result<Vec<Field>, Error> {
    let fields = source.arrow_schema(wanted)?;
    let carried: Vec<Field> =
        fields.fields()[..n_carried].iter().map(|field| field.as_ref().clone()).collect();
    let name = |field: &Field| free_name(field.name(), &carried, |name| added.contains(&name));
    Ok(carried.iter().map(|field| field.clone().with_name(name(field))).collect())
}
