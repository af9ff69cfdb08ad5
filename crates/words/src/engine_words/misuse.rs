//! Options that do not go together, in words.

use super::{catalogue_text, listed};
use crate::Speech;
use dshap_catalogue::{Misuse, Setting, Task};
use dshap_models::methods;

/// Why options cannot be used together, or not with the method.
pub fn misuse(misuse: &Misuse, speech: &dyn Speech) -> String {
    match misuse {
        Misuse::NotTaken { option, method, why, .. } if !why.is_empty() => format!(
            "{} does not go with {}: {}",
            speech.option(option),
            speech.method(method),
            catalogue_text(why, speech)
        ),
        Misuse::NotTaken { option, method, task, is_taken_elsewhere, takers, only_task, .. } => {
            let is_other = |only: &Task| task.map_or(!is_for(method, *only), |task| task != *only);
            match (only_task.filter(is_other), task) {
                (Some(only), _) => only_for(option, only, speech),
                (None, Some(task)) if *is_taken_elsewhere => format!(
                    "{} does not go with {} for {}",
                    speech.option(option),
                    speech.method(method),
                    plural(*task)
                ),
                (None, _) => goes_with(option, takers, speech),
            }
        }
        Misuse::NotTakenByAny { option, takers, only_task: Some(only) } => {
            format!("{} and goes with {} only", only_for(option, *only, speech), names(takers, "and"))
        }
        Misuse::NotTakenByAny { option, takers, only_task: None } => goes_with(option, takers, speech),
        Misuse::NotForTask { method, task, tasks } => not_for_task(method, *task, tasks, speech),
        Misuse::OtherWord { setting, method, words } => format!(
            "{} does not go with {}, which takes {}",
            spelled(setting, speech),
            speech.method(method),
            if words.is_empty() { "a number".into() } else { names(words, "or") }
        ),
        Misuse::Several { setting } => {
            format!("{} has several numbers, but there is room for one", spelled(setting, speech))
        }
        Misuse::Conflict { settings, why } => conflict(settings, &catalogue_text(why, speech), speech),
        other => format!("{other:?}"),
    }
}

fn only_for(option: &str, task: Task, speech: &dyn Speech) -> String {
    format!("{} is for {} ({})", speech.option(option), plural(task), speech.task(task.name()))
}

fn goes_with(option: &str, takers: &[&str], speech: &dyn Speech) -> String {
    match takers {
        [] => format!("{} goes with no method", speech.option(option)),
        _ => format!("{} goes with {} only", speech.option(option), names(takers, "and")),
    }
}

fn not_for_task(method: &str, task: Task, tasks: &[Task], speech: &dyn Speech) -> String {
    let others = methods::METHODS.iter().map(|other| &other.entry);
    let others = others.filter(|other| other.is_for(task) && !other.is_baseline());
    let others: Vec<&str> = others.map(|other| other.name).collect();
    let tasks: Vec<String> = tasks.iter().map(|task| plural(*task).to_string()).collect();
    format!(
        "{} is for {}; for {} use {}",
        speech.method(method),
        listed(&tasks, "and"),
        plural(task),
        names(&others, "or")
    )
}

fn conflict(settings: &[Setting], why: &str, speech: &dyn Speech) -> String {
    match settings {
        [] => why.into(),
        [only] => format!("{} is not possible: {why}", spelled(only, speech)),
        [first, ..] => {
            let all: Vec<String> = settings.iter().map(|setting| spelled(setting, speech)).collect();
            let first = speech.option(first.option);
            format!("{} do not go together: {why}; leave out {first}", listed(&all, "and"))
        }
    }
}

/// An option as it was given.
fn spelled(setting: &Setting, speech: &dyn Speech) -> String {
    match &setting.value {
        Some(value) => speech.set(setting.option, value),
        None => speech.option(setting.option),
    }
}

/// Whether a method values rows for a task.
fn is_for(method: &str, task: Task) -> bool {
    methods::find(method).is_some_and(|method| method.entry.is_for(task))
}

fn plural(task: Task) -> &'static str {
    match task {
        Task::Regression => "regression",
        Task::Classification => "classification",
        Task::Density => "densities",
    }
}

pub(super) fn names(methods: &[&str], last: &str) -> String {
    let quoted: Vec<String> = methods.iter().map(|name| format!("`{name}`")).collect();
    listed(&quoted, last)
}
