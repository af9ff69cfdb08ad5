//! One pass over a table, in batches of a fixed number of rows.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::concat::concat_batches;
use dshap_table::Wanted;

use crate::error::Error;
use crate::parquet::cast;
use crate::source::{Part, PartScan, Piece};

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanOptions {
    /// Target size of a batch in bytes, counting 8 for a number and a little
    /// more for text.
    pub batch_bytes: usize,
    /// Stop after so many rows; what comes later is not even checked.
    pub limit_rows: Option<u64>,
}

impl Default for ScanOptions {
    fn default() -> ScanOptions {
        ScanOptions { batch_bytes: 32 << 20, limit_rows: None }
    }
}

/// Some consecutive rows of a table.
#[derive(Debug, Clone)]
pub struct Batch {
    /// The first row, counted from 0 over all files.
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
/// computed batch by batch does not depend on how many threads read.
pub struct Scan {
    parts: Arc<[Part]>,
    wanted: Vec<Wanted>,
    schema: SchemaRef,
    batch_rows: usize,
    chunk_bytes: usize,
    rows_left: u64,
    next_part: usize,
    current: Option<PartScan>,
    /// Size of the files before the current one.
    bytes_before: u64,
    bytes_read: u64,
    buffered: Buffered,
    first_row: u64,
    is_done: bool,
}

/// What a text is taken to need when batches are sized.
const TEXT_BYTES: usize = 32;

/// Arrow's text arrays hold 2 GiB at most. A batch with this much is handed
/// over before it is full.
const MAX_BUFFERED_BYTES: usize = 1 << 30;

impl Scan {
    pub(crate) fn new(
        parts: Arc<[Part]>,
        wanted: Vec<Wanted>,
        schema: SchemaRef,
        options: ScanOptions,
        chunk_bytes: usize,
    ) -> Scan {
        let row_bytes: usize = schema
            .fields()
            .iter()
            .map(|field| match field.data_type() {
                DataType::Float64 => 8,
                _ => TEXT_BYTES,
            })
            .sum();
        Scan {
            parts,
            wanted,
            schema,
            batch_rows: (options.batch_bytes / row_bytes.max(8)).max(1),
            chunk_bytes,
            rows_left: options.limit_rows.unwrap_or(u64::MAX),
            next_part: 0,
            current: None,
            bytes_before: 0,
            bytes_read: 0,
            buffered: Buffered::default(),
            first_row: 0,
            is_done: false,
        }
    }

    /// The schema of every batch.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
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
                let Some(part) = self.parts.get(self.next_part) else {
                    return Ok(None);
                };
                self.current = Some(part.scan(&self.wanted, self.batch_rows, self.chunk_bytes)?);
                self.next_part += 1;
                continue;
            };
            match scan.next(self.rows_left)? {
                Some(piece) => {
                    self.bytes_read = self.bytes_read.max(self.bytes_before + piece.disk_position);
                    return self.conform(piece).map(Some);
                }
                None => {
                    self.current = None;
                    self.bytes_before += self.parts[self.next_part - 1].input().n_bytes();
                    self.bytes_read = self.bytes_read.max(self.bytes_before);
                }
            }
        }
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
        // A batch without columns still has rows, which is how rows are counted.
        let options = RecordBatchOptions::new().with_row_count(Some(n_rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|error| self.failed(&error.to_string()))
    }

    fn failed(&self, reason: &str) -> Error {
        let part = self.parts.get(self.next_part.saturating_sub(1));
        Error::read(
            part.map_or("", Part::name),
            std::io::Error::new(std::io::ErrorKind::InvalidData, reason.to_owned()),
        )
    }
}

impl Iterator for Scan {
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
    pieces: VecDeque<RecordBatch>,
    n_rows: usize,
    n_bytes: usize,
}

impl Buffered {
    fn push(&mut self, rows: RecordBatch) {
        self.n_rows += rows.num_rows();
        self.n_bytes += rows.get_array_memory_size();
        self.pieces.push_back(rows);
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
            && let Some(piece) = self.pieces.pop_front()
        {
            let n_rows = piece.num_rows();
            if n_rows > missing {
                self.pieces.push_front(piece.slice(missing, n_rows - missing));
                taken.push(piece.slice(0, missing));
                missing = 0;
            } else {
                self.n_bytes -= piece.get_array_memory_size().min(self.n_bytes);
                missing -= n_rows;
                taken.push(piece);
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
