//! How a design encodes cells.

use super::*;
use crate::{Roles, Survey, TargetAs};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use std::sync::Arc;

fn wanted(name: &str, read_as: ReadAs) -> Wanted {
    Wanted { name: name.into(), read_as }
}

fn roles() -> Roles {
    Roles {
        features: vec![wanted("age", ReadAs::Number), wanted("city", ReadAs::Text)],
        target: Some(wanted("price", ReadAs::Number)),
        target_as: TargetAs::Numbers,
        weight: None,
        carried: vec![],
        dates: None,
    }
}

#[test]
fn without_a_target_every_level_may_have_a_column() {
    let roles = Roles { target: None, target_as: TargetAs::Nothing, ..roles() };
    let mut survey = Survey::new(roles, Missing::Mean, Unseen::Zero).with_all_levels();
    let rows = batch(
        &[Some(1.0), None, Some(3.0)],
        &[Some("b"), Some("a"), Some("b")],
        &[Some(0.0), Some(0.0), Some(0.0)],
    );
    let rows = rows.project(&[0, 1]).unwrap();
    survey.look_at(&rows).unwrap();
    let design = survey.into_design().unwrap();
    assert_eq!((design.target(), design.wanted().len(), design.is_plain()), (None, 2, false));
    let names: Vec<_> = (0..design.n_columns()).map(|j| design.column_name(j)).collect();
    assert_eq!(names, ["age", "city=a", "city=b"]);
    let encoded = design.encode(&rows).unwrap();
    assert_eq!((encoded.y, encoded.n_filled), (vec![0.0; 3], 1));
    assert_eq!(encoded.x, faer::mat![[1.0, 0.0, 1.0], [2.0, 1.0, 0.0], [3.0, 0.0, 1.0_f64]]);
    assert_eq!(Design::from_parts(design.parts().clone()).unwrap(), design);
}

fn batch(age: &[Option<f64>], city: &[Option<&str>], price: &[Option<f64>]) -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("age", Arc::new(Float64Array::from(age.to_vec()))),
        ("city", Arc::new(StringArray::from(city.to_vec()))),
        ("price", Arc::new(Float64Array::from(price.to_vec()))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn learn(missing: Missing, unseen: Unseen, batch: &RecordBatch) -> Result<Design, Error> {
    let mut survey = Survey::new(roles(), missing, unseen);
    assert!(survey.is_needed());
    survey.look_at(batch)?;
    survey.into_design()
}

fn reference() -> RecordBatch {
    batch(
        &[Some(1.0), Some(2.0), Some(6.0), Some(7.0)],
        &[Some("Rome"), Some("Bonn"), Some("Rome"), Some("Oslo")],
        &[Some(10.0), Some(20.0), Some(30.0), Some(40.0)],
    )
}

#[test]
fn text_becomes_one_column_per_level_but_the_first() {
    let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
    let names: Vec<_> = (0..=design.n_columns()).map(|j| design.column_name(j)).collect();
    assert_eq!(names, ["age", "city=Oslo", "city=Rome", "price"]);
    let encoded = design.encode(&reference()).unwrap();
    assert_eq!(encoded.x.col_as_slice(1), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(encoded.x.col_as_slice(2), [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(encoded.y, [10.0, 20.0, 30.0, 40.0]);
    assert_eq!(encoded.remaining, None);
}

#[test]
fn missing_cells_are_refused_dropped_or_filled() {
    let gaps = batch(&[Some(1.0), None, Some(5.0)], &[Some("Rome"), Some("Bonn"), None], &[Some(1.0); 3]);
    let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
    let error = design.encode(&gaps).unwrap_err();
    assert_eq!(error, Error::Missing { row: 1, name: "age".into(), can_fill: true });

    let design = learn(Missing::Drop, Unseen::Error, &reference()).unwrap();
    let encoded = design.encode(&gaps).unwrap();
    assert_eq!((encoded.x.nrows(), encoded.remaining), (1, Some(vec![0])));

    let design = learn(Missing::Mean, Unseen::Error, &reference()).unwrap();
    let encoded = design.encode(&gaps).unwrap();
    assert_eq!(encoded.x.col_as_slice(0), [1.0, 4.0, 5.0]);
    assert_eq!(encoded.x.col_as_slice(2), [1.0, 0.0, 0.5], "half of the reference is in Rome");
}

#[test]
fn a_row_without_a_target_is_left_out() {
    let gaps = batch(&[Some(1.0)], &[Some("Rome")], &[None]);
    let design = learn(Missing::Mean, Unseen::Error, &reference()).unwrap();
    let encoded = design.encode(&gaps).unwrap();
    assert_eq!((encoded.y.len(), encoded.remaining.as_deref()), (0, Some(&[][..])));
}

#[test]
fn unseen_levels_are_refused_or_zero() {
    let new = batch(&[Some(1.0)], &[Some("Lima")], &[Some(1.0)]);
    let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
    let error = design.encode(&new).unwrap_err();
    assert_eq!(error, Error::UnseenLevel { row: 0, name: "city".into(), level: "Lima".into() });
    let design = learn(Missing::Error, Unseen::Zero, &reference()).unwrap();
    let encoded = design.encode(&new).unwrap();
    assert_eq!([encoded.x[(0, 1)], encoded.x[(0, 2)]], [0.0, 0.0]);
}

#[test]
fn infinite_numbers_are_refused() {
    let design = learn(Missing::Error, Unseen::Error, &reference()).unwrap();
    let error = design.encode(&batch(&[Some(f64::INFINITY)], &[Some("Rome")], &[Some(1.0)])).unwrap_err();
    assert_eq!(error, Error::NotFinite { row: 0, name: "age".into() });
}

#[test]
fn names_are_not_categories() {
    let names: Vec<String> = (0..300).map(|i| format!("n{i}")).collect();
    let cells: Vec<_> = names.iter().map(|name| Some(name.as_str())).collect();
    let many = batch(&[Some(1.0); 300], &cells, &[Some(1.0); 300]);
    let error = learn(Missing::Error, Unseen::Error, &many).unwrap_err();
    assert_eq!(error, Error::TooManyLevels { name: "city".into(), n_levels: 256, more: true });
    assert!(error.to_string().contains("more than 256 different values"));

    let each = many.slice(0, 5);
    let error = learn(Missing::Error, Unseen::Error, &each).unwrap_err();
    assert_eq!(error, Error::TooManyLevels { name: "city".into(), n_levels: 5, more: false });
    assert!(error.to_string().contains("a different value in each of its 5 rows"));
}

fn label_design(target: ReadAs, cells: ArrayRef) -> Result<(Design, RecordBatch), Error> {
    let roles = Roles {
        features: vec![wanted("age", ReadAs::Number)],
        target: Some(wanted("y", target)),
        target_as: TargetAs::Labels,
        weight: None,
        carried: vec![],
        dates: None,
    };
    let age: ArrayRef = Arc::new(Float64Array::from(vec![1.0; cells.len()]));
    let batch = RecordBatch::try_from_iter_with_nullable([("age", age, true), ("y", cells, true)]).unwrap();
    let mut survey = Survey::new(roles, Missing::Error, Unseen::Error);
    survey.look_at(&batch)?;
    Ok((survey.into_design()?, batch))
}

#[test]
fn labels_become_classes_and_the_later_one_is_positive() {
    let text: ArrayRef = Arc::new(StringArray::from(vec!["yes", "no", "no", "yes"]));
    let (design, batch) = label_design(ReadAs::Text, text).unwrap();
    assert_eq!(design.encode(&batch).unwrap().y, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(design.labels().and_then(Labels::positive).as_deref(), Some("yes"));
    let flipped = design.clone().with_positive("no").unwrap();
    assert_eq!(flipped.encode(&batch).unwrap().y, [0.0, 1.0, 1.0, 0.0]);
    let error = design.with_positive("yess").unwrap_err();
    let Error::UnknownLabel { row: None, unknown } = error else { panic!("{error}") };
    assert_eq!((unknown.label.as_str(), unknown.labels), ("yess", vec!["no".to_string(), "yes".into()]));

    let signs: ArrayRef = Arc::new(Float64Array::from(vec![1.0, -1.0, -1.0]));
    let (design, batch) = label_design(ReadAs::Number, signs).unwrap();
    assert_eq!(design.encode(&batch).unwrap().y, [1.0, 0.0, 0.0]);
    assert_eq!(design.clone().with_positive("-1.0").unwrap().encode(&batch).unwrap().y, [0.0, 1.0, 1.0]);
    assert_eq!(Design::from_parts(design.parts().clone()), Ok(design));

    let booleans: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.0]));
    let (design, _) = label_design(ReadAs::Boolean, booleans).unwrap();
    assert_eq!(design.labels().unwrap().words(), ["false", "true"]);
}

#[test]
fn targets_that_are_not_labels_are_refused() {
    let numbers = |cells: Vec<f64>| label_design(ReadAs::Number, Arc::new(Float64Array::from(cells)));
    let one = numbers(vec![3.0; 4]).unwrap_err();
    assert_eq!(one, Error::OneLabel { name: "y".into(), label: "3".into() });
    let each = numbers((0..9).map(f64::from).collect()).unwrap_err();
    assert!(matches!(each, Error::TooManyLabels { n_labels: 9, more: false, .. }));
    let many = numbers((0..900).map(f64::from).collect()).unwrap_err();
    assert!(matches!(many, Error::TooManyLabels { more: true, .. }));
    let large = numbers(vec![9_007_199_254_740_992.0, 1.0, 1.0]).unwrap_err();
    assert!(matches!(large, Error::LargeLabel { row: 0, .. }), "{large}");
    let (design, batch) = numbers(vec![0.0, 1.0, 2.0, 2.0]).unwrap();
    assert!(matches!(design.clone().with_positive("1"), Err(Error::PositiveOfMany { .. })));
    let known = numbers(vec![0.0, 1.0]).unwrap().0;
    let error = known.encode(&batch).unwrap_err();
    assert_eq!((error.row(), error.to_string().contains("`2`")), (Some(2), true), "{error}");
}

#[test]
fn levels_of_designs_from_before_the_spelling_are_found() {
    let parts = |levels: &[&str]| DesignParts {
        features: vec![wanted("size", ReadAs::Text)],
        encodings: vec![Encoding::OneHot {
            levels: levels.iter().map(|&level| level.into()).collect(),
            fill: None,
        }],
        pooled: BTreeMap::new(),
        rare_levels: None,
        target: Some(wanted("y", ReadAs::Number)),
        labels: None,
        projection: None,
        all_levels: false,
        weight: None,
        missing: Missing::Error,
        unseen: Unseen::Error,
    };
    let old = Design::from_parts(parts(&["1.0", "2.0", "True", "x"])).unwrap();
    let cells: ArrayRef = Arc::new(StringArray::from(vec!["2", "1", "true", "x"]));
    let y: ArrayRef = Arc::new(Float64Array::from(vec![0.0; 4]));
    let rows = RecordBatch::try_from_iter([("size", cells), ("y", y)]).unwrap();
    let x = old.encode(&rows).unwrap().x;
    let ones: Vec<_> = (0..4).map(|i| (0..3).find(|&j| x[(i, j)] == 1.0)).collect();
    assert_eq!(ones, [Some(0), None, Some(1), Some(2)]);

    // The same level in two spellings is one, and keeps its older name.
    let more = vec![vec!["1".into(), "3".into(), "true".into()]];
    let (wider, from) = old.with_levels(&more).unwrap().unwrap();
    let names: Vec<_> = (0..wider.n_columns()).map(|j| wider.column_name(j)).collect();
    assert_eq!(names, ["size=2.0", "size=3", "size=True", "size=x"]);
    use crate::Derived::{Column, Zero};
    assert_eq!(from, [Column(0), Zero, Column(1), Column(2)]);
    assert_eq!(old.with_levels(&[vec!["2".into()]]).unwrap(), None);
    let new = Design::from_parts(parts(&["1", "2"])).unwrap();
    let merged = old.merged(1.0, &new, 1.0).unwrap();
    assert_eq!(merged.from_second, [Column(0), Zero, Zero]);
}

#[test]
fn a_column_without_any_cell_has_no_mean() {
    let empty = batch(&[None, None, None], &[Some("a"), Some("a"), Some("b")], &[Some(1.0); 3]);
    let error = learn(Missing::Mean, Unseen::Error, &empty).unwrap_err();
    assert_eq!(error, Error::AllMissing { name: "age".into() });
}

#[test]
fn a_single_level_has_no_column_but_is_remembered() {
    let same = batch(&[Some(1.0), Some(2.0)], &[Some("Rome"), Some("Rome")], &[Some(1.0), Some(2.0)]);
    let design = learn(Missing::Error, Unseen::Error, &same).unwrap();
    assert_eq!(design.n_columns(), 1);
    assert_eq!(design.constant_features().collect::<Vec<_>>(), ["city"]);
}
