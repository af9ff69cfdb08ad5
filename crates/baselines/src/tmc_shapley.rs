//! TMC-Shapley: data Shapley values by truncated chains (Ghorbani and Zou 2019).
//!
//! Every iteration adds all rows to the empty set in a random order; the gain of a row is
//! the increase in utility. The mean over orders is the Shapley value of the row in this
//! finite dataset.
//!
//! Sets of fewer than `q` rows may be worth 0 for any rows ([`Utility::least_rows`]).
//! Then the `q`-th row of a chain would get the whole gain of the first model, and any of
//! the first `q` rows is equally likely to be that row. So they share the gain equally,
//! which has the same mean and far less noise.
//!
//! A chain is truncated when its utility is so close to that of all rows that the rest
//! barely matters. The remaining rows share the rest equally, which is what each would
//! gain on average over their orders. So values add up to the utility of all rows.

use crate::Error;
use crate::monte_carlo::{self, Iteration, MonteCarlo, Stopping};
use crate::population::{sample, stream};
use crate::utility::{Noted, Utility};
use dshap::{Rows, Watch};

/// Rows of a chain between two calls of `watch`.
const PATIENCE: usize = 64;

/// When chains are truncated and when no more are drawn.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `truncation` | 0.01 | how close to the utility of all rows counts as near, as a share of it; 0 never truncates |
/// | `patience` | 5 | consecutive near steps before a chain ends |
/// | `stopping` | as for all | see [`Stopping`] |
///
/// Both defaults are those of the authors' program. Since the empty set is worth 0 here,
/// the share is relative to the whole gain of all rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TmcOptions {
    /// What is near, as a share of the utility of all rows.
    pub truncation: f64,
    /// This many consecutive steps must be near, and one more.
    pub patience: usize,
    /// When no more chains are drawn.
    pub stopping: Stopping,
}

impl Default for TmcOptions {
    fn default() -> Self {
        Self { truncation: 0.01, patience: 5, stopping: Stopping::default() }
    }
}

/// Values `rows` as one finite dataset.
///
/// # Errors
///
/// Errors about the rows, [`dshap::Error::NoRows`], [`dshap::Error::BadOption`],
/// [`dshap::Error::TooLarge`], [`dshap::Error::Interrupted`].
pub fn tmc_shapley<U: Utility>(
    utility: &U,
    rows: Rows<'_>,
    options: TmcOptions,
    watch: Watch<'_>,
) -> Result<MonteCarlo, Error> {
    let TmcOptions { truncation, patience, stopping } = options;
    if truncation.is_nan() || truncation < 0.0 {
        return Err(Error::option("the truncation must be at least 0"));
    }
    if rows.is_empty() {
        return Err(dshap::Error::NoRows.into());
    }
    let rows = Noted::new(rows, utility)?;
    let whole = crate::worth_of_all(utility, &rows);
    let near = truncation * whole.abs();
    monte_carlo::run(rows.len(), stopping, watch, |number, go_on| {
        let order = sample(rows.len(), rows.len(), &mut stream(stopping.seed, number));
        let mut chain =
            Iteration { gains: vec![0.0; rows.len()], n_evaluated: 0, n_sets: 0, n_undetermined: 0 };
        let mut x = rows.scratch();
        let mut set = utility.empty();
        let (first, others) = order.split_at(utility.least_rows().clamp(1, order.len()));
        for &row in first {
            utility.push(&mut set, rows.row(row, &mut x));
        }
        let mut worth = utility.value(&mut set);
        first.iter().for_each(|&row| chain.gains[row] = worth / first.len() as f64);
        chain.n_evaluated = first.len();
        chain.n_sets = 1;
        chain.n_undetermined = usize::from(utility.is_undetermined(&set));
        let mut n_near = usize::from((whole - worth).abs() < near);
        for &row in others {
            if chain.n_evaluated.is_multiple_of(PATIENCE) && !go_on() {
                return None;
            }
            utility.push(&mut set, rows.row(row, &mut x));
            let grown = utility.value(&mut set);
            chain.gains[row] = grown - worth;
            worth = grown;
            chain.n_evaluated += 1;
            chain.n_sets += 1;
            chain.n_undetermined += usize::from(utility.is_undetermined(&set));
            n_near = if (whole - worth).abs() < near { n_near + 1 } else { 0 };
            if n_near > patience {
                break;
            }
        }
        let left = &order[chain.n_evaluated..];
        left.iter().for_each(|&row| chain.gains[row] = (whole - worth) / left.len() as f64);
        Some(chain)
    })
}
