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

use arrow_schema::Schema;
use dshap_table::{RawColumn, Wanted};

use crate::error::Error;
use crate::input::Input;
use crate::location::{Location, Place};
use crate::part::{Begun, Opened, Part, PartScan, Piece, Request};
use crate::text::{
    self, CHUNK_BYTES, ChunkError, ChunkReader, Found, Layout, MAX_RECORD_MIB, Text, TextScan, Trouble,
};

use decode::{Plan, Problem, What, lines};
use infer::Seen;

/// This many records settle columns and kinds.
const INFER_RECORDS: u64 = 10_000;

/// So many bytes tell JSON from other text.
const PROBE_BYTES: usize = 4 << 10;

/// Whether a file holds JSON objects, by its first bytes or by its name.
pub(crate) fn is_json(input: &Input, extension: &str) -> Result<bool, Error> {
    let head = Text::open(input)?.head(PROBE_BYTES).map_err(|reason| Error::read(input.name(), reason))?;
    let mut visible = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    let start = (visible.next(), visible.next());
    let is_named_so = matches!(extension, "ndjson" | "jsonl" | "json");
    match start {
        (Some(b'['), second) if is_named_so || second == Some(b'{') => Err(Error::Unsupported {
            file: input.name().to_owned(),
            what: "is one JSON array; one object on each line is needed".to_owned(),
            advice: "turn it into lines, for example with `jq -c '.[]'`",
        }),
        (Some(b'{'), Some(b'"' | b'}')) => Ok(true),
        _ => Ok(is_named_so),
    }
}

/// A file of JSON objects whose first records have been read.
#[derive(Debug, Clone)]
pub(crate) struct NdjsonFile {
    input: Input,
    names: Arc<[String]>,
    positions: Arc<HashMap<String, usize>>,
    /// How many records settled the columns.
    n_known: u64,
}

impl NdjsonFile {
    pub(crate) fn open(input: Input) -> Result<Opened, Error> {
        let mut file =
            NdjsonFile { input, names: Arc::new([]), positions: Arc::new(HashMap::new()), n_known: 0 };
        let columns = file.learn()?;
        Ok(Opened { part: Box::new(file), columns, has_rows: true, bare_carriage_returns: false })
    }

    /// Names and kinds from the first records.
    fn learn(&mut self) -> Result<Vec<RawColumn>, Error> {
        let mut chunks = ChunkReader::new(Text::open(&self.input)?, Layout::Lines, CHUNK_BYTES);
        let mut columns: Vec<(String, Seen)> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        let mut n_records = 0;
        while n_records < INFER_RECORDS {
            let Some(chunk) = chunks.next().map_err(|error| self.explain(error))? else {
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
        self.names = columns.iter().map(|(name, _)| name.clone()).collect();
        self.positions = Arc::new(positions);
        self.n_known = n_records;
        Ok(columns.into_iter().map(|(name, seen)| RawColumn { name, kind: seen.kind() }).collect())
    }

    /// Where a record is that was seen there a moment ago.
    fn at_record(&self, record: u64) -> Result<Location, Error> {
        let found = text::find(&self.input, Layout::Lines, record)?;
        let (Found::Line(line) | Found::Beyond { last_line: line, .. }) = found;
        Ok(self.at_line(line))
    }

    fn at_line(&self, line: u64) -> Location {
        Location { file: self.input.name().to_owned(), place: Place::Line(line) }
    }

    /// What is wrong with a record, in terms of lines and columns.
    fn blame(&self, record: u64, what: What) -> Error {
        let at = match self.at_record(record) {
            Ok(at) => at,
            Err(error) => return error,
        };
        match what {
            What::Syntax(reason) => Error::Json { at, reason },
            What::UnknownKey(key) => Error::UnknownKey { at, key, n_known: self.n_known },
            What::RepeatedKey(key) => Error::RepeatedKey { at, key },
            What::Cell { field, text, problem } => {
                let column = self.names[field].clone();
                match problem {
                    Problem::NotANumber => Error::NotANumber { at, column, text },
                    Problem::NotABoolean => Error::NotABoolean { at, column, text },
                    Problem::NotFinite => Error::NotFinite { at, column, text },
                    Problem::Nested(what) => Error::NotAValue { at, column, what },
                }
            }
        }
    }

    /// Why a text could not be cut into lines.
    fn explain(&self, error: ChunkError) -> Error {
        match error {
            ChunkError::Read(reason) => Error::read(self.input.name(), reason),
            ChunkError::UnclosedQuote { offset } | ChunkError::LongRecord { offset } => {
                match text::line_of_offset(&self.input, offset) {
                    Ok(line) => Error::LongRecord { at: self.at_line(line), limit: MAX_RECORD_MIB },
                    Err(error) => error,
                }
            }
        }
    }
}

impl Part for NdjsonFile {
    fn input(&self) -> &Input {
        &self.input
    }

    fn n_rows(&self) -> Option<u64> {
        None
    }

    fn own_types(&self) -> Option<&Schema> {
        None
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        Ok(match text::find(&self.input, Layout::Lines, row)? {
            Found::Line(line) => Ok(self.at_line(line)),
            Found::Beyond { n_records, .. } => Err(n_records),
        })
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let columns = request
            .wanted
            .iter()
            .map(|wanted| match self.positions.get(&wanted.name) {
                Some(&field) => Ok((field, wanted.read_as)),
                None => Err(Error::NoSuchColumn {
                    file: self.input.name().to_owned(),
                    name: wanted.name.clone(),
                    available: self.names.to_vec(),
                    suggestion: None,
                }),
            })
            .collect::<Result<_, Error>>()?;
        let plan = Plan { names: Arc::clone(&self.names), positions: Arc::clone(&self.positions), columns };
        let chunks = ChunkReader::new(Text::open(&self.input)?, Layout::Lines, request.chunk_bytes);
        let text = TextScan::new(plan, Layout::Lines, chunks, request.skip_rows);
        let n_skipped = text.n_records();
        Ok(Begun { scan: Box::new(NdjsonScan { file: self.clone(), text }), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        text::scan_overhead(wanted)
    }
}

/// One pass over a file of JSON objects.
struct NdjsonScan {
    file: NdjsonFile,
    text: TextScan<Plan>,
}

impl PartScan for NdjsonScan {
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        self.text.next(max_rows).map_err(|trouble| match trouble {
            Trouble::Chunk(error) => self.file.explain(error),
            Trouble::Record { record, what } => self.file.blame(record, what),
        })
    }
}
