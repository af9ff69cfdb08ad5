//! What a set of rows is worth jointly in linear regression.
//!
//! **Setting.** As for single rows (`linear/mod.rs`), but `n` rows `S*` join a random set
//! of `s` others together. Sums of row values cannot tell copies from fresh rows; the joint
//! value can.
//!
//! **Result.** Whiten by `Σ` and write `X*ᵀX* = V diag(g) Vᵀ` of rank `r` and
//! `u = VᵀX*ᵀ(y* − X*β)`. With `W ~ Wishart_r(s−p+r)` and `K = (W + diag g)⁻¹`,
//!
//! ```text
//! M_s = (s−1)/(s−p+r−1) · { σ² Σ_i [ φ⁰ − φ_i + g_i κ_i ] − Σ_i u_i² κ_i }
//! φ_i = E K_ii     κ_i = E (K²)_ii     φ⁰ = 1/(s−p−1)
//! ```
//!
//! is exact for Gaussian inputs. `φ` and `κ` have no closed form for `r > 1`;
//! [`form`](self) approximates them by one integral for each direction, exactly for `r = 1`,
//! where `M_s` is the gain of Theorem 2. The value is the sum of `M_s` over the sizes
//! `q − 1 … m − 1`, divided by `m`.
//!
//! **Assumptions.** Those of single rows, and parameters estimated from other rows than
//! those of the set. The fewer the other rows, the larger the part of `u` that is error of
//! the fit, which lowers the value of a set that holds much of all rows.

mod form;
mod geometry;

pub use form::JointForm;
pub use geometry::SetGeometry;

/// The joint value of a set of rows and its two sides: value = potential − penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointValue {
    /// The value.
    pub value: f64,
    /// The value with residuals of zero.
    pub potential: f64,
    /// What the residuals cost.
    pub penalty: f64,
}
