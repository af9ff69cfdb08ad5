//! A fit and a formula: everything needed to value rows.

use super::algorithm3::Algorithm3;
use super::bounds::{Bound, BoundForm};
use super::calibrated::{Calibration, DistanceTable};
use super::calibrated::{FEWEST_TO_DOUBT, doubt};
use super::fit::{LinearFit, PANEL_ROWS, PanelWork};
use super::gaussian::{Constant, Convention, GaussianForm, Intercept, PointStats};
use super::noise::{NoiseShape, RowNoise, own};
use super::sum_errors::SumErrors;
use super::target::{
    LeftOut, PanelLook, Sureness, TargetErrors, TargetForm, TargetGeometry, TargetStats, TestMoments,
};
use crate::valuer::{go_on, slices_of};
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;
use std::sync::OnceLock;

/// A leverage this close to 1 leaves no digits for the row's own coefficient.
pub(super) const LEVERAGE_ROOM: f64 = 1e-10;

/// This many rows or fewer use a short panel, if that changes no bits.
const SHORT_ROWS: usize = 8;

/// What the fit alone says about a row.
pub(super) const OF_FIT: [Part; 4] = [Part::DistSq, Part::ResidSq, Part::Predicted, Part::Residual];

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
    /// How residuals vary, if that is known; otherwise as Gaussian noise does.
    noise: Option<NoiseShape>,
    /// Whether targets are not known but expected.
    expects_targets: bool,
    /// Whether short panels are known to give the bits of full ones.
    short_panels: OnceLock<bool>,
}

/// What turns the statistics of a row into a value.
#[derive(Debug)]
enum Form {
    Exact(GaussianForm),
    /// For given test rows.
    Target(Box<Target>),
    /// With the complete sum, to report how much of it was kept.
    MonteCarlo(Algorithm3, GaussianForm),
    Bound(BoundForm),
}

/// The closed form for test rows, and these rows as the fit sees them.
#[derive(Debug)]
struct Target {
    form: TargetForm,
    geometry: TargetGeometry,
    /// If standard errors are wanted.
    errors: Option<TargetErrors>,
}

/// Buffers of one thread.
struct Work {
    panel: PanelWork,
    look: Option<PanelLook>,
    /// Whitened rows times what is known of the noise.
    by_noise: Option<Mat<f64>>,
}

impl LinearValuer {
    /// A valuer of rows against `fit` by `method`, averaging over `sizes`.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes.
    pub fn new(fit: LinearFit, sizes: Sizes, method: LinearMethod) -> Result<Self, Error> {
        let dim = fit.model_dim();
        let is_refitted = fit.intercept_kind() == Intercept::Refitted;
        let form = match method {
            LinearMethod::Gaussian { constant: Constant::Gain, convention: Convention::Definition }
                if is_refitted =>
            {
                Form::Exact(GaussianForm::refitted(fit.dim(), sizes)?)
            }
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
        Ok(Self::of_form(fit, form))
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
        Ok(Self::of_form(fit, form))
    }

    /// A valuer of rows for the data that one predicts: `tests`, or rows like them. With the
    /// `distances` of the reference rows it is calibrated to inputs that are not Gaussian.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes; [`Error::BadOption`] for
    /// models that refit their intercept; [`Error::FeatureCount`], [`Error::TooLarge`].
    pub fn on_tests(
        fit: LinearFit,
        sizes: Sizes,
        distances: Option<&DistanceTable>,
        tests: &TestMoments,
    ) -> Result<Self, Error> {
        if fit.intercept_kind() == Intercept::Refitted {
            return Err(Error::BadOption {
                what: "the closed form for test rows takes the means of the reference as known",
            });
        }
        let form = TargetForm::for_inputs(fit.dim(), sizes, distances)?;
        let geometry = TargetGeometry::of(&fit, tests)?;
        let form = Form::Target(Box::new(Target { form, geometry, errors: None }));
        Ok(Self::of_form(fit, form))
    }

    /// Without standard errors, for rows with targets.
    fn of_form(fit: LinearFit, form: Form) -> Self {
        Self {
            fit,
            form,
            with_std_error: false,
            noise: None,
            expects_targets: false,
            short_panels: OnceLock::new(),
        }
    }

    /// Also reports standard errors, if the method has them: for Gaussian noise, unless it is
    /// known [how residuals vary](Self::with_noise).
    pub fn with_std_error(mut self, yes: bool) -> Self {
        self.with_std_error = yes && matches!(self.form, Form::Exact(_) | Form::Target(_));
        if let Form::Target(target) = &mut self.form {
            let n = self.fit.sample().n;
            target.errors = yes.then(|| TargetErrors::new(&target.geometry, n));
        }
        self
    }

    /// With standard errors for noise as it is: skewed, with heavy tails, or of a variance that
    /// depends on the inputs. `noise` is that of the reference of the same fit.
    ///
    /// # Panics
    ///
    /// If it is of a fit with another number of columns.
    pub fn with_noise(mut self, noise: Option<NoiseShape>) -> Self {
        let dim = noise.as_ref().map_or(self.fit.dim(), |noise| noise.square().ncols());
        assert_eq!(dim, self.fit.dim(), "the noise of another fit");
        self.noise = noise;
        self
    }

    /// How residuals vary, if standard errors are wanted and it is known.
    pub(super) fn noise(&self) -> Option<&NoiseShape> {
        self.noise.as_ref().filter(|_| self.with_std_error)
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
        let value_panel = |work: &mut Work, (chunk, out): (usize, &mut [RowValue])| {
            let start = chunk * chunk_rows;
            self.fit.solve_panel(rows, start, out.len(), &mut work.panel)?;
            if let (Form::Target(target), Some(look)) = (&self.form, &mut work.look) {
                target.geometry.look_at(work.panel.panel.as_ref(), look);
            }
            if let (Some(noise), Some(out)) = (self.noise(), &mut work.by_noise) {
                let rows = work.panel.panel.as_ref();
                matmul(out.as_mut(), Accum::Replace, rows, noise.square().as_ref(), 1.0, Par::Seq);
            }
            pulp::Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (i, out) in out.iter_mut().enumerate() {
                        let row = first_row + (start + i) as u64;
                        let weight = leave_one_out.then(|| rows.weights().map_or(1.0, |w| w[start + i]));
                        *out = self.value_row(work, i, row, weight);
                        out.predicted = rows.y()[start + i] - out.residual;
                    }
                },
            );
            Ok(())
        };
        let by_noise = || {
            self.noise().filter(|_| self.exact_form().is_some())?;
            Some(Mat::zeros(PANEL_ROWS, self.fit.dim()))
        };
        let with_look = |panel: PanelWork| Work { panel, look: self.look(), by_noise: by_noise() };
        let init = || with_look(PanelWork::new(&self.fit));
        // A single panel is not shared: handing it to another thread takes longer.
        let is_plain = !matches!(self.form, Form::Target(_)) && self.noise().is_none();
        let is_short = (1..=SHORT_ROWS).contains(&out.len()) && is_plain;
        let valued = if is_short && self.short_panels_will_do(rows) {
            value_panel(&mut with_look(PanelWork::of_rows(&self.fit, SHORT_ROWS)), (0, &mut out))
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

    /// The residual of a row; 0 on average if its target is not known.
    #[inline(always)]
    fn residual(&self, work: &Work, i: usize) -> f64 {
        if self.expects_targets { 0.0 } else { work.panel.residual[i] }
    }

    fn look(&self) -> Option<PanelLook> {
        match &self.form {
            Form::Target(target) => Some(target.geometry.look()),
            _ => None,
        }
    }

    /// The formula, where it is a closed form.
    pub(super) fn exact_form(&self) -> Option<&GaussianForm> {
        match &self.form {
            Form::Exact(form) => Some(form),
            Form::Target(_) | Form::MonteCarlo(..) | Form::Bound(_) => None,
        }
    }

    /// The statistics of a row, and the effective number of reference rows behind them.
    /// `weight` is that of the row in the reference, if the row is left out. None if the
    /// row alone determines a coefficient.
    #[inline(always)]
    pub(super) fn stats_of(
        &self,
        norm_sq: f64,
        residual: f64,
        weight: Option<f64>,
    ) -> Option<(PointStats, f64)> {
        let fit = &self.fit;
        // A row of weight 0 is in the table but not in the reference.
        match weight.filter(|&weight| weight > 0.0) {
            Some(weight) => left_out(fit, norm_sq, residual, weight).map(|left| (left.stats, left.effective)),
            None => {
                let stats = PointStats {
                    dist_sq: fit.n_rows() as f64 * norm_sq,
                    resid_sq: residual * residual,
                    noise_var: fit.noise_var(),
                };
                Some((stats, fit.effective_rows()))
            }
        }
    }

    /// The squared distance that the formula is given: a column of ones lies one further out,
    /// except for the form that is exact for it.
    #[inline(always)]
    pub(super) fn form_dist_sq(&self, dist_sq: f64) -> f64 {
        match &self.form {
            Form::Exact(form) if form.refits_intercept() => dist_sq,
            _ => self.fit.model_dist_sq(dist_sq),
        }
    }

    /// The value of row `row`; `weight` as in [`stats_of`](Self::stats_of).
    #[inline(always)]
    fn value_row(&self, work: &Work, i: usize, row: u64, weight: Option<f64>) -> RowValue {
        let fit = &self.fit;
        let weight = weight.filter(|&weight| weight > 0.0);
        let residual = self.residual(work, i);
        let Some((stats, effective)) = self.stats_of(work.panel.norm_sq[i], residual, weight) else {
            return RowValue { note: Some(Note::LeverageOne), ..RowValue::default() };
        };
        let mut out = RowValue {
            dist_sq: stats.dist_sq,
            resid_sq: stats.resid_sq,
            residual: stats.resid_sq.sqrt().copysign(residual),
            ..RowValue::default()
        };
        let stats = match self.expects_targets {
            true => PointStats { resid_sq: stats.noise_var, ..stats },
            false => stats,
        };
        let stats = PointStats { dist_sq: self.form_dist_sq(stats.dist_sq), ..stats };
        let form = match &self.form {
            Form::Exact(form) => form,
            Form::Target(target) => {
                return self.value_for_tests(target, (work, i), weight, (stats, effective), out);
            }
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
            let noise = self.row_noise((work, i), weight, out.dist_sq);
            out.std_error = match noise {
                Some(noise) => {
                    let sign = 1.0_f64.copysign(residual);
                    form.std_error_with(stats, sign, &noise, (effective, degrees), fit.intercept_kind())
                }
                None => form.std_error(stats, effective, degrees, fit.intercept_kind()),
            };
        }
        out
    }

    /// What the noise, if it is known, does to the standard error of a row of a panel.
    fn row_noise(&self, (work, i): (&Work, usize), weight: Option<f64>, dist_sq: f64) -> Option<RowNoise> {
        let (noise, by_noise) = (self.noise()?, work.by_noise.as_ref()?);
        let (norm_sq, residual) = (work.panel.norm_sq[i], work.panel.residual[i]);
        let root = self.fit.sample().n.sqrt();
        let z: Vec<f64> = work.panel.panel.row(i).iter().map(|z| root * z).collect();
        let left_out = weight.and_then(|weight| own(&self.fit, norm_sq, residual, weight));
        let view = noise.view(left_out.map(|own| (own, z.as_slice())))?;
        let (stretch, shift) = weight.map_or((1.0, 0.0), |weight| seen_by_others(&self.fit, norm_sq, weight));
        let zeta: Vec<f64> = z.iter().map(|z| stretch * z).collect();
        let by_zeta: Vec<f64> = by_noise.row(i).iter().map(|cell| root * stretch * cell).collect();
        Some(RowNoise::of(&view, (&zeta, shift), &by_zeta, dist_sq, self.fit.intercept()))
    }

    /// The value of a row for given test rows, added to what is known of the row.
    #[inline]
    fn value_for_tests(
        &self,
        target: &Target,
        (work, i): (&Work, usize),
        weight: Option<f64>,
        (stats, effective): (PointStats, f64),
        mut out: RowValue,
    ) -> RowValue {
        let fit = &self.fit;
        let (n, norm_sq, residual) = (fit.sample().n, work.panel.norm_sq[i], self.residual(work, i));
        let left_out = weight.map(|weight| {
            let w = weight * fit.sample().weight_scale;
            let (c, leverage) = leverage(fit, norm_sq, w);
            LeftOut {
                weight: w,
                in_products: w,
                is_centred: fit.intercept(),
                residual: residual / (1.0 - leverage),
                room: 1.0 - c * w * norm_sq,
            }
        });
        let look = work.look.as_ref().expect("a valuer for test rows looks at every panel");
        let tests = target.geometry.stats(look, i, (n, norm_sq, residual), left_out);
        let value = target.form.value(stats, tests);
        if !value.value.is_finite() {
            out.note = Some(Note::Infinite);
            return out;
        }
        (out.value, out.potential, out.penalty) = (value.value, value.potential, value.penalty);
        if let Some(errors) = target.errors.as_ref().filter(|_| self.with_std_error) {
            let signed = left_out.map_or(residual, |left_out| left_out.residual);
            out.std_error =
                self.error_for_tests(errors, target, (work, i, weight), (stats, signed, effective), tests);
        }
        out
    }

    fn error_for_tests(
        &self,
        errors: &TargetErrors,
        target: &Target,
        (work, i, weight): (&Work, usize, Option<f64>),
        (stats, residual, effective): (PointStats, f64, f64),
        tests: TargetStats,
    ) -> f64 {
        let norm = work.panel.norm_sq[i];
        // A row that is left out is farther from the centre of the others.
        let scale = if norm > 0.0 { (stats.dist_sq / norm).sqrt() } else { 0.0 };
        let zeta: Vec<f64> = work.panel.panel.row(i).iter().map(|z| scale * z).collect();
        let root = self.fit.sample().n.sqrt();
        let z: Vec<f64> = work.panel.panel.row(i).iter().map(|z| root * z).collect();
        let left_out = weight
            .and_then(|weight| own(&self.fit, norm, work.panel.residual[i], weight))
            .map(|own| (own, z.as_slice()));
        let sure = Sureness {
            n_rows: effective,
            degrees: effective - self.fit.sample().used,
            is_centred: self.fit.intercept(),
            noise: self.noise().and_then(|noise| noise.view(left_out)),
        };
        errors.of(&target.form, (stats, residual), tests, &zeta, sure)
    }

    fn collect(&self, rows: &[RowValue]) -> Values {
        let stops = match &self.form {
            Form::Exact(_) | Form::Target(_) => false,
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
            Form::Exact(_) | Form::Target(_) if self.expects_targets => {
                vec![Part::Potential, Part::Penalty, Part::DistSq]
            }
            Form::Exact(_) | Form::Target(_) => {
                [&[Part::Potential, Part::Penalty], OF_FIT.as_slice()].concat()
            }
            Form::MonteCarlo(..) | Form::Bound(_) => OF_FIT.to_vec(),
        }
    }

    fn sizes(&self) -> Sizes {
        match &self.form {
            Form::Exact(form) | Form::MonteCarlo(_, form) => form.sizes(),
            Form::Target(target) => target.form.sizes(),
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
        let (Form::Exact(_) | Form::Target(_)) = &self.form else { return Ok(None) };
        // Without what is exact about a refitted intercept, which calibrated values lack.
        let copy = || {
            let (constant, convention) = (Constant::default(), Convention::default());
            let form = GaussianForm::new(self.fit.model_dim(), self.sizes(), constant, convention)?;
            let form = Form::Exact(form);
            Ok::<_, Error>(Self {
                fit: self.fit.clone(),
                form,
                with_std_error: false,
                noise: None,
                expects_targets: false,
                short_panels: OnceLock::new(),
            })
        };
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

    /// The errors of such values would mix the noise of the row with that of the reference,
    /// so there are none.
    fn expect_targets(&mut self) -> bool {
        self.expects_targets = matches!(self.form, Form::Exact(_) | Form::Target(_));
        self.with_std_error &= !self.expects_targets;
        self.expects_targets
    }

    fn sum_errors(
        &self,
        rows: Rows<'_>,
        groups: &[Vec<usize>],
        in_reference: bool,
    ) -> Result<Option<Vec<f64>>, Error> {
        LinearValuer::sum_errors(self, rows, groups, in_reference)
    }

    fn sums(&self, n_groups: usize, in_reference: bool) -> Option<SumErrors<'_>> {
        LinearValuer::sums(self, n_groups, in_reference)
    }

    fn wants(&self) -> Wants {
        if self.is_slow() { slices_of(1) } else { Wants::Batches }
    }
}

/// A reference row under the reference without it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Against {
    pub(super) stats: PointStats,
    /// The effective number of the other rows.
    pub(super) effective: f64,
    /// What its leverage leaves: its residual by the others is that of the fit over this.
    pub(super) room: f64,
}

/// The statistics of a reference row under the reference without it; `None` if the row alone
/// determines a coefficient.
///
/// With weights that sum to `n` and `d = x − x̄`, leaving out weight `w` turns
/// the Gram matrix `S` into `S − (nw/(n−w)) ddᵀ` and `d` into `d·n/(n−w)`.
#[inline]
pub(super) fn left_out(fit: &LinearFit, u: f64, residual: f64, weight: f64) -> Option<Against> {
    let sample = fit.sample();
    let (n, w) = (sample.n, weight * sample.weight_scale);
    let (c, h) = leverage(fit, u, w);
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
    let stats = PointStats { dist_sq, resid_sq: (residual / room).powi(2), noise_var };
    Some(Against { stats, effective, room })
}

/// `c = n/(n−w)` and the leverage of a row of weight `w`. Without centring `c` is 1 and the
/// leverage `wu`.
#[inline]
pub(super) fn leverage(fit: &LinearFit, u: f64, w: f64) -> (f64, f64) {
    let n = fit.sample().n;
    if fit.intercept() { (n / (n - w), w / n + w * u) } else { (1.0, w * u) }
}

/// What the product of a row with the others, whitened by the whole, has to be multiplied by,
/// and what has to be added, once the row is left out: the rows are longer along it, and their
/// mean is another.
pub(super) fn seen_by_others(fit: &LinearFit, norm_sq: f64, weight: f64) -> (f64, f64) {
    let w = weight * fit.sample().weight_scale;
    let (c, _) = leverage(fit, norm_sq, w);
    let stretch = 1.0 / (1.0 - c * w * norm_sq);
    (stretch, if fit.intercept() { stretch * c * w * norm_sq } else { 0.0 })
}

#[derive(Debug, Clone, Copy)]
struct RowValue {
    value: f64,
    std_error: f64,
    potential: f64,
    penalty: f64,
    dist_sq: f64,
    resid_sq: f64,
    predicted: f64,
    residual: f64,
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
            Part::Predicted => self.predicted,
            Part::Residual => self.residual,
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
            predicted: none,
            residual: none,
            note: None,
            truncation: (0, none),
        }
    }
}
