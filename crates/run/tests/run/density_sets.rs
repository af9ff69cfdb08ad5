//! Sets of rows valued against a density: the core's bits.

use crate::common::{Asked, Folder, column};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use dshap::density::{
    Algorithm5, Bandwidth, DensityFit, DensityOptions, Kernel, PairIntegrals, Scaling, SetValue, SetValuer,
};
use dshap_catalogue::options::{BANDWIDTH, MISSING, SAMPLES, SEED, SETS, STDERR, SYNERGY};
use dshap_catalogue::{Misuse, Task};
use dshap_run::{DensityCase, Error, Summary, Unwatched, Warning};
use dshap_testkit::{Draws, assert_same_bits};
use faer::{Mat, MatRef};
use std::fmt::Write;

const WIDTH: f64 = 0.6;

fn cells(seed: u64, n: usize) -> Mat<f64> {
    let mut draws = Draws::new(seed);
    Mat::from_fn(n, 2, |_, j| draws.normal() * (1.0 + j as f64))
}

/// The set of a row: `b` comes first, and some rows are in none.
fn set(row: usize) -> &'static str {
    ["b", "a", "a", "c", ""][row % 5]
}

fn csv(x: &Mat<f64>) -> String {
    let mut csv = String::from("x,owner,y\n");
    for i in 0..x.nrows() {
        let _ = writeln!(csv, "{},{},{}", x[(i, 0)], set(i), x[(i, 1)]);
    }
    csv
}

fn members(name: &str, n: usize) -> Vec<usize> {
    (0..n).filter(|&row| set(row) == name).collect()
}

fn asked() -> Asked {
    Asked::density().set(&BANDWIDTH, WIDTH)
}

/// Values the sets of the points, or what two of them are worth together.
fn run(folder: &Folder, asked: Asked, synergy: Option<&str>) -> Result<(RecordBatch, Summary), Error> {
    let asked = asked.set(&SETS, "owner");
    let Some(pair) = synergy else { return folder.try_value("points.csv", asked) };
    let mut request = folder.request("points.csv", asked.set(&SYNERGY, pair));
    // Synergies have no standard errors.
    request.given = request.given.without(&STDERR);
    Folder::valued(&request)
}

fn refused(folder: &Folder, asked: Asked, synergy: Option<&str>) -> Error {
    run(folder, asked, synergy).map(|_| ()).unwrap_err()
}

fn rows_of(x: MatRef<'_, f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)])
}

#[track_caller]
fn assert_is(rows: &RecordBatch, expected: &[SetValue]) {
    let names: Vec<_> = rows.column_by_name("set").unwrap().as_string::<i32>().iter().flatten().collect();
    assert_eq!(names, ["b", "a", "c"], "in the order in which they come");
    let sizes = rows.column_by_name("n").unwrap().as_primitive::<UInt64Type>();
    assert!(sizes.values().iter().zip(expected).all(|(n, set)| *n == set.n_rows as u64));
    let numbers = |of: fn(&SetValue) -> f64| expected.iter().map(of).collect::<Vec<f64>>();
    assert_same_bits(&column(rows, "value"), &numbers(|set| set.value), "value");
    assert_same_bits(&column(rows, "stderr"), &numbers(|set| set.std_error), "stderr");
    assert_same_bits(&column(rows, "relative"), &numbers(|set| set.relative), "relative");
    assert_same_bits(&column(rows, "sum_of_members"), &numbers(|set| set.sum_of_members), "sum");
}

#[test]
fn sets_are_worth_what_the_core_says() {
    let folder = Folder::new();
    let (reference, points) = (cells(1, 200), cells(2, 57));
    folder.write("points.csv", &csv(&points));
    folder.write("reference.csv", &csv(&reference));
    let options = DensityOptions { bandwidth: Bandwidth::Given(WIDTH), ..DensityOptions::default() };

    let fit = DensityFit::of(reference.as_ref(), options).unwrap();
    let integrals = PairIntegrals::of(&fit, 200, 0).unwrap();
    let core = SetValuer::new(&fit, integrals, 200, 0.0).unwrap();
    let of = |name: &str| core.value(rows_of(points.as_ref(), &members(name, 57)).as_ref()).unwrap();
    let against = || asked().against(&[folder.name("reference.csv")]);
    let (rows, summary) = run(&folder, against(), None).unwrap();
    assert_is(&rows, &["b", "a", "c"].map(of));
    assert_eq!(summary.n_sets, Some(3));
    assert_eq!(summary.warnings, [Warning::RowsInNoSet { n_rows: 11, column: "owner".into() }]);

    let [a, c] = ["a", "c"].map(|name| rows_of(points.as_ref(), &members(name, 57)));
    let expected = core.synergy(a.as_ref(), c.as_ref()).unwrap();
    let (rows, _) = run(&folder, against(), Some("a,c")).unwrap();
    assert_same_bits(&column(&rows, "synergy"), &[expected.synergy], "synergy");
    assert_same_bits(&column(&rows, "union_value"), &[expected.union.value], "union");

    let fit = DensityFit::of(points.as_ref(), options).unwrap();
    let integrals = PairIntegrals::of(&fit, 57, 0).unwrap();
    let core = SetValuer::new(&fit, integrals, 57, 0.0).unwrap();
    let left_out = |name: &str| core.left_out(&members(name, 57)).unwrap();
    let (rows, _) = run(&folder, asked(), None).unwrap();
    assert_is(&rows, &["b", "a", "c"].map(left_out));
}

#[test]
fn algorithm_5_values_sets_with_the_draws_of_the_core() {
    let folder = Folder::new();
    let (reference, points) = (cells(1, 300), cells(2, 57));
    folder.write("points.csv", &csv(&points));
    folder.write("reference.csv", &csv(&reference));
    let options = DensityOptions { bandwidth: Bandwidth::Given(WIDTH), ..DensityOptions::default() };
    let fit = DensityFit::of(reference.as_ref(), options).unwrap();
    let integrals = PairIntegrals::of(&fit, 300, 5).unwrap();
    let core = SetValuer::new(&fit, integrals, 300, 0.0).unwrap();
    // A set has the number of its first row, which selects its draws.
    let of = |valuer: &SetValuer<'_>, name: &str| {
        let rows = members(name, 57);
        valuer.numbered(rows_of(points.as_ref(), &rows).as_ref(), rows[0] as u64).unwrap().value
    };
    let exact = ["b", "a", "c"].map(|name| of(&core, name));
    let drawing = core.by_drawing(Algorithm5 { seed: 5 });
    let drawn = ["b", "a", "c"].map(|name| of(&drawing, name));
    let asked = asked().by("monte-carlo").set(&SEED, 5).against(&[folder.name("reference.csv")]);
    let mut request = folder.request("points.csv", asked.set(&SETS, "owner"));
    // Drawn values have no standard errors.
    request.given = request.given.without(&STDERR);
    let (rows, _) = Folder::valued(&request).unwrap();
    assert_same_bits(&column(&rows, "value"), &drawn, "value");
    for (exact, drawn) in exact.iter().zip(&drawn) {
        assert!(exact != drawn && (exact / drawn - 1.0).abs() < 0.5, "{exact} and {drawn}");
    }
}

#[test]
fn sets_that_cannot_be_valued_are_refused() {
    let folder = Folder::new();
    folder.write("points.csv", &csv(&cells(3, 40)));
    let error = refused(&folder, asked(), Some("a,B"));
    let Error::NoSuchSet { name, suggestion } = error else { panic!("{error}") };
    assert_eq!((name.as_str(), suggestion.as_deref()), ("B", Some("b")));
    let error = refused(&folder, asked().set(&SAMPLES, 30), None);
    assert!(matches!(error, Error::SetsOfSample { n_reference: 40 }), "{error}");
    let error = refused(&folder, Asked::new("y"), None);
    let Error::Misuse(misuse) = error else { panic!("{error}") };
    assert!(
        matches!(misuse, Misuse::NotTaken { option: "sets", only_task: Some(Task::Density), .. }),
        "{misuse:?}"
    );
}

#[test]
fn the_formula_written_out_agrees_with_sums_in_tiles() {
    let (reference, points) = (cells(4, 300), cells(5, 7));
    let flat = |x: &Mat<f64>| (0..x.nrows()).flat_map(|i| [x[(i, 0)], x[(i, 1)]]).collect::<Vec<f64>>();
    for kernel in Kernel::ALL {
        let options = DensityOptions {
            kernel,
            bandwidth: Bandwidth::Given(1.5),
            scaling: Scaling::None,
            ..DensityOptions::default()
        };
        let fit = DensityFit::of(reference.as_ref(), options).unwrap();
        let core = SetValuer::new(&fit, PairIntegrals::of(&fit, 300, 0).unwrap(), 50, 0.0).unwrap();
        let case = DensityCase::new(kernel, 1.5, 50).unwrap();
        for n in [1, 7] {
            let members = points.as_ref().subrows(0, n);
            let expected = core.value(members).unwrap().without_constant;
            let found = case.value(&flat(&points)[..2 * n], &flat(&reference), 2, &Unwatched).unwrap();
            // Sums of up to 2100 terms of order 0.1, each rounded to 1e-17 in two ways.
            assert!((found - expected).abs() < 1e-14, "{}: {found}, {expected}", kernel.name());
        }
    }
}

/// Owners whose rows have missing cells stay in the table, and it says why.
#[test]
fn sets_without_usable_rows_are_there_and_empty() {
    let folder = Folder::new();
    folder.write("points.csv", "x,owner,y\n1,a,2\n,b,3\n4,a,1\n2,c,\n3,c,5\n0,d,1\n5,d,2\n");
    let asked = asked().set(&MISSING, "drop");
    let (rows, _) = run(&folder, asked.clone(), None).unwrap();
    let words = |name: &str| -> Vec<Option<String>> {
        let column = rows.column_by_name(name).unwrap().as_string::<i32>();
        column.iter().map(|word| word.map(String::from)).collect()
    };
    assert_eq!(words("set").into_iter().flatten().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    assert_eq!(rows.column_by_name("n").unwrap().as_primitive::<UInt64Type>().values(), &[2, 0, 1, 2]);
    let (every, one) = ("missing cells in every row", "1 row left out for a missing cell");
    assert_eq!(words("note"), [None, Some(every.into()), Some(one.into()), None]);
    let is_valued: Vec<bool> = (0..4).map(|i| rows.column_by_name("value").unwrap().is_valid(i)).collect();
    assert_eq!(is_valued, [true, false, true, true]);
    let error = refused(&folder, asked.clone(), Some("a,b"));
    assert!(matches!(&error, Error::EmptySet { name } if name == "b"), "{error}");

    folder.write("points.csv", "x,owner,y\n1,,2\n3,,3\n4,,1\n2,,4\n3,,5\n");
    let error = refused(&folder, asked.clone(), None);
    assert!(matches!(&error, Error::NoSets { column } if column == "owner"), "{error}");
    folder.write("points.csv", "x,owner,y\n1,a,2\n3,a,3\n4,a,1\n2,a,4\n3,a,5\n");
    let error = refused(&folder, asked, None);
    assert!(matches!(error, Error::Core { error: dshap::Error::NobodyLeft { n_rows: 5 }, .. }), "{error}");
}
