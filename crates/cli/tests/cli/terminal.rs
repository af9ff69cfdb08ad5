//! What a person sees on a terminal, given one by `script`.

use crate::common::{Folder, goods, goods_with, many_rows};
use std::process::Command;

/// The screen after `dshap ARGS` on a terminal without colour; nothing where there is no `script`.
fn on_a_terminal(folder: &Folder, args: &str) -> Option<String> {
    let program = assert_cmd::cargo::cargo_bin!("dshap").display();
    screen_of(folder, &format!("NO_COLOR=1 '{program}' {args}"))
}

/// The screen after a line of the shell.
fn screen_of(folder: &Folder, line: &str) -> Option<String> {
    let script = Command::new("script")
        .args(["--quiet", "--return", "--command", line, "/dev/null"])
        .current_dir(folder.path("."))
        .output();
    match script {
        Ok(output) => {
            let screen = String::from_utf8_lossy(&output.stdout).replace('\r', "");
            assert!(output.status.success(), "{screen}");
            Some(screen)
        }
        Err(error) => {
            dshap_testkit::skip(&format!("there is no `script` here ({error})"));
            None
        }
    }
}

#[test]
fn values_come_as_a_table() {
    let folder = Folder::with("goods.csv", goods());
    let Some(screen) = on_a_terminal(&folder, "value goods.csv --target price") else { return };
    let header: Vec<&str> = screen.lines().next().unwrap_or_default().split_whitespace().collect();
    let all = ["row", "value", "potential", "penalty", "dist_sq", "resid_sq", "predicted", "residual"];
    // A narrow window shows fewer columns, but always these.
    assert!(header.iter().all(|name| all.contains(name)) && header.contains(&"residual"), "{screen}");
    assert!(screen.contains("regression (guessed) of `price`"), "{screen}");
}

#[test]
fn a_long_table_shows_both_ends_by_value() {
    let folder = Folder::with("many.csv", many_rows(200));
    let Some(screen) = on_a_terminal(&folder, "value many.csv --target y --quiet") else { return };
    assert!(screen.contains("… 180 rows between, by value;"), "{screen}");
    let value = |line: &str| line.split_whitespace().nth(1).and_then(|cell| cell.parse::<f64>().ok());
    let shown: Vec<f64> = screen.lines().skip(1).filter_map(value).filter(|v| *v != 180.0).collect();
    assert_eq!(shown.len(), 20, "{screen}");
    assert!(shown.is_sorted_by(|a, b| a >= b), "{screen}");
}

#[test]
fn colour_is_for_those_who_want_it() {
    let folder = Folder::with("goods.csv", goods());
    let program = assert_cmd::cargo::cargo_bin!("dshap").display();
    let line = format!("NO_COLOR= TERM=xterm '{program}' value goods.csv --target price --quiet");
    let Some(screen) = screen_of(&folder, &line) else { return };
    assert!(screen.contains("\x1b[1m"), "{screen}");
    let Some(screen) = on_a_terminal(&folder, "value goods.csv --target price --quiet") else { return };
    assert!(!screen.contains('\x1b'), "{screen}");
}

#[test]
fn a_formula_shows_its_forms() {
    let folder = Folder::with("goods.csv", goods());
    let line = "formula regression --p 2 --q 5 --m 12 --d2 0.25 --e2 0 --sigma2 1.5";
    let Some(screen) = on_a_terminal(&folder, line) else { return };
    assert!(screen.contains("gain") && screen.contains("0.16929"), "{screen}");
}

#[test]
fn payouts_are_shown_to_the_last_unit() {
    let folder = Folder::with("owners.csv", "owner,rows,shapley,stderr\nacme,3,2,0.1\nbolt,4,1,0.1\n");
    let Some(screen) = on_a_terminal(&folder, "payout owners.csv --budget 100000 --quiet") else { return };
    assert!(screen.contains("66666.67") && screen.contains("33333.33"), "{screen}");
}

/// Neither a heading nor a cell reaches a terminal as it is.
#[test]
fn hidden_characters_are_shown_as_escapes() {
    let rows = goods_with("s\u{202e}ku,", |row| format!("A\u{1b}[31m\u{2066}{row},"));
    let folder = Folder::with("goods.csv", rows);
    for args in [
        "value goods.csv --target price --id s\u{202e}ku",
        "value goods.csv --target price --id s\u{202e}ku --sort value",
        "look goods.csv --target price",
    ] {
        let Some(screen) = on_a_terminal(&folder, args) else { return };
        assert!(screen.contains("s\\u{202e}ku") && screen.contains("A\\u{1b}[31m\\u{2066}"), "{screen}");
        assert!(!screen.contains(['\u{202e}', '\u{1b}', '\u{2066}']), "{screen}");
    }
}
