//! Bad references, bad rows and bad settings, each with its error.

use crate::common::density;

use density::{fit, given, normal_rows, valuer};
use dshap::density::{
    Bandwidth, Border, DensityBuilder, DensityFit, DensityMethod, DensityOptions, DensityParts,
    DensityValuer, Kernel, PairIntegrals, Scaling, Search, SetValuer, SizeWeights, UniformExample,
};
use dshap::{Error, Part, Warning};
use faer::{Mat, mat};

fn refused(rows: &Mat<f64>, options: DensityOptions) -> Error {
    DensityFit::of(rows.as_ref(), options).map(|_| ()).unwrap_err()
}

#[test]
fn bandwidths_that_are_none_are_refused() {
    let rows = normal_rows(1, 20, 2);
    for bandwidth in [0.0, -1.0, f64::INFINITY, 1e-31, 1e31] {
        assert_eq!(refused(&rows, given(Kernel::Gaussian, bandwidth)), Error::BadBandwidth { bandwidth });
    }
    let Error::BadBandwidth { bandwidth } = refused(&rows, given(Kernel::Gaussian, f64::NAN)) else {
        panic!("NaN is no bandwidth");
    };
    assert!(bandwidth.is_nan());
}

#[test]
fn references_that_say_nothing_are_refused() {
    let options = DensityOptions::default();
    assert_eq!(refused(&Mat::zeros(0, 2), options), Error::NoRows);
    assert_eq!(refused(&normal_rows(2, 4, 1), options), Error::FewRows { n_rows: 4, needed: 5 });
    let constant = Mat::from_fn(30, 3, |_, j| 0.1 * j as f64);
    assert_eq!(refused(&constant, options), Error::NoFeatures { n_features: 3 });
    assert_eq!(refused(&constant, given(Kernel::Uniform, 1.0)), Error::NoFeatures { n_features: 3 });
    let mut rows = normal_rows(3, 30, 2);
    rows[(7, 1)] = f64::NAN;
    assert_eq!(refused(&rows, options), Error::NotFinite { row: 7, column: 1 });
    rows[(7, 1)] = 1e200;
    assert_eq!(refused(&rows, options), Error::TooLarge);
    let mut builder = DensityBuilder::new(3);
    assert_eq!(builder.push(rows.as_ref()), Err(Error::FeatureCount { found: 2, expected: 3 }));
}

/// The suggested bandwidth works.
#[test]
fn a_bandwidth_that_leaves_every_row_alone_is_refused_and_another_named() {
    for (kernel, dim, h) in [
        (Kernel::Gaussian, 100, 0.01),
        (Kernel::Gaussian, 1, 1e-9),
        (Kernel::Uniform, 2, 1e-4),
        (Kernel::Epanechnikov, 50, 0.5),
        (Kernel::Triangular, 1, 1e-7),
    ] {
        let rows = normal_rows(4, 200, dim);
        let Error::NoDensity { bandwidth, enough } = refused(&rows, given(kernel, h)) else {
            panic!("{kernel:?} {dim} {h} was accepted");
        };
        assert_eq!(bandwidth, h);
        assert!(enough > h);
        let values = valuer(&rows, given(kernel, enough), 50).leave_one_out(0, 200).unwrap();
        let logs = values.part(Part::LogDensity).unwrap();
        assert!(logs.iter().any(|log| log.is_finite()), "{kernel:?} {dim}: {enough} is not enough");
        assert!(values.value.iter().all(|value| value.is_finite()), "{kernel:?} {dim} {enough}");
    }
}

/// Two equal rows and all others isolated: that is a density, found among all rows.
#[test]
fn a_single_pair_of_neighbours_is_enough() {
    let mut rows = Mat::from_fn(500, 1, |i, _| i as f64);
    rows[(401, 0)] = 402.0 - 1e-6;
    let fit = fit(&rows, given(Kernel::Triangular, 1e-4));
    assert_eq!(fit.bandwidth(), 1e-4);
}

#[test]
fn constant_columns_are_named_and_do_not_count() {
    let plain = normal_rows(5, 80, 2);
    let rows = Mat::from_fn(80, 4, |i, j| [0.3, plain[(i, 0)], -7e9, plain[(i, 1)]][j]);
    for scaling in [Scaling::Standard, Scaling::None] {
        let options = DensityOptions { scaling, ..given(Kernel::Gaussian, 0.5) };
        let fit = fit(&rows, options);
        assert_eq!(
            (fit.constant_columns(), fit.kept(), fit.dim(), fit.n_features()),
            (&[0, 2][..], &[1, 3][..], 2, 4)
        );
        assert_eq!(fit.warnings(), [Warning::ConstantColumns { columns: vec![0, 2] }]);
        // A point may differ there; it is valued by the columns that vary.
        let values = DensityValuer::new(fit, 30, DensityMethod::Closed).unwrap();
        let found = values.values_from(mat![[9.0, 0.1, 1.0, 0.2]].as_ref(), 0).unwrap();
        let expected = valuer(&plain, options, 30).values_from(mat![[0.1, 0.2]].as_ref(), 0).unwrap();
        assert_eq!(found, expected);
        let bad = mat![[f64::NAN, 0.1, 1.0, 0.2]];
        assert_eq!(values.values_from(bad.as_ref(), 0), Err(Error::NotFinite { row: 0, column: 0 }));
    }
}

#[test]
fn points_that_do_not_fit_are_refused() {
    let valuer = valuer(&normal_rows(6, 50, 2), given(Kernel::Gaussian, 0.5), 30);
    let refused = |points: Mat<f64>| valuer.values_from(points.as_ref(), 0).unwrap_err();
    assert_eq!(refused(Mat::zeros(1, 3)), Error::FeatureCount { found: 3, expected: 2 });
    let mut points = Mat::zeros(200, 2);
    points[(150, 1)] = f64::INFINITY;
    points[(170, 0)] = f64::NAN;
    assert_eq!(refused(points.clone()), Error::NotFinite { row: 150, column: 1 });
    assert_eq!(refused(mat![[1e130, 0.0]]), Error::TooLarge);
    assert!(valuer.values_from(Mat::zeros(0, 2).as_ref(), 0).unwrap().is_empty());
    assert_eq!(valuer.leave_one_out(49, 2).unwrap_err(), Error::RowRange { first: 49, len: 2, n_rows: 50 });
    assert_eq!(
        valuer.leave_one_out(usize::MAX, 2).unwrap_err(),
        Error::RowRange { first: usize::MAX, len: 2, n_rows: 50 }
    );
}

/// Far from everything the density is below the range of doubles. Its logarithm is not,
/// and the value is that of an isolated row.
#[test]
fn rows_far_away_have_a_log_density_and_the_shared_value() {
    let valuer = valuer(&normal_rows(7, 50, 2), given(Kernel::Gaussian, 0.5), 30);
    let values = valuer.values_from(mat![[1e3, 0.0], [1e3, 500.0], [1e100, 0.0]].as_ref(), 0).unwrap();
    let logs = values.part(Part::LogDensity).unwrap();
    assert!(logs[0] > logs[1] && logs[1] > logs[2] && logs[2].is_finite(), "{logs:?}");
    assert_eq!(values.value, [valuer.constant(); 3]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let rows = normal_rows(8, 20, 1);
    let fit = || fit(&rows, given(Kernel::Gaussian, 0.5));
    let bad = |error: Error| matches!(error, Error::BadOption { .. });
    assert!(bad(DensityValuer::new(fit(), 0, DensityMethod::Closed).unwrap_err()));
    assert!(bad(UniformExample::new(0.6, 10, 0.2, Border::Exact).unwrap_err()));
    assert!(bad(UniformExample::new(f64::NAN, 10, 0.2, Border::Exact).unwrap_err()));
    assert!(bad(UniformExample::new(0.2, 10, 0.2, Border::Exact).unwrap().point(0.05).unwrap_err()));
    assert_eq!(SizeWeights::new(0, 5).unwrap_err(), Error::NoRows);
    assert_eq!(SizeWeights::new(1, usize::MAX).unwrap_err(), Error::TooLargeSize { max: usize::MAX });

    let fit = fit();
    let sets = SetValuer::new(&fit, PairIntegrals::of(&fit, 100, 0).unwrap(), 10, 0.0).unwrap();
    assert_eq!(sets.value(Mat::zeros(0, 1).as_ref()).unwrap_err(), Error::NoRows);
    assert_eq!(sets.left_out(&[3, 20]).unwrap_err(), Error::RowRange { first: 20, len: 1, n_rows: 20 });
    let all: Vec<usize> = (0..20).collect();
    assert_eq!(sets.left_out(&all).unwrap_err(), Error::NobodyLeft { n_rows: 20 });
    assert!(bad(SetValuer::new(&fit, PairIntegrals::of(&fit, 100, 0).unwrap(), 10, f64::NAN).unwrap_err()));
}

#[test]
fn cross_validation_can_be_interrupted_and_says_when_it_ends_at_an_edge() {
    let rows = Mat::from_fn(100, 1, |i, _| (i % 4) as f64);
    let mut builder = DensityBuilder::new(1);
    builder.push(rows.as_ref()).unwrap();
    let interrupted = builder.clone().finish_while(DensityOptions::default(), &|done, _| done < 300);
    assert_eq!(interrupted.map(|_| ()).unwrap_err(), Error::Interrupted);
    // Spikes describe repeated rows best.
    let fit = builder.finish(DensityOptions::default()).unwrap();
    assert_eq!(fit.warnings(), [Warning::BandwidthAtEdge { bandwidth: 0.01 }]);
    let given = DensityOptions { bandwidth: Bandwidth::Scott, ..DensityOptions::default() };
    assert!(DensityFit::of(rows.as_ref(), given).unwrap().warnings().is_empty());
}

/// What is written to a file and read back values rows with the same bits.
#[test]
fn a_fit_from_its_numbers_has_its_bits() {
    for (search, h) in [(Search::All, 0.4), (Search::Tree, 0.05)] {
        let mut rows = normal_rows(9, 700, 3);
        rows.col_mut(1).iter_mut().for_each(|cell| *cell = 2.5);
        let options = DensityOptions { search, scaling: Scaling::Standard, ..given(Kernel::Gaussian, h) };
        let fit = fit(&rows, options);
        let again = DensityFit::from_parts(fit.to_parts()).unwrap();
        assert_eq!(again.to_parts(), fit.to_parts());
        assert_eq!((again.constant_columns(), again.has_tree()), (&[1][..], search == Search::Tree));
        let values = |fit: DensityFit| {
            let valuer = DensityValuer::new(fit, 99, DensityMethod::Closed).unwrap();
            let points = normal_rows(10, 30, 3);
            (valuer.values_from(points.as_ref(), 0).unwrap(), valuer.leave_one_out(0, 700).unwrap())
        };
        assert_eq!(values(again), values(fit));
    }
}

#[test]
fn numbers_that_are_no_fit_are_refused() {
    let parts = fit(&normal_rows(11, 50, 2), given(Kernel::Gaussian, 0.5)).to_parts();
    let changes: [fn(&mut DensityParts); 9] = [
        |parts| parts.kept = vec![1, 0],
        |parts| parts.kept = vec![0, 2],
        |parts| parts.kept = vec![],
        |parts| parts.centre.push(0.0),
        |parts| _ = parts.rows.pop(),
        |parts| parts.rows.clear(),
        |parts| parts.rows[3] = f64::NAN,
        |parts| parts.factor[0] = 0.0,
        |parts| parts.bandwidth = -0.5,
    ];
    for (i, change) in changes.into_iter().enumerate() {
        let mut parts = parts.clone();
        change(&mut parts);
        let refused = DensityFit::from_parts(parts).map(|_| ());
        assert!(matches!(refused, Err(Error::Contradiction { .. })), "change {i}: {refused:?}");
    }
}
