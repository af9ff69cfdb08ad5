//! Numerics shared by several methods: sums over set sizes, the integrals behind them,
//! and an exponential for vectors.

mod branched;
mod chebyshev;
mod counting;
mod double_double;
mod exp;
mod intercept_sums;
mod size_sums;

pub(crate) use branched::BranchedRule;
pub(crate) use chebyshev::Chebyshev;
pub(crate) use counting::{CountingRule, Node, gauss_block};
pub(crate) use double_double::DoubleDouble;
pub use exp::exp_of_negative;
pub use intercept_sums::{InterceptSum, InterceptSums};
pub use size_sums::{SizeSums, Sums};
