//! Kernel density estimation: values in closed form (Theorem 5).
//!
//! **Setting.** Rows `z` with density `p`. A set `S` of rows is smoothed by a kernel,
//! `p̂_S = mean k_h(· − z)`, and is worth `U(S) = C_den − ∫(p̂_S − p)²`: minus the
//! integrated squared error. There is no target, and sets of every size count.
//!
//! **Result.** With `f_h(z)` and `f_{k*k}(z)` the means over the reference of the kernel
//! at `z` and of its convolution with itself,
//!
//! ```text
//! value = −A (k*k)_h(0) + (2A + B) f_h(z) − B f_{k*k}(z)
//! ```
//!
//! where `A` and `B` come from the average over set sizes ([`SizeWeights`]). A row is
//! worth more where the reference is dense. The first term is the same for every row, and
//! so is the constant that the theorem adds; the sign of a value has no meaning. The
//! value of a set of rows is of the same kind ([`SetValuer`]), with all pairs within the
//! set and, so that sets of different sizes compare, that constant ([`PairIntegrals`]).
//!
//! **Assumptions.** None about `p`. The kernel and its bandwidth are those of the model
//! that is valued, and the standard error says what the finite reference costs.
//!
//! ```
//! use dshap::density::{Bandwidth, DensityFit, DensityMethod, DensityOptions, DensityValuer, Kernel, Scaling};
//! use dshap::Part;
//! use faer::mat;
//!
//! // The uniform kernel counts neighbours within h/2: 3 of 4 for a point at 0.
//! let reference = mat![[-0.4], [0.1], [0.3], [5.0_f64]];
//! let options = DensityOptions {
//!     kernel: Kernel::Uniform,
//!     bandwidth: Bandwidth::Given(1.0),
//!     scaling: Scaling::None,
//!     ..DensityOptions::default()
//! };
//! let valuer = DensityValuer::new(DensityFit::of(reference.as_ref(), options)?, 2, DensityMethod::Closed)?;
//! let values = valuer.values_from(mat![[0.0], [7.0_f64]].as_ref(), 0)?;
//! let log_density = values.part(Part::LogDensity).unwrap_or_default();
//! assert!((log_density[0] - 0.75_f64.ln()).abs() < 1e-15);
//!
//! // For m = 2: A = (1 + 1/4)/2 and B = (2/4)/2; (k*k)(u) is 1 − |u| here.
//! let (a, b) = (0.625, 0.25);
//! let convolved = (0.6 + 0.9 + 0.7) / 4.0;
//! assert!((values.value[0] - (-a + (2.0 * a + b) * 0.75 - b * convolved)).abs() < 1e-15);
//! assert!(values.value[1] == -a, "nobody is near");
//! # Ok::<(), dshap::Error>(())
//! ```
//!
//! **Digits.** Distances are sums of squared differences, exponents are taken relative to
//! the nearest row, and the kernel's normalisation is carried as a logarithm, so that
//! hundreds of columns lose no digits. Densities out of the range of doubles are reported
//! in a unit of their own, [`DensityFit::log_unit`]. For compact kernels a product of
//! coordinates below 1e-308 counts as 0.
//!
//! **Speed.** Points and reference rows meet in tiles that stay in cache; one exponential
//! gives both the kernel and its convolution, whose exponent is half as large. With few
//! columns a tree leaves out rows that cannot matter ([`Search`], [`TREE_TOLERANCE`]). The
//! bits do not depend on threads, chunks or the machine's vectors. (Machines without fused
//! multiplication get the same bits, slowly.)
//!
//! The printed Eq. 7 has a wrong sign, and Example 1 a wrong range; [`Border`] and
//! [`Algorithm5`] reproduce the paper.

mod algorithm5;
mod bandwidth;
mod builder;
mod column_scale;
mod fit;
mod integrals;
mod kernel;
mod lanes;
mod options;
mod parts;
mod sets;
mod size_weights;
mod sums;
mod tile_kernels;
mod tiles;
mod tree;
mod uniform;
mod unit;
mod valuer;

pub use algorithm5::Algorithm5;
pub use bandwidth::{BANDWIDTH_RANGE, Bandwidth, Trial};
pub use builder::DensityBuilder;
pub use fit::DensityFit;
pub use integrals::PairIntegrals;
pub use kernel::Kernel;
pub use options::{DensityOptions, Scaling, Search};
pub use parts::DensityParts;
pub use sets::{SetValue, SetValuer, Synergy};
pub use size_weights::SizeWeights;
pub use tree::TREE_TOLERANCE;
pub use uniform::{Border, UniformExample};
pub use valuer::{DensityMethod, DensityValuer};
