//! Standard errors of second-order values against the spread over references.

use crate::common::classification as setting;
use crate::common::second_order;

use dshap::classification::LogisticOptions;
use dshap::second_order::{BootstrapOptions, SecondOrderOptions, Utility};
use dshap::{Error, Rows, Valuer};
use dshap_testkit::{MeanEstimate, Sample, assert_same_bits, on_threads, seeds};
use second_order::{matrix, second_order};
use setting::{PLAIN, labelled};

const BETA: [f64; 3] = [0.4, 1.1, -0.7];

/// 200 references give a deviation to 5 %, a little more for heavy tails, and the mean of
/// 200 errors from 25 replicates each to about 1 %. A quarter is four to five of those
/// and leaves room for the error of the bootstrap at 600 rows (found with 250 references:
/// 0.98 to 1.13). Errors of a reference twice as large would be 0.7 times as large.
#[test]
fn standard_errors_are_the_spread_over_references() {
    let ridge = LogisticOptions { ridge: 5.0, ..PLAIN };
    for (number, (utility, logistic)) in [
        (Utility::LogLoss, PLAIN),
        (Utility::Brier, PLAIN),
        (Utility::Accuracy, PLAIN),
        (Utility::LogLoss, ridge),
    ]
    .into_iter()
    .enumerate()
    {
        for seed in seeds(32_000 + 1000 * number as u64) {
            let points = labelled(seed, 5, &BETA);
            let x = matrix(&points);
            let rows = Rows::new(x.as_ref(), &points.y).unwrap();
            let options = SecondOrderOptions { utility, ..Default::default() };
            let mut spread = vec![MeanEstimate::default(); 5];
            let mut reported = spread.clone();
            for sample in 0..200 {
                let reference = labelled(seed + 1 + sample, 600, &BETA);
                let all = matrix(&reference);
                let all = Rows::new(all.as_ref(), &reference.y).unwrap();
                let bootstrap = BootstrapOptions { n_replicates: 25, seed: sample };
                let valuer = second_order(&reference, logistic, (30, 90), options);
                let found = valuer.with_std_error(all, bootstrap).unwrap().values(rows).unwrap();
                for k in 0..5 {
                    spread[k].push(found.value[k]);
                    reported[k].push(found.std_error.as_ref().unwrap()[k]);
                }
            }
            for k in 0..5 {
                let ratio = reported[k].mean() / spread[k].std_dev();
                let what = format!("{utility:?}, ridge {}, point {k}", logistic.ridge);
                println!("{what}: reported/true = {ratio:.3}");
                assert!((ratio - 1.0).abs() < 0.25, "{what}: reported/true = {ratio:.3}");
            }
        }
    }
}

#[test]
fn threads_change_no_bit_of_an_error() {
    let reference = labelled(33_000, 1500, &BETA);
    let x = matrix(&reference);
    let rows = Rows::new(x.as_ref(), &reference.y).unwrap();
    let errors = |threads| {
        on_threads(threads, || {
            let valuer = second_order(&reference, PLAIN, (30, 90), SecondOrderOptions::default());
            let valuer = valuer.with_std_error(rows, BootstrapOptions { n_replicates: 8, seed: 5 }).unwrap();
            valuer.leave_one_out(rows).unwrap().std_error.unwrap()
        })
    };
    let one = errors(1);
    assert!(one.iter().all(|error| *error > 0.0));
    assert_same_bits(&errors(4), &one, "threads");
}

/// Nearly separated labels, a label of one row, barely more rows than columns, and a
/// sample of the reference that is separated itself: draws of whole rows have no fit more
/// often than not, or always.
#[test]
fn there_is_an_error_wherever_there_is_a_value() {
    let base = labelled(33_200, 24, &BETA);
    let x = matrix(&base);
    // Among the others, so that the reference has a fit.
    let reach = |i: usize| x[(i, 0)].powi(2) + x[(i, 1)].powi(2);
    let inmost = (0..24).min_by(|&a, &b| reach(a).total_cmp(&reach(b))).unwrap();
    let one_positive: Vec<f64> = (0..24).map(|i| f64::from(u8::from(i == inmost))).collect();
    let mut towards: Vec<usize> = (0..24).collect();
    towards.sort_by(|&a, &b| x[(a, 0)].total_cmp(&x[(b, 0)]));
    let mut nearly = vec![0.0; 24];
    towards[12..].iter().for_each(|&i| nearly[i] = 1.0);
    for (low, high) in [(9, 14), (6, 17)] {
        (nearly[towards[low]], nearly[towards[high]]) = (1.0, 0.0);
    }
    let options = BootstrapOptions::default();
    for y in [one_positive, nearly] {
        let reference = Sample { y, columns: base.columns.clone() };
        let rows = Rows::new(x.as_ref(), &reference.y).unwrap();
        for utility in [Utility::LogLoss, Utility::Brier, Utility::Accuracy] {
            let valuer = second_order(
                &reference,
                PLAIN,
                (12, 24),
                SecondOrderOptions { utility, ..Default::default() },
            );
            // Every other row of the table, each for two.
            let few = reference.select(&(0..24).filter(|i| i % 2 == 1).collect::<Vec<_>>());
            let few_x = matrix(&few);
            let few_rows = Rows::new(few_x.as_ref(), &few.y).unwrap();
            let sampled = valuer.clone().with_std_error_of(few_rows, Some(&[2.0; 12]), options).unwrap();
            for valuer in [valuer.with_std_error(rows, options).unwrap(), sampled] {
                assert_eq!(valuer.warnings(), []);
                let found = valuer.leave_one_out(rows).unwrap();
                for (value, error) in found.value.iter().zip(found.std_error.unwrap()) {
                    assert!(value.is_nan() || (error > 0.0 && error.is_finite()), "{value} {error}");
                }
            }
        }
    }
}

#[test]
fn errors_that_cannot_be_drawn_are_refused() {
    let reference = labelled(33_100, 200, &BETA);
    let x = matrix(&reference);
    let rows = Rows::new(x.as_ref(), &reference.y).unwrap();
    let valuer = || second_order(&reference, PLAIN, (30, 90), SecondOrderOptions::default());
    let one = BootstrapOptions { n_replicates: 1, seed: 0 };
    assert!(matches!(valuer().with_std_error(rows, one), Err(Error::BadOption { .. })));
    let none = valuer().with_std_error(rows.slice(0, 0), BootstrapOptions::default());
    assert_eq!(none.unwrap_err(), Error::NoRows);
    let weights = vec![-1.0; 200];
    let weighted = rows.with_weights(&weights).unwrap();
    let bad = valuer().with_std_error(weighted, BootstrapOptions::default());
    assert_eq!(bad.unwrap_err(), Error::BadWeight { row: 0 });
}
