//! All coalitions.

use super::game::{Game, interactions, shapley, weight_of};
use crate::valuer::go_on;
use crate::{Error, Watch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

/// The most owners whose coalitions are all tried: 65 536 models.
pub const MOST_EXACT: usize = 16;

/// Owners whose joining is tried in all ways within one piece of work.
const FREE_OWNERS: usize = 6;

/// Pieces of work whose traces are in memory at once.
const PIECES: usize = 16;

/// A game that was solved by trying all coalitions.
#[derive(Debug, Clone)]
pub struct Exact {
    /// What each coalition is worth; owner `g` is bit `g` of the place.
    pub utilities: Vec<f64>,
    /// The value of each owner.
    pub shapley: Vec<f64>,
    /// Interactions of pairs, as [`interactions`] orders them.
    pub interactions: Vec<f64>,
    /// The trace of each owner's contribution, one column each: what the traces of
    /// coalitions amount to with the weights that make up the value.
    pub traces: Mat<f64>,
}

/// Solves a game of at most [`MOST_EXACT`] owners. `watch` counts coalitions.
///
/// Every coalition is built by merging its members in the order of their numbers, last
/// one first, so nothing is ever subtracted, and the result has the same bits on any
/// number of threads.
///
/// # Errors
///
/// What a coalition fails with; [`Error::Interrupted`].
///
/// # Panics
///
/// With more owners than [`MOST_EXACT`], or with none.
pub fn exact<G: Game>(game: &G, watch: Watch<'_>) -> Result<Exact, Error> {
    let n_owners = game.n_owners();
    assert!((1..=MOST_EXACT).contains(&n_owners), "{n_owners} owners");
    // At least 16 pieces where possible, for many threads and slow models.
    let free = n_owners.saturating_sub(4).min(FREE_OWNERS);
    let n_pieces = 1_usize << (n_owners - free);
    let mut utilities = Vec::with_capacity(1 << n_owners);
    let mut traces = Mat::<f64>::zeros(game.trace_len(), n_owners);
    for first in (0..n_pieces).step_by(PIECES) {
        go_on(watch, first << free, 1 << n_owners)?;
        let pieces: Vec<Piece> = (first..n_pieces.min(first + PIECES))
            .into_par_iter()
            .map(|upper| Piece::of(game, upper << free, free))
            .collect::<Result<_, _>>()?;
        for piece in pieces {
            utilities.extend(piece.utilities);
            for owner in 0..n_owners {
                let sums = traces.col_as_slice_mut(owner).iter_mut();
                sums.zip(piece.traces.col_as_slice(owner)).for_each(|(sum, part)| *sum += part);
            }
        }
    }
    go_on(watch, 1 << n_owners, 1 << n_owners)?;
    let (shapley, interactions) = (shapley(&utilities), interactions(&utilities));
    Ok(Exact { utilities, shapley, interactions, traces })
}

/// The coalitions that differ only in the first few owners.
struct Piece {
    utilities: Vec<f64>,
    traces: Mat<f64>,
}

impl Piece {
    fn of<G: Game>(game: &G, upper: usize, free: usize) -> Result<Self, Error> {
        let n_owners = game.n_owners();
        let mut base = game.nobody();
        for owner in (free..n_owners).rev().filter(|owner| upper >> owner & 1 == 1) {
            game.join(&mut base, owner);
        }
        let mut utilities = vec![0.0; 1 << free];
        let mut each = Mat::<f64>::zeros(game.trace_len(), 1 << free);
        fill(game, &base, 0, free, &mut utilities, &mut each)?;
        let weights = Mat::from_fn(1 << free, n_owners, |i, owner| weight_of(n_owners, upper | i, owner));
        let mut traces = Mat::<f64>::zeros(game.trace_len(), n_owners);
        matmul(traces.as_mut(), Accum::Replace, each.as_ref(), weights.as_ref(), 1.0, Par::Seq);
        Ok(Self { utilities, traces })
    }
}

/// Tries all ways in which the first `free` owners may join.
fn fill<G: Game>(
    game: &G,
    base: &G::Coalition,
    chosen: usize,
    free: usize,
    utilities: &mut [f64],
    traces: &mut Mat<f64>,
) -> Result<(), Error> {
    let Some(owner) = free.checked_sub(1) else {
        utilities[chosen] = game.utility(base, traces.col_as_slice_mut(chosen))?;
        return Ok(());
    };
    fill(game, base, chosen, owner, utilities, traces)?;
    let mut with = base.clone();
    game.join(&mut with, owner);
    fill(game, &with, chosen | 1 << owner, owner, utilities, traces)
}
