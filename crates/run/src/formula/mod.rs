//! The closed forms themselves, for given numbers.

mod bounds;
mod classification;
mod density;
mod regression;
mod table;

pub use bounds::{BoundCase, BoundForms, bound_cases};
pub use classification::{ClassificationCase, ClassificationForms, classification_cases};
pub use density::{DensityCase, PairForms, SizeForms, SynergyForms, density_cases, density_constant};
pub use regression::{RegressionCase, RegressionForms, regression_cases};

use crate::Receiver;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use dshap_io::{ScanOptions, Source};
use dshap_models::Error;
use rayon::prelude::*;
use std::sync::Arc;
use table::{CaseTable, Cells};

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

/// Where a case that cannot be evaluated stands.
fn case_error(source: &Source, row: u64, reason: String) -> Error {
    match source.locate(row) {
        Ok(location) => Error::Case { location, reason },
        Err(error) => error.into(),
    }
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
    let table = CaseTable::new(&source, columns);
    let schema = table.schema()?;
    receiver.begin(&schema)?;
    for batch in source.scan(&table.wanted, ScanOptions::default())? {
        let batch = batch.map_err(unusable)?;
        let cases = (0..batch.rows.num_rows()).map(|row| {
            let wrong = |reason| case_error(&source, batch.first_row + row as u64, reason);
            let Cells { required, optional, words } = table.cells(&batch.rows, row).map_err(wrong)?;
            parse(&required, &optional, &words).map_err(wrong)
        });
        let cases = cases.collect::<Result<Vec<C>, Error>>()?;
        let found: Vec<Vec<Option<f64>>> = cases.par_iter().map(&evaluate).collect();
        let mut arrays = batch.rows.columns()[..table.n_carried].to_vec();
        for form in 0..columns.forms.len() {
            let column: Float64Array = found.iter().map(|row| row[form]).collect();
            arrays.push(Arc::new(column) as ArrayRef);
        }
        receiver
            .rows(RecordBatch::try_new(schema.clone(), arrays).expect("columns were built to the schema"))?;
    }
    Ok(())
}
