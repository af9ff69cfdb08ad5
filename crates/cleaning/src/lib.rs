//! Suspicious rows, and whether it helps to drop or relabel them.
//!
//! ```text
//! CleanRequest ──▶ Examined: rows, neighbours ──▶ cross-fitted predictions ──▶ Suspects
//!                            │                                                   │
//!                            └──▶ trial: actions on training folds, ──▶ Verdict ─┴──▶ table
//!                                 losses on held-out folds
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `examined.rs` | rows in memory with their nearest neighbours |
//! | `predict.rs` | a linear or logistic model and the neighbours, fitted to some rows and asked about others |
//! | `folds.rs` | rows in random folds |
//! | `stack.rs` | how much each of several predictions counts |
//! | `suspects.rs` | cross-fitted scores, flags with their expected precision, what targets should be |
//! | `actions.rs` | what can be done with suspicious rows |
//! | `noise.rs` | how likely held-out targets are if some of them may be wrong |
//! | `trial.rs`, `verdict.rs` | repeated cross-fitting of all actions, and what it recommends |
//! | `run.rs`, `output.rs` | `clean`: a table read, examined and written |
//!
//! **Score.** A model and the ten nearest neighbours predict each row from folds without
//! it. For labels both give probabilities, which are mixed with the weights that make
//! the given labels most likely; the score is one minus the probability of the given
//! label. For numbers the score is the distance from the mixed prediction in robust
//! standard deviations; the linear model is fitted with bounded influence (Huber), and
//! neighbours count by their median.
//!
//! **Trial.** Held-out rows have wrong targets too, and a plain loss may prefer a model
//! that has learned to expect them. So each action is judged by the likelihood of
//! held-out targets in a model where a share of them may be wrong, the share being
//! fitted to the action and to doing nothing alike. `verdict.rs` has the rule.

mod actions;
mod examined;
mod folds;
mod noise;
mod output;
mod predict;
mod run;
mod stack;
mod suspects;
mod trial;
mod verdict;

pub use actions::{Act, Action, SHARES};
pub use examined::{Examined, Kind};
pub use output::CleanedAs;
pub use run::{
    CleanRequest, Cleaned, CleanedRows, Listed, Reason, clean, clean_rows, clean_source, options_of,
    suspects_in,
};
pub use suspects::{Suspects, find_suspects, suspects_by};
pub use trial::{Extent, Tried, try_actions};
pub use verdict::{Recommended, Tested, Verdict};
