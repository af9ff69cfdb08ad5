//! Small helpers that the tests of this crate share.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_io::{Error, ScanOptions, Source};
use dshap_table::{ReadAs, Wanted};
use tempfile::TempDir;

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Writes a file and returns its path as a user would type it.
pub(crate) fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

pub(crate) fn open(path: &str) -> Result<Source, Error> {
    Source::open(&[path.to_owned()])
}

pub(crate) fn wanted(columns: &[(&str, ReadAs)]) -> Vec<Wanted> {
    columns.iter().map(|&(name, read_as)| Wanted { name: name.to_owned(), read_as }).collect()
}

pub(crate) fn read(source: &Source, columns: &[(&str, ReadAs)]) -> Result<Vec<RecordBatch>, Error> {
    source
        .scan(&wanted(columns), ScanOptions::default())?
        .map(|batch| batch.map(|batch| batch.rows))
        .collect()
}

pub(crate) fn numbers(source: &Source, name: &str) -> Result<Vec<Option<f64>>, Error> {
    let batches = read(source, &[(name, ReadAs::Number)])?;
    Ok(batches.iter().flat_map(|rows| rows.column(0).as_primitive::<Float64Type>().iter()).collect())
}

pub(crate) fn texts(source: &Source, name: &str, read_as: ReadAs) -> Result<Vec<Option<String>>, Error> {
    let batches = read(source, &[(name, read_as)])?;
    Ok(batches
        .iter()
        .flat_map(|rows| rows.column(0).as_string::<i32>().iter())
        .map(|text| text.map(str::to_owned))
        .collect())
}

pub(crate) fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Replaces the folder, which differs from run to run.
pub(crate) fn words(error: &Error, folder: &TempDir) -> String {
    let prefix = format!("{}/", folder.path().display());
    error.to_string().replace(&prefix, "")
}
