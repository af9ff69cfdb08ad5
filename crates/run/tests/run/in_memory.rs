//! Tables in memory give the bits of the same tables in files, whichever way
//! their cells lie.

use crate::common::{self, Asked, Folder};
use dshap_catalogue::Given;
use dshap_catalogue::options::{MISSING, TASK, WEIGHT};
use dshap_io::{Matrix, Numbers, Order, Source};
use dshap_run::{Fitted, ReadyValuer, Tables, Unwatched, ValueRequest, Wanted, fit_tables, value};
use dshap_testkit::Sample;
use std::fmt::Write;
use std::sync::Arc;

const N: usize = 9000;
const P: usize = 3;

/// Cells in memory, in an order that may be used in place or not.
#[derive(Debug)]
struct Cells {
    columns: Vec<Vec<f64>>,
    by_rows: Vec<f64>,
    by_columns: Vec<f64>,
    order: Option<Order>,
}

impl Cells {
    fn new(columns: Vec<Vec<f64>>, order: Option<Order>) -> Self {
        let by_rows =
            (0..columns[0].len()).flat_map(|i| columns[..P].iter().map(move |column| column[i])).collect();
        Self { by_columns: columns[..P].concat(), by_rows, columns, order }
    }
}

impl Numbers for Cells {
    fn n_rows(&self) -> usize {
        self.columns[0].len()
    }
    fn n_columns(&self) -> usize {
        self.columns.len()
    }
    fn copy(&self, column: usize, start: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.columns[column][start..start + out.len()]);
    }
    fn column(&self, column: usize) -> Option<&[f64]> {
        self.order.map(|_| self.columns[column].as_slice())
    }
    fn matrix(&self, n_columns: usize) -> Option<Matrix<'_>> {
        let order = self.order.filter(|_| n_columns == P)?;
        Some(match order {
            Order::Rows => Matrix { cells: &self.by_rows, order, stride: P },
            Order::Columns => Matrix { cells: &self.by_columns, order, stride: self.n_rows() },
        })
    }
}

/// Features, target and weights, some of them 0 where asked for.
fn columns(weightless: bool) -> Vec<Vec<f64>> {
    let sample = Sample::gaussian(8, N, P, 1.3);
    let mut columns = sample.columns;
    columns.push(sample.y);
    columns.push((0..N).map(|i| if weightless && i % 7 == 0 { 0.0 } else { 0.5 + (i % 5) as f64 }).collect());
    columns
}

fn asked(method: &str, missing: &str) -> Asked {
    Asked::new("y").by(method).set(&MISSING, missing).set(&WEIGHT, "w")
}

/// Fits a table in memory.
fn fitted(source: &Source, asked: &Asked) -> Fitted {
    let tables = Tables { points: source.clone(), reference: None, test: None };
    let method = asked.method.expect("a method was named");
    fit_tables(&tables, method, &asked.given, &Unwatched).expect("is fitted")
}

/// Values of the rows against each other, from a file and from memory.
fn values(columns: &[Vec<f64>], asked: &Asked, order: Option<Order>) -> (Vec<f64>, Vec<f64>) {
    let folder = Folder::new();
    let mut text = String::from("a,b,c,y,w\n");
    for i in 0..columns[0].len() {
        let cells: Vec<String> = columns
            .iter()
            .map(|column| if column[i].is_nan() { String::new() } else { format!("{:?}", column[i]) })
            .collect();
        writeln!(text, "{}", cells.join(",")).expect("writing to a string");
    }
    let mut collected = dshap_run::Collected::default();
    let request = ValueRequest {
        method: asked.method,
        ..ValueRequest::new(vec![folder.write("rows.csv", &text)], asked.given.clone())
    };
    value(&request, &Unwatched, &mut collected).expect("the file is valued");
    let table = collected.arranged(dshap_run::Arrange::ByRow).expect("fits");
    let from_file = common::column(&table, "value");

    let names = ["a", "b", "c", "y", "w"].map(String::from);
    let numbers: Arc<dyn Numbers> = Arc::new(Cells::new(columns.to_vec(), order));
    let source = Source::of_numbers("X", &names, Arc::clone(&numbers)).expect("has rows");
    let ready = ReadyValuer::new(fitted(&source, asked).valuer, None, &Given::new()).expect("is ready");
    assert!(ready.was_fitted_to(&source, &Unwatched).expect("is read"));
    let wanted = Wanted { leave_one_out: true, ..Wanted::default() };
    let in_place = ready.value_numbers(numbers.as_ref(), wanted, &Unwatched).expect("is valued");
    let by_batches = ready.value(&source, wanted, &Unwatched).expect("is valued").value;
    if let Some(in_place) = in_place {
        assert_eq!(bits(&in_place.value), bits(&by_batches));
    } else {
        assert!(columns.iter().flatten().any(|cell| cell.is_nan()), "only gaps are a reason");
    }
    (from_file, by_batches)
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { 0 } else { value.to_bits() }).collect()
}

#[test]
fn every_order_gives_the_bits_of_a_file() {
    for order in [Some(Order::Rows), Some(Order::Columns), None] {
        for method in ["gaussian", "calibrated"] {
            for weightless in [false, true] {
                let asked = asked(method, "error");
                let (from_file, in_memory) = values(&columns(weightless), &asked, order);
                assert_eq!(bits(&from_file), bits(&in_memory), "{order:?} {method} {weightless}");
            }
        }
    }
}

#[test]
fn labels_give_the_bits_of_a_file_too() {
    for order in [Some(Order::Rows), Some(Order::Columns), None] {
        for n_classes in [2, 3] {
            let mut columns = columns(true);
            let class = |y: &f64| (y + 1.0).clamp(0.0, n_classes as f64 - 1.0).floor() * 2.0 - 1.0;
            columns[P] = columns[P].iter().map(class).collect();
            let asked = asked("gaussian", "error").set(&TASK, "classification");
            let (from_file, in_memory) = values(&columns, &asked, order);
            assert_eq!(bits(&from_file), bits(&in_memory), "{order:?} {n_classes}");
        }
    }
}

#[test]
fn gaps_are_treated_as_in_a_file() {
    for missing in ["drop", "mean"] {
        let mut columns = columns(false);
        (columns[0][17], columns[2][8000]) = (f64::NAN, f64::NAN);
        let (from_file, in_memory) = values(&columns, &asked("gaussian", missing), Some(Order::Rows));
        assert_eq!(bits(&from_file), bits(&in_memory), "{missing}");
    }
}

#[test]
fn rows_that_changed_are_told_from_those_that_were_fitted() {
    let names = ["a", "b", "c", "y", "w"].map(String::from);
    let table = |columns: Vec<Vec<f64>>| {
        let numbers = Arc::new(Cells::new(columns, Some(Order::Rows)));
        Source::of_numbers("X", &names, numbers).expect("has rows")
    };
    let source = table(columns(false));
    let fitted = fitted(&source, &asked("gaussian", "error"));
    let ready = ReadyValuer::new(fitted.valuer, None, &Given::new()).expect("is ready");
    let mut others = columns(false);
    others[1][4000] += 1e-9;
    assert!(ready.was_fitted_to(&source, &Unwatched).expect("is read"));
    assert!(!ready.was_fitted_to(&table(others), &Unwatched).expect("is read"));

    // Of rows that change places moments tell nothing; a mark does.
    let mark = |columns| ready.mark_of(&table(columns), &Unwatched).expect("is read");
    let mut others = columns(false);
    others.iter_mut().for_each(|column| column.swap(17, 4000));
    assert_eq!(mark(columns(false)), mark(columns(false)));
    assert_ne!(mark(columns(false)), mark(others));
}
