//! Every method against all sets or all orders, written out.

use crate::common::{
    Plain, Table, assert_all_near, distributional, patient, shapley_by_orders, squared_error_saved, worth,
};
use dshap::Sizes;
use dshap::density::Kernel;
use dshap::neighbours::{NeighbourOptions, NeighbourTask, NeighbourValuer, Scale, TestRows};
use dshap_baselines::{
    KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions, MonteCarlo, ReferenceRows,
    Score, SmoothedDensity, Stopping, TmcOptions, Utility, d_shapley, d_shapley_of_reference,
    exact_density_shapley, exact_shapley, leave_one_out, tmc_shapley, utility_along, utility_at, utility_of,
};
use dshap_testkit::{MAX_ABS_Z, seeds};

const LEAST_ROWS: usize = 3;

fn least_squares(test: &Table) -> LeastSquares {
    let options = LeastSquaresOptions { least_rows: LEAST_ROWS, ..LeastSquaresOptions::default() };
    LeastSquares::new(test.rows(), options).unwrap()
}

/// All iterations, so that the number of draws is known.
fn all(max_iterations: usize, seed: u64) -> Stopping {
    Stopping { tolerance: 0.0, max_iterations, seed }
}

/// Fails when a value is further than [`MAX_ABS_Z`] of its standard errors away.
#[track_caller]
fn assert_agrees(found: &MonteCarlo, exact: &[f64], what: &str) {
    let errors = found.values.std_error.as_ref().unwrap();
    for (row, ((value, error), exact)) in found.values.value.iter().zip(errors).zip(exact).enumerate() {
        // Where nothing is random, only rounding is left.
        let z = (value - exact) / error.max(1e-12);
        assert!(z.abs() < MAX_ABS_Z, "{what}, row {row}: z = {z:.1}, {value:.4e} ± {error:.1e}, {exact:.4e}");
    }
}

/// The largest distance in standard errors: proof that a test could have failed.
fn largest_z(found: &MonteCarlo, exact: &[f64]) -> f64 {
    let errors = found.values.std_error.as_ref().unwrap();
    let z = found.values.value.iter().zip(errors).zip(exact).map(|((v, e), exact)| ((v - exact) / e).abs());
    z.fold(0.0, f64::max)
}

#[test]
fn exact_values_are_mean_gains_over_all_orders() {
    let (test, table) = (Table::regression(41, 25, 2), Table::regression(42, 6, 2));
    let game = |set: &Table| squared_error_saved(set, &test, LEAST_ROWS, 0.0);
    let found = exact_shapley(&least_squares(&test), table.rows(), &patient).unwrap();
    assert_all_near(&found.value, &shapley_by_orders(&game, &table), 1e-10, "least squares");
    assert!(found.std_error.is_none(), "nothing is chance");

    // More rows than are distributed over threads, and a simple utility.
    let table = Table::regression(43, 11, 2);
    let game = |set: &Table| squared_error_saved(set, &test, LEAST_ROWS, 0.0);
    let plain = Plain { n_features: 2, worth: &game };
    let expected = exact_shapley(&plain, table.rows(), &patient).unwrap();
    let found = exact_shapley(&least_squares(&test), table.rows(), &patient).unwrap();
    assert_all_near(&found.value, &expected.value, 1e-10, "eleven rows");
    let sum: f64 = found.value.iter().sum();
    assert!((sum - game(&table)).abs() < 1e-10);
}

/// Nearest neighbours through the same trait: the recursion of Jia et al. in core
/// against all sets here.
#[test]
fn knn_shapley_is_the_exact_value_for_nearest_neighbours() {
    for (task, n_classes) in
        [(NeighbourTask::Classification { n_classes: 3 }, 3), (NeighbourTask::Regression, 0)]
    {
        for k in [1, 2, 4] {
            let draw = |seed, n| match n_classes {
                0 => Table::regression(seed, n, 2),
                n_classes => Table::labels(seed, n, 2, n_classes),
            };
            let (test, table) = (draw(44, 7), draw(45, 10));
            let game = |set: &Table| {
                let one = |t: usize| {
                    let dist =
                        |i: usize| (0..2).map(|j| (set.x[(i, j)] - test.x[(t, j)]).powi(2)).sum::<f64>();
                    let mut order: Vec<usize> = (0..set.len()).collect();
                    order.sort_by(|&a, &b| dist(a).total_cmp(&dist(b)));
                    let nearest = || order.iter().take(k).map(|&i| set.y[i]);
                    match n_classes {
                        0 => -(nearest().sum::<f64>() / k as f64 - test.y[t]).powi(2),
                        _ => nearest().filter(|&y| y == test.y[t]).count() as f64 / k as f64,
                    }
                };
                (0..test.len()).map(one).sum::<f64>() / test.len() as f64
            };
            let exact =
                exact_shapley(&Plain { n_features: 2, worth: &game }, table.rows(), &patient).unwrap();
            let options = NeighbourOptions { k, scale: Scale::AsGiven, ..NeighbourOptions::new(task) };
            let sizes = Sizes::new(k + 1, table.len());
            let valuer =
                NeighbourValuer::new(table.rows(), TestRows::Given(test.rows()), sizes, options).unwrap();
            let found = valuer.finite_shapley(&patient).unwrap();
            assert_all_near(&found.value, &exact.value, 1e-12, &format!("{task:?}, k = {k}"));
        }
    }
}

#[test]
fn densities_have_their_exact_values_in_closed_form() {
    let test = Table::regression(46, 9, 2);
    for n in [1, 2, 3, 9] {
        let table = Table::regression(47, n, 2);
        for kernel in Kernel::ALL {
            let utility = KernelDensity::new(2, kernel, 0.9, SmoothedDensity::Rows(test.x.as_ref())).unwrap();
            let exact = exact_shapley(&utility, table.rows(), &patient).unwrap();
            let found = exact_density_shapley(&utility, table.rows(), &patient).unwrap();
            assert_all_near(&found.value, &exact.value, 1e-12, &format!("{kernel:?}, {n} rows"));
        }
    }
}

#[test]
fn leave_one_out_is_what_a_refit_loses() {
    let (test, table) = (Table::regression(48, 25, 3), Table::regression(49, 40, 3));
    let game = |set: &Table| squared_error_saved(set, &test, LEAST_ROWS, 0.0);
    let rows: Vec<usize> = (0..table.len()).collect();
    let expected: Vec<f64> = rows
        .iter()
        .map(|&row| {
            let rest: Vec<usize> = rows.iter().copied().filter(|&other| other != row).collect();
            game(&table) - game(&table.select(&rest))
        })
        .collect();
    let utility = least_squares(&test);
    let found = leave_one_out(&utility, table.rows(), &patient).unwrap();
    assert_all_near(&found.value, &expected, 1e-12, "least squares");
    assert!((utility_of(&utility, table.rows()).unwrap() - game(&table)).abs() < 1e-12);
}

#[test]
fn utility_along_an_order_is_that_of_each_set() {
    let (test, table) = (Table::regression(50, 25, 2), Table::regression(51, 12, 2));
    let game = |set: &Table| squared_error_saved(set, &test, LEAST_ROWS, 0.0);
    let (start, order) = ([3, 7, 1, 9], [0, 11, 5]);
    let found = utility_along(&least_squares(&test), table.rows(), &start, &order, &patient).unwrap();
    let expected: Vec<f64> = (0..=3)
        .map(|added| {
            let set: Vec<usize> = start.iter().chain(&order[..added]).copied().collect();
            worth(&game, &table, &set)
        })
        .collect();
    assert_all_near(&found, &expected, 1e-10, "along an order");
    let some = utility_at(&least_squares(&test), table.rows(), &start, &order, &[1, 3], &patient).unwrap();
    assert_all_near(&some, &[expected[1], expected[3]], 1e-10, "at marks");
    for wrong in [[3, 1], [0, 4]] {
        assert!(utility_at(&least_squares(&test), table.rows(), &start, &order, &wrong, &patient).is_err());
    }
}

/// Two-sided false-alarm rate 6e-7 for each of some forty comparisons. Power: values with
/// one more row in each set are more than 10 standard errors away.
#[test]
fn d_shapley_is_the_mean_over_all_sets_of_the_reference() {
    let (test, table) = (Table::regression(52, 25, 2), Table::regression(53, 9, 2));
    let reference: Vec<usize> = (0..8).collect();
    let game = |set: &Table| squared_error_saved(set, &test, LEAST_ROWS, 0.0);
    let utility = least_squares(&test);
    for (q, m) in [(1, 6), (4, 9), (5, 5)] {
        let exact = distributional(&game, &table, &reference, 8, q, m);
        let other =
            m as f64 / (m - 1) as f64 * distributional(&game, &table, &reference, 8, q.max(2) - 1, m - 1);
        for seed in seeds(54) {
            let rows = table.select(&reference);
            let population = ReferenceRows::new(rows.rows(), &utility).unwrap();
            let point = table.select(&[8]);
            let found =
                d_shapley(&utility, &population, point.rows(), Sizes::new(q, m), all(20_000, seed), &patient)
                    .unwrap();
            assert_agrees(&found, &[exact], &format!("q = {q}, m = {m}"));
            let power = largest_z(&found, &[other]);
            assert!(power > 10.0, "q = {q}, m = {m}: only {power:.1} standard errors away");
            assert_eq!((found.n_iterations, found.converged), (20_000, false));
        }
    }
}

/// The same for rows of the reference, each against the others, also at sizes
/// where the set is all of them. False alarms as above; power: values against a
/// reference that has the row itself are more than 10 standard errors away.
#[test]
fn reference_rows_are_valued_by_sets_of_the_others() {
    let test = Table::regression(55, 25, 2);
    let table = Table::regression(56, 8, 2);
    let game = |set: &Table| squared_error_saved(set, &test, LEAST_ROWS, 0.0);
    let utility = least_squares(&test);
    for (q, m) in [(1, 8), (4, 6), (8, 8)] {
        let others = |row: usize| (0..8).filter(|&other| other != row).collect::<Vec<_>>();
        let exact: Vec<f64> =
            (0..8).map(|row| distributional(&game, &table, &others(row), row, q, m)).collect();
        for seed in seeds(57) {
            let population = ReferenceRows::new(table.rows(), &utility).unwrap();
            let found =
                d_shapley_of_reference(&utility, &population, Sizes::new(q, m), all(20_000, seed), &patient)
                    .unwrap();
            assert_agrees(&found, &exact, &format!("q = {q}, m = {m}"));
            if m < 8 {
                let with_itself: Vec<f64> = (0..8)
                    .map(|row| distributional(&game, &table, &(0..8).collect::<Vec<_>>(), row, q, m))
                    .collect();
                let power = largest_z(&found, &with_itself);
                assert!(power > 10.0, "q = {q}, m = {m}: only {power:.1} standard errors away");
            }
        }
    }
}

/// Chains against all sets, for the three utilities; 6e-7 for each comparison. Power:
/// leave-one-out values, a plausible confusion, are more than 10 standard errors away.
#[test]
fn tmc_shapley_agrees_with_all_sets_within_its_error() {
    fn check<U: Utility>(utility: &U, table: &Table, what: &str)
    where
        U::Set: Sync,
    {
        let exact = exact_shapley(utility, table.rows(), &patient).unwrap().value;
        let other = leave_one_out(utility, table.rows(), &patient).unwrap().value;
        for seed in seeds(58) {
            let options = TmcOptions { truncation: 0.0, stopping: all(6_000, seed), ..TmcOptions::default() };
            let found = tmc_shapley(utility, table.rows(), options, &patient).unwrap();
            assert_agrees(&found, &exact, what);
            assert_eq!(found.evaluated_share, 1.0);
            let power = largest_z(&found, &other);
            assert!(power > 10.0, "{what}: only {power:.1} standard errors away");
        }
    }
    check(&least_squares(&Table::regression(59, 25, 2)), &Table::regression(60, 10, 2), "least squares");
    let test = Table::labels(61, 40, 2, 2);
    for score in [Score::Accuracy, Score::LogLoss] {
        let utility = Logistic::new(test.rows(), LogisticOptions { score, ..LogisticOptions::default() });
        check(&utility.unwrap(), &Table::labels(62, 9, 2, 2), &format!("{score:?}"));
    }
    let density = SmoothedDensity::Rows(test.x.as_ref());
    let utility = KernelDensity::new(2, Kernel::Gaussian, 0.6, density).unwrap();
    check(&utility, &Table::labels(63, 10, 2, 2), "density");
}

/// Truncation ends chains; the remaining rows share the rest, so values still add up, to
/// the rounding of 400 means of 60 rows.
#[test]
fn truncated_chains_are_shorter_and_nearly_as_good() {
    let (test, table) = (Table::regression(64, 50, 2), Table::regression(65, 60, 2));
    let utility = least_squares(&test);
    let run = |truncation| {
        let options = TmcOptions { truncation, stopping: all(400, 9), ..TmcOptions::default() };
        tmc_shapley(&utility, table.rows(), options, &patient).unwrap()
    };
    let (whole, cut) = (run(0.0), run(0.05));
    assert_eq!(whole.evaluated_share, 1.0);
    assert!(cut.evaluated_share < 0.8, "{}", cut.evaluated_share);
    let total = utility_of(&utility, table.rows()).unwrap();
    let sum: f64 = cut.values.value.iter().sum();
    assert!((sum - total).abs() < 1e-12 * total, "{sum} of {total}");
    // Rows before the end of a chain gain exactly the same.
    let same =
        whole.values.value.iter().zip(&cut.values.value).filter(|(a, b)| (*a - *b).abs() < 0.02 * total);
    assert_eq!(same.count(), table.len());
}

/// Two columns that differ by a hundred-thousandth of their size have coefficients of
/// their own. Such sets once counted as undetermined and worth 0; in better coordinates
/// they are not.
#[test]
fn columns_that_are_nearly_alike_are_worth_what_they_are_in_other_coordinates() {
    let near = |table: &Table| Table {
        x: faer::Mat::from_fn(table.len(), 2, |i, j| {
            table.x[(i, 0)] + if j == 1 { 1e-5 * table.x[(i, 1)] } else { 0.0 }
        }),
        y: table.y.clone(),
    };
    let (test, table) = (Table::regression(66, 50, 2), Table::regression(67, 12, 2));
    let options = LeastSquaresOptions { least_rows: 4, ..LeastSquaresOptions::default() };
    let apart = LeastSquares::new(test.rows(), options.clone()).unwrap();
    let near_test = near(&test);
    let together = LeastSquares::new(near_test.rows(), options).unwrap();
    let expected = exact_shapley(&apart, table.rows(), &patient).unwrap().value;
    let (found, undetermined) =
        dshap_baselines::exact_shapley_counted(&together, near(&table).rows(), &patient).unwrap();
    assert_eq!(undetermined, 0.0);
    // The condition number is 4e10, and coefficients lose as many digits.
    for (found, expected) in found.value.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{found} for {expected}");
    }
    let total = utility_of(&together, near(&table).rows()).unwrap();
    let options = TmcOptions { truncation: 0.0, stopping: all(200, 3), ..TmcOptions::default() };
    let drawn = tmc_shapley(&together, near(&table).rows(), options, &patient).unwrap();
    let sum: f64 = drawn.values.value.iter().sum();
    assert!((sum - total).abs() < 1e-4 * total, "{sum} of {total}");
    let losses = leave_one_out(&together, near(&table).rows(), &patient).unwrap().value;
    assert!(losses.iter().all(|loss| *loss != 0.0));
}

#[test]
fn sets_that_determine_no_model_are_counted() {
    // The columns are copies of each other: no set distinguishes them.
    let copies =
        |table: Table| Table { x: faer::Mat::from_fn(table.len(), 2, |i, _| table.x[(i, 0)]), ..table };
    let (test, table) = (copies(Table::regression(68, 20, 1)), copies(Table::regression(69, 6, 1)));
    let options = LeastSquaresOptions { least_rows: 3, ..LeastSquaresOptions::default() };
    let utility = LeastSquares::new(test.rows(), options).unwrap();
    let (values, share) = dshap_baselines::exact_shapley_counted(&utility, table.rows(), &patient).unwrap();
    assert_eq!((share, values.value), (1.0, vec![0.0; 6]));
    assert!(dshap_baselines::is_undetermined(&utility, table.rows()).unwrap());
}
