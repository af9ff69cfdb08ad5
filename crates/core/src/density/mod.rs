//! Kernel density estimation: values in closed form (Theorem 5).

mod algorithm5;
mod bandwidth;
mod exp;
mod fit;
mod integrals;
mod kernel;
mod sets;
mod size_weights;
mod sums;
mod tiles;
mod tree;
mod uniform;
mod valuer;

pub use algorithm5::Algorithm5;
pub use bandwidth::{BANDWIDTH_RANGE, Bandwidth, Trial};
pub use fit::{DensityBuilder, DensityFit, DensityOptions, Scaling, Search};
pub use integrals::PairIntegrals;
pub use kernel::Kernel;
pub use sets::{SetValue, SetValuer, Synergy};
pub use size_weights::SizeWeights;
pub use tree::TREE_TOLERANCE;
pub use uniform::{Border, UniformExample};
pub use valuer::{DensityMethod, DensityValuer};
