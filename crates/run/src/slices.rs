//! Rows that take long are valued slice by slice, so that a run can be watched and
//! interrupted.

use dshap::{Place, Rows, Values};
use dshap_models::{Error, Observer};
use std::time::{Duration, Instant};

/// A slice of rows that takes longer is long enough.
const PATIENCE: Duration = Duration::from_millis(50);

/// Values rows in slices of at least `least` rows, enough for every thread; `report`
/// gets the number of rows done.
pub(crate) fn value_in_slices(
    rows: Rows<'_>,
    place: Place,
    least: usize,
    observer: &dyn Observer,
    report: impl Fn(usize),
    mut value: impl FnMut(Rows<'_>, Place) -> Result<Values, Error>,
) -> Result<Values, Error> {
    // How long a row takes depends on everything, so it is measured.
    let mut len = least.max(1);
    let (mut all, mut start) = (Values::default(), 0);
    while start < rows.len() {
        if start > 0 && observer.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let slice = rows.slice(start, len.min(rows.len() - start));
        let begun = Instant::now();
        let place = Place { first_row: place.first_row + start as u64, ..place };
        join(&mut all, value(slice, place)?);
        start += slice.len();
        report(start);
        if begun.elapsed() < PATIENCE {
            len *= 2;
        }
    }
    Ok(all)
}

/// Adds the values of further rows.
pub(crate) fn join(all: &mut Values, more: Values) {
    if all.is_empty() {
        *all = more;
        return;
    }
    let n_before = all.len();
    all.value.extend(more.value);
    if let (Some(all), Some(more)) = (&mut all.std_error, more.std_error) {
        all.extend(more);
    }
    for ((_, all), (_, more)) in all.parts.iter_mut().zip(more.parts) {
        all.extend(more);
    }
    all.notes.extend(more.notes.into_iter().map(|(row, note)| (n_before + row, note)));
    if let (Some(all), Some(more)) = (&mut all.truncation, more.truncation) {
        all.extend(more);
    }
}
