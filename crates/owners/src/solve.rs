//! A game solved, exactly or by random orders.

use crate::market::Market;
use crate::report::Solving;
use dshap::owners::{
    Exact, Game, MOST_EXACT, Repeats, SampleOptions, Sampled, exact, sampled, sampled_interactions,
};
use dshap_catalogue::Given;
use dshap_catalogue::options::{SAMPLES, SEED, STOP};
use dshap_models::Stage;
use faer::Mat;

/// Standard errors wanted, as a share of the spread of the owners' values.
const TOLERANCE: f64 = 0.05;

/// The most rounds of random orders.
const MOST_ROUNDS: usize = 20_000;

/// With more owners, only this many are looked at in pairs.
const MOST_PAIRED: usize = 24;

/// The seed of everything that is drawn.
pub(crate) fn seed_in(given: &Given) -> u64 {
    given.count(&SEED).unwrap_or(0)
}

/// What a game gave.
pub(crate) struct Solved {
    pub(crate) shapley: Vec<f64>,
    /// Standard errors of random orders; none if all coalitions were tried.
    pub(crate) errors: Option<Vec<f64>>,
    pub(crate) interactions: Vec<Paired>,
    pub(crate) all: f64,
    pub(crate) none: f64,
    /// Utility of each owner alone.
    pub(crate) alone: Vec<f64>,
    /// The trace of what each owner alone adds to no owner, one column each; no column where
    /// nobody asks for its errors.
    pub(crate) alone_traces: Mat<f64>,
    pub(crate) traces: Mat<f64>,
    pub(crate) solving: Solving,
}

impl Solved {
    /// What each owner brings to whoever has no other.
    pub(crate) fn brought_alone(&self) -> Vec<f64> {
        self.alone.iter().map(|alone| alone - self.none).collect()
    }
}

/// How two owners go together.
pub(crate) struct Paired {
    pub(crate) owners: (usize, usize),
    pub(crate) value: f64,
    /// None if all coalitions were tried.
    pub(crate) error: Option<f64>,
}

/// All pairs of some owners, in the order of interactions.
fn pairs_of(owners: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    owners.iter().enumerate().flat_map(|(i, &g)| owners[i + 1..].iter().map(move |&h| (g, h)))
}

/// The owners that are looked at in pairs: all of them, or those that share most rows with
/// others, and then those of the largest values.
fn paired_owners(shapley: &[f64], repeats: Option<&Repeats>) -> Vec<usize> {
    let shared = |owner: usize| repeats.map_or(0, |repeats| repeats.shared[owner]);
    let mut owners: Vec<usize> = (0..shapley.len()).collect();
    owners.sort_by(|&g, &h| shared(h).cmp(&shared(g)).then(shapley[h].abs().total_cmp(&shapley[g].abs())));
    owners.truncate(MOST_PAIRED);
    owners.sort_unstable();
    owners
}

/// What each owner alone adds to no owner, as traces.
fn alone_traces<G: Game>(game: &G) -> Result<Mat<f64>, dshap::Error> {
    let mut before = vec![0.0; game.trace_len()];
    game.utility(&game.nobody(), &mut before)?;
    let mut found = Mat::<f64>::zeros(game.trace_len(), game.n_owners());
    for owner in 0..game.n_owners() {
        let mut coalition = game.nobody();
        game.join(&mut coalition, owner);
        let cells = found.col_as_slice_mut(owner);
        game.utility(&coalition, cells)?;
        cells.iter_mut().zip(&before).for_each(|(cell, before)| *cell -= before);
    }
    Ok(found)
}

/// Tries all coalitions of up to 16 owners, and random orders of more.
pub(crate) fn solve<G: Game>(
    game: &G,
    repeats: Option<&Repeats>,
    market: &Market<'_>,
) -> Result<Solved, dshap::Error> {
    let Market { given, observer, .. } = market;
    let n_owners = game.n_owners();
    let is_exact = n_owners <= MOST_EXACT;
    let (tolerance, most_rounds) =
        (given.number(&STOP).unwrap_or(TOLERANCE), given.size(&SAMPLES).unwrap_or(MOST_ROUNDS));
    observer.begin(Stage::Coalitions, if is_exact { 1 << n_owners } else { most_rounds as u64 });
    let watch = |done: usize, _: usize| {
        observer.advance(done as u64, done as u64);
        !observer.is_interrupted()
    };
    let alone_traces = if market.tables.own.is_some() { alone_traces(game)? } else { Mat::new() };
    let solved = if is_exact {
        let Exact { utilities, shapley, interactions, traces } = exact(game, &watch)?;
        let all: Vec<usize> = (0..n_owners).collect();
        let paired = pairs_of(&all).zip(interactions);
        Solved {
            shapley,
            errors: None,
            interactions: paired.map(|(owners, value)| Paired { owners, value, error: None }).collect(),
            all: utilities[utilities.len() - 1],
            none: utilities[0],
            alone: (0..n_owners).map(|owner| utilities[1 << owner]).collect(),
            alone_traces,
            traces,
            solving: Solving::Coalitions { n: 1 << n_owners },
        }
    } else {
        let options = SampleOptions { seed: seed_in(given), tolerance, most_rounds };
        let Sampled { shapley, errors, traces, all, none, alone, n_rounds, reached } =
            sampled(game, options, &watch)?;
        let owners = paired_owners(&shapley, repeats);
        let pairs = sampled_interactions(game, &owners, options, &watch)?;
        let found = pairs_of(&owners).zip(pairs.values.into_iter().zip(pairs.errors));
        let interactions =
            found.map(|(owners, (value, error))| Paired { owners, value, error: Some(error) }).collect();
        let solving = Solving::Permutations { rounds: n_rounds, tolerance, reached };
        Solved {
            shapley,
            errors: Some(errors),
            interactions,
            all,
            none,
            alone,
            alone_traces,
            traces,
            solving,
        }
    };
    observer.end();
    Ok(solved)
}
