//! Values are those of `testdata/values/expected`: the same cells, and the same
//! numbers up to the last digits, which another processor may round otherwise.
//! `testdata/values/same-values` compares two programs byte for byte.

use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// Differences up to this share of a number, or of the largest number of the file,
/// come from kernels that another processor chooses.
const ROUNDING: f64 = 1e-9;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/values")
}

#[test]
fn every_method_task_and_format_gives_the_committed_values() {
    let cases = std::fs::read_to_string(folder().join("cases.txt")).expect("a list of cases");
    let mut n_cases = 0;
    for line in cases.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, arguments) = line.split_once(": ").expect("a name and arguments");
        let expected = std::fs::read_to_string(folder().join(format!("expected/{name}.txt")));
        let expected = expected.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut command = Command::cargo_bin("dshap").expect("the program is built");
        let output = command.current_dir(folder()).args(arguments.split(' ')).arg("--quiet").output();
        let output = output.expect("the program runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let found = String::from_utf8(output.stdout).expect("text");
        assert_same(name, &found, &expected);
        n_cases += 1;
    }
    assert!(n_cases > 60);
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
