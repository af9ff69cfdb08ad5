//! Output rows to be explained, and which rows are ordinary.

use crate::output::{NOTE, VALUE};
use crate::prepare::Prepared;
use crate::receiver::Receiver;
use crate::value::Job;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use dshap::Part;
use dshap_models::linear::LinearModel;
use dshap_models::{Error, NearestAmong, NearestRows, Rank, RowExplanation, TargetFacts};

/// A row whose residual is larger than this many standard deviations is not ordinary.
const ORDINARY: f64 = 2.0;

/// Keeps the values of all rows, and all that is known about some.
pub(super) struct Picked<'a> {
    rows: &'a [u64],
    noise_sd: Option<f64>,
    values: Vec<f64>,
    ordinary: Vec<bool>,
    found: Vec<(u64, RecordBatch)>,
}

impl<'a> Picked<'a> {
    pub(super) fn of(prepared: &Prepared, rows: &'a [u64]) -> Self {
        let linear = prepared.valuer.model.of::<LinearModel>();
        let noise_sd = linear.map(|model| model.fit.noise_var().sqrt());
        Self { rows, noise_sd, values: Vec::new(), ordinary: Vec::new(), found: Vec::new() }
    }

    /// Whether each row is one that the model predicts well.
    pub(super) fn ordinary(&self) -> &[bool] {
        &self.ordinary
    }

    fn cells(&self, row: u64) -> Option<&RecordBatch> {
        self.found.iter().find(|(number, _)| *number == row).map(|(_, cells)| cells)
    }

    /// A number of the output.
    pub(super) fn number(&self, row: u64, name: &str) -> Option<f64> {
        let column = self.cells(row)?.column_by_name(name)?.as_primitive_opt::<Float64Type>()?;
        column.is_valid(0).then(|| column.value(0))
    }

    fn text(&self, row: u64, name: &str) -> Option<String> {
        let column = self.cells(row)?.column_by_name(name)?.as_string_opt::<i32>()?;
        column.is_valid(0).then(|| column.value(0).to_owned())
    }

    /// What the output says about a row.
    pub(super) fn explanation(&self, row: u64, job: &Job<'_>) -> RowExplanation {
        let value = self.number(row, VALUE);
        let is_lower = |value: f64| self.values.iter().filter(|other| **other < value).count() as u64;
        let n_valued = self.values.iter().filter(|value| !value.is_nan()).count() as u64;
        RowExplanation {
            row,
            method: job.prepared.how.method.name(),
            value,
            stderr: self.number(row, "stderr"),
            note: self.text(row, NOTE),
            rank: value.map(|value| Rank { n_lower: is_lower(value), n_valued }),
            potential: self.number(row, &Part::Potential.name()),
            penalty: self.number(row, &Part::Penalty.name()),
            target: self.target(row, job),
            value_if_predicted: None,
            distance: None,
            features: Vec::new(),
            nearest: NearestRows { among: NearestAmong::Table, k: None, rows: Vec::new() },
        }
    }

    fn target(&self, row: u64, job: &Job<'_>) -> Option<TargetFacts> {
        let name = job.prepared.design.target()?.to_owned();
        if let Some(residual) = self.number(row, &Part::Residual.name()) {
            let predicted = self.number(row, &Part::Predicted.name())?;
            return Some(TargetFacts::Number {
                name,
                actual: predicted + residual,
                predicted,
                residual,
                residual_in_deviations: self.noise_sd.map(|deviation| residual / deviation),
            });
        }
        Some(TargetFacts::Label {
            name,
            given: self.text(row, &Part::GivenLabel.name())?,
            given_probability: self.number(row, &Part::LabelProb.name()),
            suggested: self.text(row, &Part::PredictedLabel.name()),
        })
    }

    /// Whether the model predicts the rows of a batch well.
    fn look_at(&mut self, rows: &RecordBatch) {
        let column = |part: Part| rows.column_by_name(&part.name());
        let residual = column(Part::Residual).and_then(|cells| cells.as_primitive_opt::<Float64Type>());
        let given = column(Part::GivenLabel).and_then(|cells| cells.as_string_opt::<i32>());
        let predicted = column(Part::PredictedLabel).and_then(|cells| cells.as_string_opt::<i32>());
        for row in 0..rows.num_rows() {
            let is_ordinary = match (residual, self.noise_sd, given.zip(predicted)) {
                (Some(cells), Some(deviation), _) => {
                    cells.is_valid(row) && cells.value(row).abs() <= ORDINARY * deviation
                }
                (_, _, Some((given, predicted))) => {
                    given.is_valid(row) && predicted.is_valid(row) && given.value(row) == predicted.value(row)
                }
                _ => true,
            };
            self.ordinary.push(is_ordinary);
        }
    }
}

impl Receiver for Picked<'_> {
    fn begin(&mut self, _: &SchemaRef) -> Result<(), Error> {
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        let first = self.values.len() as u64;
        if let Some(values) =
            rows.column_by_name(VALUE).and_then(|cells| cells.as_primitive_opt::<Float64Type>())
        {
            self.values.extend(values.iter().map(|value| value.unwrap_or(f64::NAN)));
        }
        let in_batch = |row: &u64| (first..first + rows.num_rows() as u64).contains(row);
        for &row in self.rows.iter().filter(|row| in_batch(row)) {
            self.found.push((row, rows.slice((row - first) as usize, 1)));
        }
        self.look_at(&rows);
        Ok(())
    }
}
