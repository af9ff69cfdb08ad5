//! Methods side by side on the user's own data: how good they are, how much they agree.
//!
//! | file | holds |
//! |---|---|
//! | `bench.rs` | rows in memory, as several methods see them |
//! | `judging.rs` | test rows in two halves, so that no method is judged on what it was valued by |
//! | `valuing.rs` | values of them by any method |
//! | `evaluation.rs` | `evaluate`: point addition and removal, detection of wrong targets |
//! | `orders.rs`, `detection.rs`, `output.rs` | its curves: by orders, of what is found; as a table |
//! | `given.rs` | the same curves of values that someone else computed |
//! | `compare.rs` | `compare`: values, agreement of rankings, time |

mod bench;
mod compare;
mod detection;
mod evaluation;
mod given;
mod judging;
mod orders;
mod output;
mod valuing;

pub use bench::{AnyMethod, BenchRequest};
pub use compare::{Compared, Comparison, Pair, compare};
pub use evaluation::{Evaluation, MethodResult, Trial, evaluate};
pub use given::{GivenCurves, GivenValues, curves_of};
pub use valuing::Timed;
