//! Values by fitting models to sets of rows.

use crate::error::{input_error, raise_about};
use crate::params;
use crate::table::Table;
use crate::valuer::columns;
use crate::words::Spelling;
use crate::work;
use dshap_models::methods;
use dshap_run::{Tables, Wanted, guess_task, value_tables};
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
    let method = methods::find(name).ok_or_else(|| input_error(&format!("`{name}` is not a baseline")))?;
    let learned_from = reference.unwrap_or(table).get();
    let given = params::given(options, None, learned_from, &categorical)?;
    let source = |table: &Bound<'_, Table>| table.get().source().clone();
    let tables = Tables { points: source(table), reference: reference.map(source), test: test.map(source) };
    let wanted = Wanted { leave_one_out: false, std_error: method.entry.has_std_errors(), parts: false };
    let spelling = learned_from.spelling().in_function();
    let (valued, _) = work::run(py, spelling, n_jobs, progress, |observer| {
        value_tables(&tables, method, &given, wanted, observer)
    })?;
    columns(py, valued, spelling)
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
    let spelling = Spelling::default().in_function();
    task.map(|task| task.name()).map_err(|error| raise_about(py, &error, spelling))
}
