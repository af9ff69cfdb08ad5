//! What messages suggest is what the method takes: every method and task is given tables
//! and options that it refuses or warns about, and each option named in the answer is
//! looked up in the catalogue.

use crate::common::Folder;
use dshap_catalogue::{Task, options};
use dshap_models::methods::METHODS;
use dshap_testkit::Draws;
use std::fmt::Write as _;

/// `n` rows of a text, three numbers, a quantity and a label. The third number is the sum
/// of the others; with `is_hard`, labels are separated and cells are missing.
fn table(n: usize, is_hard: bool) -> String {
    let mut draws = Draws::new(5);
    let mut csv = String::from("shade,a,b,c,y,label\n");
    for row in 0..n {
        let (a, b) = (draws.normal(), draws.normal());
        let label = if is_hard { a > 0.0 } else { a + 2.0 * draws.normal() > 0.0 };
        let gap = if is_hard && row % 7 == 3 { String::new() } else { b.to_string() };
        let y = a + draws.normal();
        let _ = writeln!(
            csv,
            "{},{a},{gap},{},{y},{}",
            ["red", "blue"][row % 2],
            a + b,
            ["no", "yes"][usize::from(label)]
        );
    }
    csv
}

/// More columns than rows.
fn wide() -> String {
    let mut draws = Draws::new(6);
    let names: Vec<String> = (0..30).map(|column| format!("x{column}")).collect();
    let mut csv = format!("{},y,label\n", names.join(","));
    for row in 0..16 {
        (0..30).for_each(|_| _ = write!(csv, "{},", draws.normal()));
        let _ = writeln!(csv, "{},{}", draws.normal(), ["no", "yes"][row % 2]);
    }
    csv
}

/// Options named in what a run printed on standard error, apart from those that were
/// typed and those of another method that a sentence names (`--method calibrated`).
fn suggested(stderr: &str, typed: &str) -> Vec<String> {
    let is_typed = |name: &str| typed.split_whitespace().any(|word| word == format!("--{name}"));
    let mut found: Vec<String> = Vec::new();
    for line in stderr.lines() {
        for at in line.match_indices("--").map(|(at, _)| at) {
            let rest = &line[at + 2..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('-');
            if !name.is_empty() && !is_typed(name) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[test]
fn every_option_that_a_message_suggests_is_one_that_the_method_takes() {
    let folder = Folder::with("plain.csv", table(60, false))
        .and("hard.csv", table(60, true))
        .and("few.csv", table(6, false))
        .and("wide.csv", wide());
    let own = ["method", "methods", "valuer", "output", "help", "version"];
    let (mut n_runs, mut n_named, mut wrong) = (0, 0, Vec::new());
    for method in METHODS {
        for &task in method.entry.tasks {
            let target = match task {
                Task::Regression => "--target y --exclude label",
                Task::Classification => "--target label --exclude y",
                Task::Density => "--exclude label,y",
            };
            let is_drawing = method.entry.takes(&options::SAMPLES, Some(task)).is_some();
            let samples = if is_drawing { "--samples 20" } else { "" };
            let name = method.name();
            for table in ["plain.csv", "hard.csv", "few.csv", "wide.csv", "hard.csv --missing drop"] {
                for more in [
                    "",
                    "--m 5",
                    "--q 3",
                    "--stderr",
                    "--ridge 0",
                    "--dependent error",
                    "--reference few.csv",
                ] {
                    let line = format!(
                        "dshap value {table} --task {} {target} --method {name} {samples} {more}",
                        task.name()
                    );
                    let output = folder.output(&line);
                    let stderr = String::from_utf8_lossy(&output.stderr);
                    n_runs += 1;
                    for option in suggested(&stderr, &line) {
                        n_named += 1;
                        let entry = options::find(&option.replace('-', "_"));
                        let is_taken = match entry {
                            None => own.contains(&option.as_str()),
                            Some(entry) => {
                                !entry.is_of_methods() || method.entry.takes(entry, Some(task)).is_some()
                            }
                        };
                        // A sentence may send readers to another method, with its options.
                        let says =
                            stderr.lines().find(|said| said.contains(&format!("--{option}"))).unwrap_or("");
                        if !is_taken && !says.contains("--method ") {
                            wrong.push(format!("{line}\n  --{option}: {says}"));
                        }
                    }
                }
            }
        }
    }
    println!("{n_runs} runs, {n_named} options named, {} wrong", wrong.len());
    assert!(n_runs > 500 && n_named > 100, "{n_runs} runs named {n_named} options: the test has no power");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn hints_for_separated_labels_can_be_followed() {
    let folder = Folder::with("hard.csv", table(60, true));
    let line = "dshap value hard.csv --target label --exclude y,b,c --method second-order";
    for (options, left_out) in [
        ("--spread model", "leave out `--spread`"),
        ("--shift 4", "leave out `--shift`"),
        ("--spread model --shift 4", "leave out `--shift` and `--spread`"),
    ] {
        let said = folder.run(&format!("{line} {options}"));
        assert!(
            said.contains("exit 1") && said.contains(left_out) && !said.contains("--ridge auto"),
            "{said}"
        );
    }
    let followed = folder.run(line);
    assert!(followed.contains("exit 0"), "{followed}");
    // Where a ridge goes with the other options, the hint names it.
    let said = folder.run("dshap value hard.csv --target label --exclude y,b,c --ridge 0");
    assert!(said.contains("`--ridge auto`"), "{said}");
}

#[test]
fn what_was_not_given_is_not_to_be_left_out() {
    let folder = Folder::with("plain.csv", table(60, false));
    let line = "dshap value plain.csv --target y --exclude label";
    let said = folder.run(&format!("{line} --population plain.csv"));
    assert!(said.contains("leave out `--population`") && !said.contains("`--test`"), "{said}");
    let said = folder.run(&format!("{line} --test plain.csv"));
    assert!(said.contains("leave out `--test`"), "{said}");
}

#[test]
fn a_missing_target_is_no_missing_cell() {
    let csv = table(60, false);
    let last = csv.lines().last().expect("rows").to_owned();
    let cells: Vec<&str> = last.split(',').collect();
    let csv = csv.replace(&last, &[&cells[..4], &["", cells[5]]].concat().join(","));
    let folder = Folder::with("gap.csv", csv);
    let said = folder.run("dshap value gap.csv --target y --exclude label");
    assert!(said.contains("1 reference row has no target and is left out of the fit"), "{said}");
    assert!(!said.contains("has a missing cell"), "{said}");
    let said = folder.run("dshap value gap.csv --target y --exclude label --missing drop");
    assert!(said.contains("has a missing cell or no target"), "{said}");
}
