//! Tables in memory, from the outside.

use std::sync::Arc;

use crate::common::{numbers, read, texts};
use arrow_array::{ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray};
use dshap_io::{Error, Matrix, Numbers, Source};
use dshap_table::{Kind, ReadAs};

/// Row after row.
#[derive(Debug)]
struct Cells {
    cells: Vec<f64>,
    n_columns: usize,
}

impl Numbers for Cells {
    fn n_rows(&self) -> usize {
        self.cells.len() / self.n_columns
    }
    fn n_columns(&self) -> usize {
        self.n_columns
    }
    fn copy(&self, column: usize, start: usize, out: &mut [f64]) {
        for (row, out) in (start..).zip(out) {
            *out = self.cells[row * self.n_columns + column];
        }
    }
    fn column(&self, _: usize) -> Option<&[f64]> {
        None
    }
    fn matrix(&self, _: usize) -> Option<Matrix<'_>> {
        None
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

#[test]
fn numbers_are_read_like_a_file() {
    let n = 40_000;
    let cells = (0..2 * n).map(|i| if i == 7 { f64::NAN } else { i as f64 }).collect();
    let table = Arc::new(Cells { cells, n_columns: 2 });
    let source = Source::of_numbers("X", &names(&["a", "b"]), table).unwrap();
    let b = numbers(&source, "b").unwrap();
    assert_eq!((b.len(), b[2], b[3], b[n - 1]), (n, Some(5.0), None, Some(2.0 * n as f64 - 1.0)));
    assert_eq!(source.locate(17).unwrap().to_string(), "`X` row 17");
    assert!(source.is_in_memory() && source.digests().unwrap().is_empty());
    source.check_unchanged().unwrap();
}

#[test]
fn infinite_numbers_are_refused_with_their_place() {
    let table = Arc::new(Cells { cells: vec![1.0, 2.0, f64::INFINITY], n_columns: 1 });
    let source = Source::of_numbers("X", &names(&["a"]), table).unwrap();
    let error = numbers(&source, "a").unwrap_err();
    assert!(error.to_string().starts_with("`X` row 2, column `a`"), "{error}");
}

#[test]
fn batches_of_any_length_are_one_table() {
    let batch = |values: &[f64], words: &[Option<&str>]| {
        let keys: Int32Array = (0..words.len()).map(|i| words[i].map(|_| i as i32)).collect();
        let texts: StringArray = words.iter().map(|word| Some(word.unwrap_or_default())).collect();
        let categories = DictionaryArray::new(keys, Arc::new(texts));
        RecordBatch::try_from_iter_with_nullable([
            ("value", Arc::new(Float64Array::from(values.to_vec())) as ArrayRef, true),
            ("word", Arc::new(categories), true),
        ])
        .unwrap()
    };
    let none = batch(&[], &[]);
    let batches =
        vec![none.clone(), batch(&[1.0], &[Some("x")]), none, batch(&[2.0, 3.0], &[None, Some("y")])];
    let source = Source::of_batches("X", batches[0].schema(), batches).unwrap();
    assert_eq!(source.schema().columns[1].kind, Kind::Text);
    assert_eq!(numbers(&source, "value").unwrap(), [1.0, 2.0, 3.0].map(Some));
    assert_eq!(
        texts(&source, "word", ReadAs::Text).unwrap(),
        [Some("x".to_string()), None, Some("y".to_string())]
    );
    let read: usize = read(&source, &[("word", ReadAs::Text)]).unwrap().iter().map(|b| b.num_rows()).sum();
    assert_eq!(read, 3);
}

#[test]
fn tables_without_rows_or_with_two_columns_of_one_name_are_refused() {
    let none = Arc::new(Cells { cells: vec![], n_columns: 1 });
    let refused = |names: &[String], table: Arc<Cells>| Source::of_numbers("X", names, table).unwrap_err();
    assert!(matches!(refused(&names(&["a"]), none), Error::NoRows { .. }));
    let two = Arc::new(Cells { cells: vec![1.0, 2.0], n_columns: 2 });
    assert!(matches!(refused(&names(&["a", "a"]), two), Error::DuplicateColumn { .. }));
}

#[test]
fn numbers_that_are_not_there_are_no_category_and_infinite_ones_are_refused() {
    let table = |cells: Vec<f64>| {
        let table = Arc::new(Cells { cells, n_columns: 1 });
        Source::of_numbers("X", &names(&["a"]), table).unwrap()
    };
    let read = |cells| texts(&table(cells), "a", ReadAs::Text);
    assert_eq!(read(vec![1.0, f64::NAN]).unwrap(), [Some("1".to_string()), None]);
    let error = read(vec![1.0, f64::INFINITY]).unwrap_err();
    assert!(error.to_string().starts_with("`X` row 1, column `a`"), "{error}");
}
