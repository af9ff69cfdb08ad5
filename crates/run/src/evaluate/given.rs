//! Point addition and removal by values that someone else computed.

use super::bench::{Bench, Tables};
use super::evaluation::doubts_of_whole;
use super::orders::Orders;
use crate::Error;
use crate::memory::Budget;
use crate::observer::Observer;
use crate::said::Said;
use dshap_evaluate::{Curve, Experiment};
use dshap_io::Source;

/// Values of the rows of a table, by whoever made them.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenValues {
    /// What they are called.
    pub name: String,
    /// One for each row; NaN where there is none.
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
    /// Those of chance last.
    pub curves: Vec<Curve>,
    /// Doubts.
    pub warnings: Vec<String>,
}

/// Adds the rows of `points` to a random half of them, or takes them away from all,
/// by values from either end, and in random orders; what the sets are worth is
/// measured on `test`. `said` tells how; `repeats` is how many halves there are.
///
/// # Errors
///
/// [`Error`]; [`Error::Misplaced`] for values that are not one for each row.
pub fn curves_of(
    (points, test): (&Source, &Source),
    said: &Said,
    values: &[GivenValues],
    experiment: Experiment,
    repeats: usize,
    observer: &dyn Observer,
) -> Result<GivenCurves, Error> {
    let misplaced = |what: String| Err(Error::Misplaced { what });
    if repeats == 0 {
        return misplaced("`--repeats` must be 1 at least".into());
    }
    let tables = Tables { points, test: Some(test), budget: Budget::new(None) };
    let bench = Bench::of(tables, said, Vec::new(), true, observer)?;
    let measure = bench.measure()?;
    let utility = measure.name;
    let usable = bench.points.usable_rows();
    let orders = Orders { measure, design: &bench.design, repeats, seed: said.seed(), observer };
    let along = |name: &str, value: Option<&[f64]>| match experiment {
        Experiment::Removal => orders.removal(name, value),
        _ => orders.addition(name, value),
    };
    let mut curves = Vec::new();
    for GivenValues { name, value } in values {
        if value.len() as u64 != bench.points.n_rows {
            let (found, n_rows) = (value.len(), bench.points.n_rows);
            return misplaced(format!("`{name}` has {found} values, and there are {n_rows} rows"));
        }
        let own: Vec<f64> = usable.iter().map(|&row| value[row]).collect();
        curves.extend(along(name, Some(&own))?.into_iter().map(|traced| traced.curve));
    }
    curves.extend(along("random", None)?.into_iter().map(|traced| traced.curve));
    let whole = orders.whole()?;
    Ok(GivenCurves {
        task: bench.task.name(),
        utility,
        utility_of_all: whole,
        curves,
        warnings: doubts_of_whole(whole).into_iter().collect(),
    })
}
