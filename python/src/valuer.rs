//! `Valuer`: what an estimator has learned.

use crate::arrays::Arrays;
use crate::error::{input_error, raise, sentences};
use crate::facts;
use crate::params;
use crate::table::Table;
use crate::words::Spelling;
use crate::work;
use dshap_catalogue::options::{POPULATION, REFERENCE};
use dshap_catalogue::{Given, Task, Value};
use dshap_io::{AtomicFile, Numbers};
use dshap_models::linear::LinearModel;
use dshap_models::{Error, FittedValuer, SizeChoice, Unwatched, Warning};
use dshap_run::{
    Fitted, ReadyValuer, Resources, Tables, Valued, Wanted, fit_tables, merge_valuers, update_valuer,
};
use dshap_words::Speech;
use numpy::{IntoPyArray, PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Up to this many rows are valued by the thread that asks for them.
const FEW_ROWS: usize = 256;

/// What the valuer is called in messages.
const NAME: &str = "the estimator";

/// A fitted valuer. It does not change; what changes it makes another.
#[pyclass(frozen, module = "dshap._dshap")]
pub(crate) struct Valuer {
    ready: Arc<ReadyValuer>,
    warnings: Vec<String>,
    /// A mark of the reference rows, where the fit itself does not know them again.
    mark: Option<u64>,
    /// The valuer with the set sizes that were last given instead of its own.
    other_sizes: Mutex<Option<(SizeChoice, Arc<ReadyValuer>)>>,
}

#[pymethods]
impl Valuer {
    /// Fits a table with the parameters of `estimator`. Whether columns have names of
    /// their own is remembered. A table that is kept is marked where the fit itself does
    /// not know it again. `test` holds the rows that values are for, or that nearest neighbours
    /// predict; a population of them has no targets.
    #[staticmethod]
    #[pyo3(signature = (table, estimator, categorical, has_names, is_kept, n_jobs=None, progress=None, test=None, is_population=false))]
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
        is_population: bool,
    ) -> PyResult<Self> {
        let table = table.get();
        let task = params::task(estimator)?;
        let method = params::method(estimator, task)?;
        let given = params::given(estimator, Some(task), table, &categorical)?;
        let given = match is_population {
            true => given.with(&POPULATION, Value::List(Vec::new())),
            false => given,
        };
        if task == Task::Density && table.__len__() == 1 {
            // Otherwise the error would be that no column varies.
            return Err(input_error("one reference row is too few, since nothing varies (n_samples = 1)"));
        }
        let test = test.map(|test| test.get().source().clone());
        let tables = Tables { points: table.source().clone(), reference: None, test };
        let spelling = table.spelling();
        let ((ready, warnings), mark) = work::run(py, spelling, n_jobs, progress, |observer| {
            let mut fitted = fit_tables(&tables, method, &given, observer)?;
            fitted.valuer.has_names = Some(has_names);
            let (ready, warnings) = ready_again(fitted)?;
            let knows_its_rows = ready.valuer().model.of::<LinearModel>().is_some();
            let mark =
                (is_kept && !knows_its_rows).then(|| ready.mark_of(&tables.points, observer)).transpose()?;
            Ok(((ready, warnings), mark))
        })?;
        Ok(Self { mark, ..Self::new(ready, &warnings, spelling) })
    }

    /// The same with further rows and these set sizes.
    #[pyo3(signature = (table, m=None, q=None, n_jobs=None, progress=None))]
    fn updated(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        m: Option<usize>,
        q: Option<usize>,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let table = table.get();
        table.refuse_text(self.ready.design())?;
        let mut before = self.ready.valuer().clone();
        before.how = before.how.with_sizes(params::sizes(m, q));
        match (table.weight(), before.design.weight()) {
            (Some(_), None) => {
                return Err(input_error(
                    "the first rows had no weights, so further rows cannot have any; give `sample_weight` from the \
                     start",
                ));
            }
            (None, Some(_)) => {
                return Err(input_error("the first rows had weights, so further rows need `sample_weight`"));
            }
            _ => {}
        }
        let spelling = table.spelling();
        let (ready, warnings) = work::run(py, spelling, n_jobs, progress, |observer| {
            let (add, sizes) = (Some(table.source()), SizeChoice::default());
            let resources = Resources::default();
            let fitted = update_valuer(before, Path::new(NAME), add, None, sizes, &resources, observer)?;
            ready_again(fitted)
        })?;
        Ok(Self::new(ready, &warnings, spelling))
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
        let names: Vec<PathBuf> = (1..=others.len() + 1).map(|i| format!("estimator {i}").into()).collect();
        let valuers = std::iter::once(self.ready.valuer().clone())
            .chain(others.iter().map(|other| other.get().ready.valuer().clone()));
        let parts = names.iter().map(PathBuf::as_path).zip(valuers).collect();
        let (ready, warnings) = work::run(py, Spelling::default(), n_jobs, progress, |observer| {
            merge_valuers(parts, SizeChoice::default(), observer).and_then(ready_again)
        })?;
        Ok(Self::new(ready, &warnings, Spelling::default()))
    }

    /// Values rows of arrays in place. `None` if that cannot be done; a table can then
    /// be valued, or reports why not.
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
        self.refuse_unseen(false)?;
        let valued = value_numbers(py, &self.ready, &numbers, Wanted::default(), n_jobs, None)?;
        // Warnings are given on the longer way.
        let valued = valued.filter(|valued| valued.warnings.is_empty());
        Ok(valued.map(|valued| valued.value.into_pyarray(py)))
    }

    /// Values the rows of a table; what explains the values comes along.
    #[pyo3(signature = (table, m=None, q=None, leave_one_out=false, std_error=false, parts=true, n_jobs=None, progress=None))]
    fn value_table<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        m: Option<usize>,
        q: Option<usize>,
        leave_one_out: bool,
        std_error: bool,
        parts: bool,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let table = table.get();
        self.refuse_unseen(leave_one_out)?;
        table.refuse_text(self.ready.design())?;
        let ready = self.with_sizes(py, params::sizes(m, q))?;
        let spelling = table.spelling();
        if std_error && !ready.has_std_error() {
            let method = spelling.method(ready.how().method.name());
            return Err(input_error(&format!("values by {method} have no standard errors")));
        }
        let wanted = Wanted { leave_one_out, std_error, parts };
        if leave_one_out {
            let source = table.source();
            let same = work::run(py, spelling, n_jobs, None, |observer| match self.mark {
                Some(mark) => Ok(ready.mark_of(source, observer)? == mark),
                None => ready.was_fitted_to(source, observer),
            })?;
            if !same {
                return Err(input_error(
                    "the rows have changed since they were fitted, so they are no longer the reference; fit them \
                     again, or give `fit` a copy",
                ));
            }
        }
        // Columns go by their order here; the longer way checks their names.
        let in_order = table.names_of_features().iter().map(String::as_str).eq(ready.design().features());
        let in_place = match table.numbers().filter(|_| in_order) {
            Some(numbers) => {
                let progress = progress.as_ref().map(|progress| progress.clone_ref(py));
                value_numbers(py, &ready, numbers.as_ref(), wanted, n_jobs, progress)?
            }
            None => None,
        };
        let valued = match in_place {
            Some(valued) => valued,
            None => work::run(py, spelling, n_jobs, progress, |observer| {
                ready.value(table.source(), wanted, observer)
            })?,
        };
        columns(py, valued, spelling)
    }

    /// Standard errors of the sums of the values of groups of rows: `group` has the number of
    /// the group of each row, or −1. None where the method does not know them.
    #[pyo3(signature = (table, group, n_groups, m=None, q=None, leave_one_out=false, n_jobs=None))]
    fn sum_errors<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, Table>,
        group: Vec<i64>,
        n_groups: usize,
        m: Option<usize>,
        q: Option<usize>,
        leave_one_out: bool,
        n_jobs: Option<isize>,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let table = table.get();
        if group.len() != table.__len__() {
            return Err(input_error("the rows have changed since they were valued"));
        }
        let ready = self.with_sizes(py, params::sizes(m, q))?;
        let mut groups = vec![Vec::new(); n_groups];
        for (row, number) in group.into_iter().enumerate() {
            if let Some(members) = usize::try_from(number).ok().and_then(|number| groups.get_mut(number)) {
                members.push(row);
            }
        }
        let found = work::run(py, table.spelling(), n_jobs, None, |observer| {
            ready.sum_errors(table.source(), &groups, leave_one_out, observer)
        })?;
        Ok(found.map(|errors| errors.into_pyarray(py)))
    }

    /// Why a row of a table is worth what it is worth: facts as JSON, and sentences.
    #[pyo3(signature = (table, row, m=None, q=None, leave_one_out=false, n_jobs=None, progress=None))]
    fn explain_row(
        &self,
        py: Python<'_>,
        table: &Bound<'_, Table>,
        row: u64,
        m: Option<usize>,
        q: Option<usize>,
        leave_one_out: bool,
        n_jobs: Option<isize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(String, Vec<String>)> {
        let table = table.get();
        let ready = self.with_sizes(py, params::sizes(m, q))?;
        let explained = work::run(py, table.spelling(), n_jobs, progress, |observer| {
            ready.explain(table.source(), row, leave_one_out, observer)
        })?;
        let facts = serde_json::to_string(&explained).map_err(|error| input_error(&error.to_string()))?;
        Ok((facts, dshap_words::explanation(&explained)))
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

    /// The parameters of the estimator that would fit such a valuer; those that have
    /// their default are left out.
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
        Self::read(py, || FittedValuer::from_bytes(bytes, "the pickle"))
    }

    /// Writes the valuer file, which appears whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let write = || self.ready.valuer().save(AtomicFile::create(&path)?);
        py.detach(write).map(|_| ()).map_err(|error| raise(py, &error))
    }

    /// Reads a valuer file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::read(py, || FittedValuer::load(&path))
    }
}

impl Valuer {
    pub(crate) fn ready(&self) -> &ReadyValuer {
        &self.ready
    }

    pub(crate) fn new(ready: ReadyValuer, warnings: &[Warning], spelling: Spelling<'_>) -> Self {
        let warnings = sentences(warnings, spelling);
        Self { ready: Arc::new(ready), warnings, mark: None, other_sizes: Mutex::new(None) }
    }

    fn read(py: Python<'_>, read: impl FnOnce() -> Result<FittedValuer, Error> + Send) -> PyResult<Self> {
        let ready = py.detach(|| ReadyValuer::new(read()?, None, &Given::new()));
        Ok(Self::new(ready.map_err(|error| raise(py, &error))?, &[], Spelling::default()))
    }

    /// Refuses rows outside of the reference where a method values only the rows of one
    /// finite dataset.
    fn refuse_unseen(&self, in_reference: bool) -> PyResult<()> {
        let method = self.ready.how().method;
        if in_reference || method.entry.takes(&REFERENCE, None).is_some() {
            return Ok(());
        }
        let spelling = Spelling::default();
        Err(input_error(&format!(
            "{} values the rows of one finite dataset, so other rows have no such value; `value_training` values the \
             rows that were fitted, {} values any row",
            spelling.method(method.name()),
            spelling.method("knn")
        )))
    }

    /// Ready with other set sizes than those of the fit.
    fn with_sizes(&self, py: Python<'_>, sizes: SizeChoice) -> PyResult<Arc<ReadyValuer>> {
        if sizes == SizeChoice::default() {
            return Ok(Arc::clone(&self.ready));
        }
        let mut last = self.other_sizes.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((have, ready)) if *have == sizes => Ok(Arc::clone(ready)),
            _ => {
                let ready = ReadyValuer::new(self.ready.valuer().clone(), None, &params::given_sizes(sizes));
                let ready = Arc::new(ready.map_err(|error| raise(py, &error))?);
                *last = Some((sizes, Arc::clone(&ready)));
                Ok(ready)
            }
        }
    }
}

pub(crate) fn ready_again(fitted: Fitted) -> Result<(ReadyValuer, Vec<Warning>), Error> {
    let ready = ReadyValuer::new(fitted.valuer, None, &Given::new())?;
    Ok((ready, fitted.summary.warnings))
}

/// Values rows in place: a few on this thread, many on all threads.
fn value_numbers(
    py: Python<'_>,
    ready: &ReadyValuer,
    numbers: &Arrays,
    wanted: Wanted,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<Valued>> {
    if numbers.n_rows() <= FEW_ROWS {
        let valued = py.detach(|| ready.value_numbers(numbers, wanted, &Unwatched));
        return valued.map_err(|error| raise(py, &error));
    }
    work::run(py, Spelling::default(), n_jobs, progress, |observer| {
        ready.value_numbers(numbers, wanted, observer)
    })
}

/// Values and what comes with them, as columns.
pub(crate) fn columns<'py>(
    py: Python<'py>,
    valued: Valued,
    spelling: Spelling<'_>,
) -> PyResult<Bound<'py, PyDict>> {
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
    dict.set_item("warnings", sentences(&warnings, spelling))?;
    Ok(dict)
}
