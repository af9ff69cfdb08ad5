//! A fitted valuer in memory, ready to value tables in memory.

use crate::Error;
use crate::dense::Dense;
use crate::fitted::{ColumnStats, ColumnSums, Extras, FittedModel, RowValuer};
use crate::memory::Budget;
use crate::observer::{Observer, Stage};
use crate::output::part_name;
use crate::receiver::Receiver;
use crate::reference::{each_batch, moments_of};
use crate::request::{Against, Method, Overrides, Resources, ValueRequest};
use crate::saved::SavedValuer;
use crate::summary::Facts;
use crate::value::{Prepared, Tally, value_in_slices, value_prepared};
use crate::warnings;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use dshap::Values;
use dshap::linear::FitOptions;
use dshap_io::{Numbers, Source};
use dshap_table::{Design, Labels, Selection};
use std::hash::{DefaultHasher, Hasher};
use std::sync::OnceLock;

/// So few rows are valued at once, on the thread that asks.
const FEW_ROWS: usize = 256;

/// Everything that does not depend on the points is done before.
#[derive(Debug)]
pub struct Ready {
    prepared: Prepared,
    /// Absent for methods that draw.
    row_valuer: Option<RowValuer>,
    /// The same with standard errors, once they were asked for.
    with_errors: OnceLock<RowValuer>,
    /// Whether design columns are the features, one by one, and the target
    /// numbers.
    is_plain: bool,
}

/// How rows are to be valued.
#[derive(Debug, Clone, Copy, Default)]
pub struct How {
    /// They are the reference itself: each is valued against the others.
    pub leave_one_out: bool,
    /// Standard errors are wanted.
    pub std_error: bool,
    /// What explains the values is wanted, class by class where there are more
    /// than two.
    pub parts: bool,
}

/// Values as columns.
#[derive(Debug, Clone, Default)]
pub struct Valued {
    /// One for each row; NaN where a row has none.
    pub value: Vec<f64>,
    /// Their standard errors, where asked for.
    pub std_error: Option<Vec<f64>>,
    /// What explains them, where asked for.
    pub parts: Vec<(String, Vec<f64>)>,
    /// Why rows have no value.
    pub notes: Vec<(usize, String)>,
    /// Everything doubtful.
    pub warnings: Vec<String>,
}

impl Ready {
    /// A valuer that values by its own method, or as `overrides` say.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes, [`Error::NoRowsToDraw`] when a
    /// method draws sets and the valuer carries no rows.
    pub fn new(valuer: SavedValuer, overrides: &Overrides) -> Result<Self, Error> {
        let design =
            valuer.design.with_policies(overrides.missing, overrides.unseen, |j| valuer.model.mean(j));
        let is_plain = design.has_plain_features() && !matches!(design.labels(), Some(Labels::Text(_)));
        let method = valuer.method_over(overrides.method)?;
        let choice = overrides.sizes.or(valuer.choice);
        let row_valuer = match method {
            Method::General(options) => {
                valuer.drawer(options, choice)?;
                None
            }
            Method::Knn { .. } | Method::KnnShapley { .. } => {
                valuer.doubts_of_neighbours(method, choice)?;
                None
            }
            _ => Some(valuer.row_valuer(method, choice, Extras { by_class: true, ..Extras::default() })?),
        };
        let prepared = Prepared {
            valuer,
            design,
            method,
            choice,
            selection: Selection::default(),
            learned: None,
            reference: None,
        };
        Ok(Self { prepared, row_valuer, with_errors: OnceLock::new(), is_plain })
    }

    /// The valuer as it was fitted.
    pub fn valuer(&self) -> &SavedValuer {
        &self.prepared.valuer
    }

    /// How columns become numbers here.
    pub fn design(&self) -> &Design {
        &self.prepared.design
    }

    /// What is known about it.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for impossible set sizes.
    pub fn facts(&self) -> Result<Facts, Error> {
        Facts::of(&self.prepared.valuer, self.prepared.method, self.prepared.choice)
    }

    /// Whether values have standard errors.
    pub fn has_std_error(&self) -> bool {
        self.prepared.method.has_std_error()
    }

    /// Values rows of numbers where they are: features in the order of the
    /// design, then the target, then weights if they are left out. `None` if
    /// that cannot be done, because a cell is no finite number or the design is
    /// no table of numbers; [`value`](Self::value) then does it, or says why
    /// not.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`], [`Error::Core`].
    pub fn value_numbers(
        &self,
        numbers: &dyn Numbers,
        how: How,
        observer: &dyn Observer,
    ) -> Result<Option<Valued>, Error> {
        let design = &self.prepared.design;
        let n_more = numbers.n_columns().checked_sub(design.n_columns());
        let fits = self.is_plain && matches!(n_more, Some(1 | 2));
        let (true, Some(row_valuer)) = (fits, self.row_valuer(how.std_error)?) else { return Ok(None) };
        let dense = Dense::new(numbers, design.n_columns()).with_labels(design.labels());
        let mut valued = Valued::default();
        let mut tally = Tally::new();
        let mut add = |values: Values| {
            tally.add(values.len(), &values);
            valued.add(values, how, design);
        };
        if numbers.n_rows() <= FEW_ROWS && !row_valuer.is_slow() {
            match dense.few(|rows| row_valuer.values(rows, 0, how.leave_one_out)) {
                Some(values) => add(values),
                None => return Ok(None),
            }
        } else {
            let done = dense.each(usize::MAX, Stage::Value, observer, |start, rows| {
                value_in_slices(row_valuer, rows, start as u64, how.leave_one_out, observer, &mut add)
            })?;
            if !done {
                return Ok(None);
            }
        }
        valued.warnings = warnings::in_words(&tally.warnings(row_valuer.sizes()), design);
        Ok(Some(valued))
    }

    /// Values the rows of any table.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn value(&self, points: &Source, how: How, observer: &dyn Observer) -> Result<Valued, Error> {
        let request = ValueRequest {
            points: Vec::new(),
            against: Against::Fitted { leave_one_out: how.leave_one_out },
            std_error: how.std_error,
            per_class: how.parts,
            sets: None,
            digests: false,
            outputs: Vec::new(),
            resources: Resources::default(),
        };
        let mut columns = Columns::new(how);
        let summary = value_prepared(&request, points, &self.prepared, observer, &mut columns)?;
        columns.valued.warnings = summary.warnings;
        Ok(columns.valued)
    }

    /// A mark of the reference rows in a table, which is another when a bit of
    /// them is: for fits that, unlike moments, do not tell by themselves which
    /// rows they are of. It means something within one run of a program.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn mark_of(&self, table: &Source, observer: &dyn Observer) -> Result<u64, Error> {
        let mut hasher = DefaultHasher::new();
        let mut add = |numbers: &mut dyn Iterator<Item = &f64>| {
            numbers.for_each(|number| hasher.write_u64(number.to_bits()));
        };
        let design = &self.prepared.valuer.design;
        each_batch(table, design, Budget::new(None), Stage::Survey, observer, |rows| {
            rows.x().col_iter().for_each(|column| add(&mut column.iter()));
            add(&mut rows.y().iter());
            add(&mut rows.weights().unwrap_or_default().iter());
            Ok(())
        })?;
        Ok(hasher.finish())
    }

    /// Whether a table is the reference of the last fit: to the last bit of its
    /// moments, and in classification of the means and spreads of its columns,
    /// which is all that is kept of them (see [`mark_of`](Self::mark_of)).
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn was_fitted_to(&self, table: &Source, observer: &dyn Observer) -> Result<bool, Error> {
        let valuer = &self.prepared.valuer;
        if let Some(model) = valuer.model.neighbours() {
            let design = &valuer.design;
            return model.is_of(table, design, observer);
        }
        if let FittedModel::Density(model) = &valuer.model {
            let mut columns = ColumnSums::new(valuer.design.n_columns());
            let budget = Budget::new(None);
            let counts = each_batch(table, &valuer.design, budget, Stage::Fit, observer, |rows| {
                columns.add(rows);
                Ok(())
            })?;
            let n_rows = usize::try_from(counts.n_usable).ok();
            return Ok(n_rows == Some(model.n_reference) && columns.finish() == model.columns);
        }
        let form = match &valuer.model {
            FittedModel::Linear(model) => (model.options, Some(model.moments.form())),
            _ => (FitOptions::default(), None),
        };
        let (moments, _) = moments_of(table, &valuer.design, form, Budget::new(None), Stage::Fit, observer)?;
        Ok(moments.is_some_and(|moments| match &valuer.model {
            FittedModel::Linear(model) => moments == model.moments,
            FittedModel::Logistic(model) => ColumnStats::of(&moments) == model.columns,
            FittedModel::Density(_) | FittedModel::Neighbours(_) => false,
        }))
    }

    fn row_valuer(&self, with_errors: bool) -> Result<Option<&RowValuer>, Error> {
        if !with_errors || self.row_valuer.is_none() || !self.has_std_error() {
            return Ok(self.row_valuer.as_ref());
        }
        if let Some(row_valuer) = self.with_errors.get() {
            return Ok(Some(row_valuer));
        }
        let Prepared { valuer, method, choice, .. } = &self.prepared;
        let row_valuer = valuer.row_valuer(*method, *choice, Extras { std_error: true, by_class: true })?;
        Ok(Some(self.with_errors.get_or_init(|| row_valuer)))
    }
}

impl Valued {
    fn add(&mut self, values: Values, how: How, design: &Design) {
        let Values { value, std_error, parts, notes, .. } = values;
        let first_row = self.value.len();
        append(&mut self.value, value);
        if let (true, Some(errors)) = (how.std_error, std_error) {
            append(self.std_error.get_or_insert_default(), errors);
        }
        if how.parts {
            for (part, column) in parts {
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
pub(crate) struct Columns {
    valued: Valued,
    how: How,
}

impl Columns {
    pub(crate) fn new(how: How) -> Self {
        Self { valued: Valued::default(), how }
    }

    pub(crate) fn valued(self) -> Valued {
        self.valued
    }
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
                ("stderr", _) if self.how.std_error => {
                    append(self.valued.std_error.get_or_insert_default(), doubles(column));
                }
                ("note", _) => {
                    let notes = column.as_string::<i32>().iter().enumerate();
                    let notes = notes.filter_map(|(row, note)| Some((first_row + row, note?.to_owned())));
                    self.valued.notes.extend(notes);
                }
                (name, DataType::Float64) if self.how.parts && name != "stderr" => {
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
