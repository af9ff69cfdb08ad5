//! Densities, nearest neighbours and baselines on rows in memory, and the files of
//! those that can be saved.

use dshap::{Note, Place, Rows, Values};
use dshap_catalogue::options::{K, M, REFERENCE, SAMPLES, SEED};
use dshap_catalogue::{Given, Misuse, Task, Value};
use dshap_io::Container;
use dshap_models::{
    Ask, Error, Extras, FORMAT_VERSION, Facts, FittedValuer, HeldReference, HeldRows, How, Model, RowValuer,
    Unwatched, WantsRows, Warning, learn, methods,
};
use dshap_table::{Design, DesignParts, Encoding, Labels, Missing, ReadAs, Unseen, Wanted};
use dshap_testkit::{Draws, assert_same_bits};
use std::path::PathBuf;

/// A design of columns that are numbers.
fn design(n_features: usize, task: Task) -> Design {
    let number = |name: String| Wanted { name, read_as: ReadAs::Number };
    Design::from_parts(DesignParts {
        features: (0..n_features).map(|j| number(format!("x{j}"))).collect(),
        encodings: vec![Encoding::Number { fill: None }; n_features],
        target: (task != Task::Density).then(|| number("y".into())),
        labels: (task == Task::Classification).then(|| Labels::Numbers(vec![0.0, 1.0])),
        projection: None,
        weight: None,
        all_levels: false,
        missing: Missing::Error,
        unseen: Unseen::Error,
        pooled: Default::default(),
        rare_levels: None,
    })
    .expect("a design of numbers")
}

/// Rows whose target follows the first column.
fn rows(seed: u64, n: usize, n_features: usize, task: Task) -> HeldRows {
    let mut draws = Draws::new(seed);
    let cells: Vec<f64> = (0..n * n_features).map(|_| draws.normal()).collect();
    let y = (0..n).map(|i| match task {
        Task::Regression => cells[i] + 0.1 * draws.normal(),
        Task::Classification => f64::from(u8::from(cells[i] > 0.0)),
        Task::Density => 0.0,
    });
    HeldRows::from_parts(&cells, y.collect(), n_features).expect("numbers for every row")
}

fn how(method: &str, given: Given) -> How {
    How { method: methods::find(method).expect("a method"), given }
}

fn fitted(how: &How, task: Task, held: &HeldRows, tests: Option<&HeldRows>) -> FittedValuer {
    let design = design(held.x().ncols(), task);
    let reference = HeldReference { rows: held, design: &design, observer: &Unwatched };
    let tests = tests.map(|rows| HeldReference { rows, design: &design, observer: &Unwatched });
    let tests = tests.as_ref().map(|tests| tests as &dyn dshap_models::Reference);
    let learned = learn(how, task, &reference, tests, None).expect("a fit");
    FittedValuer::new(design.clone(), learned.model, how.clone(), Vec::new()).expect("a valuer")
}

fn ask<'a>(valuer: &'a FittedValuer, in_reference: bool, std_error: bool) -> Ask<'a> {
    let extras = Extras { std_error, by_class: false };
    Ask { extras, in_reference, ..valuer.ask(&valuer.how) }
}

fn values(
    valuer: &mut dyn RowValuer,
    rows: Rows<'_>,
    first_row: u64,
    in_reference: bool,
) -> Result<Values, Error> {
    valuer.values(rows, Place { first_row, in_reference }, &|_, _| true)
}

/// Values of all rows, and of the same rows in parts of `len`.
fn whole_and_parts(
    valuer: &FittedValuer,
    held: &HeldRows,
    in_reference: bool,
    len: usize,
) -> (Values, Vec<f64>) {
    let rows = held.rows().expect("rows");
    let of = || valuer.model.row_valuer(ask(valuer, in_reference, false)).expect("a row valuer");
    let whole = values(of().as_mut(), rows, 0, in_reference).expect("values");
    let mut in_parts = of();
    let parts = (0..rows.len()).step_by(len).flat_map(|start| {
        let part = rows.slice(start, len.min(rows.len() - start));
        values(in_parts.as_mut(), part, start as u64, in_reference).expect("values").value
    });
    let parts = parts.collect();
    (whole, parts)
}

#[test]
fn a_sampled_density_leaves_out_the_rows_it_holds() {
    let held = rows(1, 60, 2, Task::Density);
    let given = Given::new().with(&SAMPLES, Value::Count(20)).with(&SEED, Value::Count(3));
    for method in ["closed", "monte-carlo"] {
        let valuer = fitted(&how(method, given.clone()), Task::Density, &held, None);
        let (whole, parts) = whole_and_parts(&valuer, &held, true, 7);
        assert_same_bits(&parts, &whole.value, method);
        let unseen = whole_and_parts(&valuer, &held, false, 60).0;
        let n_same = whole.value.iter().zip(&unseen.value).filter(|(own, unseen)| own == unseen).count();
        // A row outside the sample is like an unseen one; Algorithm 5 draws other numbers for it.
        match method {
            "closed" => assert_eq!(n_same, 40),
            _ => assert!(n_same < 40, "{n_same}"),
        }
    }
}

#[test]
fn a_density_warns_of_a_sample_that_nobody_asked_for() {
    let held = rows(2, 20_010, 1, Task::Density);
    let bandwidth = Given::new().with(&dshap_catalogue::options::BANDWIDTH, Value::Word("scott".into()));
    let valuer = fitted(&how("closed", bandwidth.clone()), Task::Density, &held, None);
    let sample = Warning::ReferenceSample { n_reference: 20_010, n_used: 20_000, seed: 0 };
    assert!(valuer.warnings().expect("warnings").contains(&sample));
    let asked = how("closed", bandwidth.with(&SAMPLES, Value::Count(20_000)));
    let warnings = fitted(&asked, Task::Density, &held, None).warnings().expect("warnings");
    assert!(!warnings.contains(&sample), "{warnings:?}");
}

#[test]
fn neighbours_are_the_same_in_parts_and_by_streamed_tests() {
    for task in [Task::Regression, Task::Classification] {
        let (held, tests, points) = (rows(3, 80, 3, task), rows(4, 30, 3, task), rows(5, 25, 3, task));
        let how = how("knn", Given::new().with(&K, Value::Count(3)));
        let own = fitted(&how, task, &held, None);
        let (whole, parts) = whole_and_parts(&own, &held, true, 11);
        assert_same_bits(&parts, &whole.value, "rows of the reference");
        let (whole, parts) = whole_and_parts(&own, &points, false, 4);
        assert_same_bits(&parts, &whole.value, "points");

        let later = fitted(&how, task, &held, Some(&tests));
        let design = later.design.clone();
        let table = HeldReference { rows: &tests, design: &design, observer: &Unwatched };
        let asked = Ask { tests: Some(&table), ..ask(&later, false, true) };
        let mut streaming = later.model.row_valuer(asked).expect("a row valuer");
        let streamed = values(streaming.as_mut(), points.rows().expect("rows"), 0, false).expect("values");
        assert_eq!(streaming.outcome().tests.map(|tests| tests.n_usable), Some(30));
        let kept = later.clone().with_tests(&table).expect("test rows");
        let (of_kept, _) = whole_and_parts(&kept, &points, false, 25);
        assert_same_bits(&of_kept.value, &streamed.value, "test rows that are kept");
        assert!(streamed.std_error.is_some());

        let mut without = later.model.row_valuer(ask(&later, false, false)).expect("a row valuer");
        let missing = values(without.as_mut(), points.rows().expect("rows"), 0, false);
        assert!(matches!(missing, Err(Error::Incomplete { method: "knn", .. })));
    }
}

#[test]
fn neighbours_of_few_rows_are_refused_with_a_remedy() {
    let held = rows(6, 6, 2, Task::Regression);
    let valuer = fitted(&how("knn", Given::new()), Task::Regression, &held, None);
    // Five neighbours among six rows, less the test row and the row that is valued.
    match valuer.model.row_valuer(ask(&valuer, true, false)).map(|_| ()) {
        Err(Error::NeighbourSizes(fault)) => {
            assert_eq!((fault.n_rows, fault.remedies.k, fault.remedies.rows), (4, Some(4), Some(7)));
        }
        other => panic!("{other:?}"),
    }
    assert!(valuer.model.row_valuer(ask(&valuer, false, false)).is_ok());
}

#[test]
fn finite_datasets_value_their_own_rows_only() {
    let task = Task::Classification;
    let (held, points) = (rows(7, 40, 2, task), rows(8, 5, 2, task));
    for method in ["knn-shapley", "tmc-shapley", "exact-shapley", "loo", "random"] {
        let how = how(method, Given::new().with(&SAMPLES, Value::Count(2)));
        let valuer = fitted(&how, task, &held, None);
        let mut unseen = valuer.model.row_valuer(ask(&valuer, false, false)).expect("a row valuer");
        let refused = values(unseen.as_mut(), points.rows().expect("rows"), 0, false);
        let is_refused = |misuse: &Misuse| matches!(misuse, Misuse::NotTaken { option: "reference", .. });
        assert!(
            matches!(&refused, Err(Error::Misuse(misuse)) if is_refused(misuse)),
            "{method}: {refused:?}"
        );
        let mut own = valuer.model.row_valuer(ask(&valuer, true, false)).expect("a row valuer");
        let fewer = points.rows().expect("rows");
        let changed = values(own.as_mut(), fewer, 38, true);
        assert!(matches!(changed, Err(Error::Changed { before: 40, after: 43 })), "{method}");
    }
}

#[test]
fn baselines_keep_one_row_in_five_back() {
    for (task, method) in
        [(Task::Regression, "d-shapley"), (Task::Density, "loo"), (Task::Classification, "loo")]
    {
        let held = rows(9, 50, 2, task);
        let given = Given::new().with(&SAMPLES, Value::Count(20)).with(&SEED, Value::Count(5));
        let valuer = fitted(&how(method, given), task, &held, None);
        let mut row_valuer = valuer.model.row_valuer(ask(&valuer, true, method == "d-shapley")).expect("it");
        assert!(row_valuer.warnings().contains(&Warning::RowsMeasure { n_rows: 10 }), "{method}");
        assert!(matches!(row_valuer.wants(), WantsRows::All { .. }));
        let valued = values(row_valuer.as_mut(), held.rows().expect("rows"), 0, true).expect("values");
        assert_eq!(valued.notes.iter().filter(|(_, note)| *note == Note::TestRow).count(), 10, "{method}");
        assert_eq!(valued.value.iter().filter(|value| value.is_nan()).count(), 10, "{method}");
        let iterations = row_valuer.outcome().iterations.map(|drawn| drawn.n_iterations);
        assert_eq!(
            (iterations, valued.std_error.is_some()),
            match method {
                "d-shapley" => (Some(20), true),
                _ => (None, false),
            }
        );
        drop(row_valuer);

        let facts = valuer.facts().expect("facts");
        let baseline = facts.baseline.clone().expect("a baseline");
        assert_eq!((facts.n_reference, baseline.n_test, baseline.test_from), (40, 10, "points"));
        let mut of_reference = baseline;
        of_reference.set_own_reference(false);
        assert_eq!(of_reference.test_from, "reference");

        let same = HeldReference { rows: &held, design: &valuer.design, observer: &Unwatched };
        assert!(valuer.model.is_of(&same).expect("rows"), "{method}");
        let other = rows(10, 50, 2, task);
        let other = HeldReference { rows: &other, design: &valuer.design, observer: &Unwatched };
        assert!(!valuer.model.is_of(&other).expect("rows"), "{method}");
    }
}

#[test]
fn d_shapley_values_unseen_rows_and_chance_looks_at_none() {
    let task = Task::Regression;
    let (held, tests, points) = (rows(11, 40, 2, task), rows(12, 30, 2, task), rows(13, 6, 2, task));
    let given = Given::new().with(&SAMPLES, Value::Count(10)).with(&M, Value::Count(41));
    let given = given.with(&REFERENCE, Value::List(vec!["old.csv".into()]));
    let valuer = fitted(&how("d-shapley", given), task, &held, Some(&tests));
    let (valued, _) = whole_and_parts(&valuer, &points, false, 6);
    assert!(
        valued.len() == 6 && valued.notes.is_empty() && valued.value.iter().all(|value| value.is_finite())
    );
    let facts = valuer.facts().expect("facts").baseline.expect("a baseline");
    assert_eq!((facts.own_reference, facts.n_test, facts.test_from), (false, 30, "test"));

    let chance = fitted(&how("random", Given::new().with(&SEED, Value::Count(9))), task, &held, Some(&tests));
    let (valued, _) = whole_and_parts(&chance, &held, true, 40);
    assert_same_bits(&valued.value, &dshap_baselines::random(40, 9).value, "numbers by the seed");
    let facts = chance.facts().expect("facts").baseline.expect("a baseline");
    assert_eq!((facts.utility, facts.n_test, facts.test_from), ("none", 0, "none"));
}

/// A valuer through its file.
fn through_a_file(valuer: &FittedValuer) -> FittedValuer {
    let bytes = valuer.to_container().to_bytes().expect("bytes");
    FittedValuer::from_bytes(&bytes, "it").expect("its own file")
}

#[test]
fn files_give_back_options_and_values() {
    let word = |word: &str| Value::Word(word.into());
    let density = Given::new()
        .with(&dshap_catalogue::options::KERNEL, word("triangular"))
        .with(&dshap_catalogue::options::BANDWIDTH, Value::Number(0.75))
        .with(&dshap_catalogue::options::SCALE, word("none"))
        .with(&dshap_catalogue::options::EVERY_ROW, Value::On)
        .with(&SAMPLES, Value::Count(30))
        .with(&SEED, Value::Count(7));
    let near = Given::new()
        .with(&dshap_catalogue::options::METRIC, word("manhattan"))
        .with(&SAMPLES, Value::Count(30))
        .with(&SEED, Value::Count(7))
        .with(&K, Value::Count(2))
        .with(&M, Value::Count(20));
    let cases = [
        ("closed", Task::Density, density.clone()),
        ("monte-carlo", Task::Density, density),
        ("closed", Task::Density, Given::new()),
        ("monte-carlo", Task::Density, Given::new()),
        ("knn", Task::Regression, near.clone()),
        ("knn", Task::Classification, near),
        ("knn", Task::Classification, Given::new()),
    ];
    for (method, task, given) in cases {
        let (held, points) = (rows(14, 50, 2, task), rows(15, 9, 2, task));
        let valuer = fitted(&how(method, given.clone()), task, &held, None);
        let again = through_a_file(&valuer);
        assert_eq!(again.how.given, given, "{method}");
        assert_eq!(valuer.facts().expect("facts"), again.facts().expect("facts"), "{method}");
        for (rows, in_reference) in [(&held, true), (&points, false)] {
            let before = whole_and_parts(&valuer, rows, in_reference, 50).0;
            let after = whole_and_parts(&again, rows, in_reference, 50).0;
            assert_same_bits(&after.value, &before.value, method);
        }
    }
}

/// Files that earlier versions wrote are read and written as they are.
#[test]
fn old_files_are_written_as_they_were() {
    for name in ["version-3.dshap", "version-4-neighbours.dshap"] {
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers")).join(name);
        let old = Container::read(&path, "valuer", FORMAT_VERSION).expect("a valuer file");
        let new = FittedValuer::load(&path).expect("a valuer").to_container();
        let json = |container: &Container| {
            serde_json::from_str::<serde_json::Value>(&container.document).expect("a document in JSON")
        };
        assert_eq!(json(&old), json(&new), "{name}");
        assert_eq!((old.version, &old.arrays), (new.version, &new.arrays), "{name}");
    }
}

#[test]
fn facts_of_densities_and_neighbours_have_a_seed_only_where_something_is_drawn() {
    let facts = |method: &str, task: Task| -> Facts {
        let held = rows(16, 30, 2, task);
        fitted(&how(method, Given::new()), task, &held, None).facts().expect("facts")
    };
    assert_eq!(facts("closed", Task::Density).seed, None);
    assert_eq!(facts("monte-carlo", Task::Density).seed, Some(0));
    assert_eq!(facts("knn", Task::Regression).seed, None);
    assert_eq!(facts("loo", Task::Regression).seed, Some(0));
    let near = facts("knn", Task::Regression).neighbours.expect("neighbours");
    assert_eq!((near.k, near.test_rows, near.test_from_reference), (5, Some(30), true));
}

#[test]
fn a_model_knows_the_rows_it_was_fitted_to() {
    let cases = [("closed", Task::Density), ("knn", Task::Regression), ("knn-shapley", Task::Regression)];
    for (method, task) in cases {
        let (held, other) = (rows(17, 30, 2, task), rows(18, 30, 2, task));
        let valuer = fitted(&how(method, Given::new()), task, &held, None);
        let is_of = |rows: &HeldRows| {
            let table = HeldReference { rows, design: &valuer.design, observer: &Unwatched };
            valuer.model.is_of(&table).expect("rows")
        };
        let model: &dyn Model = valuer.model.as_ref();
        assert!(is_of(&held) && !is_of(&other) && model.n_rows() == 30, "{method}");
    }
}
