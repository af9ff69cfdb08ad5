//! The passes over a reference: survey if needed, then what the task is fitted by.

use crate::Error;
use crate::checkpoint::{Checkpoint, Job, Progress};
use crate::dense::Dense;
use crate::fitted::{DensityModel, FittedModel, LinearModel, NeighbourModel, learn_logistic};
use crate::look::{refuse_mixed_columns, settle_task};
use crate::memory::{Budget, most_rows};
use crate::neighbour_choice::TestTable;
use crate::observer::{Observer, Stage};
use crate::passes::Pass;
use crate::request::{CheckpointFile, Method, Model, Task};
use crate::sample::RowSample;
use crate::summary::ExtraPass;
use dshap::classification::LogisticOptions;
use dshap::linear::{DistanceTable, FitOptions, LinearFit, LinearValuer};
use dshap::{Moments, MomentsBuilder, MomentsForm, PrincipalComponents, Rows};
use dshap_io::{Batch, ScanOptions, Source};
use dshap_table::{Design, Encoded, Kind, Projection, Roles, Selection, Survey, TargetAs, Wanted};
use faer::Mat;

/// With more columns than this, rows are counted before anything is allocated
/// for each pair of columns.
const MANY_COLUMNS: usize = 2000;

/// Rows that are made numbers and worked on at a time: small enough to be in cache
/// still when they are summed, enough for several threads.
const CACHED_ROWS: usize = 16 * 1024;

/// What was learned from a reference.
pub(crate) struct Learned {
    pub(crate) design: Design,
    pub(crate) model: FittedModel,
    /// As it is for the task.
    pub(crate) method: Method,
    pub(crate) rows: RowCounts,
    pub(crate) task_guessed: bool,
    /// How often the reference was read, and why more than once.
    pub(crate) n_passes: usize,
    pub(crate) extra_passes: Vec<ExtraPass>,
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

/// Learns how columns become numbers, and no more; returns the task as well, and
/// whether it was guessed.
pub(crate) fn learn_design(
    source: &Source,
    model: &Model,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(Design, Task, bool), Error> {
    let (task, task_guessed) = settle_task(source, model)?;
    let (design, extra_passes) = survey(source, model, task, budget, observer)?;
    if task_guessed {
        refuse_late_labels(source, &design)?;
    }
    let (design, _) = reduce(source, model, design, extra_passes, budget, observer)?;
    Ok((design, task, task_guessed))
}

/// Learns a design and a fit from a reference.
pub(crate) fn learn(
    source: &Source,
    test: Option<TestTable>,
    model: &Model,
    budget: Budget,
    checkpoint: Option<&CheckpointFile>,
    observer: &dyn Observer,
) -> Result<Learned, Error> {
    if checkpoint.is_some() && model.method.neighbours().is_some() {
        let what = format!(
            "`--checkpoint` keeps the state of a fit, and `--method {}` has none: the rows are read and kept",
            model.method.name()
        );
        return Err(Error::Misplaced { what });
    }
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
            let (task, task_guessed) = settle_task(source, model)?;
            // What does not go together is known before the first pass.
            let (method, ridge) = model.settled_for(task)?;
            let (design, extra_passes) = survey(source, model, task, budget, observer)?;
            if task_guessed {
                refuse_late_labels(source, &design)?;
            }
            let (design, extra_passes) = reduce(source, model, design, extra_passes, budget, observer)?;
            let surveyed = Surveyed { design, extra_passes, method, task_guessed };
            let refuse_checkpoint = |why: &str| match checkpoint {
                None => Ok(()),
                Some(_) => Err(Error::Misplaced { what: format!("`--checkpoint` is for regression; {why}") }),
            };
            if method.neighbours().is_some() {
                return learn_neighbours(source, test, model, surveyed, budget, observer);
            }
            let Surveyed { design, extra_passes, .. } = match task {
                Task::Regression => surveyed,
                Task::Classification => {
                    refuse_checkpoint("a logistic fit is made in many short passes")?;
                    return learn_labels(source, model, surveyed, ridge, budget, observer);
                }
                Task::Density => {
                    refuse_checkpoint("a density is fitted in one pass")?;
                    return learn_density(source, model, surveyed, budget, observer);
                }
            };
            let moments = builder(&design, model.fit, None);
            let sample = RowSample::new(design.n_columns());
            Progress { design, moments, sample, rows: RowCounts::default(), task_guessed, extra_passes }
        }
    };
    let Progress { design, mut moments, mut sample, mut rows, task_guessed, mut extra_passes } = progress;

    let wanted = design.wanted_of_reference();
    loop {
        let in_place = match checkpoint {
            None => moments_in_place(source, &design, moments.clone(), observer)?,
            Some(_) => None,
        };
        if let Some(found) = in_place {
            (moments, sample, rows) = found;
        } else {
            let mut options = budget.scan_options(source, &wanted, design.n_encoded())?;
            options.skip_rows = rows.n_read;
            let pass = Pass { source, wanted: &wanted, options, stage: Stage::Fit, observer };
            let mut spare = Mat::new();
            pass.run(|batch| {
                take_batch(&batch, source, &design, &mut spare, &mut rows, |added| {
                    sample.look_at(added);
                    moments.push(added)
                })?;
                match &mut checkpoint {
                    Some(checkpoint) => checkpoint.keep_if_due(|| Progress {
                        design: design.clone(),
                        moments: moments.clone(),
                        sample: sample.clone(),
                        rows,
                        task_guessed,
                        extra_passes: extra_passes.clone(),
                    }),
                    None => Ok(()),
                }
            })?;
        }
        let finished = finish(moments, &design, rows)?;
        let fit = LinearFit::new(&finished, model.fit).map_err(|e| Error::core(e, &design))?;
        if task_guessed && sample.has_two_targets() {
            return Err(Error::GuessedWrong { what: two_targets(&design) });
        }
        if !fit.wants_triangle() {
            return Ok(Learned {
                design,
                model: FittedModel::Linear(LinearModel::new(finished, fit, model.fit)),
                method: model.settled_for(Task::Regression)?.0,
                rows,
                task_guessed,
                n_passes: 1 + extra_passes.len(),
                extra_passes,
                sample,
                n_resumed,
                checkpoint,
            });
        }
        // The first rows did not show that products lose too many digits.
        moments = builder(&design, model.fit, Some(MomentsForm::Triangle));
        (rows, sample) = (RowCounts::default(), RowSample::new(design.n_columns()));
        extra_passes.push(ExtraPass::HardColumns);
    }
}

/// What is known of a reference with labels before it is fitted.
struct Surveyed {
    design: Design,
    extra_passes: Vec<ExtraPass>,
    method: Method,
    task_guessed: bool,
}

/// Learns a logistic fit.
fn learn_labels(
    source: &Source,
    model: &Model,
    surveyed: Surveyed,
    ridge: f64,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Learned, Error> {
    let Surveyed { design, mut extra_passes, method, task_guessed } = surveyed;
    let options = LogisticOptions {
        intercept: model.fit.intercept,
        allow_dependent: model.fit.allow_dependent,
        ridge,
        ..LogisticOptions::default()
    };
    let budget = match method {
        Method::SecondOrder(choice) => {
            let n_classes = design.labels().map_or(2, dshap_table::Labels::n_classes);
            let most_rows = model.sizes.max.map_or_else(|| most_rows(source), |m| m as u64);
            budget.before(choice.sums(n_classes, design.n_columns(), ridge, most_rows))
        }
        _ => budget,
    };
    let (fitted, sample, rows, n_passes) = learn_logistic(source, &design, options, budget, observer)?;
    let n_passes = extra_passes.len() + n_passes;
    extra_passes.push(ExtraPass::Steps);
    Ok(Learned {
        design,
        model: FittedModel::Logistic(fitted),
        method,
        rows,
        task_guessed,
        n_passes,
        extra_passes,
        sample,
        n_resumed: None,
        checkpoint: None,
    })
}

/// Learns a density.
fn learn_density(
    source: &Source,
    model: &Model,
    surveyed: Surveyed,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Learned, Error> {
    let Surveyed { design, extra_passes, method, task_guessed } = surveyed;
    let (fitted, rows) = DensityModel::learn(source, &design, model.density, budget, observer)?;
    Ok(Learned {
        sample: RowSample::new(design.n_columns()),
        design,
        model: FittedModel::Density(fitted),
        method,
        rows,
        task_guessed,
        n_passes: 1 + extra_passes.len(),
        extra_passes,
        n_resumed: None,
        checkpoint: None,
    })
}

/// Reads the rows that neighbours are found among.
fn learn_neighbours(
    source: &Source,
    test: Option<TestTable>,
    model: &Model,
    surveyed: Surveyed,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<Learned, Error> {
    let Surveyed { design, extra_passes, method, task_guessed } = surveyed;
    let (fitted, rows) = NeighbourModel::learn(source, test, &design, &model.neighbours, budget, observer)?;
    if task_guessed && design.labels().is_none() && fitted.has_two_targets() {
        return Err(Error::GuessedWrong { what: two_targets(&design) });
    }
    Ok(Learned {
        sample: RowSample::new(design.n_columns()),
        design,
        model: FittedModel::Neighbours(fitted),
        method,
        rows,
        task_guessed,
        n_passes: 1 + extra_passes.len(),
        extra_passes,
        n_resumed: None,
        checkpoint: None,
    })
}

/// What is odd about a target that was taken for numbers.
fn two_targets(design: &Design) -> String {
    format!(
        "target `{}` has two values, of which the first rows have only one",
        design.target().unwrap_or_default()
    )
}

/// Collects moments for a fit, in the form given or in one that fits.
fn builder(design: &Design, options: FitOptions, form: Option<MomentsForm>) -> MomentsBuilder {
    let mut builder = MomentsBuilder::new(design.n_columns());
    if !options.intercept {
        builder = builder.without_intercept();
    }
    match form {
        Some(form) => builder.with_form(form),
        None => builder,
    }
}

/// Moments of a table of numbers in memory, if all of them can be used.
fn moments_in_place(
    source: &Source,
    design: &Design,
    mut moments: MomentsBuilder,
    observer: &dyn Observer,
) -> Result<Option<(MomentsBuilder, RowSample, RowCounts)>, Error> {
    let Some(dense) = Dense::of(source, design) else { return Ok(None) };
    let mut sample = RowSample::new(design.n_columns());
    let done = dense.each_of_reference(Stage::Fit, observer, |rows| {
        moments.push(rows)?;
        sample.look_at(rows);
        Ok(())
    })?;
    let n_rows = moments.n_rows() as u64;
    let rows = RowCounts { n_read: n_rows, n_usable: n_rows, n_filled: 0 };
    Ok(done.then_some((moments, sample, rows)))
}

/// Moments of further rows for a design that is known, in the form given or in
/// one that fits.
pub(crate) fn moments_of(
    source: &Source,
    design: &Design,
    (options, form): (FitOptions, Option<MomentsForm>),
    budget: Budget,
    stage: Stage,
    observer: &dyn Observer,
) -> Result<(Option<Moments>, RowCounts), Error> {
    let mut moments = builder(design, options, form);
    let rows;
    match moments_in_place(source, design, moments.clone(), observer)? {
        Some((whole, _, counts)) => (moments, rows) = (whole, counts),
        None => rows = each_batch(source, design, budget, stage, observer, |added| moments.push(added))?,
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
    each_batch(source, design, budget, Stage::Calibrate, observer, |rows| {
        table.add(&LinearValuer::distances(fit, rows)?, rows.weights());
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

/// Hands over the rows of a reference, batch by batch; returns what became of
/// them.
pub(crate) fn each_batch(
    source: &Source,
    design: &Design,
    budget: Budget,
    stage: Stage,
    observer: &dyn Observer,
    mut each: impl FnMut(Rows<'_>) -> Result<(), dshap::Error> + Send,
) -> Result<RowCounts, Error> {
    let wanted = design.wanted_of_reference();
    let options = budget.scan_options(source, &wanted, design.n_encoded())?;
    let (mut counts, mut spare) = (RowCounts::default(), Mat::new());
    let pass = Pass { source, wanted: &wanted, options, stage, observer };
    pass.run(|batch| take_batch(&batch, source, design, &mut spare, &mut counts, &mut each))?;
    Ok(counts)
}

/// Hands over the rows of a batch; the memory of their numbers serves from one batch
/// to the next.
fn take_batch(
    batch: &Batch,
    source: &Source,
    design: &Design,
    spare: &mut Mat<f64>,
    rows: &mut RowCounts,
    mut each: impl FnMut(Rows<'_>) -> Result<(), dshap::Error>,
) -> Result<(), Error> {
    let n_rows = batch.rows.num_rows();
    for start in (0..n_rows).step_by(CACHED_ROWS) {
        let slice = batch.rows.slice(start, CACHED_ROWS.min(n_rows - start));
        let encoded = design.encode_reference_into(std::mem::replace(spare, Mat::new()), &slice);
        let (encoded, n_weightless) =
            encoded.map_err(|e| Error::at(e, source, batch.first_row + start as u64))?;
        each(rows_of(&encoded, design)?).map_err(|e| Error::core(e, design))?;
        rows.n_read += slice.num_rows() as u64;
        rows.n_usable += encoded.y.len() as u64 + n_weightless;
        rows.n_filled += encoded.n_filled;
        *spare = encoded.x;
    }
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

/// Learns the design; says if that took a pass.
fn survey(
    source: &Source,
    model: &Model,
    task: Task,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(Design, Vec<ExtraPass>), Error> {
    let selection = of_reference(&model.selection, source);
    let target_as = match task {
        Task::Regression => TargetAs::Numbers,
        Task::Classification => TargetAs::Labels,
        Task::Density => TargetAs::Nothing,
    };
    let roles = Roles::settle(source.schema(), &selection, target_as).map_err(|e| Error::at(e, source, 0))?;
    let features: Vec<Wanted> = roles.features.clone();
    let wanted: Vec<Wanted> =
        roles.features.iter().chain(&roles.target).chain(&roles.weight).cloned().collect();
    let mut survey = Survey::new(roles, model.missing, model.unseen);
    if task == Task::Density || model.method.neighbours().is_some() {
        // Distances between levels must not depend on which comes first.
        survey = survey.with_all_levels();
    }
    let mut extra_passes = Vec::new();
    if survey.is_needed() {
        extra_passes.push(if task == Task::Classification { ExtraPass::Labels } else { ExtraPass::Levels });
        refuse_mixed_columns(source, &features, &model.selection.categorical)?;
        look_at_all(source, &wanted, &mut survey, budget, observer)?;
    }
    let mut design = survey.into_design().map_err(|e| Error::at(e, source, 0))?;
    if let Some(positive) = &model.positive {
        design = design.with_positive(positive).map_err(|e| Error::at(e, source, 0))?;
    }
    Ok((design, extra_passes))
}

/// Refuses numbers that were taken for labels because the first rows have two
/// of them.
fn refuse_late_labels(source: &Source, design: &Design) -> Result<(), Error> {
    let is_number =
        |name: &str| source.schema().column(name).is_some_and(|column| column.kind == Kind::Number);
    match design.labels() {
        Some(labels) if labels.n_classes() > 2 && design.target().is_some_and(is_number) => {
            Err(Error::GuessedWrong {
                what: format!(
                    "target `{}` has two values in its first rows and more later",
                    design.target().unwrap_or_default()
                ),
            })
        }
        _ => Ok(()),
    }
}

/// Puts principal components in the place of the columns, where that was asked
/// for: a pass.
fn reduce(
    source: &Source,
    model: &Model,
    design: Design,
    mut extra_passes: Vec<ExtraPass>,
    budget: Budget,
    observer: &dyn Observer,
) -> Result<(Design, Vec<ExtraPass>), Error> {
    let Some(n_components) = model.n_components else { return Ok((design, extra_passes)) };
    let mut moments = MomentsBuilder::new(design.n_columns()).with_form(MomentsForm::Products);
    let rows = each_batch(source, &design, budget, Stage::Components, observer, |rows| moments.push(rows))?;
    let moments = match moments.finish() {
        Err(dshap::Error::NoRows) if rows.n_usable == 0 => return Err(Error::NothingLeft),
        finished => finished.map_err(|e| Error::core(e, &design))?,
    };
    let components = PrincipalComponents::of(&moments, n_components).map_err(|e| Error::core(e, &design))?;
    let projection = Projection {
        mean: components.mean().to_vec(),
        axes: components.axes().col_iter().map(|axis| axis.iter().copied().collect()).collect(),
        explained: components.explained(),
    };
    extra_passes.push(ExtraPass::Components);
    let design = design.with_projection(projection).map_err(|e| Error::at(e, source, 0))?;
    Ok((design, extra_passes))
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
