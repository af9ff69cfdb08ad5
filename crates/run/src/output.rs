//! The output table: one row per point, in the order of the input.

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap::{Note, Part, Values};
use dshap_table::{Design, Labels};
use std::sync::Arc;

/// Name of the value column.
pub(crate) const VALUE: &str = "value";

/// Name of the column that says why there is no value.
pub const NOTE: &str = "note";

/// What a row left out for a missing cell has as its note.
const MISSING_NOTE: &str = "missing cell";

/// Builds output batches that all have the same columns.
pub(crate) struct OutputTable {
    schema: SchemaRef,
    parts: Vec<Part>,
    std_error: bool,
    /// The labels, class by class.
    labels: Vec<String>,
}

impl OutputTable {
    /// `carried` are the columns carried through from the input. One that has
    /// the name of an output column gets `_input` behind it.
    pub(crate) fn new(carried: &[Field], parts: &[Part], design: &Design, std_error: bool) -> Self {
        let own = |name: &str| Field::new(name, DataType::Float64, true);
        let of_part = |part: &Part| match is_label(*part) {
            true => Field::new(part_name(*part, design), DataType::Utf8, true),
            false => own(&part_name(*part, design)),
        };
        let mut computed = vec![own(VALUE)];
        if std_error {
            computed.push(own("stderr"));
        }
        computed.extend(parts.iter().map(of_part));
        computed.push(Field::new(NOTE, DataType::Utf8, true));
        let mut fields = vec![Field::new("row", DataType::UInt64, false)];
        for field in carried {
            let is_own = |name: &str| name == "row" || computed.iter().any(|own| own.name() == name);
            fields.push(field.clone().with_name(free_name(field.name(), carried, is_own)));
        }
        fields.extend(computed);
        let labels = design.labels().map(Labels::words).unwrap_or_default();
        Self { schema: Arc::new(Schema::new(fields)), parts: parts.to_vec(), std_error, labels }
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The rows of a batch, `remaining` of which have values.
    pub(crate) fn batch(
        &self,
        first_row: u64,
        n_rows: usize,
        carried: Vec<ArrayRef>,
        values: &Values,
        remaining: Option<&[usize]>,
    ) -> RecordBatch {
        let spread = |column: &[f64]| -> ArrayRef { Arc::new(spread(column, n_rows, remaining)) };
        let mut columns: Vec<ArrayRef> =
            vec![Arc::new(UInt64Array::from_iter_values(first_row..first_row + n_rows as u64))];
        columns.extend(carried);
        columns.push(spread(&values.value));
        if self.std_error {
            columns.push(spread(values.std_error.as_deref().unwrap_or_default()));
        }
        for part in &self.parts {
            let cells = spread(values.part(*part).unwrap_or_default());
            columns.push(if is_label(*part) { self.words(&cells) } else { cells });
        }
        columns.push(Arc::new(note_column(&values.notes, n_rows, remaining)));
        RecordBatch::try_new(self.schema.clone(), columns).expect("columns were built to the schema")
    }

    /// Classes by their labels.
    fn words(&self, classes: &ArrayRef) -> ArrayRef {
        let word = |class: Option<f64>| self.labels.get(class? as usize).map(String::as_str);
        let words: StringArray = classes.as_primitive::<Float64Type>().iter().map(word).collect();
        Arc::new(words)
    }
}

/// Whether a part is a class, which the output calls by its label.
pub(crate) fn is_label(part: Part) -> bool {
    matches!(part, Part::GivenLabel | Part::PredictedLabel)
}

/// The name of a part in the output, classes called by their labels.
pub(crate) fn part_name(part: Part, design: &Design) -> String {
    let label = |class: usize| design.labels().map_or_else(|| class.to_string(), |labels| labels.word(class));
    match part {
        Part::ValueOf(class) => format!("value_{}", label(class)),
        Part::ProbOf(class) => format!("prob_{}", label(class)),
        part => part.name().into_owned(),
    }
}

/// The name of a carried column in the output: its own, or with `_input` behind
/// it where that is the name of an output column.
pub fn free_name(name: &str, carried: &[Field], is_own: impl Fn(&str) -> bool) -> String {
    let mut free = name.to_string();
    // Another carried column may have the longer name already.
    while is_own(&free) || free != name && carried.iter().any(|other| *other.name() == free) {
        free += "_input";
    }
    free
}

/// Puts the numbers of remaining rows in their places; NaN and rows left out
/// become null.
fn spread(column: &[f64], n_rows: usize, remaining: Option<&[usize]>) -> Float64Array {
    let known = |cell: f64| (!cell.is_nan()).then_some(cell);
    match remaining {
        None if column.iter().all(|cell| !cell.is_nan()) => Float64Array::from(column.to_vec()),
        None => column.iter().map(|&cell| known(cell)).collect(),
        Some(rows) => {
            let mut cells = vec![None; n_rows];
            for (&row, &cell) in rows.iter().zip(column) {
                cells[row] = known(cell);
            }
            cells.into_iter().collect()
        }
    }
}

/// Notes in their places, and one at each row that is left out.
pub fn note_column(
    notes: &[(usize, Note)],
    n_rows: usize,
    remaining: Option<&[usize]>,
) -> arrow_array::StringArray {
    let mut texts: Vec<Option<&str>> = vec![remaining.map(|_| MISSING_NOTE); n_rows];
    if let Some(rows) = remaining {
        rows.iter().for_each(|&row| texts[row] = None);
    }
    for &(i, note) in notes {
        texts[remaining.map_or(i, |rows| rows[i])] = Some(note.text());
    }
    let mut builder = StringBuilder::new();
    texts.into_iter().for_each(|text| builder.append_option(text));
    builder.finish()
}
