//! The steps, in order: design, game, contributions, row values, report.

use crate::copies::Copies;
use crate::explain::Explain;
use crate::joint::Joining;
use crate::market::Market;
use crate::near::Near;
use crate::own_values::OwnValues;
use crate::report::{Interaction, Measured, OwnerLine, Report, SharedRows, Solving};
use crate::request::{OpenTables, OwnersRequest};
use crate::roster::Sorted;
use crate::solve::{Paired, Solved, seed_in};
use crate::{held, regression};
use dshap_catalogue::options::{EXPLAIN_TEST, GAME_ONLY, NEAR, OWN, SEGMENT, TASK, TEST};
use dshap_catalogue::{Given, OptionEntry, Task};
use dshap_io::Source;
use dshap_models::{
    Error, FittedValuer, InputFile, Method, Observer, OwnersFault, OwnersWarning, Warning, methods,
};
use dshap_run::{Receiver, Resources, all_problems, open_given};
use std::path::Path;

/// What a family found out by playing.
pub(crate) struct Played {
    pub(crate) sorted: Sorted,
    pub(crate) solved: Solved,
    pub(crate) copies: Copies,
    /// Of the owners' rows, where a model has them.
    pub(crate) joining: Option<Joining>,
    pub(crate) ridge: Option<f64>,
    /// Where it comes from.
    pub(crate) ridge_from: Option<&'static str>,
    pub(crate) n_test: u64,
    /// From the spread over test rows; none with a single one.
    pub(crate) std_errors: Option<Vec<f64>>,
    pub(crate) covariance: Option<Vec<Vec<f64>>>,
    /// The same of what each owner brings to a buyer with own rows.
    pub(crate) own_errors: Option<Vec<f64>>,
    pub(crate) own_covariance: Option<Vec<Vec<f64>>>,
    pub(crate) n_folds: usize,
    pub(crate) model: &'static str,
    pub(crate) utility: &'static str,
}

/// Values the owners of a request. Contributions to test rows go to `explain`, if there is
/// one.
///
/// # Errors
///
/// [`Error`].
pub fn owners(
    request: &OwnersRequest,
    observer: &dyn Observer,
    explain: Option<&mut dyn Receiver>,
) -> Result<Report, Error> {
    let OwnersRequest { rows, method, given, outputs, resources, digests } = request;
    let open_if = |option: &OptionEntry| match given.list(option) {
        [] => Ok(None),
        files => open_given(files, given, outputs).map(Some),
    };
    if let [file] = rows.as_slice()
        && Path::new(file).extension().is_some_and(|extension| extension == "dshap")
    {
        return of_valuer(request, Path::new(file), observer, explain);
    }
    let rows = open_given(rows, given, outputs)?;
    let tables = OpenTables { rows, test: open_if(&TEST)?, own: open_if(&OWN)? };
    let mut report = owners_of(&tables, *method, given, resources, observer, explain)
        .map_err(|error| all_problems(error, &request.rows, given))?;
    let files = |source: &Source| InputFile::of(source, *digests);
    report.rows = files(&tables.rows)?;
    report.test = tables.test.as_ref().map(files).transpose()?;
    report.own = tables.own.as_ref().map(files).transpose()?;
    for source in [Some(&tables.rows), tables.test.as_ref(), tables.own.as_ref()].into_iter().flatten() {
        source.check_unchanged()?;
    }
    Ok(report)
}

/// The owners whose moments a valuer holds. Columns that need rows are absent.
fn of_valuer(
    request: &OwnersRequest,
    file: &Path,
    observer: &dyn Observer,
    explain: Option<&mut dyn Receiver>,
) -> Result<Report, Error> {
    let OwnersRequest { given, outputs, resources, digests, .. } = request;
    let valuer = FittedValuer::load(file)?;
    let name = || file.display().to_string();
    if valuer.owners.is_none() {
        return Err(OwnersFault::NoMoments { valuer: name() }.into());
    }
    let test = match given.list(&TEST) {
        [] => return Err(OwnersFault::NoTests { valuer: name() }.into()),
        files => open_given(files, given, outputs)?,
    };
    let own = match given.list(&OWN) {
        [] => None,
        files => Some(open_given(files, given, outputs)?),
    };
    let mut report = owners_of_valuer(&valuer, (&name(), test, own), given, resources, observer, explain)?;
    let files = |files: &[String]| InputFile::of(&open_given(files, given, outputs)?, *digests);
    report.rows = vec![InputFile::of_valuer(file, *digests)?];
    report.test = Some(files(given.list(&TEST))?);
    report.own = match given.list(&OWN) {
        [] => None,
        own => Some(files(own)?),
    };
    Ok(report)
}

/// The owners whose moments a valuer holds, measured on test rows; `name` is what the valuer
/// is called in messages. Columns that need rows are absent.
///
/// # Errors
///
/// [`OwnersFault::NoMoments`], and whatever is wrong with the tables.
pub fn owners_of_valuer(
    valuer: &FittedValuer,
    (name, test, own): (&str, Source, Option<Source>),
    given: &Given,
    resources: &Resources,
    observer: &dyn Observer,
    explain: Option<&mut dyn Receiver>,
) -> Result<Report, Error> {
    let saved = valuer.owners.as_ref().ok_or_else(|| OwnersFault::NoMoments { valuer: name.into() })?;
    let tables = OpenTables { rows: test.clone(), test: Some(test), own };
    let market = Market::of_valuer(&tables, valuer, &saved.by, given, resources.memory, observer)?;
    let mut explain = Explain::new(explain, given.has(&SEGMENT));
    let played = regression::play_saved(&market, saved, &mut explain)?;
    explain.finish()?;
    let values = match given.has(&GAME_ONLY) {
        true => OwnValues::default(),
        false => OwnValues::of_valuer(valuer, &played, given)?,
    };
    Ok(report(&market, played, values))
}

/// The same for tables that are open already, or in memory.
///
/// # Errors
///
/// [`Error`].
pub fn owners_of(
    tables: &OpenTables,
    method: Option<&'static Method>,
    given: &Given,
    resources: &Resources,
    observer: &dyn Observer,
    explain: Option<&mut dyn Receiver>,
) -> Result<Report, Error> {
    if given.has(&SEGMENT) && !given.has(&EXPLAIN_TEST) && explain.is_none() {
        return Err(OwnersFault::SegmentAlone.into());
    }
    let method = method.unwrap_or_else(|| methods::default_for(given.word(&TASK).and_then(Task::parse)));
    let market = Market::of(tables, method, given, resources.memory, observer)?;
    let mut explain = Explain::new(explain, given.has(&SEGMENT));
    let near = given.number(&NEAR).map(|tolerance| Near::of(&market, tolerance)).transpose()?;
    let played = match market.task {
        Task::Regression if !method.is_of_neighbours() => regression::play(&market, near, &mut explain)?,
        _ => held::play(&market, near, &mut explain)?,
    };
    explain.finish()?;
    let values = match given.has(&GAME_ONLY) {
        true => OwnValues::default(),
        false => OwnValues::of_rows(&market, &played, resources)?,
    };
    Ok(report(&market, played, values))
}

/// Puts everything together.
fn report(market: &Market<'_>, played: Played, values: OwnValues) -> Report {
    let Played { sorted, solved, copies: Copies { exact: repeats, near, .. }, .. } = &played;
    let measured = market.measured();
    let has_own = market.tables.own.is_some();
    let std_error = |owner: usize| {
        let of_tests = played.std_errors.as_ref().map(|errors| errors[owner]);
        let of_orders = solved.errors.as_ref().map(|errors| errors[owner]);
        match (of_tests, of_orders) {
            (Some(one), Some(two)) => Some(one.hypot(two)),
            (one, two) => one.or(two),
        }
    };
    let line = |(owner, name): (usize, &String)| {
        let sums = values.sums(name);
        let sums = sums.as_ref();
        let per_row = |count: f64, n: u64| (n > 0).then(|| count / n as f64);
        OwnerLine {
            owner: name.clone(),
            rows: sorted.n_rows[owner],
            row_sum: sums.map(|sums| sums.sum),
            row_sum_stderr: values.covariance.as_ref().map(|rows| rows[owner][owner].sqrt()),
            row_mean: sums.and_then(|sums| per_row(sums.sum, sums.n_rows)),
            below_zero: sums.and_then(|sums| per_row(sums.n_below as f64, sums.n_rows)),
            joint: values.joint(owner, 0),
            sizes: values.at_sizes(owner, sums),
            shapley: solved.shapley[owner],
            stderr: std_error(owner),
            given_own: has_own.then(|| solved.alone[owner] - solved.none),
            given_own_stderr: played.own_errors.as_ref().map(|errors| errors[owner]),
            duplicates: repeats.as_ref().map(|repeats| repeats.shared[owner] as u64),
            near: near.as_ref().map(|near| near.rows[owner]),
            near_repeated: near.as_ref().map(|near| near.within[owner]),
            repeated: repeats.as_ref().map(|repeats| repeats.within[owner] as u64),
        }
    };
    let owners: Vec<OwnerLine> = sorted.names.iter().enumerate().map(line).collect();
    let name = |owner: usize| sorted.names[owner].clone();
    let paired = |pair: &Paired| {
        let (g, h) = pair.owners;
        Interaction { a: name(g), b: name(h), value: pair.value, stderr: pair.error }
    };
    let mut interactions: Vec<Interaction> = solved.interactions.iter().map(paired).collect();
    interactions.sort_by(|one, two| one.value.total_cmp(&two.value));
    let shared = repeats.as_ref().map(|repeats| {
        let pairs = repeats.pairs.iter();
        let mut found: Vec<SharedRows> =
            pairs.map(|(&(g, h), &rows)| SharedRows { a: name(g), b: name(h), rows: rows as u64 }).collect();
        found.sort_by_key(|shared| std::cmp::Reverse(shared.rows));
        found
    });
    let mut warnings = owners_warnings(market, &played, shared.as_deref());
    warnings.extend(values.warnings);
    Report {
        version: env!("CARGO_PKG_VERSION"),
        task: market.task.name(),
        task_guessed: market.task_guessed,
        by: market.by.into(),
        row_method: values.by_owner.as_ref().map(|_| market.method.name()),
        model: played.model,
        utility: played.utility,
        owners,
        interactions,
        total: solved.all - solved.none,
        all: solved.all,
        none: solved.none,
        ridge: played.ridge,
        ridge_from: played.ridge_from,
        measured_on: measured,
        n_test: played.n_test,
        folds: played.n_folds,
        solved: solved.solving,
        seed: seed_in(market.given),
        n_without_owner: sorted.n_nobody,
        shared,
        near: near.as_ref().map(|near| near.pairs.clone()),
        duplicates_once: market.counts_once(),
        covariance: covariance(&played),
        given_own_covariance: played.own_covariance.clone(),
        row_sum_covariance: values.covariance,
        rows: Vec::new(),
        test: None,
        own: None,
        warnings,
    }
}

/// Covariances of the owners' values: those over test rows, and the errors of random orders, which each owner
/// has for itself.
fn covariance(played: &Played) -> Option<Vec<Vec<f64>>> {
    let mut found = played.covariance.clone()?;
    for (owner, error) in played.solved.errors.iter().flatten().enumerate() {
        found[owner][owner] += error * error;
    }
    Some(found)
}

/// What is doubtful about the game.
fn owners_warnings(market: &Market<'_>, played: &Played, shared: Option<&[SharedRows]>) -> Vec<Warning> {
    let mut warnings: Vec<OwnersWarning> = Vec::new();
    if played.sorted.n_nobody > 0 {
        let (n_rows, column) = (played.sorted.n_nobody, market.by.to_string());
        warnings.push(OwnersWarning::RowsWithoutOwner { n_rows, column });
    }
    if market.measured() == Measured::Rows {
        warnings.push(OwnersWarning::OwnersMeasure { n_rows: played.n_test });
    }
    if let (Some(repeats), Some([most, ..])) = (&played.copies.exact, shared) {
        warnings.push(OwnersWarning::SharedRows {
            n_rows: repeats.n_shared(),
            owners: (most.a.clone(), most.b.clone()),
            n_shared: most.rows as usize,
            once: market.counts_once(),
        });
    }
    if let Solving::Permutations { rounds, tolerance, reached: false } = played.solved.solving {
        warnings.push(OwnersWarning::RoughOrders { n_rounds: rounds, tolerance });
    }
    if played.std_errors.is_none() {
        warnings.push(OwnersWarning::OneTestRow);
    }
    warnings.into_iter().map(Warning::from).collect()
}
