//! Open tables, and how their columns become numbers.

use crate::report::Measured;
use crate::request::OpenTables;
use crate::roster::{Roster, Sorted};
use dshap::owners::{Fingerprints, Repeats, fingerprints};
use dshap_catalogue::options::{
    BANDWIDTH, BY, DUPLICATES, GAME_ONLY, K, KERNEL, METRIC, NEAR, RIDGE, SAMPLES, SCALE, SEGMENT, STOP,
    TEST, UTILITY,
};
use dshap_catalogue::{Given, OptionEntry, Task};
use dshap_io::Source;
use dshap_models::{Error, FittedValuer, Method, Observer, OwnersFault};
use dshap_run::{NamedDesign, NamedTable, check_memory};
use dshap_table::Design;

/// Everything a game is played with.
pub(crate) struct Market<'a> {
    pub(crate) tables: &'a OpenTables,
    pub(crate) design: Design,
    pub(crate) task: Task,
    pub(crate) task_guessed: bool,
    pub(crate) method: &'static Method,
    pub(crate) given: &'a Given,
    pub(crate) by: &'a str,
    pub(crate) memory: Option<u64>,
    pub(crate) observer: &'a dyn Observer,
}

impl<'a> Market<'a> {
    /// Learns how columns become numbers, from the rows of the owners.
    pub(crate) fn of(
        tables: &'a OpenTables,
        method: &'static Method,
        given: &'a Given,
        memory: Option<u64>,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let by = given.word(&BY).ok_or(OwnersFault::NoColumn)?;
        if method.baseline().is_some() {
            return Err(OwnersFault::NoGame { method: method.name() }.into());
        }
        let named = NamedDesign::learn(&tables.rows, method, given, memory, observer)?;
        let NamedDesign { design, task, task_guessed } = named;
        let market = Self { tables, design, task, task_guessed, method, given, by, memory, observer };
        let useless = given.options().find(|option| option.is_of_methods() && !market.has_use_for(option));
        match useless {
            Some(option) => Err(OwnersFault::NotForOwners { option: option.name, task }.into()),
            None => Ok(market),
        }
    }

    /// A saved valuer instead of rows: `tables` has test rows in their place.
    pub(crate) fn of_valuer(
        tables: &'a OpenTables,
        valuer: &FittedValuer,
        by: &'a str,
        given: &'a Given,
        memory: Option<u64>,
        observer: &'a dyn Observer,
    ) -> Result<Self, Error> {
        let is_settled = |option: &&OptionEntry| {
            let is_own = [TEST.name, BY.name, RIDGE.name, STOP.name, SAMPLES.name].contains(&option.name);
            !is_own && (option.is_fixed_by_valuer() || [DUPLICATES.name, NEAR.name].contains(&option.name))
        };
        if let Some(option) = given.options().find(is_settled) {
            return Err(match [DUPLICATES.name, NEAR.name].contains(&option.name) {
                true => OwnersFault::NeedsRows { option: option.name }.into(),
                false => Error::SettledByValuer { option: option.name },
            });
        }
        Ok(Self {
            tables,
            design: valuer.design.clone(),
            task: valuer.task(),
            task_guessed: valuer.task_guessed,
            method: valuer.how.method,
            given,
            by,
            memory,
            observer,
        })
    }

    /// Whether the game, or the values of rows, depend on an option of methods.
    fn has_use_for(&self, option: &OptionEntry) -> bool {
        let is = |options: &[&OptionEntry]| options.iter().any(|other| other.name == option.name);
        let of_game = match (self.method.is_of_neighbours(), self.task) {
            (true, _) => is(&[&K, &METRIC, &SCALE]),
            (false, Task::Regression) => is(&[&RIDGE]),
            (false, Task::Classification) => is(&[&RIDGE, &UTILITY]),
            (false, Task::Density) => is(&[&KERNEL, &BANDWIDTH, &SCALE]),
        };
        of_game || is(&[&TEST, &STOP, &SAMPLES]) || self.method.entry.takes(option, Some(self.task)).is_some()
    }

    /// Which rows measure utility.
    pub(crate) fn measured(&self) -> Measured {
        match (&self.tables.test, &self.tables.own) {
            (Some(_), _) => Measured::Test,
            (None, Some(_)) => Measured::Own,
            (None, None) => Measured::Rows,
        }
    }

    /// The rows that measure utility.
    pub(crate) fn measuring(&self) -> &Source {
        let OpenTables { rows, test, own } = self.tables;
        test.as_ref().or(own.as_ref()).unwrap_or(rows)
    }

    /// Whether somebody looks for rows that occur more than once.
    pub(crate) fn looks_for_duplicates(&self) -> bool {
        !self.given.has(&GAME_ONLY) || self.counts_once()
    }

    /// Whether copies of a row count once.
    pub(crate) fn counts_once(&self) -> bool {
        self.given.is(&DUPLICATES, "once")
    }

    /// The column of test rows that segments are taken from.
    pub(crate) fn segment(&self) -> Option<&str> {
        self.given.word(&SEGMENT)
    }

    /// A table with text columns beside its rows.
    pub(crate) fn table<'b>(&'b self, source: &'b Source, columns: &'b [&'b str]) -> NamedTable<'b> {
        NamedTable { source, design: &self.design, columns, memory: self.memory, observer: self.observer }
    }

    /// An error of the arithmetic, with the names of columns.
    pub(crate) fn core(&self, error: dshap::Error) -> Error {
        Error::core(error, &self.design)
    }

    /// One pass that only counts rows and looks for copies.
    pub(crate) fn survey(&self) -> Result<(Sorted, Repeats), Error> {
        let (mut roster, mut prints) = (Roster::default(), Fingerprints::default());
        self.table(&self.tables.rows, &[self.by]).each(|rows| {
            for (i, print) in fingerprints(rows.x.as_ref(), &rows.y).into_iter().enumerate() {
                if let Some(owner) = roster.count(rows.name(0, i)) {
                    prints.push(print, owner, rows.number(i));
                }
            }
            check_memory(self.memory, prints.n_rows() as u64 * Fingerprints::ROW_BYTES)?;
            Ok(rows.x)
        })?;
        let sorted = self.named(roster)?;
        let repeats = prints.repeats(sorted.names.len(), |owner| sorted.rank[owner]);
        Ok((sorted, repeats))
    }

    /// Owners by name, unless there are none.
    pub(crate) fn named(&self, roster: Roster) -> Result<Sorted, Error> {
        match roster.len() {
            0 => Err(OwnersFault::NoOwner { column: self.by.into() }.into()),
            _ => Ok(roster.sorted()),
        }
    }
}
