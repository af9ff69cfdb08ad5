//! What a game is; Shapley values and interactions from utilities.

use crate::Error;

/// Owners that may work together, and what they are worth.
pub trait Game: Sync {
    /// Some of the owners together.
    type Coalition: Clone + Send + Sync;

    /// Number of owners.
    fn n_owners(&self) -> usize;

    /// No owner.
    fn nobody(&self) -> Self::Coalition;

    /// Adds an owner that is not a member yet.
    fn join(&self, coalition: &mut Self::Coalition, owner: usize);

    /// Length of a trace: numbers that describe the model of a coalition, such that its
    /// loss on any test row is linear in them.
    fn trace_len(&self) -> usize;

    /// What a coalition is worth, and the trace of its model.
    ///
    /// # Errors
    ///
    /// Why no model could be fitted.
    fn utility(&self, coalition: &Self::Coalition, trace: &mut [f64]) -> Result<f64, Error>;
}

/// `s! (K−s−1)! / K!`: the share of orders in which exactly `size` given owners come
/// before a given one.
pub(super) fn order_share(n_owners: usize, size: usize) -> f64 {
    1.0 / (n_owners as f64 * binomial(n_owners - 1, size))
}

fn binomial(n: usize, k: usize) -> f64 {
    (0..k.min(n - k)).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64).round()
}

/// What the utility of a coalition counts in the value of an owner.
pub(super) fn weight_of(n_owners: usize, coalition: usize, owner: usize) -> f64 {
    let size = coalition.count_ones() as usize;
    match coalition >> owner & 1 {
        1 => order_share(n_owners, size - 1),
        _ => -order_share(n_owners, size),
    }
}

/// Shapley values from the utilities of all coalitions: owner `g` is bit `g` of the place.
///
/// ```
/// // Two owners that bring 3 and 1 alone, and 4 together.
/// assert_eq!(dshap::owners::shapley(&[0.0, 3.0, 1.0, 4.0]), [3.0, 1.0]);
/// // Copies: either alone brings all.
/// assert_eq!(dshap::owners::shapley(&[0.0, 3.0, 3.0, 3.0]), [1.5, 1.5]);
/// ```
///
/// # Panics
///
/// Unless there is a power of two of utilities.
pub fn shapley(utilities: &[f64]) -> Vec<f64> {
    let n_owners = n_owners_of(utilities);
    let shares: Vec<f64> = (0..n_owners).map(|size| order_share(n_owners, size)).collect();
    let value = |owner: usize| {
        let without = (0..utilities.len()).filter(|coalition| coalition >> owner & 1 == 0);
        // Summed by size, so that copies of an owner have the same sums in nearly the same order.
        let mut sums = vec![0.0; n_owners];
        for coalition in without {
            sums[coalition.count_ones() as usize] += utilities[coalition | 1 << owner] - utilities[coalition];
        }
        sums.iter().zip(&shares).map(|(sum, share)| sum * share).sum()
    };
    (0..n_owners).map(value).collect()
}

/// Shapley interactions of all pairs `g < h`, in the order (0,1), (0,2), …, (1,2), ….
/// Strongly negative means that two owners are substitutes.
///
/// # Panics
///
/// Unless there is a power of two of utilities.
pub fn interactions(utilities: &[f64]) -> Vec<f64> {
    let n_owners = n_owners_of(utilities);
    let mut found = Vec::with_capacity(n_owners * n_owners.saturating_sub(1) / 2);
    for g in 0..n_owners {
        for h in g + 1..n_owners {
            let both = 1 << g | 1 << h;
            let mut sums = vec![0.0; n_owners - 1];
            for coalition in (0..utilities.len()).filter(|coalition| coalition & both == 0) {
                sums[coalition.count_ones() as usize] += utilities[coalition | both]
                    - utilities[coalition | 1 << g]
                    - utilities[coalition | 1 << h]
                    + utilities[coalition];
            }
            // The pair counts as one of K − 1 players.
            let share = |size| order_share(n_owners - 1, size);
            found.push(sums.iter().enumerate().map(|(size, sum)| sum * share(size)).sum());
        }
    }
    found
}

fn n_owners_of(utilities: &[f64]) -> usize {
    assert!(utilities.len().is_power_of_two(), "{} utilities", utilities.len());
    utilities.len().ilog2() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_an_owner_add_up_to_nothing_and_shares_to_one() {
        for n in 1..=9 {
            let sum: f64 = (0..1 << n).map(|coalition| weight_of(n, coalition, n - 1)).sum();
            assert!(sum.abs() < 1e-14, "{n} owners: {sum:e}");
            let positive: f64 = (0..1 << n).map(|coalition| weight_of(n, coalition, 0).max(0.0)).sum();
            assert!((positive - 1.0).abs() < 1e-14, "{n} owners: {positive}");
        }
    }

    #[test]
    fn a_large_game_has_shares_that_are_finite() {
        let sum: f64 = (0..1000).map(|size| order_share(1000, size) * binomial(999, size)).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }
}
