//! `look`, and tables as people have them.

use crate::common::{Csv, Folder};
use serde_json::Value as Json;
use std::fmt::Write as _;

/// An index, padded numbers, a date, a comment, missing cells and targets, and two columns that are
/// nearly numbers.
fn messy() -> String {
    let mut csv = String::from(",sku,seen,comment,age,price,size,y\n");
    for row in 0..40_usize {
        let age = if row % 13 == 4 { String::new() } else { (20 + row * 7 % 31).to_string() };
        let price = if row == 30 { "cheap".into() } else { format!("{}.5", row * 3 % 17) };
        let y = if row == 5 { String::new() } else { (row * 11 % 23).to_string() };
        let (month, day) = (1 + row % 9, 10 + row % 19);
        let _ = writeln!(
            csv,
            "{row},{:05},2024-0{month}-{day},text {row},{age},{price},\"1,{row}\",{y}",
            row * 7
        );
    }
    csv
}

fn looked(folder: &Folder, line: &str) -> Json {
    serde_json::from_str(&folder.stdout(&format!("dshap look {line} --json"))).expect("JSON")
}

fn problems(look: &Json) -> Vec<&str> {
    let problems = look["problems"].as_array().expect("a list");
    problems.iter().filter_map(|problem| problem["column"].as_str()).collect()
}

#[test]
fn every_problem_is_found_in_one_run() {
    let folder = Folder::with("messy.csv", messy());
    let look = looked(&folder, "messy.csv --target y");
    assert_eq!(problems(&look), ["seen", "comment", "age", "price", "size"]);
    assert_eq!(look["n_rows"], 40);
    let role = |at: usize| look["columns"][at]["role"].as_str().unwrap_or_default().to_owned();
    assert_eq!([role(0), role(1), role(4), role(7)], ["unused", "unused", "feature", "target"]);
    let output = folder.output("dshap value messy.csv --target y");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr.matches("caused by").count(), 5, "{stderr}");
}

#[test]
fn the_options_named_solve_the_problems() {
    let folder = Folder::with("messy.csv", messy());
    let line = "messy.csv --target y --dates parts --exclude comment --missing mean --categorical price,size";
    let look = looked(&folder, line);
    // As categories, most sizes are different: only that is left.
    assert_eq!(problems(&look), ["size"]);
    let line = "messy.csv --target y --dates parts --exclude comment,price,size --missing mean";
    assert!(problems(&looked(&folder, line)).is_empty());
    let text = folder.stdout(&format!("dshap look {line}"));
    assert!(text.contains("No problem was found.") && text.contains("Next: dshap value messy.csv"), "{text}");
    let values = Csv::parse(&folder.stdout(&format!("dshap value {line}")));
    assert_eq!(values.len(), 40);
}

#[test]
fn a_row_without_a_target_is_left_out_with_a_note() {
    let folder = Folder::with("messy.csv", messy());
    let line = "dshap value messy.csv --target y --exclude seen,comment,age,price,size --features sku";
    for missing in ["error", "drop", "mean"] {
        let values = Csv::parse(&folder.stdout(&format!(
            "{} --missing {missing}",
            line.replace("--exclude seen,comment,age,price,size ", "")
        )));
        assert_eq!((values.column("value")[5], values.column("note")[5]), ("", "missing cell"), "{missing}");
        assert!(!values.column("value")[6].is_empty());
    }
}

#[test]
fn an_index_and_padded_numbers_are_features_only_if_named() {
    let folder = Folder::with("messy.csv", messy());
    let summary = |line: &str| {
        folder.run(&format!("dshap value messy.csv --target y {line} --summary summary.json -o values.csv"));
        serde_json::from_str::<Json>(&folder.read("summary.json")).expect("JSON")
    };
    let given = summary("--exclude seen,comment,price,size --missing mean");
    assert_eq!(given["features"], serde_json::json!(["age"]));
    let said = given["warnings"].to_string();
    assert!(said.contains("`column_1` (it counts the rows), `sku` (numbers padded with zeros)"), "{said}");
    let named = summary("--features sku,age --missing mean");
    assert_eq!(named["features"], serde_json::json!(["sku", "age"]));
}

#[test]
fn dates_become_days_or_parts_and_stay_so_in_a_valuer() {
    let folder = Folder::with("messy.csv", messy());
    let line = "messy.csv --target y --features seen";
    for (form, columns) in
        [("days", vec!["seen"]), ("parts", vec!["seen.year", "seen.month", "seen.weekday"])]
    {
        folder.run(&format!("dshap fit {line} --dates {form} -o dates.dshap"));
        let inspected: Json =
            serde_json::from_str(&folder.stdout("dshap inspect dates.dshap --json")).expect("JSON");
        let names: Vec<&str> = inspected["columns"]
            .as_array()
            .expect("columns")
            .iter()
            .filter_map(|one| one["name"].as_str())
            .collect();
        assert_eq!(names, columns);
        let values = Csv::parse(&folder.stdout("dshap value messy.csv --valuer dates.dshap"));
        assert!(values.column("value").iter().filter(|value| value.is_empty()).count() == 1);
    }
    // 2024-02-29 is 59 days after the first of the year; a regression on days sees the same slope everywhere.
    let mut csv = String::from("seen,y\n");
    for (day, date) in
        ["2024-01-01", "2024-01-31", "2024-02-29", "2024-03-31", "2024/4/30"].iter().enumerate()
    {
        let noise = [0.5, -0.5, 0.25, -0.25, 0.0][day];
        let _ = writeln!(csv, "{date},{}", [0.0, 30.0, 59.0, 90.0, 120.0][day] + noise);
    }
    folder.write("days.csv", csv);
    let values = Csv::parse(&folder.stdout("dshap value days.csv --target y --dates days --q 4"));
    assert!(values.numbers("residual").iter().all(|residual| residual.abs() < 2.0));
}

#[test]
fn slips_get_hints() {
    let folder = Folder::with("rows.csv", messy());
    let said = |line: &str| String::from_utf8_lossy(&folder.output(line).stderr).into_owned();
    assert!(said("dshap value rows.csv y").contains("to predict the column `y`, write `--target y`"));
    assert!(said("dshap value rows.csv --label y").contains("named with '--target'"));
    assert!(said("dshap value rows.csv --target y --top -3").contains("'--bottom 3'"));
}

/// Wherever names are numbers, whatever goes wrong first.
#[test]
fn a_table_without_a_header_is_suspected_by_every_command() {
    let folder = Folder::new();
    // A look tells its problems on standard output.
    let said = |line: &str| folder.run(line);
    for (header, target) in [("1,1,3", "3"), ("1,2,3", "9"), ("1.2882,-0.4,7e3", "price"), ("1,2,3,red", "y")]
    {
        let n_texts = header.matches("red").count();
        let row = |i: usize| format!("{},{},{}{}\n", i, i * i % 7, i * i * i % 11, ",red".repeat(n_texts));
        let rows: String = (0..30).map(row).collect();
        folder.write("numbers.csv", format!("{header}\n{rows}"));
        for command in ["value", "fit -o v.dshap", "look", "clean"] {
            let words = said(&format!("dshap {command} numbers.csv --target {target}"));
            assert!(words.contains("--no-header"), "{command} {header}: {words}");
        }
    }
    folder.write("years.csv", "country,1990,weight\nA,1,2\nB,3,4\n");
    assert!(!said("dshap value years.csv --target price").contains("--no-header"));
}
