//! What values say about targets and labels, against fits without the row.

use dshap::classification::{
    ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions, OneVsRest, with_class,
};
use dshap::linear::{FitOptions, LinearFit, LinearMethod, LinearValuer};
use dshap::{Part, Rows, Sizes, Valuer};
use dshap_testkit::Draws;
use faer::Mat;

const N: usize = 300;

/// Rows of three features, a quantity and a label of two or three.
fn table(n_classes: usize) -> (Mat<f64>, Vec<f64>, Vec<f64>) {
    let mut draws = Draws::new(17);
    let x = Mat::from_fn(N, 3, |_, _| draws.normal());
    let y = (0..N).map(|i| x[(i, 0)] - 2.0 * x[(i, 2)] + 3.0 + draws.normal()).collect();
    let label = |i: usize| {
        let score = x[(i, 0)] + 0.5 * x[(i, 1)] + 1.5 * draws.normal();
        ((score + 2.0) / 4.0 * n_classes as f64).floor().clamp(0.0, n_classes as f64 - 1.0)
    };
    let labels = (0..N).map(label).collect();
    (x, y, labels)
}

#[test]
fn predictions_of_a_regression_are_those_without_the_row() {
    let (x, y, _) = table(2);
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fit = LinearFit::of(rows, FitOptions::default()).unwrap();
    let valuer = LinearValuer::new(fit, Sizes::new(13, N), LinearMethod::default()).unwrap();
    let values = valuer.leave_one_out(rows, 0).unwrap();
    let part = |part| values.part(part).unwrap();
    for i in (0..N).step_by(23) {
        let (others, targets) = without_row(&x, &y, i);
        let fit =
            LinearFit::of(Rows::new(others.as_ref(), &targets).unwrap(), FitOptions::default()).unwrap();
        let slope: f64 = fit.coef().iter().enumerate().map(|(j, coef)| coef * x[(i, j)]).sum();
        let predicted = fit.intercept_value().unwrap() + slope;
        assert!((part(Part::Predicted)[i] - predicted).abs() < 1e-10, "row {i}");
        assert!((part(Part::Residual)[i] - (y[i] - predicted)).abs() < 1e-10, "row {i}");
    }
}

fn valuer(fit: LogisticFit, m: usize) -> ClassificationValuer {
    ClassificationValuer::new(fit, Sizes::new(30, m), ClassificationMethod::default()).unwrap()
}

#[test]
fn probabilities_of_labels_are_those_without_the_row() {
    let (x, _, labels) = table(2);
    let rows = Rows::new(x.as_ref(), &labels).unwrap();
    for ridge in [0.0, 3.0] {
        let options = LogisticOptions { ridge, ..LogisticOptions::default() };
        let valuer = valuer(LogisticFit::of(rows, options).unwrap(), N);
        let values = valuer.leave_one_out(rows).unwrap();
        let (prob, full) = (values.part(Part::LabelProb).unwrap(), values.part(Part::Prob).unwrap());
        for i in (0..N).step_by(11) {
            let (others, targets) = without_row(&x, &labels, i);
            let refit = LogisticFit::of(Rows::new(others.as_ref(), &targets).unwrap(), options).unwrap();
            let truth = refit.stats(rows.slice(i, 1)).unwrap()[0].prob;
            let truth = if labels[i] == 1.0 { truth } else { 1.0 - truth };
            let own = if labels[i] == 1.0 { full[i] } else { 1.0 - full[i] };
            // A step of Newton's method leaves little of what leaving the row out changes.
            assert!((prob[i] - truth).abs() < 0.1 * (own - truth).abs() + 1e-9, "{} {truth} {own}", prob[i]);
            assert!(prob[i] < own, "a row makes its own label more probable");
            assert_eq!(values.part(Part::GivenLabel).unwrap()[i], labels[i]);
            let predicted = if prob[i] >= 0.5 { labels[i] } else { 1.0 - labels[i] };
            assert_eq!(values.part(Part::PredictedLabel).unwrap()[i], predicted);
        }
    }
}

#[test]
fn probabilities_of_several_labels_are_shares() {
    let (x, _, labels) = table(3);
    let rows = Rows::new(x.as_ref(), &labels).unwrap();
    let fit =
        |class| with_class(rows, class, |rows| LogisticFit::of(rows, LogisticOptions::default()).unwrap());
    let fits: Vec<LogisticFit> = (0..3).map(fit).collect();
    let all = OneVsRest::new(fits.clone(), Sizes::new(30, N), ClassificationMethod::default()).unwrap();
    let values = all.values(rows).unwrap();
    let zeros = vec![0.0; N];
    let plain = Rows::new(x.as_ref(), &zeros).unwrap();
    let probs: Vec<Vec<f64>> =
        fits.iter().map(|fit| fit.stats(plain).unwrap().iter().map(|row| row.prob).collect()).collect();
    for i in 0..N {
        let total: f64 = probs.iter().map(|prob| prob[i]).sum();
        let given = labels[i] as usize;
        let found = values.part(Part::LabelProb).unwrap()[i];
        assert!((found - probs[given][i] / total).abs() < 1e-12, "row {i}");
        let best = (0..3).max_by(|a, b| probs[*a][i].total_cmp(&probs[*b][i])).unwrap();
        assert_eq!(values.part(Part::PredictedLabel).unwrap()[i], best as f64);
        assert_eq!(values.part(Part::GivenLabel).unwrap()[i], labels[i]);
    }
}

/// The others label each row as it is, so only the row's own label changes.
#[test]
fn a_row_with_the_other_label_has_the_value_of_such_a_row() {
    let (x, _, labels) = table(2);
    let rows = Rows::new(x.as_ref(), &labels).unwrap();
    let flipped: Vec<f64> = labels.iter().map(|label| 1.0 - label).collect();
    let others = Rows::new(x.as_ref(), &flipped).unwrap();
    let valuer = valuer(LogisticFit::of(rows, LogisticOptions::default()).unwrap(), N);
    // A row that is no part of the reference: exactly.
    let expected = valuer.values(others).unwrap().value;
    for (found, expected) in valuer.with_other_label(rows, false).unwrap().iter().zip(expected) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-6), "{found} {expected}");
    }
    // A row of the reference: potential − penalty with the surprise of the other label.
    let own = valuer.leave_one_out(rows).unwrap();
    let relabelled = valuer.with_other_label(rows, true).unwrap();
    let part = |part| own.part(part).unwrap();
    for i in 0..N {
        // (y − π)² on the scale of the penalty, whose factor is the same for both labels.
        let weight = part(Part::Weight)[i];
        let unit = part(Part::Penalty)[i] / surprise(&x, &labels, i).powi(2);
        let other = surprise(&x, &labels, i) + 1.0 - 2.0 * labels[i];
        let expected = part(Part::Potential)[i] - unit * other * other;
        let room = 0.02 * expected.abs() + 0.02 * part(Part::Potential)[i];
        assert!(weight < 0.01 || (relabelled[i] - expected).abs() < room, "{} {expected}", relabelled[i]);
    }
}

/// `y − π` by the fit without a row.
fn surprise(x: &Mat<f64>, labels: &[f64], i: usize) -> f64 {
    let (others, targets) = without_row(x, labels, i);
    let refit =
        LogisticFit::of(Rows::new(others.as_ref(), &targets).unwrap(), LogisticOptions::default()).unwrap();
    let row = Mat::from_fn(1, x.ncols(), |_, j| x[(i, j)]);
    labels[i] - refit.stats(Rows::new(row.as_ref(), &[0.0]).unwrap()).unwrap()[0].prob
}

fn without_row(x: &Mat<f64>, y: &[f64], row: usize) -> (Mat<f64>, Vec<f64>) {
    let skip = |i: usize| if i < row { i } else { i + 1 };
    let others = Mat::from_fn(x.nrows() - 1, x.ncols(), |i, j| x[(skip(i), j)]);
    (others, (0..y.len() - 1).map(|i| y[skip(i)]).collect())
}

#[test]
fn deviations_in_a_logistic_fit_add_up_to_the_squared_distance() {
    let (x, _, labels) = table(2);
    let rows = Rows::new(x.as_ref(), &labels).unwrap();
    let fit = LogisticFit::of(rows, LogisticOptions::default()).unwrap();
    let stats = fit.stats(rows).unwrap();
    let mean_weight = stats.iter().map(|row| row.weight).sum::<f64>() / N as f64;
    for i in (0..N).step_by(7) {
        let products: f64 =
            fit.deviations(rows.slice(i, 1)).unwrap().iter().map(|(deviation, pull)| deviation * pull).sum();
        // What the intercept alone gives every row of its weight.
        let rest = stats[i].weight / mean_weight;
        assert!((products + rest - stats[i].dist_sq).abs() < 1e-9 * (1.0 + stats[i].dist_sq), "row {i}");
    }
}
