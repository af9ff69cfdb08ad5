//! What one run does: from a request to rows that can be looked at.

use crate::form::{self, Asked};
use crate::held::{HeldRows, Holding};
use crate::kept;
use crate::problem::Problem;
use crate::runs::{Finished, Work};
use crate::settings::Limits;
use crate::speech::Form;
use crate::store::Store;
use crate::watch::Watch;
use crate::wire::{ResultView, RunRequest};
use dshap_catalogue::options::{BY, ID, KEEP, TARGET};
use dshap_catalogue::{Given, Value};
use dshap_report::{Findings, Gathered, Report};
use dshap_run::{Error, Resources, Summary, ValueRequest, quantile};
use dshap_words::run_words::describe;
use serde_json::Value as Json;
use std::sync::{Arc, OnceLock};

/// Tables up to this size keep all columns beside their values; of larger ones only those
/// asked for, and the target.
const SMALL_TABLE: u64 = 32 << 20;

/// More columns nobody looks at.
const MOST_COLUMNS: usize = 200;

/// Values tables.
#[derive(Debug)]
pub(crate) struct Valuing {
    pub(crate) store: Arc<Store>,
    pub(crate) limits: Limits,
    pub(crate) threads: usize,
}

impl Work for Valuing {
    fn carry_out(&self, request: &RunRequest, watch: &Watch) -> Result<Finished, Problem> {
        let asked = Asked::of(request, &self.store)?;
        // Each run has its own threads, and the system divides the cores between runs.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|_| Problem::own_fault())?;
        pool.install(|| self.value(request, &asked, watch))
            .map_err(|error| Problem::of(&error).map(|text| self.store.public(text)))
    }

    fn keep(&self, id: &str, request: &RunRequest, finished: &Finished) {
        if let Some(folder) = self.store.runs_folder()
            && let Err(reason) = kept::save(&folder.join(id), request, finished)
        {
            eprintln!("warning: {id} was not kept: {reason}");
        }
    }

    fn forget(&self, id: &str) {
        if let Some(folder) = self.store.runs_folder() {
            kept::remove(&folder.join(id));
        }
    }
}

impl Valuing {
    fn value(&self, request: &RunRequest, asked: &Asked, watch: &Watch) -> Result<Finished, Error> {
        let table = asked.table.display().to_string();
        let source = dshap_run::open_given(std::slice::from_ref(&table), &asked.given, &[])?;
        let columns = Carried::of(&asked.given, &source);
        let memory = Some(self.limits.memory_bytes);
        let value_request = ValueRequest {
            points: vec![table],
            valuer: asked.valuer.clone(),
            method: asked.method,
            given: asked.given.clone().with(&KEEP, Value::List(columns.keep.clone())),
            digests: true,
            outputs: Vec::new(),
            resources: Resources { memory, checkpoint: None },
        };
        let by = asked.given.word(&BY);
        let most = dshap_run::held_bytes(memory).unwrap_or(u64::MAX);
        let mut holding = Holding::new(by, columns.asked, columns.all, columns.numbers, most);
        let summary = dshap_run::value(&value_request, watch, &mut holding)?;
        let (rows, gathered) = holding.finish()?;
        self.finished(request, by, &summary, rows, &gathered)
    }

    fn finished(
        &self,
        request: &RunRequest,
        by: Option<&str>,
        summary: &Summary,
        rows: HeldRows,
        gathered: &Gathered,
    ) -> Result<Finished, Error> {
        let told = Told::of(&self.store, &with_exact_quartiles(summary, &rows));
        let report = told.page(request, gathered, &Findings::default())?;
        let Told { summary, described, warnings } = told;
        let result = ResultView {
            rows: rows.n_rows() as u64,
            columns: rows.columns(),
            owner_column: by.map(String::from),
            described: described.lines().map(String::from).collect(),
            warnings,
            command: form::command(request),
            summary: serde_json::to_value(&summary).unwrap_or(Json::Null),
        };
        Ok(Finished {
            result,
            rows,
            report,
            full_report: OnceLock::new(),
            game: OnceLock::new(),
            seconds: 0.0,
        })
    }
}

/// The same, with the quartiles of all values, which are at hand here.
fn with_exact_quartiles(summary: &Summary, rows: &HeldRows) -> Summary {
    let mut summary = summary.clone();
    if summary.values.quartiles_of.take().is_some()
        && let Some(values) = rows.numbers("value")
    {
        let mut sorted: Vec<f64> = values.iter().flatten().filter(|value| !value.is_nan()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        summary.values.quartiles = Some([0.25, 0.5, 0.75].map(|share| quantile(&sorted, share)));
    }
    summary
}

/// What ran, without the folders of the server.
pub(crate) struct Told {
    pub(crate) summary: Summary,
    described: String,
    warnings: Vec<String>,
}

impl Told {
    pub(crate) fn of(store: &Store, summary: &Summary) -> Self {
        let public = |text: String| store.public(&text);
        let warnings =
            summary.warnings.iter().map(|warning| public(dshap_words::warning(warning, &Form))).collect();
        let described = public(describe(summary));
        let mut summary = summary.clone();
        let files = [Some(&mut summary.points), summary.reference.as_mut(), summary.test.as_mut()];
        for file in files.into_iter().flatten().flatten().chain(summary.valuer.as_mut()) {
            file.name = public(std::mem::take(&mut file.name));
        }
        Self { summary, described, warnings }
    }

    /// The page of `dshap report`.
    pub(crate) fn page(
        &self,
        request: &RunRequest,
        rows: &Gathered,
        findings: &Findings,
    ) -> Result<String, Error> {
        Report {
            title: request.table.rsplit('/').next().unwrap_or_default(),
            summary: &self.summary,
            described: &self.described,
            warnings: &self.warnings,
            command: &form::command(request).replacen("dshap value", "dshap report", 1),
            rows,
            findings,
        }
        .page()
    }
}

/// Columns that are carried through beside the values.
struct Carried {
    /// What `keep` is set to.
    keep: Vec<String>,
    /// How many of the carried columns were asked for; the others come along.
    asked: usize,
    /// How many columns are carried.
    all: usize,
    /// Whether each carried column holds numbers.
    numbers: Vec<bool>,
}

impl Carried {
    fn of(given: &Given, source: &dshap_io::Source) -> Self {
        let schema = source.schema();
        let named = |option| given.word(option).map(String::from);
        let mut carried: Vec<String> = Vec::new();
        let target = named(&TARGET).filter(|name| schema.column(name).is_some());
        let named = named(&ID).into_iter().chain(named(&BY)).chain(given.list(&KEEP).to_vec()).chain(target);
        for name in named {
            add(&mut carried, name);
        }
        let asked = carried.len();
        if source.n_bytes() <= SMALL_TABLE && schema.columns.len() <= MOST_COLUMNS {
            for name in schema.names() {
                add(&mut carried, name.to_owned());
            }
        }
        // Text of a file with decimal commas stays text.
        let has_points = !dshap_run::reading(given).decimal_comma;
        let is_number = |name: &String| {
            let kind = schema.column(name).map(|column| &column.kind);
            has_points && matches!(kind, Some(dshap_table::Kind::Number | dshap_table::Kind::Boolean))
        };
        let numbers = carried.iter().map(is_number).collect();
        Self { asked, all: carried.len(), numbers, keep: carried }
    }
}

fn add(carried: &mut Vec<String>, name: String) {
    if !carried.contains(&name) {
        carried.push(name);
    }
}
