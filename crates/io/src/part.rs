//! One file of a table, whatever its format.

use std::fmt::Debug;
use std::io::Read;

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use dshap_table::{RawColumn, Wanted};

use crate::csv::CsvFile;
use crate::error::Error;
use crate::input::Input;
use crate::ipc::{self, IpcFile};
use crate::location::Location;
use crate::memory::Numbers;
use crate::ndjson::{self, NdjsonFile};
use crate::note::Note;
use crate::npy::{self, NpyFile};
use crate::parquet::{self, ParquetFile};
use crate::read_options::ReadOptions;

/// A file whose columns are known and whose rows can be read again and again.
pub(crate) trait Part: Debug + Send + Sync {
    fn input(&self) -> &Input;

    /// The number of rows, if the file says so without being read.
    fn n_rows(&self) -> Option<u64> {
        None
    }

    /// The types of its columns, if the file stores any.
    fn own_types(&self) -> Option<&Schema> {
        None
    }

    /// Where a row is, or the number of rows if there are fewer.
    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error>;

    /// Begins a pass.
    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error>;

    /// An upper estimate of the bytes that a pass holds besides its pieces.
    fn scan_overhead(&self, wanted: &[Wanted]) -> u64;

    /// What passes have noticed beyond what was noted when the file was opened.
    fn late_notes(&self) -> Vec<Note> {
        Vec::new()
    }

    /// The numbers themselves, if the table is in memory and holds nothing else.
    fn numbers(&self) -> Option<&dyn Numbers> {
        None
    }
}

/// What a pass is to read.
pub(crate) struct Request<'a> {
    pub(crate) wanted: &'a [Wanted],
    /// Rows of a batch; a piece need not be longer.
    pub(crate) batch_rows: usize,
    /// Size of the chunks a text is read in.
    pub(crate) chunk_bytes: usize,
    /// Rows to skip at the beginning.
    pub(crate) skip_rows: u64,
}

/// A pass, and how many rows it skipped; fewer than requested only if the file has no
/// more.
pub(crate) struct Begun {
    pub(crate) scan: Box<dyn PartScan>,
    pub(crate) n_skipped: u64,
}

/// One pass over one file.
pub(crate) trait PartScan: Send {
    /// The next rows. The caller wants at most `max_rows` more, and faults after
    /// those do not matter.
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error>;
}

/// Some consecutive rows of one file.
pub(crate) struct Piece {
    pub(crate) arrays: Vec<ArrayRef>,
    pub(crate) n_rows: usize,
    /// How much of the file on disk has been read so far.
    pub(crate) disk_position: u64,
}

/// What is known about a file once it is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) part: Box<dyn Part>,
    pub(crate) columns: Vec<RawColumn>,
    pub(crate) has_rows: bool,
}

/// Opens a file in the format that its first bytes indicate, or its name if those are
/// damaged.
pub(crate) fn open(input: Input, how: ReadOptions, notes: &mut Vec<Note>) -> Result<Opened, Error> {
    let mut start = Vec::new();
    let failed = |reason| Error::read(input.name(), reason);
    input.open()?.take(16).read_to_end(&mut start).map_err(failed)?;
    let extension = input.extension();
    if start.starts_with(parquet::MAGIC) || extension == "parquet" {
        return ParquetFile::open(input, notes);
    }
    if start.starts_with(npy::MAGIC) || extension == "npy" {
        return NpyFile::open(input, notes);
    }
    if ipc::is_ipc(&start, &extension) {
        return IpcFile::open(input, notes);
    }
    if ndjson::is_json(&input, &extension)? {
        return NdjsonFile::open(input, notes);
    }
    CsvFile::open(input, how, notes)
}
