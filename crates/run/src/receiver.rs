//! Where the rows of the output go.

use crate::Error;
use crate::output::VALUE;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use dshap::Values;
use dshap_io::{Destination, Format, Sink};
use std::sync::Arc;

/// Takes the output as it is made.
pub trait Receiver {
    /// The columns, before any rows.
    ///
    /// # Errors
    ///
    /// Whatever prevents the output from being begun.
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error>;

    /// Some rows, in order.
    ///
    /// # Errors
    ///
    /// Whatever prevents them from being taken.
    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error>;
}

/// Keeps all rows, to be shown or arranged.
#[derive(Debug, Default)]
pub struct Collected {
    schema: Option<SchemaRef>,
    batches: Vec<RecordBatch>,
}

/// In which order rows are handed over, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrange {
    /// As in the input.
    #[default]
    ByRow,
    /// From the highest value to the lowest, at most so many.
    Highest(Option<usize>),
    /// From the lowest value to the highest, at most so many.
    Lowest(usize),
}

impl Collected {
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
        let Some(cells) = all.column_by_name(VALUE) else { return Ok(all) };
        let cells = cells.as_primitive::<Float64Type>();
        let value: Vec<f64> =
            (0..cells.len()).map(|i| if cells.is_valid(i) { cells.value(i) } else { f64::NAN }).collect();
        let flip = |value: Vec<f64>| value.into_iter().map(|v| -v).collect();
        let (value, limit) = match arrange {
            Arrange::ByRow => return Ok(all),
            Arrange::Highest(limit) => (value, limit.unwrap_or(usize::MAX)),
            Arrange::Lowest(limit) => (flip(value), limit),
        };
        let ranking = Values { value, ..Values::default() }.ranking();
        let rows = UInt64Array::from_iter_values(ranking.into_iter().take(limit).map(|row| row as u64));
        take_record_batch(&all, &rows).map_err(too_much)
    }
}

impl Receiver for Collected {
    fn begin(&mut self, schema: &SchemaRef) -> Result<(), Error> {
        self.schema = Some(schema.clone());
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        self.batches.push(rows);
        Ok(())
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
        Self { destination, format, arrange, held, sink: None, collected: Collected::default() }
    }

    /// Writes nothing before [`finish`](Self::finish), even where rows could be
    /// written as they come.
    pub fn held(mut self) -> Self {
        self.held = true;
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
        if self.held {
            self.collected.begin(schema)?;
        }
        // Before the first row is computed, so that a folder that cannot be
        // written to is known early. Standard output would show a header at once.
        if !self.held || self.destination != Destination::Stdout {
            self.sink = Some(Sink::create(&self.destination, self.format, schema.clone())?);
        }
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        match &mut self.sink {
            Some(sink) if !self.held => Ok(sink.write(&rows)?),
            _ => self.collected.rows(rows),
        }
    }
}
