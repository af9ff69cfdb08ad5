//! How good values are, and how much they agree.
//!
//! Plain arithmetic on values that someone else computed: [`spearman`] and
//! [`kendall`] correlations and the [`overlap`] of the best rows; how well low
//! values point at rows that are wrong ([`Detection`]), which [`inject`] makes;
//! and a [`figure()`] of the [`Curve`]s of a trial. Nothing here reads files or clocks; the seed is
//! an argument.
//!
//! ```
//! use dshap_evaluate::{Detection, kendall, overlap, spearman};
//!
//! let (one, other) = ([3.0, 1.0, 2.0, 0.0], [2.5, 1.5, 0.5, -1.0]);
//! assert!((spearman(&one, &other).unwrap_or(0.0) - 0.8).abs() < 1e-12);
//! assert!((kendall(&one, &other).unwrap_or(0.0) - 2.0 / 3.0).abs() < 1e-12);
//! assert_eq!(overlap(&one, &other, 2), Some(0.5));
//!
//! // The lowest value is that of the wrong row.
//! let found = Detection::of(&one, &[false, false, false, true]);
//! assert_eq!(found.map(|found| (found.auc, found.f1)), Some((1.0, 1.0)));
//! ```

mod agreement;
mod detection;
mod figure;
mod noise;

pub use agreement::{kendall, overlap, ranking, spearman};
pub use detection::Detection;
pub use figure::{Curve, Experiment, Order, figure};
pub use noise::{Changed, Kind, inject, shuffled};
