//! Values of rows in memory by any method.

use super::bench::{AnyMethod, Bench};
use crate::Error;
use crate::baseline::{Baseline, Frame, Job};
use crate::choice::MethodName;
use crate::general::Held;
use crate::neighbours::value_held;
use crate::observer::Observer;
use crate::receiver::{Arrange, Collected};
use crate::request::{Against, Model, Task, ValueRequest};
use crate::said::Said;
use crate::value::value_source;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use dshap_io::Source;
use dshap_table::{Design, Labels, Selection};
use std::sync::Arc;
use std::time::Instant;

/// Values by one method.
#[derive(Debug, Clone, PartialEq)]
pub struct Timed {
    /// One for each row; NaN where there is none.
    pub value: Vec<f64>,
    /// What errors of rows cost, where the method tells.
    pub penalty: Option<Vec<f64>>,
    /// How long it took.
    pub seconds: f64,
    /// Doubts.
    pub warnings: Vec<String>,
}

/// How rows are to be valued.
struct Valuing<'a> {
    bench: &'a Bench,
    /// What the method was told.
    said: Said,
    design: &'a Design,
    rows: &'a Held,
    test: Option<&'a Held>,
    observer: &'a dyn Observer,
}

impl Bench {
    /// Values the rows by the method of that number, each against the others. `y`:
    /// other targets than their own.
    pub(super) fn values(
        &self,
        number: usize,
        y: Option<&[f64]>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Timed, Error> {
        let begun = Instant::now();
        let method = self.methods[number];
        let (design, own, test) = self.seen_by(method);
        let changed = y.map(|y| {
            let mut rows = own.clone();
            rows.y_mut().copy_from_slice(y);
            rows
        });
        let mut said = self.told.methods[number].clone();
        said.choice.seed = Some(seed);
        let rows = changed.as_ref().unwrap_or(own);
        let valuing = Valuing { bench: self, said, design, rows, test, observer };
        let valued = match method {
            AnyMethod::Valuer(name) => valuing.by_valuer(name),
            AnyMethod::Baseline(baseline) => valuing.by_baseline(baseline),
        };
        let mut timed = valued.map_err(|error| self.parts.explain(error))?;
        timed.warnings = timed.warnings.iter().map(|words| for_several(words)).collect();
        timed.seconds = begun.elapsed().as_secs_f64();
        Ok(timed)
    }
}

impl Valuing<'_> {
    fn by_baseline(&self, baseline: Baseline) -> Result<Timed, Error> {
        let (model, choice) = self.said.baseline(baseline).map_err(misplaced)?;
        if !baseline.measures() {
            let value = dshap_baselines::random(self.rows.n_rows(), choice.seed).value;
            return Ok(Timed { value, penalty: None, seconds: 0.0, warnings: Vec::new() });
        }
        let frame = Frame::of(self.rows, self.bench.task, &model, &choice, self.design)?;
        let sizes = choice.sizes(self.bench.task, &model, frame.dim(), self.rows.n_rows(), false);
        let utility = frame.utility(&self.bench.parts.test, choice.least_rows(sizes), self.design)?;
        let seen = frame.see(self.rows);
        let job = Job { choice: &choice, utility: &utility, players: &seen, points: None, sizes };
        let outcome = job.run(self.observer).map_err(|error| Error::baseline(error, self.design))?;
        let name_of = |column| self.design.column_name(column).to_string();
        let mut warnings: Vec<String> = frame.warnings().iter().map(|w| w.describe(name_of)).collect();
        let wants_rest = choice.tolerance() > 0.0;
        if let (Some(false), Some(n), true) = (outcome.converged, outcome.n_iterations, wants_rest) {
            warnings.push(format!("the means still moved after {n} iterations; `--samples` allows more"));
        }
        Ok(Timed { value: outcome.values.value, penalty: None, seconds: 0.0, warnings })
    }

    fn by_valuer(&self, name: MethodName) -> Result<Timed, Error> {
        let mut said = self.said.clone();
        said.choice.name = Some(name);
        let model = said.model().map_err(misplaced)?;
        if model.method.neighbours().is_some() {
            return self.by_neighbours(&model);
        }
        let (source, target) = self.source()?;
        // Features are numbers already, so that nothing is left of text, gaps and components.
        let plain = Model {
            selection: Selection {
                target: (self.bench.task != Task::Density).then_some(target),
                ..Selection::default()
            },
            task: Some(self.bench.task),
            positive: self.design.labels().and_then(Labels::positive),
            n_components: None,
            ..model
        };
        let against = Against::Themselves(plain);
        let request = ValueRequest { against, ..ValueRequest::new(Vec::new(), "") };
        let mut collected = Collected::new(Arrange::ByRow, None);
        let summary = value_source(&request, &source, self.observer, &mut collected)?;
        let rows = collected.arranged(Arrange::ByRow)?;
        let value = numbers(&rows, "value").unwrap_or_default();
        Ok(Timed { value, penalty: numbers(&rows, "penalty"), seconds: 0.0, warnings: summary.warnings })
    }

    fn by_neighbours(&self, model: &Model) -> Result<Timed, Error> {
        let n_classes = self.design.labels().map(Labels::n_classes);
        let (values, warnings) =
            value_held(self.rows.clone(), n_classes, self.test.cloned(), model, self.design, self.observer)?;
        Ok(Timed { value: values.value, penalty: None, seconds: 0.0, warnings })
    }

    /// Rows as a table that is read like a file, and what its target is called.
    fn source(&self) -> Result<(Source, String), Error> {
        let array = |cells: &[f64]| Arc::new(Float64Array::from(cells.to_vec())) as ArrayRef;
        let x = self.rows.x();
        let mut names: Vec<String> = Vec::with_capacity(x.ncols() + 1);
        for column in 0..x.ncols() {
            names.push(free_among(self.design.column_name(column), &names));
        }
        let target = free_among(self.design.target().unwrap_or("target"), &names);
        let mut columns: Vec<(&str, ArrayRef)> =
            names.iter().enumerate().map(|(j, name)| (name.as_str(), array(x.col_as_slice(j)))).collect();
        if self.bench.task != Task::Density {
            columns.push((&target, self.targets()));
        }
        let batch = RecordBatch::try_from_iter(columns).expect("all columns have one cell per row");
        Ok((Source::of_batches("the rows", batch.schema(), vec![batch])?, target))
    }
}

impl Valuing<'_> {
    /// Targets as the table had them: warnings name labels.
    fn targets(&self) -> ArrayRef {
        let y = self.rows.y();
        let classes = y.iter().map(|class| *class as usize);
        match self.design.labels() {
            None => Arc::new(Float64Array::from(y.to_vec())),
            Some(Labels::Numbers(labels)) => {
                Arc::new(Float64Array::from_iter_values(classes.map(|c| labels[c])))
            }
            Some(Labels::Booleans(labels)) => {
                Arc::new(BooleanArray::from(classes.map(|c| labels[c]).collect::<Vec<bool>>()))
            }
            Some(Labels::Text(labels)) => {
                Arc::new(StringArray::from_iter_values(classes.map(|c| labels[c].as_str())))
            }
        }
    }
}

/// Words about one method, where several are named by another option.
fn for_several(words: &str) -> String {
    words.replace("`--method ", "`--methods ")
}

/// A name that none of the others has.
fn free_among(name: &str, taken: &[String]) -> String {
    let mut free = name.to_string();
    while taken.contains(&free) {
        free.push('_');
    }
    free
}

fn misplaced(what: String) -> Error {
    Error::Misplaced { what }
}

/// A column of numbers, NaN where a cell is empty.
fn numbers(rows: &RecordBatch, name: &str) -> Option<Vec<f64>> {
    let cells = rows.column_by_name(name)?.as_primitive::<Float64Type>();
    Some((0..cells.len()).map(|i| if cells.is_valid(i) { cells.value(i) } else { f64::NAN }).collect())
}
