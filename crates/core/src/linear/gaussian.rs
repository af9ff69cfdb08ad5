//! Theorem 2, exactly: the value of a row from its distance and its residual.

use super::calibrated::{Calibration, Factors};
use super::noise::{RowNoise, total_variance};
use crate::numeric::{CountingRule, InterceptSum, InterceptSums, SizeSums, Sums};
use crate::{Error, Semivalue, Sizes};
use std::sync::Arc;

/// For standard errors, squared distances below this count as those of the centre.
const CENTRE: f64 = 1e-100;

/// Why other constants go with Shapley's weights only.
const ONLY_GAIN: &str = "a semivalue other than Shapley's has the constant `gain`, as defined";

/// What a row's value depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointStats {
    /// `a`, the squared Mahalanobis distance from the reference.
    pub dist_sq: f64,
    /// `e²`, the squared residual under the reference fit.
    pub resid_sq: f64,
    /// `σ²`, the noise variance.
    pub noise_var: f64,
}

/// A value and its two sides: value = potential − penalty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointValue {
    /// The value.
    pub value: f64,
    /// The value the row would have with a residual of zero.
    pub potential: f64,
    /// What its residual costs, `(e²/m)·a·H2(a)`.
    pub penalty: f64,
}

/// Which point-independent constant is added.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Constant {
    /// The expected drop in squared error: positive helps, negative harms.
    /// Needs `q ≥ p + 3`.
    #[default]
    Gain,
    /// The sum as in Theorem 2, all terms of which are negative.
    Theorem,
    /// The distributional Shapley value itself when sets below `q` rows have
    /// utility 0 and larger ones `C −` squared error.
    Full(f64),
}

/// How the fitted models get their intercept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intercept {
    /// There is no intercept: nothing is centred.
    None,
    /// It is fixed: rows are centred by the means of the reference.
    Known,
    /// It is refitted on each set.
    Refitted,
}

/// Which sum over set sizes is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Convention {
    /// Sets of `q − 1 … m − 1` rows, as in the definition.
    #[default]
    Definition,
    /// As printed: sets of `q … m` rows in Theorem 2, off by one; the coefficients of Theorem 3
    /// to the letter.
    Printed,
    /// As in the authors' program, which only bounds have: it does not follow Theorem 3 to the
    /// letter.
    Authors,
}

/// The closed form for one `(p, q, m)`.
///
/// ```text
/// gain     (1/m) [ (σ² − e²)·a·H2(a) + σ²·H4(a) ]
/// theorem  −(1/m) [ e²·a·H2(a) + σ²·H3(a) ]
/// full     theorem + (1/m) [ C − σ² + σ²( Σ_{j=q−p−1}^{m−p−2} 1/j − (p−1)/(m−p−1) ) ]
/// ```
///
/// # Example
///
/// A row at the centre of the reference adds nothing:
///
/// ```
/// use dshap::linear::{Constant, Convention, GaussianForm, PointStats};
/// use dshap::Sizes;
///
/// let form = GaussianForm::new(3, Sizes::new(13, 17), Constant::Gain, Convention::Definition)?;
/// let row = PointStats { dist_sq: 0.0, resid_sq: 2.0, noise_var: 0.8 };
/// assert_eq!(form.value(row).value, 0.0);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug)]
pub struct GaussianForm {
    dim: usize,
    sizes: Sizes,
    constant: Constant,
    convention: Convention,
    sums: FormSums,
    /// What `full` adds per unit of `σ²`.
    full_slope: f64,
}

/// Where sums over set sizes come from.
#[derive(Debug, Clone)]
enum FormSums {
    /// Theorem 2.
    Usual(Arc<SizeSums>),
    /// Models that refit their intercept.
    Refitted(Arc<InterceptSums>),
}

impl FormSums {
    #[inline]
    fn at(&self, dist_sq: f64) -> Sums {
        match self {
            FormSums::Usual(sums) => sums.at(dist_sq),
            FormSums::Refitted(sums) => refitted(sums.at(dist_sq)),
        }
    }

    fn integrated_at(&self, dist_sq: f64) -> Sums {
        match self {
            FormSums::Usual(sums) => sums.integrated_at(dist_sq),
            FormSums::Refitted(sums) => refitted(sums.integrated_at(dist_sq)),
        }
    }

    /// The derivatives of `a·H2` and of `H4` by `log a`.
    fn slopes(&self, dist_sq: f64) -> (f64, f64) {
        match self {
            FormSums::Usual(sums) => {
                // ∂(aH2)/∂a = H2 + aH2' and ∂H4/∂a = H2 (so −∂H3/∂a is their sum). Times a,
                // neither end overflows. Next to the centre the limit is taken.
                let a = dist_sq.max(CENTRE);
                let sums = sums.at(a);
                (sums.a_h2 - a * (a * sums.neg_dh2), sums.a_h2)
            }
            FormSums::Refitted(sums) => {
                let InterceptSum { square_slope, noise_slope, .. } = sums.at(dist_sq);
                (dist_sq * square_slope, dist_sq * noise_slope)
            }
        }
    }
}

/// What stands for `a·H2` and `H4` if the intercept is refitted. The other sums have no
/// counterpart and are not used.
fn refitted(sum: InterceptSum) -> Sums {
    let none = f64::NAN;
    Sums { h2: none, a_h2: sum.square, h3: none, h4: sum.noise, neg_dh2: none }
}

impl GaussianForm {
    /// The form for `dim` design columns. [`Convention::Printed`] always comes
    /// with the constant of Theorem 2, whatever `constant` says.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] unless `q ≤ m` and `q ≥ p + 3`, or `q ≥ p + 2` for a
    /// constant other than [`Constant::Gain`]; [`Error::BadOption`] for
    /// [`Convention::Authors`].
    pub fn new(dim: usize, sizes: Sizes, constant: Constant, convention: Convention) -> Result<Self, Error> {
        let (constant, shift) = match convention {
            Convention::Definition => (constant, 0),
            Convention::Printed => (Constant::Theorem, 1),
            Convention::Authors => {
                return Err(Error::BadOption { what: "only bounds have a form of the authors' program" });
            }
        };
        sizes.check(dim, least_min(dim, constant, convention))?;
        let sums = if sizes.semivalue() == Semivalue::Shapley {
            let nu = |size: usize| (size + shift - dim) as u64;
            SizeSums::new(dim, nu(sizes.min()), nu(sizes.max()))
        } else if (constant, convention) == (Constant::Gain, Convention::Definition) {
            SizeSums::of_sizes(dim, sizes, |_| (1.0, 1.0))
        } else {
            return Err(Error::BadOption { what: ONLY_GAIN });
        };
        let sums = FormSums::Usual(Arc::new(sums));
        Ok(Self::build(dim, sizes, constant, convention, sums))
    }

    /// The form for models of `dim` features that refit their intercept on each set, exactly,
    /// with [`Constant::Gain`]. Distances are those from the mean of the reference.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] unless `q ≤ m` and `q ≥ p + 4`.
    pub fn refitted(dim: usize, sizes: Sizes) -> Result<Self, Error> {
        let (constant, convention) = (Constant::Gain, Convention::Definition);
        sizes.check(dim + 1, least_min(dim + 1, constant, convention))?;
        let sums = FormSums::Refitted(Arc::new(InterceptSums::new(dim, sizes)));
        Ok(Self::build(dim, sizes, constant, convention, sums))
    }

    /// Whether it is the exact form of models that refit their intercept.
    pub fn refits_intercept(&self) -> bool {
        matches!(self.sums, FormSums::Refitted(_))
    }

    /// The form for inputs whose distances are those of `calibration`, with
    /// [`Constant::Gain`].
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] unless `q ≤ m` and `q ≥ p + 3`.
    pub fn calibrated(dim: usize, sizes: Sizes, calibration: &Calibration) -> Result<Self, Error> {
        let (constant, convention) = (Constant::Gain, Convention::Definition);
        sizes.check(dim, least_min(dim, constant, convention))?;
        let factors = |nu: f64| {
            let Factors { rho, omega } = calibration.factors(nu + dim as f64 - 1.0);
            (rho, omega)
        };
        let sums = FormSums::Usual(Arc::new(SizeSums::of_sizes(dim, sizes, factors)));
        Ok(Self::build(dim, sizes, constant, convention, sums))
    }

    /// The same sums with another constant; they are not computed again.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] as for [`new`](Self::new).
    pub fn with_constant(&self, constant: Constant) -> Result<Self, Error> {
        let constant = match self.convention {
            Convention::Definition => constant,
            Convention::Printed | Convention::Authors => Constant::Theorem,
        };
        self.sizes.check(self.dim, least_min(self.dim, constant, self.convention))?;
        if self.sizes.semivalue() != Semivalue::Shapley && constant != Constant::Gain {
            return Err(Error::BadOption { what: ONLY_GAIN });
        }
        if self.refits_intercept() && constant != Constant::Gain {
            return Err(Error::BadOption { what: "the exact refitted intercept has the constant `gain`" });
        }
        Ok(Self::build(self.dim, self.sizes, constant, self.convention, self.sums.clone()))
    }

    fn build(dim: usize, sizes: Sizes, constant: Constant, convention: Convention, sums: FormSums) -> Self {
        let (p, q, m) = (dim as u64, sizes.min() as u64, sizes.max() as u64);
        let full_slope = match constant {
            Constant::Full(_) => {
                // A sum of positive terms, because the difference of the harmonic numbers
                // would cancel.
                let harmonic = CountingRule::new(q - p - 1, m - p - 2).sum(|j| 1.0 / j);
                harmonic - (p - 1) as f64 / (m - p - 1) as f64 - 1.0
            }
            Constant::Gain | Constant::Theorem => 0.0,
        };
        Self { dim, sizes, constant, convention, sums, full_slope }
    }

    /// `p`, the number of design columns.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The set sizes averaged over.
    pub fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// The constant added.
    pub fn constant(&self) -> Constant {
        self.constant
    }

    /// The convention followed.
    pub fn convention(&self) -> Convention {
        self.convention
    }

    /// The value of a row. Not finite only for `q = p + 2` at distance 0.
    #[inline]
    pub fn value(&self, row: PointStats) -> PointValue {
        self.combine(row, self.sums.at(row.dist_sq))
    }

    /// The value of a single row without building the table; the same number
    /// as [`value`](Self::value) to about 1e-14.
    pub fn value_once(&self, row: PointStats) -> PointValue {
        self.combine(row, self.sums.integrated_at(row.dist_sq))
    }

    /// The value of a row whose squared residual is known only through its
    /// `product` with the squared distance, `a·e²`: where one of them goes to 0
    /// as the other grows, the product keeps its digits. Not finite where the
    /// sums are infinite at distance 0 (`q ≤ p + 4`).
    #[inline]
    pub fn value_of_product(&self, dist_sq: f64, product: f64, noise_var: f64) -> PointValue {
        let sums = self.sums.at(dist_sq);
        // Without an error there is no penalty, whatever the distance.
        let penalty = if product == 0.0 { 0.0 } else { product * sums.h2 / self.sizes.max() as f64 };
        let potential = self.potential(noise_var, sums);
        PointValue { value: potential - penalty, potential, penalty }
    }

    /// The sums over set sizes at a squared distance.
    pub(crate) fn sums_at(&self, dist_sq: f64) -> Sums {
        self.sums.at(dist_sq)
    }

    #[inline]
    fn combine(&self, row: PointStats, sums: Sums) -> PointValue {
        let potential = self.potential(row.noise_var, sums);
        let penalty = row.resid_sq * sums.a_h2 / self.sizes.max() as f64;
        PointValue { value: potential - penalty, potential, penalty }
    }

    #[inline]
    fn potential(&self, sigma2: f64, sums: Sums) -> f64 {
        let potential = match self.constant {
            Constant::Gain => sigma2 * (sums.a_h2 + sums.h4),
            Constant::Theorem => -sigma2 * sums.h3,
            Constant::Full(c) => -sigma2 * sums.h3 + (c + sigma2 * self.full_slope),
        };
        potential / self.sizes.max() as f64
    }

    /// The standard error of a row's value, from the reference having been a
    /// sample of `n_rows` rows with `degrees` degrees of freedom left for `σ²`.
    /// With weights, both are those of the effective sample.
    ///
    /// Delta method for Gaussian rows and noise: `e` has variance `σ²a/n`
    /// (`+ σ²/n` if centred), `σ²` has `2σ⁴/degrees`, `a` has `2a²/n` (`+ 4a/n`
    /// if centred), and the three are independent. With a refitted intercept
    /// `row` has the distance `a + 1`, unless the form is the exact one for it.
    pub fn std_error(&self, row: PointStats, n_rows: f64, degrees: f64, intercept: Intercept) -> f64 {
        let (sigma2, slopes) = (row.noise_var, self.slopes(row));
        let from_sigma2 = slopes.by_noise * sigma2 * (2.0 / degrees).sqrt();
        self.error_of((row, slopes), (sigma2, from_sigma2), n_rows, intercept)
    }

    /// The same from the variance of a residual, per unit of distance and row, and from the
    /// error of `m` times the value that the noise variance causes.
    pub(super) fn error_of(
        &self,
        (row, slopes): (PointStats, Slopes),
        (residual_var, from_noise): (f64, f64),
        n_rows: f64,
        intercept: Intercept,
    ) -> f64 {
        let a = row.dist_sq;
        let (m, n) = (self.sizes.max() as f64, n_rows);
        let Slopes { by_residual, by_log_dist, .. } = slopes;
        let intercept = if self.refits_intercept() { Intercept::Known } else { intercept };
        let centring = if intercept == Intercept::Known { 1.0 } else { 0.0 };
        let from_e = by_residual * (residual_var * (a + centring) / n).sqrt();
        let from_a = by_log_dist * (relative_var(a, intercept) / n).sqrt();
        from_e.hypot(from_noise).hypot(from_a) / m
    }

    /// The same for noise of any shape. `sign` is that of the residual.
    pub(crate) fn std_error_with(
        &self,
        row: PointStats,
        sign: f64,
        noise: &RowNoise,
        (n_rows, degrees): (f64, f64),
        intercept: Intercept,
    ) -> f64 {
        let PointStats { dist_sq: a, noise_var: sigma2, .. } = row;
        let (m, n) = (self.sizes.max() as f64, n_rows);
        let Slopes { by_residual, by_noise, by_log_dist } = self.slopes(row);
        let intercept = if self.refits_intercept() { Intercept::Known } else { intercept };
        let (by_e, by_sigma2) = (sign * by_residual * sigma2.sqrt(), by_noise * sigma2);
        // Squares might leave the range of doubles.
        let scale = by_e.abs().max(by_sigma2.abs()).max(by_log_dist.abs());
        if !(scale > 0.0 && scale.is_finite()) {
            return scale / m;
        }
        let (by_e, by_sigma2, by_log_dist) = (by_e / scale, by_sigma2 / scale, by_log_dist / scale);
        let by_a = if a > 0.0 { by_log_dist / a } else { 0.0 };
        let variances = [
            by_e * by_e * noise.spread / n,
            by_sigma2 * by_sigma2 * (noise.fourth - 1.0) / degrees,
            by_log_dist * by_log_dist * relative_var(a, intercept) / n,
        ];
        let with_e = by_e * by_sigma2 * noise.with_noise / n;
        let with_a = -by_sigma2 * by_a * noise.with_inputs / n;
        scale * total_variance(variances, with_e, with_a).sqrt() / m
    }

    /// How `m` times the value depends on what is estimated.
    pub(crate) fn slopes(&self, row: PointStats) -> Slopes {
        let PointStats { dist_sq: a, resid_sq: e2, noise_var: sigma2 } = row;
        let sums = self.sums.at(a);
        let by_noise = match self.constant {
            Constant::Gain => sums.a_h2 + sums.h4,
            Constant::Theorem => -sums.h3,
            Constant::Full(_) => -sums.h3 + self.full_slope,
        };
        let by_residual = 2.0 * e2.sqrt() * sums.a_h2;
        let (square, noise) = self.sums.slopes(a);
        let by_log_dist = (sigma2 - e2) * square + sigma2 * noise;
        Slopes { by_residual, by_noise, by_log_dist }
    }
}

/// The variance of an estimated squared distance over its square, times the number of rows,
/// for Gaussian inputs.
fn relative_var(dist_sq: f64, intercept: Intercept) -> f64 {
    let a = dist_sq.max(CENTRE);
    match intercept {
        _ if dist_sq == 0.0 => 0.0,
        Intercept::None => 2.0,
        Intercept::Known => 2.0 + 4.0 / a,
        Intercept::Refitted => (2.0 - 2.0 / (a * a)).max(0.0),
    }
}

/// Derivatives of `m` times the value of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slopes {
    /// By `−|e|`: the value falls as the residual grows.
    pub(crate) by_residual: f64,
    /// By `σ²`.
    pub(crate) by_noise: f64,
    /// By the logarithm of the squared distance.
    pub(crate) by_log_dist: f64,
}

/// The smallest `q` for which the sums exist.
fn least_min(dim: usize, constant: Constant, convention: Convention) -> usize {
    match (constant, convention) {
        // Sets are larger by one, so q can be smaller by one.
        (_, Convention::Printed | Convention::Authors) => dim + 1,
        (Constant::Gain, _) => dim + 3,
        _ => dim + 2,
    }
}
