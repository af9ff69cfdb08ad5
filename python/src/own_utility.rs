//! Values by what a Python function says that sets of rows are worth.

use crate::error::input_error;
use crate::params;
use crate::valuer::columns;
use crate::words::Spelling;
use crate::work;
use dshap_baselines::RowSets;
use dshap_catalogue::Task;
use dshap_models::sets::value_by;
use dshap_models::{Error, How, Stage, methods};
use dshap_run::Valued;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, PoisonError};

/// Values `n_rows` rows by the baseline of that name, with `worth(rows)` for sets of their
/// numbers; `options` has the keywords for attributes.
#[pyfunction]
#[pyo3(signature = (name, n_rows, worth, options, n_jobs=None, progress=None))]
pub(crate) fn baseline_of_sets<'py>(
    py: Python<'py>,
    name: &str,
    n_rows: usize,
    worth: Py<PyAny>,
    options: &Bound<'py, PyAny>,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let unknown = || input_error(&format!("`{name}` is not a baseline"));
    let method = methods::find(name).ok_or_else(unknown)?;
    let baseline = method.baseline().ok_or_else(unknown)?;
    let how = How { method, given: params::changed(options)? };
    // Sets of any size may be worth something, as those of a density are.
    let task = Task::Density;
    let sizes = baseline.sizes(&how, task, 0, n_rows, false);
    let caller = Caller { worth, failure: Mutex::new(None) };
    let spelling = Spelling::default().in_function();
    // A function is called by one thread unless `n_jobs` says otherwise: it may fit the same model each time.
    let outcome = work::run_apart(py, spelling, n_jobs.or(Some(1)), progress, |observer| {
        let ask = |rows: &[usize]| if observer.is_interrupted() { f64::NAN } else { caller.ask(rows) };
        let utility = RowSets::new(ask, baseline.least_rows(sizes));
        let players = utility.players(n_rows);
        observer.begin(Stage::Draw, baseline.n_steps(&how, n_rows) as u64);
        let watch = |done: usize, _: usize| {
            observer.advance(done as u64, done as u64);
            !observer.is_interrupted() && !caller.has_failed()
        };
        let rows = players.rows().map_err(|error| about_rows(error.into()))?;
        let found = value_by(baseline, &how, &utility, (rows, None), sizes, &watch).map_err(about_rows)?;
        observer.end();
        Ok(found)
    });
    // What the function raised says more than that the work was stopped.
    if let Some(failure) = caller.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(failure);
    }
    let outcome = outcome?;
    let valued = Valued {
        warnings: outcome.warnings(baseline, &how, task),
        value: outcome.values.value,
        std_error: outcome.values.std_error,
        parts: Vec::new(),
        notes: Vec::new(),
    };
    columns(py, valued, spelling)
}

/// Asks a Python function what sets are worth, until it fails.
struct Caller {
    worth: Py<PyAny>,
    failure: Mutex<Option<PyErr>>,
}

impl Caller {
    fn ask(&self, rows: &[usize]) -> f64 {
        if self.has_failed() {
            return f64::NAN;
        }
        let asked = Python::attach(|py| {
            let numbers: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
            let found = self.worth.bind(py).call1((PyArray1::from_vec(py, numbers),))?;
            let worth: f64 = found.extract().map_err(|_| {
                let kind = found.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
                input_error(&format!(
                    "`utility` returned a {kind} for {} rows; expected a number",
                    rows.len()
                ))
            })?;
            match worth.is_finite() {
                true => Ok(worth),
                false => {
                    let what = format!(
                        "`utility` returned {worth} for {} rows; expected a finite number",
                        rows.len()
                    );
                    Err(input_error(&what))
                }
            }
        });
        asked.unwrap_or_else(|error| {
            self.lock().get_or_insert(error);
            f64::NAN
        })
    }

    fn has_failed(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error about rows that have no columns.
fn about_rows(error: dshap_baselines::Error) -> Error {
    match error {
        dshap_baselines::Error::Core(dshap::Error::Interrupted) => Error::Interrupted,
        dshap_baselines::Error::Core(error) => {
            Error::Core { error, names: Box::default(), kept_back: false, without_ridge: Vec::new() }
        }
        error => Error::Baseline(error),
    }
}
