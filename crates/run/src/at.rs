//! Where in a table something is wrong.

use dshap_io::Source;
use dshap_models::Error;
use dshap_table::{Wanted, closest};
use std::collections::HashSet;
use std::path::Path;

/// A table error, with its row turned into a place in a file.
pub(crate) fn at(error: dshap_table::Error, source: &Source, first_row: u64) -> Error {
    let location = error.row().and_then(|row| source.locate(first_row + row as u64).ok());
    Error::Table { location, error }
}

/// Refuses a table without the columns that a valuer needs.
pub(crate) fn require_columns(source: &Source, wanted: &[Wanted], valuer: &Path) -> Result<(), Error> {
    match missing_columns(source, wanted) {
        None => Ok(()),
        Some((file, missing, suggestion)) => {
            Err(Error::OtherColumns { valuer: valuer.display().to_string(), file, missing, suggestion })
        }
    }
}

/// Refuses test rows without the columns of the reference.
pub(crate) fn require_test_columns(source: &Source, wanted: &[Wanted]) -> Result<(), Error> {
    match missing_columns(source, wanted) {
        None => Ok(()),
        Some((file, missing, suggestion)) => Err(Error::OtherTest { file, missing, suggestion }),
    }
}

/// Refuses a table without a column that was named.
pub(crate) fn require_column(source: &Source, wanted: &Wanted) -> Result<(), Error> {
    if source.schema().column(&wanted.name).is_some() {
        return Ok(());
    }
    let available = source.schema().names().map(String::from).collect();
    let error = dshap_table::Error::NoSuchColumn { name: wanted.name.clone(), available };
    Err(Error::Table { location: None, error })
}

/// The file, the columns it lacks and a name that resembles the first of them.
fn missing_columns(source: &Source, wanted: &[Wanted]) -> Option<(String, Vec<String>, Option<String>)> {
    let names: HashSet<&str> = source.schema().names().collect();
    let missing: Vec<String> = wanted
        .iter()
        .filter(|wanted| !names.contains(wanted.name.as_str()))
        .map(|wanted| wanted.name.clone())
        .collect();
    let first = missing.first()?;
    let suggestion = closest(first, source.schema().names()).map(String::from);
    let file = source.files().next().unwrap_or_default().to_string();
    Some((file, missing, suggestion))
}
