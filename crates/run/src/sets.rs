//! `--sets`: groups of rows, each valued as one set against a density.

use crate::Error;
use crate::fitted::{DensityModel, Extras, FittedModel};
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::output::VALUE;
use crate::passes::Pass;
use crate::receiver::Receiver;
use crate::request::{Against, Method, SetsRequest, ValueRequest};
use crate::saved::files_in;
use crate::summary::{Facts, InputFile, Summary};
use crate::value::{Prepared, Tally, split};
use crate::warnings;
use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use dshap::Values;
use dshap::density::{PairIntegrals, SetValue, SetValuer};
use dshap_io::Source;
use dshap_table::{ReadAs, Wanted};
use faer::MatRef;
use std::collections::HashMap;
use std::sync::Arc;

/// Most rows whose pairs with all others are averaged for the constant.
const PAIR_ROWS: usize = 20_000;

/// What came of the sets.
struct SetsValued {
    n_points: u64,
    n_usable: u64,
    n_sets: usize,
    tally: Tally,
    said: Vec<String>,
}

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
            let closest = dshap_table::closest(name, names).map(|name| format!("; is it `{name}`?"));
            Error::Misplaced { what: format!("there is no set `{name}`{}", closest.unwrap_or_default()) }
        })
    }
}

/// Values the sets of a table, and says what ran.
pub(crate) fn summary_of_sets(
    request: &ValueRequest,
    sets: &SetsRequest,
    points: &Source,
    prepared: &Prepared,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<Summary, Error> {
    let valued = value_sets(request, sets, points, prepared, observer, receiver)?;
    let Prepared { valuer, method, choice, learned, reference, .. } = prepared;
    let leave_one_out = request.against.is_leave_one_out();
    let mut said = warnings::of_sources(points, reference.as_ref());
    if let Against::Valuer { file, .. } = &request.against {
        said.extend(warnings::of_points_in_reference(points, &files_in(&valuer.history), file)?);
    }
    said.extend(valuer.row_valuer(*method, *choice, Extras::default())?.warnings(&prepared.design));
    said.extend(valuer.doubts_of_density());
    said.extend(valued.said);
    if let Some(learned) = learned {
        if leave_one_out && (valued.n_usable, valued.n_points) != (learned.rows.n_usable, learned.rows.n_read)
        {
            return Err(Error::Changed { before: learned.rows.n_usable, after: valued.n_usable });
        }
        let n_left_out = learned.rows.n_left_out();
        said.extend(warnings::of_rows_left_out("reference", n_left_out, "has no part in the fit"));
    }
    if !leave_one_out {
        let n_left_out = valued.n_points - valued.n_usable;
        said.extend(warnings::of_rows_left_out("point", n_left_out, "is in no set"));
    }
    Ok(Summary {
        version: env!("CARGO_PKG_VERSION"),
        facts: Facts::of(valuer, *method, *choice)?,
        n_points: valued.n_points,
        leave_one_out,
        reference_passes: learned.as_ref().map_or(0, |learned| learned.n_passes),
        extra_passes: learned.as_ref().map_or(Vec::new(), |learned| learned.extra_passes.clone()),
        rounds: None,
        n_sets: Some(valued.n_sets),
        values: valued.tally.spread,
        warnings: said,
        points: InputFile::of(points, request.digests)?,
        reference: reference.as_ref().map(|source| InputFile::of(source, request.digests)).transpose()?,
        valuer: match &request.against {
            Against::Valuer { file, .. } => Some(InputFile::of_valuer(file, request.digests)?),
            _ => None,
        },
    })
}

/// Values the sets of a table.
fn value_sets(
    request: &ValueRequest,
    sets: &SetsRequest,
    points: &Source,
    prepared: &Prepared,
    observer: &dyn Observer,
    receiver: &mut dyn Receiver,
) -> Result<SetsValued, Error> {
    let Prepared { valuer, design, method, choice, .. } = prepared;
    let misplaced = |what: &str| Err(Error::Misplaced { what: what.into() });
    let FittedModel::Density(model) = &valuer.model else {
        return misplaced("`--sets` goes with `--task density`: only densities value sets");
    };
    if *method != Method::Closed {
        return misplaced("`--sets` goes with `--method closed`");
    }
    let leave_out = request.against.is_leave_one_out();
    if leave_out && model.is_sample() {
        return misplaced(
            "`--sets` values rows against the others, and so needs all of them: give `--samples` of at \
             least their number, or a `--reference`",
        );
    }
    let column = Wanted { name: sets.column.clone(), read_as: ReadAs::Text };
    Error::unless_has_column(points, &column)?;
    let (groups, counts) = read(request, column, points, prepared, leave_out, observer)?;
    if groups.sets.is_empty() && counts.n_points > 0 {
        return misplaced(&format!("column `{}` is empty in every row: it names no set", sets.column));
    }

    let core = |error| Error::core(error, design);
    let seed = model.choice.seed.unwrap_or(0);
    let integrals = PairIntegrals::of(&model.fit, PAIR_ROWS, seed).map_err(core)?;
    let m = valuer.sizes(*method, *choice)?.max();
    let set_valuer = SetValuer::new(&model.fit, integrals, m, 0.0).map_err(core)?;
    let value = |members: &Members| set_value(&set_valuer, members, model, leave_out).map_err(core);

    let mut tally = Tally::new();
    if let Some((first, second)) = &sets.synergy {
        let (one, two) = (groups.find(first)?, groups.find(second)?);
        for (name, members) in [(first, one), (second, two)] {
            if members.rows.is_empty() {
                let what = format!("every row of set `{name}` has a missing cell");
                return Err(Error::Misplaced { what });
            }
        }
        let both = Members {
            rows: [one.rows.as_slice(), &two.rows].concat(),
            n_left_out: one.n_left_out + two.n_left_out,
            cells: [one.cells.as_slice(), &two.cells].concat(),
        };
        let found = [value(one)?, value(two)?, value(&both)?];
        let rows = synergy_row(first, second, found);
        receiver.begin(&rows.schema())?;
        tally.add(3, &values(&found));
        receiver.rows(rows)?;
    } else {
        let schema = schema(request.std_error);
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
        tally.add(found.len(), &values(&valued));
        receiver.rows(table(&groups, &found, &schema))?;
    }
    let mut said = Vec::new();
    if counts.n_nowhere > 0 {
        said.push(format!(
            "{} {} in no set: `{}` is empty there",
            counts.n_nowhere,
            if counts.n_nowhere == 1 { "row is" } else { "rows are" },
            sets.column
        ));
    }
    let Counts { n_points, n_usable, .. } = counts;
    Ok(SetsValued { n_points, n_usable, n_sets: groups.sets.len(), tally, said })
}

struct Counts {
    n_points: u64,
    n_usable: u64,
    n_nowhere: u64,
}

/// Reads all points and sorts them into sets.
fn read(
    request: &ValueRequest,
    column: Wanted,
    points: &Source,
    prepared: &Prepared,
    leave_out: bool,
    observer: &dyn Observer,
) -> Result<(Groups, Counts), Error> {
    let Prepared { valuer, design, .. } = prepared;
    let mut wanted = design.wanted();
    let n_design = wanted.len();
    wanted.push(column);
    let budget = Budget::new(request.resources.memory).reserving(valuer.model.held_bytes());
    let options = budget.scan_options(points, &wanted, design.n_encoded())?;
    let pass = Pass { source: points, wanted: &wanted, options, stage: Stage::Value, observer };
    let mut groups = Groups::default();
    let (mut n_usable, mut n_nowhere) = (0, 0);
    let n_points = pass.run(|batch| {
        let (design_part, rest) = split(&batch.rows, n_design);
        let encoded = design.encode(&design_part).map_err(|e| Error::at(e, points, batch.first_row))?;
        let names = rest[0].as_string::<i32>();
        let mut i = 0;
        for (row, name) in names.iter().enumerate() {
            let is_usable = encoded.remaining.as_ref().is_none_or(|rows| rows.get(i) == Some(&row));
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
        Ok(())
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
    valuer.value(MatRef::from_row_major_slice(&members.cells, n, p))
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
