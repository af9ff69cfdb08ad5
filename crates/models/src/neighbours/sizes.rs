//! Which set sizes count with nearest neighbours, and what helps where none does.

use crate::Error;
use crate::error::{NeighbourSizesFault, Remedies};
use crate::how::SizeChoice;
use crate::warning::Warning;
use dshap::neighbours::NeighbourValuer;
use dshap::{Semivalue, Sizes};

/// Set sizes as they were asked for, and the rows that sets are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NeighbourSizes {
    pub(super) k: usize,
    pub(super) choice: SizeChoice,
    pub(super) semivalue: Semivalue,
    pub(super) n_reference: usize,
    /// Whether test rows are reference rows, each left out of its own sets.
    pub(super) without_test: bool,
    /// Whether the row that is valued is one, and left out.
    pub(super) without_point: bool,
}

impl NeighbourSizes {
    /// The sizes, with defaults filled in. Sets of fewer than `k + 1` rows never
    /// count, so `q` is no less.
    pub(super) fn sizes(&self) -> Sizes {
        let default = NeighbourValuer::default_sizes(self.k, self.n_reference);
        let q = self.choice.min.unwrap_or(0).max(default.min());
        Sizes::new(q, self.choice.max.unwrap_or(default.max())).with_semivalue(self.semivalue)
    }

    /// A `q` that counts as a larger one.
    pub(super) fn warning(&self) -> Option<Warning> {
        let (q, least) = (self.choice.min?, self.sizes().min());
        (q < self.k.saturating_add(1)).then_some(Warning::SmallQ { q, least, k: self.k })
    }

    /// Refuses sizes of which none counts.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.first() <= self.last() {
            return Ok(());
        }
        let sizes = self.sizes();
        Err(Error::NeighbourSizes(NeighbourSizesFault {
            k: self.k,
            q: sizes.min(),
            m: sizes.max(),
            m_default: self.choice.max.is_none(),
            n_reference: self.n_reference,
            n_rows: self.n_rows(),
            without_test: self.without_test,
            without_point: self.without_point,
            remedies: self.remedies(),
        }))
    }

    /// Reference rows that no set is drawn from.
    fn n_apart(&self) -> usize {
        usize::from(self.without_test) + usize::from(self.without_point)
    }

    /// Rows that sets are drawn from.
    fn n_rows(&self) -> usize {
        self.n_reference.saturating_sub(self.n_apart())
    }

    /// Rows of the smallest set that a row joins.
    fn first(&self) -> usize {
        self.sizes().min() - 1
    }

    /// Rows of the largest.
    fn last(&self) -> usize {
        self.sizes().max().saturating_sub(1).min(self.n_rows())
    }

    fn remedies(&self) -> Remedies {
        let (first, last) = (self.first(), self.last());
        let q_fits = self.choice.min.is_none_or(|q| q.saturating_sub(1) <= last);
        let enough = first.saturating_add(self.n_apart());
        let mut remedies = Remedies {
            k: (q_fits && last > 0 && self.k > last).then_some(last),
            q: (self.choice.min.is_some() && self.k <= last).then_some(last + 1),
            m: (first <= self.n_rows()).then_some(first.saturating_add(1)),
            rows: match self.choice.max {
                // By default `m` grows with the rows.
                None => Some(enough.max(first.saturating_add(1))),
                Some(m) => (first < m).then_some(enough),
            },
            k_and_q: None,
            m_and_rows: None,
        };
        if (remedies.k, remedies.q, remedies.m) == (None, None, None) && last > 0 {
            remedies.k_and_q = Some((last, last + 1));
        }
        if remedies == Remedies::default() {
            remedies.m_and_rows = Some((first.saturating_add(1), enough));
        }
        remedies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap::neighbours::WeightTable;

    /// Every combination of few rows, neighbours and sizes.
    fn each(mut see: impl FnMut(NeighbourSizes)) {
        let some = |most: usize| [None].into_iter().chain((1..=most).map(Some));
        for n_reference in 1..=9 {
            for k in 1..=10 {
                for max in some(12) {
                    for min in some(12) {
                        for apart in 0..4 {
                            let (without_test, without_point) = (apart & 1 > 0, apart & 2 > 0);
                            let choice = SizeChoice { min, max };
                            see(NeighbourSizes {
                                k,
                                semivalue: Semivalue::Shapley,
                                choice,
                                n_reference,
                                without_test,
                                without_point,
                            });
                        }
                    }
                }
            }
        }
    }

    fn counts(sizes: NeighbourSizes) -> bool {
        sizes.check().is_ok()
    }

    fn with_choice(sizes: NeighbourSizes, min: Option<usize>, max: Option<usize>) -> NeighbourSizes {
        NeighbourSizes { choice: SizeChoice { min, max }, ..sizes }
    }

    #[test]
    fn what_is_refused_is_what_has_no_weights() {
        let mut n_refused = 0;
        each(|sizes| {
            let n_rows = sizes.n_rows();
            let core = WeightTable::new(n_rows, sizes.k, sizes.sizes());
            assert_eq!(counts(sizes), core.is_ok(), "{sizes:?}");
            // Core treats `q` as it was given in the same way.
            let given = Sizes::new(sizes.choice.min.unwrap_or(1), sizes.sizes().max());
            assert_eq!(WeightTable::new(n_rows, sizes.k, given).is_ok(), core.is_ok(), "{sizes:?}");
            n_refused += u32::from(core.is_err());
        });
        assert!(n_refused > 1000);
    }

    /// Each remedy is enough, and one less is not.
    #[test]
    fn every_remedy_works_and_no_smaller_one_does() {
        each(|sizes| {
            if counts(sizes) {
                return;
            }
            let SizeChoice { min, max } = sizes.choice;
            let Remedies { k, q, m, rows, k_and_q, m_and_rows } = sizes.remedies();
            let with_k = |k| counts(NeighbourSizes { k, ..sizes });
            let with_rows = |n_reference| counts(NeighbourSizes { n_reference, ..sizes });
            let with_m = |m| counts(with_choice(sizes, min, Some(m)));
            let with_q = |q| counts(with_choice(sizes, Some(q), max));
            match k {
                Some(k) => assert!(with_k(k) && !with_k(k + 1), "k = {k}: {sizes:?}"),
                None => assert!(!with_k(1), "{sizes:?}"),
            }
            match q {
                Some(q) => assert!(with_q(q) && !with_q(q + 1), "q = {q}: {sizes:?}"),
                None => assert!(min.is_none() || !with_q(1), "{sizes:?}"),
            }
            match m {
                Some(m) => assert!(with_m(m) && !with_m(m - 1), "m = {m}: {sizes:?}"),
                None => assert!(!with_m(100), "{sizes:?}"),
            }
            match rows {
                Some(rows) => assert!(with_rows(rows) && !with_rows(rows - 1), "{rows} rows: {sizes:?}"),
                None => assert!(!with_rows(100), "{sizes:?}"),
            }
            if let Some((k, q)) = k_and_q {
                let both = NeighbourSizes { k, ..with_choice(sizes, min.map(|_| q), max) };
                assert!(counts(both), "{sizes:?}");
            }
            if let Some((m, n_reference)) = m_and_rows {
                assert!(
                    counts(NeighbourSizes { n_reference, ..with_choice(sizes, min, Some(m)) }),
                    "{sizes:?}"
                );
            }
            assert_ne!(sizes.remedies(), Remedies::default(), "{sizes:?}");
        });
    }

    #[test]
    fn a_smaller_q_than_there_are_neighbours_is_a_warning() {
        each(|sizes| {
            let warns = sizes.warning().is_some();
            assert_eq!(warns, sizes.choice.min.is_some_and(|q| q <= sizes.k), "{sizes:?}");
        });
    }
}
