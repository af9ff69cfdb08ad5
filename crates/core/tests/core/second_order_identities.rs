//! Identities of second-order values, for any numbers.

use crate::common::classification as setting;
use crate::common::second_order;

use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions};
use dshap::second_order::{
    SecondOrderOptions, SecondOrderPasses, SecondOrderStep, SecondOrderValuer, ShiftOptions, Spread, Utility,
    measured_shift,
};
use dshap::{Part, Rows, Sizes, Valuer, Values};
use dshap_testkit::{Sample, assert_close, assert_near_scale, assert_same_bits, on_threads};
use second_order::{matrix, second_order};
use setting::{NO_INTERCEPT, PLAIN, labelled, standardised};

const UTILITIES: [Utility; 3] = [Utility::LogLoss, Utility::Accuracy, Utility::Brier];
const RIDGE: LogisticOptions = LogisticOptions { ridge: 3.0, ..PLAIN };
const BETA: [f64; 3] = [0.4, 1.1, -0.7];

fn by(utility: Utility) -> SecondOrderOptions {
    SecondOrderOptions { utility, ..Default::default() }
}

fn values(valuer: &SecondOrderValuer, sample: &Sample) -> Values {
    valuer.values(Rows::new(matrix(sample).as_ref(), &sample.y).unwrap()).unwrap()
}

fn left_out(valuer: &SecondOrderValuer, sample: &Sample) -> Values {
    valuer.leave_one_out(Rows::new(matrix(sample).as_ref(), &sample.y).unwrap()).unwrap()
}

/// Differences as a share of the largest value.
/// Root mean square difference as a share of the spread.
fn share_off(found: &[f64], expected: &[f64]) -> f64 {
    let n = found.len() as f64;
    let mean = expected.iter().sum::<f64>() / n;
    let spread: f64 = expected.iter().map(|x| (x - mean).powi(2)).sum();
    (found.iter().zip(expected).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / spread).sqrt()
}

/// 1e-9: the fits themselves agree to about 1e-12, and accuracy divides by the
/// spread of predictors.
#[test]
fn which_label_is_called_one_does_not_matter() {
    let sample = labelled(1, 300, &BETA);
    let flipped = Sample { y: sample.y.iter().map(|y| 1.0 - y).collect(), ..sample.clone() };
    for options in [PLAIN, NO_INTERCEPT, RIDGE] {
        for utility in UTILITIES {
            let expected = values(&second_order(&sample, options, (25, 200), by(utility)), &sample);
            let found = values(&second_order(&flipped, options, (25, 200), by(utility)), &flipped);
            assert_near_scale(&found.value, &expected.value, 1e-9, "labels exchanged");
        }
    }
}

#[test]
fn invertible_changes_of_features_change_nothing() {
    let sample = labelled(2, 300, &BETA);
    let mixed = Sample {
        columns: vec![
            sample.columns[0].iter().zip(&sample.columns[1]).map(|(a, b)| 3.0 * a - 20.0 * b + 7.0).collect(),
            sample.columns[0].iter().zip(&sample.columns[1]).map(|(a, b)| 0.01 * a + 0.1 * b - 1.0).collect(),
        ],
        y: sample.y.clone(),
    };
    for utility in UTILITIES {
        let expected = values(&second_order(&sample, PLAIN, (25, 200), by(utility)), &sample);
        let found = values(&second_order(&mixed, PLAIN, (25, 200), by(utility)), &mixed);
        assert_near_scale(&found.value, &expected.value, 1e-9, "features mixed");
    }
}

#[test]
fn values_are_potential_less_penalty_plus_correction() {
    let sample = labelled(3, 200, &BETA);
    for (options, utility) in [(PLAIN, Utility::LogLoss), (RIDGE, Utility::Brier), (PLAIN, Utility::Accuracy)]
    {
        let found = values(&second_order(&sample, options, (25, 200), by(utility)), &sample);
        let part = |part: Part| found.part(part).unwrap();
        let (potential, penalty, correction) =
            (part(Part::Potential), part(Part::Penalty), part(Part::Correction));
        let names: Vec<Part> = found.parts.iter().map(|(part, _)| *part).collect();
        assert_eq!(names, [&SecondOrderValuer::PARTS[..], &Part::OF_LABEL[..]].concat());
        for i in 0..200 {
            let size = potential[i].abs().max(penalty[i].abs()).max(correction[i].abs());
            let sum = potential[i] - penalty[i] + correction[i];
            assert!((found.value[i] - sum).abs() < 1e-15 * size.max(1e-300));
            let prob = part(Part::Prob)[i];
            assert_close(part(Part::Weight)[i], prob * (1.0 - prob), 1e-13);
        }
    }
}

/// Distance, probability and weight are those of `classification`.
#[test]
fn distances_and_probabilities_are_those_of_the_fit() {
    let sample = labelled(4, 200, &BETA);
    for options in [PLAIN, RIDGE] {
        let found = values(&second_order(&sample, options, (25, 200), by(Utility::LogLoss)), &sample);
        let expected = setting::valuer(&sample, options, (25, 200));
        let expected = expected.values(Rows::new(matrix(&sample).as_ref(), &sample.y).unwrap()).unwrap();
        for part in [Part::DistSq, Part::Prob, Part::Weight] {
            for (a, b) in found.part(part).unwrap().iter().zip(expected.part(part).unwrap()) {
                assert_close(*a, *b, 1e-12);
            }
        }
    }
}

/// Every position with both labels: all probabilities are one half, there is no
/// bias, and the logistic problem is one of least squares. Log-loss is half of the
/// squared error there, so `2c` is the leading term of the linear value.
#[test]
fn at_equal_probabilities_it_is_half_of_least_squares() {
    let mut sample = labelled(5, 80, &BETA);
    for i in 0..40 {
        for column in &mut sample.columns {
            column[40 + i] = column[i];
        }
        (sample.y[i], sample.y[40 + i]) = (1.0, 0.0);
    }
    let s = 1_000_000_000;
    let valuer = second_order(&sample, PLAIN, (s + 1, s + 1), by(Utility::LogLoss));
    let found = values(&valuer, &sample);
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    let fit = LogisticFit::of(rows, PLAIN).unwrap();
    let linear =
        ClassificationValuer::new(fit, Sizes::new(s + 1, s + 1), ClassificationMethod::default()).unwrap();
    let linear = linear.values(rows).unwrap();
    for (second, linear) in found.value.iter().zip(&linear.value) {
        // Terms of order 1/s are left out of the leading one.
        assert_close(2.0 * second, *linear, 1e-7);
    }
    let correction = found.part(Part::Correction).unwrap();
    let potential = found.part(Part::Potential).unwrap();
    assert!(correction.iter().zip(potential).all(|(c, p)| c.abs() < 1e-10 * p), "no bias to pull at");
}

/// 100 000 rows give `E[e²xxᵀ]` to about 0.5 %; leaving out the feedback `h` if the model
/// is wrong has a larger effect.
#[test]
fn sandwich_and_model_agree_where_the_model_holds() {
    let large = labelled(6, 100_000, &BETA);
    let points = labelled(7, 200, &BETA);
    let model = |utility| SecondOrderOptions { spread: Spread::ModelBased, ..by(utility) };
    for (utility, most) in [(Utility::LogLoss, 0.05), (Utility::Brier, 0.15)] {
        let sandwich = values(&second_order(&large, PLAIN, (40, 60), by(utility)), &points);
        let trusting = values(&second_order(&large, PLAIN, (40, 60), model(utility)), &points);
        let off = share_off(&trusting.value, &sandwich.value);
        println!("{utility:?}: off by {off:.4} of the spread");
        assert!(off < most, "{utility:?}: {off:.4}");
    }
    // Labels of the outer rows are coin flips, which no logistic model describes.
    let mut wrong = labelled(8, 20_000, &BETA);
    for i in 0..20_000 {
        if wrong.columns[0][i] > 0.8 {
            wrong.y[i] = f64::from(u8::from(i % 2 == 0));
        }
    }
    let sandwich = values(&second_order(&wrong, PLAIN, (40, 60), by(Utility::LogLoss)), &points);
    let trusting = values(&second_order(&wrong, PLAIN, (40, 60), model(Utility::LogLoss)), &points);
    let off = share_off(&trusting.value, &sandwich.value);
    println!("a wrong model: off by {off:.4}");
    assert!(off > 0.2, "{off:.4}");
}

#[test]
fn a_sum_over_sizes_is_the_sum_of_single_sizes() {
    let sample = labelled(9, 200, &BETA);
    for (options, utility, tolerance) in [
        (PLAIN, Utility::LogLoss, 1e-12),
        (PLAIN, Utility::Brier, 1e-12),
        // Eight sizes are interpolated between.
        (RIDGE, Utility::LogLoss, 1e-6),
        (RIDGE, Utility::Brier, 1e-6),
        (PLAIN, Utility::Accuracy, 1e-3),
    ] {
        let (q, m) = (25, 60);
        let all = values(&second_order(&sample, options, (q, m), by(utility)), &sample);
        let mut sum = vec![0.0; 200];
        for size in q..=m {
            let single = values(&second_order(&sample, options, (size, size), by(utility)), &sample);
            sum.iter_mut().zip(&single.value).for_each(|(sum, value)| *sum += value * size as f64 / m as f64);
        }
        assert_near_scale(&all.value, &sum, tolerance, "sizes one by one");
    }
}

/// Without a ridge, and with a tiny one, the same law holds; its slope in the ridge is
/// the term for a small one.
#[test]
fn a_small_ridge_is_the_slope_of_an_ordinary_one() {
    let sample = labelled(10, 400, &BETA);
    for utility in [Utility::LogLoss, Utility::Brier] {
        let (s, m) = (4000.0, 4001);
        let x = matrix(&sample);
        let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
        let small = SecondOrderOptions { small_ridge: 1.0, ..by(utility) };
        let terms = second_order(&sample, PLAIN, (m, m), small).terms(rows).unwrap().swap_remove(0);
        let at = |ridge: f64| {
            let options = LogisticOptions { ridge, ..PLAIN };
            values(&second_order(&sample, options, (m, m), by(utility)), &sample).value
        };
        let tiny = at(1e-7);
        let plain: Vec<f64> =
            terms.iter().map(|terms| (terms.gain(s) - terms.ridge / (s + 1.0).powi(2)) / m as f64).collect();
        assert_near_scale(&tiny, &plain, 1e-5, "next to no ridge");
        let (above, below) = (at(1.5), at(0.5));
        let slope: Vec<f64> =
            above.iter().zip(&below).map(|(a, b)| (a - b) * m as f64 * (s + 1.0).powi(2)).collect();
        let exact: Vec<f64> = terms.iter().map(|terms| terms.ridge).collect();
        let off = share_off(&slope, &exact);
        println!("{utility:?}: slope off by {off:.4} of its spread");
        assert!(off < 0.02, "{utility:?}: {off:.4}");
    }
}

/// Sets, too, are fitted with the ridge for features divided by their deviations.
#[test]
fn a_standardised_ridge_has_no_units() {
    let mut sample = labelled(12, 200, &BETA);
    sample.columns[0].iter_mut().for_each(|x| *x *= 30.0);
    let scaled = standardised(&sample, true);
    for utility in UTILITIES {
        let own = LogisticOptions { standardised: true, ..RIDGE };
        let found = values(&second_order(&sample, own, (25, 200), by(utility)), &sample);
        let expected = values(&second_order(&scaled, RIDGE, (25, 200), by(utility)), &scaled);
        assert_near_scale(&found.value, &expected.value, 1e-7, &format!("{utility:?}"));
        let as_given = values(&second_order(&sample, RIDGE, (25, 200), by(utility)), &sample);
        assert!(share_off(&as_given.value, &expected.value) > 1e-3, "or nothing was tested");
    }
}

#[test]
fn a_row_of_weight_two_is_a_row_twice() {
    let sample = labelled(11, 150, &BETA);
    let twice = sample.select(&(0..150).chain(0..50).collect::<Vec<_>>());
    let weights: Vec<f64> = (0..150).map(|i| if i < 50 { 2.0 } else { 1.0 }).collect();
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap().with_weights(&weights).unwrap();
    for utility in UTILITIES {
        let expected = values(&second_order(&twice, PLAIN, (25, 200), by(utility)), &sample);
        let fit = LogisticFit::of(rows, PLAIN).unwrap();
        let valuer = SecondOrderValuer::of(fit, rows, Sizes::new(25, 200), by(utility)).unwrap();
        let found = valuer.values(Rows::new(x.as_ref(), &sample.y).unwrap()).unwrap();
        assert_near_scale(&found.value, &expected.value, 1e-9, "weights");
    }
}

/// One step of Newton's method for the row's own probability against a reference that is
/// fitted without it. Third moments stay, and with a ridge or other utilities than
/// log-loss all moments do, which is an error of order 1/n.
#[test]
fn rows_left_out_are_valued_as_if_they_had_not_been_there() {
    let sample = labelled(12, 400, &BETA);
    for (options, utility) in [
        (PLAIN, Utility::LogLoss),
        (RIDGE, Utility::LogLoss),
        (PLAIN, Utility::Brier),
        (RIDGE, Utility::Brier),
        (PLAIN, Utility::Accuracy),
    ] {
        let valuer = second_order(&sample, options, (30, 200), by(utility));
        let (found, naive) = (left_out(&valuer, &sample), values(&valuer, &sample));
        let (mut refitted, mut kept, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        for row in (0..400).step_by(8) {
            let others = second_order(&sample.without(row), options, (30, 200), by(utility));
            refitted.push(values(&others, &sample.select(&[row])).value[0]);
            kept.push(found.value[row]);
            plain.push(naive.value[row]);
        }
        let (off, worse) = (share_off(&kept, &refitted), share_off(&plain, &refitted));
        println!(
            "{utility:?}, ridge {}: off by {off:.4} of the spread, {worse:.4} if left in",
            options.ridge
        );
        assert!(off < 0.1 && off < worse, "{utility:?}: {off:.4} {worse:.4}");
    }
}

/// κ of sets of 150 rows, with 1000 of them, has an error of two or three rows: found
/// were 13.9 and 10.0. Two seeds differ by more than 12 once in some hundred runs.
#[test]
fn the_measured_shift_is_a_few_rows() {
    let sample = labelled(13, 2000, &BETA);
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    let fit = LogisticFit::of(rows, PLAIN).unwrap();
    let shift = |seed| {
        let options = ShiftOptions { size: 150, n_sets: 1000, seed };
        measured_shift(&fit, rows, options).unwrap()
    };
    let (one, other) = (on_threads(1, || shift(3)), on_threads(4, || shift(3)));
    assert_eq!(one.to_bits(), other.to_bits());
    println!("κ = {one:.2}, {:.2} with another seed; p + 1 = 4", shift(4));
    assert!((one - shift(4)).abs() < 12.0 && one != shift(4));
    assert!((0.0..30.0).contains(&one));
}

#[test]
fn threads_and_chunks_change_no_bit() {
    let sample = labelled(14, 10_000, &BETA);
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    for (options, utility) in [(PLAIN, Utility::LogLoss), (RIDGE, Utility::Accuracy), (PLAIN, Utility::Brier)]
    {
        let expected = on_threads(1, || second_order(&sample, options, (30, 900), by(utility)));
        let expected_values = on_threads(1, || expected.leave_one_out(rows).unwrap());
        let other = on_threads(4, || second_order(&sample, options, (30, 900), by(utility)));
        let found = on_threads(3, || other.leave_one_out(rows).unwrap());
        assert_same_bits(&found.value, &expected_values.value, "threads");
        let fit = LogisticFit::of(rows, options).unwrap();
        let mut passes = SecondOrderPasses::new(fit, Sizes::new(30, 900), by(utility)).unwrap();
        let chunked = loop {
            let mut pass = passes.begin_pass();
            for start in (0..rows.len()).step_by(777) {
                pass.push(rows.slice(start, 777.min(rows.len() - start))).unwrap();
            }
            if let SecondOrderStep::Done(valuer) = passes.finish_pass(pass).unwrap() {
                break valuer;
            }
        };
        println!("{utility:?}, ridge {}: {} passes", options.ridge, passes.n_passes());
        let mut value = Vec::new();
        for start in (0..rows.len()).step_by(301) {
            let part = rows.slice(start, 301.min(rows.len() - start));
            value.extend(chunked.leave_one_out(part).unwrap().value);
        }
        assert_same_bits(&value, &expected_values.value, "chunks");
    }
}
