//! One pass over a table, in batches of a fixed number of rows.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use dshap_table::Wanted;

use crate::columns::cast;
use crate::error::Error;
use crate::kept::{Keeping, Kept, Replay};
use crate::part::{Part, PartScan, Piece, Request};

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanOptions {
    /// Target size of a batch in bytes, counting 8 for a number and a little
    /// more for text.
    pub batch_bytes: usize,
    /// Batches of at least this many rows are multiples of it.
    pub row_multiple: usize,
    /// Batches of a whole pass are kept for later passes if they have at most this many
    /// bytes.
    pub keep_bytes: usize,
    /// No later pass needs rows that were kept: they are freed as they are handed over.
    pub is_last: bool,
    /// Number of rows to skip; they are not even checked.
    pub skip_rows: u64,
    /// Maximum number of rows, not counting those skipped; later rows are not even
    /// checked.
    pub limit_rows: Option<u64>,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions {
            batch_bytes: 32 << 20,
            row_multiple: 1,
            keep_bytes: 0,
            is_last: false,
            skip_rows: 0,
            limit_rows: None,
        }
    }
}

impl ScanOptions {
    /// How many rows of these columns a batch has.
    fn batch_rows(&self, schema: &Schema) -> usize {
        let rows = (self.batch_bytes / row_bytes(schema).max(8)).max(1);
        if rows < self.row_multiple { rows } else { rows - rows % self.row_multiple.max(1) }
    }

    /// Whether a pass reads all rows.
    pub(crate) fn is_whole(&self) -> bool {
        self.skip_rows == 0 && self.limit_rows.is_none()
    }
}

/// Bytes of a row, counting 8 for a number and a little more for text.
pub(crate) fn row_bytes(schema: &Schema) -> usize {
    let bytes = |data_type: &DataType| match data_type {
        DataType::Float64 => 8,
        _ => TEXT_BYTES,
    };
    schema.fields().iter().map(|field| bytes(field.data_type())).sum()
}

/// Some consecutive rows of a table.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The first row, counted from 0 over all files, skipped rows included.
    pub first_row: u64,
    /// One column for each one wanted, in that order.
    pub rows: RecordBatch,
    /// How much has been read on disk so far, for progress. Never falls.
    pub bytes_read: u64,
}

/// One pass over a table.
///
/// All batches but the last have the same number of rows, which follows from
/// the options and the columns wanted and from nothing else. So what is
/// computed batch by batch does not depend on how many threads read. Only batches that an
/// earlier pass kept are handed over as they are, or cut where they are larger than wanted.
pub struct Scan {
    rows: Origin,
    schema: SchemaRef,
    kept: Arc<Kept>,
    parts: Arc<[Box<dyn Part>]>,
    /// Numbers of rows that are not handed over, in ascending order.
    left_out: Option<Arc<[u64]>>,
}

/// The columns that a pass hands over, and those that it reads: the same, then others to be
/// kept.
pub(crate) struct ScanColumns {
    pub(crate) wanted: Vec<Wanted>,
    pub(crate) schema: SchemaRef,
    pub(crate) read: Vec<Wanted>,
    pub(crate) read_schema: SchemaRef,
}

/// Where rows come from.
enum Origin {
    Files { reading: Box<Reading>, keeping: Option<Keeping> },
    Kept(Replay),
}

impl Scan {
    pub(crate) fn new(
        parts: Arc<[Box<dyn Part>]>,
        kept: &Arc<Kept>,
        columns: ScanColumns,
        options: ScanOptions,
        chunk_bytes: usize,
    ) -> Result<Scan, Error> {
        let ScanColumns { wanted, schema, read, read_schema } = columns;
        let is_whole = options.is_whole();
        let most_rows = options.batch_rows(&schema);
        let replay = if is_whole { kept.replay(&wanted, most_rows, options.is_last) } else { None };
        let rows = match replay {
            Some(replay) => {
                parts.iter().try_for_each(|part| part.input().check_unchanged())?;
                Origin::Kept(replay)
            }
            None => {
                if is_whole {
                    // Rows that lack a column of this pass would only take memory.
                    kept.forget();
                }
                let is_kept = is_whole && options.keep_bytes > 0;
                let keeping = is_kept.then(|| Keeping::new(&read, options.keep_bytes));
                let reading = Reading::new(Arc::clone(&parts), read, read_schema, &options, chunk_bytes);
                Origin::Files { reading: Box::new(reading), keeping }
            }
        };
        Ok(Scan { rows, schema, kept: Arc::clone(kept), parts, left_out: None })
    }

    /// The same pass without some rows, whose numbers are in ascending order.
    pub(crate) fn without(self, left_out: Option<Arc<[u64]>>) -> Scan {
        Scan { left_out, ..self }
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// A batch without the columns that are only kept.
    fn handed_over(&self, mut batch: Batch) -> Batch {
        let n_wanted = self.schema.fields().len();
        if n_wanted < batch.rows.num_columns() {
            let first: Vec<usize> = (0..n_wanted).collect();
            batch.rows = batch.rows.project(&first).expect("wanted columns come first");
        }
        batch
    }
}

impl Iterator for Scan {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Result<Batch, Error>> {
        loop {
            let next = self.next_whole();
            let (Some(left_out), Some(Ok(batch))) = (&self.left_out, &next) else { return next };
            match but(batch, left_out) {
                // Only rows that are left out.
                Ok(batch) if batch.rows.num_rows() == 0 => {}
                Ok(batch) => return Some(Ok(batch)),
                Err(reason) => return Some(Err(self.failed(&reason.to_string()))),
            }
        }
    }
}

/// A batch without the rows whose numbers are listed.
fn but(batch: &Batch, left_out: &[u64]) -> Result<Batch, ArrowError> {
    let n_rows = batch.rows.num_rows();
    let end = batch.first_row + n_rows as u64;
    let from = left_out.partition_point(|row| *row < batch.first_row);
    let here = &left_out[from..left_out.partition_point(|row| *row < end)];
    if here.is_empty() {
        return Ok(batch.clone());
    }
    let mut is_kept = vec![true; n_rows];
    here.iter().for_each(|row| is_kept[(row - batch.first_row) as usize] = false);
    let rows = filter_record_batch(&batch.rows, &BooleanArray::from(is_kept))?;
    Ok(Batch { rows, ..batch.clone() })
}

impl Scan {
    /// The next batch with all its rows.
    fn next_whole(&mut self) -> Option<Result<Batch, Error>> {
        let (reading, keeping) = match &mut self.rows {
            Origin::Files { reading, keeping } => (reading, keeping),
            Origin::Kept(replay) => {
                let next = replay.next();
                if next.is_none() {
                    // As at the end of files that are read.
                    let unchanged = self.parts.iter().try_for_each(|part| part.input().check_unchanged());
                    return unchanged.err().map(Err);
                }
                return next.map(Ok);
            }
        };
        let next = reading.next();
        match &next {
            Some(Ok(batch)) => {
                if keeping.as_mut().is_some_and(|keeping| !keeping.add(batch)) {
                    *keeping = None;
                }
            }
            Some(Err(_)) => *keeping = None,
            None => {
                if let Some(keeping) = keeping.take() {
                    keeping.finish(&self.kept);
                }
            }
        }
        next.map(|batch| batch.map(|batch| self.handed_over(batch)))
    }

    fn failed(&self, reason: &str) -> Error {
        let name = self.parts.first().map_or("", |part| part.input().name());
        Error::read(name, std::io::Error::new(std::io::ErrorKind::InvalidData, reason.to_owned()))
    }
}

/// A pass that reads files.
struct Reading {
    parts: Arc<[Box<dyn Part>]>,
    wanted: Vec<Wanted>,
    schema: SchemaRef,
    batch_rows: usize,
    chunk_bytes: usize,
    rows_to_skip: u64,
    rows_left: u64,
    next_part: usize,
    current: Option<Box<dyn PartScan>>,
    /// Size of the files before the current one.
    bytes_before: u64,
    bytes_read: u64,
    buffered: Buffered,
    first_row: u64,
    is_done: bool,
}

/// Bytes assumed for a text when batches are sized.
const TEXT_BYTES: usize = 32;

/// Arrow's text arrays hold at most 2 GiB. A batch with this much is handed over
/// before it is full.
const MAX_BUFFERED_BYTES: usize = 1 << 30;

impl Reading {
    fn new(
        parts: Arc<[Box<dyn Part>]>,
        wanted: Vec<Wanted>,
        schema: SchemaRef,
        options: &ScanOptions,
        chunk_bytes: usize,
    ) -> Reading {
        let batch_rows = options.batch_rows(&schema);
        Reading {
            parts,
            wanted,
            schema,
            batch_rows,
            chunk_bytes,
            rows_to_skip: options.skip_rows,
            rows_left: options.limit_rows.unwrap_or(u64::MAX),
            next_part: 0,
            current: None,
            bytes_before: 0,
            bytes_read: 0,
            buffered: Buffered::default(),
            first_row: options.skip_rows,
            is_done: false,
        }
    }

    fn advance(&mut self) -> Result<Option<Batch>, Error> {
        while self.buffered.n_rows < self.batch_rows
            && self.buffered.n_bytes < MAX_BUFFERED_BYTES
            && self.rows_left > 0
        {
            let Some(rows) = self.next_rows()? else {
                break;
            };
            self.rows_left -= rows.num_rows() as u64;
            self.buffered.push(rows);
        }
        let rows = self.buffered.take(self.batch_rows, &self.schema);
        let Some(rows) = rows.map_err(|error| self.failed(&error.to_string()))? else {
            if self.rows_left > 0 {
                // All files have been read to the end. If one was written to
                // meanwhile, it is unclear what was read.
                self.parts.iter().try_for_each(|part| part.input().check_unchanged())?;
            }
            return Ok(None);
        };
        let first_row = self.first_row;
        self.first_row += rows.num_rows() as u64;
        Ok(Some(Batch { first_row, rows, bytes_read: self.bytes_read }))
    }

    /// Some rows of the current file, or of the next one.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>, Error> {
        loop {
            let Some(scan) = &mut self.current else {
                if !self.enter_next_part()? {
                    return Ok(None);
                }
                continue;
            };
            match scan.next(self.rows_left)? {
                Some(piece) => {
                    self.bytes_read = self.bytes_read.max(self.bytes_before + piece.disk_position);
                    return self.conform(piece).map(Some);
                }
                None => self.leave_part(),
            }
        }
    }

    /// Begins the next file that has rows to read, if there is one.
    fn enter_next_part(&mut self) -> Result<bool, Error> {
        while let Some(part) = self.parts.get(self.next_part) {
            self.next_part += 1;
            match part.n_rows() {
                Some(n_rows) if n_rows <= self.rows_to_skip => {
                    self.rows_to_skip -= n_rows;
                    self.leave_part();
                }
                _ => {
                    let begun = part.scan(&Request {
                        wanted: &self.wanted,
                        batch_rows: self.batch_rows,
                        chunk_bytes: self.chunk_bytes,
                        skip_rows: self.rows_to_skip,
                    })?;
                    self.rows_to_skip -= begun.n_skipped.min(self.rows_to_skip);
                    self.current = Some(begun.scan);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn leave_part(&mut self) {
        self.current = None;
        self.bytes_before += self.parts[self.next_part - 1].input().n_bytes();
        self.bytes_read = self.bytes_read.max(self.bytes_before);
    }

    /// The rows of a piece, in the types of the first file.
    fn conform(&self, piece: Piece) -> Result<RecordBatch, Error> {
        let n_rows = usize::try_from(self.rows_left).map_or(piece.n_rows, |n| n.min(piece.n_rows));
        let arrays = piece
            .arrays
            .iter()
            .zip(self.schema.fields())
            .map(|(array, field)| {
                let array = array.slice(0, n_rows);
                cast(&array, field.data_type()).ok_or_else(|| {
                    self.failed(&format!(
                        "column `{}` is not {} as in the first file",
                        field.name(),
                        field.data_type()
                    ))
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        // A batch without columns still has rows; this is how rows are counted.
        let options = RecordBatchOptions::new().with_row_count(Some(n_rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|error| self.failed(&error.to_string()))
    }

    fn failed(&self, reason: &str) -> Error {
        let part = self.parts.get(self.next_part.saturating_sub(1));
        Error::read(
            part.map_or("", |part| part.input().name()),
            std::io::Error::new(std::io::ErrorKind::InvalidData, reason.to_owned()),
        )
    }
}

impl Iterator for Reading {
    type Item = Result<Batch, Error>;

    fn next(&mut self) -> Option<Result<Batch, Error>> {
        if self.is_done {
            return None;
        }
        let next = self.advance().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}

/// Rows that are read but not handed over.
#[derive(Default)]
struct Buffered {
    pieces: VecDeque<Waiting>,
    n_rows: usize,
    n_bytes: usize,
}

struct Waiting {
    rows: RecordBatch,
    n_bytes: usize,
}

impl Buffered {
    fn push(&mut self, rows: RecordBatch) {
        let n_bytes = rows.columns().iter().map(array_bytes).sum();
        self.n_rows += rows.num_rows();
        self.n_bytes += n_bytes;
        self.pieces.push_back(Waiting { rows, n_bytes });
    }

    /// At most `max_rows` from the front, or `None` if there are none.
    fn take(
        &mut self,
        max_rows: usize,
        schema: &SchemaRef,
    ) -> Result<Option<RecordBatch>, arrow_schema::ArrowError> {
        let mut taken = Vec::new();
        let mut missing = max_rows;
        while missing > 0
            && let Some(Waiting { rows, n_bytes }) = self.pieces.pop_front()
        {
            let n_rows = rows.num_rows();
            let n_taken = n_rows.min(missing);
            if n_taken < n_rows {
                let n_left = n_rows - n_taken;
                let left = Waiting { rows: rows.slice(n_taken, n_left), n_bytes: n_bytes / n_rows * n_left };
                self.n_bytes -= n_bytes - left.n_bytes;
                self.pieces.push_front(left);
            } else {
                self.n_bytes -= n_bytes;
            }
            missing -= n_taken;
            if n_taken > 0 {
                taken.push(rows.slice(0, n_taken));
            }
        }
        self.n_rows -= max_rows - missing;
        match taken.as_slice() {
            _ if missing == max_rows => Ok(None),
            [rows] => Ok(Some(rows.clone())),
            _ => concat_batches(schema, &taken).map(Some),
        }
    }
}

/// Bytes of the cells themselves. An array may be part of something larger,
/// such as a whole record batch of a file, that all its columns share.
pub(crate) fn array_bytes(array: &ArrayRef) -> usize {
    array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size())
}
