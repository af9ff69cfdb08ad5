//! Payouts: whole units, exact sums, no gain from order or name.

use crate::common::cases;
use dshap::owners::{MOST_UNITS, PayoutError, PayoutRules, Ties, payout, shares};
use proptest::prelude::*;

const PLAIN: PayoutRules =
    PayoutRules { budget: 0, keep_negative: false, floor: None, cap: None, seed: 0, ties: Ties::Values };

/// Values with ties, zeros and negative ones among them.
fn values() -> impl Strategy<Value = Vec<f64>> {
    let one = prop_oneof![
        3 => -0.3_f64..1.0,
        2 => (0_u8..4).prop_map(|tie| f64::from(tie) / 7.0),
        1 => Just(1e-300),
    ];
    prop::collection::vec(one, 1..40)
        .prop_filter("somebody is worth something", |values| values.iter().any(|value| *value > 1e-3))
}

fn rules() -> impl Strategy<Value = (u64, Option<u64>, Option<u64>, u64, bool)> {
    let floor = prop::option::of(0_u64..50);
    let cap = prop::option::of(0_u64..100_000);
    (0_u64..10_000_000, floor, cap, any::<u64>(), any::<bool>())
}

fn named(values: &[f64]) -> Vec<(String, f64)> {
    values.iter().enumerate().map(|(i, value)| (format!("owner {i}"), *value)).collect()
}

fn paid(owners: &[(String, f64)], rules: &PayoutRules) -> Result<Vec<i64>, PayoutError> {
    payout(&owners.iter().map(|(name, value)| (name.as_str(), *value)).collect::<Vec<_>>(), rules)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn every_unit_is_paid_and_nobody_gains_by_order_or_name(
        values in values(), (budget, floor, cap, seed, keep_negative) in rules(), turn in 0_usize..40
    ) {
        let rules = PayoutRules { budget, keep_negative, floor, cap, seed, ..PLAIN };
        let owners = named(&values);
        let Ok(found) = paid(&owners, &rules) else { return Ok(()) };
        prop_assert_eq!(found.iter().sum::<i64>(), budget as i64);
        let least = floor.map_or(if keep_negative { i64::MIN } else { 0 }, |floor| floor as i64);
        let most = cap.map_or(i64::MAX, |cap| cap as i64);
        for i in 0..values.len() {
            prop_assert!(found[i] >= least && found[i] <= most);
            for j in 0..values.len() {
                if values[i] > values[j] {
                    prop_assert!(found[i] >= found[j], "{} {} {} {}", values[i], values[j], found[i], found[j]);
                }
                if values[i] == values[j] {
                    prop_assert!((found[i] - found[j]).abs() <= 1);
                }
            }
        }
        let mut turned = owners.clone();
        turned.rotate_left(turn % owners.len());
        turned.reverse();
        let again = paid(&turned, &rules).unwrap();
        for (owner, units) in turned.iter().zip(again) {
            let place = owners.iter().position(|other| other.0 == owner.0).unwrap();
            prop_assert_eq!(units, found[place], "{} was paid otherwise in another order", owner.0);
        }
    }

    #[test]
    fn nobody_is_a_unit_away_from_the_exact_share(values in values(), budget in 0_u64..1_000_000) {
        let rules = PayoutRules { budget, ..PLAIN };
        let exact = shares(&values, &rules).unwrap();
        for (units, share) in paid(&named(&values), &rules).unwrap().into_iter().zip(exact) {
            prop_assert!((units as f64 - share).abs() < 1.0 + 1e-6, "{} {}", units, share);
        }
    }
}

#[test]
fn ties_are_broken_by_the_seed() {
    let owners = named(&[1.0; 3]);
    let extra = |seed| {
        let found = paid(&owners, &PayoutRules { budget: 100, seed, ..PLAIN }).unwrap();
        found.iter().position(|units| *units == 34).unwrap()
    };
    let mut counts = [0; 3];
    (0..300).for_each(|seed| counts[extra(seed)] += 1);
    // Each 100 ± 8.2; five standard deviations.
    assert!(counts.iter().all(|count| (59..=141).contains(count)), "{counts:?}");
}

/// A name that wins for one set of values wins no more often than any other for others, so
/// that nobody can choose it before the values are known.
#[test]
fn no_name_can_be_chosen_to_win_ties() {
    let wins = |ties: Ties, value: f64| {
        let owners = [("a".to_string(), value), ("b".to_string(), value)];
        paid(&owners, &PayoutRules { budget: 101, ties, ..PLAIN }).unwrap()[0] == 51
    };
    let n_wins = |ties| (1..=400).filter(|&value| wins(ties, f64::from(value))).count();
    // 200 ± 10; five standard deviations. By names alone the same owner always wins.
    assert!((150..=250).contains(&n_wins(Ties::Values)), "{}", n_wins(Ties::Values));
    assert!([0, 400].contains(&n_wins(Ties::Names)));
}

#[test]
fn floors_caps_and_negative_values() {
    let owners = named(&[6.0, 3.0, 1.0, -1.0]);
    let pay = |rules| paid(&owners, &PayoutRules { budget: 1000, ..rules });
    assert_eq!(pay(PLAIN), Ok(vec![600, 300, 100, 0]));
    // 6 + 3 + 1 − 1 = 9 shares: the last owner pays.
    assert_eq!(pay(PayoutRules { keep_negative: true, ..PLAIN }), Ok(vec![667, 333, 111, -111]));
    // 150 each for the two at the floor leaves 700 for 6 : 3.
    assert_eq!(pay(PayoutRules { floor: Some(150), ..PLAIN }), Ok(vec![467, 233, 150, 150]));
    // 500 at the cap leaves 500 for 3 : 1.
    assert_eq!(pay(PayoutRules { cap: Some(500), ..PLAIN }), Ok(vec![500, 375, 125, 0]));
}

#[test]
fn budgets_that_cannot_be_divided_are_refused() {
    let owners = named(&[2.0, 1.0]);
    let pay = |rules| paid(&owners, &rules);
    let budget = PayoutRules { budget: 100, ..PLAIN };
    assert_eq!(
        pay(PayoutRules { floor: Some(51), ..budget }),
        Err(PayoutError::FloorTooHigh { n_owners: 2 })
    );
    assert_eq!(pay(PayoutRules { cap: Some(49), ..budget }), Err(PayoutError::CapTooLow { n_owners: 2 }));
    assert_eq!(pay(PayoutRules { budget: MOST_UNITS + 1, ..PLAIN }), Err(PayoutError::TooManyUnits));
    assert_eq!(paid(&[], &budget), Err(PayoutError::Nobody));
    let worthless = named(&[0.0, -1.0]);
    assert_eq!(paid(&worthless, &budget), Err(PayoutError::NothingToPayFor { sum: 0.0, n_positive: 0 }));
    // One owner is worth something, and may not receive enough.
    let one = named(&[1.0, 0.0]);
    assert_eq!(
        paid(&one, &PayoutRules { cap: Some(60), ..budget }),
        Err(PayoutError::CapTooLow { n_owners: 2 })
    );
}
