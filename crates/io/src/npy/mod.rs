//! Reading arrays that NumPy has saved.
//!
//! Rows are read in blocks by position. In Fortran order the columns follow each
//! other, and each is read separately.

mod cells;
mod header;
mod literal;

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{Field, Schema, SchemaRef};
use dshap_table::Wanted;
use rayon::prelude::*;

use crate::columns::{self, Selection};
use crate::error::Error;
use crate::input::Input;
use crate::input_reader::InputReader;
use crate::late::Late;
use crate::location::{Location, Place};
use crate::note::Note;
use crate::part::{Begun, Opened, Part, PartScan, Piece, Request};

use cells::Cells;
use header::{Header, Refusal};

/// The first bytes of every NPY file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// Bytes read at once, unless a single row is larger.
const BLOCK_BYTES: usize = 4 << 20;

/// An NPY file whose header has been read.
#[derive(Debug, Clone)]
pub(crate) struct NpyFile {
    input: Input,
    schema: SchemaRef,
    header: Arc<Header>,
    late: Late,
}

impl NpyFile {
    pub(crate) fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened, Error> {
        if input.n_bytes() == 0 {
            return Err(Error::EmptyFile { file: input.name().to_owned() });
        }
        let header = Header::read(&input.open()?).map_err(|refusal| match refusal {
            Refusal::Read(reason) => Error::read(input.name(), reason),
            Refusal::Malformed(reason) => {
                Error::Malformed { file: input.name().to_owned(), format: "NPY", reason }
            }
            Refusal::Unsupported(what) => Error::Unsupported { file: input.name().to_owned(), what },
        })?;
        let end = header.data_start + header.n_rows * header.row_bytes as u64;
        if end < input.n_bytes() {
            notes.push(Note::MoreThanPromised { file: input.name().to_owned() });
        }
        if !header.has_names {
            notes.push(Note::NumberedColumns { file: input.name().to_owned() });
        }
        let fields = header.columns.iter();
        let fields: Vec<_> = fields.map(|c| Field::new(&c.name, c.cell_type.data_type(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Opened {
            columns: columns::raw_columns(&schema),
            has_rows: header.n_rows > 0,
            part: Box::new(NpyFile { input, schema, header: Arc::new(header), late: Late::default() }),
        })
    }
}

impl Part for NpyFile {
    fn input(&self) -> &Input {
        &self.input
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.header.n_rows)
    }

    fn own_types(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        if row >= self.header.n_rows {
            return Ok(Err(self.header.n_rows));
        }
        Ok(Ok(Location { file: self.input.name().to_owned(), place: Place::Row(row) }))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let selection = Selection::new(self.input.name(), &self.schema, request.wanted, &self.late)?;
        let n_skipped = request.skip_rows.min(self.header.n_rows);
        let scan = NpyScan {
            file: self.clone(),
            reader: self.input.open()?,
            selection,
            block_rows: (BLOCK_BYTES / self.header.row_bytes).clamp(1, request.batch_rows.max(1)),
            next_row: n_skipped,
        };
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, _wanted: &[Wanted]) -> u64 {
        // A block as it is on disk and its columns.
        2 * BLOCK_BYTES.max(self.header.row_bytes) as u64
    }

    fn late_notes(&self) -> Vec<Note> {
        self.late.rounded(self.input.name())
    }
}

/// One pass over an NPY file.
struct NpyScan {
    file: NpyFile,
    reader: InputReader,
    selection: Selection,
    block_rows: usize,
    next_row: u64,
}

impl PartScan for NpyScan {
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        let header = &self.file.header;
        let n_rows = (header.n_rows - self.next_row).min(self.block_rows as u64).min(max_rows) as usize;
        if n_rows == 0 {
            return Ok(None);
        }
        let arrays = if header.fortran_order { self.by_column(n_rows) } else { self.by_row(n_rows) }?;
        let arrays = self.selection.convert(&arrays, self.next_row)?;
        self.next_row += n_rows as u64;
        let share = self.next_row as f64 / header.n_rows as f64;
        let data_bytes = (self.file.input.n_bytes() - header.data_start) as f64;
        let disk_position = header.data_start + (data_bytes * share.min(1.0)) as u64;
        Ok(Some(Piece { arrays, n_rows, disk_position }))
    }
}

impl NpyScan {
    fn by_row(&self, n_rows: usize) -> Result<Vec<ArrayRef>, Error> {
        let header = &self.file.header;
        let start = header.data_start + self.next_row * header.row_bytes as u64;
        let block = self.read(start, n_rows * header.row_bytes)?;
        let arrays: Vec<_> = self
            .selection
            .fields()
            .par_iter()
            .map(|&field| {
                let column = &header.columns[field];
                let cells = Cells { block: &block, stride: header.row_bytes, offset: column.offset, n_rows };
                (field, column.cell_type.decode(&cells))
            })
            .collect();
        self.first_fault(arrays)
    }

    fn by_column(&self, n_rows: usize) -> Result<Vec<ArrayRef>, Error> {
        let header = &self.file.header;
        let arrays = self
            .selection
            .fields()
            .par_iter()
            .map(|&field| {
                let cell_type = header.columns[field].cell_type;
                let size = cell_type.n_bytes();
                let row = field as u64 * header.n_rows + self.next_row;
                let block = self.read(header.data_start + row * size as u64, n_rows * size)?;
                let cells = Cells { block: &block, stride: size, offset: 0, n_rows };
                Ok((field, cell_type.decode(&cells)))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        self.first_fault(arrays)
    }

    /// All columns, unless one of them holds invalid text.
    fn first_fault(&self, arrays: Vec<(usize, Result<ArrayRef, usize>)>) -> Result<Vec<ArrayRef>, Error> {
        let faults = arrays.iter().filter_map(|(field, array)| Some((array.as_ref().err()?, *field)));
        match faults.min() {
            None => Ok(arrays.into_iter().filter_map(|(_, array)| array.ok()).collect()),
            Some((&row, field)) => Err(Error::NotUtf8 {
                at: Location {
                    file: self.file.input.name().to_owned(),
                    place: Place::Row(self.next_row + row as u64),
                },
                column: self.file.header.columns[field].name.clone(),
            }),
        }
    }

    fn read(&self, start: u64, length: usize) -> Result<Vec<u8>, Error> {
        self.reader.bytes(start, length).map_err(|reason| Error::read(self.file.input.name(), reason))
    }
}
