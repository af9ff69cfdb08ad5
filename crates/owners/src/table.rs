//! A report as a table: one row per owner.

use crate::report::{AtSize, OwnerLine, Report};
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
        let at_sizes = |name: &str, of: fn(&AtSize) -> Option<f64>| {
            let sizes = self.owners.first().map_or(&[][..], |line| &line.sizes);
            let column = |(place, size): (usize, &AtSize)| {
                let cells = self.owners.iter().map(|line| line.sizes.get(place).and_then(of));
                let is_known = cells.clone().any(|cell| cell.is_some());
                is_known.then(|| {
                    (format!("{name}_m{}", size.m), Arc::new(cells.collect::<Float64Array>()) as ArrayRef)
                })
            };
            sizes.iter().enumerate().filter_map(column).collect::<Vec<_>>()
        };
        let before = [
            ("owner", Some(words(|line| &line.owner))),
            ("rows", counts(|line| Some(line.rows))),
            ("row_sum", numbers(|line| line.row_sum)),
            ("row_sum_stderr", numbers(|line| line.row_sum_stderr)),
            ("row_mean", numbers(|line| line.row_mean)),
            ("below_zero", numbers(|line| line.below_zero)),
            ("joint", numbers(|line| line.joint)),
        ];
        let after = [
            ("shapley", numbers(|line| Some(line.shapley))),
            ("stderr", numbers(|line| line.stderr)),
            ("given_own", numbers(|line| line.given_own)),
            ("given_own_stderr", numbers(|line| line.given_own_stderr)),
            ("duplicates", counts(|line| line.duplicates)),
            ("near", counts(|line| line.near)),
            ("near_repeated", counts(|line| line.near_repeated)),
            ("repeated", counts(|line| line.repeated)),
        ];
        let known = |(name, cells): (&str, Option<ArrayRef>)| Some((name.to_string(), cells?));
        let row_sums = at_sizes("row_sum", |size| size.row_sum);
        let joint = at_sizes("joint", |size| size.joint);
        let columns = before.into_iter().filter_map(known).chain(row_sums).chain(joint);
        let present =
            columns.chain(after.into_iter().filter_map(known)).map(|(name, cells)| (name, cells, true));
        RecordBatch::try_from_iter_with_nullable(present).expect("columns have one cell per owner")
    }
}
