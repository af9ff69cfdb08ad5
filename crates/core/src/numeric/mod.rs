//! Numbers that no method owns: sums over set sizes and the integrals behind them.

mod branched;
mod chebyshev;
mod counting;
mod double_double;
mod size_sums;

pub(crate) use branched::BranchedRule;
pub(crate) use chebyshev::Chebyshev;
pub(crate) use counting::CountingRule;
pub(crate) use double_double::DoubleDouble;
pub use size_sums::{SizeSums, Sums};
