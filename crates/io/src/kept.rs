//! Batches of one whole pass, kept for later passes over the same rows.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dshap_table::Wanted;

use crate::scan::{Batch, array_bytes};

/// What a source keeps of a pass, if anything.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pass: Mutex<Option<KeptPass>>,
    /// Columns that a later pass wants beside those of the pass that is kept.
    expected: Mutex<Vec<Wanted>>,
}

/// All batches of a pass.
#[derive(Debug, Clone)]
struct KeptPass {
    wanted: Vec<Wanted>,
    batches: Vec<Batch>,
    n_bytes: usize,
}

impl Kept {
    /// Bytes of the batches that are kept.
    pub(crate) fn n_bytes(&self) -> usize {
        self.lock().as_ref().map_or(0, |pass| pass.n_bytes)
    }

    /// Keeps nothing any more.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    /// From now on a pass that is kept reads these columns too.
    pub(crate) fn expect(&self, columns: Vec<Wanted>) {
        *self.expected() = columns;
    }

    /// These columns, and those that a later pass wants beside them.
    pub(crate) fn with_expected(&self, wanted: &[Wanted]) -> Vec<Wanted> {
        let mut all = wanted.to_vec();
        all.extend(self.expected().iter().filter(|column| !wanted.contains(column)).cloned());
        all
    }

    /// The batches with just these columns, if all of them are kept. With `is_last` they
    /// are freed as they are handed over.
    pub(crate) fn replay(&self, wanted: &[Wanted], most_rows: usize, is_last: bool) -> Option<Replay> {
        let mut kept = self.lock();
        let pass = kept.as_ref()?;
        let places = wanted
            .iter()
            .map(|wanted| pass.wanted.iter().position(|kept| kept == wanted))
            .collect::<Option<Vec<usize>>>()?;
        let batches = pass.batches.iter().cloned().collect();
        if is_last {
            *kept = None;
        }
        Some(Replay { batches, places, most_rows })
    }

    fn lock(&self) -> MutexGuard<'_, Option<KeptPass>> {
        self.pass.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn expected(&self) -> MutexGuard<'_, Vec<Wanted>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The batches of a pass so far, to be kept if all of them fit.
#[derive(Debug)]
pub(crate) struct Keeping {
    pass: KeptPass,
    most_bytes: usize,
}

impl Keeping {
    pub(crate) fn new(wanted: &[Wanted], most_bytes: usize) -> Self {
        Self { pass: KeptPass { wanted: wanted.to_vec(), batches: Vec::new(), n_bytes: 0 }, most_bytes }
    }

    /// Adds a batch, whose cells are shared. Returns whether all of them still fit.
    pub(crate) fn add(&mut self, batch: &Batch) -> bool {
        self.pass.n_bytes += batch.rows.columns().iter().map(array_bytes).sum::<usize>();
        self.pass.batches.push(batch.clone());
        self.pass.n_bytes <= self.most_bytes
    }

    /// All rows have been read.
    pub(crate) fn finish(self, kept: &Kept) {
        *kept.lock() = Some(self.pass);
    }
}

/// A pass over batches that were kept.
#[derive(Debug)]
pub(crate) struct Replay {
    batches: VecDeque<Batch>,
    places: Vec<usize>,
    most_rows: usize,
}

impl Iterator for Replay {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let mut batch = self.batches.pop_front()?;
        let n_rows = batch.rows.num_rows();
        if n_rows > self.most_rows {
            let rest = batch.rows.slice(self.most_rows, n_rows - self.most_rows);
            let first_row = batch.first_row + self.most_rows as u64;
            self.batches.push_front(Batch { first_row, rows: rest, bytes_read: batch.bytes_read });
            batch.rows = batch.rows.slice(0, self.most_rows);
        }
        batch.rows = batch.rows.project(&self.places).expect("each place is that of a column");
        Some(batch)
    }
}
