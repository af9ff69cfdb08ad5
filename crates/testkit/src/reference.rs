//! Reference tables in `testdata/`, made by programs that share no code with dshap.

use serde_json::Value;
use std::path::PathBuf;

/// One row of a table.
#[derive(Debug, Clone)]
pub struct Case(Value);

impl Case {
    /// A number, whether the table holds it as a number or as a decimal string.
    #[track_caller]
    pub fn number(&self, name: &str) -> f64 {
        self.optional(name).unwrap_or_else(|| panic!("no number `{name}` in {}", self.0))
    }

    /// A number that may be null or absent. `inner/outer` is a field of a field.
    #[track_caller]
    pub fn optional(&self, name: &str) -> Option<f64> {
        let found = name.split('/').fold(&self.0, |value, field| &value[field]);
        match found {
            Value::Number(number) => number.as_f64(),
            Value::String(digits) => {
                Some(digits.parse().unwrap_or_else(|_| panic!("`{name}` is not a number in {}", self.0)))
            }
            _ => None,
        }
    }

    /// Text.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        self.0[name].as_str().unwrap_or_else(|| panic!("no text `{name}` in {}", self.0)).to_owned()
    }

    /// A field that is a table row of its own.
    #[track_caller]
    pub fn field(&self, name: &str) -> Case {
        assert!(self.0[name].is_object(), "no field `{name}` in {}", self.0);
        Case(self.0[name].clone())
    }

    /// A field that is a list of table rows.
    #[track_caller]
    pub fn cases(&self, name: &str) -> Vec<Case> {
        let rows = self.0[name].as_array().unwrap_or_else(|| panic!("no rows `{name}` in {}", self.0));
        rows.iter().cloned().map(Case).collect()
    }

    /// A field as it is in the file.
    pub fn raw(&self, name: &str) -> &Value {
        &self.0[name]
    }

    /// A count.
    #[track_caller]
    pub fn count(&self, name: &str) -> usize {
        self.number(name) as usize
    }

    /// Numbers in a row, plain or as decimal strings.
    #[track_caller]
    pub fn list(&self, name: &str) -> Vec<f64> {
        numbers(&self.0[name]).unwrap_or_else(|| panic!("no list `{name}` in {}", self.0))
    }

    /// The same where the list may be null or absent.
    pub fn optional_list(&self, name: &str) -> Option<Vec<f64>> {
        numbers(&self.0[name])
    }

    /// Numbers, plain or as decimal strings, in rows and columns.
    #[track_caller]
    pub fn matrix(&self, name: &str) -> Vec<Vec<f64>> {
        let rows = self.0[name].as_array().and_then(|rows| rows.iter().map(numbers).collect());
        rows.unwrap_or_else(|| panic!("no matrix `{name}` in {}", self.0))
    }
}

fn numbers(list: &Value) -> Option<Vec<f64>> {
    let number = |cell: &Value| cell.as_f64().or_else(|| cell.as_str()?.parse().ok());
    list.as_array()?.iter().map(number).collect()
}

/// All rows of `testdata/<file>`.
#[track_caller]
pub fn cases(file: &str) -> Vec<Case> {
    cases_under(file, "cases")
}

/// All rows of a table under another name in `testdata/<file>`.
#[track_caller]
pub fn cases_under(file: &str, name: &str) -> Vec<Case> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let table: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let cases: Vec<Case> = table[name]
        .as_array()
        .unwrap_or_else(|| panic!("{file} has no {name}"))
        .iter()
        .cloned()
        .map(Case)
        .collect();
    assert!(!cases.is_empty(), "{file} is empty");
    cases
}
