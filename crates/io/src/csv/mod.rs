//! Reading text tables.
//!
//! Chunks of text are split into cells ([`mod@split`]) and turned into columns
//! ([`mod@decode`]).

mod cell;
mod decode;
mod infer;
mod sniff;
mod split;

use std::sync::Arc;

use dshap_table::{Kind, RawColumn, Wanted};
use memchr::memchr;

use crate::error::Error;
use crate::facts::LooksLike;
use crate::input::Input;
use crate::location::Location;
use crate::names;
use crate::note::Note;
use crate::part::{Begun, Opened, Part, Request};
use crate::text::{self, CHUNK_BYTES, ChunkReader, FileScan, Layout, Text};

use decode::{Plan, What};
use infer::{Guess, INFER_RECORDS};
use split::{Records, unquoted};

pub(crate) use cell::{Boolean, Number, boolean, is_date, is_missing, number};

/// A zero byte this near the beginning means that a file is not text.
const BINARY_PROBE_BYTES: usize = 1 << 10;

/// A text table whose header has been read.
#[derive(Debug, Clone)]
pub(crate) struct CsvFile {
    input: Input,
    delimiter: u8,
    names: Arc<[String]>,
    /// Whether each record ends with a delimiter and so with an empty cell
    /// that belongs to no column.
    ends_in_delimiter: bool,
}

impl CsvFile {
    pub(crate) fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened, Error> {
        let head = Text::open(&input)?
            .head(sniff::SNIFF_BYTES)
            .map_err(|reason| Error::read(input.name(), reason))?;
        let probe = &head[..head.len().min(BINARY_PROBE_BYTES)];
        if memchr(0, probe).is_some() {
            let looks_like = looks_like(probe, &input.extension());
            return Err(Error::NotText { file: input.name().to_owned(), looks_like });
        }
        let delimiter = sniff::delimiter(&head);
        let bare_carriage_returns = memchr(b'\n', &head).is_none() && head.trim_ascii().contains(&b'\r');

        let mut file = CsvFile { input, delimiter, names: Arc::new([]), ends_in_delimiter: false };
        let kinds = file.learn(notes)?;
        let has_rows = kinds.is_some();
        let kinds = kinds.unwrap_or_else(|| vec![Kind::Number; file.names.len()]);
        let columns =
            file.names.iter().zip(kinds).map(|(name, kind)| RawColumn { name: name.clone(), kind }).collect();
        Ok(Opened { part: Box::new(file), columns, has_rows, bare_carriage_returns })
    }

    fn layout(&self) -> Layout {
        Layout::Csv { delimiter: self.delimiter }
    }

    /// Cells of the header, and so of every record.
    fn n_fields(&self) -> usize {
        self.names.len() + usize::from(self.ends_in_delimiter)
    }

    /// Where a record is that has just been read.
    fn at_record(&self, record: u64) -> Result<Location, Error> {
        text::at_record(&self.input, self.layout(), record)
    }

    /// Reads the header and the kinds, which are `None` if there are no rows.
    fn learn(&mut self, notes: &mut Vec<Note>) -> Result<Option<Vec<Kind>>, Error> {
        let mut chunks = ChunkReader::new(Text::open(&self.input)?, self.layout(), CHUNK_BYTES);
        let mut header: Option<Vec<Option<String>>> = None;
        let mut guesses: Vec<Guess> = Vec::new();
        let mut last_is_empty = true;
        let mut cells = Vec::new();
        let mut n_records = 0;
        while n_records < INFER_RECORDS {
            let Some(chunk) = chunks.next().map_err(|error| text::explain(&self.input, error))? else {
                break;
            };
            let mut records = Records::new(&chunk.text, self.delimiter);
            while n_records < INFER_RECORDS && records.next(&mut cells).is_some() {
                let raw = cells.iter().map(|&(start, end)| &chunk.text[start..end]);
                let Some(header) = &header else {
                    let read = self.read_header(raw)?;
                    guesses = vec![Guess::new(); read.len()];
                    header = Some(read);
                    continue;
                };
                if cells.len() != header.len() {
                    return Err(Error::Ragged {
                        at: self.at_record(n_records + 1)?,
                        expected: header.len(),
                        found: cells.len(),
                    });
                }
                last_is_empty &= cells.last().is_some_and(|(start, end)| start == end);
                for (guess, cell) in guesses.iter_mut().zip(raw) {
                    guess.see(&unquoted(cell).0);
                }
                n_records += 1;
            }
        }
        let Some(header) = header else {
            return Err(Error::EmptyFile { file: self.input.name().to_owned() });
        };
        self.settle_names(header, last_is_empty, notes);
        Ok((n_records > 0).then(|| guesses.into_iter().take(self.names.len()).map(Guess::kind).collect()))
    }

    /// The names in the header; none for a cell without one.
    fn read_header<'a>(&self, cells: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Option<String>>, Error> {
        let name = |cell| {
            let (text, _) = unquoted(cell);
            match std::str::from_utf8(text.trim_ascii()) {
                Ok("") => Ok(None),
                Ok(name) => Ok(Some(name.to_owned())),
                Err(_) => Err(Error::NotUtf8 {
                    at: self.at_record(0)?,
                    column: String::from_utf8_lossy(text.trim_ascii()).into_owned(),
                }),
            }
        };
        cells.map(name).collect()
    }

    fn settle_names(&mut self, mut header: Vec<Option<String>>, last_is_empty: bool, notes: &mut Vec<Note>) {
        let file = || self.input.name().to_owned();
        let ends_in_delimiter = header.len() > 1 && last_is_empty && header.last() == Some(&None);
        if ends_in_delimiter {
            header.pop();
            notes.push(Note::TrailingDelimiter { file: file() });
        }
        let is_number = |name: &Option<String>| {
            name.as_ref().is_some_and(|name| matches!(number(name.as_bytes()), Number::Value(_)))
        };
        let is_numeric = header.iter().all(is_number);
        let names: Vec<String> = header
            .into_iter()
            .enumerate()
            .map(|(field, name)| {
                name.unwrap_or_else(|| {
                    let name = format!("column_{}", field + 1);
                    notes.push(Note::UnnamedColumn { file: file(), name: name.clone() });
                    name
                })
            })
            .collect();
        if is_numeric {
            notes.push(Note::NumericHeader { file: file() });
        }
        self.names = names.into();
        self.ends_in_delimiter = ends_in_delimiter;
    }

    /// What is wrong with a record, in terms of lines and columns.
    fn blame(&self, record: u64, what: What) -> Error {
        let at = match self.at_record(record) {
            Ok(at) => at,
            Err(error) => return error,
        };
        match what {
            What::FieldCount(found) => Error::Ragged { at, expected: self.n_fields(), found },
            What::AfterLastColumn(text) => Error::UnnamedCell { at, text },
            What::Cell(fault) => fault.into_error(at, &self.names),
        }
    }
}

impl Part for CsvFile {
    fn input(&self) -> &Input {
        &self.input
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        // The header is a record too.
        let found = text::locate(&self.input, self.layout(), row.saturating_add(1))?;
        Ok(found.map_err(|n_records| n_records.saturating_sub(1)))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let positions = names::positions(self.names.iter().map(String::as_str));
        let columns =
            text::fields(&self.input, &self.names, request.wanted, |name| positions.get(name).copied())?;
        let plan = Plan {
            delimiter: self.delimiter,
            n_fields: self.n_fields(),
            ends_in_delimiter: self.ends_in_delimiter,
            columns,
        };
        let file = self.clone();
        let scan = FileScan::begin(
            &self.input,
            self.layout(),
            plan,
            request.chunk_bytes,
            request.skip_rows.saturating_add(1),
            move |record, what| file.blame(record, what),
        )?;
        let n_skipped = scan.n_records().saturating_sub(1);
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        text::scan_overhead(wanted)
    }
}

/// What a file that is not text may be.
fn looks_like(start: &[u8], extension: &str) -> Option<LooksLike> {
    const MAGIC: [(&[u8], LooksLike); 11] = [
        (b"PK\x03\x04", LooksLike::ExcelOrZip),
        (b"\xd0\xcf\x11\xe0", LooksLike::OldExcel),
        (b"\xff\xfe", LooksLike::Utf16),
        (b"\xfe\xff", LooksLike::Utf16),
        (b"\xfd7zXZ", LooksLike::Xz),
        (b"SQLite format 3", LooksLike::Sqlite),
        (b"\x89HDF", LooksLike::Hdf5),
        (b"ORC", LooksLike::Orc),
        (b"Obj\x01", LooksLike::Avro),
        (b"\x80\x04", LooksLike::Pickle),
        (b"\x80\x05", LooksLike::Pickle),
    ];
    if extension == "npz" {
        return Some(LooksLike::Npz);
    }
    MAGIC.iter().find(|(magic, _)| start.starts_with(magic)).map(|&(_, what)| what)
}
