//! A fit and a formula: everything needed to value rows.

use super::algorithm5::Algorithm5;
use super::fit::DensityFit;
use super::lanes::KernelSums;
use super::size_weights::SizeWeights;
use super::sums::{CHUNK_POINTS, Smoother};
use crate::values::{Part, Values};
use crate::{Error, Rows, Valuer, Warning};
use faer::MatRef;
use rayon::prelude::*;
use std::sync::Arc;

/// How a row becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum DensityMethod {
    /// Theorem 5, every integral in closed form.
    #[default]
    Closed,
    /// The paper's Monte Carlo.
    Algorithm5(Algorithm5),
}

/// Values any row, seen or unseen, against a smoothed reference.
///
/// ```text
/// value    = −A (k*k)_h(0) + relative
/// relative = (2A + B) f_h(z) − B f_{k*k}(z)
/// ```
///
/// with the mean of `k_h(z − z̃)` over the reference, `f_h`, and that of `(k*k)_h`,
/// `f_{k*k}`. The first term is the same for every row; in many dimensions it is
/// so large beside the second that `value` keeps few digits of it. `relative` keeps
/// them all. Where a density is below the range of doubles, `relative` is 0 and
/// `log_density` still tells rows apart; it is `−∞` where a compact kernel reaches
/// no row.
#[derive(Debug, Clone)]
pub struct DensityValuer {
    fit: Arc<DensityFit>,
    weights: SizeWeights,
    method: DensityMethod,
    with_std_error: bool,
}

impl DensityValuer {
    /// A valuer of rows against `fit`, averaging over sets of up to `m` rows, the
    /// row included. A fit holds its rows, so it may be shared.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for `m = 0`, [`Error::TooLargeSize`].
    pub fn new(fit: impl Into<Arc<DensityFit>>, m: usize, method: DensityMethod) -> Result<Self, Error> {
        Ok(Self { fit: fit.into(), weights: SizeWeights::new(1, m)?, method, with_std_error: false })
    }

    /// The parts that values come with, in order.
    pub fn parts(method: DensityMethod) -> &'static [Part] {
        match method {
            DensityMethod::Closed => &[Part::LogDensity, Part::Relative],
            DensityMethod::Algorithm5(_) => &[],
        }
    }

    /// Reports standard errors too, from the spread over reference rows. They say
    /// what the finite reference costs at the bandwidth used. A single reference row
    /// has no spread, and values against it no standard error.
    pub fn with_std_error(mut self, yes: bool) -> Self {
        self.with_std_error = yes && self.method == DensityMethod::Closed;
        self
    }

    /// The fit of the reference.
    pub fn fit(&self) -> &DensityFit {
        &self.fit
    }

    /// `A` and `B` for one row.
    pub fn weights(&self) -> SizeWeights {
        self.weights
    }

    /// The term all values share, `−A (k*k)_h(0)`.
    pub fn constant(&self) -> f64 {
        -self.weights.own * self.fit.convolved_peak()
    }

    /// What is doubtful before a single row was valued.
    pub fn warnings(&self) -> Vec<Warning> {
        self.fit.warnings()
    }

    /// Values rows that are not part of the reference. `first_row` is the number of
    /// the first of them; it selects the random streams of Algorithm 5 and nothing
    /// else.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`]; [`Error::NotFinite`], [`Error::TooLarge`].
    pub fn values_from(&self, points: MatRef<'_, f64>, first_row: u64) -> Result<Values, Error> {
        if points.ncols() != self.fit.n_features() {
            return Err(Error::FeatureCount { found: points.ncols(), expected: self.fit.n_features() });
        }
        self.value_chunks(points.nrows(), first_row, None, |start, len| self.fit.scaled(points, start, len))
    }

    /// Values `len` rows of the reference itself from row `first` on, each against the reference
    /// without it. Its scaling and bandwidth stay those of all rows.
    ///
    /// # Errors
    ///
    /// [`Error::FewRows`] for a reference of one row; [`Error::RowRange`] for rows
    /// it does not have.
    pub fn leave_one_out(&self, first: usize, len: usize) -> Result<Values, Error> {
        let n_rows = self.fit.n_rows();
        if n_rows < 2 {
            return Err(Error::FewRows { n_rows, needed: 2 });
        }
        if first.checked_add(len).is_none_or(|end| end > n_rows) {
            return Err(Error::RowRange { first, len, n_rows });
        }
        self.value_chunks(len, first as u64, Some(first), |start, len| {
            let rows: Vec<usize> = (first + start..first + start + len).collect();
            Ok(self.fit.rows_of(&rows))
        })
    }

    /// Values points in chunks; those from reference row `own` on meet all rows but
    /// themselves.
    fn value_chunks(
        &self,
        n: usize,
        first_row: u64,
        own: Option<usize>,
        points: impl Fn(usize, usize) -> Result<Vec<f64>, Error> + Sync,
    ) -> Result<Values, Error> {
        let smoother = Smoother { with_squares: self.with_std_error, ..self.fit.smoother() };
        // Chunks do not change a bit; few points are worth several threads each.
        let n_chunks = n.div_ceil(CHUNK_POINTS);
        let in_parallel = n_chunks < 2 * rayon::current_num_threads();
        let chunk = |chunk: usize| {
            let start = chunk * CHUNK_POINTS;
            let len = CHUNK_POINTS.min(n - start);
            let points = points(start, len)?;
            let own: Option<Vec<usize>> = own.map(|own| (own + start..own + start + len).collect());
            if let DensityMethod::Algorithm5(algorithm) = self.method {
                let value = |(i, point): (usize, &[f64])| {
                    let row = first_row + (start + i) as u64;
                    let own = own.as_ref().map(|own| own[i]);
                    RowValue {
                        value: algorithm.estimate(&self.fit, self.weights, point, own, row),
                        ..RowValue::default()
                    }
                };
                return Ok(points.chunks_exact(self.fit.dim()).enumerate().map(value).collect::<Vec<_>>());
            }
            let sums = self.fit.kernel_sums(&smoother, &points, own.as_deref(), in_parallel);
            let n_met = self.fit.n_rows() - usize::from(own.is_some());
            Ok(sums.iter().map(|sums| self.value_of(sums, n_met)).collect())
        };
        let chunks: Vec<Vec<RowValue>> =
            (0..n_chunks).into_par_iter().map(chunk).collect::<Result<_, Error>>()?;
        Ok(self.collect(&chunks.concat()))
    }

    fn value_of(&self, sums: &KernelSums, n: usize) -> RowValue {
        let (a, b) = (self.weights.own, self.weights.joint);
        let densities = self.fit.densities(sums, n);
        let relative = (2.0 * a + b) * densities.plain - b * densities.convolved;
        let std_error = if self.with_std_error { self.std_error_of(sums, n) } else { f64::NAN };
        RowValue {
            value: self.constant() + relative,
            relative,
            log_density: self.fit.log_densities(sums, n).plain,
            std_error,
        }
    }

    /// The standard error of the mean over reference rows of ψ = (2A+B)k − B(k*k). Its
    /// square may be no double where it is one itself, so the larger factor is put apart.
    fn std_error_of(&self, sums: &KernelSums, n: usize) -> f64 {
        if sums.base == f64::INFINITY {
            return 0.0;
        }
        let (a, b) = (self.weights.own, self.weights.joint);
        let factors = self.fit.log_factors(sums);
        let top = factors.plain.max(factors.convolved);
        let (k, kk) = ((2.0 * a + b) * (factors.plain - top).exp(), b * (factors.convolved - top).exp());
        let mean = (k * sums.plain - kk * sums.convolved) / n as f64;
        mean_std_error(sums.squares, k, kk, mean, n) * top.exp()
    }

    fn collect(&self, rows: &[RowValue]) -> Values {
        let column = |of: fn(&RowValue) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
        let parts = Self::parts(self.method).iter().map(|&part| {
            let of = if part == Part::LogDensity {
                |row: &RowValue| row.log_density
            } else {
                |row: &RowValue| row.relative
            };
            (part, column(of))
        });
        Values {
            value: column(|row| row.value),
            std_error: self.with_std_error.then(|| column(|row| row.std_error)),
            parts: parts.collect(),
            ..Values::default()
        }
    }
}

/// The standard error of the mean of `k·κ − kk·χ` over `n` rows, from sums of
/// `κ²`, `κχ`, `χ²`; a single row has none.
pub(crate) fn mean_std_error(squares: [f64; 3], k: f64, kk: f64, mean: f64, n: usize) -> f64 {
    if n < 2 {
        return f64::NAN;
    }
    let n = n as f64;
    let [first, mixed, second] = squares;
    let square = k * k * first - 2.0 * k * kk * mixed + kk * kk * second;
    ((square / n - mean * mean).max(0.0) / (n - 1.0)).sqrt()
}

impl Valuer for DensityValuer {
    /// Values `points`; their targets do not matter.
    fn values(&self, points: Rows<'_>) -> Result<Values, Error> {
        self.values_from(points.x(), 0)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct RowValue {
    value: f64,
    relative: f64,
    log_density: f64,
    std_error: f64,
}
