//! Identities of classification values, for any numbers.

use crate::common::classification as setting;

use dshap::classification::{
    AuthorsMoments, AuthorsValuer, ClassificationMethod, ClassificationValuer, GeneralClassificationValuer,
    LogisticFit, LogisticOptions,
};
use dshap::linear::{
    Bound, BoundForm, Convention, DistanceTable, FitOptions, GeneralOptions, LinearFit, LinearMethod,
    LinearValuer, PointStats, Side,
};
use dshap::{Error, Moments, Note, Part, Rows, Sizes, Valuer, Values, Warning};
use dshap_testkit::{Sample, assert_close, assert_same_bits, on_threads};
use faer::Mat;
use faer::prelude::Solve;
use setting::{NO_INTERCEPT, PLAIN, labelled, logistic, standardised, table, valuer};

const RIDGE: LogisticOptions = LogisticOptions { ridge: 2.0, ..PLAIN };
const KINDS: [LogisticOptions; 3] = [PLAIN, NO_INTERCEPT, RIDGE];

fn with_rows<T>(sample: &Sample, then: impl FnOnce(Rows<'_>) -> T) -> T {
    let (x, y) = table(sample);
    then(Rows::new(x.as_ref(), &y).unwrap())
}

fn values(valuer: &ClassificationValuer, sample: &Sample) -> Values {
    with_rows(sample, |rows| valuer.values(rows)).unwrap()
}

fn left_out(valuer: &ClassificationValuer, sample: &Sample) -> Values {
    with_rows(sample, |rows| valuer.leave_one_out(rows)).unwrap()
}

/// Values differ by rounding only; errors are relative to the larger side.
#[track_caller]
fn assert_same_values(found: &Values, expected: &Values, tolerance: f64, what: &str) {
    let scale =
        |i: usize| expected.part(Part::Potential).unwrap()[i] + expected.part(Part::Penalty).unwrap()[i];
    for i in 0..expected.len() {
        let error = (found.value[i] - expected.value[i]).abs() / scale(i);
        assert!(error < tolerance, "{what}, row {i}: {} and {}", found.value[i], expected.value[i]);
    }
}

// ---- Symmetries ------------------------------------------------------------

#[test]
fn calling_the_labels_the_other_way_round_changes_nothing() {
    for options in KINDS {
        let sample = labelled(100, 150, &[0.8, 1.2, -0.4, 0.3]);
        let mut flipped = sample.clone();
        flipped.y.iter_mut().for_each(|y| *y = 1.0 - *y);
        let [one, other] = [&sample, &flipped].map(|sample| valuer(sample, options, (12, 80)));
        for (a, b) in one.fit().coef().iter().zip(other.fit().coef()) {
            assert_close(*a, -b, 1e-12);
        }
        assert_same_values(&values(&other, &flipped), &values(&one, &sample), 1e-12, "unseen");
        let (a, b) = (left_out(&other, &flipped), left_out(&one, &sample));
        assert_same_values(&a, &b, 1e-12, "left out");
        for (a, b) in a.part(Part::Prob).unwrap().iter().zip(b.part(Part::Prob).unwrap()) {
            assert_close(1.0 - a, *b, 1e-11);
        }
    }
}

/// Any invertible change of features does not change values, nor does a shift with an
/// intercept; but a ridge has units.
#[test]
fn invertible_changes_of_features_leave_values_alone() {
    for options in [PLAIN, NO_INTERCEPT] {
        let sample = labelled(101, 150, &[0.4, 1.2, -0.4, 0.3]);
        let change = [[2.0, -1.0, 0.5], [0.3, 1.7, -0.2], [-40.0, 25.0, 11.0]];
        let shift = if options.intercept { [5.0, -3.0, 100.0] } else { [0.0; 3] };
        let column = |k: usize| {
            (0..150)
                .map(|i| shift[k] + (0..3).map(|j| change[k][j] * sample.columns[j][i]).sum::<f64>())
                .collect()
        };
        let changed = Sample { columns: (0..3).map(column).collect(), y: sample.y.clone() };
        let [one, other] = [&sample, &changed].map(|sample| valuer(sample, options, (12, 80)));
        assert_same_values(&values(&other, &changed), &values(&one, &sample), 1e-10, "unseen");
        assert_same_values(&left_out(&other, &changed), &left_out(&one, &sample), 1e-10, "left out");
    }
    let sample = labelled(101, 150, &[0.4, 1.2, -0.4, 0.3]);
    let mut scaled = sample.clone();
    scaled.columns[0].iter_mut().for_each(|x| *x *= 10.0);
    let [one, other] = [&sample, &scaled].map(|sample| valuer(sample, RIDGE, (12, 80)));
    assert!((values(&one, &sample).value[0] / values(&other, &scaled).value[0] - 1.0).abs() > 1e-4);
}

/// A ridge for standardised features is that of features divided by their deviations, so
/// no unit matters; fits and standard errors agree as values do.
#[test]
fn a_standardised_ridge_has_no_units() {
    for options in [RIDGE, LogisticOptions { intercept: false, ..RIDGE }] {
        let mut sample = labelled(104, 150, &[0.4, 1.2, -0.4, 0.3]);
        sample.columns[0].iter_mut().for_each(|x| *x *= 1e3);
        sample.columns[2].iter_mut().for_each(|x| *x *= 0.07);
        let scaled = standardised(&sample, options.intercept);
        let own = LogisticOptions { standardised: true, ..options };
        let errors = |sample: &Sample, options| {
            let valuer = valuer(sample, options, (12, 80));
            let valuer = with_rows(sample, |rows| valuer.with_std_error(rows)).unwrap();
            (values(&valuer, sample), left_out(&valuer, sample))
        };
        let ((found, found_out), (expected, expected_out)) = (errors(&sample, own), errors(&scaled, options));
        assert_same_values(&found, &expected, 1e-10, "unseen");
        assert_same_values(&found_out, &expected_out, 1e-10, "left out");
        for (a, b) in found.std_error.iter().flatten().zip(expected.std_error.iter().flatten()) {
            assert_close(*a, *b, 1e-8);
        }
        // As given, the large column is hardly penalised and the small one hardly used.
        let as_given = values(&valuer(&sample, options, (12, 80)), &sample);
        assert!((found.value[0] / as_given.value[0] - 1.0).abs() > 1e-3, "or nothing was tested");
        let fit = logistic(&sample, own);
        assert_eq!(LogisticFit::from_parts(fit.to_parts()).unwrap().to_parts(), fit.to_parts());
        assert!(fit.is_standardised() && !logistic(&sample, options).is_standardised());
    }
}

#[test]
fn rows_are_valued_one_by_one_and_threads_do_not_matter() {
    let reference = labelled(102, 400, &[0.1, 1.0, -0.7]);
    let points = labelled(103, 700, &[0.1, 1.0, -0.7]);
    for options in KINDS {
        let (x, y) = table(&points);
        let rows = Rows::new(x.as_ref(), &y).unwrap();
        let make = || {
            let valuer = valuer(&reference, options, (9, 60));
            with_rows(&reference, |sample| valuer.with_std_error(sample)).unwrap()
        };
        let whole = on_threads(1, || make().values(rows)).unwrap();
        let threads = on_threads(3, || make().values(rows)).unwrap();
        assert_same_bits(&threads.value, &whole.value, "threads");
        assert_same_bits(threads.std_error.as_ref().unwrap(), whole.std_error.as_ref().unwrap(), "errors");
        let valuer = make();
        for (start, len) in [(0, 1), (255, 2), (300, 400)] {
            let part = valuer.values(rows.slice(start, len)).unwrap();
            assert_same_bits(&part.value, &whole.value[start..start + len], "a part");
        }
    }
}

#[test]
fn a_value_is_potential_less_penalty() {
    let sample = labelled(104, 200, &[0.1, 1.0, -0.7]);
    let valuer = valuer(&sample, PLAIN, (9, 60));
    let found = values(&valuer, &sample);
    let part = |part| found.part(part).unwrap();
    for i in 0..200 {
        assert_eq!(found.value[i], part(Part::Potential)[i] - part(Part::Penalty)[i]);
        assert_close(part(Part::Weight)[i], part(Part::Prob)[i] * (1.0 - part(Part::Prob)[i]), 1e-14);
        assert!(part(Part::Potential)[i] > 0.0 && part(Part::Penalty)[i] > 0.0);
    }
    let mean = part(Part::DistSq).iter().sum::<f64>() / 200.0;
    assert_close(mean, 3.0, 1e-12);
    let names: Vec<Part> = found.parts.iter().map(|(part, _)| *part).collect();
    assert_eq!(names, valuer.parts());
}

// ---- The working variables -------------------------------------------------

/// `√W(1, x)` and `√W z` as the formulas say, in plain loops.
fn working(sample: &Sample, fit: &LogisticFit) -> Sample {
    let p = sample.columns.len();
    let (mut columns, mut y) = (vec![Vec::new(); p + 1], Vec::new());
    for i in 0..sample.n_rows() {
        let eta = fit.intercept_value().unwrap_or(0.0)
            + (0..p).map(|j| fit.coef()[j] * sample.columns[j][i]).sum::<f64>();
        let pi = 1.0 / (1.0 + (-eta).exp());
        let w: f64 = pi * (1.0 - pi);
        columns[0].push(w.sqrt());
        (0..p).for_each(|j| columns[j + 1].push(w.sqrt() * sample.columns[j][i]));
        y.push(w.sqrt() * (eta + (sample.y[i] - pi) / w));
    }
    if !fit.intercept() {
        columns.remove(0);
    }
    Sample { columns, y }
}

/// The regression code on working variables made by hand finds the same
/// distances and residuals, also of rows that are left out.
#[test]
fn statistics_are_those_of_weighted_least_squares() {
    for options in [PLAIN, NO_INTERCEPT] {
        let sample = labelled(105, 120, &[0.4, 1.2, -0.4, 0.3]);
        let fit = logistic(&sample, options);
        let by_hand = working(&sample, &fit);
        let uncentred = FitOptions { intercept: false, ..FitOptions::default() };
        let linear =
            with_rows(&by_hand, |rows| LinearFit::new(&Moments::of(rows).unwrap(), uncentred)).unwrap();
        let sizes = Sizes::new(15, 60);
        let linear = LinearValuer::new(linear, sizes, LinearMethod::default()).unwrap();
        let valuer = valuer(&sample, options, (15, 60));
        let pairs = [
            (values(&valuer, &sample), with_rows(&by_hand, |rows| linear.values(rows)).unwrap()),
            (left_out(&valuer, &sample), with_rows(&by_hand, |rows| linear.leave_one_out(rows, 0)).unwrap()),
        ];
        for (found, expected) in pairs {
            let (a, e2) = (expected.part(Part::DistSq).unwrap(), expected.part(Part::ResidSq).unwrap());
            for i in 0..120 {
                assert_close(found.part(Part::DistSq).unwrap()[i], a[i], 1e-11);
                // Noise of variance 1, and the product of distance and residual.
                let sums = dshap::numeric::SizeSums::new(
                    valuer.fit().dim(),
                    15 - valuer.fit().dim() as u64,
                    60 - valuer.fit().dim() as u64,
                );
                let sums = sums.at(a[i]);
                assert_close(found.part(Part::Penalty).unwrap()[i], e2[i] * sums.a_h2 / 60.0, 1e-10);
                assert_close(found.part(Part::Potential).unwrap()[i], (sums.a_h2 + sums.h4) / 60.0, 1e-10);
            }
        }
    }
}

/// One step of Newton's method goes part of the way to a fit without the row: weights
/// stay the same, although their change is of the same order. It leaves 0.58 of the
/// difference here and 0.55 to 0.75 for other kinds (root mean square).
#[test]
fn one_step_goes_towards_a_refit_without_the_row() {
    for options in KINDS {
        let sample = labelled(106, 300, &[0.4, 1.2, -0.4]);
        let all = valuer(&sample, options, (9, 100));
        let (one_step, full) = (left_out(&all, &sample), values(&all, &sample));
        let (mut off, mut full_off) = (0.0, 0.0);
        for row in (0..300).step_by(7) {
            let rest = valuer(&sample.without(row), options, (9, 100));
            let exact = values(&rest, &sample.select(&[row])).value[0];
            off += (one_step.value[row] - exact).powi(2);
            full_off += (full.value[row] - exact).powi(2);
        }
        println!("{options:?}: off by {:.2} of what the full fit is off", (off / full_off).sqrt());
        assert!(off < 0.6 * full_off, "{off:e} {full_off:e}");
    }
}

/// Points further and further away on either side: weights go to 0 and values stay
/// finite.
#[test]
fn rows_without_weight_have_finite_values() {
    let sample = labelled(107, 300, &[0.4, 1.2]);
    let far: Vec<f64> = [10.0, 100.0, 500.0, 650.0, 5000.0, 1e8].into();
    let points = Sample {
        columns: vec![far.iter().chain(&far).copied().collect()],
        y: (0..12).map(|i| f64::from(u8::from(i < 6))).collect(),
    };
    let found = values(&valuer(&sample, PLAIN, (12, 60)), &points);
    assert!(found.value.iter().all(|value| value.is_finite()) && found.notes.is_empty());
    // With the expected label they add nothing. With the other they do harm, in
    // proportion to their squared distance.
    assert!(found.value[4].abs() < 1e-200 && found.value[5].abs() < 1e-200);
    assert!((found.value[11] / found.value[10] / 4e8 - 1.0).abs() < 1e-2, "{:?}", found.value);
    // For small sets the sum diverges as the weight goes to 0.
    let found = values(&valuer(&sample, PLAIN, (6, 60)), &points);
    assert_eq!(found.notes, [(10, Note::NoWeight), (11, Note::NoWeight)]);
    assert!(found.value[10].is_nan() && found.value[9].is_finite());
    // Bounds and drawn sets need distance and residual separately.
    let sizes = Sizes::new(60, 90);
    for side in [Side::Lower, Side::Upper] {
        let method = ClassificationMethod::Bound(Bound::new(side, Convention::Definition));
        let bound = ClassificationValuer::new(logistic(&sample, PLAIN), sizes, method).unwrap();
        let found = values(&bound, &points);
        assert!(found.value.iter().all(|value| value.is_finite()), "{side:?}: {:?}", found.value);
        assert!((found.value[11] / found.value[10] / 4e8 - 1.0).abs() < 1e-2, "{:?}", found.value);
    }
    let general = with_rows(&sample, |rows| {
        GeneralClassificationValuer::new(logistic(&sample, PLAIN), rows, sizes, GeneralOptions::default())
    });
    let found = with_rows(&points, |rows| general.unwrap().values(rows, &|_, _| true)).unwrap().values;
    assert!(found.value.iter().all(|value| value.is_finite()));
    assert!((found.value[11] / found.value[10] / 4e8 - 1.0).abs() < 1e-2, "{:?}", found.value);
}

/// A dummy that only one row has: without it the dummy is unknown.
#[test]
fn rows_of_leverage_one_are_noted() {
    let sample = labelled(108, 80, &[0.4, 1.2]);
    let dummy = (0..80).map(|i| f64::from(u8::from(i == 33))).collect();
    let sample = sample.with_column(dummy);
    let found = left_out(&valuer(&sample, RIDGE, (12, 60)), &sample);
    assert_eq!(found.notes, [(33, Note::LeverageOne)]);
    assert!(found.value.iter().enumerate().all(|(i, value)| value.is_nan() == (i == 33)));
    assert!(found.part(Part::Prob).unwrap()[33].is_finite());
}

#[test]
fn points_that_cannot_be_valued_are_refused() {
    let sample = labelled(109, 80, &[0.4, 1.2]);
    let valuer = valuer(&sample, PLAIN, (12, 60));
    let mut bad = sample.clone();
    bad.y[70] = -1.0;
    assert_eq!(with_rows(&bad, |rows| valuer.values(rows)).unwrap_err(), Error::NotBinary { row: 70 });
    bad.y[70] = 1.0;
    bad.columns[0][69] = f64::NAN;
    let error = with_rows(&bad, |rows| valuer.values(rows)).unwrap_err();
    assert_eq!(error, Error::NotFinite { row: 69, column: 0 });
    let wide = sample.clone().with_column(vec![0.0; 80]);
    let error = with_rows(&wide, |rows| valuer.values(rows)).unwrap_err();
    assert_eq!(error, Error::FeatureCount { found: 2, expected: 1 });
    let small = ClassificationValuer::new(logistic(&sample, PLAIN), Sizes::new(4, 60), Default::default());
    assert_eq!(small.unwrap_err(), Error::Sizes { min: 4, max: 60, least: 5, dim: 2 });
}

// ---- Other methods ---------------------------------------------------------

#[test]
fn bounds_are_on_both_sides_of_the_value() {
    let sample = labelled(110, 300, &[0.4, 1.2, -0.6]);
    let fit = || logistic(&sample, PLAIN);
    let sizes = Sizes::new(120, 200);
    let by = |method| values(&ClassificationValuer::new(fit(), sizes, method).unwrap(), &sample).value;
    let bound = |side| by(ClassificationMethod::Bound(Bound::new(side, Convention::Definition)));
    let (lower, value, upper) = (bound(Side::Lower), by(ClassificationMethod::default()), bound(Side::Upper));
    for i in 0..300 {
        assert!(lower[i] < value[i] && value[i] < upper[i], "{} {} {}", lower[i], value[i], upper[i]);
    }
    let silent = ClassificationValuer::new(
        fit(),
        Sizes::new(10, 200),
        ClassificationMethod::Bound(Bound::new(Side::Lower, Convention::Definition)),
    );
    assert!(matches!(silent.unwrap().warnings()[..], [Warning::SilentBound { .. }]));
    for bound in [
        Bound::new(Side::Lower, Convention::Authors),
        Bound { ridge: 1.0, ..Bound::new(Side::Lower, Convention::Definition) },
    ] {
        let error = ClassificationValuer::new(fit(), sizes, ClassificationMethod::Bound(bound)).unwrap_err();
        assert!(matches!(error, Error::BadOption { .. }));
    }
}

/// Corollary 4 to the letter, written out: rows `√w x`, `Σ̃ = E[w x xᵀ]`, noise of variance 1,
/// `e² = (y − π)²/w`; with a column of ones for an intercept, and without.
#[test]
fn printed_bounds_are_corollary_4_to_the_letter() {
    let sample = labelled(113, 200, &[0.4, 1.2, -0.6]);
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let (n, sizes) = (200, Sizes::new(60, 150));
    for intercept in [true, false] {
        let fit = LogisticFit::of(rows, LogisticOptions { intercept, ..PLAIN }).unwrap();
        let extra = usize::from(intercept);
        let p = x.ncols() + extra;
        let cell = |i: usize, k: usize| if k < extra { 1.0 } else { x[(i, k - extra)] };
        let prob = |i: usize| {
            let eta: f64 = (0..x.ncols()).map(|k| x[(i, k)] * fit.coef()[k]).sum();
            1.0 / (1.0 + (-eta - fit.intercept_value().unwrap_or(0.0)).exp())
        };
        let weights: Vec<f64> = (0..n).map(|i| prob(i) * (1.0 - prob(i))).collect();
        let sigma = Mat::from_fn(p, p, |k, l| {
            (0..n).map(|i| weights[i] * cell(i, k) * cell(i, l)).sum::<f64>() / n as f64
        });
        for (side, stop) in [(Side::Lower, None), (Side::Upper, None), (Side::Lower, Some(0.005))] {
            let bound = Bound { stop, ..Bound::new(side, Convention::Printed) };
            let valuer = ClassificationValuer::new(fit.clone(), sizes, ClassificationMethod::Bound(bound));
            let valuer = valuer.unwrap();
            assert_eq!(valuer.warnings(), [Warning::NotABound]);
            let found = valuer.values(rows).unwrap();
            assert_eq!(found.truncation.is_some(), stop.is_some());
            let form = BoundForm::new(p, sizes, bound, (1.0, 1.0)).unwrap();
            for i in 0..n {
                let row = Mat::from_fn(p, 1, |k, _| weights[i].sqrt() * cell(i, k));
                let solved = sigma.as_ref().partial_piv_lu().solve(&row);
                let dist_sq = (row.transpose() * solved)[(0, 0)];
                let resid_sq = (y[i] - prob(i)).powi(2) / weights[i];
                let expected = form.value(PointStats { dist_sq, resid_sq, noise_var: 1.0 });
                let error = (found.value[i] - expected).abs();
                assert!(
                    error < 1e-8 * expected.abs().max(1e-6),
                    "{side:?} {i}: {} {expected}",
                    found.value[i]
                );
            }
        }
    }
}

/// Rows left out of the authors' least squares, against a fit without them.
#[test]
fn printed_bounds_leave_rows_out_in_closed_form() {
    let sample = labelled(111, 90, &[0.4, 1.2, -0.6]);
    let weights: Vec<f64> = (0..90).map(|i| 1.0 + f64::from(i % 4)).collect();
    let (x, y) = table(&sample);
    let plain = Rows::new(x.as_ref(), &y).unwrap();
    let sizes = Sizes::new(30, 70);
    let bound = Bound::new(Side::Lower, Convention::Authors);
    for rows in [plain, plain.with_weights(&weights).unwrap()] {
        let fit = LogisticFit::of(rows, PLAIN).unwrap();
        let moments_without = |row: Option<usize>| {
            let mut weights = rows.weights().map_or_else(|| vec![1.0; 90], <[f64]>::to_vec);
            if let Some(row) = row {
                weights[row] = 0.0;
            }
            let roots: Vec<f64> = fit.stats(plain).unwrap().iter().map(|row| row.weight.sqrt()).collect();
            let working = Mat::from_fn(90, 2, |i, j| roots[i] * x[(i, j)]);
            let target: Vec<f64> = (0..90)
                .map(|i| {
                    let eta = fit.intercept_value().unwrap()
                        + fit.coef()[0] * x[(i, 0)]
                        + fit.coef()[1] * x[(i, 1)];
                    let pi = 1.0 / (1.0 + (-eta).exp());
                    roots[i] * eta + (y[i] - pi) / roots[i]
                })
                .collect();
            let rows = Rows::new(working.as_ref(), &target).unwrap();
            Moments::of(rows.with_weights(&weights).unwrap()).unwrap()
        };
        let mut moments = AuthorsMoments::new(&fit);
        moments.push(rows).unwrap();
        let all = AuthorsValuer::new(fit.clone(), &moments.finish().unwrap(), sizes, bound).unwrap();
        let found = all.leave_one_out(rows).unwrap();
        for row in [0, 1, 40, 89] {
            let rest = AuthorsValuer::new(fit.clone(), &moments_without(Some(row)), sizes, bound).unwrap();
            let exact = rest.values(rows.slice(row, 1)).unwrap();
            assert_close(found.part(Part::DistSq).unwrap()[row], exact.part(Part::DistSq).unwrap()[0], 1e-9);
            // The form itself depends on the reference through nothing else.
            assert_close(found.value[row], exact.value[0], 1e-8);
        }
    }
    let no_intercept = logistic(&sample, NO_INTERCEPT);
    let mut moments = AuthorsMoments::new(&no_intercept);
    moments.push(plain).unwrap();
    let moments = moments.finish().unwrap();
    assert!(matches!(
        AuthorsValuer::new(no_intercept.clone(), &moments, sizes, bound),
        Err(Error::BadOption { .. })
    ));
    let mut short = AuthorsMoments::new(&no_intercept);
    short.push(plain.slice(0, 30)).unwrap();
    assert!(matches!(short.finish(), Err(Error::Contradiction { .. })));
}

/// Drawn sets see the same rows: distances agree with those of the closed form.
#[test]
fn drawn_sets_use_the_same_working_variables() {
    for options in KINDS {
        let sample = labelled(112, 200, &[0.4, 1.2, -0.6]);
        let closed = valuer(&sample, options, (10, 60));
        let (x, y) = table(&sample);
        let rows = Rows::new(x.as_ref(), &y).unwrap();
        let few = GeneralOptions { max_rounds: 32, ..GeneralOptions::default() };
        let fit = logistic(&sample, options);
        let general = GeneralClassificationValuer::new(fit.clone(), rows, Sizes::new(10, 60), few).unwrap();
        let pairs = [
            (general.values(rows, &|_, _| true).unwrap().values, values(&closed, &sample)),
            (general.leave_one_out(&|_, _| true).unwrap().values, left_out(&closed, &sample)),
        ];
        for (found, expected) in &pairs {
            for part in [Part::DistSq, Part::Prob, Part::Weight] {
                for (a, b) in found.part(part).unwrap().iter().zip(expected.part(part).unwrap()) {
                    assert_close(*a, *b, 1e-10);
                }
            }
            assert_eq!(found.parts.len(), 3);
        }
        let ridge = GeneralOptions { ridge: 1.0, ..few };
        let error =
            GeneralClassificationValuer::new(fit.clone(), rows, Sizes::new(10, 60), ridge).unwrap_err();
        assert!(matches!(error, Error::BadOption { .. }));
        let error = GeneralClassificationValuer::new(fit, rows, Sizes::new(10, 400), few).unwrap_err();
        assert_eq!(error, Error::SetsTooLarge { max: 400, most: 201 });
    }
}

// ---- Calibration -----------------------------------------------------------

/// Distances of weighted rows are not those of Gaussian ones; their table makes a
/// calibrated form whose values differ, and which does not depend on chunks.
#[test]
fn calibrated_values_come_from_the_distances() {
    let sample = labelled(117, 600, &[0.4, 2.5, -0.6]);
    let fit = logistic(&sample, PLAIN);
    let distances = with_rows(&sample, |rows| fit.distances(rows)).unwrap();
    assert_close(distances.iter().sum::<f64>() / 600.0, 3.0, 1e-12);
    let mut table = DistanceTable::new();
    table.add(&distances, None);
    let sizes = Sizes::new(12, 80);
    let calibrated = ClassificationValuer::calibrated(fit, sizes, &table).unwrap();
    let (plain, found) = (values(&valuer(&sample, PLAIN, (12, 80)), &sample), values(&calibrated, &sample));
    let differs = plain.value.iter().zip(&found.value).filter(|(a, b)| (*a / *b - 1.0).abs() > 1e-3).count();
    assert!(differs > 500, "{differs} differ");
    assert_same_bits(plain.part(Part::DistSq).unwrap(), found.part(Part::DistSq).unwrap(), "distances");
}
