//! Point addition and removal by values that someone else computed.

use crate::bench::{Bench, Tables, seed_in};
use crate::evaluation::whole_warning;
use crate::figure::{Curve, Experiment};
use crate::orders::{Effort, Orders};
use dshap_catalogue::Given;
use dshap_io::Source;
use dshap_models::{Error, Observer, Warning};

/// Values of the rows of a table, however they were computed.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenValues {
    /// What they are called.
    pub name: String,
    /// One per row; NaN for a row without a value.
    pub value: Vec<f64>,
}

/// Curves of values, and of chance.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenCurves {
    /// `regression`, `classification` or `density`.
    pub task: &'static str,
    /// What sets are worth: `squared-error`, `accuracy`, `log-loss` or
    /// `integrated-squared-error`.
    pub utility: &'static str,
    /// What all rows are worth.
    pub utility_of_all: f64,
    /// The curves; those of chance come last.
    pub curves: Vec<Curve>,
    /// What is doubtful about them.
    pub warnings: Vec<Warning>,
}

/// Adds the rows of `points` to a random half of them, or removes them from all rows:
/// by value from either end, and in random orders. What the sets are worth is
/// measured on `test`, with the options of `loo` in `given`. Rows are added to
/// `repeats` halves; 0 counts as 1.
///
/// # Errors
///
/// [`Error`]; [`Error::ValueCount`] for values that are not one per row.
pub fn curves_of(
    (points, test): (&Source, &Source),
    given: &Given,
    values: &[GivenValues],
    experiment: Experiment,
    repeats: usize,
    observer: &dyn Observer,
) -> Result<GivenCurves, Error> {
    let tables = Tables { points, test: Some(test), memory: None };
    let bench = Bench::of(tables, given, Vec::new(), true, observer)?;
    let measure = bench.measure()?;
    let utility = measure.name;
    let usable = bench.table.usable_rows();
    let (design, repeats, seed) = (&bench.table.design, repeats.max(1), seed_in(given));
    let effort = Effort::of(&measure);
    let orders = Orders { measure, design, repeats, seed, effort, observer };
    let along = |name: &str, value: Option<&[f64]>| match experiment {
        Experiment::Removal => orders.removal(name, value),
        _ => orders.addition(name, value),
    };
    let mut curves = Vec::new();
    for GivenValues { name, value } in values {
        if value.len() as u64 != bench.table.n_rows {
            let (name, found, n_rows) = (name.clone(), value.len(), bench.table.n_rows);
            return Err(Error::ValueCount { name, found, n_rows });
        }
        let own: Vec<f64> = usable.iter().map(|&row| value[row]).collect();
        curves.extend(along(name, Some(&own))?.into_iter().map(|traced| traced.curve));
    }
    curves.extend(along("random", None)?.into_iter().map(|traced| traced.curve));
    let whole = orders.whole()?;
    Ok(GivenCurves {
        task: bench.table.task.name(),
        utility,
        utility_of_all: whole,
        curves,
        warnings: whole_warning(whole).into_iter().collect(),
    })
}
