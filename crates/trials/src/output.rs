//! Curves as rows of a table.

use crate::figure::{Curve, Experiment};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use dshap_models::Error;
use dshap_run::Receiver;
use std::sync::Arc;

/// Hands curves over, one row per point. Utility is also given as a share of
/// `whole`, that of all rows.
pub(crate) fn hand_over(curves: &[Curve], whole: f64, receiver: &mut dyn Receiver) -> Result<(), Error> {
    let words = |word: fn(&Curve) -> &str| -> ArrayRef {
        let cells = curves.iter().flat_map(|curve| std::iter::repeat_n(word(curve), curve.n_rows.len()));
        Arc::new(StringArray::from(cells.collect::<Vec<_>>()))
    };
    let numbers = |of: &dyn Fn(bool, f64) -> Option<f64>| -> ArrayRef {
        let cells = curves.iter().flat_map(|curve| {
            let is_found = curve.experiment == Experiment::Detection;
            curve.height.iter().map(move |&height| of(is_found, height))
        });
        Arc::new(cells.collect::<Float64Array>())
    };
    let n_rows =
        UInt64Array::from_iter_values(curves.iter().flat_map(|c| c.n_rows.iter().map(|&n| n as u64)));
    let columns: [(&str, ArrayRef); 7] = [
        ("experiment", words(|curve| curve.experiment.word())),
        ("method", words(|curve| &curve.method)),
        ("order", words(|curve| curve.order.word())),
        ("n_rows", Arc::new(n_rows)),
        ("utility", numbers(&|is_found, height| (!is_found).then_some(height))),
        ("relative", numbers(&|is_found, height| share_of(whole, height).filter(|_| !is_found))),
        ("found", numbers(&|is_found, height| is_found.then_some(height))),
    ];
    let nullable = columns.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).expect("all columns are as long");
    receiver.begin(&batch.schema())?;
    receiver.rows(batch)
}

/// Nothing is a share of no utility at all.
fn share_of(whole: f64, height: f64) -> Option<f64> {
    Some(height / whole).filter(|share| share.is_finite())
}
