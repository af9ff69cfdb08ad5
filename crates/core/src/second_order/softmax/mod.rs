//! More than two classes: one softmax model of all of them, refitted on each set.
//!
//! **Setting.** Labels are classes `0 … K − 1`, and the log-odds of class `k` against class
//! 0 are `xᵀθ_k`. `θ` collects `θ_1 … θ_{K−1}`; the choice of the base class changes
//! nothing. Models are judged by log-loss.
//!
//! **Result.** With `y` and `π` vectors over the classes except the base, `R = diag π −
//! ππᵀ`, `e = y − π`, and the blocks of a matrix `M` contracted with a row as `M_x =
//! (xᵀM_kl x)_kl`,
//!
//! ```text
//! H = E[R ⊗ xxᵀ]    V = H⁻¹E[eeᵀ ⊗ xxᵀ]H⁻¹    b = −½H⁻¹(E[κ ⊗ x] + 2E[(R(H⁻¹)_x e) ⊗ x])
//! κ_k = π_k(S_kk − 2(Sπ)_k − πᵀdiag S + 2πᵀSπ),   S = V_x
//! c = tr(R V_x) − ½eᵀ(H⁻¹)_x e − 2 Σ_k e_k xᵀb_k
//! ```
//!
//! The sum over set sizes is that of two classes for each eigenvalue `t_j` of
//! `R(H⁻¹)_x`, with the shares of the three terms along its eigenvectors: one step of
//! Newton's method for a set of `n` rows divides by `n + t_j` there. Two classes
//! have one eigenvalue, and the same values as [`SecondOrderValuer`](super::SecondOrderValuer).
//!
//! **Cost.** `O((K − 1)²p²)` a row, and as much memory for the moments; one against
//! the others ([`SecondOrderOneVsRest`](super::SecondOrderOneVsRest)) costs `O(Kp²)`.
//!
//! | file | holds |
//! |---|---|
//! | `fit.rs` | the fit, and its predictions for a row |
//! | `passes.rs`, `sums.rs` | from rows to a valuer, in passes |
//! | `newton.rs` | steps of the fit, and the proof that there is none |
//! | `row.rs`, `left_out.rs` | from a row's forms to the terms of its value, also left out |
//! | `valuer.rs`, `drawn.rs` | values, also left out, and their standard errors |
//! | `parts.rs` | plain numbers |

mod drawn;
mod fit;
mod left_out;
mod newton;
mod parts;
mod passes;
mod row;
mod sums;
mod valuer;

pub use fit::SoftmaxFit;
pub use parts::SoftmaxParts;
pub use passes::{SoftmaxOptions, SoftmaxPass, SoftmaxPasses, SoftmaxStep};
pub use valuer::SoftmaxValuer;
