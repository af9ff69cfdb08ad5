//! From the lines of a chunk to columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use dshap_table::{ReadAs, spelled, spelled_number};
use memchr::memchr_iter;

use super::record::{self, Value};
use crate::csv::{is_rounded, may_be_rounded};
use crate::facts::JsonFault;
use crate::late::{Late, Odd, OddCells, Oddity};
use crate::text::{CellFault, ColumnBuilder, Columns, Decode, Fault, Problem, excerpt};

/// Columns start with room for this many rows.
const ROWS_AT_FIRST: usize = 1024;

/// Which members of an object are read, and how.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) names: Arc<[String]>,
    pub(super) positions: Arc<HashMap<String, usize>>,
    /// Position among all names, for each column asked for.
    pub(super) columns: Vec<(usize, ReadAs)>,
    /// Where odd cells are noted.
    pub(super) late: Late,
}

/// What is wrong with a record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What {
    /// It is not an object, for this reason.
    Syntax(JsonFault),
    UnknownKey(String),
    RepeatedKey(String),
    Cell(CellFault),
    TooManyKeys,
}

/// All lines that are not blank.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut start = 0;
    memchr_iter(b'\n', text)
        .chain([text.len()])
        .map(move |end| {
            let line = text[start..end].trim_ascii();
            start = (end + 1).min(text.len());
            line
        })
        .filter(|line| !line.is_empty())
}

impl Decode for Plan {
    type What = What;

    fn decode(&self, text: &[u8], max_rows: usize) -> Result<Columns, Fault<What>> {
        let mut cells: Vec<Option<Value<'_>>> = vec![None; self.names.len()];
        let mut builders: Vec<ColumnBuilder> =
            self.columns.iter().map(|&(_, read_as)| ColumnBuilder::new(read_as, ROWS_AT_FIRST)).collect();
        let mut odd = OddCells::default();
        let mut n_rows = 0;
        for line in lines(text).take(max_rows) {
            let has_large =
                self.read(line, &mut cells, &mut builders).map_err(|what| Fault { record: n_rows, what })?;
            if has_large {
                self.see_rounded(&cells, n_rows, &mut odd);
            }
            n_rows += 1;
        }
        let arrays = builders.into_iter().map(ColumnBuilder::finish).collect();
        Ok(Columns { arrays, n_rows, odd: odd.finish() })
    }

    fn notice(&self, record: u64, odd: &Odd) {
        if let Some(name) = self.names.get(odd.field) {
            self.late.add(odd.oddity, name, record, &odd.text);
        }
    }
}

impl Plan {
    /// Takes note of whole numbers of a record that a double rounds.
    #[cold]
    fn see_rounded(&self, cells: &[Option<Value<'_>>], record: usize, odd: &mut OddCells) {
        for (position, &(field, read_as)) in self.columns.iter().enumerate() {
            if let (Some(Value::Number(text)), ReadAs::Number) = (cells[field], read_as)
                && odd.has_room(position, Oddity::Rounded)
                && text.parse().is_ok_and(|value| is_rounded(text.as_bytes(), value))
            {
                let text = excerpt(text.as_bytes());
                odd.add(position, Odd { record, field, oddity: Oddity::Rounded, text });
            }
        }
    }

    /// Reads a record, and returns whether a number of it may have been rounded.
    fn read<'a>(
        &self,
        line: &'a [u8],
        cells: &mut [Option<Value<'a>>],
        builders: &mut [ColumnBuilder],
    ) -> Result<bool, What> {
        cells.fill(None);
        // Keys nearly always come in the same order.
        let mut expected = 0;
        record::read(line, |key, value| {
            let position = match self.names.get(expected) {
                Some(name) if *name == key => expected,
                _ => match self.positions.get(key.as_ref()) {
                    Some(&position) => position,
                    None => return Err(What::UnknownKey(excerpt(key.as_bytes()))),
                },
            };
            expected = position + 1;
            match cells[position].replace(value) {
                None => Ok(()),
                Some(_) => Err(What::RepeatedKey(excerpt(key.as_bytes()))),
            }
        })?;
        let mut has_large = false;
        for (builder, &(field, _)) in builders.iter_mut().zip(&self.columns) {
            has_large |= builder.push_value(cells[field].unwrap_or(Value::Null), field)?;
        }
        Ok(has_large)
    }
}

impl ColumnBuilder {
    /// Adds a value, and returns whether it is a number that may have been rounded.
    fn push_value(&mut self, value: Value<'_>, field: usize) -> Result<bool, What> {
        let fault =
            |text: &str, problem| What::Cell(CellFault { field, text: excerpt(text.as_bytes()), problem });
        if !matches!(self, ColumnBuilder::AsIs(_)) {
            match value {
                Value::List(text) => return Err(fault(text, Problem::Nested("a list"))),
                Value::Object(text) => return Err(fault(text, Problem::Nested("an object"))),
                _ => {}
            }
        }
        match self {
            ColumnBuilder::Number(values) => match value {
                Value::Null => values.append_null(),
                // Rust rounds correctly.
                Value::Number(text) => match text.parse::<f64>() {
                    Ok(value) if value.is_finite() => {
                        values.append_value(value);
                        return Ok(may_be_rounded(value));
                    }
                    Ok(_) => return Err(fault(text, Problem::NotFinite)),
                    Err(_) => return Err(fault(text, Problem::NotANumber)),
                },
                other => return Err(fault(&words(other)?, Problem::NotANumber)),
            },
            ColumnBuilder::Boolean(values) => match value {
                Value::Null => values.append_null(),
                Value::Boolean(value) => values.append_value(f64::from(u8::from(value))),
                Value::Number(text) => match text.parse::<f64>() {
                    Ok(value) if value == 0.0 || value == 1.0 => values.append_value(value.abs()),
                    _ => return Err(fault(text, Problem::NotABoolean)),
                },
                other => return Err(fault(&words(other)?, Problem::NotABoolean)),
            },
            ColumnBuilder::Text(texts) => match value {
                Value::Null => texts.append_null(),
                Value::Number(text) => texts.append_value(spelled_as_number(text)),
                other => texts.append_value(spelled(&words(other)?)),
            },
            ColumnBuilder::AsIs(texts) => match value {
                Value::Null => texts.append_null(),
                other => texts.append_value(words(other)?),
            },
        }
        Ok(false)
    }
}

/// A number as a category. Digits alone are kept, however many there are.
fn spelled_as_number(text: &str) -> Cow<'_, str> {
    match text.parse::<f64>() {
        Ok(number) if text.contains(['.', 'e', 'E']) => spelled_number(number).into(),
        _ => spelled(text),
    }
}

/// A value as text: a string without its quotes, anything else as it is written.
fn words(value: Value<'_>) -> Result<Cow<'_, str>, What> {
    Ok(match value {
        Value::Null => "null".into(),
        Value::Boolean(value) => if value { "true" } else { "false" }.into(),
        Value::Text(quoted) => record::text(quoted)?,
        Value::Number(text) | Value::List(text) | Value::Object(text) => text.into(),
    })
}
