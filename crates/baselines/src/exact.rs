//! Data Shapley values exactly: by all sets, or in closed form for densities.

use crate::Error;
use crate::kernel_density::KernelDensity;
use crate::utility::{Noted, Utility, check_finite};
use dshap::{Rows, Values, Watch};
use rayon::prelude::*;

/// More rows than this have more than a million sets.
pub const MOST_ROWS: usize = 20;

/// Rows whose sets are distributed over threads; the sets of the others are visited one
/// after the other.
const SHARED: usize = 8;

/// Shapley values of `rows` as one finite dataset, by visiting all of their sets:
///
/// ```text
/// φ_i = (1/n) Σ_{S ∌ i} [ U(S ∪ i) − U(S) ] / C(n − 1, |S|)
/// ```
///
/// `2ⁿ` models are fitted and `8·2ⁿ` bytes held. [`exact_shapley_counted`] also counts
/// the sets without a model.
///
/// # Errors
///
/// [`Error::TooManySets`] above [`MOST_ROWS`] rows, [`dshap::Error::NoRows`], errors
/// about the rows, [`dshap::Error::TooLarge`], [`dshap::Error::Interrupted`].
pub fn exact_shapley<U: Utility>(utility: &U, rows: Rows<'_>, watch: Watch<'_>) -> Result<Values, Error> {
    Ok(exact_shapley_counted(utility, rows, watch)?.0)
}

/// [`exact_shapley`], and the share of the sets, large enough for a model, that
/// determined none.
///
/// # Errors
///
/// As for [`exact_shapley`].
pub fn exact_shapley_counted<U: Utility>(
    utility: &U,
    rows: Rows<'_>,
    watch: Watch<'_>,
) -> Result<(Values, f64), Error> {
    let n = rows.len();
    if n == 0 {
        return Err(dshap::Error::NoRows.into());
    }
    if n > MOST_ROWS {
        return Err(Error::TooManySets { n_rows: n, most: MOST_ROWS });
    }
    let rows = Noted::new(rows, utility)?;
    let n_shared = n.min(SHARED);
    let n_inner = n - n_shared;
    let mut worth = vec![0.0; 1 << n];
    let done = std::sync::atomic::AtomicUsize::new(0);
    let n_undetermined = std::sync::atomic::AtomicUsize::new(0);
    // Set number b holds row i if bit i of b is set. The last rows, whose bits are the
    // highest, are those distributed over threads: each combination of them has its own
    // stretch of the table.
    let finished = worth.par_chunks_mut(1 << n_inner).enumerate().try_for_each(|(outer, worth)| {
        let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if !watch(done, 1 << n_shared) {
            return None;
        }
        let mut x = rows.scratch();
        let mut set = utility.empty();
        for row in (0..n_shared).filter(|row| outer >> row & 1 == 1) {
            utility.push(&mut set, rows.row(n_inner + row, &mut x));
        }
        let found = visit(utility, &rows, set, 0, (0, n_inner), worth, &mut x);
        n_undetermined.fetch_add(found, std::sync::atomic::Ordering::Relaxed);
        Some(())
    });
    finished.ok_or_else(Error::interrupted)?;

    let weights = weights(n);
    let value: Vec<f64> = (0..n)
        .into_par_iter()
        .map(|i| {
            let without = (0_usize..1 << n).filter(|set| set >> i & 1 == 0);
            without.map(|set| weights[set.count_ones() as usize] * (worth[set | 1 << i] - worth[set])).sum()
        })
        .collect();
    check_finite(&value)?;
    let n_sets = (0_usize..1 << n).filter(|set| set.count_ones() as usize >= utility.least_rows()).count();
    let share = n_undetermined.into_inner() as f64 / n_sets.max(1) as f64;
    Ok((Values { value, ..Values::default() }, share))
}

/// Stores the utility of `set`, which has number `number`, and then of all sets with some
/// of the rows `from … to` in addition. Returns how many of them determine no model.
fn visit<U: Utility>(
    utility: &U,
    rows: &Noted<'_>,
    mut set: U::Set,
    number: usize,
    (from, to): (usize, usize),
    worth: &mut [f64],
    x: &mut [f64],
) -> usize {
    worth[number] = utility.value(&mut set);
    let mut n_undetermined = usize::from(utility.is_undetermined(&set));
    for row in from..to {
        let mut grown = set.clone();
        utility.push(&mut grown, rows.row(row, x));
        n_undetermined += visit(utility, rows, grown, number | 1 << row, (row + 1, to), worth, x);
    }
    n_undetermined
}

/// `1/(n·C(n − 1, s))` for `s = 0 … n − 1`.
fn weights(n: usize) -> Vec<f64> {
    let mut weights = vec![1.0 / n as f64];
    for s in 1..n {
        weights.push(weights[s - 1] * s as f64 / (n - s) as f64);
    }
    weights
}

/// Shapley values of `rows` as one finite dataset for kernel densities, in closed
/// form.
///
/// The mean over all sets of one size of a sum over pairs is the mean over pairs, so each
/// row only needs `κ = (k*k)_h(0)`, its mean `r` over the other rows and its smoothed
/// density `f`, besides the means `R` of pairs and `F` of smoothed densities among the
/// others:
///
/// ```text
/// n·φ = 2f − κ + Σ_{s=1}^{n−1} [ κ/(s(s+1)) − 2s·r/(s+1)² + ((s−1)/s − s(s−1)/(s+1)²)·R + 2(f − F)/(s+1) ]
/// ```
///
/// `O(n²)` kernels, `O(n)` memory, any number of rows.
///
/// # Errors
///
/// [`dshap::Error::NoRows`], errors about the rows, [`dshap::Error::TooLarge`],
/// [`dshap::Error::Interrupted`].
pub fn exact_density_shapley(
    utility: &KernelDensity<'_>,
    rows: Rows<'_>,
    watch: Watch<'_>,
) -> Result<Values, Error> {
    let n = rows.len();
    if n == 0 {
        return Err(dshap::Error::NoRows.into());
    }
    let rows = Noted::new(rows, utility)?;
    let done = std::sync::atomic::AtomicUsize::new(0);
    let own: Option<Vec<(f64, f64)>> = (0..n)
        .into_par_iter()
        .map_init(
            || (rows.scratch(), rows.scratch()),
            |(a, b), i| {
                let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if !watch(done, n) {
                    return None;
                }
                let row = rows.row(i, a);
                let others = (0..n).filter(|&other| other != i);
                let sum: f64 = others.map(|other| utility.convolved(row.x, rows.row(other, b).x)).sum();
                Some((sum, row.memo))
            },
        )
        .collect();
    let own = own.ok_or_else(Error::interrupted)?;

    let (mut of_kappa, mut of_r, mut of_pairs, mut of_f) = (-1.0, 0.0, 0.0, 0.0);
    for s in (1..n).map(|s| s as f64) {
        of_kappa += 1.0 / (s * (s + 1.0));
        of_r -= 2.0 * s / (s + 1.0).powi(2);
        // (s−1)/s − s(s−1)/(s+1)², on one fraction so that nothing cancels.
        of_pairs += (s - 1.0) * (2.0 * s + 1.0) / (s * (s + 1.0).powi(2));
        of_f += 2.0 / (s + 1.0);
    }
    let pairs: f64 = own.iter().map(|(sum, _)| sum).sum();
    let memos: f64 = own.iter().map(|(_, memo)| memo).sum();
    let mean = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
    let others = n as f64 - 1.0;
    let value: Vec<f64> = own
        .iter()
        .map(|&(sum, f)| {
            let total = 2.0 * f
                + of_kappa * utility.convolved_peak()
                + of_r * mean(sum, others)
                + of_pairs * mean(pairs - 2.0 * sum, others * (others - 1.0))
                + of_f * (f - mean(memos - f, others));
            total / n as f64
        })
        .collect();
    check_finite(&value)?;
    Ok(Values { value, ..Values::default() })
}
