//! What the catalogue says about a method is what the program does.

use crate::common::Folder;
use dshap_catalogue::{Task, options};
use dshap_models::Method;
use dshap_models::methods::METHODS;
use dshap_testkit::Draws;
use std::fmt::Write as _;

/// What is valued: a name of the entry, a task and the column to predict.
const CASES: [(&str, Task, &str); 4] = [
    ("regression", Task::Regression, "number"),
    ("two labels", Task::Classification, "two"),
    ("more labels", Task::Classification, "three"),
    ("density", Task::Density, ""),
];

/// Two features, and a target of each kind that depends on them. `part` has rows of its own.
fn table(part: u64, target: &str) -> String {
    let mut draws = Draws::new(41 + part);
    let mut csv = format!("a,b{}{target}\n", if target.is_empty() { "" } else { "," });
    for row in 0..70 {
        let (a, b) = (draws.normal(), draws.normal());
        let y = a - b + 1.5 * draws.normal();
        let _ = write!(csv, "{a:.4},{b:.4}");
        let _ = match target {
            "number" => writeln!(csv, ",{y:.4}"),
            "two" => writeln!(csv, ",{}", if y > 0.0 { "yes" } else { "no" }),
            "three" => writeln!(
                csv,
                ",{}",
                ["low", "mid", "high"][if row % 7 == 0 { 1 } else { 2 * usize::from(y > 0.0) }]
            ),
            _ => writeln!(csv),
        };
    }
    csv
}

/// Options that choose the case, and make methods that draw quick.
fn flags(method: &Method, task: Task, target: &str) -> String {
    let mut flags = match target {
        "" => "--task density".to_string(),
        target => format!("--target {target}"),
    };
    if method.entry.takes(&options::BANDWIDTH, Some(task)).is_some() {
        flags += " --bandwidth 1";
    }
    flags += &format!(" --method {}", method.name());
    let drawn = method.entry.takes(&options::SAMPLES, Some(task)).is_some();
    if drawn && !method.is_of_neighbours() {
        flags += " --samples 40";
    }
    // Without a ridge, `second-order` has one softmax model for all labels, with all parts of the entry.
    if method.name() == "second-order" {
        flags += " --ridge 0";
    }
    flags
}

/// Each method that values rows in this case, but for one that fits a model to each of all sets.
fn cases() -> impl Iterator<Item = (&'static Method, &'static str, Task, &'static str)> {
    let is_for = |method: &&Method, task| method.entry.is_for(task) && method.name() != "exact-shapley";
    let all = METHODS
        .iter()
        .copied()
        .flat_map(|method| CASES.map(|(name, task, target)| (method, name, task, target)));
    all.filter(move |(method, _, task, _)| is_for(method, *task))
}

#[test]
fn values_come_with_the_parts_of_their_entry() {
    for (_, _, target) in CASES {
        let folder = Folder::with("t.csv", table(0, target));
        for (method, case, task, _) in cases().filter(|(.., other)| *other == target) {
            let csv = folder.stdout(&format!("dshap value t.csv --quiet {}", flags(method, task, target)));
            let header = csv.lines().next().unwrap_or_default();
            let found = header.trim_start_matches("row,value").trim_end_matches("note").trim_matches(',');
            let expected = method.entry.parts.cases().find(|(name, _)| *name == case);
            let expected = expected.map(|(_, names)| names.join(",")).unwrap_or_default();
            assert_eq!(found, expected, "{}, {case}", method.name());
        }
    }
}

#[test]
fn valuers_are_saved_updated_and_merged_as_their_entry_says() {
    for (_, _, target) in CASES {
        let folder = Folder::with("one.csv", table(0, target)).and("two.csv", table(1, target));
        for (method, case, task, _) in cases().filter(|(.., other)| *other == target) {
            let (entry, flags) = (&method.entry, flags(method, task, target));
            let what = format!("{}, {case}", method.name());
            let done = |line: &str| {
                let block = folder.run(line);
                // Whatever is refused is refused for what it is, not because of a panic.
                assert!(block.contains("\nexit 0\n") || block.contains("error: "), "{what}: {block}");
                block.contains("\nexit 0\n")
            };
            let saved = done(&format!("dshap fit one.csv {flags} -o one.dshap"));
            assert_eq!(saved, entry.saved.is_ok(), "{what}: saved");
            if saved {
                assert!(done(&format!("dshap fit two.csv {flags} -o two.dshap")), "{what}");
                let updated = done("dshap update one.dshap two.csv -o new.dshap");
                assert_eq!(updated, entry.updates_for(task), "{what}: updated");
                let merged = done("dshap merge one.dshap two.dshap -o all.dshap");
                assert_eq!(merged, entry.merges_for(task), "{what}: merged");
            }
        }
    }
}
