//! Long sums of smooth terms from a few hundred of them.

use faer::{Mat, Side};

/// Terms at the start of a sum that are added one by one: a smooth sequence
/// changes fastest there.
const EXACT_TERMS: u64 = 32;

/// Nodes of the Gauss rule in each later block. Blocks double in length, so
/// the terms of one block vary by a bounded factor and 14 nodes give full
/// precision.
pub(crate) const GAUSS_NODES: u64 = 14;

/// A quadrature rule for the counting measure on `first..=last`.
///
/// ```text
/// Σ_{i=first}^{last} f(i) = Σ_k weight_k · f(node_k)      to about 1e-15 for smooth, decaying f
/// ```
///
/// The first 32 terms are exact; after them come blocks of 32, 64, 128, …
/// terms, each summed by the 14-node Gauss rule whose orthogonal polynomials
/// are Gram's (discrete Chebyshev) polynomials. A sum of `N` terms costs
/// `O(log N)` evaluations.
#[derive(Debug, Clone)]
pub(crate) struct CountingRule {
    nodes: Vec<Node>,
}

/// One evaluation point and how many terms it stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) at: f64,
    pub(crate) weight: f64,
}

impl CountingRule {
    /// The rule for `first..=last`; empty when `last < first`.
    pub(crate) fn new(first: u64, last: u64) -> Self {
        let mut nodes = Vec::new();
        let mut start = first;
        let mut len = EXACT_TERMS;
        while start <= last {
            let block_len = len.min(last - start + 1);
            if start == first || block_len <= GAUSS_NODES {
                nodes.extend((start..start + block_len).map(|i| Node { at: i as f64, weight: 1.0 }));
            } else {
                nodes.extend(gauss_block(start, block_len));
            }
            start += block_len;
            if start - first > EXACT_TERMS {
                len *= 2;
            }
        }
        Self { nodes }
    }

    /// The sum of `term` over the range.
    pub(crate) fn sum(&self, mut term: impl FnMut(f64) -> f64) -> f64 {
        self.nodes.iter().map(|node| node.weight * term(node.at)).sum()
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }
}

/// Golub and Welsch: nodes and weights are the eigenvalues of the Jacobi
/// matrix of Gram's recurrence and the squared first components of its
/// eigenvectors. Scaled to `[-1, 1]` so that the eigenproblem looks the same
/// for every block.
pub(crate) fn gauss_block(start: u64, block_len: u64) -> Vec<Node> {
    let len = block_len as f64;
    let size = GAUSS_NODES as usize;
    let mut jacobi = Mat::<f64>::zeros(size, size);
    for k in 1..size {
        let k_sq = (k * k) as f64;
        let beta = (1.0 - k_sq / (len * len)) / (4.0 - 1.0 / k_sq);
        jacobi[(k, k - 1)] = beta.sqrt();
        jacobi[(k - 1, k)] = beta.sqrt();
    }
    let eigen = jacobi
        .self_adjoint_eigen(Side::Lower)
        .expect("a 14 by 14 Jacobi matrix with finite entries has an eigendecomposition");
    let (centre, half) = (start as f64 + (len - 1.0) / 2.0, len / 2.0);
    let node = |k: usize| {
        // The rule is symmetric; averaging each node with its mirror image removes the
        // small asymmetry that the eigensolver left.
        let mirror = size - 1 - k;
        let at = (eigen.S().column_vector()[k] - eigen.S().column_vector()[mirror]) / 2.0;
        let weight = (eigen.U()[(0, k)].powi(2) + eigen.U()[(0, mirror)].powi(2)) / 2.0;
        Node { at: centre + half * at, weight: len * weight }
    };
    (0..size).map(node).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_reciprocals_like_adding_them_one_by_one() {
        for (first, last) in [(1, 1), (1, 46), (3, 100), (7, 12_345), (50, 1_000_000)] {
            let rule = CountingRule::new(first, last);
            // From the smallest term up, so that the plain sum keeps its digits.
            let plain: f64 = (first..=last).rev().map(|i| 1.0 / i as f64).sum();
            let error = rule.sum(|i| 1.0 / i) / plain - 1.0;
            assert!(error.abs() < 4e-14, "{first}..={last}: relative error {error:e}");
            let count = rule.sum(|_| 1.0) / (last - first + 1) as f64 - 1.0;
            assert!(count.abs() < 1e-14, "{first}..={last}: weights off by {count:e}");
        }
    }

    #[test]
    fn costs_the_logarithm_of_the_number_of_terms() {
        assert!(CountingRule::new(3, 10_000_000).nodes().len() < 320);
        assert!(CountingRule::new(3, 2).nodes().is_empty());
    }
}
