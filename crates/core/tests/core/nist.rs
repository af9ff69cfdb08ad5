//! Least squares on NIST's Statistical Reference Datasets: how many digits are kept.
//!
//! Data and certified values are those of NIST's linear regression problems
//! (<https://www.itl.nist.gov/div898/strd/lls/lls.shtml>), typed into `testdata/nist.json`. An exact solution
//! in rational numbers gives the certified values from these data to all 15 digits. `testdata/nist.py`
//! prints what NumPy and R keep.

use crate::common::{CENTRED, UNCENTRED, try_fit};
use dshap::Error;
use dshap_testkit::{Case, Sample, cases};

/// Digits that dshap keeps of the worst coefficient, and of the residual deviation.
const LEAST: [(&str, f64, f64); 8] = [
    ("Norris", 12.0, 12.0),
    ("Pontius", 11.5, 12.0),
    ("NoInt1", 13.0, 13.0),
    ("Longley", 10.5, 12.0),
    ("Filip", 6.5, 7.5),
    ("Wampler3", 5.5, 13.0),
    ("Wampler4", 5.5, 13.0),
    ("Wampler5", 5.5, 13.0),
];

fn problem(name: &str) -> Case {
    cases("nist.json").into_iter().find(|case| case.text("name") == name).unwrap()
}

fn sample(problem: &Case) -> Sample {
    Sample { columns: problem.matrix("columns"), y: problem.list("y") }
}

/// Digits that two numbers share, at most 15.
fn digits(found: f64, certified: f64) -> f64 {
    (-((found - certified) / certified).abs().log10()).min(15.0)
}

#[test]
fn certified_values_are_kept_to_many_digits() {
    for (name, of_coefficients, of_deviation) in LEAST {
        let problem = problem(name);
        let intercept = problem.raw("intercept").as_bool().unwrap();
        let fit = try_fit(&sample(&problem), if intercept { CENTRED } else { UNCENTRED }).unwrap();
        let found: Vec<f64> = fit.intercept_value().into_iter().chain(fit.coef().iter().copied()).collect();
        let certified = problem.list("certified");
        assert_eq!(found.len(), certified.len(), "{name}: {:?} are dropped", fit.dropped());
        let worst = found.iter().zip(&certified).map(|(a, b)| digits(*a, *b)).fold(15.0, f64::min);
        let deviation = digits(fit.noise_var().sqrt(), problem.number("residual_std"));
        println!("| {name} | {worst:.1} | {deviation:.1} |");
        assert!(
            worst >= of_coefficients && deviation >= of_deviation,
            "{name}: {worst:.1} and {deviation:.1} digits"
        );
    }
}

/// Polynomials without any noise: there is nothing that a row could add, and the error
/// says so instead of giving values of rounding errors.
#[test]
fn perfect_fits_are_recognised() {
    for name in ["Wampler1", "Wampler2"] {
        let refused = try_fit(&sample(&problem(name)), CENTRED);
        assert!(matches!(refused, Err(Error::NoNoise)), "{name}");
    }
}
