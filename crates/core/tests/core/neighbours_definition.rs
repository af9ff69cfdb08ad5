//! Values of neighbours against the definition, by drawing sets.
//!
//! `DSHAP_SEEDS=100` runs every test with that many seeds, for nightly runs.

use crate::common::neighbours as setting;

use dshap::neighbours::{NeighbourTask, NeighbourValuer, TestRows};
use dshap::{Rows, Sizes, Valuer};
use dshap_testkit::{Draws, MeanEstimate, seeds};
use setting::{THREE_CLASSES, Table, as_given, utility};

/// The gain of `point` on joining `set`, averaged over test rows; `(distance,
/// target)` of each row is looked up by test row.
fn gain(
    task: NeighbourTask,
    k: usize,
    test: &Table,
    set: &dyn Fn(usize) -> Vec<(f64, f64)>,
    point: &dyn Fn(usize) -> (f64, f64),
) -> f64 {
    let mut sum = 0.0;
    for t in 0..test.len() {
        let value = |mut rows: Vec<(f64, f64)>| {
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            let targets: Vec<f64> = rows.into_iter().map(|(_, y)| y).collect();
            utility(task, k, &targets, test.y[t])
        };
        let before = set(t);
        let mut after = before.clone();
        after.push(point(t));
        sum += value(after) - value(before);
    }
    sum / test.len() as f64
}

fn values(
    reference: &Table,
    test: &Table,
    points: Rows<'_>,
    task: NeighbourTask,
    k: usize,
    sizes: Sizes,
) -> Vec<f64> {
    let test = TestRows::Given(test.rows());
    let valuer = NeighbourValuer::new(reference.rows(), test, sizes, as_given(k, task)).unwrap();
    valuer.values(points).unwrap().value
}

/// Sets of every size from the reference, without replacement; sizes uniformly drawn, so
/// that `count/m` times the mean gain is the value. Each of 18 comparisons at five
/// standard errors: a false alarm once in 90 000 runs. Sizes one larger, and `k` one
/// larger (a place one further on), are rejected by more than ten for at least one of the
/// points. Rows, and so this power, are the same for every seed; the seed draws the sets.
#[test]
fn sets_drawn_from_the_reference_have_these_gains() {
    for seed in seeds(31_000) {
        for task in [THREE_CLASSES, NeighbourTask::Regression] {
            for (k, q, m) in [(1, 2, 8), (3, 4, 11), (10, 11, 17)] {
                let mut setting = Draws::new(31_000 + k as u64);
                let (reference, test) =
                    (Table::drawn(&mut setting, 20, 2, task), Table::drawn(&mut setting, 3, 2, task));
                let points = Table::drawn(&mut setting, 3, 2, task);
                let mut draws = Draws::new(seed + k as u64);
                let mut estimates = [MeanEstimate::default(); 3];
                for _ in 0..150_000 {
                    let size = q - 1 + (draws.uniform() * (m - q + 1) as f64) as usize;
                    let order = draws.shuffled(20);
                    let rows = &order[..size];
                    for (z, estimate) in estimates.iter_mut().enumerate() {
                        let set = |t: usize| {
                            rows.iter()
                                .map(|&row| (reference.dist_sq(row, &test, t), reference.y[row]))
                                .collect()
                        };
                        let point = |t: usize| (points.dist_sq(z, &test, t), points.y[z]);
                        let share = (m - q + 1) as f64 / m as f64;
                        estimate.push(share * gain(task, k, &test, &set, &point));
                    }
                }
                let with = |k, sizes| values(&reference, &test, points.rows(), task, k, sizes);
                let found = with(k, Sizes::new(q, m));
                // The same number of sizes over the same m, from one larger on.
                let later = with(k, Sizes::new(q + 1, m + 1))
                    .iter()
                    .map(|v| v * (m + 1) as f64 / m as f64)
                    .collect::<Vec<_>>();
                let further = with(k + 1, Sizes::new(q, m));
                let mut powers = [0.0_f64; 2];
                for (z, estimate) in estimates.iter().enumerate() {
                    let what = format!("{task:?}, k = {k}, point {z}, seed {seed}");
                    estimate.assert_agrees(found[z], &what);
                    for (power, wrong) in powers.iter_mut().zip([later[z], further[z]]) {
                        *power = power.max(estimate.z(wrong).abs());
                    }
                }
                println!("{task:?}, k = {k}: wrong sizes {:.0}, wrong k {:.0}", powers[0], powers[1]);
                assert!(
                    powers.into_iter().all(|power| power > 10.0),
                    "{task:?}, k = {k}: no power, {powers:?}"
                );
            }
        }
    }
}

/// Sets from the population itself against the mean of values over references
/// drawn from it: unbiased for `m ≤ n + 1`, however few reference rows there are.
/// Eighteen comparisons at five standard errors of both sides: a false alarm once
/// in 90 000 runs. Sizes one larger are rejected by more than ten.
#[test]
fn values_are_unbiased_for_the_population() {
    for seed in seeds(32_000) {
        for task in [THREE_CLASSES, NeighbourTask::Regression] {
            for (k, q, m) in [(1, 2, 6), (3, 4, 9), (10, 11, 15)] {
                let mut setting = Draws::new(32_000 + k as u64);
                let (test, points) =
                    (Table::drawn(&mut setting, 2, 1, task), Table::drawn(&mut setting, 3, 1, task));
                let mut draws = Draws::new(seed + k as u64);
                let mut truth = [MeanEstimate::default(); 3];
                for _ in 0..200_000 {
                    let size = q - 1 + (draws.uniform() * (m - q + 1) as f64) as usize;
                    let drawn = Table::drawn(&mut draws, size, 1, task);
                    for (z, truth) in truth.iter_mut().enumerate() {
                        let set = |t: usize| {
                            (0..size).map(|row| (drawn.dist_sq(row, &test, t), drawn.y[row])).collect()
                        };
                        let point = |t: usize| (points.dist_sq(z, &test, t), points.y[z]);
                        truth.push((m - q + 1) as f64 / m as f64 * gain(task, k, &test, &set, &point));
                    }
                }
                let (mut found, mut later) = ([MeanEstimate::default(); 3], [MeanEstimate::default(); 3]);
                for _ in 0..30_000 {
                    // As few rows as possible: m = n + 1.
                    let more = Table::drawn(&mut draws, m, 1, task);
                    let few = more.select(&(0..m - 1).collect::<Vec<_>>());
                    let with = |rows, sizes| values(rows, &test, points.rows(), task, k, sizes);
                    let wrong = with(&more, Sizes::new(q + 1, m + 1));
                    for (z, value) in with(&few, Sizes::new(q, m)).into_iter().enumerate() {
                        found[z].push(value);
                        later[z].push(wrong[z] * (m + 1) as f64 / m as f64);
                    }
                }
                let mut power: f64 = 0.0;
                for z in 0..3 {
                    let error = truth[z].std_error().hypot(found[z].std_error());
                    let off = (found[z].mean() - truth[z].mean()) / error;
                    assert!(off.abs() < 5.0, "{task:?}, k = {k}, point {z}, seed {seed}: z = {off:.1}");
                    power = power.max(((later[z].mean() - truth[z].mean()) / error).abs());
                }
                println!("{task:?}, k = {k}: sizes one larger are {power:.0} standard errors away");
                assert!(power > 10.0, "{task:?}, k = {k}: no power, {power:.1}");
            }
        }
    }
}

/// The standard error is that of a mean over test rows: the values of one point from 400
/// draws of 30 test rows spread as much as reported. A standard deviation from 400 draws
/// is known to 3.5 %; five of those are allowed.
#[test]
fn standard_errors_are_the_spread_over_test_rows() {
    for seed in seeds(33_000) {
        for task in [THREE_CLASSES, NeighbourTask::Regression] {
            let mut draws = Draws::new(seed);
            let reference = Table::drawn(&mut draws, 60, 2, task);
            let points = Table::drawn(&mut draws, 1, 2, task);
            let (mut spread, mut said) = (MeanEstimate::default(), MeanEstimate::default());
            for _ in 0..400 {
                let test = Table::drawn(&mut draws, 30, 2, task);
                let sizes = NeighbourValuer::default_sizes(3, 60);
                let test = TestRows::Given(test.rows());
                let valuer = NeighbourValuer::new(reference.rows(), test, sizes, as_given(3, task)).unwrap();
                let values = valuer.with_std_error(true).values(points.rows()).unwrap();
                spread.push(values.value[0]);
                said.push(values.std_error.unwrap()[0].powi(2));
            }
            let ratio = said.mean().sqrt() / spread.std_dev();
            assert!((ratio - 1.0).abs() < 5.0 * 0.035, "{task:?}, seed {seed}: ratio {ratio:.3}");
        }
    }
}
