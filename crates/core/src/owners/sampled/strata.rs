//! Places of owners in random orders, drawn in strata.

use super::super::game::Game;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::ops::Range;

/// Rounds of each stratum before errors are looked at.
pub(super) const FIRST_ROUNDS: usize = 8;

/// Rounds whose contributions are in memory at once.
pub(super) const AT_ONCE: usize = 16;

/// Places after the first, in ranges that double: 1, 2, 3–4, 5–8, ….
pub(super) fn places_of(n_owners: usize) -> Vec<Range<usize>> {
    let mut strata = Vec::new();
    let (mut from, mut to) = (1, 2);
    while from < n_owners {
        strata.push(from..to.min(n_owners));
        (from, to) = (to, 2 * to - 1);
    }
    strata
}

/// What the rounds of a stratum gave: one number for each owner or pair and round.
pub(super) struct Tally {
    pub(super) places: Range<usize>,
    pub(super) n_rounds: usize,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Tally {
    pub(super) fn new(places: Range<usize>, n: usize) -> Self {
        Self { places, n_rounds: 0, sums: vec![0.0; n], squares: vec![0.0; n] }
    }

    /// Adds a round.
    pub(super) fn add(&mut self, gains: &[f64]) {
        for ((sum, square), gain) in self.sums.iter_mut().zip(&mut self.squares).zip(gains) {
            *sum += gain;
            *square += gain.powi(2);
        }
        self.n_rounds += 1;
    }

    /// What the stratum adds to a value, if every place counts `share`.
    pub(super) fn mean(&self, i: usize, share: f64) -> f64 {
        self.places.len() as f64 * share * self.sums[i] / self.n_rounds as f64
    }

    /// The variance of that.
    pub(super) fn variance(&self, i: usize, share: f64) -> f64 {
        let (n, sum) = (self.n_rounds as f64, self.sums[i]);
        let variance = (self.squares[i] - sum * sum / n).max(0.0) / (n - 1.0);
        (self.places.len() as f64 * share).powi(2) * variance / n
    }
}

/// The next number of rounds of each stratum: twice as many in all, in proportion to what
/// each stratum adds to the error.
pub(super) fn allotted(strata: &[&Tally], share: f64, planned: usize, most: usize) -> Vec<usize> {
    let total = (2 * planned).min(most);
    let errors: Vec<f64> = strata
        .iter()
        .map(|stratum| {
            let variances = (0..stratum.sums.len()).map(|g| stratum.variance(g, share));
            (variances.sum::<f64>() * stratum.n_rounds as f64).sqrt()
        })
        .collect();
    let all: f64 = errors.iter().sum();
    let own = |error: &f64| if all > 0.0 { (total as f64 * error / all).ceil() as usize } else { 0 };
    let wanted: Vec<usize> =
        strata.iter().zip(&errors).map(|(stratum, error)| own(error).max(stratum.n_rounds)).collect();
    if wanted.iter().sum::<usize>() > planned {
        return wanted;
    }
    // No stratum has an error, or rounding left nothing to do.
    strata.iter().map(|stratum| stratum.n_rounds + FIRST_ROUNDS).collect()
}

/// The random stream of a round.
pub(super) fn stream(seed: u64, stratum: usize, round: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((stratum as u64) << 40 | round as u64);
    rng
}

/// A whole number below `n`, all equally likely.
fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    // The bias is below n · 2⁻⁶⁴.
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Owners in a random circle, cut into blocks. The owners of a block join the `place`
/// owners that come after it.
pub(super) struct Order {
    pub(super) circle: Vec<usize>,
    place: usize,
}

impl Order {
    pub(super) fn drawn(n_owners: usize, places: Range<usize>, rng: &mut ChaCha8Rng) -> Self {
        let place = places.start + below(rng, places.len());
        let mut circle: Vec<usize> = (0..n_owners).collect();
        for last in (1..n_owners).rev() {
            circle.swap(last, below(rng, last + 1));
        }
        Self { circle, place }
    }

    fn n_joining(&self) -> usize {
        self.circle.len() - self.place
    }

    /// The blocks, as places in the circle. The last one may be shorter.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (n_owners, n_joining) = (self.circle.len(), self.n_joining());
        (0..n_owners).step_by(n_joining).map(move |start| start..n_owners.min(start + n_joining))
    }

    /// The owners that a block joins.
    pub(super) fn coalition<G: Game>(&self, game: &G, block: &Range<usize>) -> G::Coalition {
        let mut coalition = game.nobody();
        for step in 0..self.place {
            let next = (block.start + self.n_joining() + step) % self.circle.len();
            game.join(&mut coalition, self.circle[next]);
        }
        coalition
    }

    /// The probability that two given owners are in one block.
    pub(super) fn together(&self) -> f64 {
        let n = self.circle.len() as f64;
        let pairs: f64 = self.blocks().map(|block| block.len() as f64 * (block.len() as f64 - 1.0)).sum();
        pairs / (n * (n - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_cover_every_place_once() {
        for n_owners in [2, 3, 17, 1000] {
            let places: Vec<usize> = places_of(n_owners).into_iter().flatten().collect();
            assert_eq!(places, (1..n_owners).collect::<Vec<_>>(), "{n_owners}");
        }
    }
}
