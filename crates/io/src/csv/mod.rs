//! Reading text tables.
//!
//! A text is read in chunks that end where a record ends ([`chunk`]). Chunks
//! are split into cells ([`mod@split`]) and turned into columns ([`mod@decode`]) in
//! parallel, and handed over in order.

mod cell;
mod chunk;
mod decode;
mod infer;
mod locate;
mod sniff;
mod split;

use std::collections::VecDeque;
use std::sync::Arc;

use dshap_table::{Kind, RawColumn, ReadAs};
use memchr::memchr;
use rayon::prelude::*;

use crate::error::{Error, Location, Note, Place};
use crate::input::Input;
use crate::source::Piece;

use chunk::{Chunk, ChunkError, ChunkReader, MAX_RECORD_MIB, Text};
use decode::{Columns, Fault, Plan, Problem, What, decode};
use infer::{Guess, INFER_RECORDS};
use locate::Found;
use split::{Records, unquoted};

pub(crate) use cell::{Boolean, Number, boolean, is_date, is_missing, number};
pub(crate) use chunk::CHUNK_BYTES;

/// A zero byte this near the beginning means that a file is not text.
const BINARY_PROBE_BYTES: usize = 1 << 10;

/// A text table whose header has been read.
#[derive(Debug, Clone)]
pub(crate) struct CsvFile {
    input: Input,
    delimiter: u8,
    names: Arc<[String]>,
}

/// What opening a file teaches.
#[derive(Debug)]
pub(crate) struct Opened<F> {
    pub(crate) file: F,
    pub(crate) columns: Vec<RawColumn>,
    pub(crate) has_rows: bool,
    pub(crate) bare_carriage_returns: bool,
}

impl<F> Opened<F> {
    pub(crate) fn map<G>(self, wrap: impl FnOnce(F) -> G) -> Opened<G> {
        Opened {
            file: wrap(self.file),
            columns: self.columns,
            has_rows: self.has_rows,
            bare_carriage_returns: self.bare_carriage_returns,
        }
    }
}

impl CsvFile {
    pub(crate) fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened<CsvFile>, Error> {
        let head = Text::open(&input)?
            .head(sniff::SNIFF_BYTES)
            .map_err(|reason| Error::read(input.name(), reason))?;
        let probe = &head[..head.len().min(BINARY_PROBE_BYTES)];
        if memchr(0, probe).is_some() {
            return Err(Error::NotText { file: input.name().to_owned(), looks_like: looks_like(probe) });
        }
        let delimiter = sniff::delimiter(&head);
        let bare_carriage_returns = memchr(b'\n', &head).is_none() && head.trim_ascii().contains(&b'\r');

        let mut file = CsvFile { input, delimiter, names: Arc::new([]) };
        let kinds = file.learn(notes)?;
        let has_rows = kinds.is_some();
        let kinds = kinds.unwrap_or_else(|| vec![Kind::Number; file.names.len()]);
        let columns =
            file.names.iter().zip(kinds).map(|(name, kind)| RawColumn { name: name.clone(), kind }).collect();
        Ok(Opened { file, columns, has_rows, bare_carriage_returns })
    }

    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// Position of a column within a record.
    fn field(&self, name: &str) -> Result<usize, Error> {
        self.names.iter().position(|other| other == name).ok_or_else(|| Error::NoSuchColumn {
            file: self.input.name().to_owned(),
            name: name.to_owned(),
            available: self.names.to_vec(),
            suggestion: None,
        })
    }

    pub(crate) fn scan<'a>(
        &self,
        wanted: impl Iterator<Item = (&'a str, ReadAs)>,
        chunk_bytes: usize,
    ) -> Result<CsvScan, Error> {
        let columns =
            wanted.map(|(name, read_as)| Ok((self.field(name)?, read_as))).collect::<Result<_, Error>>()?;
        let plan = Plan { delimiter: self.delimiter, n_fields: self.names.len(), columns };
        let mut scan = CsvScan {
            file: self.clone(),
            plan,
            chunks: ChunkReader::new(Text::open(&self.input)?, self.delimiter, chunk_bytes),
            header_seen: false,
            wave: Wave::default(),
            ready: VecDeque::new(),
            n_rows: 0,
        };
        scan.wave = read_wave(&mut scan.chunks, &mut scan.header_seen, self.delimiter);
        Ok(scan)
    }

    /// Where a row stands, or the number of rows if there are fewer.
    pub(crate) fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        // The header is a record too.
        Ok(match self.find(row.saturating_add(1))? {
            Found::Line(line) => Ok(self.at_line(line)),
            Found::Beyond { n_records, .. } => Err(n_records.saturating_sub(1)),
        })
    }

    fn find(&self, record: u64) -> Result<Found, Error> {
        locate::find(&self.input, self.delimiter, record)
    }

    /// Where a record is that was seen there a moment ago.
    fn at_record(&self, record: u64) -> Result<Location, Error> {
        let (Found::Line(line) | Found::Beyond { last_line: line, .. }) = self.find(record)?;
        Ok(self.at_line(line))
    }

    fn at_line(&self, line: u64) -> Location {
        Location { file: self.input.name().to_owned(), place: Place::Line(line) }
    }

    /// Reads the header and the kinds, which are `None` if there are no rows.
    fn learn(&mut self, notes: &mut Vec<Note>) -> Result<Option<Vec<Kind>>, Error> {
        let mut chunks = ChunkReader::new(Text::open(&self.input)?, self.delimiter, CHUNK_BYTES);
        let mut guesses: Vec<Guess> = Vec::new();
        let mut cells = Vec::new();
        let mut n_records = 0;
        while n_records < INFER_RECORDS {
            let Some(chunk) = chunks.next().map_err(|error| self.explain(error))? else {
                break;
            };
            let mut records = Records::new(&chunk.text, self.delimiter);
            while n_records < INFER_RECORDS && records.next(&mut cells).is_some() {
                let raw = cells.iter().map(|&(start, end)| &chunk.text[start..end]);
                if self.names.is_empty() {
                    self.names = self.read_header(raw, notes)?.into();
                    guesses = vec![Guess::new(); self.names.len()];
                    continue;
                }
                if cells.len() != self.names.len() {
                    return Err(Error::Ragged {
                        at: self.at_record(n_records + 1)?,
                        expected: self.names.len(),
                        found: cells.len(),
                    });
                }
                for (guess, cell) in guesses.iter_mut().zip(raw) {
                    guess.see(&unquoted(cell).0);
                }
                n_records += 1;
            }
        }
        if self.names.is_empty() {
            return Err(Error::EmptyFile { file: self.input.name().to_owned() });
        }
        Ok((n_records > 0).then(|| guesses.into_iter().map(Guess::kind).collect()))
    }

    fn read_header<'a>(
        &self,
        cells: impl Iterator<Item = &'a [u8]>,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<String>, Error> {
        let file = || self.input.name().to_owned();
        let mut names: Vec<String> = Vec::new();
        let mut is_numeric = true;
        for (field, cell) in cells.enumerate() {
            let (text, _) = unquoted(cell);
            let text = text.trim_ascii();
            is_numeric = is_numeric && matches!(number(text), Number::Value(_));
            let name = if text.is_empty() {
                let name = format!("column_{}", field + 1);
                notes.push(Note::UnnamedColumn { file: file(), name: name.clone() });
                name
            } else if let Ok(name) = std::str::from_utf8(text) {
                name.to_owned()
            } else {
                return Err(Error::NotUtf8 {
                    at: self.at_record(0)?,
                    column: String::from_utf8_lossy(text).into_owned(),
                });
            };
            names.push(name);
        }
        if is_numeric {
            notes.push(Note::NumericHeader { file: file() });
        }
        Ok(names)
    }

    /// What is wrong with a chunk, in terms of lines and columns.
    fn blame(&self, first_row: u64, fault: Fault) -> Error {
        let at = match self.at_record(first_row + fault.record as u64 + 1) {
            Ok(at) => at,
            Err(error) => return error,
        };
        match fault.what {
            What::FieldCount(found) => Error::Ragged { at, expected: self.names.len(), found },
            What::Cell { field, text, problem } => {
                let column = self.names[field].clone();
                match problem {
                    Problem::NotANumber => Error::NotANumber { at, column, text },
                    Problem::NotABoolean => Error::NotABoolean { at, column, text },
                    Problem::NotFinite => Error::NotFinite { at, column, text },
                    Problem::NotUtf8 => Error::NotUtf8 { at, column },
                }
            }
        }
    }

    /// Why a text could not be cut into records.
    fn explain(&self, error: ChunkError) -> Error {
        let at = |offset| {
            let line = locate::line_of_offset(&self.input, offset)?;
            Ok(self.at_line(line))
        };
        match error {
            ChunkError::Read(reason) => Error::read(self.input.name(), reason),
            ChunkError::UnclosedQuote { offset } => match at(offset) {
                Ok(at) => Error::UnclosedQuote { at },
                Err(error) => error,
            },
            ChunkError::LongRecord { offset } => match at(offset) {
                Ok(at) => Error::LongRecord { at, limit: MAX_RECORD_MIB },
                Err(error) => error,
            },
        }
    }
}

/// One pass over a text table.
pub(crate) struct CsvScan {
    file: CsvFile,
    plan: Plan,
    chunks: ChunkReader,
    header_seen: bool,
    /// Chunks that are read but not decoded.
    wave: Wave,
    /// Chunks that are decoded but not handed over.
    ready: VecDeque<(Chunk, Result<Columns, Fault>)>,
    n_rows: u64,
}

/// As many chunks as there are threads.
#[derive(Default)]
struct Wave {
    chunks: Vec<Chunk>,
    error: Option<ChunkError>,
    is_last: bool,
}

impl CsvScan {
    /// The next rows. The caller wants `max_rows` more at most, and faults
    /// beyond those do not concern it.
    pub(crate) fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        loop {
            if let Some((chunk, decoded)) = self.ready.pop_front() {
                return self.hand_over(&chunk, decoded, max_rows).map(Some);
            }
            if self.wave.chunks.is_empty() {
                return match self.wave.error.take() {
                    Some(error) => Err(self.file.explain(error)),
                    None => Ok(None),
                };
            }
            self.advance();
        }
    }

    /// Decodes one wave of chunks while the next one is read.
    fn advance(&mut self) {
        let wave = std::mem::take(&mut self.wave);
        let plan = &self.plan;
        let decode_all = || -> Vec<_> {
            wave.chunks
                .into_par_iter()
                .map(|chunk| {
                    let decoded = decode(&chunk.text, plan, usize::MAX);
                    (chunk, decoded)
                })
                .collect()
        };
        if wave.is_last {
            self.ready.extend(decode_all());
            self.wave.error = wave.error;
            self.wave.is_last = true;
        } else {
            let (chunks, header_seen) = (&mut self.chunks, &mut self.header_seen);
            let delimiter = plan.delimiter;
            let (decoded, next) = rayon::join(decode_all, || read_wave(chunks, header_seen, delimiter));
            self.ready.extend(decoded);
            self.wave = next;
        }
    }

    fn hand_over(
        &mut self,
        chunk: &Chunk,
        decoded: Result<Columns, Fault>,
        max_rows: u64,
    ) -> Result<Piece, Error> {
        let decoded = match decoded {
            Err(fault) if fault.record as u64 >= max_rows => {
                decode(&chunk.text, &self.plan, max_rows as usize)
            }
            decoded => decoded,
        };
        let Columns { arrays, n_rows } = decoded.map_err(|fault| self.file.blame(self.n_rows, fault))?;
        self.n_rows += n_rows as u64;
        Ok(Piece { arrays, n_rows, disk_position: chunk.disk_position })
    }
}

/// Reads as many chunks as there are threads, without the header.
fn read_wave(chunks: &mut ChunkReader, header_seen: &mut bool, delimiter: u8) -> Wave {
    let mut wave = Wave::default();
    while wave.chunks.len() < rayon::current_num_threads() {
        match chunks.next() {
            Ok(Some(mut chunk)) => {
                if !*header_seen {
                    let mut records = Records::new(&chunk.text, delimiter);
                    *header_seen = records.next(&mut Vec::new()).is_some();
                    let header = records.position();
                    chunk.text.drain(..header);
                }
                wave.chunks.push(chunk);
            }
            Ok(None) => {
                wave.is_last = true;
                return wave;
            }
            Err(error) => {
                wave.error = Some(error);
                wave.is_last = true;
                return wave;
            }
        }
    }
    wave
}

/// What a file that is not text may be.
fn looks_like(start: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 7] = [
        (b"PK\x03\x04", "an Excel workbook or a zip archive"),
        (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
        (b"\xff\xfe", "UTF-16 text; save it as UTF-8"),
        (b"\xfe\xff", "UTF-16 text; save it as UTF-8"),
        (b"ARROW1", "an Arrow file"),
        (b"\xfd7zXZ", "an xz archive"),
        (b"SQLite format 3", "an SQLite database"),
    ];
    MAGIC.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, what)| what)
}
