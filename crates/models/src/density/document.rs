//! What the valuer file of a density holds.

use super::DensityModel;
use super::options::{bandwidth_word, options, scale_word};
use crate::columns::ColumnStats;
use crate::file::{Arrays, Reading, named};
use dshap::density::{Bandwidth, DensityFit, DensityParts, Kernel, Scaling, Trial};
use dshap_catalogue::options::{BANDWIDTH, EVERY_ROW, KERNEL, SAMPLES, SCALE, SEED};
use dshap_catalogue::{Given, OptionEntry, Value};
use dshap_table::Design;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A smoothed reference without its arrays.
#[derive(Serialize, Deserialize)]
pub(crate) struct DensityDocument {
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
    /// Absent if they were not given.
    samples: Option<usize>,
    seed: Option<u64>,
    /// Design columns that vary.
    kept: Vec<usize>,
}

/// What stands in the file of a density.
pub(super) fn write(model: &DensityModel) -> (DensityDocument, Arrays) {
    let parts = model.fit.to_parts();
    let options = options(&model.given);
    let known = |score: f64| score.is_finite().then_some(score);
    let document = DensityDocument {
        n_reference: model.n_reference,
        kernel: parts.kernel.name().into(),
        bandwidth: parts.bandwidth,
        bandwidth_from: bandwidth_word(options.bandwidth).into(),
        tried: parts.curve.iter().map(|trial| (trial.bandwidth, known(trial.score))).collect(),
        scale: scale_word(options.scaling).into(),
        every_row: model.given.has(&EVERY_ROW),
        tree: parts.tree,
        samples: model.given.size(&SAMPLES),
        seed: model.given.count(&SEED),
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

/// The density in a file; `given` receives the options it was fitted with.
///
/// # Errors
///
/// What does not fit together.
pub(crate) fn parse(
    design: &Design,
    stored: DensityDocument,
    given: &mut Given,
    arrays: &mut Reading<'_>,
) -> Result<DensityModel, String> {
    if design.target().is_some() {
        return Err("its design has a target, but a density has none".into());
    }
    let fitted_with = given_for(&stored)?;
    let kernel = options(&fitted_with).kernel;
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
    if !columns.is_sound(n_columns) {
        return Err("the means of its columns do not add up".into());
    }
    if fit.n_rows() > stored.n_reference {
        return Err("it holds more rows than its reference has".into());
    }
    let sampled = arrays.take_if_there("density.sampled");
    let sampled = sampled.map(|numbers| numbered(&numbers, &fit, stored.n_reference)).transpose()?;
    // The seed of a method that draws stands beside the method.
    *given = given.or(&fitted_with);
    Ok(DensityModel {
        fit: Arc::new(fit),
        given: fitted_with,
        columns,
        n_reference: stored.n_reference,
        sampled,
    })
}

/// The options that a density was fitted with; those that are the default are
/// absent, and so are those that were not given.
fn given_for(stored: &DensityDocument) -> Result<Given, String> {
    let unknown = |what: &str, word: &str| format!("its {what} `{word}` is unknown");
    let kernel = Kernel::ALL.into_iter().find(|kernel| kernel.name() == stored.kernel);
    let kernel = kernel.ok_or_else(|| unknown("kernel", &stored.kernel))?;
    let from = [
        Bandwidth::CrossValidated,
        Bandwidth::Grid,
        Bandwidth::Scott,
        Bandwidth::Silverman,
        Bandwidth::Given(stored.bandwidth),
    ];
    let bandwidth = from.into_iter().find(|from| bandwidth_word(*from) == stored.bandwidth_from);
    let bandwidth = bandwidth.ok_or_else(|| unknown("bandwidth", &stored.bandwidth_from))?;
    let scaling = [Scaling::Standard, Scaling::None];
    let scaling = scaling.into_iter().find(|scaling| scale_word(*scaling) == stored.scale);
    let scaling = scaling.ok_or_else(|| unknown("scale", &stored.scale))?;

    let mut given = Given::new();
    let mut set = |option: &'static OptionEntry, value: Option<Value>| match value {
        None => Ok(()),
        Some(value) => given.set(option, value).map_err(|_| format!("its {} makes no sense", option.name)),
    };
    set(&KERNEL, (kernel != Kernel::default()).then(|| Value::Word(kernel.name().into())))?;
    set(
        &BANDWIDTH,
        match bandwidth {
            Bandwidth::CrossValidated => None,
            Bandwidth::Given(bandwidth) => Some(Value::Number(bandwidth)),
            rule => Some(Value::Word(bandwidth_word(rule).into())),
        },
    )?;
    set(&SCALE, (scaling != Scaling::default()).then(|| Value::Word(scale_word(scaling).into())))?;
    set(&EVERY_ROW, stored.every_row.then_some(Value::On))?;
    set(&SAMPLES, stored.samples.map(|samples| Value::Count(samples as u64)))?;
    set(&SEED, stored.seed.map(Value::Count))?;
    Ok(given)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> DensityDocument {
        DensityDocument {
            n_reference: 3,
            kernel: "triangular".into(),
            bandwidth: 0.5,
            bandwidth_from: "given".into(),
            tried: Vec::new(),
            scale: "none".into(),
            every_row: true,
            tree: false,
            samples: Some(7),
            seed: Some(0),
            kept: vec![0],
        }
    }

    #[test]
    fn options_are_those_of_the_fit_and_defaults_are_absent() {
        let given = given_for(&stored()).expect("a sound document");
        let names: Vec<&str> = given.options().map(|option| option.name).collect();
        assert_eq!(names, ["bandwidth", "every_row", "kernel", "samples", "scale", "seed"]);
        assert_eq!(options(&given).bandwidth, Bandwidth::Given(0.5));
        let plain = DensityDocument {
            kernel: "gaussian".into(),
            bandwidth_from: "cross-validated".into(),
            scale: "std".into(),
            every_row: false,
            samples: None,
            seed: None,
            ..stored()
        };
        assert_eq!(given_for(&plain), Ok(Given::new()));
    }

    #[test]
    fn words_that_nobody_wrote_are_refused() {
        let wrong = [
            DensityDocument { kernel: "Gaussian".into(), ..stored() },
            DensityDocument { bandwidth_from: "auto".into(), ..stored() },
            DensityDocument { scale: "".into(), ..stored() },
            DensityDocument { bandwidth: f64::NAN, ..stored() },
            DensityDocument { samples: Some(0), ..stored() },
        ];
        assert!(wrong.iter().all(|stored| given_for(stored).is_err()));
    }
}
