//! Rows that a pass keeps for later ones.

use crate::common::{file, folder, wanted, words};
use arrow_select::concat::concat_batches;
use dshap_io::{Batch, Error, ScanOptions, Source};
use dshap_table::{ReadAs, Wanted};
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

const N_ROWS: usize = 1_000;

fn table(folder: &TempDir) -> String {
    let rows: String = (0..N_ROWS).map(|row| format!("{row},w{},{}\n", row % 7, row * row)).collect();
    file(folder, "a.csv", format!("a,word,b\n{rows}"))
}

fn all() -> Vec<Wanted> {
    wanted(&[("a", ReadAs::Number), ("word", ReadAs::Text), ("b", ReadAs::Number)])
}

fn keeping(keep_bytes: usize) -> ScanOptions {
    ScanOptions { batch_bytes: 48 * 100, keep_bytes, ..ScanOptions::default() }
}

fn scan(source: &Source, wanted: &[Wanted], options: ScanOptions) -> Vec<Batch> {
    source.scan(wanted, options).unwrap().map(Result::unwrap).collect()
}

fn assert_same_rows(source: &Source, wanted: &[Wanted], found: &[Batch], expected: &[Batch]) {
    let schema = source.arrow_schema(wanted).unwrap();
    let joined =
        |batches: &[Batch]| concat_batches(&schema, batches.iter().map(|batch| &batch.rows)).unwrap();
    assert_eq!(joined(found), joined(expected));
    let mut next = 0;
    for batch in found {
        assert_eq!(batch.first_row, next);
        next += batch.rows.num_rows() as u64;
    }
    assert!(found.is_sorted_by_key(|batch| batch.bytes_read));
}

#[test]
fn a_later_pass_gets_the_same_rows_also_in_other_columns_and_smaller_batches() {
    let folder = folder();
    let path = table(&folder);
    let fresh = Source::open(std::slice::from_ref(&path)).unwrap();
    let source = Source::open(&[path]).unwrap();
    scan(&source, &all(), keeping(1 << 20));
    assert!(source.kept_bytes() >= 16 * N_ROWS, "{}", source.kept_bytes());
    let turned = wanted(&[("b", ReadAs::Number), ("a", ReadAs::Number)]);
    for columns in [all(), turned] {
        let expected = scan(&fresh, &columns, ScanOptions::default());
        for batch_bytes in [8, 48 * 30, 1 << 20] {
            let options = ScanOptions { batch_bytes, ..ScanOptions::default() };
            let batches = scan(&source, &columns, options.clone());
            assert_same_rows(&source, &columns, &batches, &expected);
            let most_rows = if batch_bytes == 8 { 1 } else { 100 };
            assert!(batches.iter().all(|batch| batch.rows.num_rows() <= most_rows));
        }
    }
    assert_eq!(fresh.kept_bytes(), 0);
}

/// What was kept is what is read: the file is gone meanwhile, and only the check of its stamp says so.
#[test]
fn rows_that_are_kept_are_not_read_again() {
    let folder = folder();
    let path = table(&folder);
    let source = Source::open(std::slice::from_ref(&path)).unwrap();
    scan(&source, &all(), keeping(1 << 20));
    let mut again = source.scan(&all(), ScanOptions::default()).unwrap();
    std::thread::sleep(Duration::from_millis(30));
    fs::write(&path, "a,word,b\n1,changed,1\n").unwrap();
    let mut n_rows = 0;
    let error = loop {
        match again.next().unwrap() {
            Ok(batch) => n_rows += batch.rows.num_rows(),
            Err(error) => break error,
        }
    };
    assert_eq!(n_rows, N_ROWS);
    assert!(matches!(error, Error::Changed { .. }), "{error}");
    assert_eq!(words(&error, &folder), "`a.csv` changed while it was read");
    // A pass that begins after the change is refused at once.
    assert!(matches!(source.scan(&all(), ScanOptions::default()), Err(Error::Changed { .. })));
}

#[test]
fn what_is_too_large_in_part_or_unfinished_is_not_kept() {
    let folder = folder();
    let source = Source::open(&[table(&folder)]).unwrap();
    let without = [
        keeping(0),
        keeping(1_000),
        ScanOptions { skip_rows: 1, ..keeping(1 << 20) },
        ScanOptions { limit_rows: Some(5), ..keeping(1 << 20) },
    ];
    for options in without {
        scan(&source, &all(), options.clone());
        assert_eq!(source.kept_bytes(), 0, "{options:?}");
    }
    let mut half = source.scan(&all(), keeping(1 << 20)).unwrap();
    half.next().unwrap().unwrap();
    drop(half);
    assert_eq!(source.kept_bytes(), 0);
    scan(&source, &all(), keeping(1 << 20));
    assert!(source.clone().kept_bytes() > 0, "clones share it");
    // Columns that were not kept are read from the file.
    let as_text = wanted(&[("a", ReadAs::Text)]);
    assert_eq!(scan(&source, &as_text, ScanOptions::default()).len(), 1);
    source.forget_kept();
    assert_eq!(source.kept_bytes(), 0);
}

/// A pass that keeps rows reads what a later pass wants besides.
#[test]
fn columns_of_a_later_pass_are_kept_with_those_of_an_earlier_one() {
    let folder = folder();
    let path = table(&folder);
    let fresh = Source::open(std::slice::from_ref(&path)).unwrap();
    let first = wanted(&[("a", ReadAs::Number), ("b", ReadAs::Number)]);
    let later = [first.clone(), wanted(&[("word", ReadAs::AsIs)])].concat();
    for is_expected in [true, false] {
        let source = Source::open(std::slice::from_ref(&path)).unwrap();
        if is_expected {
            source.expect(later[2..].to_vec());
        }
        let batches = scan(&source, &first, keeping(1 << 20));
        // What is only kept is not handed over.
        assert_same_rows(&source, &first, &batches, &scan(&fresh, &first, ScanOptions::default()));
        assert!(source.kept_bytes() > 0);
        let again = source.scan(&later, ScanOptions::default()).unwrap();
        // Rows that lack a column of the next pass are freed.
        assert_eq!(source.kept_bytes() > 0, is_expected);
        let batches: Vec<Batch> = again.map(Result::unwrap).collect();
        assert_same_rows(&source, &later, &batches, &scan(&fresh, &later, ScanOptions::default()));
    }
    // Columns that would not fit are not read for nothing.
    let source = Source::open(&[path]).unwrap();
    source.expect(later[2..].to_vec());
    scan(&source, &first, keeping(1_000));
    assert_eq!(source.kept_bytes(), 0);
}

#[test]
fn the_last_pass_frees_what_it_hands_over() {
    let folder = folder();
    let source = Source::open(&[table(&folder)]).unwrap();
    let expected = scan(&source, &all(), keeping(1 << 20));
    let last = ScanOptions { is_last: true, ..keeping(0) };
    let mut again = source.scan(&all(), last).unwrap();
    assert_eq!(source.kept_bytes(), 0);
    let batches: Vec<Batch> = again.by_ref().map(Result::unwrap).collect();
    assert_same_rows(&source, &all(), &batches, &expected);
}
