//! What a column holds, judged by the first records.

use dshap_table::Kind;

use super::record::{Value, text};
use crate::csv::{is_date, is_rounded};

/// What has been seen in a column so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    number: bool,
    boolean: bool,
    date: bool,
    text: bool,
    nested: Option<&'static str>,
    /// Whether a whole number was rounded.
    rounded: bool,
    last_record: Option<u64>,
}

impl Seen {
    /// Takes note of a value. Returns false if the record has had one before.
    pub(super) fn see(&mut self, record: u64, value: Value<'_>) -> bool {
        match value {
            Value::Null => {}
            Value::Boolean(_) => self.boolean = true,
            Value::Number(text) => {
                self.number = true;
                self.rounded = self.rounded
                    || text.len() > 15 && text.parse().is_ok_and(|value| is_rounded(text.as_bytes(), value));
            }
            Value::Text(quoted) => {
                let is_date = text(quoted).is_ok_and(|text| is_date(text.as_bytes()));
                self.date |= is_date;
                self.text |= !is_date;
            }
            Value::List(_) => self.nested = self.nested.or(Some("list")),
            Value::Object(_) => self.nested = self.nested.or(Some("object")),
        }
        self.last_record.replace(record) != Some(record)
    }

    /// Whether it is a column of numbers some of which were rounded.
    pub(super) fn is_rounded(&self) -> bool {
        self.rounded && self.kind() == Kind::Number
    }

    /// A column whose values are all missing counts as numeric.
    pub(super) fn kind(&self) -> Kind {
        if let Some(nested) = self.nested {
            return Kind::Other(nested.to_owned());
        }
        match (self.number, self.boolean, self.date, self.text) {
            (_, false, false, false) => Kind::Number,
            (false, true, false, false) => Kind::Boolean,
            (false, false, true, false) => Kind::Date,
            _ => Kind::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_is_that_of_all_values() {
        use Value::{Boolean, List, Null, Number, Object, Text};
        for (values, expected) in [
            (&[Number("1"), Null][..], Kind::Number),
            (&[Null], Kind::Number),
            (&[Boolean(true), Null], Kind::Boolean),
            (&[Boolean(true), Number("1")], Kind::Text),
            (&[Text("\"1\"")], Kind::Text),
            (&[Text("\"2024-01-31\""), Null], Kind::Date),
            (&[Text("\"2024-01-31\""), Text("\"soon\"")], Kind::Text),
            (&[Text("\"2024-01-31\""), Number("1")], Kind::Text),
            (&[Number("1"), List("[]"), Object("{}")], Kind::Other("list".into())),
            (&[Object("{}")], Kind::Other("object".into())),
        ] {
            let mut seen = Seen::default();
            for (record, &value) in values.iter().enumerate() {
                assert!(seen.see(record as u64, value));
            }
            assert_eq!(seen.kind(), expected, "{values:?}");
            assert!(!seen.see(values.len() as u64 - 1, Null));
        }
    }
}
