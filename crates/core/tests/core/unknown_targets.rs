//! Rows whose targets are not known: what is expected of them.

use crate::common::classification::{PLAIN, labelled, table};
use crate::common::{CENTRED, Data, fit, moments};
use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticFit, OneVsRest};
use dshap::linear::{
    Bound, Convention, FitOptions, LinearFit, LinearMethod, LinearValuer, Side, TestMoments,
};
use dshap::{Part, Rows, Sizes, Valuer, Values};
use dshap_testkit::{Sample, assert_close};

fn sizes() -> Sizes {
    Sizes::new(20, 150)
}

/// Valuers with a closed form: known and refitted intercepts, and test rows.
fn valuers(sample: &Sample) -> Vec<LinearValuer> {
    let refitted = FitOptions { refit_intercept: true, ..CENTRED };
    let plain = |fit: LinearFit| LinearValuer::new(fit, sizes(), LinearMethod::default()).unwrap();
    let tests = TestMoments { moments: moments(&Sample::gaussian(2, 30, 3, 2.0)), has_targets: true };
    let on_tests = LinearValuer::on_tests(fit(sample, CENTRED), sizes(), None, &tests).unwrap();
    vec![plain(fit(sample, CENTRED)), plain(fit(sample, refitted)), on_tests]
}

/// A value is quadratic in the residual, so its mean is that of two targets, one deviation of the
/// noise above the prediction and one below.
#[test]
fn expected_values_are_means_over_the_noise() {
    let sample = Sample::gaussian(1, 200, 3, 1.5);
    let mut points = Sample::gaussian(3, 12, 3, 1.0);
    for mut valuer in valuers(&sample) {
        let fit = valuer.fit().clone();
        let predicted: Vec<f64> = (0..12)
            .map(|i| {
                let slope = (0..3).map(|j| fit.coef()[j] * points.columns[j][i]).sum::<f64>();
                slope + fit.intercept_value().unwrap()
            })
            .collect();
        let mut at = |deviations: f64| -> Values {
            points.y = predicted.iter().map(|y| y + deviations * fit.noise_var().sqrt()).collect();
            valuer.values(Data::of(&points).rows()).unwrap()
        };
        let (above, below, exact) = (at(1.0), at(-1.0), at(0.0));
        assert!(valuer.expect_targets());
        let expected = valuer.values(Data::of(&points).rows()).unwrap();
        assert_eq!(valuer.parts(), [Part::Potential, Part::Penalty, Part::DistSq]);
        for row in 0..12 {
            assert_close(expected.value[row], (above.value[row] + below.value[row]) / 2.0, 1e-9);
            let potential = |values: &Values| values.part(Part::Potential).unwrap()[row];
            assert_close(potential(&expected), potential(&exact), 1e-12);
            assert_close(potential(&exact), exact.value[row], 1e-9);
        }
        // Targets are not looked at, and there are no standard errors.
        points.y.fill(1e3);
        let again = valuer.values(Data::of(&points).rows()).unwrap();
        assert_eq!(again.value, expected.value);
        assert!(again.std_error.is_none());
    }
}

#[test]
fn expected_labels_are_means_over_both() {
    let (x, y) = table(&labelled(5, 250, &[0.2, 1.0, -0.6]));
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fit = LogisticFit::of(rows, PLAIN).unwrap();
    let make = || ClassificationValuer::new(fit.clone(), sizes(), ClassificationMethod::default()).unwrap();
    let with = |label: f64| make().values(Rows::new(x.as_ref(), &vec![label; 250]).unwrap()).unwrap();
    let (yes, no) = (with(1.0), with(0.0));
    let mut valuer = make();
    assert!(valuer.expect_targets());
    let expected = valuer.values(rows).unwrap();
    let mut both = OneVsRest::of(vec![make(), make()]).unwrap();
    assert!(both.expect_targets());
    for row in 0..250 {
        let prob = yes.part(Part::Prob).unwrap()[row];
        assert_close(expected.value[row], prob * yes.value[row] + (1.0 - prob) * no.value[row], 1e-8);
    }
}

#[test]
fn a_bound_of_an_unknown_target_is_refused() {
    let method = LinearMethod::Bound(Bound::new(Side::Lower, Convention::Definition));
    let sample = Sample::gaussian(7, 400, 2, 1.0);
    let mut valuer = LinearValuer::new(fit(&sample, CENTRED), Sizes::new(300, 400), method).unwrap();
    assert!(!valuer.expect_targets());
}
