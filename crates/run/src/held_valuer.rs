//! A fitted valuer in memory, ready to value tables in memory.

use crate::explain::explain_job;
use crate::fit::{Tables, with_tables};
use crate::in_place::InPlace;
use crate::memory::{Budget, spare_bytes};
use crate::output::{is_label, part_name};
use crate::prepare::{Against, Prepared};
use crate::receiver::Receiver;
use crate::request::Resources;
use crate::settings;
use crate::slices::value_in_slices;
use crate::summary::{Summary, Tally};
use crate::table::Table;
use crate::value::Job;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use dshap::neighbours::TestMeans;
use dshap::{Place, Valuer, Values, Wants};
use dshap_catalogue::Given;
use dshap_io::{Numbers, Source};
use dshap_models::neighbours::NeighbourModel;
use dshap_models::{
    Ask, Error, Extras, Facts, FittedValuer, How, Method, Observer, Pass, Reference, RowExplanation, Stage,
    Warning,
};
use dshap_table::{Design, Labels};
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::OnceLock;

/// Up to this many rows are valued at once, on the thread that asks.
const FEW_ROWS: usize = 256;

/// A valuer for which everything that does not depend on the points is done.
#[derive(Debug)]
pub struct ReadyValuer {
    prepared: Prepared,
    /// Absent for methods that do not value row by row.
    valuer: Option<Box<dyn Valuer>>,
    /// The same with standard errors, once they were asked for.
    with_errors: OnceLock<Box<dyn Valuer>>,
    /// Whether design columns are the features, one by one, and the target holds
    /// numbers.
    is_plain: bool,
}

/// What is wanted of rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted {
    /// They are the reference itself: each is valued against the others.
    pub leave_one_out: bool,
    /// Standard errors.
    pub std_error: bool,
    /// The parts of the values, class by class where there are more than two.
    pub parts: bool,
}

/// Values as columns.
#[derive(Debug, Clone, Default)]
pub struct Valued {
    /// One for each row; NaN where a row has none.
    pub value: Vec<f64>,
    /// Their standard errors, where asked for.
    pub std_error: Option<Vec<f64>>,
    /// The parts, where asked for.
    pub parts: Vec<(String, Vec<f64>)>,
    /// Why rows have no value.
    pub notes: Vec<(usize, String)>,
    /// What is doubtful.
    pub warnings: Vec<Warning>,
}

/// Fits a reference and values rows, with nothing kept: what baselines need, and
/// any method can do.
///
/// # Errors
///
/// [`Error`].
pub fn value_tables(
    tables: &Tables,
    method: &'static Method,
    given: &Given,
    wanted: Wanted,
    observer: &dyn Observer,
) -> Result<(Valued, Summary), Error> {
    let given = with_tables(given, tables);
    How::new(method, settings::task(&given), given.clone())?;
    let prepared = Prepared::of_tables(tables, method, &given, observer)?;
    let (valued, summary) = value_prepared(&prepared, &tables.points, wanted, observer)?;
    Ok((valued, summary))
}

fn value_prepared(
    prepared: &Prepared,
    points: &Source,
    wanted: Wanted,
    observer: &dyn Observer,
) -> Result<(Valued, Summary), Error> {
    let job = Job {
        prepared,
        points,
        in_reference: match prepared.against {
            Against::Fitted => wanted.leave_one_out,
            _ => matches!(prepared.against, Against::Themselves),
        },
        extras: Extras { std_error: wanted.std_error, by_class: wanted.parts },
        judges: false,
        digests: false,
        resources: &Resources::default(),
        observer,
    };
    let mut columns = Columns { valued: Valued::default(), wanted };
    let summary = job.value(&mut columns)?;
    columns.valued.warnings = summary.warnings.clone();
    Ok((columns.valued, summary))
}

impl ReadyValuer {
    /// A valuer that values by its own method and settings, or by those given.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes, [`Error::Incomplete`] when the
    /// valuer lacks what the method needs.
    pub fn new(valuer: FittedValuer, method: Option<&'static Method>, given: &Given) -> Result<Self, Error> {
        let prepared = Prepared::by_valuer(valuer, method, given, Against::Fitted)?;
        let design = &prepared.design;
        let is_plain = design.has_plain_features() && !matches!(design.labels(), Some(Labels::Text(_)));
        let extras = Extras { by_class: true, ..Extras::default() };
        let valuer = prepared.valuer.valuer(&prepared.how, extras)?;
        if valuer.is_none() {
            // Whether rows can be valued at all.
            prepared.valuer.model.warnings(&prepared.valuer.ask(&prepared.how))?;
        }
        Ok(Self { prepared, valuer, with_errors: OnceLock::new(), is_plain })
    }

    /// The valuer as it was fitted.
    pub fn valuer(&self) -> &FittedValuer {
        &self.prepared.valuer
    }

    /// How columns become numbers here.
    pub fn design(&self) -> &Design {
        &self.prepared.design
    }

    /// How rows are valued.
    pub fn how(&self) -> &How {
        &self.prepared.how
    }

    /// What is known about it.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes.
    pub fn facts(&self) -> Result<Facts, Error> {
        Facts::of(&self.prepared.valuer, &self.prepared.how)
    }

    /// Whether values have standard errors.
    pub fn has_std_error(&self) -> bool {
        self.prepared.how.method.entry.has_std_errors()
    }

    /// Values rows of numbers where they are: features in the order of the design,
    /// then the target, then weights if they are left out. `None` if that cannot be
    /// done, because a cell is no finite number or the design is no table of
    /// numbers; [`value`](Self::value) then does it, or says why not.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`], [`Error::Core`].
    pub fn value_numbers(
        &self,
        numbers: &dyn Numbers,
        wanted: Wanted,
        observer: &dyn Observer,
    ) -> Result<Option<Valued>, Error> {
        let design = &self.prepared.design;
        let n_more = numbers.n_columns().checked_sub(design.n_columns());
        let fits = self.is_plain && matches!(n_more, Some(1 | 2));
        let (true, Some(valuer)) = (fits, self.row_valuer(wanted.std_error)?) else { return Ok(None) };
        let rows = InPlace::new(numbers, design.n_columns()).with_labels(design.labels());
        let in_reference = wanted.leave_one_out;
        let go_on = |_: usize, _: usize| !observer.is_interrupted();
        let mut valued = Valued::default();
        let mut tally = Tally::new();
        let mut add = |values: Values| {
            tally.add(values.len(), &values);
            valued.add(values, wanted, design);
        };
        match valuer.wants() {
            Wants::Batches if numbers.n_rows() <= FEW_ROWS => {
                let place = Place { first_row: 0, in_reference };
                match rows.few(|rows| valuer.values_at(rows, place, &go_on)) {
                    Some(values) => add(values),
                    None => return Ok(None),
                }
            }
            wants => {
                let done = rows.each(usize::MAX, Stage::Value, observer, |start, rows| {
                    let place = Place { first_row: start as u64, in_reference };
                    let values = match wants {
                        Wants::Slices(least) => value_in_slices(
                            rows,
                            place,
                            least,
                            observer,
                            |_| (),
                            |rows, place| {
                                valuer.values_at(rows, place, &go_on).map_err(|e| Error::core(e, design))
                            },
                        )
                        .map_err(core_again)?,
                        _ => valuer.values_at(rows, place, &go_on)?,
                    };
                    add(values);
                    Ok(())
                })?;
                if !done {
                    return Ok(None);
                }
            }
        }
        valued.warnings = Warning::of_core(tally.warnings(valuer.sizes()), design);
        Ok(Some(valued))
    }

    /// Values the rows of any table.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn value(&self, points: &Source, wanted: Wanted, observer: &dyn Observer) -> Result<Valued, Error> {
        if !wanted.leave_one_out {
            self.keep_lists(observer)?;
        }
        value_prepared(&self.prepared, points, wanted, observer).map(|(valued, _)| valued)
    }

    /// Sorts the reference of nearest neighbours once for all unseen rows to come, if there
    /// is memory for that. It takes as long as sorting it for one call.
    fn keep_lists(&self, observer: &dyn Observer) -> Result<(), Error> {
        let Prepared { valuer, how, .. } = &self.prepared;
        let Some(model) = valuer.model.of::<NeighbourModel>() else { return Ok(()) };
        model.keep_lists(&Ask { observer, ..valuer.ask(how) }, spare_bytes()).map(|_| ())
    }

    /// The standard errors of the sums of the values of groups of rows, which share one
    /// fit. None where the method does not know them, or rows were left out.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn sum_errors(
        &self,
        points: &Source,
        groups: &[Vec<usize>],
        leave_one_out: bool,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<f64>>, Error> {
        let design = &self.prepared.design;
        let (Some(valuer), None) = (self.row_valuer(true)?, design.weight()) else { return Ok(None) };
        let budget = Budget::new(None);
        let table = Table { source: points, design, is_reference: leave_one_out, budget, observer };
        let (held, counts) = table.hold(Stage::Value)?;
        if counts.n_usable != counts.n_read {
            return Ok(None);
        }
        let rows = held.rows().map_err(|error| Error::core(error, design))?;
        valuer.sum_errors(rows, groups, leave_one_out).map_err(|error| Error::core(error, design))
    }

    /// Values rows of the reference, each against the others, that are numbered from
    /// `first_row` on: for methods that know the reference rows by their numbers.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn value_from(
        &self,
        points: &Source,
        first_row: u64,
        wanted: Wanted,
        observer: &dyn Observer,
    ) -> Result<Valued, Error> {
        let Prepared { design, how, .. } = &self.prepared;
        let incomplete = || Error::Incomplete { method: how.method.name(), needs: None };
        let valuer = self.row_valuer(wanted.std_error)?.ok_or_else(incomplete)?;
        let go_on = |_: usize, _: usize| !observer.is_interrupted();
        let mut valued = Valued::default();
        Table::reference(points, design, Budget::new(None), observer).each(
            Pass::new(Stage::Value),
            &mut |rows, _| {
                let first_row = first_row + valued.value.len() as u64;
                let values = valuer.values_at(rows, Place { first_row, in_reference: true }, &go_on)?;
                valued.add(values, wanted, design);
                Ok(())
            },
        )?;
        Ok(valued)
    }

    /// The columns that explain values, in order.
    pub fn part_names(&self) -> Vec<String> {
        let parts = self.valuer.as_ref().map(|valuer| valuer.parts()).unwrap_or_default();
        parts.into_iter().map(|part| part_name(part, &self.prepared.design).to_string()).collect()
    }

    /// Test rows of nearest neighbours that are held; 0 for other methods.
    pub fn n_tests(&self) -> usize {
        self.prepared.valuer.model.of::<NeighbourModel>().map_or(0, NeighbourModel::n_tests)
    }

    /// What some test rows say about all rows of a reference of nearest neighbours, each
    /// against the others.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn own_means(&self, tests: Range<usize>, observer: &dyn Observer) -> Result<TestMeans, Error> {
        let Prepared { valuer, design, how, .. } = &self.prepared;
        let ask = Ask { how, design, extras: Extras::default(), in_reference: true, tests: None, observer };
        match valuer.model.of::<NeighbourModel>() {
            Some(model) => model.own_means(ask, tests),
            None => Err(ask.incomplete()),
        }
    }

    /// Explains the value of a row of any table, or of the reference itself.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn explain(
        &self,
        points: &Source,
        row: u64,
        leave_one_out: bool,
        observer: &dyn Observer,
    ) -> Result<RowExplanation, Error> {
        let job = Job {
            prepared: &self.prepared,
            points,
            in_reference: leave_one_out,
            extras: Extras::default(),
            judges: false,
            digests: false,
            resources: &Resources::default(),
            observer,
        };
        let explained = explain_job(&job, &[row])?;
        explained.rows.into_iter().next().ok_or(Error::NothingLeft)
    }

    /// A mark of the reference rows in a table, which changes when a bit of them
    /// does: for fits that, unlike moments, do not tell by themselves which rows they
    /// are of. It means something within one run of a program.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn mark_of(&self, table: &Source, observer: &dyn Observer) -> Result<u64, Error> {
        let mut hasher = DefaultHasher::new();
        let mut add = |numbers: &mut dyn Iterator<Item = &f64>| {
            numbers.for_each(|number| hasher.write_u64(number.to_bits()));
        };
        let table = Table::reference(table, &self.prepared.valuer.design, Budget::new(None), observer);
        table.each(Pass::new(Stage::Survey), &mut |rows, _| {
            rows.x().col_iter().for_each(|column| add(&mut column.iter()));
            add(&mut rows.y().iter());
            add(&mut rows.weights().unwrap_or_default().iter());
            Ok(())
        })?;
        Ok(hasher.finish())
    }

    /// Whether a table is the reference of the last fit, as far as the fit can tell
    /// (see [`mark_of`](Self::mark_of)).
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn was_fitted_to(&self, table: &Source, observer: &dyn Observer) -> Result<bool, Error> {
        let valuer = &self.prepared.valuer;
        valuer.model.is_of(&Table::reference(table, &valuer.design, Budget::new(None), observer))
    }

    fn row_valuer(&self, with_errors: bool) -> Result<Option<&dyn Valuer>, Error> {
        if !with_errors || self.valuer.is_none() || !self.has_std_error() {
            return Ok(self.valuer.as_deref());
        }
        if let Some(valuer) = self.with_errors.get() {
            return Ok(Some(valuer.as_ref()));
        }
        let extras = Extras { std_error: true, by_class: true };
        let made = self.prepared.valuer.valuer(&self.prepared.how, extras)?;
        Ok(made.map(|valuer| self.with_errors.get_or_init(|| valuer).as_ref()))
    }
}

/// The error of core inside an error, for closures that return those of core.
fn core_again(error: Error) -> dshap::Error {
    match error {
        Error::Core { error, .. } => error,
        _ => dshap::Error::Interrupted,
    }
}

impl Valued {
    fn add(&mut self, values: Values, wanted: Wanted, design: &Design) {
        let Values { value, std_error, parts, notes, .. } = values;
        let first_row = self.value.len();
        append(&mut self.value, value);
        if let (true, Some(errors)) = (wanted.std_error, std_error) {
            append(self.std_error.get_or_insert_default(), errors);
        }
        if wanted.parts {
            // Labels are no numbers.
            for (part, column) in parts.into_iter().filter(|(part, _)| !is_label(*part)) {
                append(self.part(&part_name(part, design)), column);
            }
        }
        self.notes.extend(notes.into_iter().map(|(row, note)| (first_row + row, note.text().into())));
    }

    fn part(&mut self, name: &str) -> &mut Vec<f64> {
        let at = self.parts.iter().position(|(have, _)| have == name).unwrap_or_else(|| {
            self.parts.push((name.into(), Vec::new()));
            self.parts.len() - 1
        });
        &mut self.parts[at].1
    }
}

/// The first column becomes the whole; often it is all there is.
fn append(column: &mut Vec<f64>, more: Vec<f64>) {
    if column.is_empty() {
        *column = more;
    } else {
        column.extend(more);
    }
}

/// Takes the output of a run apart.
struct Columns {
    valued: Valued,
    wanted: Wanted,
}

impl Receiver for Columns {
    fn begin(&mut self, _: &SchemaRef) -> Result<(), Error> {
        Ok(())
    }

    fn rows(&mut self, rows: RecordBatch) -> Result<(), Error> {
        let first_row = self.valued.value.len();
        let schema = rows.schema();
        for (field, column) in schema.fields().iter().zip(rows.columns()) {
            match (field.name().as_str(), field.data_type()) {
                ("value", _) => append(&mut self.valued.value, doubles(column)),
                ("stderr", _) if self.wanted.std_error => {
                    append(self.valued.std_error.get_or_insert_default(), doubles(column));
                }
                ("note", _) => {
                    let notes = column.as_string::<i32>().iter().enumerate();
                    let notes = notes.filter_map(|(row, note)| Some((first_row + row, note?.to_owned())));
                    self.valued.notes.extend(notes);
                }
                (name, DataType::Float64) if self.wanted.parts && name != "stderr" => {
                    append(self.valued.part(name), doubles(column));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn doubles(column: &ArrayRef) -> Vec<f64> {
    let column = column.as_primitive::<Float64Type>();
    match column.null_count() {
        0 => column.values().to_vec(),
        _ => column.iter().map(|cell| cell.unwrap_or(f64::NAN)).collect(),
    }
}
