//! Rows beside names: a table read batch by batch, with text columns such as owners.

use crate::at::{require_column, require_test_columns};
use crate::design::{LearnedDesign, Learning};
use crate::fit::{Tables, with_tables};
use crate::guess::settle_task;
use crate::memory::Budget;
use crate::points::Points;
use crate::prepare::{Against, Prepared};
use crate::receiver::Receiver;
use crate::request::Resources;
use crate::several_sizes;
use crate::summary::Summary;
use crate::value::Job;
use arrow_array::cast::AsArray;
use arrow_array::{Array, StringArray};
use dshap::Rows;
use dshap::linear::SumErrors;
use dshap_catalogue::{Given, Task};
use dshap_io::Source;
use dshap_models::{Error, Extras, Method, Observer};
use dshap_table::{Design, ReadAs, Wanted};
use faer::Mat;

/// How the columns of a table become numbers as a method needs them.
pub struct NamedDesign {
    /// The design.
    pub design: Design,
    /// What is predicted.
    pub task: Task,
    /// Whether the task was guessed from the target.
    pub task_guessed: bool,
}

impl NamedDesign {
    /// Learns the design from all rows of a table. Options that the method does not take
    /// are for somebody else.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn learn(
        source: &Source,
        method: &'static Method,
        given: &Given,
        memory: Option<u64>,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let (given, _) = several_sizes::split(given)?;
        let (task, _) = settle_task(source, &given)?;
        let is_taken = |option| method.entry.takes(option, Some(task)).is_some();
        let own = given.only(|option| !option.is_of_methods() || is_taken(option));
        let learning = Learning { source, given: &own, method, budget: Budget::new(memory), observer };
        let LearnedDesign { design, task, task_guessed, .. } = learning.design()?;
        Ok(Self { design, task, task_guessed })
    }
}

/// A table whose rows have names beside their numbers.
pub struct NamedTable<'a> {
    /// The rows.
    pub source: &'a Source,
    /// How they become numbers.
    pub design: &'a Design,
    /// Text columns that are read beside them.
    pub columns: &'a [&'a str],
    /// Most bytes to use, if there is a limit.
    pub memory: Option<u64>,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

/// Some rows as numbers, without those that have a missing cell.
pub struct NamedRows {
    /// The features, one column each.
    pub x: Mat<f64>,
    /// The targets.
    pub y: Vec<f64>,
    /// The number of the first row of the batch in its table.
    pub first_row: u64,
    /// Rows of the batch, those left out included.
    pub n_rows: usize,
    names: Vec<StringArray>,
    remaining: Option<Vec<usize>>,
}

impl NamedRows {
    /// The place of a usable row in the batch.
    pub fn place(&self, i: usize) -> usize {
        self.remaining.as_ref().map_or(i, |rows| rows[i])
    }

    /// The number of a usable row in its table.
    pub fn number(&self, i: usize) -> u64 {
        self.first_row + self.place(i) as u64
    }

    /// The cell of a text column beside a usable row; nothing if it is empty.
    pub fn name(&self, column: usize, i: usize) -> Option<&str> {
        let (cells, place) = (&self.names[column], self.place(i));
        cells.is_valid(place).then(|| cells.value(place))
    }
}

impl NamedTable<'_> {
    /// Hands over batch after batch; returns the number of rows read. What `work` returns
    /// is memory that serves again.
    ///
    /// # Errors
    ///
    /// What is wrong with the table, and the errors of `work`.
    pub fn each(
        &self,
        mut work: impl FnMut(NamedRows) -> Result<Mat<f64>, Error> + Send,
    ) -> Result<u64, Error> {
        require_test_columns(self.source, &self.design.wanted())?;
        let wanted = |name: &&str| Wanted { name: (*name).into(), read_as: ReadAs::Text };
        let carried: Vec<Wanted> = self.columns.iter().map(wanted).collect();
        for column in &carried {
            require_column(self.source, column)?;
        }
        let points = Points::carrying(self.source, self.design, carried, false);
        points.each(points.scan_options(Budget::new(self.memory))?, self.observer, |waiting| {
            let (place, encoded) = (waiting.place, waiting.encoded);
            work(NamedRows {
                x: encoded.x,
                y: encoded.y,
                first_row: place.first_row,
                n_rows: place.n_rows,
                names: place.carried.iter().map(|cells| cells.as_string::<i32>().clone()).collect(),
                remaining: place.remaining,
            })
        })
    }
}

/// Refuses bytes that exceed a limit on memory.
///
/// # Errors
///
/// [`Error::TooLittleMemory`].
pub fn check_memory(limit: Option<u64>, n_bytes: u64) -> Result<(), Error> {
    Budget::new(limit).check_held(n_bytes, 1.0)
}

/// What valued the rows of open tables.
pub struct OpenValuer {
    prepared: Prepared,
    memory: Option<u64>,
}

impl OpenValuer {
    /// The covariances of sums of values over groups of rows of the reference, which share one
    /// fit; one more pass over them. `members` says which groups have a row, and which share
    /// of its value. None for methods that do not know them.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn sum_covariance(
        &self,
        (source, column): (&Source, &str),
        n_groups: usize,
        observer: &dyn Observer,
        mut members: impl FnMut(&NamedRows, usize) -> Vec<(usize, f64)> + Send,
    ) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let Prepared { valuer, how, design, .. } = &self.prepared;
        let core = |error| Error::core(error, design);
        let extras = Extras { std_error: true, by_class: false };
        let Some(valuer) = valuer.valuer(how, extras)?.filter(|_| design.weight().is_none()) else {
            return Ok(None);
        };
        let Some(mut sums) = valuer.sums(n_groups, true) else { return Ok(None) };
        check_memory(self.memory, n_groups as u64 * SumErrors::group_bytes(design.n_columns()))?;
        let table = NamedTable { source, design, columns: &[column], memory: self.memory, observer };
        table.each(|rows| {
            let mut groups = vec![Vec::new(); n_groups];
            for i in 0..rows.y.len() {
                members(&rows, i).into_iter().for_each(|(group, share)| groups[group].push((i, share)));
            }
            let view = Rows::new(rows.x.as_ref(), &rows.y).map_err(core)?;
            sums.add(view, &groups).map_err(core)?;
            Ok(rows.x)
        })?;
        Ok(Some(sums.covariance()))
    }
}

/// Values the rows of open tables; each goes to `receiver` beside the columns that are
/// carried through. Names of owners are spelled as [`NamedRows`] spells them.
///
/// # Errors
///
/// [`Error`].
pub fn value_open(
    tables: &Tables,
    method: &'static Method,
    given: &Given,
    resources: &Resources,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<(Summary, OpenValuer), Error> {
    let (given, several) = several_sizes::split(given)?;
    let given = with_tables(&given, tables);
    let mut prepared = Prepared::of_tables(tables, method, &given, observer)?.for_sizes(&several);
    prepared.selection.by_is_name = true;
    let job = Job {
        prepared: &prepared,
        points: &tables.points,
        in_reference: matches!(prepared.against, Against::Themselves),
        extras: Extras::default(),
        judges: false,
        digests: false,
        resources,
        observer,
    };
    let summary = job.value(receiver)?;
    Ok((summary, OpenValuer { prepared, memory: resources.memory }))
}
