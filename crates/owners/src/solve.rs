//! A game solved, exactly or by random orders.

use crate::report::Solving;
use dshap::owners::{Exact, Game, MOST_EXACT, SampleOptions, Sampled, exact, sampled};
use dshap_catalogue::Given;
use dshap_catalogue::options::{SAMPLES, SEED, STOP};
use dshap_models::{Observer, Stage};
use faer::Mat;

/// Standard errors wanted, as a share of the spread of the owners' values.
const TOLERANCE: f64 = 0.05;

/// The most rounds of random orders.
const MOST_ROUNDS: usize = 20_000;

/// The seed of everything that is drawn.
pub(crate) fn seed_in(given: &Given) -> u64 {
    given.count(&SEED).unwrap_or(0)
}

/// What a game gave.
pub(crate) struct Solved {
    pub(crate) shapley: Vec<f64>,
    /// Standard errors of random orders; none if all coalitions were tried.
    pub(crate) errors: Option<Vec<f64>>,
    pub(crate) interactions: Option<Vec<f64>>,
    pub(crate) all: f64,
    pub(crate) none: f64,
    /// Utility of each owner alone.
    pub(crate) alone: Vec<f64>,
    pub(crate) traces: Mat<f64>,
    pub(crate) solving: Solving,
}

/// Tries all coalitions of up to 16 owners, and random orders of more.
pub(crate) fn solve<G: Game>(
    game: &G,
    given: &Given,
    observer: &dyn Observer,
) -> Result<Solved, dshap::Error> {
    let n_owners = game.n_owners();
    let is_exact = n_owners <= MOST_EXACT;
    let (tolerance, most_rounds) =
        (given.number(&STOP).unwrap_or(TOLERANCE), given.size(&SAMPLES).unwrap_or(MOST_ROUNDS));
    observer.begin(Stage::Coalitions, if is_exact { 1 << n_owners } else { most_rounds as u64 });
    let watch = |done: usize, _: usize| {
        observer.advance(done as u64, done as u64);
        !observer.is_interrupted()
    };
    let solved = if is_exact {
        let Exact { utilities, shapley, interactions, traces } = exact(game, &watch)?;
        Solved {
            shapley,
            errors: None,
            interactions: Some(interactions),
            all: utilities[utilities.len() - 1],
            none: utilities[0],
            alone: (0..n_owners).map(|owner| utilities[1 << owner]).collect(),
            traces,
            solving: Solving::Coalitions { n: 1 << n_owners },
        }
    } else {
        let options = SampleOptions { seed: seed_in(given), tolerance, most_rounds };
        let Sampled { shapley, errors, traces, all, none, alone, n_rounds, reached } =
            sampled(game, options, &watch)?;
        let solving = Solving::Permutations { rounds: n_rounds, tolerance, reached };
        Solved { shapley, errors: Some(errors), interactions: None, all, none, alone, traces, solving }
    };
    observer.end();
    Ok(solved)
}
