//! Axioms of the game between owners, as properties.

use crate::common::owners::{Market, moments_of, shuffled};
use crate::common::{Data, cases};
use dshap::Error;
use dshap::owners::{
    Contributions, Exact, LinearFold, LinearGame, Parts, QuadraticForms, choose_ridge, exact,
};
use dshap_testkit::{Draws, assert_same_bits, on_threads};
use faer::Mat;
use proptest::prelude::*;

fn solve(game: &LinearGame) -> Exact {
    exact(game, &|_, _| true).unwrap()
}

fn copy(data: &Data) -> Data {
    Data { x: data.x.clone(), y: data.y.clone() }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn values_add_up_to_what_all_bring(seed in 0_u64..1000, k in 1_usize..8, p in 1_usize..4, own: bool) {
        let sizes: Vec<usize> = (0..k).map(|g| (seed as usize + 3 * g) % 7).collect();
        let found = solve(&Market::drawn(seed, &sizes, p, own).game(0.4));
        let total = found.utilities.last().unwrap() - found.utilities[0];
        let sum: f64 = found.shapley.iter().sum();
        prop_assert!((sum - total).abs() < 1e-11 * (1.0 + found.utilities[0].abs()), "{} {}", sum, total);
    }

    #[test]
    fn copies_are_worth_the_same_and_are_the_strongest_substitutes(seed in 0_u64..1000, n in 6_usize..20) {
        let mut market = Market::drawn(seed, &[n, n + 2, n], 2, false);
        // The copy has its rows in another order, which changes the last bits of moments.
        market.owners[2] = shuffled(&market.owners[0], &mut Draws::new(seed));
        let found = solve(&market.game(0.9));
        let scale = found.utilities[0].abs();
        prop_assert!((found.shapley[0] - found.shapley[2]).abs() < 1e-11 * scale);
        // (0,1), (0,2), (1,2).
        prop_assert!((found.interactions[0] - found.interactions[2]).abs() < 1e-11 * scale);
    }

    #[test]
    fn an_owner_without_rows_brings_nothing(seed in 0_u64..1000, own: bool) {
        let found = solve(&Market::drawn(seed, &[5, 0, 7], 2, own).game(0.9));
        prop_assert_eq!(found.shapley[1], 0.0);
        let others = Market::drawn(seed, &[5, 0, 7], 2, own);
        let without = Market { owners: vec![copy(&others.owners[0]), copy(&others.owners[2])], ..others };
        let without = solve(&without.game(0.9));
        let scale = found.utilities[0].abs();
        prop_assert!((found.shapley[0] - without.shapley[0]).abs() < 1e-11 * scale);
        prop_assert!((found.shapley[2] - without.shapley[1]).abs() < 1e-11 * scale);
    }

    #[test]
    fn values_add_up_over_test_rows(seed in 0_u64..1000, cut in 1_usize..22) {
        // Values on all test rows are means of values on two parts, weighted by their rows. The buyer's
        // rows make the empty coalition the same for every part.
        let market = Market::drawn(seed, &[6, 9, 4], 3, true);
        let part = |start: usize, n: usize| Market {
            owners: market.owners.iter().map(copy).collect(),
            own: market.own.as_ref().map(copy),
            test: Data {
                x: Mat::from_fn(n, 3, |i, j| market.test.x[(start + i, j)]),
                y: market.test.y[start..start + n].to_vec(),
            },
        };
        let n = market.test.y.len();
        let whole = solve(&market.game(0.5)).shapley;
        let (one, two) = (solve(&part(0, cut).game(0.5)).shapley, solve(&part(cut, n - cut).game(0.5)).shapley);
        for g in 0..3 {
            let sum = (cut as f64 * one[g] + (n - cut) as f64 * two[g]) / n as f64;
            prop_assert!((whole[g] - sum).abs() < 1e-9 * (1.0 + whole[g].abs()), "{} {}", whole[g], sum);
        }
    }

    #[test]
    fn contributions_to_rows_average_to_values(seed in 0_u64..1000, k in 1_usize..6, own: bool) {
        let sizes: Vec<usize> = (0..k).map(|g| 2 + (seed as usize + 5 * g) % 9).collect();
        let market = Market::drawn(seed, &sizes, 3, own);
        let game = market.game(0.6);
        let found = solve(&game);
        let rows = QuadraticForms::new(&game, found.traces).contributions(market.test.rows(), 0).unwrap();
        let mut sums = Contributions::new(&found.shapley);
        sums.add(&rows);
        for (mean, value) in sums.means().iter().zip(&found.shapley) {
            prop_assert!((mean - value).abs() < 1e-9 * (1.0 + found.utilities[0].abs()), "{} {}", mean, value);
        }
        let covariance = sums.covariance().unwrap();
        for (g, error) in sums.std_errors().unwrap().into_iter().enumerate() {
            prop_assert!((covariance[g][g].sqrt() - error).abs() < 1e-12 * (1.0 + error));
        }
    }

    /// What the docs say about gaming. An owner `m` that splits into `a` and `b` beside one other owner `c`
    /// gains a sixth of `Δ_c(ab) − Δ_c(a) − Δ_c(b) + Δ_c(∅)`, where `Δ_c(C) = U(C∪c) − U(C)`.
    #[test]
    fn splitting_changes_the_game_as_the_theory_says(seed in 0_u64..1000) {
        let market = Market::drawn(seed, &[20, 12], 2, false);
        let first = &market.owners[0];
        let half = |from: usize| Data {
            x: Mat::from_fn(10, 2, |i, j| first.x[(from + i, j)]),
            y: first.y[from..from + 10].to_vec(),
        };
        let split = Market {
            owners: vec![half(0), half(10), copy(&market.owners[1])],
            own: None,
            test: copy(&market.test),
        };
        let (one, two) = (solve(&market.game(0.5)), solve(&split.game(0.5)));
        let (all_one, all_two) = (one.utilities.last().unwrap(), two.utilities.last().unwrap());
        prop_assert!((all_one - all_two).abs() < 1e-10 * all_one.abs());
        let joining = |coalition: usize| two.utilities[coalition | 0b100] - two.utilities[coalition];
        let gained = (joining(0b11) - joining(0b01) - joining(0b10) + joining(0)) / 6.0;
        let found = two.shapley[0] + two.shapley[1] - one.shapley[0];
        prop_assert!((found - gained).abs() < 1e-10 * one.utilities[0].abs(), "{} {}", found, gained);
    }
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let market = Market::drawn(3, &[4, 5, 6, 7, 8, 9, 10, 11, 12], 5, true);
    let game = market.game(0.2);
    let [one, four] = [1, 4].map(|n| on_threads(n, || solve(&game)));
    assert_same_bits(&one.utilities, &four.utilities, "utilities");
    for owner in 0..9 {
        assert_same_bits(one.traces.col_as_slice(owner), four.traces.col_as_slice(owner), "traces");
    }
}

/// Rows that two owners have are a part of their own, and count once in a coalition of both.
#[test]
fn shared_rows_can_count_once() {
    let market = Market::drawn(8, &[12, 9, 5], 2, false);
    let [a, b, shared] = [0, 1, 2].map(|part: usize| moments_of(&market.owners[part]));
    let test = moments_of(&market.test).unwrap();
    let parts = Parts::held_by(2, &[vec![0], vec![1], vec![0, 1]]);
    let fold = LinearFold { parts: vec![a, b, shared], own: None, test };
    let found = solve(&LinearGame::new(parts, vec![fold], 0.5).unwrap());
    let all = solve(&market.game(0.5));
    // Part 2 is bit 2 in the game of the three parts.
    for (coalition, parts) in [(0b00, 0b000), (0b01, 0b101), (0b10, 0b110), (0b11, 0b111)] {
        let (found, expected) = (found.utilities[coalition], all.utilities[parts]);
        assert!((found - expected).abs() < 1e-11 * expected.abs(), "{coalition:b}: {found}, {expected}");
    }
}

/// A constant column, a column twice, and no penalty at all.
#[test]
fn coalitions_without_a_unique_fit_are_worth_something_finite() {
    let mut market = Market::drawn(9, &[8, 3, 6], 3, false);
    for data in market.owners.iter_mut().chain([&mut market.test]) {
        for i in 0..data.y.len() {
            data.x[(i, 1)] = 5.0;
            data.x[(i, 2)] = data.x[(i, 0)];
        }
    }
    for ridge in [0.0, 1e-12, 1.0] {
        let found = solve(&market.game(ridge));
        assert!(found.utilities.iter().all(|utility| utility.is_finite()), "{ridge}: {:?}", found.utilities);
    }
}

#[test]
fn a_far_centre_costs_no_digits() {
    let near = Market::drawn(4, &[12, 7, 9], 2, false);
    let mut far = Market::drawn(4, &[12, 7, 9], 2, false);
    for data in far.owners.iter_mut().chain([&mut far.test]) {
        for i in 0..data.y.len() {
            // Exact: a power of two far beyond the data, and cells with few bits.
            for j in 0..2 {
                data.x[(i, j)] += 65536.0;
            }
            data.y[i] -= 4096.0;
        }
    }
    let [near, far] = [near, far].map(|market| {
        let game = market.game(0.5);
        let found = solve(&game);
        let rows = QuadraticForms::new(&game, found.traces).contributions(market.test.rows(), 0).unwrap();
        (found.shapley, rows)
    });
    for g in 0..3 {
        assert!((near.0[g] - far.0[g]).abs() < 1e-8, "{:?} {:?}", near.0, far.0);
        for t in 0..23 {
            assert!((near.1[(t, g)] - far.1[(t, g)]).abs() < 1e-7);
        }
    }
}

#[test]
fn the_penalty_is_chosen_by_rows_that_were_left_out() {
    // Forty columns of noise, five folds of twelve rows: hardly any penalty would be a mistake.
    let fold = |seed: u64| {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(12, 40, |_, _| draws.normal());
        let y: Vec<f64> = (0..12).map(|i| x[(i, 0)] + draws.normal()).collect();
        moments_of(&Data { x, y }).unwrap()
    };
    let noisy = choose_ridge(&[fold(1), fold(2), fold(3), fold(4), fold(5)]).unwrap();
    let clear: Vec<_> =
        (0..5).map(|f| moments_of(&Market::drawn(f, &[400], 3, false).owners[0]).unwrap()).collect();
    let clear = choose_ridge(&clear).unwrap();
    assert!(noisy.ridge > 1.0 && clear.ridge < 1.0, "{noisy:?} {clear:?}");
    assert_eq!(choose_ridge(&[fold(1)]), Err(Error::NoRows));
}

#[test]
fn games_that_make_no_sense_are_refused() {
    let test = moments_of(&Market::drawn(1, &[3], 2, false).test).unwrap();
    let other = moments_of(&Market::drawn(1, &[3], 3, false).owners[0]);
    let fold = LinearFold { parts: vec![other], own: None, test };
    let refused = LinearGame::new(Parts::one_each(1), vec![fold], 1.0).map(|_| ());
    assert_eq!(refused, Err(Error::FeatureCount { found: 3, expected: 2 }));
    assert_eq!(LinearGame::new(Parts::one_each(0), Vec::new(), 1.0).map(|_| ()), Err(Error::NoTestRows));
    let game = Market::drawn(1, &[3, 4], 2, false).game(1.0);
    assert_eq!(exact(&game, &|_, _| false).map(|_| ()), Err(Error::Interrupted));
}
