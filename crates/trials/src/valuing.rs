//! Values of the rows by any method.

use crate::bench::Bench;
use crate::own_labels::with_own_labels;
use dshap::Part;
use dshap_catalogue::options::SEED;
use dshap_catalogue::{Task, Value};
use dshap_models::{Error, How, Makes, Observer, Warning, value_each_other};
use std::time::Instant;

/// Values by one method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Timed {
    /// One for each row; NaN where there is none.
    pub(crate) value: Vec<f64>,
    /// What the errors of rows cost, if the values have such a part.
    pub(crate) penalty: Option<Vec<f64>>,
    /// How long it took.
    pub(crate) seconds: f64,
    /// What is doubtful, as warnings about the method.
    pub(crate) warnings: Vec<Warning>,
}

impl Bench {
    /// Values the rows by the method of that number, each against the others. `y`:
    /// targets that replace their own.
    pub(crate) fn values(
        &self,
        number: usize,
        y: Option<&[f64]>,
        seed: u64,
        observer: &dyn Observer,
    ) -> Result<Timed, Error> {
        let begun = Instant::now();
        let (entrant, task) = (&self.methods[number], self.table.task);
        let method = entrant.method;
        let (design, parts) = self.seen_by(method);
        let changed = y.map(|y| {
            let mut rows = parts.players.clone();
            rows.y_mut().copy_from_slice(y);
            rows
        });
        let rows = changed.as_ref().unwrap_or(&parts.players);
        let is_logistic = task == Task::Classification && matches!(method.makes, Makes::Fit { .. });
        let narrowed = is_logistic.then(|| with_own_labels(rows, design)).flatten();
        let (rows, design) = narrowed.as_ref().map_or((rows, design), |(rows, design)| (rows, design));

        let given = self.given.methods[number].clone().with(&SEED, Value::Count(seed));
        let how = How { method, given };
        let tests = self.looks_at_tests(method).then_some(&parts.test);
        let valued = value_each_other(rows, tests, design, task, &how, observer);
        let (values, warnings) = valued.map_err(|error| self.parts.explain(error))?;
        let of_method = |warning| Warning::OfMethod(entrant.name.clone(), Box::new(warning));
        Ok(Timed {
            penalty: values.part(Part::Penalty).map(<[f64]>::to_vec),
            value: values.value,
            seconds: begun.elapsed().as_secs_f64(),
            warnings: warnings.into_iter().map(of_method).collect(),
        })
    }
}
