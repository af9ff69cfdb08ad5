//! Rows that are the same.

use faer::MatRef;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// Bits of a number that are kept: about ten digits. What is rounded when a table is
/// exported and read again does not make a row another one.
const KEPT_BITS: u32 = 34;

/// What a row is recognised by: 128 bits that depend on its rounded cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint(u128);

impl Fingerprint {
    /// Of the cells of a row, in order.
    pub fn of(cells: impl Iterator<Item = f64>) -> Self {
        let mut state = State::default();
        cells.for_each(|cell| state.see(cell));
        state.finish()
    }

    /// One of `n_folds` folds. Rows that are the same are in the same fold.
    pub fn fold(self, n_folds: usize) -> usize {
        ((self.0 >> 64) as u64 % n_folds as u64) as usize
    }
}

/// The fingerprints of rows: features, then the target.
pub fn fingerprints(x: MatRef<'_, f64>, y: &[f64]) -> Vec<Fingerprint> {
    let mut found = vec![Fingerprint(0); y.len()];
    found.par_chunks_mut(CHUNK_ROWS).enumerate().for_each(|(chunk, found)| {
        let start = chunk * CHUNK_ROWS;
        let mut states = vec![State::default(); found.len()];
        for j in 0..x.ncols() {
            let cells = x.col(j).subrows(start, found.len());
            states.iter_mut().zip(cells.iter()).for_each(|(state, &cell)| state.see(cell));
        }
        states.iter_mut().zip(&y[start..]).for_each(|(state, &cell)| state.see(cell));
        found.iter_mut().zip(states).for_each(|(found, state)| *found = state.finish());
    });
    found
}

/// Rows that a thread looks at, column by column.
const CHUNK_ROWS: usize = 1024;

/// A fingerprint in the making.
#[derive(Debug, Clone, Copy)]
struct State(u64, u64);

impl Default for State {
    fn default() -> Self {
        Self(0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03)
    }
}

impl State {
    fn see(&mut self, cell: f64) {
        let bits = rounded(cell);
        self.0 = mix(self.0 ^ bits);
        self.1 = mix(self.1.rotate_left(17) ^ bits.wrapping_mul(0xff51_afd7_ed55_8ccd));
    }

    fn finish(self) -> Fingerprint {
        Fingerprint(u128::from(self.0) << 64 | u128::from(self.1))
    }
}

/// The bits of a number with ten digits. Zero has one sign.
fn rounded(cell: f64) -> u64 {
    let cell = if cell == 0.0 { 0.0 } else { cell };
    let dropped = 53 - KEPT_BITS;
    (cell.to_bits() + (1 << (dropped - 1))) >> dropped
}

/// The finaliser of SplitMix64.
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Rows of owners, to be compared.
#[derive(Debug, Clone, Default)]
pub struct Fingerprints {
    rows: Vec<(Fingerprint, u32, u64)>,
}

/// Rows that are the same, counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Repeats {
    /// Per owner, its rows that another owner has too.
    pub shared: Vec<usize>,
    /// Per owner, its rows that repeat an earlier row of its own.
    pub within: Vec<usize>,
    /// Pairs of owners, and how many different rows both have.
    pub pairs: BTreeMap<(usize, usize), usize>,
    /// The first of every row that occurs more than once, and which owners have it.
    first: HashMap<u64, usize>,
    /// All later ones, in ascending order.
    later: Vec<u64>,
    /// Sets of owners that have rows in common or repeat rows.
    holders: Vec<Vec<usize>>,
}

impl Fingerprints {
    /// Bytes that a row takes.
    pub const ROW_BYTES: u64 = size_of::<(Fingerprint, u32, u64)>() as u64;

    /// Adds a row of an owner, with its number in the table.
    pub fn push(&mut self, row: Fingerprint, owner: usize, number: u64) {
        self.rows.push((row, owner as u32, number));
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Counts what is the same. `rank` gives the final number of an owner.
    pub fn repeats(mut self, n_owners: usize, rank: impl Fn(usize) -> usize) -> Repeats {
        for (_, owner, _) in &mut self.rows {
            *owner = rank(*owner as usize) as u32;
        }
        self.rows.sort_unstable();
        let clusters = self.rows.chunk_by(|one, two| one.0 == two.0).filter(|cluster| cluster.len() > 1);
        let members = |cluster: &[(Fingerprint, u32, u64)]| {
            cluster.iter().map(|&(_, owner, number)| (owner as usize, number)).collect()
        };
        Repeats::of_clusters(clusters.map(members), n_owners)
    }
}

impl Repeats {
    /// Counts rows that are the same, or are taken for the same: each cluster has owner and
    /// number of two rows or more, in ascending order.
    pub fn of_clusters(clusters: impl Iterator<Item = Vec<(usize, u64)>>, n_owners: usize) -> Self {
        let mut found =
            Repeats { shared: vec![0; n_owners], within: vec![0; n_owners], ..Repeats::default() };
        let mut kinds: HashMap<Vec<usize>, usize> = HashMap::new();
        for cluster in clusters {
            let mut holders: Vec<usize> = cluster.iter().map(|(owner, _)| *owner).collect();
            for &owner in &holders {
                found.within[owner] += 1;
            }
            holders.dedup();
            for &owner in &holders {
                found.within[owner] -= 1;
            }
            if holders.len() > 1 {
                cluster.iter().for_each(|(owner, _)| found.shared[*owner] += 1);
                for (i, &one) in holders.iter().enumerate() {
                    holders[i + 1..]
                        .iter()
                        .for_each(|&other| *found.pairs.entry((one, other)).or_default() += 1);
                }
            }
            let next = kinds.len();
            let kind = *kinds.entry(holders.clone()).or_insert(next);
            if kind == next {
                found.holders.push(holders);
            }
            let first = cluster.iter().map(|(_, number)| *number).min();
            found.first.extend(first.map(|first| (first, kind)));
            found.later.extend(cluster.iter().map(|(_, number)| *number).filter(|row| Some(*row) != first));
        }
        found.later.sort_unstable();
        found
    }

    /// Rows that occur more than once, each counted once.
    pub fn n_clusters(&self) -> usize {
        self.first.len()
    }

    /// Rows that more than one owner has, each counted once.
    pub fn n_shared(&self) -> usize {
        self.first.values().filter(|&&kind| self.holders[kind].len() > 1).count()
    }

    /// Which set of owners has a row, if it is the first of those that are the same.
    pub fn holders_of(&self, row: u64) -> Option<usize> {
        self.first.get(&row).copied()
    }

    /// The numbers of rows that repeat an earlier row of the table, in ascending order.
    pub fn later(&self) -> &[u64] {
        &self.later
    }

    /// Whether a row repeats an earlier row of the table, whoever has that.
    pub fn is_later(&self, row: u64) -> bool {
        self.later.binary_search(&row).is_ok()
    }

    /// The sets of owners that have rows in common, or rows more than once.
    pub fn holders(&self) -> &[Vec<usize>] {
        &self.holders
    }

    /// About how many bytes this takes.
    pub fn n_bytes(&self) -> u64 {
        let of_holders: usize = self.holders.iter().map(|holders| 8 * holders.len() + 24).sum();
        (8 * self.later.len() + 32 * self.first.len() + of_holders) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(cells: &[f64]) -> Fingerprint {
        Fingerprint::of(cells.iter().copied())
    }

    #[test]
    fn rounding_in_the_eleventh_digit_does_not_matter_and_more_does() {
        assert_eq!(of(&[0.1 + 0.2, -0.0]), of(&[0.3, 0.0]));
        assert_eq!(of(&[1234.5678901234]), of(&[1234.5678901235]));
        assert_ne!(of(&[1.0]), of(&[1.000_000_01]));
        assert_ne!(of(&[1.0, 2.0]), of(&[2.0, 1.0]));
        assert_ne!(of(&[1.0]), of(&[1.0, 0.0]));
    }

    #[test]
    fn repeats_are_counted_within_and_between() {
        let mut rows = Fingerprints::default();
        // Owner 0: a a b; owner 1: b c; owner 2: b d d.
        for (number, (owner, cell)) in
            [(0, 1.0), (0, 1.0), (0, 2.0), (1, 2.0), (1, 3.0), (2, 2.0), (2, 4.0), (2, 4.0)]
                .into_iter()
                .enumerate()
        {
            rows.push(of(&[cell]), owner, number as u64);
        }
        let found = rows.repeats(3, |owner| owner);
        assert_eq!(found.shared, [1, 1, 1]);
        assert_eq!(found.within, [1, 0, 1]);
        assert_eq!(found.pairs, BTreeMap::from([((0, 1), 1), ((0, 2), 1), ((1, 2), 1)]));
        assert_eq!(found.n_clusters(), 3);
        let holders = |row: u64| found.holders_of(row).map(|kind| found.holders()[kind].clone());
        assert_eq!(holders(2), Some(vec![0, 1, 2]));
        assert_eq!((holders(0), holders(4), holders(3)), (Some(vec![0]), None, None));
        assert_eq!(found.later(), [1, 3, 5, 7]);
        assert!(found.is_later(3) && !found.is_later(2));
    }

    #[test]
    fn rows_of_a_table_have_the_fingerprints_of_their_cells() {
        let x = faer::Mat::from_fn(2500, 3, |i, j| (i * 7 + j) as f64 / 3.0);
        let y: Vec<f64> = (0..2500).map(|i| f64::from(i) - 1.5).collect();
        for (i, found) in fingerprints(x.as_ref(), &y).into_iter().enumerate() {
            assert_eq!(found, of(&[x[(i, 0)], x[(i, 1)], x[(i, 2)], y[i]]), "row {i}");
        }
    }

    #[test]
    fn folds_are_about_equally_large() {
        let mut counts = [0; 5];
        (0..10_000).for_each(|i| counts[of(&[f64::from(i), 0.5]).fold(5)] += 1);
        assert!(counts.iter().all(|count| (1850..2150).contains(count)), "{counts:?}");
    }
}
