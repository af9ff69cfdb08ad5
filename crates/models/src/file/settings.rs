//! The method of a valuer file, and its settings.

use super::Document;
use crate::how::How;
use crate::methods::{self, general};
use dshap::linear::SetTargets;
use dshap_catalogue::options::{CONSTANT, CONVENTION, RIDGE, SEMIVALUE, SHIFT, TARGETS};
use dshap_catalogue::{Given, Kind, MethodKind, OptionEntry, Task, Value};
use serde_json::{Map, Value as Json, json};

/// The method and all of its settings that are kept, defaults included, so that
/// a later default does not change a saved valuer.
pub(super) fn write(how: &How) -> Map<String, Json> {
    let mut document = Map::new();
    document.insert("name".into(), how.method.name().into());
    for takes in how.method.entry.options.iter().filter(|takes| !takes.saved_as.is_empty()) {
        let value = how.value(takes.option);
        let is_newer =
            |option: &OptionEntry, is_default: bool| takes.option.name == option.name && is_default;
        if is_newer(&SEMIVALUE, how.semivalue() == dshap::Semivalue::Shapley)
            || is_newer(&TARGETS, general::targets(how) == SetTargets::Expected)
        {
            // Older versions of dshap know no other, and files without it stay as they were.
            continue;
        }
        let cell = match value {
            Some(value) => Some(to_json(takes.option, &to_file(how, takes.option, value))),
            // A bound without a stopping rule says so; a shift by default is absent.
            None if takes.option.name == SHIFT.name => None,
            None => Some(Json::Null),
        };
        if let Some(cell) = cell {
            document.insert(takes.saved_as.into(), cell);
        }
    }
    if how.method.draws() {
        // No option, but part of the format: older versions of dshap expect it.
        document.insert("min_samples".into(), general::options(how, Task::Regression).min_rounds.into());
    }
    document
}

impl Document {
    /// Takes the ridge away from the method: in classification it is that of the fit,
    /// which is written with the fit.
    pub(crate) fn leave_ridge_to_fit(&mut self) {
        if let Some(ridge) = self.method.get_mut(RIDGE.name) {
            *ridge = json!(0.0);
        }
    }
}

/// The method with its settings; those that are the default are not kept.
pub(super) fn read(document: &Map<String, Json>) -> Result<How, String> {
    let name = document.get("name").and_then(Json::as_str).ok_or("its document names no method")?;
    let method = methods::find(name).ok_or_else(|| format!("its method `{name}` is unknown"))?;
    let mut how = How { method, given: Given::new() };
    let saved = || method.entry.options.iter().filter(|takes| !takes.saved_as.is_empty());
    let mut all = Vec::new();
    for takes in saved() {
        let cell = match document.get(takes.saved_as) {
            None | Some(Json::Null) => continue,
            Some(cell) => cell,
        };
        let value = from_json(takes.option, cell).and_then(|value| from_file(&how, takes.option, value));
        let value = value.filter(|value| takes.option.takes.accepts(value));
        let value = value.ok_or_else(|| format!("its {} `{cell}` is unknown", takes.saved_as))?;
        how.given = how.given.with(takes.option, value.clone());
        all.push((takes.option, value));
    }
    // Defaults may depend on other settings, so they are dropped once all are known.
    let whole = how.clone();
    for (option, value) in all {
        if whole.default(option) == Some(value) {
            how.given = how.given.without(option);
        }
    }
    Ok(how)
}

/// What a file calls a bound to the letter of the paper. Files have always called that of the
/// authors' program `printed`, so older versions of dshap read it right and refuse the other.
const LITERAL: &str = "literal";

fn is_convention_of_bound(how: &How, option: &OptionEntry) -> bool {
    how.method.entry.kind == MethodKind::Bound && option.name == CONVENTION.name
}

fn to_file(how: &How, option: &OptionEntry, value: Value) -> Value {
    match &value {
        Value::Word(word) if is_convention_of_bound(how, option) => match word.as_str() {
            "printed" => Value::Word(LITERAL.into()),
            "authors" => Value::Word("printed".into()),
            _ => value,
        },
        _ => value,
    }
}

/// The reverse; none for a word that no file has.
fn from_file(how: &How, option: &OptionEntry, value: Value) -> Option<Value> {
    match &value {
        Value::Word(word) if is_convention_of_bound(how, option) => match word.as_str() {
            LITERAL => Some(Value::Word("printed".into())),
            "printed" => Some(Value::Word("authors".into())),
            "authors" => None,
            _ => Some(value),
        },
        _ => Some(value),
    }
}

fn to_json(option: &OptionEntry, value: &Value) -> Json {
    match value {
        Value::On => Json::Bool(true),
        Value::Number(number) if option.name == SHIFT.name => json!({ "given": number }),
        Value::Number(number) => json!(number),
        Value::Count(count) => json!(count),
        Value::Counts(counts) => json!(counts),
        Value::Word(word) if option.name == CONSTANT.name => match word.strip_prefix("full:") {
            Some(c) => json!({ "full": c.parse::<f64>().unwrap_or(f64::NAN) }),
            None => word.as_str().into(),
        },
        Value::Word(word) => word.as_str().into(),
        Value::List(names) => json!(names),
    }
}

fn from_json(option: &OptionEntry, cell: &Json) -> Option<Value> {
    let object = |key: &str| cell.as_object().and_then(|object| object.get(key)).and_then(Json::as_f64);
    match (cell, option.takes) {
        (Json::Object(_), Kind::Constant) => object("full").map(|c| Value::Word(format!("full:{c:?}"))),
        (Json::Object(_), _) => object("given").map(Value::Number),
        (Json::Number(_), Kind::Count { .. } | Kind::Counts { .. }) => cell.as_u64().map(Value::Count),
        (Json::Number(_), _) => cell.as_f64().map(Value::Number),
        (Json::String(word), _) => Some(Value::Word(word.clone())),
        (Json::Bool(true), _) => Some(Value::On),
        _ => None,
    }
}
