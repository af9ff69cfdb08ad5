//! Logistic regression: passes, chunks, columns, and data that have no fit.

use crate::common::classification as setting;

use dshap::classification::{
    ClassificationMethod, ClassificationValuer, Irls, LogisticFit, LogisticOptions, Step,
};
use dshap::{BLOCK_ROWS, Error, Rows, Sizes, Valuer, Warning};
use dshap_testkit::{Draws, Sample, assert_close, assert_same_bits, on_threads, seeds};
use faer::Mat;
use setting::{NO_INTERCEPT, PLAIN, in_chunks, labelled, logistic, table, try_logistic};

fn bits(fit: &LogisticFit) -> Vec<f64> {
    let parts = fit.to_parts();
    [parts.beta, parts.lower, parts.shift, parts.offset, vec![parts.loss]].concat()
}

// ---- Passes ----------------------------------------------------------------

#[test]
fn chunks_and_threads_do_not_change_a_bit() {
    let n = 3 * BLOCK_ROWS + 777;
    let (x, y) = table(&labelled(90, n, &[0.3, 1.0, -0.7, 0.2]));
    let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 7) as f64 / 3.0).collect();
    let plain = Rows::new(x.as_ref(), &y).unwrap();
    for rows in [plain, plain.with_weights(&weights).unwrap()] {
        let whole = bits(&on_threads(1, || LogisticFit::of(rows, PLAIN)).unwrap());
        for (threads, chunk) in [(1, 1000), (3, n), (2, BLOCK_ROWS), (4, 2 * BLOCK_ROWS + 1)] {
            let found = bits(&on_threads(threads, || in_chunks(rows, chunk, PLAIN)).unwrap());
            assert_same_bits(&found, &whole, &format!("{threads} threads, chunks of {chunk}"));
        }
    }
}

/// Whole weights are repeated rows, and rows of weight 0 do not exist.
#[test]
fn weights_are_rows_that_repeat() {
    let sample = labelled(91, 300, &[-0.4, 0.8, 0.5]);
    let weights: Vec<f64> = (0..300).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..300).flat_map(|i| std::iter::repeat_n(i, i % 3)).collect();
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap().with_weights(&weights).unwrap();
    for ridge in [0.0, 3.0] {
        // Weights are scaled to sum to the number of rows; so is what a ridge costs.
        let scale = repeated.len() as f64 / 200.0;
        let weighted = LogisticFit::of(rows, LogisticOptions { ridge, ..PLAIN }).unwrap();
        let long = logistic(&sample.select(&repeated), LogisticOptions { ridge: ridge * scale, ..PLAIN });
        for (a, b) in weighted.coef().iter().zip(long.coef()) {
            assert_close(*a, *b, 1e-12);
        }
        assert_close(weighted.deviance() * scale, long.deviance(), 1e-12);
        assert_eq!(weighted.n_rows(), 200);
    }
}

/// The share is what the weights of all rows make it, whatever their order, and it is saved.
#[test]
fn the_share_of_weights_is_that_of_all_rows() {
    let n = BLOCK_ROWS + 501;
    let sample = labelled(92, n, &[0.4, 2.0, -1.5]);
    let (x, y) = table(&sample);
    let own: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 5 != 0)) * (1.0 + (i % 3) as f64)).collect();
    let plain = Rows::new(x.as_ref(), &y).unwrap();
    for rows in [plain, plain.with_weights(&own).unwrap()] {
        let fit = LogisticFit::of(rows, PLAIN).unwrap();
        let stats = fit.stats(plain).unwrap();
        let counts = |i: usize| rows.weights().map_or(1.0, |own| own[i]);
        let [count, sum, squares] = (0..n).fold([0.0; 3], |[count, sum, squares], i| {
            let (own, weight) = (counts(i), stats[i].weight);
            [count + own, sum + own * weight, squares + own * weight * weight]
        });
        let share = fit.weight_share().unwrap();
        assert_close(share, sum * sum / (count * squares), 1e-9);
        assert!(share < 0.9, "a share of {share} would not tell rows apart");
        let again = LogisticFit::from_parts(fit.to_parts()).unwrap();
        assert_eq!(again.weight_share(), Some(share));
    }
    let backwards: Vec<usize> = (0..n).rev().collect();
    let [there, back] = [logistic(&sample, PLAIN), logistic(&sample.select(&backwards), PLAIN)];
    assert_close(there.weight_share().unwrap(), back.weight_share().unwrap(), 1e-12);
}

/// A label that is rare except in one small group: from equal probabilities the first
/// step puts the group's log-odds at +37 instead of 0, where it has no weight left to
/// return. The fit is known: log-odds of the shares.
#[test]
fn steps_that_overshoot_are_halved() {
    let group = |i: usize| f64::from(u8::from(i < 4));
    let sample = Sample {
        columns: vec![(0..1000).map(group).collect()],
        y: (0..1000).map(|i| f64::from(u8::from(!(2..990).contains(&i)))).collect(),
    };
    let fit = logistic(&sample, PLAIN);
    let others = (10.0_f64 / 986.0).ln();
    assert_close(fit.intercept_value().unwrap(), others, 1e-12);
    assert_close(fit.coef()[0], -others, 1e-12);
}

/// Rows of enormous leverage that agree with the others: the score equations hold.
#[test]
fn far_rows_do_not_disturb_the_fit() {
    let mut sample = labelled(92, 200, &[0.0, 3.0]);
    for i in 0..4 {
        sample.columns[0][i] = 3000.0 * if i % 2 == 0 { 1.0 } else { -1.0 };
        sample.y[i] = f64::from(u8::from(i % 2 == 0));
    }
    let fit = logistic(&sample, PLAIN);
    let score = |column: &dyn Fn(usize) -> f64| -> f64 {
        let prob = |i: usize| {
            let eta = fit.intercept_value().unwrap() + fit.coef()[0] * sample.columns[0][i];
            1.0 / (1.0 + (-eta).exp())
        };
        (0..200).map(|i| column(i) * (sample.y[i] - prob(i))).sum()
    };
    assert!(score(&|_| 1.0).abs() < 1e-9, "{:e}", score(&|_| 1.0));
    assert!(score(&|i| sample.columns[0][i]).abs() < 1e-7, "{:e}", score(&|i| sample.columns[0][i]));
    assert!(fit.coef()[0] > 2.0, "{}", fit.coef()[0]);
}

#[test]
fn passes_must_see_the_same_rows() {
    let (x, y) = table(&labelled(93, 50, &[0.2, 0.6]));
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let mut irls = Irls::new(1, PLAIN).unwrap();
    let stale = irls.begin_pass();
    let mut pass = irls.begin_pass();
    pass.push(rows).unwrap();
    assert!(matches!(irls.finish_pass(pass), Ok(Step::Again)));
    let mut short = irls.begin_pass();
    short.push(rows.slice(0, 49)).unwrap();
    assert!(matches!(irls.finish_pass(short), Err(Error::Contradiction { .. })));
    assert!(matches!(irls.finish_pass(stale), Err(Error::Contradiction { .. })), "it is over");
}

// ---- Columns ---------------------------------------------------------------

#[test]
fn dependent_and_constant_features_are_left_out() {
    let sample = labelled(94, 120, &[0.2, 0.9, -0.5]);
    let fit = logistic(&sample, PLAIN);
    let sum: Vec<f64> = (0..120).map(|i| 2.0 * sample.columns[0][i] - sample.columns[1][i] + 4.0).collect();
    let copies = Sample {
        columns: vec![
            vec![7.0; 120],
            sample.columns[0].clone(),
            sample.columns[0].clone(),
            sample.columns[1].clone(),
            sum,
        ],
        y: sample.y.clone(),
    };
    let found = logistic(&copies, PLAIN);
    assert_eq!((found.kept(), found.dropped()), (&[1, 3][..], &[0, 2, 4][..]));
    assert_same_bits(found.coef(), fit.coef(), "coefficients");
    assert_eq!(found.warnings(), [Warning::DroppedColumns { columns: vec![0, 2, 4] }]);
    let strict = LogisticOptions { allow_dependent: false, ..PLAIN };
    assert_eq!(try_logistic(&copies, strict).unwrap_err(), Error::Dependent { columns: vec![0, 2, 4] });
    // Without an intercept a constant is a feature, and the sum depends on it.
    let found = logistic(&copies, NO_INTERCEPT);
    assert_eq!(found.dropped(), [2, 4]);
    assert_close(found.coef()[0] * 7.0, fit.intercept_value().unwrap(), 1e-10);
}

/// Two dummies differ in one row only, of which the fit is so certain that it has
/// no weight: on the working variables they are the same. The second goes, and
/// the fit is that without it.
#[test]
fn features_that_the_weights_leave_dependent_are_left_out() {
    let mut sample = labelled(120, 200, &[0.2, 1.5]);
    (sample.columns[0][11], sample.y[11]) = (60.0, 1.0);
    let without = sample.clone().with_column((0..200).map(|i| f64::from(u8::from(i < 12))).collect());
    let both = without.clone().with_column((0..200).map(|i| f64::from(u8::from(i < 11))).collect());
    let ridge = LogisticOptions { ridge: 0.1, ..PLAIN };
    let (found, expected) = (logistic(&both, ridge), logistic(&without, ridge));
    assert_eq!((found.dropped(), found.dim()), (&[2][..], 3));
    for (a, b) in found.coef().iter().zip(expected.coef()) {
        assert_close(*a, *b, 1e-12);
    }
    let strict = LogisticOptions { allow_dependent: false, ..ridge };
    assert_eq!(try_logistic(&both, strict).unwrap_err(), Error::Dependent { columns: vec![2] });
}

#[test]
fn rows_that_cannot_be_fitted_are_refused_with_a_reason() {
    let sample = labelled(95, 30, &[0.2, 0.9]);
    let (x, mut y) = table(&sample);
    let fit = |y: &[f64]| LogisticFit::of(Rows::new(x.as_ref(), y).unwrap(), PLAIN);
    assert_eq!(fit(&[1.0; 30]).unwrap_err(), Error::OneClass { label: 1 });
    assert_eq!(fit(&[0.0; 30]).unwrap_err(), Error::OneClass { label: 0 });
    y[11] = 2.0;
    assert_eq!(fit(&y).unwrap_err(), Error::NotBinary { row: 11 });
    y[11] = f64::NAN;
    assert_eq!(fit(&y).unwrap_err(), Error::NotFinite { row: 11, column: 1 });
    let short = sample.select(&[0, 1, 2]);
    assert!(matches!(try_logistic(&short, PLAIN), Err(Error::TooFewRows { .. } | Error::OneClass { .. })));
    let constant = Sample { columns: vec![vec![3.0; 30]], y: sample.y.clone() };
    assert_eq!(try_logistic(&constant, PLAIN).unwrap_err(), Error::NoFeatures { n_features: 1 });
    for ridge in [-1.0, f64::NAN, f64::INFINITY] {
        let options = LogisticOptions { ridge, ..PLAIN };
        assert!(matches!(try_logistic(&sample, options), Err(Error::BadOption { .. })), "{ridge}");
    }
    let mut bad = sample.clone();
    bad.columns[0][7] = f64::INFINITY;
    assert_eq!(try_logistic(&bad, PLAIN).unwrap_err(), Error::NotFinite { row: 7, column: 0 });
    bad.columns[0][7] = 1e200;
    assert_eq!(try_logistic(&bad, PLAIN).unwrap_err(), Error::TooLarge);
    // One class without the rows of weight 0.
    let weights = sample.y.clone();
    let (x, y) = table(&sample);
    let rows = Rows::new(x.as_ref(), &y).unwrap().with_weights(&weights).unwrap();
    assert_eq!(LogisticFit::of(rows, PLAIN).unwrap_err(), Error::OneClass { label: 1 });
}

#[test]
fn plain_numbers_make_the_same_fit_again() {
    for ridge in [0.0, 1.3] {
        let sample = labelled(96, 80, &[0.2, 0.9, -0.3]);
        let fit = logistic(&sample, LogisticOptions { ridge, ..PLAIN });
        let again = LogisticFit::from_parts(fit.to_parts()).unwrap();
        assert_eq!(again.to_parts(), fit.to_parts());
        let (x, y) = table(&sample);
        let rows = Rows::new(x.as_ref(), &y).unwrap();
        assert_eq!(again.stats(rows).unwrap(), fit.stats(rows).unwrap());
        type Damage = fn(&mut dshap::classification::LogisticParts);
        let damages: [Damage; 10] = [
            |parts| parts.kept = vec![1, 0],
            |parts| parts.beta.push(0.0),
            |parts| parts.lower[0] = -1.0,
            |parts| parts.lower[1] = f64::NAN,
            |parts| parts.scale[0] = 0.0,
            |parts| parts.n_features = 3,
            |parts| parts.n_positive = 0,
            |parts| parts.penalised = if parts.ridge > 0.0 { None } else { Some(parts.lower.clone()) },
            |parts| parts.effective_rows = 2.0,
            |parts| parts.loss = f64::INFINITY,
        ];
        for (i, damage) in damages.iter().enumerate() {
            let mut parts = fit.to_parts();
            damage(&mut parts);
            assert!(matches!(LogisticFit::from_parts(parts), Err(Error::Contradiction { .. })), "damage {i}");
        }
    }
}

// ---- Separation ------------------------------------------------------------

/// Whether the classes are separated, found without a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lie {
    Mixed,
    Touching,
    Apart,
}

/// Exactly, for points of the plane with whole coordinates and an intercept.
///
/// The directions `d` with `±xᵀd ≥ 0` on all rows are a cone. If the rows span
/// the space it is pointed, and is nothing but 0 unless one of its edges, where
/// two rows have `xᵀd = 0`, is in it; the sum of all edges lies in its inside.
fn lie(points: &[[i64; 2]], labels: &[bool]) -> Option<Lie> {
    let rows: Vec<[i64; 3]> = points
        .iter()
        .zip(labels)
        .map(|(&[x, y], &label)| if label { [1, x, y] } else { [-1, -x, -y] })
        .collect();
    let cross = |a: [i64; 3], b: [i64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let dot = |a: [i64; 3], b: [i64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let spans = rows.iter().any(|&a| rows.iter().any(|&b| rows.iter().any(|&c| dot(cross(a, b), c) != 0)));
    if !spans {
        return None;
    }
    let mut inside = [0_i64; 3];
    let mut any = false;
    for &a in &rows {
        for &b in &rows {
            let d = cross(a, b);
            if d != [0; 3] && rows.iter().all(|&row| dot(row, d) >= 0) {
                any = true;
                (0..3).for_each(|j| inside[j] += d[j]);
            }
        }
    }
    Some(match (any, rows.iter().all(|&row| dot(row, inside) > 0)) {
        (false, _) => Lie::Mixed,
        (true, false) => Lie::Touching,
        (true, true) => Lie::Apart,
    })
}

/// The direction of the error must separate as the error says.
#[track_caller]
fn check_direction(sample: &Sample, error: &Error) {
    let Error::Separated { complete, coef, intercept, n_apart, n_between, column } = error else {
        panic!("{error:?}")
    };
    let mut counts = [0, 0];
    let terms = |i: usize| coef.iter().zip(&sample.columns).map(move |(c, x)| c * x[i]).chain([*intercept]);
    let reach = |i: usize| terms(i).map(f64::abs).sum::<f64>();
    let reach = (0..sample.n_rows()).map(reach).fold(0.0, f64::max);
    for i in 0..sample.n_rows() {
        let side = terms(i).sum::<f64>() * if sample.y[i] == 1.0 { 1.0 } else { -1.0 };
        assert!(side > -1e-9 * reach, "row {i} is on the wrong side by {side:e} of {reach:e}: {error:?}");
        counts[usize::from(side > 1e-9 * reach)] += 1;
    }
    assert_eq!((counts[1], counts[0]), (*n_apart, *n_between), "{error:?}");
    assert_eq!(*complete, *n_between == 0);
    assert!(*n_apart > 0 && coef[*column] != 0.0);
}

/// Thousands of small tables, most of them with ties, half of them separated,
/// against exact arithmetic.
#[test]
fn separation_is_found_exactly_when_it_is_there() {
    for seed in seeds(9700) {
        let mut draws = Draws::new(seed);
        let mut n_found = [0; 3];
        while n_found.iter().sum::<usize>() < 3000 {
            let n = 6 + (draws.uniform() * 8.0) as usize;
            let width = 2.0 + (draws.uniform() * 4.0).floor();
            let points: Vec<[i64; 2]> =
                (0..n).map(|_| [0; 2].map(|_: i32| (draws.uniform() * width) as i64)).collect();
            // Labels from a line, some of them random.
            let line = [draws.normal(), draws.normal(), draws.normal()];
            let noise = draws.uniform() * 0.7;
            let labels: Vec<bool> = points
                .iter()
                .map(|[x, y]| {
                    let side =
                        line[0] + line[1] * (*x as f64 - width / 2.0) + line[2] * (*y as f64 - width / 2.0);
                    if draws.uniform() < noise { draws.uniform() < 0.5 } else { side > 0.0 }
                })
                .collect();
            let Some(truth) = lie(&points, &labels).filter(|_| labels.iter().any(|l| *l != labels[0])) else {
                continue;
            };
            n_found[truth as usize] += 1;
            let sample = Sample {
                columns: (0..2).map(|j| points.iter().map(|point| point[j] as f64).collect()).collect(),
                y: labels.iter().map(|label| f64::from(u8::from(*label))).collect(),
            };
            let found = try_logistic(&sample, PLAIN);
            match (truth, &found) {
                (Lie::Mixed, Ok(_)) => {}
                (Lie::Touching, Err(error @ Error::Separated { complete: false, .. }))
                | (Lie::Apart, Err(error @ Error::Separated { complete: true, .. })) => {
                    check_direction(&sample, error)
                }
                _ => panic!("{truth:?}, but {found:?}\n{points:?} {labels:?}"),
            }
            // A ridge helps.
            assert!(try_logistic(&sample, LogisticOptions { ridge: 0.01, ..PLAIN }).is_ok());
        }
        println!("mixed, touching, apart: {n_found:?}");
        assert!(n_found.iter().all(|&n| n > 300), "{n_found:?}");
    }
}

/// Larger tables whose labels follow a combination of features with unlike
/// units and far means.
#[test]
fn complete_separation_is_found_whatever_the_units() {
    for (seed, p) in [(1, 1), (2, 3), (3, 8)] {
        let mut sample = labelled(9800 + seed, 400, &vec![0.5; p + 1]);
        for i in 0..400 {
            let sum: f64 = (0..p).map(|j| sample.columns[j][i]).sum();
            sample.y[i] = f64::from(u8::from(sum > 0.3));
        }
        for (j, column) in sample.columns.iter_mut().enumerate() {
            let (unit, centre) = ([1e3, 1e-4, 1.0][j % 3], [0.0, 1e4, -20.0][j % 3]);
            column.iter_mut().for_each(|x| *x = unit * (*x + centre));
        }
        let error = try_logistic(&sample, PLAIN).unwrap_err();
        let Error::Separated { complete: true, n_apart: 400, n_between: 0, .. } = error else {
            panic!("{error:?}")
        };
        let ridge = logistic(&sample, LogisticOptions { ridge: 1e-3, ..PLAIN });
        assert!(ridge.deviance() > 0.0);
    }
}

/// A rare dummy that occurs with one label only. The error names its column.
#[test]
fn rare_dummies_of_one_label_are_pointed_out() {
    for n_rare in [1, 2, 25] {
        for (seed, intercept) in [(1, true), (2, true), (3, false)] {
            let sample = labelled(9900 + seed, 500, &[0.1, 1.0, -0.8]);
            let ones: Vec<usize> = (0..500).filter(|&i| sample.y[i] == 1.0).take(n_rare).collect();
            let dummy = (0..500).map(|i| f64::from(u8::from(ones.contains(&i)))).collect();
            let mut with_dummy = sample.clone();
            with_dummy.columns.insert(1, dummy);
            let error = try_logistic(&with_dummy, LogisticOptions { intercept, ..PLAIN }).unwrap_err();
            let Error::Separated { complete: false, column: 1, n_apart, n_between, ref coef, .. } = error
            else {
                panic!("{error:?}")
            };
            assert_eq!((n_apart, n_between), (n_rare, 500 - n_rare));
            assert!(coef[1] > 0.0 && coef[0].abs() < 1e-6 * coef[1] && coef[2].abs() < 1e-6 * coef[1]);
            check_direction(&with_dummy, &error);
            // One row of the other label among them, and there is a fit.
            if n_rare > 1 {
                with_dummy.y[ones[0]] = 0.0;
                assert!(try_logistic(&with_dummy, LogisticOptions { intercept, ..PLAIN }).is_ok());
            }
        }
    }
}

/// Separated except for one row, which is on the wrong side by less and less.
#[test]
fn nearly_separated_data_have_a_fit() {
    for gap in [0.3, 1e-2, 1e-4, 1e-6, 1e-8] {
        let x: Vec<f64> = (0..80).map(|i| f64::from(i) / 40.0 - 0.9875).chain([gap * 0.0125]).collect();
        let y: Vec<f64> = x.iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
        let mut sample = Sample { columns: vec![x], y };
        assert!(
            matches!(try_logistic(&sample, PLAIN), Err(Error::Separated { complete: true, .. })),
            "{gap}"
        );
        sample.y[80] = 0.0;
        assert!(
            matches!(try_logistic(&sample, PLAIN), Err(Error::Separated { complete: true, .. })),
            "the border can move beyond it"
        );
        // Now a row of label 0 lies beyond the first of label 1, by very little.
        sample.columns[0][80] = 0.0125 + gap * 0.0125;
        let fit = logistic(&sample, PLAIN);
        println!("gap {gap:e}: slope {:.1}, {} passes", fit.coef()[0], fit.n_passes());
        assert!(fit.coef()[0] > 10.0 && fit.n_passes() < 60);
        // At the same place the classes touch.
        sample.columns[0][80] = 0.0125;
        let error = try_logistic(&sample, PLAIN).unwrap_err();
        assert!(
            matches!(error, Error::Separated { complete: false, n_between: 2, n_apart: 79, .. }),
            "{error:?}"
        );
    }
}

/// Separation that shows only in combination with others, on many rows: two
/// dummies that never meet the other label, beside features that overlap.
#[test]
fn quasi_separation_among_many_rows_is_found() {
    let mut sample = labelled(9950, 20_000, &[-1.0, 0.7, 0.4, -0.9]);
    let mut draws = Draws::new(9951);
    for label in [1.0, 0.0] {
        let dummy =
            sample.y.iter().map(|&y| f64::from(u8::from(y == label && draws.uniform() < 0.001))).collect();
        sample = sample.with_column(dummy);
    }
    let error = try_logistic(&sample, PLAIN).unwrap_err();
    let Error::Separated { complete: false, column, n_apart, .. } = error else { panic!("{error:?}") };
    let n_rare = sample.columns[3..].iter().flatten().sum::<f64>() as usize;
    assert!(column >= 3 && n_apart == n_rare, "{column} {n_apart} {n_rare}");
    // Heavy overlap, heavy tails, a rare label: no separation.
    let overlap = labelled(9952, 20_000, &[-6.5, 0.1, 0.05]);
    assert!(overlap.y.iter().sum::<f64>() > 5.0);
    assert!(try_logistic(&overlap, PLAIN).is_ok());
    let mut heavy = labelled(9953, 5000, &[0.0, 1.0, -1.0]);
    heavy.columns.iter_mut().flatten().for_each(|x| *x = x.powi(3).sinh());
    logistic(&heavy, PLAIN);
}

#[test]
fn a_fit_without_patience_says_so() {
    let sample = labelled(97, 100, &[0.3, 2.0]);
    let error = try_logistic(&sample, LogisticOptions { max_passes: 3, ..PLAIN }).unwrap_err();
    assert!(matches!(error, Error::NotConverged { n_passes: 3..=5 }), "{error:?}");
}

/// Means a billion times the spread cost no digits.
#[test]
fn far_means_cost_no_digits() {
    let near = labelled(98, 500, &[0.3, 1.0, -0.7]);
    // Cells on a grid that 1e9 does not round.
    let grid = |x: f64| (x * 1048576.0).round() / 1048576.0;
    let mut near = near;
    near.columns.iter_mut().flatten().for_each(|x| *x = grid(*x));
    let mut far = near.clone();
    far.columns[0].iter_mut().for_each(|x| *x += 1e9);
    let (near, far) = (logistic(&near, PLAIN), logistic(&far, PLAIN));
    for (a, b) in near.coef().iter().zip(far.coef()) {
        assert_close(*a, *b, 1e-13);
    }
}

#[test]
fn rows_of_any_strides_will_do() {
    let (x, y) = table(&labelled(99, 60, &[0.3, 1.0, -0.7]));
    let by_rows = Mat::from_fn(2, 60, |j, i| x[(i, j)]);
    let fit = |x| LogisticFit::of(Rows::new(x, &y).unwrap(), PLAIN).unwrap();
    assert_same_bits(&bits(&fit(x.as_ref())), &bits(&fit(by_rows.transpose())), "strides");
}

/// Cells of any size, columns that repeat, weights of any size, few rows: there is either
/// a fit whose rows have values, or an error.
#[test]
fn whatever_the_cells_there_is_a_value_or_a_reason() {
    let mut draws = Draws::new(9990);
    let (mut n_fits, mut n_errors) = (0, 0);
    for _ in 0..3000 {
        let (n, p) = (1 + (draws.uniform() * 30.0) as usize, (draws.uniform() * 4.0) as usize);
        let size = |draws: &mut Draws, most: f64| 10_f64.powf((2.0 * draws.uniform() - 1.0) * most);
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for j in 0..p {
            let (unit, centre) = (size(&mut draws, 160.0), size(&mut draws, 20.0));
            let kind = (draws.uniform() * 4.0) as usize;
            let cell = |draws: &mut Draws| match kind {
                0 => draws.normal() * unit,
                1 => (draws.normal() + centre) * 3.0,
                2 => f64::from(u8::from(draws.uniform() < 0.2)),
                _ => draws.normal() * 10_f64.powf(draws.normal() * 20.0),
            };
            let column = (0..n).map(|_| cell(&mut draws)).collect();
            columns.push(if j > 0 && draws.uniform() < 0.1 { columns[j - 1].clone() } else { column });
        }
        let x = Mat::from_fn(n, p, |i, j| columns[j][i]);
        let y: Vec<f64> = (0..n).map(|_| f64::from(u8::from(draws.uniform() < 0.5))).collect();
        let weights: Vec<f64> = (0..n).map(|_| size(&mut draws, 99.0)).collect();
        let even: Vec<f64> = (0..n).map(|_| (draws.uniform() * 3.0).floor()).collect();
        let rows = Rows::new(x.as_ref(), &y).unwrap();
        let rows = match (draws.uniform() * 4.0) as usize {
            0 => rows.with_weights(&weights).unwrap(),
            1 => rows.with_weights(&even).unwrap(),
            _ => rows,
        };
        let ridge = if draws.uniform() < 0.5 { 0.0 } else { size(&mut draws, 30.0) };
        let options = LogisticOptions { ridge, intercept: draws.uniform() < 0.7, ..PLAIN };
        let Ok(fit) = LogisticFit::of(rows, options) else {
            n_errors += 1;
            continue;
        };
        n_fits += 1;
        let sizes = Sizes::new(fit.dim() + 9, fit.dim() + 40);
        let valuer = ClassificationValuer::new(fit, sizes, ClassificationMethod::default()).unwrap();
        let valuer = valuer.with_std_error(rows).unwrap();
        for values in [valuer.values(rows), valuer.leave_one_out(rows)] {
            let Ok(values) = values else { continue };
            let noted: Vec<usize> = values.notes.iter().map(|(row, _)| *row).collect();
            for (row, value) in values.value.iter().enumerate() {
                assert_eq!(value.is_finite(), !noted.contains(&row), "{values:?}");
            }
        }
    }
    println!("{n_fits} fits, {n_errors} errors");
    assert!(n_fits > 500 && n_errors > 500, "{n_fits} fits, {n_errors} errors");
}
