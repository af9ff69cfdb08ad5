//! Inputs that cannot be valued are refused with an error, and nothing panics.

use crate::common::classification as setting;
use crate::common::second_order;

use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::second_order::{
    SecondOrderOptions, SecondOrderPasses, SecondOrderValuer, ShiftOptions, SoftmaxOptions, SoftmaxValuer,
    Spread, Utility, measured_shift,
};
use dshap::{Error, Note, Rows, Sizes, Valuer};
use dshap_testkit::Sample;
use faer::Mat;
use second_order::{matrix, second_order};
use setting::{NO_INTERCEPT, PLAIN, labelled};

const RIDGE: LogisticOptions = LogisticOptions { ridge: 1.0, ..PLAIN };
const DEFAULT: SecondOrderOptions =
    SecondOrderOptions { utility: Utility::LogLoss, spread: Spread::Sandwich, small_ridge: 0.0, shift: None };

fn sample() -> Sample {
    labelled(21, 120, &[0.4, 1.1, -0.7])
}

fn try_valuer(logistic: LogisticOptions, sizes: Sizes, options: SecondOrderOptions) -> Result<(), Error> {
    let sample = sample();
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y)?;
    SecondOrderValuer::of(LogisticFit::of(rows, logistic)?, rows, sizes, options).map(|_| ())
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    let sizes = Sizes::new(20, 100);
    let bad = |logistic, options| {
        assert!(matches!(try_valuer(logistic, sizes, options), Err(Error::BadOption { .. })), "{options:?}");
    };
    for small_ridge in [-1.0, f64::NAN, f64::INFINITY] {
        bad(PLAIN, SecondOrderOptions { small_ridge, ..DEFAULT });
    }
    bad(RIDGE, SecondOrderOptions { small_ridge: 0.1, ..DEFAULT });
    bad(RIDGE, SecondOrderOptions { spread: Spread::ModelBased, ..DEFAULT });
    bad(PLAIN, SecondOrderOptions { small_ridge: 0.1, utility: Utility::Accuracy, ..DEFAULT });
    bad(RIDGE, SecondOrderOptions { shift: Some(3.0), ..DEFAULT });
    bad(PLAIN, SecondOrderOptions { shift: Some(f64::NAN), ..DEFAULT });
    bad(PLAIN, SecondOrderOptions { shift: Some(3.0), utility: Utility::Brier, ..DEFAULT });
    assert_eq!(try_valuer(PLAIN, sizes, SecondOrderOptions { shift: Some(3.0), ..DEFAULT }), Ok(()));
}

#[test]
fn sets_too_small_for_the_sum_are_refused() {
    // p = 3 with the intercept: κ = 4 needs q − ½ > 4.
    let sizes = |min, max, least| Err(Error::Sizes { min, max, least, dim: 3 });
    assert_eq!(try_valuer(PLAIN, Sizes::new(4, 100), DEFAULT), sizes(4, 100, 5));
    assert_eq!(try_valuer(PLAIN, Sizes::new(5, 100), DEFAULT), Ok(()));
    assert_eq!(try_valuer(PLAIN, Sizes::new(50, 20), DEFAULT), sizes(50, 20, 5));
    let shifted = SecondOrderOptions { shift: Some(30.0), ..DEFAULT };
    let too_small = Err(Error::ShiftedSizes { min: 30, max: 100, least: 31, shift: 30.0 });
    assert_eq!(try_valuer(PLAIN, Sizes::new(30, 100), shifted), too_small);
    let nowhere = SecondOrderOptions { shift: Some(1e300), ..DEFAULT };
    assert!(matches!(try_valuer(PLAIN, Sizes::new(30, 100), nowhere), Err(Error::ShiftedSizes { .. })));
    let negative = SecondOrderOptions { shift: Some(-1e300), ..DEFAULT };
    assert_eq!(try_valuer(PLAIN, Sizes::new(30, 100), negative), Ok(()));
    assert_eq!(try_valuer(PLAIN, Sizes::new(0, 100), DEFAULT), sizes(0, 100, 5));
    let huge = Sizes::new(30, usize::MAX);
    assert_eq!(try_valuer(PLAIN, huge, DEFAULT), Err(Error::TooLargeSize { max: usize::MAX }));
}

#[test]
fn cells_that_cannot_be_valued_are_named() {
    let sample = sample();
    for (logistic, utility) in [(PLAIN, Utility::LogLoss), (RIDGE, Utility::Accuracy)] {
        let valuer = second_order(&sample, logistic, (20, 100), SecondOrderOptions { utility, ..DEFAULT });
        let value =
            |x: &Mat<f64>, y: &[f64]| valuer.values(Rows::new(x.as_ref(), y).unwrap()).map(|v| v.value);
        let mut x = Mat::zeros(3, 2);
        assert_eq!(value(&x, &[0.0, 1.0, 2.0]), Err(Error::NotBinary { row: 2 }));
        assert_eq!(value(&x, &[0.0, f64::NAN, 1.0]), Err(Error::NotFinite { row: 1, column: 2 }));
        x[(2, 1)] = f64::NAN;
        assert_eq!(value(&x, &[0.0, 1.0, 1.0]), Err(Error::NotFinite { row: 2, column: 1 }));
        x[(2, 1)] = 1e200;
        assert_eq!(value(&x, &[0.0, 1.0, 1.0]), Err(Error::TooLarge));
        let narrow = Mat::zeros(1, 1);
        assert_eq!(value(&narrow, &[0.0]), Err(Error::FeatureCount { found: 1, expected: 2 }));
        assert_eq!(value(&Mat::zeros(0, 2), &[]), Ok(Vec::new()));
    }
}

#[test]
fn passes_over_other_rows_are_refused() {
    let sample = sample();
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    for logistic in [PLAIN, RIDGE] {
        let fit = LogisticFit::of(rows, logistic).unwrap();
        let begin = || SecondOrderPasses::new(fit.clone(), Sizes::new(20, 100), DEFAULT).unwrap();
        let mut passes = begin();
        assert_eq!(passes.finish_pass(passes.begin_pass()).unwrap_err(), Error::NoRows);
        let mut passes = begin();
        let mut pass = passes.begin_pass();
        pass.push(rows.slice(0, 100)).unwrap();
        assert!(matches!(passes.finish_pass(pass), Err(Error::Contradiction { .. })));
        // The passes cannot go on.
        let mut pass = passes.begin_pass();
        pass.push(rows).unwrap();
        assert!(matches!(passes.finish_pass(pass), Err(Error::Contradiction { .. })));
        let mut passes = begin();
        let mut pass = passes.begin_pass();
        let mut spoilt = x.clone();
        spoilt[(7, 1)] = f64::INFINITY;
        let error = pass.push(Rows::new(spoilt.as_ref(), &sample.y).unwrap());
        assert_eq!(error.unwrap_err(), Error::NotFinite { row: 7, column: 1 });
        let mut pass = passes.begin_pass();
        let error = pass.push(Rows::new(x.as_ref(), &vec![2.0; 120]).unwrap()).unwrap_err();
        assert_eq!(error, Error::NotBinary { row: 0 });
        assert_eq!(passes.n_passes(), 0);
        pass = passes.begin_pass();
        pass.push(rows).unwrap();
        passes.finish_pass(pass).unwrap();
    }
}

/// A feature that two rows have, of different labels, and one of them has almost no
/// weight: the other alone determines its coefficient. Without it, it is unknown.
#[test]
fn rows_that_stand_alone_have_no_value_left_out() {
    let mut sample = sample();
    let mut lone = vec![0.0; 122];
    (lone[120], lone[121]) = (1.0, 1.0);
    sample.columns.iter_mut().for_each(|column| column.extend([0.3, 0.3]));
    sample.y.extend([1.0, 0.0]);
    let sample = sample.with_column(lone);
    let mut weights = vec![1.0; 122];
    weights[121] = 1e-11;
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap().with_weights(&weights).unwrap();
    for utility in [Utility::LogLoss, Utility::Brier] {
        // With an intercept features are centred, which leaves its leverage eight digits.
        let fit = LogisticFit::of(rows, NO_INTERCEPT).unwrap();
        let options = SecondOrderOptions { utility, ..DEFAULT };
        let valuer = SecondOrderValuer::of(fit, rows, Sizes::new(30, 90), options).unwrap();
        let found = valuer.leave_one_out(rows).unwrap();
        // The other row that has the column contradicts it, with next to no weight.
        assert_eq!(found.notes, [(120, Note::LeverageOne), (121, Note::TooFar)], "{utility:?}");
        assert!(found.value[120..].iter().all(|value| value.is_nan()));
        assert!(found.value[..120].iter().all(|value| value.is_finite()));
    }
}

/// If a fit is certain of a row, nothing may be divided by its weight.
#[test]
fn rows_far_out_have_a_note_if_they_contradict_the_model() {
    let sample = sample();
    for (utility, ridge) in [
        (Utility::LogLoss, 0.0),
        (Utility::Brier, 0.0),
        (Utility::Accuracy, 0.0),
        (Utility::LogLoss, 1.0),
        (Utility::Accuracy, 1.0),
    ] {
        let logistic = LogisticOptions { ridge, ..NO_INTERCEPT };
        let valuer = second_order(&sample, logistic, (20, 100), SecondOrderOptions { utility, ..DEFAULT });
        // Along the coefficients, either way; the last is at the origin, where every
        // model says one half.
        let coef = valuer.fit().coef();
        let x = Mat::from_fn(5, 2, |i, j| [1.0, 1e3, 1e6, -1e6, 0.0][i] * coef[j]);
        for label in [0.0, 1.0] {
            let found = valuer.values(Rows::new(x.as_ref(), &[label; 5]).unwrap()).unwrap();
            let contradicts = [false, label == 0.0, label == 0.0, label == 1.0, false];
            for (i, &contradicts) in contradicts.iter().enumerate() {
                let value = found.value[i];
                let is_noted = found.notes.contains(&(i, Note::TooFar));
                assert_eq!(
                    is_noted, contradicts,
                    "{utility:?}, ridge {ridge}, row {i}, label {label}: {value}"
                );
                // A value is the mean of gains in utilities that small.
                assert!(
                    value.is_nan() == contradicts && (contradicts || value.abs() <= 1.0),
                    "{utility:?}: {value}"
                );
            }
        }
    }
}

/// Also where it is the only one of its class among three.
#[test]
fn the_only_row_of_a_label_has_no_value_against_the_others() {
    let sample = sample();
    let x = matrix(&sample);
    let inmost = (0..120).min_by(|&a, &b| {
        let reach = |i: usize| x[(i, 0)].powi(2) + x[(i, 1)].powi(2);
        reach(a).total_cmp(&reach(b))
    });
    let inmost = inmost.unwrap();
    let y: Vec<f64> = (0..120).map(|i| f64::from(u8::from(i == inmost))).collect();
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fit = LogisticFit::of(rows, PLAIN).unwrap();
    let valuer = SecondOrderValuer::of(fit, rows, Sizes::new(40, 100), DEFAULT).unwrap();
    let found = valuer.leave_one_out(rows).unwrap();
    assert!(found.notes.contains(&(inmost, Note::OnlyOfLabel)), "{:?}", found.notes);
    assert!(found.value[inmost].is_nan());
    assert!(!valuer.values(rows).unwrap().notes.contains(&(inmost, Note::OnlyOfLabel)));
    let three: Vec<f64> = (0..120).map(|i| if i == inmost { 2.0 } else { sample.y[i] }).collect();
    let rows = Rows::new(x.as_ref(), &three).unwrap();
    let valuer = SoftmaxValuer::of(rows, 3, Sizes::new(40, 100), SoftmaxOptions::default()).unwrap();
    let found = valuer.leave_one_out(rows).unwrap();
    assert_eq!(found.notes, [(inmost, Note::OnlyOfLabel)]);
}

/// Three labels: a row that contradicts its own by far moves a small set too far for
/// second order.
#[test]
fn softmax_rows_far_out_have_a_note() {
    let sample = sample();
    let x = matrix(&sample);
    let y: Vec<f64> = (0..120).map(|i| if i % 7 == 0 { 2.0 } else { sample.y[i] }).collect();
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let valuer = SoftmaxValuer::of(rows, 3, Sizes::new(40, 100), SoftmaxOptions::default()).unwrap();
    let coef = valuer.fit().coef(1).unwrap();
    let points = Mat::from_fn(2, 2, |i, j| [1.0, 1e4][i] * coef[j]);
    let found = valuer.values(Rows::new(points.as_ref(), &[0.0, 0.0]).unwrap()).unwrap();
    assert_eq!(found.notes, [(1, Note::TooFar)]);
    assert!(found.value[0].is_finite() && found.value[1].is_nan());
}

#[test]
fn shifts_that_cannot_be_measured_are_refused() {
    let sample = sample();
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    let fit = LogisticFit::of(rows, PLAIN).unwrap();
    let shift = |size, n_sets| measured_shift(&fit, rows, ShiftOptions { size, n_sets, seed: 1 });
    assert!(matches!(shift(50, 1), Err(Error::BadOption { .. })));
    assert_eq!(shift(4, 20), Err(Error::SingularSets { size: 4 }));
    assert_eq!(shift(0, 20), Err(Error::SingularSets { size: 0 }));
    let weights = vec![1.0; 120];
    let weighted = rows.with_weights(&weights).unwrap();
    let options = ShiftOptions { size: 50, n_sets: 20, seed: 1 };
    assert_eq!(measured_shift(&fit, weighted, options), Err(Error::Weighted));
    let ridge = LogisticFit::of(rows, RIDGE).unwrap();
    assert!(matches!(measured_shift(&ridge, rows, options), Err(Error::BadOption { .. })));
}
