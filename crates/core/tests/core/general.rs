//! General inputs and a ridge: the conditional gain, and means over sets that are known exactly.

use crate::common;
use crate::common::general as setting;
use crate::common::ridge;

use crate::common::{Data, UNCENTRED};
use dshap::linear::{GeneralOptions, GeneralValuer, GeneralValues, LinearFit, Population, SetStats};
use dshap::{Moments, Note, Part, Sizes};
use dshap_testkit::{Draws, MAX_ABS_Z, MeanEstimate, Sample, assert_close, cases, seeds};
use faer::Mat;
use ridge::{Reference, Truth, dot};
use setting::{KINDS, general, left_out, rounds, unlike, values};

fn matrix(rows: &[Vec<f64>]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

// ---- The conditional gain --------------------------------------------------

/// To twelve digits, except for the last case, where adding a ridge of 1e-4 to numbers
/// near 1 rounds: `ε·tr(X_SᵀX_S)/γ`, 6e-12. There the terms are `10⁴` and leave 4, so the
/// sum is compared in units of them.
#[test]
fn conditional_gains_are_those_of_the_table() {
    for case in cases("reference/ridge_conditional.json") {
        let (rows, gamma) = (case.matrix("X_S"), case.number("gamma"));
        let (set, sigma) = (matrix(&rows), matrix(&case.matrix("Sigma")));
        let coef = case.list("beta");
        let noise_var = case.number("sigma2");
        let population = Population { covariance: sigma.as_ref(), coef: &coef, noise_var };
        let stats = SetStats::new(set.as_ref(), &case.list("x"), population, gamma).unwrap();
        let gain = stats.gain(case.number("e"), noise_var);

        let trace: f64 = rows.iter().flatten().map(|x| x * x).sum();
        let rounded = if gamma > 0.0 { f64::EPSILON * trace / gamma } else { 0.0 };
        let tolerance = rounded.max(1e-12);
        assert_close(stats.leverage, case.number("l"), tolerance);
        assert_close(stats.spread, case.number("Q"), tolerance);
        assert_close(gain.main, case.number("main"), tolerance);
        assert_close(gain.h1, case.number("h1"), tolerance);
        assert_close(gain.h2, case.number("h2"), tolerance);
        let largest = gain.main.abs().max(gain.h2.abs());
        let off = (gain.total() - case.number("marginal_exact")).abs() / largest;
        assert!(off < tolerance, "off by {off:.1e} of the largest term");
    }
}

#[test]
fn singular_sets_have_no_gain_without_a_ridge() {
    let (set, sigma) = (Mat::from_fn(1, 2, |_, _| 1.0), Mat::<f64>::identity(2, 2));
    let population = Population { covariance: sigma.as_ref(), coef: &[1.0, 2.0], noise_var: 1.0 };
    assert_eq!(SetStats::new(set.as_ref(), &[1.0, 0.0], population, 0.0), None);
    assert!(SetStats::new(set.as_ref(), &[1.0, 0.0], population, 0.1).is_some());
}

/// Noise is drawn, ridge regression fitted with and without the point. Twelve
/// comparisons at five standard errors: a false alarm once in 150 000 runs.
/// Leaving `h₁` and `h₂` out is rejected by more than twenty at each ridge.
#[test]
fn conditional_gains_are_those_of_real_refits() {
    let sigma = vec![vec![1.0, 0.4, 0.0], vec![0.4, 2.0, -0.3], vec![0.0, -0.3, 0.5]];
    let beta = vec![1.5, -0.7, 2.2];
    for (number, (gamma, size)) in [(0.6, 2), (3.0, 5), (8.0, 12)].into_iter().enumerate() {
        let truth = Truth { sigma: sigma.clone(), beta: beta.clone(), noise_var: 0.8, ridge: vec![gamma; 3] };
        for seed in seeds(9100 + number as u64) {
            let mut draws = Draws::new(seed);
            let set: Vec<Vec<f64>> = (0..size).map(|_| (0..3).map(|_| draws.normal()).collect()).collect();
            let points = [
                (vec![0.4, 0.1, -0.5], 0.5),
                (vec![1.2, -2.0, 0.7], -1.1),
                (vec![-2.5, 0.3, 1.9], 3.0),
                (vec![2.0, 2.0, 2.0], -0.2),
            ];
            let mut estimates = [MeanEstimate::default(); 4];
            for _ in 0..20_000 {
                let y: Vec<f64> =
                    set.iter().map(|x| dot(x, &beta) + 0.8_f64.sqrt() * draws.normal()).collect();
                let before = truth.utility(&truth.refit(&set, &y).unwrap());
                for (estimate, (x, e)) in estimates.iter_mut().zip(&points) {
                    let (mut grown, mut targets) = (set.clone(), y.clone());
                    grown.push(x.clone());
                    targets.push(dot(x, &beta) + e);
                    estimate.push(truth.utility(&truth.refit(&grown, &targets).unwrap()) - before);
                }
            }
            let mut most_power: f64 = 0.0;
            let (set_matrix, sigma) = (matrix(&set), matrix(&sigma));
            for (estimate, (x, e)) in estimates.iter().zip(&points) {
                let population = Population { covariance: sigma.as_ref(), coef: &beta, noise_var: 0.8 };
                let gain = SetStats::new(set_matrix.as_ref(), x, population, gamma).unwrap().gain(*e, 0.8);
                assert_close(gain.total(), truth.gain(&set, x, *e).unwrap(), 1e-10);
                let what = format!("γ = {gamma}, {size} rows, e = {e}, seed {seed}");
                estimate.assert_agrees(gain.total(), &what);
                most_power = most_power.max(estimate.z(gain.main).abs());
            }
            assert!(most_power > 4.0 * MAX_ABS_Z, "γ = {gamma}: only {most_power:.1} without h");
        }
    }
}

// ---- Sets that are everything ----------------------------------------------

/// With `m = q = n + 1` there is one set, all reference rows, so nothing is random. The
/// same holds with `m = q = n` for a row against all others.
#[test]
fn the_only_set_gives_the_formula_itself() {
    let (n, p) = (40, 3);
    let sample = unlike(91, n, p);
    let points = unlike(92, 5, p);
    for how in KINDS {
        for gamma in [0.0, 0.7, 50.0] {
            let reference = Reference::new(&sample, how, gamma);
            let unseen = values(&general(&sample, how, (n + 1, n + 1), rounds(3, gamma, 1)), &points);
            for (i, &value) in unseen.values.value.iter().enumerate() {
                assert_close(value, reference.value(&points, i, n + 1, n + 1), 1e-10);
            }
            let found = left_out(&general(&sample, how, (n, n), rounds(3, gamma, 1))).values;
            assert!(
                found.std_error.as_ref().unwrap().iter().all(|&error| error < 1e-12),
                "nothing is random"
            );
            for (i, &value) in found.value.iter().enumerate() {
                let exact = Reference::new(&sample.without(i), how, gamma).value(&sample, i, n, n);
                assert!((value - exact).abs() < 1e-10 * exact.abs().max(1e-4), "{how:?} {gamma} row {i}");
            }
        }
    }
}

#[test]
fn parts_and_notes_are_those_of_the_closed_form() {
    let mut sample = unlike(93, 30, 2);
    // Row 4 alone determines a third coefficient.
    sample.columns.push((0..30).map(|i| f64::from(u8::from(i == 4))).collect());
    for how in KINDS {
        let closed = common::gain_valuer(&sample, how, Sizes::new(12, 20));
        let closed = closed.leave_one_out(Data::of(&sample).rows(), 0).unwrap();
        let found = left_out(&general(&sample, how, (12, 20), rounds(2, 0.3, 1))).values;
        assert_eq!(found.notes, [(4, Note::LeverageOne)]);
        assert!(found.value[4].is_nan() && found.std_error.as_ref().unwrap()[4].is_nan());
        for part in [Part::DistSq, Part::ResidSq] {
            for (found, closed) in found.part(part).unwrap().iter().zip(closed.part(part).unwrap()) {
                assert!(found.is_nan() && closed.is_nan() || (found / closed - 1.0).abs() < 1e-9);
            }
        }
    }
}

// ---- All sets of a small reference -----------------------------------------

/// The exact value visits every set of every size; 8000 rounds draw some. For
/// `DSHAP_SEEDS=1`, 84 comparisons at five standard errors: a false alarm once in 20 000
/// runs. To count a row's own copy is rejected by more than fifteen.
#[test]
fn rounds_estimate_the_mean_over_all_sets() {
    let (n, q, m) = (7, 1, 6);
    for (number, (p, gamma)) in [(1, 0.4), (2, 1.5)].into_iter().enumerate() {
        let sample = unlike(94 + number as u64, n, p);
        let points = unlike(96, 7, p);
        for how in KINDS {
            for seed in seeds(9400 + number as u64) {
                // An intercept without a ridge needs a row.
                let q = q + usize::from(how.refit_intercept);
                let valuer = general(&sample, how, (q, m), rounds(8000, gamma, seed));
                let reference = Reference::new(&sample, how, gamma);
                let check = |found: &GeneralValues, i: usize, exact: f64, wrong: f64| -> f64 {
                    let error = found.values.std_error.as_ref().unwrap()[i];
                    let z = (found.values.value[i] - exact) / error;
                    assert!(z.abs() < MAX_ABS_Z, "p = {p}, {how:?}, seed {seed}, row {i}: z = {z:.1}");
                    ((found.values.value[i] - wrong) / error).abs()
                };
                let unseen = values(&valuer, &points);
                for i in 0..points.n_rows() {
                    check(&unseen, i, reference.value(&points, i, q, m), 0.0);
                }
                let found = left_out(&valuer);
                let mut most_power: f64 = 0.0;
                for i in 0..n {
                    let others = Reference::new(&sample.without(i), how, gamma);
                    let wrong = reference.value(&sample, i, q, m);
                    most_power = most_power.max(check(&found, i, others.value(&sample, i, q, m), wrong));
                }
                assert!(most_power > 3.0 * MAX_ABS_Z, "{how:?}: only {most_power:.1}");
            }
        }
    }
}

/// A dummy that is 0 on many sets: those are singular, and each point has its
/// gain averaged over the others. With three ones among nine rows a point that
/// is a one itself sees more singular sets than a zero does.
#[test]
fn singular_sets_are_drawn_again() {
    let dummy: Vec<f64> = [1.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].to_vec();
    let y = vec![1.3, 1.6, 0.2, 0.4, -0.3, 0.1, -0.6, 0.2, 0.5];
    let sample = Sample { columns: vec![dummy], y };
    for seed in seeds(9500) {
        let found = left_out(&general(&sample, UNCENTRED, (4, 7), rounds(4000, 0.0, seed)));
        for i in 0..9 {
            let exact = Reference::new(&sample.without(i), UNCENTRED, 0.0).value(&sample, i, 4, 7);
            let error = found.values.std_error.as_ref().unwrap()[i];
            let off = (found.values.value[i] - exact).abs();
            assert!(off <= MAX_ABS_Z * error, "row {i}: {} ± {error}, exact {exact}", found.values.value[i]);
        }
    }
}

// ---- Units -----------------------------------------------------------------

/// A ridge applies to features as given: it dominates in small units and vanishes in
/// large ones. Only one set is possible, so the gain is known; in the units given its
/// normal equations are well conditioned and can be solved as they are.
#[test]
fn a_ridge_costs_no_digits_whatever_the_units() {
    let (n, ridge) = (40, 1.0);
    for exponent in [-12, -7, -6, -3, 0, 3, 8] {
        let unit = 10_f64.powi(exponent);
        let mut draws = Draws::new(71);
        let mut column = |unit: f64| (0..n).map(|_| unit * draws.normal()).collect::<Vec<_>>();
        let columns = vec![column(unit), column(1.0)];
        let noise = column(0.5);
        let y = (0..n).map(|i| columns[0][i] / unit - columns[1][i] + noise[i]).collect();
        let sample = Sample { columns, y };
        let data = Data::of(&sample);
        let fit = LinearFit::new(&Moments::of(data.rows()).unwrap(), UNCENTRED).unwrap();

        let set = Mat::from_fn(n, 2, |i, j| sample.columns[j][i]);
        let sigma = (set.transpose() * &set) / faer::Scale(n as f64);
        let noise_var = fit.noise_var();
        let population = Population { covariance: sigma.as_ref(), coef: fit.coef(), noise_var };
        let x = [0.7 * unit, -1.1];
        let residual = 2.5 - x[0] * fit.coef()[0] - x[1] * fit.coef()[1];
        let stats = SetStats::new(set.as_ref(), &x, population, ridge).unwrap();
        let expected = stats.gain(residual, noise_var).total() / (n + 1) as f64;

        let options = GeneralOptions { ridge, max_rounds: 32, ..GeneralOptions::default() };
        let valuer = GeneralValuer::new(fit.clone(), data.rows(), Sizes::new(n + 1, n + 1), options).unwrap();
        let point = Data::of(&Sample { columns: vec![vec![x[0]], vec![x[1]]], y: vec![2.5] });
        let found = valuer.values(point.rows(), &|_, _| true).unwrap();
        assert_eq!(found.singular_share, 0.0);
        assert_close(found.values.value[0], expected, 1e-10);
    }
}

/// A feature that few rows have is missing from most small sets. They are drawn again,
/// and their share is reported.
#[test]
fn singular_sets_are_counted() {
    let n = 100;
    let mut draws = Draws::new(72);
    let rare = (0..n).map(|i| f64::from(u8::from(i < 3))).collect();
    let columns = vec![(0..n).map(|_| draws.normal()).collect(), rare];
    let sample = Sample { columns, y: (0..n).map(|_| draws.normal()).collect() };
    let data = Data::of(&sample);
    let fit = LinearFit::new(&Moments::of(data.rows()).unwrap(), UNCENTRED).unwrap();
    let share = |sizes, ridge| {
        let options = GeneralOptions { ridge, max_rounds: 64, ..GeneralOptions::default() };
        let valuer = GeneralValuer::new(fit.clone(), data.rows(), sizes, options).unwrap();
        valuer.leave_one_out(&|_, _| true).unwrap().singular_share
    };
    // Seven of a hundred rows miss three of them with probability 0.8.
    let found = share(Sizes::new(8, 8), 0.0);
    assert!((found - 0.8).abs() < 0.15, "{found}");
    assert_eq!(share(Sizes::new(8, 8), 0.1), 0.0);
}
