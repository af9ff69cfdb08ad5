//! Utilities against fits that share no code with them, row by row.

use crate::common::{Table, squared_error_saved};
use dshap::classification::LogisticFit;
use dshap::density::Kernel;
use dshap_baselines::{
    Centre, KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions, Row, Score,
    SmoothedDensity, TestMoments, Utility,
};
use dshap_testkit::Draws;
use faer::Mat;

/// Walks through `table` and compares the value, every gain and every loss with
/// `exact`, at every size.
#[track_caller]
fn assert_follows<U: Utility>(
    utility: &U,
    table: &Table,
    points: &Table,
    tolerance: f64,
    exact: impl Fn(&Table) -> f64,
) {
    let of = |rows: &[usize]| if rows.is_empty() { 0.0 } else { exact(&table.select(rows)) };
    let mut set = utility.empty();
    for taken in 0..=table.len() {
        let members: Vec<usize> = (0..taken).collect();
        let before = of(&members);
        let found = utility.value(&mut set);
        assert!((found - before).abs() < tolerance, "{taken} rows: found {found}, expected {before}");
        for i in 0..points.len() {
            let joined = table.select(&members).with(&points.select(&[i]));
            let gain = if taken == 0 { exact(&points.select(&[i])) } else { exact(&joined) } - before;
            let (x, y) = points.row(i);
            let found = utility.gain(&set, Row { x: &x, y, memo: utility.memo(&x, y) });
            assert!((found - gain).abs() < tolerance, "{taken} rows gain {gain} by {i}, found {found}");
        }
        for index in 0..taken {
            let rest: Vec<usize> = members.iter().copied().filter(|&row| row != index).collect();
            let loss = before - of(&rest);
            let (x, y) = table.row(index);
            let found = utility.loss(&set, index, Row { x: &x, y, memo: utility.memo(&x, y) });
            assert!(
                (found - loss).abs() < tolerance,
                "{taken} rows lose {loss} without {index}, found {found}"
            );
        }
        if taken < table.len() {
            let (x, y) = table.row(taken);
            utility.push(&mut set, Row { x: &x, y, memo: utility.memo(&x, y) });
        }
    }
}

/// Fits by elimination with pivoting. The conditions of the smallest sets, of as
/// many rows as columns, cost some six digits on either side.
#[test]
fn least_squares_follows_a_refit_at_every_size() {
    let (test, points) = (Table::regression(1, 40, 3), Table::regression(2, 5, 3));
    let table = Table::regression(3, 30, 3);
    for (least_rows, ridge) in [(1, 0.0), (6, 0.0), (1, 0.8), (4, 2.5)] {
        let options = LeastSquaresOptions { least_rows, ridge, ..LeastSquaresOptions::default() };
        let utility = LeastSquares::new(test.rows(), options).unwrap();
        assert_follows(&utility, &table, &points, 1e-8, |set| {
            squared_error_saved(set, &test, least_rows, ridge)
        });
    }
}

/// More than twice as many rows as updates before the inverse is computed again.
#[test]
fn long_chains_of_updates_keep_their_digits() {
    let (test, table) = (Table::regression(4, 50, 5), Table::regression(5, 300, 5));
    let utility = LeastSquares::new(test.rows(), LeastSquaresOptions::default()).unwrap();
    let mut set = utility.empty();
    for row in 0..table.len() {
        let (x, y) = table.row(row);
        utility.push(&mut set, Row { x: &x, y, memo: 0.0 });
        let found = utility.value(&mut set);
        let exact = squared_error_saved(&table.select(&(0..=row).collect::<Vec<_>>()), &test, 1, 0.0);
        let tolerance = if row < 10 { 1e-8 } else { 1e-11 };
        assert!((found - exact).abs() < tolerance, "{row}: found {found}, expected {exact}");
    }
}

/// Means subtracted by hand, an intercept added by hand: the same as through the origin.
/// Features in very different units.
#[test]
fn centred_rows_and_intercepts_are_columns_like_others() {
    let units = |table: &Table| {
        let x = Mat::from_fn(table.len(), 2, |i, j| table.x[(i, j)] * [1e6, 1e-4][j] + [3e6, 0.0][j]);
        Table { x, y: table.y.iter().map(|y| y + 10.0).collect() }
    };
    let (test, points, table) = (
        units(&Table::regression(6, 40, 2)),
        units(&Table::regression(7, 4, 2)),
        units(&Table::regression(8, 20, 2)),
    );
    let means = [3.1e6, 1e-5];
    let by_hand = |table: &Table, intercept: bool| {
        let cell =
            |i: usize, j: usize| if j < 2 { (table.x[(i, j)] - means[j]) * [1e-6, 1e4][j] } else { 1.0 };
        let x = Mat::from_fn(table.len(), 2 + usize::from(intercept), cell);
        Table { x, y: table.y.iter().map(|y| y - 9.5).collect() }
    };
    for intercept in [false, true] {
        let centre = Centre::Means { x: means.to_vec(), y: 9.5 };
        let options =
            LeastSquaresOptions { least_rows: 5, centre, intercept, ..LeastSquaresOptions::default() };
        let utility = LeastSquares::new(test.rows(), options).unwrap();
        assert_follows(&utility, &table, &points, 1e-9, |set| {
            squared_error_saved(&by_hand(set, intercept), &by_hand(&test, intercept), 5, 0.0)
        });
        let error: f64 = test.y.iter().map(|y| (y - 9.5).powi(2)).sum::<f64>() / test.len() as f64;
        assert!((utility.error_without_model() - error).abs() < 1e-12 * error);
    }
}

/// A ridge is in the units of the features, whatever scaling the fit uses.
#[test]
fn a_ridge_is_in_the_units_of_the_features() {
    let mut test = Table::regression(9, 30, 2);
    let mut table = Table::regression(10, 15, 2);
    for table in [&mut test, &mut table] {
        table.x.col_mut(0).iter_mut().for_each(|cell| *cell *= 100.0);
    }
    let options = LeastSquaresOptions { ridge: 40.0, ..LeastSquaresOptions::default() };
    let utility = LeastSquares::new(test.rows(), options).unwrap();
    let points = table.select(&[3]);
    assert_follows(&utility, &table, &points, 1e-9, |set| squared_error_saved(set, &test, 1, 40.0));
}

#[test]
fn a_set_without_variation_is_worth_nothing_until_it_has_some() {
    let test = Table::regression(11, 20, 2);
    let utility = LeastSquares::new(test.rows(), LeastSquaresOptions::default()).unwrap();
    let mut set = utility.empty();
    for scale in [1.0, 2.0, -3.0] {
        utility.push(&mut set, Row { x: &[scale, 2.0 * scale], y: 1.0, memo: 0.0 });
        assert_eq!(utility.value(&mut set), 0.0);
        assert!(utility.is_undetermined(&set));
        assert_eq!(utility.loss(&set, 0, Row { x: &[1.0, 2.0], y: 1.0, memo: 0.0 }), 0.0);
    }
    let last = Row { x: &[1.0, -1.0], y: 0.5, memo: 0.0 };
    let gain = utility.gain(&set, last);
    utility.push(&mut set, last);
    let whole = utility.value(&mut set);
    assert!(whole.abs() > 1e-3 && !utility.is_undetermined(&set));
    assert_eq!(gain, whole);
    // It alone determines a coefficient: everything is lost without it.
    assert_eq!(utility.loss(&set, 3, last), whole);
}

/// With the moments of a model, no test rows are needed.
#[test]
fn known_moments_are_those_of_endless_test_rows() {
    let (cov, coef) = ([2.0, 0.6, 0.6, 1.0], [1.5, -0.5]);
    let utility =
        LeastSquares::on_population(TestMoments::of_model(&cov, &coef, 0.3).unwrap(), 1, 0.0).unwrap();
    let mut set = utility.empty();
    utility.push(&mut set, Row { x: &[1.0, 0.0], y: 2.0, memo: 0.0 });
    utility.push(&mut set, Row { x: &[0.0, 1.0], y: 1.0, memo: 0.0 });
    // Coefficients (2, 1), so the error is off by δ = (0.5, 1.5): δᵀΣδ = 0.5 + 0.9 + 2.25.
    let without_model = 1.5 * (2.0 * 1.5 - 0.3) - 0.5 * (0.6 * 1.5 - 0.5) + 0.3;
    assert!((utility.value(&mut set) - (without_model - 0.3 - 3.65)).abs() < 1e-13);
}

/// Accuracy or log-loss saved by core's own logistic fit, which shares no code
/// with the utility.
fn labels_told(set: &Table, test: &Table, options: LogisticOptions) -> f64 {
    let n_classes = options.n_classes;
    let is_lacking = |class: usize| !set.y.contains(&(class as f64));
    if set.len() < options.least_rows || (0..n_classes).any(is_lacking) {
        return 0.0;
    }
    let core = dshap::classification::LogisticOptions {
        standardised: false,
        intercept: options.intercept,
        ridge: options.ridge,
        allow_dependent: false,
        max_passes: 100,
    };
    let models = if n_classes == 2 { vec![1] } else { (0..n_classes).collect() };
    let margins: Vec<Vec<f64>> = models
        .iter()
        .map(|&class| {
            let y: Vec<f64> = set.y.iter().map(|&y| f64::from(u8::from(y == class as f64))).collect();
            let fit = LogisticFit::of(dshap::Rows::new(set.x.as_ref(), &y).unwrap(), core).unwrap();
            let margin = |t: usize| {
                let sum: f64 = fit.coef().iter().enumerate().map(|(j, b)| b * test.x[(t, j)]).sum();
                sum + fit.intercept_value().unwrap_or(0.0)
            };
            (0..test.len()).map(margin).collect()
        })
        .collect();
    let n = test.len() as f64;
    let sigmoid = |margin: f64| 1.0 / (1.0 + (-margin).exp());
    let probs = |t: usize| -> Vec<f64> {
        if n_classes == 2 {
            return vec![1.0 - sigmoid(margins[0][t]), sigmoid(margins[0][t])];
        }
        let each: Vec<f64> = margins.iter().map(|margins| sigmoid(margins[t])).collect();
        let sum: f64 = each.iter().sum();
        each.iter().map(|prob| prob / sum).collect()
    };
    let shares: Vec<f64> =
        (0..n_classes).map(|c| test.y.iter().filter(|y| **y == c as f64).count() as f64 / n).collect();
    match options.score {
        Score::Accuracy => {
            let is_right = |t: &usize| {
                let probs = probs(*t);
                (0..n_classes).all(|c| probs[test.y[*t] as usize] >= probs[c])
            };
            (0..test.len()).filter(is_right).count() as f64 / n - shares.iter().copied().fold(0.0, f64::max)
        }
        Score::LogLoss => {
            let entropy: f64 = shares.iter().filter(|s| **s > 0.0).map(|share| -share * share.ln()).sum();
            entropy + (0..test.len()).map(|t| probs(t)[test.y[t] as usize].ln()).sum::<f64>() / n
        }
    }
}

/// Core stops when coefficients are good to about ten digits, and needs at least six
/// rows.
#[test]
fn logistic_models_follow_a_refit_at_every_size() {
    for (n_classes, least_rows, intercept) in [(2, 6, true), (2, 7, false), (3, 6, true)] {
        for score in [Score::Accuracy, Score::LogLoss] {
            for ridge in [0.3, 5.0] {
                let test = Table::labels(21, 31, 2, n_classes);
                let (points, table) =
                    (Table::labels(22, 4, 2, n_classes), Table::labels(23, 16, 2, n_classes));
                let options = LogisticOptions { n_classes, score, least_rows, ridge, intercept };
                let utility = Logistic::new(test.rows(), options).unwrap();
                assert_follows(&utility, &table, &points, 1e-7, |set| labels_told(set, &test, options));
            }
        }
    }
}

/// Models of rows a thousand times as large, and coefficients from a cold start.
#[test]
fn warm_and_cold_starts_meet() {
    let scaled = |mut table: Table| {
        table.x.col_mut(0).iter_mut().for_each(|cell| *cell = *cell * 1e3 + 5e3);
        table
    };
    let (test, table) = (scaled(Table::labels(24, 60, 3, 2)), scaled(Table::labels(25, 80, 3, 2)));
    let options = LogisticOptions { score: Score::LogLoss, ridge: 1e-3, ..LogisticOptions::default() };
    let utility = Logistic::new(test.rows(), options).unwrap();
    let mut warm = utility.empty();
    for row in 0..table.len() {
        let (x, y) = table.row(row);
        utility.push(&mut warm, Row { x: &x, y, memo: 0.0 });
        let found = utility.value(&mut warm);
        let mut cold = utility.empty();
        for row in 0..=row {
            let (x, y) = table.row(row);
            utility.push(&mut cold, Row { x: &x, y, memo: 0.0 });
        }
        let expected = utility.value(&mut cold);
        assert!((found - expected).abs() < 1e-9, "{row}: {found} and {expected}");
    }
}

/// Integrated by the trapezoid rule: estimates, their squares, and the density of
/// test rows as point masses.
#[test]
fn densities_follow_integrals_at_every_size() {
    let mut draws = Draws::new(31);
    let mut table = |n: usize| {
        let x = Mat::from_fn(n, 1, |_, _| draws.normal());
        Table { x, y: vec![0.0; n] }
    };
    let (test, points, table) = (table(12), table(3), table(9));
    for kernel in Kernel::ALL {
        let h = 0.6;
        let utility = KernelDensity::new(1, kernel, h, SmoothedDensity::Rows(test.x.as_ref())).unwrap();
        let estimate = |set: &Table, z: f64| {
            let sum: f64 = (0..set.len()).map(|i| kernel.at((z - set.x[(i, 0)]) / h) / h).sum();
            sum / set.len() as f64
        };
        let exact = |set: &Table| {
            let step = 2e-3;
            let square: f64 =
                (-4000..4000).map(|i| estimate(set, f64::from(i) * step + 0.5 * step).powi(2) * step).sum();
            let cross =
                (0..test.len()).map(|t| estimate(set, test.x[(t, 0)])).sum::<f64>() / test.len() as f64;
            2.0 * cross - square
        };
        // Edges of the uniform kernel are known to a step; they have height 1/h².
        let tolerance = if kernel == Kernel::Uniform { 2e-2 } else { 1e-5 };
        assert_follows(&utility, &table, &points, tolerance, exact);
    }
}

/// The product of kernels, two columns, in the middle of a set.
#[test]
fn densities_of_several_columns_are_products() {
    let mut draws = Draws::new(32);
    let mut cloud = |n: usize| Table { x: Mat::from_fn(n, 2, |_, _| draws.normal()), y: vec![0.0; n] };
    let (test, table) = (cloud(10), cloud(7));
    for kernel in Kernel::ALL {
        let h = 0.9;
        let utility = KernelDensity::new(2, kernel, h, SmoothedDensity::Rows(test.x.as_ref())).unwrap();
        let product = |f: &dyn Fn(f64) -> f64, a: &Table, i: usize, b: &Table, l: usize| {
            (0..2).map(|j| f((a.x[(i, j)] - b.x[(l, j)]) / h) / h).product::<f64>()
        };
        let exact = |set: &Table| {
            let s = set.len() as f64;
            let pairs: f64 = (0..set.len())
                .flat_map(|i| (0..set.len()).map(move |l| (i, l)))
                .map(|(i, l)| product(&|u| kernel.convolved_at(u), set, i, set, l))
                .sum();
            let cross: f64 = (0..set.len())
                .flat_map(|i| (0..test.len()).map(move |t| (i, t)))
                .map(|(i, t)| product(&|u| kernel.at(u), set, i, &test, t))
                .sum();
            2.0 * cross / (s * test.len() as f64) - pairs / (s * s)
        };
        assert_follows(&utility, &table, &test.select(&[2]), 1e-12, exact);
    }
}
