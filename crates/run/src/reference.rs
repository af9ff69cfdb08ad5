//! The passes over a reference: survey if needed, then moments.

use crate::Error;
use crate::checkpoint::{Checkpoint, Job, Progress};
use crate::dense::Dense;
use crate::look::{refuse_mixed_columns, settle_task};
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::passes::Pass;
use crate::request::{CheckpointFile, Model};
use crate::sample::RowSample;
use dshap::linear::{DistanceTable, LinearFit, LinearValuer};
use dshap::{Moments, MomentsBuilder, Rows};
use dshap_io::{Batch, ScanOptions, Source};
use dshap_table::{Design, Encoded, Roles, Selection, Survey, Wanted};

/// With more columns than this, rows are counted before anything is allocated
/// for each pair of columns.
const MANY_COLUMNS: usize = 2000;

/// What was learned from a reference.
pub(crate) struct Learned {
    pub(crate) design: Design,
    pub(crate) moments: Moments,
    pub(crate) rows: RowCounts,
    pub(crate) task_guessed: bool,
    /// How often the reference was read.
    pub(crate) n_passes: usize,
    /// Some of the rows, to look at their distribution.
    pub(crate) sample: RowSample,
    /// Rows that a killed run had read before.
    pub(crate) n_resumed: Option<u64>,
    /// To be removed when the result is safe.
    pub(crate) checkpoint: Option<Checkpoint>,
}

/// What became of the rows of a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowCounts {
    /// Rows read, those left out included.
    pub(crate) n_read: u64,
    /// Rows without a missing cell, or with filled ones, whatever their weight.
    pub(crate) n_usable: u64,
    /// Missing cells that a mean was put into.
    pub(crate) n_filled: u64,
}

impl RowCounts {
    pub(crate) fn n_left_out(&self) -> u64 {
        self.n_read - self.n_usable
    }
}

/// Learns a design and moments from a reference.
pub(crate) fn learn(
    source: &Source,
    model: &Model,
    budget: Budget,
    checkpoint: Option<&CheckpointFile>,
    observer: &dyn Observer,
) -> Result<Learned, Error> {
    let mut resumed = None;
    let mut checkpoint = match checkpoint {
        None => None,
        Some(file) => {
            let job = Job::new(source, model);
            resumed = Checkpoint::load(&file.path, &job)?;
            Some(Checkpoint::new(file, job))
        }
    };
    let n_resumed = resumed.as_ref().map(|progress| progress.rows.n_read);
    let progress = match resumed {
        Some(progress) => progress,
        None => {
            let task_guessed = settle_task(source, model)?;
            let (design, n_passes) = survey(source, model, budget, observer)?;
            let moments = MomentsBuilder::new(design.n_columns());
            Progress { design, moments, rows: RowCounts::default(), task_guessed, n_passes }
        }
    };
    let Progress { design, mut moments, mut rows, task_guessed, n_passes } = progress;

    let wanted = design.wanted_of_reference();
    let mut options = budget.scan_options(source, &wanted, design.n_columns())?;
    options.skip_rows = rows.n_read;
    let pass = Pass { source, wanted: &wanted, options, stage: Stage::Fit, observer };
    let mut sample = RowSample::new(design.n_columns());
    if checkpoint.is_none()
        && let Some((moments, sample, rows)) = moments_in_place(source, &design, observer)?
    {
        let moments = finish(moments, &design, rows)?;
        return Ok(Learned { design, moments, rows, task_guessed, n_passes, sample, n_resumed, checkpoint });
    }
    pass.run(|batch| {
        add_batch(&batch, source, &design, &mut moments, &mut rows, |added| sample.look_at(added))?;
        match &mut checkpoint {
            Some(checkpoint) => checkpoint.keep_if_due(|| Progress {
                design: design.clone(),
                moments: moments.clone(),
                rows,
                task_guessed,
                n_passes,
            }),
            None => Ok(()),
        }
    })?;
    let moments = finish(moments, &design, rows)?;
    Ok(Learned { design, moments, rows, task_guessed, n_passes, sample, n_resumed, checkpoint })
}

/// Moments of a table of numbers in memory, if all of them can be used.
fn moments_in_place(
    source: &Source,
    design: &Design,
    observer: &dyn Observer,
) -> Result<Option<(MomentsBuilder, RowSample, RowCounts)>, Error> {
    let Some(dense) = Dense::of(source, design) else { return Ok(None) };
    let (mut moments, mut sample) =
        (MomentsBuilder::new(design.n_columns()), RowSample::new(design.n_columns()));
    let done = dense.each_of_reference(Stage::Fit, observer, |rows| {
        moments.push(rows)?;
        sample.look_at(rows);
        Ok(())
    })?;
    let n_rows = moments.n_rows() as u64;
    let rows = RowCounts { n_read: n_rows, n_usable: n_rows, n_filled: 0 };
    Ok(done.then_some((moments, sample, rows)))
}

/// Moments of further rows for a design that is known.
pub(crate) fn moments_of(
    source: &Source,
    design: &Design,
    budget: Budget,
    stage: Stage,
    observer: &dyn Observer,
) -> Result<(Option<Moments>, RowCounts), Error> {
    let wanted = design.wanted_of_reference();
    let options = budget.scan_options(source, &wanted, design.n_columns())?;
    let mut moments = MomentsBuilder::new(design.n_columns());
    let mut rows = RowCounts::default();
    let pass = Pass { source, wanted: &wanted, options, stage, observer };
    match moments_in_place(source, design, observer)? {
        Some((whole, _, counts)) => (moments, rows) = (whole, counts),
        None => {
            pass.run(|batch| add_batch(&batch, source, design, &mut moments, &mut rows, |_| ()))?;
        }
    }
    // Rows that all have weight 0 are no rows, and change nothing.
    match finish(moments, design, rows) {
        Err(Error::Core { error: dshap::Error::NoRows, .. }) => Ok((None, rows)),
        finished => Ok((Some(finished?), rows)),
    }
}

/// How far the reference rows are from their mean.
pub(crate) fn distances_of(
    source: &Source,
    design: &Design,
    fit: &LinearFit,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<DistanceTable, Error> {
    let wanted = design.wanted_of_reference();
    let options = budget.scan_options(source, &wanted, design.n_columns())?;
    let mut table = DistanceTable::new();
    if let Some(dense) = Dense::of(source, design)
        && dense.each_of_reference(Stage::Calibrate, observer, |rows| {
            table.add(&LinearValuer::distances(fit, rows)?, rows.weights());
            Ok(())
        })?
    {
        return Ok(table);
    }
    table = DistanceTable::new();
    let pass = Pass { source, wanted: &wanted, options, stage: Stage::Calibrate, observer };
    pass.run(|batch| {
        let (encoded, _) =
            design.encode_reference(&batch.rows).map_err(|e| Error::at(e, source, batch.first_row))?;
        let rows = rows_of(&encoded, design)?;
        let distances = LinearValuer::distances(fit, rows).map_err(|e| Error::core(e, design))?;
        table.add(&distances, rows.weights());
        Ok(())
    })?;
    Ok(table)
}

/// The levels that further rows have, feature by feature.
pub(crate) fn levels_of(
    source: &Source,
    design: &Design,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Vec<Vec<String>>, Error> {
    let mut survey = Survey::of_more_rows(design);
    if survey.is_needed() {
        look_at_all(source, &design.wanted(), &mut survey, budget, observer)?;
    }
    Ok(survey.into_levels())
}

/// The rows of an encoded batch.
pub(crate) fn rows_of<'a>(encoded: &'a Encoded, design: &Design) -> Result<Rows<'a>, Error> {
    let rows = Rows::new(encoded.x.as_ref(), &encoded.y).map_err(|e| Error::core(e, design))?;
    match &encoded.weights {
        Some(weights) => rows.with_weights(weights).map_err(|e| Error::core(e, design)),
        None => Ok(rows),
    }
}

fn add_batch(
    batch: &Batch,
    source: &Source,
    design: &Design,
    moments: &mut MomentsBuilder,
    rows: &mut RowCounts,
    look_at: impl FnOnce(Rows<'_>),
) -> Result<(), Error> {
    let (encoded, n_weightless) =
        design.encode_reference(&batch.rows).map_err(|e| Error::at(e, source, batch.first_row))?;
    let added = rows_of(&encoded, design)?;
    moments.push(added).map_err(|e| Error::core(e, design))?;
    look_at(added);
    rows.n_read += batch.rows.num_rows() as u64;
    rows.n_usable += encoded.y.len() as u64 + n_weightless;
    rows.n_filled += encoded.n_filled;
    Ok(())
}

fn finish(moments: MomentsBuilder, design: &Design, rows: RowCounts) -> Result<Moments, Error> {
    let (n_rows, dim) = (moments.n_rows(), design.n_columns());
    if n_rows > 0 && n_rows < dim && dim > MANY_COLUMNS {
        return Err(Error::core(dshap::Error::TooFewRows { n_rows, dim, needed: dim + 3 }, design));
    }
    match moments.finish() {
        Err(dshap::Error::NoRows) if rows.n_usable == 0 => Err(Error::NothingLeft),
        finished => finished.map_err(|e| Error::core(e, design)),
    }
}

/// Learns the design; returns how many passes the whole takes.
fn survey(
    source: &Source,
    model: &Model,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(Design, usize), Error> {
    let selection = of_reference(&model.selection, source);
    let roles = Roles::settle(source.schema(), &selection).map_err(|e| Error::at(e, source, 0))?;
    let wanted: Vec<Wanted> =
        roles.features.iter().chain([&roles.target]).chain(&roles.weight).cloned().collect();
    let mut survey = Survey::new(roles, model.missing, model.unseen);
    let mut n_passes = 1;
    if survey.is_needed() {
        n_passes += 1;
        refuse_mixed_columns(source, &wanted, &model.selection.categorical)?;
        look_at_all(source, &wanted, &mut survey, budget, observer)?;
    }
    Ok((survey.into_design().map_err(|e| Error::at(e, source, 0))?, n_passes))
}

fn look_at_all(
    source: &Source,
    wanted: &[Wanted],
    survey: &mut Survey,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(), Error> {
    let options: ScanOptions = budget.scan_options(source, wanted, 1)?;
    let pass = Pass { source, wanted, options, stage: Stage::Survey, observer };
    pass.run(|batch| survey.look_at(&batch.rows).map_err(|e| Error::at(e, source, batch.first_row)))?;
    Ok(())
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
