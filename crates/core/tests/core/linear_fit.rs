//! The least-squares fit: which columns it keeps, what it refuses, and its numbers.

use crate::common;
use crate::common::{CENTRED, Data, UNCENTRED, fit, gain_valuer, theorem, try_fit, valuer};
use dshap::linear::{Algorithm3, FitOptions, LinearFit, LinearMethod, LinearValuer};
use dshap::{BLOCK_ROWS, Error, Moments, Rows, Sizes, Valuer, Warning};
use dshap_testkit::{Draws, Sample, assert_close, assert_same_bits, on_threads, relative_error};
use faer::Mat;
use proptest::prelude::*;

const STRICT: FitOptions = FitOptions { intercept: true, refit_intercept: false, allow_dependent: false };

/// Normal equations of two integer columns, solved by Cramer's rule in integers.
#[test]
fn coefficients_and_noise_variance_are_those_solved_by_hand() {
    let (x1, x2): ([i64; 6], [i64; 6]) = ([1, 2, 3, 4, 6, 5], [2, -1, 0, 3, 1, 7]);
    let y = [2, 3, 5, 4, 9, 11];
    let real = |column: [i64; 6]| column.iter().map(|&k| k as f64).collect::<Vec<_>>();
    let sample = Sample { columns: vec![real(x1), real(x2)], y: real(y) };

    for options in [CENTRED, UNCENTRED] {
        // Six times the centred products are integers.
        let product = |a: [i64; 6], b: [i64; 6]| -> i64 {
            let raw: i64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            6 * raw - if options.intercept { a.iter().sum::<i64>() * b.iter().sum::<i64>() } else { 0 }
        };
        let (g11, g12, g22) = (product(x1, x1), product(x1, x2), product(x2, x2));
        let (b1, b2) = (product(x1, y), product(x2, y));
        let det = g11 * g22 - g12 * g12;
        let coef = [(b1 * g22 - b2 * g12) as f64 / det as f64, (b2 * g11 - b1 * g12) as f64 / det as f64];
        let rss = (product(y, y) * det - b1 * (b1 * g22 - b2 * g12) - b2 * (b2 * g11 - b1 * g12)) as f64
            / (6 * det) as f64;

        let found = fit(&sample, options);
        assert_close(found.coef()[0], coef[0], 1e-14);
        assert_close(found.coef()[1], coef[1], 1e-14);
        assert_close(found.rss(), rss, 1e-13);
        let degrees = if options.intercept { 3.0 } else { 4.0 };
        assert_eq!((found.dim(), found.degrees_of_freedom()), (2, degrees));
        assert_close(found.noise_var(), rss / degrees, 1e-13);
        assert_eq!((found.n_rows(), found.n_features(), found.intercept()), (6, 2, options.intercept));
    }
}

/// `x = 1, 2, 3, 4, 6` and `y = 2, 3, 5, 4, 9`: Sxx = 14.8, Sxy = 19.4, x̄ = 3.2, ȳ = 4.6.
#[test]
fn distances_and_residuals_are_those_computed_by_hand() {
    let sample = Sample { columns: vec![vec![1.0, 2.0, 3.0, 4.0, 6.0]], y: vec![2.0, 3.0, 5.0, 4.0, 9.0] };
    let point = Data::of(&Sample { columns: vec![vec![7.5]], y: vec![8.0] });
    let values = gain_valuer(&sample, CENTRED, Sizes::new(4, 5)).values(point.rows()).unwrap();
    let part = |name| values.parts.iter().find(|(part, _)| part.name() == name).unwrap().1[0];
    assert_close(part("dist_sq"), 4.3 * 4.3 / (14.8 / 5.0), 1e-14);
    assert_close(part("resid_sq"), (3.4 - 4.3 * 19.4 / 14.8_f64).powi(2), 1e-13);

    let values = gain_valuer(&sample, UNCENTRED, Sizes::new(4, 5)).values(point.rows()).unwrap();
    let part = |name| values.parts.iter().find(|(part, _)| part.name() == name).unwrap().1[0];
    assert_close(part("dist_sq"), 7.5 * 7.5 / (66.0 / 5.0), 1e-14);
    assert_close(part("resid_sq"), (8.0 - 7.5 * 93.0 / 66.0_f64).powi(2), 1e-13);
}

#[test]
fn copies_are_dropped_and_the_earlier_wins() {
    let sample = Sample::gaussian(31, 50, 3, 0.9);
    let copy = sample.columns[1].clone();
    let sample = sample.with_column(copy);
    for options in [CENTRED, UNCENTRED] {
        let found = fit(&sample, options);
        assert_eq!((found.kept(), found.dropped()), (&[0, 1, 2][..], &[3][..]));
        assert_eq!(found.warnings(), [Warning::DroppedColumns { columns: vec![3] }]);
        assert_eq!((found.dim(), found.coef().len(), found.n_features()), (3, 3, 4));
    }
}

/// The fit is then that of the remaining columns, bit for bit.
#[test]
fn dropped_columns_leave_no_trace() {
    let sample = Sample::gaussian(32, 70, 4, 0.9);
    let [a, b, c, d] = <[Vec<f64>; 4]>::try_from(sample.columns.clone()).unwrap();
    let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.3 * a - 1.7 * b).collect();
    let columns = vec![vec![0.1; 70], a.clone(), a, b, sum, c, vec![1e9; 70], d];
    let padded = Sample { columns, y: sample.y.clone() };
    let (plain, found) = (fit(&sample, CENTRED), fit(&padded, CENTRED));
    assert_eq!((found.kept(), found.dropped()), (&[1, 3, 5, 7][..], &[0, 2, 4, 6][..]));
    assert_eq!(found.degrees_of_freedom(), plain.degrees_of_freedom());
    // Two ways of factorising (blocked or column by column): a few roundings apart.
    for (found, expected) in found.coef().iter().zip(plain.coef()) {
        assert_close(*found, *expected, 1e-14);
    }
    assert_close(found.rss(), plain.rss(), 1e-13);

    let (x, sizes) = (Data::of(&padded), Sizes::new(13, 40));
    let values = gain_valuer(&padded, CENTRED, sizes).values(x.rows()).unwrap();
    let expected = gain_valuer(&sample, CENTRED, sizes).values(Data::of(&sample).rows()).unwrap();
    for (found, expected) in values.value.iter().zip(&expected.value) {
        assert!((found - expected).abs() < 1e-14, "{found:e} {expected:e}");
    }
}

proptest! {
    #![proptest_config(common::cases(200))]

    /// For any coefficients, scales and means, a column computed from others is found to
    /// be dependent, and always the last of those involved.
    #[test]
    fn linear_combinations_are_dropped(
        seed in any::<u64>(),
        n in 20..400_usize,
        weights in prop::collection::vec(prop_oneof![-5.0..-0.1_f64, 0.1..5.0_f64], 4),
        exponents in prop::collection::vec(-9.0..9.0_f64, 4),
        means in prop::collection::vec(-30.0..30.0_f64, 4),
        place in 0..=4_usize,
    ) {
        let mut sample = Sample::gaussian(seed, n, 4, 0.9);
        for ((column, exponent), mean) in sample.columns.iter_mut().zip(&exponents).zip(&means) {
            column.iter_mut().for_each(|cell| *cell = (*cell + mean) * 10_f64.powf(*exponent));
        }
        let combined = (0..n)
            .map(|i| (0..4).map(|j| weights[j] * 10_f64.powf(-exponents[j]) * sample.columns[j][i]).sum())
            .collect();
        sample.columns.insert(place, combined);
        // The last column that takes part, the combination included.
        let last = if place == 4 { 4 } else { (0..5).rev().find(|&j| j != place).unwrap() };
        for options in [CENTRED, UNCENTRED] {
            let found = fit(&sample, options);
            prop_assert_eq!(found.dropped(), &[last][..]);
        }
    }

    /// Centred cells of a constant are rounding errors, and so is what merging blocks
    /// adds: neither may count as variation, in features or target.
    #[test]
    fn constants_are_constant_whatever_their_value(
        constant in prop_oneof![-100.0..100.0_f64, (-1.0..1.0_f64).prop_map(|x| x * 1e12)],
        n in prop_oneof![8..300_usize, 4000..9000_usize],
    ) {
        let column: Vec<f64> = (0..n).map(|i| ((i * i) % 17) as f64).collect();
        let y: Vec<f64> = (0..n).map(|i| ((i * i) % 19) as f64).collect();
        let sample = Sample { columns: vec![vec![constant; n], column.clone()], y };
        let found = fit(&sample, CENTRED);
        prop_assert_eq!(found.dropped(), &[0][..]);
        let sample = Sample { columns: vec![column], y: vec![constant; n] };
        let refused = matches!(try_fit(&sample, CENTRED), Err(Error::ConstantTarget { .. }));
        prop_assert!(refused);
    }

    /// The opposite error would be as bad: independent columns stay.
    #[test]
    fn independent_columns_are_kept(
        seed in any::<u64>(),
        n in 20..400_usize,
        p in 1..9_usize,
        exponents in prop::collection::vec(-9.0..9.0_f64, 9),
        means in prop::collection::vec(-1e5..1e5_f64, 9),
    ) {
        let mut sample = Sample::gaussian(seed, n, p, 0.9);
        for ((column, exponent), mean) in sample.columns.iter_mut().zip(&exponents).zip(&means) {
            column.iter_mut().for_each(|cell| *cell = (*cell + mean) * 10_f64.powf(*exponent));
        }
        let found = fit(&sample, CENTRED);
        prop_assert_eq!(found.dropped(), &[] as &[usize]);
        prop_assert_eq!(found.warnings(), vec![]);
    }
}

/// With an intercept the levels add up to a constant, which centring makes zero.
#[test]
fn the_last_level_of_a_full_one_hot_code_is_dropped() {
    let n = 60;
    let mut sample = Sample::gaussian(33, n, 1, 0.9);
    for level in 0..3 {
        sample.columns.push((0..n).map(|i| if i % 7 % 3 == level { 1.0 } else { 0.0 }).collect());
    }
    assert_eq!(fit(&sample, CENTRED).dropped(), [3]);
    // Without centring the levels are independent and stand for the intercept;
    // only a constant after them would repeat it.
    assert_eq!(fit(&sample, UNCENTRED).dropped(), [] as [usize; 0]);
    assert_eq!(fit(&sample.with_column(vec![2.5; n]), UNCENTRED).dropped(), [4]);
}

/// 0.1 is not a double, so its centred cells are rounding errors rather than zeros;
/// across blocks the merged means bring rounding of their own.
#[test]
fn constant_columns_are_dropped() {
    for n in [37, BLOCK_ROWS, 2 * BLOCK_ROWS + 905] {
        for constant in [0.0, 0.1, -0.7, 1e9, 1e9 + 0.1, 1e-30, 3e120] {
            let sample = Sample::gaussian(34, n, 2, 0.9).with_column(vec![constant; n]);
            assert_eq!(fit(&sample, CENTRED).dropped(), [2], "{n} rows of {constant:e}");
        }
    }
}

/// 0.3 and 0.1 + 0.2 differ in the last bit: the same number computed in two ways.
#[test]
fn a_column_constant_up_to_rounding_is_constant() {
    for (one, other) in [(0.3, 0.1 + 0.2), (1e9 + 0.1, 1e9 + 0.1 + f64::EPSILON * 1e9)] {
        assert_ne!(one, other);
        let column: Vec<f64> = (0..60).map(|i| if i * i % 7 < 3 { one } else { other }).collect();
        let sample = Sample::gaussian(57, 60, 2, 0.9).with_column(column.clone());
        assert_eq!(fit(&sample, CENTRED).dropped(), [2]);
        let target = Sample { y: column, ..sample };
        assert!(matches!(try_fit(&target, CENTRED), Err(Error::ConstantTarget { .. })));
    }
}

#[test]
fn without_an_intercept_a_constant_is_a_feature_like_any_other() {
    let sample = Sample::gaussian(35, 41, 2, 0.9).with_column(vec![0.1; 41]).with_column(vec![1e9; 41]);
    let found = fit(&sample, UNCENTRED);
    assert_eq!((found.kept(), found.dropped()), (&[0, 1, 2][..], &[3][..]), "the second repeats the first");
    let zero = Sample::gaussian(35, 41, 2, 0.9).with_column(vec![0.0; 41]);
    assert_eq!(fit(&zero, UNCENTRED).dropped(), [2]);

    // It does what centring does: the same slopes and residuals.
    let centred = fit(&sample, CENTRED);
    assert_close(found.coef()[0], centred.coef()[0], 1e-13);
    assert_close(found.rss(), centred.rss(), 1e-13);
    assert_eq!(found.degrees_of_freedom(), centred.degrees_of_freedom());
}

#[test]
fn a_large_mean_does_not_make_a_column_constant() {
    let mut sample = Sample::gaussian(36, 80, 2, 0.9);
    sample.columns[1].iter_mut().for_each(|cell| *cell += 1e9);
    assert_eq!(fit(&sample, CENTRED).dropped(), [] as [usize; 0]);
}

#[test]
fn dependent_columns_are_refused_on_request() {
    let sample = Sample::gaussian(37, 50, 3, 0.9);
    assert!(try_fit(&sample, STRICT).is_ok());
    let copy = sample.columns[2].clone();
    let sample = sample.with_column(copy).with_column(vec![0.1; 50]);
    let refused = try_fit(&sample, STRICT).map(|_| ());
    assert_eq!(refused, Err(Error::Dependent { columns: vec![3, 4] }));
}

/// The second column differs from the first by `spread` times another one. The warning
/// says how many digits that leaves, and an equivalent design without the problem how
/// many there are.
#[test]
fn near_copies_are_kept_with_a_warning_that_tells_the_digits() {
    for (spread, is_clear) in [(1e-3, true), (1e-6, true), (1e-8, true), (1e-11, false), (1e-12, false)] {
        let well = Sample::gaussian(38, 200, 2, 0.9);
        let mut near = well.clone();
        near.columns[1] = well.columns[0].iter().zip(&well.columns[1]).map(|(a, b)| a + spread * b).collect();
        let found = fit(&near, CENTRED);
        assert_eq!(found.kept(), [0, 1], "spread {spread:e}");
        let digits = found.digits();
        match found.warnings()[..] {
            [] => assert!(is_clear, "spread {spread:e}"),
            [Warning::IllConditioned { column: 1, digits: said }] => {
                assert_eq!((is_clear, said), (false, digits), "spread {spread:e}");
            }
            _ => panic!("spread {spread:e}: {:?}", found.warnings()),
        }

        let sizes = Sizes::new(12, 60);
        let found = gain_valuer(&near, CENTRED, sizes).values(Data::of(&near).rows()).unwrap();
        let exact = gain_valuer(&well, CENTRED, sizes).values(Data::of(&well).rows()).unwrap();
        let scale = exact.value.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let error =
            found.value.iter().zip(&exact.value).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        println!(
            "spread {spread:e}: {digits} digits promised, error {:.1e} of the largest value",
            error / scale
        );
        assert!(error / scale < 10_f64.powi(-(digits as i32)), "spread {spread:e}");
    }
}

/// With little noise the residual sum of squares is what is left of numbers far
/// larger; the target less its known part gives it to full precision.
#[test]
fn little_noise_is_kept_with_a_warning_that_tells_the_digits() {
    for (noise, is_clear) in [(1.0, true), (1e-6, true), (1e-8, true), (1e-11, false), (1e-12, false)] {
        let mut quiet = Sample::gaussian(41, 300, 3, noise);
        let found = fit(&quiet, CENTRED);
        let digits = found.digits();
        match found.warnings()[..] {
            [] => assert!(is_clear, "noise {noise:e}"),
            [Warning::LittleNoise { digits: said }] => assert_eq!((is_clear, said), (false, digits)),
            _ => panic!("noise {noise:e}: {:?}", found.warnings()),
        }
        for (y, row) in quiet.y.iter_mut().zip(0..) {
            *y -= quiet.columns[0][row] - 2.0 * quiet.columns[1][row] + 3.0 * quiet.columns[2][row];
        }
        let exact = fit(&quiet, CENTRED).noise_var();
        let error = (found.noise_var() / exact - 1.0).abs();
        println!("noise {noise:e}: {digits} digits promised, relative error {error:.1e}");
        assert!(
            error < 10_f64.powi(-(digits as i32)),
            "{digits} digits promised, relative error {error:.1e}"
        );
    }
}

/// Powers of two round nothing, so nothing may change but the coefficients; 2²⁶⁶ is about 1e80.
#[test]
fn badly_scaled_columns_give_the_same_bits() {
    let sample = Sample::gaussian(39, 90, 3, 0.9);
    let mut scaled = sample.clone();
    for (column, exponent) in scaled.columns.iter_mut().zip([-266, 266, 1]) {
        column.iter_mut().for_each(|cell| *cell *= 2_f64.powi(exponent));
    }
    for options in [CENTRED, UNCENTRED] {
        let sizes = Sizes::new(9, 30);
        let plain = gain_valuer(&sample, options, sizes);
        let found = gain_valuer(&scaled, options, sizes);
        let expected = plain.values(Data::of(&sample).rows()).unwrap();
        let values = found.values(Data::of(&scaled).rows()).unwrap();
        assert_same_bits(&values.value, &expected.value, "values");
        assert_same_bits(
            values.std_error.as_deref().unwrap(),
            expected.std_error.as_deref().unwrap(),
            "standard errors",
        );
        assert_same_bits(
            &[found.fit().coef()[0] * 2_f64.powi(-266), found.fit().coef()[1] * 2_f64.powi(266)],
            &plain.fit().coef()[..2],
            "coefficients",
        );
        assert_eq!(found.fit().warnings(), [], "scale is not dependence");
    }
}

/// 1e80 is no power of two: each cell is rounded once, which costs a few `ε`
/// times the condition number of the design (about 2).
#[test]
fn decimal_scales_cost_only_rounding() {
    let sample = Sample::gaussian(40, 90, 3, 0.9);
    let mut scaled = sample.clone();
    for (column, scale) in scaled.columns.iter_mut().zip([1e-80, 1e80, 3.0]) {
        column.iter_mut().for_each(|cell| *cell *= scale);
    }
    let (found, plain) = (fit(&scaled, CENTRED), fit(&sample, CENTRED));
    assert_close(found.coef()[0] * 1e-80, plain.coef()[0], 1e-13);
    assert_close(found.coef()[1] * 1e80, plain.coef()[1], 1e-13);
    assert_close(found.noise_var(), plain.noise_var(), 1e-13);
    assert_eq!(found.warnings(), []);
}

#[test]
fn features_that_never_vary_are_no_features() {
    let y = Sample::gaussian(41, 30, 1, 0.9).y;
    let constant = Sample { columns: vec![vec![0.1; 30], vec![1e9; 30]], y: y.clone() };
    assert_eq!(try_fit(&constant, CENTRED).map(|_| ()), Err(Error::NoFeatures { n_features: 2 }));
    assert_eq!(try_fit(&constant, STRICT).map(|_| ()), Err(Error::NoFeatures { n_features: 2 }));
    for options in [CENTRED, UNCENTRED] {
        let none = Sample { columns: vec![], y: y.clone() };
        assert_eq!(try_fit(&none, options).map(|_| ()), Err(Error::NoFeatures { n_features: 0 }));
        let zero = Sample { columns: vec![vec![0.0; 30]], y: y.clone() };
        assert_eq!(try_fit(&zero, options).map(|_| ()), Err(Error::NoFeatures { n_features: 1 }));
    }
}

/// The number of rows in the message is enough, and one fewer is not, with and without an
/// intercept: the fit, its noise variance and leaving a row out each need a degree of
/// freedom.
#[test]
fn too_few_rows_are_refused_with_the_number_that_would_do() {
    for p in [1, 3, 6] {
        for (options, needed) in [(CENTRED, p + 3), (UNCENTRED, p + 2)] {
            for n in 1..needed {
                let refused = try_fit(&Sample::gaussian(42, n, p, 0.9), options).map(|_| ());
                let expected = Error::TooFewRows { n_rows: n, dim: p, needed };
                assert_eq!(refused, Err(expected), "{options:?}");
            }
            assert!(try_fit(&Sample::gaussian(42, needed, p, 0.9), options).is_ok(), "p = {p}, {options:?}");
        }
    }
}

/// More columns than rows look dependent, but the problem is missing rows.
#[test]
fn more_columns_than_rows_are_refused_as_too_few_rows() {
    let refused = try_fit(&Sample::gaussian(43, 8, 15, 0.9), CENTRED).map(|_| ());
    assert_eq!(refused, Err(Error::TooFewRows { n_rows: 8, dim: 15, needed: 18 }));
}

#[test]
fn constant_targets_are_refused() {
    for value in [0.0, 0.1, -1e9] {
        let sample = Sample { y: vec![value; 45], ..Sample::gaussian(44, 45, 2, 0.9) };
        match try_fit(&sample, CENTRED) {
            Err(Error::ConstantTarget { value: found }) => assert_close(found, value, 1e-15),
            other => panic!("{value}: {other:?}"),
        }
    }
    // Without an intercept any constant target works, except zero.
    let sample = Sample { y: vec![0.1; 45], ..Sample::gaussian(44, 45, 2, 0.9) };
    assert!(try_fit(&sample, UNCENTRED).is_ok());
    let zero = Sample { y: vec![0.0; 45], ..sample };
    assert_eq!(try_fit(&zero, UNCENTRED).map(|_| ()), Err(Error::ConstantTarget { value: 0.0 }));
}

#[test]
fn targets_without_noise_are_refused() {
    for seed in 0..20 {
        let sample = Sample::gaussian(seed, 60, 4, 0.0);
        for options in [CENTRED, UNCENTRED] {
            assert_eq!(try_fit(&sample, options).map(|_| ()), Err(Error::NoNoise));
        }
    }
    // A part in 1e5 of the spread, 1e-10 of the variance, is enough noise.
    let quiet = fit(&Sample::gaussian(45, 60, 4, 5.5e-5), CENTRED);
    let degrees = quiet.degrees_of_freedom();
    // Six standard deviations of a chi-squared variance estimate.
    assert!((quiet.noise_var() / 5.5e-5_f64.powi(2) - 1.0).abs() < 6.0 * (2.0 / degrees).sqrt());
}

/// Finite cells whose raw products are not: the moments about the mean exist,
/// the fit through the origin does not.
#[test]
fn constants_too_large_to_square_are_refused_without_an_intercept() {
    let sample = Sample::gaussian(46, 40, 2, 0.9).with_column(vec![1e160; 40]);
    assert_eq!(fit(&sample, CENTRED).dropped(), [2]);
    assert_eq!(try_fit(&sample, UNCENTRED).map(|_| ()), Err(Error::TooLarge));
}

#[test]
fn sizes_without_a_sum_are_refused() {
    let fit = fit(&Sample::gaussian(47, 60, 4, 0.9), CENTRED);
    let refused = |q, m, method, least| {
        let valuer = LinearValuer::new(fit.clone(), Sizes::new(q, m), method).map(|_| ());
        assert_eq!(valuer, Err(Error::Sizes { min: q, max: m, least, dim: 4 }));
        assert!(LinearValuer::new(fit.clone(), Sizes::new(least, least), method).is_ok());
    };
    refused(6, 40, LinearMethod::default(), 7);
    refused(12, 11, LinearMethod::default(), 7);
    refused(5, 40, theorem(), 6);
    refused(4, 40, LinearMethod::Algorithm3(Algorithm3::default()), 5);
    refused(0, 0, LinearMethod::default(), 7);
}

#[test]
fn dropped_columns_do_not_count_towards_the_least_size() {
    let sample = Sample::gaussian(48, 60, 2, 0.9);
    let copy = sample.columns[0].clone();
    let fit = fit(&sample.with_column(copy), CENTRED);
    assert!(LinearValuer::new(fit, Sizes::new(5, 20), LinearMethod::default()).is_ok());
}

#[test]
fn short_averages_come_with_a_warning() {
    let sample = Sample::gaussian(49, 60, 2, 0.9).with_column(vec![0.1; 60]);
    let found = gain_valuer(&sample, CENTRED, Sizes::new(9, 17));
    let dropped = Warning::DroppedColumns { columns: vec![2] };
    assert_eq!(found.warnings(), [dropped.clone(), Warning::FewSizes { n_sizes: 9 }]);
    assert_eq!(gain_valuer(&sample, CENTRED, Sizes::new(9, 18)).warnings(), [dropped]);
}

#[test]
fn points_of_another_width_are_refused() {
    let found = gain_valuer(&Sample::gaussian(50, 60, 3, 0.9), CENTRED, Sizes::new(9, 30));
    let narrow = Data::of(&Sample::gaussian(51, 5, 2, 0.9));
    let expected = Error::FeatureCount { found: 2, expected: 3 };
    assert_eq!(found.values(narrow.rows()), Err(expected.clone()));
    assert_eq!(found.leave_one_out(narrow.rows(), 0), Err(expected));
}

#[test]
fn no_points_have_no_values() {
    let found = gain_valuer(&Sample::gaussian(50, 60, 3, 0.9), CENTRED, Sizes::new(9, 30));
    let none = Mat::<f64>::zeros(0, 3);
    let values = found.values(Rows::new(none.as_ref(), &[]).unwrap()).unwrap();
    assert!(values.is_empty() && values.notes.is_empty());
}

#[test]
fn a_bad_cell_of_a_point_is_named() {
    let found = gain_valuer(&Sample::gaussian(52, 60, 3, 0.9), CENTRED, Sizes::new(9, 30));
    let points = Data::of(&Sample::gaussian(53, 700, 3, 0.9));
    for row in [0, 255, 256, 699] {
        for column in 0..4 {
            for (cell, expected) in [
                (f64::NAN, Error::NotFinite { row, column }),
                (f64::INFINITY, Error::NotFinite { row, column }),
            ] {
                let (mut x, mut y) = (points.x.clone(), points.y.clone());
                if column == 3 {
                    y[row] = cell
                } else {
                    x[(row, column)] = cell
                }
                assert_eq!(found.values(Rows::new(x.as_ref(), &y).unwrap()), Err(expected), "{cell}");
            }
            let (mut x, mut y) = (points.x.clone(), points.y.clone());
            if column == 3 {
                y[row] = 1e200
            } else {
                x[(row, column)] = 1e200
            }
            assert_eq!(found.values(Rows::new(x.as_ref(), &y).unwrap()), Err(Error::TooLarge));
        }
    }
}

/// Panels are valued in parallel; which of them fails first is random, but the reported
/// cell is not.
#[test]
fn the_first_of_several_bad_points_is_named() {
    let found = gain_valuer(&Sample::gaussian(52, 60, 3, 0.9), CENTRED, Sizes::new(9, 30));
    let mut points = Data::of(&Sample::gaussian(53, 9000, 3, 0.9));
    for row in [900, 4700, 4701, 8999] {
        points.x[(row, 1)] = f64::NAN;
    }
    let expected = Err(Error::NotFinite { row: 900, column: 1 });
    for _ in 0..200 {
        assert_eq!(on_threads(3, || found.values(points.rows())), expected);
    }
}

/// The features' own digits decide, not those of their mean: distances and
/// residuals of points at a mean of 1e9 agree with the same points at 0.
#[test]
fn a_mean_of_1e9_costs_no_digits_of_a_value() {
    let mut draws = Draws::new(54);
    // Multiples of 2⁻²⁰, exact at both places.
    let mut cell = || (draws.normal() * 1048576.0).round() / 1048576.0;
    let near = Sample {
        columns: vec![(0..300).map(|_| cell()).collect(), (0..300).map(|_| cell()).collect()],
        y: (0..300).map(|_| cell()).collect(),
    };
    let mut far = near.clone();
    far.columns.iter_mut().flatten().chain(&mut far.y).for_each(|cell| *cell += 1e9);
    let sizes = Sizes::new(12, 60);
    let values = |s: &Sample| gain_valuer(s, CENTRED, sizes).values(Data::of(s).rows()).unwrap();
    let (found, expected) = (values(&far), values(&near));
    let mut worst: f64 = 0.0;
    for i in 0..300 {
        let part = |values: &dshap::Values, k: usize| values.parts[k].1[i];
        let scale = part(&expected, 0) + part(&expected, 1);
        worst = worst.max((found.value[i] - expected.value[i]).abs() / scale);
        worst = worst.max(relative_error(part(&found, 2), part(&expected, 2)));
    }
    println!("largest relative difference {worst:.1e}");
    assert!(worst < 1e-12, "{worst:.1e}");
}

#[test]
fn moments_that_were_merged_fit_like_the_whole() {
    let sample = Sample::gaussian(55, 500, 3, 0.9);
    let data = Data::of(&sample);
    let mut merged = Moments::of(data.rows().slice(0, 123)).unwrap();
    merged.merge(&Moments::of(data.rows().slice(123, 377)).unwrap()).unwrap();
    let (found, expected) = (LinearFit::new(&merged, CENTRED).unwrap(), fit(&sample, CENTRED));
    assert_close(found.rss(), expected.rss(), 1e-13);
    assert_close(found.coef()[1], expected.coef()[1], 1e-13);
}

#[test]
fn algorithm_3_reports_no_standard_errors() {
    let sample = Sample::gaussian(56, 60, 3, 0.9);
    let method = LinearMethod::Algorithm3(Algorithm3 { max_draws: 3, ..Algorithm3::default() });
    let values =
        valuer(&sample, CENTRED, Sizes::new(9, 20), method).values(Data::of(&sample).rows()).unwrap();
    assert_eq!(values.std_error, None);
    assert_eq!(values.truncation.map(|rows| rows.len()), Some(60));
}
