//! From a drawn sample to a valuer, for short tests.

pub(crate) mod classification;
pub(crate) mod density;
pub(crate) mod general;
pub(crate) mod neighbours;
pub(crate) mod owners;
pub(crate) mod ridge;
pub(crate) mod second_order;
pub(crate) mod softmax;

use dshap::linear::{Constant, Convention, FitOptions, LinearFit, LinearMethod, LinearValuer};
use dshap::{Error, Moments, Rows, Sizes};
use dshap_testkit::Sample;
use faer::Mat;
use proptest::test_runner::{Config, FileFailurePersistence};

pub(crate) const CENTRED: FitOptions =
    FitOptions { intercept: true, refit_intercept: false, allow_dependent: true };
pub(crate) const UNCENTRED: FitOptions =
    FitOptions { intercept: false, refit_intercept: false, allow_dependent: true };

/// A sample in core's types.
pub(crate) struct Data {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
}

impl Data {
    pub(crate) fn of(sample: &Sample) -> Self {
        let x = Mat::from_fn(sample.n_rows(), sample.columns.len(), |i, j| sample.columns[j][i]);
        Self { x, y: sample.y.clone() }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).expect("a sample has one target per row")
    }
}

pub(crate) fn moments(sample: &Sample) -> Moments {
    Moments::of(Data::of(sample).rows()).expect("the sample is finite")
}

pub(crate) fn try_fit(sample: &Sample, options: FitOptions) -> Result<LinearFit, Error> {
    LinearFit::new(&moments(sample), options)
}

#[track_caller]
pub(crate) fn fit(sample: &Sample, options: FitOptions) -> LinearFit {
    try_fit(sample, options).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

/// A valuer by `method` that reports standard errors.
#[track_caller]
pub(crate) fn valuer(
    sample: &Sample,
    options: FitOptions,
    sizes: Sizes,
    method: LinearMethod,
) -> LinearValuer {
    let valuer = LinearValuer::new(fit(sample, options), sizes, method);
    valuer.unwrap_or_else(|error| panic!("{sizes:?}: {error}")).with_std_error(true)
}

#[track_caller]
pub(crate) fn gain_valuer(sample: &Sample, options: FitOptions, sizes: Sizes) -> LinearValuer {
    valuer(sample, options, sizes, LinearMethod::default())
}

pub(crate) fn theorem() -> LinearMethod {
    LinearMethod::Gaussian { constant: Constant::Theorem, convention: Convention::Definition }
}

/// A property tried `n` times; failures are saved beside the test and tried first.
pub(crate) fn cases(n: u32) -> Config {
    let persistence = FileFailurePersistence::WithSource("regressions");
    Config { cases: n, failure_persistence: Some(Box::new(persistence)), ..Config::default() }
}
