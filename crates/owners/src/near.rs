//! Rows that are nearly the same.

use crate::held::hold;
use crate::market::Market;
use crate::report::SharedRows;
use dshap::neighbours::near_clusters;
use dshap::owners::Repeats;
use dshap_models::Error;
use dshap_run::check_memory;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that are near another one.
#[derive(Debug)]
pub(crate) struct Near {
    /// Per owner, its rows that are near a row of another owner.
    pub(crate) rows: Vec<u64>,
    /// Per owner, its rows that are near an earlier row of its own.
    pub(crate) within: Vec<u64>,
    /// Pairs of owners, and how many rows of the first are near a row of the second.
    pub(crate) pairs: Vec<SharedRows>,
    /// Rows that are near each other, or linked by rows that are, taken for copies.
    pub(crate) clusters: Repeats,
}

impl Near {
    /// Compares all rows, which are held in memory, by an index of them.
    pub(crate) fn of(market: &Market<'_>, tolerance: f64) -> Result<Self, Error> {
        let core = |error| market.core(error);
        let (held, roster) = hold(market, &market.tables.rows, true, false)?;
        let sorted = market.named(roster)?;
        let owner: Vec<usize> = held.owner.iter().map(|&owner| sorted.rank[owner]).collect();
        let rows = held.rows().map_err(core)?;
        let (seen, first) = near_clusters(rows, tolerance, |row, near| {
            let others = near.iter().map(|&other| owner[other as usize]);
            let others: BTreeSet<usize> = others.filter(|other| *other != owner[row]).collect();
            let repeats =
                near.iter().any(|&other| (other as usize) < row && owner[other as usize] == owner[row]);
            (others, repeats)
        })
        .map_err(core)?;
        let n_owners = sorted.names.len();
        let (mut rows, mut within) = (vec![0; n_owners], vec![0; n_owners]);
        let mut pairs: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (row, (others, repeats)) in seen.into_iter().enumerate() {
            rows[owner[row]] += u64::from(!others.is_empty());
            within[owner[row]] += u64::from(repeats);
            // A pair is counted from its first owner, so that it counts once.
            others.into_iter().filter(|other| owner[row] < *other).for_each(|other| {
                *pairs.entry((owner[row], other)).or_default() += 1;
            });
        }
        let mut clusters: BTreeMap<u32, Vec<(usize, u64)>> = BTreeMap::new();
        for (row, first) in first.into_iter().enumerate() {
            clusters.entry(first).or_default().push((owner[row], held.number[row]));
        }
        clusters.retain(|_, members| members.len() > 1);
        clusters.values_mut().for_each(|members| members.sort_unstable());
        let clusters = Repeats::of_clusters(clusters.into_values(), n_owners);
        check_memory(market.memory, clusters.n_bytes())?;
        let name = |owner: usize| sorted.names[owner].clone();
        let mut pairs: Vec<SharedRows> =
            pairs.into_iter().map(|((a, b), rows)| SharedRows { a: name(a), b: name(b), rows }).collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.rows));
        Ok(Self { rows, within, pairs, clusters })
    }
}
