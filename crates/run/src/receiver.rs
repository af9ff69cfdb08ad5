//! Where the rows of the output go.

use crate::output::VALUE;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{PrimitiveArray, RecordBatch, UInt64Array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use dshap::{Part, Values};
use dshap_io::{Destination, Format, Sink};
use dshap_models::Error;
use std::sync::Arc;

/// Fewer rows are not worth sorting out before the end.
const FEW_ROWS: usize = 4096;

/// Takes the output as it is made.
pub trait Receiver: Send {
    /// The columns, before any rows.
    ///
    /// # Errors
    ///
    /// Whatever prevents the output from being begun.
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error>;

    /// Bytes that are held until the output is complete, for a table of `n_columns`
    /// columns.
    fn held_bytes(&self, _n_columns: usize) -> u64 {
        0
    }

    /// Some rows, in order.
    ///
    /// # Errors
    ///
    /// Whatever prevents them from being taken.
    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error>;
}

/// Keeps rows, to be shown or arranged.
#[derive(Debug, Default)]
pub struct Collected {
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
    n_rows: usize,
    n_bytes: u64,
    arrange: Arrange,
    max_bytes: Option<u64>,
}

/// In which order rows are handed over, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrange {
    /// As in the input.
    #[default]
    ByRow,
    /// From the highest value to the lowest, at most this many.
    Highest(Option<usize>),
    /// From the lowest value to the highest, at most this many.
    Lowest(usize),
    /// From the largest penalty to the smallest, at most this many.
    Penalty(Option<usize>),
}

impl Arrange {
    /// The column that rows are arranged by.
    fn column(self) -> &'static str {
        match self {
            Arrange::Penalty(_) => "penalty",
            _ => VALUE,
        }
    }
}

impl Collected {
    /// For rows that will be arranged in this way: rows that cannot be among them are
    /// not kept. More than `max_bytes` are an error.
    pub fn new(arrange: Arrange, max_bytes: Option<u64>) -> Self {
        Self { arrange, max_bytes, ..Self::default() }
    }

    /// The rows, arranged. Rows without a value come last, equal values in the
    /// order of the input; a table without a value column stays in that order.
    ///
    /// # Errors
    ///
    /// [`Error::TooMuchText`] when the rows do not fit into one table.
    pub fn arranged(&self, arrange: Arrange) -> Result<RecordBatch, Error> {
        let schema = self.schema.clone().unwrap_or_else(|| Arc::new(Schema::empty()));
        let too_much = |_| Error::TooMuchText;
        let all = concat_batches(&schema, &self.batches).map_err(too_much)?;
        let Some(cells) = all.column_by_name(arrange.column()) else { return Ok(all) };
        let cells = cells.as_primitive::<Float64Type>();
        let (sign, limit) = match arrange {
            Arrange::ByRow => return Ok(all),
            Arrange::Highest(limit) | Arrange::Penalty(limit) => (1.0, limit.unwrap_or(usize::MAX)),
            Arrange::Lowest(limit) => (-1.0, limit),
        };
        let doubles = |cells: &PrimitiveArray<Float64Type>| -> Vec<f64> {
            cells.iter().map(|cell| cell.map_or(f64::NAN, |cell| sign * cell)).collect()
        };
        let relative = all.column_by_name("relative").and_then(|cells| cells.as_primitive_opt());
        let parts = relative.map(|cells| (Part::Relative, doubles(cells)));
        let values = Values { value: doubles(cells), parts: Vec::from_iter(parts), ..Values::default() };
        let ranking = values.ranking();
        let rows = UInt64Array::from_iter_values(ranking.into_iter().take(limit).map(|row| row as u64));
        take_record_batch(&all, &rows).map_err(too_much)
    }
}

impl Receiver for Collected {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error> {
        if matches!(self.arrange, Arrange::Penalty(_)) && schema.column_with_name("penalty").is_none() {
            return Err(Error::NoPenalty);
        }
        self.schema = Some(schema.clone());
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        self.n_rows += rows.num_rows();
        self.n_bytes += rows.get_array_memory_size() as u64;
        self.batches.push(rows);
        let most = match self.arrange {
            Arrange::Highest(Some(limit)) | Arrange::Penalty(Some(limit)) | Arrange::Lowest(limit) => {
                limit.max(FEW_ROWS)
            }
            Arrange::ByRow | Arrange::Highest(None) | Arrange::Penalty(None) => usize::MAX,
        };
        if self.n_rows / 2 > most {
            // Ranked among themselves they stay in front of what comes later
            // where values are equal, as in the input.
            let best = self.arranged(self.arrange)?;
            (self.n_rows, self.n_bytes) = (best.num_rows(), best.get_array_memory_size() as u64);
            self.batches = vec![best];
        }
        match self.max_bytes {
            Some(limit) if self.n_bytes > limit => Err(Error::TooMuchHeld { n_rows: self.n_rows }),
            _ => Ok(()),
        }
    }
}

/// Writes rows to a file or to standard output, as they come if the order is
/// that of the input.
pub struct Written {
    destination: Destination,
    format: Format,
    arrange: Arrange,
    held: bool,
    sink: Option<Sink>,
    collected: Collected,
}

impl Written {
    /// Rows go to `destination` as `format`.
    pub fn new(destination: Destination, format: Format, arrange: Arrange) -> Self {
        let held = arrange != Arrange::ByRow;
        let collected = Collected::new(arrange, None);
        Self { destination, format, arrange, held, sink: None, collected }
    }

    /// Limits the bytes of rows that are held back.
    pub fn holding_at_most(mut self, max_bytes: Option<u64>) -> Self {
        self.collected.max_bytes = max_bytes;
        self
    }

    /// Shows nothing before [`finish`](Self::finish), even where rows could be
    /// shown as they come. A file does not appear earlier in any case.
    pub fn held(mut self) -> Self {
        self.held |= self.destination == Destination::Stdout;
        self
    }

    /// Completes the output; a file appears now.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] when it cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        let mut sink = match (self.sink.take(), &self.collected.schema) {
            (Some(sink), _) => sink,
            (None, Some(schema)) => Sink::create(&self.destination, self.format, schema.clone())?,
            (None, None) => return Ok(()),
        };
        if self.held {
            sink.write(&self.collected.arranged(self.arrange)?)?;
        }
        Ok(sink.finish()?)
    }
}

impl Receiver for Written {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error> {
        self.collected.begin(schema)?;
        // Before the first row is computed, so that a folder that cannot be
        // written to is known early. Standard output would show a header at
        // once, even if nothing comes after it.
        if self.destination != Destination::Stdout {
            self.sink = Some(Sink::create(&self.destination, self.format, schema.clone())?);
        }
        Ok(())
    }

    fn held_bytes(&self, n_columns: usize) -> u64 {
        match self.format {
            // Pages and a dictionary of each column, until a row group is complete.
            Format::Parquet => 3_000_000 * n_columns as u64,
            _ => 0,
        }
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        if self.held {
            return self.collected.rows(rows);
        }
        let sink = match &mut self.sink {
            Some(sink) => sink,
            None => self.sink.insert(Sink::create(&self.destination, self.format, rows.schema())?),
        };
        Ok(sink.write(&rows)?)
    }
}
