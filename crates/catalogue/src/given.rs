//! The options as given, before a method is chosen.

use crate::option::OptionEntry;
use crate::options;
use crate::value::{Setting, Value};
use std::collections::BTreeMap;

/// Options and their values, by name. An option that was not given is absent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    values: BTreeMap<&'static str, Value>,
}

impl Given {
    /// Nothing given.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an option, unless its value is one that the option does not take.
    ///
    /// # Errors
    ///
    /// What was expected instead.
    pub fn set(&mut self, option: &'static OptionEntry, value: Value) -> Result<(), String> {
        if !option.takes.accepts(&value) {
            return Err(format!("expected {}", option.takes.expected()));
        }
        self.values.insert(option.name, value);
        Ok(())
    }

    /// With an option, whose value must be one that it takes.
    pub fn with(mut self, option: &'static OptionEntry, value: Value) -> Self {
        debug_assert!(option.takes.accepts(&value), "{}: {value:?}", option.name);
        self.values.insert(option.name, value);
        self
    }

    /// Without an option.
    pub fn without(mut self, option: &OptionEntry) -> Self {
        self.values.remove(option.name);
        self
    }

    /// Whether an option was given.
    pub fn has(&self, option: &OptionEntry) -> bool {
        self.values.contains_key(option.name)
    }

    /// Whether an option was given with this word.
    pub fn is(&self, option: &OptionEntry, word: &str) -> bool {
        self.word(option) == Some(word)
    }

    /// The options that were given, in alphabetical order.
    pub fn options(&self) -> impl Iterator<Item = &'static OptionEntry> + '_ {
        self.values.keys().filter_map(|name| options::find(name))
    }

    /// Only the options that `keep` wants.
    pub fn only(&self, keep: impl Fn(&'static OptionEntry) -> bool) -> Self {
        let mut kept = self.clone();
        kept.values.retain(|name, _| options::find(name).is_some_and(&keep));
        kept
    }

    /// These options, and for those not given here the others.
    pub fn or(&self, others: &Given) -> Self {
        let mut values = others.values.clone();
        values.extend(self.values.iter().map(|(name, value)| (*name, value.clone())));
        Self { values }
    }

    /// The value of an option.
    pub fn value(&self, option: &OptionEntry) -> Option<&Value> {
        self.values.get(option.name)
    }

    /// A number; a whole one counts.
    pub fn number(&self, option: &OptionEntry) -> Option<f64> {
        match self.value(option)? {
            Value::Number(number) => Some(*number),
            Value::Count(count) => Some(*count as f64),
            _ => None,
        }
    }

    /// A whole number.
    pub fn count(&self, option: &OptionEntry) -> Option<u64> {
        match self.value(option)? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// Several whole numbers; none if not given, or if there is one.
    pub fn counts(&self, option: &OptionEntry) -> &[u64] {
        match self.value(option) {
            Some(Value::Counts(counts)) => counts,
            _ => &[],
        }
    }

    /// A number of rows, columns or draws.
    pub fn size(&self, option: &OptionEntry) -> Option<usize> {
        self.count(option).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// A word, a name or a label.
    pub fn word(&self, option: &OptionEntry) -> Option<&str> {
        match self.value(option)? {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Names; none if not given.
    pub fn list(&self, option: &OptionEntry) -> &[String] {
        match self.value(option) {
            Some(Value::List(names)) => names,
            _ => &[],
        }
    }

    /// The option as it was given, in a form that messages can show.
    pub fn setting(&self, option: &'static OptionEntry) -> Setting {
        let value = match self.value(option) {
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(Value::Count(count)) => Some(count.to_string()),
            Some(Value::Counts(counts)) => {
                Some(counts.iter().map(u64::to_string).collect::<Vec<_>>().join(","))
            }
            Some(Value::Word(word)) => Some(word.clone()),
            Some(Value::On | Value::List(_)) | None => None,
        };
        Setting { option: option.name, value }
    }
}
