//! A report as a table: one row per owner.

use crate::report::{OwnerLine, Report};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use std::sync::Arc;

impl Report {
    /// One row per owner. Columns that nobody filled are absent.
    pub fn table(&self) -> RecordBatch {
        let words = |of: fn(&OwnerLine) -> &str| -> ArrayRef {
            Arc::new(self.owners.iter().map(|line| Some(of(line))).collect::<StringArray>())
        };
        let counts = |of: fn(&OwnerLine) -> Option<u64>| -> Option<ArrayRef> {
            let cells: UInt64Array = self.owners.iter().map(of).collect();
            self.owners.iter().any(|line| of(line).is_some()).then(|| Arc::new(cells) as ArrayRef)
        };
        let numbers = |of: fn(&OwnerLine) -> Option<f64>| -> Option<ArrayRef> {
            let cells: Float64Array = self.owners.iter().map(of).collect();
            self.owners.iter().any(|line| of(line).is_some()).then(|| Arc::new(cells) as ArrayRef)
        };
        let columns = [
            ("owner", Some(words(|line| &line.owner))),
            ("rows", counts(|line| Some(line.rows))),
            ("row_sum", numbers(|line| line.row_sum)),
            ("row_mean", numbers(|line| line.row_mean)),
            ("below_zero", numbers(|line| line.below_zero)),
            ("joint", numbers(|line| line.joint)),
            ("shapley", numbers(|line| Some(line.shapley))),
            ("stderr", numbers(|line| line.stderr)),
            ("given_own", numbers(|line| line.given_own)),
            ("duplicates", counts(|line| line.duplicates)),
            ("near", counts(|line| line.near)),
            ("repeated", counts(|line| line.repeated)),
        ];
        let present = columns.into_iter().filter_map(|(name, cells)| Some((name, cells?, true)));
        RecordBatch::try_from_iter_with_nullable(present).expect("columns have one cell per owner")
    }
}
