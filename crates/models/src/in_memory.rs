//! Rows in memory that are valued against each other.

use crate::Error;
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::learn::learn;
use crate::model::{Ask, Extras, Learned};
use crate::observer::{Observer, Stage};
use crate::reference::{EachRows, Pass, Reference, RowCounts, Share};
use crate::row_valuer::WantsRows;
use crate::valuer::FittedValuer;
use crate::warning::Warning;
use dshap::{Place, Values};
use dshap_catalogue::Task;
use dshap_table::Design;

/// Rows in memory as a reference.
pub struct HeldReference<'a> {
    /// The rows.
    pub rows: &'a HeldRows,
    /// How they became numbers.
    pub design: &'a Design,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

impl Reference for HeldReference<'_> {
    fn design(&self) -> &Design {
        self.design
    }

    fn observer(&self) -> &dyn Observer {
        self.observer
    }

    fn n_bytes(&self) -> u64 {
        self.rows.n_bytes()
    }

    fn most_rows(&self) -> u64 {
        self.rows.n_rows() as u64
    }

    fn each(&self, pass: Pass, work: EachRows<'_>) -> Result<RowCounts, Error> {
        let counts = RowCounts::all(self.rows.n_rows());
        self.observer.begin(pass.stage, self.rows.n_bytes());
        let done = self.rows.rows().and_then(|rows| work(rows, counts));
        done.map_err(|e| Error::core(e, self.design))?;
        self.observer.end();
        Ok(counts)
    }

    fn hold(&self, _: Stage) -> Result<(HeldRows, RowCounts), Error> {
        Ok((self.rows.clone(), RowCounts::all(self.rows.n_rows())))
    }

    fn each_block(
        &self,
        _: u64,
        work: &mut (dyn FnMut(&HeldRows, Share) -> Result<(), Error> + Send),
    ) -> Result<RowCounts, Error> {
        work(self.rows, Share { from: 0.0, to: 1.0 })?;
        Ok(RowCounts::all(self.rows.n_rows()))
    }
}

/// Values rows in memory, each against the others, by any method. Also returns what
/// is doubtful about that. Test rows are given, or chosen by the method.
///
/// # Errors
///
/// [`Error`].
pub fn value_each_other(
    rows: &HeldRows,
    tests: Option<&HeldRows>,
    design: &Design,
    task: Task,
    how: &How,
    observer: &dyn Observer,
) -> Result<(Values, Vec<Warning>), Error> {
    let reference = HeldReference { rows, design, observer };
    let tests = tests.map(|rows| HeldReference { rows, design, observer });
    let tests = tests.as_ref().map(|tests| tests as &dyn Reference);
    let Learned { model, sample, .. } = learn(how, task, &reference, tests, None)?;
    let mut valuer = FittedValuer::new(design.clone(), model, how.clone(), Vec::new())?;
    valuer = valuer.completed(&reference)?.0;
    if let Some(tests) = tests {
        valuer = valuer.with_tests(tests)?;
    }
    let ask = Ask { how, design, extras: Extras::default(), in_reference: true, tests: None, observer };
    let mut row_valuer = valuer.model.row_valuer(ask)?;
    let mut warnings = row_valuer.warnings();
    let (stage, n_steps) = match row_valuer.wants() {
        WantsRows::All { stage, n_steps } => (stage, n_steps),
        _ => (Stage::Value, rows.n_bytes()),
    };
    observer.begin(stage, n_steps);
    let watch = |done: usize, total: usize| {
        let share = done as f64 / total.max(1) as f64;
        observer.advance((n_steps as f64 * share) as u64, (rows.n_rows() as f64 * share) as u64);
        !observer.is_interrupted()
    };
    let view = rows.rows().map_err(|e| Error::core(e, design))?;
    let values = row_valuer.values(view, Place { first_row: 0, in_reference: true }, &watch)?;
    observer.end();
    warnings.extend(row_valuer.outcome().warnings);
    let sizes = row_valuer.sizes();
    drop(row_valuer);
    warnings.extend(valuer.model.label_warnings(how, sizes, design));
    let is_hopeless = warnings.iter().any(Warning::is_beyond_closed_forms);
    let sample = sample.filter(|_| how.method.corrected_by.is_some() && !is_hopeless);
    if let (Some(sample), Some(core)) = (sample, valuer.valuer(how, Extras::default())?) {
        let found = sample.with_rows(|rows| core.check_inputs(rows)).transpose();
        let found = found.map_err(|e| Error::core(e, design))?.flatten();
        warnings.extend(Warning::of_core(found.into_iter().collect(), design));
    }
    Ok((values, warnings))
}
