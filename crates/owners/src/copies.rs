//! Rows that occur more than once, exactly or nearly.

use crate::market::Market;
use crate::near::Near;
use dshap::owners::{Parts, Repeats};

/// Rows that occur more than once.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// To ten digits; none if nobody looked.
    pub(crate) exact: Option<Repeats>,
    /// Nearly the same; none if nobody looked.
    pub(crate) near: Option<Near>,
    counts_once: bool,
}

impl Copies {
    pub(crate) fn of(market: &Market<'_>, exact: Option<Repeats>, near: Option<Near>) -> Self {
        Self { exact, near, counts_once: market.counts_once() }
    }

    /// About how many bytes this takes.
    pub(crate) fn n_bytes(&self) -> u64 {
        let near = self.near.as_ref().map(|near| &near.clusters);
        self.exact.iter().chain(near).map(Repeats::n_bytes).sum()
    }

    /// Rows that count once, if copies do: near ones too where somebody looks for them.
    pub(crate) fn once(&self) -> Option<&Repeats> {
        let clusters = self.near.as_ref().map(|near| &near.clusters);
        clusters.or(self.exact.as_ref()).filter(|_| self.counts_once)
    }
}

/// The part of a row of an owner; none if an earlier row counts for it.
pub(crate) fn part_of(once: &Repeats, n_owners: usize, owner: usize, row: u64) -> Option<usize> {
    match once.holders_of(row) {
        Some(kind) => Some(n_owners + kind),
        None if once.is_later(row) => None,
        None => Some(owner),
    }
}

/// Who holds which part: each owner its own, and the owners of a copied row that row.
pub(crate) fn parts_of(once: &Repeats, n_owners: usize) -> Parts {
    let own = (0..n_owners).map(|owner| vec![owner]);
    let holders: Vec<Vec<usize>> = own.chain(once.holders().iter().cloned()).collect();
    Parts::held_by(n_owners, &holders)
}
