//! Small helpers that the tests of this crate share.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_io::{Destination, Error, Format, ScanOptions, Sink, Source};
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

/// Extensions of the formats besides CSV that hold numbers and text.
pub(crate) const TYPED_AND_TEXT: &[&str] = &["parquet", "arrow", "ndjson"];

/// Writes a table in the format its name asks for.
pub(crate) fn write(folder: &TempDir, name: &str, rows: &RecordBatch) -> String {
    let path = folder.path().join(name);
    let format = Format::from_extension(&path).unwrap();
    let mut sink = Sink::create(&Destination::File(path.clone()), format, rows.schema()).unwrap();
    sink.write(rows).unwrap();
    sink.finish().unwrap();
    path.display().to_string()
}

/// Pools of threads, on which nothing that is read may depend.
pub(crate) struct Pool;

impl Pool {
    pub(crate) fn all() -> Vec<rayon::ThreadPool> {
        let build = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        [1, 2, 3].map(build).into()
    }
}

/// Opens and reads a table in full, every column as it is.
pub(crate) fn read_all(path: &str) -> Result<Vec<RecordBatch>, Error> {
    let source = open(path)?;
    let names: Vec<String> = source.schema().names().map(str::to_owned).collect();
    let columns: Vec<_> = names.iter().map(|name| (name.as_str(), ReadAs::AsIs)).collect();
    let rows = read(&source, &columns)?;
    for column in &source.schema().columns {
        if column.kind == dshap_table::Kind::Number {
            read(&source, &[(&column.name, ReadAs::Number)])?;
        }
    }
    Ok(rows)
}

/// Cuts a file short and flips bits of it, some hundred times. None of this
/// may panic, and every error names the file. Returns how many of the flips
/// were refused; some change a value and cannot be noticed.
pub(crate) fn damage(folder: &TempDir, name: &str, whole: &[u8]) -> (usize, usize) {
    const N_DAMAGES: usize = 300;
    let check = |bytes: &[u8]| match read_all(&file(folder, name, bytes)) {
        Ok(_) => false,
        Err(error) => {
            assert!(error.to_string().contains(&format!("{name}`")), "{error}");
            true
        }
    };
    // Panics that are caught print a trace that would drown the test's words.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // A small congruential generator is random enough, and the same each time.
    let mut state = 12_345_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let n_cut = (0..N_DAMAGES).filter(|_| check(&whole[..random(whole.len())])).count();
    let n_flipped = (0..N_DAMAGES)
        .filter(|_| {
            let mut damaged = whole.to_vec();
            damaged[random(whole.len())] ^= 1 << random(8);
            check(&damaged)
        })
        .count();
    // Where structure is dense, as at both ends.
    for position in (0..whole.len().min(300)).chain(whole.len().saturating_sub(300)..whole.len()) {
        let mut damaged = whole.to_vec();
        damaged[position] ^= 0x81;
        check(&damaged);
    }
    std::panic::set_hook(hook);
    (n_cut, n_flipped)
}
