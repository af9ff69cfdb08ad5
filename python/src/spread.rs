//! Fits and values of rows that lie on several machines, for Spark, Ray and others.

use crate::error::{input_error, raise, sentences};
use crate::params;
use crate::table::arrow_source;
use crate::valuer::{Valuer, columns};
use crate::words::Spelling;
use crate::work;
use arrow_schema::DataType;
use dshap::neighbours::TestMeans;
use dshap_catalogue::Value;
use dshap_catalogue::options::{BY, CATEGORICAL, FEATURES, TARGET, TASK, WEIGHT};
use dshap_owners::owners_of_valuer;
use dshap_run::{GroupPlace, Resources, SpreadFit, Wanted, Work, merge_parts};
use dshap_words::Speech;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A pass that is waited for: plan, valuer, name, whether rows must be numbered, whether it
/// is over test rows.
type NextPass<'py> = (Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>, &'static str, bool, bool);

/// The driver of a fit.
#[pyclass(frozen, module = "dshap._dshap")]
pub(crate) struct Spread {
    fit: Mutex<Option<SpreadFit>>,
    target: Option<String>,
    weight: Option<String>,
}

#[pymethods]
impl Spread {
    /// A fit with the parameters of `estimator`. `columns` is anything that hands out Arrow
    /// data with the columns of the rows; only their types matter.
    #[new]
    #[pyo3(signature = (columns, estimator, features, target=None, weight=None, by=None, categorical=vec![], has_tests=false))]
    fn new(
        py: Python<'_>,
        columns: &Bound<'_, PyAny>,
        estimator: &Bound<'_, PyAny>,
        features: Vec<String>,
        target: Option<String>,
        weight: Option<String>,
        by: Option<String>,
        categorical: Vec<String>,
        has_tests: bool,
    ) -> PyResult<Self> {
        let (source, fields) = arrow_source(py, columns)?;
        let task = params::task(estimator)?;
        let method = params::method(estimator, task)?;
        let mut given = params::changed(estimator)?;
        let word = |word: &str| Value::Word(word.into());
        given = given.with(&TASK, word(task.name())).with(&FEATURES, Value::List(features.clone()));
        for (option, column) in [(&TARGET, &target), (&WEIGHT, &weight), (&BY, &by)] {
            if let Some(column) = column {
                given = given.with(option, word(column));
            }
        }
        let is_category = |name: &String| {
            fields.iter().any(|(have, kind)| have == name && matches!(kind, DataType::Dictionary(..)))
        };
        let mut categories = categorical;
        categories.extend(features.into_iter().filter(is_category));
        // Labels that are text may look like numbers; they are text all the same.
        let is_text = |name: &&String| fields.iter().any(|(have, kind)| have == *name && is_text(kind));
        categories.extend(target.iter().filter(is_text).cloned());
        categories.dedup();
        if !categories.is_empty() {
            given = given.with(&CATEGORICAL, Value::List(categories));
        }
        let fit = SpreadFit::new(source, method, &given, has_tests).map_err(|error| raise(py, &error))?;
        Ok(Self { fit: Mutex::new(Some(fit)), target, weight })
    }

    /// The pass that is waited for; None when the fit is done.
    fn next_pass<'py>(&self, py: Python<'py>) -> PyResult<Option<NextPass<'py>>> {
        let fit = self.lock();
        let next = fit.as_ref().ok_or_else(over)?.next_pass().map_err(|error| raise(py, &error))?;
        Ok(next.map(|next| {
            let valuer = next.valuer.map(|bytes| PyBytes::new(py, &bytes));
            (PyBytes::new(py, &next.plan), valuer, next.name, next.needs_numbers, next.of_tests)
        }))
    }

    /// Goes on with the merged part of that pass.
    #[pyo3(signature = (part, n_jobs=None))]
    fn take(&self, py: Python<'_>, part: &[u8], n_jobs: Option<isize>) -> PyResult<()> {
        let mut fit = self.lock().take().ok_or_else(over)?;
        let spelling = self.spelling();
        fit = work::run(py, spelling, n_jobs, None, move |_| {
            fit.take(part)?;
            Ok(fit)
        })?;
        *self.lock() = Some(fit);
        Ok(())
    }

    /// The valuer, when no pass is waited for.
    fn finish(&self, py: Python<'_>) -> PyResult<Valuer> {
        let fit = self.lock().take().ok_or_else(over)?;
        let spelling = self.spelling();
        let (ready, warnings) =
            work::run(py, spelling, None, None, move |_| crate::valuer::ready_again(fit.finish()?))?;
        Ok(Valuer::new(ready, &warnings, spelling))
    }
}

impl Spread {
    fn lock(&self) -> MutexGuard<'_, Option<SpreadFit>> {
        self.fit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spelling(&self) -> Spelling<'_> {
        Spelling { target: self.target.as_deref(), weight: self.weight.as_deref(), in_function: false }
    }
}

fn over() -> PyErr {
    input_error("the fit is over: a pass failed, or its valuer was taken")
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..))
}

/// Sums the rows of one partition, or of one group of numbered rows, for a pass: `batches`
/// is an iterator of Arrow data. Returns the part.
#[pyfunction]
#[pyo3(signature = (plan, valuer, batches, place, level=None, first_row=0, n_jobs=None))]
pub(crate) fn part_of<'py>(
    py: Python<'py>,
    plan: &[u8],
    valuer: Option<&[u8]>,
    batches: &Bound<'py, PyAny>,
    place: u64,
    level: Option<u32>,
    first_row: u64,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyBytes>> {
    let place = GroupPlace { place, level, first_row };
    let mut work = Work::new(plan, valuer, place).map_err(|error| raise(py, &error))?;
    for batch in batches.try_iter()? {
        let batch = batch?;
        if batch.getattr("num_rows")?.extract::<usize>()? == 0 {
            continue;
        }
        let (source, _) = arrow_source(py, &batch)?;
        work = work::run(py, Spelling::default(), n_jobs, None, move |_| {
            work.push(&source)?;
            Ok(work)
        })?;
    }
    let part = py.detach(|| work.finish()).map_err(|error| raise(py, &error))?;
    Ok(PyBytes::new(py, &part))
}

/// Merges parts of one pass.
#[pyfunction]
pub(crate) fn merged_part<'py>(
    py: Python<'py>,
    plan: &[u8],
    parts: Vec<Vec<u8>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let merged = py.detach(|| {
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        merge_parts(plan, &parts)
    });
    Ok(PyBytes::new(py, &merged.map_err(|error| raise(py, &error))?))
}

/// Values rows with their target among `rows`, by names: any rows, or rows of the
/// reference against the others. `first_row` numbers the first of them, for methods that
/// know reference rows by their numbers.
#[pyfunction]
#[pyo3(signature = (valuer, rows, leave_one_out=false, first_row=None, std_error=false, parts=true, n_jobs=None))]
pub(crate) fn value_rows<'py>(
    py: Python<'py>,
    valuer: &Bound<'py, Valuer>,
    rows: &Bound<'py, PyAny>,
    leave_one_out: bool,
    first_row: Option<u64>,
    std_error: bool,
    parts: bool,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyDict>> {
    let (source, _) = arrow_source(py, rows)?;
    let ready = valuer.get().ready();
    let spelling = Spelling::default();
    if std_error && !ready.has_std_error() {
        let method = spelling.method(ready.how().method.name());
        return Err(input_error(&format!("values by {method} have no standard errors")));
    }
    let wanted = Wanted { leave_one_out, std_error, parts };
    let valued = work::run(py, spelling, n_jobs, None, |observer| match first_row {
        Some(first_row) if leave_one_out => ready.value_from(&source, first_row, wanted, observer),
        _ => ready.value(&source, wanted, observer),
    })?;
    columns(py, valued, spelling)
}

/// The columns that explain the values of a valuer, in order.
#[pyfunction]
pub(crate) fn part_names(valuer: &Bound<'_, Valuer>) -> Vec<String> {
    valuer.get().ready().part_names()
}

/// Number of test rows of nearest neighbours.
#[pyfunction]
pub(crate) fn n_tests(valuer: &Bound<'_, Valuer>) -> usize {
    valuer.get().ready().n_tests()
}

/// What test rows from `start` to `end` say about all reference rows, as plain numbers.
#[pyfunction]
#[pyo3(signature = (valuer, start, end, n_jobs=None))]
pub(crate) fn own_means<'py>(
    py: Python<'py>,
    valuer: &Bound<'py, Valuer>,
    start: usize,
    end: usize,
    n_jobs: Option<isize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let ready = valuer.get().ready();
    let means =
        work::run(py, Spelling::default(), n_jobs, None, |observer| ready.own_means(start..end, observer))?;
    Ok(means.to_parts().into_pyarray(py))
}

/// What owners are worth whose moments a valuer holds, measured on test rows. Returns the
/// report as JSON, and warnings.
#[pyfunction]
#[pyo3(signature = (valuer, options, test, own=None, n_jobs=None))]
pub(crate) fn owners_of_moments(
    py: Python<'_>,
    valuer: &Bound<'_, Valuer>,
    options: &Bound<'_, PyAny>,
    test: &Bound<'_, PyAny>,
    own: Option<&Bound<'_, PyAny>>,
    n_jobs: Option<isize>,
) -> PyResult<(String, Vec<String>)> {
    let given = params::changed(options)?;
    let (test, _) = arrow_source(py, test)?;
    let own = own.map(|own| arrow_source(py, own)).transpose()?.map(|(own, _)| own);
    let ready = valuer.get().ready();
    let spelling = Spelling::default().in_function();
    let report = work::run(py, spelling, n_jobs, None, |observer| {
        let tables = ("the valuer", test, own);
        owners_of_valuer(ready.valuer(), tables, &given, &Resources::default(), observer, None)
    })?;
    Ok((report.to_json(), sentences(&report.warnings, spelling)))
}

/// Means over test rows of several places, merged.
#[pyfunction]
pub(crate) fn merged_means<'py>(
    py: Python<'py>,
    parts: Vec<PyReadonlyArray1<'py, f64>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let mut parts = parts.iter().map(means_of);
    let mut total = parts.next().ok_or_else(|| input_error("there are no test rows"))??;
    for part in parts {
        total.merge(&part?).map_err(|error| input_error(&error.to_string()))?;
    }
    Ok(total.to_parts().into_pyarray(py))
}

/// Values, and their standard errors if there are any.
type ValuesWithErrors<'py> = (Bound<'py, PyArray1<f64>>, Option<Bound<'py, PyArray1<f64>>>);

/// Values and standard errors from means over all test rows.
#[pyfunction]
#[pyo3(signature = (means, std_error=false))]
pub(crate) fn values_of_means<'py>(
    py: Python<'py>,
    means: PyReadonlyArray1<'py, f64>,
    std_error: bool,
) -> PyResult<ValuesWithErrors<'py>> {
    let values = means_of(&means)?.values(std_error).map_err(|error| input_error(&error.to_string()))?;
    let errors = values.std_error.map(|errors| errors.into_pyarray(py));
    Ok((values.value.into_pyarray(py), errors))
}

fn means_of(numbers: &PyReadonlyArray1<'_, f64>) -> PyResult<TestMeans> {
    TestMeans::from_parts(&numbers.as_array().to_vec()).map_err(|error| input_error(&error.to_string()))
}
