//! The width of the kernel.

use super::kernel::Kernel;
use super::lanes::KernelSums;
use super::sums::{CHUNK_POINTS, Skip, Smoother};
use super::tiles::Tiles;
use crate::valuer::go_on;
use crate::{Error, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parts the reference is cut into: row `i` is in part `i mod 5`.
const N_FOLDS: usize = 5;

/// Bandwidths tried between the neighbours of the best of the grid.
const N_REFINED: usize = 6;

/// The share of an interval at which golden section divides it.
const GOLDEN: f64 = 0.381_966_011_250_105_15;

/// The range of bandwidths. Beyond it squares of distances, in units of the bandwidth,
/// leave the range of doubles.
pub const BANDWIDTH_RANGE: std::ops::RangeInclusive<f64> = 1e-30..=1e30;

/// How the bandwidth is found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Bandwidth {
    /// The best of `10^-2, 10^-1.5, …, 10^1` by five-fold cross-validation, and then the best
    /// of six more between its neighbours; `O(n²)` time. If the best of the grid is at its end,
    /// it has one neighbour only and stays.
    ///
    /// Gaussian kernel: the mean log density of rows under an estimate made without their
    /// fold, in the log domain. Compact kernels give `−∞` to isolated rows, so they use
    /// least squares, `2·mean p̂ − ∫p̂²`.
    #[default]
    CrossValidated,
    /// The best of the seven, as the paper's authors choose it.
    Grid,
    /// `n^{−1/(d+4)}`
    Scott,
    /// `(n(d+2)/4)^{−1/(d+4)}`
    Silverman,
    /// As given, in units of the scaled columns.
    Given(f64),
}

/// One bandwidth tried in cross-validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The bandwidth.
    pub bandwidth: f64,
    /// Its score; larger is better.
    pub score: f64,
}

/// The bandwidth for these rows, and what was tried.
pub(crate) fn choose(
    tiles: &Tiles,
    kernel: Kernel,
    bandwidth: Bandwidth,
    watch: Watch<'_>,
) -> Result<(f64, Vec<Trial>), Error> {
    let (n, d) = (tiles.n_rows() as f64, tiles.dim() as f64);
    match bandwidth {
        Bandwidth::Given(bandwidth) if BANDWIDTH_RANGE.contains(&bandwidth) => Ok((bandwidth, Vec::new())),
        Bandwidth::Given(bandwidth) => Err(Error::BadBandwidth { bandwidth }),
        Bandwidth::Scott => Ok((n.powf(-1.0 / (d + 4.0)), Vec::new())),
        Bandwidth::Silverman => Ok(((n * (d + 2.0) / 4.0).powf(-1.0 / (d + 4.0)), Vec::new())),
        Bandwidth::CrossValidated | Bandwidth::Grid => {
            let curve = cross_validate(tiles, kernel, bandwidth == Bandwidth::CrossValidated, watch)?;
            let best = best_of(&curve).ok_or(Error::TooLarge)?;
            Ok((curve[best].bandwidth, curve))
        }
    }
}

/// The place of the best of several trials: the first of equals. In hundreds of columns the
/// least squares of small bandwidths overflow; NaN never wins.
fn best_of(curve: &[Trial]) -> Option<usize> {
    let better = |best: Option<usize>, (place, trial): (usize, &Trial)| {
        let is_better = best.is_none_or(|best| trial.score > curve[best].score);
        if trial.score.is_finite() && is_better { Some(place) } else { best }
    };
    curve.iter().enumerate().fold(None, better)
}

/// Golden section in the logarithm of the bandwidth, between the neighbours of the best trial.
/// What was tried joins the others.
fn refine(curve: &mut Vec<Trial>, trial: impl Fn(f64) -> Result<Trial, Error>) -> Result<(), Error> {
    let Some(place) = best_of(curve).filter(|&place| place > 0 && place + 1 < curve.len()) else {
        return Ok(());
    };
    let log = |place: usize| curve[place].bandwidth.ln();
    let (mut low, mut middle, mut high) = (log(place - 1), log(place), log(place + 1));
    let mut best = curve[place].score;
    for _ in 0..N_REFINED {
        let is_above = high - middle > middle - low;
        let probe = middle + GOLDEN * if is_above { high - middle } else { low - middle };
        let tried = trial(probe.exp())?;
        curve.push(tried);
        let is_better = tried.score > best;
        match (is_better, is_above) {
            (true, true) => low = middle,
            (true, false) => high = middle,
            (false, true) => high = probe,
            (false, false) => low = probe,
        }
        if is_better {
            (middle, best) = (probe, tried.score);
        }
    }
    curve.sort_by(|one, other| one.bandwidth.total_cmp(&other.bandwidth));
    Ok(())
}

/// The bandwidths tried first.
pub(crate) fn grid() -> [f64; 7] {
    // Written out, because products of roots would be off by one unit in the last place.
    [0.01, 0.031_622_776_601_683_79, 0.1, 0.316_227_766_016_837_94, 1.0, 3.162_277_660_168_379_5, 10.0]
}

fn cross_validate(
    tiles: &Tiles,
    kernel: Kernel,
    refines: bool,
    watch: Watch<'_>,
) -> Result<Vec<Trial>, Error> {
    let n = tiles.n_rows();
    if n < N_FOLDS {
        return Err(Error::FewRows { n_rows: n, needed: N_FOLDS });
    }
    let n_trials = grid().len() + if refines { N_REFINED } else { 0 };
    let work = Work { tiles, n_trials, n_done: AtomicUsize::new(0), watch };
    let trial = |bandwidth: f64| {
        let smoother = Smoother::new(kernel, bandwidth);
        let score = match kernel {
            Kernel::Gaussian => work.log_likelihood(&smoother),
            _ => work.least_squares(&smoother),
        };
        score.map(|score| Trial { bandwidth, score })
    };
    let mut curve = grid().into_iter().map(trial).collect::<Result<Vec<Trial>, Error>>()?;
    if refines {
        refine(&mut curve, trial)?;
    }
    Ok(curve)
}

struct Work<'a> {
    tiles: &'a Tiles,
    n_trials: usize,
    n_done: AtomicUsize,
    watch: Watch<'a>,
}

impl Work<'_> {
    /// `each` of the rows, in chunks; what it returns is added up in their order.
    fn sum<const N: usize>(
        &self,
        each: impl Fn(usize, &[f64]) -> [f64; N] + Sync,
    ) -> Result<[f64; N], Error> {
        let (n, dim) = (self.tiles.n_rows(), self.tiles.dim());
        let total = n * self.n_trials;
        let chunk = |chunk: usize| {
            let start = chunk * CHUNK_POINTS;
            let len = CHUNK_POINTS.min(n - start);
            let mut points = vec![0.0; len * dim];
            for (i, point) in points.chunks_exact_mut(dim).enumerate() {
                self.tiles.copy_row(start + i, point);
            }
            let sums = each(start, &points);
            let before = self.n_done.fetch_add(len, Ordering::Relaxed);
            go_on(self.watch, before + len, total).map(|()| sums)
        };
        let chunks: Vec<[f64; N]> =
            (0..n.div_ceil(CHUNK_POINTS)).into_par_iter().map(chunk).collect::<Result<_, _>>()?;
        Ok(chunks.iter().fold([0.0; N], |mut sum, chunk| {
            sum.iter_mut().zip(chunk).for_each(|(sum, part)| *sum += part);
            sum
        }))
    }

    /// Rows outside the fold of `row`.
    fn n_others(&self, row: usize) -> f64 {
        let n = self.tiles.n_rows();
        (n - (n - row % N_FOLDS).div_ceil(N_FOLDS)) as f64
    }

    /// The mean over rows of the log density without their fold.
    fn log_likelihood(&self, smoother: &Smoother) -> Result<f64, Error> {
        let [sum] = self.sum(|start, points| {
            let skip = Skip::Fold { first_point: start, n_folds: N_FOLDS };
            let sums = smoother.sums(self.tiles, points, skip, false);
            let log = |(i, sums): (usize, &KernelSums)| {
                (sums.plain / self.n_others(start + i)).ln() - 2.0 * smoother.rate() * sums.base
            };
            [sums.iter().enumerate().map(log).sum()]
        })?;
        let log_peak = smoother.kernel.log_peak(smoother.bandwidth, self.tiles.dim());
        Ok(sum / self.tiles.n_rows() as f64 + log_peak)
    }

    /// `2·mean p̂ − ∫p̂²`, estimates being made without a fold and folds being
    /// weighted by their rows.
    fn least_squares(&self, smoother: &Smoother) -> Result<f64, Error> {
        // For each fold f: Σ over its rows of κ outside f, χ outside f, χ anywhere.
        let sums: [f64; 3 * N_FOLDS] = self.sum(|start, points| {
            let skip = Skip::Fold { first_point: start, n_folds: N_FOLDS };
            let outside = smoother.sums(self.tiles, points, skip, false);
            let anywhere = smoother.sums(self.tiles, points, Skip::None, false);
            let mut sums = [0.0; 3 * N_FOLDS];
            for (i, (outside, anywhere)) in outside.iter().zip(&anywhere).enumerate() {
                let fold = (start + i) % N_FOLDS;
                sums[3 * fold] += outside.plain;
                sums[3 * fold + 1] += outside.convolved;
                sums[3 * fold + 2] += anywhere.convolved;
            }
            sums
        })?;
        let (h, dim, n) = (smoother.bandwidth, self.tiles.dim(), self.tiles.n_rows() as f64);
        let all: f64 = (0..N_FOLDS).map(|fold| sums[3 * fold + 2]).sum();
        let (mut fit, mut square) = (0.0, 0.0);
        for fold in 0..N_FOLDS {
            let others = self.n_others(fold);
            // Pairs outside the fold: all, less those with one member in it, twice,
            // less those with both, which were among either.
            let [plain, outside, anywhere] = [sums[3 * fold], sums[3 * fold + 1], sums[3 * fold + 2]];
            let pairs = all - anywhere - outside;
            fit += plain / others / n;
            square += pairs / (others * others) * ((n - others) / n);
        }
        let peak = smoother.kernel.log_peak(h, dim).exp();
        let convolved_peak = smoother.kernel.log_convolved_peak(h, dim).exp();
        Ok(2.0 * fit * peak - square * convolved_peak)
    }
}
