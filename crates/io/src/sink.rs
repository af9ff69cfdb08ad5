//! Writing tables.

use std::fmt::Debug;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_json::writer::{JsonFormat, LineDelimited, WriterBuilder};
use arrow_schema::{ArrowError, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;

use crate::atomic::AtomicFile;
use crate::csv_writer::CsvWriter;
use crate::error::Error;
use crate::ipc_writer::IpcWriter;
use crate::npy_writer::NpyWriter;

/// A format that tables are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated text with a header.
    Csv,
    /// As `Csv`, with `'` before each text that a spreadsheet would run as a formula.
    SafeCsv,
    /// An array of objects, one on each line.
    Json,
    /// Objects, one on each line, with nulls where values are missing.
    Ndjson,
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file, or a stream when written to standard output.
    Arrow,
    /// A structured array of NumPy with a field for each column of numbers or
    /// of true and false. Missing numbers are NaN. A text column called `note`
    /// is left out; any other text cannot be written.
    Npy,
}

impl Format {
    /// The format that the name of a file asks for.
    pub fn from_extension(path: &Path) -> Result<Format, Error> {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Ok(Format::Csv),
            "json" => Ok(Format::Json),
            "ndjson" | "jsonl" => Ok(Format::Ndjson),
            "parquet" => Ok(Format::Parquet),
            "arrow" | "feather" | "ipc" => Ok(Format::Arrow),
            "npy" => Ok(Format::Npy),
            _ => Err(Error::UnknownFormat { file: path.display().to_string() }),
        }
    }
}

/// Where a table is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A file, which appears when the table is complete.
    File(PathBuf),
}

/// Writes a table, batch by batch.
///
/// Nothing is guaranteed to be written before [`finish`](Sink::finish). A sink
/// that is dropped without it leaves no file.
pub struct Sink {
    name: String,
    schema: SchemaRef,
    encoder: Encoder,
}

impl Sink {
    /// Begins a table with the given columns.
    pub fn create(destination: &Destination, format: Format, schema: SchemaRef) -> Result<Sink, Error> {
        match destination {
            Destination::Stdout => {
                let stdout = BufWriter::with_capacity(64 << 10, io::stdout());
                Sink::to("standard output".to_owned(), Output::Stdout(stdout), format, schema)
            }
            Destination::File(path) => Sink::to_file(AtomicFile::create(path)?, format, schema),
        }
    }

    /// Begins a table in a file, which appears when the table is complete.
    pub fn to_file(file: AtomicFile, format: Format, schema: SchemaRef) -> Result<Sink, Error> {
        Sink::to(file.name().to_owned(), Output::File(file), format, schema)
    }

    fn to(name: String, output: Output, format: Format, schema: SchemaRef) -> Result<Sink, Error> {
        let is_stream = matches!(output, Output::Stdout(_));
        let encoder = match format {
            Format::Csv => CsvWriter::new(output, &schema, false).map(Encoder::Csv),
            Format::SafeCsv => CsvWriter::new(output, &schema, true).map(Encoder::Csv),
            Format::Json => {
                let builder = WriterBuilder::new().with_explicit_nulls(true);
                Ok(Encoder::Json(builder.build::<_, ObjectPerLine>(output)))
            }
            Format::Ndjson => {
                let builder = WriterBuilder::new().with_explicit_nulls(true);
                Ok(Encoder::Ndjson(builder.build::<_, LineDelimited>(output)))
            }
            Format::Arrow => IpcWriter::new(output, &schema, is_stream).map(Encoder::Arrow),
            Format::Npy => NpyWriter::new(output, &schema).map(Encoder::Npy),
            Format::Parquet => {
                ArrowWriter::try_new(output, SchemaRef::clone(&schema), Some(properties(&schema)))
                    .map(|writer| Encoder::Parquet(Box::new(writer)))
                    .map_err(Failure::from)
            }
        };
        match encoder {
            Ok(encoder) => Ok(Sink { name, schema, encoder }),
            Err(failure) => Err(failure.of(&name)),
        }
    }

    /// Adds rows, whose columns are those the sink was created with.
    pub fn write(&mut self, rows: &RecordBatch) -> Result<(), Error> {
        let of_rows = rows.schema_ref().fields().iter();
        let of_table = self.schema.fields().iter();
        if !of_rows.map(|f| (f.name(), f.data_type())).eq(of_table.map(|f| (f.name(), f.data_type()))) {
            let reason = "rows do not have the columns of the table".to_owned();
            return Err(Error::Encode { file: self.name.clone(), reason });
        }
        let written = match &mut self.encoder {
            Encoder::Csv(writer) => writer.write(rows),
            Encoder::Json(writer) => writer.write(rows).map_err(Failure::from),
            Encoder::Ndjson(writer) => writer.write(rows).map_err(Failure::from),
            Encoder::Parquet(writer) => writer.write(rows).map_err(Failure::from),
            Encoder::Arrow(writer) => writer.write(rows),
            Encoder::Npy(writer) => writer.write(rows),
        };
        written.map_err(|failure| failure.of(&self.name))
    }

    /// Completes the table. A file appears here, replacing an older one.
    pub fn finish(self) -> Result<(), Error> {
        let output = match self.encoder {
            Encoder::Csv(writer) => Ok(writer.into_inner()),
            Encoder::Json(mut writer) => match writer.finish() {
                Ok(()) => Ok(writer.into_inner()),
                Err(error) => Err(Failure::from(error)),
            },
            Encoder::Ndjson(mut writer) => match writer.finish() {
                Ok(()) => Ok(writer.into_inner()),
                Err(error) => Err(Failure::from(error)),
            },
            Encoder::Parquet(writer) => writer.into_inner().map_err(Failure::from),
            Encoder::Arrow(writer) => writer.finish(),
            Encoder::Npy(writer) => writer.finish(),
        };
        match output.map_err(|failure| failure.of(&self.name))? {
            Output::Stdout(mut stdout) => stdout.flush().map_err(|reason| Error::write(&self.name, reason)),
            Output::File(file) => file.commit(),
        }
    }
}

enum Encoder {
    Csv(CsvWriter<Output>),
    Json(arrow_json::Writer<Output, ObjectPerLine>),
    Ndjson(arrow_json::Writer<Output, LineDelimited>),
    Parquet(Box<ArrowWriter<Output>>),
    Arrow(IpcWriter<Output>),
    Npy(NpyWriter<Output>),
}

enum Output {
    Stdout(BufWriter<Stdout>),
    File(AtomicFile),
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(stdout) => stdout.write(bytes),
            Output::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(stdout) => stdout.flush(),
            Output::File(file) => file.flush(),
        }
    }
}

/// An array of objects, one on each line, so that it can also be read by eye
/// and by `grep`.
#[derive(Debug, Default)]
struct ObjectPerLine;

impl JsonFormat for ObjectPerLine {
    fn start_stream<W: Write>(&self, writer: &mut W) -> Result<(), ArrowError> {
        Ok(writer.write_all(b"[")?)
    }

    fn start_row<W: Write>(&self, writer: &mut W, is_first_row: bool) -> Result<(), ArrowError> {
        Ok(writer.write_all(if is_first_row { b"\n" } else { b",\n" })?)
    }

    fn end_stream<W: Write>(&self, writer: &mut W) -> Result<(), ArrowError> {
        Ok(writer.write_all(b"\n]\n")?)
    }
}

/// A row group is held in memory until it is complete.
const ROW_GROUP_ROWS: usize = 1 << 16;

fn properties(schema: &SchemaRef) -> WriterProperties {
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS));
    for field in schema.fields() {
        // Numbers seldom repeat, and looking for those that do takes longer than writing them.
        if field.data_type().is_numeric() {
            builder = builder.set_column_dictionary_enabled(ColumnPath::from(field.name().as_str()), false);
        }
    }
    builder.build()
}

/// Why rows could not be written, before the file is named.
#[derive(Debug)]
pub(crate) enum Failure {
    Io(io::Error),
    Encode(String),
    /// This column is neither numeric nor boolean.
    NotNumeric(String),
}

impl Failure {
    fn of(self, file: &str) -> Error {
        match self {
            Failure::Io(reason) => Error::write(file, reason),
            Failure::Encode(reason) => Error::Encode { file: file.to_owned(), reason },
            Failure::NotNumeric(column) => Error::NumbersOnly { file: file.to_owned(), column },
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Failure {
        match error {
            ArrowError::IoError(_, reason) => Failure::Io(reason),
            ArrowError::ExternalError(source) => from_boxed(source),
            other => Failure::Encode(other.to_string()),
        }
    }
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Failure {
        match error {
            ParquetError::External(source) => from_boxed(source),
            other => Failure::Encode(other.to_string()),
        }
    }
}

fn from_boxed(source: Box<dyn std::error::Error + Send + Sync>) -> Failure {
    match source.downcast::<io::Error>() {
        Ok(reason) => Failure::Io(*reason),
        Err(other) => Failure::Encode(other.to_string()),
    }
}
