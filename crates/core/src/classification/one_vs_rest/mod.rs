//! More than two classes: each against all others, and the values summed.
//!
//! | file | holds |
//! |---|---|
//! | `irls.rs` | the fits |
//! | `valuer.rs` | values row by row, and their standard errors |
//! | `general.rs`, `printed.rs` | by drawing sets; as printed |
//!
//! A row's value is the sum over classes of its value for telling that class
//! from all others. With two classes both contributions are the same, by
//! symmetry.

mod general;
mod irls;
mod printed;
mod valuer;

pub use general::GeneralOneVsRest;
pub use irls::{OneVsRestIrls, OneVsRestPass};
pub use printed::PrintedOneVsRest;
pub use valuer::OneVsRest;

use crate::values::{Part, Values};
use crate::{Error, Rows, Warning};

/// The sum over classes of values of the same rows, by any method: values,
/// potentials, penalties and corrections. A row without a value in one class has none.
///
/// Standard errors are not summed: the classes share their reference.
pub fn sum_of_classes(by_class: &[Values]) -> Values {
    let Some(first) = by_class.first() else { return Values::default() };
    let sum = |column: &dyn Fn(&Values) -> Option<Vec<f64>>| {
        let mut total = vec![0.0; first.len()];
        for values in by_class {
            total.iter_mut().zip(column(values)?).for_each(|(total, add)| *total += add);
        }
        Some(total)
    };
    let part = |part: Part| Some((part, sum(&|values| Some(values.part(part)?.to_vec()))?));
    let mut notes: Vec<_> = by_class.iter().flat_map(|values| values.notes.iter().copied()).collect();
    notes.sort_by_key(|(row, _)| *row);
    notes.dedup_by_key(|(row, _)| *row);
    Values {
        value: sum(&|values| Some(values.value.clone())).unwrap_or_default(),
        parts: [Part::Potential, Part::Penalty, Part::Correction].into_iter().filter_map(part).collect(),
        notes,
        ..Values::default()
    }
}

/// The same rows with label 1 for those of `class` and 0 for all others.
pub fn with_class<T>(rows: Rows<'_>, class: usize, then: impl FnOnce(Rows<'_>) -> T) -> T {
    let labels: Vec<f64> = rows.y().iter().map(|&y| f64::from(u8::from(y == class as f64))).collect();
    let relabelled = Rows::new(rows.x(), &labels).expect("there is a label for each row");
    then(match rows.weights() {
        Some(weights) => relabelled.with_weights(weights).expect("there is a weight for each row"),
        None => relabelled,
    })
}

pub(crate) fn check_classes(rows: Rows<'_>, n_classes: usize) -> Result<(), Error> {
    let is_class = |label: f64| label >= 0.0 && label < n_classes as f64 && label.fract() == 0.0;
    match rows.y().iter().position(|&label| !is_class(label)) {
        Some(row) if !rows.y()[row].is_finite() => Err(Error::NotFinite { row, column: rows.n_features() }),
        Some(row) => Err(Error::NotAClass { row, n_classes }),
        None => Ok(()),
    }
}

/// What explains a sum over classes: of each class its value and how likely it
/// is.
pub(crate) fn parts_of_classes(by_class: &[Values]) -> impl Iterator<Item = (Part, Vec<f64>)> {
    by_class.iter().enumerate().flat_map(|(class, values)| {
        let prob = values.part(Part::Prob).map(|prob| (Part::ProbOf(class), prob.to_vec()));
        [(Part::ValueOf(class), values.value.clone())].into_iter().chain(prob)
    })
}

/// Refuses too few classes, and classes that are not of one reference.
pub(crate) fn check_same<T: PartialEq>(what: impl ExactSizeIterator<Item = T>) -> Result<(), Error> {
    let what: Vec<T> = what.collect();
    if what.len() < 2 {
        return Err(Error::BadOption { what: "there must be two classes at least" });
    }
    if what.iter().any(|other| *other != what[0]) {
        return Err(Error::Contradiction { what: "the classes were fitted to different references" });
    }
    Ok(())
}

/// Doubts of each class, with the class where they are not the same for all.
pub(crate) fn warnings_of_classes(all: &[Vec<Warning>]) -> Vec<(Option<usize>, Warning)> {
    let everywhere = |warning: &Warning| all.iter().all(|other| other.contains(warning));
    let mut out: Vec<(Option<usize>, Warning)> = Vec::new();
    for (class, warnings) in all.iter().enumerate() {
        for warning in warnings {
            match everywhere(warning) {
                false => out.push((Some(class), warning.clone())),
                true if class == 0 => out.push((None, warning.clone())),
                true => {}
            }
        }
    }
    out
}
