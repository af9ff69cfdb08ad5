//! Reading JSON objects, one on each line.
//!
//! A line end never occurs within a JSON string, so any line end ends a record.
//! Chunks of lines are parsed ([`record`]) and turned into columns
//! ([`mod@decode`]).

mod decode;
mod infer;
mod record;

use std::collections::HashMap;
use std::sync::Arc;

use dshap_table::{RawColumn, Wanted};

use crate::error::Error;
use crate::facts::Unsupported;
use crate::input::Input;
use crate::late::Late;
use crate::location::Location;
use crate::names::MAX_TEXT_COLUMNS;
use crate::note::Note;
use crate::part::{Begun, Opened, Part, Request};
use crate::text::{self, Body, CHUNK_BYTES, ChunkReader, FileScan, Layout, Text};

use decode::{Plan, What, lines};
use infer::Seen;

/// This many records settle columns and kinds.
const INFER_RECORDS: u64 = 10_000;

/// Bytes read to tell JSON from other text.
const PROBE_BYTES: usize = 4 << 10;

/// Whether a file holds JSON objects, by its first bytes or by its name.
pub(crate) fn is_json(input: &Input, extension: &str) -> Result<bool, Error> {
    let head = Text::open(input)?.head(PROBE_BYTES).map_err(|reason| Error::read(input.name(), reason))?;
    let mut visible = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    let start = (visible.next(), visible.next());
    let is_named_so = matches!(extension, "ndjson" | "jsonl" | "json");
    match start {
        (Some(b'['), second) if is_named_so || second == Some(b'{') => {
            Err(Error::Unsupported { file: input.name().to_owned(), what: Unsupported::JsonArray })
        }
        (Some(b'{'), Some(b'"' | b'}')) => Ok(true),
        _ => Ok(is_named_so),
    }
}

/// All lines of a file belong to the table.
fn body() -> Body {
    Body::whole(Layout::Lines)
}

/// A file of JSON objects whose first records have been read.
#[derive(Debug, Clone)]
pub(crate) struct NdjsonFile {
    input: Input,
    names: Arc<[String]>,
    positions: Arc<HashMap<String, usize>>,
    /// How many records settled the columns.
    n_known: u64,
    late: Late,
}

impl NdjsonFile {
    pub(crate) fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened, Error> {
        let (names, positions) = (Arc::new([]), Arc::new(HashMap::new()));
        let mut file = NdjsonFile { input, names, positions, n_known: 0, late: Late::default() };
        let n_notes = notes.len();
        let columns = file.learn(notes)?;
        file.late = Late::after(&notes[n_notes..]);
        Ok(Opened { part: Box::new(file), columns, has_rows: true })
    }

    /// Names and kinds from the first records.
    fn learn(&mut self, notes: &mut Vec<Note>) -> Result<Vec<RawColumn>, Error> {
        let mut chunks = ChunkReader::new(Text::open(&self.input)?, Layout::Lines, CHUNK_BYTES);
        let mut columns: Vec<(String, Seen)> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut n_records = 0;
        while n_records < INFER_RECORDS {
            let Some(chunk) = chunks.next().map_err(|error| text::explain(&self.input, &body(), error))?
            else {
                break;
            };
            for line in lines(&chunk.text) {
                if n_records == INFER_RECORDS {
                    break;
                }
                let learned = record::read(line, |key, value| {
                    let position = *positions.entry(key.into_owned()).or_insert_with_key(|key| {
                        columns.push((key.clone(), Seen::default()));
                        columns.len() - 1
                    });
                    if columns.len() > MAX_TEXT_COLUMNS {
                        return Err(What::TooManyKeys);
                    }
                    let (name, seen) = &mut columns[position];
                    if !seen.see(n_records, value) {
                        return Err(What::RepeatedKey(name.clone()));
                    }
                    Ok(())
                });
                learned.map_err(|what| self.blame(n_records, what))?;
                n_records += 1;
            }
        }
        if columns.is_empty() {
            return Err(Error::EmptyFile { file: self.input.name().to_owned() });
        }
        for (column, _) in columns.iter().filter(|(_, seen)| seen.is_rounded()) {
            notes.push(Note::LargeIntegers { file: self.input.name().to_owned(), column: column.clone() });
        }
        self.names = columns.iter().map(|(name, _)| name.clone()).collect();
        self.positions = Arc::new(positions);
        self.n_known = n_records;
        Ok(columns.into_iter().map(|(name, seen)| RawColumn { name, kind: seen.kind() }).collect())
    }

    /// What is wrong with a record, in terms of lines and columns.
    fn blame(&self, record: u64, what: What) -> Error {
        let at = match text::at_record(&self.input, &body(), record) {
            Ok(at) => at,
            Err(error) => return error,
        };
        match what {
            What::Syntax(fault) => Error::Json { at, fault },
            What::UnknownKey(key) => Error::UnknownKey { at, key, n_known: self.n_known },
            What::RepeatedKey(key) => Error::RepeatedKey { at, key },
            What::Cell(fault) => fault.into_error(at, &self.names),
            What::TooManyKeys => Error::TooManyColumns { file: at.file, limit: MAX_TEXT_COLUMNS },
        }
    }
}

impl Part for NdjsonFile {
    fn input(&self) -> &Input {
        &self.input
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        text::locate(&self.input, &body(), row)
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let position = |name: &str| self.positions.get(name).copied();
        let columns = text::fields(&self.input, &self.names, request.wanted, position)?;
        let (names, positions) = (Arc::clone(&self.names), Arc::clone(&self.positions));
        let plan = Plan { names, positions, columns, late: self.late.clone() };
        let file = self.clone();
        let scan = FileScan::begin(
            &self.input,
            &body(),
            plan,
            request.chunk_bytes,
            request.skip_rows,
            move |record, what| file.blame(record, what),
        )?;
        let n_skipped = scan.n_records();
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        text::scan_overhead(wanted)
    }

    fn late_notes(&self) -> Vec<Note> {
        self.late.rounded(self.input.name())
    }
}
