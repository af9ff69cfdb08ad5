//! `dshap look`.

use super::shell::flags_of_columns;
use crate::args::LookArgs;
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::{counted, grouped, significant, visible, wrapped};
use dshap_run::{ColumnLook, ColumnRole, Look};
use dshap_words::in_shell;
use serde::Serialize;

/// The longest line of a sentence.
const WIDTH: usize = 100;

/// The longest text of a cell.
const CELL: usize = 16;

pub(crate) fn run(args: &LookArgs) -> Result<(), Failure> {
    let doing = format!("cannot look at `{}`", args.files.join("`, `"));
    let failed = |error| Failure::run(doing, &error, CommandLine::default());
    let look = dshap_run::look(&args.files, &args.given).map_err(failed)?;
    crate::print(&if args.json { json(&look) } else { visible(&text(&look, args)) })
}

/// All of it, as programs want it.
#[derive(Serialize)]
struct Looked<'a> {
    files: &'a [String],
    n_rows: u64,
    task: Option<&'static str>,
    task_guessed: Option<bool>,
    columns: &'a [ColumnLook],
    problems: Vec<ProblemEntry<'a>>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct ProblemEntry<'a> {
    column: Option<&'a String>,
    problem: String,
    solution: Option<String>,
}

fn problems(look: &Look) -> Vec<ProblemEntry<'_>> {
    let speech = CommandLine::default();
    let entry = |problem: &'_ dshap_run::Problem| {
        (dshap_words::error(&problem.error, &speech), dshap_words::hint(&problem.error, &speech))
    };
    look.problems
        .iter()
        .map(|found| {
            let (problem, solution) = entry(found);
            ProblemEntry { column: found.column.as_ref(), problem, solution }
        })
        .collect()
}

fn notes(look: &Look) -> Vec<String> {
    look.warnings.iter().map(|warning| dshap_words::warning(warning, &CommandLine::default())).collect()
}

fn json(look: &Look) -> String {
    let looked = Looked {
        files: &look.files,
        n_rows: look.n_rows,
        task: look.task.map(|(task, _)| task.name()),
        task_guessed: look.task.map(|(_, is_guessed)| is_guessed),
        columns: &look.columns,
        problems: problems(look),
        notes: notes(look),
    };
    let text = serde_json::to_string_pretty(&looked).expect("facts have nothing JSON cannot hold");
    format!("{text}\n")
}

/// The same for people.
fn text(look: &Look, args: &LookArgs) -> String {
    let task = look.task.map(|(task, is_guessed)| {
        format!("; the target asks for {}{}", task.name(), if is_guessed { " (guessed)" } else { "" })
    });
    let (n_rows, n_columns) = (counted(look.n_rows, "row"), counted(look.columns.len() as u64, "column"));
    let mut text = format!("{n_rows}, {n_columns}{}\n\n", task.unwrap_or_default());
    let header = ["column", "type", "role", "missing", "different", "range or examples"].map(String::from);
    let shown = |cells: [String; 6]| cells.map(|cell| dshap_words::visible(&cell));
    let rows: Vec<[String; 6]> =
        std::iter::once(header).chain(look.columns.iter().map(row)).map(shown).collect();
    text += &columns(&rows);
    let problems = problems(look);
    text += &match problems.len() {
        0 => "\nNo problem was found.\n".to_owned(),
        1 => "\n1 problem:\n".to_owned(),
        n => format!("\n{n} problems:\n"),
    };
    for ProblemEntry { problem, solution, .. } in &problems {
        text += &bulleted(problem, "- ");
        text += &solution.as_ref().map(|solution| bulleted(solution, "  → ")).unwrap_or_default();
    }
    for note in notes(look) {
        text += &bulleted(&note, "note: ");
    }
    if problems.is_empty() {
        text += &next(look, args);
    }
    text
}

/// Cells in columns: counts to the right, all others to the left.
fn columns(rows: &[[String; 6]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let line = |row: &[String; 6]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            3 | 4 => format!("{cell:>width$}"),
            _ => format!("{cell:<width$}"),
        });
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// A sentence after a mark, its further lines indented.
fn bulleted(sentence: &str, mark: &str) -> String {
    let indent = mark.chars().count();
    let lines = wrapped(sentence, indent, WIDTH);
    format!("{mark}{}", lines.chars().skip(indent).collect::<String>())
}

fn row(column: &ColumnLook) -> [String; 6] {
    let role = match column.role {
        ColumnRole::Target => "target",
        ColumnRole::Feature => "feature",
        ColumnRole::Name => "name",
        ColumnRole::Weight => "weight",
        ColumnRole::Unused => "not used",
    };
    let missing = if column.n_missing == 0 { "–".into() } else { grouped(column.n_missing) };
    let more = if column.more_different { ">" } else { "" };
    let cells = match column.range {
        Some((low, high)) => format!("{} … {}", significant(low), significant(high)),
        None => column.examples.iter().map(|cell| shortened(cell)).collect::<Vec<_>>().join(", "),
    };
    let different = format!("{more}{}", grouped(column.n_different as u64));
    [shortened(&column.name), column.kind.clone(), role.into(), missing, different, cells]
}

fn shortened(cell: &str) -> String {
    if cell.chars().count() <= CELL {
        cell.into()
    } else {
        cell.chars().take(CELL - 1).chain(['…']).collect()
    }
}

/// What to do with a table that has no problem.
fn next(look: &Look, args: &LookArgs) -> String {
    let table = args.files.iter().map(|file| in_shell(file)).collect::<Vec<_>>().join(" ");
    match look.columns.iter().any(|column| column.role == ColumnRole::Target) {
        // The same columns, read in the same way.
        true => format!("\nNext: dshap value {table}{}\n", flags_of_columns(&args.given)),
        false => format!("\nNext: name the column to predict, as in dshap look {table} --target NAME\n"),
    }
}
