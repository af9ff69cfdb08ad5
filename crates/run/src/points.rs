//! Points: selected, encoded and carried in one place.

use crate::at::at;
use crate::memory::Budget;
use crate::scan::Scan;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Field;
use dshap_io::{Batch, ScanOptions, Source};
use dshap_models::{Error, Observer, Stage};
use dshap_table::{Design, Encoded, Selection, Wanted};
use faer::Mat;

/// A table of points: the columns of the design first, then those carried through
/// to the output.
pub(crate) struct Points<'a> {
    pub(crate) source: &'a Source,
    design: &'a Design,
    wanted: Vec<Wanted>,
    n_design: usize,
}

/// A batch of points that waits for its values.
pub(crate) struct Waiting {
    pub(crate) place: BatchPlace,
    pub(crate) encoded: Encoded,
    /// Bytes of the table up to its end.
    pub(crate) bytes_read: u64,
}

/// Where the values of a batch go.
pub(crate) struct BatchPlace {
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    pub(crate) carried: Vec<ArrayRef>,
    /// Rows that have numbers, where some do not.
    pub(crate) remaining: Option<Vec<usize>>,
}

impl<'a> Points<'a> {
    /// The points of a table. As rows of the reference they have the columns of the
    /// reference, weights included.
    pub(crate) fn new(
        source: &'a Source,
        design: &'a Design,
        selection: &Selection,
        in_reference: bool,
    ) -> Result<Self, Error> {
        let carried = selection.carried(source.schema()).map_err(|e| at(e, source, 0))?;
        Ok(Self::carrying(source, design, carried, in_reference))
    }

    /// The points of a table with these columns carried through.
    pub(crate) fn carrying(
        source: &'a Source,
        design: &'a Design,
        carried: Vec<Wanted>,
        in_reference: bool,
    ) -> Self {
        let mut wanted = if in_reference { design.wanted_of_reference() } else { design.wanted() };
        let n_design = wanted.len();
        wanted.extend(carried);
        Self { source, design, wanted, n_design }
    }

    /// The columns carried through.
    pub(crate) fn carried_fields(&self) -> Result<Vec<Field>, Error> {
        let schema = self.source.arrow_schema(&self.wanted)?;
        Ok(schema.fields()[self.n_design..].iter().map(|field| field.as_ref().clone()).collect())
    }

    /// How to scan the table within a budget.
    pub(crate) fn scan_options(&self, budget: Budget) -> Result<ScanOptions, Error> {
        budget.scan_options(self.source, &self.wanted, self.design.n_encoded())
    }

    /// Bytes of the cells of `n_rows` rows, twice while they are joined.
    pub(crate) fn joined_bytes(&self, n_rows: usize) -> u64 {
        let cells = (16 * n_rows as u64).saturating_mul(self.design.n_columns() as u64 + 1);
        cells.min(64 * self.source.n_bytes())
    }

    /// Hands over batch after batch; returns the number of rows read.
    pub(crate) fn each(
        &self,
        options: ScanOptions,
        observer: &dyn Observer,
        mut each: impl FnMut(Waiting) -> Result<Mat<f64>, Error> + Send,
    ) -> Result<u64, Error> {
        let Points { source, wanted, .. } = self;
        let scan = Scan { source, wanted, options, stage: Stage::Value, observer };
        let mut memory = Mat::new();
        scan.run(|batch| {
            let waiting = self.encode(std::mem::replace(&mut memory, Mat::new()), batch)?;
            memory = each(waiting)?;
            Ok(())
        })
    }

    fn encode(&self, memory: Mat<f64>, batch: Batch) -> Result<Waiting, Error> {
        let (design_part, carried) = split(&batch.rows, self.n_design);
        let encoded = self.design.encode_into(memory, &design_part);
        let mut encoded = encoded.map_err(|e| at(e, self.source, batch.first_row))?;
        let place = BatchPlace {
            first_row: batch.first_row,
            n_rows: batch.rows.num_rows(),
            carried,
            remaining: encoded.remaining.take(),
        };
        Ok(Waiting { place, encoded, bytes_read: batch.bytes_read })
    }
}

/// The columns of the design, and those carried through.
fn split(rows: &RecordBatch, at: usize) -> (RecordBatch, Vec<ArrayRef>) {
    let first: Vec<usize> = (0..at).collect();
    let design = rows.project(&first).expect("the batch has all columns that were wanted");
    (design, rows.columns()[at..].to_vec())
}
