//! What is refused, and with which message.

use crate::common::{Table, patient};
use dshap::density::Kernel;
use dshap::{Rows, Sizes};
use dshap_baselines::{
    Centre, Error, KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions,
    ReferenceRows, SmoothedDensity, Stopping, TestMoments, TmcOptions, d_shapley, d_shapley_of_reference,
    exact_shapley, leave_one_out, tmc_shapley, utility_along,
};
use faer::Mat;

fn utility(p: usize) -> LeastSquares {
    LeastSquares::new(Table::regression(1, 20, p).rows(), LeastSquaresOptions::default()).unwrap()
}

fn words<T>(result: Result<T, Error>) -> String {
    result.err().map_or("accepted".into(), |error| error.to_string())
}

#[test]
fn rows_that_do_not_fit_are_refused_with_their_place() {
    let utility = utility(2);
    let narrow = Table::regression(2, 5, 1);
    assert_eq!(words(leave_one_out(&utility, narrow.rows(), &patient)), "rows have 1 features, expected 2");
    let mut holed = Table::regression(2, 5, 2);
    holed.x[(3, 1)] = f64::NAN;
    assert_eq!(words(leave_one_out(&utility, holed.rows(), &patient)), "row 3, column 1 is not finite");
    assert_eq!(words(ReferenceRows::new(holed.rows(), &utility)), "row 3, column 1 is not finite");
    let mut holed = Table::regression(2, 5, 2);
    holed.y[4] = f64::INFINITY;
    assert_eq!(words(exact_shapley(&utility, holed.rows(), &patient)), "row 4, column 2 is not finite");
    assert_eq!(
        words(LeastSquares::new(holed.rows(), LeastSquaresOptions::default())),
        "in the test rows: row 4, column 2 is not finite"
    );
    let table = Table::regression(2, 5, 2);
    let weighted = table.rows().with_weights(&[1.0; 5]).unwrap();
    assert_eq!(words(ReferenceRows::new(weighted, &utility)), dshap::Error::Weighted.to_string());
}

#[test]
fn numbers_too_large_to_square_are_told() {
    let mut huge = Table::regression(3, 8, 2);
    huge.x[(0, 0)] = 1e200;
    let expected = dshap::Error::TooLarge.to_string();
    assert_eq!(words(leave_one_out(&utility(2), huge.rows(), &patient)), expected);
    huge.y[0] = 1e200;
    let found = words(LeastSquares::new(huge.rows(), LeastSquaresOptions::default()));
    assert!(found.ends_with(&expected), "{found}");
}

#[test]
fn nothing_cannot_be_valued() {
    let utility = utility(2);
    let none = Mat::<f64>::zeros(0, 2);
    let none = Rows::new(none.as_ref(), &[]).unwrap();
    for found in [
        words(exact_shapley(&utility, none, &patient)),
        words(leave_one_out(&utility, none, &patient)),
        words(tmc_shapley(&utility, none, TmcOptions::default(), &patient)),
        words(ReferenceRows::new(none, &utility)),
    ] {
        assert_eq!(found, "the reference has no rows");
    }
    assert_eq!(words(LeastSquares::new(none, LeastSquaresOptions::default())), "there are no test rows");
    assert_eq!(words(Logistic::new(none, LogisticOptions::default())), "there are no test rows");
    let density = KernelDensity::new(2, Kernel::Gaussian, 1.0, SmoothedDensity::Rows(none.x()));
    assert_eq!(words(density), "there are no test rows");
    // No points have no values; that is not an error.
    let table = Table::regression(4, 5, 2);
    let reference = ReferenceRows::new(table.rows(), &utility).unwrap();
    let found =
        d_shapley(&utility, &reference, none, Sizes::new(1, 3), Stopping::default(), &patient).unwrap();
    assert!(found.values.is_empty() && found.converged);
}

#[test]
fn too_many_rows_for_all_sets_are_refused() {
    let table = Table::regression(5, 21, 2);
    assert_eq!(
        words(exact_shapley(&utility(2), table.rows(), &patient)),
        "21 rows have too many sets to visit all of them; the limit is 20 rows"
    );
}

#[test]
fn set_sizes_must_be_drawable() {
    let (table, utility) = (Table::regression(6, 10, 2), utility(2));
    let reference = ReferenceRows::new(table.rows(), &utility).unwrap();
    let of = |q, m| {
        let sizes = Sizes::new(q, m);
        words(d_shapley(&utility, &reference, table.rows(), sizes, Stopping::default(), &patient))
    };
    let own = |q, m| {
        words(d_shapley_of_reference(&utility, &reference, Sizes::new(q, m), Stopping::default(), &patient))
    };
    assert_eq!(of(0, 4), "set sizes must satisfy 1 ≤ q ≤ m, got q = 0, m = 4");
    assert_eq!(of(5, 4), "set sizes must satisfy 1 ≤ q ≤ m, got q = 5, m = 4");
    assert!(of(3, 12).contains("m is at most 11"), "{}", of(3, 12));
    assert_eq!(of(3, 11), "accepted");
    assert!(own(3, 11).contains("m is at most 10"), "{}", own(3, 11));
    assert_eq!(own(3, 10), "accepted");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let table = Table::regression(7, 10, 2);
    let with = |stopping| {
        words(tmc_shapley(
            &utility(2),
            table.rows(),
            TmcOptions { stopping, ..TmcOptions::default() },
            &patient,
        ))
    };
    assert!(with(Stopping { tolerance: f64::NAN, ..Stopping::default() }).contains("tolerance"));
    assert!(with(Stopping { max_iterations: 1, ..Stopping::default() }).contains("two iterations"));
    let truncated = TmcOptions { truncation: -1.0, ..TmcOptions::default() };
    assert!(words(tmc_shapley(&utility(2), table.rows(), truncated, &patient)).contains("truncation"));

    let least_squares = |options| words(LeastSquares::new(table.rows(), options));
    assert!(least_squares(LeastSquaresOptions { ridge: -1.0, ..Default::default() }).contains("ridge"));
    let centre = Centre::Means { x: vec![0.0], y: 0.0 };
    assert!(least_squares(LeastSquaresOptions { centre, ..Default::default() }).contains("expected 2"));
    let centre = Centre::Means { x: vec![0.0, f64::NAN], y: 0.0 };
    assert!(least_squares(LeastSquaresOptions { centre, ..Default::default() }).contains("finite"));

    let labelled = Table::labels(8, 10, 2, 3);
    let logistic = |options| words(Logistic::new(labelled.rows(), options));
    assert!(
        logistic(LogisticOptions { n_classes: 3, ridge: 0.0, ..Default::default() }).contains("separable")
    );
    assert!(logistic(LogisticOptions { n_classes: 1, ..Default::default() }).contains("two classes"));
    assert!(logistic(LogisticOptions::default()).contains("not one of the 2 classes"));
    let two = Table::labels(9, 30, 2, 2);
    let utility = Logistic::new(two.rows(), LogisticOptions::default()).unwrap();
    assert!(words(leave_one_out(&utility, labelled.rows(), &patient)).contains("not one of the 2 classes"));

    let density =
        |dim, h| words(KernelDensity::new(dim, Kernel::Gaussian, h, SmoothedDensity::Rows(table.x.as_ref())));
    assert!(density(2, 0.0).contains("bandwidth"));
    assert!(density(3, 1.0).contains("expected 3"));
    let wide = Mat::<f64>::zeros(2, 40);
    let narrow = KernelDensity::new(40, Kernel::Gaussian, 1e-20, SmoothedDensity::Rows(wide.as_ref()));
    assert!(words(narrow).contains("out of the range of doubles"));

    let moments = |cov: &[f64], noise| words(TestMoments::of_model(cov, &[1.0, 2.0], noise));
    assert!(moments(&[1.0], 1.0).contains("one second moment"));
    assert!(moments(&[1.0, 0.5, 0.4, 1.0], 1.0).contains("symmetric"));
    assert!(moments(&[1.0, 0.5, 0.5, f64::NAN], 1.0).contains("finite"));
    assert!(moments(&[1.0, 0.5, 0.5, 1.0], -1.0).contains("not negative"));
}

#[test]
fn an_order_names_every_row_once() {
    let table = Table::regression(10, 5, 2);
    let along = |start: &[usize], order: &[usize]| {
        words(utility_along(&utility(2), table.rows(), start, order, &patient))
    };
    assert_eq!(along(&[0, 1], &[5]), "row 5 is not one of the 5 rows, or is given twice");
    assert_eq!(along(&[0, 1], &[3, 1]), "row 1 is not one of the 5 rows, or is given twice");
    assert_eq!(along(&[], &[4, 0]), "accepted");
}
