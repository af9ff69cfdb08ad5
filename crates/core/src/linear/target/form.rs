//! From the numbers of a row to its value for given test rows.

use crate::linear::calibrated::{Calibration, DistanceTable, Factors};
use crate::linear::{PointStats, PointValue};
use crate::numeric::{SizeSums, Sums};
use crate::{Error, Sizes};

/// What test rows add to what the value of a row depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetStats {
    /// `b/a`: how much test rows vary along the row, relative to the reference; 0 where
    /// the row is at the centre.
    pub stretch: f64,
    /// `τ`: the same summed over all directions.
    pub trace: f64,
    /// `c`: whether the row's residual points where the test rows' residuals point.
    pub score: f64,
}

/// The closed form for test rows, for one `(p, q, m)` and any semivalue.
///
/// ```
/// use dshap::linear::{Constant, Convention, GaussianForm, PointStats, TargetForm, TargetStats};
/// use dshap::Sizes;
///
/// // Test rows like those of the reference change nothing.
/// let row = PointStats { dist_sq: 2.5, resid_sq: 0.3, noise_var: 0.8 };
/// let like_reference = TargetStats { stretch: 1.0, trace: 3.0, score: 0.0 };
/// let on_tests = TargetForm::new(3, Sizes::new(13, 40))?.value(row, like_reference);
/// let plain = GaussianForm::new(3, Sizes::new(13, 40), Constant::Gain, Convention::Definition)?.value(row);
/// assert!((on_tests.value - plain.value).abs() < 1e-13);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug)]
pub struct TargetForm {
    dim: usize,
    sizes: Sizes,
    /// Sums of expectations.
    plain: SizeSums,
    /// The same, each divided by `ν − 1`.
    spread: SizeSums,
    /// Those that `c` needs, where they are others than `plain`.
    score: Option<SizeSums>,
}

/// All sums at one squared distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetSums {
    pub(super) plain: Sums,
    pub(super) spread: Sums,
    /// `Σ E[1/(a+T)]` and `Σ E[1/(a+T)²]`, minus its derivative.
    pub(super) score: (f64, f64),
}

impl TargetForm {
    /// The form for `dim` design columns and Gaussian inputs.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] unless `q ≤ m` and `q ≥ p + 3`.
    pub fn new(dim: usize, sizes: Sizes) -> Result<Self, Error> {
        sizes.check(dim, dim + 3)?;
        let sums = |weight: fn(f64) -> f64| SizeSums::weighted(dim, sizes, |_| (1.0, 1.0), weight);
        Ok(Self { dim, sizes, plain: sums(|_| 1.0), spread: sums(|nu| 1.0 / (nu - 1.0)), score: None })
    }

    /// The form for Gaussian inputs, or for inputs that have these `distances`.
    pub(crate) fn for_inputs(
        dim: usize,
        sizes: Sizes,
        distances: Option<&DistanceTable>,
    ) -> Result<Self, Error> {
        match distances {
            None => Self::new(dim, sizes),
            Some(table) => Self::calibrated(dim, sizes, &Calibration::new(dim, table, 0.0)),
        }
    }

    /// The form for inputs whose distances are those of `calibration`: `T` becomes `ρT`, and
    /// the part without `c` is multiplied by `ω`. An approximation, as without test rows.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new).
    pub fn calibrated(dim: usize, sizes: Sizes, calibration: &Calibration) -> Result<Self, Error> {
        sizes.check(dim, dim + 3)?;
        let factors = |nu: f64| calibration.factors(nu + dim as f64 - 1.0);
        let both = |nu: f64| {
            let Factors { rho, omega } = factors(nu);
            (rho, omega)
        };
        Ok(Self {
            dim,
            sizes,
            plain: SizeSums::weighted(dim, sizes, both, |_| 1.0),
            spread: SizeSums::weighted(dim, sizes, both, |nu| 1.0 / (nu - 1.0)),
            score: Some(SizeSums::weighted(dim, sizes, |nu| (factors(nu).rho, 1.0), |_| 1.0)),
        })
    }

    /// `p`, the number of design columns.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The set sizes averaged over.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The value of a row. Its potential is its value with a residual of zero.
    #[inline]
    pub fn value(&self, row: PointStats, tests: TargetStats) -> PointValue {
        let sums = self.at(row.dist_sq);
        self.combine(row.noise_var, row.resid_sq, tests, &sums, |sums| sums.a_h2)
    }

    /// The value of a single row without building tables; the same number as
    /// [`value`](Self::value) to about 1e-14.
    pub fn value_once(&self, row: PointStats, tests: TargetStats) -> PointValue {
        let at = |sums: &SizeSums| sums.integrated_at(row.dist_sq);
        let (plain, spread) = (at(&self.plain), at(&self.spread));
        let score = of_score(self.score.as_ref().map_or(plain, at));
        self.combine(row.noise_var, row.resid_sq, tests, &TargetSums { plain, spread, score }, |sums| {
            sums.a_h2
        })
    }

    /// The value of a row whose squared residual is known only through its `product` with
    /// the squared distance; see
    /// [`GaussianForm::value_of_product`](crate::linear::GaussianForm::value_of_product).
    #[inline]
    pub fn value_of_product(
        &self,
        dist_sq: f64,
        product: f64,
        noise_var: f64,
        tests: TargetStats,
    ) -> PointValue {
        let sums = self.at(dist_sq);
        if product == 0.0 {
            // Without an error there is no penalty, whatever the distance.
            return self.combine(noise_var, 0.0, TargetStats { score: 0.0, ..tests }, &sums, |_| 0.0);
        }
        self.combine(noise_var, product, tests, &sums, |sums| sums.h2)
    }

    #[inline]
    pub(super) fn at(&self, dist_sq: f64) -> TargetSums {
        let plain = self.plain.at(dist_sq);
        let score = of_score(self.score.as_ref().map_or(plain, |sums| sums.at(dist_sq)));
        TargetSums { plain, spread: self.spread.at(dist_sq), score }
    }

    /// `errors` is the squared residual, or its product with the distance; `of_errors` is
    /// the sum that goes with it.
    #[inline]
    fn combine(
        &self,
        noise_var: f64,
        errors: f64,
        tests: TargetStats,
        sums: &TargetSums,
        of_errors: impl Fn(&Sums) -> f64,
    ) -> PointValue {
        let TargetSums { plain, spread, score } = sums;
        let (along, across) = self.shares(tests);
        let m = self.sizes.max() as f64;
        let potential =
            noise_var * (along * (plain.a_h2 + plain.h4) + across * (spread.a_h2 + spread.h4)) / m;
        let cost = errors * (along * of_errors(plain) + across * of_errors(spread));
        let penalty = (cost - 2.0 * tests.score * score.0) / m;
        PointValue { value: potential - penalty, potential, penalty }
    }

    /// `b/a` and `τ − b/a`, which is 0 for one column.
    pub(super) fn shares(&self, tests: TargetStats) -> (f64, f64) {
        let across = if self.dim == 1 { 0.0 } else { tests.trace - tests.stretch };
        (tests.stretch, across)
    }
}

/// `E[1/(a+T)] = E[T/(a+T)²] + a E[1/(a+T)²]`, a sum of positive terms.
fn of_score(sums: Sums) -> (f64, f64) {
    (sums.h3 + sums.a_h2, sums.h2)
}
