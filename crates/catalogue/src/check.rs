//! What goes with what.

use crate::given::Given;
use crate::method::MethodEntry;
use crate::option::OptionEntry;
use crate::options::{APART, TOGETHER};
use crate::task::Task;
use crate::value::Setting;

/// Options that cannot be used together, or not with the method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Misuse {
    /// An option that the method does not take.
    NotTaken {
        /// The option.
        option: &'static str,
        /// The method.
        method: &'static str,
        /// The task, if it is known.
        task: Option<Task>,
        /// Whether the method takes the option for another task.
        is_taken_elsewhere: bool,
        /// The methods that take the option for the task, or for any if none does.
        takers: Vec<&'static str>,
        /// The only task that the option is for, if there is one.
        only_task: Option<Task>,
        /// Why the method does not take it; may be empty.
        why: &'static str,
    },
    /// An option that none of several methods takes.
    NotTakenByAny {
        /// The option.
        option: &'static str,
        /// The methods that take it.
        takers: Vec<&'static str>,
        /// The only task that the option is for, if there is one.
        only_task: Option<Task>,
    },
    /// A method that does not value rows for the task.
    NotForTask {
        /// The method.
        method: &'static str,
        /// The task.
        task: Task,
        /// The tasks the method is for.
        tasks: &'static [Task],
    },
    /// A word of an option that the method does not take.
    OtherWord {
        /// The option as given.
        setting: Setting,
        /// The method.
        method: &'static str,
        /// The words it takes; none if it takes a number.
        words: &'static [&'static str],
    },
    /// Several numbers where there is room for one.
    Several {
        /// The option as given.
        setting: Setting,
    },
    /// Options that do not go together.
    Conflict {
        /// The options as given, the one to leave out first.
        settings: Vec<Setting>,
        /// Why they do not go together.
        why: &'static str,
    },
}

/// Checks that a method takes every option given and that the options go
/// together. The task is absent while it is not known; the check is repeated
/// once it is.
///
/// # Errors
///
/// The first [`Misuse`].
pub fn check(
    method: &MethodEntry,
    task: Option<Task>,
    given: &Given,
    all: &[&'static MethodEntry],
) -> Result<(), Misuse> {
    if let Some(task) = task.filter(|task| !method.is_for(*task)) {
        return Err(Misuse::NotForTask { method: method.name, task, tasks: method.tasks });
    }
    for option in given.options().filter(|option| option.is_of_methods()) {
        let Some(takes) = method.takes(option, task) else {
            let why = method.refuses.iter().find(|(refused, _)| refused.name == option.name);
            return Err(Misuse::NotTaken {
                option: option.name,
                method: method.name,
                task,
                is_taken_elsewhere: method.takes(option, None).is_some(),
                takers: names_of_takers(option, task, all),
                only_task: only_task(option, all),
                why: why.map_or("", |(_, why)| why),
            });
        };
        if !given.counts(option).is_empty() {
            return Err(Misuse::Several { setting: given.setting(option) });
        }
        let is_other = |words: &&[&str]| given.word(option).is_some_and(|word| !words.contains(&word));
        if let Some(words) = takes.words.filter(is_other) {
            return Err(Misuse::OtherWord { setting: given.setting(option), method: method.name, words });
        }
    }
    check_pairs_of(given, OptionEntry::is_of_methods)?;
    match method.rules.iter().find(|rule| (rule.is_broken)(given, task)) {
        None => Ok(()),
        Some(rule) => {
            let settings = rule.options.iter().map(|option| given.setting(option)).collect();
            Err(Misuse::Conflict { settings, why: rule.why })
        }
    }
}

/// Checks what goes together whatever the method, for front ends that know all options of a run.
///
/// # Errors
///
/// The first [`Misuse::Conflict`].
pub fn check_pairs(given: &Given) -> Result<(), Misuse> {
    check_pairs_of(given, |_| true)
}

/// Only options for which `needs` holds need another one. How a run goes is for front ends to
/// settle, so that [`check`] asks for options of methods only.
fn check_pairs_of(given: &Given, needs: fn(&OptionEntry) -> bool) -> Result<(), Misuse> {
    if let Some(pair) = APART.iter().find(|pair| given.has(pair.option) && given.has(pair.other)) {
        let settings = vec![given.setting(pair.option), given.setting(pair.other)];
        return Err(Misuse::Conflict { settings, why: pair.why });
    }
    let lacks = |option: &OptionEntry, other| needs(option) && given.has(option) && !given.has(other);
    match TOGETHER.iter().find(|pair| lacks(pair.option, pair.other)) {
        Some(pair) => Err(Misuse::Conflict { settings: vec![given.setting(pair.option)], why: pair.why }),
        None => Ok(()),
    }
}

/// Hands each of several methods the options it takes.
///
/// # Errors
///
/// An option that none of them takes, or what [`check`] finds.
pub fn check_several(
    methods: &[&'static MethodEntry],
    task: Task,
    given: &Given,
    all: &[&'static MethodEntry],
) -> Result<Vec<Given>, Misuse> {
    let is_taken =
        |option: &OptionEntry| methods.iter().any(|method| method.takes(option, Some(task)).is_some());
    if let Some(option) = given.options().find(|option| option.is_of_methods() && !is_taken(option)) {
        return Err(Misuse::NotTakenByAny {
            option: option.name,
            takers: names_of_takers(option, Some(task), all),
            only_task: only_task(option, all),
        });
    }
    let mut each = Vec::with_capacity(methods.len());
    for method in methods {
        let own = given.only(|option| !option.is_of_methods() || method.takes(option, Some(task)).is_some());
        check(method, Some(task), &own, all)?;
        each.push(own);
    }
    Ok(each)
}

/// The methods that take an option.
pub fn takers(option: &OptionEntry, all: &[&'static MethodEntry]) -> Vec<&'static MethodEntry> {
    all.iter().copied().filter(|method| method.takes(option, None).is_some()).collect()
}

/// The names of the methods that take an option for a task, or for any if none does.
fn names_of_takers(
    option: &OptionEntry,
    task: Option<Task>,
    all: &[&'static MethodEntry],
) -> Vec<&'static str> {
    let takers = takers(option, all);
    let fits = |method: &&&MethodEntry| method.takes(option, task).is_some();
    let fitting: Vec<&'static str> = takers.iter().filter(fits).map(|method| method.name).collect();
    if fitting.is_empty() { takers.iter().map(|method| method.name).collect() } else { fitting }
}

/// The only task that methods take an option for, if there is one.
fn only_task(option: &OptionEntry, all: &[&'static MethodEntry]) -> Option<Task> {
    let mut tasks = Task::ALL.into_iter().filter(|&task| {
        all.iter().any(|method| method.is_for(task) && method.takes(option, Some(task)).is_some())
    });
    let first = tasks.next()?;
    tasks.next().is_none().then_some(first)
}
