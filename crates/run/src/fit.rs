//! `fit`, `update` and `merge`: valuers to be saved.

use crate::Error;
use crate::checkpoint::Checkpoint;
use crate::fitted::{FittedModel, LinearModel};
use crate::memory::Budget;
use crate::merge_densities::merge_densities;
use crate::neighbour_choice::{SAMPLES_OR_TEST, TestTable};
use crate::observer::{Observer, Stage, Unwatched};
use crate::overwriting::refuse_overwriting;
use crate::reference::{learn, levels_of, moments_of};
use crate::request::{FitRequest, MergeRequest, Method, Model, Resources, SizeChoice, Task, UpdateRequest};
use crate::saved::{Action, SavedValuer, Step};
use crate::summary::{Facts, FitSummary, InputFile};
use crate::warnings;
use dshap::linear::LinearFit;
use dshap::{Combination, Moments};
use dshap_io::Source;
use dshap_table::{Derived, Design, Encoding, Unseen};
use std::path::Path;

/// A valuer ready to be saved, what is to be said about it, and what may be
/// removed once it is safe.
pub struct Fitted {
    /// The valuer.
    pub valuer: SavedValuer,
    /// What happened.
    pub summary: FitSummary,
    checkpoint: Option<Checkpoint>,
}

impl Fitted {
    pub(crate) fn new(valuer: SavedValuer, summary: FitSummary) -> Self {
        Self { valuer, summary, checkpoint: None }
    }

    /// To be called when the valuer is saved: its checkpoint is not needed any
    /// more.
    pub fn is_safe(self) {
        if let Some(checkpoint) = self.checkpoint {
            checkpoint.remove();
        }
    }
}

/// Fits a reference.
///
/// # Errors
///
/// [`Error`].
pub fn fit(request: &FitRequest, observer: &dyn Observer) -> Result<Fitted, Error> {
    let FitRequest { reference, model, outputs, resources } = request;
    if matches!(model.method, Method::KnnShapley { .. }) {
        return Err(Error::Misplaced { what: NO_SHAPLEY_FILE.into() });
    }
    let source = Source::open(reference)?;
    refuse_overwriting(&source, outputs)?;
    let test = TestTable::open(model, outputs, true)?;
    fit_tables(&source, test, model, resources, observer)
}

/// Why KNN-Shapley is not saved from files.
const NO_SHAPLEY_FILE: &str = "a valuer values rows that come later, and `--method knn-shapley` the rows of one finite dataset only: \
     `dshap value` does that without a valuer; `--method knn` has one";

/// Fits a reference that is open already, or in memory.
///
/// # Errors
///
/// [`Error`].
pub fn fit_source(
    source: &Source,
    model: &Model,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    fit_tables(source, None, model, resources, observer)
}

/// As [`fit_source`], with rows apart from the reference that neighbours are to
/// predict.
///
/// # Errors
///
/// [`Error`].
pub fn fit_with_test(
    source: &Source,
    test: Source,
    model: &Model,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    if model.method.neighbours().is_none() {
        let what = "`--test` goes with `--method knn` and `knn-shapley` only".into();
        return Err(Error::Misplaced { what });
    }
    if model.neighbours.samples.is_some() {
        return Err(Error::Misplaced { what: SAMPLES_OR_TEST.into() });
    }
    fit_tables(source, Some(TestTable::of(test, true)?), model, resources, observer)
}

fn fit_tables(
    source: &Source,
    test: Option<TestTable>,
    model: &Model,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    let budget = Budget::new(resources.memory);
    let shared = test.as_ref().map(|test| test.source.clone());
    let (mut learned, files) = while_digesting(source, || {
        learn(source, test, model, budget, resources.checkpoint.as_ref(), observer)
    })?;
    let checkpoint = learned.checkpoint.take();
    let (rows, n_resumed) = (learned.rows, learned.n_resumed);
    let sample = learned.sample.clone();
    let valuer = SavedValuer::new(learned, model, source, files)?;
    // Told before test rows are read.
    valuer.doubts_of_neighbours(valuer.method, valuer.choice)?;
    let valuer = valuer.completed(source, budget, observer)?;
    source.check_unchanged()?;

    let mut said = warnings::of_sources(source, None);
    said.extend(warnings::of_constant_text(&valuer.design));
    said.extend(warnings::of_rows_left_out("reference", rows.n_left_out(), "has no part in the fit"));
    let sizes = valuer.sizes(valuer.method, valuer.choice)?;
    said.extend(warnings::of_labels(&valuer, valuer.method, sizes));
    if let Some(model) = valuer.model.neighbours() {
        said.extend(shared.and_then(|test| warnings::of_tests_in_reference(source, &test)));
        said.extend(warnings::of_rows_left_out("test", model.n_tests_left_out, "has no part in the utility"));
    }
    said.extend(warnings::of_other_inputs(&valuer, valuer.method, valuer.choice, &sample)?);
    let mut summary = summarise(&valuer, said)?;
    summary.resumed_rows = n_resumed;
    Ok(Fitted { valuer, summary, checkpoint })
}

/// Adds rows to the reference of a valuer and takes rows away.
///
/// # Errors
///
/// [`Error`]; the file of the valuer is not touched.
pub fn update(request: &UpdateRequest, observer: &dyn Observer) -> Result<Fitted, Error> {
    let UpdateRequest { valuer: path, add, forget, sizes, outputs, resources } = request;
    let before = SavedValuer::load(path)?;
    let open = |files: &[String]| match files {
        [] => Ok(None),
        files => {
            let source = Source::open(files)?;
            refuse_overwriting(&source, outputs).map(|()| Some(source))
        }
    };
    update_valuer(before, path, open(add)?.as_ref(), open(forget)?.as_ref(), *sizes, resources, observer)
}

/// As [`update`], with tables that are open already; `path` is what the valuer
/// is called in messages.
///
/// # Errors
///
/// [`Error`].
pub fn update_valuer(
    before: SavedValuer,
    path: &Path,
    add: Option<&Source>,
    forget: Option<&Source>,
    sizes: SizeChoice,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    let LinearModel { moments: moments_before, options, .. } = before.linear_model()?.clone();
    let form = (options, Some(moments_before.form()));
    refuse_fixed(&before)?;
    let budget = Budget::new(resources.memory);
    let sizes_before = before.sizes(before.method, before.choice)?;
    let mut history = before.history.clone();
    let (mut design, mut moments) = (before.design.clone(), moments_before);
    let (mut said, mut new_levels, mut lost_levels) = (Vec::new(), Vec::new(), Vec::new());

    if let Some(source) = add {
        Error::unless_has_columns(source, &design.wanted_of_reference(), path)?;
        let levels = levels_of(source, &design, budget, observer)?;
        if let Some((wider, derived)) = design.with_levels(&levels).map_err(|e| Error::at(e, source, 0))? {
            new_levels = levels_beyond(&wider, &design);
            moments = moments.recombined(&combinations(&derived));
            design = wider;
        }
        let ((added, rows), files) =
            while_digesting(source, || moments_of(source, &design, form, budget, Stage::Fit, observer))?;
        if let Some(added) = &added {
            moments.merge(added).map_err(|e| Error::core(e, &design))?;
        }
        history.push(Step::new(Action::Add, files, rows, added.map_or(0, |added| added.n_rows())));
        source.check_unchanged()?;
        said.extend(warnings::of_sources(source, None));
        said.extend(warnings::of_rows_left_out("added", rows.n_left_out(), "has no part in the fit"));
    }
    if let Some(source) = forget {
        Error::unless_has_columns(source, &design.wanted_of_reference(), path)?;
        // A row with a level that no reference row has was never among them.
        let strict = design.with_policies(None, Some(Unseen::Error), |column| moments.mean(column));
        let ((gone, rows), files) =
            while_digesting(source, || moments_of(source, &strict, form, budget, Stage::Forget, observer))?;
        if let Some(gone) = &gone {
            take_away(&mut moments, gone, &design, source)?;
        }
        if let Some((narrower, derived)) = without_lost_levels(&design, &moments) {
            lost_levels = levels_beyond(&design, &narrower);
            moments = moments.recombined(&combinations(&derived));
            design = narrower;
        }
        history.push(Step::new(Action::Forget, files, rows, gone.map_or(0, |gone| gone.n_rows())));
        source.check_unchanged()?;
        said.extend(warnings::of_sources(source, None));
    }

    let mut valuer = before;
    valuer.choice = sizes.or(valuer.choice);
    let n_steps = valuer.history.len();
    valuer.history = history;
    let valuer = valuer.refitted(design, moments)?;
    said.extend(warnings::of_repeated_files(&valuer.history));
    said.extend(warnings::of_filled_cells(&valuer.design, &valuer.history[n_steps..]));
    let mut summary = summarise(&valuer, said)?;
    summary.sizes_before = Some((sizes_before.max(), sizes_before.min()));
    (summary.new_levels, summary.lost_levels) = (new_levels, lost_levels);
    Ok(Fitted { valuer, summary, checkpoint: None })
}

/// Refuses valuers that carry more of their reference than sums over its rows.
fn refuse_fixed(valuer: &SavedValuer) -> Result<(), Error> {
    match (valuer.method.fixes_reference(), valuer.design.projection()) {
        (true, _) => Err(Error::FixedReference { what: format!("`{}` values", valuer.method.name()) }),
        (false, Some(_)) => Err(Error::FixedReference { what: "principal components".into() }),
        (false, None) => Ok(()),
    }
}

/// Makes one valuer of several whose references have no row in common.
///
/// # Errors
///
/// [`Error::CannotMerge`] and whatever is wrong with a file.
pub fn merge(request: &MergeRequest) -> Result<Fitted, Error> {
    let mut parts = Vec::with_capacity(request.valuers.len());
    for path in &request.valuers {
        parts.push((path.as_path(), SavedValuer::load(path)?));
    }
    merge_valuers(parts, request.sizes, &Unwatched)
}

/// As [`merge`], with valuers at hand and what they are called in messages. It
/// is watched where it takes long: densities are smoothed anew.
///
/// # Errors
///
/// [`Error::CannotMerge`], [`Error::NothingToMerge`], [`Error::FixedReference`],
/// [`Error::NoSum`].
pub fn merge_valuers(
    parts: Vec<(&Path, SavedValuer)>,
    sizes: SizeChoice,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    if let Some((first, one)) = parts.first()
        && let Some((second, other)) = parts.iter().find(|(_, part)| part.task() != one.task())
    {
        return Err(Error::CannotMerge {
            first: first.display().to_string(),
            second: second.display().to_string(),
            what: format!("one is of a {}, the other of a {}", one.task().name(), other.task().name()),
        });
    }
    if parts.iter().any(|(_, part)| part.task() == Task::Density) {
        return merge_densities(parts, sizes, observer);
    }
    for (_, part) in &parts {
        part.linear_model()?;
    }
    parts.iter().try_for_each(|(_, part)| refuse_fixed(part))?;
    let choice = common_choice(&parts, sizes)?;
    let mut parts = parts.into_iter();
    let (first_path, mut merged) = parts.next().ok_or(Error::NothingToMerge)?;
    let (mut design, mut model) = (merged.design.clone(), merged.linear_model()?.clone());
    let mut moments = model.moments.clone();
    let mut new_levels = Vec::new();
    for (path, part) in parts {
        let cannot = |what: String| Error::CannotMerge {
            first: first_path.display().to_string(),
            second: path.display().to_string(),
            what,
        };
        let other = part.linear_model()?;
        if model.options.intercept != other.options.intercept {
            return Err(cannot("only one of them has an intercept".into()));
        }
        if merged.method != part.method {
            return Err(cannot("they value rows by different methods".into()));
        }
        let (n_first, n_second) = (moments.weight(), other.moments.weight());
        let both =
            design.merged(n_first, &part.design, n_second).map_err(|error| cannot(error.to_string()))?;
        new_levels.extend(levels_beyond(&both.design, &design));
        moments = moments.recombined(&combinations(&both.from_first));
        let others = other.moments.recombined(&combinations(&both.from_second));
        moments.merge(&others).map_err(|e| Error::core(e, &both.design))?;
        design = both.design;
        model.options.allow_dependent &= other.options.allow_dependent;
        merged.history.extend(part.history);
    }
    merged.choice = choice;
    merged.model = FittedModel::Linear(model);
    let valuer = merged.refitted(design, moments)?;
    let mut said = warnings::of_repeated_files(&valuer.history);
    said.extend(warnings::of_filled_cells(&valuer.design, &valuer.history));
    let mut summary = summarise(&valuer, said)?;
    summary.new_levels = new_levels;
    Ok(Fitted { valuer, summary, checkpoint: None })
}

pub(crate) fn summarise(valuer: &SavedValuer, mut said: Vec<String>) -> Result<FitSummary, Error> {
    said.extend(valuer.doubts()?);
    if valuer.fit().is_some_and(LinearFit::wants_triangle) {
        // Only a reference that was changed can be left so.
        said.push(
            "columns are nearly linear functions of others, and changing the reference cost digits; a fit of \
             all its rows anew keeps more"
                .into(),
        );
    }
    let has_forgotten = valuer.history.iter().any(|step| step.action == Action::Forget);
    Ok(FitSummary {
        version: env!("CARGO_PKG_VERSION"),
        facts: Facts::of(valuer, valuer.method, valuer.choice)?,
        digits: valuer.moments().filter(|_| has_forgotten).map(Moments::digits),
        sizes_before: None,
        resumed_rows: None,
        new_levels: Vec::new(),
        lost_levels: Vec::new(),
        history: valuer.history.clone(),
        warnings: said,
    })
}

/// Does some work while the digests of a source are taken. Those of a pipe are taken
/// by a thread that has nothing else to do: it waits for bytes most of the time, and
/// is not waited for where the work has failed.
fn while_digesting<T: Send>(
    source: &Source,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<(T, Vec<InputFile>), Error> {
    if source.n_bytes_known().is_some() {
        let (done, files) = rayon::join(work, || InputFile::of(source, true));
        return Ok((done?, files?));
    }
    let pipe = source.clone();
    let digests = std::thread::spawn(move || InputFile::of(&pipe, true));
    let done = work()?;
    let files = digests.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok((done, files))
}

fn take_away(moments: &mut Moments, gone: &Moments, design: &Design, source: &Source) -> Result<(), Error> {
    let n_before = moments.n_rows();
    moments.remove(gone).map_err(|error| match error {
        dshap::Error::NotAmong { column } => {
            let what = match column {
                Some(column) => format!(
                    "column `{}` varies more in them than in the whole reference",
                    design.column_name(column)
                ),
                None => format!("they are {} rows, and the reference has {n_before}", gone.n_rows()),
            };
            let files = source.files().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", ");
            Error::CannotForget { files, what }
        }
        other => Error::core(other, design),
    })
}

/// Levels that no row has any more are as unknown as if they had never been.
fn without_lost_levels(design: &Design, moments: &Moments) -> Option<(Design, Vec<Derived>)> {
    // Shares are counted, unless there are weights.
    let least = if design.weight().is_some() { 1e-12 } else { 0.5 / moments.n_rows() as f64 };
    design.without_lost_levels(|column| moments.mean(column), least)
}

/// The set sizes that all valuers ask for, unless they are said anew.
pub(crate) fn common_choice(parts: &[(&Path, SavedValuer)], said: SizeChoice) -> Result<SizeChoice, Error> {
    let common = |what: &str, said: Option<usize>, of: fn(&SizeChoice) -> Option<usize>| {
        if said.is_some() {
            return Ok(said);
        }
        let first = parts.first().and_then(|(_, part)| of(&part.choice));
        match parts.iter().find(|(_, part)| of(&part.choice) != first) {
            None => Ok(first),
            Some((path, other)) => {
                let word = |size: Option<usize>| size.map_or("chosen by default".into(), |s| s.to_string());
                Err(Error::CannotMerge {
                    first: parts[0].0.display().to_string(),
                    second: path.display().to_string(),
                    what: format!(
                        "{what} is {} in one and {} in the other; say `--{what}`",
                        word(first),
                        word(of(&other.choice))
                    ),
                })
            }
        }
    };
    Ok(SizeChoice { min: common("q", said.min, |c| c.min)?, max: common("m", said.max, |c| c.max)? })
}

fn combinations(derived: &[Derived]) -> Vec<Combination> {
    derived
        .iter()
        .map(|derived| match derived {
            Derived::Column(column) => Combination::column(*column),
            Derived::Zero => Combination { constant: 0.0, terms: Vec::new() },
            Derived::OneMinus(columns) => {
                Combination { constant: 1.0, terms: columns.iter().map(|&column| (column, -1.0)).collect() }
            }
        })
        .collect()
}

/// Levels that the wider design knows and the other does not, as `city=Rome`.
pub(crate) fn levels_beyond(wider: &Design, known: &Design) -> Vec<String> {
    let mut names = Vec::new();
    for (feature, encoding) in wider.parts().features.iter().zip(&wider.parts().encodings) {
        let twin = known.features().position(|name| name == feature.name);
        let before = twin.map(|index| &known.parts().encodings[index]);
        if let (Encoding::OneHot { levels, .. }, Some(Encoding::OneHot { levels: before, .. })) =
            (encoding, before)
        {
            let new = levels.iter().filter(|level| !before.contains(level));
            names.extend(new.map(|level| format!("{}={level}", feature.name)));
        }
    }
    names
}
