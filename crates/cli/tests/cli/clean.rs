//! `dshap clean`.

use crate::common::{Csv, Folder};
use dshap_testkit::Draws;
use std::fmt::Write as _;

/// A linear target; every twentieth is moved far, up or down.
fn numbers(n: usize) -> String {
    let mut draws = Draws::new(31);
    let mut csv = String::from("name,a,b,y\n");
    for row in 0..n {
        let [a, b, noise] = [draws.normal(), draws.normal(), draws.normal()];
        let moved = if row % 20 == 0 { 15.0_f64.copysign(draws.normal()) } else { 0.0 };
        let _ = writeln!(csv, "r{row},{a:.5},{b:.5},{:.5}", 2.0 * a - b + noise + moved);
    }
    csv
}

/// Two labels that two features tell apart; every tenth is wrong.
fn labels(n: usize) -> String {
    let mut draws = Draws::new(32);
    let mut csv = String::from("a,b,kind\n");
    for row in 0..n {
        let [a, b] = [draws.normal(), draws.normal()];
        let is_yes = (a + b > 0.0) != (row % 10 == 0);
        let _ = writeln!(csv, "{a:.5},{b:.5},{}", if is_yes { "yes" } else { "no" });
    }
    csv
}

#[test]
fn moved_targets_are_dropped_and_all_columns_stay() {
    let folder = Folder::with("t.csv", numbers(400));
    let said = folder.run("dshap clean t.csv --target y --exclude name -o out.csv --summary s.json");
    assert!(said.contains("recommendation: drop the 20 most suspicious rows (5 %)"), "{said}");
    let out = Csv::parse(&folder.read("out.csv"));
    assert_eq!((out.header(), out.len()), (vec!["name", "a", "b", "y"], 380));
    let kept = out.column("name");
    assert!((0..20).filter(|k| kept.contains(&format!("r{}", 20 * k).as_str())).count() <= 1);
    let summary = folder.read("s.json");
    assert!(summary.contains("\"recommended\": {") && summary.contains("\"evidence_needed\""), "{summary}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn marks_are_beside_all_rows() {
    let folder = Folder::with("t.csv", labels(400));
    let said = folder.run("dshap clean t.csv --target kind --mark -o out.csv");
    assert!(said.contains("recommendation: "), "{said}");
    let out = Csv::parse(&folder.read("out.csv"));
    assert_eq!(out.len(), 400);
    let (suspect, suggested) = (out.column("suspect"), out.column("suggested_label"));
    let (reason, kind) = (out.column("reason"), out.column("kind"));
    let flagged: Vec<usize> = (0..400).filter(|&row| suspect[row] == "true").collect();
    let n_right = flagged.iter().filter(|&&row| row % 10 == 0).count();
    assert!(n_right >= 30 && 2 * n_right > flagged.len(), "{n_right} of {}", flagged.len());
    for row in 0..400 {
        assert_eq!(suspect[row] == "true", !suggested[row].is_empty());
        assert_eq!(
            suspect[row] == "true",
            reason[row].trim_start_matches('"').starts_with("label has probability 0.")
        );
    }
    assert!(flagged.iter().all(|&row| suggested[row] != kind[row]));
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let folder = Folder::with("t.csv", labels(150));
    let line = "dshap clean t.csv --target kind --mark --repeats 1 --seed 5";
    assert_eq!(folder.stdout(&format!("{line} --threads 1")), folder.stdout(&format!("{line} --threads 3")));
}

#[test]
fn what_cannot_be_cleaned_is_refused() {
    let folder = Folder::with("t.csv", numbers(60));
    let said = folder.run("dshap clean t.csv --exclude name --task density");
    assert!(said.contains("exit 2") && said.contains("no targets that could be wrong"), "{said}");
    assert!(folder.run("dshap clean t.csv --target z").contains("exit 1"));
    assert!(folder.run("dshap clean t.csv --target y --m 5").contains("exit 2"));
}

#[test]
fn the_next_command_reads_the_table_as_this_one_did() {
    // Dates, a missing cell, a column of names, a decimal comma: without its options, `clean` would refuse the table.
    let mut draws = Draws::new(33);
    let mut csv = String::from("name;day;a;y\n");
    for row in 0..200 {
        let (a, noise) = (draws.normal(), draws.normal());
        let y = 2.0 * a + noise + if row % 20 == 0 { 15.0 } else { 0.0 };
        let cell = if row == 7 { String::new() } else { format!("{a:.3}").replace('.', ",") };
        let _ =
            writeln!(csv, "r{row};2024-0{}-11;{cell};{}", 1 + row % 9, format!("{y:.3}").replace('.', ","));
    }
    let folder = Folder::with("t.csv", csv);
    let said = folder.run(
        "dshap value t.csv --target y --task regression --id name --dates days --missing drop --decimal , -o v.csv",
    );
    let next = said.split("next: `").nth(1).and_then(|rest| rest.split('`').next()).expect("a command");
    assert!(next.contains("--exclude name") && next.contains("--task regression"), "{next}");
    let done = folder.run(next);
    assert!(done.contains("exit 0") && done.contains("recommendation:"), "{done}");
}

#[test]
fn all_problems_of_a_table_are_listed_at_once() {
    let csv = "day,a,y\n2024-01-01,1,2\n2024-01-02,,3\n2024-01-03,2,5\n2024-01-04,4,4\n";
    let folder = Folder::with("t.csv", csv);
    for line in ["dshap clean t.csv --target y", "dshap owners t.csv --target y --by y2"] {
        let said = folder.run(&line.replace("--by y2", "--by a"));
        assert!(said.contains("exit 1") && said.contains("column `day` holds date values"), "{said}");
    }
    let said = folder.run("dshap clean t.csv --target y");
    assert!(said.contains("column `a` has 1 missing cell"), "{said}");
}
