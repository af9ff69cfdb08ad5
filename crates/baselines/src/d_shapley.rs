//! D-Shapley: distributional values by drawing sets (Ghorbani, Kim and Zou 2020).
//!
//! ```text
//! ν(z) = (1/m) Σ_{s=q−1}^{m−1} E[ U(S ∪ z) − U(S) ],        S of s rows of the population
//! ```
//!
//! Every iteration draws a size `s` and a set `S`, which serves all points. Sizes
//! below `q − 1`, at which nothing is gained by definition, are not drawn: the
//! mean of the others times their share of `1 … m` is the same estimate with less
//! noise. At `s = q − 1` the utility of `S` itself counts, so that values estimate
//! the `gain` of the closed forms.

use crate::Error;
use crate::monte_carlo::{self, Iteration, MonteCarlo, Stopping};
use crate::population::{Population, ReferenceRows, below, sample, stream};
use crate::utility::{Noted, Utility};
use dshap::{Rows, Sizes, Watch};

/// Rows that join a set between two calls of `watch`.
const PATIENCE: usize = 256;

/// Values unseen `points` by sets of a population.
///
/// `watch` gets the iterations done and their maximum, perhaps from several threads, and
/// stops the work by returning `false`.
///
/// # Errors
///
/// [`Error::SetSizes`] unless `1 ≤ q ≤ m`, [`dshap::Error::SetsTooLarge`], errors about
/// the points, [`dshap::Error::TooLarge`], [`dshap::Error::Interrupted`].
pub fn d_shapley<U: Utility, P: Population>(
    utility: &U,
    population: &P,
    points: Rows<'_>,
    sizes: Sizes,
    stopping: Stopping,
    watch: Watch<'_>,
) -> Result<MonteCarlo, Error> {
    check(sizes, population.largest_set().saturating_add(1))?;
    let points = Noted::new(points, utility)?;
    let share = sizes.count() as f64 / sizes.max() as f64;
    let all: Vec<usize> = (0..points.len()).collect();
    monte_carlo::run(points.len(), stopping, watch, |number, go_on| {
        let mut rng = stream(stopping.seed, number);
        let size = sizes.min() - 1 + below(&mut rng, sizes.count());
        let mut set = utility.empty();
        population.draw(&mut rng, size, &mut |row| utility.push(&mut set, row));
        utility.value(&mut set);
        let mut gains = vec![0.0; points.len()];
        add_gains(utility, &set, &points, &all, share, &mut gains, go_on)?;
        let n_undetermined = usize::from(utility.is_undetermined(&set));
        Some(Iteration { n_evaluated: gains.len(), gains, n_sets: 1, n_undetermined })
    })
}

/// Values every reference row by sets of the others.
///
/// The first `s` rows of a random order are the set for the rows after them. A row among
/// the first `s` is valued by what the first `s + 1` lose without it: either way its set
/// is `s` of the other rows, each equally likely.
///
/// # Errors
///
/// As for [`d_shapley`].
pub fn d_shapley_of_reference<U: Utility>(
    utility: &U,
    reference: &ReferenceRows<'_>,
    sizes: Sizes,
    stopping: Stopping,
    watch: Watch<'_>,
) -> Result<MonteCarlo, Error> {
    let rows = &reference.noted;
    check(sizes, rows.len())?;
    let share = sizes.count() as f64 / sizes.max() as f64;
    monte_carlo::run(rows.len(), stopping, watch, |number, go_on| {
        let mut rng = stream(stopping.seed, number);
        let size = sizes.min() - 1 + below(&mut rng, sizes.count());
        let order = sample(rows.len(), rows.len(), &mut rng);
        let (inside, outside) = order.split_at(size);
        let mut x = rows.scratch();
        let mut set = utility.empty();
        for &row in inside {
            utility.push(&mut set, rows.row(row, &mut x));
        }
        utility.value(&mut set);
        let mut gains = vec![0.0; rows.len()];
        add_gains(utility, &set, rows, outside, share, &mut gains, go_on)?;
        let mut n_undetermined = usize::from(utility.is_undetermined(&set));
        // There is a row outside, because m is at most the number of rows.
        utility.push(&mut set, rows.row(outside[0], &mut x));
        utility.value(&mut set);
        for (index, &row) in inside.iter().enumerate() {
            if index.is_multiple_of(PATIENCE) && !go_on() {
                return None;
            }
            gains[row] = share * utility.loss(&set, index, rows.row(row, &mut x));
        }
        n_undetermined += usize::from(utility.is_undetermined(&set));
        Some(Iteration { n_evaluated: gains.len(), gains, n_sets: 2, n_undetermined })
    })
}

/// Stores the gains of some rows on joining `set`, times `share`, unless the work is
/// stopped.
fn add_gains<U: Utility>(
    utility: &U,
    set: &U::Set,
    rows: &Noted<'_>,
    some: &[usize],
    share: f64,
    gains: &mut [f64],
    go_on: &(dyn Fn() -> bool + Sync),
) -> Option<()> {
    let mut x = Vec::new();
    for some in some.chunks(PATIENCE) {
        if !go_on() {
            return None;
        }
        let found = utility.gains(set, &rows.some(some, &mut x));
        some.iter().zip(found).for_each(|(&row, gain)| gains[row] = share * gain);
    }
    Some(())
}

fn check(sizes: Sizes, most: usize) -> Result<(), Error> {
    if sizes.min() < 1 || sizes.max() < sizes.min() {
        return Err(Error::SetSizes { min: sizes.min(), max: sizes.max() });
    }
    if sizes.max() > most {
        return Err(dshap::Error::SetsTooLarge { max: sizes.max(), most }.into());
    }
    Ok(())
}
