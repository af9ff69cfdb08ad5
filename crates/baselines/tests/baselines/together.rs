//! Gains of many rows together are those of each alone.

use crate::common::{Table, patient};
use dshap::Sizes;
use dshap::density::Kernel;
use dshap_baselines::{
    KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions, ReferenceRows, Row, Score,
    SmoothedDensity, Stopping, Utility, d_shapley,
};
use dshap_testkit::{Draws, on_threads};
use faer::Mat;

/// Models of both ways have margins that are accurate to about 1e-11, and scores are
/// means of functions of them with slopes of at most 1.
const TOLERANCE: f64 = 1e-10;

/// Compares all gains by `points` after each of `sizes` rows of `table`. Returns the
/// largest gain.
#[track_caller]
fn assert_together_as_alone<U: Utility>(
    utility: &U,
    table: &Table,
    points: &Table,
    sizes: &[usize],
    what: &str,
) -> f64 {
    let cells: Vec<(Vec<f64>, f64)> = (0..points.len()).map(|i| points.row(i)).collect();
    let rows: Vec<Row<'_>> = cells.iter().map(|(x, y)| Row { x, y: *y, memo: utility.memo(x, *y) }).collect();
    let mut set = utility.empty();
    let mut largest: f64 = 0.0;
    for row in 0..=table.len() {
        if sizes.contains(&row) {
            utility.value(&mut set);
            let together = utility.gains(&set, &rows);
            assert_eq!(together.len(), rows.len());
            for (i, (&row_, found)) in rows.iter().zip(together).enumerate() {
                let alone = utility.gain(&set, row_);
                assert!(
                    (found - alone).abs() <= TOLERANCE,
                    "{what}: {row} rows gain {alone} by {i} alone, {found} together"
                );
                largest = largest.max(alone.abs());
            }
            assert!(utility.gains(&set, &[]).is_empty());
        }
        if row < table.len() {
            let (x, y) = table.row(row);
            utility.push(&mut set, Row { x: &x, y, memo: utility.memo(&x, y) });
        }
    }
    largest
}

fn options(n_classes: usize, score: Score, ridge: f64) -> LogisticOptions {
    LogisticOptions { n_classes, score, ridge, ..LogisticOptions::default() }
}

/// No rows, one row, sets that lack a label, more rows than a panel has, and twins of
/// rows that are in the set.
#[test]
fn logistic_gains_are_those_of_each_alone() {
    for n_classes in [2, 3] {
        for score in [Score::Accuracy, Score::LogLoss] {
            for (p, ridge) in [(1, 0.02), (3, 1.0), (12, 0.3)] {
                let test = Table::labels(41, 333, p, n_classes);
                let table = Table::labels(42, 150, p, n_classes);
                let points = Table::labels(43, 40, p, n_classes).with(&table.select(&[0, 1, 1, 149]));
                let utility = Logistic::new(test.rows(), options(n_classes, score, ridge)).unwrap();
                let what = format!("{n_classes} classes by {score:?}, {p} columns");
                let sizes = [0, 1, 2, 3, 5, 9, 30, 63, 64, 65, 150];
                let largest = assert_together_as_alone(&utility, &table, &points, &sizes, &what);
                assert!(largest > 0.01, "{what}");
            }
        }
    }
}

/// A line separates the labels of the set, and only a tiny ridge keeps the coefficients
/// finite.
#[test]
fn separable_sets_are_no_exception() {
    for score in [Score::Accuracy, Score::LogLoss] {
        let apart = |mut table: Table| {
            table.y = (0..table.len()).map(|i| f64::from(u8::from(table.x[(i, 0)] > 0.1))).collect();
            table
        };
        let (test, table) = (Table::labels(44, 200, 3, 2), apart(Table::labels(45, 60, 3, 2)));
        let points = Table::labels(46, 30, 3, 2);
        for ridge in [1e-1, 1e-3, 1e-6] {
            let utility = Logistic::new(test.rows(), options(2, score, ridge)).unwrap();
            let what = format!("{score:?}, ridge {ridge}");
            assert_together_as_alone(&utility, &table, &points, &[4, 20, 60], &what);
        }
    }
}

/// Rows so far away that the set's model does not predict the new one: their models have
/// to be fitted alone.
#[test]
fn rows_far_away_are_fitted_alone() {
    for score in [Score::Accuracy, Score::LogLoss] {
        let (test, table) = (Table::labels(47, 200, 2, 2), Table::labels(48, 50, 2, 2));
        let mut points = Table::labels(49, 24, 2, 2);
        for i in 0..points.len() {
            let scale = 10_f64.powi(i as i32 / 4);
            points.x[(i, 0)] *= scale;
            points.x[(i, 1)] *= scale;
        }
        for ridge in [1.0, 1e-4] {
            let utility = Logistic::new(test.rows(), options(2, score, ridge)).unwrap();
            let what = format!("{score:?}, ridge {ridge}");
            let largest = assert_together_as_alone(&utility, &table, &points, &[6, 50], &what);
            assert!(largest > 0.01, "{what}");
        }
    }
}

/// No intercept, and test rows at the origin, which no model moves.
#[test]
fn rows_without_a_length_keep_their_prediction() {
    let mut test = Table::labels(50, 60, 2, 2);
    test.x.row_mut(3).fill(0.0);
    test.x.row_mut(4).fill(0.0);
    (test.y[3], test.y[4]) = (0.0, 1.0);
    let (table, points) = (Table::labels(51, 40, 2, 2), Table::labels(52, 20, 2, 2));
    for score in [Score::Accuracy, Score::LogLoss] {
        let options = LogisticOptions { intercept: false, score, ..LogisticOptions::default() };
        let utility = Logistic::new(test.rows(), options).unwrap();
        assert_together_as_alone(&utility, &table, &points, &[0, 10, 40], &format!("{score:?}"));
    }
}

#[test]
fn densities_and_least_squares_gain_the_same_together() {
    let mut draws = Draws::new(53);
    let mut cloud = |n: usize| Table { x: Mat::from_fn(n, 3, |_, _| draws.normal()), y: vec![0.0; n] };
    let (test, table, points) = (cloud(30), cloud(40), cloud(9));
    for kernel in Kernel::ALL {
        let density = SmoothedDensity::Rows(test.x.as_ref());
        let utility = KernelDensity::new(3, kernel, 1.5, density).unwrap();
        let sizes: Vec<usize> = (0..=40).collect();
        assert_together_as_alone(&utility, &table, &points, &sizes, &format!("{kernel:?}"));
    }
    let (test, table) = (Table::regression(54, 40, 3), Table::regression(55, 30, 3));
    let utility = LeastSquares::new(test.rows(), LeastSquaresOptions::default()).unwrap();
    assert_together_as_alone(&utility, &table, &Table::regression(56, 8, 3), &[0, 2, 3, 30], "least squares");
}

/// Every iteration runs on one thread, including products; more points than join at once.
#[test]
fn values_have_the_same_bits_on_any_number_of_threads() {
    let (test, table, points) =
        (Table::labels(57, 300, 5, 2), Table::labels(58, 80, 5, 2), Table::labels(59, 300, 5, 2));
    let utility = Logistic::new(test.rows(), LogisticOptions::default()).unwrap();
    let reference = ReferenceRows::new(table.rows(), &utility).unwrap();
    let stopping = Stopping { max_iterations: 30, ..Stopping::default() };
    let values = |n_threads| {
        on_threads(n_threads, || {
            d_shapley(&utility, &reference, points.rows(), Sizes::new(6, 40), stopping, &patient).unwrap()
        })
    };
    let alone = values(1);
    assert!(alone.values.value.iter().any(|value| *value != 0.0));
    assert_eq!(alone, values(2));
    assert_eq!(alone, values(5));
}
