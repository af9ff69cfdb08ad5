//! Values are those of `testdata/values/expected`: the same cells, and the same
//! numbers up to the last digits, which another processor may round otherwise.
//! `testdata/values/same-values` compares two programs byte for byte.

use assert_cmd::Command;
use dshap_io::{ScanOptions, Source};
use dshap_models::methods::METHODS;
use dshap_table::{ReadAs, Wanted};
use std::path::{Path, PathBuf};

/// Differences up to this share of a number, or of the largest number of the file,
/// come from kernels that another processor chooses.
const ROUNDING: f64 = 1e-9;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/values")
}

#[test]
fn every_method_and_task_gives_the_committed_values() {
    for (name, arguments) in cases() {
        let found = String::from_utf8(run(&name, &arguments, &[])).expect("text");
        assert_same(&name, &found, &expected(&name));
    }
}

/// Each method for each task that it has stands in the list. Few rows are left to `exact-shapley`.
#[test]
fn no_method_or_task_is_left_out() {
    let cases: Vec<String> = cases().into_iter().map(|(_, arguments)| arguments).collect();
    assert!(cases.len() > 70);
    for method in METHODS {
        for task in method.entry.tasks {
            let table = match task.name() {
                "regression" => "value numbers",
                "classification" => "value labels",
                _ => "value cells",
            };
            let is_default = ["gaussian", "closed"].contains(&method.name());
            let is_it = |line: &String| {
                let named = line.split("--method ").nth(1).and_then(|rest| rest.split(' ').next());
                line.starts_with(table) && named.map_or(is_default, |named| named == method.name())
            };
            assert!(cases.iter().any(is_it), "{} for {}", method.name(), task.name());
        }
    }
}

/// Files hold what is written as CSV. NPY has numbers only, and no notes.
#[test]
fn every_format_holds_the_committed_values() {
    let files = tempfile::tempdir().expect("a temporary folder");
    let mut n_files = [0; 3];
    let tables = cases()
        .into_iter()
        .filter(|(_, arguments)| arguments.starts_with("value ") && !arguments.contains("--format"));
    for (number, (name, arguments)) in tables.enumerate() {
        let csv = files.path().join("expected.csv");
        std::fs::write(&csv, expected(&name)).expect("writes");
        let expected = columns(&csv);
        let is_number = |cell: &String| cell.is_empty() || cell.parse::<f64>().is_ok();
        let of_numbers =
            expected.iter().filter(|(name, _)| name != "note").all(|(_, cells)| cells.iter().all(is_number));
        for (format, of_all) in
            [("arrow", number % 2 == 0), ("parquet", number % 2 == 1), ("npy", of_numbers)]
        {
            if !of_all {
                continue;
            }
            n_files[["arrow", "parquet", "npy"].iter().position(|one| *one == format).expect("is one")] += 1;
            let file = files.path().join(format!("found.{format}"));
            run(&name, &arguments, &["-o", &file.display().to_string()]);
            let found = columns(&file);
            let expected = expected.iter().filter(|(name, _)| format != "npy" || name != "note");
            assert_eq!(found.len(), expected.clone().count(), "{name} as {format}: other columns");
            for ((found_name, found), (column, expected)) in found.iter().zip(expected) {
                assert_eq!(found_name, column, "{name} as {format}");
                assert_same(
                    &format!("{name} as {format}, {column}"),
                    &found.join("\n"),
                    &expected.join("\n"),
                );
            }
        }
    }
    assert!(n_files.iter().all(|n| *n > 20), "{n_files:?}");
}

/// Valuers of each version of the format have stood in `testdata/valuers` since that version. A file of
/// version 5 or later has its values beside it, of the rows in `numbers-new.csv` or `labels-new.csv`.
#[test]
fn valuers_of_every_version_are_read() {
    let stored = folder().join("../valuers");
    let mut versions = Vec::new();
    for entry in std::fs::read_dir(&stored).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "dshap") {
            continue;
        }
        let file = path.display().to_string();
        let text = String::from_utf8(run(&file, &format!("inspect {file} --json"), &[])).expect("text");
        let facts: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let version = facts["format_version"].as_u64().expect("a number");
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(name.starts_with(&format!("version-{version}")), "{name} is of version {version}");
        versions.push(version as u32);
        let Ok(expected) = std::fs::read_to_string(path.with_extension("csv")) else { continue };
        let points = if facts["task"] == "classification" { "labels" } else { "numbers" };
        let found = run(&file, &format!("value {points}-new.csv --valuer {file}"), &[]);
        assert_same(&name, &String::from_utf8(found).expect("text"), &expected);
    }
    for version in 1..=dshap_run::FORMAT_VERSION {
        assert!(versions.contains(&version), "no valuer of version {version} is stored");
    }
}

/// Names and arguments.
fn cases() -> Vec<(String, String)> {
    let list = std::fs::read_to_string(folder().join("cases.txt")).expect("a list of cases");
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, arguments) = line.split_once(": ").expect("a name and arguments");
            (name.into(), arguments.into())
        })
        .collect()
}

fn expected(name: &str) -> String {
    let text = std::fs::read_to_string(folder().join(format!("expected/{name}.txt")));
    text.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What the program writes to its standard output.
fn run(name: &str, arguments: &str, more: &[&str]) -> Vec<u8> {
    let mut command = Command::cargo_bin("dshap").expect("the program is built");
    // `inspect` reports nothing on the way.
    let quiet = (!arguments.starts_with("inspect")).then_some("--quiet");
    let command = command.current_dir(folder()).args(arguments.split(' ')).args(more).args(quiet);
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The names and cells of a table, a missing cell as an empty one.
fn columns(path: &Path) -> Vec<(String, Vec<String>)> {
    let source = Source::open(&[path.display().to_string()]).expect("opens");
    let wanted = source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::AsIs });
    let wanted: Vec<Wanted> = wanted.collect();
    let mut found: Vec<(String, Vec<String>)> =
        wanted.iter().map(|one| (one.name.clone(), Vec::new())).collect();
    for batch in source.scan(&wanted, ScanOptions::default()).expect("has them") {
        let rows = batch.expect("reads").rows;
        for ((_, cells), column) in found.iter_mut().zip(rows.columns()) {
            let text = arrow_cast::cast(column, &arrow_schema::DataType::Utf8).expect("is shown");
            let text = arrow_array::cast::AsArray::as_string::<i32>(&text).clone();
            cells.extend(
                text.iter().map(|cell| cell.filter(|cell| *cell != "NaN").unwrap_or_default().to_string()),
            );
        }
    }
    found
}

/// Cells are the same text, or numbers that differ by rounding.
fn assert_same(name: &str, found: &str, expected: &str) {
    let is_apart = |c: char| ",\n:{}[] ".contains(c);
    let (found, expected): (Vec<&str>, Vec<&str>) =
        (found.split(is_apart).collect(), expected.split(is_apart).collect());
    assert_eq!(found.len(), expected.len(), "{name}: other rows or columns");
    let number = |cell: &str| cell.parse::<f64>().ok();
    let largest =
        expected.iter().filter_map(|cell| number(cell)).fold(0.0_f64, |a, b| a.max(b.abs()).min(1e3));
    for (found, expected) in found.iter().zip(&expected) {
        let is_close = match (number(found), number(expected)) {
            (Some(a), Some(b)) => (a - b).abs() <= ROUNDING * b.abs().max(largest * 1e-3),
            _ => false,
        };
        assert!(found == expected || is_close, "{name}: {found}, expected {expected}");
    }
}
