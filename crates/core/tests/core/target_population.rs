//! Values for given test rows: a table with 22 digits, models refitted on drawn sets, rows really left out,
//! and what becomes of test rows that are like the reference.

use crate::common::classification::{PLAIN, labelled, table};
use crate::common::{CENTRED, Data, UNCENTRED, fit, moments};
use dshap::classification::{
    ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions, WorkingMoments,
};
use dshap::linear::{
    Constant, Convention, DistanceTable, FitOptions, GaussianForm, LinearFit, LinearMethod, LinearValuer,
    PointStats, TargetForm, TargetStats, TestMoments,
};
use dshap::{Error, Moments, Part, Rows, Semivalue, Sizes, Valuer};
use dshap_testkit::{Draws, MeanEstimate, Sample, assert_close, cases_under, on_threads, seeds};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};

/// Coefficients of labels, the intercept first.
const BETA: [f64; 4] = [0.3, 1.0, -0.7, 0.4];

/// Test rows unlike the reference: other variances, another mean, another model.
fn shifted(seed: u64, n: usize, p: usize) -> Sample {
    let mut draws = Draws::new(seed);
    let column = |j: usize, draws: &mut Draws| -> Vec<f64> {
        (0..n).map(|_| 0.4 * (j as f64 - 1.0) + draws.normal() * (0.3 + j as f64)).collect()
    };
    let columns: Vec<Vec<f64>> = (0..p).map(|j| column(j, &mut draws)).collect();
    let y = (0..n).map(|i| 0.7 + columns.iter().map(|c| 0.8 * c[i]).sum::<f64>() + draws.normal()).collect();
    Sample { columns, y }
}

fn tests_of(sample: &Sample) -> TestMoments {
    TestMoments { moments: moments(sample), has_targets: true }
}

fn on_tests(fit: LinearFit, sizes: Sizes, tests: &TestMoments) -> LinearValuer {
    LinearValuer::on_tests(fit, sizes, None, tests).unwrap()
}

#[test]
fn values_match_the_table() {
    let mut n_semivalues = 0;
    for case in cases_under("reference/extensions.json", "target") {
        let law: Semivalue = case.text("semivalue").parse().unwrap();
        let sizes = Sizes::new(case.count("q"), case.count("m")).with_semivalue(law);
        let (a, e) = (case.number("a"), case.number("e"));
        let row = PointStats { dist_sq: a, resid_sq: e * e, noise_var: case.number("sigma2") };
        let tests =
            TargetStats { stretch: case.number("b") / a, trace: case.number("tau"), score: case.number("c") };
        let form = TargetForm::new(case.count("p"), sizes).unwrap();
        for found in [form.value(row, tests), form.value_once(row, tests)] {
            let error = (found.value - case.number("value")).abs();
            let size = found.potential.abs() + found.penalty.abs() + 2.0 * tests.score.abs() / a;
            assert!(error <= 1e-12 * size, "{case:?}: {found:?}, error {error:.1e}");
        }
        n_semivalues += usize::from(law != Semivalue::Shapley);
    }
    assert!(n_semivalues >= 3, "the table has {n_semivalues} cases of other semivalues");
}

#[test]
fn test_rows_like_the_reference_change_nothing() {
    for law in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::Beta(1.0, 16.0), Semivalue::AtMax] {
        for (p, q, m) in [(1, 8, 40), (4, 20, 300), (30, 70, 5000)] {
            let sizes = Sizes::new(q, m).with_semivalue(law);
            let plain = GaussianForm::new(p, sizes, Constant::Gain, Convention::Definition).unwrap();
            let form = TargetForm::new(p, sizes).unwrap();
            let like = TargetStats { stretch: 1.0, trace: p as f64, score: 0.0 };
            for (dist_sq, resid_sq) in [(0.0, 1.0), (1e-6, 2.0), (3.0, 0.2), (50.0, 9.0), (1e9, 1.0)] {
                let row = PointStats { dist_sq, resid_sq, noise_var: 1.4 };
                let (one, two) = (plain.value(row), form.value(row, like));
                assert_close(two.potential, one.potential, 1e-12);
                assert_close(two.penalty, one.penalty, 1e-12);
            }
        }
    }
    // The rows of the reference as test rows: their score is zero.
    for options in [CENTRED, UNCENTRED] {
        let sample = Sample::gaussian(3, 200, 4, 1.0);
        let (sizes, data) = (Sizes::new(20, 150), Data::of(&shifted(4, 30, 4)));
        let fit = fit(&sample, options);
        let plain = LinearValuer::new(fit.clone(), sizes, LinearMethod::default()).unwrap();
        let (one, two) =
            (plain.values(data.rows()), on_tests(fit, sizes, &tests_of(&sample)).values(data.rows()));
        let (one, two) = (one.unwrap(), two.unwrap());
        for row in 0..30 {
            let size = one.part(Part::Potential).unwrap()[row] + one.part(Part::Penalty).unwrap()[row];
            assert!((one.value[row] - two.value[row]).abs() < 1e-10 * size, "row {row}");
        }
    }
}

/// A row that is left out leaves the mean, the products and the coefficients; test rows stay.
#[test]
fn rows_are_left_out_as_if_the_others_were_fitted() {
    for options in [CENTRED, UNCENTRED] {
        let sample = Sample::gaussian(5, 40, 3, 1.0);
        for has_targets in [true, false] {
            let tests = TestMoments { has_targets, ..tests_of(&shifted(6, 25, 3)) };
            let sizes = Sizes::new(14, 39);
            let whole = on_tests(fit(&sample, options), sizes, &tests).with_std_error(true);
            let left_out = whole.leave_one_out(Data::of(&sample).rows(), 0).unwrap();
            for row in 0..40 {
                let others = on_tests(fit(&sample.without(row), options), sizes, &tests).with_std_error(true);
                let alone = Data::of(&sample.select(&[row]));
                let refitted = others.values(alone.rows()).unwrap();
                assert_close(left_out.value[row], refitted.value[0], 1e-8);
                let part = |values: &dshap::Values, part, row: usize| values.part(part).unwrap()[row];
                for which in [Part::Potential, Part::Penalty] {
                    assert_close(part(&left_out, which, row), part(&refitted, which, 0), 1e-8);
                }
                // Standard errors differ a little: the other rows are whitened by all.
                let errors = |values: &dshap::Values, row: usize| values.std_error.as_ref().unwrap()[row];
                let ratio = errors(&left_out, row) / errors(&refitted, 0);
                assert!((ratio - 1.0).abs() < 0.35, "row {row}: {ratio}");
            }
        }
    }
}

/// Weights of two are rows given twice.
#[test]
fn weighted_rows_are_left_out_too() {
    let sample = Sample::gaussian(8, 30, 2, 1.0);
    let twice: Vec<usize> = (0..30).chain([4, 9]).collect();
    let tests = tests_of(&shifted(9, 20, 2));
    let sizes = Sizes::new(10, 25);
    let data = Data::of(&sample);
    let weights: Vec<f64> = (0..30).map(|row| if [4, 9].contains(&row) { 2.0 } else { 1.0 }).collect();
    let weighted = data.rows().with_weights(&weights).unwrap();
    let fit_of = |rows: Rows<'_>| LinearFit::new(&Moments::of(rows).unwrap(), CENTRED).unwrap();
    let values = on_tests(fit_of(weighted), sizes, &tests).leave_one_out(weighted, 0).unwrap();
    // Both copies of row 4 leave.
    let others: Vec<usize> = twice.iter().copied().filter(|&row| row != 4).collect();
    let others = Data::of(&sample.select(&others));
    let alone = Data::of(&sample.select(&[4]));
    let refitted = on_tests(fit_of(others.rows()), sizes, &tests).values(alone.rows()).unwrap();
    // Noise variances are estimated with other degrees of freedom.
    assert_close(values.part(Part::Penalty).unwrap()[4], refitted.part(Part::Penalty).unwrap()[0], 1e-8);
}

/// Sets drawn, the noise integrated out, utility measured on test rows.
#[test]
fn refitted_models_agree() {
    let (p, noise_var) = (3, 1.3);
    for seed in seeds(8400) {
        let tests = Data::of(&shifted(seed, 12, p));
        let score: Vec<f64> =
            (0..p).map(|j| (0..12).map(|t| tests.x[(t, j)] * tests.y[t]).sum::<f64>() / 12.0).collect();
        let second = tests.x.transpose() * &tests.x / faer::Scale(12.0);
        let trace: f64 = (0..p).map(|j| second[(j, j)]).sum();
        for (s, n_draws) in [(8_usize, 60_000), (25, 20_000)] {
            // The first lies where test rows hardly vary, so that other directions matter.
            let points = [([1.5, 0.1, -0.1], 0.2), ([1.5, 0.3, -0.6], -2.0), ([-0.2, 2.0, 0.9], 1.5)];
            let mut means = [MeanEstimate::default(); 3];
            let mut draws = Draws::new(seed + s as u64);
            for _ in 0..n_draws {
                let rows = Mat::from_fn(s, p, |_, _| draws.normal());
                let factor = (rows.transpose() * &rows).llt(Side::Lower).unwrap();
                for (mean, (x, e)) in means.iter_mut().zip(points) {
                    let x = Mat::from_fn(p, 1, |i, _| x[i]);
                    let bx = factor.solve(&x);
                    let ell = (x.transpose() * &bx)[(0, 0)];
                    let quad = (bx.transpose() * &second * &bx)[(0, 0)];
                    let along: f64 = (0..p).map(|j| score[j] * bx[(j, 0)]).sum();
                    let gain = quad * ((2.0 + ell) * noise_var - e * e) / (1.0 + ell).powi(2);
                    mean.push(gain + 2.0 * e * along / (1.0 + ell));
                }
            }
            // Only sets of s rows count.
            let sizes = Sizes::new(s + 1, s + 1).with_semivalue(Semivalue::AtMax);
            let form = TargetForm::new(p, sizes).unwrap();
            let (mut no_score, mut no_spread) = (0.0_f64, 0.0_f64);
            for (mean, (x, e)) in means.iter().zip(points) {
                let a: f64 = x.iter().map(|x| x * x).sum();
                let x = Mat::from_fn(p, 1, |i, _| x[i]);
                let b = (x.transpose() * &second * &x)[(0, 0)];
                let c = e * (0..p).map(|j| score[j] * x[(j, 0)]).sum::<f64>();
                let row = PointStats { dist_sq: a, resid_sq: e * e, noise_var };
                let stats = TargetStats { stretch: b / a, trace, score: c };
                let value = form.value(row, stats).value;
                mean.assert_agrees(value, &format!("s = {s}, a = {a:.1}"));
                no_score =
                    no_score.max(mean.z(form.value(row, TargetStats { score: 0.0, ..stats }).value).abs());
                let flat = form.value(row, TargetStats { trace: b / a, ..stats }).value;
                no_spread = no_spread.max(mean.z(flat).abs());
            }
            assert!(no_score > 20.0, "without the score: only {no_score:.1} standard errors away");
            assert!(no_spread > 10.0, "without the other directions: only {no_spread:.1}");
        }
    }
}

/// Values of references drawn again and again spread as their standard errors say.
#[test]
fn standard_errors_are_those_of_fresh_references() {
    let tests = tests_of(&shifted(31, 15, 3));
    let points = Data::of(&shifted(32, 4, 3));
    let sizes = Sizes::new(20, 100);
    for options in [CENTRED, UNCENTRED] {
        let mut values = [MeanEstimate::default(); 4];
        let mut errors = [MeanEstimate::default(); 4];
        for seed in 0..400 {
            let fit = fit(&Sample::gaussian(9000 + seed, 300, 3, 1.0), options);
            let found = on_tests(fit, sizes, &tests).with_std_error(true).values(points.rows()).unwrap();
            for row in 0..4 {
                values[row].push(found.value[row]);
                errors[row].push(found.std_error.as_ref().unwrap()[row]);
            }
        }
        for (value, error) in values.iter().zip(&errors) {
            let ratio = error.mean() / value.std_dev();
            // 400 draws know a deviation to 3.5 %.
            assert!((0.85..1.18).contains(&ratio), "{options:?}: {ratio:.3}");
        }
    }
}

#[test]
fn threads_and_slices_change_no_bit() {
    let sample = Sample::gaussian(12, 900, 6, 1.0);
    let tests = tests_of(&shifted(13, 50, 6));
    let valuer = on_tests(fit(&sample, CENTRED), Sizes::new(30, 900), &tests).with_std_error(true);
    let data = Data::of(&sample);
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let one = on_threads(1, || valuer.leave_one_out(data.rows(), 0).unwrap());
    let three = on_threads(3, || valuer.leave_one_out(data.rows(), 0).unwrap());
    assert_eq!(bits(&one.value), bits(&three.value));
    assert_eq!(bits(one.std_error.as_ref().unwrap()), bits(three.std_error.as_ref().unwrap()));
    for (start, len) in [(0, 1), (3, 5), (250, 20), (899, 1)] {
        let slice = valuer.leave_one_out(data.rows().slice(start, len), start as u64).unwrap();
        assert_eq!(bits(&slice.value), bits(&one.value[start..start + len]), "{start}");
    }
}

/// Calibrated values are those of `gaussian` where distances are Gaussian.
#[test]
fn calibration_leaves_gaussian_inputs_alone() {
    let sample = Sample::gaussian(14, 20_000, 3, 1.0);
    let fit = fit(&sample, CENTRED);
    let mut table = DistanceTable::new();
    table.add(&LinearValuer::distances(&fit, Data::of(&sample).rows()).unwrap(), None);
    let tests = tests_of(&shifted(15, 50, 3));
    let points = Data::of(&shifted(16, 20, 3));
    let sizes = Sizes::new(20, 200);
    let plain = on_tests(fit.clone(), sizes, &tests).values(points.rows()).unwrap();
    let calibrated = LinearValuer::on_tests(fit, sizes, Some(&table), &tests).unwrap();
    let calibrated = calibrated.values(points.rows()).unwrap();
    for row in 0..20 {
        let size = plain.part(Part::Potential).unwrap()[row] + plain.part(Part::Penalty).unwrap()[row].abs();
        assert!((plain.value[row] - calibrated.value[row]).abs() < 0.02 * size, "row {row}");
        assert!(plain.value[row] != calibrated.value[row]);
    }
}

#[test]
fn a_refitted_intercept_is_refused() {
    let options = FitOptions { refit_intercept: true, ..CENTRED };
    let refused = LinearValuer::on_tests(
        fit(&Sample::gaussian(17, 50, 2, 1.0), options),
        Sizes::new(20, 40),
        None,
        &tests_of(&shifted(18, 9, 2)),
    );
    assert!(matches!(refused, Err(Error::BadOption { .. })));
}

/// On its working variables a classification is a regression through the origin whose
/// coefficients are 0 and whose noise has variance 1.
#[test]
fn labels_are_valued_as_their_working_variables_are() {
    let (x, y) = table(&labelled(21, 300, &BETA[..3]));
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let logistic = LogisticFit::of(rows, PLAIN).unwrap();
    let (test_x, test_y) = table(&labelled(22, 60, &BETA[..3]));
    let test_x = Mat::from_fn(60, 2, |i, j| 1.7 * test_x[(i, j)] + 0.3);
    let mut working = WorkingMoments::new(&logistic);
    working.push(Rows::new(test_x.as_ref(), &test_y).unwrap()).unwrap();
    let tests = TestMoments { moments: working.finish().unwrap(), has_targets: true };
    let sizes = Sizes::new(25, 250);
    let valuer = ClassificationValuer::on_tests(logistic.clone(), sizes, None, &tests).unwrap();

    // The same rows as a regression: √W x and (y − π)/√W.
    let stats = logistic.stats(rows).unwrap();
    let root = |i: usize| stats[i].weight.sqrt();
    let column = |i: usize, j: usize| if j == 0 { 1.0 } else { x[(i, j - 1)] };
    let wide = Mat::from_fn(300, 3, |i, j| root(i) * column(i, j));
    let residual: Vec<f64> = (0..300).map(|i| (y[i] - stats[i].prob) / root(i)).collect();
    let linear = LinearFit::of(Rows::new(wide.as_ref(), &residual).unwrap(), UNCENTRED).unwrap();
    let test_stats = logistic.stats(Rows::new(test_x.as_ref(), &test_y).unwrap()).unwrap();
    let test_root = |i: usize| test_stats[i].weight.sqrt();
    let test_wide = Mat::from_fn(60, 3, |i, j| test_root(i) * if j == 0 { 1.0 } else { test_x[(i, j - 1)] });
    let test_residual: Vec<f64> = (0..60).map(|i| (test_y[i] - test_stats[i].prob) / test_root(i)).collect();
    let test_moments = Moments::of(Rows::new(test_wide.as_ref(), &test_residual).unwrap()).unwrap();
    let linear = on_tests(linear, sizes, &TestMoments { moments: test_moments, has_targets: true });

    let by_rows = Rows::new(wide.as_ref(), &residual).unwrap();
    let pairs = [
        (valuer.leave_one_out(rows).unwrap(), linear.leave_one_out(by_rows, 0).unwrap()),
        (valuer.values(rows).unwrap(), linear.values(by_rows).unwrap()),
    ];
    for (labels, numbers) in pairs {
        for row in 0..300 {
            let part = |values: &dshap::Values, part| values.part(part).unwrap()[row];
            let (one, two) = (part(&labels, Part::Penalty), part(&numbers, Part::Penalty));
            assert!(
                (one - two).abs() < 1e-7 * (one.abs() + part(&labels, Part::Potential)),
                "row {row}: {one} {two}"
            );
        }
    }
}

/// With all reference rows as test rows their score is zero, so nothing changes.
#[test]
fn labels_of_the_reference_change_nothing() {
    let (x, y) = table(&labelled(23, 200, &BETA));
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fit = LogisticFit::of(rows, PLAIN).unwrap();
    let sizes = Sizes::new(25, 150);
    let plain = ClassificationValuer::new(fit.clone(), sizes, ClassificationMethod::default()).unwrap();
    let mut working = WorkingMoments::new(&fit);
    // In two chunks.
    working.push(rows.slice(0, 77)).unwrap();
    working.push(rows.slice(77, 123)).unwrap();
    let tests = TestMoments { moments: working.finish().unwrap(), has_targets: true };
    let on_reference = ClassificationValuer::on_tests(fit, sizes, None, &tests).unwrap();
    let (one, two) = (plain.values(rows).unwrap(), on_reference.values(rows).unwrap());
    for row in 0..200 {
        let size = one.part(Part::Potential).unwrap()[row] + one.part(Part::Penalty).unwrap()[row];
        assert!((one.value[row] - two.value[row]).abs() < 1e-6 * size, "row {row}");
    }
}

/// With a ridge, the one step by which a row leaves moves test residuals through the penalised products.
#[test]
fn a_ridge_damps_how_test_residuals_move() {
    let (x, y) = table(&labelled(24, 150, &BETA[..3]));
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let sizes = Sizes::new(20, 100);
    let value = |ridge: f64| {
        let fit = LogisticFit::of(rows, LogisticOptions { ridge, ..PLAIN }).unwrap();
        let mut working = WorkingMoments::new(&fit);
        working.push(rows.slice(0, 40)).unwrap();
        let tests = TestMoments { moments: working.finish().unwrap(), has_targets: true };
        ClassificationValuer::on_tests(fit, sizes, None, &tests).unwrap().leave_one_out(rows).unwrap().value
    };
    let (none, tiny) = (value(0.0), value(1e-9));
    for row in 0..150 {
        assert_close(tiny[row], none[row], 1e-5);
    }
}
