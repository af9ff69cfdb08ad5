//! Rows that are nearly the same.

use crate::held::hold;
use crate::market::Market;
use crate::report::SharedRows;
use crate::roster::Sorted;
use dshap::neighbours::near_rows;
use dshap_models::Error;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of each owner that are near a row of another owner, and pairs of owners.
pub(crate) struct Near {
    pub(crate) rows: Vec<u64>,
    pub(crate) pairs: Vec<SharedRows>,
}

impl Near {
    /// Compares all rows, which are held in memory, by an index of them.
    pub(crate) fn of(market: &Market<'_>, sorted: &Sorted, tolerance: f64) -> Result<Self, Error> {
        let core = |error| market.core(error);
        let (held, _) = hold(market, &market.tables.rows, true, false)?;
        // Numbers were given in the order of the table, as before.
        let owner: Vec<usize> = held.owner.iter().map(|&owner| sorted.rank[owner]).collect();
        let rows = held.rows().map_err(core)?;
        let others = near_rows(rows, tolerance, |row, near| {
            near.iter()
                .map(|&other| owner[other as usize])
                .filter(|other| *other != owner[row])
                .collect::<BTreeSet<_>>()
        });
        let mut found = Self { rows: vec![0; sorted.names.len()], pairs: Vec::new() };
        let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (row, others) in others.map_err(core)?.into_iter().enumerate() {
            found.rows[owner[row]] += u64::from(!others.is_empty());
            // A pair is counted from its first owner, so that it counts once.
            others.into_iter().filter(|other| owner[row] < *other).for_each(|other| {
                *pairs.entry((owner[row], other)).or_default() += 1;
            });
        }
        let name = |owner: usize| sorted.names[owner].clone();
        found.pairs =
            pairs.into_iter().map(|((a, b), rows)| SharedRows { a: name(a), b: name(b), rows }).collect();
        found.pairs.sort_by_key(|pair| std::cmp::Reverse(pair.rows));
        Ok(found)
    }
}
