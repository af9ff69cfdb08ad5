//! A table that is read with a design: the rows that models learn from.

use crate::at::at;
use crate::in_place::InPlace;
use crate::memory::{Budget, most_rows};
use crate::scan::Scan;
use dshap::Rows;
use dshap_io::{Batch, Source};
use dshap_models::{
    EachRows, Error, HeldRows, InputFile, Observer, Pass, Reference, RowCounts, Share, Stage,
};
use dshap_table::{Design, Encoded, Wanted};
use faer::Mat;

/// Rows that are encoded and worked on at a time: few enough to be still in cache
/// when they are summed, and enough for several threads.
const CACHED_ROWS: usize = 16 * 1024;

/// A source whose rows become numbers by a design.
pub(crate) struct Table<'a> {
    pub(crate) source: &'a Source,
    pub(crate) design: &'a Design,
    /// Whether the rows are a reference, which may have weights; else they are test
    /// rows.
    pub(crate) is_reference: bool,
    pub(crate) budget: Budget,
    pub(crate) observer: &'a dyn Observer,
}

impl<'a> Table<'a> {
    /// The rows of a reference.
    pub(crate) fn reference(
        source: &'a Source,
        design: &'a Design,
        budget: Budget,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { source, design, is_reference: true, budget, observer }
    }

    fn wanted(&self) -> Vec<Wanted> {
        if self.is_reference { self.design.wanted_of_reference() } else { self.design.wanted() }
    }

    /// The rows of a slice as numbers, and how many have no weight.
    fn encode(
        &self,
        memory: Mat<f64>,
        rows: &arrow_array::RecordBatch,
    ) -> Result<(Encoded, u64), dshap_table::Error> {
        if self.is_reference {
            self.design.encode_reference_into(memory, rows)
        } else {
            self.design.encode_into(memory, rows).map(|encoded| (encoded, 0))
        }
    }

    /// Hands over the rows of a batch in slices that fit the cache; the memory of
    /// their numbers serves from one slice to the next.
    fn each_slice(
        &self,
        batch: &Batch,
        memory: &mut Mat<f64>,
        counts: &mut RowCounts,
        work: EachRows<'_>,
    ) -> Result<(), Error> {
        let n_rows = batch.rows.num_rows();
        for start in (0..n_rows).step_by(CACHED_ROWS) {
            let slice = batch.rows.slice(start, CACHED_ROWS.min(n_rows - start));
            let encoded = self.encode(std::mem::replace(memory, Mat::new()), &slice);
            let (encoded, n_weightless) =
                encoded.map_err(|e| at(e, self.source, batch.first_row + start as u64))?;
            counts.n_read += slice.num_rows() as u64;
            counts.n_usable += encoded.y.len() as u64 + n_weightless;
            counts.n_filled += encoded.n_filled;
            work(rows_of(&encoded, self.design)?, *counts).map_err(|e| Error::core(e, self.design))?;
            *memory = encoded.x;
        }
        Ok(())
    }

    /// Hands over encoded batches, each with the share of the table that is read.
    fn each_batch(
        &self,
        stage: Stage,
        mut each: impl FnMut(Encoded, f64) -> Result<(), Error> + Send,
    ) -> Result<RowCounts, Error> {
        let Table { source, design, observer, .. } = *self;
        let wanted = self.wanted();
        let budget = self.budget.holding();
        let mut options = budget.scan_options(source, &wanted, design.n_encoded())?;
        // They would be in memory twice.
        options.is_last = !budget.keeps();
        let mut counts = RowCounts::default();
        let total = source.n_bytes().max(1) as f64;
        let scan = Scan { source, wanted: &wanted, options, stage, observer };
        scan.run(|batch| {
            let (encoded, n_weightless) =
                self.encode(Mat::new(), &batch.rows).map_err(|e| at(e, source, batch.first_row))?;
            counts.n_read += batch.rows.num_rows() as u64;
            counts.n_usable += encoded.y.len() as u64 + n_weightless;
            counts.n_filled += encoded.n_filled;
            each(encoded, (batch.bytes_read as f64 / total).min(1.0))
        })?;
        Ok(counts)
    }
}

impl Reference for Table<'_> {
    fn design(&self) -> &Design {
        self.design
    }

    fn observer(&self) -> &dyn Observer {
        self.observer
    }

    fn files(&self) -> Vec<InputFile> {
        // A file that cannot be read again is reported when its rows are.
        InputFile::of(self.source, true).unwrap_or_default()
    }

    fn n_bytes(&self) -> u64 {
        self.source.n_bytes()
    }

    fn most_rows(&self) -> u64 {
        most_rows(self.source)
    }

    fn each(&self, pass: Pass, work: EachRows<'_>) -> Result<RowCounts, Error> {
        let Table { source, design, observer, .. } = *self;
        let wanted = self.wanted();
        let budget = self.budget.reserving_more(pass.reserved).for_sums(pass.sums, pass.later);
        let mut options = budget.scan_options(source, &wanted, design.n_encoded())?;
        options.skip_rows = pass.skip_rows;
        let (mut counts, mut memory) = (RowCounts::default(), Mat::new());
        let scan = Scan { source, wanted: &wanted, options, stage: pass.stage, observer };
        scan.run(|batch| self.each_slice(&batch, &mut memory, &mut counts, &mut *work))?;
        Ok(counts)
    }

    fn each_in_place(
        &self,
        stage: Stage,
        work: &mut dyn FnMut(Rows<'_>) -> Result<(), dshap::Error>,
    ) -> Result<bool, Error> {
        match InPlace::of(self.source, self.design).filter(|_| self.is_reference) {
            Some(rows) => rows.each_of_reference(stage, self.observer, work),
            None => Ok(false),
        }
    }

    fn hold(&self, stage: Stage) -> Result<(HeldRows, RowCounts), Error> {
        let (mut batches, mut n_bytes) = (Vec::new(), 0);
        let counts = self.each_batch(stage, |encoded, read| {
            n_bytes += 8 * encoded.y.len() as u64 * (self.design.n_columns() as u64 + 1);
            batches.push(encoded);
            // They are there twice while they are joined.
            self.budget.check_held(2 * n_bytes, read)
        })?;
        Ok((HeldRows::join(batches, self.design)?, counts))
    }

    fn each_block(
        &self,
        most_bytes: u64,
        work: &mut (dyn FnMut(&HeldRows, Share) -> Result<(), Error> + Send),
    ) -> Result<RowCounts, Error> {
        let row_bytes = 8 * (self.design.n_columns() as u64 + 1);
        let most_rows = (self.budget.share_of(most_bytes) / row_bytes).max(1) as usize;
        let (mut batches, mut n_waiting) = (Vec::new(), 0);
        let mut share = Share { from: 0.0, to: 0.0 };
        let counts = self.each_batch(Stage::Fit, |encoded, read| {
            n_waiting += encoded.y.len();
            batches.push(encoded);
            share.to = read;
            if n_waiting >= most_rows {
                work(&HeldRows::join(std::mem::take(&mut batches), self.design)?, share)?;
                (n_waiting, share.from) = (0, read);
            }
            Ok(())
        })?;
        if n_waiting > 0 {
            work(&HeldRows::join(batches, self.design)?, share)?;
        }
        Ok(counts)
    }
}

/// The rows of an encoded batch.
pub(crate) fn rows_of<'a>(encoded: &'a Encoded, design: &Design) -> Result<Rows<'a>, Error> {
    let rows = Rows::new(encoded.x.as_ref(), &encoded.y).map_err(|e| Error::core(e, design))?;
    match &encoded.weights {
        Some(weights) => rows.with_weights(weights).map_err(|e| Error::core(e, design)),
        None => Ok(rows),
    }
}
