//! Methods side by side on the user's own data: how good they are, how much they agree.
//!
//! | file | holds |
//! |---|---|
//! | `bench.rs` | rows in memory, and values of them by any method |
//! | `evaluation.rs`, `curves.rs` | `evaluate`: point addition and removal, detection of wrong targets |
//! | `compare.rs` | `compare`: values, agreement of rankings, time |

mod bench;
mod compare;
mod curves;
mod evaluation;

pub use bench::{AnyMethod, BenchRequest, Timed};
pub use compare::{Compared, Comparison, Pair, compare};
pub use evaluation::{Evaluation, MethodResult, Trial, evaluate};
