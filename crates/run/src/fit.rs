//! The passes over the reference: survey if needed, then moments.

use crate::Error;
use crate::observer::{Observer, Stage};
use crate::request::{Task, ValueRequest};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use dshap::linear::{FitOptions, LinearFit};
use dshap::{MomentsBuilder, Rows};
use dshap_io::{Batch, ScanOptions, Source};
use dshap_table::{Design, Kind, ReadAs, Roles, Selection, Survey, Wanted};

/// Rows from which the task is guessed, as many as settle the column types.
const GUESS_ROWS: u64 = 10_000;

/// A fitted reference.
pub(crate) struct Fitted {
    pub(crate) design: Design,
    pub(crate) fit: LinearFit,
    pub(crate) task_guessed: bool,
    /// Rows read, those left out included.
    pub(crate) n_read: u64,
    /// How often the reference was read.
    pub(crate) n_passes: usize,
}

pub(crate) fn fit(source: &Source, request: &ValueRequest, observer: &dyn Observer) -> Result<Fitted, Error> {
    let task_guessed = settle_task(source, request)?;
    let selection = of_reference(&request.selection, source);
    let roles = Roles::settle(source.schema(), &selection).map_err(|e| Error::at(e, source, 0))?;
    let wanted: Vec<Wanted> = roles.features.iter().chain([&roles.target]).cloned().collect();

    let mut survey = Survey::new(roles, request.missing, request.unseen);
    let mut n_passes = 1;
    if survey.is_needed() {
        n_passes += 1;
        refuse_mixed_columns(source, &wanted, &request.selection.categorical)?;
        scan(source, &wanted, Stage::Survey, observer, |batch| {
            survey.look_at(&batch.rows).map_err(|e| Error::at(e, source, batch.first_row))
        })?;
    }
    let design = survey.into_design().map_err(|e| Error::at(e, source, 0))?;

    let mut moments = MomentsBuilder::new(design.n_columns());
    let n_read = scan(source, &wanted, Stage::Fit, observer, |batch| {
        let encoded = design.encode(&batch.rows).map_err(|e| Error::at(e, source, batch.first_row))?;
        let rows = Rows::new(encoded.x.as_ref(), &encoded.y).map_err(|e| Error::core(e, &design))?;
        moments.push(rows).map_err(|e| Error::core(e, &design))
    })?;
    let moments = match moments.finish() {
        Err(dshap::Error::NoRows) => return Err(Error::NothingLeft),
        finished => finished.map_err(|e| Error::core(e, &design))?,
    };
    let options = FitOptions { intercept: request.intercept, allow_dependent: request.allow_dependent };
    let fit = LinearFit::new(&moments, options).map_err(|e| Error::core(e, &design))?;
    Ok(Fitted { design, fit, task_guessed, n_read, n_passes })
}

/// What was said about columns, as far as the reference goes: what is carried
/// through to the output is the matter of the points.
fn of_reference(selection: &Selection, source: &Source) -> Selection {
    let known = |name: &String| source.schema().column(name).is_some();
    Selection {
        id: selection.id.clone().filter(known),
        by: selection.by.clone().filter(known),
        keep: Vec::new(),
        ..selection.clone()
    }
}

/// One pass over a source, watched; returns the number of rows read.
pub(crate) fn scan(
    source: &Source,
    wanted: &[Wanted],
    stage: Stage,
    observer: &dyn Observer,
    mut each: impl FnMut(Batch) -> Result<(), Error>,
) -> Result<u64, Error> {
    observer.begin(stage, source.n_bytes());
    let mut n_read = 0;
    for batch in source.scan(wanted, ScanOptions::default())? {
        if observer.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let batch = batch?;
        n_read += batch.rows.num_rows() as u64;
        let bytes = batch.bytes_read;
        each(batch)?;
        observer.advance(bytes, n_read);
    }
    observer.end();
    Ok(n_read)
}

/// Refuses text columns that are numbers but for a few cells: far more often a
/// slip of the pen than categories, and as categories they would be hundreds.
fn refuse_mixed_columns(source: &Source, wanted: &[Wanted], categorical: &[String]) -> Result<(), Error> {
    let text: Vec<Wanted> = wanted
        .iter()
        .filter(|column| column.read_as == ReadAs::Text && !categorical.contains(&column.name))
        .cloned()
        .collect();
    let mut n_numbers = vec![0; text.len()];
    let mut n_others = vec![0; text.len()];
    let mut first_other: Vec<Option<(u64, String)>> = vec![None; text.len()];
    let options = ScanOptions { limit_rows: Some(GUESS_ROWS), ..ScanOptions::default() };
    for batch in source.scan(&text, options)? {
        let batch = batch?;
        for (index, column) in batch.rows.columns().iter().enumerate() {
            for (row, cell) in column.as_string::<i32>().iter().enumerate() {
                let Some(cell) = cell else { continue };
                if cell.parse::<f64>().is_ok() {
                    n_numbers[index] += 1;
                } else {
                    n_others[index] += 1;
                    first_other[index].get_or_insert_with(|| (batch.first_row + row as u64, cell.into()));
                }
            }
        }
    }
    for (index, column) in text.into_iter().enumerate() {
        if let Some((row, text)) = first_other[index].take()
            && n_numbers[index] > n_others[index]
        {
            return Err(Error::MixedColumn { location: source.locate(row)?, name: column.name, text });
        }
    }
    Ok(())
}

/// Refuses what asks for classification; returns whether the task was guessed.
fn settle_task(source: &Source, request: &ValueRequest) -> Result<bool, Error> {
    let Some(target) = &request.selection.target else { return Ok(request.task.is_none()) };
    let Some(column) = source.schema().column(target) else { return Ok(request.task.is_none()) };
    let classification = |reason| Error::Classification { target: target.clone(), reason };
    match (request.task, &column.kind) {
        (Some(Task::Regression), _) => Ok(false),
        (Some(Task::Classification), _) => Err(classification("was named with `--task classification`")),
        (None, Kind::Text) => Err(classification("is text")),
        (None, Kind::Boolean) => Err(classification("is true or false")),
        (None, Kind::Number) if has_two_values(source, target)? => Err(classification("has two values")),
        (None, _) => Ok(true),
    }
}

fn has_two_values(source: &Source, target: &str) -> Result<bool, Error> {
    let wanted = [Wanted { name: target.into(), read_as: ReadAs::Number }];
    let options = ScanOptions { limit_rows: Some(GUESS_ROWS), ..ScanOptions::default() };
    let mut seen: Vec<f64> = Vec::new();
    for batch in source.scan(&wanted, options)? {
        let rows = batch?.rows;
        let cells = rows.column(0).as_primitive::<Float64Type>();
        for cell in (0..cells.len()).filter(|&row| cells.is_valid(row)).map(|row| cells.value(row)) {
            if !seen.contains(&cell) {
                seen.push(cell);
                if seen.len() > 2 {
                    return Ok(false);
                }
            }
        }
    }
    Ok(seen.len() == 2)
}
