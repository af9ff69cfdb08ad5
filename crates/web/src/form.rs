//! Options of the catalogue, as a form offers them and JSON gives them.

use crate::problem::Problem;
use crate::store::{Store, What};
use crate::wire::RunRequest;
use dshap_catalogue::options::{CHECKPOINT, KEEP, LISTS, PER_CLASS, SETS, STDERR, SYNERGY};
use dshap_catalogue::{Given, Group, Kind, OptionEntry, Value, options};
use dshap_models::{Method, methods};
use dshap_words::in_shell;
use serde_json::{Map, Value as Json, json};
use std::path::PathBuf;

/// Whether the form has a use for an option.
fn is_offered(option: &OptionEntry) -> bool {
    let is = |options: &[&OptionEntry]| options.iter().any(|other| other.name == option.name);
    match option.group {
        Group::Rows | Group::Columns | Group::Method | Group::Draws => !is(&[&CHECKPOINT]),
        Group::SecondOrder | Group::Density | Group::Neighbours => !is(&[&SETS, &SYNERGY, &LISTS]),
        Group::Output => is(&[&KEEP, &STDERR, &PER_CLASS]),
        Group::Trial | Group::Owners | Group::Payout | Group::Run => false,
    }
}

/// What a form is made from: the entries of `dshap methods --json`, without options that
/// only a command line has.
pub(crate) fn catalogue() -> Json {
    let offered = |option: &&OptionEntry| is_offered(option);
    json!({
        "methods": methods::entries().into_iter().map(methods::as_json).collect::<Vec<Json>>(),
        "options": options::all().filter(offered).collect::<Vec<_>>(),
        "groups": Group::ALL.map(|group| json!({"name": group, "heading": group.heading()})),
        "defaults": dshap_catalogue::Task::ALL
            .map(|task| (task.name().to_owned(), Json::from(methods::default_for(Some(task)).name())))
            .into_iter()
            .collect::<Map<String, Json>>(),
    })
}

/// A request in the types of the engine.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) table: PathBuf,
    pub(crate) method: Option<&'static Method>,
    pub(crate) valuer: Option<PathBuf>,
    pub(crate) given: Given,
}

impl Asked {
    /// Checks what can be checked before the table is read.
    pub(crate) fn of(request: &RunRequest, store: &Store) -> Result<Self, Problem> {
        let table = store.find(What::Table, &request.table)?;
        let method = match request.method.as_deref() {
            None => None,
            Some(name) => Some(methods::find(name).ok_or_else(|| Problem::missing("method", name))?),
        };
        let valuer = request.valuer.as_deref().map(|name| store.find(What::Valuer, name)).transpose()?;
        Ok(Self { table, method, valuer, given: given(&request.options, store)? })
    }
}

/// Options by name; tables become paths.
fn given(named: &Map<String, Json>, store: &Store) -> Result<Given, Problem> {
    let mut given = Given::new();
    for (name, json) in named {
        let option = options::find(name).filter(|option| is_offered(option));
        let option = option.ok_or_else(|| {
            Problem::bad(format!("there is no option `{name}` here"))
                .hint("`/api/catalogue` lists all options")
        })?;
        if is_nothing(json) {
            continue;
        }
        let mut value = value_of(option.takes, json)
            .ok_or_else(|| wrong(option, json, &format!("expected {}", option.takes.expected())))?;
        if let (Kind::Files, Value::List(names)) = (option.takes, &mut value) {
            for name in names {
                *name = store.find(What::Table, name)?.display().to_string();
            }
        }
        given.set(option, value).map_err(|expected| wrong(option, json, &expected))?;
    }
    Ok(given)
}

/// A form leaves empty what nobody filled in.
fn is_nothing(json: &Json) -> bool {
    match json {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn wrong(option: &OptionEntry, json: &Json, expected: &str) -> Problem {
    Problem::bad(format!("`{}` cannot be {json}: {expected}", option.name))
}

/// A value as the option takes it; numbers may come as text, as forms have them.
fn value_of(kind: Kind, json: &Json) -> Option<Value> {
    let text = |json: &Json| match json {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        _ => None,
    };
    match (kind, json) {
        (Kind::Switch, Json::Bool(true)) => Some(Value::On),
        (Kind::Names | Kind::Files, Json::Array(items)) => {
            items.iter().map(text).collect::<Option<Vec<_>>>().map(Value::List)
        }
        (Kind::Names | Kind::Files, json) => text(json).map(|name| Value::List(vec![name])),
        (kind, json) => kind.parse(text(json)?.trim()),
    }
}

/// The command that computes the same.
pub(crate) fn command(request: &RunRequest) -> String {
    let mut words = vec!["dshap".into(), "value".into(), in_shell(base_name(&request.table))];
    let mut flag = |name: &str, value: Option<&str>| {
        words.push(format!("--{}", name.replace('_', "-")));
        words.extend(value.map(in_shell));
    };
    if let Some(method) = &request.method {
        flag("method", Some(method));
    }
    if let Some(valuer) = &request.valuer {
        flag("valuer", Some(base_name(valuer)));
    }
    for (name, json) in &request.options {
        let takes = options::find(name).map(|option| option.takes);
        match (takes, json) {
            (_, json) if is_nothing(json) => {}
            (_, Json::Bool(_)) => flag(name, None),
            (Some(Kind::Files), Json::Array(items)) => {
                for item in items.iter().filter_map(Json::as_str) {
                    flag(name, Some(base_name(item)));
                }
            }
            (_, Json::Array(items)) => {
                let names: Vec<&str> = items.iter().filter_map(Json::as_str).collect();
                flag(name, Some(&names.join(",")));
            }
            (Some(Kind::Files), Json::String(text)) => flag(name, Some(base_name(text))),
            (_, Json::String(text)) => flag(name, Some(text)),
            (_, json) => flag(name, Some(&json.to_string())),
        }
    }
    words.join(" ")
}

/// A name without its folder.
fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use dshap_catalogue::options::{EXCLUDE, M, RIDGE};

    fn parsed(options: Json) -> Result<Given, Problem> {
        let store = Store::open(&Settings::default()).expect("a temporary folder");
        given(options.as_object().expect("an object"), &store)
    }

    #[test]
    fn values_come_as_json_or_as_text() {
        let given = parsed(json!({
            "m": "100", "ridge": 0.5, "exclude": ["a", "b"], "stderr": true, "target": "", "q": null,
            "refit_intercept": false
        }))
        .expect("all are options");
        assert_eq!((given.count(&M), given.number(&RIDGE)), (Some(100), Some(0.5)));
        assert_eq!(given.list(&EXCLUDE), ["a", "b"]);
        assert_eq!(given.options().count(), 4);
    }

    #[test]
    fn options_that_write_files_or_make_no_sense_are_refused() {
        for wrong in [
            json!({"checkpoint": "/tmp/x"}),
            json!({"lists": true}),
            json!({"summary": "/tmp/x"}),
            json!({"figure": "x.svg"}),
            json!({"threads": 3}),
            json!({"nothing": 1}),
            json!({"m": -1}),
            json!({"m": {"a": 1}}),
            json!({"stderr": "yes"}),
            json!({"missing": "sometimes"}),
            json!({"exclude": [["a"]]}),
        ] {
            assert_eq!(parsed(wrong.clone()).map_err(|problem| problem.status).err(), Some(400), "{wrong}");
        }
        for path in ["/etc/passwd", "data/../x.csv", "-"] {
            let problem = parsed(json!({"reference": [path]})).expect_err("no such table");
            assert_eq!(problem.status, 404, "{path}");
        }
    }

    #[test]
    fn the_command_is_what_a_shell_takes() {
        let options =
            json!({"target": "the price", "m": 10, "stderr": true, "exclude": ["a", "b"], "q": null});
        let request = RunRequest {
            table: "data/sub/my rows.csv".into(),
            method: Some("calibrated".into()),
            valuer: None,
            options: options.as_object().expect("an object").clone(),
        };
        let wanted = "dshap value 'my rows.csv' --method calibrated --exclude a,b --m 10 --stderr --target 'the price'";
        assert_eq!(command(&request), wanted);
    }
}
