//! What the documents show is what the program says.

use crate::common::Folder;
use dshap_testkit::{real_data, skip};
use std::path::Path;
use std::process::Command;

/// Tables of the guides, and the files of real data they are.
const TABLES: [(&str, &str); 2] = [("wine.csv", "whitewine.csv"), ("patients.csv", "pima_diabetes.csv")];

/// A command and the lines that a document shows below it.
struct Shown {
    command: String,
    lines: Vec<String>,
}

/// All commands of a document that show what they say.
fn shown(document: &str) -> Vec<Shown> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(document);
    let text = std::fs::read_to_string(path).expect("a document");
    let mut found: Vec<Shown> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        let first = found.len();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => found.push(Shown { command: command.into(), lines: Vec::new() }),
                None => found[first..].last_mut().expect("a command comes first").lines.push(line.into()),
            }
        }
    }
    found.retain(|shown| !shown.lines.is_empty());
    found
}

/// The screen of a wide terminal after a command; nothing where there is no `script`.
fn screen(folder: &Folder, command: &str) -> Option<String> {
    let program = assert_cmd::cargo::cargo_bin!("dshap").display().to_string();
    let arguments = command.strip_prefix("dshap").or(command.strip_prefix("cargo run --release"));
    let arguments = arguments.unwrap_or_else(|| panic!("`{command}` is no command of dshap"));
    let line = format!("stty cols 160; NO_COLOR=1 '{program}'{arguments}");
    let script = Command::new("script")
        .args(["--quiet", "--command", &line, "/dev/null"])
        .current_dir(folder.path("."))
        .output();
    match script {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).replace('\r', "\n")),
        Err(error) => {
            skip(&format!("there is no `script` here ({error})"));
            None
        }
    }
}

/// A line without what differs between machines: gaps, and the seconds of `evaluate`.
fn comparable(line: &str, has_seconds: bool) -> String {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if has_seconds && words.last().is_some_and(|word| word.parse::<f64>().is_ok()) {
        words.pop();
    }
    words.join(" ")
}

/// The lines that a document shows come in this order; those it leaves out are dots.
fn check(document: &str, folder: &Folder) {
    let all = shown(document);
    assert!(!all.is_empty(), "{document} shows nothing");
    for Shown { command, lines } in all {
        let Some(screen) = screen(folder, &command) else { return };
        let has_seconds = lines.iter().any(|line| line.ends_with(" seconds"));
        let mut rest = screen.lines().map(|line| comparable(line, has_seconds));
        for line in lines.iter().filter(|line| !["", "...", "…"].contains(&line.trim())) {
            let wanted = comparable(line, has_seconds);
            // A bar that was wiped may stand before it.
            let is_there = rest.any(|line| line == wanted || line.ends_with(&format!("\u{1b}[2K{wanted}")));
            assert!(is_there, "{document}: `{command}` does not say\n{line}\nbut\n{screen}");
        }
    }
}

/// A folder with the tables of the guides.
fn tables() -> Option<Folder> {
    let folder = Folder::new();
    for (name, file) in TABLES {
        folder.write(name, std::fs::read(real_data(file)?).expect("a table"));
    }
    Some(folder)
}

#[test]
fn the_first_steps_show_what_the_program_says() {
    let Some(folder) = tables() else { return };
    check("docs/guide/first-steps.md", &folder);
}

#[test]
fn the_guide_to_explanations_shows_what_the_program_says() {
    let Some(folder) = tables() else { return };
    check("docs/guide/explain.md", &folder);
}

#[test]
fn the_readme_shows_the_demonstration() {
    let demonstration = shown("README.md").into_iter().next().expect("the first thing it shows");
    assert_eq!(demonstration.command, "cargo run --release");
    let Some(screen) = screen(&Folder::new(), &demonstration.command) else { return };
    let said: Vec<String> = screen.lines().map(|line| comparable(line, false)).collect();
    for line in demonstration.lines.iter().filter(|line| !["", "…"].contains(&line.trim())) {
        assert!(said.contains(&comparable(line, false)), "`{line}` is not in\n{screen}");
    }
}
