//! The table without its suspicious rows, or with marks beside them.

use crate::actions::Act;
use crate::run::{CleanedRows, Reason, target_word};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::concat;
use arrow_select::take::take;
use dshap_catalogue::Task;
use dshap_models::Error;
use dshap_run::{HeldTable, Receiver, free_name};
use std::sync::Arc;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CleanedAs {
    /// The table after the recommended action, with the columns it has.
    Cleaned,
    /// All rows, with columns that mark suspicious ones.
    Marked,
}

/// A table, and what was found in it.
pub(crate) struct Marks<'a> {
    pub(crate) held: &'a HeldTable,
    pub(crate) found: &'a CleanedRows,
    /// The name of the target.
    pub(crate) target: &'a str,
}

/// Columns that marks are in.
const SUSPECT: &str = "suspect";
const SCORE: &str = "score";
const REASON: &str = "reason";
const SUGGESTED: &str = "suggested_label";
const EXPECTED: &str = "expected";

/// Hands the table over in one batch.
pub(crate) fn hand_over(
    marks: &Marks<'_>,
    cleaned_as: CleanedAs,
    receiver: &mut dyn Receiver,
    reason: &dyn Fn(&Reason) -> String,
) -> Result<(), Error> {
    let whole = joined(marks.held);
    let batch = match cleaned_as {
        CleanedAs::Cleaned => cleaned(marks, &whole),
        CleanedAs::Marked => marked(marks, &whole, reason),
    };
    receiver.begin(&batch.schema())?;
    receiver.rows(batch)
}

/// All columns of the table, as they were read.
fn joined(held: &HeldTable) -> Vec<ArrayRef> {
    let column = |j: usize| {
        let parts: Vec<&dyn Array> = held.places.iter().map(|place| place.carried[j].as_ref()).collect();
        concat(&parts).expect("parts of one column are of one type")
    };
    (0..held.carried.len()).map(column).collect()
}

/// Rows are dropped, or take the target of another row that has the label.
fn cleaned(marks: &Marks<'_>, whole: &[ArrayRef]) -> RecordBatch {
    let Marks { held, found, target } = marks;
    let numbers = held.usable_rows();
    let act = found.tried.verdict.recommended.map(|chosen| chosen.action.act);
    let n = held.n_rows as usize;
    let mut is_dropped = vec![false; n];
    let mut like: Vec<u64> = (0..n as u64).collect();
    match act {
        None => {}
        Some(Act::Drop) => found.acted_on.iter().for_each(|&place| is_dropped[numbers[place]] = true),
        Some(Act::Relabel) => {
            for &place in &found.acted_on {
                let label = found.suspects.expected[place];
                // The likeliest label is one that rows have.
                if let Some(other) = held.rows.y().iter().position(|y| *y == label) {
                    like[numbers[place]] = numbers[other] as u64;
                }
            }
        }
    }
    let left = |row: &u64| !is_dropped[*row as usize];
    let rows = UInt64Array::from_iter_values((0..n as u64).filter(left));
    let of_target =
        UInt64Array::from_iter_values((0..n).filter(|&row| !is_dropped[row]).map(|row| like[row]));
    let columns = whole.iter().zip(&held.carried).map(|(column, field)| {
        let rows = if field.name() == target { &of_target } else { &rows };
        take(column, rows, None).expect("rows are rows of the table")
    });
    let columns: Vec<ArrayRef> = columns.collect();
    batch(held.carried.clone(), columns)
}

/// All rows, and what is known of each.
fn marked(marks: &Marks<'_>, whole: &[ArrayRef], reason: &dyn Fn(&Reason) -> String) -> RecordBatch {
    let Marks { held, found, .. } = marks;
    let n = held.n_rows as usize;
    let is_label = held.task == Task::Classification;
    let own = [SUSPECT, SCORE, REASON, if is_label { SUGGESTED } else { EXPECTED }];
    let mut is_suspect = vec![Some(false); n];
    let (mut score, mut why, mut expected) = (vec![None; n], vec![None; n], vec![None; n]);
    let mut is_acted = vec![false; held.rows.n_rows()];
    found.acted_on.iter().for_each(|&place| is_acted[place] = true);
    let suspects = &found.suspects;
    for (place, &row) in held.usable_rows().iter().enumerate() {
        let suspicious = is_acted[place] || suspects.is_flagged[place];
        is_suspect[row] = Some(suspicious);
        score[row] = Some(suspects.score[place]);
        if suspicious {
            why[row] = Some(reason(&reason_of(held, found, place)));
            expected[row] = Some(suspects.expected[place]);
        }
    }
    let words = || expected.iter().map(|target| target.map(|target| target_word(&held.design, target)));
    let last: ArrayRef = match is_label {
        true => Arc::new(words().collect::<StringArray>()),
        false => Arc::new(expected.iter().copied().collect::<Float64Array>()),
    };
    let added: [(DataType, ArrayRef); 4] = [
        (DataType::Boolean, Arc::new(BooleanArray::from(is_suspect))),
        (DataType::Float64, Arc::new(Float64Array::from(score))),
        (DataType::Utf8, Arc::new(why.into_iter().collect::<StringArray>())),
        (last.data_type().clone(), last),
    ];
    let is_own = |name: &str| own.contains(&name);
    let renamed = |field: &Field| field.clone().with_name(free_name(field.name(), &held.carried, is_own));
    let mut fields: Vec<Field> = held.carried.iter().map(renamed).collect();
    let mut columns = whole.to_vec();
    for (name, (data_type, column)) in own.into_iter().zip(added) {
        fields.push(Field::new(name, data_type, true));
        columns.push(column);
    }
    batch(fields, columns)
}

fn reason_of(held: &HeldTable, found: &CleanedRows, place: usize) -> Reason {
    let (suspects, y) = (&found.suspects, held.rows.y()[place]);
    let expected = suspects.expected[place];
    match held.task {
        Task::Classification => Reason::Improbable {
            prob: 1.0 - suspects.score[place],
            expected: target_word(&held.design, expected),
            expected_prob: suspects.expected_prob[place],
        },
        Task::Regression | Task::Density => {
            Reason::Far { expected, deviations: suspects.score[place].copysign(y - expected) }
        }
    }
}

fn batch(fields: Vec<Field>, columns: Vec<ArrayRef>) -> RecordBatch {
    // Relabelled or not, a column that may have empty cells still may.
    let fields: Vec<Field> = fields.into_iter().map(|field| field.with_nullable(true)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("columns were built to the schema")
}
