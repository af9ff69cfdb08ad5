//! Values for the data that one really predicts, in closed form.
//!
//! **Setting.** As in Theorem 2, but utility is minus the mean squared error on given test
//! rows `(x_t, y_t)`, which may come from anywhere. In coordinates centred by the reference,
//!
//! ```text
//! Σ_t = mean x_t x_tᵀ        r_t = mean x_t (y_t − x_tᵀβ)
//! b = xᵀΣ⁻¹Σ_tΣ⁻¹x           τ = tr(Σ⁻¹Σ_t)           c = e · r_tᵀΣ⁻¹x
//! ```
//!
//! **Result.** With `ν = s − p + 1` and `T ~ χ²_ν`, a row adds to a set of `s` rows
//!
//! ```text
//! M_s = [ b + (aτ − b)/(ν−1) ] · { (σ² − e²) E[1/(a+T)²] + σ² E[1/(T(a+T))] } + 2c · E[1/(a+T)]
//! ```
//!
//! So test rows matter through their moments alone, and moments add up. `Σ_t = Σ` and
//! `r_t = 0` is Theorem 2. Inputs without targets have `r_t = 0`: what a row is worth for
//! predicting them, if the model holds there.
//!
//! **Assumptions.** Those of Theorem 2 for the rows that are drawn; none about test rows.
//! The means of the reference are taken as known.

mod errors;
mod form;
mod geometry;

pub(crate) use errors::{Sureness, TargetErrors};
pub use form::{TargetForm, TargetStats};
pub(crate) use geometry::{LeftOut, PanelLook};
pub use geometry::{TargetGeometry, TestMoments};
