//! Tables that are in memory already: record batches of a frame, or numbers in
//! arrays that someone else holds.
//!
//! They are read in blocks, like files, so callers need not tell them apart. Nothing
//! is copied as a whole.

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap_table::Wanted;
use rayon::prelude::*;

use crate::columns::{self, Selection};
use crate::error::Error;
use crate::input::Input;
use crate::late::Late;
use crate::location::{Location, Place};
use crate::note::Note;
use crate::part::{Begun, Opened, Part, PartScan, Piece, Request};

/// Rows handed over at a time, at most.
const BLOCK_ROWS: usize = 16_384;

/// Numbers in memory, in columns of equal length. NaN is a missing cell.
pub trait Numbers: Debug + Send + Sync {
    /// Number of rows.
    fn n_rows(&self) -> usize;

    /// Number of columns.
    fn n_columns(&self) -> usize;

    /// The type of a column: numbers, unless its cells are labels.
    fn data_type(&self, _column: usize) -> DataType {
        DataType::Float64
    }

    /// Copies cells of a column from row `start` on, as doubles; NaN where they are
    /// not numbers.
    fn copy(&self, column: usize, start: usize, out: &mut [f64]);

    /// The same cells in their own type, which decides how they are spelled as
    /// categories: doubles cannot tell true from 1, or large whole numbers from each
    /// other.
    fn array(&self, column: usize, start: usize, n_rows: usize) -> ArrayRef {
        let mut cells = vec![0.0; n_rows];
        self.copy(column, start, &mut cells);
        Arc::new(Float64Array::from(cells))
    }

    /// A column in place, if it is doubles one after the other.
    fn column(&self, column: usize) -> Option<&[f64]>;

    /// The first `n_columns` columns in place, if they are doubles in one of
    /// the two usual orders.
    fn matrix(&self, n_columns: usize) -> Option<Matrix<'_>>;
}

/// Doubles in memory as a matrix.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<'a> {
    /// All cells, from the first to the last.
    pub cells: &'a [f64],
    /// Which cells follow each other.
    pub order: Order,
    /// Cells from the beginning of one row, or column, to that of the next.
    pub stride: usize,
}

/// The order of the cells of a matrix in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Row after row, as in C.
    Rows,
    /// Column after column, as in Fortran.
    Columns,
}

/// A table made of record batches of one schema.
#[derive(Debug, Clone)]
pub(crate) struct BatchTable {
    input: Input,
    schema: SchemaRef,
    batches: Arc<[RecordBatch]>,
    /// The row after the last of each batch.
    ends: Arc<[u64]>,
    n_rows: u64,
    late: Late,
}

impl BatchTable {
    pub(crate) fn open(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Opened {
        let mut n_rows = 0;
        let mut ends = Vec::with_capacity(batches.len());
        for batch in &batches {
            n_rows += batch.num_rows() as u64;
            ends.push(n_rows);
        }
        let n_bytes = 8 * n_rows * schema.fields().len() as u64;
        let columns = columns::raw_columns(&schema);
        let input = Input::in_memory(name, n_bytes);
        let (batches, ends) = (batches.into(), ends.into());
        let part = Box::new(BatchTable { input, schema, batches, ends, n_rows, late: Late::default() });
        Opened { part, columns, has_rows: n_rows > 0 }
    }
}

/// A table of numbers.
#[derive(Debug, Clone)]
pub(crate) struct NumberTable {
    input: Input,
    schema: SchemaRef,
    numbers: Arc<dyn Numbers>,
    late: Late,
}

impl NumberTable {
    pub(crate) fn open(name: &str, names: &[String], numbers: Arc<dyn Numbers>) -> Opened {
        let field = |(column, name): (usize, &String)| Field::new(name, numbers.data_type(column), true);
        let fields: Vec<_> = names.iter().take(numbers.n_columns()).enumerate().map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        let n_bytes = 8 * numbers.n_rows() as u64 * names.len() as u64;
        Opened {
            columns: columns::raw_columns(&schema),
            has_rows: numbers.n_rows() > 0,
            part: Box::new(NumberTable {
                input: Input::in_memory(name, n_bytes),
                schema,
                numbers,
                late: Late::default(),
            }),
        }
    }
}

impl Part for BatchTable {
    fn input(&self) -> &Input {
        &self.input
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_rows)
    }

    fn own_types(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        Ok(place(&self.input, row, self.n_rows))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let selection = Selection::new(self.input.name(), &self.schema, request.wanted, &self.late)?;
        let n_skipped = request.skip_rows.min(self.n_rows);
        let scan = Blocks {
            table: self.clone(),
            selection,
            block_rows: request.batch_rows.clamp(1, BLOCK_ROWS),
            next_row: n_skipped,
            n_rows: self.n_rows,
            row_bytes: 8 * self.schema.fields().len() as u64,
        };
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        8 * (BLOCK_ROWS * wanted.len()) as u64
    }

    fn late_notes(&self) -> Vec<Note> {
        self.late.rounded(self.input.name())
    }
}

impl Part for NumberTable {
    fn input(&self) -> &Input {
        &self.input
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.numbers.n_rows() as u64)
    }

    fn own_types(&self) -> Option<&Schema> {
        Some(&self.schema)
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        Ok(place(&self.input, row, self.numbers.n_rows() as u64))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let n_rows = self.numbers.n_rows() as u64;
        let n_skipped = request.skip_rows.min(n_rows);
        let scan = Blocks {
            table: self.clone(),
            selection: Selection::new(self.input.name(), &self.schema, request.wanted, &self.late)?,
            block_rows: request.batch_rows.clamp(1, BLOCK_ROWS),
            next_row: n_skipped,
            n_rows,
            row_bytes: 8 * self.schema.fields().len() as u64,
        };
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        8 * (BLOCK_ROWS * wanted.len()) as u64
    }

    fn late_notes(&self) -> Vec<Note> {
        self.late.rounded(self.input.name())
    }

    fn numbers(&self) -> Option<&dyn Numbers> {
        Some(self.numbers.as_ref())
    }
}

fn place(input: &Input, row: u64, n_rows: u64) -> Result<Location, u64> {
    if row >= n_rows {
        return Err(n_rows);
    }
    Ok(Location { file: input.name().to_owned(), place: Place::Row(row) })
}

/// What a pass needs from a table in memory.
trait Block: Send {
    /// At most `n_rows` rows of some columns from `start` on; fewer only where
    /// a piece of the table ends.
    fn block(&self, fields: &[usize], start: u64, n_rows: usize) -> (Vec<ArrayRef>, usize);
}

impl Block for BatchTable {
    fn block(&self, fields: &[usize], start: u64, n_rows: usize) -> (Vec<ArrayRef>, usize) {
        let index = self.ends.partition_point(|&end| end <= start);
        let Some(batch) = self.batches.get(index) else { return (Vec::new(), 0) };
        let left = (self.ends[index] - start) as usize;
        let (first, n_rows) = (batch.num_rows() - left, n_rows.min(left));
        (fields.iter().map(|&field| batch.column(field).slice(first, n_rows)).collect(), n_rows)
    }
}

impl Block for NumberTable {
    fn block(&self, fields: &[usize], start: u64, n_rows: usize) -> (Vec<ArrayRef>, usize) {
        let read = |&field: &usize| self.numbers.array(field, start as usize, n_rows);
        (fields.par_iter().map(read).collect(), n_rows)
    }
}

/// One pass over a table in memory.
struct Blocks<T> {
    table: T,
    selection: Selection,
    block_rows: usize,
    next_row: u64,
    n_rows: u64,
    /// Bytes that a row counts as in progress.
    row_bytes: u64,
}

impl<T: Block> PartScan for Blocks<T> {
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        let most = (self.n_rows - self.next_row).min(self.block_rows as u64).min(max_rows) as usize;
        if most == 0 {
            return Ok(None);
        }
        let (arrays, n_rows) = self.table.block(self.selection.fields(), self.next_row, most);
        let arrays = self.selection.convert(&arrays, self.next_row)?;
        self.next_row += n_rows as u64;
        let disk_position = self.next_row * self.row_bytes;
        Ok(Some(Piece { arrays, n_rows, disk_position }))
    }
}
