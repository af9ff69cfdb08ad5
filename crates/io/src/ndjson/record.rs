//! Parsing one line.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::decode::What;
use crate::facts::JsonFault;

/// A value, classified by its first byte. The parser has checked the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Boolean(bool),
    /// A number as it is written, so that no digit is lost.
    Number(&'a str),
    /// A string with its quotes.
    Text(&'a str),
    List(&'a str),
    Object(&'a str),
}

impl<'a> Value<'a> {
    fn new(raw: &'a RawValue) -> Value<'a> {
        let text = raw.get();
        match text.as_bytes().first() {
            Some(b'n') => Value::Null,
            Some(b't') => Value::Boolean(true),
            Some(b'f') => Value::Boolean(false),
            Some(b'"') => Value::Text(text),
            Some(b'[') => Value::List(text),
            Some(b'{') => Value::Object(text),
            _ => Value::Number(text),
        }
    }
}

/// Hands each member of the object on a line to `see`, in order, and stops
/// at the first thing wrong.
pub(super) fn read<'a>(
    line: &'a [u8],
    see: impl FnMut(Cow<'a, str>, Value<'a>) -> Result<(), What>,
) -> Result<(), What> {
    let Ok(line) = std::str::from_utf8(line) else {
        return Err(What::Syntax(JsonFault::NotUtf8));
    };
    let mut fault = None;
    let mut parser = serde_json::Deserializer::from_str(line);
    let parsed = Members { see, fault: &mut fault }.deserialize(&mut parser).and_then(|()| parser.end());
    match (fault, parsed) {
        (Some(what), _) => Err(what),
        (None, Err(error)) => Err(What::Syntax(json_fault(&error))),
        (None, Ok(())) => Ok(()),
    }
}

/// The text of a string, given with its quotes.
pub(super) fn text(quoted: &str) -> Result<Cow<'_, str>, What> {
    let inside = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match inside {
        Some(inside) if memchr::memchr(b'\\', inside.as_bytes()).is_none() => Ok(Cow::Borrowed(inside)),
        _ => serde_json::from_str(quoted).map(Cow::Owned).map_err(|error| What::Syntax(json_fault(&error))),
    }
}

/// The parser's words, with a place within the line only.
fn json_fault(error: &serde_json::Error) -> JsonFault {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = match text.strip_suffix(&place) {
        Some(reason) => format!("{reason}, at byte {}", error.column()),
        None => text,
    };
    if error.is_eof() { JsonFault::CutShort { reason } } else { JsonFault::Syntax { reason } }
}

struct Members<'f, F> {
    see: F,
    fault: &'f mut Option<What>,
}

impl<'de, F: FnMut(Cow<'de, str>, Value<'de>) -> Result<(), What>> DeserializeSeed<'de> for Members<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Cow<'de, str>, Value<'de>) -> Result<(), What>> Visitor<'de> for Members<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = members.next_key()? {
            let value: &RawValue = members.next_value()?;
            if self.fault.is_none() {
                *self.fault = (self.see)(key, Value::new(value)).err();
            }
        }
        Ok(())
    }
}

/// A key, borrowed from the line unless something in it is escaped.
struct Key<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key<'de>, D::Error> {
        struct KeyVisitor;

        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }

        deserializer.deserialize_str(KeyVisitor)
    }
}
