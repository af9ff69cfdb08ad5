//! What only densities have: their parameters, and what is learned.

use crate::error::input_error;
use crate::params::{Reader, settled};
use dshap::density::{Bandwidth, Kernel, Scaling};
use dshap_run::{DensityChoice, DensityFacts, Method, MethodChoice, MethodName, parse_bandwidth};
use numpy::PyArray1;
use numpy::prelude::*;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

/// How columns are made comparable, by the words for it.
const SCALES: [(&str, Scaling); 2] = [("std", Scaling::Standard), ("none", Scaling::None)];

/// What an estimator says about a density. What it says by default is left
/// unsaid, so that the valuer file is that of the command line.
pub(crate) fn choice(read: &Reader<'_, '_>) -> PyResult<(Method, DensityChoice)> {
    let names = MethodName::OF_DENSITIES.map(|name| (name.word(), name));
    let name = Some(read.word("method", &names)?);
    let kernel = read.word("kernel", &Kernel::ALL.map(|kernel| (kernel.name(), kernel)))?;
    let scaling = read.word("scale", &SCALES)?;
    let bandwidth = bandwidth(read)?;
    let seed: u64 = read.get("seed", "a whole number from 0 on")?;
    let density = DensityChoice {
        kernel: Some(kernel).filter(|kernel| *kernel != Kernel::default()),
        bandwidth: Some(bandwidth).filter(|bandwidth| *bandwidth != Bandwidth::default()),
        scaling: Some(scaling).filter(|scaling| *scaling != Scaling::default()),
        every_row: read.get("every_row", "True or False")?,
        samples: read.size("samples")?,
        seed: Some(seed).filter(|seed| *seed != 0),
    };
    let method = settled(MethodChoice { name, seed: Some(seed), ..MethodChoice::default() }.settle())?;
    Ok((method.unwrap_or(Method::Closed), density))
}

/// A word or a number; a number that is held as text is a slip.
pub(crate) fn bandwidth(read: &Reader<'_, '_>) -> PyResult<Bandwidth> {
    let given = read.estimator.getattr("bandwidth")?;
    let found = if given.is_instance_of::<PyBool>() {
        None
    } else if let Ok(word) = given.cast::<PyString>() {
        parse_bandwidth(word.to_str()?).ok().filter(|found| !matches!(found, Bandwidth::Given(_)))
    } else {
        let number = given.extract::<f64>().ok();
        number.and_then(|number| parse_bandwidth(&format!("{number:?}")).ok())
    };
    match found {
        Some(found) => Ok(found),
        None => Err(input_error(&format!(
            "`bandwidth` is {}; expected 'auto', 'scott', 'silverman' or a number from 1e-30 to 1e30",
            given.repr()?
        ))),
    }
}

/// The parameters of the estimator that would say so.
pub(crate) fn add_params(params: &Bound<'_, PyDict>, choice: DensityChoice) -> PyResult<()> {
    params.set_item("kernel", choice.kernel.unwrap_or_default().name())?;
    match choice.bandwidth.unwrap_or_default() {
        Bandwidth::CrossValidated => params.set_item("bandwidth", "auto")?,
        Bandwidth::Scott => params.set_item("bandwidth", "scott")?,
        Bandwidth::Silverman => params.set_item("bandwidth", "silverman")?,
        Bandwidth::Given(number) => params.set_item("bandwidth", number)?,
    }
    let scaling = choice.scaling.unwrap_or_default();
    params.set_item("scale", SCALES.iter().find(|(_, have)| *have == scaling).map(|(word, _)| word))?;
    params.set_item("every_row", choice.every_row)?;
    params.set_item("samples", choice.samples)?;
    params.set_item("seed", choice.seed.unwrap_or(0))
}

/// What was learned, by the names of the attributes.
pub(crate) fn add_facts(dict: &Bound<'_, PyDict>, facts: &DensityFacts) -> PyResult<()> {
    dict.set_item("bandwidth", facts.bandwidth)?;
    let tried: Vec<f64> = facts.bandwidths_tried.iter().flat_map(|&(h, score)| [h, score]).collect();
    let curve = PyArray1::from_vec(dict.py(), tried).reshape([facts.bandwidths_tried.len(), 2])?;
    dict.set_item("bandwidth_curve", curve)?;
    dict.set_item("rows_used", facts.rows_used)?;
    dict.set_item("log_unit", facts.log_unit)
}
