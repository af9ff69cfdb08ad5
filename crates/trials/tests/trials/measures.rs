//! Measures against their definitions, written out.

use dshap_testkit::assert_close;
use dshap_trials::{
    Curve, Detection, Experiment, Kind, Order, figure, inject, kendall, overlap, ranking, shuffled, spearman,
};
use proptest::prelude::*;

/// `τ_b` by all pairs.
fn kendall_by_pairs(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mut sum, mut free_a, mut free_b) = (0.0, 0.0, 0.0);
    let sign = |d: f64| if d == 0.0 { 0.0 } else { d.signum() };
    for i in 0..a.len() {
        for j in 0..i {
            let (x, y) = (sign(a[i] - a[j]), sign(b[i] - b[j]));
            sum += x * y;
            free_a += x * x;
            free_b += y * y;
        }
    }
    (free_a > 0.0 && free_b > 0.0).then(|| sum / f64::sqrt(free_a * free_b))
}

/// Spearman with ranks by counting.
fn spearman_by_counting(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = |v: &[f64]| -> Vec<f64> {
        let below = |x: f64| v.iter().filter(|y| **y < x).count() as f64;
        let level = |x: f64| v.iter().filter(|y| **y == x).count() as f64;
        v.iter().map(|&x| below(x) + (level(x) + 1.0) / 2.0).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let n = a.len() as f64;
    let mean = (n + 1.0) / 2.0;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let (aa, bb) = (dot(&a, &a), dot(&b, &b));
    (aa > 0.0 && bb > 0.0).then(|| dot(&a, &b) / (aa * bb).sqrt())
}

fn near(found: Option<f64>, exact: Option<f64>) -> bool {
    match (found, exact) {
        (Some(found), Some(exact)) => (found - exact).abs() < 1e-12,
        (found, exact) => found == exact,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    /// Small whole numbers, so that there are many ties.
    #[test]
    fn correlations_are_those_of_all_pairs(rows in prop::collection::vec((0..6_i32, 0..6_i32), 0..40)) {
        let a: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
        let b: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
        prop_assert!(near(kendall(&a, &b), kendall_by_pairs(&a, &b)));
        prop_assert!(near(spearman(&a, &b), spearman_by_counting(&a, &b)));
        prop_assert!(near(kendall(&a, &b), kendall(&b, &a)));
        // Rows that lack a value do not count.
        let with_gap = |v: &[f64], gap| v.iter().copied().chain([gap]).collect::<Vec<_>>();
        prop_assert!(near(kendall(&with_gap(&a, f64::NAN), &with_gap(&b, 3.0)), kendall(&a, &b)));
        prop_assert!(near(spearman(&with_gap(&a, 1.0), &with_gap(&b, f64::NAN)), spearman(&a, &b)));
    }

    #[test]
    fn the_area_is_the_share_of_pairs_in_order(rows in prop::collection::vec((0..5_i32, any::<bool>()), 1..40)) {
        let values: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
        let wrong: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let (mut sum, mut n) = (0.0, 0.0);
        for i in 0..rows.len() {
            for j in (0..rows.len()).filter(|&j| wrong[i] && !wrong[j]) {
                sum += if values[i] < values[j] { 1.0 } else if values[i] == values[j] { 0.5 } else { 0.0 };
                n += 1.0;
            }
        }
        match Detection::of(&values, &wrong) {
            None => prop_assert!(n == 0.0),
            Some(found) => {
                prop_assert!((found.auc - sum / n).abs() < 1e-12);
                prop_assert_eq!(found.found.len(), rows.len() + 1);
                prop_assert!(found.found.windows(2).all(|pair| pair[0] <= pair[1]));
                prop_assert!((found.found[rows.len()] - 1.0).abs() < 1e-12);
                prop_assert!((0.0..=1.0).contains(&found.f1));
            }
        }
    }

    #[test]
    fn noise_changes_the_share_it_was_told(n in 2..200_usize, share in 0.0..1.0_f64, seed in any::<u64>()) {
        let y: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
        let changed = inject(&y, Kind::Labels(3), share, seed);
        let n_wrong = changed.is_wrong.iter().filter(|wrong| **wrong).count();
        prop_assert_eq!(n_wrong, ((share * n as f64).round() as usize).clamp(1, n - 1));
        for ((&before, &after), &wrong) in y.iter().zip(&changed.y).zip(&changed.is_wrong) {
            prop_assert_eq!(wrong, before != after);
            prop_assert!((0.0..3.0).contains(&after));
        }
        let numbers: Vec<f64> = (0..n).map(|i| i as f64 * 1.5).collect();
        let changed = inject(&numbers, Kind::Numbers, share, seed);
        for ((&before, &after), &wrong) in numbers.iter().zip(&changed.y).zip(&changed.is_wrong) {
            prop_assert_eq!(wrong, before != after);
            prop_assert!(numbers.contains(&after), "it is the number of another row");
        }
    }
}

#[test]
fn the_best_rows_are_counted() {
    let (a, b) = ([5.0, 4.0, 3.0, 2.0, f64::NAN], [1.0, 9.0, 8.0, 0.0, 99.0]);
    assert_eq!(overlap(&a, &b, 1), Some(0.0));
    assert_eq!(overlap(&a, &b, 2), Some(0.5));
    assert_eq!(overlap(&a, &b, 4), Some(1.0));
    assert_eq!(overlap(&a, &b, 5), None);
    assert_eq!(overlap(&a, &b, 0), None);
    assert_eq!(ranking(&b), [4, 1, 2, 0, 3]);
    assert_eq!(ranking(&a), [0, 1, 2, 3]);
}

/// Rows tied for the last places share them: the result is the mean over all ways to
/// break ties, independently on both sides.
#[test]
fn tied_rows_share_the_last_places() {
    // All are tied: the best 2 of 8 have 2 · 2/8 · 2/8 · 8/2 in common.
    assert_eq!(overlap(&[1.0; 8], &[3.0; 8], 2), Some(0.25));
    // One row is certainly among the best of both; each side has one of three rows in
    // the other place.
    let (a, b) = ([9.0, 5.0, 5.0, 5.0, 0.0], [7.0, 4.0, 4.0, 4.0, 1.0]);
    assert_close(overlap(&a, &b, 2).unwrap(), (1.0 + 3.0 / 9.0) / 2.0, 1e-15);
    assert_eq!(overlap(&a, &b, 4), Some(1.0));
    // Zero has two signs and is one number.
    assert_eq!(overlap(&[0.0, -0.0], &[0.0, 0.0], 1), Some(0.5));
}

/// Targets of three whole numbers: the number of another row is often the same.
#[test]
fn a_wrong_number_is_another_number() {
    let y: Vec<f64> = (0..300).map(|i| [5.0, 6.0, 6.0, 6.0, 7.0][i % 5]).collect();
    let changed = inject(&y, Kind::Numbers, 0.5, 3);
    assert_eq!(changed.is_wrong.iter().filter(|wrong| **wrong).count(), 150);
    for ((&before, &after), &wrong) in y.iter().zip(&changed.y).zip(&changed.is_wrong) {
        assert_eq!(wrong, before != after);
        assert!(y.contains(&after));
    }
    // Each row is equally likely: 5 becomes 6 three times as often as 7. With about
    // 30 rows, a share of 3/4 has a standard deviation of 0.08, and 1/2 to 1 is 3 of
    // them on either side. The seed is fixed.
    let from_5: Vec<f64> =
        y.iter().zip(&changed.y).filter(|(b, a)| **b == 5.0 && **a != 5.0).map(|(_, a)| *a).collect();
    let to_6 = from_5.iter().filter(|a| **a == 6.0).count() as f64 / from_5.len() as f64;
    assert!(to_6 > 0.5 && to_6 < 1.0, "{to_6} of {}", from_5.len());
}

#[test]
fn nothing_is_wrong_where_all_is_the_same() {
    let same = inject(&[4.0; 9], Kind::Numbers, 0.5, 1);
    assert_eq!((same.y, same.is_wrong), (vec![4.0; 9], vec![false; 9]));
    assert_eq!(inject(&[0.0; 9], Kind::Labels(1), 0.5, 1).is_wrong, [false; 9]);
    assert_eq!(inject(&[0.0, -0.0], Kind::Numbers, 0.5, 1).is_wrong, [false; 2]);
}

#[test]
fn flagging_as_many_rows_as_are_wrong_has_one_f1() {
    let values = [0.1, 0.2, 0.3, 0.4, 0.5];
    let found = Detection::of(&values, &[true, false, true, false, false]).unwrap();
    assert_close(found.f1, 0.5, 1e-15);
    assert_close(found.auc, 5.0 / 6.0, 1e-15);
    assert_eq!(found.found, [0.0, 0.5, 0.5, 1.0, 1.0, 1.0]);
    assert_eq!(Detection::of(&values, &[false; 5]), None);
    assert_eq!(Detection::of(&values, &[true; 5]), None);
}

#[test]
fn orders_have_every_row_once() {
    let mut order = shuffled(50, 3);
    assert_ne!(order, shuffled(50, 4));
    order.sort_unstable();
    assert_eq!(order, (0..50).collect::<Vec<_>>());
    assert!(shuffled(0, 1).is_empty());
}

/// Two curves of one method in one panel, and chance in two.
fn curves() -> Vec<Curve> {
    let curve = |experiment, method: &str, order, height: [f64; 3]| Curve {
        experiment,
        method: method.into(),
        order,
        n_rows: vec![0, 5, 10],
        height: height.to_vec(),
    };
    vec![
        curve(Experiment::Addition, "knn <k=1>", Order::High, [2.0, 3.0, 4.0]),
        curve(Experiment::Addition, "knn <k=1>", Order::Low, [2.0, f64::NAN, 4.0]),
        curve(Experiment::Addition, "random", Order::Random, [2.0, 2.5, 4.0]),
        curve(Experiment::Detection, "random", Order::Value, [0.0, 0.5, 1.0]),
    ]
}

#[test]
fn a_panel_for_each_experiment_and_one_legend() {
    let figure = figure("a trial", &curves(), 4.0);
    let titles: Vec<&str> = figure.panels.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["Point addition", "Detection of wrong targets"]);
    let lines = &figure.panels[0].lines;
    assert_eq!(lines[0].points[2].y, 1.0, "utility is a share of that of all rows");
    assert_eq!(lines[0].colour, lines[1].colour, "one method, one colour");
    assert_ne!(lines[0].dash, lines[1].dash);
    let svg = figure.to_svg();
    assert_eq!(svg.matches(">random<").count(), 1, "one entry for both panels");
    assert!(svg.contains(">knn &lt;k=1&gt;, high first<") && !svg.contains("NaN"), "{svg}");
}
