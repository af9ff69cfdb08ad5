//! The closed forms themselves, for given numbers.

use crate::output::free_name;
use crate::{Error, Receiver};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use dshap::Sizes;
use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
use dshap_io::{ScanOptions, Source};
use dshap_table::{ReadAs, Wanted};
use rayon::prelude::*;
use std::sync::Arc;

/// The numbers Theorem 2 takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegressionCase {
    /// `p`, the number of design columns.
    pub dim: usize,
    /// `q` and `m`.
    pub sizes: Sizes,
    /// Squared distance, squared residual and noise variance.
    pub stats: PointStats,
    /// `C` of the full value, if wanted.
    pub full_constant: Option<f64>,
}

/// What Theorem 2 makes of them. A form that does not exist for these sizes is
/// absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RegressionForms {
    /// The expected drop in squared error (`q ≥ p + 3`).
    pub gain: Option<f64>,
    /// With Theorem 2's constant (`q ≥ p + 2`).
    pub simple: Option<f64>,
    /// The full value, given `C` (`q ≥ p + 2`).
    pub full: Option<f64>,
    /// The sum as printed, off by one (`q ≥ p + 1`).
    pub printed: Option<f64>,
}

impl RegressionCase {
    /// Checks numbers as a user gives them.
    ///
    /// # Errors
    ///
    /// What is wrong with the first of them that is.
    pub fn new(
        p: f64,
        q: f64,
        m: f64,
        d2: f64,
        e2: f64,
        sigma2: f64,
        c: Option<f64>,
    ) -> Result<Self, String> {
        let count = |name: &str, number: f64| {
            if number >= 1.0 && number.fract() == 0.0 && number <= 1e15 {
                Ok(number as usize)
            } else {
                Err(format!("{name} = {number} is not a whole number of at least 1"))
            }
        };
        let (dim, min, max) = (count("p", p)?, count("q", q)?, count("m", m)?);
        for (name, number) in [("d2", d2), ("e2", e2), ("sigma2", sigma2)] {
            if !(0.0..f64::INFINITY).contains(&number) {
                return Err(format!("{name} = {number} is not a finite number of at least 0"));
            }
        }
        if max < min {
            return Err(format!("m = {m} is less than q = {q}"));
        }
        if c.is_some_and(|c| !c.is_finite()) {
            return Err("C_lin is not a finite number".into());
        }
        let stats = PointStats { dist_sq: d2, resid_sq: e2, noise_var: sigma2 };
        Ok(Self { dim, sizes: Sizes::new(min, max), stats, full_constant: c })
    }

    /// Evaluates every form.
    pub fn evaluate(&self) -> RegressionForms {
        let form = |convention| GaussianForm::new(self.dim, self.sizes, Constant::Theorem, convention).ok();
        let at =
            |form: &GaussianForm| Some(form.value_once(self.stats).value).filter(|value| value.is_finite());
        let simple = form(Convention::Definition);
        let with = |constant| simple.as_ref().and_then(|form| form.with_constant(constant).ok());
        RegressionForms {
            gain: with(Constant::Gain).as_ref().and_then(at),
            simple: simple.as_ref().and_then(at),
            full: self.full_constant.and_then(|c| with(Constant::Full(c))).as_ref().and_then(at),
            printed: form(Convention::Printed).as_ref().and_then(at),
        }
    }
}

/// Cells that are no numbers; the hints for a table to be valued do not apply.
fn unusable(error: dshap_io::Error) -> Error {
    let (location, name, text, what) = match error {
        dshap_io::Error::NotANumber { at, column, text } => (at, column, text, "a number"),
        dshap_io::Error::NotFinite { at, column, text } => (at, column, text, "finite"),
        other => return other.into(),
    };
    Error::Case { location, reason: format!("{name} is `{text}`, which is not {what}") }
}

const NUMBERS: [&str; 6] = ["p", "q", "m", "d2", "e2", "sigma2"];
const FULL_CONSTANT: &str = "C_lin";
const FORMS: [&str; 4] = ["gain", "simple", "full", "printed"];

/// Reads cases from a table with columns `p, q, m, d2, e2, sigma2` and
/// optionally `C_lin`; hands over the same rows with the forms added. A column
/// that has the name of a form gets `_input` behind it.
///
/// # Errors
///
/// [`Error::Io`] for tables that cannot be read, [`Error::Case`] for numbers
/// that make no sense, with their place.
pub fn regression_cases(inputs: &[String], receiver: &mut dyn Receiver) -> Result<(), Error> {
    let source = Source::open(inputs)?;
    let mut wanted: Vec<Wanted> =
        source.schema().names().map(|name| Wanted { name: name.into(), read_as: ReadAs::AsIs }).collect();
    let n_carried = wanted.len();
    let has_constant = source.schema().column(FULL_CONSTANT).is_some();
    let numbers = NUMBERS.iter().chain(has_constant.then_some(&FULL_CONSTANT));
    wanted.extend(numbers.map(|&name| Wanted { name: name.into(), read_as: ReadAs::Number }));

    let carried: Vec<Field> = source.arrow_schema(&wanted)?.fields()[..n_carried]
        .iter()
        .map(|field| field.as_ref().clone())
        .collect();
    let rename = |field: &Field| free_name(field.name(), &carried, |name| FORMS.contains(&name));
    let mut fields: Vec<Field> = carried.iter().map(|field| field.clone().with_name(rename(field))).collect();
    fields.extend(FORMS.map(|name| Field::new(name, DataType::Float64, true)));
    let schema = Arc::new(Schema::new(fields));
    receiver.begin(&schema)?;
    for batch in source.scan(&wanted, ScanOptions::default())? {
        let batch = batch.map_err(unusable)?;
        let column = |index: usize| batch.rows.column(n_carried + index).as_primitive::<Float64Type>();
        let wrong = |row: usize, reason: String| match source.locate(batch.first_row + row as u64) {
            Ok(location) => Error::Case { location, reason },
            Err(error) => error.into(),
        };
        let cases = (0..batch.rows.num_rows()).map(|row| {
            let mut cell = [0.0; NUMBERS.len()];
            for (index, cell) in cell.iter_mut().enumerate() {
                if !column(index).is_valid(row) {
                    return Err(wrong(row, format!("{} is missing", NUMBERS[index])));
                }
                *cell = column(index).value(row);
            }
            let constant = has_constant.then(|| column(NUMBERS.len())).filter(|column| column.is_valid(row));
            let [p, q, m, d2, e2, sigma2] = cell;
            RegressionCase::new(p, q, m, d2, e2, sigma2, constant.map(|column| column.value(row)))
                .map_err(|reason| wrong(row, reason))
        });
        let cases = cases.collect::<Result<Vec<_>, Error>>()?;
        let forms: Vec<RegressionForms> = cases.par_iter().map(RegressionCase::evaluate).collect();
        let added = |form: fn(&RegressionForms) -> Option<f64>| -> ArrayRef {
            Arc::new(forms.iter().map(form).collect::<Float64Array>())
        };
        let mut columns = batch.rows.columns()[..n_carried].to_vec();
        columns.extend([added(|f| f.gain), added(|f| f.simple), added(|f| f.full), added(|f| f.printed)]);
        receiver
            .rows(RecordBatch::try_new(schema.clone(), columns).expect("columns were built to the schema"))?;
    }
    Ok(())
}
