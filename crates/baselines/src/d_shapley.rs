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
use dshap::{Rows, Sizes};

/// Points between two looks at whether to go on.
const PATIENCE: usize = 256;

/// Values unseen `points` by sets of a population.
///
/// `watch` is told iterations done and iterations at most, now and then from
/// several threads, and ends it by returning `false`.
///
/// # Errors
///
/// [`Error::SetSizes`] unless `1 ≤ q ≤ m`, [`dshap::Error::SetsTooLarge`],
/// what is wrong with the points, [`dshap::Error::TooLarge`],
/// [`dshap::Error::Interrupted`].
pub fn d_shapley<U: Utility, P: Population>(
    utility: &U,
    population: &P,
    points: Rows<'_>,
    sizes: Sizes,
    stopping: Stopping,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
) -> Result<MonteCarlo, Error> {
    check(sizes, population.largest_set().saturating_add(1))?;
    let points = Noted::new(points, utility)?;
    let share = sizes.count() as f64 / sizes.max() as f64;
    monte_carlo::run(points.len(), stopping, watch, |number, go_on| {
        let mut rng = stream(stopping.seed, number);
        let size = sizes.min() - 1 + below(&mut rng, sizes.count());
        let mut set = utility.empty();
        population.draw(&mut rng, size, &mut |row| utility.push(&mut set, row));
        utility.value(&mut set);
        let mut gains = Vec::with_capacity(points.len());
        let mut x = points.scratch();
        for point in 0..points.len() {
            if point.is_multiple_of(PATIENCE) && !go_on() {
                return None;
            }
            gains.push(share * utility.gain(&set, points.row(point, &mut x)));
        }
        let n_undetermined = usize::from(utility.is_undetermined(&set));
        Some(Iteration { n_evaluated: gains.len(), gains, n_sets: 1, n_undetermined })
    })
}

/// Values every reference row by sets of the others.
///
/// Of a random order the first `s` rows are the set for the rows behind them. A
/// row among the first `s` is valued by what the first `s + 1` lose without it:
/// either way its set is `s` of the other rows, each as likely.
///
/// # Errors
///
/// As for [`d_shapley`].
pub fn d_shapley_of_reference<U: Utility>(
    utility: &U,
    reference: &ReferenceRows<'_>,
    sizes: Sizes,
    stopping: Stopping,
    watch: &(dyn Fn(usize, usize) -> bool + Sync),
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
        for (done, &row) in outside.iter().enumerate() {
            if done.is_multiple_of(PATIENCE) && !go_on() {
                return None;
            }
            gains[row] = share * utility.gain(&set, rows.row(row, &mut x));
        }
        let mut n_undetermined = usize::from(utility.is_undetermined(&set));
        // There is a row outside, since m is at most the number of rows.
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

fn check(sizes: Sizes, most: usize) -> Result<(), Error> {
    if sizes.min() < 1 || sizes.max() < sizes.min() {
        return Err(Error::SetSizes { min: sizes.min(), max: sizes.max() });
    }
    if sizes.max() > most {
        return Err(dshap::Error::SetsTooLarge { max: sizes.max(), most }.into());
    }
    Ok(())
}
