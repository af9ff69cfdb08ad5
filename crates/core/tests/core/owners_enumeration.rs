//! The game between owners against models that are fitted to rows.

use crate::common::Data;
use crate::common::owners::Market;
use dshap::owners::exact;
use faer::Mat;
use faer::linalg::solvers::Solve;

/// Ridge regression by normal equations with a column of ones, sharing no code with core.
fn predictions(train: &Data, test: &Data, ridge: f64) -> Vec<f64> {
    let p = train.x.ncols();
    if train.y.is_empty() {
        let mean = test.y.iter().sum::<f64>() / test.y.len() as f64;
        return vec![mean; test.y.len()];
    }
    let cell = |data: &Data, i: usize, j: usize| if j == 0 { 1.0 } else { data.x[(i, j - 1)] };
    let n = train.y.len();
    let gram = Mat::from_fn(p + 1, p + 1, |j, k| {
        let sum: f64 = (0..n).map(|i| cell(train, i, j) * cell(train, i, k)).sum();
        sum + if j == k && j > 0 { ridge } else { 0.0 }
    });
    let right = Mat::from_fn(p + 1, 1, |j, _| (0..n).map(|i| cell(train, i, j) * train.y[i]).sum::<f64>());
    let coef = gram.full_piv_lu().solve(&right);
    (0..test.y.len()).map(|i| (0..=p).map(|j| cell(test, i, j) * coef[(j, 0)]).sum()).collect()
}

fn utility(train: &Data, test: &Data, ridge: f64) -> f64 {
    let errors =
        predictions(train, test, ridge).into_iter().zip(&test.y).map(|(found, y)| (y - found).powi(2));
    -errors.sum::<f64>() / test.y.len() as f64
}

#[test]
fn every_coalition_is_worth_what_a_refit_is_worth() {
    // An owner without rows, one with a single row, fewer rows than columns, and many.
    for (seed, sizes, has_own) in [(1, [9, 0, 1, 3, 40], false), (2, [2, 5, 30, 1, 7], true)] {
        let market = Market::drawn(seed, &sizes, 4, has_own);
        let found = exact(&market.game(0.7), &|_, _| true).unwrap();
        for (coalition, found) in found.utilities.iter().enumerate() {
            let expected = utility(&market.rows_of(coalition), &market.test, 0.7);
            assert!((found - expected).abs() < 1e-10 * expected.abs(), "{coalition:b}: {found}, {expected}");
        }
    }
}

/// The definition: mean contribution over all orders.
#[test]
fn values_are_means_over_all_orders() {
    let market = Market::drawn(5, &[4, 6, 3, 8], 2, false);
    let worth = |coalition: usize| utility(&market.rows_of(coalition), &market.test, 1.3);
    let mut sums = [0.0; 4];
    let mut n_orders = 0.0;
    for code in 0..256 {
        let order: Vec<usize> = (0..4).map(|place| code >> (2 * place) & 3).collect();
        if (0..4).all(|owner| order.contains(&owner)) {
            let mut coalition = 0;
            for &owner in &order {
                sums[owner] += worth(coalition | 1 << owner) - worth(coalition);
                coalition |= 1 << owner;
            }
            n_orders += 1.0;
        }
    }
    assert_eq!(n_orders, 24.0);
    let found = exact(&market.game(1.3), &|_, _| true).unwrap();
    for (found, sum) in found.shapley.iter().zip(sums) {
        assert!((found - sum / n_orders).abs() < 1e-10, "{found}, {}", sum / n_orders);
    }
}
