//! Baselines: values by fitting models to sets of rows, all rows held in memory.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the model: how it is learned, what it knows |
//! | `options.rs` | which baselines there are, and what their options mean |
//! | `parts.rs` | which rows make sets, and which measure |
//! | `frame.rs` | from encoded rows to what a model sees; utilities |
//! | `job.rs` | one baseline on rows in memory |
//! | `rows.rs` | what values the points of a run |
//! | `facts.rs` | what is known about it |
//!
//! A baseline learns about the rows at hand only, so its model is never saved.

mod facts;
mod frame;
mod job;
mod options;
mod parts;
mod rows;

pub use facts::BaselineFacts;
pub use frame::{AnyUtility, Frame};
pub use job::{Job, JobOutcome, value_by};
pub use options::Baseline;
pub(crate) use options::refuse_unseen;
pub use parts::{Parts, TEST_SHARE, rows_to_leave};

use crate::Error;
use crate::columns::{ColumnStats, ColumnSums};
use crate::facts::Facts;
use crate::file::{Arrays, Document};
use crate::how::How;
use crate::model::{Ask, Learned, Model};
use crate::observer::Stage;
use crate::reference::{Pass, Reference};
use crate::row_valuer::RowValuer;
use dshap::{Sizes, Valuer};
use dshap_catalogue::Task;
use dshap_catalogue::options::REFERENCE;
use dshap_table::Design;
use rows::SetsRows;
use std::sync::Arc;

/// The rows of a reference, to make sets of.
#[derive(Debug, Clone)]
pub struct SetsModel {
    /// The baseline.
    pub baseline: Baseline,
    /// Which rows make sets, and which measure.
    pub parts: Arc<Parts>,
    /// What models see of the rows; absent for chance, which looks at none.
    pub frame: Option<Arc<Frame>>,
    task: Task,
    columns: ColumnStats,
}

/// Reads a reference. Utility is measured on the rows of `tests`, or else on one
/// row in five of the reference, drawn by the seed. Chance measures nothing and
/// keeps no row back.
///
/// # Errors
///
/// [`Error`].
pub fn learn(
    how: &How,
    baseline: Baseline,
    task: Task,
    reference: &dyn Reference,
    tests: Option<&dyn Reference>,
) -> Result<Learned, Error> {
    let design = reference.design();
    let (held, rows) = reference.hold(Stage::Read)?;
    if held.n_rows() == 0 {
        return Err(Error::NothingLeft);
    }
    let parts = match tests {
        _ if !baseline.measures() => {
            let nothing = held.select_rows(&[]);
            Parts::unmeasured(held, nothing)
        }
        Some(tests) => Parts::measured_by(held, tests.hold(Stage::Read)?.0),
        None => Parts::split(&held, None, None, how.seed(), design)?,
    };
    let frame = match baseline.measures() {
        false => None,
        true => {
            let frame = Frame::of(&parts.players, task, how, design);
            Some(Arc::new(frame.map_err(|error| parts.explain(error))?))
        }
    };
    let mut columns = ColumnSums::new(design.n_columns());
    columns.add(parts.players.rows().map_err(|error| Error::core(error, design))?);
    let columns = columns.finish();
    let model = Box::new(SetsModel { baseline, parts: Arc::new(parts), frame, task, columns });
    Ok(Learned { model, rows, n_passes: 1, extra_passes: Vec::new(), sample: None })
}

impl SetsModel {
    /// The set sizes, for points that are part of the reference or not.
    fn sizes_for(&self, how: &How, is_unseen: bool) -> Sizes {
        self.baseline.sizes(how, self.task, self.dim(how), self.n_rows(), is_unseen)
    }
}

impl Model for SetsModel {
    fn task(&self) -> Task {
        self.task
    }

    /// Rows that sets are made of.
    fn n_rows(&self) -> usize {
        self.parts.players.n_rows()
    }

    fn dim(&self, _: &How) -> usize {
        self.frame.as_ref().map_or(self.columns.mean.len(), |frame| frame.dim())
    }

    fn dropped(&self) -> Vec<usize> {
        let is_kept = |column: &usize| self.frame.as_ref().is_none_or(|frame| frame.kept().contains(column));
        (0..self.columns.mean.len()).filter(|column| !is_kept(column)).collect()
    }

    fn mean(&self, column: usize) -> f64 {
        self.columns.mean[column]
    }

    fn std_dev(&self, column: usize) -> f64 {
        self.columns.std_dev[column]
    }

    fn intercept(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.has_intercept())
    }

    fn n_rows_held(&self) -> usize {
        self.parts.n_rows()
    }

    fn held_bytes(&self) -> u64 {
        self.parts.players.n_bytes() + self.parts.test.n_bytes()
    }

    fn sizes(&self, how: &How, _: &Design) -> Result<Sizes, Error> {
        Ok(self.sizes_for(how, how.given.has(&REFERENCE)))
    }

    /// Sets are fitted for all rows at once.
    fn valuer(&self, _: &Ask<'_>) -> Result<Option<Box<dyn Valuer>>, Error> {
        Ok(None)
    }

    fn row_valuer<'a>(&'a self, ask: Ask<'a>) -> Result<Box<dyn RowValuer + 'a>, Error> {
        Ok(Box::new(SetsRows::new(self, ask)?))
    }

    fn describe(&self, how: &How, _: &Design, facts: &mut Facts) {
        facts.baseline = Some(BaselineFacts::of(self, !how.given.has(&REFERENCE)));
        facts.ridge = self.frame.as_ref().and_then(|frame| frame.ridge());
        facts.ridge_standardised = self.frame.as_ref().is_some_and(|frame| frame.is_standardised());
        facts.refit_intercept = self.frame.as_ref().is_some_and(|frame| frame.refits_intercept());
        facts.seed = Some(how.seed());
    }

    /// Nothing: the entries of baselines keep them from being saved.
    fn write(&self, _: &How, _: &mut Document) -> Arrays {
        Arrays::new()
    }

    fn is_of(&self, table: &dyn Reference) -> Result<bool, Error> {
        let core = |error| Error::core(error, table.design());
        let players = self.parts.players.rows().map_err(core)?;
        let test = self.parts.test.rows().map_err(core)?;
        let (n_rows, mut next, mut same) = (self.parts.n_rows(), 0, true);
        table.each(Pass::new(Stage::Fit), &mut |rows, _| {
            for row in 0..rows.len() {
                let own = match self.parts.numbers.as_ref().map(|numbers| numbers.binary_search(&next)) {
                    _ if next >= n_rows => None,
                    None => Some(players.slice(next, 1)),
                    Some(Ok(player)) => Some(players.slice(player, 1)),
                    // Rows that are not players are test rows, in their order.
                    Some(Err(n_players_before)) => Some(test.slice(next - n_players_before, 1)),
                };
                let found = rows.slice(row, 1);
                same &= own.is_some_and(|own| own.y() == found.y() && own.x() == found.x());
                next += 1;
            }
            Ok(())
        })?;
        Ok(same && next == n_rows)
    }

    fn boxed(&self) -> Box<dyn Model> {
        Box::new(self.clone())
    }
}
