//! Sets of rows valued against a density: the core's bits.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod common;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use common::{Folder, column};
use dshap::density::{
    Bandwidth, DensityFit, DensityOptions, Kernel, PairIntegrals, Scaling, SetValue, SetValuer,
};
use dshap_run::{
    Against, Arrange, Collected, DensityCase, DensityChoice, Error, Model, SetsRequest, Summary, Unwatched,
    ValueRequest, value,
};
use dshap_table::{Missing, Selection};
use dshap_testkit::{Draws, assert_same_bits};
use faer::{Mat, MatRef};
use std::fmt::Write;

const BANDWIDTH: Bandwidth = Bandwidth::Given(0.6);

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

fn model() -> Model {
    let selection = Selection { by: Some("owner".into()), ..Selection::default() };
    let density = DensityChoice { bandwidth: Some(BANDWIDTH), ..DensityChoice::default() };
    Model { selection, density, ..Model::density() }
}

fn run(
    folder: &Folder,
    against: Against,
    synergy: Option<(&str, &str)>,
) -> Result<(RecordBatch, Summary), Error> {
    let synergy = synergy.map(|(one, two)| (one.into(), two.into()));
    let request = ValueRequest {
        against,
        std_error: true,
        sets: Some(SetsRequest { column: "owner".into(), synergy }),
        ..ValueRequest::new(vec![folder.name("points.csv")], "")
    };
    let mut collected = Collected::default();
    let summary = value(&request, &Unwatched, &mut collected)?;
    Ok((collected.arranged(Arrange::ByRow)?, summary))
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
    let options = DensityOptions { bandwidth: BANDWIDTH, ..DensityOptions::default() };

    let fit = DensityFit::of(reference.as_ref(), options).unwrap();
    let integrals = PairIntegrals::of(&fit, 200, 0).unwrap();
    let core = SetValuer::new(&fit, integrals, 200, 0.0).unwrap();
    let of = |name: &str| core.value(rows_of(points.as_ref(), &members(name, 57)).as_ref()).unwrap();
    let against = || Against::Reference { files: vec![folder.name("reference.csv")], model: model() };
    let (rows, summary) = run(&folder, against(), None).unwrap();
    assert_is(&rows, &["b", "a", "c"].map(of));
    assert_eq!(summary.n_sets, Some(3));
    assert_eq!(summary.warnings, ["11 rows are in no set: `owner` is empty there"]);

    let [a, c] = ["a", "c"].map(|name| rows_of(points.as_ref(), &members(name, 57)));
    let expected = core.synergy(a.as_ref(), c.as_ref()).unwrap();
    let (rows, _) = run(&folder, against(), Some(("a", "c"))).unwrap();
    assert_same_bits(&column(&rows, "synergy"), &[expected.synergy], "synergy");
    assert_same_bits(&column(&rows, "union_value"), &[expected.union.value], "union");

    let fit = DensityFit::of(points.as_ref(), options).unwrap();
    let integrals = PairIntegrals::of(&fit, 57, 0).unwrap();
    let core = SetValuer::new(&fit, integrals, 57, 0.0).unwrap();
    let left_out = |name: &str| core.left_out(&members(name, 57)).unwrap();
    let (rows, _) = run(&folder, Against::Themselves(model()), None).unwrap();
    assert_is(&rows, &["b", "a", "c"].map(left_out));
}

#[test]
fn sets_that_cannot_be_valued_are_refused_in_words() {
    let folder = Folder::new();
    folder.write("points.csv", &csv(&cells(3, 40)));
    let refused =
        |model: Model, synergy| run(&folder, Against::Themselves(model), synergy).err().unwrap().to_string();
    assert!(refused(model(), Some(("a", "B"))).contains("there is no set `B`; is it `b`?"));
    let sampled = DensityChoice { samples: Some(30), ..model().density };
    assert!(refused(Model { density: sampled, ..model() }, None).contains("needs all of them"));
    let regression = Model {
        selection: Selection { by: Some("owner".into()), ..Model::new("y").selection },
        ..Model::new("y")
    };
    assert!(refused(regression, None).contains("`--sets` goes with `--task density`"));
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
    let model = Model { missing: Missing::Drop, ..model() };
    let (rows, _) = run(&folder, Against::Themselves(model.clone()), None).unwrap();
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
    let refused = run(&folder, Against::Themselves(model.clone()), Some(("a", "b"))).unwrap_err();
    assert!(refused.to_string().contains("every row of set `b` has a missing cell"), "{refused}");

    folder.write("points.csv", "x,owner,y\n1,,2\n3,,3\n4,,1\n2,,4\n3,,5\n");
    let refused = run(&folder, Against::Themselves(model.clone()), None).unwrap_err();
    assert!(refused.to_string().contains("it names no set"), "{refused}");
    folder.write("points.csv", "x,owner,y\n1,a,2\n3,a,3\n4,a,1\n2,a,4\n3,a,5\n");
    let refused = run(&folder, Against::Themselves(model), None).unwrap_err();
    assert!(refused.to_string().contains("has all 5 reference rows"), "{refused}");
    assert!(refused.hint().unwrap().contains("--reference"));
}
