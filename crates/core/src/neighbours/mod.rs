//! Nearest neighbours: values in closed form, for labels and for numbers.
//!
//! **Setting.** A set `S` predicts a test row `t` from its `k` nearest rows. Its utility
//! is the mean over test rows of
//!
//! ```text
//! (1/k) Σ_{k nearest} 1[y = y_t]                classification, any number of classes
//! −( (1/k) Σ_{k nearest} y − y_t )²             regression
//! ```
//!
//! from `|S| = s₀ = max(q − 1, k)` on. The value of a point is the gain in utility
//! when it joins a random set, summed over the sizes `s₀ … m − 1` and divided by
//! `m`. Sets are drawn from the `n` reference rows **without replacement**, which
//! is unbiased for the distribution they come from whenever `m ≤ n + 1`; larger
//! sizes are left out of the sum and reported
//! ([`Warning::SizesLeftOut`](crate::Warning::SizesLeftOut)).
//!
//! **Result.** For one test row, sort the reference by distance, and let `a` rows
//! be nearer than the point. With `w_i` the weight of place `i`, `G_i` that of all
//! places after it ([`WeightTable`]), and `μ_i` the mean of `y_(1) … y_(i−1)`,
//!
//! ```text
//! classification:   (1/k) [ 1[y = y_t]·G_a − Σ_{i>a} w_i·1[y_(i) = y_t] ]
//! regression:      −(1/k²) Σ_{i>a} w_i [ y² − y_(i)² + 2((k−1)μ_i − k·y_t)(y − y_(i)) ]
//! ```
//!
//! Weights do not depend on the test row, and the sums are suffix sums: one sort
//! gives every reference row its value, and a walk along it every unseen point.
//! There is no Monte Carlo and nothing of size `n × n`. The value is the mean over
//! test rows, and its standard error that of this mean: it says what other test
//! rows would change, not what another reference would.
//!
//! **Ties.** Rows at the same distance, the point among them, are in random order: the
//! value is the mean over all orders. `g` tied reference rows share the mean of their
//! weights; a point tied with them is in one of `g + 1` places, each equally likely. So
//! the order of the rows does not matter. Ties are equal direct distances: sums of
//! squared differences of cells, in plain doubles. They decide the order of neighbours to
//! the last bit for any blocks and threads, even where matrix products find most of it
//! faster.
//!
//! **Rows valued against themselves** are left out of their own lists: a row's
//! value is that of an unseen point against the other rows. Test rows that are
//! reference rows are left out of the lists made for them, and a row is not valued
//! by its own use to itself.
//!
//! **Finite datasets.** [`NeighbourValuer::finite_shapley`] is KNN-Shapley (Jia et al.
//! 2019). It agrees with values where these count all sizes, `q ≤ k + 1` and `m = N` for `N`
//! rows valued against themselves: there the weights are `k/(i(i+1))`, those of its
//! recursion. The difference is sets of fewer than `k` rows, which have no distributional
//! value here: in classification `1[y = y_t]/max(k, N)`, exactly. For a fixed `m` and more
//! and more rows the two diverge: finite values add up to the utility of all rows and so
//! shrink, on average, like `1/N`.
//!
//! **Far rows.** After place `(k + log 1/ε)·n/s₀`, roughly, less than a share `ε` of the
//! weight is left, so if `s₀` is large, rows that far are not even sorted
//! ([`NeighbourOptions::tolerance`] bounds the effect, by default to less than rounding).
//! If there are also few columns, a k-d tree of the reference finds the remaining rows
//! without visiting most others; lists and values have the same bits as with all
//! distances. [`Search`] chooses the way, by default the one that is usually faster. With
//! `s₀ = k`, the default, weights fall like `1/i²` and their tail like `1/i`: nothing can
//! be cut off, the whole order is needed, and a tree does not sort faster.
//!
//! **Unseen rows one by one** need the whole order for every test row, which depends on the
//! reference alone. [`NeighbourValuer::keep_lists`] sorts once; an unseen row then costs a
//! distance and a search for each test row, and gets the same bits.
//!
//! ```
//! use dshap::neighbours::{NeighbourOptions, NeighbourTask, NeighbourValuer, TestRows};
//! use dshap::{Rows, Sizes, Valuer};
//! use faer::mat;
//!
//! // The nearest row of a set is to tell that the label at 0 is 1.
//! let (x, y) = (mat![[1.0], [2.0], [3.0], [4.0_f64]], [0.0, 1.0, 0.0, 1.0]);
//! let (test_x, test_y) = (mat![[0.0_f64]], [1.0]);
//! let task = NeighbourTask::Classification { n_classes: 2 };
//! let valuer = NeighbourValuer::new(
//!     Rows::new(x.as_ref(), &y)?,
//!     TestRows::Given(Rows::new(test_x.as_ref(), &test_y)?),
//!     Sizes::new(2, 5),
//!     NeighbourOptions { k: 1, ..NeighbourOptions::new(task) },
//! )?;
//! // A point in front of all others: w = 1/2, 1/6, 1/12, 1/20, G_0 = 4/5.
//! let points = mat![[0.5], [0.5_f64]];
//! let values = valuer.values(Rows::new(points.as_ref(), &[1.0, 0.0])?)?.value;
//! assert!((values[0] - (4.0 / 5.0 - 1.0 / 6.0 - 1.0 / 20.0)).abs() < 1e-15);
//! assert!((values[1] + 1.0 / 6.0 + 1.0 / 20.0).abs() < 1e-15);
//! # Ok::<(), dshap::Error>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `weights.rs` | the weights of places, all sizes summed |
//! | `options.rs` | the options |
//! | `column.rs`, `space.rs`, `distances.rs` | units of columns; coordinates and direct distances; blocks of distances |
//! | `index.rs`, `search.rs` | a tree of boxes that finds near rows; where it is used |
//! | `near.rs` | rows that are nearly the same, by the same index |
//! | `list.rs`, `sort.rs` | the order of rows for one test row, with its ties |
//! | `labels.rs`, `numbers.rs` | from a list to values: classification, regression |
//! | `pass.rs` | means over test rows, with the same bits for any threads |
//! | `kept.rs` | lists that are kept for unseen rows that come one by one |
//! | `lists.rs`, `valuer.rs`, `shapley.rs` | one test row; the valuer; finite KNN-Shapley |

mod column;
mod distances;
mod index;
mod kept;
mod labels;
mod list;
mod lists;
mod near;
mod numbers;
mod options;
mod pass;
mod search;
mod shapley;
mod sort;
mod space;
mod valuer;
mod weights;

pub use kept::KeptLists;
pub use near::{near_clusters, near_rows, nearest_rows};
pub use options::{
    DEFAULT_K, DEFAULT_TOLERANCE, Metric, NeighbourOptions, NeighbourTask, Scale, TestRows, sample_rows,
};
pub use pass::TestMeans;
pub use search::Search;
pub use space::ReferenceSpace;
pub use valuer::NeighbourValuer;
pub use weights::WeightTable;
