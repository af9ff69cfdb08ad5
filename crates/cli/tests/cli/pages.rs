//! The demonstration, the help and the other pages.

use crate::common::{Csv, Folder};
use std::process::Command;

#[test]
fn the_help_of_every_command_has_examples() {
    let folder = Folder::new();
    for command in ["", " value", " experiment", " dataset", " formula regression", " completions", " man"] {
        for flag in ["--help", "-h"] {
            let help = folder.stdout(&format!("dshap{command} {flag}"));
            assert!(help.contains("Example"), "dshap{command} {flag}: {help}");
            assert!(help.contains("  dshap"), "dshap{command} {flag}: {help}");
        }
    }
}

#[test]
fn the_version_is_printed() {
    let version = Folder::new().stdout("dshap --version");
    assert_eq!(version, format!("dshap {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn shells_complete_commands_and_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let page = Folder::new().stdout(&format!("dshap completions {shell}"));
        for word in ["value", "formula", "reference", "no-intercept"] {
            assert!(page.contains(word), "{shell}: no {word}");
        }
    }
}

#[test]
fn bash_accepts_the_completions() {
    let block = Folder::new().shell("eval \"$(dshap completions bash)\" && complete -p dshap >/dev/null");
    assert!(block.ends_with("exit 0\n"), "{block}");
}

#[test]
fn manual_pages_are_roff() {
    let folder = Folder::new();
    for command in ["", " value", " formula", " completions", " man"] {
        let page = folder.stdout(&format!("dshap man{command}"));
        assert!(
            page.contains(".TH ") && page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"),
            "{page}"
        );
    }
    assert!(folder.stdout("dshap man value").contains("\\-\\-target"));
    let block = folder.run("dshap man nothing");
    assert!(block.contains("\nexit 2\n") && block.contains("there is no command `nothing`"), "{block}");
}

#[test]
fn the_demonstration_finds_what_it_corrupted() {
    let demo = Folder::new().stdout("dshap");
    let (_, found) = demo.split_once("Among the 50 lowest values are ").expect("says what it found");
    let found: usize = found.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(found >= 45, "{demo}");
}

#[test]
fn the_demonstration_is_the_same_every_time() {
    let folder = Folder::new();
    let [one, two] = [0, 1].map(|_| folder.stdout("dshap"));
    // Each has a folder of its own, which the suggested commands name.
    let data = |shown: &str| shown.split_once("Try next:").expect("suggests something").0.to_owned();
    assert_eq!(data(&one), data(&two));
    assert_eq!(one.len(), two.len());
}

#[test]
fn the_commands_the_demonstration_suggests_run() {
    let folder = Folder::new();
    let demo = folder.stdout("dshap");
    let (_, suggested) = demo.split_once("Try next:\n").expect("suggests something");
    let mut n_run = 0;
    for line in suggested.lines() {
        // What follows a gap is explanation.
        let line = line.trim_start().split("   ").next().expect("split has a first part");
        let mut words = line.split_whitespace();
        let mut command = Command::new(words.next().expect("the program"));
        command.args(words).current_dir(folder.path("")).env("TMPDIR", folder.path(""));
        let output = command.output().expect("runs");
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        n_run += 1;
    }
    assert_eq!(n_run, 6, "{suggested}");
    let values = Csv::parse(&folder.read("values.csv"));
    assert_eq!(values.len(), 1000);
    assert!(values.header().contains(&"stderr"));
}
