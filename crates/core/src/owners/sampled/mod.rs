//! Many owners: random orders, stratified by place.
//!
//! A plain random order tells little: an owner comes first once in `K` orders, and then
//! brings nearly everything. So places are strata. In each round of a stratum, a place `s`
//! is drawn and owners are put into a random order, in a circle. Each owner joins the `s`
//! owners that come after its neighbourhood, so that one round gives one contribution of
//! every owner, for about `K` models. Neighbours join the same coalition, which makes
//! owners comparable. The first place needs no draw: everybody joins nobody.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the values of owners |
//! | `pairs.rs` | the interactions of pairs |
//! | `strata.rs` | places, random orders, and when to stop |

mod pairs;
mod strata;

pub use pairs::{SampledPairs, sampled_interactions};

use super::game::Game;
use crate::valuer::go_on;
use crate::{Error, Watch};
use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::Range;
use strata::{AT_ONCE, FIRST_ROUNDS, Order, Tally, allotted, places_of, stream};

/// How owners are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleOptions {
    /// Selects the random orders.
    pub seed: u64,
    /// Drawing stops when no standard error is larger than this share of the spread of the
    /// owners' values.
    pub tolerance: f64,
    /// The most rounds, but at least two for each range of places; each fits about as many
    /// models as there are owners.
    pub most_rounds: usize,
}

/// A game that was solved by random orders.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// The value of each owner. They add up to what all bring: what drawing leaves over is
    /// divided in proportion to the variances.
    pub shapley: Vec<f64>,
    /// Standard errors that come from drawing orders.
    pub errors: Vec<f64>,
    /// The trace of each owner's contribution, one column each.
    pub traces: Mat<f64>,
    /// What all owners are worth together.
    pub all: f64,
    /// What nobody is worth.
    pub none: f64,
    /// What each owner is worth alone.
    pub alone: Vec<f64>,
    /// Rounds that were drawn.
    pub n_rounds: usize,
    /// Whether the standard errors became as small as was asked.
    pub reached: bool,
}

/// Solves a game by random orders. `watch` counts rounds.
///
/// Round `r` of a stratum has a random stream of its own and results are added up in
/// order, so the same seed gives the same bits on any number of threads.
///
/// # Errors
///
/// What a coalition fails with; [`Error::Interrupted`].
///
/// # Panics
///
/// With fewer than two owners.
pub fn sampled<G: Game>(game: &G, options: SampleOptions, watch: Watch<'_>) -> Result<Sampled, Error> {
    let n_owners = game.n_owners();
    assert!(n_owners > 1, "{n_owners} owners");
    let ends = Ends::of(game)?;
    let mut strata: Vec<Stratum> = places_of(n_owners)
        .into_iter()
        .enumerate()
        .map(|(number, places)| Stratum::new(number, places, game))
        .collect();
    let share = 1.0 / n_owners as f64;
    // Two rounds are the fewest that have a standard error.
    let first = (options.most_rounds / strata.len()).clamp(LEAST_ROUNDS, FIRST_ROUNDS);
    let most = options.most_rounds.max(first * strata.len());
    let mut wanted = vec![first; strata.len()];
    loop {
        let planned: usize = wanted.iter().sum();
        let mut done: usize = strata.iter().map(|stratum| stratum.tally.n_rounds).sum();
        for (stratum, &wanted) in strata.iter_mut().zip(&wanted) {
            while stratum.tally.n_rounds < wanted {
                go_on(watch, done, planned)?;
                let n = AT_ONCE.min(wanted - stratum.tally.n_rounds);
                stratum.draw(game, n, options.seed)?;
                done += n;
            }
        }
        let first: Vec<f64> = ends.alone.iter().map(|alone| share * (alone - ends.none)).collect();
        let values: Vec<f64> = (0..n_owners)
            .map(|g| first[g] + strata.iter().map(|s| s.tally.mean(g, share)).sum::<f64>())
            .collect();
        let variances: Vec<f64> =
            (0..n_owners).map(|g| strata.iter().map(|s| s.tally.variance(g, share)).sum()).collect();
        let spread = spread(&values);
        let worst = variances.iter().fold(0.0, |most: f64, variance| most.max(*variance)).sqrt();
        let reached = worst <= options.tolerance * spread;
        if reached || planned >= most {
            return Ok(finish(game, &ends, &strata, values, &variances, reached));
        }
        let tallies: Vec<&Tally> = strata.iter().map(|stratum| &stratum.tally).collect();
        wanted = at_most(allotted(&tallies, share, planned, most), &wanted, most);
    }
}

/// The fewest rounds of a stratum.
const LEAST_ROUNDS: usize = 2;

/// Takes away what goes beyond the most rounds, but none that was drawn.
fn at_most(mut wanted: Vec<usize>, drawn: &[usize], most: usize) -> Vec<usize> {
    let mut excess = wanted.iter().sum::<usize>().saturating_sub(most);
    for (wanted, drawn) in wanted.iter_mut().zip(drawn).rev() {
        let taken = excess.min(*wanted - drawn);
        (*wanted, excess) = (*wanted - taken, excess - taken);
    }
    wanted
}

fn finish<G: Game>(
    game: &G,
    ends: &Ends,
    strata: &[Stratum],
    mut values: Vec<f64>,
    variances: &[f64],
    reached: bool,
) -> Sampled {
    let n_owners = values.len();
    let share = 1.0 / n_owners as f64;
    let all_variances: f64 = variances.iter().sum();
    let part = |g: usize| if all_variances > 0.0 { variances[g] / all_variances } else { share };
    let missing = ends.all - ends.none - values.iter().sum::<f64>();
    values.iter_mut().enumerate().for_each(|(g, value)| *value += part(g) * missing);
    let mut traces = Mat::<f64>::zeros(game.trace_len(), n_owners);
    let mut rest: Vec<f64> =
        ends.all_trace.iter().zip(&ends.none_trace).map(|(all, none)| all - none).collect();
    for g in 0..n_owners {
        let column = traces.col_as_slice_mut(g);
        for (i, cell) in column.iter_mut().enumerate() {
            let drawn: f64 = strata.iter().map(|stratum| stratum.mean_trace(i, g, share)).sum();
            *cell = drawn + share * (ends.alone_traces[(i, g)] - ends.none_trace[i]);
            rest[i] -= *cell;
        }
    }
    for g in 0..n_owners {
        let cells = traces.col_as_slice_mut(g).iter_mut();
        cells.zip(&rest).for_each(|(cell, rest)| *cell += part(g) * rest);
    }
    Sampled {
        shapley: values,
        errors: variances.iter().map(|variance| variance.sqrt()).collect(),
        traces,
        all: ends.all,
        none: ends.none,
        alone: ends.alone.clone(),
        n_rounds: strata.iter().map(|stratum| stratum.tally.n_rounds).sum(),
        reached,
    }
}

/// Standard deviation between owners.
fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// Coalitions that are known without drawing.
struct Ends {
    none: f64,
    none_trace: Vec<f64>,
    all: f64,
    all_trace: Vec<f64>,
    alone: Vec<f64>,
    alone_traces: Mat<f64>,
}

impl Ends {
    fn of<G: Game>(game: &G) -> Result<Self, Error> {
        let (n_owners, len) = (game.n_owners(), game.trace_len());
        let (mut none_trace, mut all_trace) = (vec![0.0; len], vec![0.0; len]);
        let none = game.utility(&game.nobody(), &mut none_trace)?;
        let mut everybody = game.nobody();
        (0..n_owners).for_each(|owner| game.join(&mut everybody, owner));
        let all = game.utility(&everybody, &mut all_trace)?;
        let singles: Vec<(f64, Vec<f64>)> = (0..n_owners)
            .into_par_iter()
            .map(|owner| {
                let (mut coalition, mut trace) = (game.nobody(), vec![0.0; len]);
                game.join(&mut coalition, owner);
                Ok((game.utility(&coalition, &mut trace)?, trace))
            })
            .collect::<Result<_, Error>>()?;
        let alone_traces = Mat::from_fn(len, n_owners, |i, owner| singles[owner].1[i]);
        let alone = singles.into_iter().map(|(utility, _)| utility).collect();
        Ok(Self { none, none_trace, all, all_trace, alone, alone_traces })
    }
}

/// Places that are drawn together.
struct Stratum {
    number: usize,
    /// The contributions of each owner.
    tally: Tally,
    traces: Mat<f64>,
}

impl Stratum {
    fn new<G: Game>(number: usize, places: Range<usize>, game: &G) -> Self {
        let n_owners = game.n_owners();
        Self { number, tally: Tally::new(places, n_owners), traces: Mat::zeros(game.trace_len(), n_owners) }
    }

    fn mean_trace(&self, i: usize, owner: usize, share: f64) -> f64 {
        let Tally { places, n_rounds, .. } = &self.tally;
        places.len() as f64 * share * self.traces[(i, owner)] / *n_rounds as f64
    }

    fn draw<G: Game>(&mut self, game: &G, n_rounds: usize, seed: u64) -> Result<(), Error> {
        let (drawn, places) = (self.tally.n_rounds, self.tally.places.clone());
        let rounds: Vec<Round> = (drawn..drawn + n_rounds)
            .into_par_iter()
            .map(|round| Round::of(game, places.clone(), stream(seed, self.number, round)))
            .collect::<Result<_, Error>>()?;
        for round in rounds {
            self.tally.add(&round.gains);
            for owner in 0..round.gains.len() {
                let sums = self.traces.col_as_slice_mut(owner).iter_mut();
                sums.zip(round.traces.col_as_slice(owner)).for_each(|(sum, cell)| *sum += cell);
            }
        }
        Ok(())
    }
}

/// One contribution of every owner.
struct Round {
    gains: Vec<f64>,
    traces: Mat<f64>,
}

impl Round {
    fn of<G: Game>(game: &G, places: Range<usize>, mut rng: ChaCha8Rng) -> Result<Self, Error> {
        let (n_owners, len) = (game.n_owners(), game.trace_len());
        let order = Order::drawn(n_owners, places, &mut rng);
        let mut found = Self { gains: vec![0.0; n_owners], traces: Mat::zeros(len, n_owners) };
        let (mut before, mut after) = (vec![0.0; len], vec![0.0; len]);
        for block in order.blocks() {
            let coalition = order.coalition(game, &block);
            let worth = game.utility(&coalition, &mut before)?;
            for &owner in &order.circle[block] {
                let mut larger = coalition.clone();
                game.join(&mut larger, owner);
                found.gains[owner] = game.utility(&larger, &mut after)? - worth;
                let cells = found.traces.col_as_slice_mut(owner).iter_mut();
                cells
                    .zip(after.iter().zip(&before))
                    .for_each(|(cell, (after, before))| *cell = after - before);
            }
        }
        Ok(found)
    }
}
