//! Labels: text, each word once, and booleans that may be missing.

use crate::error::input_error;
use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray};
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::HashMap;
use std::sync::Arc;

/// What `y` is, as the estimator found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TargetKind {
    /// Numbers, to be predicted or to be told apart.
    Numbers,
    /// True and false, as 1 and 0.
    Booleans,
    /// Text.
    Words,
}

impl TargetKind {
    pub(crate) fn parse(word: Option<&str>) -> PyResult<Self> {
        match word {
            None | Some("numbers") => Ok(TargetKind::Numbers),
            Some("booleans") => Ok(TargetKind::Booleans),
            Some("words") => Ok(TargetKind::Words),
            Some(other) => Err(input_error(&format!("`{other}` is not a kind of labels"))),
        }
    }
}

/// A column of text: each word once, and which of them each row has.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: Vec<String>,
    /// None where the cell is missing.
    codes: Vec<Option<u32>>,
}

impl Words {
    /// The text in an array of objects, where None is a missing cell.
    pub(crate) fn of(objects: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut found = Self::default();
        let mut known: HashMap<String, u32> = HashMap::new();
        for cell in objects.try_iter()? {
            let cell = cell?;
            if cell.is_none() {
                found.codes.push(None);
                continue;
            }
            let text = cell.cast::<PyString>().map_err(|_| input_error("a label is not text"))?.to_cow()?;
            let code = match known.get(text.as_ref()) {
                Some(&code) => code,
                None => {
                    let code = found.words.len() as u32;
                    known.insert(text.to_string(), code);
                    found.words.push(text.into_owned());
                    code
                }
            };
            found.codes.push(Some(code));
        }
        Ok(found)
    }

    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// Some of the rows as Arrow data.
    pub(crate) fn array(&self, start: usize, n_rows: usize) -> ArrayRef {
        let mut texts = StringBuilder::with_capacity(n_rows, 8 * n_rows);
        for code in &self.codes[start..start + n_rows] {
            texts.append_option(code.map(|code| self.words[code as usize].as_str()));
        }
        Arc::new(texts.finish())
    }
}

/// Booleans that come as 1, 0 and NaN.
pub(crate) fn booleans(cells: &[f64]) -> ArrayRef {
    let boolean = |cell: &f64| (!cell.is_nan()).then_some(*cell != 0.0);
    Arc::new(cells.iter().map(boolean).collect::<BooleanArray>())
}
