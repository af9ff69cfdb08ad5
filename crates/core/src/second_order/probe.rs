//! Sets on which no model can be fitted, counted in a few draws.

use super::softmax::{SoftmaxOptions, SoftmaxValuer};
use crate::classification::{LogisticFit, LogisticOptions};
use crate::{Error, Rows, Sizes};
use faer::Mat;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;

/// Sets that are drawn to see whether they have a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetProbe {
    /// Rows of each set.
    pub size: usize,
    /// Sets that are drawn.
    pub n_sets: usize,
    /// Seed of the draws.
    pub seed: u64,
    /// Whether models have an intercept.
    pub intercept: bool,
    /// Columns of the fit of all rows; a set that does not determine one has no fit.
    pub n_columns: usize,
    /// Whether models have a ridge. Then only a missing label leaves a set without a fit,
    /// because the intercept has no ridge.
    pub ridge: bool,
    /// Number of classes of a softmax model; otherwise labels are 0 or 1.
    pub n_classes: Option<usize>,
}

impl SetProbe {
    /// How many of the sets have no fit: their labels are separated, or one is missing,
    /// or a column does not vary. Sets are drawn from `sample`, each row of which
    /// `stands_for` a number of reference rows and may be drawn that often. Rows with
    /// weights are drawn in proportion to them, any number of times.
    ///
    /// # Errors
    ///
    /// [`Error::RowCount`] unless there is one number per row, [`Error::BadOption`] for
    /// numbers below 1, no sets, or sets of more rows than there are.
    pub fn count(&self, sample: Rows<'_>, stands_for: &[f64]) -> Result<usize, Error> {
        if stands_for.len() != sample.len() {
            return Err(Error::RowCount { features: sample.len(), targets: stands_for.len() });
        }
        let is_count = |count: &f64| (1.0..f64::INFINITY).contains(count);
        let total: f64 = stands_for.iter().sum();
        if !stands_for.iter().all(is_count) || self.n_sets == 0 || self.size as f64 > total {
            return Err(Error::BadOption { what: "there are too few rows to draw sets from" });
        }
        let weight = |row: usize| sample.weights().map_or(1.0, |weights| weights[row]);
        let reach: Vec<f64> = (0..sample.len())
            .scan(0.0, |sum, row| {
                *sum += stands_for[row] * weight(row);
                Some(*sum)
            })
            .collect();
        if !reach.last().is_some_and(|total| *total > 0.0 && total.is_finite()) {
            return Err(Error::BadOption { what: "there are too few rows to draw sets from" });
        }
        let has_none = |set: usize| !self.has_fit(sample, stands_for, &reach, set as u64);
        Ok((0..self.n_sets).into_par_iter().filter(|&set| has_none(set)).count())
    }

    /// Whether one set has a fit. Each has a stream of its own, so that threads
    /// do not matter.
    fn has_fit(&self, sample: Rows<'_>, stands_for: &[f64], reach: &[f64], set: u64) -> bool {
        let mut stream = ChaCha8Rng::seed_from_u64(self.seed);
        stream.set_stream(set);
        let total = reach.last().copied().unwrap_or(0.0);
        let mut n_drawn = vec![0.0; sample.len()];
        let mut drawn = Vec::with_capacity(self.size);
        while drawn.len() < self.size {
            let place = (stream.next_u64() >> 11) as f64 * 0.5_f64.powi(53) * total;
            let row = reach.partition_point(|&reach| reach <= place).min(sample.len() - 1);
            // Without replacement: draws of rows that are used up do not count.
            if sample.weights().is_some() || n_drawn[row] < stands_for[row] {
                n_drawn[row] += 1.0;
                drawn.push(row);
            }
        }
        let x = Mat::from_fn(drawn.len(), sample.n_features(), |i, j| sample.x()[(drawn[i], j)]);
        let y: Vec<f64> = drawn.iter().map(|&row| sample.y()[row]).collect();
        let Ok(rows) = Rows::new(x.as_ref(), &y) else { return false };
        if self.ridge {
            return !self.intercept || y.iter().any(|label| *label != y[0]);
        }
        let n_kept = match self.n_classes {
            None => {
                let options = LogisticOptions { intercept: self.intercept, ..LogisticOptions::default() };
                LogisticFit::of(rows, options).map(|fit| fit.kept().len())
            }
            Some(n_classes) => {
                let options = SoftmaxOptions { intercept: self.intercept, ..SoftmaxOptions::default() };
                // Sizes only matter for values.
                let any = Sizes::new(2 * self.size + 3, 2 * self.size + 3);
                SoftmaxValuer::of(rows, n_classes, any, options).map(|valuer| valuer.fit().kept().len())
            }
        };
        n_kept.is_ok_and(|n_kept| n_kept >= self.n_columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four places with both labels, three rows of each: sets of all 24 rows have a
    /// fit. A set of 3 rows is too small for 2 columns, and 8 rows out of places
    /// with one label are separated.
    #[test]
    fn sets_without_a_fit_are_counted() {
        let x = Mat::from_fn(24, 1, |i, _| (i % 4) as f64);
        let y: Vec<f64> = (0..24).map(|i| f64::from(u8::from(i % 8 < 4))).collect();
        let apart: Vec<f64> = (0..24).map(|i| f64::from(u8::from(i % 4 < 2))).collect();
        let count = |y: &[f64], size: usize, n_classes| {
            let probe = SetProbe {
                size,
                n_sets: 10,
                seed: 3,
                intercept: true,
                n_columns: 1,
                ridge: false,
                n_classes,
            };
            let rows = Rows::new(x.as_ref(), y).expect("as many labels as rows");
            probe.count(rows, &[1.0; 24])
        };
        for n_classes in [None, Some(2)] {
            assert_eq!(count(&y, 24, n_classes), Ok(0));
            assert_eq!(count(&y, 3, n_classes), Ok(10));
            assert_eq!(count(&apart, 8, n_classes), Ok(10));
            assert!(count(&y, 25, n_classes).is_err());
        }
    }

    /// A copy of a column, a ridge, and weights that leave one label: sets without a fit
    /// are counted accordingly.
    #[test]
    fn dependent_columns_ridges_and_weights_are_known() {
        let place = |i: usize| (i % 4) as f64;
        let y: Vec<f64> = (0..24).map(|i| f64::from(u8::from(i % 8 < 4))).collect();
        let x = Mat::from_fn(24, 2, |i, _| place(i));
        let rows = Rows::new(x.as_ref(), &y).expect("as many labels as rows");
        let plain = SetProbe {
            size: 24,
            n_sets: 10,
            seed: 3,
            intercept: true,
            n_columns: 1,
            ridge: false,
            n_classes: None,
        };
        assert_eq!(plain.count(rows, &[1.0; 24]), Ok(0), "the copy is left out of all fits");
        assert_eq!(SetProbe { n_columns: 2, ..plain }.count(rows, &[1.0; 24]), Ok(10));
        // A ridge helps against everything except a missing label.
        let ridge = SetProbe { ridge: true, size: 4, ..plain };
        let weights: Vec<f64> = y.iter().map(|&label| if label == 1.0 { 1.0 } else { 1e-9 }).collect();
        let weighted = rows.with_weights(&weights).expect("one for each row");
        assert_eq!(ridge.count(weighted, &[1.0; 24]), Ok(10), "the other label is hardly ever drawn");
        assert_eq!(SetProbe { intercept: false, ..ridge }.count(weighted, &[1.0; 24]), Ok(0));
        assert!(ridge.count(rows, &[1.0; 24]).is_ok_and(|n| n < 5));
    }
}
