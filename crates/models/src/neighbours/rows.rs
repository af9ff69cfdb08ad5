//! What values the points of a run by their neighbours.

use super::blocks::{Blocks, TEST_BLOCK_BYTES};
use super::options::is_finite;
use super::{NeighbourModel, Tests};
use crate::Error;
use crate::model::Ask;
use crate::reference::{RowCounts, Share};
use crate::row_valuer::{Outcome, RowValuer, WantsRows};
use crate::sets::refuse_unseen;
use crate::warning::Warning;
use dshap::neighbours::{NeighbourValuer, Search, TestMeans, TestRows};
use dshap::{Part, Place, Rows, Sizes, Values, Watch};

/// Values points in blocks, against rows in memory. Test rows that are not held
/// come in blocks too. Neither changes a bit.
pub(super) struct NeighbourRows<'a> {
    pub(super) model: &'a NeighbourModel,
    pub(super) ask: Ask<'a>,
    pub(super) k: usize,
    pub(super) sizes: Sizes,
    pub(super) warnings: Vec<Warning>,
    pub(super) search: Search,
    /// The values of all reference rows, once they are computed.
    pub(super) own: Option<Values>,
    /// What became of the test rows.
    pub(super) tests: Option<RowCounts>,
    /// Whether points were valued.
    pub(super) has_valued: bool,
}

impl NeighbourRows<'_> {
    fn core(&self, error: dshap::Error) -> Error {
        Error::core(error, self.ask.design)
    }

    fn is_finite(&self) -> bool {
        is_finite(self.ask.how.method)
    }

    /// Values of all reference rows, each against the others.
    fn own_values(&mut self, watch: Watch<'_>) -> Result<Values, Error> {
        let (n, is_finite) = (self.model.reference.n_rows(), self.is_finite());
        let mut means = TestMeans::new(n);
        self.tests = Some(self.by_all_tests(n, watch, |valuer, watch| match is_finite {
            true => valuer.add_finite_shapley(&mut means, watch),
            false => valuer.add_leave_one_out(&mut means, watch),
        })?);
        self.finish(&means, n)
    }

    /// What test rows say about all reference rows, each against the others.
    pub(super) fn means_by(&self, tests: TestRows<'_>) -> Result<TestMeans, dshap::Error> {
        let (model, mut means) = (self.model, TestMeans::new(self.model.reference.n_rows()));
        if self.is_finite() {
            model.dataset_valuer_by(tests, self.k)?.add_finite_shapley(&mut means, &|_, _| true)?;
        } else {
            let valuer = model.valuer_by(tests, self.k, self.sizes)?.with_search(self.search);
            valuer.add_leave_one_out(&mut means, &|_, _| true)?;
        }
        Ok(means)
    }

    /// Values of points that are not part of the reference.
    fn values_of(&mut self, points: Rows<'_>, watch: Watch<'_>) -> Result<Values, Error> {
        let mut means = TestMeans::new(points.len());
        let kept = self.model.lists.get();
        self.tests = Some(self.by_all_tests(points.len(), watch, |valuer, watch| match kept {
            Some(lists) if valuer.can_use(lists)? => valuer.add_values_by(lists, points, &mut means, watch),
            _ => valuer.add_values(points, &mut means, watch),
        })?);
        self.finish(&means, points.len())
    }

    /// Adds what all test rows say about `n_rows` rows. Progress is reported in rows.
    fn by_all_tests(
        &self,
        n_rows: usize,
        watch: Watch<'_>,
        mut add: impl FnMut(&NeighbourValuer<'_>, Watch<'_>) -> Result<(), dshap::Error> + Send,
    ) -> Result<RowCounts, Error> {
        let (model, is_finite) = (self.model, self.is_finite());
        self.each_tests(&mut |tests, share| {
            let valuer = match is_finite {
                true => model.dataset_valuer_by(tests, self.k)?,
                false => model.valuer_by(tests, self.k, self.sizes)?.with_search(self.search),
            };
            let watch = |done: usize, total: usize| {
                let done = share.from + (share.to - share.from) * done as f64 / total.max(1) as f64;
                watch((n_rows as f64 * done) as usize, n_rows)
            };
            add(&valuer, &watch)
        })
    }

    /// Hands over the test rows, all at once where they are held and block by block
    /// where they are not.
    fn each_tests(
        &self,
        each: &mut (dyn FnMut(TestRows<'_>, Share) -> Result<(), dshap::Error> + Send),
    ) -> Result<RowCounts, Error> {
        let core = |error| self.core(error);
        let whole = Share { from: 0.0, to: 1.0 };
        match &self.model.tests {
            Tests::Given(held) => {
                held.rows().and_then(|rows| each(TestRows::Given(rows), whole)).map_err(core)?;
                let n_usable = held.n_rows() as u64;
                Ok(RowCounts { n_read: n_usable + self.model.n_tests_left_out, n_usable, n_filled: 0 })
            }
            Tests::Reference(numbers) => {
                each(TestRows::Reference(numbers), whole).map_err(core)?;
                Ok(RowCounts::all(numbers.len()))
            }
            Tests::Later => {
                let tests = self.ask.tests.ok_or_else(|| self.ask.incomplete())?;
                tests.each_block(TEST_BLOCK_BYTES, &mut |held, share| {
                    held.rows().and_then(|rows| each(TestRows::Given(rows), share)).map_err(core)
                })
            }
        }
    }

    /// Values of rows; standard errors that do not exist are empty.
    fn finish(&self, means: &TestMeans, n_rows: usize) -> Result<Values, Error> {
        let std_error = self.ask.extras.std_error;
        let mut values = means.values(std_error).map_err(|error| self.core(error))?;
        if std_error && values.std_error.is_none() {
            values.std_error = Some(vec![f64::NAN; n_rows]);
        }
        Ok(values)
    }
}

impl RowValuer for NeighbourRows<'_> {
    fn parts(&self) -> Vec<Part> {
        Vec::new()
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        self.warnings.clone()
    }

    fn wants(&self) -> WantsRows {
        let Self { model, ask, .. } = self;
        WantsRows::Blocks(Blocks {
            n_reference: model.reference.n_rows(),
            leave_one_out: ask.in_reference,
            index_bytes: model.index_bytes(ask.how, self.sizes),
            test_table_bytes: match model.tests {
                Tests::Later => ask.tests.map(|tests| tests.n_bytes()),
                Tests::Given(_) | Tests::Reference(_) => None,
            },
        })
    }

    fn choose(&mut self, with_index: bool) {
        self.search = if with_index { Search::Auto } else { Search::Blocks };
    }

    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        self.has_valued |= !rows.is_empty();
        if !place.in_reference {
            refuse_unseen(self.ask.how)?;
            return self.values_of(rows, watch);
        }
        let own = match self.own.take() {
            Some(own) => own,
            None => self.own_values(watch)?,
        };
        let (start, before) = (place.first_row, own.len() as u64);
        let after = start + rows.len() as u64;
        if after > before {
            return Err(Error::Changed { before, after });
        }
        let values = crate::held_rows::slice_of(&own, start as usize, rows.len());
        self.own = Some(own);
        Ok(values)
    }

    fn outcome(&self) -> Outcome {
        let n_tests = self.tests.map_or(0, |tests| tests.n_usable);
        let lacks_errors =
            self.ask.extras.std_error && self.has_valued && n_tests < self.model.fewest_for_errors();
        let warning = lacks_errors.then_some(Warning::NoTestErrors { n_tests: n_tests as usize });
        Outcome { tests: self.tests, warnings: warning.into_iter().collect(), ..Outcome::default() }
    }
}
