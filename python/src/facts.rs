//! What a valuer has learned, for the attributes of its estimator.

use crate::density;
use crate::error::raise;
use crate::neighbours;
use dshap::classification::LogisticFit;
use dshap::linear::LinearFit;
use dshap::second_order::SoftmaxFit;
use dshap_run::{ClassFacts, Ready};
use dshap_table::{Design, Labels};
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What was learned, by the names of the attributes.
pub(crate) fn of<'py>(py: Python<'py>, ready: &Ready) -> PyResult<Bound<'py, PyDict>> {
    let facts = ready.facts().map_err(|error| raise(py, &error))?;
    let valuer = ready.valuer();
    let design = valuer.design();
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
    if let Some(fit) = valuer.fit() {
        add_linear(&dict, fit, design)?;
    }
    if let Some(classes) = &facts.classification {
        add_logistic(&dict, valuer.logistic_fits(), classes, design)?;
    }
    if let Some(fit) = valuer.softmax_fit() {
        add_softmax(&dict, fit, design)?;
    }
    if let Some(found) = &facts.neighbours {
        neighbours::add_facts(&dict, found)?;
    }
    add_labels(&dict, design)?;
    if let Some(smoothed) = &facts.density {
        density::add_facts(&dict, smoothed)?;
    }
    Ok(dict)
}

fn add_linear(dict: &Bound<'_, PyDict>, fit: &LinearFit, design: &Design) -> PyResult<()> {
    let coef = spread(fit.kept(), fit.coef(), design.n_columns());
    dict.set_item("coef", coef.into_pyarray(dict.py()))?;
    dict.set_item("intercept", fit.intercept_value().unwrap_or(0.0))
}

fn add_logistic(
    dict: &Bound<'_, PyDict>,
    fits: &[LogisticFit],
    classes: &ClassFacts,
    design: &Design,
) -> PyResult<()> {
    let py = dict.py();
    let coef: Vec<Vec<f64>> =
        fits.iter().map(|fit| spread(fit.kept(), fit.coef(), design.n_columns())).collect();
    dict.set_item("coef", PyArray2::from_vec2(py, &coef)?)?;
    let intercept: Vec<f64> = fits.iter().map(|fit| fit.intercept_value().unwrap_or(0.0)).collect();
    dict.set_item("intercept", intercept.into_pyarray(py))?;
    dict.set_item("deviance", classes.deviance)?;
    dict.set_item("n_iter", classes.fit_passes)?;
    let rows: Vec<i64> = classes.label_rows.iter().map(|&rows| rows as i64).collect();
    dict.set_item("label_rows", rows.into_pyarray(py))
}

/// The coefficients of the one model of all labels, in place of those of each
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

/// The labels of a classification, and what they are.
fn add_labels(dict: &Bound<'_, PyDict>, design: &Design) -> PyResult<()> {
    match design.labels() {
        None => Ok(()),
        Some(Labels::Text(labels)) => dict.set_item("labels", ("words", labels.clone())),
        Some(Labels::Numbers(labels)) => dict.set_item("labels", ("numbers", labels.clone())),
        Some(Labels::Booleans(labels)) => dict.set_item("labels", ("booleans", labels.clone())),
    }
}

/// Coefficients of all columns; one that was dropped has no part in the
/// prediction.
fn spread(kept: &[usize], coef: &[f64], n_columns: usize) -> Vec<f64> {
    let mut all = vec![0.0; n_columns];
    for (&column, &value) in kept.iter().zip(coef) {
        all[column] = value;
    }
    all
}
