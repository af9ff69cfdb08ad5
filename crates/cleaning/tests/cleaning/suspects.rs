//! Scores, flags and suggestions.

use crate::common::Known;
use dshap_cleaning::{Kind, Suspects, find_suspects, suspects_by};

/// The share of wrong rows among as many of the most suspicious as are wrong.
fn share_found(found: &Suspects, is_wrong: &[bool]) -> f64 {
    let n_wrong = is_wrong.iter().filter(|wrong| **wrong).count();
    let hits = found.ranking()[..n_wrong].iter().filter(|&&row| is_wrong[row]).count();
    hits as f64 / n_wrong as f64
}

#[test]
fn moved_targets_come_first() {
    let known = Known::numbers(400, Some(20), 3);
    let found = find_suspects(&known.examined(Kind::Numbers, 0), &[], 0).expect("a model exists");
    assert_eq!(share_found(&found, &known.is_wrong), 1.0);
    let n_flagged = found.is_flagged.iter().filter(|flagged| **flagged).count();
    assert!((0..400).all(|row| found.is_flagged[row] || !known.is_wrong[row]) && n_flagged <= 25);
    assert_eq!(found.precision, None, "far targets may also be the tail of skewed noise");
    // An estimate, rough from above: right rows far out count in part.
    assert!((found.n_wrong - 20.0).abs() < 10.0, "{}", found.n_wrong);
}

#[test]
fn flipped_labels_are_found_and_the_right_ones_suggested() {
    let known = Known::labels(600, Some(20), 4);
    let found = find_suspects(&known.examined(Kind::Labels(2), 0), &[], 0).expect("a model exists");
    // Some flipped labels are next to the border, where nobody can tell.
    assert!(share_found(&found, &known.is_wrong) > 0.6);
    let suggested = (0..600).filter(|&row| found.is_flagged[row] && known.is_wrong[row]);
    assert!(suggested.clone().count() > 20);
    suggested.for_each(|row| assert_eq!(found.expected[row], 1.0 - known.y[row]));
}

#[test]
fn an_oracle_among_the_predictions_is_believed() {
    let known = Known::labels(600, Some(20), 5);
    let right = |row: usize| if known.is_wrong[row] { 1.0 - known.y[row] } else { known.y[row] };
    let oracle: Vec<f64> =
        (0..600).flat_map(|row| if right(row) == 1.0 { [0.03, 0.97] } else { [0.97, 0.03] }).collect();
    let found = find_suspects(&known.examined(Kind::Labels(2), 0), &[&oracle], 0).expect("a model exists");
    assert!(found.weights[2] > 0.8, "{:?}", found.weights);
    assert_eq!(share_found(&found, &known.is_wrong), 1.0);
    assert_eq!(found.is_flagged, known.is_wrong);
}

#[test]
fn scores_do_not_depend_on_threads() {
    let known = Known::labels(200, Some(20), 6);
    let with = |n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        pool.install(|| find_suspects(&known.examined(Kind::Labels(2), 1), &[], 1).expect("a model exists"))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn targets_that_are_predicted_exactly_are_not_suspicious() {
    let y = [1.0, 2.0, 3.0, 4.0, 9.0];
    let found = suspects_by(&[&[1.0, 2.0, 3.0, 4.0, 5.0], &[0.0; 5]], &y, Kind::Numbers);
    assert!(found.score.iter().all(|score| *score == 0.0), "the median distance is 0: {found:?}");
}
