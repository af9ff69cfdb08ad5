//! Ridge regression with inputs of any distribution (Proposition 1).
//!
//! **Setting.** Rows `(x, y)` with `y = xᵀβ + noise` of variance `σ²`; only the second
//! moments `Σ` of `x` are assumed. A set `S` is worth minus the squared error of ridge
//! regression `β̂ = (X_SᵀX_S + γI)⁻¹X_Sᵀy_S`, from size `q` on. `γ = 0` is least squares.
//!
//! **Result.** For fixed features `X_S` the noise can be averaged over exactly.
//! With `B = (X_SᵀX_S + γI)⁻¹`, `ℓ = xᵀBx` and `Q = xᵀBΣBx` a point gains
//!
//! ```text
//! Q((2 + ℓ)σ² − e²)/(1 + ℓ)² − h₁ − 2h₂        (SetStats::gain)
//! ```
//!
//! on joining `S`. What is left, the mean over sets and their sizes
//! `q − 1 … m − 1`, is taken by Monte Carlo: sets are drawn from the reference
//! without replacement and serve all points at once. Sizes are stratified, so
//! that the estimate is unbiased for the complete sum, and each point's standard
//! error says how far the draws may be off.
//!
//! With [`SetTargets::Observed`] sets keep the targets that their rows have, and the gain
//! needs neither `σ²` nor a linear mean of `y` ([`SetStats::observed_gain`]): it is what
//! fitting the set with and without the point changes, on all rows of the reference.
//!
//! **Assumptions.** `Σ`, `β`, `σ²` and, with an intercept that is not refitted, the means
//! are those of the reference. Sets share its rows and resemble it more than samples of
//! the population would, which makes values too small by up to about `3p/n` without a
//! ridge, whatever `m` is (Gaussian inputs: −9 % at `p = 3`, `n = 100`, −12 % at `p =
//! 10`, `n = 200`, −3 % at `n = 800`); the standard error does not include that. A row of
//! the reference is valued exactly as an unseen point would be against all others. `γ` is
//! in the units of the features as given. Without a ridge, sets that are singular are
//! drawn again: the mean is over those on which the fit exists. The error then has a
//! finite variance, for smooth inputs, from `q = p + 5` on.

mod conditional;
mod coordinates;
mod draws;
mod observed;
mod panel;
mod sets;

pub use conditional::{ConditionalGain, Population, SetStats};
pub use observed::SetMiss;

use super::valuer::OF_FIT;
use super::{Intercept, LinearFit};
use crate::valuer::check_whole;
use crate::values::{Draws, Note, Part, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use coordinates::{Coordinates, Whitened};
use draws::{Drawn, Task};
use panel::{Frame, LEAST_ROOM};

/// With fewer rows per column than this, values are too small by more than 5 %.
const SMALL_REFERENCE: usize = 60;

/// How [`GeneralValuer`] draws sets.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `ridge` | 0 | `γ`, added to `X_SᵀX_S` of the (centred) features as given |
/// | `tolerance` | 0.02 | errors wanted, as a share of the spread of the values over points |
/// | `min_rounds` | 32 | at least this many rounds; each draws one set of every stratum of sizes |
/// | `max_rounds` | 4096 | at most this many, whether the errors are small enough or not |
/// | `seed` | 0 | each round has its own stream, so threads do not matter |
/// | `targets` | expected | which targets the rows of sets have |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneralOptions {
    /// `γ`.
    pub ridge: f64,
    /// The root mean square of the standard errors wanted, as a share of the
    /// standard deviation of the values; of the value itself for one point.
    pub tolerance: f64,
    /// Rounds before the errors are checked.
    pub min_rounds: usize,
    /// Rounds after which drawing stops.
    pub max_rounds: usize,
    /// Seed of the generator.
    pub seed: u64,
    /// Which targets the rows of sets have.
    pub targets: SetTargets,
}

/// Which targets the rows of drawn sets have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SetTargets {
    /// Any that the linear model could have made: gains are means over its noise.
    #[default]
    Expected,
    /// Those of the rows.
    Observed,
}

impl Default for GeneralOptions {
    fn default() -> Self {
        let targets = SetTargets::Expected;
        Self { ridge: 0.0, tolerance: 0.02, min_rounds: 32, max_rounds: 4096, seed: 0, targets }
    }
}

/// Values and what it took to get them. [`Valuer::values_at`] returns the same, with the
/// last three in [`Values::draws`].
#[derive(Debug, Clone, PartialEq)]
pub struct GeneralValues {
    /// The values; their standard errors are those of the Monte Carlo.
    pub values: Values,
    /// Rounds drawn.
    pub n_rounds: usize,
    /// Whether the tolerance was reached.
    pub reached: bool,
    /// Share of the sets that did not determine the coefficients and were
    /// drawn again: values average over the others.
    pub singular_share: f64,
}

impl From<Values> for GeneralValues {
    /// Values by other methods count as zero rounds that reached the tolerance.
    fn from(values: Values) -> Self {
        let none = Draws { n_rounds: 0, reached: true, singular_share: 0.0 };
        let Draws { n_rounds, reached, singular_share } = values.draws.unwrap_or(none);
        Self { values, n_rounds, reached, singular_share }
    }
}

/// Values any row, seen or unseen, against a reference of any distribution.
#[derive(Debug)]
pub struct GeneralValuer {
    fit: LinearFit,
    sizes: Sizes,
    options: GeneralOptions,
    coordinates: Coordinates,
    reference: Whitened,
    /// The noise variance, if it is known instead of estimated.
    noise_var: Option<f64>,
}

impl GeneralValuer {
    /// A valuer against `reference`, the rows `fit` was made from.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`], [`Error::Sizes`] when the mean over sets does not
    /// exist (`q ≥ p + 3` without a ridge), [`Error::SetsTooLarge`] unless
    /// `m ≤ n + 1`, [`Error::Weighted`], and [`Error::Contradiction`] if the
    /// rows are not those of the fit.
    pub fn new(
        fit: LinearFit,
        reference: Rows<'_>,
        sizes: Sizes,
        options: GeneralOptions,
    ) -> Result<Self, Error> {
        options.check()?;
        let dim = fit.model_dim();
        sizes.check(dim, if options.ridge > 0.0 { 1 } else { dim + 3 })?;
        if fit.is_weighted() || reference.weights().is_some() {
            return Err(Error::Weighted);
        }
        let others = Error::Contradiction { what: "the rows are not those the fit was made from" };
        if reference.len() != fit.n_rows() {
            return Err(others);
        }
        check_largest(sizes, fit.n_rows() + 1)?;
        let coordinates = Coordinates::new(&fit, options.ridge)?;
        let reference = coordinates.of(reference)?;
        // Squares of all coordinates add up to their number. Nearly dependent features
        // may cost digits; with other rows the sum is far off.
        let trace: f64 = reference.norm_sq.iter().sum();
        if (trace / fit.dim() as f64 - 1.0).abs() > 1e-3 {
            return Err(others);
        }
        Ok(Self { fit, sizes, options, coordinates, reference, noise_var: None })
    }

    /// The same with a noise variance that is known.
    pub(crate) fn with_noise_var(mut self, noise_var: f64) -> Self {
        self.noise_var = Some(noise_var);
        self
    }

    /// The fit of the reference.
    pub fn fit(&self) -> &LinearFit {
        &self.fit
    }

    /// How sets are drawn.
    pub fn options(&self) -> GeneralOptions {
        self.options
    }

    /// Values rows that are not part of the reference.
    ///
    /// `watch` is called before each block of rounds with the number of rounds done and
    /// their maximum, and returns whether to go on.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`] and [`Error::TooLarge`] for rows
    /// that cannot be computed with; [`Error::SingularSets`] when almost no set
    /// determines the coefficients; [`Error::Interrupted`].
    pub fn values(&self, points: Rows<'_>, watch: Watch<'_>) -> Result<GeneralValues, Error> {
        self.values_unseen(points, watch).map(GeneralValues::from)
    }

    pub(crate) fn values_unseen(&self, points: Rows<'_>, watch: Watch<'_>) -> Result<Values, Error> {
        let points = self.coordinates.of(points)?;
        let (n, noise_var) = (self.fit.n_rows(), self.noise_var.unwrap_or_else(|| self.fit.noise_var()));
        let stats = points.norm_sq.iter().zip(&points.residual);
        let stats = stats
            .map(|(norm_sq, residual)| {
                Some(Target { dist_sq: n as f64 * norm_sq, residual: *residual, noise_var })
            })
            .collect();
        self.draw(&points, false, Frame::unseen(n), stats, watch)
    }

    /// Values all rows of the reference, each against the others. `watch` as
    /// for [`values`](Self::values).
    ///
    /// # Errors
    ///
    /// As for [`values`](Self::values), and [`Error::SetsTooLarge`] for
    /// `m = n + 1`.
    pub fn leave_one_out(&self, watch: Watch<'_>) -> Result<GeneralValues, Error> {
        self.values_left_out(watch).map(GeneralValues::from)
    }

    pub(crate) fn values_left_out(&self, watch: Watch<'_>) -> Result<Values, Error> {
        let n = self.fit.n_rows();
        check_largest(self.sizes, n)?;
        let is_centred = self.fit.intercept_kind() == Intercept::Known;
        let stats = self.reference.norm_sq.iter().zip(&self.reference.residual);
        let known =
            |target: Target| Target { noise_var: self.noise_var.unwrap_or(target.noise_var), ..target };
        let stats =
            stats.map(|(norm_sq, residual)| left_out(&self.fit, *norm_sq, *residual).map(known)).collect();
        self.draw(&self.reference, true, Frame::left_out(n, is_centred), stats, watch)
    }

    fn draw(
        &self,
        points: &Whitened,
        is_left_out: bool,
        frame: Frame,
        stats: Vec<Option<Target>>,
        watch: Watch<'_>,
    ) -> Result<Values, Error> {
        let targets =
            stats.iter().map(|point| point.map(|point| (point.residual, point.noise_var))).collect();
        let observed = self.options.targets == SetTargets::Observed;
        let observed = observed.then_some(self.reference.residual.as_slice());
        let task = Task {
            coordinates: &self.coordinates,
            reference: self.reference.z.as_ref(),
            n_rows: self.fit.n_rows(),
            observed,
            points: points.z.as_ref(),
            is_left_out,
            frame,
            targets,
            strata: sets::strata(self.sizes, self.fit.model_dim()),
        };
        let drawn = task.run(self.options, watch)?;
        let m = self.sizes.max() as f64;
        let known = |of: &dyn Fn(Target, usize) -> f64| -> Vec<f64> {
            stats.iter().enumerate().map(|(i, point)| point.map_or(f64::NAN, |point| of(point, i))).collect()
        };
        let notes = stats.iter().enumerate().filter(|(_, point)| point.is_none());
        let Drawn { n_rounds, reached, singular_share, .. } = drawn;
        Ok(Values {
            value: known(&|_, i| drawn.means[i].mean() / m),
            std_error: Some(known(&|_, i| drawn.means[i].std_error(drawn.n_rounds) / m)),
            parts: vec![
                (Part::DistSq, known(&|point, _| point.dist_sq)),
                (Part::ResidSq, known(&|point, _| point.residual * point.residual)),
                (Part::Residual, known(&|point, _| point.residual)),
            ],
            notes: notes.map(|(i, _)| (i, Note::LeverageOne)).collect(),
            draws: Some(Draws { n_rounds, reached, singular_share }),
            ..Values::default()
        })
    }
}

impl Valuer for GeneralValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let mut values = if place.in_reference {
            check_whole(rows, self.fit.n_rows())?;
            self.values_left_out(watch)?
        } else {
            self.values_unseen(rows, watch)?
        };
        let residuals = values.part(Part::Residual).unwrap_or_default();
        let predicted = rows.y().iter().zip(residuals).map(|(target, residual)| target - residual).collect();
        // As other methods have it, before the residual.
        values.parts.insert(2, (Part::Predicted, predicted));
        Ok(values)
    }

    fn parts(&self) -> Vec<Part> {
        OF_FIT.to_vec()
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes.warning());
        let (dim, n_rows) = (self.fit.model_dim(), self.fit.n_rows());
        if SMALL_REFERENCE * dim > n_rows {
            warnings.push(Warning::SmallReference { dim, n_rows });
        }
        warnings
    }

    fn wants(&self) -> Wants {
        Wants::All
    }
}

impl GeneralOptions {
    fn check(&self) -> Result<(), Error> {
        let wrong = |what| Err(Error::BadOption { what });
        if !(self.ridge.is_finite() && self.ridge >= 0.0) {
            return wrong("the ridge must be a finite number of at least 0");
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return wrong("the tolerance must be at least 0");
        }
        if self.min_rounds < 2 || self.max_rounds < self.min_rounds {
            return wrong("errors need at least two rounds, and the minimum may not exceed the maximum");
        }
        Ok(())
    }
}

/// Sets of up to `m − 1` rows come from `most − 1` without replacement.
fn check_largest(sizes: Sizes, most: usize) -> Result<(), Error> {
    if sizes.max() > most {
        return Err(Error::SetsTooLarge { max: sizes.max(), most });
    }
    Ok(())
}

/// A point relative to the population.
#[derive(Debug, Clone, Copy)]
struct Target {
    dist_sq: f64,
    residual: f64,
    noise_var: f64,
}

/// A reference row relative to the others; `None` if it alone determines a coefficient.
fn left_out(fit: &LinearFit, u: f64, residual: f64) -> Option<Target> {
    let n = fit.n_rows() as f64;
    let (c, h) = if fit.intercept() { (n / (n - 1.0), 1.0 / n + u) } else { (1.0, u) };
    let room = 1.0 - h;
    if room < LEAST_ROOM {
        return None;
    }
    let rss = (fit.rss() - residual * residual / room).max(0.0);
    Some(Target {
        dist_sq: (n - 1.0) * c * c * u / (1.0 - c * u),
        residual: residual / room,
        noise_var: rss / (fit.degrees_of_freedom() - 1.0),
    })
}
