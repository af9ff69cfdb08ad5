//! Linear regression with Gaussian inputs: values in closed form (Theorem 2).
//!
//! **Setting.** Rows `(x, y)` with `x ~ N(μ, Σ)` and `y = xᵀβ + noise`, the noise
//! of variance `σ²`. A set `S` of rows is worth `U(S) = C − E(y − xᵀβ̂_S)²`: minus
//! the squared error of least squares fitted to `S`, from size `q` on.
//!
//! **Result.** The value of a row depends on only two numbers, its squared Mahalanobis
//! distance `a` and its squared residual `e²`:
//!
//! ```text
//! value = (1/m) [ (σ² − e²)·a·H2(a) + σ²·H4(a) ]
//! ```
//!
//! with the sums `H2`, `H4` of [`SizeSums`](crate::numeric::SizeSums), which are
//! tabulated once for `(p, q, m)`. So a reference sample is reduced to
//! [`Moments`](crate::Moments), those to a [`LinearFit`], and each row costs one
//! triangular solve and a table look-up. There is no Monte Carlo.
//!
//! **Assumptions.** Gaussian inputs, constant noise variance, and `μ, Σ, β, σ²`
//! known; estimates are plugged in, and the standard error says what that costs, for noise of
//! any shape if the valuer is given the [`NoiseShape`] of its reference.
//! The value is a truncated average over set sizes, a semivalue: values of the
//! rows of a dataset do not add up to the dataset's utility.
//!
//! The printed theorem sums over sizes `q … m` instead of `q−1 … m−1` and omits a
//! point-independent term; [`Convention::Printed`] and [`Algorithm3`] reproduce it.

mod algorithm3;
mod bounds;
pub(crate) mod calibrated;
mod deviations;
pub(crate) mod fit;
mod gaussian;
mod general;
mod joint;
pub(crate) mod noise;
mod outputs;
mod parts;
mod printed_sums;
mod sum_errors;
pub(crate) mod target;
mod valuer;

pub use algorithm3::Algorithm3;
pub use bounds::{Bound, BoundForm, Side};
pub use calibrated::{Calibration, DistanceTable, Factors};
pub use fit::{FitOptions, LinearFit};
pub use gaussian::{Constant, Convention, GaussianForm, Intercept, PointStats, PointValue};
pub use general::{
    ConditionalGain, GeneralOptions, GeneralValuer, GeneralValues, Population, SetMiss, SetStats, SetTargets,
};
pub use joint::{JointForm, JointValue, SetGeometry};
pub use noise::{NoiseParts, NoiseShape};
pub use outputs::{ErrorUnits, OutputsValuer};
pub use parts::FitParts;
pub use sum_errors::SumErrors;
pub use target::{TargetForm, TargetGeometry, TargetStats, TestMoments};
pub use valuer::{LinearMethod, LinearValuer};
