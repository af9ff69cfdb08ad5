//! Rows of owners in memory, for models without sufficient statistics.

use super::linear::Parts;
use crate::{Error, Rows};

/// Rows to train on, in parts that owners hold, and rows to test on.
#[derive(Debug, Clone)]
pub struct HeldMarket<'a> {
    /// The rows of all owners.
    pub rows: Rows<'a>,
    /// The part that each row belongs to.
    pub part: &'a [usize],
    /// The fold of each row.
    pub fold: &'a [usize],
    /// Who holds which part.
    pub parts: Parts,
    /// The buyer's rows, which every coalition trains on, and their folds.
    pub own: Option<(Rows<'a>, &'a [usize])>,
    /// The test rows.
    pub test: Rows<'a>,
    /// The folds of the test rows, if models are not to train on rows of the same fold.
    pub test_fold: Option<&'a [usize]>,
}

impl HeldMarket<'_> {
    /// Refuses what cannot be computed with.
    pub(super) fn check(&self) -> Result<(), Error> {
        let p = self.rows.n_features();
        if self.test.is_empty() {
            return Err(Error::NoTestRows);
        }
        let all = [Some(self.rows), self.own.map(|(rows, _)| rows), Some(self.test)];
        for rows in all.into_iter().flatten() {
            if rows.n_features() != p {
                return Err(Error::FeatureCount { found: rows.n_features(), expected: p });
            }
            for column in 0..=p {
                let mut cells = vec![0.0; rows.len()];
                rows.copy_centred(column, 0, 0.0, 0.0, &mut cells);
                if !cells.iter().all(|cell| cell.is_finite()) {
                    return Err(rows.explain_not_finite(0, rows.len()));
                }
            }
        }
        assert!(self.part.len() == self.rows.len() && self.fold.len() == self.rows.len(), "one part per row");
        Ok(())
    }

    /// The folds that test rows are in; all rows are in one without cross-fitting.
    pub(super) fn folds(&self) -> Vec<Option<usize>> {
        let Some(folds) = self.test_fold else { return vec![None] };
        let mut found: Vec<Option<usize>> = folds.iter().map(|&fold| Some(fold)).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The test rows of a fold.
    pub(super) fn tests_of(&self, fold: Option<usize>) -> Vec<usize> {
        let is_here = |t: &usize| match (fold, self.test_fold) {
            (Some(fold), Some(folds)) => folds[*t] == fold,
            _ => true,
        };
        (0..self.test.len()).filter(is_here).collect()
    }

    /// The training rows of each part for a fold, and the buyer's.
    pub(super) fn trained_on(&self, fold: Option<usize>) -> (Vec<Vec<usize>>, Vec<usize>) {
        let is_used = |of: usize| fold != Some(of);
        let mut parts = vec![Vec::new(); self.parts.n_parts()];
        for (row, &part) in self.part.iter().enumerate().filter(|(row, _)| is_used(self.fold[*row])) {
            parts[part].push(row);
        }
        let own = self
            .own
            .map_or(Vec::new(), |(rows, folds)| (0..rows.len()).filter(|&row| is_used(folds[row])).collect());
        (parts, own)
    }
}

/// Which parts a coalition has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members(pub(super) Vec<bool>);

impl Members {
    pub(super) fn nobody(parts: &Parts) -> Self {
        Self(vec![false; parts.n_parts()])
    }

    pub(super) fn join(&mut self, parts: &Parts, owner: usize) {
        parts.of(owner).iter().for_each(|&part| self.0[part] = true);
    }

    /// The parts it has.
    pub(super) fn parts(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().filter_map(|(part, &has)| has.then_some(part))
    }
}
