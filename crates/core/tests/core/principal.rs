//! Principal components of moments: the directions of a direct decomposition.

use dshap::{Error, Moments, PrincipalComponents, Rows};
use dshap_testkit::{Draws, assert_close};
use faer::{Mat, Side};

/// Rows with variances 25, 9, 1 and 0.25 along rotated axes, far from zero.
fn turned(n: usize) -> (Mat<f64>, Vec<f64>) {
    let mut draws = Draws::new(41);
    let spread = [5.0, 3.0, 1.0, 0.5];
    let mix = [[0.5, 0.5, 0.5, 0.5], [0.5, -0.5, 0.5, -0.5], [0.5, 0.5, -0.5, -0.5], [0.5, -0.5, -0.5, 0.5]];
    let z = Mat::from_fn(n, 4, |_, k| spread[k] * draws.normal());
    let x = Mat::from_fn(n, 4, |i, j| 1e3 + (0..4).map(|k| mix[j][k] * z[(i, k)]).sum::<f64>());
    (x, (0..n).map(|i| (i % 7) as f64).collect())
}

#[test]
fn components_are_the_axes_of_largest_variance() {
    let (x, y) = turned(500);
    let moments = Moments::of(Rows::new(x.as_ref(), &y).unwrap()).unwrap();
    let found = PrincipalComponents::of(&moments, 2).unwrap();
    // The covariance formed from the rows themselves, about their mean.
    let mean: Vec<f64> = (0..4).map(|j| x.col(j).iter().sum::<f64>() / 500.0).collect();
    let centred = Mat::from_fn(500, 4, |i, j| x[(i, j)] - mean[j]);
    let cov = centred.transpose() * &centred;
    let eigen = cov.self_adjoint_eigen(Side::Lower).unwrap();
    let values: Vec<f64> = (0..4).map(|k| eigen.S().column_vector()[k]).collect();
    assert_close(found.explained(), (values[3] + values[2]) / values.iter().sum::<f64>(), 1e-10);
    (0..4).for_each(|j| assert_close(found.mean()[j], mean[j], 1e-13));
    let along = &centred * found.axes();
    for k in 0..2 {
        let variance: f64 = along.col(k).iter().map(|cell| cell * cell).sum();
        assert_close(variance, values[3 - k], 1e-10);
        let axis: Vec<f64> = found.axes().col(k).iter().copied().collect();
        let peak = axis
            .iter()
            .copied()
            .fold(0.0, |peak: f64, cell| if cell.abs() > peak.abs() { cell } else { peak });
        assert!(peak > 0.0, "the sign is settled");
        assert_close(axis.iter().map(|cell| cell * cell).sum::<f64>(), 1.0, 1e-12);
    }
    let across: f64 = (0..500).map(|i| along[(i, 0)] * along[(i, 1)]).sum();
    assert!(across.abs() < 1e-9 * values[2], "components do not correlate");
}

#[test]
fn weights_count_and_units_may_be_extreme() {
    let (x, y) = turned(60);
    let twice = Mat::from_fn(80, 4, |i, j| x[(i % 60, j)]);
    let y_twice: Vec<f64> = (0..80).map(|i| y[i % 60]).collect();
    let weights: Vec<f64> = (0..60).map(|i| if i < 20 { 2.0 } else { 1.0 }).collect();
    let of = |rows: Rows<'_>| PrincipalComponents::of(&Moments::of(rows).unwrap(), 3).unwrap();
    let weighted = of(Rows::new(x.as_ref(), &y).unwrap().with_weights(&weights).unwrap());
    let repeated = of(Rows::new(twice.as_ref(), &y_twice).unwrap());
    let scaled = Mat::from_fn(60, 4, |i, j| x[(i, j)] * 2_f64.powi(400));
    let large = of(Rows::new(scaled.as_ref(), &y).unwrap().with_weights(&weights).unwrap());
    for (j, k) in (0..4).flat_map(|j| (0..3).map(move |k| (j, k))) {
        let [one, same, scaled] = [&weighted, &repeated, &large].map(|found| found.axes()[(j, k)]);
        assert!((one - same).abs() < 1e-11 && (one - scaled).abs() < 1e-13);
    }
    assert_close(weighted.explained(), large.explained(), 1e-13);
}

#[test]
fn components_that_there_are_not_are_refused() {
    let (x, y) = turned(3);
    let moments = Moments::of(Rows::new(x.as_ref(), &y).unwrap()).unwrap();
    for wanted in [0, 3, 5] {
        let error = PrincipalComponents::of(&moments, wanted).unwrap_err();
        assert_eq!(error, Error::TooManyComponents { wanted, n_features: 4, n_rows: 3 });
    }
    assert!(PrincipalComponents::of(&moments, 2).is_ok());
}
