//! `fit`: a reference becomes a valuer.

use crate::at::require_test_columns;
use crate::checkpoint::{Checkpoint, Job};
use crate::design::{LearnedDesign, Learning};
use crate::inputs::{self, TestTable, while_digesting};
use crate::memory::Budget;
use crate::request::{FitRequest, Resources};
use crate::summary::FitSummary;
use crate::table::Table;
use crate::{file_warnings, owner_sums, settings};
use dshap_catalogue::options::{CATEGORICAL, DEPENDENT, LISTS, POPULATION, SETS, SYNERGY, TASK, TEST};
use dshap_catalogue::{Given, Group, Task, Value};
use dshap_io::{Note, Source};
use dshap_models::linear::Keeper;
use dshap_models::neighbours::NeighbourModel;
use dshap_models::{
    Action, Error, ExtraPass, FittedValuer, How, Learned, Method, Observer, RowCounts, RowRole, RowSample,
    Step, Warning, learn, methods,
};

/// A valuer ready to be saved, what is to be reported about it, and what may be
/// removed once it is safe.
pub struct Fitted {
    /// The valuer.
    pub valuer: FittedValuer,
    /// What happened.
    pub summary: FitSummary,
    checkpoint: Option<Checkpoint>,
}

impl Fitted {
    pub(crate) fn new(valuer: FittedValuer, summary: FitSummary) -> Self {
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

/// Tables that are open already, or in memory.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The rows to be valued, or the reference of a fit.
    pub points: Source,
    /// The reference, if it is not the points.
    pub reference: Option<Source>,
    /// Rows apart from the reference that measure utility.
    pub test: Option<Source>,
}

/// Fits a reference.
///
/// # Errors
///
/// [`Error`].
pub fn fit(request: &FitRequest, observer: &dyn Observer) -> Result<Fitted, Error> {
    let FitRequest { reference, given, outputs, resources, .. } = request;
    let method = method_of(request.method, given);
    if let Err(why) = method.entry.saved {
        return Err(Error::NotSaved { method: method.name(), why });
    }
    How::new(method, settings::task(given), given.clone())?;
    let points = inputs::open_given(reference, given, outputs)?;
    let test = TestTable::open(given, outputs, true)?;
    fit_with(&points, test, method, given, resources, observer)
}

/// Fits a reference that is open already, or in memory; it is the points of
/// `tables`.
///
/// # Errors
///
/// [`Error`].
pub fn fit_tables(
    tables: &Tables,
    method: &'static Method,
    given: &Given,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    let given = with_tables(given, tables);
    How::new(method, settings::task(&given), given.clone())?;
    let has_targets = !given.has(&POPULATION);
    let test = tables.test.clone().map(|source| TestTable::of(source, true, has_targets)).transpose()?;
    fit_with(&tables.points, test, method, &given, &Resources::default(), observer)
}

/// The options, with test rows in memory counted as given, so that they are
/// checked as files are.
pub(crate) fn with_tables(given: &Given, tables: &Tables) -> Given {
    match tables.test {
        Some(_) if !given.has(&POPULATION) => given.clone().with(&TEST, Value::List(Vec::new())),
        _ => given.clone(),
    }
}

/// The method that was named, or the default one.
pub(crate) fn method_of(named: Option<&'static Method>, given: &Given) -> &'static Method {
    named.unwrap_or_else(|| methods::default_for(settings::task(given)))
}

fn fit_with(
    source: &Source,
    test: Option<TestTable>,
    method: &'static Method,
    given: &Given,
    resources: &Resources,
    observer: &dyn Observer,
) -> Result<Fitted, Error> {
    source.expect(Vec::new());
    let (fit, files) = while_digesting(source, || {
        let test = test.as_ref();
        FitRun { source, test, method, given, resources, reads_again: false, observer }.run()
    })?;
    let FitOutcome { mut valuer, rows, n_resumed, checkpoint, sample, .. } = fit;
    valuer.history[0].files = files;
    let mut warnings = file_warnings::of_sources(source, None);
    warnings.extend(file_warnings::of_constant_text(&valuer.design));
    warnings.extend(file_warnings::of_few_numbers(&valuer, source)?);
    warnings.extend(Warning::rows_left_out(RowRole::Reference, rows.n_left_out(), &valuer.design));
    if method.is_of_neighbours() {
        // What cannot be valued is reported before test rows are read.
        valuer.warnings()?;
    }
    let budget = Budget::new(resources.memory);
    let table = Table::reference(source, &valuer.design, budget, observer);
    let (mut valuer, _) = valuer.clone().completed(&table)?;
    source.forget_kept();
    if let Some(test) = &test {
        valuer = read_tests(valuer, test, budget, observer, &mut warnings)?;
        warnings.extend(file_warnings::of_tests_in_reference(source, &test.source, test.has_targets));
    }
    if given.has(&LISTS) {
        let room = budget.reserving(valuer.model.held_bytes()).room();
        valuer = valuer.with_lists(observer, room)?;
    }
    valuer.owners = owner_sums::of_fit(source, &valuer, given, resources.memory, observer)?;
    warnings.extend(owner_sums::not_kept(&valuer, given));
    source.check_unchanged()?;
    let sizes = valuer.sizes(&valuer.how)?;
    warnings.extend(valuer.model.label_warnings(&valuer.how, sizes, &valuer.design));
    warnings.extend(input_warning(&valuer, &valuer.how, sample.as_ref(), &warnings)?);
    let mut summary = FitSummary::of(&valuer, warnings)?;
    summary.resumed_rows = n_resumed;
    Ok(Fitted { valuer, summary, checkpoint })
}

/// Reads test rows and keeps them in the valuer.
pub(crate) fn read_tests(
    valuer: FittedValuer,
    test: &TestTable,
    budget: Budget,
    observer: &dyn Observer,
    warnings: &mut Vec<Warning>,
) -> Result<FittedValuer, Error> {
    let design = test.design(&valuer.design).into_owned();
    let budget = budget.reserving(valuer.model.held_bytes());
    let table = Table { source: &test.source, design: &design, is_reference: false, budget, observer };
    let valuer = valuer.with_tests(&table)?;
    let of_neighbours = valuer.model.of::<NeighbourModel>().map(|model| model.n_tests_left_out);
    let n_left_out = of_neighbours.or(valuer.model.kept_tests().map(|tests| tests.n_left_out));
    warnings.extend(n_left_out.and_then(|n| Warning::rows_left_out(RowRole::Test, n, &design)));
    Ok(valuer)
}

/// A warning if inputs are too far from Gaussian for the closed form. Where sets are too small
/// for closed forms, as other warnings say, another closed form helps no more.
pub(crate) fn input_warning(
    valuer: &FittedValuer,
    how: &How,
    sample: Option<&RowSample>,
    others: &[Warning],
) -> Result<Option<Warning>, Error> {
    let is_hopeless = others.iter().any(Warning::is_beyond_closed_forms);
    let sample = sample.filter(|_| how.method.corrected_by.is_some() && !is_hopeless);
    let (Some(sample), Some(row_valuer)) = (sample, valuer.valuer(how, Default::default())?) else {
        return Ok(None);
    };
    let found = sample.with_rows(|rows| row_valuer.check_inputs(rows)).transpose();
    let found = found.map_err(|e| Error::core(e, &valuer.design))?.flatten();
    Ok(Warning::of_core(found.into_iter().collect(), &valuer.design).pop())
}

/// A fit of a reference, from the design to the model.
pub(crate) struct FitRun<'a> {
    pub(crate) source: &'a Source,
    pub(crate) test: Option<&'a TestTable>,
    pub(crate) method: &'static Method,
    pub(crate) given: &'a Given,
    pub(crate) resources: &'a Resources,
    /// Whether the same rows are valued afterwards.
    pub(crate) reads_again: bool,
    pub(crate) observer: &'a dyn Observer,
}

/// What a fit gave.
pub(crate) struct FitOutcome {
    pub(crate) valuer: FittedValuer,
    pub(crate) rows: RowCounts,
    /// How often the reference was read, and why more than once.
    pub(crate) n_passes: usize,
    pub(crate) extra_passes: Vec<ExtraPass>,
    /// Some of the rows, to look at their distribution.
    pub(crate) sample: Option<RowSample>,
    /// Rows that a killed run had read before.
    pub(crate) n_resumed: Option<u64>,
    /// To be removed when the result is safe.
    pub(crate) checkpoint: Option<Checkpoint>,
}

impl FitRun<'_> {
    /// Learns the design and the model, without what a method needs beyond a fit.
    pub(crate) fn run(&self) -> Result<FitOutcome, Error> {
        let FitRun { source, given, method, observer, .. } = *self;
        let budget = Budget::new(self.resources.memory);
        let mut checkpoint = match &self.resources.checkpoint {
            None => None,
            Some(file) => Some(Checkpoint::open(file, Job::new(source, given))?),
        };
        let resumed = checkpoint.as_mut().and_then(Checkpoint::take_design);
        let LearnedDesign { design, task, task_guessed, mut extra_passes } = match resumed {
            Some(design) => design,
            // The fit reads the same rows after the passes for levels and labels.
            None => Learning { source, given, method, budget: budget.keeping(true), observer }.design()?,
        };
        if let Some(checkpoint) = &mut checkpoint {
            checkpoint.keep_design(&design, task_guessed, &extra_passes);
        }
        if let Some(test) = self.test {
            require_test_columns(&test.source, &test.design(&design).wanted())?;
        }
        let n_resumed = checkpoint.as_ref().and_then(Checkpoint::n_resumed);
        let how = How { method, given: of_fit(given) };
        // A logistic fit reads its rows once for each step, and some methods need one pass more.
        let needs_more = (method.needs)(&how.given, task).is_some();
        let budget = budget.keeping(self.reads_again || task == Task::Classification || needs_more);
        let learned = self.learn(&how, task, &design, budget, checkpoint.as_mut())?;
        if task_guessed && task == Task::Regression && has_two_targets(&learned) {
            let target = design.target().unwrap_or_default().into();
            return Err(Error::GuessedWrong { target, more_later: false });
        }
        let Learned { model, rows, n_passes, extra_passes: more, sample } = learned;
        let n_passes = extra_passes.len() + n_passes;
        extra_passes.extend(more);
        let step = Step::new(Action::Fit, Vec::new(), rows, model.n_rows());
        let is_numbered = |note: &Note| matches!(note, Note::NumberedColumns { .. });
        let valuer = FittedValuer {
            task_guessed,
            categorical: given.list(&CATEGORICAL).to_vec(),
            has_names: Some(!source.notes().iter().any(is_numbered)),
            ..FittedValuer::new(design, model, how, vec![step])?
        };
        Ok(FitOutcome { valuer, rows, n_passes, extra_passes, sample, n_resumed, checkpoint })
    }

    fn learn(
        &self,
        how: &How,
        task: Task,
        design: &dshap_table::Design,
        budget: Budget,
        checkpoint: Option<&mut Checkpoint>,
    ) -> Result<Learned, Error> {
        let observer = self.observer;
        let table = Table::reference(self.source, design, budget, observer);
        let keeper = checkpoint.map(|checkpoint| checkpoint as &mut dyn Keeper);
        match self.test {
            None => learn(how, task, &table, None, keeper),
            Some(test) => {
                let (source, design) = (&test.source, &test.design(design));
                let tests = Table { source, design, is_reference: false, budget, observer };
                learn(how, task, &table, Some(&tests), keeper)
            }
        }
    }
}

/// The options that matter to a model once its columns are settled.
pub(crate) fn of_fit(given: &Given) -> Given {
    let elsewhere = [&SETS, &SYNERGY];
    given.only(|option| match option.group {
        Group::Rows | Group::Trial | Group::Output | Group::Run => false,
        Group::Columns => option.name == DEPENDENT.name,
        _ => option.name != TASK.name && elsewhere.iter().all(|other| other.name != option.name),
    })
}

/// Whether a target that was taken for numbers has two values.
fn has_two_targets(learned: &Learned) -> bool {
    match (&learned.sample, learned.model.of::<NeighbourModel>()) {
        (_, Some(model)) => model.has_two_targets(),
        (Some(sample), None) => sample.has_two_targets(),
        (None, None) => false,
    }
}
