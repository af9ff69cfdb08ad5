//! Calibrated and plain Gaussian values against the general form, on six input distributions.

use crate::common::{CENTRED, Data, fit};
use dshap::linear::{DistanceTable, GeneralOptions, GeneralValuer, LinearMethod, LinearValuer};
use dshap::{Sizes, Valuer};
use dshap_testkit::{Draws, Sample, assert_same_bits};

const P: usize = 4;
const N: usize = 1500;

/// A draw with mean 0 and variance 1.
type Input = (&'static str, fn(&mut Draws) -> f64);

const INPUTS: [Input; 6] = [
    ("gaussian", |draws| draws.normal()),
    ("uniform", |draws| 12_f64.sqrt() * (draws.uniform() - 0.5)),
    ("two-point", |draws| if draws.uniform() < 0.5 { -1.0 } else { 1.0 }),
    ("Student t, 5", |draws| {
        let chi_sq: f64 = (0..5).map(|_| draws.normal().powi(2)).sum();
        draws.normal() / (chi_sq / 5.0).sqrt() / (5.0_f64 / 3.0).sqrt()
    }),
    ("exponential", |draws| -(1.0 - draws.uniform()).ln() - 1.0),
    ("Laplace", |draws| {
        let size = -(1.0 - draws.uniform()).ln() / 2_f64.sqrt();
        if draws.uniform() < 0.5 { -size } else { size }
    }),
];

fn sample(input: fn(&mut Draws) -> f64, seed: u64) -> Sample {
    sample_of(input, seed, N)
}

fn sample_of(input: fn(&mut Draws) -> f64, seed: u64, n: usize) -> Sample {
    let mut draws = Draws::new(seed);
    let columns: Vec<Vec<f64>> = (0..P).map(|_| (0..n).map(|_| input(&mut draws)).collect()).collect();
    let y = (0..n).map(|i| columns.iter().map(|c| c[i]).sum::<f64>() + draws.normal()).collect();
    Sample { columns, y }
}

fn distances(sample: &Sample) -> DistanceTable {
    let mut table = DistanceTable::new();
    table.add(&LinearValuer::distances(&fit(sample, CENTRED), Data::of(sample).rows()).unwrap(), None);
    table
}

/// Root mean square of the differences, as a share of the spread of the exact ones.
fn error(found: &[f64], exact: &[f64]) -> f64 {
    let n = exact.len() as f64;
    let mean = exact.iter().sum::<f64>() / n;
    let spread = exact.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    let off = found.iter().zip(exact).map(|(f, e)| (f - e).powi(2)).sum::<f64>();
    (off / spread).sqrt()
}

/// The general form is itself off by about 3p/n (1 %) and by its draws (2 %), so smaller
/// errors are invisible.
#[test]
fn calibration_makes_up_for_inputs_that_are_not_gaussian() {
    let sizes = Sizes::new(20, 150);
    let mut n_helped = 0;
    for (k, (name, input)) in INPUTS.iter().enumerate() {
        let sample = sample(*input, 40 + k as u64);
        let data = Data::of(&sample);
        let points = data.rows().slice(0, 300);
        let options = GeneralOptions { tolerance: 0.01, max_rounds: 400, ..GeneralOptions::default() };
        let general = GeneralValuer::new(fit(&sample, CENTRED), data.rows(), sizes, options).unwrap();
        let exact = general.values(points, &|_, _| true).unwrap().values.value;
        let gaussian = LinearValuer::new(fit(&sample, CENTRED), sizes, LinearMethod::default()).unwrap();
        let calibrated = LinearValuer::calibrated(fit(&sample, CENTRED), sizes, &distances(&sample)).unwrap();
        let plain = error(&gaussian.values(points).unwrap().value, &exact);
        let better = error(&calibrated.values(points).unwrap().value, &exact);
        println!("{name}: gaussian {plain:.3}, calibrated {better:.3}");
        assert!(better < 0.07, "{name}: calibrated is off by {better:.3}");
        if plain > 0.1 {
            n_helped += 1;
            assert!(better < 0.6 * plain, "{name}: {better:.3}, plain {plain:.3}");
        }
    }
    assert!(n_helped >= 3, "only {n_helped} inputs were far from Gaussian");
}

#[test]
fn gaussian_inputs_need_no_calibration() {
    let sample = sample(INPUTS[0].1, 7);
    let data = Data::of(&sample);
    let sizes = Sizes::new(20, 1000);
    let calibrated = LinearValuer::calibrated(fit(&sample, CENTRED), sizes, &distances(&sample)).unwrap();
    let plain = LinearValuer::new(fit(&sample, CENTRED), sizes, LinearMethod::default()).unwrap();
    let (found, expected) = (calibrated.values(data.rows()).unwrap(), plain.values(data.rows()).unwrap());
    assert!(error(&found.value, &expected.value) < 0.02);
}

/// Values have their parts and standard errors, also from a table that was saved and
/// loaded.
#[test]
fn a_calibration_survives_being_put_away() {
    let sample = sample(INPUTS[1].1, 8);
    let data = Data::of(&sample);
    let sizes = Sizes::new(20, 100);
    let value = |table: &DistanceTable| {
        let valuer = LinearValuer::calibrated(fit(&sample, CENTRED), sizes, table).unwrap();
        valuer.with_std_error(true).leave_one_out(data.rows(), 0).unwrap()
    };
    let table = distances(&sample);
    let again = DistanceTable::from_parts(&table.to_parts()).unwrap();
    let (found, expected) = (value(&again), value(&table));
    assert_same_bits(&found.value, &expected.value, "values");
    assert!(found.std_error.unwrap().iter().all(|error| *error > 0.0));
    let sides = |part| found.parts.iter().find(|(name, _)| *name == part).unwrap().1[3];
    let value = found.value[3];
    assert!(
        (sides(dshap::Part::Potential) - sides(dshap::Part::Penalty) - value).abs() < 1e-12 * value.abs()
    );
}

/// Inputs that are far from Gaussian are noticed if there are enough rows for the
/// difference to exceed the standard errors; Gaussian ones are not.
#[test]
fn inputs_that_are_not_gaussian_are_noticed() {
    let warning = |input, n: usize| {
        let sample = sample_of(input, 60, n);
        let data = Data::of(&sample);
        let sizes = Sizes::new(20, 150);
        let valuer = LinearValuer::new(fit(&sample, CENTRED), sizes, LinearMethod::default()).unwrap();
        valuer.check_inputs(data.rows()).unwrap()
    };
    for (name, input) in INPUTS {
        let found = warning(input, 20_000);
        println!("{name}: {found:?}");
        assert_eq!(found.is_some(), name != "gaussian", "{name}: {found:?}");
        assert_eq!(warning(input, 40), None, "too few to tell");
    }
}
