//! Rows on their way into memory.

use crate::Error;
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::passes::Pass;
use crate::reference::RowCounts;
use dshap_io::Source;
use dshap_table::{Design, Encoded};

/// A table that is read into memory.
pub(super) struct Reading<'a> {
    pub(super) source: &'a Source,
    pub(super) design: &'a Design,
    pub(super) budget: Budget,
    pub(super) observer: &'a dyn Observer,
}

/// A part of all rows: from which share on to which.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Reading<'_> {
    /// The rows of a reference.
    pub(super) fn reference(&self) -> Result<(Held, RowCounts), Error> {
        self.whole(true)
    }

    /// All test rows.
    pub(super) fn tests(&self) -> Result<(Held, RowCounts), Error> {
        self.whole(false)
    }

    /// Test rows in blocks of `most_rows`, or of a batch more.
    pub(super) fn tests_in_blocks(
        &self,
        most_rows: usize,
        mut each: impl FnMut(&Held, Share) -> Result<(), Error> + Send,
    ) -> Result<RowCounts, Error> {
        let (mut batches, mut n_waiting) = (Vec::new(), 0);
        let mut share = Share { from: 0.0, to: 0.0 };
        let counts = self.each_batch(false, |encoded, read| {
            n_waiting += encoded.y.len();
            batches.push(encoded);
            share.to = read;
            if n_waiting >= most_rows {
                each(&self.joined(std::mem::take(&mut batches))?, share)?;
                (n_waiting, share.from) = (0, read);
            }
            Ok(())
        })?;
        if n_waiting > 0 {
            each(&self.joined(batches)?, share)?;
        }
        Ok(counts)
    }

    fn whole(&self, are_reference: bool) -> Result<(Held, RowCounts), Error> {
        let (mut batches, mut n_bytes) = (Vec::new(), 0);
        let counts = self.each_batch(are_reference, |encoded, read| {
            n_bytes += 8 * encoded.y.len() as u64 * (self.design.n_columns() as u64 + 1);
            batches.push(encoded);
            // They are there twice while they are joined.
            self.budget.check_held(2 * n_bytes, read)
        })?;
        Ok((self.joined(batches)?, counts))
    }

    fn joined(&self, batches: Vec<Encoded>) -> Result<Held, Error> {
        Held::new(batches, self.design.n_columns(), self.design)
    }

    /// Hands over batches, each with the share of the table that is read.
    fn each_batch(
        &self,
        are_reference: bool,
        mut each: impl FnMut(Encoded, f64) -> Result<(), Error> + Send,
    ) -> Result<RowCounts, Error> {
        let Reading { source, design, budget, observer } = *self;
        let wanted = if are_reference { design.wanted_of_reference() } else { design.wanted() };
        let options = budget.scan_options(source, &wanted, design.n_encoded())?;
        let mut counts = RowCounts::default();
        let total = source.n_bytes().max(1) as f64;
        let pass = Pass { source, wanted: &wanted, options, stage: Stage::Fit, observer };
        pass.run(|batch| {
            let encoded = if are_reference {
                design.encode_reference(&batch.rows).map(|(encoded, _)| encoded)
            } else {
                design.encode(&batch.rows)
            };
            let encoded = encoded.map_err(|error| Error::at(error, source, batch.first_row))?;
            counts.n_read += batch.rows.num_rows() as u64;
            counts.n_usable += encoded.y.len() as u64;
            counts.n_filled += encoded.n_filled;
            each(encoded, (batch.bytes_read as f64 / total).min(1.0))
        })?;
        Ok(counts)
    }
}
