//! Help texts made from the catalogue.

use super::flags::long_name;
use dshap_catalogue::options::ForOwners;
use dshap_catalogue::{Default as Usual, Kind, MethodEntry, OptionEntry, Takes, Task, takers};
use dshap_models::methods;

/// A text of the catalogue with options spelled as flags: `{metric=cosine}` is `--metric cosine`.
pub(crate) fn spelled(text: &str) -> String {
    dshap_catalogue::spelled(text, |name, value| match value {
        Some(value) => format!("--{} {value}", long_name(name)),
        None => format!("--{}", long_name(name)),
    })
}

/// One line.
pub(super) fn short(option: &OptionEntry) -> String {
    match option.takes {
        // Only a flag is repeated; a form has a list.
        Kind::Files => format!("{}; repeat for several files", spelled(option.help)),
        _ => spelled(option.help),
    }
}

/// Everything there is to know: details, defaults, and what single methods make of it.
pub(super) fn long(option: &OptionEntry) -> String {
    let mut paragraphs = vec![short(option)];
    if !option.details.is_empty() {
        paragraphs.push(spelled(option.details));
    }
    let mut lines = by_method(option);
    if !option.default.is_empty() {
        lines.push(format!("Default: {}", spelled(option.default)));
    }
    if !lines.is_empty() {
        paragraphs.push(lines.join("\n"));
    }
    paragraphs.join("\n\n")
}

/// The same for an option that means something else for owners.
pub(super) fn long_for_owners(of: &ForOwners) -> String {
    let default = if of.default.is_empty() { String::new() } else { format!("Default: {}", of.default) };
    let paragraphs = [of.help, of.details, &default];
    let known: Vec<String> = paragraphs.into_iter().filter(|text| !text.is_empty()).map(spelled).collect();
    known.join("\n\n")
}

/// Which methods take an option, where few do, and what it means for each.
fn by_method(option: &OptionEntry) -> Vec<String> {
    let roles = roles(option);
    let takers = takers(option, &methods::entries());
    let n_named = roles.iter().map(|role| role.methods.len()).sum::<usize>();
    // All methods that take it have the same default, and it means the same for all.
    let default = roles.first().map(|first| &first.text).filter(|text| {
        n_named == takers.len() && roles.iter().all(|role| role.is_default_only && role.text == **text)
    });
    let mut lines = Vec::new();
    let is_of_few = option.is_of_methods() && 2 * takers.len() <= methods::METHODS.len();
    if is_of_few && (n_named < takers.len() || default.is_some()) {
        lines.push(format!("Methods: {}", names(&takers).join(", ")));
    }
    match default {
        Some(text) => lines.push(text.replacen("default ", "Default: ", 1)),
        None => lines.extend(roles.iter().map(Role::line)),
    }
    lines
}

/// What some methods make of an option.
struct Role {
    methods: Vec<&'static str>,
    /// The tasks, in brackets, if they are not all tasks of these methods.
    tasks: String,
    /// Such as "rounds of sets; default 4096".
    text: String,
    /// Whether only the default is their own.
    is_default_only: bool,
}

impl Role {
    fn line(&self) -> String {
        format!("{}{}: {}", self.methods.join(", "), self.tasks, self.text)
    }
}

/// What methods make of an option; those that make the same of it together.
fn roles(option: &OptionEntry) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    for method in methods::entries() {
        for takes in method.options.iter().filter(|takes| takes.option.name == option.name) {
            let (text, tasks) = (role(takes), only_tasks(method, takes));
            if text.is_empty() {
                continue;
            }
            match roles.iter_mut().find(|role| role.text == text && role.tasks == tasks) {
                Some(role) => role.methods.push(method.name),
                None => {
                    let is_default_only = takes.role.is_empty();
                    roles.push(Role { methods: vec![method.name], tasks, text, is_default_only });
                }
            }
        }
    }
    roles
}

/// What an option means for a method and its default there, unless that is the usual one.
fn role(takes: &Takes) -> String {
    let default = default(takes.default).filter(|default| default != takes.option.default);
    let default = default.map(|default| format!("default {default}"));
    let role = Some(spelled(takes.role)).filter(|role| !role.is_empty());
    role.into_iter().chain(default).collect::<Vec<_>>().join("; ")
}

/// A default of a method in words, if it is not that of the option.
pub(crate) fn default(default: Usual) -> Option<String> {
    match default {
        Usual::Usual => None,
        Usual::Number(number) => Some(typed(number)),
        Usual::Count(count) => Some(count.to_string()),
        Usual::Word(word) => Some(word.into()),
        Usual::Depends(words) => Some(spelled(words)),
    }
}

/// A number as a person would type it.
fn typed(number: f64) -> String {
    // A number smaller than this has more zeros than a reader counts.
    const FEW_ZEROS: f64 = 1e-5;
    if number != 0.0 && number.abs() < FEW_ZEROS { format!("{number:e}") } else { number.to_string() }
}

/// The tasks that a method takes an option for, in brackets, unless it does for all it has.
pub(crate) fn only_tasks(method: &MethodEntry, takes: &Takes) -> String {
    let with: Vec<&Task> = method.tasks.iter().filter(|task| takes.tasks.contains(task)).collect();
    if with.len() == method.tasks.len() {
        return String::new();
    }
    let names: Vec<&str> = with.iter().map(|task| task.name()).collect();
    format!(" ({})", names.join(", "))
}

fn names(methods: &[&'static MethodEntry]) -> Vec<&'static str> {
    methods.iter().map(|method| method.name).collect()
}
