//! Points that wait for their values: as many as the method wants at a time.

use crate::memory::Budget;
use crate::points::{BatchPlace, Points, Waiting};
use crate::slices::value_in_slices;
use crate::summary::Tally;
use crate::table::rows_of;
use crate::value::Job;
use dshap::{Part, Place, Rows, Values};
use dshap_io::ScanOptions;
use dshap_models::{Error, HeldRows, Observer, RowValuer, WantsRows, slice_of};
use dshap_table::Design;
use faer::Mat;

/// How many points wait before they are valued, and how the table is read.
pub(crate) fn sized(
    row_valuer: &mut dyn RowValuer,
    points: &Points<'_>,
    budget: Budget,
    in_reference: bool,
) -> Result<(usize, ScanOptions), Error> {
    match row_valuer.wants() {
        WantsRows::Batches | WantsRows::Slices(_) => Ok((1, points.scan_options(budget)?)),
        WantsRows::All { .. } => Ok((usize::MAX, points.scan_options(budget)?)),
        WantsRows::Blocks(blocks) => {
            let budget = budget.reserving_more(blocks.streamed_bytes(|bytes| budget.share_of(bytes)));
            let within = |budget: Budget| {
                let mut n_points = blocks.most();
                loop {
                    let cells = if in_reference { 0 } else { points.joined_bytes(n_points) };
                    let budget = budget.reserving_more(cells + blocks.bytes(n_points));
                    match points.scan_options(budget) {
                        Ok(options) => return Ok((n_points, options)),
                        Err(_) if n_points > blocks.least() => n_points /= 2,
                        Err(error) => return Err(error),
                    }
                }
            };
            let (n_points, options) = within(budget)?;
            // An index must leave room for as many points.
            let indexed = within(budget.reserving_more(blocks.index_bytes())).ok();
            let indexed = indexed.filter(|(n_indexed, _)| *n_indexed == n_points);
            row_valuer.choose(indexed.is_some());
            // Rows of the reference have their values from one computation.
            let n_points = if in_reference { 1 } else { n_points };
            Ok((n_points, indexed.map_or(options, |(_, options)| options)))
        }
    }
}

/// Points that wait for their values.
pub(crate) struct Queue<'a> {
    row_valuer: &'a mut dyn RowValuer,
    design: &'a Design,
    in_reference: bool,
    observer: &'a dyn Observer,
    waiting: Vec<Waiting>,
    n_waiting: usize,
    /// Points with numbers so far, those that wait included.
    n_usable: u64,
    /// Bytes of the table before those that wait.
    bytes_before: u64,
    n_bytes: u64,
    tally: Tally,
    /// Whether standard errors are handed over.
    keeps_errors: bool,
    hand_over: &'a mut (dyn FnMut(BatchPlace, &Values) -> Result<(), Error> + Send),
}

impl<'a> Queue<'a> {
    pub(crate) fn new(
        job: &Job<'a>,
        row_valuer: &'a mut dyn RowValuer,
        hand_over: &'a mut (dyn FnMut(BatchPlace, &Values) -> Result<(), Error> + Send),
    ) -> Self {
        Self {
            row_valuer,
            design: &job.prepared.design,
            in_reference: job.in_reference,
            observer: job.observer,
            waiting: Vec::new(),
            n_waiting: 0,
            n_usable: 0,
            bytes_before: 0,
            n_bytes: job.points.n_bytes(),
            tally: match job.extras.std_error || job.has_errors_to_judge() {
                true => Tally::new().with_errors(),
                false => Tally::new(),
            },
            keeps_errors: job.extras.std_error,
            hand_over,
        }
    }

    /// Points that wait, with or without numbers.
    pub(crate) fn n_waiting(&self) -> usize {
        self.n_waiting
    }

    /// What was handed over, and how many points had numbers.
    pub(crate) fn into_counts(self) -> (Tally, u64) {
        (self.tally, self.n_usable)
    }

    pub(crate) fn push(&mut self, waiting: Waiting) {
        self.n_waiting += waiting.encoded.y.len().max(1);
        self.n_usable += waiting.encoded.y.len() as u64;
        self.waiting.push(waiting);
    }

    pub(crate) fn flush_rest(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() { Ok(()) } else { self.flush().map(|_| ()) }
    }

    /// Values the points that wait; returns memory that serves again.
    pub(crate) fn flush(&mut self) -> Result<Mat<f64>, Error> {
        let waiting = std::mem::take(&mut self.waiting);
        self.n_waiting = 0;
        let bytes_read = waiting.last().map_or(0, |last| last.bytes_read);
        let lengths: Vec<usize> = waiting.iter().map(|batch| batch.encoded.y.len()).collect();
        let first_row = self.n_usable - lengths.iter().sum::<usize>() as u64;
        let mut places = Vec::with_capacity(waiting.len());
        let mut batches = Vec::with_capacity(waiting.len());
        for batch in waiting {
            places.push(batch.place);
            batches.push(batch.encoded);
        }
        let (values, memory) = match batches.as_slice() {
            [only] => {
                (self.values(rows_of(only, self.design)?, first_row, bytes_read)?, batches.pop().map(|b| b.x))
            }
            _ => {
                let joined = HeldRows::join(batches, self.design)?;
                let rows = joined.rows().map_err(|e| Error::core(e, self.design))?;
                (self.values(rows, first_row, bytes_read)?, None)
            }
        };
        refuse_infinite(&values, self.keeps_errors, self.design)?;
        self.bytes_before = bytes_read;
        let mut start = 0;
        let is_whole = places.len() == 1;
        for (place, len) in places.into_iter().zip(lengths) {
            let part;
            let own = if is_whole {
                &values
            } else {
                part = slice_of(&values, start, len);
                &part
            };
            self.tally.add(place.n_rows, own);
            (self.hand_over)(place, own)?;
            start += len;
        }
        Ok(memory.unwrap_or_else(Mat::new))
    }

    fn values(&mut self, rows: Rows<'_>, first_row: u64, bytes_read: u64) -> Result<Values, Error> {
        let place = Place { first_row, in_reference: self.in_reference };
        let Queue { row_valuer, observer, bytes_before, n_bytes, .. } = self;
        let go_on = |_: usize, _: usize| !observer.is_interrupted();
        match row_valuer.wants() {
            WantsRows::Batches => row_valuer.values(rows, place, &go_on),
            WantsRows::Slices(least) => {
                // Rows that take long are reported as they are done, in bytes of their batch.
                let bytes = bytes_read.saturating_sub(*bytes_before) as f64;
                let report = |n_done: usize| {
                    let share = n_done as f64 / rows.len().max(1) as f64;
                    observer.advance(*bytes_before + (bytes * share) as u64, first_row + n_done as u64);
                };
                value_in_slices(rows, place, least, *observer, report, |rows, place| {
                    row_valuer.values(rows, place, &go_on)
                })
            }
            WantsRows::Blocks(_) => {
                // All values of the reference are computed with its first rows.
                let (from, to) = if place.in_reference { (0, *n_bytes) } else { (*bytes_before, bytes_read) };
                let watch = |done: usize, total: usize| {
                    let share = done as f64 / total.max(1) as f64;
                    let bytes = (to.saturating_sub(from) as f64 * share) as u64;
                    observer.advance(from + bytes, first_row + (rows.len() as f64 * share) as u64);
                    !observer.is_interrupted()
                };
                row_valuer.values(rows, place, &watch)
            }
            WantsRows::All { stage, n_steps } => {
                observer.begin(stage, n_steps);
                let watch = |done: usize, _: usize| {
                    observer.advance(done as u64, done as u64);
                    !observer.is_interrupted()
                };
                let values = row_valuer.values(rows, place, &watch)?;
                observer.end();
                Ok(values)
            }
        }
    }
}

/// Refuses values and standard errors that are infinite because numbers are too large, and values that are
/// missing without a note. A bound may be infinite where it says nothing, which is warned of.
fn refuse_infinite(values: &Values, with_errors: bool, design: &Design) -> Result<(), Error> {
    /// The squares of larger residuals are near the end of what a double holds.
    const LARGE: f64 = 1e250;
    let residuals = values.part(Part::ResidSq);
    let is_large = |row: usize| residuals.is_none_or(|residuals| residuals[row] >= LARGE);
    let is_explained = |row: usize| values.notes.iter().any(|&(noted, _)| noted == row);
    let is_refused = |(row, value): (usize, &f64)| {
        value.is_infinite() && is_large(row) || value.is_nan() && !is_explained(row)
    };
    let is_refused_error = |(row, error): (usize, &f64)| error.is_infinite() && values.value[row].is_finite();
    let errors = values.std_error.as_deref().filter(|_| with_errors).unwrap_or_default();
    match values.value.iter().enumerate().any(is_refused) || errors.iter().enumerate().any(is_refused_error) {
        true => Err(Error::core(dshap::Error::TooLarge, design)),
        false => Ok(()),
    }
}
