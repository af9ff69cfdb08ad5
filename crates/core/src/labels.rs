//! Checks of labels.

use crate::{Error, Rows};

/// Refuses labels that are neither 0 nor 1.
pub(crate) fn check_labels(rows: Rows<'_>) -> Result<(), Error> {
    check(rows, |label| label == 0.0 || label == 1.0, |row| Error::NotBinary { row })
}

/// Refuses labels that are not whole numbers below `n_classes`.
pub(crate) fn check_classes(rows: Rows<'_>, n_classes: usize) -> Result<(), Error> {
    let is_class = |label: f64| label >= 0.0 && label < n_classes as f64 && label.fract() == 0.0;
    check(rows, is_class, |row| Error::NotAClass { row, n_classes })
}

/// A label that is not finite is reported like any other such cell.
fn check(
    rows: Rows<'_>,
    is_label: impl Fn(f64) -> bool,
    wrong: impl FnOnce(usize) -> Error,
) -> Result<(), Error> {
    match rows.y().iter().position(|&label| !is_label(label)) {
        Some(row) if !rows.y()[row].is_finite() => Err(Error::NotFinite { row, column: rows.n_features() }),
        Some(row) => Err(wrong(row)),
        None => Ok(()),
    }
}
