//! Reading Parquet files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, SchemaRef};
use dshap_table::{Kind, RawColumn, ReadAs};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use crate::csv::{self, Boolean, Number, Opened};
use crate::error::{Error, Location, Place};
use crate::input::Input;
use crate::source::Piece;

/// The first and the last bytes of every Parquet file.
pub(crate) const MAGIC: &[u8] = b"PAR1";

/// A Parquet file whose footer has been read.
#[derive(Debug, Clone)]
pub(crate) struct ParquetFile {
    input: Input,
    metadata: ArrowReaderMetadata,
    n_rows: u64,
}

impl ParquetFile {
    pub(crate) fn open(input: Input) -> Result<Opened<ParquetFile>, Error> {
        if input.n_bytes() == 0 {
            return Err(Error::EmptyFile { file: input.name().to_owned() });
        }
        let reader = input.open()?;
        let metadata = guarded(&input, || ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new()))?;
        let columns = metadata
            .schema()
            .fields()
            .iter()
            .map(|field| RawColumn { name: field.name().clone(), kind: kind(field.data_type()) })
            .collect();
        let n_rows = metadata.metadata().file_metadata().num_rows();
        let n_rows = u64::try_from(n_rows).map_err(|_| Error::Parquet {
            file: input.name().to_owned(),
            reason: format!("it claims to have {n_rows} rows"),
        })?;
        Ok(Opened {
            file: ParquetFile { input, metadata, n_rows },
            columns,
            has_rows: n_rows > 0,
            bare_carriage_returns: false,
        })
    }

    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// The file's own type of a column.
    pub(crate) fn data_type(&self, name: &str) -> Option<&DataType> {
        let field = self.metadata.schema().column_with_name(name)?.1;
        Some(field.data_type())
    }

    /// Where a row stands, or the number of rows if there are fewer.
    pub(crate) fn locate(&self, row: u64) -> Result<Location, u64> {
        if row < self.n_rows { Ok(self.at(row)) } else { Err(self.n_rows) }
    }

    pub(crate) fn scan<'a>(
        &self,
        wanted: impl Iterator<Item = (&'a str, ReadAs)>,
        batch_rows: usize,
    ) -> Result<ParquetScan, Error> {
        let schema = self.metadata.schema();
        let columns = wanted
            .map(|(name, read_as)| match schema.column_with_name(name) {
                Some((index, _)) => Ok((index, read_as)),
                None => Err(Error::NoSuchColumn {
                    file: self.input.name().to_owned(),
                    name: name.to_owned(),
                    available: names(schema),
                    suggestion: None,
                }),
            })
            .collect::<Result<Vec<_>, _>>()?;
        let mut roots: Vec<usize> = columns.iter().map(|&(index, _)| index).collect();
        roots.sort_unstable();
        roots.dedup();

        let reader = self.input.open()?;
        let reader = guarded(&self.input, || {
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), roots.iter().copied());
            ParquetRecordBatchReaderBuilder::new_with_metadata(reader, self.metadata.clone())
                .with_projection(mask)
                .with_batch_size(batch_rows)
                .build()
        })?;
        let columns = columns
            .into_iter()
            .map(|(index, read_as)| Column {
                name: schema.field(index).name().clone(),
                // Columns come back in the order of the file, each once.
                position: roots.partition_point(|&root| root < index),
                read_as,
            })
            .collect();
        Ok(ParquetScan { file: self.clone(), reader, columns, n_rows: 0 })
    }

    fn at(&self, row: u64) -> Location {
        Location { file: self.input.name().to_owned(), place: Place::Row(row) }
    }
}

/// One pass over a Parquet file.
pub(crate) struct ParquetScan {
    file: ParquetFile,
    reader: ParquetRecordBatchReader,
    columns: Vec<Column>,
    n_rows: u64,
}

struct Column {
    name: String,
    /// Position among the columns that are read.
    position: usize,
    read_as: ReadAs,
}

impl ParquetScan {
    /// The next rows. The caller wants `max_rows` more at most, and faults
    /// beyond those do not concern it.
    pub(crate) fn next(&mut self, max_rows: u64) -> Result<Option<Piece>, Error> {
        let reader = &mut self.reader;
        let Some(rows) = guarded(&self.file.input, || reader.next().transpose())? else {
            return Ok(None);
        };
        let n_rows = usize::try_from(max_rows).map_or(rows.num_rows(), |n| n.min(rows.num_rows()));
        let rows = rows.slice(0, n_rows);

        let arrays = self.convert(&rows)?;
        self.n_rows += n_rows as u64;
        // A Parquet file is not read from its beginning to its end. The share
        // of rows is as good a measure of progress.
        let share = self.n_rows as f64 / self.file.n_rows.max(1) as f64;
        Ok(Some(Piece {
            arrays,
            n_rows,
            disk_position: (self.file.input.n_bytes() as f64 * share.min(1.0)) as u64,
        }))
    }

    fn convert(&self, rows: &RecordBatch) -> Result<Vec<ArrayRef>, Error> {
        let mut arrays = Vec::with_capacity(self.columns.len());
        let mut first_fault: Option<(usize, Error)> = None;
        for column in &self.columns {
            let array = rows.column(column.position);
            match self.convert_column(column, array) {
                Ok(array) => arrays.push(array),
                Err(Fault::Column(error)) => return Err(error),
                // Columns are read one after the other, but the first faulty
                // row is the one to report.
                Err(Fault::Row(row, error)) => {
                    if first_fault.as_ref().is_none_or(|(first, _)| row < *first) {
                        first_fault = Some((row, error));
                    }
                }
            }
        }
        match first_fault {
            Some((_, error)) => Err(error),
            None => Ok(arrays),
        }
    }

    fn convert_column(&self, column: &Column, array: &ArrayRef) -> Result<ArrayRef, Fault> {
        match column.read_as {
            ReadAs::AsIs => Ok(Arc::clone(array)),
            ReadAs::Text => self.cast(column, array, &DataType::Utf8),
            ReadAs::Number => {
                let read = |text: &str| match csv::number(text.as_bytes()) {
                    Number::NotFinite => Some(f64::INFINITY),
                    Number::Value(value) => Some(value),
                    Number::Missing => Some(f64::NAN),
                    Number::Other => None,
                };
                let numbers = self.numbers(column, array, read)?;
                self.finite(column, &numbers)
            }
            ReadAs::Boolean => {
                let read = |text: &str| match csv::boolean(text.as_bytes()) {
                    Boolean::Value(value) => Some(f64::from(u8::from(value))),
                    Boolean::Missing => Some(f64::NAN),
                    Boolean::Other => None,
                };
                let numbers = self.numbers(column, array, read)?;
                let numbers = self.finite(column, &numbers)?;
                let values = numbers.as_primitive::<Float64Type>();
                match values.iter().position(|v| v.is_some_and(|v| v != 0.0 && v != 1.0)) {
                    None => Ok(numbers),
                    Some(row) => Err(self.fault(row, |at| Error::NotABoolean {
                        at,
                        column: column.name.clone(),
                        text: values.value(row).to_string(),
                    })),
                }
            }
        }
    }

    /// Doubles from any column of numbers, or from text by way of `read`.
    fn numbers(
        &self,
        column: &Column,
        array: &ArrayRef,
        read: impl Fn(&str) -> Option<f64>,
    ) -> Result<Float64Array, Fault> {
        match kind(array.data_type()) {
            Kind::Number | Kind::Boolean => {
                let numbers = self.cast(column, array, &DataType::Float64)?;
                Ok(numbers.as_primitive::<Float64Type>().clone())
            }
            Kind::Text => {
                let texts = self.cast(column, array, &DataType::Utf8)?;
                let mut numbers = Vec::with_capacity(texts.len());
                for (row, text) in texts.as_string::<i32>().iter().enumerate() {
                    match text.map_or(Some(f64::NAN), &read) {
                        Some(number) => numbers.push(number),
                        None => {
                            let text = text.unwrap_or_default().to_owned();
                            let column_name = column.name.clone();
                            return Err(self.fault(row, |at| match column.read_as {
                                ReadAs::Boolean => Error::NotABoolean { at, column: column_name, text },
                                _ => Error::NotANumber { at, column: column_name, text },
                            }));
                        }
                    }
                }
                Ok(numbers.into())
            }
            _ => Err(Fault::Column(self.wrong_kind(column, array.data_type()))),
        }
    }

    /// Missing values are null and not NaN, and none is infinite.
    fn finite(&self, column: &Column, numbers: &Float64Array) -> Result<ArrayRef, Fault> {
        let is_clean = match numbers.nulls() {
            None => numbers.values().iter().all(|value| value.is_finite()),
            Some(_) => numbers.iter().flatten().all(f64::is_finite),
        };
        if is_clean {
            return Ok(Arc::new(numbers.clone()));
        }
        if let Some(row) = numbers.iter().position(|value| value.is_some_and(f64::is_infinite)) {
            return Err(self.fault(row, |at| Error::NotFinite {
                at,
                column: column.name.clone(),
                text: numbers.value(row).to_string(),
            }));
        }
        let cleaned: Float64Array =
            numbers.iter().map(|value| value.filter(|value| !value.is_nan())).collect();
        Ok(Arc::new(cleaned))
    }

    fn cast(&self, column: &Column, array: &ArrayRef, to: &DataType) -> Result<ArrayRef, Fault> {
        cast(array, to).ok_or_else(|| Fault::Column(self.wrong_kind(column, array.data_type())))
    }

    fn wrong_kind(&self, column: &Column, data_type: &DataType) -> Error {
        Error::WrongKind {
            file: self.file.input.name().to_owned(),
            column: column.name.clone(),
            kind: kind(data_type),
            wanted: column.read_as,
        }
    }

    fn fault(&self, row: usize, error: impl FnOnce(Location) -> Error) -> Fault {
        Fault::Row(row, error(self.file.at(self.n_rows + row as u64)))
    }
}

enum Fault {
    /// The column is unusable.
    Column(Error),
    /// A row of the batch is faulty.
    Row(usize, Error),
}

/// Another type, if every value has a counterpart in it.
pub(crate) fn cast(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
    if array.data_type() == to {
        return Some(Arc::clone(array));
    }
    let options = CastOptions {
        // A value without a counterpart is an error and not a new null.
        safe: false,
        ..CastOptions::default()
    };
    cast_with_options(array, to, &options).ok()
}

fn kind(data_type: &DataType) -> Kind {
    match data_type {
        DataType::Boolean => Kind::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Dictionary(_, values) => kind(values),
        data_type if data_type.is_numeric() => Kind::Number,
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(_, _) => Kind::Date,
        DataType::Null => Kind::Number,
        other => Kind::Other(other.to_string()),
    }
}

fn names(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Runs a step of the decoder, naming the file if it fails. The decoder
/// asserts what a well-formed file guarantees, so a damaged one may make it
/// panic; that must not end the program.
fn guarded<T, E: ToString>(input: &Input, step: impl FnOnce() -> Result<T, E>) -> Result<T, Error> {
    let failed = |reason| Error::Parquet { file: input.name().to_owned(), reason };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(failed("its contents contradict each other".to_owned())),
    }
}
