//! Games of many owners by random orders.

use crate::common::owners::Market;
use dshap::owners::{
    Contributions, QuadraticForms, SampleOptions, Sampled, exact, sampled, sampled_interactions,
};
use dshap_testkit::{MAX_ABS_Z, assert_same_bits, on_threads};

fn options(seed: u64, tolerance: f64, most_rounds: usize) -> SampleOptions {
    SampleOptions { seed, tolerance, most_rounds }
}

fn draw(market: &Market, options: SampleOptions) -> Sampled {
    sampled(&market.game(0.6), options, &|_, _| true).unwrap()
}

fn market() -> Market {
    Market::drawn(11, &[5, 9, 3, 14, 7, 2, 8, 6, 11], 3, false)
}

/// Nine owners, so that all coalitions are known. If a place were forgotten or counted
/// twice, values would be off by tens of standard errors.
#[test]
fn random_orders_agree_with_all_coalitions() {
    let (market, truth) = (market(), exact(&market().game(0.6), &|_, _| true).unwrap());
    let found = draw(&market, options(3, 0.0, 3000));
    for g in 0..9 {
        let z = (found.shapley[g] - truth.shapley[g]) / found.errors[g];
        assert!(z.abs() < MAX_ABS_Z, "owner {g}: z = {z:.1}, {} ± {}", found.shapley[g], found.errors[g]);
        let total = truth.utilities[511] - truth.utilities[0];
        assert!(found.errors[g] < 0.02 * total, "the test could not fail: {} of {total}", found.errors[g]);
        assert!((found.alone[g] - truth.utilities[1 << g]).abs() < 1e-12);
    }
    assert!(!found.reached && found.n_rounds >= 3000);
}

#[test]
fn values_and_contributions_add_up_exactly() {
    let market = market();
    let found = draw(&market, options(5, 0.05, 200));
    let total = found.all - found.none;
    assert!((found.shapley.iter().sum::<f64>() - total).abs() < 1e-11 * found.none.abs());
    let game = market.game(0.6);
    let rows = QuadraticForms::new(&game, found.traces.clone()).contributions(market.test.rows(), 0).unwrap();
    let mut sums = Contributions::new(&found.shapley);
    sums.add(&rows);
    for (mean, value) in sums.means().iter().zip(&found.shapley) {
        assert!((mean - value).abs() < 1e-9, "{mean} {value}");
    }
}

#[test]
fn drawing_stops_when_errors_are_small_enough() {
    let market = market();
    let rough = draw(&market, options(1, 0.5, 100_000));
    let fine = draw(&market, options(1, 0.05, 100_000));
    assert!(rough.reached && fine.reached && rough.n_rounds < fine.n_rounds);
    let mean = fine.shapley.iter().sum::<f64>() / 9.0;
    let spread = (fine.shapley.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 8.0).sqrt();
    assert!(fine.errors.iter().all(|error| *error <= 0.0501 * spread), "{:?} {spread}", fine.errors);
}

#[test]
fn the_seed_decides_and_threads_do_not() {
    let market = market();
    let run = |seed, threads| on_threads(threads, || draw(&market, options(seed, 0.0, 120)));
    assert_same_bits(&run(4, 1).shapley, &run(4, 3).shapley, "values");
    assert_ne!(run(4, 2).shapley, run(5, 2).shapley);
}

#[test]
fn copies_among_many_have_the_same_value_within_errors() {
    let mut market = market();
    market.owners[7] = crate::common::owners::joined([&market.owners[1]].into_iter(), 3);
    let found = draw(&market, options(9, 0.0, 4000));
    let error = found.errors[1].hypot(found.errors[7]);
    assert!((found.shapley[1] - found.shapley[7]).abs() < MAX_ABS_Z * error);
}

/// All pairs of nine owners, and the pairs of some of them. If a size were forgotten or
/// pairs in one block did not count for more, interactions would be off by tens of errors.
#[test]
fn interactions_by_random_orders_agree_with_all_coalitions() {
    let game = market().game(0.6);
    let truth = exact(&game, &|_, _| true).unwrap().interactions;
    let place = |g: usize, h: usize| g * (17 - g) / 2 + h - g - 1;
    for owners in [(0..9).collect::<Vec<_>>(), vec![1, 4, 5, 8]] {
        let found = sampled_interactions(&game, &owners, options(7, 0.0, 100_000), &|_, _| true).unwrap();
        let mut pair = 0;
        let largest = truth.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        for (i, &g) in owners.iter().enumerate() {
            for &h in &owners[i + 1..] {
                let (value, error) = (found.values[pair], found.errors[pair]);
                let z = (value - truth[place(g, h)]) / error;
                assert!(z.abs() < MAX_ABS_Z, "{g} and {h}: z = {z:.1}, {value} ± {error}");
                assert!(error < 0.1 * largest, "the test could not fail: {error} of {largest}");
                pair += 1;
            }
        }
        assert_eq!(pair, found.values.len());
    }
}

#[test]
fn interactions_have_the_same_bits_on_any_number_of_threads() {
    let game = market().game(0.6);
    let run = |threads| {
        on_threads(threads, || {
            sampled_interactions(&game, &[0, 2, 3, 7], options(1, 0.1, 500), &|_, _| true).unwrap().values
        })
    };
    assert_same_bits(&run(1), &run(3), "interactions");
}
