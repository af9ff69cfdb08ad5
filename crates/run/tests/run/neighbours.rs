//! Nearest neighbours from files: the core's bits, whatever the blocks.

use crate::common::{Asked, Folder, column};
use arrow_array::RecordBatch;
use dshap::neighbours::{
    Metric, NeighbourOptions, NeighbourTask, NeighbourValuer, Scale, TestRows, sample_rows,
};
use dshap::{Rows, Sizes, Values};
use dshap_catalogue::options::{
    K, LISTS, M, METRIC, MISSING, Q, SAMPLES, SCALE, SEED, STDERR, TASK, TEST, TOLERANCE,
};
use dshap_catalogue::{Misuse, Task, Value};
use dshap_models::neighbours::DEFAULT_TESTS;
use dshap_models::{Fixed, Lack, RowRole};
use dshap_run::{Arrange, Collected, Error, FittedValuer, Resources, Unwatched, ValueRequest, Warning};
use dshap_testkit::{Draws, assert_same_bits};
use faer::Mat;
use std::fmt::Write;

const GO_ON: &(dyn Fn(usize, usize) -> bool + Sync) = &|_, _| true;

/// Two features of different size, and a target that leans on both.
struct Table {
    x: Mat<f64>,
    y: Vec<f64>,
    labels: bool,
}

const LABELS: [&str; 3] = ["ash", "elm", "oak"];

impl Table {
    fn new(seed: u64, n: usize, labels: bool) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, 2, |_, j| draws.normal() * (1.0 + 30.0 * j as f64));
        let y = (0..n).map(|i| {
            let noisy = x[(i, 0)] + x[(i, 1)] / 30.0 + 0.7 * draws.normal();
            if labels { (noisy + 1.5).clamp(0.0, 2.9).floor() } else { noisy }
        });
        Self { y: y.collect(), x, labels }
    }

    fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).unwrap()
    }

    fn csv(&self) -> String {
        let mut csv = String::from("a,b,y\n");
        for (i, &y) in self.y.iter().enumerate() {
            let y = if self.labels { LABELS[y as usize].into() } else { y.to_string() };
            let _ = writeln!(csv, "{},{},{y}", self.x[(i, 0)], self.x[(i, 1)]);
        }
        csv
    }

    fn options(&self, k: usize) -> NeighbourOptions {
        let task = match self.labels {
            true => NeighbourTask::Classification { n_classes: 3 },
            false => NeighbourTask::Regression,
        };
        NeighbourOptions { k, ..NeighbourOptions::new(task) }
    }
}

fn knn(k: usize) -> Asked {
    Asked::new("y").by("knn").set(&K, k)
}

/// With test rows of their own.
fn with_test(mut asked: Asked, folder: &Folder, table: &str) -> Asked {
    asked.given = asked.given.with(&TEST, Value::List(vec![folder.name(table)]));
    asked
}

/// Points to be valued with little memory, without standard errors.
fn limited(folder: &Folder, table: &str, asked: Asked, memory: Option<u64>) -> ValueRequest {
    ValueRequest {
        method: asked.method,
        resources: Resources { memory, checkpoint: None },
        ..ValueRequest::new(vec![folder.name(table)], asked.given)
    }
}

#[track_caller]
fn assert_is(rows: &RecordBatch, values: &Values) {
    assert_same_bits(&column(rows, "value"), &values.value, "value");
    assert_same_bits(&column(rows, "stderr"), values.std_error.as_ref().unwrap(), "stderr");
}

#[test]
fn values_are_those_of_the_core() {
    for labels in [false, true] {
        let folder = Folder::new();
        let tables = [Table::new(1, 90, labels), Table::new(2, 40, labels), Table::new(3, 23, labels)];
        let [reference, points, test] = &tables;
        for (name, table) in ["reference.csv", "points.csv", "test.csv"].into_iter().zip(&tables) {
            folder.write(name, &table.csv());
        }
        let cases = [
            (knn(4), Metric::default(), Scale::default()),
            (knn(4).set(&METRIC, "manhattan").set(&SCALE, "none"), Metric::Manhattan, Scale::AsGiven),
            (with_test(knn(4).set(&METRIC, "cosine"), &folder, "test.csv"), Metric::Cosine, Scale::default()),
        ];
        let every_row: Vec<usize> = (0..90).collect();
        for (asked, metric, scale) in cases {
            let (tests, n_tests) = match asked.given.has(&TEST) {
                false => (TestRows::Reference(&every_row), 90),
                true => (TestRows::Given(test.rows()), 23),
            };
            let options = NeighbourOptions { metric, scale, ..reference.options(4) };
            let core = NeighbourValuer::new(reference.rows(), tests, Sizes::new(5, 90), options);
            let core = core.unwrap().with_std_error(true);

            let against = asked.clone().against(&[folder.name("reference.csv")]);
            let (rows, summary) = folder.value("points.csv", against);
            assert_is(&rows, &core.values_watched(points.rows(), GO_ON).unwrap());
            let facts = &summary.facts;
            assert_eq!((facts.p, facts.q, facts.m, facts.n_reference), (2, 5, 90, 90));
            assert_eq!(facts.task, if labels { "classification" } else { "regression" });
            let found = facts.neighbours.as_ref().unwrap();
            assert_eq!((found.k, found.test_rows, found.test_seed), (4, Some(n_tests), None));
            assert_eq!(found.labels.len(), if labels { 3 } else { 0 });
            assert_eq!(found.label_rows.iter().sum::<usize>(), if labels { 90 } else { 0 });
            assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);

            let (rows, _) = folder.value("reference.csv", asked.clone());
            assert_is(&rows, &core.leave_one_out(GO_ON).unwrap());

            let (rows, summary) = folder.value("reference.csv", asked.by("knn-shapley"));
            assert_is(&rows, &core.finite_shapley(GO_ON).unwrap());
            assert_eq!((summary.facts.method, summary.facts.q, summary.facts.m), ("knn-shapley", 1, 90));
        }
    }
}

#[test]
fn set_sizes_may_be_said_and_those_left_out_are_told() {
    let folder = Folder::new();
    let table = Table::new(4, 60, false);
    folder.write("t.csv", &table.csv());
    let numbers: Vec<usize> = (0..60).collect();
    let core = |sizes| {
        let tests = TestRows::Reference(&numbers);
        let valuer = NeighbourValuer::new(table.rows(), tests, sizes, table.options(3)).unwrap();
        valuer.with_std_error(true).leave_one_out(GO_ON).unwrap()
    };
    let (rows, summary) = folder.value("t.csv", knn(3).set(&Q, 8).set(&M, 30));
    assert_is(&rows, &core(Sizes::new(8, 30)));
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    let (rows, summary) = folder.value("t.csv", knn(3).set(&M, 65));
    assert_is(&rows, &core(Sizes::new(4, 65)));
    // A set holds neither the row nor the test row.
    let left_out = dshap::Warning::SizesLeftOut { n_sizes: 6, n_rows: 58 };
    assert!(
        matches!(&summary.warnings[..], [Warning::Core(found, _)] if *found == left_out),
        "{:?}",
        summary.warnings
    );
    let (_, summary) = folder.value("t.csv", knn(3).set(&M, 9));
    let Warning::Core(dshap::Warning::FewNeighbourSizes { n_sizes, larger_max, .. }, _) = summary.warnings[0]
    else {
        panic!("{:?}", summary.warnings)
    };
    assert_eq!((n_sizes, larger_max), (6, true));
}

#[test]
fn test_rows_are_a_seeded_sample_of_a_large_reference() {
    let folder = Folder::new();
    let table = Table::new(5, 80, true);
    folder.write("t.csv", &table.csv());
    let (rows, summary) = folder.value("t.csv", knn(2).set(&SAMPLES, 25).set(&SEED, 3));
    let numbers = sample_rows(80, 25, 3);
    let valuer = NeighbourValuer::new(
        table.rows(),
        TestRows::Reference(&numbers),
        Sizes::new(3, 80),
        table.options(2),
    );
    assert_is(&rows, &valuer.unwrap().with_std_error(true).leave_one_out(GO_ON).unwrap());
    let found = summary.facts.neighbours.unwrap();
    assert_eq!((found.test_rows, found.test_seed), (Some(25), Some(3)));
    // What was asked for is not doubtful.
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
}

/// A reference of more rows than are test rows by default.
#[test]
fn a_sample_that_nobody_asked_for_is_told() {
    let folder = Folder::new();
    let table = Table::new(6, DEFAULT_TESTS + 1, true);
    folder.write("t.csv", &table.csv());
    folder.write("points.csv", &Table::new(7, 3, true).csv());
    let fitted = folder.try_fit(&["t.csv"], knn(5)).unwrap();
    let sample = Warning::TestSample { n_reference: DEFAULT_TESTS + 1, n_tests: DEFAULT_TESTS, seed: 0 };
    assert_eq!(fitted.summary.warnings, [sample]);
    let found = fitted.summary.facts.neighbours.unwrap();
    assert_eq!((found.test_rows, found.test_seed), (Some(DEFAULT_TESTS), Some(0)));
}

#[test]
fn a_row_left_out_keeps_its_place_among_points_and_has_no_part_elsewhere() {
    let folder = Folder::new();
    let (table, test) = (Table::new(8, 50, false), Table::new(9, 20, false));
    let with_gaps = |table: &Table| table.csv().replacen('\n', "\n,1,2\n", 1) + "2,,1\n";
    folder.write("t.csv", &with_gaps(&table));
    folder.write("test.csv", &with_gaps(&test));
    let asked = with_test(knn(3).set(&MISSING, "drop"), &folder, "test.csv");
    let (rows, summary) = folder.value("t.csv", asked);
    let value = rows.column_by_name("value").unwrap();
    assert!((rows.num_rows(), value.null_count()) == (52, 2));
    let tests = TestRows::Given(test.rows());
    let core = NeighbourValuer::new(table.rows(), tests, Sizes::new(4, 50), table.options(3));
    let expected = core.unwrap().with_std_error(true).leave_one_out(GO_ON).unwrap();
    assert_is(&rows.slice(1, 50), &expected);
    for role in [RowRole::Neighbour, RowRole::Test] {
        let left_out = Warning::RowsLeftOut { role, n_rows: 2, lack: Lack::CellOrTarget };
        assert!(summary.warnings.contains(&left_out), "{role:?}: {:?}", summary.warnings);
    }
}

#[test]
fn every_level_of_a_text_column_has_a_column_and_constant_ones_are_dropped() {
    let folder = Folder::new();
    let (cities, mut csv) = (["a", "b", "c"], String::from("city,constant,size,y\n"));
    let mut x = Mat::zeros(45, 4);
    let mut y = Vec::new();
    for i in 0..45 {
        let (city, size) = (i % 7 % 3, (i * i % 17) as f64);
        (x[(i, city)], x[(i, 3)]) = (1.0, size);
        y.push(size + 10.0 * city as f64 + (i % 5) as f64);
        let _ = writeln!(csv, "{},7,{size},{}", cities[city], y[i]);
    }
    folder.write("t.csv", &csv);
    let (rows, summary) = folder.value("t.csv", knn(2));
    let numbers: Vec<usize> = (0..45).collect();
    let options = NeighbourOptions { k: 2, ..NeighbourOptions::new(NeighbourTask::Regression) };
    let rows_of = Rows::new(x.as_ref(), &y).unwrap();
    let core = NeighbourValuer::new(rows_of, TestRows::Reference(&numbers), Sizes::new(3, 45), options);
    assert_is(&rows, &core.unwrap().with_std_error(true).leave_one_out(GO_ON).unwrap());
    assert_eq!((summary.facts.p, summary.facts.dropped_columns), (4, vec!["constant".to_string()]));
    let [Warning::Core(dshap::Warning::ConstantColumns { columns }, names)] = &summary.warnings[..] else {
        panic!("{:?}", summary.warnings)
    };
    assert_eq!((columns.as_slice(), names.column(3)), ([3].as_slice(), "constant".into()));
}

/// A limit on memory cuts test rows and points into blocks.
#[test]
fn neither_blocks_nor_threads_change_a_bit() {
    for (n_points, n_tests) in [(20, 250_000), (200_000, 4)] {
        let folder = Folder::new();
        let (reference, points, test) =
            (Table::new(10, 60, true), Table::new(11, n_points, true), Table::new(12, n_tests, true));
        folder.write("r.csv", &reference.csv());
        folder.write("p.csv", &points.csv());
        folder.write("t.csv", &test.csv());
        let run = |memory: Option<u64>, threads: usize| {
            let asked = with_test(knn(3), &folder, "t.csv").against(&[folder.name("r.csv")]);
            let request = limited(&folder, "p.csv", asked.on(&STDERR), memory);
            let mut collected = Collected::default();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let summary = pool.install(|| dshap_run::value(&request, &Unwatched, &mut collected)).unwrap();
            assert_eq!(summary.facts.neighbours.unwrap().test_rows, Some(n_tests));
            collected.arranged(Arrange::ByRow).unwrap()
        };
        let valuer = NeighbourValuer::new(
            reference.rows(),
            TestRows::Given(test.rows()),
            Sizes::new(4, 60),
            reference.options(3),
        );
        let core = valuer.unwrap().with_std_error(true).values_watched(points.rows(), GO_ON).unwrap();
        for (memory, threads) in [(None, 2), (Some(80_000_000), 1), (Some(90_000_000), 2)] {
            assert_is(&run(memory, threads), &core);
        }
    }
}

#[test]
fn too_little_memory_for_the_reference_is_told_before_it_is_taken() {
    let folder = Folder::new();
    folder.write("t.csv", &Table::new(13, 200_000, false).csv());
    let request = limited(&folder, "t.csv", knn(3), Some(30_000_000));
    let error = dshap_run::value(&request, &Unwatched, &mut Collected::default()).unwrap_err();
    assert!(matches!(error, Error::TooLittleMemory { .. }), "{error}");
}

#[test]
fn a_saved_valuer_gives_the_bits_of_its_fit() {
    for labels in [false, true] {
        let folder = Folder::new();
        let (reference, points, test) =
            (Table::new(14, 70, labels), Table::new(15, 30, labels), Table::new(16, 20, labels));
        folder.write("r.csv", &reference.csv());
        folder.write("p.csv", &points.csv());
        folder.write("t.csv", &test.csv());
        let asked = knn(4).set(&TASK, task(labels).name());
        let sampled = asked.clone().set(&SAMPLES, 33).set(&SEED, 9);
        let tested = with_test(asked.clone().set(&METRIC, "cosine"), &folder, "t.csv");
        for asked in [asked, sampled, tested] {
            let against = asked.clone().against(&[folder.name("r.csv")]);
            let (direct, _) = folder.value("p.csv", against.clone());
            folder.fit(&["r.csv"], asked, "v.dshap");
            let (again, summary) = folder.value_by("p.csv", "v.dshap", Asked::nothing());
            assert_same_bits(&column(&again, "value"), &column(&direct, "value"), "value");
            assert_same_bits(&column(&again, "stderr"), &column(&direct, "stderr"), "stderr");
            assert_eq!((summary.reference_passes, summary.warnings), (0, vec![]));
            let loaded = folder.load("v.dshap");
            assert_eq!(loaded.task(), task(labels));
            let bytes = loaded.to_container().to_bytes().unwrap();
            assert_eq!(bytes, std::fs::read(folder.path("v.dshap")).unwrap(), "a file survives being read");

            // k, m and q may be said anew.
            let (direct, _) = folder.value("p.csv", against.set(&K, 2).set(&M, 40));
            let (again, _) = folder.value_by("p.csv", "v.dshap", Asked::nothing().set(&K, 2).set(&M, 40));
            assert_same_bits(&column(&again, "value"), &column(&direct, "value"), "value with k = 2");
        }
    }
}

fn task(labels: bool) -> Task {
    if labels { Task::Classification } else { Task::Regression }
}

#[test]
fn a_reference_that_neighbours_are_found_in_cannot_change() {
    let folder = Folder::new();
    folder.write("t.csv", &Table::new(17, 40, false).csv());
    folder.fit(&["t.csv"], knn(3), "v.dshap");
    let is_fixed = |error: Error| {
        assert!(matches!(error, Error::FixedReference { why: Fixed::Neighbours }), "{error}");
    };
    is_fixed(folder.update("v.dshap", &["t.csv"], &[]).map(|_| ()).unwrap_err());
    is_fixed(folder.merge(&["v.dshap", "v.dshap"]).map(|_| ()).unwrap_err());
    let by = |valuer: &str, method: &str| {
        let asked = Asked::nothing().by(method);
        folder.try_value_by("t.csv", valuer, asked).map(|_| ()).unwrap_err()
    };
    let error = by("v.dshap", "gaussian");
    assert!(matches!(error, Error::OtherMethod { fitted: "knn", method: "gaussian", .. }), "{error}");
    // It values the rows of one finite dataset only.
    let error = by("v.dshap", "knn-shapley");
    let Error::Misuse(misuse) = error else { panic!("{error}") };
    assert!(
        matches!(misuse, Misuse::NotTaken { option: "reference", method: "knn-shapley", .. }),
        "{misuse:?}"
    );
    folder.fit(&["t.csv"], Asked::new("y"), "g.dshap");
    let error = by("g.dshap", "knn");
    assert!(matches!(error, Error::OtherMethod { fitted: "gaussian", method: "knn", .. }), "{error}");
}

/// What a damaged file says: with numbers that make no sense it is refused, not used.
#[test]
fn a_valuer_whose_rows_make_no_sense_is_refused() {
    let folder = Folder::new();
    folder.write("t.csv", &Table::new(18, 40, true).csv());
    folder.write("test.csv", &Table::new(19, 10, true).csv());
    folder.fit(&["t.csv"], knn(3), "v.dshap");
    folder.fit(&["t.csv"], with_test(knn(3), &folder, "test.csv"), "w.dshap");
    let damaged = |file: &str, array: &str, change: &dyn Fn(&mut Vec<f64>)| {
        let mut container = folder.load(file).to_container();
        let array = container.arrays.iter_mut().find(|(name, _)| name == array).unwrap();
        change(&mut array.1);
        let bytes = container.to_bytes().unwrap();
        match FittedValuer::from_bytes(&bytes, file).map(|_| ()).unwrap_err() {
            Error::BadContents { file: named, what } if named == file => what,
            error => panic!("{error}"),
        }
    };
    assert!(damaged("v.dshap", "test.rows", &|rows| rows[3] = 40.0).contains("test rows do not add up"));
    assert!(damaged("v.dshap", "test.rows", &|rows| rows[3] = 2.0).contains("given twice"));
    assert!(damaged("v.dshap", "rows.x", &|rows| _ = rows.pop()).contains("rows do not add up"));
    assert!(damaged("v.dshap", "rows.y", &|rows| rows[0] = 3.0).contains("not one of the 3 classes"));
    assert!(damaged("w.dshap", "test.y", &|rows| rows[0] = 0.5).contains("in the test rows"));
}

/// Where both count the same sets, finite values have those of fewer than k rows beside them: the share of test rows
/// with the label, over the number of rows.
#[test]
fn finite_values_are_distributional_ones_and_what_small_sets_bring() {
    let folder = Folder::new();
    let (table, test) = (Table::new(20, 50, true), Table::new(21, 30, true));
    folder.write("t.csv", &table.csv());
    folder.write("test.csv", &test.csv());
    let value =
        |asked: Asked| column(&folder.value("t.csv", with_test(asked, &folder, "test.csv")).0, "value");
    let (finite, distributional) = (value(knn(3).by("knn-shapley")), value(knn(3).set(&M, 50)));
    for (row, (finite, distributional)) in finite.iter().zip(&distributional).enumerate() {
        let share = test.y.iter().filter(|&&label| label == table.y[row]).count() as f64 / 30.0;
        // Sums of fifty terms below 1, each rounded.
        assert!((finite - distributional - share / 50.0).abs() < 1e-14, "row {row}");
    }
}

/// The fourth format: labels, a text column and test rows of their own.
#[test]
fn the_fourth_format_is_read_for_ever() {
    let folder = Folder::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/valuers/version-4-neighbours.dshap");
    std::fs::copy(stored, folder.path("v.dshap")).unwrap();
    folder.write("points.csv", "leaf,soil,kind\n0.5,clay,ash\n2.5,sand,oak\n");
    let (found, said) = folder.value_by("points.csv", "v.dshap", Asked::nothing());
    let neighbours = said.facts.neighbours.unwrap();
    assert_eq!((said.facts.m, neighbours.k, neighbours.test_rows), (24, 3, Some(9)));
    // What the dshap that wrote it said, up to the last digit: it added weights up in another order.
    let is_said = |name: &str, said: [f64; 2]| {
        let found = column(&found, name);
        let same =
            found.iter().zip(said).all(|(found, said)| (found - said).abs() <= 4.0 * f64::EPSILON * said);
        assert!(same && found.len() == 2, "{name}: {found:?}");
    };
    is_said("value", [0.03194709604614575, 0.020046813669964678]);
    is_said("stderr", [0.02569366065002347, 0.02618442418726633]);
}

/// An index is a second copy of the reference: where that has no room, values come
/// without it, and a limit that was enough for the rows is enough.
#[test]
fn an_index_of_neighbours_needs_no_more_memory_than_there_is() {
    let folder = Folder::new();
    folder.write("t.csv", &Table::new(14, 30_000, true).csv());
    let run = |q: Option<usize>, memory: Option<u64>| {
        let asked = knn(3).set(&SAMPLES, 40);
        let asked = match q {
            None => asked,
            Some(q) => asked.set(&Q, q),
        };
        let request = limited(&folder, "t.csv", asked, memory);
        let mut collected = Collected::default();
        dshap_run::value(&request, &Unwatched, &mut collected)?;
        collected.arranged(Arrange::ByRow)
    };
    // The least that is enough where no index is asked for.
    let mut limit = 1;
    while let Err(error) = run(None, Some(limit)) {
        let Error::TooLittleMemory { needed, .. } = error else { panic!("{error}") };
        assert!(needed > limit);
        limit = needed;
    }
    let large = Some(15_000);
    assert_eq!(run(large, Some(limit)).unwrap(), run(large, None).unwrap());
}

/// A tolerance leaves out far rows, by at most what it promises, and is saved with the valuer.
#[test]
fn a_tolerance_changes_values_by_no_more_than_it_says() {
    for labels in [false, true] {
        let folder = Folder::new();
        let tables = [Table::new(11, 900, labels), Table::new(12, 40, labels), Table::new(13, 60, labels)];
        for (name, table) in ["reference.csv", "points.csv", "test.csv"].into_iter().zip(&tables) {
            folder.write(name, &table.csv());
        }
        let against =
            |asked: Asked| with_test(asked, &folder, "test.csv").against(&[folder.name("reference.csv")]);
        let tolerance = 0.03;
        let (exact, _) = folder.value("points.csv", against(knn(3)));
        let short = knn(3).set(&TOLERANCE, tolerance);
        let (found, _) = folder.value("points.csv", against(short.clone()));
        let (exact, found) = (column(&exact, "value"), column(&found, "value"));
        // Of all weight, at most 1, so much is left out; a squared error changes by 4·max(y − y_t)² at most.
        let range = |of: &[&Table]| {
            let all = || of.iter().flat_map(|table| table.y.iter());
            all().fold(f64::MIN, |most, y| y.max(most)) - all().fold(f64::MAX, |least, y| y.min(least))
        };
        let scale = if labels { 1.0 } else { 4.0 * range(&[&tables[0], &tables[1], &tables[2]]).powi(2) };
        let most = found.iter().zip(&exact).map(|(found, exact)| (found - exact).abs()).fold(0.0, f64::max);
        assert!(most > 0.0 && most <= tolerance / 3.0 * scale, "{most}, labels: {labels}");

        // Saved, with lists and without: the same bits.
        for (name, fitted) in [("v.dshap", short.clone()), ("lists.dshap", short.on(&LISTS))] {
            folder.fit(&["reference.csv"], with_test(fitted, &folder, "test.csv"), name);
            let (again, _) = folder.value_by("points.csv", name, Asked::nothing());
            assert_same_bits(&column(&again, "value"), &found, name);
        }
        let size = |name: &str| std::fs::metadata(folder.name(name)).unwrap().len();
        let n_places = (size("lists.dshap") - size("v.dshap")) / 8;
        assert!(n_places < 60 * 900 / 4, "{n_places} places: the lists are short");
    }
}
