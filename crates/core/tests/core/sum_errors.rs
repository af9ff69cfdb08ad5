//! Standard errors of sums of values, whose rows share one fit.

use crate::common::Data;
use dshap::linear::{Bound, Convention, FitOptions, LinearFit, LinearMethod, LinearValuer, Side};
use dshap::{Place, Sizes, Valuer};
use dshap_testkit::{Sample, assert_close, seeds};

const P: usize = 4;
const N: usize = 400;

fn valuer(reference: &Data, intercept: bool) -> LinearValuer {
    let fit = LinearFit::of(reference.rows(), FitOptions { intercept, ..FitOptions::default() }).unwrap();
    LinearValuer::new(fit, Sizes::new(20, 200), LinearMethod::default()).unwrap().with_std_error(true)
}

fn drawn(seed: u64, n: usize) -> Data {
    Data::of(&Sample::gaussian(seed, n, P, 1.0))
}

#[test]
fn a_group_of_one_row_has_the_error_of_its_value() {
    for intercept in [true, false] {
        for refit in [true, false] {
            if refit && !intercept {
                continue;
            }
            let reference = drawn(5, 60);
            let options = FitOptions { intercept, refit_intercept: refit, ..FitOptions::default() };
            let fit = LinearFit::of(reference.rows(), options).unwrap();
            let valuer = LinearValuer::new(fit, Sizes::new(20, 200), LinearMethod::default())
                .unwrap()
                .with_std_error(true);
            for in_reference in [true, false] {
                let place = Place { first_row: 0, in_reference };
                let rows = reference.rows();
                let alone = valuer.values_at(rows, place, &|_, _| true).unwrap().std_error.unwrap();
                let groups: Vec<Vec<usize>> = (0..60).map(|row| vec![row]).collect();
                let found = valuer.sum_errors(rows, &groups, in_reference).unwrap().unwrap();
                found.iter().zip(&alone).for_each(|(found, alone)| assert_close(*found, *alone, 1e-10));
            }
        }
    }
}

#[test]
fn copies_add_up_and_an_empty_group_has_no_error() {
    let (reference, points) = (drawn(1, N), drawn(2, 3));
    let valuer = valuer(&reference, true);
    let groups = [vec![0], vec![0; 300], vec![]];
    let found = valuer.sum_errors(points.rows(), &groups, false).unwrap().unwrap();
    assert_close(found[1], 300.0 * found[0], 1e-10);
    assert_eq!(found[2], 0.0);
}

/// Groups as rows with a share that their value counts.
fn shared(groups: &[Vec<usize>], share: f64) -> Vec<Vec<(usize, f64)>> {
    groups.iter().map(|group| group.iter().map(|&row| (row, share)).collect()).collect()
}

#[test]
fn covariances_have_the_errors_of_sums_and_add_up() {
    for in_reference in [false, true] {
        let reference = drawn(11, N);
        let valuer = valuer(&reference, true);
        let groups: Vec<Vec<usize>> = vec![(0..90).collect(), (90..250).collect(), (250..N).collect()];
        let errors = valuer.sum_errors(reference.rows(), &groups, in_reference).unwrap().unwrap();
        let mut sums = valuer.sums(3, in_reference).unwrap();
        sums.add(reference.rows(), &shared(&groups, 1.0)).unwrap();
        let covariance = sums.covariance();
        for g in 0..3 {
            assert_close(covariance[g][g].sqrt(), errors[g], 1e-12);
            (0..3).for_each(|h| assert_eq!(covariance[g][h], covariance[h][g]));
        }
        // The error of all rows together, from that of the groups.
        let all = valuer.sum_errors(reference.rows(), &[(0..N).collect()], in_reference).unwrap().unwrap()[0];
        let total: f64 = covariance.iter().flatten().sum();
        let tolerance = if in_reference { 0.1 } else { 1e-9 };
        assert!((total.sqrt() / all - 1.0).abs() < tolerance, "{} {all}", total.sqrt());
        let independent = errors.iter().map(|error| error * error).sum::<f64>().sqrt();
        assert!((independent / all - 1.0).abs() > 0.2, "the test could not fail: {independent} {all}");
        // Halves of values have half the error.
        let mut halves = valuer.sums(3, in_reference).unwrap();
        halves.add(reference.rows(), &shared(&groups, 0.5)).unwrap();
        assert_close(halves.covariance()[0][1], 0.25 * covariance[0][1], 1e-9);
    }
}

/// The covariance of two sums over 1500 references is known to about a tenth of the product of
/// their spreads; it is five times larger here.
#[test]
fn covariances_of_sums_are_those_over_references() {
    let points = drawn(31, 40);
    let groups: Vec<Vec<usize>> = vec![(0..20).collect(), (20..40).collect()];
    let (mut found, mut reported) = ([Vec::new(), Vec::new()], 0.0);
    let n_references = 1500;
    for draw in 0..n_references {
        let valuer = valuer(&drawn(7_000_000 + draw, N), true);
        let values = valuer.values(points.rows()).unwrap().value;
        (0..2).for_each(|g| found[g].push(groups[g].iter().map(|&row| values[row]).sum::<f64>()));
        let mut sums = valuer.sums(2, false).unwrap();
        sums.add(points.rows(), &shared(&groups, 1.0)).unwrap();
        let covariance = sums.covariance();
        reported += covariance[0][1] / (covariance[0][0] * covariance[1][1]).sqrt() / n_references as f64;
    }
    let mean = |g: usize| found[g].iter().sum::<f64>() / n_references as f64;
    let product = |g: usize, h: usize| {
        let pairs = found[g].iter().zip(&found[h]);
        pairs.map(|(one, two)| (one - mean(g)) * (two - mean(h))).sum::<f64>()
    };
    let correlation = product(0, 1) / (product(0, 0) * product(1, 1)).sqrt();
    println!("correlation {correlation:.3}, reported {reported:.3}");
    assert!((correlation - reported).abs() < 0.1, "{correlation} {reported}");
    assert!(correlation.abs() > 0.3, "the test could not fail: {correlation}");
}

#[test]
fn bounds_have_no_errors_of_sums() {
    let bound = Bound::new(Side::Lower, Convention::Definition);
    let fit = LinearFit::of(drawn(1, N).rows(), FitOptions::default()).unwrap();
    let valuer = LinearValuer::new(fit, Sizes::new(150, 200), LinearMethod::Bound(bound)).unwrap();
    assert_eq!(valuer.sum_errors(drawn(2, 3).rows(), &[vec![0]], false).unwrap(), None);
}

/// The spread of sums over 1500 references is known to 2 %; a tenth is five of those. Errors
/// added up as if they were independent are off by a factor of two or more here.
#[test]
fn errors_of_sums_are_their_spread_over_references() {
    for intercept in [true, false] {
        for seed in seeds(4100 + u64::from(intercept)) {
            let points = drawn(seed, 40);
            let groups = [(0..25).collect::<Vec<usize>>(), (25..40).collect()];
            let (mut sums, mut reported, mut independent) = ([Vec::new(), Vec::new()], [0.0; 2], [0.0; 2]);
            let n_references = 1500;
            for draw in 0..n_references {
                let reference = drawn(1_000_000 + 10_000 * seed + draw, N);
                let valuer = valuer(&reference, intercept);
                let values = valuer.values(points.rows()).unwrap();
                let errors = valuer.sum_errors(points.rows(), &groups, false).unwrap().unwrap();
                let each = values.std_error.unwrap();
                for (g, group) in groups.iter().enumerate() {
                    sums[g].push(group.iter().map(|&row| values.value[row]).sum::<f64>());
                    reported[g] += errors[g] / n_references as f64;
                    let square: f64 = group.iter().map(|&row| each[row].powi(2)).sum();
                    independent[g] += square.sqrt() / n_references as f64;
                }
            }
            for g in 0..2 {
                let n = sums[g].len() as f64;
                let mean = sums[g].iter().sum::<f64>() / n;
                let spread = (sums[g].iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
                let (ratio, naive) = (reported[g] / spread, independent[g] / spread);
                println!("intercept {intercept}, group {g}: ratio {ratio:.3}, as if independent {naive:.3}");
                assert!((ratio - 1.0).abs() < 0.1, "reported/true = {ratio:.3}");
                assert!((naive - 1.0).abs() > 0.3, "the test could not fail: {naive:.3}");
            }
        }
    }
}
