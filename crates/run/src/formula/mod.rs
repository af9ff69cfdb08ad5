//! The closed forms themselves, for given numbers.

mod bounds;
mod classification;
mod density;
mod regression;

pub use bounds::{BoundCase, BoundForms, bound_cases};
pub use classification::{ClassificationCase, ClassificationForms, classification_cases};
pub use density::{DensityCase, PairForms, SizeForms, SynergyForms, density_cases, density_constant};
pub use regression::{RegressionCase, RegressionForms, regression_cases};

use crate::Receiver;
use crate::output::free_name;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use dshap_io::{ScanOptions, Source};
use dshap_models::Error;
use dshap_table::{ReadAs, Wanted};
use rayon::prelude::*;
use std::sync::Arc;

/// The columns of a table of cases, and those that are added to it.
struct Columns {
    required: &'static [&'static str],
    optional: &'static [&'static str],
    /// Optional columns of words.
    words: &'static [&'static str],
    forms: &'static [&'static str],
}

/// A whole number of at least 1.
fn count(name: &str, number: f64) -> Result<usize, String> {
    if number >= 1.0 && number.fract() == 0.0 && number <= 1e15 {
        Ok(number as usize)
    } else {
        Err(format!("{name} = {number} is not a whole number of at least 1"))
    }
}

/// Refuses numbers that are negative or not finite.
fn finite_from_zero(numbers: &[(&str, f64)]) -> Result<(), String> {
    /// Products of two such numbers are finite.
    const LARGEST: f64 = 1e150;
    let found = |is_wrong: &dyn Fn(f64) -> bool| numbers.iter().find(|(_, number)| is_wrong(*number));
    if let Some((name, number)) = found(&|number| !(0.0..f64::INFINITY).contains(&number)) {
        return Err(format!("{name} = {number} is not a finite number of at least 0"));
    }
    match found(&|number| number > LARGEST) {
        Some((name, number)) => Err(format!("{name} = {number:e} is too large; the limit is 1e150")),
        None => Ok(()),
    }
}

/// Cells that are no numbers; the hints for a table to be valued do not apply.
fn unusable(error: dshap_io::Error) -> Error {
    let (location, name, text, what) = match error {
        dshap_io::Error::NotANumber { at, column, text } => (at, column, text, "a number"),
        dshap_io::Error::NotFinite { at, column, text } => (at, column, text, "finite"),
        other => return other.into(),
    };
    Error::Case { location, reason: format!("{name} is `{text}`, which is not {what}") }
}

/// Hands over the rows of a table with the forms of each case added. A column
/// that has the name of a form gets `_input` behind it.
fn evaluate_table<C: Send + Sync>(
    inputs: &[String],
    receiver: &mut dyn Receiver,
    columns: &Columns,
    parse: impl Fn(&[f64], &[Option<f64>], &[Option<&str>]) -> Result<C, String>,
    evaluate: impl Fn(&C) -> Vec<Option<f64>> + Sync,
) -> Result<(), Error> {
    let source = Source::open(inputs)?;
    let Columns { required, optional, words, forms } = *columns;
    let mut wanted: Vec<Wanted> =
        source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::AsIs }).collect();
    let n_carried = wanted.len();
    let present: Vec<&str> =
        optional.iter().copied().filter(|name| source.schema().column(name).is_some()).collect();
    let numbers = required.iter().copied().chain(present.iter().copied());
    wanted.extend(numbers.map(|name| Wanted { name: name.into(), read_as: ReadAs::Number }));

    let first_word = wanted.len();
    let spoken: Vec<&str> =
        words.iter().copied().filter(|name| source.schema().column(name).is_some()).collect();
    wanted.extend(spoken.iter().map(|&name| Wanted { name: name.into(), read_as: ReadAs::Text }));

    let carried: Vec<Field> = source.arrow_schema(&wanted)?.fields()[..n_carried]
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    let rename = |field: &Field| free_name(field.name(), &carried, |name| forms.contains(&name));
    let mut fields: Vec<Field> = carried.iter().map(|field| field.clone().with_name(rename(field))).collect();
    fields.extend(forms.iter().map(|&name| Field::new(name, DataType::Float64, true)));
    let schema = Arc::new(Schema::new(fields));
    receiver.begin(&schema)?;
    for batch in source.scan(&wanted, ScanOptions::default())? {
        let batch = batch.map_err(unusable)?;
        let cell = |index: usize, row: usize| {
            let column = batch.rows.column(n_carried + index).as_primitive::<Float64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        let word = |index: usize, row: usize| {
            let column = batch.rows.column(first_word + index).as_string::<i32>();
            column.is_valid(row).then(|| column.value(row)).filter(|word| !word.is_empty())
        };
        let wrong = |row: usize, reason: String| match source.locate(batch.first_row + row as u64) {
            Ok(location) => Error::Case { location, reason },
            Err(error) => error.into(),
        };
        let cases = (0..batch.rows.num_rows()).map(|row| {
            let missing = |index: usize| wrong(row, format!("{} is missing", required[index]));
            let cells = (0..required.len())
                .map(|index| cell(index, row).ok_or_else(|| missing(index)))
                .collect::<Result<Vec<f64>, Error>>()?;
            let place = |name: &&str| present.iter().position(|have| have == name);
            let more: Vec<Option<f64>> = optional
                .iter()
                .map(|name| place(name).and_then(|index| cell(required.len() + index, row)))
                .collect();
            let said: Vec<Option<&str>> = words
                .iter()
                .map(|name| spoken.iter().position(|have| have == name).and_then(|index| word(index, row)))
                .collect();
            parse(&cells, &more, &said).map_err(|reason| wrong(row, reason))
        });
        let cases = cases.collect::<Result<Vec<C>, Error>>()?;
        let found: Vec<Vec<Option<f64>>> = cases.par_iter().map(&evaluate).collect();
        let mut arrays = batch.rows.columns()[..n_carried].to_vec();
        for form in 0..forms.len() {
            let column: Float64Array = found.iter().map(|row| row[form]).collect();
            arrays.push(Arc::new(column) as ArrayRef);
        }
        receiver
            .rows(RecordBatch::try_new(schema.clone(), arrays).expect("columns were built to the schema"))?;
    }
    Ok(())
}
