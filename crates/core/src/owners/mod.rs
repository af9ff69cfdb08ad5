//! The game between owners of rows: what each owner's data bring, given the others.
//!
//! Players are the owners. A coalition trains a model on the rows of its members, and on
//! the buyer's own rows if there are any. What it is worth is minus the loss of that model
//! on test rows. The Shapley value of an owner is its mean contribution over all orders in
//! which owners may join, so the values add up to `U(all) − U(none)`.
//!
//! ```text
//! φ_g  = Σ_{C∌g}   |C|! (K−|C|−1)! / K!     · (U(C∪g) − U(C))
//! I_gh = Σ_{C∌g,h} |C|! (K−|C|−2)! / (K−1)! · (U(C∪gh) − U(C∪g) − U(C∪h) + U(C))
//! ```
//!
//! Copies of rows share their credit: two owners with the same rows have the same value and
//! a strongly negative interaction. Sums of the values of single rows cannot show this,
//! because a copied row is worth as much as its original when rows are drawn from a
//! distribution.
//!
//! | file | holds |
//! |---|---|
//! | `game.rs` | what a game is; Shapley values and interactions from utilities |
//! | `exact.rs` | all coalitions, up to 16 owners |
//! | `sampled/` | more owners: random orders, stratified by place, with a stopping rule |
//! | `linear.rs` | regression on merged moments: no row is needed |
//! | `quadratic.rs` | contributions to single test rows, by one quadratic form per owner |
//! | `ridge.rs` | the penalty, chosen by the moments of five folds |
//! | `logistic.rs` | classification by models that are fitted again for each coalition |
//! | `neighbours.rs` | nearest neighbours, from the nearest rows of each owner |
//! | `density.rs` | densities, from sums of kernels between owners |
//! | `held.rs` | rows in memory, for the three above |
//! | `losses.rs` | means and standard errors of contributions |
//! | `fingerprint.rs` | rows that are the same: folds and duplicates |
//! | `payout.rs` | a budget in whole units, by largest remainders |
//! | `stability.rs` | how often a ranking survives resampling |

mod density;
mod exact;
mod fingerprint;
mod game;
mod held;
mod linear;
mod logistic;
mod losses;
mod neighbours;
mod payout;
mod quadratic;
mod ridge;
mod sampled;
mod stability;

pub use density::DensityGame;
pub use exact::{Exact, MOST_EXACT, exact};
pub use fingerprint::{Fingerprint, Fingerprints, Repeats, fingerprints};
pub use game::{Game, interactions, shapley};
pub use held::{HeldMarket, Members};
pub use linear::{LinearFold, LinearGame, Parts};
pub use logistic::{Judged, LogisticGame};
pub use losses::{Contributions, MOST_JOINT};
pub use neighbours::{NeighbourGame, NeighbourGameOptions, NeighbourTarget};
pub use payout::{MOST_UNITS, PayoutError, PayoutRules, Ties, payout, shares};
pub use quadratic::QuadraticForms;
pub use ridge::{RidgeChoice, choose_ridge};
pub use sampled::{SampleOptions, Sampled, SampledPairs, sampled, sampled_interactions};
pub use stability::{Errors, Stability, resampled};
