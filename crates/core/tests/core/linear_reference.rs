//! Theorem 2 against tables with 22 digits.

use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
use dshap::numeric::SizeSums;
use dshap::{Error, Sizes};
use dshap_testkit::{Case, cases, relative_error};

/// Tables hold 22 digits; the documented accuracy is 1e-12 per sum. Values are
/// differences of two sums, so errors are measured against the larger of the two.
const TOLERANCE: f64 = 1e-12;

fn stats(case: &Case) -> PointStats {
    PointStats { dist_sq: case.number("d2"), resid_sq: case.number("e2"), noise_var: case.number("sigma2") }
}

/// Both the table and the direct integral must give `expected`.
fn check(case: &Case, constant: Constant, convention: Convention, expected: f64) {
    let sizes = Sizes::new(case.count("q"), case.count("m"));
    let form = GaussianForm::new(case.count("p"), sizes, constant, convention)
        .expect("the table has possible sizes only");
    for found in [form.value(stats(case)), form.value_once(stats(case))] {
        let scale = found.potential.abs().max(found.penalty).max(expected.abs());
        let error = (found.value - expected).abs();
        assert!(
            error <= TOLERANCE * scale,
            "{constant:?} {convention:?} {case:?}: found {found:?}, error {error:.1e}"
        );
    }
}

#[test]
fn values_match_the_table_for_every_constant_and_convention() {
    let (mut n_gain, mut n_simple) = (0, 0);
    for case in cases("reference/regression.json") {
        check(&case, Constant::Theorem, Convention::Definition, case.number("simple_definition"));
        check(&case, Constant::Gain, Convention::Printed, case.number("simple_printed"));
        check(
            &case,
            Constant::Full(case.number("C_lin")),
            Convention::Definition,
            case.number("full_definition"),
        );
        n_simple += 1;
        if let Some(gain) = case.optional("marginal_definition") {
            check(&case, Constant::Gain, Convention::Definition, gain);
            n_gain += 1;
        }
    }
    assert!(n_gain >= 20 && n_simple >= 25, "the table has {n_gain} gains and {n_simple} sums");
}

#[test]
fn sums_match_the_table() {
    for case in cases("reference/regression.json") {
        let p = case.count("p");
        let sums = SizeSums::new(p, (case.count("q") - p) as u64, (case.count("m") - p) as u64);
        for found in [sums.at(case.number("d2")), sums.integrated_at(case.number("d2"))] {
            for (name, found) in [("aH2_definition", found.a_h2), ("H3_definition", found.h3)] {
                let error = relative_error(found, case.number(name));
                assert!(error < 1e-13, "{name} of {case:?}: found {found:e}, error {error:.1e}");
            }
        }
    }
}

/// `size_sums.json` reaches the corners: p up to 2000, sizes up to 1e7, and
/// distances from 1e-300 to 1e300.
#[test]
fn sums_hold_their_digits_at_the_corners() {
    let mut worst: f64 = 0.0;
    for case in cases("size_sums.json") {
        let (first, last) = (case.number("nu_first") as u64, case.number("nu_last") as u64);
        let sums = SizeSums::new(case.count("p"), first, last);
        let a = case.number("a");
        for (way, found) in [("table", sums.at(a)), ("integral", sums.integrated_at(a))] {
            let pairs = [("h2", found.h2), ("h3", found.h3), ("h4", found.h4), ("neg_dh2", found.neg_dh2)];
            for (name, found) in pairs {
                let Some(exact) = case.optional(name) else { continue };
                let error = relative_error(found, exact);
                assert!(error < TOLERANCE, "{way} {name} of {case:?}: found {found:e}, error {error:.1e}");
                worst = worst.max(error);
            }
        }
    }
    println!("largest relative error {worst:.1e}");
}

#[test]
fn sizes_without_a_sum_are_refused() {
    let form =
        |q, m, constant, convention| GaussianForm::new(4, Sizes::new(q, m), constant, convention).map(|_| ());
    let refused = |q, m, least| Err(Error::Sizes { min: q, max: m, least, dim: 4 });
    assert_eq!(form(6, 20, Constant::Gain, Convention::Definition), refused(6, 20, 7));
    assert_eq!(form(7, 7, Constant::Gain, Convention::Definition), Ok(()));
    assert_eq!(form(8, 7, Constant::Gain, Convention::Definition), refused(8, 7, 7));
    assert_eq!(form(5, 20, Constant::Theorem, Convention::Definition), refused(5, 20, 6));
    assert_eq!(form(6, 20, Constant::Full(1.0), Convention::Definition), Ok(()));
    assert_eq!(form(4, 20, Constant::Theorem, Convention::Printed), refused(4, 20, 5));
    assert_eq!(form(5, 20, Constant::Theorem, Convention::Printed), Ok(()));
}
