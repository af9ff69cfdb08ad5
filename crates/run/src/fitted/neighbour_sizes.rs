//! Which set sizes count with nearest neighbours, and what to do where none does.

use crate::Error;
use crate::request::SizeChoice;
use dshap::Sizes;
use dshap::neighbours::NeighbourValuer;

/// Set sizes as they were asked for, and the rows that sets are drawn from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NeighbourSizes {
    pub(crate) k: usize,
    pub(crate) choice: SizeChoice,
    pub(crate) n_reference: usize,
    /// Whether test rows are reference rows, each left out of its own sets.
    pub(crate) without_test: bool,
    /// Whether the row that is valued is one, and left out.
    pub(crate) without_point: bool,
}

/// Changes each of which alone makes sets that count, as small as they can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Remedies {
    /// The largest `k`.
    k: Option<usize>,
    /// The largest `q`.
    q: Option<usize>,
    /// The smallest `m`.
    m: Option<usize>,
    /// The fewest reference rows.
    rows: Option<usize>,
}

impl NeighbourSizes {
    /// The sizes, defaults filled in. Sets of fewer than `k + 1` rows never count,
    /// so `q` is no less.
    pub(crate) fn sizes(&self) -> Sizes {
        let default = NeighbourValuer::default_sizes(self.k, self.n_reference);
        let q = self.choice.min.unwrap_or(0).max(default.min());
        Sizes::new(q, self.choice.max.unwrap_or(default.max()))
    }

    /// What was asked for and is not so.
    pub(crate) fn doubt(&self) -> Option<String> {
        let (q, least) = (self.choice.min?, self.sizes().min());
        (q < self.k.saturating_add(1)).then(|| {
            format!(
                "q = {q} counts as {least}: a set of fewer rows does not have {} and a row that joins them",
                nearest(self.k)
            )
        })
    }

    /// Refuses sizes of which none counts.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.first() <= self.last() {
            return Ok(());
        }
        let (k, sizes, n_rows) = (self.k, self.sizes(), self.n_rows());
        let (min, max) = (sizes.min(), sizes.max());
        let error = match self.first() <= n_rows {
            true => dshap::Error::NeighbourSizes { k, min, max },
            false => dshap::Error::FewNeighbours { n_rows, needed: self.first() },
        };
        Err(Error::Core { message: self.reason(), hint: Some(self.hint()), error })
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
        let (first, last, m) = (self.first(), self.last(), self.choice.max);
        let q_fits = self.choice.min.is_none_or(|q| q.saturating_sub(1) <= last);
        let enough = first.saturating_add(self.n_apart());
        Remedies {
            k: (q_fits && last > 0 && self.k > last).then_some(last),
            q: (self.choice.min.is_some() && self.k <= last).then_some(last + 1),
            m: (first <= self.n_rows()).then_some(first.saturating_add(1)),
            rows: match m {
                // By default `m` grows with the rows.
                None => Some(enough.max(first.saturating_add(1))),
                Some(m) => (first < m).then_some(enough),
            },
        }
    }

    fn reason(&self) -> String {
        let (k, n_rows, q, m) = (self.k, self.n_rows(), self.sizes().min(), self.sizes().max());
        let from = match (self.without_test, self.without_point) {
            (false, false) => String::new(),
            (true, false) => format!(" ({} without the test row)", self.n_reference),
            (false, true) => format!(" ({} without the row that is valued)", self.n_reference),
            (true, true) => {
                format!(" ({} without the test row and the row that is valued)", self.n_reference)
            }
        };
        let drawn = format!("sets are drawn from {}{from}", counted(n_rows, "reference row"));
        if k > n_rows {
            return format!("{drawn}, too few for {}", nearest(k));
        }
        if q - 1 > n_rows {
            return format!(
                "{drawn}, too few for q = {q}: a row joins sets of {} or more",
                counted(q - 1, "row")
            );
        }
        let default = if self.choice.max.is_none() { ", the number of reference rows," } else { "" };
        let joined = counted(m.saturating_sub(1), "row");
        let needed = if k == q - 1 { nearest(k) } else { format!("q = {q}") };
        format!("m = {m}{default} is too small: a row joins sets of {joined} at most, too few for {needed}")
    }

    fn hint(&self) -> String {
        let Remedies { k, q, m, rows: n_rows } = self.remedies();
        let mut helps = Vec::new();
        helps.extend(k.map(|k| format!("a `--k` of at most {k}")));
        helps.extend(q.map(|q| format!("a `--q` of at most {q}")));
        helps.extend(m.map(|m| format!("an `--m` of at least {m}")));
        helps.extend(n_rows.map(|n| format!("at least {n} reference rows")));
        let last = self.last();
        if k.is_none() && q.is_none() && m.is_none() && last > 0 {
            helps.push(format!("a `--k` of at most {last} with a `--q` of at most {}", last + 1));
        }
        if helps.is_empty() {
            let (m, n) = (self.first().saturating_add(1), self.first().saturating_add(self.n_apart()));
            helps.push(format!("an `--m` of at least {m} and at least {n} reference rows"));
        }
        format!("give {}", helps.join(", or "))
    }
}

/// So many of them.
pub(crate) fn counted(n: usize, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// The rows that predict.
fn nearest(k: usize) -> String {
    if k == 1 { "the nearest row".into() } else { format!("the {k} nearest rows") }
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
                            see(NeighbourSizes { k, choice, n_reference, without_test, without_point });
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
            // What core says of `q` as it was given is the same.
            let given = Sizes::new(sizes.choice.min.unwrap_or(1), sizes.sizes().max());
            assert_eq!(WeightTable::new(n_rows, sizes.k, given).is_ok(), core.is_ok(), "{sizes:?}");
            n_refused += u32::from(core.is_err());
        });
        assert!(n_refused > 1000);
    }

    /// What a hint says is enough, and one less is not.
    #[test]
    fn every_remedy_works_and_no_smaller_one_does() {
        each(|sizes| {
            if counts(sizes) {
                return;
            }
            let SizeChoice { min, max } = sizes.choice;
            let Remedies { k, q, m, rows } = sizes.remedies();
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
            let last = sizes.last();
            if (k, q, m) == (None, None, None) && last > 0 {
                let both = NeighbourSizes { k: last, ..with_choice(sizes, min.map(|_| last + 1), max) };
                assert!(counts(both), "{sizes:?}");
            }
        });
    }

    #[test]
    fn a_smaller_q_than_there_are_neighbours_is_told() {
        each(|sizes| {
            let is_told = sizes.doubt().is_some();
            assert_eq!(is_told, sizes.choice.min.is_some_and(|q| q <= sizes.k), "{sizes:?}");
        });
    }
}
