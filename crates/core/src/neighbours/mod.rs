//! Nearest neighbours: values in closed form.

mod distances;
mod labels;
mod list;
mod numbers;
mod options;
mod pass;
mod shapley;
mod space;
mod valuer;
mod weights;

pub use options::{Metric, NeighbourOptions, NeighbourTask, Scale, TestRows, sample_rows};
pub use valuer::NeighbourValuer;
pub use weights::WeightTable;
