//! Suspicious rows, and what to do with them.

use crate::params;
use crate::table::Table;
use crate::work;
use dshap_cleaning::{CleanedRows, Suspects, clean_source, suspects_in};
use dshap_words::clean_verdict;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How suspicious rows are. Targets are numbers, or codes of classes from 0 up. `others`:
/// predictions made without the rows, row after row: a number, or a probability for each
/// class.
#[pyfunction]
#[pyo3(signature = (table, options, categorical, others, n_jobs=None, progress=None))]
pub(crate) fn suspects<'py>(
    py: Python<'py>,
    table: &Bound<'py, Table>,
    options: &Bound<'py, PyAny>,
    categorical: Vec<String>,
    others: Vec<PyReadonlyArray1<'py, f64>>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let table = table.get();
    let given = params::given(options, None, table, &categorical)?;
    let spelling = table.spelling().in_function();
    let others: Vec<Vec<f64>> = others.iter().map(|other| other.as_array().to_vec()).collect();
    let found = work::run(py, spelling, n_jobs, progress, |observer| {
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        suspects_in(table.source(), &given, &others, observer)
    })?;
    as_dict(py, found)
}

/// The same, with what was tried and is recommended.
#[pyfunction]
#[pyo3(signature = (table, options, categorical, others, n_jobs=None, progress=None))]
pub(crate) fn cleaned<'py>(
    py: Python<'py>,
    table: &Bound<'py, Table>,
    options: &Bound<'py, PyAny>,
    categorical: Vec<String>,
    others: Vec<PyReadonlyArray1<'py, f64>>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let table = table.get();
    let given = params::given(options, None, table, &categorical)?;
    let spelling = table.spelling().in_function();
    let others: Vec<Vec<f64>> = others.iter().map(|other| other.as_array().to_vec()).collect();
    let found = work::run(py, spelling, n_jobs, progress, |observer| {
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        clean_source(table.source(), &given, &others, observer)
    })?;
    let CleanedRows { suspects, tried, acted_on } = found;
    let n_rows = suspects.score.len();
    let dict = as_dict(py, suspects)?;
    dict.set_item("verdict", clean_verdict(&tried.verdict, acted_on.len(), n_rows))?;
    dict.set_item("recommended", tried.verdict.recommended.map(|chosen| chosen.action.act.name()))?;
    let acted_on: Vec<i64> = acted_on.into_iter().map(|row| row as i64).collect();
    dict.set_item("acted_on", acted_on.into_pyarray(py))?;
    dict.set_item("n_tested", tried.n_rows)?;
    dict.set_item("loss", tried.verdict.loss)?;
    dict.set_item("evidence_needed", tried.verdict.evidence_needed)?;
    let tested = tried.verdict.tested.iter().map(|tested| {
        let changes =
            (tested.loss_change, tested.loss_change_se, tested.robust_change, tested.robust_change_se);
        let (act, share) = (tested.action.act.name(), tested.action.share);
        (act, share, changes, tested.evidence, tested.helps)
    });
    dict.set_item("tested", tested.collect::<Vec<_>>())?;
    Ok(dict)
}

fn as_dict(py: Python<'_>, found: Suspects) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("precision", found.precision)?;
    dict.set_item("weights", found.weights)?;
    dict.set_item("score", found.score.into_pyarray(py))?;
    dict.set_item("expected", found.expected.into_pyarray(py))?;
    dict.set_item("expected_prob", found.expected_prob.into_pyarray(py))?;
    dict.set_item("is_flagged", found.is_flagged.into_pyarray(py))?;
    Ok(dict)
}
