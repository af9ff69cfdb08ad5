//! What becomes of levels that few reference rows have.

use super::*;
use crate::{Derived, Difference, Roles, Survey, TargetAs};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use std::sync::Arc;

fn wanted(name: &str, read_as: ReadAs) -> Wanted {
    Wanted { name: name.into(), read_as }
}

fn roles(weight: Option<Wanted>) -> Roles {
    Roles {
        features: vec![wanted("age", ReadAs::Number), wanted("city", ReadAs::Text)],
        target: Some(wanted("price", ReadAs::Number)),
        target_as: TargetAs::Numbers,
        weight,
        carried: vec![],
        dates: None,
    }
}

/// Rows of these cities, with weights if there are any.
fn rows(cities: &[Option<&str>], weights: Option<&[f64]>) -> RecordBatch {
    let numbers =
        || -> ArrayRef { Arc::new(Float64Array::from_iter_values((0..cities.len()).map(|i| i as f64))) };
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("age", numbers()),
        ("city", Arc::new(StringArray::from(cities.to_vec()))),
        ("price", numbers()),
    ];
    if let Some(weights) = weights {
        columns.push(("weight", Arc::new(Float64Array::from(weights.to_vec()))));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

fn cities<'a>(names: &[&'a str]) -> Vec<Option<&'a str>> {
    names.iter().map(|&name| Some(name)).collect()
}

fn learn(rare_levels: Option<usize>, batch: &RecordBatch) -> Result<Design, Error> {
    learned(Survey::new(roles(None), Missing::Error, Unseen::Error), rare_levels, batch)
}

fn learned(mut survey: Survey, rare_levels: Option<usize>, batch: &RecordBatch) -> Result<Design, Error> {
    if let Some(n) = rare_levels {
        survey = survey.with_rare_levels(n);
    }
    survey.look_at(batch)?;
    survey.into_design()
}

fn column_names(design: &Design) -> Vec<&str> {
    (0..design.n_columns()).map(|j| design.column_name(j)).collect()
}

fn pooled(design: &Design) -> Vec<(&str, &str, usize)> {
    design.pooled_features().map(|(name, pool)| (name, pool.level.as_str(), pool.n_levels)).collect()
}

/// Rows of four common cities and two rare ones.
const TOWNS: [&str; 10] = ["Rome", "Bonn", "Rome", "Oslo", "Lima", "Bonn", "Rome", "Kiel", "Bonn", "Rome"];

#[test]
fn levels_of_few_rows_share_a_column() {
    let design = learn(Some(2), &rows(&cities(&TOWNS), None)).unwrap();
    // Kiel, Lima and Oslo have a row each; Bonn has no column, as before.
    assert_eq!(column_names(&design), ["age", "city=Rome", "city=other"]);
    assert_eq!(pooled(&design), [("city", "other", 3)]);
    let x = design.encode(&rows(&cities(&["Oslo", "Rome", "Bonn", "other", "Paris"]), None)).unwrap().x;
    assert_eq!(x.col_as_slice(1), [0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(x.col_as_slice(2), [1.0, 0.0, 0.0, 1.0, 1.0], "Paris is as rare as can be");
    assert_eq!(Design::from_parts(design.parts().clone()), Ok(design));
}

/// A small generator of numbers below `n`.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

#[test]
fn pooling_is_the_same_as_renaming_rare_levels_beforehand() {
    // Numbers among the names: they are levels like others.
    const NAMES: [&str; 9] = ["a", "2", "10", "other", "other_", "zeta", "Z", "3.5", "true"];
    for seed in 0..200 {
        let mut numbers = Numbers(seed);
        let (n_rows, least) = (4 + numbers.below(60) as usize, 1 + numbers.below(8) as usize);
        let missing = if numbers.below(2) == 0 { Missing::Mean } else { Missing::Drop };
        // Squares make some levels much rarer than others.
        let level = |numbers: &mut Numbers| NAMES[(numbers.below(9) * numbers.below(9) / 9) as usize];
        let cells: Vec<Option<&str>> =
            (0..n_rows).map(|_| (numbers.below(9) > 0).then(|| level(&mut numbers))).collect();
        // Small whole numbers, so that sums are exact in any order.
        let weights: Vec<f64> = (0..n_rows).map(|_| numbers.below(4) as f64).collect();
        let n_of = |name: &str| {
            let counts =
                cells.iter().zip(&weights).filter(|(cell, weight)| **cell == Some(name) && **weight != 0.0);
            counts.count()
        };
        let is_rare = |name: &str| (1..least).contains(&n_of(name));
        let mut pool = String::from("other");
        while !is_rare(&pool) && n_of(&pool) > 0 {
            pool.push('_');
        }
        let any = NAMES.iter().any(|name| is_rare(name));
        // A level of weight-0 rows only is as unseen as one of no rows.
        let rename = |name| if any && (is_rare(name) || n_of(name) == 0) { pool.as_str() } else { name };
        let renamed: Vec<Option<&str>> = cells.iter().map(|cell| cell.map(rename)).collect();
        for all_levels in [false, true] {
            let survey = || {
                let roles = roles(Some(wanted("weight", ReadAs::Number)));
                let survey = Survey::new(roles, missing, Unseen::Zero);
                if all_levels { survey.with_all_levels() } else { survey }
            };
            let (before, after) = (rows(&cells, Some(&weights)), rows(&renamed, Some(&weights)));
            let (found, expected) =
                (learned(survey(), Some(least), &before), learned(survey(), None, &after));
            let (Ok(found), Ok(expected)) = (&found, &expected) else {
                assert_eq!(found.is_err(), expected.is_err(), "seed {seed}: {found:?}, {expected:?}");
                continue;
            };
            assert_eq!(column_names(found), column_names(expected), "seed {seed}");
            assert_eq!(found.parts().encodings, expected.parts().encodings, "seed {seed}");
            assert_eq!(found.pooled_features().count(), usize::from(any), "seed {seed}");
            let (x, other) = (found.encode(&before).unwrap(), expected.encode(&after).unwrap());
            assert_eq!((x.x, x.n_filled), (other.x, other.n_filled), "seed {seed}");
        }
    }
}

#[test]
fn without_a_rare_level_nothing_changes() {
    let batch = rows(&cities(&TOWNS), None);
    let plain = learn(None, &batch).unwrap();
    for n in [0, 1] {
        let parts = learn(Some(n), &batch).unwrap().parts().clone();
        assert_eq!(parts.rare_levels, Some(n));
        assert_eq!(Design::from_parts(DesignParts { rare_levels: None, ..parts }), Ok(plain.clone()));
    }
    let error = plain.encode(&rows(&cities(&["Paris"]), None)).unwrap_err();
    assert!(matches!(error, Error::UnseenLevel { .. }));
}

#[test]
fn the_pooled_level_takes_no_name_of_a_common_one() {
    let level = |names: &[&str]| {
        let design = learn(Some(2), &rows(&cities(names), None)).unwrap();
        design.pooled_features().next().unwrap().1.level.clone()
    };
    assert_eq!(level(&["a", "a", "b"]), "other");
    assert_eq!(level(&["a", "a", "other"]), "other", "a rare level of that name is pooled");
    assert_eq!(level(&["other", "other", "b"]), "other_");
    assert_eq!(level(&["other", "other", "other_", "other_", "b"]), "other__");
}

#[test]
fn a_single_remaining_level_is_constant() {
    let design = learn(Some(5), &rows(&cities(&TOWNS), None)).unwrap();
    assert_eq!(column_names(&design), ["age"]);
    assert_eq!(design.constant_features().collect::<Vec<_>>(), ["city"]);
    assert_eq!(pooled(&design), [("city", "other", 5)]);
    // Even names of rows: each is rare.
    let names: Vec<String> = (0..50).map(|i| format!("n{i}")).collect();
    let cells: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    let design = learn(Some(2), &rows(&cells, None)).unwrap();
    assert_eq!(design.constant_features().collect::<Vec<_>>(), ["city"]);
}

#[test]
fn many_levels_are_counted_if_few_remain() {
    let names: Vec<String> = (0..600).map(|i| format!("n{}", i / 2)).collect();
    let cells: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    let mut with_common = cells.clone();
    with_common.extend(cities(&["Rome"; 9]));
    let design = learn(Some(3), &rows(&with_common, None)).unwrap();
    assert_eq!(column_names(&design), ["age", "city=other"]);
    assert_eq!(pooled(&design), [("city", "other", 300)]);
    let error = learn(Some(2), &rows(&with_common, None)).unwrap_err();
    assert_eq!(error, Error::TooManyLevels { name: "city".into(), n_levels: 256, more: true });
}

#[test]
fn a_million_levels_are_the_most() {
    let names: Vec<String> = (0..=1_000_000).map(|i| i.to_string()).collect();
    let cells: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    let mut survey = Survey::new(roles(None), Missing::Error, Unseen::Error).with_rare_levels(10);
    survey.look_at(&rows(&cells[..1_000_000], None)).unwrap();
    let error = survey.look_at(&rows(&cells[1_000_000..], None)).unwrap_err();
    assert_eq!(error, Error::TooManyLevels { name: "city".into(), n_levels: 1_000_000, more: true });
    assert_eq!(survey.into_design().unwrap().pooled_features().next().unwrap().1.n_levels, 1_000_000);
}

#[test]
fn rows_of_weight_0_do_not_make_a_level_common() {
    let batch = rows(&cities(&["a", "a", "b", "b"]), Some(&[1.0, 0.5, 2.0, 0.0]));
    let survey = Survey::new(roles(Some(wanted("weight", ReadAs::Number))), Missing::Error, Unseen::Error);
    let design = learned(survey, Some(2), &batch).unwrap();
    assert_eq!(column_names(&design), ["age", "city=other"]);
    assert_eq!(pooled(&design), [("city", "other", 1)]);
}

#[test]
fn a_missing_cell_is_filled_with_the_share_of_the_pool() {
    let batch = rows(&[Some("a"), Some("a"), Some("b"), Some("c"), None], None);
    let survey = Survey::new(roles(None), Missing::Mean, Unseen::Error).with_all_levels();
    let design = learned(survey, Some(2), &batch).unwrap();
    assert_eq!(column_names(&design), ["age", "city=a", "city=other"]);
    let encoded = design.encode(&batch).unwrap();
    assert_eq!(encoded.x.col_as_slice(2), [0.0, 0.0, 1.0, 1.0, 0.5]);
    assert_eq!(encoded.n_filled, 1);
}

#[test]
fn more_rows_bring_no_new_levels_to_a_pooled_feature() {
    let design = learn(Some(2), &rows(&cities(&TOWNS), None)).unwrap();
    let mut survey = Survey::of_more_rows(&design);
    assert!(!survey.is_needed());
    let names: Vec<String> = (0..500).map(|i| format!("n{i}")).collect();
    let cells: Vec<Option<&str>> = names.iter().map(|name| Some(name.as_str())).collect();
    survey.look_at(&rows(&cells, None)).unwrap();
    let levels = survey.into_levels();
    assert_eq!(levels, [Vec::<String>::new(), Vec::new()]);
    assert_eq!(design.with_levels(&levels), Ok(None));
    assert_eq!(design.with_levels(&[vec![], vec!["Paris".into()]]), Ok(None));
}

#[test]
fn a_lost_pool_is_left_out_and_no_longer_takes_rows() {
    let design = learn(Some(2), &rows(&cities(&TOWNS), None)).unwrap();
    let lost = |shares: [f64; 3]| design.without_lost_levels(|column| shares[column], 1e-9);
    assert_eq!(lost([4.0, 0.4, 0.3]), None);
    let (narrower, columns) = lost([4.0, 0.4, 0.0]).unwrap();
    assert_eq!(columns, [Derived::Column(0), Derived::Column(1)]);
    assert_eq!(narrower.pooled_features().count(), 0);
    assert!(narrower.encode(&rows(&cities(&["Paris"]), None)).is_err());
    let (narrower, columns) = lost([4.0, 0.0, 0.3]).unwrap();
    assert_eq!(columns, [Derived::Column(0), Derived::Column(2)]);
    assert_eq!(pooled(&narrower), [("city", "other", 3)]);
    let (narrower, _) = lost([4.0, 0.4, 0.6]).unwrap();
    // Bonn is gone: Rome comes first, and the pool keeps its column.
    assert_eq!(column_names(&narrower), ["age", "city=other"]);
}

#[test]
fn designs_merge_if_they_keep_the_same_levels() {
    let design = |rare_levels, names: &[&str]| learn(rare_levels, &rows(&cities(names), None)).unwrap();
    let first = design(Some(2), &["a", "a", "b", "b", "x"]);
    let same = design(Some(2), &["b", "b", "a", "a", "y", "z"]);
    let merged = first.merged(5.0, &same, 6.0).unwrap();
    assert_eq!(pooled(&merged.design), [("city", "other", 2)]);
    assert_eq!(merged.from_second, [0, 1, 2].map(Derived::Column));

    // One without rare levels, or learned without the policy, has no row to pool.
    let common = design(None, &["b", "b", "a"]);
    for (one, two) in [(&first, &common), (&common, &first)] {
        let merged = one.merged(5.0, two, 3.0).unwrap();
        assert_eq!(pooled(&merged.design), [("city", "other", 1)]);
        assert_eq!(column_names(&merged.design), ["age", "city=b", "city=other"]);
    }

    let more = design(Some(2), &["a", "a", "b", "b", "c", "c", "x"]);
    let unpooled = design(None, &["a", "b", "b", "x"]);
    let fewer = design(Some(3), &["a", "a", "a", "b", "b", "x"]);
    for other in [&more, &unpooled, &fewer] {
        for (one, two) in [(&first, other), (other, &first)] {
            let error = one.merged(1.0, two, 1.0).unwrap_err();
            assert_eq!(error, Error::Differs(Difference::Pooled { name: "city".into() }));
        }
    }
}

#[test]
fn merged_rows_are_encoded_as_by_either_design() {
    let first = learn(Some(2), &rows(&cities(&["b", "b", "c", "c", "x"]), None)).unwrap();
    let second = learn(None, &rows(&cities(&["c", "c", "b"]), None)).unwrap();
    let merged = first.merged(5.0, &second, 3.0).unwrap();
    for (design, names, derived) in
        [(&first, ["b", "c", "x"], &merged.from_first), (&second, ["c", "b", "c"], &merged.from_second)]
    {
        let batch = rows(&cities(&names), None);
        let (own, both) = (design.encode(&batch).unwrap().x, merged.design.encode(&batch).unwrap().x);
        for i in 0..3 {
            for (j, derived) in derived.iter().enumerate() {
                let expected = match derived {
                    Derived::Column(column) => own[(i, *column)],
                    Derived::Zero => 0.0,
                    Derived::OneMinus(columns) => 1.0 - columns.iter().map(|&c| own[(i, c)]).sum::<f64>(),
                };
                assert_eq!(both[(i, j)], expected, "row {i}, column {j}");
            }
        }
    }
}

#[test]
fn files_tell_of_pooled_levels_only_where_there_are_some() {
    let batch = rows(&cities(&TOWNS), None);
    let plain = serde_json::to_string(learn(None, &batch).unwrap().parts()).unwrap();
    assert!(!plain.contains("pooled"), "as in older files: {plain}");
    let read: DesignParts = serde_json::from_str(&plain).unwrap();
    assert!(read.pooled.is_empty());
    let design = learn(Some(2), &batch).unwrap();
    let text = serde_json::to_string(design.parts()).unwrap();
    assert!(text.contains(r#""pooled":{"city":{"level":"other","n_levels":3}}"#), "{text}");
    let read: DesignParts = serde_json::from_str(&text).unwrap();
    assert_eq!(Design::from_parts(read), Ok(design));
}

#[test]
fn a_stored_pool_must_be_a_level_of_a_text_feature() {
    let design = learn(Some(2), &rows(&cities(&TOWNS), None)).unwrap();
    let damages: [fn(&mut DesignParts); 3] = [
        |parts| parts.pooled.get_mut("city").unwrap().level = "rest".into(),
        |parts| _ = parts.pooled.insert("age".into(), Pooled { level: "other".into(), n_levels: 1 }),
        |parts| _ = parts.pooled.insert("size".into(), Pooled { level: "other".into(), n_levels: 1 }),
    ];
    for damage in damages {
        let mut parts = design.parts().clone();
        damage(&mut parts);
        assert!(matches!(Design::from_parts(parts), Err(Error::Contradiction { .. })));
    }
}
