//! Identities that hold for any rows.

use crate::common::neighbours as setting;

use dshap::neighbours::{
    Metric, NeighbourOptions, NeighbourTask, NeighbourValuer, TestMeans, TestRows, sample_rows,
};
use dshap::{Rows, Sizes, Valuer, Values};
use dshap_testkit::{Draws, assert_same_bits, on_threads};
use faer::Mat;
use setting::{THREE_CLASSES, TWO_CLASSES, Table, as_given, utility};

const TASKS: [NeighbourTask; 2] = [THREE_CLASSES, NeighbourTask::Regression];

/// Sums of a few hundred terms of order 1, in another order.
const TOLERANCE: f64 = 1e-13;

fn own(reference: &Table, test: TestRows<'_>, sizes: Sizes, options: NeighbourOptions) -> Values {
    let valuer = NeighbourValuer::new(reference.rows(), test, sizes, options).unwrap();
    valuer.with_std_error(true).leave_one_out(&|_, _| true).unwrap()
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (row, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < TOLERANCE * b.abs().max(1.0), "{what}, row {row}: {a} and {b}");
    }
}

/// On a grid most rows are tied with others, several of them with each other.
fn tables(seed: u64, task: NeighbourTask) -> [(Table, Table); 2] {
    let mut draws = Draws::new(seed);
    let spread = (Table::drawn(&mut draws, 120, 3, task), Table::drawn(&mut draws, 17, 3, task));
    let tied =
        (Table::on_a_grid(&mut draws, 120, 2, 4.0, task), Table::on_a_grid(&mut draws, 17, 2, 4.0, task));
    [spread, tied]
}

#[test]
fn a_reference_row_is_valued_as_an_unseen_point_against_the_others() {
    for task in TASKS {
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Cosine] {
            for (reference, test) in tables(1, task) {
                let options = NeighbourOptions { metric, ..as_given(4, task) };
                let sizes = Sizes::new(6, 90);
                let all = own(&reference, TestRows::Given(test.rows()), sizes, options);
                for row in [0, 7, 63, 119] {
                    let (others, point) = (reference.without(row), reference.select(&[row]));
                    let test = TestRows::Given(test.rows());
                    let valuer = NeighbourValuer::new(others.rows(), test, sizes, options).unwrap();
                    let unseen = valuer.with_std_error(true).values(point.rows()).unwrap();
                    assert_near(&unseen.value, &all.value[row..=row], &format!("{task:?} {metric:?}"));
                    let errors = all.std_error.as_ref().unwrap();
                    assert_near(&unseen.std_error.unwrap(), &errors[row..=row], &format!("{task:?} errors"));
                }
            }
        }
    }
}

/// The same where test rows are reference rows: the row is neither among the
/// neighbours nor among the test rows.
#[test]
fn a_test_row_is_valued_as_an_unseen_point_against_the_others() {
    for task in TASKS {
        for (reference, _) in tables(2, task) {
            let tests = [3, 50, 7, 100, 99];
            let sizes = Sizes::new(4, 70);
            let all = own(&reference, TestRows::Reference(&tests), sizes, as_given(3, task));
            for row in [7, 8] {
                let (others, point) = (reference.without(row), reference.select(&[row]));
                let tests: Vec<usize> =
                    tests.iter().filter(|&&t| t != row).map(|&t| if t > row { t - 1 } else { t }).collect();
                let test = TestRows::Reference(&tests);
                let valuer = NeighbourValuer::new(others.rows(), test, sizes, as_given(3, task)).unwrap();
                let unseen = valuer.values(point.rows()).unwrap();
                assert_near(&unseen.value, &all.value[row..=row], &format!("{task:?}, row {row}"));
            }
        }
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    for task in TASKS {
        for (reference, test) in tables(3, task) {
            let options = NeighbourOptions { k: 4, ..NeighbourOptions::new(task) };
            let sizes = Sizes::new(5, 120);
            let plain = own(&reference, TestRows::Given(test.rows()), sizes, options);
            let order = Draws::new(5).shuffled(reference.len());
            let test_order = Draws::new(6).shuffled(test.len());
            let (shuffled, test) = (reference.select(&order), test.select(&test_order));
            let moved = own(&shuffled, TestRows::Given(test.rows()), sizes, options);
            let expected: Vec<f64> = order.iter().map(|&row| plain.value[row]).collect();
            assert_near(&moved.value, &expected, &format!("{task:?}"));
        }
    }
}

/// Rows that are the same in all respects have the same value, and so does an unseen
/// point that equals them.
#[test]
fn twins_have_the_same_value() {
    for task in TASKS {
        let mut draws = Draws::new(8);
        let table = Table::drawn(&mut draws, 50, 2, task);
        let rows: Vec<usize> = (0..50).chain([4, 4, 31]).collect();
        let (reference, test) = (table.select(&rows), Table::drawn(&mut draws, 9, 2, task));
        let values =
            own(&reference, TestRows::Given(test.rows()), Sizes::new(4, 53), as_given(3, task)).value;
        assert_near(&values[50..], &[values[4], values[4], values[31]], &format!("{task:?}"));
        assert!((values[4] - values[5]).abs() > 1e-6, "others differ");
    }
}

#[test]
fn threads_and_chunks_change_no_bit() {
    for task in TASKS {
        let mut draws = Draws::new(9);
        // Enough columns for products, and a grid so that direct distances decide.
        let spread = (Table::drawn(&mut draws, 700, 40, task), Table::drawn(&mut draws, 41, 40, task));
        let tied = (
            Table::on_a_grid(&mut draws, 700, 40, 2.0, task),
            Table::on_a_grid(&mut draws, 41, 40, 2.0, task),
        );
        let [few, _] = tables(10, task);
        for (reference, test) in [spread, tied, few] {
            let options = NeighbourOptions { k: 3, ..NeighbourOptions::new(task) };
            let sizes = Sizes::new(4, 100);
            let tests = sample_rows(reference.len(), 23, 1);
            let run = |threads| {
                on_threads(threads, || own(&reference, TestRows::Reference(&tests), sizes, options))
            };
            let one = run(1);
            for threads in [2, 3, 8] {
                let other = run(threads);
                assert_same_bits(&other.value, &one.value, "values");
                assert_same_bits(
                    other.std_error.as_ref().unwrap(),
                    one.std_error.as_ref().unwrap(),
                    "errors",
                );
            }
            let valuer =
                NeighbourValuer::new(reference.rows(), TestRows::Given(test.rows()), sizes, options).unwrap();
            let whole = valuer.values(test.rows()).unwrap();
            for chunk in [1, 7, 40] {
                let mut parts = Vec::new();
                for start in (0..test.len()).step_by(chunk) {
                    let len = chunk.min(test.len() - start);
                    let part = on_threads(2, || valuer.values(test.rows().slice(start, len)).unwrap());
                    parts.extend(part.value);
                }
                assert_same_bits(&parts, &whole.value, "chunks");
            }
        }
    }
}

/// Strided features, as in NumPy, give the bits of contiguous ones.
#[test]
fn the_layout_of_features_changes_no_bit() {
    for p in [3, 30] {
        let mut draws = Draws::new(11);
        let (reference, test) =
            (Table::drawn(&mut draws, 90, p, TWO_CLASSES), Table::drawn(&mut draws, 8, p, TWO_CLASSES));
        let turned: Mat<f64> = reference.x.transpose().to_owned();
        let by_rows = Rows::new(turned.transpose(), &reference.y).unwrap();
        let options = NeighbourOptions::new(TWO_CLASSES);
        let sizes = NeighbourValuer::default_sizes(5, 90);
        let values = |rows| {
            let test = TestRows::Given(test.rows());
            NeighbourValuer::new(rows, test, sizes, options)
                .unwrap()
                .leave_one_out(&|_, _| true)
                .unwrap()
                .value
        };
        assert_same_bits(&values(by_rows), &values(reference.rows()), "layout");
    }
}

/// Finite KNN-Shapley is the closed form with all sizes from `k` on, and what sets
/// of fewer than `k` rows add: for labels exactly `1[y = y_t]/N`. So with the mean
/// over test rows the difference is the share of test rows with the label, over N.
#[test]
fn finite_shapley_values_are_values_of_all_sizes_and_a_constant() {
    for (reference, test) in tables(12, THREE_CLASSES) {
        let (n, k) = (reference.len(), 4);
        let sizes = Sizes::new(k + 1, n);
        let test_rows = TestRows::Given(test.rows());
        let valuer =
            NeighbourValuer::new(reference.rows(), test_rows, sizes, as_given(k, THREE_CLASSES)).unwrap();
        let values = valuer.leave_one_out(&|_, _| true).unwrap().value;
        let shares = reference
            .y
            .iter()
            .map(|label| test.y.iter().filter(|other| *other == label).count() as f64 / test.len() as f64);
        let expected: Vec<f64> =
            values.iter().zip(shares).map(|(value, share)| value + share / n as f64).collect();
        assert_near(&valuer.finite_shapley(&|_, _| true).unwrap().value, &expected, "all sizes");
    }
}

/// Shapley values add up to the value of all rows.
#[test]
fn finite_shapley_values_add_up_to_the_utility_of_all_rows() {
    for task in TASKS {
        let [(reference, test), _] = tables(13, task);
        let k = 4;
        let worth = |t: usize| {
            let mut rows: Vec<usize> = (0..reference.len()).collect();
            rows.sort_by(|&a, &b| reference.dist_sq(a, &test, t).total_cmp(&reference.dist_sq(b, &test, t)));
            let targets: Vec<f64> = rows.iter().map(|&row| reference.y[row]).collect();
            utility(task, k, &targets, test.y[t])
        };
        let expected = (0..test.len()).map(worth).sum::<f64>() / test.len() as f64;
        let test_rows = TestRows::Given(test.rows());
        let sizes = NeighbourValuer::default_sizes(k, reference.len());
        let valuer = NeighbourValuer::new(reference.rows(), test_rows, sizes, as_given(k, task)).unwrap();
        let sum: f64 = valuer.finite_shapley(&|_, _| true).unwrap().value.iter().sum();
        assert!((sum - expected).abs() < 1e-12, "{task:?}: {sum} and {expected}");
    }
}

/// A cut-off skips rows of known weight, and its error is within the documented bound. A
/// share of 1e-3 does change values, so the bound is tested.
#[test]
fn the_cut_off_errs_by_no_more_than_it_says() {
    for task in TASKS {
        for (reference, test) in tables(14, task) {
            let (k, sizes) = (3, Sizes::new(31, 110));
            let options = |tolerance| NeighbourOptions { tolerance, ..as_given(k, task) };
            let test_rows = || TestRows::Given(test.rows());
            let exact = own(&reference, test_rows(), sizes, options(0.0));
            let valuer = |tolerance| {
                NeighbourValuer::new(reference.rows(), test_rows(), sizes, options(tolerance)).unwrap()
            };
            let unseen = valuer(0.0).values(test.rows()).unwrap();
            // G_0: sizes 30 to 109 of 110.
            let all = 80.0 / 110.0;
            let reach = reference
                .y
                .iter()
                .chain(&test.y)
                .fold(0.0_f64, |reach, a| test.y.iter().fold(reach, |reach, b| reach.max((a - b).abs())));
            let unit = if task == NeighbourTask::Regression { 4.0 * reach * reach } else { 1.0 };
            let mut largest: f64 = 0.0;
            for tolerance in [1e-16, 1e-6, 1e-3] {
                let bound = tolerance * all / k as f64 * unit + TOLERANCE;
                let cut = valuer(tolerance);
                let pairs = cut.leave_one_out(&|_, _| true).unwrap().value.into_iter().zip(&exact.value);
                let points = cut.values(test.rows()).unwrap().value.into_iter().zip(&unseen.value);
                for (found, exact) in pairs.chain(points) {
                    assert!((found - exact).abs() <= bound, "{task:?}, {tolerance:e}: {found} and {exact}");
                    largest = largest.max((found - exact).abs());
                }
            }
            assert!(largest > 1e-7, "{task:?}: nothing was cut off, {largest:e}");
        }
    }
}

/// Multiplying targets by `c` multiplies regression values by `c²`; an offset
/// shared by all changes nothing.
#[test]
fn regression_values_have_the_units_of_the_target_squared() {
    let [(reference, test), _] = tables(15, NeighbourTask::Regression);
    let values = |reference: &Table, test: &Table| {
        own(
            reference,
            TestRows::Given(test.rows()),
            Sizes::new(4, 100),
            as_given(3, NeighbourTask::Regression),
        )
        .value
    };
    let changed =
        |table: &Table| Table::new(table.x.clone(), table.y.iter().map(|y| 3.0 * y + 1024.0).collect());
    let expected: Vec<f64> = values(&reference, &test).iter().map(|value| 9.0 * value).collect();
    let found = values(&changed(&reference), &changed(&test));
    for (a, b) in found.iter().zip(&expected) {
        // The offset costs targets three digits.
        assert!((a - b).abs() < 1e-10, "{a} and {b}");
    }
}

/// Test rows that do not fit into memory come in blocks.
#[test]
fn blocks_of_test_rows_do_not_change_a_bit() {
    for task in TASKS {
        let [(reference, test), _] = tables(9, task);
        let points = Table::drawn(&mut Draws::new(10), 31, 3, task);
        let (sizes, options) = (Sizes::new(5, 60), as_given(4, task));
        let valuer = |rows| {
            let valuer = NeighbourValuer::new(reference.rows(), TestRows::Given(rows), sizes, options);
            valuer.unwrap().with_std_error(true)
        };
        let whole = valuer(test.rows());
        let go_on = |_, _| true;
        let expected = [
            whole.values(points.rows()).unwrap(),
            whole.leave_one_out(&go_on).unwrap(),
            whole.finite_shapley(&go_on).unwrap(),
        ];
        let mut means = [31, 120, 120].map(TestMeans::new);
        assert_eq!(means[0].values(true), Err(dshap::Error::NoTestRows));
        for (start, len) in [(0, 1), (1, 11), (12, 5)] {
            let part = valuer(test.rows().slice(start, len));
            part.add_values(points.rows(), &mut means[0], &go_on).unwrap();
            part.add_leave_one_out(&mut means[1], &go_on).unwrap();
            part.add_finite_shapley(&mut means[2], &go_on).unwrap();
        }
        for (means, expected) in means.iter().zip(expected) {
            let found = means.values(true).unwrap();
            assert_eq!(means.n_tests(), 17);
            assert_same_bits(&found.value, &expected.value, "values");
            assert_same_bits(&found.std_error.unwrap(), &expected.std_error.unwrap(), "errors");
        }
    }
}
