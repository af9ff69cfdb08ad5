//! General inputs against the definition, by simulation that shares no code with core.
//!
//! `DSHAP_SEEDS=100` runs every test with that many seeds, for nightly runs.

use crate::common::general as setting;
use crate::common::ridge;

use crate::common::{CENTRED, Data, UNCENTRED, gain_valuer};
use dshap::linear::GeneralValuer;
use dshap::{Sizes, Valuer, Values};
use dshap_testkit::{Draws, MAX_ABS_Z, MeanEstimate, Sample, seeds};
use ridge::{Reference, Truth, dot};
use setting::{general, rounds};

fn values(valuer: &GeneralValuer, points: &Sample) -> Values {
    setting::values(valuer, points).values
}

/// Exponential features, which are skewed and have heavy tails.
fn exponential(draws: &mut Draws, p: usize) -> Vec<f64> {
    (0..p).map(|_| -(1.0 - draws.uniform()).ln() - 1.0).collect()
}

fn sample_of(rows: &[Vec<f64>], y: Vec<f64>) -> Sample {
    Sample { columns: (0..rows[0].len()).map(|j| rows.iter().map(|x| x[j]).collect()).collect(), y }
}

/// Fifty rows are the whole population. Sets are drawn from them and noise for
/// their targets; the model is fitted with and without the point; every size
/// counts. Six comparisons at five standard errors of both sides: a false alarm
/// once in 300 000 runs. Sizes one larger are more than twenty away.
#[test]
fn values_are_real_refits_on_sets_from_the_reference() {
    let (n, p, q, m) = (50, 2, 4, 9);
    for (number, (how, gamma)) in [(CENTRED, 3.0), (UNCENTRED, 1.0)].into_iter().enumerate() {
        for seed in seeds(9700 + number as u64) {
            let mut draws = Draws::new(seed);
            let rows: Vec<_> = (0..n).map(|_| exponential(&mut draws, p)).collect();
            let y = rows.iter().map(|x| 1.5 * x[0] - 2.5 * x[1] + 0.7 * draws.normal()).collect();
            let sample = sample_of(&rows, y);
            let points =
                Sample { columns: vec![vec![2.0, -0.5, 0.4], vec![-0.9, 3.0, 0.1]], y: vec![4.0, -9.0, 3.0] };
            let reference = Reference::new(&sample, how, gamma);
            let truth = &reference.truth;

            let mut estimates = [MeanEstimate::default(); 3];
            for _ in 0..40_000 {
                let order = draws.shuffled(n);
                let set: Vec<Vec<f64>> =
                    order[..m - 1].iter().map(|&row| reference.rows[row].clone()).collect();
                let y: Vec<f64> = set
                    .iter()
                    .map(|x| dot(x, &truth.beta) + truth.noise_var.sqrt() * draws.normal())
                    .collect();
                let mut gains = [0.0; 3];
                for size in q - 1..m {
                    let before = truth.utility(&truth.refit(&set[..size], &y[..size]).unwrap());
                    for (i, gain) in gains.iter_mut().enumerate() {
                        let (x, target) = reference.design(&points, i);
                        let (mut grown, mut targets) = (set[..size].to_vec(), y[..size].to_vec());
                        grown.push(x);
                        targets.push(target);
                        *gain += truth.utility(&truth.refit(&grown, &targets).unwrap()) - before;
                    }
                }
                estimates.iter_mut().zip(gains).for_each(|(estimate, gain)| estimate.push(gain / m as f64));
            }

            let found = values(&general(&sample, how, (q, m), rounds(20_000, gamma, seed)), &points);
            let shifted = values(&general(&sample, how, (q + 1, m + 1), rounds(2000, gamma, seed)), &points);
            let mut most_power: f64 = 0.0;
            for (i, estimate) in estimates.iter().enumerate() {
                let error = estimate.std_error().hypot(found.std_error.as_ref().unwrap()[i]);
                let z = (found.value[i] - estimate.mean()) / error;
                println!("γ = {gamma}, point {i}: {:.4} z = {z:.1}", found.value[i]);
                assert!(z.abs() < MAX_ABS_Z, "{how:?}, seed {seed}, point {i}: z = {z:.1}");
                let wrong = shifted.value[i] * (m + 1) as f64 / m as f64;
                most_power = most_power.max(((wrong - estimate.mean()) / error).abs());
            }
            assert!(most_power > 4.0 * MAX_ABS_Z, "sizes one larger are only {most_power:.1} away");
        }
    }
}

/// For Gaussian inputs the closed form is the truth, up to the deviation of the reference
/// from Gaussian (1/√n of the spread of values, some 2 %) and up to the Monte Carlo's own
/// error (1 %); 3p/n is 0.2 %.
#[test]
fn gaussian_inputs_give_the_closed_form() {
    let sample = Sample::gaussian(98, 4000, 3, 0.9);
    let points = Sample::gaussian(99, 300, 3, 0.9);
    for how in [CENTRED, UNCENTRED] {
        let found = values(&general(&sample, how, (13, 40), rounds(2048, 0.0, 1)), &points);
        let closed = gain_valuer(&sample, how, Sizes::new(13, 40)).values(Data::of(&points).rows()).unwrap();
        let (off, ratio) = differences(&found.value, &closed.value);
        println!("intercept {}: off by {off:.3} of the spread, mean ratio {ratio:.3}", how.intercept);
        assert!(off < 0.04, "{how:?}: {off:.3}");
        assert!((ratio - 1.0).abs() < 0.04, "{how:?}: {ratio:.3}");
    }
}

/// Root mean square of the differences in units of the spread, and the slope of
/// one on the other.
fn differences(found: &[f64], exact: &[f64]) -> (f64, f64) {
    let n = exact.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / n;
    let (found_centre, centre) = (mean(found), mean(exact));
    let spread = exact.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
    let off = found.iter().zip(exact).map(|(found, exact)| (found - exact).powi(2)).sum::<f64>();
    let along = found.iter().zip(exact).map(|(found, exact)| (found - found_centre) * (exact - centre));
    ((off / spread).sqrt(), along.sum::<f64>() / spread)
}

/// Exponential features, sets of 10 to 24 rows. The truth comes from 6000 chains of sets
/// drawn from the distribution itself with actual refits averaged over the noise; values
/// are means over 40 references of 400 rows. They are within 6 % of the spread (3p/n = 2
/// %), and `gaussian` is off by more than 10.
#[test]
fn values_hold_for_inputs_that_are_not_gaussian() {
    let (p, q, m, n) = (3, 11, 25, 400);
    let beta = vec![1.0, -2.0, 0.5];
    let noise_var: f64 = 0.8;
    let identity = (0..p).map(|i| (0..p).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let truth = Truth { sigma: identity, beta: beta.clone(), noise_var, ridge: vec![0.0; p] };
    for seed in seeds(9900) {
        let mut draws = Draws::new(seed);
        let points: Vec<(Vec<f64>, f64)> =
            (0..24).map(|_| (exponential(&mut draws, p), noise_var.sqrt() * draws.normal())).collect();
        let mut exact = vec![MeanEstimate::default(); points.len()];
        for _ in 0..6000 {
            let set: Vec<_> = (0..m - 1).map(|_| exponential(&mut draws, p)).collect();
            for (exact, (x, e)) in exact.iter_mut().zip(&points) {
                let gains = (q - 1..m).map(|size| truth.gain(&set[..size], x, *e).unwrap());
                exact.push(gains.sum::<f64>() / m as f64);
            }
        }
        let exact: Vec<f64> = exact.iter().map(MeanEstimate::mean).collect();

        let rows: Vec<Vec<f64>> = points.iter().map(|(x, _)| x.clone()).collect();
        let asked = sample_of(&rows, points.iter().map(|(x, e)| dot(x, &beta) + e).collect());
        let (mut found, mut gaussian) = (vec![0.0; points.len()], vec![0.0; points.len()]);
        for reference in 0..40 {
            let rows: Vec<_> = (0..n).map(|_| exponential(&mut draws, p)).collect();
            let y = rows.iter().map(|x| dot(x, &beta) + noise_var.sqrt() * draws.normal()).collect();
            let sample = sample_of(&rows, y);
            let values = values(&general(&sample, UNCENTRED, (q, m), rounds(64, 0.0, reference)), &asked);
            let closed = gain_valuer(&sample, UNCENTRED, Sizes::new(q, m)).values(Data::of(&asked).rows());
            found.iter_mut().zip(values.value).for_each(|(sum, value)| *sum += value / 40.0);
            gaussian.iter_mut().zip(closed.unwrap().value).for_each(|(sum, value)| *sum += value / 40.0);
        }
        let (off, ratio) = differences(&found, &exact);
        let (gaussian_off, gaussian_ratio) = differences(&gaussian, &exact);
        println!(
            "general off by {off:.3} (slope {ratio:.3}), gaussian by {gaussian_off:.3} ({gaussian_ratio:.3})"
        );
        assert!(off < 0.06, "seed {seed}: {off:.3}");
        assert!(gaussian_off > 0.10, "seed {seed}: {gaussian_off:.3}");
    }
}

/// Numbers, and a category that `n_rare` of `n` rows have.
fn with_rare_category(draws: &mut Draws, n: usize, n_rare: usize) -> Sample {
    let number: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
    let rare: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i < n_rare))).collect();
    let y = (0..n).map(|i| 1.5 * number[i] - rare[i] + 0.7 * draws.normal()).collect();
    Sample { columns: vec![number, rare], y }
}

/// Forty rows, four of them with a rare category. A set counts if some of its rows have the
/// category and some do not; then the model is fitted with and without the point, about the
/// means of the forty. Three comparisons at five standard errors: a false alarm once in 600 000
/// runs. Sets without the category, which centred columns seem to determine, are far away.
#[test]
fn sets_without_a_rare_category_do_not_count() {
    let (n, n_rare, q, m) = (40, 4, 8, 12);
    for seed in seeds(9950) {
        let mut draws = Draws::new(seed);
        let sample = with_rare_category(&mut draws, n, n_rare);
        let points =
            Sample { columns: vec![vec![2.0, -0.5, 0.4], vec![0.0, 0.0, 1.0]], y: vec![4.0, -2.0, 0.3] };
        let reference = Reference::new(&sample, CENTRED, 0.0);
        let truth = &reference.truth;
        let (mut exact, mut naive) = ([MeanEstimate::default(); 3], [MeanEstimate::default(); 3]);
        let mut n_absent = 0_usize;
        for _ in 0..40_000 {
            let (mut gains, mut naive_gains) = ([0.0; 3], [0.0; 3]);
            for size in q - 1..m {
                let mut is_first = true;
                loop {
                    let order = draws.shuffled(n);
                    let set: Vec<Vec<f64>> =
                        order[..size].iter().map(|&row| reference.rows[row].clone()).collect();
                    let has_rare = order[..size].iter().any(|&row| row < n_rare);
                    for i in 0..3 {
                        let (x, target) = reference.design(&points, i);
                        let gain = truth.gain(&set, &x, target - dot(&x, &truth.beta)).unwrap();
                        gains[i] += if has_rare { gain } else { 0.0 };
                        naive_gains[i] += if is_first { gain } else { 0.0 };
                    }
                    n_absent += usize::from(is_first && !has_rare);
                    is_first = false;
                    if has_rare {
                        break;
                    }
                }
            }
            exact.iter_mut().zip(gains).for_each(|(exact, gain)| exact.push(gain / m as f64));
            naive.iter_mut().zip(naive_gains).for_each(|(naive, gain)| naive.push(gain / m as f64));
        }
        let absent_share = n_absent as f64 / (40_000 * (m + 1 - q)) as f64;

        let drawn = setting::values(&general(&sample, CENTRED, (q, m), rounds(20_000, 0.0, seed)), &points);
        println!("absent {absent_share:.3}, counted as singular {:.3}", drawn.singular_share);
        let mut most_power: f64 = 0.0;
        assert!((drawn.singular_share - absent_share).abs() < 0.01, "the share is that of sets without it");
        for i in 0..3 {
            let error = exact[i].std_error().hypot(drawn.values.std_error.as_ref().unwrap()[i]);
            let (value, mean) = (drawn.values.value[i], exact[i].mean());
            let z = (value - mean) / error;
            let away = (naive[i].mean() - mean) / error.hypot(naive[i].std_error());
            println!(
                "point {i}: {value:.4}, refits {mean:.4}, z = {z:.1}; naive {:.4}, {away:.1}",
                naive[i].mean()
            );
            assert!(z.abs() < MAX_ABS_Z, "seed {seed}, point {i}: z = {z:.1}");
            most_power = most_power.max(away.abs());
        }
        assert!(most_power > 2.0 * MAX_ABS_Z, "other sets are only {most_power:.1} away");
    }
}

/// Five of 2000 rows have a category, which nine in ten sets of up to 40 rows lack. Values of
/// other rows are near those without its column. They were 246 times as large when sets without
/// the category counted.
#[test]
fn a_rare_category_does_not_inflate_the_values_of_other_rows() {
    let sample = with_rare_category(&mut Draws::new(9951), 2000, 5);
    let without = Sample { columns: vec![sample.columns[0].clone()], y: sample.y.clone() };
    let spread = |of: &[f64]| (of.iter().map(|value| value * value).sum::<f64>() / of.len() as f64).sqrt();
    let points: Vec<usize> = (5..105).collect();
    let of = |sample: &Sample| {
        let valuer = general(sample, CENTRED, (12, 40), rounds(32, 0.0, 1));
        setting::values(&valuer, &sample.select(&points))
    };
    let (found, plain) = (of(&sample), of(&without));
    let ratio = spread(&found.values.value) / spread(&plain.values.value);
    println!("{ratio:.2} times, {:.3} of sets without it", found.singular_share);
    assert!((0.5..2.0).contains(&ratio), "{ratio:.2}");
    assert!((0.9..0.97).contains(&found.singular_share), "{}", found.singular_share);
}

/// A row of the reference is valued as if it were not part of it, also where it is one of the
/// few with a category. Four comparisons at five standard errors.
#[test]
fn left_out_rows_of_a_rare_category_are_unseen_points() {
    let sample = with_rare_category(&mut Draws::new(9952), 40, 4);
    let left_out = setting::left_out(&general(&sample, CENTRED, (9, 20), rounds(20_000, 0.0, 1))).values;
    for row in [0, 3, 4, 20] {
        let others: Vec<usize> = (0..40).filter(|&other| other != row).collect();
        let valuer = general(&sample.select(&others), CENTRED, (9, 20), rounds(20_000, 0.0, 2));
        let unseen = values(&valuer, &sample.select(&[row]));
        let error = left_out.std_error.as_ref().unwrap()[row].hypot(unseen.std_error.as_ref().unwrap()[0]);
        let z = (left_out.value[row] - unseen.value[0]) / error;
        println!("row {row}: {:.4} and {:.4}, z = {z:.1}", left_out.value[row], unseen.value[0]);
        assert!(z.abs() < MAX_ABS_Z, "row {row}: z = {z:.1}");
    }
}
