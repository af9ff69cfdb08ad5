//! Symmetry, null player, additivity and efficiency, for values and for estimates.

use crate::common::{Table, assert_all_near, patient};
use dshap::density::Kernel;
use dshap_baselines::{
    KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions, Score, SmoothedDensity,
    Stopping, TmcOptions, Utility, exact_density_shapley, exact_shapley, tmc_shapley, utility_of,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};

/// Rounding of some thousand sums of order one, through fits of small sets.
const TOLERANCE: f64 = 1e-8;

fn cases(n: u32) -> Config {
    let persistence = FileFailurePersistence::WithSource("regressions");
    Config { cases: n, failure_persistence: Some(Box::new(persistence)), ..Config::default() }
}

fn exact<U: Utility>(utility: &U, table: &Table) -> Vec<f64> {
    exact_shapley(utility, table.rows(), &patient).unwrap().value
}

fn chains<U: Utility>(utility: &U, table: &Table, seed: u64) -> Vec<f64> {
    let stopping = Stopping { tolerance: 0.0, max_iterations: 30, seed };
    let options = TmcOptions { truncation: 0.0, stopping, ..TmcOptions::default() };
    tmc_shapley(utility, table.rows(), options, &patient).unwrap().values.value
}

fn least_squares(test: &Table, least_rows: usize) -> LeastSquares {
    // Without a ridge sets of two rows can be worth thousands, and rounding with them.
    let options = LeastSquaresOptions { least_rows, ridge: 0.5, ..LeastSquaresOptions::default() };
    LeastSquares::new(test.rows(), options).unwrap()
}

/// Everything a utility must satisfy.
#[track_caller]
fn assert_fair<U: Utility>(utility: &U, table: &Table, seed: u64) {
    let whole = utility_of(utility, table.rows()).unwrap();
    let values = exact(utility, table);
    assert!((values.iter().sum::<f64>() - whole).abs() < TOLERANCE, "efficiency");
    // In every chain gains add up to the whole, so estimates do, too.
    let estimates = chains(utility, table, seed);
    assert!((estimates.iter().sum::<f64>() - whole).abs() < TOLERANCE, "efficiency of chains");

    let twins = table.with(&table.select(&[0]));
    let values = exact(utility, &twins);
    assert!((values[0] - values[table.len()]).abs() < TOLERANCE, "symmetry");

    let reversed: Vec<usize> = (0..table.len()).rev().collect();
    let mut values = exact(utility, &table.select(&reversed));
    values.reverse();
    assert_all_near(&values, &exact(utility, table), TOLERANCE, "the order of rows");
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn least_squares_shares_are_fair(seed in 0..10_000_u64, n in 3..9_usize, least_rows in 1..5_usize) {
        let utility = least_squares(&Table::regression(seed, 15, 2), least_rows);
        assert_fair(&utility, &Table::regression(seed + 1, n, 2), seed);
    }

    #[test]
    fn logistic_shares_are_fair(seed in 0..10_000_u64, n in 3..8_usize, n_classes in 2..4_usize) {
        for score in [Score::Accuracy, Score::LogLoss] {
            let test = Table::labels(seed, 15, 2, n_classes);
            let options = LogisticOptions { n_classes, score, ..LogisticOptions::default() };
            let utility = Logistic::new(test.rows(), options).unwrap();
            let table = Table::labels(seed + 1, n, 2, n_classes);
            let whole = utility_of(&utility, table.rows()).unwrap();
            let values = exact(&utility, &table);
            prop_assert!((values.iter().sum::<f64>() - whole).abs() < TOLERANCE);
            let twins = table.with(&table.select(&[0]));
            let values = exact(&utility, &twins);
            // A test row on the border may fall on either side of it, by rounding.
            let room = if score == Score::Accuracy { 1.0 / 15.0 } else { TOLERANCE };
            prop_assert!((values[0] - values[n]).abs() <= room);
        }
    }

    #[test]
    fn density_shares_are_fair(seed in 0..10_000_u64, n in 2..8_usize) {
        let test = Table::regression(seed, 15, 2);
        let table = Table::regression(seed + 1, n, 2);
        for kernel in Kernel::ALL {
            let density = SmoothedDensity::Rows(test.x.as_ref());
            let utility = KernelDensity::new(2, kernel, 0.8, density).unwrap();
            assert_fair(&utility, &table, seed);
            let whole = utility_of(&utility, table.rows()).unwrap();
            let values = exact_density_shapley(&utility, table.rows(), &patient).unwrap().value;
            prop_assert!((values.iter().sum::<f64>() - whole).abs() < TOLERANCE);
        }
    }

    /// The error on two test sets of the same size is the mean of their errors.
    #[test]
    fn values_of_a_sum_of_utilities_are_sums_of_values(seed in 0..10_000_u64, n in 3..9_usize) {
        let (one, two) = (Table::regression(seed, 12, 2), Table::regression(seed + 1, 12, 2));
        let table = Table::regression(seed + 2, n, 2);
        let both = one.with(&two);
        let of = |test: &Table| exact(&least_squares(test, 3), &table);
        let mean: Vec<f64> = of(&one).iter().zip(of(&two)).map(|(a, b)| 0.5 * (a + b)).collect();
        assert_all_near(&of(&both), &mean, TOLERANCE, "least squares");

        let of = |test: &Table| chains(&least_squares(test, 3), &table, seed);
        let mean: Vec<f64> = of(&one).iter().zip(of(&two)).map(|(a, b)| 0.5 * (a + b)).collect();
        assert_all_near(&of(&both), &mean, TOLERANCE, "chains");

        let density = |test: &Table| {
            let density = SmoothedDensity::Rows(test.x.as_ref());
            exact(&KernelDensity::new(2, Kernel::Gaussian, 0.8, density).unwrap(), &table)
        };
        // The sum of two utilities that share everything except the test rows.
        let mean: Vec<f64> = density(&one).iter().zip(density(&two)).map(|(a, b)| 0.5 * (a + b)).collect();
        assert_all_near(&density(&both), &mean, TOLERANCE, "density");
    }

    /// Through the origin, a row at the origin changes no fit.
    #[test]
    fn a_row_that_changes_nothing_is_worth_nothing(seed in 0..10_000_u64, n in 2..8_usize) {
        let utility = least_squares(&Table::regression(seed, 15, 2), 1);
        let table = Table::regression(seed + 1, n, 2).with(&Table::new(&[(&[0.0, 0.0], 3.0)]));
        prop_assert!(exact(&utility, &table)[n].abs() < TOLERANCE);
        prop_assert!(chains(&utility, &table, seed)[n].abs() < TOLERANCE);
        prop_assert!(exact(&utility, &table)[..n].iter().any(|value| value.abs() > 1e-6));
    }
}
