//! Reading Parquet files.
//!
//! The wanted columns are divided into several shares per thread. A free thread
//! decodes the next share. All shares cover the same rows, so rows stay in order, and
//! no more of them are in memory than with one thread.

use std::cmp::Ordering;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema, SchemaRef};
use dshap_table::Wanted;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::file::statistics::Statistics;
use rayon::prelude::*;

use crate::columns::{self, Selection, guarded};
use crate::error::Error;
use crate::input::Input;
use crate::input_reader::InputReader;
use crate::late::Late;
use crate::location::{Location, Place};
use crate::note::Note;
use crate::part::{Begun, Opened, Part, PartScan, Piece, Request};

/// The first and the last bytes of every Parquet file.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// Shares of columns per thread. Threads also work on rows that were read before, so
/// the last share to be decoded should be small.
const SHARES_PER_THREAD: usize = 4;

/// Pages are about this large at most, however large a column chunk is.
const PAGE_BYTES: u64 = 1 << 20;

/// A Parquet file whose footer has been read.
#[derive(Debug, Clone)]
pub(crate) struct ParquetFile {
    input: Input,
    metadata: ArrowReaderMetadata,
    n_rows: u64,
    late: Late,
}

impl ParquetFile {
    pub(crate) fn open(input: Input, notes: &mut Vec<Note>) -> Result<Opened, Error> {
        if input.n_bytes() == 0 {
            return Err(Error::EmptyFile { file: input.name().to_owned() });
        }
        let failed = |reason| Error::Parquet { file: input.name().to_owned(), reason };
        let reader = input.open()?;
        let metadata =
            guarded(|| ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new())).map_err(failed)?;
        let n_rows = metadata.metadata().file_metadata().num_rows();
        let n_rows = u64::try_from(n_rows).map_err(|_| failed(format!("it claims to have {n_rows} rows")))?;
        check_counts(&metadata, n_rows).map_err(failed)?;
        let n_notes = notes.len();
        for column in columns_of_large_integers(&metadata) {
            notes.push(Note::LargeIntegers { file: input.name().to_owned(), column });
        }
        let late = Late::after(&notes[n_notes..]);
        Ok(Opened {
            columns: columns::raw_columns(metadata.schema()),
            part: Box::new(ParquetFile { input, metadata, n_rows, late }),
            has_rows: n_rows > 0,
        })
    }

    fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    fn failed(&self, reason: String) -> Error {
        Error::Parquet { file: self.input.name().to_owned(), reason }
    }

    /// Row groups from the one that holds `row` on, and where in it `row` is.
    fn groups_from(&self, row: u64) -> (Vec<usize>, u64) {
        let groups = self.metadata.metadata().row_groups();
        let mut left = row;
        for (first, group) in groups.iter().enumerate() {
            let n_rows = u64::try_from(group.num_rows()).unwrap_or(0);
            if left < n_rows {
                return ((first..groups.len()).collect(), left);
            }
            left -= n_rows;
        }
        (Vec::new(), 0)
    }

    /// Divides columns so that all shares take about the same time to decode.
    fn shares(&self, fields: &[usize]) -> Vec<Vec<usize>> {
        let sizes = self.sizes(|total, chunk| total + chunk);
        let mut largest_first = fields.to_vec();
        largest_first.sort_by_key(|&field| std::cmp::Reverse(sizes[field]));
        // At least one, so that rows without columns are still counted.
        let n_shares = (SHARES_PER_THREAD * rayon::current_num_threads()).min(fields.len()).max(1);
        let mut shares = vec![(0_u64, Vec::new()); n_shares];
        for field in largest_first {
            if let Some((size, share)) = shares.iter_mut().min_by_key(|(size, _)| *size) {
                *size += sizes[field].max(1);
                share.push(field);
            }
        }
        shares
            .into_iter()
            .map(|(_, mut share)| {
                share.sort_unstable();
                share
            })
            .collect()
    }

    /// The total uncompressed size of each column's chunks.
    fn sizes(&self, put_together: impl Fn(u64, u64) -> u64) -> Vec<u64> {
        let leaves = self.metadata.parquet_schema();
        let mut sizes = vec![0; self.schema().fields().len()];
        for group in self.metadata.metadata().row_groups() {
            let mut of_group = vec![0; sizes.len()];
            for (leaf, chunk) in group.columns().iter().enumerate() {
                if leaf < leaves.num_columns()
                    && let Some(size) = of_group.get_mut(leaves.get_column_root_idx(leaf))
                {
                    *size += u64::try_from(chunk.uncompressed_size()).unwrap_or(0).min(u64::from(u32::MAX));
                }
            }
            for (size, chunk) in sizes.iter_mut().zip(of_group) {
                *size = put_together(*size, chunk);
            }
        }
        sizes
    }

    fn reader(
        &self,
        file: InputReader,
        fields: &[usize],
        batch_rows: usize,
        skip_rows: u64,
    ) -> Result<ParquetRecordBatchReader, Error> {
        let (groups, offset) = self.groups_from(skip_rows);
        guarded(|| {
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), fields.iter().copied());
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, self.metadata.clone())
                .with_projection(mask)
                .with_batch_size(batch_rows)
                .with_row_groups(groups)
                .with_offset(offset as usize)
                .build()
        })
        .map_err(|reason| self.failed(reason))
    }
}

impl Part for ParquetFile {
    fn input(&self) -> &Input {
        &self.input
    }

    fn n_rows(&self) -> Option<u64> {
        Some(self.n_rows)
    }

    fn own_types(&self) -> Option<&Schema> {
        Some(self.schema())
    }

    fn locate(&self, row: u64) -> Result<Result<Location, u64>, Error> {
        if row >= self.n_rows {
            return Ok(Err(self.n_rows));
        }
        Ok(Ok(Location { file: self.input.name().to_owned(), place: Place::Row(row) }))
    }

    fn scan(&self, request: &Request<'_>) -> Result<Begun, Error> {
        let selection = Selection::new(self.input.name(), self.schema(), request.wanted, &self.late)?;
        let n_skipped = request.skip_rows.min(self.n_rows);
        let file = self.input.open()?;
        let shares = self
            .shares(selection.fields())
            .into_iter()
            .map(|fields| {
                let reader = self.reader(file.reading_from(0), &fields, request.batch_rows, n_skipped)?;
                Ok(Share { fields, reader })
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let scan = ParquetScan { file: self.clone(), selection, shares, n_rows: n_skipped };
        Ok(Begun { scan: Box::new(scan), n_skipped })
    }

    fn scan_overhead(&self, wanted: &[Wanted]) -> u64 {
        let Ok(selection) = Selection::new(self.input.name(), self.schema(), wanted, &self.late) else {
            return 0;
        };
        // A page as it is on disk and decompressed, and a dictionary.
        let sizes = self.sizes(u64::max);
        selection.fields().iter().map(|&field| 3 * sizes[field].min(PAGE_BYTES)).sum()
    }

    fn late_notes(&self) -> Vec<Note> {
        self.late.rounded(self.input.name())
    }
}

/// Refuses a footer whose counts of rows contradict each other. Rows would be lost, or
/// cells of different rows read as one.
fn check_counts(metadata: &ArrowReaderMetadata, n_rows: u64) -> Result<(), String> {
    let groups = metadata.metadata().row_groups();
    let mut n_in_groups: u64 = 0;
    for (number, group) in groups.iter().enumerate() {
        let n = group.num_rows();
        let Some(sum) = u64::try_from(n).ok().and_then(|n| n_in_groups.checked_add(n)) else {
            return Err(format!("its row group {number} claims to have {n} rows"));
        };
        n_in_groups = sum;
        for column in group.columns() {
            // A column of lists has a value for each item, not for each row.
            let is_flat = column.column_descr().max_rep_level() == 0;
            if is_flat && column.num_values() != n {
                let path = column.column_path();
                let n_values = column.num_values();
                return Err(format!(
                    "its row group {number} has {n} rows, but {n_values} values of `{path}`"
                ));
            }
        }
    }
    if n_in_groups != n_rows {
        return Err(format!("it announces {n_rows} rows, but its row groups have {n_in_groups}"));
    }
    Ok(())
}

/// Columns of whole numbers that doubles round, by what the file says of their range.
fn columns_of_large_integers(metadata: &ArrowReaderMetadata) -> Vec<String> {
    const MOST: u64 = 1 << 53;
    let is_large = |n_column: usize| {
        metadata.metadata().row_groups().iter().any(|group| {
            let column = group.columns().get(n_column);
            match column.and_then(|column| column.statistics()) {
                Some(Statistics::Int64(range)) => [range.min_opt(), range.max_opt()]
                    .into_iter()
                    .flatten()
                    .any(|end| end.unsigned_abs() > MOST),
                _ => false,
            }
        })
    };
    let fields = metadata.schema().fields().iter();
    // Only in a flat table is the number of a leaf that of its column.
    let is_flat = metadata.parquet_schema().num_columns() == fields.len();
    let is_integer = |kind: &DataType| matches!(kind, DataType::Int64 | DataType::UInt64);
    fields
        .enumerate()
        .filter(|(number, field)| is_flat && is_integer(field.data_type()) && is_large(*number))
        .map(|(_, field)| field.name().clone())
        .collect()
}

/// Some columns that are decoded together.
struct Share {
    fields: Vec<usize>,
    reader: ParquetRecordBatchReader,
}

/// One pass over a Parquet file.
struct ParquetScan {
    file: ParquetFile,
    selection: Selection,
    shares: Vec<Share>,
    /// Rows that are skipped or handed over.
    n_rows: u64,
}

impl PartScan for ParquetScan {
    fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        let decoded: Vec<Result<Option<RecordBatch>, String>> =
            self.shares.par_iter_mut().map(|share| guarded(|| share.reader.next().transpose())).collect();
        let decoded =
            decoded.into_iter().collect::<Result<Vec<_>, _>>().map_err(|reason| self.file.failed(reason))?;
        let mut n_decoded = decoded.iter().map(|rows| rows.as_ref().map_or(0, RecordBatch::num_rows));
        let n_rows = n_decoded.next().unwrap_or(0);
        if n_decoded.any(|other| other != n_rows) {
            return Err(self.file.failed("its columns are not equally long".to_owned()));
        }
        if n_rows == 0 {
            return match self.n_rows.cmp(&self.file.n_rows) {
                Ordering::Equal => Ok(None),
                _ => Err(self
                    .file
                    .failed(format!("it has {} rows instead of {}", self.n_rows, self.file.n_rows))),
            };
        }
        let n_rows = usize::try_from(max_rows).map_or(n_rows, |n| n.min(n_rows));

        let arrays: Vec<ArrayRef> = self
            .in_order_of_file(decoded.into_iter().flatten().collect())
            .iter()
            .map(|array| array.slice(0, n_rows))
            .collect();
        let arrays = self.selection.convert(&arrays, self.n_rows)?;
        self.n_rows += n_rows as u64;
        // A Parquet file is not read from its beginning to its end. The share
        // of rows is as good a measure of progress.
        let share = self.n_rows as f64 / self.file.n_rows.max(1) as f64;
        let disk_position = (self.file.input.n_bytes() as f64 * share.min(1.0)) as u64;
        Ok(Some(Piece { arrays, n_rows, disk_position }))
    }
}

impl ParquetScan {
    fn in_order_of_file(&self, decoded: Vec<RecordBatch>) -> Vec<ArrayRef> {
        let mut arrays: Vec<(usize, ArrayRef)> = self
            .shares
            .iter()
            .zip(decoded)
            .flat_map(|(share, rows)| share.fields.iter().copied().zip(rows.columns().to_vec()))
            .collect();
        arrays.sort_by_key(|&(field, _)| field);
        arrays.into_iter().map(|(_, array)| array).collect()
    }
}
