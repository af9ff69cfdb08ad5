//! Many owners: random orders, stratified by place.
//!
//! A plain random order tells little: an owner comes first once in `K` orders, and then
//! brings nearly everything. So places are strata. In each round of a stratum, a place `s`
//! is drawn and owners are put into a random order, in a circle. Each owner joins the `s`
//! owners that come after its neighbourhood, so that one round gives one contribution of
//! every owner, for about `K` models. Neighbours join the same coalition, which makes
//! owners comparable. The first place needs no draw: everybody joins nobody.

use super::game::Game;
use crate::valuer::go_on;
use crate::{Error, Watch};
use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use std::ops::Range;

/// Rounds of each stratum before errors are looked at.
const FIRST_ROUNDS: usize = 8;

/// Rounds whose contributions are in memory at once.
const AT_ONCE: usize = 16;

/// How owners are drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleOptions {
    /// Selects the random orders.
    pub seed: u64,
    /// Drawing stops when no standard error is larger than this share of the spread of the
    /// owners' values.
    pub tolerance: f64,
    /// The most rounds; each fits about as many models as there are owners.
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
    let mut strata: Vec<Stratum> = strata_of(n_owners)
        .into_iter()
        .enumerate()
        .map(|(number, sizes)| Stratum::new(number, sizes, game))
        .collect();
    let share = 1.0 / n_owners as f64;
    let most = options.most_rounds.max(FIRST_ROUNDS * strata.len());
    let mut wanted = vec![FIRST_ROUNDS; strata.len()];
    loop {
        let planned: usize = wanted.iter().sum();
        let mut done: usize = strata.iter().map(|stratum| stratum.n_rounds).sum();
        for (stratum, &wanted) in strata.iter_mut().zip(&wanted) {
            while stratum.n_rounds < wanted {
                go_on(watch, done, planned)?;
                let n = AT_ONCE.min(wanted - stratum.n_rounds);
                stratum.draw(game, n, options.seed)?;
                done += n;
            }
        }
        let first: Vec<f64> = ends.alone.iter().map(|alone| share * (alone - ends.none)).collect();
        let values: Vec<f64> =
            (0..n_owners).map(|g| first[g] + strata.iter().map(|s| s.mean(g, share)).sum::<f64>()).collect();
        let variances: Vec<f64> =
            (0..n_owners).map(|g| strata.iter().map(|s| s.variance(g, share)).sum()).collect();
        let spread = spread(&values);
        let worst = variances.iter().fold(0.0, |most: f64, variance| most.max(*variance)).sqrt();
        let reached = worst <= options.tolerance * spread;
        if reached || planned >= most {
            return Ok(finish(game, &ends, &strata, values, &variances, reached));
        }
        wanted = allotted(&strata, share, planned, most);
    }
}

/// The next number of rounds of each stratum: twice as many in all, in proportion to what
/// each stratum adds to the error.
fn allotted(strata: &[Stratum], share: f64, planned: usize, most: usize) -> Vec<usize> {
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
        n_rounds: strata.iter().map(|stratum| stratum.n_rounds).sum(),
        reached,
    }
}

/// Standard deviation between owners.
fn spread(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// Places after the first, in ranges that double: 1, 2, 3–4, 5–8, ….
fn strata_of(n_owners: usize) -> Vec<Range<usize>> {
    let mut strata = Vec::new();
    let (mut from, mut to) = (1, 2);
    while from < n_owners {
        strata.push(from..to.min(n_owners));
        (from, to) = (to, 2 * to - 1);
    }
    strata
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
    places: Range<usize>,
    n_rounds: usize,
    /// Of the contributions of each owner.
    sums: Vec<f64>,
    squares: Vec<f64>,
    traces: Mat<f64>,
}

impl Stratum {
    fn new<G: Game>(number: usize, places: Range<usize>, game: &G) -> Self {
        let n_owners = game.n_owners();
        Self {
            number,
            places,
            n_rounds: 0,
            sums: vec![0.0; n_owners],
            squares: vec![0.0; n_owners],
            traces: Mat::zeros(game.trace_len(), n_owners),
        }
    }

    /// What it adds to the value of an owner.
    fn mean(&self, owner: usize, share: f64) -> f64 {
        self.places.len() as f64 * share * self.sums[owner] / self.n_rounds as f64
    }

    fn mean_trace(&self, i: usize, owner: usize, share: f64) -> f64 {
        self.places.len() as f64 * share * self.traces[(i, owner)] / self.n_rounds as f64
    }

    /// The variance of that.
    fn variance(&self, owner: usize, share: f64) -> f64 {
        let (n, sum) = (self.n_rounds as f64, self.sums[owner]);
        let variance = (self.squares[owner] - sum * sum / n).max(0.0) / (n - 1.0);
        (self.places.len() as f64 * share).powi(2) * variance / n
    }

    fn draw<G: Game>(&mut self, game: &G, n_rounds: usize, seed: u64) -> Result<(), Error> {
        let rounds: Vec<Round> = (self.n_rounds..self.n_rounds + n_rounds)
            .into_par_iter()
            .map(|round| Round::of(game, self.places.clone(), stream(seed, self.number, round)))
            .collect::<Result<_, Error>>()?;
        for round in rounds {
            for owner in 0..self.sums.len() {
                self.sums[owner] += round.gains[owner];
                self.squares[owner] += round.gains[owner].powi(2);
                let sums = self.traces.col_as_slice_mut(owner).iter_mut();
                sums.zip(round.traces.col_as_slice(owner)).for_each(|(sum, cell)| *sum += cell);
            }
        }
        self.n_rounds += n_rounds;
        Ok(())
    }
}

/// The random stream of a round.
fn stream(seed: u64, stratum: usize, round: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((stratum as u64) << 40 | round as u64);
    rng
}

/// A whole number below `n`, all equally likely.
fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    // The bias is below n · 2⁻⁶⁴.
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// One contribution of every owner.
struct Round {
    gains: Vec<f64>,
    traces: Mat<f64>,
}

impl Round {
    fn of<G: Game>(game: &G, places: Range<usize>, mut rng: ChaCha8Rng) -> Result<Self, Error> {
        let (n_owners, len) = (game.n_owners(), game.trace_len());
        let place = places.start + below(&mut rng, places.len());
        let mut circle: Vec<usize> = (0..n_owners).collect();
        for last in (1..n_owners).rev() {
            circle.swap(last, below(&mut rng, last + 1));
        }
        let mut found = Self { gains: vec![0.0; n_owners], traces: Mat::zeros(len, n_owners) };
        let (mut before, mut after) = (vec![0.0; len], vec![0.0; len]);
        let n_joining = n_owners - place;
        for start in (0..n_owners).step_by(n_joining) {
            let mut coalition = game.nobody();
            for step in 0..place {
                game.join(&mut coalition, circle[(start + n_joining + step) % n_owners]);
            }
            let worth = game.utility(&coalition, &mut before)?;
            for &owner in &circle[start..n_owners.min(start + n_joining)] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_cover_every_place_once() {
        for n_owners in [2, 3, 17, 1000] {
            let places: Vec<usize> = strata_of(n_owners).into_iter().flatten().collect();
            assert_eq!(places, (1..n_owners).collect::<Vec<_>>(), "{n_owners}");
        }
    }
}
