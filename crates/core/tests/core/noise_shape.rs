//! Standard errors for noise as it is: skewed, with heavy tails, or of unequal variance.

use crate::common::{CENTRED, Data, UNCENTRED, fit, moments};
use dshap::linear::{
    Constant, Convention, FitOptions, GaussianForm, LinearFit, LinearMethod, LinearValuer, NoiseShape,
    PointStats, TestMoments,
};
use dshap::{Place, Rows, Sizes, Valuer};
use dshap_testkit::{Draws, MeanEstimate, Sample, assert_close, assert_same_bits, on_threads, seeds};
use faer::Mat;

const P: usize = 3;
const COEF: [f64; P] = [1.0, -2.0, 0.5];

/// Noise of mean 0 and variance 1 on average.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Noise {
    Gaussian,
    /// Student's t with five degrees of freedom: kurtosis 9.
    HeavyTails,
    /// An exponential less its mean: skewness 2, kurtosis 9.
    Skewed,
    /// Variance `0.1 + 0.9·x₁²`.
    Unequal,
}

const ALL: [Noise; 4] = [Noise::Gaussian, Noise::HeavyTails, Noise::Skewed, Noise::Unequal];

impl Noise {
    fn draw(self, draws: &mut Draws, x: &[f64]) -> f64 {
        match self {
            Noise::Gaussian => draws.normal(),
            Noise::HeavyTails => {
                let chi_sq: f64 = (0..5).map(|_| draws.normal().powi(2)).sum();
                draws.normal() / (chi_sq / 5.0).sqrt() * (3.0_f64 / 5.0).sqrt()
            }
            Noise::Skewed => -(1.0 - draws.uniform()).ln() - 1.0,
            Noise::Unequal => draws.normal() * (0.1 + 0.9 * x[0] * x[0]).sqrt(),
        }
    }
}

/// `n` rows `x ~ N(shift, I)`, `y = xᵀβ + noise`.
fn drawn(draws: &mut Draws, n: usize, noise: Noise, shift: f64) -> Sample {
    let mut sample = Sample { columns: vec![Vec::new(); P], y: Vec::new() };
    for _ in 0..n {
        let x: Vec<f64> = (0..P).map(|_| draws.normal()).collect();
        let mean: f64 = x.iter().zip(COEF).map(|(x, b)| (x + shift) * b).sum();
        sample.y.push(mean + noise.draw(draws, &x));
        sample.columns.iter_mut().zip(&x).for_each(|(column, x)| column.push(x + shift));
    }
    sample
}

fn shape(fit: &LinearFit, sample: &Sample) -> NoiseShape {
    NoiseShape::of(fit, Data::of(sample).rows(), sample.n_rows() as u64).unwrap()
}

/// A valuer with standard errors for noise as it is, or for Gaussian noise.
fn valuer(sample: &Sample, options: FitOptions, sizes: Sizes, is_robust: bool) -> LinearValuer {
    let fit = fit(sample, options);
    let noise = is_robust.then(|| shape(&fit, sample));
    LinearValuer::new(fit, sizes, LinearMethod::default()).unwrap().with_std_error(true).with_noise(noise)
}

/// Rows to value: near and far, along the column that the variance depends on and across it,
/// with residuals that are small, about as large as the noise, and large, of both signs.
const POINTS: [([f64; P], f64); 7] = [
    ([0.2, 0.1, -0.3], 0.0),
    ([1.5, 0.0, 0.0], 1.0),
    ([1.5, 0.0, 0.0], -2.5),
    ([0.0, 1.2, 1.2], 1.0),
    ([0.0, 1.2, 1.2], -2.5),
    ([-2.0, 1.0, 0.0], 4.0),
    ([-2.0, 1.0, 0.0], 0.0),
];

fn points() -> Sample {
    let column = |j: usize| POINTS.iter().map(|(x, _)| x[j]).collect();
    let y = |(x, e): &([f64; P], f64)| x.iter().zip(COEF).map(|(x, b)| x * b).sum::<f64>() + e;
    Sample { columns: (0..P).map(column).collect(), y: POINTS.iter().map(y).collect() }
}

/// How often values ± 1.96 standard errors hold the value under the true parameters.
struct Coverage {
    /// On average over the points, and where it is lowest.
    robust: (f64, f64),
    gaussian: (f64, f64),
}

/// The noise is known from every `stride`th row.
fn coverage(seed: u64, noise: Noise, (n, stride): (usize, usize), n_references: usize) -> Coverage {
    let sizes = Sizes::new(20, 200);
    let form = GaussianForm::new(P, sizes, Constant::Gain, Convention::Definition).unwrap();
    let truth = POINTS.map(|(x, e)| {
        let dist_sq = x.iter().map(|x| x * x).sum();
        form.value(PointStats { dist_sq, resid_sq: e * e, noise_var: 1.0 }).value
    });
    let asked = Data::of(&points());
    let mut draws = Draws::new(seed);
    let mut covered = [[0.0; POINTS.len()]; 2];
    for _ in 0..n_references {
        let reference = drawn(&mut draws, n, noise, 0.0);
        for (covered, is_robust) in covered.iter_mut().zip([true, false]) {
            let fit = fit(&reference, CENTRED);
            let sample = reference.select(&(0..n).step_by(stride).collect::<Vec<_>>());
            let known = || NoiseShape::of(&fit, Data::of(&sample).rows(), n as u64).unwrap();
            let shape = is_robust.then(known);
            let valuer = LinearValuer::new(fit, sizes, LinearMethod::default()).unwrap();
            let valuer = valuer.with_std_error(true).with_noise(shape);
            let values = valuer.values(asked.rows()).unwrap();
            let errors = values.std_error.unwrap();
            for (k, covered) in covered.iter_mut().enumerate() {
                let is_in = (values.value[k] - truth[k]).abs() <= 1.96 * errors[k];
                *covered += if is_in { 1.0 / n_references as f64 } else { 0.0 };
            }
        }
    }
    let of = |covered: &[f64; POINTS.len()]| {
        let mean = covered.iter().sum::<f64>() / covered.len() as f64;
        (mean, covered.iter().copied().fold(1.0, f64::min))
    };
    Coverage { robust: of(&covered[0]), gaussian: of(&covered[1]) }
}

/// 600 references know the coverage of a point to 0.9 %, and the mean over seven points, which
/// share them, to at most that: five of these are below 0.045, so a mean of 0.95 − 0.02 fails by
/// chance less than once in a million runs at 0.905. Heavy tails leave the estimated kurtosis
/// too small more often than too large, which costs about 1 %.
#[test]
fn intervals_cover_whatever_the_noise() {
    for seed in seeds(9400) {
        for noise in ALL {
            let Coverage { robust, gaussian } = coverage(seed, noise, (500, 1), 600);
            println!(
                "{noise:?}: mean {:.3}, lowest {:.3}; Gaussian errors: mean {:.3}, lowest {:.3}",
                robust.0, robust.1, gaussian.0, gaussian.1
            );
            assert!((0.905..0.98).contains(&robust.0), "{noise:?}: {:.3}", robust.0);
            assert!(robust.1 > 0.87, "{noise:?}: {:.3} at one point", robust.1);
            if noise != Noise::Gaussian {
                assert!(gaussian.1 < 0.85, "the test could not fail: {noise:?} {:.3}", gaussian.1);
            }
        }
    }
}

/// The figures of docs/accuracy.md: `cargo nextest run --run-ignored only --no-capture coverage_table`.
#[test]
#[ignore = "prints a table for docs/accuracy.md"]
fn coverage_table() {
    for (n, stride) in [(100, 1), (300, 1), (1000, 1), (5000, 8)] {
        for noise in ALL {
            let Coverage { robust, gaussian } = coverage(77, noise, (n, stride), 1000);
            println!(
                "| {noise:?} | {n} | {:.3} | {:.3} | {:.3} | {:.3} |",
                gaussian.0, gaussian.1, robust.0, robust.1
            );
        }
    }
}

/// The value of each of `POINTS` by the parameters of a fit.
fn plugged_in(form: &GaussianForm, fit: &LinearFit, asked: &Data) -> Vec<f64> {
    let distances = LinearValuer::distances(fit, asked.rows()).unwrap();
    let value = |(k, dist_sq): (usize, f64)| {
        let along: f64 = (0..P).map(|j| fit.coef()[j] * asked.x[(k, j)]).sum();
        let residual = asked.y[k] - along - fit.intercept_value().unwrap_or(0.0);
        form.value(PointStats { dist_sq, resid_sq: residual * residual, noise_var: fit.noise_var() }).value
    };
    distances.into_iter().enumerate().map(value).collect()
}

/// The jackknife knows nothing of the delta method: refits without each row in turn. It also
/// sees the fourth moments of the inputs, which are here those of a sample of Gaussian ones, so
/// it may differ by a few per cent. Covariances between noise variance, coefficients and
/// distances count for more than that at some point, and have the right sign.
#[test]
fn errors_are_those_of_the_jackknife() {
    let n = 3000;
    let sizes = Sizes::new(20, 200);
    let form = GaussianForm::new(P, sizes, Constant::Gain, Convention::Definition).unwrap();
    let asked = Data::of(&points());
    for options in [CENTRED, UNCENTRED] {
        for noise in [Noise::Skewed, Noise::Unequal] {
            let sample = drawn(&mut Draws::new(5 + noise as u64), n, noise, 0.0);
            let whole = moments(&sample);
            let mut spread = [MeanEstimate::default(); POINTS.len()];
            for row in 0..n {
                let mut others = whole.clone();
                others.remove(&moments(&sample.select(&[row]))).unwrap();
                let found = plugged_in(&form, &LinearFit::new(&others, options).unwrap(), &asked);
                spread.iter_mut().zip(&found).for_each(|(spread, value)| spread.push(*value));
            }
            let errors = |is_robust| {
                let valuer = valuer(&sample, options, sizes, is_robust);
                valuer.values(asked.rows()).unwrap().std_error.unwrap()
            };
            let mut worst = 0.0_f64;
            for (k, spread) in spread.iter().enumerate() {
                let exact = spread.std_dev() * ((n - 1) as f64).sqrt();
                let ratio = errors(true)[k] / exact;
                assert!((ratio - 1.0).abs() < 0.06, "{noise:?} {options:?} point {k}: {ratio:.3}");
                worst = worst.max((errors(false)[k] / exact - 1.0).abs());
            }
            assert!(worst > 0.2, "the test could not fail: Gaussian errors are off by {worst:.3}");
        }
    }
}

/// For given test rows: 250 references know a deviation to 5 %.
#[test]
fn errors_for_test_rows_are_their_spread_whatever_the_noise() {
    let tests = Data::of(&drawn(&mut Draws::new(1), 25, Noise::Unequal, 0.7));
    let tests = TestMoments { moments: dshap::Moments::of(tests.rows()).unwrap(), has_targets: true };
    let (asked, sizes) = (Data::of(&points()), Sizes::new(20, 200));
    for noise in [Noise::Skewed, Noise::Unequal] {
        let mut draws = Draws::new(11);
        let mut spread = [MeanEstimate::default(); POINTS.len()];
        let mut errors = [MeanEstimate::default(); POINTS.len()];
        for _ in 0..250 {
            let sample = drawn(&mut draws, 500, noise, 0.0);
            let fit = fit(&sample, CENTRED);
            let shape = shape(&fit, &sample);
            let valuer = LinearValuer::on_tests(fit, sizes, None, &tests).unwrap();
            let values = valuer.with_std_error(true).with_noise(Some(shape)).values(asked.rows()).unwrap();
            let found = values.std_error.unwrap();
            for k in 0..POINTS.len() {
                spread[k].push(values.value[k]);
                errors[k].push(found[k]);
            }
        }
        for k in 0..POINTS.len() {
            let ratio = errors[k].mean() / spread[k].std_dev();
            assert!((0.8..1.25).contains(&ratio), "{noise:?} point {k}: {ratio:.3}");
        }
    }
}

/// A row of the reference has nearly the error that it has for the others alone, however far
/// out it is: neither its own noise nor the way it turned the fit counts.
#[test]
fn rows_are_left_out_of_the_noise() {
    for options in [CENTRED, UNCENTRED] {
        let mut sample = drawn(&mut Draws::new(3), 80, Noise::Skewed, 0.0);
        sample.y[7] += 12.0;
        sample.columns[1][9] += 9.0;
        sample.y[9] += 9.0 * COEF[1];
        let sizes = Sizes::new(20, 80);
        let whole = valuer(&sample, options, sizes, true);
        let found = whole.leave_one_out(Data::of(&sample).rows(), 0).unwrap().std_error.unwrap();
        for (row, found) in found.iter().enumerate() {
            let others = valuer(&sample.without(row), options, sizes, true);
            let alone = others.values(Data::of(&sample.select(&[row])).rows()).unwrap().std_error.unwrap();
            // Other residuals change a little, the more the larger the row's own residual is.
            let ratio = found / alone[0];
            assert!((ratio - 1.0).abs() < 0.2, "{options:?} row {row}: {ratio:.3}");
        }
    }
}

#[test]
fn a_group_of_one_row_has_the_error_of_its_value() {
    for options in [CENTRED, UNCENTRED, FitOptions { refit_intercept: true, ..CENTRED }] {
        let sample = drawn(&mut Draws::new(4), 60, Noise::Skewed, 1.0);
        let valuer = valuer(&sample, options, Sizes::new(20, 200), true);
        let (data, groups) = (Data::of(&sample), (0..60).map(|row| vec![row]).collect::<Vec<_>>());
        for in_reference in [true, false] {
            let place = Place { first_row: 0, in_reference };
            let alone = valuer.values_at(data.rows(), place, &|_, _| true).unwrap().std_error.unwrap();
            let found = valuer.sum_errors(data.rows(), &groups, in_reference).unwrap().unwrap();
            found.iter().zip(&alone).for_each(|(found, alone)| assert_close(*found, *alone, 1e-9));
        }
    }
}

/// 800 references know a deviation of Gaussian sums to 2.5 %; those of skewed noise to 4 %. An
/// eighth is three of these or more, with room for the error of the delta method.
#[test]
fn errors_of_sums_are_their_spread_whatever_the_noise() {
    let asked = Data::of(&points());
    let groups = [vec![0, 1, 3, 6], vec![2, 4, 5]];
    for seed in seeds(9500) {
        for noise in [Noise::Skewed, Noise::Unequal] {
            let mut draws = Draws::new(seed);
            let (mut sums, mut errors) = ([MeanEstimate::default(); 2], [MeanEstimate::default(); 2]);
            for _ in 0..800 {
                let reference = drawn(&mut draws, 400, noise, 0.0);
                let valuer = valuer(&reference, CENTRED, Sizes::new(20, 200), true);
                let values = valuer.values(asked.rows()).unwrap().value;
                let found = valuer.sum_errors(asked.rows(), &groups, false).unwrap().unwrap();
                for g in 0..2 {
                    sums[g].push(groups[g].iter().map(|&row| values[row]).sum());
                    errors[g].push(found[g]);
                }
            }
            for g in 0..2 {
                let ratio = errors[g].mean() / sums[g].std_dev();
                assert!((ratio - 1.0).abs() < 0.125, "{noise:?} group {g}: {ratio:.3}");
            }
        }
    }
}

/// Parts with another mean, other coefficients and a column that is constant in one of them.
#[test]
fn parts_are_seen_by_the_fit_of_the_whole() {
    for options in [CENTRED, UNCENTRED] {
        let mut draws = Draws::new(6);
        let shift = if options.intercept { 0.8 } else { 0.0 };
        let (mut one, mut two) =
            (drawn(&mut draws, 60_000, Noise::Skewed, 0.0), drawn(&mut draws, 30_000, Noise::Skewed, shift));
        two.y.iter_mut().zip(&two.columns[1]).for_each(|(y, x)| *y += 0.4 * x);
        one.columns[2].fill(0.0);
        let mut both = one.clone();
        both.y.extend(&two.y);
        both.columns.iter_mut().zip(&two.columns).for_each(|(both, two)| both.extend(two));
        let whole = fit(&both, options);
        let part = |sample: &Sample| {
            let fit = fit(sample, options);
            shape(&fit, sample).seen_by((&moments(sample), &fit), &whole)
        };
        let mut merged = part(&one);
        merged.merge(&part(&two));
        let (merged, exact) = (merged.to_parts(), shape(&whole, &both).to_parts());
        for (found, exact) in merged.powers.iter().zip(exact.powers) {
            assert!((found / exact - 1.0).abs() < 0.02, "{options:?}: {found} instead of {exact}");
        }
        let near = |found: &[f64], exact: &[f64], within: f64| {
            for (found, exact) in found.iter().zip(exact) {
                assert!((found - exact).abs() < within * 90_000.0, "{options:?}: {found}, {exact}");
            }
        };
        near(&merged.second_by, &exact.second_by, 0.05);
        near(&merged.third_by, &exact.third_by, 0.3);
        near(&merged.square, &exact.square, 0.1);
    }
}

/// Nothing changes for a part that is the whole.
#[test]
fn a_fit_sees_its_own_noise() {
    for options in [CENTRED, UNCENTRED] {
        let sample = drawn(&mut Draws::new(7), 200, Noise::Unequal, 0.4);
        let fit = fit(&sample, options);
        let own = shape(&fit, &sample);
        let (seen, own) = (own.seen_by((&moments(&sample), &fit), &fit).to_parts(), own.to_parts());
        let flat = |parts: &dshap::linear::NoiseParts| {
            [parts.powers.as_slice(), &parts.second_by, &parts.third_by, &parts.square].concat()
        };
        let scale = own.powers[3];
        for (seen, own) in flat(&seen).iter().zip(flat(&own)) {
            assert!((seen - own).abs() < 1e-9 * scale, "{seen} instead of {own}");
        }
    }
}

#[test]
fn rows_that_go_leave_the_others() {
    let sample = drawn(&mut Draws::new(8), 120, Noise::HeavyTails, 0.0);
    let fit = fit(&sample, CENTRED);
    let (first, rest): (Vec<usize>, Vec<usize>) = (0..120).partition(|row| *row < 20);
    let of = |rows: &[usize]| shape(&fit, &sample.select(rows));
    let left = of(&(0..120).collect::<Vec<_>>()).without(&of(&first)).unwrap().to_parts();
    left.powers.iter().zip(of(&rest).to_parts().powers).for_each(|(a, b)| assert_close(*a, b, 1e-9));
    assert_eq!(of(&first).without(&of(&rest)), None, "more rows than there were");
    // Three rows say nothing about one direction of four, where standard errors would be 0.
    assert_eq!(of(&first).without(&of(&first[3..])), None, "too few are left");
}

#[test]
fn equal_weights_change_nothing_and_parts_come_back() {
    let sample = drawn(&mut Draws::new(9), 90, Noise::Skewed, 0.0);
    let data = Data::of(&sample);
    let weights = vec![2.0; 90];
    let weighted = data.rows().with_weights(&weights).unwrap();
    let plain = valuer(&sample, CENTRED, Sizes::new(20, 90), true);
    let fit = LinearFit::new(&dshap::Moments::of(weighted).unwrap(), CENTRED).unwrap();
    let shape = NoiseShape::of(&fit, weighted, 90).unwrap();
    assert_eq!(NoiseShape::from_parts(P, shape.to_parts()), Ok(shape.clone()));
    assert!(NoiseShape::from_parts(P + 1, shape.to_parts()).is_err());
    let other = LinearValuer::new(fit, Sizes::new(20, 90), LinearMethod::default()).unwrap();
    let other = other.with_std_error(true).with_noise(Some(shape));
    let errors =
        |valuer: &LinearValuer, rows: Rows<'_>| valuer.leave_one_out(rows, 0).unwrap().std_error.unwrap();
    let (one, two) = (errors(&plain, data.rows()), errors(&other, weighted));
    one.iter().zip(&two).for_each(|(one, two)| assert_close(*one, *two, 1e-9));
}

#[test]
fn threads_and_slices_change_no_bit() {
    let sample = drawn(&mut Draws::new(10), 900, Noise::Skewed, 0.0);
    let valuer = valuer(&sample, CENTRED, Sizes::new(30, 900), true);
    let plain = valuer_without_errors(&sample);
    let data = Data::of(&sample);
    let one = on_threads(1, || valuer.leave_one_out(data.rows(), 0).unwrap());
    let three = on_threads(3, || valuer.leave_one_out(data.rows(), 0).unwrap());
    assert_same_bits(&one.value, &plain.leave_one_out(data.rows(), 0).unwrap().value, "values");
    let errors = one.std_error.unwrap();
    assert_same_bits(&errors, &three.std_error.unwrap(), "errors");
    for (start, len) in [(0, 1), (3, 5), (250, 20), (899, 1)] {
        let slice = valuer.leave_one_out(data.rows().slice(start, len), start as u64).unwrap();
        assert_same_bits(&slice.std_error.unwrap(), &errors[start..start + len], "a slice");
    }
}

fn valuer_without_errors(sample: &Sample) -> LinearValuer {
    LinearValuer::new(fit(sample, CENTRED), Sizes::new(30, 900), LinearMethod::default()).unwrap()
}

/// Rows so few, or noise so odd, that nothing is known without the row itself.
#[test]
fn the_only_noisy_row_has_an_error_still() {
    let x = Mat::from_fn(12, 1, |i, _| i as f64);
    let y: Vec<f64> = (0..12).map(|i| if i == 6 { 5.0 } else { 0.0 }).collect();
    let rows = Rows::new(x.as_ref(), &y).unwrap();
    let fit = LinearFit::of(rows, CENTRED).unwrap();
    let shape = NoiseShape::of(&fit, rows, 12).unwrap();
    let valuer = LinearValuer::new(fit, Sizes::new(6, 12), LinearMethod::default()).unwrap();
    let values = valuer.with_std_error(true).with_noise(Some(shape)).leave_one_out(rows, 0).unwrap();
    assert!(values.std_error.unwrap().iter().all(|error| error.is_finite()));
}
