//! `dshap methods`: what the catalogue has.

use crate::args::{MethodsArgs, command as root, default, long_name, only_tasks, spelled};
use crate::failure::Failure;
use crate::table::wrapped;
use clap::{Arg, ArgAction, Command};
use dshap_catalogue::{Kind, MethodEntry, MethodKind, OptionEntry, Takes, Task, options};
use dshap_models::methods;
use serde::Serialize;
use serde_json::Value as Json;
use std::fmt::Write;

/// The longest line.
const WIDTH: usize = 100;

/// Where the values of a list of facts begin.
const INDENT: usize = 18;

pub(crate) fn run(args: &MethodsArgs) -> Result<(), Failure> {
    let text = match (args.name, args.json) {
        (Some(method), true) => json(&methods::as_json(&method.entry)),
        (Some(method), false) => described(&method.entry),
        (None, true) => json(&Catalogue {
            methods: methods::entries().into_iter().map(methods::as_json).collect(),
            options: options::all().collect(),
            commands: root().get_subcommands().map(CommandEntry::of).collect(),
        }),
        (None, false) => table(),
    };
    crate::print(&text)
}

/// All entries, as JSON has them.
#[derive(Serialize)]
struct Catalogue {
    methods: Vec<Json>,
    options: Vec<&'static OptionEntry>,
    commands: Vec<CommandEntry>,
}

/// A command: the options of the catalogue that it takes, and what only it takes.
#[derive(Serialize)]
struct CommandEntry {
    name: String,
    help: String,
    /// Names of options.
    options: Vec<String>,
    /// Arguments that are not in the catalogue, such as files and the method.
    arguments: Vec<ArgumentEntry>,
}

#[derive(Serialize)]
struct ArgumentEntry {
    name: String,
    placeholder: String,
    help: String,
    /// Given by its place instead of by its name.
    positional: bool,
    required: bool,
    /// May be given several times.
    several: bool,
}

impl CommandEntry {
    fn of(command: &Command) -> CommandEntry {
        let (options, arguments): (Vec<&Arg>, Vec<&Arg>) = command
            .get_arguments()
            .filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"))
            .partition(|argument| {
                !argument.is_positional() && options::find(argument.get_id().as_str()).is_some()
            });
        CommandEntry {
            name: command.get_name().to_owned(),
            help: command.get_about().map(ToString::to_string).unwrap_or_default(),
            options: options.iter().map(|option| option.get_id().to_string()).collect(),
            arguments: arguments.into_iter().map(ArgumentEntry::of).collect(),
        }
    }
}

impl ArgumentEntry {
    fn of(argument: &Arg) -> ArgumentEntry {
        let placeholder = match argument.get_action().takes_values() {
            true => argument.get_value_names().unwrap_or_default().join(" "),
            false => String::new(),
        };
        ArgumentEntry {
            name: argument.get_id().to_string(),
            placeholder,
            help: argument.get_help().map(ToString::to_string).unwrap_or_default(),
            positional: argument.is_positional(),
            required: argument.is_required_set(),
            several: matches!(argument.get_action(), ArgAction::Append)
                || argument.get_num_args().is_some_and(|count| count.max_values() > 1),
        }
    }
}

fn json(entries: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(entries).expect("entries have nothing JSON cannot hold");
    format!("{text}\n")
}

/// A line for each method.
fn table() -> String {
    let header = ["method", "tasks", "kind", "errors", "kept", "summary"].map(String::from);
    let rows: Vec<[String; 6]> =
        std::iter::once(header).chain(methods::entries().into_iter().map(row)).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
            format!("{cell:<width$}")
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text + "\nTasks: R regression, C classification, D density. Errors: whether there are standard errors.\n\
            Kept: a valuer can be S saved, U updated, M merged, for one of the tasks at least.\n\n\
            `dshap methods NAME` describes a method, its options and an example.\n"
}

fn row(entry: &MethodEntry) -> [String; 6] {
    let letters = |letters: &[(&str, bool)]| {
        let shown: Vec<&str> = letters.iter().map(|(letter, is)| if *is { letter } else { "·" }).collect();
        shown.join(" ")
    };
    let tasks = [
        ("R", entry.is_for(Task::Regression)),
        ("C", entry.is_for(Task::Classification)),
        ("D", entry.is_for(Task::Density)),
    ];
    let kept =
        [("S", entry.saved.is_ok()), ("U", !entry.updates.is_empty()), ("M", !entry.merges.is_empty())];
    let errors = if entry.has_std_errors() { "yes" } else { "no" };
    [
        entry.name.into(),
        letters(&tasks),
        kind(entry.kind).into(),
        errors.into(),
        letters(&kept),
        spelled(entry.summary),
    ]
}

fn kind(kind: MethodKind) -> &'static str {
    match kind {
        MethodKind::ClosedForm => "closed form",
        MethodKind::Bound => "bound",
        MethodKind::Drawing => "drawing",
        MethodKind::Baseline => "baseline",
    }
}

/// All that is known about a method.
fn described(entry: &MethodEntry) -> String {
    let mut text = format!("{}: {}\n\n", entry.name, spelled(entry.summary));
    text += &wrapped(&spelled(entry.about), 0, WIDTH);
    text.push('\n');
    let tasks: Vec<&str> = entry.tasks.iter().map(|task| task.name()).collect();
    let errors = if entry.has_std_errors() { entry.std_errors } else { "none" };
    for (name, value) in [
        ("tasks", tasks.join(", ")),
        ("kind", kind(entry.kind).into()),
        ("assumes", entry.assumes.into()),
        ("parts", parts(entry)),
        ("standard errors", errors.into()),
        ("passes", entry.passes.into()),
        ("valuers", valuers(entry)),
        ("source", entry.source.into()),
        ("documentation", entry.page.into()),
    ] {
        let lines = wrapped(&spelled(&value), INDENT, WIDTH);
        let _ = write!(text, "{name:<INDENT$}{}", lines.trim_start());
    }
    text += "\nOptions:\n";
    for takes in entry.options {
        text += &option(entry, takes);
    }
    text +=
        "\nEvery method also takes the options on columns, output and the run: see `dshap value --help`.\n";
    let _ = write!(text, "\nExample:\n  dshap {}\n", spelled(entry.example));
    text
}

/// The parts of its values, case by case where there are several.
fn parts(entry: &MethodEntry) -> String {
    let cases: Vec<String> =
        entry.parts.cases().map(|(case, names)| format!("{case}: {}", names.join(", "))).collect();
    if cases.is_empty() { "none".into() } else { cases.join("; ") }
}

/// What can be done with valuers of a method, and for which tasks if not for all that it has.
fn valuers(entry: &MethodEntry) -> String {
    if let Err(why) = entry.saved {
        return format!("cannot be saved: {why}");
    }
    let can = |what: &str, tasks: &[Task]| {
        let names: Vec<&str> = tasks.iter().map(|task| task.name()).collect();
        let is_all = entry.tasks.iter().all(|task| tasks.contains(task));
        let of = if is_all { String::new() } else { format!(" ({})", names.join(", ")) };
        (!tasks.is_empty()).then(|| format!("{what}{of}"))
    };
    let changes: Vec<String> =
        [can("updated", entry.updates), can("merged", entry.merges)].into_iter().flatten().collect();
    match changes.as_slice() {
        [] => "can be saved".into(),
        [one] => format!("can be saved and {one}"),
        several => format!("can be saved, {}", several.join(" and ")),
    }
}

/// An option of a method: the flag, and below it what it means there.
fn option(entry: &MethodEntry, takes: &Takes) -> String {
    let option = takes.option;
    let value = match option.takes {
        Kind::Switch => String::new(),
        Kind::Choice { words } => {
            let all = words.iter().map(|word| word.word);
            let words = takes.words.map_or_else(|| all.collect(), <[_]>::to_vec);
            format!(" {}", words.join("|"))
        }
        _ => format!(" {}", option.placeholder),
    };
    let usual = Some(spelled(option.default)).filter(|usual| !usual.is_empty());
    let default = default(takes.default).or(usual).map(|default| format!("; default {default}"));
    let meaning = if takes.role.is_empty() { option.help } else { takes.role };
    let meaning = format!("{}{}", capitalised(&spelled(meaning)), default.unwrap_or_default());
    let flag = format!("  --{}{value}{}\n", long_name(option.name), only_tasks(entry, takes));
    flag + &wrapped(&meaning, 6, WIDTH)
}

/// The text with a capital first letter.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
