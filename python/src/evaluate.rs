//! How good values are: curves by orders, detection, agreement, figures.

use crate::error::{input_error, sentences};
use crate::params;
use crate::table::Table;
use crate::work;
use dshap_trials::{
    Curve, Detection, Experiment, GivenValues, Kind, Order, curves_of, inject, kendall, overlap, spearman,
};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

type Column<'py, T> = Bound<'py, PyArray1<T>>;

/// A curve: experiment, method, order, numbers of rows, heights.
type Points<'py> = (String, String, String, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

/// Curves of point addition or removal by values from either end, and by chance.
#[pyfunction]
#[pyo3(signature = (table, test, options, categorical, experiment, values, repeats, n_jobs=None, progress=None))]
pub(crate) fn orders<'py>(
    py: Python<'py>,
    table: &Bound<'py, Table>,
    test: &Bound<'py, Table>,
    options: &Bound<'py, PyAny>,
    categorical: Vec<String>,
    experiment: &str,
    values: Vec<(String, PyReadonlyArray1<'py, f64>)>,
    repeats: usize,
    n_jobs: Option<isize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (table, test) = (table.get(), test.get());
    let given = params::given(options, None, table, &categorical)?;
    let spelling = table.spelling().in_function();
    let experiment = experiment_of(experiment)?;
    let values: Vec<GivenValues> = values
        .into_iter()
        .map(|(name, value)| GivenValues { name, value: value.as_array().to_vec() })
        .collect();
    let found = work::run(py, spelling, n_jobs, progress, |observer| {
        curves_of((table.source(), test.source()), &given, &values, experiment, repeats, observer)
    })?;
    let dict = PyDict::new(py);
    dict.set_item("task", found.task)?;
    dict.set_item("utility", found.utility)?;
    dict.set_item("utility_of_all", found.utility_of_all)?;
    let curves = found.curves.into_iter().map(|curve| {
        let n_rows: Vec<i64> = curve.n_rows.iter().map(|&n| n as i64).collect();
        let (n_rows, height) = (n_rows.into_pyarray(py), curve.height.into_pyarray(py));
        (curve.experiment.word(), curve.method, curve.order.word(), n_rows, height)
    });
    dict.set_item("curves", curves.collect::<Vec<_>>())?;
    dict.set_item("warnings", sentences(&found.warnings, spelling))?;
    Ok(dict)
}

/// How well low values point at wrong rows: area under the ROC curve, F1, and the
/// share found among the lowest 0, 1, 2, … rows. None unless there are right and
/// wrong rows with a value.
#[pyfunction]
pub(crate) fn detection<'py>(
    py: Python<'py>,
    value: PyReadonlyArray1<'py, f64>,
    is_wrong: PyReadonlyArray1<'py, bool>,
) -> PyResult<Option<(f64, f64, Column<'py, f64>)>> {
    let (value, is_wrong) = (value.as_slice()?, is_wrong.as_slice()?);
    let found = py.detach(|| Detection::of(value, is_wrong));
    Ok(found.map(|found| (found.auc, found.f1, found.found.into_pyarray(py))))
}

/// Targets with a share of them made wrong, and which ones: numbers, or labels of
/// `n_classes` classes.
#[pyfunction]
#[pyo3(signature = (y, share, seed, n_classes=None))]
pub(crate) fn corrupted<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'py, f64>,
    share: f64,
    seed: u64,
    n_classes: Option<usize>,
) -> PyResult<(Column<'py, f64>, Column<'py, bool>)> {
    let y = y.as_slice()?;
    let kind = n_classes.map_or(Kind::Numbers, Kind::Labels);
    let changed = py.detach(|| inject(y, kind, share, seed));
    Ok((changed.y.into_pyarray(py), changed.is_wrong.into_pyarray(py)))
}

/// Spearman's and Kendall's correlation of two columns of values, and the share of
/// best rows that they have in common.
#[pyfunction]
pub(crate) fn agreement<'py>(
    py: Python<'py>,
    one: PyReadonlyArray1<'py, f64>,
    other: PyReadonlyArray1<'py, f64>,
    top: usize,
) -> PyResult<(Option<f64>, Option<f64>, Option<f64>)> {
    let (one, other) = (one.as_slice()?, other.as_slice()?);
    Ok(py.detach(|| (spearman(one, other), kendall(one, other), overlap(one, other, top))))
}

/// Curves as SVG, utility as a share of `whole`.
#[pyfunction]
pub(crate) fn drawn(title: &str, curves: Vec<Points<'_>>, whole: f64) -> PyResult<String> {
    let curve = |(experiment, method, order, n_rows, height): Points<'_>| {
        Ok(Curve {
            experiment: experiment_of(&experiment)?,
            method,
            order: Order::parse(&order).ok_or_else(|| input_error(&format!("`{order}` is not an order")))?,
            n_rows: n_rows.as_array().iter().map(|&n| n.max(0) as usize).collect(),
            height: height.as_array().to_vec(),
        })
    };
    let curves: Vec<Curve> = curves.into_iter().map(curve).collect::<PyResult<_>>()?;
    Ok(dshap_trials::figure(title, &curves, whole).to_svg())
}

fn experiment_of(word: &str) -> PyResult<Experiment> {
    let unknown = || input_error(&format!("`{word}` is not an experiment"));
    Experiment::ALL.into_iter().find(|experiment| experiment.word() == word).ok_or_else(unknown)
}
