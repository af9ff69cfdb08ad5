//! What is recommended, and how often that is wrong.

use crate::common::Known;
use dshap_cleaning::{Act, Extent, Kind, Tried, try_actions};

const SMALL: Extent = Extent { repeats: 1, most_rows: 2_000 };

fn tried(known: &Known, kind: Kind, seed: u64) -> Tried {
    try_actions(&known.examined(kind, seed), SMALL, seed, &|_, _| true).expect("models exist")
}

/// Ten clean tables of each kind. If one in twenty were acted on, as the rule allows,
/// four or more of twenty would be with probability 1.6 %, five or more with 0.3 %.
#[test]
fn clean_tables_are_left_alone() {
    let is_acted_on = |known: Known, kind, seed| tried(&known, kind, seed).verdict.recommended.is_some();
    let numbers = (0..10).filter(|&seed| is_acted_on(Known::numbers(200, None, seed), Kind::Numbers, seed));
    let labels = (0..10).filter(|&seed| is_acted_on(Known::labels(200, None, seed), Kind::Labels(2), seed));
    let n_alarms = numbers.count() + labels.count();
    assert!(n_alarms < 5, "{n_alarms} of 20");
}

/// Without one in twenty targets, a model of three features is better. The rule misses
/// at most one table in ten: five or more of ten with probability 0.2 %.
#[test]
fn moved_targets_are_dropped() {
    let recommended = (0..10).filter_map(|seed| {
        let found = tried(&Known::numbers(200, Some(20), seed), Kind::Numbers, seed);
        found.verdict.recommended
    });
    let recommended: Vec<_> = recommended.collect();
    assert!(recommended.len() > 5, "{} of 10", recommended.len());
    assert!(recommended.iter().all(|chosen| chosen.action.act == Act::Drop));
}

#[test]
fn flipped_labels_are_acted_on() {
    let acted = (0..3).filter(|&seed| {
        let found = tried(&Known::labels(1500, Some(10), seed), Kind::Labels(2), seed);
        found.verdict.recommended.is_some()
    });
    assert!(acted.count() >= 2);
}

#[test]
fn a_trial_has_the_same_bits_for_any_threads_and_can_be_stopped() {
    let known = Known::labels(150, Some(15), 8);
    let with = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        pool.install(|| tried(&known, Kind::Labels(2), 2))
    };
    assert_eq!(with(1), with(3));
    let stopped = try_actions(&known.examined(Kind::Labels(2), 0), SMALL, 0, &|_, _| false);
    assert_eq!(stopped, Err(dshap::Error::Interrupted));
}

#[test]
fn a_large_table_is_tried_on_a_sample() {
    let known = Known::numbers(500, None, 9);
    let extent = Extent { repeats: 1, most_rows: 120 };
    let found =
        try_actions(&known.examined(Kind::Numbers, 0), extent, 0, &|_, _| true).expect("models exist");
    assert_eq!(found.n_rows, 120);
}
