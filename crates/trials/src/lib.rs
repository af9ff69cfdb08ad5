//! Methods tried side by side on the user's own table.
//!
//! [`evaluate`] tries how good the values of each method are: rows are added and
//! removed by value, and targets made wrong on purpose are looked for. [`compare()`]
//! values the rows by each method and says how much the methods agree.
//!
//! ```text
//! BenchRequest ──▶ Bench: rows in memory ──▶ values, method by method
//!                  options, method by method     │
//!                                                ├──▶ orders, wrong targets ──▶ Evaluation
//!                                                └──▶ agreement ──▶ Comparison
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `bench.rs` | rows in memory, as each method sees them |
//! | `hand_out.rs` | which options go to which method |
//! | `judging.rs` | test rows in two halves, so that no method is judged on rows it values by |
//! | `valuing.rs`, `own_labels.rs` | values of the rows by any method |
//! | `evaluation.rs` | `evaluate`: the trial and its result |
//! | `orders.rs`, `search.rs`, `output.rs` | curves by orders; wrong targets found; curves as a table |
//! | `given.rs` | curves of values that someone else computed |
//! | `compare.rs` | `compare`: values, agreement of rankings, time |
//! | `measures/` | agreement, detection and noise: plain arithmetic on values |
//! | `judgement.rs`, `steps.rs` | what to make of a trial; its progress |
//! | `figure.rs` | curves and their figure |
//!
//! The measures need no table: they are functions of numbers, and the seed is an
//! argument.
//!
//! ```
//! use dshap_trials::{Detection, kendall, overlap, spearman};
//!
//! let (one, other) = ([3.0, 1.0, 2.0, 0.0], [2.5, 1.5, 0.5, -1.0]);
//! assert!((spearman(&one, &other).unwrap_or(0.0) - 0.8).abs() < 1e-12);
//! assert!((kendall(&one, &other).unwrap_or(0.0) - 2.0 / 3.0).abs() < 1e-12);
//! assert_eq!(overlap(&one, &other, 2), Some(0.5));
//!
//! // The wrong row has the lowest value.
//! let found = Detection::of(&one, &[false, false, false, true]);
//! assert_eq!(found.map(|found| (found.auc, found.f1)), Some((1.0, 1.0)));
//! ```

mod bench;
mod compare;
mod entrant;
mod evaluation;
mod figure;
mod given;
mod hand_out;
mod judgement;
mod judging;
mod measures;
mod orders;
mod output;
mod own_labels;
mod search;
mod steps;
mod valuing;

pub use bench::BenchRequest;
pub use compare::{Compared, Comparison, Pair, compare};
pub use entrant::{Entrant, split_names};
pub use evaluation::{Evaluation, MethodResult, Trial, evaluate};
pub use figure::{Curve, Experiment, Order, figure};
pub use given::{GivenCurves, GivenValues, curves_of};
pub use judgement::{Chooser, Detector, ENOUGH_REPEATS, Judgement, Removal};
pub use measures::{Changed, Detection, Kind, inject, kendall, overlap, ranking, shuffled, spearman};
