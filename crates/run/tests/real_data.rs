//! Closed-form leave-one-out against rows that are really left out, on real data.
//!
//! The files are not part of the project. They are looked for in the folder that
//! `DSHAP_DATA` names, or in `../shared/data` beside the repository; a file that
//! is not there is passed over.

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap_run::{
    Against, Arrange, Collected, Model, SizeChoice, Summary, Task, Unwatched, ValueRequest, value,
};
use std::path::{Path, PathBuf};

fn data(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DSHAP_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join(file);
    if !path.is_file() {
        println!("skipped: there is no {}", path.display());
        return None;
    }
    Some(path)
}

fn run(request: &ValueRequest) -> (RecordBatch, Summary) {
    let mut collected = Collected::default();
    let summary = value(request, &Unwatched, &mut collected).expect("is valued");
    (collected.arranged(Arrange::ByRow).expect("rows fit"), summary)
}

fn cell(rows: &RecordBatch, name: &str, row: usize) -> f64 {
    rows.column_by_name(name).expect("the column is there").as_primitive::<Float64Type>().value(row)
}

fn check(file: &str) {
    let Some(path) = data(file) else { return };
    let all = path.display().to_string();
    let (rows, summary) = run(&ValueRequest::new(vec![all], "target"));
    let n = rows.num_rows();
    let text = std::fs::read_to_string(&path).expect("reads");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), n + 1, "a header and a line per row");

    let lowest = (0..n).min_by(|&i, &j| cell(&rows, "value", i).total_cmp(&cell(&rows, "value", j)));
    let folder = tempfile::tempdir().expect("a temporary folder");
    for row in [0, 17, n / 2, n - 1, lowest.expect("there are rows")] {
        let [rest, alone] = ["rest.csv", "alone.csv"].map(|file| folder.path().join(file));
        let others: Vec<&str> =
            lines.iter().enumerate().filter(|(line, _)| *line != row + 1).map(|(_, text)| *text).collect();
        std::fs::write(&rest, others.join("\n")).expect("writes");
        std::fs::write(&alone, format!("{}\n{}\n", lines[0], lines[row + 1])).expect("writes");
        let model = Model {
            // Defaults follow from the number of rows, which is one less here.
            sizes: SizeChoice { min: Some(summary.facts.q), max: Some(summary.facts.m) },
            task: Some(Task::Regression),
            ..Model::new("target")
        };
        let (removed, fewer) = run(&ValueRequest {
            against: Against::Reference { files: vec![rest.display().to_string()], model },
            ..ValueRequest::new(vec![alone.display().to_string()], "target")
        });
        let fewer = fewer.facts;
        let noise_var = fewer.noise_var.expect("a regression has noise");
        assert_eq!((fewer.p, fewer.n_reference), (summary.facts.p, n - 1));
        for name in ["value", "potential", "penalty", "dist_sq", "resid_sq"] {
            let (found, exact) = (cell(&rows, name, row), cell(&removed, name, 0));
            // A value is a difference, which may be small against its parts;
            // a squared residual near zero is measured by the noise.
            let scale = match name {
                "value" => cell(&removed, "potential", 0) + cell(&removed, "penalty", 0),
                "resid_sq" | "penalty" if exact < 1e-6 * noise_var => 1e-6 * noise_var,
                _ => exact,
            };
            let error = (found - exact).abs() / scale;
            assert!(error < 1e-8, "{file} row {row}: {name} {found:e}, removed {exact:e}, error {error:.1e}");
        }
    }
}

#[test]
fn airfoil_rows_are_worth_what_removing_them_says() {
    check("airfoil.csv");
}

#[test]
fn abalone_rows_are_worth_what_removing_them_says() {
    check("abalone.csv");
}

#[test]
fn whitewine_rows_are_worth_what_removing_them_says() {
    check("whitewine.csv");
}
