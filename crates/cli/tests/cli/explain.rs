//! `explain`: why a row is worth what it is worth.

use crate::common::{Csv, Folder};
use dshap_testkit::Draws;
use serde_json::Value as Json;
use std::fmt::Write as _;

/// Sixty rows of a city, an age, a quantity and a label; the quantity of row 7 and its label are wrong.
fn table() -> String {
    let mut draws = Draws::new(3);
    let mut csv = String::from("city,age,y,label\n");
    for row in 0..60 {
        let (city, age) = (["Ulm", "Rom", "Bonn"][row % 3], 40.0 + 9.0 * draws.normal());
        let score = 0.2 * (age - 40.0) + f64::from(u8::from(city == "Ulm")) + draws.normal();
        let label = (score > 0.0) != (row == 7);
        let y = score + if row == 7 { 9.0 } else { 0.0 };
        let _ = writeln!(csv, "{city},{age},{y},{}", ["no", "yes"][usize::from(label)]);
    }
    csv
}

fn explained(folder: &Folder, line: &str) -> Json {
    let text = folder.stdout(&format!("dshap explain {line} --format json"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}\n{text}"))
}

#[test]
fn a_row_is_explained_in_sentences() {
    let folder = Folder::with("rows.csv", table());
    let text = folder.stdout("dshap explain rows.csv --target y --exclude label --row 7").replace('\n', " ");
    for part in [
        "Row 7 has the value -",
        "the lowest of 60",
        "the model of the other rows predicts",
        "standard deviations of the noise.",
        "With the predicted target it would be worth",
        "The largest contributions: `",
        "The rows most like it that the model predicts well: ",
    ] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

#[test]
fn facts_agree_with_the_values() {
    let folder = Folder::with("rows.csv", table());
    let values = Csv::parse(&folder.stdout("dshap value rows.csv --target y --exclude label"));
    let rows = explained(&folder, "rows.csv --target y --exclude label --row 7,20");
    for (at, row) in [7, 20].into_iter().enumerate() {
        let facts = &rows[at];
        let number = |name: &str| values.numbers(name)[row];
        assert_eq!(facts["row"], row);
        assert_eq!(facts["value"], number("value"));
        assert_eq!(facts["target"]["residual"], number("residual"));
        assert_eq!(facts["target"]["predicted"], number("predicted"));
        assert_eq!(facts["value_if_predicted"], number("potential"));
        // One-hot columns count together, and all contributions add up.
        let features = facts["features"].as_array().expect("features");
        assert_eq!(features.len(), 2, "{facts}");
        let sum: f64 = features.iter().filter_map(|one| one["contribution"].as_f64()).sum();
        assert!((sum - number("dist_sq")).abs() < 1e-9, "{sum}");
        let sizes: Vec<f64> =
            features.iter().filter_map(|one| one["contribution"].as_f64()).map(f64::abs).collect();
        assert!(sizes.is_sorted_by(|a, b| a >= b), "{sizes:?}");
        let lower = values.numbers("value").iter().filter(|value| **value < number("value")).count();
        assert_eq!(facts["rank"]["n_lower"], lower);
    }
    // The wrong row is not ordinary, so it is no example for others.
    assert!(rows[1]["nearest"]["rows"].as_array().expect("rows").iter().all(|near| near["row"] != 7));
}

#[test]
fn contributions_of_components_belong_to_the_columns_again() {
    let folder = Folder::with("rows.csv", table());
    let line = "rows.csv --target y --exclude label --pca 2 --row 7";
    let values = Csv::parse(&folder.stdout("dshap value rows.csv --target y --exclude label --pca 2"));
    let facts = &explained(&folder, line)[0];
    let features = facts["features"].as_array().expect("features");
    let sum: f64 = features.iter().filter_map(|one| one["contribution"].as_f64()).sum();
    assert!((sum - values.numbers("dist_sq")[7]).abs() < 1e-9, "{facts}");
}

#[test]
fn a_label_is_explained_with_its_probability_and_a_suggestion() {
    let folder = Folder::with("rows.csv", table());
    let values = Csv::parse(&folder.stdout("dshap value rows.csv --target label --exclude y"));
    let facts = &explained(&folder, "rows.csv --target label --exclude y --row 7")[0];
    let target = &facts["target"];
    assert_eq!(target["given"], values.column("given_label")[7]);
    assert_eq!(target["suggested"], values.column("predicted")[7]);
    assert_ne!(target["given"], target["suggested"]);
    assert_eq!(target["given_probability"], values.numbers("label_prob")[7]);
    assert!(facts["value_if_predicted"].as_f64() > facts["value"].as_f64(), "{facts}");
}

#[test]
fn neighbours_and_densities_are_explained_as_far_as_they_go() {
    let folder = Folder::with("rows.csv", table());
    let facts = &explained(&folder, "rows.csv --target label --exclude y --method knn --k 3 --row 7")[0];
    assert_eq!(facts["nearest"]["k"], 3);
    let share = facts["target"]["given_probability"].as_f64().expect("a share");
    assert!((3.0 * share).fract().abs() < 1e-9, "{facts}");
    let facts = &explained(&folder, "rows.csv --task density --exclude y,label --row 7")[0];
    assert_eq!(facts["target"], Json::Null);
    assert_eq!(facts["nearest"]["rows"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_valuer_explains_rows_too_and_its_target_may_be_named() {
    let folder = Folder::with("rows.csv", table()).and("new.csv", "city,age,y\nUlm,44,9\nBonn,41,0.2\n");
    folder.run("dshap fit rows.csv --target y --exclude label -o y.dshap");
    let facts = &explained(&folder, "new.csv --valuer y.dshap --target y --row 0")[0];
    let values = Csv::parse(&folder.stdout("dshap value new.csv --valuer y.dshap --target y"));
    assert_eq!(facts["value"], values.numbers("value")[0]);
    let output = folder.output("dshap value new.csv --valuer y.dshap --target age");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn values_can_come_with_explanations() {
    let folder = Folder::with("rows.csv", table());
    let output = folder.output("dshap value rows.csv --target y --exclude label --explain 7 --quiet");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.starts_with("row,value") && stderr.contains("Row 7 has the value"), "{stderr}");
    let output = folder.output("dshap value rows.csv --target y --exclude label --explain seven");
    assert!(String::from_utf8_lossy(&output.stderr).contains("counted from 0, not `seven`"));
}

#[test]
fn a_row_that_does_not_exist_is_refused() {
    let folder = Folder::with("rows.csv", table());
    let output = folder.output("dshap explain rows.csv --target y --exclude label --row 60");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no row 60: the table has 60 rows"));
}
