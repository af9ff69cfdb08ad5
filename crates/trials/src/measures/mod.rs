//! How good values are and how much they agree: plain arithmetic on values.

mod agreement;
mod detection;
mod noise;

pub use agreement::{kendall, overlap, ranking, spearman};
pub use detection::Detection;
pub use noise::{Changed, Kind, inject, shuffled};
