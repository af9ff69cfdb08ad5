//! A model that refits its intercept on each set: exactly, and by `(p + 1, a + 1)` where
//! there is no exact form.

use crate::common::{CENTRED, Data, fit};
use dshap::linear::{
    Constant, Convention, FitOptions, GaussianForm, Intercept, LinearFit, LinearMethod, LinearValuer,
    PointStats,
};
use dshap::{Error, Semivalue, Sizes, Valuer};
use dshap_testkit::{Draws, MeanEstimate, Sample, assert_close, cases_under, seeds};
use faer::Mat;
use faer::prelude::Solve;

const REFITTED: FitOptions = FitOptions { intercept: true, refit_intercept: true, allow_dependent: true };

/// `(d², e²)` of points, spread over the range of a table.
const POINTS: [(f64, f64); 8] =
    [(0.0, 0.5), (0.0, 6.0), (1.0, 0.1), (2.0, 4.0), (3.0, 1.0), (4.0, 9.0), (6.0, 0.3), (9.0, 3.0)];
const NOISE_VAR: f64 = 1.4;

/// Values under the definition: sets drawn, the intercept one of the
/// coefficients, the noise integrated out (Proposition 1 at γ = 0).
fn simulated(seed: u64, p: usize, sizes: Sizes, n_draws: usize) -> Vec<MeanEstimate> {
    let (q, m) = (sizes.min(), sizes.max());
    let mut draws = Draws::new(seed);
    let mut means = vec![MeanEstimate::default(); POINTS.len()];
    for _ in 0..n_draws {
        let rows = Mat::from_fn(m, p + 1, |_, j| if j == 0 { 1.0 } else { draws.normal() });
        let mut gram = rows.as_ref().subrows(0, q - 2).transpose() * rows.as_ref().subrows(0, q - 2);
        let mut sums = vec![0.0; POINTS.len()];
        for s in q - 1..m {
            let row = rows.as_ref().row(s - 1);
            gram += row.transpose() * row;
            let factor = gram.as_ref().llt(faer::Side::Lower).unwrap();
            for (sum, &(d2, e2)) in sums.iter_mut().zip(&POINTS) {
                // Any direction works; this one is not an axis.
                let along = (d2 / p as f64).sqrt();
                let x = Mat::from_fn(p + 1, 1, |i, _| if i == 0 { 1.0 } else { along });
                let bx = factor.solve(&x);
                let ell = (x.transpose() * &bx)[(0, 0)];
                // A fresh row (1, x) has the identity as its second moments.
                let quad = (bx.transpose() * &bx)[(0, 0)];
                *sum += quad * ((2.0 + ell) * NOISE_VAR - e2) / (1.0 + ell).powi(2);
            }
        }
        means.iter_mut().zip(sums).for_each(|(mean, sum)| mean.push(sum / m as f64));
    }
    means
}

fn stats(&(dist_sq, resid_sq): &(f64, f64)) -> PointStats {
    PointStats { dist_sq, resid_sq, noise_var: NOISE_VAR }
}

fn plain(dim: usize, sizes: Sizes) -> GaussianForm {
    GaussianForm::new(dim, sizes, Constant::Gain, Convention::Definition).unwrap()
}

#[test]
fn values_match_the_table() {
    for case in cases_under("reference/extensions.json", "refit_intercept") {
        let sizes = Sizes::new(case.count("q"), case.count("m"));
        let form = GaussianForm::refitted(case.count("p"), sizes).unwrap();
        let row = PointStats {
            dist_sq: case.number("a"),
            resid_sq: case.number("e2"),
            noise_var: case.number("sigma2"),
        };
        for found in [form.value(row), form.value_once(row)] {
            let error = (found.value - case.number("value")).abs();
            assert!(error <= 1e-11 * (found.potential + found.penalty), "{case:?}: {found:?}, {error:.1e}");
        }
    }
}

/// The exact form is that of refitted models; that of a known intercept and `(p + 1, a + 1)` are not.
#[test]
fn refitted_models_agree() {
    for seed in seeds(7100) {
        for (p, q, m, n_draws) in [(1, 8, 12, 40_000), (2, 12, 20, 15_000), (5, 20, 26, 8000)] {
            let sizes = Sizes::new(q, m);
            let found = simulated(seed, p, sizes, n_draws);
            let form = GaussianForm::refitted(p, sizes).unwrap();
            let (mut ignored, mut near) = (0.0_f64, 0.0_f64);
            for (mean, point) in found.iter().zip(&POINTS) {
                mean.assert_agrees(form.value(stats(point)).value, &format!("p = {p}, {point:?}"));
                ignored = ignored.max(mean.z(plain(p, sizes).value(stats(point)).value).abs());
                let more = PointStats { dist_sq: point.0 + 1.0, ..stats(point) };
                near = near.max(mean.z(plain(p + 1, sizes).value(more).value).abs());
            }
            assert!(ignored > 20.0, "p = {p}: a known intercept is only {ignored:.1} standard errors away");
            assert!(near > 8.0, "p = {p}: (p + 1, a + 1) is only {near:.1} standard errors away");
        }
    }
}

/// Tables against integrals, over all distances, many rows and semivalues.
#[test]
fn tables_are_as_good_as_integrals() {
    for law in [Semivalue::Shapley, Semivalue::Banzhaf, Semivalue::Beta(1.0, 16.0), Semivalue::AtMax] {
        for (p, q, m) in [(1, 5, 9), (1, 11, 1000), (10, 20, 100_000), (200, 400, 3000)] {
            let form = GaussianForm::refitted(p, Sizes::new(q, m).with_semivalue(law)).unwrap();
            for a in [0.0, 1e-30, 1e-3, 0.7, 1.0, 2.9, 17.0, 300.0, 4e4, 1e9, 1e30, 1e45] {
                let row = PointStats { dist_sq: a, resid_sq: 0.4, noise_var: 1.0 };
                let (one, two) = (form.value(row), form.value_once(row));
                assert_close(one.potential, two.potential, 1e-11);
                assert_close(one.penalty, two.penalty, 1e-11);
            }
        }
    }
}

/// Many rows know their mean: the intercept hardly matters, except at the mean itself.
#[test]
fn many_rows_know_the_intercept() {
    let sizes = Sizes::new(20_001, 20_001).with_semivalue(Semivalue::AtMax);
    let (exact, near) = (GaussianForm::refitted(3, sizes).unwrap(), plain(4, sizes));
    for point in &POINTS {
        let more = PointStats { dist_sq: point.0 + 1.0, ..stats(point) };
        assert_close(exact.value(stats(point)).potential, near.value(more).potential, 1e-3);
    }
}

/// Errors of distance, residual and noise, each by differences of the form itself.
#[test]
fn standard_errors_follow_the_slopes() {
    let form = GaussianForm::refitted(3, Sizes::new(20, 200)).unwrap();
    for point in &POINTS[2..] {
        let row = stats(point);
        let value = |a: f64, e2: f64, noise_var: f64| {
            form.value_once(PointStats { dist_sq: a, resid_sq: e2, noise_var }).value
        };
        let (a, e, s2, n) = (row.dist_sq, row.resid_sq.sqrt(), NOISE_VAR, 500.0);
        let step = 1e-4;
        let by_a = (value(a + step, e * e, s2) - value(a - step, e * e, s2)) / (2.0 * step);
        let by_e = (value(a, (e + step).powi(2), s2) - value(a, (e - step).powi(2), s2)) / (2.0 * step);
        let by_s2 = (value(a, e * e, s2 + step) - value(a, e * e, s2 - step)) / (2.0 * step);
        let variance = by_a.powi(2) * (2.0 * a * a + 4.0 * a) / n
            + by_e.powi(2) * s2 * (a + 1.0) / n
            + by_s2.powi(2) * 2.0 * s2 * s2 / 496.0;
        assert_close(form.std_error(row, n, 496.0, Intercept::Refitted), variance.sqrt(), 1e-5);
    }
}

#[test]
fn small_sets_are_refused() {
    assert!(matches!(GaussianForm::refitted(3, Sizes::new(6, 50)), Err(Error::Sizes { .. })));
    assert!(GaussianForm::refitted(3, Sizes::new(7, 50)).is_ok());
    assert!(GaussianForm::refitted(3, Sizes::new(7, 50)).unwrap().with_constant(Constant::Theorem).is_err());
}

#[test]
fn a_valuer_reports_the_distance_from_the_mean() {
    let sample = Sample::gaussian(5, 300, 3, 1.0);
    let data = Data::of(&sample);
    let value = |options| {
        let fit: LinearFit = fit(&sample, options);
        let valuer = LinearValuer::new(fit, Sizes::new(20, 300), LinearMethod::default()).unwrap();
        (valuer.fit().model_dim(), valuer.with_std_error(true).values(data.rows()).unwrap())
    };
    let ((p, known), (p_refitted, refitted)) = (value(CENTRED), value(REFITTED));
    assert_eq!((p, p_refitted), (3, 4));
    let part = |values: &dshap::Values, row: usize| values.part(dshap::Part::DistSq).unwrap()[row];
    for row in 0..300 {
        assert_close(part(&refitted, row), part(&known, row), 1e-15);
        assert!(refitted.value[row] != known.value[row]);
        assert!(refitted.std_error.as_ref().unwrap()[row] > 0.0);
    }
    // A row at the mean informs the intercept.
    let centre: Vec<f64> = sample.columns.iter().map(|c| c.iter().sum::<f64>() / 300.0).collect();
    let mean = Sample {
        columns: centre.iter().map(|&m| vec![m]).collect(),
        y: vec![sample.y.iter().sum::<f64>() / 300.0],
    };
    let at_mean = |options| {
        let valuer = LinearValuer::new(fit(&sample, options), Sizes::new(20, 300), LinearMethod::default());
        valuer.unwrap().values(Data::of(&mean).rows()).unwrap().value[0]
    };
    assert!(at_mean(REFITTED) > 0.0 && at_mean(CENTRED).abs() < 1e-12);
}

#[test]
fn a_fit_that_was_put_away_remembers() {
    let fit = fit(&Sample::gaussian(6, 100, 2, 1.0), REFITTED);
    let again = LinearFit::from_parts(fit.to_parts()).unwrap();
    assert_eq!((again.intercept_kind(), again.model_dim()), (Intercept::Refitted, 3));
}
