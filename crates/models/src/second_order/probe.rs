//! Sets on which no model can be fitted, counted in a few draws from the sample
//! that a valuer carries.

use super::SecondOrder;
use crate::logistic::LogisticModel;
use crate::warning::Warning;
use dshap::Sizes;
use dshap::classification::with_class;
use dshap::second_order::{SetProbe, Utility};
use std::sync::{Arc, Mutex, PoisonError};

/// Multiplications for each step of the fits of sets, times the number of labels if
/// there are more than two. This many take about half a second on one thread.
const DEAREST_PROBE: f64 = 2e8;

/// The largest share of rows that a set may have twice. A row of the sample stands
/// for many of the reference, but the same row twice separates labels no less than
/// it does once.
const LARGEST_SHARE_REPEATED: f64 = 0.125;

/// Sets that are drawn to see how many have a fit, and how many may be without:
/// where 1.7 % are without, at most 4 % of 50 are found with probability 0.95.
const SETS_TO_PROBE: usize = 50;
const FEW_SETS_WITHOUT_FIT: usize = 2;

/// The sizes that were found to have fits, by what was asked: several parts of a run ask the
/// same.
#[derive(Debug, Clone, Default)]
pub struct Probed(Arc<Mutex<Vec<Known>>>);

/// What decides which sets have a fit: the seed, whether one model tells all labels apart, and
/// the smallest and largest `q`.
type Asked = (u64, bool, usize, usize);

/// What was found for it.
type Known = (Asked, Option<usize>);

impl Probed {
    fn once(&self, asked: Asked, find: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = known.iter().find(|(before, _)| *before == asked) {
            return *found;
        }
        let found = find();
        known.push((asked, found));
        found
    }
}

impl SecondOrder {
    /// The first of `usual`, twice as many and so on up to `max/2` as `q` for which few sets have
    /// no fit; nothing if there is none, or if counting would take long.
    pub(crate) fn min_with_fit(&self, model: &LogisticModel, usual: usize, max: usize) -> Option<usize> {
        let p = model.first().dim();
        let is_softmax =
            model.only().is_none() && self.takes_softmax(model.fits.len(), p, model.options.ridge);
        model.probed.once((self.seed, is_softmax, usual, max), || {
            let doubled = std::iter::successors(Some(usual), |q| q.checked_mul(2));
            let counted = doubled
                .take_while(|&q| q == usual || q <= max / 2)
                .map_while(|q| Some((q, self.count_without_fit(model, q - 1, SETS_TO_PROBE)?)));
            counted.into_iter().find(|&(_, n)| n <= FEW_SETS_WITHOUT_FIT).map(|(q, _)| q)
        })
    }

    /// What is doubtful about labels and small sets.
    pub(crate) fn label_warnings(&self, model: &LogisticModel, sizes: Sizes) -> Vec<Warning> {
        let is_accuracy_of_many = self.utility == Utility::Accuracy && model.only().is_none();
        let accuracy = is_accuracy_of_many.then_some(Warning::AccuracyOfMany);
        accuracy.into_iter().chain(self.sets_without_fit(model, sizes)).collect()
    }

    /// Sets of the smallest size on which no model can be fitted, if more than a few
    /// of those drawn from the sample are such, and the `q` from which on few are.
    fn sets_without_fit(&self, model: &LogisticModel, sizes: Sizes) -> Option<Warning> {
        let n_without = |size: usize| self.count_without_fit(model, size, SETS_TO_PROBE);
        let smallest = sizes.min() - 1;
        let first = n_without(smallest).filter(|&n| n > FEW_SETS_WITHOUT_FIT)?;
        let doubled = std::iter::successors(Some(2 * sizes.min()), |q| q.checked_mul(2));
        let mut larger =
            doubled.take_while(|&q| q <= sizes.max()).map_while(|q| Some((q, n_without(q - 1)?)));
        Some(Warning::SetsWithoutFit {
            n_drawn: SETS_TO_PROBE,
            size: smallest,
            n_without: first,
            cure: larger.find(|&(_, n)| n <= FEW_SETS_WITHOUT_FIT),
            larger_q: sizes.min() < sizes.max(),
            has_ridge: model.options.ridge > 0.0,
        })
    }

    /// How many of `n_sets` sets of `size` rows, drawn from the sample, have no fit.
    /// Nothing if counting would take long, or if the sample is too small to draw
    /// such sets from.
    fn count_without_fit(&self, model: &LogisticModel, size: usize, n_sets: usize) -> Option<usize> {
        let n_fits = model.fits.len();
        let p = model.first().dim();
        let is_softmax = n_fits > 2 && self.takes_softmax(n_fits, p, model.options.ridge);
        let d = if is_softmax { (n_fits - 1) * p } else { p };
        let ridge = model.options.ridge > 0.0;
        let cost = (n_sets * size * n_fits) as f64 * (d * d) as f64;
        if !ridge && cost > DEAREST_PROBE {
            return None;
        }
        let probe = SetProbe {
            size,
            n_sets,
            seed: self.seed,
            intercept: model.options.intercept,
            n_columns: model.first().kept().len(),
            ridge,
            n_classes: is_softmax.then_some(n_fits),
        };
        let n_models = if n_fits > 2 && !is_softmax { n_fits } else { 1 };
        let count = |class: usize| {
            let found = model.sample.with_rows(|rows, counts| {
                if share_repeated(size, counts) > LARGEST_SHARE_REPEATED {
                    return None;
                }
                let found = match model.only() {
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
/// that: two rows drawn are both the row `i` with probability `cᵢ(cᵢ − 1)/n²`, if it
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
