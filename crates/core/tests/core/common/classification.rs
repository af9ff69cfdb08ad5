//! From drawn labels to a logistic fit, for short tests.

use dshap::classification::{
    ClassificationMethod, ClassificationValuer, Irls, LogisticFit, LogisticOptions, Step,
};
use dshap::{Error, Rows, Sizes};
use dshap_testkit::{Draws, Sample};
use faer::Mat;

pub(crate) const PLAIN: LogisticOptions = LogisticOptions {
    intercept: true,
    ridge: 0.0,
    standardised: false,
    allow_dependent: true,
    max_passes: 100,
};
pub(crate) const NO_INTERCEPT: LogisticOptions = LogisticOptions { intercept: false, ..PLAIN };

/// `n` rows with standard normal features that are mixed a little, and labels
/// drawn from a logistic model with these coefficients, the intercept first.
pub(crate) fn labelled(seed: u64, n: usize, beta: &[f64]) -> Sample {
    let mut draws = Draws::new(seed);
    let p = beta.len() - 1;
    let mut columns = vec![Vec::with_capacity(n); p];
    let mut y = Vec::with_capacity(n);
    for _ in 0..n {
        let u: Vec<f64> = (0..p).map(|_| draws.normal()).collect();
        let x: Vec<f64> = (0..p).map(|j| u[j] + if j > 0 { 0.5 * u[j - 1] } else { 0.0 }).collect();
        let eta = beta[0] + x.iter().zip(&beta[1..]).map(|(x, b)| x * b).sum::<f64>();
        y.push(f64::from(u8::from(draws.uniform() < 1.0 / (1.0 + (-eta).exp()))));
        columns.iter_mut().zip(x).for_each(|(column, x)| column.push(x));
    }
    Sample { columns, y }
}

/// The same with every column divided by its deviation: from its mean, or from 0.
pub(crate) fn standardised(sample: &Sample, is_centred: bool) -> Sample {
    let mut scaled = sample.clone();
    for column in &mut scaled.columns {
        let n = column.len() as f64;
        let mean = if is_centred { column.iter().sum::<f64>() / n } else { 0.0 };
        let deviation = (column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        column.iter_mut().for_each(|x| *x /= deviation);
    }
    scaled
}

/// A matrix of rows and their labels.
pub(crate) fn table(sample: &Sample) -> (Mat<f64>, Vec<f64>) {
    (Mat::from_fn(sample.n_rows(), sample.columns.len(), |i, j| sample.columns[j][i]), sample.y.clone())
}

pub(crate) fn try_logistic(sample: &Sample, options: LogisticOptions) -> Result<LogisticFit, Error> {
    let (x, y) = table(sample);
    LogisticFit::of(Rows::new(x.as_ref(), &y)?, options)
}

#[track_caller]
pub(crate) fn logistic(sample: &Sample, options: LogisticOptions) -> LogisticFit {
    try_logistic(sample, options).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

/// Fits rows that come in chunks of this many.
pub(crate) fn in_chunks(
    rows: Rows<'_>,
    chunk: usize,
    options: LogisticOptions,
) -> Result<LogisticFit, Error> {
    let mut irls = Irls::new(rows.n_features(), options)?;
    loop {
        let mut pass = irls.begin_pass();
        for start in (0..rows.len()).step_by(chunk) {
            pass.push(rows.slice(start, chunk.min(rows.len() - start)))?;
        }
        if let Step::Converged(fit) = irls.finish_pass(pass)? {
            return Ok(*fit);
        }
    }
}

#[track_caller]
pub(crate) fn valuer(
    sample: &Sample,
    options: LogisticOptions,
    sizes: (usize, usize),
) -> ClassificationValuer {
    let sizes = Sizes::new(sizes.0, sizes.1);
    ClassificationValuer::new(logistic(sample, options), sizes, ClassificationMethod::default())
        .unwrap_or_else(|error| panic!("{sizes:?}: {error}"))
}
