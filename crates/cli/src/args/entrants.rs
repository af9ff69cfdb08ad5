//! The methods of a trial, as typed.

use super::verb::method_names;
use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};
use dshap_models::methods;
use dshap_trials::{Entrant, split_names};
use std::ffi::OsStr;

/// Methods between commas, each possibly with a semivalue of its own.
#[derive(Debug, Clone)]
pub(super) struct Entrants;

impl TypedValueParser for Entrants {
    type Value = Vec<Entrant>;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, text: &OsStr) -> Result<Self::Value, Error> {
        let parse = |name: String| {
            let (method, word) = match name.split_once(':') {
                None => (name.as_str(), None),
                Some((method, word)) => (method, Some(word)),
            };
            let method = method_names().parse_ref(command, arg, OsStr::new(method))?;
            let Some(word) = word else { return Ok(Entrant::of(method)) };
            Entrant::with_semivalue(method, word).ok_or_else(|| {
                let text = format!(
                    "`{word}` in `{name}` is not a semivalue: use shapley, banzhaf, beta:A,B or at-m\n"
                );
                Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
            })
        };
        split_names(&text.to_string_lossy()).into_iter().map(parse).collect()
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(methods::METHODS.iter().map(|method| PossibleValue::new(method.name()))))
    }
}
