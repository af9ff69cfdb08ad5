//! What owners of rows are worth, and what they are paid.

use crate::error::{input_error, raise, sentences};
use crate::params;
use crate::table::Table;
use crate::words::Spelling;
use crate::work;
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use dshap_catalogue::Value;
use dshap_catalogue::options::{BY, TEST};
use dshap_io::{ScanOptions, Source};
use dshap_models::{Error, Unwatched, methods};
use dshap_owners::{Manifest, OpenTables, PayoutRequest, owners_of, payout_of};
use dshap_run::Resources;
use dshap_table::{ReadAs, Wanted};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Values the owners of the rows of a table. Returns the report as JSON, and warnings.
#[pyfunction]
#[pyo3(signature = (table, by, options, categorical, method=None, test=None, own=None, n_jobs=None, progress=None))]
pub(crate) fn owners<'py>(
    py: Python<'py>,
    table: &Bound<'py, Table>,
    by: Vec<String>,
    options: &Bound<'py, PyAny>,
    categorical: Vec<String>,
    method: Option<&str>,
    test: Option<&Bound<'py, Table>>,
    own: Option<&Bound<'py, Table>>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, Vec<String>)> {
    let table = table.get();
    let named = |name| methods::find(name).ok_or_else(|| input_error(&format!("`{name}` is not a method")));
    let method = method.map(named).transpose()?;
    let mut given = params::given(options, None, table, &categorical)?;
    let spelling = table.spelling().in_function();
    let (rows, column) = beside(table.source(), by).map_err(|error| raise(py, &error))?;
    given = given.with(&BY, Value::Word(column));
    let source = |table: &Bound<'_, Table>| table.get().source().clone();
    let tables = OpenTables { rows, test: test.map(source), own: own.map(source) };
    if tables.test.is_some() {
        given = given.with(&TEST, Value::List(Vec::new()));
    }
    let report = work::run(py, spelling, n_jobs, progress, |observer| {
        owners_of(&tables, method, &given, &Resources::default(), observer, None)
    })?;
    Ok((report.to_json(), sentences(&report.warnings, spelling)))
}

/// The same rows with one more column, and its name.
pub(crate) fn beside(source: &Source, names: Vec<String>) -> Result<(Source, String), Error> {
    let mut column = String::from("owner");
    while source.schema().column(&column).is_some() {
        column.push('_');
    }
    let wanted: Vec<Wanted> =
        source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::AsIs }).collect();
    let fields = source.arrow_schema(&wanted)?;
    let added = Arc::new(Field::new(&column, DataType::Utf8, true));
    let schema = Arc::new(Schema::new(fields.fields().iter().cloned().chain([added]).collect::<Vec<_>>()));
    let names = StringArray::from(names);
    let (mut batches, mut start) = (Vec::new(), 0);
    for batch in source.scan(&wanted, ScanOptions::default())? {
        let rows = batch?.rows;
        let mut columns: Vec<ArrayRef> = rows.columns().to_vec();
        columns.push(Arc::new(names.slice(start, rows.num_rows())));
        start += rows.num_rows();
        batches
            .push(RecordBatch::try_new(schema.clone(), columns).expect("columns were built to the schema"));
    }
    Ok((Source::of_batches("X", schema, batches)?, column))
}

/// Divides a budget between owners: name, rows, value and standard error of each. Returns
/// the payouts as JSON, and warnings.
#[pyfunction]
#[pyo3(signature = (owners, covariance, options))]
pub(crate) fn payout(
    py: Python<'_>,
    owners: Vec<(String, Option<u64>, f64, Option<f64>)>,
    covariance: Option<Vec<Vec<f64>>>,
    options: &Bound<'_, PyAny>,
) -> PyResult<(String, Vec<String>)> {
    let given = params::options_of(options)?;
    let found = payout_of(owners, covariance, &given).map_err(|error| raise(py, &error))?;
    Ok((found.to_json(), sentences(&found.warnings, Spelling::default().in_function())))
}

/// Divides a budget by a file; a receipt is written if `manifest` is given.
#[pyfunction]
#[pyo3(signature = (file, by, options, manifest=None))]
pub(crate) fn payout_by_file(
    py: Python<'_>,
    file: String,
    by: Option<String>,
    options: &Bound<'_, PyAny>,
    manifest: Option<PathBuf>,
) -> PyResult<(String, Vec<String>)> {
    use std::io::Write;
    let mut given = params::options_of(options)?;
    if let Some(by) = by {
        given = given.with(&BY, Value::Word(by));
    }
    let outputs = manifest.iter().cloned().collect();
    let request = PayoutRequest { table: vec![file], given, outputs };
    let found = py.detach(|| {
        let found = dshap_owners::payout(&request)?;
        if let Some(path) = &manifest {
            let mut receipt = dshap_io::AtomicFile::create(path)?;
            let text = Manifest::of_payout(&request, &found).to_json();
            let name = receipt.name().to_string();
            receipt
                .write_all(text.as_bytes())
                .map_err(|reason| dshap_io::Error::Write { file: name, reason })?;
            receipt.commit()?;
        }
        Ok::<_, Error>(found)
    });
    let found = found.map_err(|error| raise(py, &error))?;
    Ok((found.to_json(), sentences(&found.warnings, Spelling::default().in_function())))
}

/// What differs from a receipt: sentences, and whether each is a fault.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, file: PathBuf) -> PyResult<Vec<(String, bool)>> {
    let path: &Path = &file;
    let found = py.detach(|| Manifest::read(path)?.verify(path, &Unwatched));
    let found = found.map_err(|error| raise(py, &error))?;
    Ok(found.iter().map(|one| (dshap_words::difference(one), one.is_fault())).collect())
}
