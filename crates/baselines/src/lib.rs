//! Methods that closed forms are compared with.
//!
//! Values of rows by fitting models to sets of rows, again and again: the methods in use
//! before closed forms, and where no closed form exists.
//!
//! | function | value of a row | cost, in fits |
//! |---|---|---|
//! | [`d_shapley()`] | expected gain on joining a random set of the population (Ghorbani, Kim and Zou 2020) | points × iterations |
//! | [`d_shapley_of_reference`] | the same for each reference row against the others | rows × iterations |
//! | [`tmc_shapley()`] | Shapley value in this finite dataset, by truncated chains (Ghorbani and Zou 2019) | rows × iterations |
//! | [`exact_shapley`] | the same by all sets, up to [`MOST_ROWS`] rows | 2ⁿ |
//! | [`exact_density_shapley`] | the same in closed form, for densities | none |
//! | [`leave_one_out()`] | what all rows lose without it | rows |
//! | [`random()`] | chance | none |
//!
//! For nearest neighbours the exact value has a closed form too, which is in
//! [`dshap::neighbours`].
//!
//! The worth of a set is a [`Utility`]: [`LeastSquares`], [`Logistic`], [`KernelDensity`], or
//! any function of row numbers by [`RowSets`]. Sets come from a [`Population`]: [`ReferenceRows`], or your own
//! generator. Nothing here reads files or clocks; the seed is an argument, every
//! iteration has its own stream, and results are added in the order of iterations, so the
//! number of threads changes no bit.
//!
//! ```
//! use dshap::{Rows, Sizes};
//! use dshap_baselines::{LeastSquares, LeastSquaresOptions, Stopping, ReferenceRows, exact_shapley, tmc_shapley, TmcOptions};
//! use faer::mat;
//!
//! // y = x, but for the last row. Tested on y = x.
//! let x = mat![[1.0], [2.0], [-1.0], [1.0_f64]];
//! let rows = Rows::new(x.as_ref(), &[1.0, 2.0, -1.0, -1.0])?;
//! let test_x = mat![[1.0], [-1.0_f64]];
//! let test = Rows::new(test_x.as_ref(), &[1.0, -1.0])?;
//! let utility = LeastSquares::new(test, LeastSquaresOptions::default())?;
//!
//! let exact = exact_shapley(&utility, rows, &|_, _| true)?;
//! assert!(exact.value[3] < 0.0 && exact.value[0] > 0.0);
//! // All four rows together have slope 5/7 and leave (2/7)² of the error 1.
//! assert!((exact.value.iter().sum::<f64>() - (1.0 - 4.0 / 49.0)).abs() < 1e-12);
//!
//! let drawn = tmc_shapley(&utility, rows, TmcOptions::default(), &|_, _| true)?;
//! let errors = drawn.values.std_error.unwrap_or_default();
//! assert!((drawn.values.value[3] - exact.value[3]).abs() < 5.0 * errors[3]);
//! # Ok::<(), dshap_baselines::Error>(())
//! ```

mod along;
mod d_shapley;
mod error;
mod exact;
mod kernel_density;
mod least_squares;
mod leave_one_out;
mod logistic;
mod monte_carlo;
mod population;
mod random;
mod row_sets;
mod symmetric;
mod tmc_shapley;
mod utility;

pub use along::{utility_along, utility_at, utility_of};
pub use d_shapley::{d_shapley, d_shapley_of_reference};
pub use error::Error;
pub use exact::{MOST_ROWS, exact_density_shapley, exact_shapley, exact_shapley_counted};
pub use kernel_density::{KernelDensity, KernelDensitySet, Smoothed, SmoothedDensity};
pub use least_squares::{Centre, LeastSquares, LeastSquaresOptions, LeastSquaresSet, TestMoments};
pub use leave_one_out::{is_undetermined, leave_one_out};
pub use logistic::{Logistic, LogisticOptions, LogisticSet, Score};
pub use monte_carlo::{CHECK_EVERY, MonteCarlo, Stopping};
pub use population::{Population, ReferenceRows};
pub use random::random;
pub use row_sets::{Players, RowSet, RowSets};
pub use tmc_shapley::{TmcOptions, tmc_shapley};
pub use utility::{Row, Utility};

use utility::Noted;

/// The utility of all rows.
fn worth_of_all<U: Utility>(utility: &U, rows: &Noted<'_>) -> f64 {
    let mut x = rows.scratch();
    let mut set = utility.empty();
    for row in 0..rows.len() {
        utility.push(&mut set, rows.row(row, &mut x));
    }
    utility.value(&mut set)
}
