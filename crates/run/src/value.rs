//! `value`: from files to values.

use crate::Error;
use crate::fit::{self, Fitted, fit};
use crate::observer::{Observer, Stage};
use crate::output::OutputTable;
use crate::receiver::Receiver;
use crate::request::{Method, Task, ValueRequest};
use crate::summary::{InputFile, Spread, Summary};
use dshap::linear::{Constant, Convention, LinearValuer};
use dshap::{Note, Part, Rows, Sizes, Values, Warning};
use dshap_io::Source;
use dshap_table::Design;
use std::path::PathBuf;

/// Values the points of a request; rows go to `receiver` in their own order.
///
/// Numeric tables are read twice: once for the reference's moments, once to
/// value the points. Text columns, and means for missing cells, take one more
/// pass over the reference.
///
/// # Errors
///
/// [`Error`], with nothing written that was not completed.
pub fn value(
    request: &ValueRequest,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let points = Source::open(&request.points)?;
    let reference = request.reference.as_deref().map(Source::open).transpose()?;
    for source in reference.iter().chain([&points]) {
        refuse_overwriting(source, &request.outputs)?;
    }
    let leave_one_out = reference.is_none();
    let source = reference.as_ref().unwrap_or(&points);
    let carried = request.selection.carried(points.schema()).map_err(|e| Error::at(e, &points, 0))?;

    let Fitted { design, fit, task_guessed, n_read, n_passes } = fit(source, request, observer)?;
    let n_reference = fit.n_rows();
    let p = fit.dim();
    let max_size = request.max_size.unwrap_or(n_reference);
    if request.max_size.is_none() && n_reference < p + 3 {
        let error = dshap::Error::TooFewRows { n_rows: n_reference, dim: p, needed: p + 3 };
        return Err(Error::core(error, &design));
    }
    let sizes = Sizes::new(request.min_size.unwrap_or(Sizes::default_min(p, max_size)), max_size);
    let valuer = LinearValuer::new(fit, sizes, request.method.linear())
        .map_err(|e| Error::core(e, &design))?
        .with_std_error(request.std_error);

    let mut wanted = design.wanted();
    let n_design = wanted.len();
    wanted.extend(carried);
    let carried_fields: Vec<_> = points.arrow_schema(&wanted)?.fields()[n_design..]
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    let table = OutputTable::new(
        &carried_fields,
        parts_of(request.method),
        request.std_error && has_std_error(request.method),
    );
    receiver.begin(table.schema())?;

    let mut tally = Tally::new();
    let mut n_usable = 0;
    let n_points = fit::scan(&points, &wanted, Stage::Value, observer, |batch| {
        let (design_part, rest) = split(&batch.rows, n_design);
        let encoded = design.encode(&design_part).map_err(|e| Error::at(e, &points, batch.first_row))?;
        let rows = Rows::new(encoded.x.as_ref(), &encoded.y).map_err(|e| Error::core(e, &design))?;
        let values = if leave_one_out {
            valuer.leave_one_out(rows, n_usable as u64)
        } else {
            valuer.values_from(rows, n_usable as u64)
        };
        let values = values.map_err(|e| Error::core(e, &design))?;
        n_usable += rows.len();
        tally.add(batch.rows.num_rows(), &values);
        receiver.rows(table.batch(
            batch.first_row,
            batch.rows.num_rows(),
            rest,
            &values,
            encoded.remaining.as_deref(),
        ))
    })?;
    if leave_one_out && (n_usable != n_reference || n_points != n_read) {
        return Err(Error::Changed { before: n_reference, after: n_usable });
    }

    let mut warnings = source_notes(&points, reference.as_ref());
    warnings.extend(constant_text_warning(&design));
    let mut doubts = valuer.warnings();
    doubts.extend(tally.warnings(sizes));
    warnings
        .extend(doubts.iter().map(|warning| warning.describe(|column| design.column_name(column).into())));
    warnings.extend(left_out_warning("reference", n_read as usize - n_reference, "has no part in the fit"));
    if !leave_one_out {
        warnings.extend(left_out_warning("point", n_points as usize - n_usable, "has no value"));
    }

    let fit = valuer.fit();
    let dropped = fit.dropped().iter().map(|&column| design.column_name(column).to_string());
    let (constant, convention, seed) = describe(request.method);
    Ok(Summary {
        version: env!("CARGO_PKG_VERSION"),
        task: Task::Regression.name(),
        task_guessed,
        method: request.method.name(),
        constant,
        convention,
        seed,
        target: design.target().into(),
        features: design.features().map(String::from).collect(),
        intercept: fit.intercept(),
        p,
        q: sizes.min(),
        q_default: request.min_size.is_none(),
        m: sizes.max(),
        m_default: request.max_size.is_none(),
        n_reference,
        n_points,
        leave_one_out,
        reference_passes: n_passes,
        noise_var: fit.noise_var(),
        dropped_columns: design.constant_features().map(String::from).chain(dropped).collect(),
        values: tally.spread,
        warnings,
        points: input_files(&points, request.digests)?,
        reference: reference.as_ref().map(|source| input_files(source, request.digests)).transpose()?,
    })
}

fn refuse_overwriting(source: &Source, outputs: &[PathBuf]) -> Result<(), Error> {
    // A file that does not exist yet has no canonical path and is no input.
    let outputs: Vec<PathBuf> = outputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_output =
        |file: &&str| std::fs::canonicalize(file).is_ok_and(|path| path.is_file() && outputs.contains(&path));
    match source.files().find(is_output) {
        Some(file) => Err(Error::OutputIsInput { file: file.into() }),
        None => Ok(()),
    }
}

fn split(
    rows: &arrow_array::RecordBatch,
    at: usize,
) -> (arrow_array::RecordBatch, Vec<arrow_array::ArrayRef>) {
    let first: Vec<usize> = (0..at).collect();
    let design = rows.project(&first).expect("the batch has all columns that were wanted");
    (design, rows.columns()[at..].to_vec())
}

fn parts_of(method: Method) -> Vec<Part> {
    match method {
        Method::Gaussian { .. } => vec![Part::Potential, Part::Penalty, Part::DistSq, Part::ResidSq],
        Method::Algorithm3(_) => vec![Part::DistSq, Part::ResidSq],
    }
}

fn has_std_error(method: Method) -> bool {
    matches!(method, Method::Gaussian { .. })
}

fn describe(method: Method) -> (Option<String>, &'static str, Option<u64>) {
    match method {
        Method::Gaussian { convention: Convention::Printed, .. } => (Some("theorem".into()), "printed", None),
        Method::Gaussian { constant, .. } => {
            let name = match constant {
                Constant::Gain => "gain".into(),
                Constant::Theorem => "theorem".into(),
                Constant::Full(c) => format!("full:{c}"),
            };
            (Some(name), "definition", None)
        }
        Method::Algorithm3(algorithm) => (Some("theorem".into()), "printed", Some(algorithm.seed)),
    }
}

fn source_notes(points: &Source, reference: Option<&Source>) -> Vec<String> {
    let sources = reference.into_iter().chain([points]);
    let mut notes: Vec<String> =
        sources.flat_map(|source| source.notes()).map(|note| note.to_string()).collect();
    if let Some(reference) = reference
        && let Some(shared) = points.files().find(|file| reference.files().any(|other| other == *file))
    {
        notes.push(format!(
            "`{shared}` is both points and reference: its rows are valued with themselves in the reference; \
             leave `--reference` out to value rows against the others"
        ));
    }
    notes
}

/// Rows with a missing cell, where such rows are left out.
fn left_out_warning(rows: &str, n_left_out: usize, consequence: &str) -> Option<String> {
    match n_left_out {
        0 => None,
        1 => Some(format!("1 {rows} row has a missing cell and {consequence}")),
        n => Some(format!("{n} {rows} rows have a missing cell; each {consequence}")),
    }
}

fn constant_text_warning(design: &Design) -> Option<String> {
    let names: Vec<_> = design.constant_features().map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("{} dropped: one level only", names.join(", ")))
}

fn input_files(source: &Source, digests: bool) -> Result<Vec<InputFile>, Error> {
    if !digests {
        let plain = |name: &str| InputFile { name: name.into(), bytes: None, sha256: None };
        return Ok(source.files().map(plain).collect());
    }
    let digests = source.digests()?.into_iter();
    Ok(digests
        .map(|digest| InputFile { name: digest.name, bytes: Some(digest.bytes), sha256: Some(digest.sha256) })
        .collect())
}

/// What is remembered of values that have been handed over.
struct Tally {
    spread: Spread,
    n_leverage_one: usize,
    truncation: Vec<(usize, f64)>,
}

impl Tally {
    fn new() -> Self {
        Self { spread: Spread::new(), n_leverage_one: 0, truncation: Vec::new() }
    }

    fn add(&mut self, n_rows: usize, values: &Values) {
        self.spread.add(n_rows, &values.value);
        self.n_leverage_one += values.notes.iter().filter(|(_, note)| *note == Note::LeverageOne).count();
        self.truncation.extend(values.truncation.iter().flatten().filter(|(_, share)| share.is_finite()));
    }

    fn warnings(&mut self, sizes: Sizes) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.n_leverage_one > 0 {
            warnings.push(Warning::LeverageOne { n_rows: self.n_leverage_one });
        }
        if !self.truncation.is_empty() {
            let middle = self.truncation.len() / 2;
            let n_visited = self.truncation.select_nth_unstable_by_key(middle, |row| row.0).1.0;
            let share = self.truncation.select_nth_unstable_by(middle, |a, b| a.1.total_cmp(&b.1)).1.1;
            if n_visited < sizes.count() {
                warnings.push(Warning::Truncated { n_visited, n_sizes: sizes.count(), share });
            }
        }
        warnings
    }
}
