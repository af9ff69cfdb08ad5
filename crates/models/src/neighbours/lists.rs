//! The reference in the order of distance from each test row, kept for unseen rows.

use super::options::{is_finite, saves_lists};
use super::{NeighbourModel, Tests, options};
use crate::Error;
use crate::model::Ask;
use crate::observer::Stage;
use dshap::neighbours::{KeptLists, TestRows};

impl NeighbourModel {
    /// Sorts the reference for each test row and keeps the order, unless it was kept before,
    /// test rows are still to be read, or it takes more bytes than `most_bytes`. Then unseen
    /// rows are valued without sorting, with the same bits. Returns the bytes that lists take
    /// or would take.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for set sizes of which none counts and cells whose squares are too
    /// large; [`Error::Interrupted`](Error).
    pub fn keep_lists(&self, ask: &Ask<'_>, most_bytes: u64) -> Result<u64, Error> {
        let tests = match &self.tests {
            _ if self.lists.get().is_some() => return Ok(self.lists_bytes()),
            _ if is_finite(ask.how.method) => return Ok(0),
            Tests::Given(held) => held.rows().map(TestRows::Given),
            Tests::Reference(numbers) => Ok(TestRows::Reference(numbers)),
            Tests::Later => return Ok(0),
        };
        self.asked(ask.how, false).check()?;
        let core = |error| Error::core(error, ask.design);
        let sizes = crate::model::Model::sizes(self, ask.how, ask.design)?;
        let valuer = self.valuer_by(tests.map_err(core)?, options::k(ask.how), sizes).map_err(core)?;
        let n_bytes = valuer.lists_bytes().map_err(core)?;
        if n_bytes > most_bytes {
            return Ok(n_bytes);
        }
        ask.observer.begin(Stage::Fit, self.n_tests() as u64);
        let watch = |done: usize, _: usize| {
            ask.observer.advance(done as u64, done as u64);
            !ask.observer.is_interrupted()
        };
        let lists = valuer.keep_lists(&watch).map_err(core)?;
        ask.observer.end();
        Ok(self.lists.get_or_init(|| lists).n_bytes())
    }

    /// The lists that the valuer file has: those that were asked for.
    pub fn saved_lists(&self) -> Option<&KeptLists> {
        self.lists.get().filter(|_| saves_lists(&self.given))
    }

    /// Bytes of lists in memory.
    pub(super) fn lists_bytes(&self) -> u64 {
        self.lists.get().map_or(0, KeptLists::n_bytes)
    }
}
