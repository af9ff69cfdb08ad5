//! Binary classification: values on the working variables of logistic
//! regression (Corollary 4).
//!
//! **Setting.** Rows `(x, y)` with labels `y` of 0 or 1 and `P(y = 1) = π`,
//! `log π/(1 − π) = xᵀβ`, an intercept being one of the columns. Near its maximum
//! the likelihood is that of weighted least squares: with `W = π(1 − π)` a row
//! becomes `x̃ = √W x` with the residual `e = (y − π)/√W` and noise of variance 1.
//! A set `S` is worth minus the expected squared error, on these variables, of
//! least squares fitted to its rows.
//!
//! **Result.** All of [`linear`](crate::linear) applies, without centring, with `Σ̃ = E[W
//! xxᵀ]` for `Σ` and `σ² = 1`; `p` counts the intercept. Only these two numbers of a row
//! are needed, `a = W·xᵀΣ̃⁻¹x` and `a·e² = (xᵀΣ̃⁻¹x)(y − π)²`:
//!
//! ```text
//! value = (1/m) [ a·H2(a) + H4(a) − a·e²·H2(a) ]
//! ```
//!
//! Formed as a product, `a·e²` stays finite however certain the fit is of a row.
//!
//! **What question it answers.** `β` and the weights `W` are those of the whole reference
//! and stay the same for every set. So this is the value of a row to a least-squares
//! problem that stands in for the logistic one, **not** to a logistic model that is
//! refitted on each set: the two differ by terms of the same order. Under log-loss
//! without a ridge they even correlate negatively (the refitted model has a bias that
//! rows pull at); under accuracy, Brier score or with an ordinary ridge positively. It is
//! the paper's value, and it ranks rows that contradict their label low.
//!
//! **Assumptions.** `β` and `Σ̃` known; estimates are plugged in, and standard errors say what that
//! costs. [`ClassificationValuer`] with [`ClassificationMethod::Gaussian`] assumes that `x̃` is
//! Gaussian; [`ClassificationValuer::calibrated`] and [`GeneralClassificationValuer`] do not.
//! Separated classes have no fit without a ridge ([`Error::Separated`](crate::Error::Separated)).
//!
//! ```
//! use dshap::classification::{ClassificationMethod, ClassificationValuer, LogisticFit, LogisticOptions};
//! use dshap::{Part, Rows, Sizes, Valuer};
//! use faer::mat;
//!
//! // Of four rows at 0 one is a 1, of four rows at 1 three are.
//! let x = mat![[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0_f64]];
//! let y = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
//! let fit = LogisticFit::of(Rows::new(x.as_ref(), &y)?, LogisticOptions::default())?;
//! let valuer = ClassificationValuer::new(fit, Sizes::new(7, 8), ClassificationMethod::default())?;
//!
//! let points = mat![[1.0], [1.0_f64]];
//! let values = valuer.values(Rows::new(points.as_ref(), &[1.0, 0.0])?)?;
//! assert!(values.value[0] > 0.0 && values.value[1] < values.value[0], "the second contradicts");
//! // Rows at 1 carry half of the weight: a = W/(W/2).
//! assert!((values.part(Part::DistSq).unwrap_or(&[])[0] - 2.0).abs() < 1e-12);
//! # Ok::<(), dshap::Error>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `irls/` | Newton's method in passes over rows that arrive in chunks |
//! | `separation.rs` | the proof that there is no fit |
//! | `fit.rs`, `design.rs`, `logit.rs`, `parts.rs` | the fit, its columns, the model of one row, plain numbers |
//! | `working.rs` | a row on the working variables, also left out |
//! | `prediction.rs` | what the fit says about the label of a row; what makes a row unusual |
//! | `valuer.rs`, `influence.rs` | values and their standard errors |
//! | `general.rs`, `authors.rs` | by drawing sets; bounds of the authors' program |
//! | `one_vs_rest/` | more than two classes |
//! | `one_step.rs` | the fit of the same rows with other weights, by one step |

mod authors;
pub(crate) mod design;
pub(crate) mod fit;
mod general;
mod influence;
pub(crate) mod irls;
pub(crate) mod logit;
pub(crate) mod one_step;
pub(crate) mod one_vs_rest;
mod parts;
pub(crate) mod prediction;
pub(crate) mod separation;
mod valuer;
mod working;

pub use authors::AuthorsValuer;
pub use fit::LogisticFit;
pub use general::GeneralClassificationValuer;
pub use irls::{Irls, LogisticOptions, PassBuilder, PassKind, PassPlan, PassSums, PassSumsParts, Step};
pub use one_vs_rest::{
    AuthorsOneVsRest, GeneralOneVsRest, OneVsRest, OneVsRestIrls, OneVsRestPass, sum_of_classes, with_class,
};
pub use parts::LogisticParts;
pub use valuer::{ClassificationMethod, ClassificationValuer};
pub use working::{AuthorsMoments, WorkingMoments, WorkingStats};
