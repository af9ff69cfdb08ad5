//! Values and owners as a page.

use crate::error::{input_error, raise};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use dshap_owners::SavedOwners;
use dshap_report::{Gathered, OwnersReport, ValuesReport};
use dshap_run::Receiver;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::sync::Arc;

/// The column of owners.
const OWNER: &str = "owner";

/// The page of values: `row` has their numbers, `columns` numbers by name, `owner` names if rows
/// have owners.
#[pyfunction]
#[pyo3(signature = (title, row, columns, owner=None))]
pub(crate) fn values_page(
    py: Python<'_>,
    title: &str,
    row: PyReadonlyArray1<'_, i64>,
    columns: Vec<(String, PyReadonlyArray1<'_, f64>)>,
    owner: Option<Vec<String>>,
) -> PyResult<String> {
    let number = |cell: &f64| Some(*cell).filter(|cell| !cell.is_nan());
    let rows: UInt64Array = row.as_array().iter().map(|row| u64::try_from(*row).ok()).collect();
    let mut all: Vec<(String, ArrayRef)> = vec![("row".into(), Arc::new(rows))];
    let has_owners = owner.is_some();
    if let Some(owner) = owner {
        all.push((OWNER.into(), Arc::new(StringArray::from_iter_values(owner))));
    }
    for (name, cells) in &columns {
        let cells: Float64Array = cells.as_array().iter().map(number).collect();
        all.push((name.clone(), Arc::new(cells)));
    }
    let named = all.into_iter().map(|(name, cells)| (name, cells, true));
    let batch = RecordBatch::try_from_iter_with_nullable(named)
        .map_err(|_| input_error("values and owners need one cell for each row"))?;
    let page = py.detach(|| -> Result<String, dshap_run::Error> {
        let mut rows = Gathered::new(has_owners.then_some(OWNER));
        rows.begin(&batch.schema())?;
        rows.rows(batch)?;
        ValuesReport { title, files: &[], command: None, rows: &rows }.page()
    });
    page.map_err(|error| raise(py, &error))
}

/// The page of owners, from what `owners` found as JSON.
#[pyfunction]
pub(crate) fn owners_page(title: &str, found: &str) -> PyResult<String> {
    let found = SavedOwners::of_text(found).ok_or_else(|| input_error("these are no owners"))?;
    Ok(OwnersReport { title, files: &[], command: None, found: &found }.page())
}
