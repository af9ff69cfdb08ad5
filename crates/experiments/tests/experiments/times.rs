//! Figure 1 and Table 1: times are measured and written.

use crate::common::{csv, done, number, tiny};
use dshap_experiments::{Experiment, Settings};

#[test]
fn figure_1_has_a_time_for_every_case() {
    let settings = Settings { repetitions: Some(2), only: None, d_shapley: Some(1), ..tiny("gaussian-r") };
    let folder = done(Experiment::Fig1, &settings);
    let (header, rows) = csv(&folder.path().join("fig1.csv"));
    assert_eq!(header, "task,p,m,method,repetition,seconds");
    assert!(rows.iter().all(|row| number(&row[5]) > 0.0));
    // Two tasks, two p: three m for the closed form, two for the paper's algorithms; D-SHAPLEY once.
    let n = |method: &str| rows.iter().filter(|row| row[1] != "120" && row[3] == method).count();
    assert_eq!([n("closed"), n("paper"), n("d-shapley")], [2 * 4 * 3, 2 * 4 * 2, 4]);
    // The largest case, in chunks, by both methods.
    for task in ["regression", "classification"] {
        for method in ["closed", "paper"] {
            let largest = |row: &&Vec<String>| row[..4] == [task, "120", "2000", method];
            assert_eq!(rows.iter().filter(largest).count(), 2, "{task}, {method}");
        }
    }
    let summary = std::fs::read_to_string(folder.path().join("fig1.md")).unwrap();
    assert!(
        summary.contains("| classification | 30 | 1000 |") && summary.contains("| regression | 2000 | 120 |")
    );
    assert!(summary.contains("| printed | 7015.7 s | 2.6 s | – | 2698 to 1 |"), "{summary}");
    assert!(
        summary.contains(" – ") && summary.contains("; once)") || summary.contains("(once)"),
        "{summary}"
    );
    assert!(folder.path().join("fig1.png").is_file());
    let figure = std::fs::read_to_string(folder.path().join("fig1.svg")).unwrap();
    assert!(figure.contains("medians of 2 repetitions, bands to the furthest<"));
    assert!(figure.contains("closed form, p = 30<"), "one panel for each task, p is a line style");
    assert!(figure.contains("D-SHAPLEY, p = 10 (from 2 down to 1)<"), "fewer repetitions are named");
}

#[test]
fn table_1_has_a_row_for_every_method() {
    let folder = done(Experiment::Table1, &Settings { repetitions: Some(1), ..tiny("gaussian-r") });
    let (header, rows) = csv(&folder.path().join("table1.csv"));
    assert_eq!(header, "dataset,method,repetition,n_reference,features,points,seconds");
    let methods: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(methods, ["closed", "paper", "d-shapley"]);
    assert!(rows.iter().all(|row| row[3] == "47800" && row[4] == "10" && number(&row[6]) > 0.0));
    let summary = std::fs::read_to_string(folder.path().join("table1.md")).unwrap();
    assert!(summary.contains("| 229.2 s | 6.9 s |"), "the paper's times stand beside ours: {summary}");
    let figure = std::fs::read_to_string(folder.path().join("table1.svg")).unwrap();
    assert!(figure.contains(">gaussian-r<"), "datasets have their names");
}

#[test]
fn table_2_says_what_differs_from_the_paper() {
    let settings = Settings { seed: 0, repetitions: None, d_shapley: None, ..tiny("gaussian-r") };
    let folder = done(Experiment::Table2, &settings);
    let (header, rows) = csv(&folder.path().join("table2.csv"));
    assert!(header.starts_with("dataset,task,printed_rows,printed_held_out,printed_dimension,reference"));
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0][2..], ["49000", "1000", "10", "47800", "47800", "200", "1000", "1000", "10"]);
    let summary = std::fs::read_to_string(folder.path().join("table2.md")).unwrap();
    assert!(
        summary.contains("1000 test rows are removed, too: 47800 reference rows instead of 48800"),
        "{summary}"
    );
}
