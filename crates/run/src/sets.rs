//! Groups of rows, each valued as one set against a density.

use crate::at::require_column;
use crate::output::VALUE;
use crate::points::Points;
use crate::prepare::Prepared;
use crate::receiver::Receiver;
use crate::summary::{Summary, Tally};
use crate::value::{Job, Valued};
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap::Values;
use dshap::density::{DensityMethod, PairIntegrals, SetValue, SetValuer};
use dshap_catalogue::Given;
use dshap_catalogue::options::SYNERGY;
use dshap_models::density::DensityModel;
use dshap_models::{Error, Makes, Outcome, Stage, Warning};
use dshap_table::{ReadAs, Wanted};
use faer::MatRef;
use std::collections::HashMap;
use std::sync::Arc;

/// Most rows whose pairs with all others are averaged for the constant.
const PAIR_ROWS: usize = 20_000;

/// The rows of one set.
#[derive(Default)]
struct Members {
    /// Which of the usable rows they are.
    rows: Vec<usize>,
    /// How many more have a missing cell.
    n_left_out: usize,
    /// Their cells, one row after the other; not kept where the rows are
    /// reference rows, which the fit has.
    cells: Vec<f64>,
}

/// The sets of a table, in the order in which their names come.
#[derive(Default)]
struct Groups {
    places: HashMap<String, usize>,
    sets: Vec<(String, Members)>,
}

impl Groups {
    fn of(&mut self, name: &str) -> &mut Members {
        let place = *self.places.entry(name.into()).or_insert_with(|| {
            self.sets.push((name.into(), Members::default()));
            self.sets.len() - 1
        });
        &mut self.sets[place].1
    }

    fn find(&self, name: &str) -> Result<&Members, Error> {
        let known = |place: &usize| &self.sets[*place].1;
        self.places.get(name).map(known).ok_or_else(|| {
            let names = self.sets.iter().map(|(name, _)| name.as_str());
            let suggestion = dshap_table::closest(name, names).map(String::from);
            Error::NoSuchSet { name: name.into(), suggestion }
        })
    }
}

/// Values the sets of a table, named by a column, instead of its rows.
pub(crate) fn value(
    job: &Job<'_>,
    column: &str,
    given: &Given,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let Prepared { valuer, design, how, .. } = job.prepared;
    let leave_out = job.in_reference;
    let Some(model) = valuer.model.of::<DensityModel>() else {
        return Err(Error::NoSets { column: column.into() });
    };
    if leave_out && model.is_sample() {
        return Err(Error::SetsOfSample { n_reference: model.n_reference });
    }
    let wanted = Wanted { name: column.into(), read_as: ReadAs::Text };
    require_column(job.points, &wanted)?;
    let points = Points::carrying(job.points, design, vec![wanted], false);
    let (groups, counts) = read(job, &points, leave_out)?;
    if groups.sets.is_empty() && counts.n_points > 0 {
        return Err(Error::NoSets { column: column.into() });
    }
    let core = |error| Error::core(error, design);
    let integrals = PairIntegrals::of(&model.fit, PAIR_ROWS, how.seed()).map_err(core)?;
    let mut set_valuer =
        SetValuer::new(&model.fit, integrals, valuer.sizes(how)?.max(), 0.0).map_err(core)?;
    if let Makes::Density(make) = how.method.makes
        && let DensityMethod::Algorithm5(algorithm) = make(how)
    {
        set_valuer = set_valuer.by_drawing(algorithm);
    }
    let value = |members: &Members| set_value(&set_valuer, members, model, leave_out).map_err(core);
    let tally = match given.list(&SYNERGY) {
        [first, second] => synergy(&groups, (first, second), value, receiver)?,
        _ => value_groups(job, &groups, value, receiver)?,
    };
    let mut warnings = valuer.model.warnings(&job.ask(None))?;
    if counts.n_nowhere > 0 {
        warnings.push(Warning::RowsInNoSet { n_rows: counts.n_nowhere, column: column.into() });
    }
    let Counts { n_points, n_usable, .. } = counts;
    let outcome = Outcome::default();
    let valued = Valued { n_points, n_usable, tally, warnings, outcome, has_class_values: false };
    job.check_unchanged(&valued)?;
    job.summary(valued, Some(groups.sets.len()))
}

/// Values every set.
fn value_groups(
    job: &Job<'_>,
    groups: &Groups,
    value: impl Fn(&Members) -> Result<SetValue, Error>,
    receiver: &mut dyn Receiver,
) -> Result<Tally, Error> {
    let (observer, schema) = (job.observer, schema(job.extras.std_error));
    receiver.begin(&schema)?;
    observer.begin(Stage::Sets, groups.sets.len() as u64);
    let mut found = Vec::with_capacity(groups.sets.len());
    for (_, members) in &groups.sets {
        if observer.is_interrupted() {
            return Err(Error::Interrupted);
        }
        found.push(if members.rows.is_empty() { None } else { Some(value(members)?) });
        observer.advance(found.len() as u64, found.len() as u64);
    }
    observer.end();
    let valued: Vec<SetValue> = found.iter().flatten().copied().collect();
    let mut tally = Tally::new();
    tally.add(found.len(), &values(&valued));
    receiver.rows(table(groups, &found, &schema))?;
    Ok(tally)
}

/// Values two sets and their union.
fn synergy(
    groups: &Groups,
    (first, second): (&str, &str),
    value: impl Fn(&Members) -> Result<SetValue, Error>,
    receiver: &mut dyn Receiver,
) -> Result<Tally, Error> {
    let (one, two) = (groups.find(first)?, groups.find(second)?);
    if let Some((name, _)) = [(first, one), (second, two)].into_iter().find(|(_, set)| set.rows.is_empty()) {
        return Err(Error::EmptySet { name: name.into() });
    }
    let both = Members {
        rows: [one.rows.as_slice(), &two.rows].concat(),
        n_left_out: one.n_left_out + two.n_left_out,
        cells: [one.cells.as_slice(), &two.cells].concat(),
    };
    let found = [value(one)?, value(two)?, value(&both)?];
    let rows = synergy_row(first, second, found);
    receiver.begin(&rows.schema())?;
    let mut tally = Tally::new();
    tally.add(3, &values(&found));
    receiver.rows(rows)?;
    Ok(tally)
}

struct Counts {
    n_points: u64,
    n_usable: u64,
    n_nowhere: u64,
}

/// Reads all points and sorts them into sets.
fn read(job: &Job<'_>, points: &Points<'_>, leave_out: bool) -> Result<(Groups, Counts), Error> {
    let budget = job.budget().reserving(job.prepared.valuer.model.held_bytes());
    let mut groups = Groups::default();
    let (mut n_usable, mut n_nowhere) = (0, 0);
    let n_points = points.each(points.scan_options(budget)?, job.observer, |waiting| {
        let (place, encoded) = (waiting.place, waiting.encoded);
        let names = place.carried[0].as_string::<i32>();
        let mut i = 0;
        for (row, name) in names.iter().enumerate() {
            let is_usable = place.remaining.as_ref().is_none_or(|rows| rows.get(i) == Some(&row));
            match name.map(|name| groups.of(name)) {
                Some(members) if is_usable => {
                    members.rows.push(n_usable);
                    if !leave_out {
                        members.cells.extend((0..encoded.x.ncols()).map(|j| encoded.x[(i, j)]));
                    }
                }
                Some(members) => members.n_left_out += 1,
                None => n_nowhere += u64::from(is_usable),
            }
            i += usize::from(is_usable);
            n_usable += usize::from(is_usable);
        }
        Ok(encoded.x)
    })?;
    Ok((groups, Counts { n_points, n_usable: n_usable as u64, n_nowhere }))
}

fn set_value(
    valuer: &SetValuer<'_>,
    members: &Members,
    model: &DensityModel,
    leave_out: bool,
) -> Result<SetValue, dshap::Error> {
    if leave_out {
        return valuer.left_out(&members.rows);
    }
    let (n, p) = (members.rows.len(), model.fit.n_features());
    let number = members.rows.first().map_or(0, |row| *row as u64);
    valuer.numbered(MatRef::from_row_major_slice(&members.cells, n, p), number)
}

fn values(found: &[SetValue]) -> Values {
    Values { value: found.iter().map(|set| set.value).collect(), ..Values::default() }
}

fn schema(std_error: bool) -> SchemaRef {
    let number = |name: &str| Field::new(name, DataType::Float64, true);
    let mut fields = vec![
        Field::new("set", DataType::Utf8, false),
        Field::new("n", DataType::UInt64, false),
        number(VALUE),
    ];
    if std_error {
        fields.push(number("stderr"));
    }
    fields.push(number("relative"));
    fields.push(number("sum_of_members"));
    fields.push(Field::new("note", DataType::Utf8, true));
    Arc::new(Schema::new(fields))
}

/// What is not a number is an empty cell.
fn numbers(found: &[Option<SetValue>], of: fn(&SetValue) -> f64) -> ArrayRef {
    let cell = |set: &Option<SetValue>| set.as_ref().map(of).filter(|number| !number.is_nan());
    Arc::new(found.iter().map(cell).collect::<Float64Array>())
}

fn table(groups: &Groups, found: &[Option<SetValue>], schema: &SchemaRef) -> RecordBatch {
    let names: StringArray = groups.sets.iter().map(|(name, _)| Some(name.as_str())).collect();
    let sizes = UInt64Array::from_iter_values(groups.sets.iter().map(|(_, set)| set.rows.len() as u64));
    let note = |(_, set): &(String, Members)| match (set.n_left_out, set.rows.len()) {
        (0, _) => None,
        (_, 0) => Some("missing cells in every row".to_string()),
        (1, _) => Some("1 row left out for a missing cell".to_string()),
        (n, _) => Some(format!("{n} rows left out for missing cells")),
    };
    let mut columns: Vec<ArrayRef> = vec![Arc::new(names), Arc::new(sizes), numbers(found, |set| set.value)];
    if schema.column_with_name("stderr").is_some() {
        columns.push(numbers(found, |set| set.std_error));
    }
    columns.push(numbers(found, |set| set.relative));
    columns.push(numbers(found, |set| set.sum_of_members));
    columns.push(Arc::new(groups.sets.iter().map(note).collect::<StringArray>()));
    RecordBatch::try_new(schema.clone(), columns).expect("columns were built to the schema")
}

/// Two sets, what both are worth as one, and how much that is beyond the two.
fn synergy_row(first: &str, second: &str, [one, two, both]: [SetValue; 3]) -> RecordBatch {
    let word = |word: &str| -> ArrayRef { Arc::new(StringArray::from(vec![word])) };
    let number = |number: f64| -> ArrayRef { Arc::new(Float64Array::from(vec![number])) };
    let columns = [
        ("first", word(first)),
        ("second", word(second)),
        ("first_value", number(one.value)),
        ("second_value", number(two.value)),
        ("union_value", number(both.value)),
        ("synergy", number(both.value - one.value - two.value)),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of length one")
}
