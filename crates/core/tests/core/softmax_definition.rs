//! Softmax values against models of three classes that are actually refitted on drawn
//! sets, their standard errors against the spread over references, and what cannot be
//! valued.

use crate::common::second_order;
use crate::common::softmax;

use dshap::second_order::{
    BootstrapOptions, SecondOrderOneVsRest, SecondOrderOptions, SoftmaxOptions, SoftmaxPasses, SoftmaxValuer,
    Spread, Utility,
};
use dshap::{Error, Note, Part, Rows, Sizes, Valuer};
use dshap_testkit::{Draws, MAX_ABS_Z, MeanEstimate, seeds};
use faer::Mat;
use second_order::{mean_gain, surplus};
use softmax::{ClassKinds, Classes};

const THETA: [[f64; 3]; 2] = [[0.3, 1.0, -0.5], [-0.4, 0.2, 0.9]];

/// Mean gain of each kind and its standard error, with sets of `s` rows that are
/// drawn and refitted.
fn simulated(kinds: &ClassKinds, s: usize, n_sets: usize, seed: u64, which: &[usize]) -> Vec<(f64, f64)> {
    let mut draws = Draws::new(seed);
    let scaled: Vec<f64> = kinds.prob.iter().map(|prob| prob * s as f64).collect();
    let target = kinds.refit(&scaled, &vec![0.0; kinds.x[0].len() * (kinds.n_classes - 1)]);
    let (mut lines, mut gains) = (Vec::with_capacity(n_sets), vec![Vec::with_capacity(n_sets); which.len()]);
    for _ in 0..n_sets {
        let mut counts = kinds.draw(s, &mut draws);
        let own = kinds.refit(&counts, &target);
        let before = kinds.utility(&own);
        for (gains, &kind) in gains.iter_mut().zip(which) {
            counts[kind] += 1.0;
            gains.push(kinds.utility(&kinds.refit(&counts, &own)) - before);
            counts[kind] -= 1.0;
        }
        lines.push(surplus(&counts, &kinds.prob, s));
    }
    gains.iter().map(|gains| mean_gain(&lines, gains)).collect()
}

/// The law `gain = c/s² + O(s⁻³)` at s = 1500, for a model that holds and for one that
/// does not: two settings of seven rows at five standard errors, a false alarm once in
/// 120 000 runs. Without any of the three parts, some row would be off by eight standard
/// errors or more.
#[test]
fn gains_of_refitted_models_follow_the_law() {
    let theta: Vec<Vec<f64>> = THETA.iter().map(|theta| theta.to_vec()).collect();
    for (number, off) in [0.0, 0.5].into_iter().enumerate() {
        for seed in seeds(34_000 + number as u64) {
            let kinds = ClassKinds::new(seed, 7, &theta, off);
            // One class of each position, in turn.
            let which: Vec<usize> = (0..7).map(|position| 3 * position + position % 3).collect();
            let s = 1500;
            let found = simulated(&kinds, s, 4000, seed + 1, &which);
            let (x, y) = (kinds.features(), kinds.labels());
            let points = Rows::new(x.as_ref(), &y).unwrap();
            let rows = points.with_weights(&kinds.prob).unwrap();
            let sizes = Sizes::new(s + 1, s + 1);
            let valuer = SoftmaxValuer::of(rows, 3, sizes, SoftmaxOptions::default()).unwrap();
            let single = valuer.values(points).unwrap();
            let m = (s + 1) as f64;
            let mut power = [0.0_f64; 3];
            for (&kind, &(mean, std_error)) in which.iter().zip(&found) {
                let z = (mean - m * single.value[kind]) / std_error;
                let parts = [Part::Potential, Part::Penalty, Part::Correction];
                for (power, part) in power.iter_mut().zip(parts) {
                    *power = power.max((m * single.part(part).unwrap()[kind] / std_error).abs());
                }
                println!("off {off}, kind {kind}: {mean:.3e} ± {std_error:.1e}, z = {z:.1}");
                assert!(z.abs() < MAX_ABS_Z, "seed {seed}, kind {kind}: z = {z:.1}");
            }
            println!("parts in standard errors: {power:.0?}");
            assert!(power.iter().all(|&power| power > 8.0), "too little power: {power:.1?}");
        }
    }
}

/// At 200 rows, 33 for each coefficient, magnitudes are a little off and the order of
/// rows is right.
#[test]
fn small_sets_rank_rows_as_refits_do() {
    let theta: Vec<Vec<f64>> = THETA.iter().map(|theta| theta.iter().map(|t| 0.6 * t).collect()).collect();
    for seed in seeds(34_200) {
        let kinds = ClassKinds::new(seed, 7, &theta, 0.2);
        let which: Vec<usize> = (0..kinds.prob.len()).collect();
        let s = 200;
        let found = simulated(&kinds, s, 3000, seed + 1, &which);
        let (x, y) = (kinds.features(), kinds.labels());
        let points = Rows::new(x.as_ref(), &y).unwrap();
        let rows = points.with_weights(&kinds.prob).unwrap();
        let sizes = Sizes::new(s + 1, s + 1);
        let single = SoftmaxValuer::of(rows, 3, sizes, SoftmaxOptions::default()).unwrap();
        let single = single.values(points).unwrap().value;
        let n = which.len() as f64;
        let means = (single.iter().sum::<f64>() / n, found.iter().map(|found| found.0).sum::<f64>() / n);
        let (mut aa, mut ab, mut bb) = (0.0, 0.0, 0.0);
        for (formula, found) in single.iter().zip(&found) {
            let (a, b) = (formula - means.0, found.0 - means.1);
            (aa, ab, bb) = (aa + a * a, ab + a * b, bb + b * b);
        }
        let corr = ab / (aa * bb).sqrt();
        println!("s = {s}: correlation {corr:.4}, slope {:.3}", ab / aa / (s + 1) as f64);
        assert!(corr > 0.9, "{corr:.4}");
    }
}

/// As for two classes (`second_order_errors.rs`): 120 references give a deviation to 6.5
/// %, and a quarter is four of those; half as many rows would be 1.4 times as much.
#[test]
fn standard_errors_are_the_spread_over_references() {
    let seed = 34_300;
    let points = Classes::new(seed, 5, &THETA);
    let sizes = Sizes::new(30, 90);
    for softmax in [true, false] {
        let mut spread = vec![MeanEstimate::default(); 5];
        let mut reported = spread.clone();
        for sample in 0..120 {
            let reference = Classes::new(seed + 1 + sample, 600, &THETA);
            let bootstrap = BootstrapOptions { n_replicates: 20, seed: sample };
            let found = if softmax {
                let valuer =
                    SoftmaxValuer::of(reference.rows(), 3, sizes, SoftmaxOptions::default()).unwrap();
                valuer.with_std_error_of(reference.rows(), None, bootstrap).unwrap().values(points.rows())
            } else {
                let (logistic, options) = (Default::default(), SecondOrderOptions::default());
                let valuer =
                    SecondOrderOneVsRest::of_rows(reference.rows(), 3, logistic, sizes, options).unwrap();
                valuer.with_std_error_of(reference.rows(), None, bootstrap).unwrap().values(points.rows())
            };
            let found = found.unwrap();
            for k in 0..5 {
                spread[k].push(found.value[k]);
                reported[k].push(found.std_error.as_ref().unwrap()[k]);
            }
        }
        for k in 0..5 {
            let ratio = reported[k].mean() / spread[k].std_dev();
            println!("softmax {softmax}, point {k}: reported/true = {ratio:.3}");
            assert!((ratio - 1.0).abs() < 0.25, "softmax {softmax}, point {k}: {ratio:.3}");
        }
    }
}

#[test]
fn classes_that_are_told_apart_have_no_fit() {
    let sizes = Sizes::new(20, 60);
    let fit = |classes: &Classes| {
        SoftmaxValuer::of(classes.rows(), 3, sizes, SoftmaxOptions::default()).map(|_| ()).unwrap_err()
    };
    let mut classes = Classes::new(62, 120, &THETA);
    // Complete: the second feature has a range for each class.
    for i in 0..120 {
        classes.x[(i, 1)] = classes.y[i] * 10.0 + 0.01 * i as f64;
    }
    assert_eq!(fit(&classes), Error::ClassesSeparated { column: 1 });
    // Quasi-complete: class 2 is where the second feature is 1, others are at 0, all
    // three overlap in the first one, and one row of another class is at 1.
    let mut classes = Classes::new(63, 120, &THETA);
    for i in 0..120 {
        classes.x[(i, 1)] = f64::from(u8::from(classes.y[i] == 2.0));
    }
    assert_eq!(fit(&classes), Error::ClassesSeparated { column: 1 });
    let one = (0..120).find(|&i| classes.y[i] == 1.0).unwrap();
    classes.x[(one, 1)] = 1.0;
    // Now class 0 is nowhere at 1: still no fit.
    assert_eq!(fit(&classes), Error::ClassesSeparated { column: 1 });
    let zero = (0..120).find(|&i| classes.y[i] == 0.0).unwrap();
    classes.x[(zero, 1)] = 1.0;
    // Class 2 is nowhere at 0.
    assert_eq!(fit(&classes), Error::ClassesSeparated { column: 1 });
    let two = (0..120).find(|&i| classes.y[i] == 2.0).unwrap();
    classes.x[(two, 1)] = 0.0;
    assert!(SoftmaxValuer::of(classes.rows(), 3, sizes, SoftmaxOptions::default()).is_ok());
}

#[test]
fn what_cannot_be_valued_is_refused_with_a_fact() {
    let classes = Classes::new(64, 120, &THETA);
    let of = |n_classes, sizes, options| {
        SoftmaxValuer::of(classes.rows(), n_classes, sizes, options).map(|_| ()).unwrap_err()
    };
    let (sizes, default) = (Sizes::new(20, 60), SoftmaxOptions::default());
    let row = classes.y.iter().position(|&y| y == 2.0).unwrap();
    assert_eq!(of(2, sizes, default), Error::NotAClass { row, n_classes: 2 });
    assert_eq!(of(4, sizes, default), Error::EmptyClass { class: 3 });
    assert_eq!(of(3, Sizes::new(4, 60), default), Error::Sizes { min: 4, max: 60, least: 5, dim: 3 });
    let shifted = SoftmaxOptions { shift: Some(f64::NAN), ..default };
    assert!(matches!(of(3, sizes, shifted), Error::BadOption { .. }));
    assert!(matches!(SoftmaxPasses::new(2, 1, sizes, default), Err(Error::BadOption { .. })));

    let valuer = SoftmaxValuer::of(classes.rows(), 3, sizes, default).unwrap();
    let value = |x: &Mat<f64>, y: &[f64]| valuer.values(Rows::new(x.as_ref(), y).unwrap()).map(|v| v.value);
    let mut x = Mat::zeros(2, 2);
    assert_eq!(value(&x, &[0.0, 3.0]), Err(Error::NotAClass { row: 1, n_classes: 3 }));
    assert_eq!(value(&x, &[0.0, 0.5]), Err(Error::NotAClass { row: 1, n_classes: 3 }));
    x[(1, 0)] = f64::NAN;
    assert_eq!(value(&x, &[0.0, 1.0]), Err(Error::NotFinite { row: 1, column: 0 }));
    x[(1, 0)] = 1e200;
    assert_eq!(value(&x, &[0.0, 1.0]), Err(Error::TooLarge));
    assert_eq!(value(&Mat::zeros(1, 1), &[0.0]), Err(Error::FeatureCount { found: 1, expected: 2 }));
    assert_eq!(value(&Mat::zeros(0, 2), &[]), Ok(Vec::new()));
    // Far out a fit is certain, and nothing is divided by a probability; rows that
    // contradict it are beyond second order.
    let far = Mat::from_fn(3, 2, |i, j| [[1e4, -1e4], [-1e5, 1e5], [0.0, 0.0]][i][j]);
    let mut n_finite = [0; 3];
    for class in 0..3 {
        let found = valuer.values(Rows::new(far.as_ref(), &[class as f64; 3]).unwrap()).unwrap();
        for (i, value) in found.value.iter().enumerate() {
            assert_eq!(value.is_nan(), found.notes.contains(&(i, Note::TooFar)), "{value}");
            n_finite[i] += usize::from(value.is_finite());
        }
    }
    assert_eq!(n_finite, [1, 1, 3]);

    let mut parts = valuer.to_parts();
    parts.bias.pop();
    assert!(matches!(SoftmaxValuer::from_parts(parts), Err(Error::Contradiction { .. })));
    let mut parts = valuer.to_parts();
    parts.spread[3] = f64::INFINITY;
    assert!(matches!(SoftmaxValuer::from_parts(parts), Err(Error::Contradiction { .. })));
    let mut parts = valuer.to_parts();
    parts.inverse.push(0.0);
    assert!(matches!(SoftmaxValuer::from_parts(parts), Err(Error::Contradiction { .. })));
}

/// Every utility, with and without a ridge.
#[test]
fn one_against_the_others_goes_with_every_utility() {
    let classes = Classes::new(66, 300, &THETA);
    for utility in [Utility::LogLoss, Utility::Accuracy, Utility::Brier] {
        for ridge in [0.0, 2.0] {
            let logistic = dshap::classification::LogisticOptions { ridge, ..Default::default() };
            let options = SecondOrderOptions { utility, spread: Spread::Sandwich, ..Default::default() };
            let all =
                SecondOrderOneVsRest::of_rows(classes.rows(), 3, logistic, Sizes::new(25, 200), options)
                    .unwrap();
            let found = all.with_sizes(Sizes::new(30, 90)).unwrap().leave_one_out(classes.rows()).unwrap();
            assert!(found.value.iter().all(|value| value.is_finite()));
        }
    }
    let wrong = SecondOrderOneVsRest::of_rows(
        classes.rows(),
        2,
        Default::default(),
        Sizes::new(25, 200),
        SecondOrderOptions::default(),
    );
    assert!(matches!(wrong, Err(Error::NotAClass { .. })));
}
