//! Long sums of terms that are smooth except in a few places.

use super::counting::{GAUSS_NODES, Node, gauss_block};
use std::collections::HashMap;

/// Terms at the start of a sum that are added one by one.
const EXACT_TERMS: u64 = 32;

/// Sums over `first..=last` of terms that are given by one of several smooth
/// formulas. Blocks double in length and are summed by the Gauss rule of
/// [`CountingRule`](super::counting::CountingRule); a block in or near
/// which the formula changes is halved until it is far from there, or short
/// enough to be added up.
#[derive(Debug, Clone)]
pub(crate) struct BranchedRule {
    first: u64,
    last: u64,
    /// Gauss nodes of a block that starts at 0, by its length.
    blocks: HashMap<u64, Vec<Node>>,
}

impl BranchedRule {
    /// The rule for `first..=last`; empty when `last < first`.
    pub(crate) fn new(first: u64, last: u64) -> Self {
        let mut blocks = HashMap::new();
        for (_, len) in doubling(first, last) {
            prepare(&mut blocks, len);
        }
        Self { first, last, blocks }
    }

    /// The sum of `term`, which returns the formula it used and the result.
    pub(crate) fn sum(&self, term: impl Fn(f64) -> (u8, f64)) -> f64 {
        doubling(self.first, self.last).map(|(start, len)| self.block(start, len, &term)).sum()
    }

    fn block(&self, start: u64, len: u64, term: &impl Fn(f64) -> (u8, f64)) -> f64 {
        let Some(nodes) = self.blocks.get(&len).filter(|_| start > self.first) else {
            return (start..start + len).map(|i| term(i as f64).1).sum();
        };
        // Where formulas change there may be a pole: a block must be at least its own
        // length away from that.
        let before = start.saturating_sub(len).max(self.first);
        let behind = (start + 2 * len - 1).min(self.last);
        let (branch, _) = term(before as f64);
        if term(behind as f64).0 == branch {
            let mut sum = 0.0;
            let mut is_smooth = true;
            for node in nodes {
                let (other, value) = term(start as f64 + node.at);
                is_smooth &= other == branch;
                sum += node.weight * value;
            }
            if is_smooth {
                return sum;
            }
        }
        let half = len / 2;
        self.block(start, half, term) + self.block(start + half, len - half, term)
    }
}

/// Blocks as `(start, length)`: 32 terms, 32, 64, 128, …
fn doubling(first: u64, last: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut start = first;
    let mut next_len = EXACT_TERMS;
    std::iter::from_fn(move || {
        if start > last {
            return None;
        }
        let len = next_len.min(last - start + 1);
        let block = (start, len);
        if start > first {
            next_len = next_len.saturating_mul(2);
        }
        start += len;
        Some(block)
    })
}

/// Nodes for a block and for all blocks that halving can produce.
fn prepare(blocks: &mut HashMap<u64, Vec<Node>>, len: u64) {
    if len <= GAUSS_NODES || blocks.contains_key(&len) {
        return;
    }
    blocks.insert(len, gauss_block(0, len));
    prepare(blocks, len / 2);
    prepare(blocks, len - len / 2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinks_and_poles_between_the_terms_do_no_harm() {
        for (first, last) in [(1, 1), (1, 40), (5, 3000), (10, 200_003)] {
            for kink in [7.5, 100.5, 1234.5, 150_000.5] {
                // Different powers on both sides, and a pole between two terms.
                let term = |i: f64| if i < kink { (0_u8, 1.0 / i) } else { (1, 3.0 / (i * i)) };
                let pole = |i: f64| (u8::from(i > kink), 1.0 / (i - kink).powi(2));
                let rule = BranchedRule::new(first, last);
                for (name, term) in [("kink", &term as &dyn Fn(f64) -> (u8, f64)), ("pole", &pole)] {
                    let plain: f64 = (first..=last).map(|i| term(i as f64).1).sum();
                    let error = rule.sum(term) / plain - 1.0;
                    assert!(error.abs() < 1e-12, "{name} at {kink}, {first}..={last}: {error:e}");
                }
            }
        }
        assert_eq!(BranchedRule::new(3, 2).sum(|_| (0, 1.0)), 0.0);
    }

    #[test]
    fn costs_the_logarithm_of_the_number_of_terms() {
        let rule = BranchedRule::new(10, 10_000_000);
        let n_terms = std::cell::Cell::new(0);
        rule.sum(|i| {
            n_terms.set(n_terms.get() + 1);
            (u8::from(i > 1_234_567.0), 1.0 / i)
        });
        assert!(n_terms.get() < 1500, "{}", n_terms.get());
    }
}
