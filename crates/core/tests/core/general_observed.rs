//! Sets that keep the targets of their rows: gains from the definition, by refits.
//!
//! `DSHAP_SEEDS=100` runs every test with that many seeds, for nightly runs.

use crate::common::general as setting;
use crate::common::ridge;

use crate::common::{CENTRED, UNCENTRED};
use dshap::linear::{FitOptions, GeneralOptions, GeneralValues, Population, SetMiss, SetStats, SetTargets};
use dshap_testkit::{Draws, MAX_ABS_Z, Sample, assert_close, seeds};
use faer::Mat;
use ridge::{Matrix, Reference, Truth, dot, times};
use setting::{KINDS, general, left_out, rounds, unlike, values};

fn observed(n: usize, ridge: f64, seed: u64) -> GeneralOptions {
    GeneralOptions { targets: SetTargets::Observed, ..rounds(n, ridge, seed) }
}

/// Targets whose mean is not linear, and whose noise depends on the row.
fn bent(seed: u64, n: usize, p: usize) -> Sample {
    let mut sample = unlike(seed, n, p);
    for (x, y) in sample.columns[0].iter().zip(&mut sample.y) {
        *y = *y * (0.3 + x.abs()) + 1.5 * x * x;
    }
    sample
}

/// What is asked: models fitted with and without the point to rows and targets as they are, and
/// their squared errors on all rows of the reference.
struct Refits {
    reference: Reference,
    y: Vec<f64>,
}

impl Refits {
    fn new(sample: &Sample, how: FitOptions, ridge: f64) -> Self {
        let reference = Reference::new(sample, how, ridge);
        let y = (0..sample.n_rows()).map(|i| reference.design(sample, i).1).collect();
        Self { reference, y }
    }

    fn utility(&self, coef: &[f64]) -> f64 {
        let errors = self.reference.rows.iter().zip(&self.y).map(|(x, y)| (y - dot(x, coef)).powi(2));
        -errors.sum::<f64>() / self.y.len() as f64
    }

    fn gain(&self, members: &[usize], x: &[f64], y: f64) -> Option<f64> {
        let mut rows: Matrix = members.iter().map(|&row| self.reference.rows[row].clone()).collect();
        let mut targets: Vec<f64> = members.iter().map(|&row| self.y[row]).collect();
        let before = self.utility(&self.reference.truth.refit(&rows, &targets)?);
        rows.push(x.to_vec());
        targets.push(y);
        Some(self.utility(&self.reference.truth.refit(&rows, &targets)?) - before)
    }

    /// The value of a row of `points`: the mean over all sets of each size, summed over sizes
    /// `q − 1 … m − 1`, over `m`.
    fn value(&self, points: &Sample, i: usize, q: usize, m: usize) -> f64 {
        let (x, y) = self.reference.design(points, i);
        let n = self.y.len();
        let mut gains = vec![Vec::new(); m];
        if q > n {
            gains[n].extend(self.gain(&(0..n).collect::<Vec<_>>(), &x, y));
        } else {
            for mask in 0_u32..1 << n {
                let members: Vec<usize> = (0..n).filter(|row| mask & (1 << row) != 0).collect();
                if (q - 1..m).contains(&members.len()) {
                    gains[members.len()].extend(self.gain(&members, &x, y));
                }
            }
        }
        let means = gains[q - 1..].iter().map(|gains| gains.iter().sum::<f64>() / gains.len() as f64);
        means.sum::<f64>() / m as f64
    }
}

/// The formula for one set, with and without a ridge, is what two fits give.
#[test]
fn the_gain_of_a_point_is_that_of_two_fits() {
    let sigma = vec![vec![1.0, 0.4, 0.0], vec![0.4, 2.0, -0.3], vec![0.0, -0.3, 0.5]];
    let beta = vec![1.5, -0.7, 2.2];
    for (number, (gamma, size)) in [(0.0, 6), (0.6, 2), (3.0, 5), (8.0, 12)].into_iter().enumerate() {
        let truth = Truth { sigma: sigma.clone(), beta: beta.clone(), noise_var: 0.8, ridge: vec![gamma; 3] };
        let mut draws = Draws::new(9110 + number as u64);
        let set: Matrix = (0..size).map(|_| (0..3).map(|_| draws.normal()).collect()).collect();
        let y: Vec<f64> = set.iter().map(|x| x[0] * x[1] + draws.normal()).collect();
        let coef = truth.refit(&set, &y).unwrap();
        let miss: Vec<f64> = coef.iter().zip(&beta).map(|(coef, beta)| coef - beta).collect();
        let (matrix, covariance) =
            (Mat::from_fn(size, 3, |i, j| set[i][j]), Mat::from_fn(3, 3, |i, j| sigma[i][j]));
        let population = Population { covariance: covariance.as_ref(), coef: &beta, noise_var: 0.8 };
        for (x, e) in [(vec![0.4, 0.1, -0.5], 0.5), (vec![1.2, -2.0, 0.7], -1.1), (vec![-2.5, 0.3, 1.9], 3.0)]
        {
            let stats = SetStats::new(matrix.as_ref(), &x, population, gamma).unwrap();
            let normal = (0..3).map(|i| {
                let of_set = |j| set.iter().map(|row| row[i] * row[j]).sum::<f64>();
                (0..3).map(|j| of_set(j) + if i == j { gamma } else { 0.0 }).collect()
            });
            let step = times(&ridge::inverse(&normal.collect()).unwrap(), &x);
            let miss = SetMiss { at_point: dot(&x, &miss), along_step: dot(&step, &times(&sigma, &miss)) };
            let (mut grown, mut targets) = (set.clone(), y.clone());
            grown.push(x.clone());
            targets.push(dot(&x, &beta) + e);
            let exact = truth.utility(&truth.refit(&grown, &targets).unwrap()) - truth.utility(&coef);
            assert_close(stats.observed_gain(e, miss), exact, 1e-10);
        }
    }
}

/// With `m = q = n + 1` there is one set, all reference rows, so nothing is random. The same
/// holds with `m = q = n` for a row against all others.
#[test]
fn the_only_set_gives_two_fits() {
    let (n, p) = (40, 3);
    let (sample, points) = (bent(191, n, p), bent(192, 5, p));
    for how in KINDS {
        for gamma in [0.0, 0.7, 50.0] {
            let refits = Refits::new(&sample, how, gamma);
            let unseen = values(&general(&sample, how, (n + 1, n + 1), observed(3, gamma, 1)), &points);
            for (i, &value) in unseen.values.value.iter().enumerate() {
                assert_close(value, refits.value(&points, i, n + 1, n + 1), 1e-9);
            }
            let found = left_out(&general(&sample, how, (n, n), observed(3, gamma, 1))).values;
            for (i, &value) in found.value.iter().enumerate() {
                let exact = Refits::new(&sample.without(i), how, gamma).value(&sample, i, n, n);
                assert!((value - exact).abs() < 1e-9 * exact.abs().max(1e-3), "{how:?} {gamma} row {i}");
            }
        }
    }
}

/// The exact value refits on every set of every size; 8000 rounds draw some. For
/// `DSHAP_SEEDS=1`, 126 comparisons at five standard errors: a false alarm once in 13 000 runs.
/// Targets that are averaged over noise, and a row's own copy, are rejected by more than ten.
#[test]
fn rounds_estimate_the_mean_of_refits_on_all_sets() {
    let (n, m) = (8, 7);
    for (number, (p, gamma, q)) in [(1, 0.4, 1), (2, 1.5, 1), (1, 0.0, 5)].into_iter().enumerate() {
        let (sample, points) = (bent(194 + number as u64, n, p), bent(197, 6, p));
        for how in KINDS {
            for seed in seeds(9420 + number as u64) {
                // An intercept is one more column, and without a ridge it needs a row.
                let q = q + usize::from(how.refit_intercept);
                let valuer = general(&sample, how, (q, m), observed(8000, gamma, seed));
                let refits = Refits::new(&sample, how, gamma);
                let z_of = |found: &GeneralValues, i: usize, value: f64| {
                    (found.values.value[i] - value) / found.values.std_error.as_ref().unwrap()[i]
                };
                let check = |found: &GeneralValues, i: usize, exact: f64| {
                    let z = z_of(found, i, exact);
                    assert!(
                        z.abs() < MAX_ABS_Z,
                        "p = {p}, γ = {gamma}, {how:?}, seed {seed}, row {i}: z = {z:.1}"
                    );
                };
                let unseen = values(&valuer, &points);
                let mut power_of_targets: f64 = 0.0;
                for i in 0..points.n_rows() {
                    check(&unseen, i, refits.value(&points, i, q, m));
                    let averaged = refits.reference.value(&points, i, q, m);
                    power_of_targets = power_of_targets.max(z_of(&unseen, i, averaged).abs());
                }
                let found = left_out(&valuer);
                let mut power_of_copies: f64 = 0.0;
                for i in 0..n {
                    check(&found, i, Refits::new(&sample.without(i), how, gamma).value(&sample, i, q, m));
                    let with_copy = refits.value(&sample, i, q, m);
                    power_of_copies = power_of_copies.max(z_of(&found, i, with_copy).abs());
                }
                println!("γ = {gamma}, {how:?}: {power_of_targets:.0}, {power_of_copies:.0}");
                assert!(power_of_targets > 2.0 * MAX_ABS_Z, "{how:?}: only {power_of_targets:.1}");
                assert!(power_of_copies > 2.0 * MAX_ABS_Z, "{how:?}: only {power_of_copies:.1}");
            }
        }
    }
}

/// A dummy that is 0 on many sets: those are drawn again, and their targets with them.
#[test]
fn sets_that_are_drawn_again_keep_their_targets() {
    let dummy: Vec<f64> = [1.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].to_vec();
    let y = vec![1.3, 1.6, 0.2, 0.4, -0.3, 0.1, -0.6, 0.2, 0.5];
    let sample = Sample { columns: vec![dummy], y };
    for seed in seeds(9520) {
        let found = left_out(&general(&sample, UNCENTRED, (4, 7), observed(4000, 0.0, seed)));
        for i in 0..9 {
            let exact = Refits::new(&sample.without(i), UNCENTRED, 0.0).value(&sample, i, 4, 7);
            let error = found.values.std_error.as_ref().unwrap()[i];
            let off = (found.values.value[i] - exact).abs();
            assert!(off <= MAX_ABS_Z * error, "row {i}: {} ± {error}, exact {exact}", found.values.value[i]);
        }
    }
}

/// Where the linear model holds, both are means over the same sets; the observed targets only add
/// noise of the reference, which 3000 rows make small.
#[test]
fn targets_of_a_linear_model_give_values_near_those_of_averages() {
    let (sample, points) = (Sample::gaussian(198, 3000, 3, 0.9), Sample::gaussian(199, 200, 3, 0.9));
    let of = |options| values(&general(&sample, CENTRED, (13, 40), options), &points).values.value;
    let (found, averaged) = (of(observed(1024, 0.0, 1)), of(rounds(1024, 0.0, 1)));
    let n = found.len() as f64;
    let mean = averaged.iter().sum::<f64>() / n;
    let spread = (averaged.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt();
    let off = found.iter().zip(&averaged).map(|(found, averaged)| (found - averaged).powi(2)).sum::<f64>();
    let off = (off / n).sqrt() / spread;
    println!("off by {off:.3} of the spread");
    assert!(off < 0.1, "{off:.3}");
}

#[test]
fn observed_targets_do_not_change_what_is_drawn() {
    let sample = bent(200, 60, 2);
    let [seen, averaged] = [observed(64, 0.0, 3), rounds(64, 0.0, 3)]
        .map(|options| left_out(&general(&sample, CENTRED, (8, 30), options)));
    assert_eq!(seen.singular_share, averaged.singular_share);
    assert_eq!(seen.values.parts, averaged.values.parts);
    assert_ne!(seen.values.value, averaged.values.value);
}
