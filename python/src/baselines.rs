//! Values by fitting models to sets of rows.

use crate::error::{About, input_error, raise_about};
use crate::params::settled;
use crate::said::said;
use crate::table::Table;
use crate::valuer::columns;
use crate::work;
use dshap_run::{Baseline, BaselineRequest, BaselineTables, Resources, guess_task, value_tables_by_baseline};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Values the rows of a table by the baseline of that name; `options` has the
/// keywords for attributes.
#[pyfunction]
#[pyo3(signature = (name, table, options, categorical, reference=None, test=None, n_jobs=None, progress=None))]
pub(crate) fn baseline<'py>(
    py: Python<'py>,
    name: &str,
    table: &Bound<'py, Table>,
    options: &Bound<'py, PyAny>,
    categorical: Vec<String>,
    reference: Option<&Bound<'py, Table>>,
    test: Option<&Bound<'py, Table>>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let baseline = Baseline::parse(name).ok_or_else(|| input_error(&format!("`{name}` is no baseline")))?;
    let learned_from = reference.unwrap_or(table).get();
    let (model, choice) = settled(said(options, learned_from, &categorical)?.baseline(baseline))?;
    let request = BaselineRequest {
        points: Vec::new(),
        reference: None,
        test: Vec::new(),
        model,
        choice,
        std_error: baseline.draws(),
        digests: false,
        outputs: Vec::new(),
        resources: Resources::default(),
    };
    let source = |table: &Bound<'_, Table>| table.get().source().clone();
    let tables =
        BaselineTables { points: source(table), reference: reference.map(source), test: test.map(source) };
    let (mut valued, summary) = work::run(py, learned_from.about(), n_jobs, progress, |observer| {
        value_tables_by_baseline(&request, &tables, observer)
    })?;
    valued.warnings = summary.warnings;
    columns(py, valued)
}

/// Numbers by chance.
#[pyfunction]
pub(crate) fn chance(py: Python<'_>, n_rows: usize, seed: u64) -> Bound<'_, PyArray1<f64>> {
    dshap_baselines::random(n_rows, seed).value.into_pyarray(py)
}

/// What a target asks for: `regression` or `classification`.
#[pyfunction]
pub(crate) fn task_of(py: Python<'_>, table: &Bound<'_, Table>) -> PyResult<&'static str> {
    let table = table.get();
    let Some(target) = table.target() else { return Ok("density") };
    let task = py.detach(|| guess_task(table.source(), target));
    task.map(|task| task.name()).map_err(|error| raise_about(py, &error, About::default()))
}
