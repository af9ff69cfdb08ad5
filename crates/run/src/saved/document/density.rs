//! What the valuer file of a density holds.

use super::{Arrays, Taking, named};
use crate::density_choice::DensityChoice;
use crate::density_facts::{bandwidth_word, scale_word};
use crate::fitted::{ColumnStats, DensityModel};
use dshap::density::{Bandwidth, DensityFit, DensityParts, Kernel, Scaling, Trial};
use dshap_table::Design;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
pub(super) struct DensityDocument {
    /// Rows of the reference, of which the file may hold a sample.
    n_reference: usize,
    kernel: String,
    bandwidth: f64,
    /// How it was found: `cross-validated`, `scott`, `silverman` or `given`.
    bandwidth_from: String,
    /// Bandwidths and how well they did; those that failed have no number.
    tried: Vec<(f64, Option<f64>)>,
    /// `std` or `none`.
    scale: String,
    every_row: bool,
    tree: bool,
    /// As far as they were given.
    samples: Option<usize>,
    seed: Option<u64>,
    /// Design columns that vary.
    kept: Vec<usize>,
}

pub(super) fn write(model: &DensityModel) -> (DensityDocument, Arrays) {
    let parts = model.fit.to_parts();
    let options = model.choice.options();
    let known = |score: f64| score.is_finite().then_some(score);
    let document = DensityDocument {
        n_reference: model.n_reference,
        kernel: parts.kernel.name().into(),
        bandwidth: parts.bandwidth,
        bandwidth_from: bandwidth_word(options.bandwidth).into(),
        tried: parts.curve.iter().map(|trial| (trial.bandwidth, known(trial.score))).collect(),
        scale: scale_word(options.scaling).into(),
        every_row: model.choice.every_row,
        tree: parts.tree,
        samples: model.choice.samples,
        seed: model.choice.seed,
        kept: parts.kept,
    };
    let mut arrays = vec![
        named("columns.mean", model.columns.mean.clone()),
        named("columns.std_dev", model.columns.std_dev.clone()),
        named("density.centre", parts.centre),
        named("density.factor", parts.factor),
        named("density.rows", parts.rows),
    ];
    if let Some(sampled) = &model.sampled {
        arrays.push(named("density.sampled", sampled.iter().map(|&number| number as f64).collect()));
    }
    (document, arrays)
}

pub(super) fn parse(
    design: &Design,
    stored: DensityDocument,
    arrays: &mut Taking<'_>,
) -> Result<DensityModel, String> {
    if design.target().is_some() {
        return Err("its design has a target, which a density has not".into());
    }
    let unknown = |what: &str, word: &str| format!("its {what} `{word}` is unknown");
    let kernel = Kernel::ALL.into_iter().find(|kernel| kernel.name() == stored.kernel);
    let kernel = kernel.ok_or_else(|| unknown("kernel", &stored.kernel))?;
    let from = [
        Bandwidth::CrossValidated,
        Bandwidth::Scott,
        Bandwidth::Silverman,
        Bandwidth::Given(stored.bandwidth),
    ];
    let bandwidth = from.into_iter().find(|from| bandwidth_word(*from) == stored.bandwidth_from);
    let bandwidth = bandwidth.ok_or_else(|| unknown("bandwidth", &stored.bandwidth_from))?;
    let scaling = [Scaling::Standard, Scaling::None];
    let scaling = scaling.into_iter().find(|scaling| scale_word(*scaling) == stored.scale);
    let scaling = scaling.ok_or_else(|| unknown("scale", &stored.scale))?;
    let trial = |(bandwidth, score): (f64, Option<f64>)| Trial {
        bandwidth,
        score: score.unwrap_or(f64::NEG_INFINITY),
    };
    let n_columns = design.n_columns();
    let fit = DensityFit::from_parts(DensityParts {
        n_features: n_columns,
        kept: stored.kept,
        centre: arrays.take("density.centre")?,
        factor: arrays.take("density.factor")?,
        kernel,
        bandwidth: stored.bandwidth,
        curve: stored.tried.into_iter().map(trial).collect(),
        tree: stored.tree,
        rows: arrays.take("density.rows")?,
    })
    .map_err(|error| error.to_string())?;
    let columns =
        ColumnStats { mean: arrays.take("columns.mean")?, std_dev: arrays.take("columns.std_dev")? };
    let is_sound = |numbers: &[f64]| numbers.len() == n_columns && numbers.iter().all(|x| x.is_finite());
    if !is_sound(&columns.mean) || !is_sound(&columns.std_dev) {
        return Err("the means of its columns do not add up".into());
    }
    if fit.n_rows() > stored.n_reference {
        return Err("it holds more rows than its reference has".into());
    }
    let sampled = arrays.take_if_there("density.sampled");
    let sampled = sampled.map(|numbers| numbered(&numbers, &fit, stored.n_reference)).transpose()?;
    let choice = DensityChoice {
        kernel: Some(kernel),
        bandwidth: Some(bandwidth),
        scaling: Some(scaling),
        every_row: stored.every_row,
        samples: stored.samples,
        seed: stored.seed,
    };
    Ok(DensityModel { fit: Arc::new(fit), choice, columns, n_reference: stored.n_reference, sampled })
}

/// The numbers of rows of a sample, checked.
fn numbered(numbers: &[f64], fit: &DensityFit, n_reference: usize) -> Result<Arc<[u64]>, String> {
    let is_row = |number: &f64| number.fract() == 0.0 && (0.0..n_reference as f64).contains(number);
    let ascending = numbers.windows(2).all(|pair| pair[0] < pair[1]);
    if numbers.len() != fit.n_rows() || !ascending || !numbers.iter().all(is_row) {
        return Err("the numbers of its rows do not add up".into());
    }
    Ok(numbers.iter().map(|&number| number as u64).collect())
}
