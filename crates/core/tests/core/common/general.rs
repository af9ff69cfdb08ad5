//! From a sample to values for general inputs, for short tests.

use crate::common::{CENTRED, Data, UNCENTRED, fit};
use dshap::linear::{FitOptions, GeneralOptions, GeneralValuer, GeneralValues};
use dshap::{Error, Sizes};
use dshap_testkit::Sample;

pub(crate) const REFITTED: FitOptions =
    FitOptions { intercept: true, refit_intercept: true, allow_dependent: true };
pub(crate) const KINDS: [FitOptions; 3] = [CENTRED, UNCENTRED, REFITTED];

pub(crate) fn try_general(
    sample: &Sample,
    how: FitOptions,
    sizes: (usize, usize),
    options: GeneralOptions,
) -> Result<GeneralValuer, Error> {
    let data = Data::of(sample);
    GeneralValuer::new(fit(sample, how), data.rows(), Sizes::new(sizes.0, sizes.1), options)
}

#[track_caller]
pub(crate) fn general(
    sample: &Sample,
    how: FitOptions,
    sizes: (usize, usize),
    options: GeneralOptions,
) -> GeneralValuer {
    try_general(sample, how, sizes, options).unwrap_or_else(|error| panic!("{how:?} {sizes:?}: {error}"))
}

#[track_caller]
pub(crate) fn values(valuer: &GeneralValuer, points: &Sample) -> GeneralValues {
    valuer.values(Data::of(points).rows(), &|_, _| true).unwrap()
}

#[track_caller]
pub(crate) fn left_out(valuer: &GeneralValuer) -> GeneralValues {
    valuer.leave_one_out(&|_, _| true).unwrap()
}

/// This many rounds, whatever the errors.
pub(crate) fn rounds(n: usize, ridge: f64, seed: u64) -> GeneralOptions {
    GeneralOptions { ridge, tolerance: 0.0, min_rounds: n, max_rounds: n, seed, ..GeneralOptions::default() }
}

/// Features of unlike units, correlated and off centre.
pub(crate) fn unlike(seed: u64, n: usize, p: usize) -> Sample {
    let mut sample = Sample::gaussian(seed, n, p, 0.9);
    for j in 1..p {
        let before = sample.columns[j - 1].clone();
        sample.columns[j].iter_mut().zip(before).for_each(|(x, before)| *x += 0.7 * before);
    }
    let units = [1.0, 30.0, 0.2];
    for (j, column) in sample.columns.iter_mut().enumerate() {
        column.iter_mut().for_each(|x| *x = (*x + 0.3 * j as f64) * units[j % 3]);
    }
    sample.y.iter_mut().for_each(|y| *y += 0.8);
    sample
}
