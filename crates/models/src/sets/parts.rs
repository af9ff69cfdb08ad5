//! Which rows make sets, and which measure what sets are worth.

use crate::Error;
use crate::held_rows::HeldRows;
use dshap::neighbours::sample_rows;
use dshap_table::Design;

/// One row in this many measures utility where no test rows were given.
pub const TEST_SHARE: usize = 5;

/// Rows that sets are made of, and rows that measure what sets are worth.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Rows that sets are made of.
    pub players: HeldRows,
    /// Rows that utility is measured on.
    pub test: HeldRows,
    /// Where those come from: `test`, `reference`, `points` or `none`.
    pub test_from: &'static str,
    /// Which of the points the players are, if they are not all of them.
    pub numbers: Option<Vec<usize>>,
}

impl Parts {
    /// All rows make sets, and none measures.
    pub fn whole(points: &HeldRows, design: &Design) -> Self {
        let columns: Vec<usize> = (0..design.n_columns()).collect();
        Self::unmeasured(points.clone(), points.select(&[], &columns))
    }

    /// The same, given no rows to measure by.
    pub(super) fn unmeasured(players: HeldRows, test: HeldRows) -> Self {
        Self { players, test, test_from: "none", numbers: None }
    }

    /// All rows make sets, and test rows of their own measure.
    pub(super) fn measured_by(players: HeldRows, test: HeldRows) -> Self {
        Self { players, test, test_from: "test", numbers: None }
    }

    /// The rows of the reference, or of the points if they are their own reference.
    /// Without test rows, one row in five is kept back to measure, drawn by the seed.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for one row, of which none can be kept back.
    pub fn split(
        points: &HeldRows,
        reference: Option<&HeldRows>,
        test: Option<HeldRows>,
        seed: u64,
        design: &Design,
    ) -> Result<Self, Error> {
        let whole = reference.unwrap_or(points);
        if let Some(test) = test {
            return Ok(Self::measured_by(whole.clone(), test));
        }
        let n = whole.n_rows();
        if n < 2 {
            return Err(Error::core(dshap::Error::FewRows { n_rows: n, needed: 2 }, design));
        }
        let chosen = sample_rows(n, n_kept_back(n), seed);
        let mut is_test = vec![false; n];
        chosen.iter().for_each(|&row| is_test[row] = true);
        let others: Vec<usize> = (0..n).filter(|&row| !is_test[row]).collect();
        let is_own = reference.is_none();
        Ok(Self {
            players: whole.select_rows(&others),
            test: whole.select_rows(&chosen),
            test_from: if is_own { "points" } else { "reference" },
            numbers: is_own.then_some(others),
        })
    }

    /// Whether rows were kept back to measure.
    pub fn are_kept_back(&self) -> bool {
        matches!(self.test_from, "points" | "reference")
    }

    /// An error about the players, who are fewer than the rows of the table where some
    /// are kept back.
    pub fn explain(&self, error: Error) -> Error {
        if self.are_kept_back() { error.with_kept_back() } else { error }
    }

    /// Rows of the table that they were made from, if that is the reference.
    pub(super) fn n_rows(&self) -> usize {
        self.players.n_rows() + if self.are_kept_back() { self.test.n_rows() } else { 0 }
    }
}

/// How many of `n_rows` are kept back as test rows.
fn n_kept_back(n_rows: usize) -> usize {
    (n_rows / TEST_SHARE).max(1)
}

/// The fewest rows of which `n_left` are left when test rows are kept back.
pub fn rows_to_leave(n_left: usize) -> usize {
    let mut n_rows = n_left + 1;
    while n_rows - n_kept_back(n_rows) < n_left {
        n_rows += 1;
    }
    n_rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_are_left_as_are_needed() {
        for n_left in 1..100 {
            let n_rows = rows_to_leave(n_left);
            assert_eq!(n_rows - n_kept_back(n_rows), n_left);
        }
        assert_eq!(rows_to_leave(18), 22);
    }
}
