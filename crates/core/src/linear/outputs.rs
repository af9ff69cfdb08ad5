//! Several outputs that one design predicts.
//!
//! **Setting.** A row has `k` targets `y`, and least squares on the same features predicts each:
//! `y = Bᵀx + ε` with noise of covariance `Σ_ε`. A set is worth `−E (y − ŷ)ᵀΩ(y − ŷ)`, where
//! `Ω` says how errors of different outputs are added ([`ErrorUnits`]).
//!
//! **Result.** In Theorem 2 the noise variance and the squared residual enter linearly, and noise
//! enters through its second moments only. So everything for one target holds with
//!
//! ```text
//! σ² → tr(ΩΣ_ε)      e² → eᵀΩe
//! ```
//!
//! for every semivalue, and for models that refit their intercept. Distances are those of the
//! features, which all outputs share: a further output costs one dot product per row.
//!
//! **Assumptions.** Those of Theorem 2. `Σ_ε` is estimated by the residuals of the reference, and
//! a row of the reference is valued against a fit, and with units, of the others.
//!
//! **Rows.** The targets are the last columns of the features and then the target of [`Rows`]: of
//! `p + k − 1` columns, the first `p` are features. So [`Moments`] of such rows are sums over
//! chunks, merge, and forget as for one target.

use super::FitOptions;
use super::fit::{LinearFit, PANEL_ROWS, PanelWork};
use super::gaussian::{Constant, Convention, GaussianForm, Intercept, PointStats};
use super::valuer::left_out;
use crate::moments::{Combination, View};
use crate::valuer::go_on;
use crate::values::{Note, Part, Valued, Values};
use crate::{Error, Moments, Place, Rows, Sizes, Valuer, Wants, Warning, Watch};
use faer::Mat;
use rayon::prelude::*;

/// A residual with a smaller share of variation of its own leaves no inverse of their
/// covariance.
const LEAST_SHARE: f64 = 1e-9;

/// In which units the errors of several outputs are added.
#[derive(Debug, Clone, PartialEq)]
pub enum ErrorUnits {
    /// `Ω = Σ_ε⁻¹`: errors count relative to the noise and its correlations, so that values do not
    /// depend on the units of the outputs, or on which combinations of them are given.
    Noise,
    /// `Ω = diag(1/s²)`: each error is divided by the scale of its output. Values are sums over
    /// outputs.
    Scales(Vec<f64>),
}

/// Values any row, seen or unseen, by the errors of all its outputs.
///
/// # Example
///
/// ```
/// use dshap::linear::{ErrorUnits, FitOptions, OutputsValuer};
/// use dshap::{Moments, Rows, Sizes, Valuer};
/// use faer::mat;
///
/// // One feature; its second column and the targets of `Rows` are the two outputs.
/// let x = mat![[-2.0, 0.3], [-1.0, 0.4], [0.0, -0.2], [1.0, 0.1], [2.0, -0.5], [3.0, 0.2_f64]];
/// let reference = Rows::new(x.as_ref(), &[-4.1, -1.9, 0.2, 1.9, 4.1, 5.8])?;
/// let units = ErrorUnits::Scales(vec![0.3, 2.0]);
/// let valuer =
///     OutputsValuer::new(&Moments::of(reference)?, 2, FitOptions::default(), Sizes::new(4, 6), units)?;
/// assert_eq!(valuer.values(reference)?.len(), 6);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug)]
pub struct OutputsValuer {
    /// One per output, in the order of the columns. Features are the same.
    fits: Vec<LinearFit>,
    form: GaussianForm,
    units: Units,
    with_std_error: bool,
}

/// The units, and what the reference says about the noise in them.
#[derive(Debug)]
enum Units {
    /// `L⁻¹` with `R = LLᵀ`, the sums of products of residuals.
    Noise { whitening: Mat<f64> },
    /// `1/s` of each output, and `Σ_ε` in these units.
    Scales { per_unit: Vec<f64>, noise: Mat<f64> },
}

/// Errors of all outputs as one: what stands for `e²` and `σ²`.
#[derive(Debug, Clone, Copy)]
struct Joint {
    resid_sq: f64,
    noise_var: f64,
    /// The variance of `eᵀΩe` as a multiple of `4·resid_sq`, per unit of distance and row.
    residual_var: f64,
}

impl OutputsValuer {
    /// A valuer against the reference with these moments, whose last `n_outputs` columns are
    /// targets, averaging over `sizes`.
    ///
    /// # Errors
    ///
    /// As for [`LinearFit::new`], for each output; [`Error::Sizes`];
    /// [`Error::BadOption`] for no outputs, for no features beside them, for scales that are not
    /// positive numbers, one for each output, and for residuals that depend on each other where
    /// their inverse covariance is asked for.
    pub fn new(
        moments: &Moments,
        n_outputs: usize,
        options: FitOptions,
        sizes: Sizes,
        units: ErrorUnits,
    ) -> Result<Self, Error> {
        let wrong = |what| Err(Error::BadOption { what });
        let n_columns = moments.n_features() + 1;
        if n_outputs == 0 || n_outputs >= n_columns {
            return wrong("there must be at least one output, and a feature beside the outputs");
        }
        let p = n_columns - n_outputs;
        let features: Vec<Combination> = (0..p).map(Combination::column).collect();
        let fits: Vec<LinearFit> = (p..n_columns)
            .map(|target| {
                let own = moments.recombined_for(&features, &Combination::column(target));
                LinearFit::new(&own, options)
            })
            .collect::<Result<_, _>>()?;
        let first = &fits[0];
        let form = match first.intercept_kind() {
            Intercept::Refitted => GaussianForm::refitted(first.dim(), sizes)?,
            _ => GaussianForm::new(first.dim(), sizes, Constant::Gain, Convention::Definition)?,
        };
        let products = residual_products(moments, &fits, options.intercept);
        let units = match units {
            ErrorUnits::Noise => match whitening(&products) {
                Some(whitening) => Units::Noise { whitening },
                None => {
                    return wrong("what is left of an output depends on what is left of others; give scales");
                }
            },
            ErrorUnits::Scales(scales) => {
                let is_scale = |scale: &f64| scale.is_finite() && *scale > 0.0 && scale.recip().is_finite();
                if scales.len() != n_outputs || !scales.iter().all(is_scale) {
                    return wrong("each output needs a scale, a positive number");
                }
                let per_unit: Vec<f64> = scales.iter().map(|scale| scale.recip()).collect();
                let degrees = first.degrees_of_freedom();
                let noise = Mat::from_fn(n_outputs, n_outputs, |i, j| {
                    products[(i, j)] / degrees * per_unit[i] * per_unit[j]
                });
                Units::Scales { per_unit, noise }
            }
        };
        Ok(Self { fits, form, units, with_std_error: false })
    }

    /// Also reports standard errors.
    pub fn with_std_error(mut self, yes: bool) -> Self {
        self.with_std_error = yes;
        self
    }

    /// The fit of each output.
    pub fn fits(&self) -> &[LinearFit] {
        &self.fits
    }

    /// The residual of each row, a line, for each output, a column: without the row if it is
    /// part of the reference. NaN where the row alone determines a coefficient.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn residuals(&self, rows: Rows<'_>, in_reference: bool) -> Result<Mat<f64>, Error> {
        let of_rows = self.each(rows, in_reference, |_, left| left.map(|left| left.residuals))?;
        let at = |i: usize, j: usize| of_rows[i].as_ref().map_or(f64::NAN, |residuals| residuals[j]);
        Ok(Mat::from_fn(rows.len(), self.fits.len(), at))
    }

    fn value_row(&self, norm_sq: f64, row: Option<Row>) -> OutputValue {
        let Some(row) = row else {
            return OutputValue { note: Some(Note::LeverageOne), ..OutputValue::default() };
        };
        let fit = &self.fits[0];
        let dist_sq = row.stats.first().map_or_else(|| fit.n_rows() as f64 * norm_sq, |stats| stats.dist_sq);
        let joint = self.joint(&row);
        let stats = PointStats { dist_sq, resid_sq: joint.resid_sq, noise_var: joint.noise_var };
        let found = self.form.value(stats);
        let mut out = OutputValue { dist_sq, resid_sq: joint.resid_sq, ..OutputValue::default() };
        if !found.value.is_finite() {
            out.note = Some(Note::Infinite);
            return out;
        }
        (out.value, out.potential, out.penalty) = (found.value, found.potential, found.penalty);
        if self.with_std_error {
            let degrees = row.effective - fit.sample().used;
            let slopes = self.form.slopes(stats);
            let from_noise = match &self.units {
                // The sum of k variances, each in its own unit, is known; the inverse covariance
                // in the squared residual is not.
                Units::Noise { .. } => {
                    0.5 * slopes.by_residual * joint.resid_sq.sqrt() * (2.0 / degrees).sqrt()
                }
                Units::Scales { noise, .. } => {
                    slopes.by_noise * (2.0 * noise.squared_norm_l2() / degrees).sqrt()
                }
            };
            let (n, intercept) = (row.effective, fit.intercept_kind());
            out.std_error =
                self.form.error_of((stats, slopes), (joint.residual_var, from_noise), n, intercept);
        }
        out
    }

    fn joint(&self, row: &Row) -> Joint {
        match &self.units {
            Units::Noise { whitening } => {
                let k = self.fits.len();
                let length_sq = |of: &[f64]| -> f64 {
                    (0..k).map(|i| (0..=i).map(|j| whitening[(i, j)] * of[j]).sum::<f64>().powi(2)).sum()
                };
                // Leaving a row out takes weight·room·eeᵀ from R, with e its residuals without it.
                let share = length_sq(&row.residuals);
                let resid_sq = row.degrees * share / (1.0 - row.weight * row.room * share);
                Joint { resid_sq, noise_var: k as f64, residual_var: 1.0 }
            }
            Units::Scales { per_unit, noise } => {
                let scaled: Vec<f64> = row.residuals.iter().zip(per_unit).map(|(e, unit)| e * unit).collect();
                let resid_sq: f64 = scaled.iter().map(|e| e * e).sum();
                let noise_var =
                    row.stats.iter().zip(per_unit).map(|(stats, unit)| stats.noise_var * unit * unit);
                let along = (0..scaled.len())
                    .map(|i| (0..scaled.len()).map(|j| scaled[i] * noise[(i, j)] * scaled[j]).sum::<f64>())
                    .sum::<f64>();
                let residual_var = if resid_sq > 0.0 { along / resid_sq } else { 0.0 };
                Joint { resid_sq, noise_var: noise_var.sum(), residual_var }
            }
        }
    }

    /// What `make` makes of the squared length and the residuals of each row.
    fn each<T: Send>(
        &self,
        rows: Rows<'_>,
        in_reference: bool,
        make: impl Fn(f64, Option<Row>) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let first = &self.fits[0];
        let (p, k) = (first.n_features(), self.fits.len());
        if rows.n_features() != p + k - 1 {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: p + k - 1 });
        }
        let panels: Vec<usize> = (0..rows.len()).step_by(PANEL_ROWS).collect();
        let of_panel = |work: &mut (PanelWork, Vec<[f64; PANEL_ROWS]>), &start: &usize| {
            let len = PANEL_ROWS.min(rows.len() - start);
            let (panel, residuals) = work;
            first.solve_panel(rows, start, len, panel)?;
            residuals[0] = panel.residual;
            for (j, (fit, out)) in self.fits.iter().zip(residuals.iter_mut()).enumerate().skip(1) {
                fit.residuals_of((rows, p + j), start, &mut out[..len], panel);
            }
            if residuals.iter().any(|of_output| !of_output[..len].iter().all(|e| (e * e).is_finite())) {
                return Err(rows.explain_not_finite(start, len));
            }
            Ok((0..len)
                .map(|i| {
                    let own: Vec<f64> = residuals.iter().map(|of_output| of_output[i]).collect();
                    let weight =
                        in_reference.then(|| rows.weights().map_or(1.0, |weights| weights[start + i]));
                    make(panel.norm_sq[i], self.row(panel.norm_sq[i], own, weight))
                })
                .collect::<Vec<T>>())
        };
        let init = || (PanelWork::new(first), vec![[0.0; PANEL_ROWS]; k]);
        let found: Result<Vec<Vec<T>>, Error> = panels.par_iter().map_init(init, of_panel).collect();
        // Which panel fails first is random, but the reported cell is not.
        let found = found.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// A row against the reference, or against the others if it has a weight there. None if it
    /// alone determines a coefficient.
    fn row(&self, norm_sq: f64, mut residuals: Vec<f64>, weight: Option<f64>) -> Option<Row> {
        let first = &self.fits[0];
        let Some(weight) = weight.filter(|weight| *weight > 0.0) else {
            let dist_sq = first.n_rows() as f64 * norm_sq;
            let stats = self.fits.iter().zip(&residuals).map(|(fit, residual)| PointStats {
                dist_sq,
                resid_sq: residual * residual,
                noise_var: fit.noise_var(),
            });
            let (degrees, effective) = (first.degrees_of_freedom(), first.effective_rows());
            return Some(Row {
                stats: stats.collect(),
                residuals,
                weight: 0.0,
                room: 1.0,
                degrees,
                effective,
            });
        };
        let sample = first.sample();
        let (n, w) = (sample.n, weight * sample.weight_scale);
        let mut stats = Vec::with_capacity(residuals.len());
        let (mut effective, mut room) = (0.0, 1.0);
        for (fit, residual) in self.fits.iter().zip(&mut residuals) {
            let left = left_out(fit, norm_sq, *residual, weight)?;
            (effective, room) = (left.effective, left.room);
            stats.push(left.stats);
            *residual /= left.room;
        }
        let degrees = (effective - sample.used) * ((n - w) / effective);
        Some(Row { stats, residuals, weight: w, room, degrees, effective })
    }
}

/// A row as the fits of all outputs see it.
#[derive(Debug)]
struct Row {
    stats: Vec<PointStats>,
    residuals: Vec<f64>,
    /// Its weight in the reference, 0 if it is no part of it, and what its leverage leaves of it.
    weight: f64,
    room: f64,
    /// What sums of products of residuals of the others are divided by, and how many rows these
    /// count as.
    degrees: f64,
    effective: f64,
}

impl Valuer for OutputsValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        let found = self.each(rows, place.in_reference, |norm_sq, row| self.value_row(norm_sq, row))?;
        let std_error = self.with_std_error.then(|| found.iter().map(|row| row.std_error).collect());
        Ok(Values { std_error, ..Values::of(&found, self.parts()) })
    }

    fn parts(&self) -> Vec<Part> {
        vec![Part::Potential, Part::Penalty, Part::DistSq, Part::ResidSq]
    }

    fn sizes(&self) -> Sizes {
        self.form.sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = Vec::new();
        for warning in self.fits.iter().flat_map(LinearFit::warnings).chain(self.sizes().warning()) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }

    fn wants(&self) -> Wants {
        Wants::Batches
    }
}

/// Sums of products of the residuals of all outputs.
fn residual_products(moments: &Moments, fits: &[LinearFit], intercept: bool) -> Mat<f64> {
    let (view, p) = (View::new(moments, intercept), fits[0].n_features());
    Mat::from_fn(fits.len(), fits.len(), |i, j| {
        if i == j {
            return fits[i].rss();
        }
        let explained = |(a, b): (&f64, &f64)| a * b;
        let explained: f64 = fits[i].factor().1.iter().zip(fits[j].factor().1).map(explained).sum();
        view.product(p + i.max(j), p + i.min(j)) - explained
    })
}

/// `L⁻¹` for `LLᵀ` = `products`, unless one of them is nearly a combination of others.
fn whitening(products: &Mat<f64>) -> Option<Mat<f64>> {
    let k = products.nrows();
    let mut lower = Mat::<f64>::zeros(k, k);
    for i in 0..k {
        for j in 0..=i {
            let known: f64 = (0..j).map(|l| lower[(i, l)] * lower[(j, l)]).sum();
            let left = products[(i, j)] - known;
            if i > j {
                lower[(i, j)] = left / lower[(j, j)];
            } else if left > LEAST_SHARE * products[(i, i)] {
                lower[(i, i)] = left.sqrt();
            } else {
                return None;
            }
        }
    }
    let mut inverse = Mat::<f64>::identity(k, k);
    faer::linalg::triangular_solve::solve_lower_triangular_in_place(
        lower.as_ref(),
        inverse.as_mut(),
        faer::Par::Seq,
    );
    Some(inverse)
}

#[derive(Debug, Clone, Copy)]
struct OutputValue {
    value: f64,
    std_error: f64,
    potential: f64,
    penalty: f64,
    dist_sq: f64,
    resid_sq: f64,
    note: Option<Note>,
}

impl Default for OutputValue {
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
        }
    }
}

impl Valued for OutputValue {
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
