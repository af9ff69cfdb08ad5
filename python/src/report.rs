//! Values and owners as a page.

use crate::error::{input_error, raise, sentences};
use crate::owners::beside;
use crate::params;
use crate::table::Table;
use crate::work;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use dshap_catalogue::options::{BY, FEATURES, POPULATION, TEST};
use dshap_catalogue::{Given, Value};
use dshap_io::{Destination, Format, ScanOptions, Sink, Source};
use dshap_models::{Error, InputFile, Method, Observer};
use dshap_owners::SavedOwners;
use dshap_report::{Findings, Gathered, OwnersReport, Report, ValuesReport};
use dshap_run::{Receiver, Resources, ValueRequest};
use dshap_table::{ReadAs, Wanted};
use dshap_words::run_words::describe;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// The column of owners.
const OWNER: &str = "owner";

/// The page of values: `row` has their numbers, `columns` numbers or texts by name, `owner` names if
/// rows have owners.
#[pyfunction]
#[pyo3(signature = (title, row, columns, owner=None))]
pub(crate) fn values_page(
    py: Python<'_>,
    title: &str,
    row: PyReadonlyArray1<'_, i64>,
    columns: Vec<(String, Bound<'_, PyAny>)>,
    owner: Option<Vec<String>>,
) -> PyResult<String> {
    let number = |cell: &f64| Some(*cell).filter(|cell| !cell.is_nan());
    let rows: UInt64Array = row.as_array().iter().map(|row| u64::try_from(*row).ok()).collect();
    let mut all: Vec<(String, ArrayRef)> = vec![("row".into(), Arc::new(rows))];
    let has_owners = owner.is_some();
    if let Some(owner) = owner {
        all.push((OWNER.into(), Arc::new(StringArray::from_iter_values(owner))));
    }
    for (name, cells) in columns {
        let cells: ArrayRef = match cells.extract::<PyReadonlyArray1<'_, f64>>() {
            Ok(numbers) => Arc::new(numbers.as_array().iter().map(number).collect::<Float64Array>()),
            Err(_) => Arc::new(StringArray::from(cells.extract::<Vec<Option<String>>>()?)),
        };
        all.push((name, cells));
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

/// The page that `dshap report` makes of a table, with the parameters of an estimator. `command` is what
/// makes it again, `by` names the owners of the rows.
#[pyfunction]
#[pyo3(signature = (table, estimator, categorical, title, command, by=None, test=None, is_population=false, n_jobs=None, progress=None))]
pub(crate) fn report_page(
    py: Python<'_>,
    table: &Bound<'_, Table>,
    estimator: &Bound<'_, PyAny>,
    categorical: Vec<String>,
    title: &str,
    command: &str,
    by: Option<Vec<String>>,
    test: Option<&Bound<'_, Table>>,
    is_population: bool,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let table = table.get();
    let task = params::task(estimator)?;
    let method = params::method(estimator, task)?;
    let mut given = params::given(estimator, Some(task), table, &categorical)?;
    // Every column is a feature here, also one that a file would set aside.
    given = given.with(&FEATURES, Value::List(table.names_of_features().to_vec()));
    let mut rows = table.source().clone();
    if let Some(by) = by {
        let (with_owners, column) = beside(&rows, by).map_err(|error| raise(py, &error))?;
        (rows, given) = (with_owners, given.with(&BY, Value::Word(column)));
    }
    let test = test.map(|test| test.get().source().clone());
    let spelling = table.spelling();
    work::run(py, spelling, n_jobs, progress, |observer| {
        let tables = Written::of(&rows, test.as_ref())?;
        let request = tables.request(method, given, is_population);
        let (summary, gathered, findings) = found(&request, observer)?;
        let summary = tables.named(summary);
        let warnings = sentences(&summary.warnings, spelling);
        Report {
            title,
            summary: &summary,
            described: &describe(&summary),
            warnings: &warnings.iter().map(|text| tables.without_folder(text)).collect::<Vec<_>>(),
            command,
            rows: &gathered,
            findings: &findings,
        }
        .page()
    })
}

fn found(
    request: &ValueRequest,
    observer: &dyn Observer,
) -> Result<(dshap_run::Summary, Gathered, Findings), Error> {
    let mut rows = Gathered::new(request.given.word(&BY));
    let summary = dshap_run::value(request, observer, &mut rows)?;
    let findings = Findings::of(request, &summary, &rows, observer)?;
    Ok((summary, rows, findings))
}

/// Tables in memory as files, since a report reads its rows again for each of its parts. They go with it.
struct Written {
    folder: tempfile::TempDir,
    has_tests: bool,
}

impl Written {
    const ROWS: &str = "X.arrow";
    const TESTS: &str = "test.arrow";

    fn of(rows: &Source, test: Option<&Source>) -> Result<Self, Error> {
        let unwritten = |reason| dshap_io::Error::Write { file: "a temporary folder".into(), reason };
        let folder = tempfile::tempdir().map_err(unwritten)?;
        write(rows, &folder.path().join(Self::ROWS))?;
        if let Some(test) = test {
            write(test, &folder.path().join(Self::TESTS))?;
        }
        Ok(Self { folder, has_tests: test.is_some() })
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn request(&self, method: &'static Method, given: Given, is_population: bool) -> ValueRequest {
        let option = if is_population { &POPULATION } else { &TEST };
        let given = match self.has_tests {
            true => given.with(option, Value::List(vec![self.path(Self::TESTS)])),
            false => given,
        };
        ValueRequest {
            points: vec![self.path(Self::ROWS)],
            valuer: None,
            method: Some(method),
            given,
            digests: false,
            outputs: Vec::new(),
            resources: Resources::default(),
        }
    }

    /// Names as Python has them.
    fn without_folder(&self, text: &str) -> String {
        text.replace(&self.path(Self::ROWS), "X").replace(&self.path(Self::TESTS), "test")
    }

    fn named(&self, mut summary: dshap_run::Summary) -> dshap_run::Summary {
        let rename = |file: &mut InputFile| file.name = self.without_folder(&file.name);
        summary.points.iter_mut().chain(summary.test.iter_mut().flatten()).for_each(rename);
        summary
    }
}

fn write(source: &Source, path: &Path) -> Result<(), Error> {
    let wanted: Vec<Wanted> =
        source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::AsIs }).collect();
    let schema = source.arrow_schema(&wanted)?;
    let mut sink = Sink::create(&Destination::File(path.to_owned()), Format::Arrow, schema)?;
    for batch in source.scan(&wanted, ScanOptions::default())? {
        sink.write(&batch?.rows)?;
    }
    sink.finish()?;
    Ok(())
}
