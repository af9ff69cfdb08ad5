//! What each row of a dataset is worth to a model, exactly.
//!
//! A row's **distributional Shapley value** (Ghorbani, Kim and Zou 2020; Kwon,
//! Rivas and Zou 2021) is the gain in a model's utility when the row joins a
//! random set of others, averaged over sets of all sizes up to `m`. For least
//! squares with Gaussian inputs that average has a closed form, which this
//! crate evaluates to twelve digits at the cost of a matrix product.
//!
//! ```text
//! Rows ──▶ Moments ──▶ LinearFit ──▶ LinearValuer ──▶ Values
//! ```
//!
//! The **reference** stands for the distribution of the data; **points** are the
//! rows to be valued, seen or unseen.
//!
//! ```
//! use dshap::linear::{FitOptions, LinearFit, LinearMethod, LinearValuer};
//! use dshap::{Moments, Rows, Sizes, Valuer};
//! use faer::mat;
//!
//! // y is about 2x; the last of the points contradicts it.
//! let x = mat![[-2.0], [-1.0], [0.0], [1.0], [2.0], [3.0_f64]];
//! let y = [-4.1, -1.9, 0.2, 1.9, 4.1, 5.8];
//! let fit = LinearFit::new(&Moments::of(Rows::new(x.as_ref(), &y)?)?, FitOptions::default())?;
//! assert!((fit.coef()[0] - 34.6 / 17.5).abs() < 1e-12);
//!
//! let valuer = LinearValuer::new(fit, Sizes::new(4, 6), LinearMethod::default())?;
//! let points = mat![[2.5], [2.5_f64]];
//! let values = valuer.values(Rows::new(points.as_ref(), &[5.0, -5.0])?)?;
//! assert!(values.value[0] > 0.0 && values.value[1] < 0.0);
//! # Ok::<(), dshap::Error>(())
//! ```
//!
//! | module | holds | paper |
//! |---|---|---|
//! | [`linear`] | the closed form for least squares, and Algorithm 3 | Theorem 2 |
//! | [`classification`] | logistic regression, and the same on its working variables | Corollary 4 |
//! | [`density`] | the closed form for kernel density estimates, of rows and of sets | Theorem 5 |
//! | [`neighbours`] | the closed form for nearest neighbours, and KNN-Shapley | not in it |
//! | [`owners`] | the game between owners of rows: Shapley values, interactions, payouts | not in it |
//! | [`second_order`] | the closed form for logistic models that are refitted on each set | not in it |
//! | [`numeric`] | sums over set sizes of chi-squared expectations | its proof |
//!
//! Nothing here reads files, clocks or the environment; a seed is an argument.
//! The same rows give the same bits whatever the number of threads.

pub mod classification;
pub mod density;
pub mod linear;
pub mod neighbours;
pub mod numeric;
pub mod owners;
pub mod second_order;

mod blocks;
mod error;
mod factor;
mod labels;
mod moments;
mod packed;
mod plain;
mod principal;
mod rows;
mod semivalue;
mod sizes;
mod valuer;
mod values;

pub use error::{Error, Warning};
pub use moments::{
    BLOCK_ROWS, BuilderParts, Combination, Moments, MomentsBuilder, MomentsForm, MomentsParts, panel_rows,
};
pub use principal::PrincipalComponents;
pub use rows::{Rows, WEIGHT_RANGE};
pub use semivalue::Semivalue;
pub use sizes::Sizes;
pub use valuer::{Place, Valuer, Wants, Watch};
pub use values::{Draws, Note, Part, Values};
