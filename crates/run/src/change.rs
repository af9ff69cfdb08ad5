//! `update` and `merge`: valuers whose reference changes, without the old rows.

use crate::at::{at, require_columns};
use crate::design::levels_of;
use crate::fit::Fitted;
use crate::inputs::{self, while_digesting};
use crate::memory::Budget;
use crate::noise_parts::{self, NoisePart};
use crate::request::{MergeRequest, Resources, UpdateRequest};
use crate::summary::FitSummary;
use crate::table::Table;
use crate::{file_warnings, owner_sums};
use dshap::linear::{FitOptions, LinearFit};
use dshap::{Combination, Moments};
use dshap_catalogue::Task;
use dshap_io::Source;
use dshap_models::density;
use dshap_models::linear::{KnownNoise, LinearModel, sampled_moments_of};
use dshap_models::{
    Action, Error, FittedValuer, Fixed, KeptTests, Makes, MergeConflict, Observer, OwnerMoments, Quiet,
    RowCounts, RowRole, RowSample, SizeChoice, Stage, Step, Unwatched, Warning, levels_beyond,
};
use dshap_table::{Derived, Design, Unseen};
use std::path::Path;

/// Adds rows to the reference of a valuer and takes rows away.
///
/// # Errors
///
/// [`Error`]; the file of the valuer is not touched.
pub fn update(request: &UpdateRequest, observer: &dyn Observer) -> Result<Fitted, Error> {
    let UpdateRequest { valuer: path, add, forget, reading, sizes, outputs, resources } = request;
    let before = FittedValuer::load(path)?;
    let open = |files: &[String]| match files {
        [] => Ok(None),
        files => inputs::open_as(files, *reading, outputs).map(Some),
    };
    update_valuer(before, path, open(add)?.as_ref(), open(forget)?.as_ref(), *sizes, resources, observer)
}

/// As [`update`], with tables that are open already; `path` is what the valuer is
/// called in messages.
///
/// # Errors
///
/// [`Error`].
pub fn update_valuer(
    before: FittedValuer,
    path: &Path,
    add: Option<&Source>,
    forget: Option<&Source>,
    sizes: SizeChoice,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    let model = changeable(&before)?.clone();
    let sizes_before = before.sizes(&before.how)?;
    let mut change = Change {
        noise: NoisePart::of(&model),
        added: None,
        gone: None,
        design: before.design.clone(),
        moments: model.moments,
        options: model.options,
        path,
        budget: Budget::new(resources.memory),
        observer,
        steps: Vec::new(),
        warnings: Vec::new(),
        new_levels: Vec::new(),
        lost_levels: Vec::new(),
        owners: before.owners.clone(),
        tests: model.tests,
        memory: resources.memory,
    };
    if let Some(source) = add {
        change.add(source)?;
    }
    if let Some(source) = forget {
        change.forget(source)?;
    }
    let Change {
        design, moments, options, steps, mut warnings, new_levels, lost_levels, owners, tests, ..
    } = change;
    let (noise, added, gone) = (change.noise, change.added, change.gone);
    let noise =
        |whole: &LinearFit| noise_parts::of_change(noise.as_ref(), added.as_ref(), gone.as_ref(), whole);
    let n_steps = before.history.len();
    let mut valuer = before;
    valuer.how = valuer.how.with_sizes(sizes.or(valuer.how.sizes()));
    valuer.history.extend(steps);
    valuer.owners = owners;
    let valuer = refitted(valuer, design, (moments, tests), options, noise)?;
    warnings.extend(file_warnings::of_repeated_files(&valuer.history));
    warnings.extend(file_warnings::of_filled_cells(&valuer.design, &valuer.history[n_steps..]));
    warnings.extend(file_warnings::of_pooled_levels(&valuer.design));
    let mut summary = FitSummary::of(&valuer, warnings)?;
    summary.sizes_before = Some((sizes_before.max(), sizes_before.min()));
    (summary.new_levels, summary.lost_levels) = (new_levels, lost_levels);
    Ok(Fitted::new(valuer, summary))
}

/// A reference that changes.
struct Change<'a> {
    design: Design,
    moments: Moments,
    /// How the residuals of the rows before vary, and samples of those that came and went.
    noise: Option<NoisePart>,
    added: Option<RowSample>,
    gone: Option<RowSample>,
    options: FitOptions,
    path: &'a Path,
    budget: Budget,
    observer: &'a dyn Observer,
    steps: Vec<Step>,
    warnings: Vec<Warning>,
    new_levels: Vec<String>,
    lost_levels: Vec<String>,
    owners: Option<OwnerMoments>,
    tests: Option<KeptTests>,
    memory: Option<u64>,
}

impl Change<'_> {
    /// Adds rows.
    fn add(&mut self, source: &Source) -> Result<(), Error> {
        require_columns(source, &self.design.wanted_of_reference(), self.path)?;
        let levels = levels_of(source, &self.design, self.budget, self.observer)?;
        let wider = self.design.with_levels(&levels).map_err(|e| at(e, source, 0))?;
        if let Some((wider, derived)) = wider {
            self.new_levels = levels_beyond(&wider, &self.design);
            self.recombine(&combinations(&derived));
            self.design = wider;
        }
        let (added, sample, rows) = self.read(source, &self.design.clone(), Action::Add, Stage::Fit)?;
        self.added = Some(sample);
        if let Some(added) = &added {
            self.moments.merge(added).map_err(|e| Error::core(e, &self.design))?;
        }
        if let Some(owners) = &mut self.owners {
            let more =
                owner_sums::by_owner(source, &self.design, &owners.by, self.memory, &Quiet(self.observer))?;
            owner_sums::add(owners, more).map_err(|e| Error::core(e, &self.design))?;
        }
        self.warnings.extend(Warning::rows_left_out(RowRole::Added, rows.n_left_out(), &self.design));
        Ok(())
    }

    /// Takes rows away.
    fn forget(&mut self, source: &Source) -> Result<(), Error> {
        require_columns(source, &self.design.wanted_of_reference(), self.path)?;
        // A row with a level that no reference row has was never among them.
        let strict = self.design.with_policies(None, Some(Unseen::Error), |column| self.moments.mean(column));
        let (gone, sample, _) = self.read(source, &strict, Action::Forget, Stage::Forget)?;
        self.gone = Some(sample);
        if let Some(gone) = &gone {
            take_away(&mut self.moments, gone, &self.design, source)?;
        }
        if let Some(owners) = &mut self.owners {
            let gone = owner_sums::by_owner(source, &strict, &owners.by, self.memory, &Quiet(self.observer))?;
            owner_sums::forget(owners, gone).map_err(|e| not_among(e, &self.design, source, (0, 0)))?;
        }
        if let Some((narrower, derived)) = without_lost_levels(&self.design, &self.moments) {
            self.lost_levels = levels_beyond(&self.design, &narrower);
            self.recombine(&combinations(&derived));
            self.design = narrower;
        }
        Ok(())
    }

    /// Moments of other columns, those of owners too.
    fn recombine(&mut self, columns: &[Combination]) {
        self.moments = self.moments.recombined(columns);
        self.noise = self.noise.take().and_then(|noise| noise.recombined(columns, self.options));
        for sample in [&mut self.added, &mut self.gone] {
            *sample = sample.take().map(|sample| sample.recombined(columns));
        }
        if let Some(owners) = &mut self.owners {
            owner_sums::recombine(owners, columns);
        }
        if let Some(tests) = &mut self.tests {
            tests.recombine(columns);
        }
    }

    /// Reads the moments of rows and notes the step.
    fn read(
        &mut self,
        source: &Source,
        design: &Design,
        action: Action,
        stage: Stage,
    ) -> Result<(Option<Moments>, RowSample, RowCounts), Error> {
        let table = Table::reference(source, design, self.budget, self.observer);
        let form = Some(self.moments.form());
        let ((moments, sample, rows), files) =
            while_digesting(source, || sampled_moments_of(&table, self.options, form, stage))?;
        let n_rows = moments.as_ref().map_or(0, Moments::n_rows);
        self.steps.push(Step::new(action, files, rows, n_rows));
        source.check_unchanged()?;
        self.warnings.extend(file_warnings::of_sources(source, None));
        Ok((moments, sample, rows))
    }
}

/// The model of a valuer whose reference can change: a sum over rows.
fn changeable(valuer: &FittedValuer) -> Result<&LinearModel, Error> {
    let fixed = |why| Err(Error::FixedReference { why });
    match (valuer.model.of::<LinearModel>(), valuer.how.method.makes) {
        (None, Makes::Density(_)) => fixed(Fixed::Density),
        (None, Makes::Neighbours { .. }) => fixed(Fixed::Neighbours),
        (None, _) => fixed(Fixed::Logistic),
        (Some(_), _) if !valuer.how.method.entry.updates_for(valuer.task()) => {
            fixed(Fixed::Method(valuer.how.method.name()))
        }
        (Some(_), _) if valuer.design.projection().is_some() => fixed(Fixed::Components),
        (Some(model), _) => Ok(model),
    }
}

/// A valuer fitted to changed moments.
fn refitted(
    valuer: FittedValuer,
    design: Design,
    (moments, tests): (Moments, Option<KeptTests>),
    options: FitOptions,
    noise: impl FnOnce(&LinearFit) -> KnownNoise,
) -> Result<FittedValuer, Error> {
    let fit = LinearFit::new(&moments, options).map_err(|e| Error::core(e, &design))?;
    let noise = noise(&fit);
    let model = LinearModel::new(moments, fit, options, noise).with_tests(tests);
    valuer.refitted(design, Box::new(model))
}

/// Makes one valuer of several whose references have no row in common.
///
/// # Errors
///
/// [`Error::CannotMerge`] and whatever is wrong with a file.
pub fn merge(request: &MergeRequest) -> Result<Fitted, Error> {
    let mut parts = Vec::with_capacity(request.valuers.len());
    for path in &request.valuers {
        parts.push((path.as_path(), FittedValuer::load(path)?));
    }
    merge_valuers(parts, request.sizes, &Unwatched)
}

/// As [`merge`], with valuers at hand and what they are called in messages. It is
/// watched where it takes long: densities are smoothed anew.
///
/// # Errors
///
/// [`Error::CannotMerge`], [`Error::NothingToMerge`], [`Error::FixedReference`].
pub fn merge_valuers(
    parts: Vec<(&Path, FittedValuer)>,
    sizes: SizeChoice,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    let Some((first_path, first)) = parts.first() else { return Err(Error::NothingToMerge) };
    let cannot = |path: &Path, why| Error::CannotMerge {
        first: first_path.display().to_string(),
        second: path.display().to_string(),
        why,
    };
    if let Some((path, other)) = parts.iter().find(|(_, part)| part.task() != first.task()) {
        return Err(cannot(path, MergeConflict::Tasks(first.task(), other.task())));
    }
    // The rows of a density are merged, other references are sums over rows.
    let is_density = first.task() == Task::Density && first.how.method.entry.merges_for(Task::Density);
    for (_, part) in parts.iter().filter(|_| !is_density) {
        changeable(part)?;
    }
    let choice = common_sizes(&parts, sizes)?;
    let how = first.how.with_sizes(choice);
    if let Some((path, _)) = parts.iter().find(|(_, part)| !has_same_method(part, first)) {
        return Err(cannot(path, MergeConflict::Methods));
    }
    let history: Vec<Step> = parts.iter().flat_map(|(_, part)| part.history.iter().cloned()).collect();
    let whole = FittedValuer { how, history, ..first.clone() };
    let (valuer, mut warnings, new_levels) = if is_density {
        let borrowed: Vec<(&Path, &FittedValuer)> = parts.iter().map(|(path, part)| (*path, part)).collect();
        let (design, model, warnings, new_levels) = density::merge(&borrowed, observer)?;
        (whole.refitted(design, model)?, warnings, new_levels)
    } else {
        let MergedMoments { design, moments, options, new_levels, owners, tests, noise } =
            merged_moments(&parts)?;
        let whole = FittedValuer { owners, ..whole };
        let noise = |whole: &LinearFit| noise_parts::of_parts(&noise, whole);
        (refitted(whole, design, (moments, tests), options, noise)?, Vec::new(), new_levels)
    };
    warnings.splice(0..0, file_warnings::of_repeated_files(&valuer.history));
    warnings.extend(file_warnings::of_filled_cells(&valuer.design, &valuer.history));
    warnings.extend(file_warnings::of_pooled_levels(&valuer.design));
    let mut summary = FitSummary::of(&valuer, warnings)?;
    summary.new_levels = new_levels;
    Ok(Fitted::new(valuer, summary))
}

/// Whether two valuers have one method with the same settings; set sizes are
/// settled apart.
fn has_same_method(one: &FittedValuer, other: &FittedValuer) -> bool {
    let saved = |valuer: &FittedValuer| {
        let takes = valuer.how.method.entry.options.iter().filter(|takes| !takes.saved_as.is_empty());
        takes.map(|takes| valuer.how.value(takes.option)).collect::<Vec<_>>()
    };
    one.how.method == other.how.method && saved(one) == saved(other)
}

/// What the parts of a merge have together.
struct MergedMoments {
    design: Design,
    moments: Moments,
    options: FitOptions,
    new_levels: Vec<String>,
    owners: Option<OwnerMoments>,
    tests: Option<KeptTests>,
    noise: Vec<Option<NoisePart>>,
}

/// The moments of all parts, in columns of the whole.
fn merged_moments(parts: &[(&Path, FittedValuer)]) -> Result<MergedMoments, Error> {
    let (first_path, first) = &parts[0];
    let model = changeable(first)?;
    let (mut design, mut moments, mut options) = (first.design.clone(), model.moments.clone(), model.options);
    let mut new_levels = Vec::new();
    // Owners are known only if every part knows them.
    let are_known = parts.iter().all(|(_, part)| match (&part.owners, &first.owners) {
        (Some(one), Some(other)) => one.by == other.by,
        _ => false,
    });
    let mut owners = first.owners.clone().filter(|_| are_known);
    let mut tests = model.tests.clone();
    let mut noise = vec![NoisePart::of(model)];
    for (path, part) in &parts[1..] {
        let cannot = |why| Error::CannotMerge {
            first: first_path.display().to_string(),
            second: path.display().to_string(),
            why,
        };
        let other = changeable(part)?;
        if options.intercept != other.options.intercept {
            return Err(cannot(MergeConflict::Intercept));
        }
        let targets = |tests: &Option<KeptTests>| tests.as_ref().map(KeptTests::has_targets);
        if targets(&tests) != targets(&other.tests) {
            return Err(cannot(MergeConflict::Tests));
        }
        let (n_first, n_second) = (moments.weight(), other.moments.weight());
        let both = design.merged(n_first, &part.design, n_second);
        let both = both.map_err(|error| cannot(MergeConflict::Columns(error)))?;
        new_levels.extend(levels_beyond(&both.design, &design));
        let (from_first, from_second) = (combinations(&both.from_first), combinations(&both.from_second));
        moments = moments.recombined(&from_first);
        let others = other.moments.recombined(&from_second);
        let in_whole = |part: Option<NoisePart>, columns: &[Combination]| part?.recombined(columns, options);
        noise = noise.into_iter().map(|part| in_whole(part, &from_first)).collect();
        noise.push(in_whole(NoisePart::of(other), &from_second));
        moments.merge(&others).map_err(|e| Error::core(e, &both.design))?;
        if let (Some(owners), Some(others)) = (&mut owners, &part.owners) {
            owner_sums::recombine(owners, &from_first);
            let mut others = others.clone();
            owner_sums::recombine(&mut others, &from_second);
            owner_sums::add(owners, others.owners).map_err(|e| Error::core(e, &both.design))?;
        }
        if let (Some(tests), Some(others)) = (&mut tests, &other.tests) {
            tests.recombine(&from_first);
            let mut others = others.clone();
            others.recombine(&from_second);
            tests.merge(&others, &both.design)?;
        }
        design = both.design;
        options.allow_dependent &= other.options.allow_dependent;
    }
    Ok(MergedMoments { design, moments, options, new_levels, owners, tests, noise })
}

fn take_away(moments: &mut Moments, gone: &Moments, design: &Design, source: &Source) -> Result<(), Error> {
    let counts = (gone.n_rows(), moments.n_rows());
    moments.remove(gone).map_err(|error| not_among(error, design, source, counts))
}

/// Why rows cannot be forgotten, with how many there are and how many rows the reference has.
fn not_among(error: dshap::Error, design: &Design, source: &Source, counts: (usize, usize)) -> Error {
    match error {
        dshap::Error::NotAmong { column } => Error::CannotForget {
            files: source.files().map(String::from).collect(),
            column: column.map(|column| design.column_name(column).into()),
            n_rows: counts.0,
            n_reference: counts.1,
        },
        other => Error::core(other, design),
    }
}

/// Levels that no row has any more are as unknown as if they had never been.
fn without_lost_levels(design: &Design, moments: &Moments) -> Option<(Design, Vec<Derived>)> {
    // Shares are counted, unless there are weights.
    let least = if design.weight().is_some() { 1e-12 } else { 0.5 / moments.n_rows() as f64 };
    design.without_lost_levels(|column| moments.mean(column), least)
}

/// The set sizes that all valuers were given, unless they are given anew.
fn common_sizes(parts: &[(&Path, FittedValuer)], given: SizeChoice) -> Result<SizeChoice, Error> {
    let common = |option: &'static str, given: Option<usize>, of: fn(SizeChoice) -> Option<usize>| {
        if given.is_some() {
            return Ok(given);
        }
        let size = |part: &FittedValuer| of(part.how.sizes());
        let first = parts.first().and_then(|(_, part)| size(part));
        match parts.iter().find(|(_, part)| size(part) != first) {
            None => Ok(first),
            Some((path, other)) => Err(Error::CannotMerge {
                first: parts[0].0.display().to_string(),
                second: path.display().to_string(),
                why: MergeConflict::Size { option, first, second: size(other) },
            }),
        }
    };
    Ok(SizeChoice { min: common("q", given.min, |c| c.min)?, max: common("m", given.max, |c| c.max)? })
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
