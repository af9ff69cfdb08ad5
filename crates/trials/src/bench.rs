//! Rows in memory, as each method sees them.

use crate::entrant::Entrant;
use crate::hand_out::{HandedOut, hand_out, method_of};
use crate::judging::set_apart;
use crate::measures::Kind;
use crate::orders::{Stream, seed_of};
use dshap::Sizes;
use dshap::neighbours::sample_rows;
use dshap_catalogue::options::{POSITIVE, Q, SEED, TARGET, TEST, UTILITY, WEIGHT};
use dshap_catalogue::{Given, Task};
use dshap_io::Source;
use dshap_models::sets::{AnyUtility, Baseline, Frame, Parts};
use dshap_models::{Error, HeldRows, How, Method, Observer, Quiet, RowRole, Warning};
use dshap_run::{HeldTable, Resources, open_given, settle_task};
use dshap_table::{Design, Labels};
use std::path::PathBuf;

/// Rows, and the methods they are to be valued by.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchRequest {
    /// Files with the rows.
    pub points: Vec<String>,
    /// The methods. Each gets the options it takes.
    pub methods: Vec<Entrant>,
    /// Every option as given. Its test files are for all methods that measure what
    /// sets are worth. Without them one row in five is kept back, if a method or a
    /// curve measures. If there are curves beside such methods, half of the test rows
    /// are for the methods and half for the curves.
    pub given: Given,
    /// Files that are about to be written, which must not be inputs.
    pub outputs: Vec<PathBuf>,
    /// Limits. There are no checkpoints.
    pub resources: Resources,
}

/// Rows in memory, and the methods they are valued by.
pub(crate) struct Bench {
    pub(crate) methods: Vec<Entrant>,
    /// Which options each method and the curves get.
    pub(crate) given: HandedOut,
    /// All rows, with a column less than levels for text.
    pub(crate) table: HeldTable,
    /// Rows to be valued, and test rows that methods value them by.
    pub(crate) parts: Parts,
    /// Test rows that curves are judged on, if they are others.
    judging: Option<HeldRows>,
    /// The same rows as neighbours see them, if that differs.
    near: Option<Near>,
    /// Rows that have numbers, before some were drawn for a trial.
    pub(crate) n_usable: usize,
    /// Whether test rows were given.
    has_tests: bool,
    /// Whether there are curves beside the methods.
    has_trial: bool,
    /// The fewest rows of a set on a curve, if given.
    q: Option<usize>,
    wants_brier: bool,
}

/// Tables that are open, and how much memory may be used.
pub(crate) struct Tables<'a> {
    pub(crate) points: &'a Source,
    pub(crate) test: Option<&'a Source>,
    pub(crate) memory: Option<u64>,
}

/// Rows with a column for every level of their text.
struct Near {
    design: Design,
    parts: Parts,
}

/// A trial is on this many rows at most. More would take minutes and change little:
/// what it finds depends on chance more than on further rows.
const MOST_TRIAL_ROWS: usize = 10_000;

/// Draws rows where there are more than a trial needs: the same ones whichever way they are encoded.
fn keep_some(rows: &mut HeldRows, seed: u64) {
    let n_rows = rows.n_rows();
    if n_rows > MOST_TRIAL_ROWS {
        *rows = rows.select_rows(&sample_rows(n_rows, MOST_TRIAL_ROWS, seed_of(seed, 0, Stream::Half)));
    }
}

/// Whether a method measures what sets of rows are worth.
fn measures(method: &Method) -> bool {
    method.baseline().is_some_and(Baseline::measures)
}

/// The seed of everything drawn.
pub(crate) fn seed_in(given: &Given) -> u64 {
    given.count(&SEED).unwrap_or(0)
}

impl Bench {
    /// Reads the rows of a request. With `has_trial`, sets of them are measured along
    /// curves beside the methods.
    pub(crate) fn read(
        request: &BenchRequest,
        methods: Vec<Entrant>,
        has_trial: bool,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let points = open_given(&request.points, &request.given, &request.outputs)?;
        let test = match request.given.list(&TEST) {
            [] => None,
            files => Some(open_given(files, &request.given, &request.outputs)?),
        };
        let tables = Tables { points: &points, test: test.as_ref(), memory: request.resources.memory };
        Self::of(tables, &request.given, methods, has_trial, observer)
    }

    /// The same for open tables.
    pub(crate) fn of(
        tables: Tables<'_>,
        given: &Given,
        methods: Vec<Entrant>,
        has_trial: bool,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        if given.has(&WEIGHT) {
            return Err(Error::WeightsInTrial);
        }
        // Options that do not go together are refused before the first pass.
        let (task, _) = settle_task(tables.points, given)?;
        let handed_out = hand_out(&methods, has_trial, task, given)?;

        let entered = || methods.iter().map(|entrant| entrant.method);
        let seed = seed_in(given);
        let has_tests = tables.test.is_some();
        let is_measured = has_trial || methods.iter().any(|entrant| measures(entrant.method));
        let looking = entered().find(|method| has_trial && looks_at_tests(method, has_tests));
        let divide = |table: &HeldTable, observer: &dyn Observer| {
            let test = tables.test.map(|test| table.read_tests(test, tables.memory, observer)).transpose()?;
            let mut parts = match test {
                None if !is_measured => Parts::whole(&table.rows, &table.design),
                test => Parts::split(&table.rows, None, test, seed, &table.design)?,
            };
            // The halves are the same whichever way rows are encoded: they depend on targets only.
            let half_seed = seed_of(seed, 0, Stream::Judging);
            let judging = looking.map(|method| set_apart(&mut parts, method, task, half_seed)).transpose()?;
            Ok::<_, Error>((parts, judging))
        };
        let columns = given
            .only(|option| !option.is_of_methods() || [TARGET.name, POSITIVE.name].contains(&option.name));
        let read = |method, observer: &dyn Observer| {
            HeldTable::read(tables.points, method, &columns, tables.memory, observer)
        };
        let mut table = read(method_of(Baseline::LeaveOneOut), observer)?;
        let n_usable = table.rows.n_rows();
        // Values that someone else computed belong to all rows.
        let is_sampled = has_trial && !methods.is_empty();
        let draw = |rows: &mut HeldRows| {
            if is_sampled {
                keep_some(rows, seed);
            }
        };
        draw(&mut table.rows);
        let (parts, judging) = divide(&table, observer)?;
        let of_neighbours = entered().find(|method| method.is_of_neighbours());
        let near = match of_neighbours.filter(|_| !table.design.has_plain_features()) {
            None => None,
            Some(method) => {
                let quiet = Quiet(observer);
                let mut near = read(method, &quiet)?;
                draw(&mut near.rows);
                number_classes_as(&table.design, &mut near)?;
                let (parts, _) = divide(&near, &quiet)?;
                Some(Near { design: near.design, parts })
            }
        };
        let (q, wants_brier) = (given.size(&Q), given.is(&UTILITY, "brier"));
        Ok(Self {
            methods,
            given: handed_out,
            table,
            parts,
            judging,
            near,
            n_usable,
            has_tests,
            has_trial,
            q,
            wants_brier,
        })
    }

    /// Names the methods that have no Brier score, if one was asked for.
    pub(crate) fn brier_warning(&self) -> Option<Warning> {
        let measuring = self.methods.iter().map(|entrant| entrant.method).filter(|method| measures(method));
        let names: Vec<&'static str> = measuring.map(|method| method.name()).collect();
        let is_missing = self.wants_brier && (self.has_trial || !names.is_empty());
        is_missing.then_some(Warning::NoBrier { methods: names, curves: self.has_trial })
    }

    /// Says how many rows were left out for a missing cell.
    pub(crate) fn missing_warning(&self, role: RowRole) -> Option<Warning> {
        Warning::rows_left_out(role, self.table.n_rows - self.n_usable as u64, &self.table.design)
    }

    /// What targets are.
    pub(crate) fn kind(&self) -> Kind {
        match self.table.task {
            Task::Classification => Kind::Labels(self.table.design.labels().map_or(2, Labels::n_classes)),
            Task::Regression | Task::Density => Kind::Numbers,
        }
    }

    /// The rows and test rows as a method sees them.
    pub(crate) fn seen_by(&self, method: &Method) -> (&Design, &Parts) {
        match &self.near {
            Some(near) if method.is_of_neighbours() => (&near.design, &near.parts),
            _ => (&self.table.design, &self.parts),
        }
    }

    /// Whether a method computes values from test rows.
    pub(crate) fn looks_at_tests(&self, method: &Method) -> bool {
        looks_at_tests(method, self.has_tests)
    }

    /// Test rows that curves are judged on.
    pub(crate) fn judging(&self) -> &HeldRows {
        self.judging.as_ref().unwrap_or(&self.parts.test)
    }

    /// How many test rows methods value by that curves are not judged on, and which
    /// methods do.
    pub(crate) fn valuing(&self) -> (usize, Vec<String>) {
        match self.judging {
            None => (0, Vec::new()),
            Some(_) => {
                let looking = self.methods.iter().filter(|entrant| self.looks_at_tests(entrant.method));
                (self.parts.test.n_rows(), looking.map(|entrant| entrant.name.clone()).collect())
            }
        }
    }

    /// How sets of rows are measured along orders.
    pub(crate) fn measure(&self) -> Result<Measure, Error> {
        let HeldTable { design, task, .. } = &self.table;
        let how = How { method: method_of(Baseline::LeaveOneOut), given: self.given.trial.clone() };
        let players = &self.parts.players;
        let frame = Frame::of(players, *task, &how, design).map_err(|error| self.parts.explain(error))?;
        // Models of hardly more rows than columns fit anything without a ridge. So curves have the
        // sets that count in values.
        let default = match (task, frame.ridge()) {
            (Task::Regression, Some(0.0)) => Sizes::default_min(frame.dim(), players.n_rows()),
            _ => 1,
        };
        let least_rows = self.q.unwrap_or(default).clamp(1, players.n_rows().max(1));
        let utility = frame.utility(self.judging(), least_rows, design)?;
        Ok(Measure { utility, seen: frame.see(players), name: frame.utility_name(), least_rows })
    }
}

/// Whether a method computes values from test rows. Neighbours do if test rows were
/// given; without them, they measure on the rows themselves.
fn looks_at_tests(method: &Method, are_given: bool) -> bool {
    measures(method) || are_given && method.is_of_neighbours()
}

/// Numbers the classes of a table as another design does. Neighbours do not ask
/// which of two labels counts as 1, but targets must be the same for all methods.
fn number_classes_as(design: &Design, table: &mut HeldTable) -> Result<(), Error> {
    let positive = |design: &Design| design.labels().and_then(Labels::positive);
    let Some(wanted) = positive(design).filter(|wanted| positive(&table.design).as_ref() != Some(wanted))
    else {
        return Ok(());
    };
    let renamed = table.design.clone().with_positive(&wanted);
    table.design = renamed.map_err(|error| Error::Table { location: None, error })?;
    table.rows.y_mut().iter_mut().for_each(|class| *class = 1.0 - *class);
    Ok(())
}

/// How sets of rows are measured along orders.
pub(crate) struct Measure {
    pub(crate) utility: AnyUtility,
    /// The rows as the utility sees them.
    pub(crate) seen: HeldRows,
    /// What it is called.
    pub(crate) name: &'static str,
    /// Sets of fewer rows have no model.
    pub(crate) least_rows: usize,
}
