//! Curves of values that someone else computed.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod common;

use common::Folder;
use dshap_evaluate::{Curve, Experiment, Order};
use dshap_io::Source;
use dshap_run::{GivenValues, MethodChoice, Model, Said, Unwatched, curves_of};
use dshap_testkit::{Draws, assert_same_bits};
use std::fmt::Write;

fn table(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("a,b,y\n");
    for _ in 0..n {
        let [a, b] = [draws.normal(), draws.normal()];
        let _ = writeln!(csv, "{a},{b},{}", 2.0 * a - b + draws.normal());
    }
    csv
}

fn curves(value: Vec<f64>, experiment: Experiment) -> Vec<Curve> {
    let folder = Folder::new();
    let open = |name: &str, text: &str| Source::open(&[folder.write(name, text)]).unwrap();
    let (points, test) = (open("t.csv", &table(1, value.len())), open("test.csv", &table(2, 50)));
    let said = Said { model: Model::new("y"), choice: MethodChoice::default(), scale: None, dependent: None };
    let values = [GivenValues { name: "mine".into(), value }];
    curves_of((&points, &test), &said, &values, experiment, 2, &Unwatched).unwrap().curves
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
