//! Densities, from sums of kernels between owners.
//!
//! A coalition's estimate `f` is the mean of the kernels at its rows. Its worth is minus
//! the integrated squared error, without the part that no coalition can change:
//!
//! ```text
//! U(C) = 2 · mean over test rows of f_C(t) − ∫ f_C²
//! ```
//!
//! The first term is a sum of kernels between rows and test rows, the second a quadratic
//! form in sums of convolved kernels between owners. So all coalitions follow from sums
//! that are computed once, and nobody is worth 0.

use super::game::Game;
use super::held::{HeldMarket, Members};
use super::linear::Parts;
use crate::density::{DensityFit, DensityOptions};
use crate::{Error, Rows};
use faer::Mat;
use rayon::prelude::*;

/// The game of kernel density estimates.
#[derive(Debug, Clone)]
pub struct DensityGame {
    parts: Parts,
    folds: Vec<Fold>,
    n_test: usize,
    bandwidth: f64,
}

/// Sums over the rows of each part; the buyer's are the last part.
#[derive(Debug, Clone)]
struct Fold {
    counts: Vec<f64>,
    /// Of convolved kernels between two parts.
    pairs: Mat<f64>,
    /// Of kernels between a part and each test row of the fold.
    at_tests: Vec<Vec<f64>>,
    /// Where its test rows are in a trace.
    places: Vec<usize>,
}

impl DensityGame {
    /// Sums the kernels of all pairs of rows: `O(n² p)` time. The bandwidth and the scale of
    /// columns are those of all rows together.
    ///
    /// # Errors
    ///
    /// As [`DensityFit::of`]; [`Error::NoTestRows`].
    pub fn new(market: &HeldMarket<'_>, options: DensityOptions) -> Result<Self, Error> {
        market.check()?;
        let (p, n) = (market.rows.n_features(), market.rows.len());
        let own = market.own.map(|(rows, _)| rows);
        let n_own = own.map_or(0, |rows| rows.len());
        let cell = |i: usize, j: usize| match own {
            Some(own) if i >= n => own.x()[(i - n, j)],
            _ => market.rows.x()[(i, j)],
        };
        let all = Mat::from_fn(n + n_own, p, cell);
        let fit = DensityFit::of(all.as_ref(), options)?;
        let shape = Shape::of(&fit);
        let rows = shape.scaled(&fit, market.rows)?;
        let own_rows = own.map(|own| shape.scaled(&fit, own)).transpose()?.unwrap_or_default();
        let tests = shape.scaled(&fit, market.test)?;
        let folds = market
            .folds()
            .into_iter()
            .map(|fold| {
                let (mut parts, own) = market.trained_on(fold);
                // The buyer's rows come after those of the owners.
                parts.push(own.iter().map(|row| n + row).collect());
                let places = market.tests_of(fold);
                shape.fold(&parts, |row| shape.row(&rows, &own_rows, n, row), &tests, places)
            })
            .collect();
        Ok(Self { parts: market.parts.clone(), folds, n_test: market.test.len(), bandwidth: fit.bandwidth() })
    }

    /// The bandwidth, in units of the scaled columns.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }
}

/// The kernel in the columns that vary.
struct Shape {
    kernel: crate::density::Kernel,
    bandwidth: f64,
    dim: usize,
    /// Densities at the centre of a kernel and of its convolution.
    peak: f64,
    convolved_peak: f64,
}

impl Shape {
    fn of(fit: &DensityFit) -> Self {
        let (kernel, bandwidth, dim) = (fit.kernel(), fit.bandwidth(), fit.dim());
        Self {
            kernel,
            bandwidth,
            dim,
            peak: kernel.log_peak(bandwidth, dim).exp(),
            convolved_peak: kernel.log_convolved_peak(bandwidth, dim).exp(),
        }
    }

    /// Scaled cells, row by row.
    fn scaled(&self, fit: &DensityFit, rows: Rows<'_>) -> Result<Vec<f64>, Error> {
        fit.scaled(rows.x(), 0, rows.len())
    }

    fn row<'a>(&self, rows: &'a [f64], own: &'a [f64], n: usize, row: usize) -> &'a [f64] {
        let (cells, row) = if row < n { (rows, row) } else { (own, row - n) };
        &cells[row * self.dim..(row + 1) * self.dim]
    }

    /// Products over columns of a kernel, or of its convolution with itself.
    fn at(&self, one: &[f64], two: &[f64]) -> f64 {
        let of = |(a, b): (&f64, &f64)| self.kernel.shape((a - b) / self.bandwidth);
        self.peak * one.iter().zip(two).map(of).product::<f64>()
    }

    fn convolved_at(&self, one: &[f64], two: &[f64]) -> f64 {
        let of = |(a, b): (&f64, &f64)| self.kernel.convolved_shape((a - b) / self.bandwidth);
        self.convolved_peak * one.iter().zip(two).map(of).product::<f64>()
    }

    fn fold<'a>(
        &self,
        parts: &[Vec<usize>],
        row: impl Fn(usize) -> &'a [f64] + Sync,
        tests: &[f64],
        places: Vec<usize>,
    ) -> Fold {
        // Every row is summed on one thread, and rows are added in order.
        let between = |one: &[usize], two: &[usize]| -> f64 {
            let sums: Vec<f64> = one
                .par_iter()
                .map(|&i| two.iter().map(|&j| self.convolved_at(row(i), row(j))).sum())
                .collect();
            sums.iter().sum()
        };
        let n_parts = parts.len();
        let mut pairs = Mat::zeros(n_parts, n_parts);
        for g in 0..n_parts {
            for h in 0..=g {
                let sum = between(&parts[g], &parts[h]);
                (pairs[(g, h)], pairs[(h, g)]) = (sum, sum);
            }
        }
        let at_tests = places
            .par_iter()
            .map(|&t| {
                let test = &tests[t * self.dim..(t + 1) * self.dim];
                parts.iter().map(|rows| rows.iter().map(|&i| self.at(row(i), test)).sum()).collect()
            })
            .collect();
        Fold { counts: parts.iter().map(|rows| rows.len() as f64).collect(), pairs, at_tests, places }
    }
}

impl Game for DensityGame {
    type Coalition = Members;

    fn n_owners(&self) -> usize {
        self.parts.n_owners()
    }

    fn nobody(&self) -> Members {
        Members::nobody(&self.parts)
    }

    fn join(&self, coalition: &mut Members, owner: usize) {
        coalition.join(&self.parts, owner);
    }

    fn trace_len(&self) -> usize {
        self.n_test
    }

    fn utility(&self, coalition: &Members, trace: &mut [f64]) -> Result<f64, Error> {
        for fold in &self.folds {
            let members: Vec<usize> = coalition.parts().chain([self.parts.n_parts()]).collect();
            let count: f64 = members.iter().map(|&part| fold.counts[part]).sum();
            if count == 0.0 {
                fold.places.iter().for_each(|&place| trace[place] = 0.0);
                continue;
            }
            let pairs: f64 =
                members.iter().flat_map(|&g| members.iter().map(move |&h| fold.pairs[(g, h)])).sum();
            let square = pairs / (count * count);
            for (sums, &place) in fold.at_tests.iter().zip(&fold.places) {
                let density = members.iter().map(|&part| sums[part]).sum::<f64>() / count;
                trace[place] = 2.0 * density - square;
            }
        }
        let utility = trace.iter().sum::<f64>() / self.n_test as f64;
        if utility.is_finite() { Ok(utility) } else { Err(Error::TooLarge) }
    }
}
