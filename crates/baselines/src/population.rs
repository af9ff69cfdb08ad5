//! Where the sets of D-Shapley come from.

use crate::utility::{Noted, Row, Utility};
use dshap::Rows;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::HashMap;

/// Something that sets of rows can be drawn from: rows in memory, or a generator.
pub trait Population: Sync {
    /// Draws a set of `len` rows and shows them one by one.
    fn draw(&self, rng: &mut dyn Rng, len: usize, visit: &mut dyn FnMut(Row<'_>));

    /// The largest set that can be drawn.
    fn largest_set(&self) -> usize {
        usize::MAX
    }
}

/// Reference rows, of which sets are drawn without replacement.
#[derive(Debug, Clone)]
pub struct ReferenceRows<'a> {
    pub(crate) noted: Noted<'a>,
}

impl<'a> ReferenceRows<'a> {
    /// Rows for `utility`.
    ///
    /// # Errors
    ///
    /// [`dshap::Error::NoRows`], [`dshap::Error::FeatureCount`],
    /// [`dshap::Error::Weighted`], [`dshap::Error::NotFinite`].
    pub fn new<U: Utility>(rows: Rows<'a>, utility: &U) -> Result<Self, crate::Error> {
        if rows.is_empty() {
            return Err(dshap::Error::NoRows.into());
        }
        Ok(Self { noted: Noted::new(rows, utility)? })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.noted.len()
    }

    /// Whether there are no rows, which never happens.
    pub fn is_empty(&self) -> bool {
        self.noted.len() == 0
    }
}

impl Population for ReferenceRows<'_> {
    fn draw(&self, rng: &mut dyn Rng, len: usize, visit: &mut dyn FnMut(Row<'_>)) {
        let mut x = self.noted.scratch();
        for row in sample(self.len(), len, rng) {
            visit(self.noted.row(row, &mut x));
        }
    }

    fn largest_set(&self) -> usize {
        self.len()
    }
}

/// The stream of random numbers with this number. Streams do not overlap, so threads do
/// not matter.
pub(crate) fn stream(seed: u64, number: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number as u64);
    rng
}

/// A whole number below `n`, each equally likely up to one part in 2⁶⁴/n.
pub(crate) fn below(rng: &mut dyn Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// `len` of `0..n` in random order, without replacement (Fisher and Yates).
pub(crate) fn sample(n: usize, len: usize, rng: &mut dyn Rng) -> Vec<usize> {
    let len = len.min(n);
    if 4 * len > n {
        let mut order: Vec<usize> = (0..n).collect();
        for i in 0..len {
            let other = i + below(rng, n - i);
            order.swap(i, other);
        }
        order.truncate(len);
        return order;
    }
    // For a long list only the swapped places are stored.
    let mut moved: HashMap<usize, usize> = HashMap::with_capacity(len);
    let mut order = Vec::with_capacity(len);
    for i in 0..len {
        let other = i + below(rng, n - i);
        let here = moved.get(&i).copied().unwrap_or(i);
        order.push(moved.insert(other, here).unwrap_or(other));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 24 orders of 4, 24 000 draws: each has 1000 ± 31, and six deviations are a
    /// false alarm once in 5e8. An order twice as likely is 32 deviations away.
    #[test]
    fn every_order_is_as_likely() {
        let mut counts = HashMap::new();
        let mut rng = stream(7, 0);
        for _ in 0..24_000 {
            *counts.entry(sample(4, 4, &mut rng)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|count: &i32| (count - 1000).abs() < 190), "{counts:?}");
    }

    /// A short sample of a long list is the beginning of a long one: both ways of
    /// swapping agree.
    #[test]
    fn short_samples_begin_as_long_ones_do() {
        for seed in 0..20 {
            let long = sample(400, 400, &mut stream(seed, 1));
            assert_eq!(sample(400, 60, &mut stream(seed, 1)), long[..60]);
        }
    }

    #[test]
    fn samples_have_no_row_twice_and_no_more_rows_than_there_are() {
        let mut rows = sample(50, 80, &mut stream(8, 3));
        rows.sort_unstable();
        assert_eq!(rows, (0..50).collect::<Vec<_>>());
        assert_eq!(sample(1000, 10, &mut stream(8, 4)).len(), 10);
    }
}
