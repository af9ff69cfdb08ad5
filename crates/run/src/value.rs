//! `value`: from files to values.

use crate::Error;
use crate::checkpoint::Checkpoint;
use crate::fitted::{Extras, RowValuer};
use crate::general::{Held, draw, slice};
use crate::memory::Budget;
use crate::neighbour_choice::TestTable;
use crate::neighbours::value_neighbours;
use crate::observer::{Observer, Stage};
use crate::output::OutputTable;
use crate::overwriting::refuse_overwriting;
use crate::passes::Pass;
use crate::receiver::Receiver;
use crate::reference::{RowCounts, learn, rows_of};
use crate::request::{Against, Method, Model, Overrides, SizeChoice, Task, ValueRequest};
use crate::sample::RowSample;
use crate::saved::{SavedValuer, files_in};
use crate::sets::summary_of_sets;
use crate::summary::{ExtraPass, Facts, InputFile, Spread, Summary};
use crate::warnings;
use dshap::linear::{GeneralOptions, GeneralValues};
use dshap::{Note, Part, Rows, Sizes, Values, Warning};
use dshap_io::Source;
use dshap_table::{Design, Encoded, Selection};
use faer::Mat;
use std::path::Path;
use std::time::{Duration, Instant};

/// A slice of rows that takes longer is long enough.
const PATIENCE: Duration = Duration::from_millis(50);

/// More sets than this that determine no coefficients deserve a warning.
const MANY_SINGULAR: f64 = 0.01;

/// Values the points of a request; rows go to `receiver` in their own order.
///
/// Numeric tables of a regression are read twice: once for the reference's
/// moments, once to value the points. A logistic fit takes a pass for the labels
/// and one for each of its steps. Text columns, and means for missing cells, take one more
/// pass over the reference. With a saved valuer the points are read once.
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
    refuse_overwriting(&points, &request.outputs)?;
    value_source(request, &points, observer, receiver)
}

/// The same with the points at hand.
pub(crate) fn value_source(
    request: &ValueRequest,
    points: &Source,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let prepared = prepare(request, points, observer)?;
    let task = prepared.valuer.task();
    if request.per_class && task != Task::Classification {
        let what = format!("`--per-class` is for classification: a {} has no labels", task.name());
        return Err(Error::Misplaced { what });
    }
    match &request.sets {
        None => value_prepared(request, points, &prepared, observer, receiver),
        Some(sets) => summary_of_sets(request, sets, points, &prepared, observer, receiver),
    }
}

/// Values points with everything prepared; what the request says of both does
/// not matter any more.
pub(crate) fn value_prepared(
    request: &ValueRequest,
    points: &Source,
    prepared: &Prepared,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    if let Some(model) = prepared.valuer.model.neighbours() {
        return value_neighbours(request, points, prepared, model, observer, receiver);
    }
    let Prepared { valuer, design, method, choice, selection, learned, reference } = prepared;
    let carried = selection.carried(points.schema()).map_err(|e| Error::at(e, points, 0))?;
    let leave_one_out = request.against.is_leave_one_out();
    let drawn_bytes = if request.std_error { valuer.model.drawn_bytes(*method) } else { 0 };
    let engine = match method {
        Method::General(options) => Engine::Drawing(*options, Vec::new()),
        _ => {
            let extras = Extras { std_error: request.std_error, by_class: request.per_class };
            Budget::new(request.resources.memory).check_held(drawn_bytes, 1.0)?;
            Engine::Rows(valuer.row_valuer(*method, *choice, extras)?)
        }
    };

    let mut wanted = if leave_one_out { design.wanted_of_reference() } else { design.wanted() };
    let n_design = wanted.len();
    wanted.extend(carried);
    let carried_fields: Vec<_> = points.arrow_schema(&wanted)?.fields()[n_design..]
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    let with_std_error = request.std_error && method.has_std_error();
    let parts = valuer.model.parts(*method, request.per_class);
    let table = OutputTable::new(&carried_fields, &parts, design, with_std_error);
    receiver.begin(table.schema())?;

    let (mut engine, mut tally) = (engine, Tally::new());
    let (mut n_usable, mut bytes_before) = (0_u64, 0_u64);
    let held = receiver.held_bytes(table.schema().fields().len());
    let budget =
        Budget::new(request.resources.memory).reserving(held + valuer.model.held_bytes() + drawn_bytes);
    let options = budget.scan_options(points, &wanted, design.n_encoded())?;
    let pass = Pass { source: points, wanted: &wanted, options, stage: Stage::Value, observer };
    let mut spare = Mat::new();
    let n_points = pass.run(|batch| {
        let (design_part, rest) = split(&batch.rows, n_design);
        let encoded = design.encode_into(std::mem::replace(&mut spare, Mat::new()), &design_part);
        let encoded = encoded.map_err(|e| Error::at(e, points, batch.first_row))?;
        let rows = rows_of(&encoded, design)?;
        let first_usable = n_usable;
        n_usable += rows.len() as u64;
        let values = match &mut engine {
            Engine::Rows(row_valuer) => {
                let mut all = Values::default();
                // Rows that take long are told of as they are done, in bytes of their batch.
                let bytes = batch.bytes_read.saturating_sub(bytes_before);
                value_in_slices(row_valuer, rows, first_usable, leave_one_out, observer, |values| {
                    join(&mut all, values);
                    let share = all.len() as f64 / rows.len().max(1) as f64;
                    let done = bytes_before + (bytes as f64 * share) as u64;
                    observer.advance(done, batch.first_row + all.len() as u64);
                })
                .map(|()| all)
            }
            Engine::Drawing(_, waiting) => {
                let (first_row, n_rows) = (batch.first_row, batch.rows.num_rows());
                waiting.push(Waiting { first_row, n_rows, carried: rest, encoded });
                return Ok(());
            }
        };
        let values = values.map_err(|e| Error::core(e, design))?;
        bytes_before = batch.bytes_read;
        tally.add(batch.rows.num_rows(), &values);
        receiver.rows(table.batch(
            batch.first_row,
            batch.rows.num_rows(),
            rest,
            &values,
            encoded.remaining.as_deref(),
        ))?;
        spare = encoded.x;
        Ok(())
    })?;
    if let Some(learned) = learned
        && leave_one_out
        && (n_usable, n_points) != (learned.rows.n_usable, learned.rows.n_read)
    {
        return Err(Error::Changed { before: learned.rows.n_usable, after: n_usable });
    }

    // A valuer at hand was fitted before, and what there is to say of that was said.
    let is_fitted = matches!(request.against, Against::Fitted { .. });
    let (doubts, sizes, rounds) = match engine {
        Engine::Rows(row_valuer) if is_fitted => (Vec::new(), row_valuer.sizes(), None),
        Engine::Rows(row_valuer) => {
            let mut doubts = row_valuer.warnings(design);
            doubts.extend(valuer.doubts_of_density());
            (doubts, row_valuer.sizes(), None)
        }
        Engine::Drawing(options, waiting) => {
            let sizes = valuer.sizes(*method, *choice)?;
            let reference = if leave_one_out { None } else { valuer.model.rows() };
            let (drawn, doubts) = value_waiting(
                waiting,
                reference,
                valuer,
                sizes,
                (options, request.per_class),
                observer,
                |rows, values| {
                    tally.add(rows.n_rows, &values);
                    let remaining = rows.remaining.as_deref();
                    receiver.rows(table.batch(rows.first_row, rows.n_rows, rows.carried, &values, remaining))
                },
            )?;
            (doubts, sizes, Some(drawn))
        }
    };
    if let Some(checkpoint) = learned.as_ref().and_then(|learned| learned.checkpoint.as_ref()) {
        checkpoint.remove();
    }

    let mut said = warnings::of_sources(points, reference.as_ref().filter(|_| !is_fitted));
    if let Against::Valuer { file, .. } = &request.against {
        said.extend(warnings::of_points_in_reference(points, &files_in(&valuer.history), file)?);
    } else if !is_fitted {
        said.extend(warnings::of_constant_text(design));
    }
    said.extend(doubts);
    if request.per_class && design.labels().is_some_and(|labels| labels.n_classes() == 2) && !is_fitted {
        said.push("two labels are told apart by one fit: `--per-class` has nothing to add".into());
    }
    if request.per_class && !is_fitted && !parts.iter().any(|part| matches!(part, Part::ValueOf(_))) {
        said.extend(warnings::of_whole_values(design));
    }
    if leave_one_out {
        said.extend(warnings::of_large_sets(*method, sizes, valuer.model.n_rows()));
    }
    said.extend(warnings::in_words(&tally.warnings(sizes), design));
    if let (Some(Drawn { n_rounds, reached: false, .. }), Method::General(options)) = (&rounds, method) {
        said.push(format!(
            "after {n_rounds} rounds the errors of the draws are still above {} % of the spread of values; \
             `--samples` allows more rounds, `--stop` larger errors",
            100.0 * options.tolerance
        ));
    }
    if let Some(Drawn { singular_share, .. }) = &rounds
        && *singular_share > MANY_SINGULAR
    {
        said.push(format!(
            "{:.0} % of the sets drawn did not determine the coefficients and were drawn again: values average \
             over the others; a larger `--q`{} avoids that",
            100.0 * singular_share,
            if design.labels().is_some() { "" } else { " or a `--ridge`" }
        ));
    }
    if !is_fitted {
        said.extend(warnings::of_labels(valuer, *method, sizes));
    }
    said.extend(warnings::of_swallowed_digits(*method, &tally.spread));
    if with_std_error {
        said.extend(warnings::of_rough_errors(valuer));
    }
    if let Some(learned) = learned {
        said.extend(warnings::of_other_inputs(valuer, *method, *choice, &learned.sample)?);
        let n_left_out = learned.rows.n_left_out();
        said.extend(warnings::of_rows_left_out("reference", n_left_out, "has no part in the fit"));
    }
    if !leave_one_out {
        said.extend(warnings::of_rows_left_out("point", n_points - n_usable, "has no value"));
    }

    Ok(Summary {
        version: env!("CARGO_PKG_VERSION"),
        facts: Facts::of(valuer, *method, *choice)?,
        n_points,
        leave_one_out,
        reference_passes: learned.as_ref().map_or(0, |learned| learned.n_passes),
        extra_passes: learned.as_ref().map_or(Vec::new(), |learned| learned.extra_passes.clone()),
        rounds: rounds.map(|drawn| drawn.n_rounds),
        n_sets: None,
        values: tally.spread,
        warnings: said,
        points: InputFile::of(points, request.digests)?,
        reference: reference.as_ref().map(|source| InputFile::of(source, request.digests)).transpose()?,
        valuer: match &request.against {
            Against::Valuer { file, .. } => Some(InputFile::of_valuer(file, request.digests)?),
            _ => None,
        },
    })
}

/// Values rows slice by slice where they take long, so that a run can be
/// interrupted.
pub(crate) fn value_in_slices(
    row_valuer: &RowValuer,
    rows: Rows<'_>,
    first_row: u64,
    leave_one_out: bool,
    observer: &dyn Observer,
    mut each: impl FnMut(Values),
) -> Result<(), dshap::Error> {
    // How long a row of Algorithm 3 takes depends on everything, so it is measured.
    let at_once = rayon::current_num_threads() * row_valuer.fewest_rows();
    let mut len = if row_valuer.is_slow() { at_once } else { rows.len() };
    let mut start = 0;
    while start < rows.len() {
        if start > 0 && observer.is_interrupted() {
            return Err(dshap::Error::Interrupted);
        }
        let slice = rows.slice(start, len.min(rows.len() - start));
        let begun = Instant::now();
        let first_row = first_row + start as u64;
        each(row_valuer.values(slice, first_row, leave_one_out)?);
        start += slice.len();
        if begun.elapsed() < PATIENCE {
            len *= 2;
        }
    }
    Ok(())
}

/// Values of the rows after those of `all`.
fn join(all: &mut Values, more: Values) {
    if all.is_empty() {
        *all = more;
        return;
    }
    let n_before = all.len();
    all.value.extend(more.value);
    if let (Some(all), Some(more)) = (&mut all.std_error, more.std_error) {
        all.extend(more);
    }
    for ((_, all), (_, more)) in all.parts.iter_mut().zip(more.parts) {
        all.extend(more);
    }
    all.notes.extend(more.notes.into_iter().map(|(row, note)| (n_before + row, note)));
    if let (Some(all), Some(more)) = (&mut all.truncation, more.truncation) {
        all.extend(more);
    }
}

/// What makes values of rows.
enum Engine {
    Rows(RowValuer),
    /// All rows are read before any is valued.
    Drawing(GeneralOptions, Vec<Waiting>),
}

/// A batch that waits for its values.
pub(crate) struct Waiting {
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    pub(crate) carried: Vec<arrow_array::ArrayRef>,
    pub(crate) encoded: Encoded,
}

/// The same without its numbers.
pub(crate) struct Placed {
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    pub(crate) carried: Vec<arrow_array::ArrayRef>,
    pub(crate) remaining: Option<Vec<usize>>,
}

impl Waiting {
    /// Where the values go, and the numbers they are made of.
    pub(crate) fn apart(self) -> (Placed, Encoded) {
        let Waiting { first_row, n_rows, carried, mut encoded } = self;
        let remaining = encoded.remaining.take();
        (Placed { first_row, n_rows, carried, remaining }, encoded)
    }
}

/// What the draws took.
struct Drawn {
    n_rounds: usize,
    reached: bool,
    singular_share: f64,
}

/// Values all batches at once and hands them over one by one.
fn value_waiting(
    waiting: Vec<Waiting>,
    reference: Option<&Held>,
    valuer: &SavedValuer,
    sizes: Sizes,
    options: (GeneralOptions, bool),
    observer: &dyn Observer,
    mut each: impl FnMut(Placed, Values) -> Result<(), Error>,
) -> Result<(Drawn, Vec<String>), Error> {
    let mut places = Vec::with_capacity(waiting.len());
    let mut batches = Vec::with_capacity(waiting.len());
    for (place, encoded) in waiting.into_iter().map(Waiting::apart) {
        places.push((place, encoded.y.len()));
        batches.push(encoded);
    }
    let points = Held::new(batches, valuer.design.n_columns(), &valuer.design)?;
    let drawn = match reference {
        Some(reference) => {
            draw(&valuer.model, &valuer.design, reference, Some(&points), sizes, options, observer)
        }
        None => draw(&valuer.model, &valuer.design, &points, None, sizes, options, observer),
    };
    let (drawn, doubts) = drawn.map_err(|e| Error::core(e, &valuer.design))?;
    let mut start = 0;
    for (place, n_usable) in places {
        each(place, slice(&drawn.values, start, n_usable))?;
        start += n_usable;
    }
    let GeneralValues { n_rounds, reached, singular_share, .. } = drawn;
    Ok((Drawn { n_rounds, reached, singular_share }, doubts))
}

/// What is needed before the first point is read.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) valuer: SavedValuer,
    /// As the valuer's, with policies for these points.
    pub(crate) design: Design,
    pub(crate) method: Method,
    pub(crate) choice: SizeChoice,
    pub(crate) selection: Selection,
    /// If a reference was read for it.
    pub(crate) learned: Option<Passes>,
    pub(crate) reference: Option<Source>,
}

#[derive(Debug)]
pub(crate) struct Passes {
    pub(crate) rows: RowCounts,
    pub(crate) n_passes: usize,
    pub(crate) extra_passes: Vec<ExtraPass>,
    sample: RowSample,
    checkpoint: Option<Checkpoint>,
}

fn prepare(request: &ValueRequest, points: &Source, observer: &dyn Observer) -> Result<Prepared, Error> {
    let (source, model) = match &request.against {
        Against::Themselves(model) => (None, model),
        Against::Reference { files, model } => {
            let source = Source::open(files)?;
            refuse_overwriting(&source, &request.outputs)?;
            (Some(source), model)
        }
        Against::Valuer { file, overrides } => return prepare_saved(file, overrides, points),
        Against::Fitted { .. } => return Err(Error::NotAtHand),
    };
    // That a column to be carried through is missing is known before any pass.
    model.selection.carried(points.schema()).map_err(|e| Error::at(e, points, 0))?;
    let budget = Budget::new(request.resources.memory);
    let checkpoint = request.resources.checkpoint.as_ref();
    let test = TestTable::open(model, &request.outputs, request.digests)?;
    let mut learned = learn(source.as_ref().unwrap_or(points), test, model, budget, checkpoint, observer)?;
    let checkpoint = learned.checkpoint.take();
    // Rows that are their own reference are there already.
    let needs_pass = |pass: &ExtraPass| *pass != ExtraPass::Rows || source.is_some();
    let again = learned.model.lacks(learned.method).filter(needs_pass);
    let n_passes = learned.n_passes + usize::from(again.is_some());
    let extra_passes = learned.extra_passes.iter().copied().chain(again).collect();
    let mut passes =
        Passes { rows: learned.rows, n_passes, extra_passes, sample: learned.sample.clone(), checkpoint };
    let reference = source.as_ref().unwrap_or(points);
    let mut valuer = SavedValuer::new(learned, model, reference, Vec::new())?;
    if again.is_some() {
        valuer = valuer.completed(reference, budget, observer)?;
        passes.n_passes += valuer.model.n_more_passes();
    }
    let Model { sizes, selection, .. } = model.clone();
    Ok(Prepared {
        design: valuer.design.clone(),
        method: valuer.method,
        valuer,
        choice: sizes,
        selection,
        learned: Some(passes),
        reference: source,
    })
}

fn prepare_saved(file: &Path, overrides: &Overrides, points: &Source) -> Result<Prepared, Error> {
    let valuer = SavedValuer::load(file)?;
    let method = valuer.method_over(overrides.method)?;
    if let (Method::General(_), None) = (method, valuer.model.rows()) {
        return Err(Error::NoRowsToDraw);
    }
    let wanted = valuer.design.wanted();
    Error::unless_has_columns(points, &wanted, file)?;
    let Overrides { id, by, keep, missing, unseen, sizes, .. } = overrides.clone();
    let design = valuer.design.with_policies(missing, unseen, |column| valuer.model.mean(column));
    Ok(Prepared {
        design,
        method,
        choice: sizes.or(valuer.choice),
        selection: Selection { id, by, keep, ..Selection::default() },
        valuer,
        learned: None,
        reference: None,
    })
}

pub(crate) fn split(
    rows: &arrow_array::RecordBatch,
    at: usize,
) -> (arrow_array::RecordBatch, Vec<arrow_array::ArrayRef>) {
    let first: Vec<usize> = (0..at).collect();
    let design = rows.project(&first).expect("the batch has all columns that were wanted");
    (design, rows.columns()[at..].to_vec())
}

/// What is remembered of values that have been handed over.
pub(crate) struct Tally {
    pub(crate) spread: Spread,
    n_leverage_one: usize,
    n_too_far: usize,
    truncation: Vec<(usize, f64)>,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self { spread: Spread::new(), n_leverage_one: 0, n_too_far: 0, truncation: Vec::new() }
    }

    pub(crate) fn add(&mut self, n_rows: usize, values: &Values) {
        self.spread.add(n_rows, &values.value);
        let n_with = |note: Note| values.notes.iter().filter(|(_, found)| *found == note).count();
        self.n_leverage_one += n_with(Note::LeverageOne);
        self.n_too_far += n_with(Note::TooFar);
        self.truncation.extend(values.truncation.iter().flatten().filter(|(_, share)| share.is_finite()));
    }

    pub(crate) fn warnings(&mut self, sizes: Sizes) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if self.n_leverage_one > 0 {
            warnings.push(Warning::LeverageOne { n_rows: self.n_leverage_one });
        }
        if self.n_too_far > 0 {
            warnings.push(Warning::TooFar { n_rows: self.n_too_far, min: sizes.min() });
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
