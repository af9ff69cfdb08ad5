use super::*;
use crate::test_speech::{Angled, assert_is_house_style};

fn names() -> Names {
    Names {
        columns: ["age", "height", "weight"].map(String::from).into(),
        target: Some("grade".into()),
        labels: ["fail", "pass", "honours"].map(String::from).into(),
    }
}

/// The names of a regression, and of a table without a target.
fn fewer_names() -> [Names; 2] {
    let regression = Names { labels: Vec::new(), ..names() };
    [regression.clone(), Names { target: None, ..regression }]
}

fn errors() -> Vec<Error> {
    let separated = |complete| Error::Separated {
        complete,
        column: 1,
        coef: vec![0.0, 1.0, 0.0],
        intercept: 0.5,
        n_apart: 1,
        n_between: 48841,
    };
    vec![
        Error::FeatureCount { found: 1, expected: 3 },
        Error::RowCount { features: 5, targets: 4 },
        Error::NotFinite { row: 3, column: 3 },
        Error::BadWeight { row: 3 },
        Error::TooFewEffectiveRows { effective: 3.25, dim: 3, needed: 6 },
        Error::TooManyComponents { wanted: 4, n_features: 3, n_rows: 9 },
        Error::TooManyComponents { wanted: 2, n_features: 3, n_rows: 2 },
        Error::TooManyComponents { wanted: 2, n_features: 3, n_rows: 1 },
        Error::NotAmong { column: Some(2) },
        Error::NotAmong { column: None },
        Error::Contradiction { what: "the columns of the fit contradict each other" },
        Error::TooLarge,
        Error::TooSmall { column: 1 },
        Error::NoRows,
        Error::NoFeatures { n_features: 3 },
        Error::TooFewRows { n_rows: 1, dim: 3, needed: 6 },
        Error::ConstantTarget { value: 1.5 },
        Error::NoNoise,
        Error::Dependent { columns: vec![1] },
        Error::Dependent { columns: vec![1, 2] },
        Error::DependentByWeight { columns: vec![1] },
        Error::DependentByWeight { columns: vec![0, 2] },
        Error::NotBinary { row: 2 },
        Error::NotAClass { row: 2, n_classes: 3 },
        Error::OneClass { label: 1 },
        Error::EmptyClass { class: 2 },
        separated(true),
        separated(false),
        Error::ClassesSeparated { column: 1 },
        Error::InClass { class: 2, error: Box::new(separated(false)) },
        Error::NotConverged { n_passes: 100 },
        Error::TooLargeSize { max: usize::MAX },
        Error::SilentBound { first: 90, max: 40 },
        Error::Sizes { min: 3, max: 9, least: 6, dim: 3 },
        Error::Sizes { min: 3, max: 5, least: 6, dim: 3 },
        Error::ShiftedSizes { min: 3, max: 9, least: 6, shift: 4.0 },
        Error::ShiftedSizes { min: 3, max: 5, least: 6, shift: 4.0 },
        Error::OtherSizes { min: 10, max: 40 },
        Error::SetsTooLarge { max: 50, most: 41 },
        Error::SingularSets { size: 12 },
        Error::NeighbourSizes { k: 5, min: 6, max: 5 },
        Error::NeighbourSizes { k: 1, min: 2, max: 1 },
        Error::NeighbourSizes { k: 1, min: 9, max: 5 },
        Error::FewNeighbours { n_rows: 4, needed: 5 },
        Error::NoTestRows,
        Error::NotAReferenceRow { row: 7, n_rows: 5 },
        Error::InTest { error: Box::new(Error::NotFinite { row: 0, column: 0 }) },
        Error::Weighted,
        Error::BadBandwidth { bandwidth: -1.0 },
        Error::NoDensity { bandwidth: 1e-9, enough: 0.25 },
        Error::FewRows { n_rows: 1, needed: 2 },
        Error::FewRows { n_rows: 3, needed: 5 },
        Error::NobodyLeft { n_rows: 5 },
        Error::RowRange { first: 3, len: 4, n_rows: 5 },
        Error::PartOfReference { found: 4, n_rows: 5 },
        Error::BadOption { what: "the tolerance must not be negative" },
        Error::Interrupted,
    ]
}

fn warnings() -> Vec<Warning> {
    let few = |smaller_k, smaller_min, larger_max, more_rows| Warning::FewNeighbourSizes {
        n_sizes: 1,
        smaller_k,
        smaller_min,
        larger_max,
        more_rows,
    };
    vec![
        Warning::FewSizes { n_sizes: 5 },
        few(true, false, false, true),
        few(false, true, true, false),
        few(false, false, false, false),
        Warning::DroppedColumns { columns: vec![1] },
        Warning::DroppedColumns { columns: vec![0, 1] },
        Warning::IllConditioned { column: 1, digits: 1 },
        Warning::LittleNoise { digits: 3 },
        Warning::WeightBelow { share: 0.75 },
        Warning::LeverageOne { n_rows: 1 },
        Warning::LeverageOne { n_rows: 2 },
        Warning::TooFar { n_rows: 2, min: 20 },
        Warning::SilentBound { first: 45 },
        Warning::BoundWithRidge,
        Warning::NotGaussian { share: 0.25, ranks: 0.9 },
        Warning::SmallReference { dim: 3, n_rows: 100 },
        Warning::ConstantColumns { columns: vec![1] },
        Warning::ConstantColumns { columns: vec![0, 1] },
        Warning::BandwidthAtEdge { bandwidth: 0.01 },
        Warning::BandwidthAtEdge { bandwidth: 10.0 },
        Warning::SizesLeftOut { n_sizes: 1, n_rows: 18 },
        Warning::Shifted { min: 20, shift: 15.0, first: 5.0 },
        Warning::Shifted { min: 20, shift: -60.0, first: 80.0 },
        Warning::RidgeNotSmall { ridge: 0.5, share: 0.2 },
        Warning::LostDraws { n_lost: 3, n_drawn: 100, has_errors: true },
        Warning::LostDraws { n_lost: 30, n_drawn: 100, has_errors: false },
        Warning::NotABound,
        Warning::Truncated { n_visited: 7, n_sizes: 80, share: 0.3, range: (0.2, 0.4) },
        Warning::InClass { class: 1, warning: Box::new(Warning::IllConditioned { column: 1, digits: 2 }) },
    ]
}

/// The variants of an enum in core's source, since a list of examples cannot be
/// checked by the compiler.
fn variants(of: &str) -> Vec<&'static str> {
    let source = include_str!("../../../core/src/error.rs");
    let body = source.split(&format!("pub enum {of} {{")).nth(1).unwrap_or_default();
    let body = body.split("\n}").next().unwrap_or_default();
    let is_variant = |line: &&str| {
        line.strip_prefix("    ")
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
    };
    let name = |line: &'static str| line.trim().split([' ', ',']).next().unwrap_or_default();
    body.lines().filter(is_variant).map(name).collect()
}

#[test]
fn every_error_and_warning_has_an_example() {
    let has = |examples: &[String], variant: &str| {
        examples.iter().any(|example| example.split([' ', '{']).next() == Some(variant))
    };
    let examples: Vec<String> = errors().iter().map(|error| format!("{error:?}")).collect();
    let known = variants("Error");
    assert!(known.len() > 40, "{known:?}");
    known.iter().for_each(|variant| assert!(has(&examples, variant), "no example of error {variant}"));

    let examples: Vec<String> = warnings().iter().map(|warning| format!("{warning:?}")).collect();
    let known = variants("Warning");
    assert!(known.len() > 15, "{known:?}");
    known.iter().for_each(|variant| assert!(has(&examples, variant), "no example of warning {variant}"));
}

#[test]
fn sentences_have_one_style_whatever_is_known() {
    for names in fewer_names().into_iter().chain([names(), Names::default()]) {
        for error in errors() {
            assert_is_house_style(&core_error(&error, &names, &Angled));
            if let Some(hint) = core_hint(&error, &names, &Angled) {
                assert_is_house_style(&hint);
            }
        }
        for warning in warnings() {
            assert_is_house_style(&core_warning(&warning, &names, &Angled));
        }
    }
}

#[test]
fn columns_and_labels_are_called_by_name() {
    let say = |error: Error| core_error(&error, &names(), &Angled);
    assert_eq!(say(Error::NotFinite { row: 0, column: 0 }), "column `age` holds a value that is not finite");
    assert_eq!(
        say(Error::NotFinite { row: 0, column: 3 }),
        "column `grade` holds a value that is not finite"
    );
    assert_eq!(say(Error::EmptyClass { class: 2 }), "no reference row has the label `honours`");
    let separated = Error::Separated {
        complete: false,
        column: 1,
        coef: Vec::new(),
        intercept: 0.0,
        n_apart: 1,
        n_between: 48841,
    };
    let inner = Error::InClass { class: 0, error: Box::new(separated) };
    assert_eq!(
        say(inner.clone()),
        "label `fail` against the others: 1 row is perfectly separated by the features, so the coefficients do not \
         converge; column `height` contributes most"
    );
    assert_eq!(
        core_hint(&inner, &names(), &Angled).as_deref(),
        Some(
            "<ridge is auto> keeps the coefficients finite; if a feature repeats the target, <leave \
             out height>"
        )
    );
    let dropped = Warning::DroppedColumns { columns: vec![0, 2] };
    assert_eq!(
        core_warning(&dropped, &names(), &Angled),
        "2 columns were dropped, which are constant or linear functions of columns before them: `age`, `weight`"
    );
}

/// Examples that name a column or a label of the examples do so by its name.
#[test]
fn no_number_stands_for_a_name() {
    let columns = ["`age`", "`height`", "`weight`", "`grade`"];
    for error in [
        Error::NotFinite { row: 0, column: 1 },
        Error::NotAmong { column: Some(2) },
        Error::Dependent { columns: vec![1] },
        Error::DependentByWeight { columns: vec![1] },
        Error::ClassesSeparated { column: 0 },
        Error::ConstantTarget { value: 0.0 },
        Error::NoNoise,
    ] {
        let text = core_error(&error, &names(), &Angled);
        assert!(columns.iter().any(|column| text.contains(column)), "{text}");
    }
    for warning in [
        Warning::DroppedColumns { columns: vec![1] },
        Warning::IllConditioned { column: 1, digits: 2 },
        Warning::ConstantColumns { columns: vec![0, 2] },
    ] {
        let text = core_warning(&warning, &names(), &Angled);
        assert!(columns.iter().any(|column| text.contains(column)), "{text}");
    }
}

/// A ridge belongs to the fit of labels, so that neither sets nor bounds have one there.
#[test]
fn only_what_is_possible_is_suggested() {
    let [regression, _] = fewer_names();
    for error in [Error::SingularSets { size: 9 }, Error::SilentBound { first: 90, max: 40 }] {
        let hint = |names: &Names| core_hint(&error, names, &Angled).unwrap_or_default();
        assert!(hint(&regression).contains("<ridge>"), "{}", hint(&regression));
        assert!(!hint(&names()).contains("<ridge>"), "{}", hint(&names()));
    }
    let hint = |error: &Error| core_hint(error, &names(), &Angled).unwrap_or_default();
    assert!(!hint(&Error::NeighbourSizes { k: 1, min: 2, max: 1 }).contains("<k>"));
    assert!(!hint(&Error::DependentByWeight { columns: vec![1] }).contains("<dependent"));
    assert_eq!(hint(&Error::Interrupted), "");
}

#[test]
fn warnings_name_columns_and_count() {
    let said = |warning| core_warning(&warning, &Names::default(), &Angled);
    assert_eq!(
        said(Warning::ConstantColumns { columns: vec![2, 3] }),
        "`2`, `3` are the same in every reference row and were left out"
    );
    assert_eq!(
        said(Warning::SizesLeftOut { n_sizes: 1, n_rows: 18 }),
        "1 set size was left out of the average: sets are drawn without replacement from 18 rows"
    );
    assert!(said(Warning::SmallReference { dim: 3, n_rows: 100 }).contains("by about 9 % or more"));
}

#[test]
fn neighbours_are_told_what_helps() {
    let say = |smaller_k, smaller_min, larger_max, more_rows| {
        let few = Warning::FewNeighbourSizes { n_sizes: 5, smaller_k, smaller_min, larger_max, more_rows };
        core_warning(&few, &names(), &Angled)
    };
    assert_eq!(
        say(true, false, true, false),
        "values average over only 5 set sizes; give a larger <m> or a smaller <k>"
    );
    assert_eq!(
        say(false, false, false, false),
        "values average over only 5 set sizes; give more rows with a larger <m>"
    );
}
