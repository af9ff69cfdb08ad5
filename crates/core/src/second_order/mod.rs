//! Second-order values: what a row adds to a logistic model that is refitted on each set.
//!
//! **Setting.** Rows `(x, y)` with labels `y` of 0 or 1. A logistic model is fitted to a
//! set `S` and judged by its utility on the population: minus its expected log-loss,
//! minus its Brier score, or its accuracy ([`Utility`]). The value of a row is the
//! expected gain when it joins a random set and the model is refitted, summed over set
//! sizes `q − 1 … m − 1` and divided by `m`. The model need not be true.
//!
//! **Result.** The gain is `c/s² + O(s⁻³)` in the number `s` of rows of the set. With
//! `β` the fit of the reference, `π` its probabilities, `w = π(1 − π)`,
//! `w₁ = w(1 − 2π)`, `e = y − π`, and `E` the mean over the reference,
//!
//! ```text
//! H = E[w xxᵀ]    V = H⁻¹E[e²xxᵀ]H⁻¹    b = −½H⁻¹(E[w₁(xᵀVx)x] + 2E[we(xᵀH⁻¹x)x])
//! c = w·xᵀVx − ½e²·xᵀH⁻¹x − 2e·xᵀb                                          log-loss
//! ```
//!
//! `V/s` is the spread of an estimate from `s` rows and `b/s` its bias. So a value has
//! three parts: what the row's position can add (`potential`), what its surprise costs
//! (`penalty`), and whether it pulls against the bias (`correction`); value = potential −
//! penalty + correction. The sum over sizes uses a form with the right limits for rows of
//! high leverage and the right pole for small sets: with `t = w·xᵀH⁻¹x` and `n = s + ½ −
//! κ`,
//!
//! ```text
//! gain(s) ≈ [w·xᵀVx(1 + t/2n) − ½e²·xᵀH⁻¹x − 2e·xᵀb]/(n + t)²
//! ```
//!
//! Other utilities, and a ridge of ordinary size, need more moments ([`Expansion`]); gains
//! are then [`RowTerms::gain`], where potential, penalty and correction are constant,
//! quadratic and linear in the row's influence on the coefficients. If the expansion
//! changes with the size of the sets (accuracy, ridge) it is made at eight sizes or more
//! and interpolated. Moments are summed in two to five passes over the reference, in
//! memory that grows like `p²`; a row costs `O(p²)`.
//!
//! **Assumptions.** Estimates from sets are near that of the reference: `s` well above
//! `p`, and sets that separate the classes negligible (otherwise, without a ridge, the
//! exact expectation does not exist). The reference stands for the population; with 200
//! rows values correlate 0.87 to 0.96 with those of the population, with 2000 rows 0.97
//! to 0.995 (figures of the derivation). [`Spread::ModelBased`] has less of that noise,
//! but is wrong if the model is. At `s` near 50 and strong effects magnitudes may be off
//! by 100 %, while ranks are right.
//!
//! **What it must not be used for.** It does not detect wrong labels. Without a ridge a
//! row that contradicts its label pulls against the outward bias of the estimates and
//! really has a high value: with 15 % of labels flipped, low values find them worse than
//! chance (ROC AUC 0.21 to 0.27 on three datasets, where
//! [`classification`](crate::classification) has 0.76 to 0.92; figures of the
//! derivation). Use the `penalty`, or the values of
//! [`classification`](crate::classification), for that. It is a truncated average, so
//! values of rows do not add up to the utility of a dataset.
//!
//! **More than two classes** use one softmax model under log-loss ([`SoftmaxValuer`]), or
//! a sum over each class against the others ([`SecondOrderOneVsRest`]), which works with
//! every utility and with a ridge.
//!
//! ```
//! use dshap::classification::{LogisticFit, LogisticOptions};
//! use dshap::second_order::{SecondOrderOptions, SecondOrderValuer};
//! use dshap::{Part, Rows, Sizes, Valuer};
//! use faer::mat;
//!
//! // Both labels at each place: all probabilities are one half, and no bias.
//! let x = mat![[-1.0], [-1.0], [1.0], [1.0], [-1.0], [-1.0], [1.0], [1.0_f64]];
//! let y = [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];
//! let rows = Rows::new(x.as_ref(), &y)?;
//! let fit = LogisticFit::of(rows, LogisticOptions::default())?;
//! let valuer = SecondOrderValuer::of(fit, rows, Sizes::new(50, 200), SecondOrderOptions::default())?;
//!
//! let values = valuer.values(Rows::new(mat![[3.0], [3.0_f64]].as_ref(), &[1.0, 0.0])?)?;
//! assert!(values.value[0] > 0.0 && (values.value[0] - values.value[1]).abs() < 1e-12);
//! // w·xᵀH⁻¹x = ¼·(1 + 9)/¼ for the intercept and the feature.
//! assert!((values.part(Part::DistSq).unwrap_or(&[])[0] - 10.0).abs() < 1e-9);
//! # Ok::<(), dshap::Error>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `options.rs` | utility, spread, ridge, shift |
//! | `passes.rs` | from a fit to a valuer, in passes over rows that arrive in chunks |
//! | `sums.rs` | what a pass sums |
//! | `expansion.rs` | moments, and what follows from them for every row |
//! | `terms.rs`, `left_out.rs` | terms of a row in an expansion, also left out |
//! | `resummed.rs`, `nodes.rs` | the sum over set sizes: in closed form; at a few sizes |
//! | `valuer.rs`, `row_value.rs` | values |
//! | `parts.rs` | plain numbers, to save and restore a valuer |
//! | `bootstrap.rs`, `drawn.rs` | standard errors, by drawing the reference again |
//! | `shift.rs`, `probe.rs` | `κ`, measured; sets without a fit, counted |
//! | `one_vs_rest.rs`, `softmax/` | more than two classes |

mod bootstrap;
mod drawn;
mod expansion;
mod left_out;
mod nodes;
mod one_vs_rest;
mod options;
mod parts;
mod passes;
mod probe;
mod resummed;
mod row_value;
mod shift;
mod softmax;
mod sums;
mod terms;
mod valuer;

pub use bootstrap::BootstrapOptions;
pub use expansion::Expansion;
pub use one_vs_rest::SecondOrderOneVsRest;
pub use options::{SecondOrderOptions, Spread, Utility};
pub use parts::{NodeParts, SecondOrderParts};
pub use passes::{SecondOrderPass, SecondOrderPasses, SecondOrderStep};
pub use probe::SetProbe;
pub use shift::{ShiftOptions, measured_shift};
pub use softmax::{
    SoftmaxFit, SoftmaxOptions, SoftmaxParts, SoftmaxPass, SoftmaxPasses, SoftmaxStep, SoftmaxValuer,
};
pub use terms::RowTerms;
pub use valuer::{LARGEST_MOVE, SecondOrderValuer};
