//! Second-order valuers as plain numbers, for other sizes, and from samples.

use crate::common::classification as setting;
use crate::common::second_order;

use dshap::classification::LogisticOptions;
use dshap::second_order::{
    BootstrapOptions, SecondOrderOptions, SecondOrderParts, SecondOrderValuer, Utility,
};
use dshap::{Error, Rows, Sizes, Valuer};
use dshap_testkit::{MeanEstimate, assert_same_bits};
use second_order::{matrix, second_order};
use setting::{PLAIN, labelled};

const RIDGE: LogisticOptions = LogisticOptions { ridge: 3.0, ..PLAIN };
const BETA: [f64; 3] = [0.4, 1.1, -0.7];

fn by(utility: Utility) -> SecondOrderOptions {
    SecondOrderOptions { utility, ..Default::default() }
}

#[test]
fn a_valuer_is_all_in_its_numbers() {
    let sample = labelled(41, 300, &BETA);
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    for options in [PLAIN, RIDGE] {
        for utility in [Utility::LogLoss, Utility::Accuracy, Utility::Brier] {
            let valuer = second_order(&sample, options, (25, 200), by(utility));
            let again = SecondOrderValuer::from_parts(valuer.to_parts()).unwrap();
            assert_eq!(again.to_parts(), valuer.to_parts());
            let (expected, found) = (valuer.leave_one_out(rows).unwrap(), again.leave_one_out(rows).unwrap());
            assert_same_bits(&found.value, &expected.value, "value");
            assert_eq!(found.parts, expected.parts);
        }
    }
}

#[test]
fn numbers_that_are_no_valuer_are_refused() {
    let sample = labelled(42, 120, &BETA);
    let wrong = |change: fn(&mut SecondOrderParts)| {
        let mut parts = second_order(&sample, RIDGE, (25, 100), by(Utility::LogLoss)).to_parts();
        change(&mut parts);
        SecondOrderValuer::from_parts(parts).map(|_| ()).unwrap_err()
    };
    let contradictions: [fn(&mut SecondOrderParts); 7] = [
        |parts| drop(parts.nodes.pop()),
        |parts| parts.nodes[0].fit = None,
        |parts| parts.nodes[1].moments[0] += 1.0,
        |parts| parts.nodes[1].moments[9] = f64::NAN,
        |parts| parts.nodes[2].moments.truncate(5),
        |parts| parts.nodes[2].fit.as_mut().unwrap().n_rows += 1,
        |parts| parts.fit.beta.truncate(1),
    ];
    for change in contradictions {
        assert!(matches!(wrong(change), Error::Contradiction { .. }));
    }
    assert!(matches!(wrong(|parts| parts.options.shift = Some(1.0)), Error::BadOption { .. }));
    assert!(matches!(wrong(|parts| parts.sizes = Sizes::new(2, 1)), Error::Sizes { .. }));
}

/// Sizes among those of the expansion, up to the error of interpolation between its
/// nodes: a few parts in a million with a ridge, a few in a thousand for smoothed
/// accuracy.
#[test]
fn other_sizes_are_those_of_a_valuer_made_for_them() {
    let sample = labelled(43, 300, &BETA);
    let x = matrix(&sample);
    let rows = Rows::new(x.as_ref(), &sample.y).unwrap();
    for (options, utility, tolerance) in [
        (PLAIN, Utility::LogLoss, 0.0),
        (PLAIN, Utility::Brier, 0.0),
        (RIDGE, Utility::LogLoss, 1e-5),
        (PLAIN, Utility::Accuracy, 2e-3),
    ] {
        let wide = second_order(&sample, options, (25, 400), by(utility));
        let found = wide.with_sizes(Sizes::new(30, 200)).unwrap().values(rows).unwrap();
        let expected = second_order(&sample, options, (30, 200), by(utility)).values(rows).unwrap();
        let scale = expected.value.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (found, expected) in found.value.iter().zip(&expected.value) {
            let error = (found - expected).abs() / scale;
            assert!(error <= tolerance, "{utility:?}: {error:e}");
        }
        let wider = wide.with_sizes(Sizes::new(25, 401));
        match tolerance {
            0.0 => assert!(wider.is_ok()),
            _ => assert_eq!(wider.unwrap_err(), Error::OtherSizes { min: 25, max: 400 }),
        }
        assert!(matches!(wide.with_sizes(Sizes::new(3, 100)), Err(Error::Sizes { least: 5, .. })));
    }
}

/// Errors from every fourth row, each standing for four, against errors from all. The
/// mean ratio of both over 40 points is known to about 3 % (100 replicates give an error
/// to 7 %, a quarter of 4000 rows its square to about 5 %); errors as if there were no
/// other rows would be twice as large.
#[test]
fn a_sample_tells_the_errors_of_all_rows() {
    let reference = labelled(44, 4000, &BETA);
    let points = labelled(45, 40, &BETA);
    let quarter = reference.select(&(0..4000).step_by(4).collect::<Vec<_>>());
    let (all, some, x) = (matrix(&reference), matrix(&quarter), matrix(&points));
    let (all, some) =
        (Rows::new(all.as_ref(), &reference.y).unwrap(), Rows::new(some.as_ref(), &quarter.y).unwrap());
    let points = Rows::new(x.as_ref(), &points.y).unwrap();
    let bootstrap = BootstrapOptions::default();
    let valuer = second_order(&reference, PLAIN, (30, 90), by(Utility::LogLoss));
    let whole = valuer.clone().with_std_error(all, bootstrap).unwrap().values(points).unwrap();
    let stands_for = vec![4.0; 1000];
    let sampled = valuer.clone().with_std_error_of(some, Some(&stands_for), bootstrap).unwrap();
    let sampled = sampled.values(points).unwrap();
    assert_same_bits(&sampled.value, &whole.value, "value");
    let mut ratio = MeanEstimate::default();
    for (found, expected) in sampled.std_error.unwrap().iter().zip(whole.std_error.unwrap()) {
        ratio.push(found / expected);
    }
    println!("errors from a sample: {:.3} of those from all rows", ratio.mean());
    assert!((ratio.mean() - 1.0).abs() < 0.15, "{:.3}", ratio.mean());

    let refused = |counts: &[f64]| valuer.clone().with_std_error_of(some, Some(counts), bootstrap);
    assert_eq!(refused(&[4.0]).unwrap_err(), Error::RowCount { features: 1000, targets: 1 });
    assert!(matches!(refused(&vec![0.5; 1000]), Err(Error::BadOption { .. })));
}
