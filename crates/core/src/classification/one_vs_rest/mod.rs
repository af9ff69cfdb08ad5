//! More than two classes: each against all others, and the values summed.
//!
//! | file | holds |
//! |---|---|
//! | `irls.rs` | the fits |
//! | `valuer.rs` | values row by row, and their standard errors |
//! | `general.rs`, `authors.rs` | by drawing sets; bounds of the authors' program |
//!
//! A row's value is the sum over classes of its value for telling that class
//! from all others. With two classes both contributions are the same, by
//! symmetry.

mod authors;
mod general;
mod irls;
mod valuer;

pub use authors::AuthorsOneVsRest;
pub use general::GeneralOneVsRest;
pub use irls::{OneVsRestIrls, OneVsRestPass};
pub use valuer::OneVsRest;

use super::prediction::label_parts_of_classes;
use crate::labels::check_classes;
use crate::values::{Part, Values};
use crate::{Error, Place, Rows, Valuer, Warning, Watch};
use std::collections::BTreeSet;

/// What adds up over classes.
const SUMMED: [Part; 3] = [Part::Potential, Part::Penalty, Part::Correction];

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
        parts: SUMMED.into_iter().filter_map(part).collect(),
        notes,
        truncation: truncation_of_classes(by_class),
        ..Values::default()
    }
}

/// How much of the sum of all classes was kept, where each class says that for its own.
fn truncation_of_classes(by_class: &[Values]) -> Option<Vec<(usize, f64)>> {
    let all: Vec<&Vec<(usize, f64)>> =
        by_class.iter().map(|values| values.truncation.as_ref()).collect::<Option<_>>()?;
    let of_row = |row: usize| {
        let n_visited = all.iter().map(|class| class[row].0).max().unwrap_or(0);
        let kept: f64 = by_class.iter().map(|values| values.value[row]).sum();
        let whole: f64 =
            by_class.iter().zip(&all).map(|(values, class)| values.value[row] / class[row].1).sum();
        (n_visited, kept / whole)
    };
    by_class.first().map(|first| (0..first.len()).map(of_row).collect())
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

/// Values of rows for each class against the others.
pub(crate) fn values_of_classes<V: Valuer>(
    classes: &[V],
    rows: Rows<'_>,
    place: Place,
    watch: Watch<'_>,
) -> Result<Vec<Values>, Error> {
    check_classes(rows, classes.len())?;
    let of_class = |(class, valuer): (usize, &V)| {
        let watch = |done: usize, total: usize| watch(class * total + done, classes.len() * total);
        with_class(rows, class, |rows| valuer.values_at(rows, place, &watch))
    };
    classes.iter().enumerate().map(of_class).collect()
}

/// Their sum; with the value and the probability of each class if `by_class` is set.
pub(crate) fn total_of_classes(values: &[Values], by_class: bool) -> Values {
    let mut sum = sum_of_classes(values);
    if by_class {
        sum.parts.extend(values.iter().enumerate().flat_map(|(class, values)| {
            let prob = values.part(Part::Prob).map(|prob| (Part::ProbOf(class), prob.to_vec()));
            [(Part::ValueOf(class), values.value.clone())].into_iter().chain(prob)
        }));
    }
    sum.parts.extend(label_parts_of_classes(values).into_iter().flatten());
    sum
}

/// The parts that such a sum comes with, in order.
pub(crate) fn parts_of_total<V: Valuer>(classes: &[V], by_class: bool) -> Vec<Part> {
    let summed = |part: &Part| classes.iter().all(|class| class.parts().contains(part));
    let mut parts: Vec<Part> = SUMMED.into_iter().filter(summed).collect();
    if by_class {
        parts.extend((0..classes.len()).flat_map(|class| [Part::ValueOf(class), Part::ProbOf(class)]));
    }
    let tell_labels = classes.iter().all(|class| class.parts().contains(&Part::LabelProb));
    parts.extend(Part::OF_LABEL.into_iter().filter(|_| tell_labels));
    parts
}

/// Refuses fewer than two classes, and classes of different references.
pub(crate) fn check_same<T: PartialEq>(what: impl ExactSizeIterator<Item = T>) -> Result<(), Error> {
    let what: Vec<T> = what.collect();
    if what.len() < 2 {
        return Err(Error::BadOption { what: "at least two classes are needed" });
    }
    if what.iter().any(|other| *other != what[0]) {
        return Err(Error::Contradiction { what: "the classes were fitted to different references" });
    }
    Ok(())
}

/// Warnings of each class, with the class where they are not the same for all.
pub(crate) fn warnings_by_class<V: Valuer>(classes: &[V]) -> Vec<(Option<usize>, Warning)> {
    let all: Vec<Vec<Warning>> = classes.iter().map(Valuer::warnings).collect();
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

/// The same as warnings that name their class.
pub(crate) fn warnings_of_classes<V: Valuer>(classes: &[V]) -> Vec<Warning> {
    let named = |(class, warning): (Option<usize>, Warning)| match class {
        Some(class) => Warning::InClass { class, warning: Box::new(warning) },
        None => warning,
    };
    with_drops_together(warnings_by_class(classes)).into_iter().map(named).collect()
}

/// Columns that several classes drop, of which some drop more, in one warning: nobody reads one
/// for each class.
fn with_drops_together(warnings: Vec<(Option<usize>, Warning)>) -> Vec<(Option<usize>, Warning)> {
    let of_class = |(class, warning): &(Option<usize>, Warning)| match (class, warning) {
        (Some(_), Warning::DroppedColumns { columns }) => Some(columns.clone()),
        _ => None,
    };
    let dropped: Vec<Vec<usize>> = warnings.iter().filter_map(of_class).collect();
    if dropped.len() < 2 {
        return warnings;
    }
    let columns: BTreeSet<usize> = dropped.into_iter().flatten().collect();
    let together = (None, Warning::DroppedColumns { columns: columns.into_iter().collect() });
    std::iter::once(together).chain(warnings.into_iter().filter(|one| of_class(one).is_none())).collect()
}
