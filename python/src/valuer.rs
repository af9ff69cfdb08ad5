//! `Valuer`: what an estimator has learned.

use crate::arrays::Arrays;
use crate::error::{About, input_error, raise, refusal};
use crate::facts;
use crate::params;
use crate::table::Table;
use crate::words::in_python;
use crate::work;
use dshap_io::{AtomicFile, Numbers};
use dshap_run::{
    Fitted, How, Method, Overrides, Ready, Resources, SavedValuer, SizeChoice, Unwatched, Valued, fit_source,
    fit_with_test, merge_valuers, update_valuer,
};
use numpy::{IntoPyArray, PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// So few rows are valued by the thread that asks for them.
const FEW_ROWS: usize = 256;

/// What the valuer is called in messages.
const NAME: &str = "the estimator";

/// A fitted valuer. It does not change; what changes it makes another.
#[pyclass(frozen, module = "dshap._dshap")]
pub(crate) struct Valuer {
    ready: Arc<Ready>,
    warnings: Vec<String>,
    /// What tells whether a table is the reference still, where the fit does not.
    mark: Option<u64>,
    /// With the set sizes that were last asked for instead of its own.
    other_sizes: Mutex<Option<(SizeChoice, Arc<Ready>)>>,
}

#[pymethods]
impl Valuer {
    /// Fits a table as the parameters of `estimator` say. Columns without names
    /// of their own are remembered to have none, and a table that is kept is
    /// marked where the fit itself does not tell whether it is the same. `test` are
    /// rows that nearest neighbours are to predict.
    #[staticmethod]
    #[pyo3(signature = (table, estimator, categorical, has_names, is_kept, n_jobs=None, progress=None, test=None))]
    fn fit(
        py: Python<'_>,
        table: &Bound<'_, Table>,
        estimator: &Bound<'_, PyAny>,
        categorical: Vec<String>,
        has_names: bool,
        is_kept: bool,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
        test: Option<&Bound<'_, Table>>,
    ) -> PyResult<Self> {
        let table = table.get();
        let test = test.map(|test| test.get().source().clone());
        let categorical = table.categorical(&categorical)?;
        let model = params::model(estimator, table, categorical)?;
        let source = table.source();
        if matches!(model.method, Method::General(_)) && table.weight().is_some() {
            return Err(input_error(
                "method `general` draws sets of rows and knows no weights; leave `--weight` out, or use \
                 `--method calibrated`",
            ));
        }
        let ((ready, warnings), mark) = work::run(py, table.about(), n_jobs, progress, |observer| {
            let resources = Resources::default();
            let mut fitted = match test {
                None => fit_source(source, &model, &resources, observer)?,
                Some(test) => fit_with_test(source, test, &model, &resources, observer)?,
            };
            fitted.valuer = fitted.valuer.with_names(has_names);
            let (ready, warnings) = ready_again(fitted)?;
            let tells_itself = ready.valuer().fit().is_some();
            let mark = (is_kept && !tells_itself).then(|| ready.mark_of(source, observer)).transpose()?;
            Ok(((ready, warnings), mark))
        })?;
        Ok(Self { mark, ..Self::new(ready, warnings) })
    }

    /// The same with further rows, and set sizes as they are asked for now.
    #[pyo3(signature = (table, m=None, q=None, n_jobs=None, progress=None))]
    fn updated(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        m: Option<i64>,
        q: Option<i64>,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let table = table.get();
        table.refuse_text(self.ready.design())?;
        let before = self.ready.valuer().clone().with_choice(params::sizes(m, q)?);
        match (table.weight(), before.design().weight()) {
            (Some(_), None) => {
                return Err(input_error(
                    "the first rows had no weights, so further ones cannot; give `--weight` from the start",
                ));
            }
            (None, Some(_)) => {
                return Err(input_error("the first rows had weights, so further ones need `--weight`"));
            }
            _ => {}
        }
        let (ready, warnings) = work::run(py, table.about(), n_jobs, progress, |observer| {
            let resources = Resources::default();
            let add = Some(table.source());
            let fitted = update_valuer(
                before,
                Path::new(NAME),
                add,
                None,
                SizeChoice::default(),
                &resources,
                observer,
            )?;
            ready_again(fitted)
        })?;
        Ok(Self::new(ready, warnings))
    }

    /// One valuer of several whose references have no row in common.
    #[pyo3(signature = (others, n_jobs=None, progress=None))]
    fn merged(
        &self,
        py: Python<'_>,
        others: Vec<Bound<'_, Valuer>>,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let draws = |valuer: &Valuer| matches!(valuer.ready.valuer().method(), Method::General(_));
        if draws(self) || others.iter().any(|other| draws(other.get())) {
            return Err(refusal(
                py,
                "valuers by `--method general` hold their rows and cannot be merged; fit all rows together",
            ));
        }
        let names: Vec<PathBuf> = (1..=others.len() + 1).map(|i| format!("estimator {i}").into()).collect();
        let valuers = std::iter::once(self.ready.valuer().clone())
            .chain(others.iter().map(|other| other.get().ready.valuer().clone()));
        let parts = names.iter().map(PathBuf::as_path).zip(valuers).collect();
        let (ready, warnings) = work::run(py, About::default(), n_jobs, progress, |observer| {
            merge_valuers(parts, SizeChoice::default(), observer).and_then(ready_again)
        })?;
        Ok(Self::new(ready, warnings))
    }

    /// Values rows of arrays in place. `None` if that cannot be done; a table
    /// can then be valued, or says why not.
    #[pyo3(signature = (features, y, n_jobs=None))]
    fn value_arrays<'py>(
        &self,
        py: Python<'py>,
        features: &Bound<'py, PyUntypedArray>,
        y: &Bound<'py, PyUntypedArray>,
        n_jobs: Option<isize>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let (shape, n_columns) = (features.shape(), self.ready.design().n_columns());
        if y.ndim() != 1 || shape != [y.len(), n_columns] || y.is_empty() {
            return Ok(None);
        }
        let mut numbers = Arrays::new(y.len());
        if !(numbers.add(features) && numbers.add(y)) {
            return Ok(None);
        }
        let valued = value_numbers(py, &self.ready, &numbers, How::default(), n_jobs, None)?;
        // What is to be warned of is said by the longer way.
        let valued = valued.filter(|valued| valued.warnings.is_empty());
        Ok(valued.map(|valued| valued.value.into_pyarray(py)))
    }

    /// Values the rows of a table; what explains the values comes along.
    #[pyo3(signature = (table, m=None, q=None, leave_one_out=false, std_error=false, parts=true, n_jobs=None, progress=None))]
    fn value_table<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        m: Option<i64>,
        q: Option<i64>,
        leave_one_out: bool,
        std_error: bool,
        parts: bool,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let table = table.get();
        table.refuse_text(self.ready.design())?;
        let ready = self.with_sizes(py, params::sizes(m, q)?)?;
        if std_error && !ready.has_std_error() {
            let method = ready.valuer().method().name();
            return Err(input_error(&format!("values by `--method {method}` have no standard errors")));
        }
        let how = How { leave_one_out, std_error, parts };
        if leave_one_out {
            let source = table.source();
            let same = work::run(py, table.about(), n_jobs, None, |observer| match self.mark {
                Some(mark) => Ok(ready.mark_of(source, observer)? == mark),
                None => ready.was_fitted_to(source, observer),
            })?;
            if !same {
                return Err(input_error(
                    "the rows have changed since they were fitted, so that they are not the reference any \
                     more; fit them again, or give `fit` a copy",
                ));
            }
        }
        // Names are checked by the longer way; here columns go by their order.
        let in_order = table.names_of_features().iter().map(String::as_str).eq(ready.design().features());
        let in_place = match table.numbers().filter(|_| in_order) {
            Some(numbers) => {
                let progress = progress.as_ref().map(|progress| progress.clone_ref(py));
                value_numbers(py, &ready, numbers.as_ref(), how, n_jobs, progress)?
            }
            None => None,
        };
        let valued = match in_place {
            Some(valued) => valued,
            None => work::run(py, table.about(), n_jobs, progress, |observer| {
                ready.value(table.source(), how, observer)
            })?,
        };
        columns(py, valued)
    }

    /// What was learned.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        facts::of(py, &self.ready)
    }

    /// What it is for: `regression`, `classification` or `density`.
    #[getter]
    fn task(&self) -> &'static str {
        self.ready.valuer().task().name()
    }

    /// Everything doubtful about the fit.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The parameters of the estimator that would fit such a valuer.
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        params::of_valuer(py, self.ready.valuer())
    }

    /// The bytes of the valuer file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.ready.valuer().to_container().to_bytes());
        Ok(PyBytes::new(py, &bytes.map_err(|error| input_error(&error.to_string()))?))
    }

    /// A valuer from the bytes of its file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = || Ready::new(SavedValuer::from_bytes(bytes, "the pickle")?, &Overrides::default());
        Ok(Self::new(py.detach(read).map_err(|error| raise(py, &error))?, Vec::new()))
    }

    /// Writes the valuer file, which appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || self.ready.valuer().save(AtomicFile::create(&path)?);
        py.detach(write).map(|_| ()).map_err(|error| raise(py, &error))
    }

    /// Reads a valuer file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let read = || Ready::new(SavedValuer::load(&path)?, &Overrides::default());
        Ok(Self::new(py.detach(read).map_err(|error| raise(py, &error))?, Vec::new()))
    }
}

impl Valuer {
    fn new(ready: Ready, warnings: Vec<String>) -> Self {
        let warnings = warnings.iter().map(|warning| in_python(warning)).collect();
        Self { ready: Arc::new(ready), warnings, mark: None, other_sizes: Mutex::new(None) }
    }

    /// Ready with other set sizes than those of the fit.
    fn with_sizes(&self, py: Python<'_>, sizes: SizeChoice) -> PyResult<Arc<Ready>> {
        if sizes == SizeChoice::default() {
            return Ok(Arc::clone(&self.ready));
        }
        let mut last = self.other_sizes.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((have, ready)) if *have == sizes => Ok(Arc::clone(ready)),
            _ => {
                let overrides = Overrides { sizes, ..Overrides::default() };
                let ready = Ready::new(self.ready.valuer().clone(), &overrides);
                let ready = Arc::new(ready.map_err(|error| raise(py, &error))?);
                *last = Some((sizes, Arc::clone(&ready)));
                Ok(ready)
            }
        }
    }
}

fn ready_again(fitted: Fitted) -> Result<(Ready, Vec<String>), dshap_run::Error> {
    let ready = Ready::new(fitted.valuer, &Overrides::default())?;
    Ok((ready, fitted.summary.warnings))
}

/// Values rows in place: a few at once, many by all threads.
fn value_numbers(
    py: Python<'_>,
    ready: &Ready,
    numbers: &Arrays,
    how: How,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<Valued>> {
    if numbers.n_rows() <= FEW_ROWS {
        let valued = py.detach(|| ready.value_numbers(numbers, how, &Unwatched));
        return valued.map_err(|error| raise(py, &error));
    }
    work::run(py, About::default(), n_jobs, progress, |observer| ready.value_numbers(numbers, how, observer))
}

pub(crate) fn columns(py: Python<'_>, valued: Valued) -> PyResult<Bound<'_, PyDict>> {
    let Valued { value, std_error, parts, notes, warnings } = valued;
    let dict = PyDict::new(py);
    dict.set_item("value", value.into_pyarray(py))?;
    if let Some(errors) = std_error {
        dict.set_item("stderr", errors.into_pyarray(py))?;
    }
    for (name, column) in parts {
        dict.set_item(name, column.into_pyarray(py))?;
    }
    dict.set_item("notes", notes)?;
    let warnings: Vec<String> = warnings.iter().map(|warning| in_python(warning)).collect();
    dict.set_item("warnings", warnings)?;
    Ok(dict)
}
