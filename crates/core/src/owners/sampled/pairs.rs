//! Interactions of pairs of many owners, by the same random orders.

use super::super::game::Game;
use super::SampleOptions;
use super::strata::{AT_ONCE, FIRST_ROUNDS, Order, Tally, allotted, places_of, stream};
use crate::valuer::go_on;
use crate::{Error, Watch};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::Range;

/// Strata of pairs have streams of their own, beyond those of owners.
const FIRST_STREAM: usize = 1 << 20;

/// The most rounds of a stratum, on average: errors of pairs fall slowly.
const MOST_PER_STRATUM: usize = 64;

/// Interactions that were estimated by random orders.
#[derive(Debug, Clone)]
pub struct SampledPairs {
    /// The interaction of each pair `g < h` of the owners asked for, in the order (0,1),
    /// (0,2), …, (1,2), ….
    pub values: Vec<f64>,
    /// Standard errors that come from drawing orders.
    pub errors: Vec<f64>,
    /// Rounds that were drawn.
    pub n_rounds: usize,
}

/// Estimates the interactions of all pairs of `owners`. `watch` counts rounds.
///
/// A coalition of no owner needs no draw. Other sizes are drawn in strata: in each round a
/// size is drawn, and owners are put into a circle that is cut into blocks. Two owners of a
/// block join the coalition after it. Pairs in different blocks give 0, and the others count
/// for more by the probability of being in one block, so the mean is right. Rounds end when
/// no standard error is larger than `tolerance` of the largest interaction.
///
/// # Errors
///
/// What a coalition fails with; [`Error::Interrupted`].
///
/// # Panics
///
/// With fewer than three owners in the game.
pub fn sampled_interactions<G: Game>(
    game: &G,
    owners: &[usize],
    options: SampleOptions,
    watch: Watch<'_>,
) -> Result<SampledPairs, Error> {
    let n_owners = game.n_owners();
    assert!(n_owners > 2, "{n_owners} owners");
    let pairs = Pairs::of(game, owners);
    let share = 1.0 / (n_owners - 1) as f64;
    let first = pairs.gains(game, &game.nobody(), owners)?;
    // Two owners join coalitions of up to n − 2 others.
    let mut strata: Vec<Tally> =
        places_of(n_owners - 1).into_iter().map(|places| Tally::new(places, first.len())).collect();
    let most = options.most_rounds.min(MOST_PER_STRATUM * strata.len()).max(FIRST_ROUNDS * strata.len());
    let mut wanted = vec![FIRST_ROUNDS; strata.len()];
    loop {
        let planned: usize = wanted.iter().sum();
        let mut done: usize = strata.iter().map(|stratum| stratum.n_rounds).sum();
        for (number, (stratum, &wanted)) in strata.iter_mut().zip(&wanted).enumerate() {
            while stratum.n_rounds < wanted {
                go_on(watch, done, planned)?;
                let n = AT_ONCE.min(wanted - stratum.n_rounds);
                let (drawn, places) = (stratum.n_rounds, stratum.places.clone());
                let rounds: Vec<Vec<f64>> = (drawn..drawn + n)
                    .into_par_iter()
                    .map(|round| {
                        pairs.round(game, places.clone(), stream(options.seed, FIRST_STREAM + number, round))
                    })
                    .collect::<Result<_, Error>>()?;
                rounds.iter().for_each(|gains| stratum.add(gains));
                done += n;
            }
        }
        let value = |i: usize| share * first[i] + strata.iter().map(|s| s.mean(i, share)).sum::<f64>();
        let error = |i: usize| strata.iter().map(|s| s.variance(i, share)).sum::<f64>().sqrt();
        let values: Vec<f64> = (0..first.len()).map(value).collect();
        let errors: Vec<f64> = (0..first.len()).map(error).collect();
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
        if largest(&errors) <= options.tolerance * largest(&values) || planned >= most {
            return Ok(SampledPairs { values, errors, n_rounds: planned });
        }
        wanted = allotted(&strata.iter().collect::<Vec<_>>(), share, planned, most);
    }
}

/// The pairs that are asked for.
struct Pairs {
    /// The place of an owner among those asked for.
    place: Vec<Option<usize>>,
    n: usize,
}

impl Pairs {
    fn of<G: Game>(game: &G, owners: &[usize]) -> Self {
        let mut place = vec![None; game.n_owners()];
        owners.iter().enumerate().for_each(|(i, &owner)| place[owner] = Some(i));
        Self { place, n: owners.len() }
    }

    fn number(&self, one: usize, other: usize) -> usize {
        let (g, h) = (one.min(other), one.max(other));
        g * (2 * self.n - g - 1) / 2 + h - g - 1
    }

    /// One number for each pair: what the two bring together beyond what each brings.
    fn round<G: Game>(&self, game: &G, places: Range<usize>, mut rng: ChaCha8Rng) -> Result<Vec<f64>, Error> {
        let order = Order::drawn(game.n_owners(), places, &mut rng);
        let weight = 1.0 / order.together();
        let mut all = vec![0.0; self.n * (self.n - 1) / 2];
        for block in order.blocks() {
            let asked = |owner: &&usize| self.place[**owner].is_some();
            let members: Vec<usize> = order.circle[block.clone()].iter().filter(asked).copied().collect();
            if members.len() < 2 {
                continue;
            }
            let gains = self.gains(game, &order.coalition(game, &block), &members)?;
            all.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += weight * gain);
        }
        Ok(all)
    }

    /// The same for pairs of `members` that join a coalition; 0 for other pairs.
    fn gains<G: Game>(
        &self,
        game: &G,
        coalition: &G::Coalition,
        members: &[usize],
    ) -> Result<Vec<f64>, Error> {
        let mut trace = vec![0.0; game.trace_len()];
        let mut gains = vec![0.0; self.n * (self.n - 1) / 2];
        let base = game.utility(coalition, &mut trace)?;
        let mut with: Vec<(G::Coalition, f64)> = Vec::with_capacity(members.len());
        for &owner in members {
            let mut larger = coalition.clone();
            game.join(&mut larger, owner);
            let worth = game.utility(&larger, &mut trace)?;
            with.push((larger, worth));
        }
        for (i, &g) in members.iter().enumerate() {
            for (j, &h) in members.iter().enumerate().skip(i + 1) {
                let mut both = with[i].0.clone();
                game.join(&mut both, h);
                let (Some(one), Some(other)) = (self.place[g], self.place[h]) else { continue };
                gains[self.number(one, other)] =
                    game.utility(&both, &mut trace)? - with[i].1 - with[j].1 + base;
            }
        }
        Ok(gains)
    }
}
