//! Curves of values that someone else computed.

use crate::common::{Folder, given, numbers};
use dshap_io::Source;
use dshap_run::{Error, Unwatched};
use dshap_testkit::assert_same_bits;
use dshap_trials::{Curve, Experiment, GivenCurves, GivenValues, Order, curves_of};

fn try_curves(
    n: usize,
    value: Vec<f64>,
    experiment: Experiment,
    options: &str,
) -> Result<GivenCurves, Error> {
    let folder = Folder::new();
    let open = |name: &str, text: &str| Source::open(&[folder.write(name, text)]).unwrap();
    let (points, test) = (open("t.csv", &numbers(1, n)), open("test.csv", &numbers(2, 50)));
    let values = [GivenValues { name: "mine".into(), value }];
    curves_of((&points, &test), &given(options), &values, experiment, 2, &Unwatched)
}

fn curves(value: Vec<f64>, experiment: Experiment) -> Vec<Curve> {
    try_curves(value.len(), value, experiment, "target=y").unwrap().curves
}

/// Rows of one value come in the random orders of chance, not in that of the file.
#[test]
fn values_that_are_all_the_same_have_the_curves_of_chance() {
    for experiment in [Experiment::Addition, Experiment::Removal] {
        for value in [vec![0.5; 40], vec![f64::NAN; 40]] {
            let found = curves(value, experiment);
            let [high, low, chance] = found.as_slice() else { panic!("three curves: {found:?}") };
            assert_eq!((high.order, low.order, chance.order), (Order::High, Order::Low, Order::Random));
            assert_same_bits(&high.height, &chance.height, "high");
            assert_same_bits(&low.height, &chance.height, "low");
        }
    }
}

/// Two values: those of the higher are removed first, whatever their places.
#[test]
fn ties_do_not_mix_with_other_values() {
    let value: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
    let found = curves(value, Experiment::Removal);
    // With 20 rows removed from either end the others are left, so both orders of ties end in one set.
    let at_half = |curve: &Curve| curve.height[curve.n_rows.iter().position(|n| *n == 20).unwrap()];
    let rest: Vec<f64> = (0..40).map(|row| f64::from(row % 2) + f64::from(row) * 1e-3).collect();
    let told_apart = curves(rest, Experiment::Removal);
    for (tied, untied) in found.iter().zip(&told_apart).take(2) {
        assert!((at_half(tied) - at_half(untied)).abs() < 1e-9, "{:?}", tied.order);
    }
}

#[test]
fn one_value_per_row_is_needed() {
    let refused = try_curves(40, vec![0.5; 39], Experiment::Addition, "target=y");
    assert!(matches!(refused, Err(Error::ValueCount { found: 39, n_rows: 40, .. })), "{refused:?}");
}

/// Curves take the options of `loo`, and no others.
#[test]
fn curves_take_the_options_of_their_models() {
    let of = |options| try_curves(40, vec![0.5; 40], Experiment::Addition, options);
    let (plain, ridged) = (of("target=y").unwrap(), of("target=y ridge=50").unwrap());
    assert_eq!((plain.task, plain.utility), ("regression", "squared-error"));
    assert_ne!(plain.utility_of_all, ridged.utility_of_all);
    for refused in ["target=y k=3", "target=y q=12", "target=y utility=accuracy"] {
        assert!(matches!(of(refused), Err(Error::Misuse(_))), "{refused}");
    }
    assert!(matches!(of("target=y weight=b"), Err(Error::WeightsInTrial)));
}
