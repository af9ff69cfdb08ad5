//! What a valuer has learned, for the attributes of its estimator.

use crate::error::raise;
use dshap::second_order::SoftmaxFit;
use dshap_models::linear::LinearModel;
use dshap_models::logistic::LogisticModel;
use dshap_models::{ClassFacts, DensityFacts, NeighbourFacts};
use dshap_run::ReadyValuer;
use dshap_table::{Design, Labels};
use numpy::prelude::*;
use numpy::{IntoPyArray, PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What was learned, by the names of the attributes.
pub(crate) fn of<'py>(py: Python<'py>, ready: &ReadyValuer) -> PyResult<Bound<'py, PyDict>> {
    let facts = ready.facts().map_err(|error| raise(py, &error))?;
    let valuer = ready.valuer();
    let design = &valuer.design;
    let names: Vec<&str> = (0..design.n_columns()).map(|column| design.column_name(column)).collect();
    let dict = PyDict::new(py);
    dict.set_item("columns", names)?;
    dict.set_item("n_rows", facts.n_reference)?;
    dict.set_item("effective_rows", facts.effective_rows)?;
    dict.set_item("p", facts.p)?;
    dict.set_item("q", facts.q)?;
    dict.set_item("m", facts.m)?;
    dict.set_item("dropped", facts.dropped_columns)?;
    dict.set_item("features", facts.features)?;
    dict.set_item("has_names", valuer.has_names())?;
    dict.set_item("target", facts.target)?;
    dict.set_item("noise_var", facts.noise_var)?;
    dict.set_item("r_squared", facts.r_squared)?;
    if let Some(model) = valuer.model.of::<LinearModel>() {
        add_linear(&dict, model, design)?;
    }
    if let (Some(model), Some(classes)) = (valuer.model.of::<LogisticModel>(), &facts.classification) {
        add_logistic(&dict, model, classes, design)?;
        if let Some(fit) = model.second_order.as_ref().and_then(|model| model.softmax_fit()) {
            add_softmax(&dict, fit, design)?;
        }
    }
    if let Some(found) = &facts.neighbours {
        add_neighbours(&dict, found)?;
    }
    add_labels(&dict, design)?;
    if let Some(smoothed) = &facts.density {
        add_density(&dict, smoothed)?;
    }
    Ok(dict)
}

fn add_linear(dict: &Bound<'_, PyDict>, model: &LinearModel, design: &Design) -> PyResult<()> {
    let fit = &model.fit;
    let coef = spread(fit.kept(), fit.coef(), design.n_columns());
    dict.set_item("coef", coef.into_pyarray(dict.py()))?;
    dict.set_item("intercept", fit.intercept_value().unwrap_or(0.0))
}

fn add_logistic(
    dict: &Bound<'_, PyDict>,
    model: &LogisticModel,
    classes: &ClassFacts,
    design: &Design,
) -> PyResult<()> {
    let py = dict.py();
    let coef: Vec<Vec<f64>> =
        model.fits.iter().map(|fit| spread(fit.kept(), fit.coef(), design.n_columns())).collect();
    dict.set_item("coef", PyArray2::from_vec2(py, &coef)?)?;
    let intercept: Vec<f64> = model.fits.iter().map(|fit| fit.intercept_value().unwrap_or(0.0)).collect();
    dict.set_item("intercept", intercept.into_pyarray(py))?;
    dict.set_item("deviance", classes.deviance)?;
    dict.set_item("n_iter", classes.fit_passes)?;
    dict.set_item("label_rows", counts(py, &classes.label_rows))
}

/// The coefficients of one model of all labels, instead of those of each label
/// against the others.
fn add_softmax(dict: &Bound<'_, PyDict>, fit: &SoftmaxFit, design: &Design) -> PyResult<()> {
    let classes = 0..fit.n_classes();
    let coef: Vec<Vec<f64>> = classes
        .clone()
        .map(|class| spread(fit.kept(), &fit.coef(class).unwrap_or_default(), design.n_columns()))
        .collect();
    dict.set_item("coef", PyArray2::from_vec2(dict.py(), &coef)?)?;
    let intercept: Vec<f64> = classes.map(|class| fit.intercept_value(class).unwrap_or(0.0)).collect();
    dict.set_item("intercept", intercept.into_pyarray(dict.py()))?;
    dict.set_item("deviance", fit.deviance())?;
    dict.set_item("n_iter", fit.n_passes())
}

fn add_neighbours(dict: &Bound<'_, PyDict>, facts: &NeighbourFacts) -> PyResult<()> {
    dict.set_item("test_rows", facts.test_rows)?;
    if !facts.label_rows.is_empty() {
        dict.set_item("label_rows", counts(dict.py(), &facts.label_rows))?;
    }
    Ok(())
}

fn add_density(dict: &Bound<'_, PyDict>, facts: &DensityFacts) -> PyResult<()> {
    dict.set_item("bandwidth", facts.bandwidth)?;
    let tried: Vec<f64> = facts.bandwidths_tried.iter().flat_map(|&(h, score)| [h, score]).collect();
    let curve = PyArray1::from_vec(dict.py(), tried).reshape([facts.bandwidths_tried.len(), 2])?;
    dict.set_item("bandwidth_curve", curve)?;
    dict.set_item("rows_used", facts.rows_used)?;
    dict.set_item("log_unit", facts.log_unit)
}

/// The labels of a classification, and what kind they are.
fn add_labels(dict: &Bound<'_, PyDict>, design: &Design) -> PyResult<()> {
    match design.labels() {
        None => Ok(()),
        Some(Labels::Text(labels)) => dict.set_item("labels", ("words", labels.clone())),
        Some(Labels::Numbers(labels)) => dict.set_item("labels", ("numbers", labels.clone())),
        Some(Labels::Booleans(labels)) => dict.set_item("labels", ("booleans", labels.clone())),
    }
}

/// Coefficients of all columns; a dropped column has 0.
fn spread(kept: &[usize], coef: &[f64], n_columns: usize) -> Vec<f64> {
    let mut all = vec![0.0; n_columns];
    for (&column, &value) in kept.iter().zip(coef) {
        all[column] = value;
    }
    all
}

fn counts<'py>(py: Python<'py>, counts: &[usize]) -> Bound<'py, PyArray1<i64>> {
    counts.iter().map(|&count| count as i64).collect::<Vec<_>>().into_pyarray(py)
}
