//! Sets on which no model can be fitted, counted in a few draws from the sample
//! that a valuer carries.

use super::LogisticModel;
use crate::second_order_choice::SecondOrder;
use dshap::classification::with_class;
use dshap::second_order::SetProbe;

/// Multiplications for each step of the fits of sets, times the number of labels if
/// there are more than two; so many take about half a second on one thread.
const DEAREST_PROBE: f64 = 2e8;

/// The largest share of rows that a set may have twice. A row of the sample stands
/// for many of the reference, but twice the same row separates labels no less than
/// it does once.
const LARGEST_SHARE_REPEATED: f64 = 0.125;

impl LogisticModel {
    /// How many of `n_sets` sets of `size` rows, drawn from the sample, have no fit;
    /// nothing if it would take long to say, or if the sample is too small to draw
    /// such sets from.
    pub(crate) fn sets_without_fit(&self, choice: SecondOrder, size: usize, n_sets: usize) -> Option<usize> {
        let n_fits = self.fits.len();
        let p = self.first().dim();
        let is_softmax = n_fits > 2 && choice.takes_softmax(n_fits, p, self.options.ridge);
        let d = if is_softmax { (n_fits - 1) * p } else { p };
        let ridge = self.options.ridge > 0.0;
        let cost = (n_sets * size * n_fits) as f64 * (d * d) as f64;
        if !ridge && cost > DEAREST_PROBE {
            return None;
        }
        let probe = SetProbe {
            size,
            n_sets,
            seed: choice.seed,
            intercept: self.options.intercept,
            n_columns: self.first().kept().len(),
            ridge,
            n_classes: is_softmax.then_some(n_fits),
        };
        let n_models = if n_fits > 2 && !is_softmax { n_fits } else { 1 };
        let count = |class: usize| {
            let found = self.sample.with_rows(|rows, counts| {
                if share_repeated(size, counts) > LARGEST_SHARE_REPEATED {
                    return None;
                }
                let found = match self.only() {
                    None if !is_softmax => with_class(rows, class, |rows| probe.count(rows, counts)),
                    _ => probe.count(rows, counts),
                };
                found.ok()
            });
            found?
        };
        (0..n_models).map(count).try_fold(0, |most, n| Some(most.max(n?)))
    }
}

/// The share of rows of a set that it has twice on average, up to the square of
/// that: of two rows drawn both are the row `i` with probability `cᵢ(cᵢ − 1)/n²`, if it
/// stands for `cᵢ` of `n`.
fn share_repeated(size: usize, counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let same: f64 = counts.iter().map(|c| c * (c - 1.0)).sum();
    0.5 * size as f64 * same / (total * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_that_stand_for_others_are_repeated() {
        assert_eq!(share_repeated(100, &[1.0; 100]), 0.0);
        // Half the square of 10, times the probability that two are the same, 10·10·9/100².
        let found = share_repeated(10, &[10.0; 10]) * 10.0;
        assert!((found - 50.0 * 0.09).abs() < 1e-12, "{found}");
    }
}
