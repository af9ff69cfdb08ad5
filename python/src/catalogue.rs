//! The catalogue: every method and every option, for docstrings and tests.

use crate::words::Spelling;
use dshap_catalogue::{options, spelled};
use dshap_models::methods;
use dshap_words::Speech;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The catalogue as JSON: `methods` with their entries, and all `options`. A method
/// `is_fitted` if estimators take it; others are functions of `dshap.baselines`.
/// Options named in texts are spelled as parameters.
#[pyfunction]
pub(crate) fn catalogue() -> String {
    let methods = methods::METHODS.iter().map(|method| {
        let mut entry = json!(method.entry);
        // An example is a command, which has no spelling in Python.
        entry["example"] = Value::Null;
        entry["is_fitted"] = method.baseline().is_none().into();
        entry
    });
    let options: Vec<_> = options::all().collect();
    let mut found = json!({ "methods": methods.collect::<Vec<_>>(), "options": options });
    spell(&mut found);
    found.to_string()
}

/// Spells the options in every text.
fn spell(value: &mut Value) {
    match value {
        Value::String(text) => {
            let speech = Spelling::default();
            *text = spelled(text, |name, value| match value {
                Some(value) => speech.set(name, value),
                None => speech.option(name),
            });
        }
        Value::Array(values) => values.iter_mut().for_each(spell),
        Value::Object(fields) => fields.values_mut().for_each(spell),
        _ => {}
    }
}
