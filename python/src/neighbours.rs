//! What only nearest neighbours have: their parameters, and what is learned.

use crate::params::Reader;
use dshap::neighbours::{DEFAULT_K, Metric, Scale};
use dshap_run::{MethodChoice, MethodName, NeighbourChoice, NeighbourFacts};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::PyDict;

const METRICS: [(&str, Metric); 3] =
    [("euclidean", Metric::Euclidean), ("manhattan", Metric::Manhattan), ("cosine", Metric::Cosine)];

/// How columns are made comparable, by the words for it.
const SCALES: [(&str, Scale); 2] = [("std", Scale::Standard), ("none", Scale::AsGiven)];

/// What an estimator says about neighbours, and what that leaves to be said about
/// its method. What it says by default is left unsaid.
pub(crate) fn choice(
    read: &Reader<'_, '_>,
    mut choice: MethodChoice,
) -> PyResult<(MethodChoice, NeighbourChoice)> {
    let by_neighbours = choice.name.is_some_and(|name| MethodName::OF_NEIGHBOURS.contains(&name));
    let (metric, scale) = (read.word("metric", &METRICS)?, read.word("scale", &SCALES)?);
    choice.k = read.size("k")?.filter(|k| by_neighbours || *k != DEFAULT_K);
    let mut neighbours = NeighbourChoice {
        metric: Some(metric).filter(|metric| *metric != Metric::default()),
        scale: Some(scale).filter(|scale| *scale != Scale::default()),
        ..NeighbourChoice::default()
    };
    if by_neighbours {
        // Here samples are test rows.
        choice.samples = None;
        neighbours.samples = read.size("samples")?;
        neighbours.seed = choice.seed.filter(|seed| *seed != 0);
    }
    Ok((choice, neighbours))
}

/// The parameters of the estimator that would say so.
pub(crate) fn add_params(params: &Bound<'_, PyDict>, choice: &NeighbourChoice) -> PyResult<()> {
    let (metric, scale) = (choice.metric.unwrap_or_default(), choice.scale.unwrap_or_default());
    params.set_item("metric", METRICS.iter().find(|(_, have)| *have == metric).map(|(word, _)| word))?;
    params.set_item("scale", SCALES.iter().find(|(_, have)| *have == scale).map(|(word, _)| word))?;
    params.set_item("samples", choice.samples)?;
    params.set_item("seed", choice.seed.unwrap_or(0))
}

/// What was learned, by the names of the attributes.
pub(crate) fn add_facts(dict: &Bound<'_, PyDict>, facts: &NeighbourFacts) -> PyResult<()> {
    dict.set_item("test_rows", facts.test_rows)?;
    if !facts.label_rows.is_empty() {
        let rows: Vec<i64> = facts.label_rows.iter().map(|&rows| rows as i64).collect();
        dict.set_item("label_rows", rows.into_pyarray(dict.py()))?;
    }
    Ok(())
}
