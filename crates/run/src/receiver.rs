//! Where the rows of the output go.

use crate::Error;
use crate::output::VALUE;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch, UInt64Array};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use dshap::Values;
use dshap_io::{Destination, Format, Sink};

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
    /// order of the input.
    pub fn arranged(&self, arrange: Arrange) -> Option<RecordBatch> {
        let all = concat_batches(self.schema.as_ref()?, &self.batches).expect("all batches have one schema");
        let cells = all.column_by_name(VALUE)?.as_primitive::<Float64Type>();
        let value: Vec<f64> =
            (0..cells.len()).map(|i| if cells.is_valid(i) { cells.value(i) } else { f64::NAN }).collect();
        let flip = |value: Vec<f64>| value.into_iter().map(|v| -v).collect();
        let (value, limit) = match arrange {
            Arrange::ByRow => return Some(all),
            Arrange::Highest(limit) => (value, limit.unwrap_or(usize::MAX)),
            Arrange::Lowest(limit) => (flip(value), limit),
        };
        let ranking = Values { value, ..Values::default() }.ranking();
        let rows = UInt64Array::from_iter_values(ranking.into_iter().take(limit).map(|row| row as u64));
        Some(take_record_batch(&all, &rows).expect("the ranking holds rows of the table"))
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
        if let Some(rows) = self.collected.arranged(self.arrange) {
            sink.write(&rows)?;
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
