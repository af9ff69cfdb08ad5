//! What files of all text formats do alike: find columns, read rows, explain faults.

use dshap_table::{ReadAs, Wanted};

use super::{Body, ChunkError, ChunkReader, Decode, MAX_RECORD_MIB, TextScan, Trouble};
use super::{Found, find, line_of_offset};
use crate::error::Error;
use crate::input::Input;
use crate::location::{Location, Place};
use crate::part::{PartScan, Piece};

/// The position of each wanted column, and how to read it.
pub(crate) fn fields(
    input: &Input,
    names: &[String],
    wanted: &[Wanted],
    position: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<(usize, ReadAs)>, Error> {
    let field = |wanted: &Wanted| match position(&wanted.name) {
        Some(field) => Ok((field, wanted.read_as)),
        None => Err(Error::NoSuchColumn {
            file: input.name().to_owned(),
            name: wanted.name.clone(),
            available: names.to_vec(),
            suggestion: None,
        }),
    };
    wanted.iter().map(field).collect()
}

/// Where a record is, or the number of records if there are fewer.
pub(crate) fn locate(input: &Input, body: &Body, record: u64) -> Result<Result<Location, u64>, Error> {
    Ok(match find(input, body, record)? {
        Found::Line(line) => Ok(at_line(input, line)),
        Found::Beyond { n_records, .. } => Err(n_records),
    })
}

/// Where a record is that has just been read.
pub(crate) fn at_record(input: &Input, body: &Body, record: u64) -> Result<Location, Error> {
    let (Found::Line(line) | Found::Beyond { last_line: line, .. }) = find(input, body, record)?;
    Ok(at_line(input, line))
}

fn at_line(input: &Input, line: u64) -> Location {
    Location { file: input.name().to_owned(), place: Place::Line(line) }
}

/// Why a text could not be cut into records.
pub(crate) fn explain(input: &Input, body: &Body, error: ChunkError) -> Error {
    let at = |offset| line_of_offset(input, body, offset).map(|line| at_line(input, line));
    let found = match error {
        ChunkError::Read(reason) => return Error::read(input.name(), reason),
        ChunkError::UnclosedQuote { offset } => at(offset).map(|at| Error::UnclosedQuote { at }),
        ChunkError::LongRecord { offset } => {
            at(offset).map(|at| Error::LongRecord { at, limit: MAX_RECORD_MIB })
        }
    };
    found.unwrap_or_else(|error| error)
}

/// One pass over a text file. `blame` turns a faulty record into an error.
pub(crate) struct FileScan<D: Decode, F> {
    input: Input,
    body: Body,
    text: TextScan<D>,
    blame: F,
}

impl<D: Decode, F: Fn(u64, D::What) -> Error> FileScan<D, F> {
    /// Begins after `n_skipped` records, or at the end if there are fewer.
    pub(crate) fn begin(
        input: &Input,
        body: &Body,
        decoder: D,
        chunk_bytes: usize,
        n_skipped: u64,
        blame: F,
    ) -> Result<Self, Error> {
        let chunks = ChunkReader::new(body.open(input)?, body.layout, chunk_bytes);
        let text = TextScan::new(decoder, body.layout, chunks, n_skipped);
        Ok(Self { input: input.clone(), body: *body, text, blame })
    }

    /// Records that are skipped or handed over so far.
    pub(crate) fn n_records(&self) -> u64 {
        self.text.n_records()
    }
}

impl<D: Decode, F: Fn(u64, D::What) -> Error + Send> PartScan for FileScan<D, F> {
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        self.text.next(max_rows).map_err(|trouble| match trouble {
            Trouble::Chunk(error) => explain(&self.input, &self.body, error),
            Trouble::Record { record, what } => (self.blame)(record, what),
        })
    }
}
