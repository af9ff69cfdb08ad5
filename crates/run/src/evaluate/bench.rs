//! Rows in memory, and values of them by any method.

use crate::Error;
use crate::baseline::{AnyUtility, Baseline, BaselineChoice, Frame, Job, Parts, Points};
use crate::choice::{MethodChoice, MethodName};
use crate::general::Held;
use crate::memory::Budget;
use crate::observer::Observer;
use crate::overwriting::refuse_overwriting;
use crate::receiver::{Arrange, Collected};
use crate::reference::learn_design;
use crate::request::{Against, Model, Resources, Task, ValueRequest};
use crate::value::value_source;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use dshap_evaluate::Kind;
use dshap_io::Source;
use dshap_table::{Design, Labels, Selection};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What the target is called among columns that are called by their numbers.
const TARGET: &str = "target";

/// A method of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyMethod {
    /// One that values rows by what was fitted to the others.
    Valuer(MethodName),
    /// One that fits models to sets of them.
    Baseline(Baseline),
}

impl AnyMethod {
    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            AnyMethod::Valuer(name) => name.word(),
            AnyMethod::Baseline(baseline) => baseline.word(),
        }
    }

    /// The method of that name.
    pub fn parse(word: &str) -> Option<Self> {
        let baseline = Baseline::parse(word).map(AnyMethod::Baseline);
        baseline.or_else(|| MethodName::parse(word).map(AnyMethod::Valuer))
    }
}

/// Rows, and the methods they are to be valued by.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRequest {
    /// Files with the rows.
    pub points: Vec<String>,
    /// Files with the rows that utility is measured on; else one row in five.
    pub test: Vec<String>,
    /// Which column plays which part, how sets are fitted, and set sizes. Its
    /// method is not looked at.
    pub model: Model,
    /// The methods.
    pub methods: Vec<AnyMethod>,
    /// What was said about baselines; which one does not matter.
    pub options: BaselineChoice,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits.
    pub resources: Resources,
}

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

/// Rows in memory.
pub(super) struct Bench<'a> {
    request: &'a BenchRequest,
    pub(super) design: Design,
    pub(super) task: Task,
    pub(super) task_guessed: bool,
    pub(super) points: Points,
    pub(super) parts: Parts,
}

impl<'a> Bench<'a> {
    pub(super) fn read(request: &'a BenchRequest, observer: &dyn Observer) -> Result<Self, Error> {
        let model = &request.model;
        if model.selection.weight.is_some() {
            let what = "`--weight` does not go with baselines: sets are of rows, which count alike";
            return Err(Error::Misplaced { what: what.into() });
        }
        let source = Source::open(&request.points)?;
        refuse_overwriting(&source, &request.outputs)?;
        let budget = Budget::new(request.resources.memory);
        let (design, task, task_guessed) = learn_design(&source, model, budget, observer)?;
        request.options.check_task(task, model)?;
        let points = Points::read(&source, &design, &model.selection, budget, observer)?;
        let test = match request.test.is_empty() {
            true => None,
            false => {
                let test = Source::open(&request.test)?;
                refuse_overwriting(&test, &request.outputs)?;
                Some(Held::read(&test, &design, budget, observer)?)
            }
        };
        let parts = Parts::split(&points.rows, None, test, request.options.seed, &design)?;
        Ok(Self { request, design, task, task_guessed, points, parts })
    }

    /// What targets are.
    pub(super) fn kind(&self) -> Kind {
        match self.task {
            Task::Classification => Kind::Labels(self.design.labels().map_or(2, Labels::n_classes)),
            Task::Regression | Task::Density => Kind::Numbers,
        }
    }

    /// How sets of `players` are measured along orders.
    pub(super) fn utility(&self, players: &Held) -> Result<(AnyUtility, Held, &'static str), Error> {
        let frame = Frame::of(players, self.task, &self.request.model, &self.request.options, &self.design)?;
        // Without a ridge, as many rows as columns fit anything.
        let least_rows = match (self.task, frame.ridge()) {
            (Task::Regression, Some(0.0)) => frame.dim() + 1,
            _ => 1,
        };
        let utility = frame.utility(&self.parts.test, least_rows, &self.design)?;
        Ok((utility, frame.see(players), frame.utility_name()))
    }

    /// Values `players`, each against the others.
    pub(super) fn values(
        &self,
        method: AnyMethod,
        players: &Held,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Timed, Error> {
        let begun = Instant::now();
        let mut timed = match method {
            AnyMethod::Valuer(name) => self.by_valuer(name, players, seed, observer)?,
            AnyMethod::Baseline(baseline) => self.by_baseline(baseline, players, seed, observer)?,
        };
        timed.seconds = begun.elapsed().as_secs_f64();
        Ok(timed)
    }

    fn by_baseline(
        &self,
        baseline: Baseline,
        players: &Held,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Timed, Error> {
        let mut choice = BaselineChoice { baseline, seed, ..self.request.options.clone() };
        if !baseline.draws() {
            (choice.samples, choice.stop) = (None, None);
        }
        let model = &self.request.model;
        let frame = Frame::of(players, self.task, model, &choice, &self.design)?;
        let mut sized = model.clone();
        if baseline != Baseline::DShapley {
            sized.sizes.max = None;
        }
        let sizes = choice.sizes(self.task, &sized, frame.dim(), players.n_rows(), false);
        let utility = frame.utility(&self.parts.test, choice.least_rows(sizes), &self.design)?;
        let seen = frame.see(players);
        let job = Job { choice: &choice, utility: &utility, players: &seen, points: None, sizes };
        let outcome = job.run(observer).map_err(|error| Error::baseline(error, &self.design))?;
        let mut warnings = Vec::new();
        if let (Some(false), Some(n)) = (outcome.converged, outcome.n_iterations) {
            warnings.push(format!("the means still moved after {n} iterations; `--samples` allows more"));
        }
        Ok(Timed { value: outcome.values.value, penalty: None, seconds: 0.0, warnings })
    }

    fn by_valuer(
        &self,
        name: MethodName,
        players: &Held,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Timed, Error> {
        let model = &self.request.model;
        // In regression some methods take a ridge, in classification every fit does.
        let takes_ridge = matches!(name, MethodName::General | MethodName::Lower | MethodName::Upper);
        let of_fit = self.task == Task::Classification;
        let ridge = self.request.options.ridge;
        let of_method = ridge.filter(|_| takes_ridge && !of_fit);
        let method =
            MethodChoice { name: Some(name), seed: Some(seed), ridge: of_method, ..MethodChoice::default() }
                .settle()
                .map_err(|what| Error::Misplaced { what })?
                .unwrap_or_default();
        // Rows are numbers already, so that nothing is left of text and gaps.
        let plain = Model {
            selection: Selection {
                target: (self.task != Task::Density).then(|| TARGET.into()),
                ..Selection::default()
            },
            task: Some(self.task),
            method,
            ridge: ridge.filter(|_| of_fit),
            sizes: model.sizes,
            fit: model.fit,
            density: model.density,
            ..Model::new("")
        };
        let against = Against::Themselves(plain);
        let request = ValueRequest { against, ..ValueRequest::new(Vec::new(), "") };
        let source = self.source(players)?;
        let mut collected = Collected::new(Arrange::ByRow, None);
        let summary = value_source(&request, &source, observer, &mut collected)?;
        let rows = collected.arranged(Arrange::ByRow)?;
        let value = numbers(&rows, "value").unwrap_or_default();
        Ok(Timed { value, penalty: numbers(&rows, "penalty"), seconds: 0.0, warnings: summary.warnings })
    }

    /// Rows as a table that is read like a file.
    fn source(&self, rows: &Held) -> Result<Source, Error> {
        let array = |cells: &[f64]| Arc::new(Float64Array::from(cells.to_vec())) as ArrayRef;
        let x = rows.x();
        let mut columns: Vec<(String, ArrayRef)> =
            (0..x.ncols()).map(|j| (format!("column_{j}"), array(x.col_as_slice(j)))).collect();
        if self.task != Task::Density {
            columns.push((TARGET.into(), array(rows.y())));
        }
        let batch = RecordBatch::try_from_iter(columns).expect("all columns have one cell per row");
        Ok(Source::of_batches("the rows", batch.schema(), vec![batch])?)
    }
}

/// A column of numbers, NaN where a cell is empty.
fn numbers(rows: &RecordBatch, name: &str) -> Option<Vec<f64>> {
    let cells = rows.column_by_name(name)?.as_primitive::<Float64Type>();
    Some((0..cells.len()).map(|i| if cells.is_valid(i) { cells.value(i) } else { f64::NAN }).collect())
}
