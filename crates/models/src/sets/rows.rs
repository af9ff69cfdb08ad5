//! What values the points of a run by a baseline.

use super::SetsModel;
use super::frame::AnyUtility;
use super::job::{Job, JobOutcome};
use super::options::refuse_unseen;
use crate::Error;
use crate::held_rows::HeldRows;
use crate::model::Ask;
use crate::observer::Stage;
use crate::row_valuer::{Outcome, RowValuer, WantsRows};
use crate::warning::Warning;
use dshap::{Note, Part, Place, Rows, Sizes, Values, Watch};

/// Values all points at once, by fitting models to sets of rows.
pub(super) struct SetsRows<'a> {
    model: &'a SetsModel,
    ask: Ask<'a>,
    sizes: Sizes,
    /// What sets are worth, and the players as it sees them; absent for chance.
    measure: Option<(AnyUtility, HeldRows)>,
    outcome: Option<JobOutcome>,
}

impl<'a> SetsRows<'a> {
    /// Prepares to value points by a model.
    ///
    /// # Errors
    ///
    /// [`Error`] for test rows that measure nothing.
    pub(super) fn new(model: &'a SetsModel, ask: Ask<'a>) -> Result<Self, Error> {
        let sizes = model.sizes_for(ask.how, !ask.in_reference);
        let measure = match &model.frame {
            None => None,
            Some(frame) => {
                let least_rows = model.baseline.least_rows(sizes);
                let utility = frame.utility(&model.parts.test, least_rows, ask.design)?;
                Some((utility, frame.see(&model.parts.players)))
            }
        };
        Ok(Self { model, ask, sizes, measure, outcome: None })
    }

    /// Values the points, or the players if there are none.
    fn run(&self, points: Option<&HeldRows>, watch: Watch<'_>) -> Result<JobOutcome, Error> {
        let (baseline, how) = (self.model.baseline, self.ask.how);
        let Some((utility, players)) = &self.measure else {
            let values = dshap_baselines::random(self.model.parts.players.n_rows(), how.seed());
            return Ok(JobOutcome { values, iterations: None, undetermined_share: 0.0 });
        };
        let job = Job { baseline, how, utility, players, points, sizes: self.sizes };
        job.run(watch).map_err(|error| Error::baseline(error, self.ask.design))
    }
}

impl RowValuer for SetsRows<'_> {
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        let (model, design) = (self.model, self.ask.design);
        let frame = model.frame.as_ref().map(|frame| frame.warnings().to_vec());
        let mut warnings = Warning::of_core(frame.unwrap_or_default(), design);
        if model.parts.are_kept_back() && self.ask.in_reference {
            warnings.push(Warning::RowsMeasure { n_rows: model.parts.test.n_rows() });
        }
        let method = self.ask.how.method.name();
        warnings.extend(model.baseline.size_warning(method, model.task, self.sizes));
        warnings
    }

    fn wants(&self) -> WantsRows {
        let n_players = self.model.parts.players.n_rows();
        let n_steps = self.model.baseline.n_steps(self.ask.how, n_players) as u64;
        WantsRows::All { stage: Stage::Draw, n_steps }
    }

    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let parts = &self.model.parts;
        let mut outcome = if place.in_reference {
            let (before, after) = (parts.n_rows() as u64, place.first_row + rows.len() as u64);
            if place.first_row > 0 || before != after {
                return Err(Error::Changed { before, after });
            }
            let mut outcome = self.run(None, watch)?;
            if let Some(numbers) = &parts.numbers {
                outcome.values = spread(&outcome.values, numbers, rows.len());
            }
            outcome
        } else {
            refuse_unseen(self.ask.how)?;
            let points = HeldRows::copy(rows);
            let seen = self.model.frame.as_ref().map(|frame| frame.see(&points));
            self.run(seen.as_ref(), watch)?
        };
        if !self.ask.extras.std_error {
            outcome.values.std_error = None;
        }
        let values = std::mem::take(&mut outcome.values);
        self.outcome = Some(outcome);
        Ok(values)
    }

    fn outcome(&self) -> Outcome {
        let Some(outcome) = &self.outcome else { return Outcome::default() };
        let SetsModel { baseline, task, .. } = *self.model;
        let warnings = outcome.warnings(baseline, self.ask.how, task);
        Outcome { iterations: outcome.iterations, warnings, ..Outcome::default() }
    }
}

/// Values of some rows in the places of all; the others are test rows.
fn spread(values: &Values, numbers: &[usize], n_rows: usize) -> Values {
    let place = |column: &[f64]| {
        let mut all = vec![f64::NAN; n_rows];
        numbers.iter().zip(column).for_each(|(&row, &cell)| all[row] = cell);
        all
    };
    let value = place(&values.value);
    let notes = (0..n_rows).filter(|&row| value[row].is_nan()).map(|row| (row, Note::TestRow)).collect();
    Values { std_error: values.std_error.as_deref().map(place), value, notes, ..Values::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_their_places_and_test_rows_have_none() {
        let values = Values { value: vec![1.0, 2.0], std_error: Some(vec![0.1, 0.2]), ..Values::default() };
        let all = spread(&values, &[0, 2], 4);
        assert_eq!((all.value[0], all.value[2]), (1.0, 2.0));
        assert!(all.value[1].is_nan() && all.value[3].is_nan());
        assert_eq!(all.notes, [(1, Note::TestRow), (3, Note::TestRow)]);
        assert_eq!(all.std_error.map(|errors| errors[2]), Some(0.2));
    }
}
