//! Files that change between or during passes.

use std::fs;
use std::io::Write;
use std::time::Duration;

use crate::common::{file, folder, numbers, open, wanted, words};
use dshap_io::{Error, ScanOptions, Source};
use dshap_table::ReadAs;
use tempfile::TempDir;

/// Longer than the grain of time stamps on any common file system.
fn wait() {
    std::thread::sleep(Duration::from_millis(30));
}

fn append(path: &str) {
    fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"3,4\n").unwrap();
}

fn replace(path: &str) {
    let other = format!("{path}.new");
    fs::copy(path, &other).unwrap();
    fs::rename(other, path).unwrap();
}

fn rewrite(path: &str) {
    wait();
    fs::write(path, "a,b\n9,8\n").unwrap();
}

fn table(folder: &TempDir) -> String {
    file(folder, "a.csv", "a,b\n1,2\n")
}

fn assert_changed<T: std::fmt::Debug>(result: Result<T, Error>, folder: &TempDir) {
    let error = result.unwrap_err();
    assert!(matches!(error, Error::Changed { .. }), "{error}");
    assert_eq!(words(&error, folder), "`a.csv` changed while it was read");
}

#[test]
fn a_change_between_passes_is_found_by_the_next_one() {
    for change in [append, replace, rewrite] {
        let folder = folder();
        let path = table(&folder);
        let source = open(&path).unwrap();
        assert_eq!(numbers(&source, "a").unwrap(), [Some(1.0)]);
        source.check_unchanged().unwrap();
        change(&path);
        assert_changed(source.check_unchanged(), &folder);
        assert_changed(numbers(&source, "a"), &folder);
        assert_changed(source.digests(), &folder);
        assert_changed(source.locate(0), &folder);
    }
}

#[test]
fn a_change_during_a_pass_is_found_at_its_end_unless_a_limit_ends_it() {
    for change in [append, replace, rewrite] {
        let folder = folder();
        let path = table(&folder);
        let other = file(&folder, "b.csv", "a,b\n5,6\n");
        let source = Source::open(&[path.clone(), other]).unwrap();
        let columns = wanted(&[("a", ReadAs::Number)]);
        let options = ScanOptions { batch_bytes: 8, ..ScanOptions::default() };
        let limited = ScanOptions { limit_rows: Some(2), ..options.clone() };

        let mut scan = source.scan(&columns, options).unwrap();
        let mut short_scan = source.scan(&columns, limited).unwrap();
        for scan in [&mut scan, &mut short_scan] {
            assert_eq!(scan.next().unwrap().unwrap().first_row, 0);
        }
        change(&path);
        for scan in [&mut scan, &mut short_scan] {
            assert_eq!(scan.next().unwrap().unwrap().first_row, 1);
        }
        assert_changed(scan.next().unwrap(), &folder);
        assert!(scan.next().is_none());
        assert!(short_scan.next().is_none());
    }
}

#[test]
fn stamps_tell_size_and_time_of_each_file() {
    let folder = folder();
    let path = table(&folder);
    let before = open(&path).unwrap().stamps();
    assert_eq!((before[0].name.as_str(), before[0].bytes), (path.as_str(), 8));
    assert!(before[0].modified_ns > 0);
    assert_eq!(open(&path).unwrap().stamps(), before);
    wait();
    append(&path);
    assert_ne!(open(&path).unwrap().stamps(), before);
}

#[test]
fn a_file_that_is_gone_is_named() {
    let folder = folder();
    let path = table(&folder);
    let source = open(&path).unwrap();
    fs::remove_file(path).unwrap();
    let error = source.check_unchanged().unwrap_err();
    assert_eq!(words(&error, &folder), "cannot read `a.csv`: no such file or directory");
}
