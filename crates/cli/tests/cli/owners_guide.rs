//! `docs/owners.md`: its commands run, in their order, and give what it shows.
//!
//! `INSTA_UPDATE=always` writes what they give into the page, to be reviewed like code.

use crate::common::{Folder, program};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Numbers of another processor differ in late digits, and what cancels is rounding.
const SAME: f64 = 2e-3;
const NOTHING: f64 = 1e-6;

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/owners.md")
}

/// A fenced block of the page.
struct Block {
    language: String,
    /// Its lines, as numbers of lines of the page.
    from: usize,
    to: usize,
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let fences: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].starts_with("```")).collect();
    let block = |pair: &[usize]| Block {
        language: lines[pair[0]].trim_start_matches('`').into(),
        from: pair[0] + 1,
        to: pair[1],
    };
    fences.chunks_exact(2).map(block).collect()
}

/// What a line of the shell shows on a terminal; nothing where there is no `script`.
fn screen(folder: &Folder, line: &str) -> Option<String> {
    let folder_of = program().parent().map(|parent| parent.display().to_string()).unwrap_or_default();
    let line = format!("stty cols 200; export PATH=\"{folder_of}:$PATH\" NO_COLOR=1; {line}");
    let output = Command::new("script")
        .args(["--quiet", "--command", &format!("bash -c '{}'", line.replace('\'', "'\\''")), "/dev/null"])
        .current_dir(folder.path("."))
        .env("SHELL", "/bin/bash")
        .output();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).replace('\r', "")),
        Err(error) => {
            dshap_testkit::skip(&format!("there is no `script` here ({error})"));
            None
        }
    }
}

/// Whether two texts are the same, numbers up to late digits and columns up to blanks.
fn is_same(found: &str, shown: &str) -> bool {
    let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    let (found, shown) = (words(found), words(shown));
    let number = |word: &str| word.trim_end_matches([',', ':', ';']).parse::<f64>().ok();
    let same = |(one, two): (&String, &String)| match (number(one), number(two)) {
        (Some(a), Some(b)) => (a - b).abs() <= SAME * a.abs().max(b.abs()) || a.abs().max(b.abs()) < NOTHING,
        _ => one == two,
    };
    found.len() == shown.len() && found.iter().zip(&shown).all(same)
}

/// The tables of the story, made by the script of the page; nothing where there is no Python.
fn story(script: &str) -> Option<Folder> {
    let folder = Folder::with("make.py", script);
    match Command::new("python3").arg("make.py").current_dir(folder.path(".")).output() {
        Ok(made) => {
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
            Some(folder)
        }
        Err(error) => {
            dshap_testkit::skip(&format!("there is no `python3` here ({error})"));
            None
        }
    }
}

#[test]
fn the_commands_of_the_guide_give_what_it_shows() {
    let text = std::fs::read_to_string(page()).expect("the page is there");
    let lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    let script = blocks.iter().find(|block| block.language == "python").expect("a script");
    let Some(folder) = story(&lines[script.from..script.to].join("\n")) else { return };
    // The overview at the top has no output; its files are there at the end.
    let mut consoles: Vec<&Block> = blocks.iter().filter(|block| block.language == "console").collect();
    consoles.rotate_left(1);
    let (mut written, mut n_shown) = (Vec::new(), 0);
    for block in consoles {
        let mut out = String::new();
        let commands: Vec<usize> =
            (block.from..block.to).filter(|&line| lines[line].starts_with("$ ")).collect();
        assert_eq!(commands.first(), Some(&block.from), "line {}: blocks begin with a command", block.from);
        for (place, &line) in commands.iter().enumerate() {
            let end = commands.get(place + 1).copied().unwrap_or(block.to);
            let shown = lines[line + 1..end].join("\n");
            let Some(found) = screen(&folder, &lines[line][2..]) else { return };
            let is_quiet = shown.is_empty();
            n_shown += usize::from(!is_quiet);
            let updates = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
            let fails = found.contains("error:") && !shown.contains("error:");
            assert!(!fails, "docs/owners.md, line {}: {}\n{found}", line + 1, lines[line]);
            assert!(
                is_quiet || updates || is_same(&found, &shown),
                "docs/owners.md, line {}: {}\n--- found\n{found}\n--- shown\n{shown}",
                line + 1,
                lines[line]
            );
            let keeps = is_quiet || is_same(&found, &shown);
            let _ = writeln!(out, "{}", lines[line]);
            let kept = if keeps { shown } else { found.trim_end().to_string() };
            kept.lines().for_each(|line| {
                let _ = writeln!(out, "{}", line.trim_end());
            });
        }
        written.push((block.from, block.to, out));
    }
    assert!(n_shown > 5, "{n_shown} commands have an output");
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        rewrite(&lines, written);
    }
}

/// Puts blocks into the page.
fn rewrite(lines: &[&str], mut blocks: Vec<(usize, usize, String)>) {
    blocks.sort_by_key(|block| block.0);
    let (mut text, mut next) = (String::new(), 0);
    for (from, to, block) in blocks {
        lines[next..from].iter().for_each(|line| {
            let _ = writeln!(text, "{line}");
        });
        text += &block;
        next = to;
    }
    lines[next..].iter().for_each(|line| {
        let _ = writeln!(text, "{line}");
    });
    std::fs::write(page(), text).expect("the page can be written");
}
