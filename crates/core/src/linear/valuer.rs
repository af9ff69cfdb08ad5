//! A fit and a formula: everything needed to value rows.

use super::algorithm3::Algorithm3;
use super::bounds::{Bound, BoundForm};
use super::calibrated::{Calibration, DistanceTable};
use super::calibrated::{FEWEST_TO_DOUBT, doubt};
use super::fit::{LinearFit, PANEL_ROWS, PanelWork};
use super::gaussian::{Constant, Convention, GaussianForm, PointStats};
use crate::valuer::{go_on, slices_of};
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use faer::Mat;
use rayon::prelude::*;
use std::sync::OnceLock;

/// A leverage this close to 1 leaves no digits for the row's own coefficient.
const LEVERAGE_ROOM: f64 = 1e-10;

/// This many rows or fewer use a short panel, if that changes no bits.
const SHORT_ROWS: usize = 8;

/// How a row's statistics become a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LinearMethod {
    /// Theorem 2, exactly.
    Gaussian {
        /// The point-independent constant.
        constant: Constant,
        /// The sum over set sizes.
        convention: Convention,
    },
    /// The paper's Monte Carlo.
    Algorithm3(Algorithm3),
    /// Theorem 3: a bound for sub-Gaussian inputs.
    Bound(Bound),
}

impl Default for LinearMethod {
    fn default() -> Self {
        LinearMethod::Gaussian { constant: Constant::default(), convention: Convention::default() }
    }
}

/// Values any row, seen or unseen, against a fitted reference.
#[derive(Debug)]
pub struct LinearValuer {
    fit: LinearFit,
    form: Form,
    with_std_error: bool,
    /// Whether short panels are known to give the bits of full ones.
    short_panels: OnceLock<bool>,
}

/// What turns the statistics of a row into a value.
#[derive(Debug)]
enum Form {
    Exact(GaussianForm),
    /// With the complete sum, to report how much of it was kept.
    MonteCarlo(Algorithm3, GaussianForm),
    Bound(BoundForm),
}

impl LinearValuer {
    /// A valuer of rows against `fit` by `method`, averaging over `sizes`.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes.
    pub fn new(fit: LinearFit, sizes: Sizes, method: LinearMethod) -> Result<Self, Error> {
        let dim = fit.model_dim();
        let form = match method {
            LinearMethod::Gaussian { constant, convention } => {
                Form::Exact(GaussianForm::new(dim, sizes, constant, convention)?)
            }
            LinearMethod::Algorithm3(algorithm) => {
                algorithm.check(dim, sizes)?;
                let complete = GaussianForm::new(dim, sizes, Constant::Theorem, Convention::Printed)?;
                Form::MonteCarlo(algorithm, complete)
            }
            LinearMethod::Bound(bound) => Form::Bound(BoundForm::of_fit(&fit, sizes, bound)?),
        };
        Ok(Self { fit, form, with_std_error: false, short_panels: OnceLock::new() })
    }

    /// A valuer for inputs that are not Gaussian: `distances` are those of the
    /// reference rows.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes.
    pub fn calibrated(fit: LinearFit, sizes: Sizes, distances: &DistanceTable) -> Result<Self, Error> {
        let dim = fit.model_dim();
        let calibration = Calibration::new(dim, distances, fit.model_dist_sq(0.0));
        let form = Form::Exact(GaussianForm::calibrated(dim, sizes, &calibration)?);
        Ok(Self { fit, form, with_std_error: false, short_panels: OnceLock::new() })
    }

    /// Also reports standard errors, if the method has them.
    pub fn with_std_error(mut self, yes: bool) -> Self {
        self.with_std_error = yes && matches!(self.form, Form::Exact(_));
        self
    }

    /// The fit of the reference.
    pub fn fit(&self) -> &LinearFit {
        &self.fit
    }

    /// Whether a row takes about 1 ms instead of about 1 µs; see
    /// [`wants`](Valuer::wants).
    pub fn is_slow(&self) -> bool {
        matches!(self.form, Form::MonteCarlo(..))
    }

    /// Values `rows`, which are some or all of the reference rows themselves:
    /// each is valued against the reference without it, in closed form.
    ///
    /// `first_row` is the number of the first of them; it selects the random
    /// streams of Algorithm 3 and nothing else.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>, first_row: u64) -> Result<Values, Error> {
        self.value_rows(rows, first_row, true)
    }

    /// Values rows that are not part of the reference; `first_row` as in
    /// [`leave_one_out`](Self::leave_one_out).
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn values_from(&self, rows: Rows<'_>, first_row: u64) -> Result<Values, Error> {
        self.value_rows(rows, first_row, false)
    }

    /// Squared distances of reference rows, without leaving any out.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotFinite`], [`Error::TooLarge`].
    pub fn distances(fit: &LinearFit, rows: Rows<'_>) -> Result<Vec<f64>, Error> {
        if rows.n_features() != fit.n_features() {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: fit.n_features() });
        }
        let mut out = vec![0.0; rows.len()];
        let solved = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || PanelWork::new(fit),
            |work, (panel, out)| {
                fit.solve_panel(rows, panel * PANEL_ROWS, out.len(), work)?;
                for (out, norm_sq) in out.iter_mut().zip(&work.norm_sq) {
                    *out = fit.n_rows() as f64 * norm_sq;
                }
                Ok(())
            },
        );
        solved.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        Ok(out)
    }

    fn value_rows(&self, rows: Rows<'_>, first_row: u64, leave_one_out: bool) -> Result<Values, Error> {
        if rows.n_features() != self.fit.n_features() {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.fit.n_features() });
        }
        let mut out = vec![RowValue::default(); rows.len()];
        // A row that takes 1 ms gets a panel of its own.
        let chunk_rows = if self.is_slow() { 1 } else { PANEL_ROWS };
        let value_panel = |work: &mut PanelWork, (chunk, out): (usize, &mut [RowValue])| {
            let start = chunk * chunk_rows;
            self.fit.solve_panel(rows, start, out.len(), work)?;
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (i, out) in out.iter_mut().enumerate() {
                        let row = first_row + (start + i) as u64;
                        let weight = leave_one_out.then(|| rows.weights().map_or(1.0, |w| w[start + i]));
                        *out = self.value_row(work.norm_sq[i], work.residual[i], row, weight);
                    }
                },
            );
            Ok(())
        };
        let init = || PanelWork::new(&self.fit);
        // A single panel is not shared: handing it to another thread takes longer.
        let valued = if (1..=SHORT_ROWS).contains(&out.len()) && self.short_panels_will_do(rows) {
            value_panel(&mut PanelWork::of_rows(&self.fit, SHORT_ROWS), (0, &mut out))
        } else if out.len() <= chunk_rows {
            value_panel(&mut init(), (0, &mut out))
        } else {
            out.par_chunks_mut(chunk_rows).enumerate().try_for_each_init(init, value_panel)
        };
        // Which panel fails first is random, but the reported cell is not.
        valued.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        Ok(self.collect(&out))
    }

    /// Whether a row has the same bits in a short panel as in a full one. The solver's
    /// kernels choose the order of additions, which may depend on the shape but not on
    /// the numbers. So this is tested once, with rows `like` those at hand, in every
    /// place of the panel.
    fn short_panels_will_do(&self, like: Rows<'_>) -> bool {
        *self.short_panels.get_or_init(|| {
            let mut state = 0x9e37_79b9_7f4a_7c15_u64;
            let mut number = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
            };
            let size = |cell: f64| if cell.abs() < 1e50 { cell } else { 1.0 };
            let x = Mat::from_fn(PANEL_ROWS, like.n_features(), |_, j| {
                size(like.x()[(0, j)]) * (1.0 + number()) + number()
            });
            let y: Vec<f64> = (0..PANEL_ROWS).map(|_| size(like.y()[0]) * (1.0 + number())).collect();
            let Ok(rows) = Rows::new(x.as_ref(), &y) else { return false };
            let (mut full, mut short) =
                (PanelWork::new(&self.fit), PanelWork::of_rows(&self.fit, SHORT_ROWS));
            let same = |one: &[f64], other: &[f64]| {
                one.iter().zip(other).all(|(one, other)| one.to_bits() == other.to_bits())
            };
            self.fit.solve_panel(rows, 0, PANEL_ROWS, &mut full).is_ok()
                && (0..PANEL_ROWS).step_by(SHORT_ROWS).all(|start| {
                    let end = start + SHORT_ROWS;
                    self.fit.solve_panel(rows, start, SHORT_ROWS, &mut short).is_ok()
                        && same(&full.norm_sq[start..end], &short.norm_sq[..SHORT_ROWS])
                        && same(&full.residual[start..end], &short.residual[..SHORT_ROWS])
                })
        })
    }

    /// `weight` is that of the row in the reference, if the row is left out.
    #[inline(always)]
    fn value_row(&self, norm_sq: f64, residual: f64, row: u64, weight: Option<f64>) -> RowValue {
        let fit = &self.fit;
        // A row of weight 0 is in the table but not in the reference.
        let (stats, effective) = match weight.filter(|&weight| weight > 0.0) {
            Some(weight) => match left_out(fit, norm_sq, residual, weight) {
                Some(left_out) => left_out,
                None => return RowValue { note: Some(Note::LeverageOne), ..RowValue::default() },
            },
            None => {
                let stats = PointStats {
                    dist_sq: fit.n_rows() as f64 * norm_sq,
                    resid_sq: residual * residual,
                    noise_var: fit.noise_var(),
                };
                (stats, fit.effective_rows())
            }
        };
        let mut out = RowValue { dist_sq: stats.dist_sq, resid_sq: stats.resid_sq, ..RowValue::default() };
        let stats = PointStats { dist_sq: fit.model_dist_sq(stats.dist_sq), ..stats };
        let form = match &self.form {
            Form::Exact(form) => form,
            Form::MonteCarlo(algorithm, complete) => {
                let estimate = algorithm.estimate(fit.model_dim(), self.sizes(), stats, row);
                out.value = estimate.value;
                out.truncation = (estimate.n_visited, estimate.value / complete.value(stats).value);
                return out;
            }
            Form::Bound(form) => {
                out.value = form.value(stats);
                out.truncation = form.truncation(stats).unwrap_or(out.truncation);
                return out;
            }
        };
        let exact = form.value(stats);
        if !exact.value.is_finite() {
            out.note = Some(Note::Infinite);
            return out;
        }
        (out.value, out.potential, out.penalty) = (exact.value, exact.potential, exact.penalty);
        if self.with_std_error {
            let degrees = effective - fit.sample().used;
            out.std_error = form.std_error(stats, effective, degrees, fit.intercept_kind());
        }
        out
    }

    fn collect(&self, rows: &[RowValue]) -> Values {
        let stops = match &self.form {
            Form::Exact(_) => false,
            Form::MonteCarlo(..) => true,
            Form::Bound(form) => form.bound().stop.is_some(),
        };
        Values {
            std_error: self.with_std_error.then(|| rows.iter().map(|row| row.std_error).collect()),
            truncation: stops.then(|| rows.iter().map(|row| row.truncation).collect()),
            ..Values::of(rows, self.parts())
        }
    }
}

impl Valuer for LinearValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        self.value_rows(rows, place.first_row, place.in_reference)
    }

    fn parts(&self) -> Vec<Part> {
        match self.form {
            Form::Exact(_) => vec![Part::Potential, Part::Penalty, Part::DistSq, Part::ResidSq],
            Form::MonteCarlo(..) | Form::Bound(_) => vec![Part::DistSq, Part::ResidSq],
        }
    }

    fn sizes(&self) -> Sizes {
        match &self.form {
            Form::Exact(form) | Form::MonteCarlo(_, form) => form.sizes(),
            Form::Bound(form) => form.sizes(),
        }
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes().warning());
        if let Form::Bound(form) = &self.form {
            let first = form.bound().first_size(self.fit.model_dim(), self.sizes().max()) + 1;
            let is_silent = form.bound().ridge == 0.0 && self.sizes().min() < first;
            if is_silent && form.bound().convention == Convention::Definition {
                warnings.push(Warning::SilentBound { first });
            }
            warnings.extend(form.warning());
            if form.bound().ridge > 0.0 {
                warnings.push(Warning::BoundWithRidge);
            }
        }
        warnings
    }

    fn check_inputs(&self, sample: Rows<'_>) -> Result<Option<Warning>, Error> {
        let Form::Exact(_) = &self.form else { return Ok(None) };
        let copy = || Self::new(self.fit.clone(), self.sizes(), LinearMethod::default());
        let mut table = DistanceTable::new();
        table.add(&Self::distances(&self.fit, sample)?, sample.weights());
        if sample.len() < FEWEST_TO_DOUBT || table.is_empty() {
            return Ok(None);
        }
        // Sizes that the default constant does not allow are not checked.
        let Ok(plain) = copy() else { return Ok(None) };
        let calibrated = Self::calibrated(self.fit.clone(), self.sizes(), &table)?;
        let plain = plain.with_std_error(true).leave_one_out(sample, 0)?;
        let calibrated = calibrated.leave_one_out(sample, 0)?;
        Ok(doubt(&plain, &calibrated))
    }

    fn wants(&self) -> Wants {
        if self.is_slow() { slices_of(1) } else { Wants::Batches }
    }
}

/// The statistics of a reference row under the reference without it, and the effective
/// number of the other rows; `None` if the row alone determines a coefficient.
///
/// With weights that sum to `n` and `d = x − x̄`, leaving out weight `w` turns
/// the Gram matrix `S` into `S − (nw/(n−w)) ddᵀ` and `d` into `d·n/(n−w)`.
#[inline]
fn left_out(fit: &LinearFit, u: f64, residual: f64, weight: f64) -> Option<(PointStats, f64)> {
    let sample = fit.sample();
    let (n, w) = (sample.n, weight * sample.weight_scale);
    // Without centring the row's leverage is wu and c = 1.
    let (c, h) = if fit.intercept() { (n / (n - w), w / n + w * u) } else { (1.0, w * u) };
    let room = 1.0 - h;
    if room < LEVERAGE_ROOM {
        return None;
    }
    // Rounding may give slightly less than zero if all the noise is in this row.
    let rss = (fit.rss() - w * residual * residual / room).max(0.0);
    let (noise_var, effective) = if sample.is_weighted {
        let squares = n * (n / sample.effective) - w * w;
        let effective = (n - w) * ((n - w) / squares);
        (rss / (n - w) * effective / (effective - sample.used), effective)
    } else {
        (rss / (n - 1.0 - sample.used), n - 1.0)
    };
    let dist_sq = (n - w) * c * c * u / (1.0 - c * w * u);
    Some((PointStats { dist_sq, resid_sq: (residual / room).powi(2), noise_var }, effective))
}

#[derive(Debug, Clone, Copy)]
struct RowValue {
    value: f64,
    std_error: f64,
    potential: f64,
    penalty: f64,
    dist_sq: f64,
    resid_sq: f64,
    note: Option<Note>,
    /// Set sizes visited and share of the sum kept, for Algorithms 3 and 4.
    truncation: (usize, f64),
}

impl Valued for RowValue {
    fn value(&self) -> f64 {
        self.value
    }

    fn part(&self, part: Part) -> f64 {
        match part {
            Part::Potential => self.potential,
            Part::Penalty => self.penalty,
            Part::DistSq => self.dist_sq,
            _ => self.resid_sq,
        }
    }

    fn note(&self) -> Option<Note> {
        self.note
    }
}

impl Default for RowValue {
    fn default() -> Self {
        let none = f64::NAN;
        Self {
            value: none,
            std_error: none,
            potential: none,
            penalty: none,
            dist_sq: none,
            resid_sq: none,
            note: None,
            truncation: (0, none),
        }
    }
}
