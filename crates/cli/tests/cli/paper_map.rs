//! docs/paper-map.md: every row has commands, and they do what the page says.

use crate::common::Folder;
use std::path::{Path, PathBuf};

/// Commands that take long have this word behind them.
const LONG: &str = "(long)";

/// A row of the table: what it is about, and its commands with whether they take long.
struct MapRow {
    item: String,
    commands: Vec<(String, bool)>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rows() -> Vec<MapRow> {
    let page = std::fs::read_to_string(root().join("docs/paper-map.md")).expect("the page is there");
    let table = page.lines().filter(|line| line.starts_with("| "));
    let (mut rows, mut column) = (Vec::new(), None);
    for line in table {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(column) = column else {
            column = Some(cells.iter().position(|cell| *cell == "command").expect("a column of commands"));
            continue;
        };
        let pieces: Vec<&str> = cells[column].split('`').collect();
        let command = |pair: &[&str]| (pair[0].to_string(), pair[1].trim_start().starts_with(LONG));
        // Text between backticks stands at odd places, with what follows it behind.
        let commands = pieces[1..].chunks(2).filter(|pair| pair.len() == 2).map(command).collect();
        rows.push(MapRow { item: format!("{}: {}", cells[0], cells[1]), commands });
    }
    rows
}

/// A folder with the tables that commands name.
fn folder() -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("testdata/paper")).expect("a folder");
    for file in std::fs::read_dir(root().join("testdata/paper")).expect("the tables are there") {
        let file = file.expect("an entry");
        let to = folder.path("testdata/paper").join(file.file_name());
        std::fs::copy(file.path(), to).expect("a copy");
    }
    folder
}

#[test]
fn every_row_has_a_command() {
    let rows = rows();
    assert!(rows.len() > 60, "{} rows", rows.len());
    for row in &rows {
        assert!(!row.commands.is_empty(), "`{}` has no command", row.item);
        for (command, _) in &row.commands {
            let begins = command.starts_with("dshap ") || command.starts_with("cargo test ");
            assert!(begins, "`{command}` of `{}` is not a command", row.item);
        }
    }
}

#[test]
fn every_quick_command_prints_something() {
    let folder = folder();
    let mut n_run = 0;
    for row in rows() {
        for (command, is_long) in row.commands {
            if is_long || !command.starts_with("dshap ") {
                continue;
            }
            let output = folder.output(&command);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "`{command}` of `{}` fails:\n{error}", row.item);
            let writes = command.contains(" -o ");
            assert!(writes || !output.stdout.is_empty(), "`{command}` of `{}` prints nothing", row.item);
            n_run += 1;
        }
    }
    assert!(n_run > 50, "{n_run} commands");
    for figure in ["fig3", "fig4"] {
        assert!(folder.path("results").join(format!("{figure}.svg")).is_file(), "{figure}");
    }
}

/// Long commands are experiments; here they are only as long as it takes to refuse a panel.
#[test]
fn every_long_command_is_understood() {
    let folder = folder();
    let long = rows().into_iter().flat_map(|row| row.commands).filter(|(_, is_long)| *is_long);
    let commands: Vec<String> = long.map(|(command, _)| command).collect();
    for name in ["fig1", "fig2", "fig5", "fig6", "table1"] {
        assert!(
            commands.iter().any(|command| command.starts_with(&format!("dshap experiment {name} "))),
            "{name}"
        );
    }
    for command in commands {
        let refused = folder.run(&format!("{command} --only nothing"));
        assert!(refused.contains("`nothing`") || refused.contains("`--only`"), "{refused}");
        assert!(!refused.contains("exit 0"), "{refused}");
    }
}

/// Tests that stand for a command exist: the file of a module, or of a test binary.
#[test]
fn tests_that_are_named_exist() {
    for row in rows() {
        for (command, _) in row.commands.iter().filter(|(command, _)| command.starts_with("cargo test ")) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let ["cargo", "test", "-p", package, "--test", binary, module] = words[..] else {
                panic!("`{command}` of `{}`", row.item);
            };
            let folder = package.strip_prefix("dshap-").unwrap_or("core");
            let file = root().join(format!("crates/{folder}/tests/{binary}/{module}.rs"));
            assert!(file.is_file(), "`{command}` of `{}`: no {}", row.item, file.display());
        }
    }
}
