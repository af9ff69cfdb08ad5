//! Reading text tables.
//!
//! The beginning of a text shows how it is written ([`sniff`]) and what its columns
//! hold ([`learn`]). Chunks of text are split into cells ([`mod@split`]) and turned
//! into columns ([`mod@decode`]).

mod cell;
mod decode;
mod footer;
mod infer;
mod learn;
mod sight;
mod sniff;
mod split;

use std::sync::Arc;

use dshap_table::{Kind, RawColumn, Wanted};
use memchr::{memchr, memchr_iter};

use crate::error::Error;
use crate::facts::LooksLike;
use crate::input::Input;
use crate::late::{Found, Late, Oddity};
use crate::location::{Location, Place};
use crate::names;
use crate::note::Note;
use crate::part::{Begun, Opened, Part, Request};
use crate::read_options::ReadOptions;
use crate::text::{self, Body, Dialect, FileScan, Layout, Text, with_new_lines};

use decode::{Plan, What};
use learn::Learning;

pub(crate) use cell::{Boolean, Number, boolean, is_date, is_missing, is_rounded, may_be_rounded, number};

/// A zero byte this near the beginning means that a file is not text.
const BINARY_PROBE_BYTES: usize = 1 << 10;

/// A text table whose header has been read.
#[derive(Debug, Clone)]
pub(crate) struct CsvFile {
    input: Input,
    dialect: Dialect,
    body: Body,
    names: Arc<[String]>,
    /// Records of the header; until they are known, 1 or, in a table without one, 0.
    n_header: u64,
    /// Cells of every record below it.
    n_fields: usize,
    /// Whether each record ends with a delimiter and so with an empty cell
    /// that belongs to no column.
    ends_in_delimiter: bool,
    late: Late,
}

/// Lines are counted for this many notes about cells. A file with more is quoted in a way
/// of its own, which these show.
const MAX_LOCATED: usize = 16;

impl CsvFile {
    pub(crate) fn open(input: Input, how: ReadOptions, notes: &mut Vec<Note>) -> Result<Opened, Error> {
        let mut head = Text::open(&input)?
            .head(sniff::SNIFF_BYTES)
            .map_err(|reason| Error::read(input.name(), reason))?;
        let probe = &head[..head.len().min(BINARY_PROBE_BYTES)];
        if memchr(0, probe).is_some() {
            let looks_like = looks_like(probe, &input.extension());
            return Err(Error::NotText { file: input.name().to_owned(), looks_like });
        }
        let n_notes = notes.len();
        let mut file = CsvFile::sniffed(input, how, &mut head, notes);
        let learned = Learning::of(&file).run(notes)?;
        file.late = Late::after(&notes[n_notes..]);
        file.names = learned.names.into();
        file.n_header = learned.n_header;
        file.n_fields = learned.n_fields;
        file.ends_in_delimiter = learned.ends_in_delimiter;
        file.body.end = learned.end.map(|end| file.body.start + end);
        let has_rows = learned.kinds.is_some();
        let kinds = learned.kinds.unwrap_or_else(|| vec![Kind::Number; file.names.len()]);
        let columns =
            file.names.iter().zip(kinds).map(|(name, kind)| RawColumn { name: name.clone(), kind }).collect();
        Ok(Opened { part: Box::new(file), columns, has_rows })
    }

    /// A file of which only the beginning is known.
    fn sniffed(input: Input, how: ReadOptions, head: &mut [u8], notes: &mut Vec<Note>) -> CsvFile {
        let file = || input.name().to_owned();
        let carriage_returns = memchr(b'\n', head).is_none() && head.trim_ascii().contains(&b'\r');
        if carriage_returns {
            with_new_lines(head);
            notes.push(Note::CarriageReturns { file: file() });
        }
        let sniffed = sniff::sniff(head, how);
        let dialect = sniffed.dialect;
        if dialect.quote != b'"' {
            notes.push(Note::Quoted { file: file(), by: char::from(dialect.quote) });
        }
        if let Some(escape) = dialect.escape {
            notes.push(Note::Escaped { file: file(), by: char::from(escape) });
        }
        if sniffed.is_unusual() {
            notes.push(Note::Delimited { file: file(), by: char::from(dialect.delimiter) });
        }
        let lines_before = memchr_iter(b'\n', &head[..sniffed.preamble]).count() as u64;
        if lines_before > 0 {
            notes.push(Note::Preamble { file: file(), n_lines: lines_before });
        }
        let body = Body {
            start: sniffed.preamble as u64,
            lines_before,
            carriage_returns,
            ..Body::whole(Layout::Csv(dialect))
        };
        CsvFile {
            input,
            dialect,
            body,
            names: Arc::new([]),
            n_header: u64::from(!how.no_header),
            n_fields: 0,
            ends_in_delimiter: false,
            late: Late::default(),
        }
    }

    /// A cell that is odd, unless it means nothing: a single text between other quotes may
    /// be a quotation.
    fn late_note(&self, oddity: Oddity, column: String, found: Found) -> Option<Note> {
        let file = self.input.name().to_owned();
        if oddity == Oddity::Rounded {
            return Some(Note::LargeIntegers { file, column });
        }
        if oddity == Oddity::OtherQuotes && !found.is_repeated {
            return None;
        }
        let row = Place::Row(found.record.saturating_sub(self.n_header));
        // A file that cannot be read again says so elsewhere.
        let at = self.at_record(found.record).unwrap_or(Location { file, place: row });
        let text = found.text;
        Some(match oddity {
            Oddity::OtherQuotes => Note::OtherQuotes { at, column, text },
            _ => Note::StrayQuote { at, column, text },
        })
    }

    /// Where a record is that has just been read.
    fn at_record(&self, record: u64) -> Result<Location, Error> {
        text::at_record(&self.input, &self.body, record)
    }

    /// The line at an offset of the table.
    fn line_at(&self, offset: u64) -> Result<u64, Error> {
        text::line_of_offset(&self.input, &self.body, offset)
    }

    /// What is wrong with a record, in terms of lines and columns.
    fn blame(&self, record: u64, what: What) -> Error {
        let at = match self.at_record(record) {
            Ok(at) => at,
            Err(error) => return error,
        };
        match what {
            What::FieldCount(found) => Error::Ragged { at, expected: self.n_fields, found },
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
        // The header has records too.
        let found = text::locate(&self.input, &self.body, row.saturating_add(self.n_header))?;
        Ok(found.map_err(|n_records| n_records.saturating_sub(self.n_header)))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let positions = names::positions(self.names.iter().map(String::as_str));
        let columns =
            text::fields(&self.input, &self.names, request.wanted, |name| positions.get(name).copied())?;
        let plan = Plan {
            dialect: self.dialect,
            n_fields: self.n_fields,
            ends_in_delimiter: self.ends_in_delimiter,
            columns,
            names: Arc::clone(&self.names),
            late: self.late.clone(),
        };
        let file = self.clone();
        let scan = FileScan::begin(
            &self.input,
            &self.body,
            plan,
            request.chunk_bytes,
            request.skip_rows.saturating_add(self.n_header),
            move |record, what| file.blame(record, what),
        )?;
        let n_skipped = scan.n_records().saturating_sub(self.n_header);
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        text::scan_overhead(wanted)
    }

    fn late_notes(&self) -> Vec<Note> {
        let (rounded, quotes): (Vec<_>, Vec<_>) =
            self.late.found().into_iter().partition(|(oddity, ..)| *oddity == Oddity::Rounded);
        let all = quotes.into_iter().take(MAX_LOCATED).chain(rounded);
        all.filter_map(|(oddity, column, found)| self.late_note(oddity, column, found)).collect()
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
