//! Saved valuers that are ready to value rows.

use crate::problem::Problem;
use crate::settings::Limits;
use crate::speech::Form;
use crate::store::{Store, What};
use crate::watch::Watch;
use crate::wire::{NoteReply, PartReply, ValueReply, ValueRequest, ValuerView};
use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch};
use dshap_catalogue::{Given, MethodKind};
use dshap_io::{Matrix, Numbers, Order, Source};
use dshap_run::{FittedValuer, ReadyValuer, Valued, Wanted};
use serde_json::{Map, Value as Json};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// Rows of one request.
const MOST_ROWS: usize = 10_000;

/// Valuers that are held ready.
const MOST_READY: usize = 16;

/// A file, so that a changed one is read again.
type Stamp = (u64, Option<SystemTime>);

/// A valuer that is ready.
#[derive(Debug)]
pub(crate) struct Ready {
    valuer: ReadyValuer,
    /// Features, then the target, if there is one.
    columns: Vec<String>,
    limits: Limits,
}

/// Valuers by name.
#[derive(Debug, Default)]
pub(crate) struct Valuers {
    ready: Mutex<HashMap<String, (Stamp, Arc<Ready>)>>,
}

impl Valuers {
    /// The valuer of that name; it is read if it is new or has changed.
    pub(crate) fn find(&self, store: &Store, name: &str, limits: Limits) -> Result<Arc<Ready>, Problem> {
        let path = store.find(What::Valuer, name)?;
        let stamp = stamp(&path);
        if let Some(ready) = self.known(name, &stamp) {
            return Ok(ready);
        }
        let valuer = ReadyValuer::new(FittedValuer::load(&path)?, None, &Given::new())?;
        let design = valuer.design();
        let columns = design.features().chain(design.target()).map(String::from).collect();
        let ready = Arc::new(Ready { valuer, columns, limits });
        let mut all = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_READY {
            all.clear();
        }
        all.insert(name.to_owned(), (stamp, Arc::clone(&ready)));
        Ok(ready)
    }

    /// The valuer, if it is ready and takes microseconds for a row.
    pub(crate) fn quick(&self, store: &Store, name: &str) -> Option<Arc<Ready>> {
        let path = store.find(What::Valuer, name).ok()?;
        self.known(name, &stamp(&path)).filter(|ready| ready.is_quick())
    }

    fn known(&self, name: &str, stamp: &Stamp) -> Option<Arc<Ready>> {
        let all = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(name).filter(|(known, _)| known == stamp).map(|(_, ready)| Arc::clone(ready))
    }

    /// What a valuer holds.
    pub(crate) fn view(&self, store: &Store, name: &str, limits: Limits) -> Result<ValuerView, Problem> {
        let ready = self.find(store, name, limits)?;
        let mut inspection = dshap_run::inspect(&store.find(What::Valuer, name)?)?;
        inspection.file = store.public(&inspection.file);
        Ok(ValuerView {
            name: name.to_owned(),
            columns: ready.columns.clone(),
            inspection: serde_json::to_value(&inspection).unwrap_or(Json::Null),
        })
    }
}

fn stamp(path: &Path) -> Stamp {
    path.metadata().map_or((0, None), |metadata| (metadata.len(), metadata.modified().ok()))
}

impl Ready {
    /// Whether a row takes microseconds: a closed form that sums over set sizes, not over rows.
    fn is_quick(&self) -> bool {
        let how = self.valuer.how();
        let is_closed = matches!(how.method.entry.kind, MethodKind::ClosedForm | MethodKind::Bound);
        is_closed && !how.method.is_of_neighbours() && self.valuer.design().target().is_some()
    }

    /// Values rows. Rows of numbers alone take the short way, which needs no table.
    pub(crate) fn value(&self, request: &ValueRequest) -> Result<ValueReply, Problem> {
        let n_rows = request.rows.len();
        if n_rows == 0 || n_rows > MOST_ROWS {
            let error = format!("{n_rows} rows cannot be valued at once: 1 to {MOST_ROWS} can");
            return Err(Problem::bad(error).hint("start a run for a larger table"));
        }
        let wanted = Wanted { leave_one_out: false, std_error: request.stderr, parts: request.parts };
        let watch = Watch::new(self.limits.run_time);
        watch.start();
        if let Some(cells) = Cells::of(&request.rows, &self.columns)
            && let Some(valued) = self.valuer.value_numbers(&cells, wanted, &watch)?
        {
            return Ok(reply(valued));
        }
        let table = self.table(&request.rows)?;
        let source = Source::of_batches("rows", table.schema(), vec![table])?;
        Ok(reply(self.valuer.value(&source, wanted, &watch)?))
    }

    /// Rows as a table with the columns that the valuer needs.
    fn table(&self, rows: &[Map<String, Json>]) -> Result<RecordBatch, Problem> {
        let columns = self.columns.iter().map(|name| Ok((name, column(rows, name)?, true)));
        let columns = columns.collect::<Result<Vec<_>, Problem>>()?;
        RecordBatch::try_from_iter_with_nullable(columns).map_err(|error| Problem::bad(error.to_string()))
    }
}

/// One cell of each row; a row without one lacks it.
fn column(rows: &[Map<String, Json>], name: &str) -> Result<ArrayRef, Problem> {
    let cells = || rows.iter().map(|row| row.get(name).filter(|cell| !cell.is_null()));
    if cells().all(|cell| cell.is_none()) {
        let error = format!("the rows have no `{name}`");
        return Err(Problem::bad(error).hint("give each row all columns of the valuer"));
    }
    if cells().flatten().all(Json::is_number) {
        return Ok(Arc::new(cells().map(|cell| cell.and_then(Json::as_f64)).collect::<Float64Array>()));
    }
    if cells().flatten().all(Json::is_boolean) {
        return Ok(Arc::new(cells().map(|cell| cell.and_then(Json::as_bool)).collect::<BooleanArray>()));
    }
    let mut texts = StringBuilder::new();
    for (row, cell) in cells().enumerate() {
        match cell {
            None => texts.append_null(),
            Some(Json::String(text)) => texts.append_value(text),
            Some(cell @ (Json::Number(_) | Json::Bool(_))) => texts.append_value(cell.to_string()),
            Some(_) => {
                let error = format!("row {row} has an array or an object as `{name}`");
                return Err(Problem::bad(error).hint("give a number, a text, true, false or null"));
            }
        }
    }
    Ok(Arc::new(texts.finish()))
}

/// Rows of numbers, column after column.
#[derive(Debug)]
struct Cells {
    cells: Vec<f64>,
    n_rows: usize,
    n_columns: usize,
}

impl Cells {
    /// `None` unless every cell is a number.
    fn of(rows: &[Map<String, Json>], columns: &[String]) -> Option<Self> {
        let mut cells = Vec::with_capacity(rows.len() * columns.len());
        for name in columns {
            for row in rows {
                cells.push(row.get(name)?.as_f64()?);
            }
        }
        Some(Self { cells, n_rows: rows.len(), n_columns: columns.len() })
    }
}

impl Numbers for Cells {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_columns(&self) -> usize {
        self.n_columns
    }

    fn copy(&self, column: usize, start: usize, out: &mut [f64]) {
        let first = column * self.n_rows + start;
        out.copy_from_slice(&self.cells[first..first + out.len()]);
    }

    fn column(&self, column: usize) -> Option<&[f64]> {
        self.cells.get(column * self.n_rows..(column + 1) * self.n_rows)
    }

    fn matrix(&self, n_columns: usize) -> Option<Matrix<'_>> {
        let cells = self.cells.get(..n_columns * self.n_rows)?;
        Some(Matrix { cells, order: Order::Columns, stride: self.n_rows })
    }
}

fn reply(valued: Valued) -> ValueReply {
    let known = |numbers: Vec<f64>| -> Vec<Option<f64>> {
        numbers.into_iter().map(|number| Some(number).filter(|number| number.is_finite())).collect()
    };
    let part = |(name, numbers)| PartReply { name, numbers: known(numbers) };
    ValueReply {
        value: known(valued.value),
        stderr: valued.std_error.map(known),
        parts: valued.parts.into_iter().map(part).collect(),
        notes: valued.notes.into_iter().map(|(row, note)| NoteReply { row, note }).collect(),
        warnings: valued.warnings.iter().map(|warning| dshap_words::warning(warning, &Form)).collect(),
    }
}
