//! Reading Arrow IPC files and streams, also called Feather.
//!
//! Both are sequences of messages. Opening a file finds where each one is
//! ([`messages`]); a pass reads and decodes one after the other.

mod messages;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::reader::FileDecoder;
use arrow_schema::{DataType, Schema};
use dshap_table::Wanted;

use crate::columns::{self, Selection, guarded};
use crate::error::Error;
use crate::facts::Unsupported;
use crate::input::Input;
use crate::input_reader::InputReader;
use crate::late::Late;
use crate::location::{Location, Place};
use crate::note::Note;
use crate::part::{Begun, Opened, Part, PartScan, Piece, Request};

use messages::{Contents, Holds, Message};

const FILE_MAGIC: &[u8] = b"ARROW1";
const STREAM_MAGIC: &[u8] = &[0xff; 4];
/// This many of the largest messages are looked at to estimate memory.
const LOOKED_AT: usize = 8;

const FEATHER_1_MAGIC: &[u8] = b"FEA1";

/// By the first bytes, or by the name if those are damaged.
pub(crate) fn is_ipc(start: &[u8], extension: &str) -> bool {
    [FILE_MAGIC, STREAM_MAGIC, FEATHER_1_MAGIC].iter().any(|magic| start.starts_with(magic))
        || matches!(extension, "arrow" | "arrows" | "ipc" | "feather")
}

/// An Arrow file or stream whose messages have been found.
#[derive(Debug, Clone)]
pub(crate) struct IpcFile {
    input: Input,
    contents: Arc<Contents>,
    n_rows: u64,
    late: Late,
}

impl IpcFile {
    pub(crate) fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened, Error> {
        if input.n_bytes() == 0 {
            return Err(Error::EmptyFile { file: input.name().to_owned() });
        }
        let reader = input.open()?;
        let start = reader.bytes(0, FILE_MAGIC.len().min(input.n_bytes() as usize)).unwrap_or_default();
        if start.starts_with(FEATHER_1_MAGIC) {
            return Err(Error::Unsupported {
                file: input.name().to_owned(),
                what: Unsupported::FirstFeather,
            });
        }
        let contents = guarded(|| {
            if start.starts_with(FILE_MAGIC) {
                messages::of_file(&reader)
            } else {
                messages::of_stream(&reader)
            }
        })
        .map_err(|reason| malformed(&input, reason))?;
        if !contents.has_end {
            notes.push(Note::NoEndOfStream { file: input.name().to_owned() });
        }
        let n_rows = contents.messages.iter().map(Message::n_rows).sum();
        Ok(Opened {
            columns: columns::raw_columns(&contents.schema),
            part: Box::new(IpcFile { input, contents: Arc::new(contents), n_rows, late: Late::default() }),
            has_rows: n_rows > 0,
        })
    }
}

fn malformed(input: &Input, reason: String) -> Error {
    Error::Malformed { file: input.name().to_owned(), format: "Arrow", reason }
}

impl Part for IpcFile {
    fn input(&self) -> &Input {
        &self.input
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_rows)
    }

    fn own_types(&self) -> Option<&Schema> {
        Some(&self.contents.schema)
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        if row >= self.n_rows {
            return Ok(Err(self.n_rows));
        }
        Ok(Ok(Location { file: self.input.name().to_owned(), place: Place::Row(row) }))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let schema = &self.contents.schema;
        let selection = Selection::new(self.input.name(), schema, request.wanted, &self.late)?;
        let decoder = FileDecoder::new(Arc::clone(schema), self.contents.version)
            .with_projection(selection.fields().to_vec());
        let n_skipped = request.skip_rows.min(self.n_rows);
        let scan = IpcScan {
            file: self.clone(),
            reader: self.input.open()?,
            needs_dictionaries: uses_dictionaries(schema, selection.fields()),
            selection,
            decoder,
            next_message: 0,
            rows_to_skip: n_skipped,
            current: None,
            batch_rows: request.batch_rows,
            n_rows: n_skipped,
            disk_position: 0,
        };
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, _wanted: &[Wanted]) -> u64 {
        let mut messages = self.contents.messages.clone();
        messages.sort_by_key(|message| std::cmp::Reverse(message.body_bytes));
        let reader = self.input.open().ok();
        // As it is on disk, decompressed or aligned, converted, and what the
        // decompressor and the allocator keep of the one before. What a message is
        // decompressed to is written within it; looking at a few is enough.
        let size = |message: &Message| {
            let decompressed = reader
                .as_ref()
                .and_then(|reader| guarded(|| messages::decompressed_bytes(reader, message)).ok());
            message.body_bytes as u64 + 4 * decompressed.unwrap_or(message.body_bytes as u64)
        };
        messages.iter().take(LOOKED_AT).map(size).max().unwrap_or(0)
    }

    fn late_notes(&self) -> Vec<Note> {
        self.late.rounded(self.input.name())
    }
}

fn uses_dictionaries(schema: &Schema, fields: &[usize]) -> bool {
    fn is_plain(data_type: &DataType) -> bool {
        !matches!(data_type, DataType::Dictionary(_, _)) && !data_type.is_nested()
    }
    fields.iter().any(|&field| !is_plain(schema.field(field).data_type()))
}

/// One pass over an Arrow file.
struct IpcScan {
    file: IpcFile,
    reader: InputReader,
    needs_dictionaries: bool,
    selection: Selection,
    decoder: FileDecoder,
    next_message: usize,
    rows_to_skip: u64,
    /// Rows that are decoded but not handed over.
    current: Option<RecordBatch>,
    batch_rows: usize,
    /// Rows that are skipped or handed over.
    n_rows: u64,
    disk_position: u64,
}

impl PartScan for IpcScan {
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        loop {
            let Some(rows) = self.current.take() else {
                if !self.advance()? {
                    return Ok(None);
                }
                continue;
            };
            let n_rows = rows.num_rows().min(self.batch_rows);
            if n_rows < rows.num_rows() {
                self.current = Some(rows.slice(n_rows, rows.num_rows() - n_rows));
            }
            let n_rows = usize::try_from(max_rows).map_or(n_rows, |n| n.min(n_rows));
            if n_rows == 0 {
                continue;
            }
            let arrays: Vec<ArrayRef> = rows.columns().iter().map(|array| array.slice(0, n_rows)).collect();
            let arrays = self.selection.convert(&arrays, self.n_rows)?;
            self.n_rows += n_rows as u64;
            return Ok(Some(Piece { arrays, n_rows, disk_position: self.disk_position }));
        }
    }
}

impl IpcScan {
    /// Decodes the next message, unless there is none.
    fn advance(&mut self) -> Result<bool, Error> {
        let contents = Arc::clone(&self.file.contents);
        let Some(message) = contents.messages.get(self.next_message) else {
            return Ok(false);
        };
        self.next_message += 1;
        // What follows the last message has been read already.
        let is_last = self.next_message == contents.messages.len();
        let position = if is_last { self.file.input.n_bytes() } else { message.end() };
        self.disk_position = self.disk_position.max(position);
        match message.holds {
            Holds::Dictionary if self.needs_dictionaries => {
                let bytes = self.read(message)?;
                let decoder = &mut self.decoder;
                guarded(|| decoder.read_dictionary(&message.block(), &bytes))
                    .map_err(|reason| malformed(&self.file.input, reason))?;
            }
            Holds::Dictionary => {}
            Holds::Rows(n_rows) if n_rows <= self.rows_to_skip => self.rows_to_skip -= n_rows,
            Holds::Rows(n_rows) => {
                let bytes = self.read(message)?;
                let decoder = &self.decoder;
                let rows = guarded(|| decoder.read_record_batch(&message.block(), &bytes))
                    .and_then(|rows| {
                        rows.filter(|rows| rows.num_rows() as u64 == n_rows)
                            .ok_or_else(|| "a record batch is not as long as it claims".to_owned())
                    })
                    .map_err(|reason| malformed(&self.file.input, reason))?;
                let n_skipped = std::mem::take(&mut self.rows_to_skip) as usize;
                self.current = Some(rows.slice(n_skipped, rows.num_rows() - n_skipped));
            }
        }
        Ok(true)
    }

    fn read(&self, message: &Message) -> Result<Buffer, Error> {
        let bytes = self
            .reader
            .bytes(message.offset, message.metadata_bytes + message.body_bytes)
            .map_err(|reason| Error::read(self.file.input.name(), reason))?;
        guarded(|| messages::check_sizes(message, &bytes))
            .map_err(|reason| malformed(&self.file.input, reason))?;
        Ok(Buffer::from_vec(bytes))
    }
}
