//! A fit and a formula: everything needed to value rows.

use super::algorithm5::Algorithm5;
use super::fit::DensityFit;
use super::lanes::KernelSums;
use super::size_weights::SizeWeights;
use super::sums::{CHUNK_POINTS, Smoother};
use crate::valuer::{go_on, slices_of};
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Place, Rows, Semivalue, Sizes, Valuer, Wants, Warning, Watch};
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
/// `f_{k*k}`. The first term is the same for every row; in many dimensions it is so much
/// larger than the second that `value` keeps few digits of the second. `relative` keeps
/// them all. Where a density is below the range of doubles, `relative` is 0 and
/// `log_density` still distinguishes rows; it is `−∞` where a compact kernel reaches no
/// row.
#[derive(Debug, Clone)]
pub struct DensityValuer {
    fit: Arc<DensityFit>,
    weights: SizeWeights,
    method: DensityMethod,
    with_std_error: bool,
}

impl DensityValuer {
    /// A valuer of rows against `fit`, averaging over sets of up to `m` rows, including
    /// the valued one. A fit stores its rows, so it can be shared.
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

    /// With set sizes weighted by a semivalue; Algorithm 5 draws sizes alike.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_semivalue(mut self, semivalue: Semivalue) -> Result<Self, Error> {
        if self.method == DensityMethod::Closed {
            self.weights = SizeWeights::weighted(1, self.weights.m(), semivalue)?;
        }
        Ok(self)
    }

    /// Also reports standard errors, from the spread over reference rows. They measure
    /// the error due to the finite reference at this bandwidth. With a single reference
    /// row there are none.
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
    /// [`Error::FewRows`] for a reference of one row; [`Error::RowRange`] for rows that
    /// do not exist.
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

    /// Values points in chunks; those from reference row `own` on skip themselves.
    fn value_chunks(
        &self,
        n: usize,
        first_row: u64,
        own: Option<usize>,
        points: impl Fn(usize, usize) -> Result<Vec<f64>, Error> + Sync,
    ) -> Result<Values, Error> {
        let smoother = Smoother { with_squares: self.with_std_error, ..self.fit.smoother() };
        // Chunks do not change any bit. If there are few points, several threads share
        // one.
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
    /// square may be out of the range of doubles, so the larger factor is kept apart.
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
        let errors = || rows.iter().map(|row| row.std_error).collect();
        let parts = Self::parts(self.method).to_vec();
        Values { std_error: self.with_std_error.then(errors), ..Values::of(rows, parts) }
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

/// Targets do not matter.
impl Valuer for DensityValuer {
    /// Values rows. For rows of the reference only their numbers count: they are the rows
    /// of the fit from `first_row` on.
    ///
    /// # Errors
    ///
    /// As for [`values_from`](DensityValuer::values_from) and
    /// [`leave_one_out`](DensityValuer::leave_one_out); [`Error::Interrupted`].
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        if !place.in_reference {
            return self.values_from(rows.x(), place.first_row);
        }
        // A number beyond the last row is refused there.
        self.leave_one_out(usize::try_from(place.first_row).unwrap_or(usize::MAX), rows.len())
    }

    fn parts(&self) -> Vec<Part> {
        Self::parts(self.method).to_vec()
    }

    fn sizes(&self) -> Sizes {
        Sizes::new(1, self.weights.m()).with_semivalue(self.weights.semivalue())
    }

    fn warnings(&self) -> Vec<Warning> {
        self.fit.warnings()
    }

    fn wants(&self) -> Wants {
        slices_of(1)
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct RowValue {
    value: f64,
    relative: f64,
    log_density: f64,
    std_error: f64,
}

impl Valued for RowValue {
    fn value(&self) -> f64 {
        self.value
    }

    fn part(&self, part: Part) -> f64 {
        if part == Part::LogDensity { self.log_density } else { self.relative }
    }

    fn note(&self) -> Option<Note> {
        None
    }
}
