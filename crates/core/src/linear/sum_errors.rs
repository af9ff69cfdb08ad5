//! Standard errors of sums of values. Rows share one fit, so their errors do not cancel as
//! independent ones would.
//!
//! What is estimated moves all values of a group at once. With `z` the whitened row, its
//! distance `a = |z|²`, and slopes `g`, `s`, `h` of its value by residual, noise variance
//! and distance, the variance of a sum over rows is
//!
//! ```text
//! (σ²/n) [ (Σg)² + |Σ g z|² ] + (2σ⁴/df) (Σs)² + (1/n) [ 4|Σ h z|² + 2‖Σ h z zᵀ‖² ]
//! ```
//!
//! The terms come from intercept and coefficients, the noise variance, the means, and the
//! covariances of the inputs, as for a single row. Where it is known how residuals vary, the
//! first two and their covariances are those of the noise as it is, without what the rows of
//! the group themselves add to it, on average over them.

use super::fit::{LinearFit, PANEL_ROWS, PanelWork};
use super::gaussian::{GaussianForm, Intercept, Slopes};
use super::noise::{NoiseShape, RowNoise, own, total_variance};
use super::valuer::{LinearValuer, seen_by_others};
use crate::{Error, Rows};
use faer::Mat;
use rayon::prelude::*;

impl LinearValuer {
    /// The standard error of the sum of the values of each group of rows, given that the
    /// reference is a sample. Rows without a value count for nothing. None for methods
    /// without standard errors.
    ///
    /// # Errors
    ///
    /// As for [`values`](crate::Valuer::values).
    ///
    /// # Panics
    ///
    /// If a group names a row that there is not.
    pub fn sum_errors(
        &self,
        rows: Rows<'_>,
        groups: &[Vec<usize>],
        in_reference: bool,
    ) -> Result<Option<Vec<f64>>, Error> {
        let fit = self.fit();
        if rows.n_features() != fit.n_features() {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: fit.n_features() });
        }
        let Some(form) = self.exact_form() else { return Ok(None) };
        let one = |group: &Vec<usize>| self.sum_error(form, rows, group, in_reference);
        groups.par_iter().map(one).collect::<Result<Vec<f64>, Error>>().map(Some)
    }

    /// Collects standard errors of sums over groups of rows that come batch by batch. None
    /// for methods without standard errors.
    pub fn sums(&self, n_groups: usize, in_reference: bool) -> Option<SumErrors<'_>> {
        let form = self.exact_form()?;
        let groups = (0..n_groups).map(|_| OneSum::new(self, in_reference)).collect();
        Some(SumErrors { valuer: self, form, groups, in_reference })
    }

    fn sum_error(
        &self,
        form: &GaussianForm,
        rows: Rows<'_>,
        group: &[usize],
        in_reference: bool,
    ) -> Result<f64, Error> {
        let mut sum = OneSum::new(self, in_reference);
        let mut work = PanelWork::new(self.fit());
        for members in group.chunks(PANEL_ROWS) {
            sum.add(self, form, rows, members, &[], in_reference, &mut work)?;
        }
        Ok(sum.deviation(self) / form.sizes().max() as f64)
    }
}

/// Standard errors of sums over groups of rows, and their covariances: all rows share one
/// fit.
#[derive(Debug)]
pub struct SumErrors<'a> {
    valuer: &'a LinearValuer,
    form: &'a GaussianForm,
    groups: Vec<OneSum>,
    in_reference: bool,
}

impl SumErrors<'_> {
    /// Bytes for one group of rows with this many columns.
    pub fn group_bytes(dim: usize) -> u64 {
        8 * 2 * (dim as u64).pow(2)
    }

    /// Adds rows to groups: each group has places among the rows, and the share that the
    /// value of each of them counts.
    ///
    /// # Errors
    ///
    /// As for [`values`](crate::Valuer::values).
    ///
    /// # Panics
    ///
    /// If a group names a row that there is not.
    pub fn add(&mut self, rows: Rows<'_>, members: &[Vec<(usize, f64)>]) -> Result<(), Error> {
        let Self { valuer, form, groups, in_reference } = self;
        let expected = valuer.fit().n_features();
        if rows.n_features() != expected {
            return Err(Error::FeatureCount { found: rows.n_features(), expected });
        }
        groups.par_iter_mut().zip(members).filter(|(_, members)| !members.is_empty()).try_for_each(
            |(sum, members)| {
                let mut work = PanelWork::new(valuer.fit());
                for members in members.chunks(PANEL_ROWS) {
                    let (places, shares): (Vec<usize>, Vec<f64>) = members.iter().copied().unzip();
                    sum.add(valuer, form, rows, &places, &shares, *in_reference, &mut work)?;
                }
                Ok(())
            },
        )
    }

    /// The covariances of the sums, row by row; their roots are the standard errors.
    ///
    /// Gradients of sums add up, so covariances follow from the variances of sums of two.
    /// What the rows of a group themselves add to the noise is left out of its variance alone.
    pub fn covariance(&self) -> Vec<Vec<f64>> {
        let Self { valuer, form, groups, .. } = self;
        let (intercept, noise) = (valuer.fit().intercept_kind(), valuer.noise());
        let plain: Vec<f64> = groups.iter().map(|sum| sum.gradient.deviation(intercept, noise)).collect();
        let m = form.sizes().max() as f64;
        let errors: Vec<f64> = groups.iter().map(|sum| sum.deviation(valuer) / m).collect();
        let one = |g: usize, h: usize| {
            if g == h {
                return errors[g].powi(2);
            }
            let product = plain[g] * plain[h];
            if product == 0.0 {
                return 0.0;
            }
            let both = groups[g].gradient.plus(&groups[h].gradient).deviation(intercept, noise);
            let together = 0.5 * (both * both - plain[g] * plain[g] - plain[h] * plain[h]);
            (together / product).clamp(-1.0, 1.0) * errors[g] * errors[h]
        };
        let n = groups.len();
        let lower: Vec<Vec<f64>> =
            (0..n).into_par_iter().map(|g| (0..=g).map(|h| one(g, h)).collect()).collect();
        (0..n).map(|g| (0..n).map(|h| lower[g.max(h)][g.min(h)]).collect()).collect()
    }
}

/// One sum in the making.
#[derive(Debug)]
struct OneSum {
    gradient: Gradient,
    /// What its rows add to the noise, where that can be left out.
    of_group: Option<NoiseShape>,
    n_rows: usize,
}

impl OneSum {
    fn new(valuer: &LinearValuer, in_reference: bool) -> Self {
        let fit = valuer.fit();
        let noise = valuer.noise().filter(|noise| in_reference && noise.is_all());
        let of_group = noise.map(|_| NoiseShape::empty(fit.dim()));
        Self { gradient: Gradient::new(fit), of_group, n_rows: 0 }
    }

    /// Adds some rows, at most a panel of them; without `shares` each counts in full.
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        valuer: &LinearValuer,
        form: &GaussianForm,
        rows: Rows<'_>,
        members: &[usize],
        shares: &[f64],
        in_reference: bool,
        work: &mut PanelWork,
    ) -> Result<(), Error> {
        let fit = valuer.fit();
        let x = Mat::from_fn(members.len(), rows.n_features(), |i, j| rows.x()[(members[i], j)]);
        let y: Vec<f64> = members.iter().map(|&row| rows.y()[row]).collect();
        fit.solve_panel(Rows::new(x.as_ref(), &y)?, 0, members.len(), work)?;
        for (i, &row) in members.iter().enumerate() {
            let weight = in_reference.then(|| rows.weights().map_or(1.0, |weights| weights[row]));
            let share = shares.get(i).copied().unwrap_or(1.0);
            self.gradient.add(valuer, form, work, (i, share), weight);
        }
        if let Some(of_group) = &mut self.of_group {
            let weight = |i: usize| rows.weights().map_or(1.0, |weights| weights[members[i]]);
            of_group.add_panel(fit, work, members.len(), weight);
        }
        self.n_rows += members.len();
        Ok(())
    }

    /// The standard deviation of `m` times the sum.
    fn deviation(&self, valuer: &LinearValuer) -> f64 {
        let of_others = valuer.noise().map(|noise| {
            let mut of_others = noise.clone();
            if let Some(of_group) = self.of_group.as_ref().filter(|_| self.n_rows > 0) {
                of_others.add(of_group, -1.0 / self.n_rows as f64);
            }
            of_others
        });
        self.gradient.deviation(valuer.fit().intercept_kind(), of_others.as_ref())
    }
}

/// The derivatives of a sum, each times the deviation of what it is by.
#[derive(Debug, Clone)]
struct Gradient {
    by_target_mean: f64,
    by_coef: Vec<f64>,
    by_noise: f64,
    /// By the noise variance, and what varies with it: over `√n`.
    by_variance: f64,
    with_inputs: f64,
    /// As `by_target_mean` and `by_coef`, in coordinates of the other rows.
    by_mean_of_others: f64,
    by_coef_of_others: Vec<f64>,
    by_centre: Vec<f64>,
    /// The lower triangle.
    by_shape: Mat<f64>,
    z: Vec<f64>,
}

impl Gradient {
    fn new(fit: &LinearFit) -> Self {
        let zeros = || vec![0.0; fit.dim()];
        Self {
            by_target_mean: 0.0,
            by_coef: zeros(),
            by_noise: 0.0,
            by_variance: 0.0,
            with_inputs: 0.0,
            by_mean_of_others: 0.0,
            by_coef_of_others: zeros(),
            by_centre: zeros(),
            by_shape: Mat::zeros(fit.dim(), fit.dim()),
            z: zeros(),
        }
    }

    /// The gradient of the two sums together.
    fn plus(&self, other: &Self) -> Self {
        let mut both = self.clone();
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        both.by_target_mean += other.by_target_mean;
        both.by_noise += other.by_noise;
        both.by_variance += other.by_variance;
        both.with_inputs += other.with_inputs;
        both.by_mean_of_others += other.by_mean_of_others;
        add(&mut both.by_coef, &other.by_coef);
        add(&mut both.by_coef_of_others, &other.by_coef_of_others);
        add(&mut both.by_centre, &other.by_centre);
        both.by_shape += &other.by_shape;
        both
    }

    /// Adds row `i` of a panel, of whose value a share counts; `weight` is its weight in the
    /// reference if it is left out.
    fn add(
        &mut self,
        valuer: &LinearValuer,
        form: &GaussianForm,
        work: &PanelWork,
        (i, share): (usize, f64),
        weight: Option<f64>,
    ) {
        let (fit, norm_sq, residual) = (valuer.fit(), work.norm_sq[i], work.residual[i]);
        let Some((stats, effective)) = valuer.stats_of(norm_sq, residual, weight) else { return };
        let own_dist_sq = stats.dist_sq;
        let stats = super::PointStats { dist_sq: valuer.form_dist_sq(own_dist_sq), ..stats };
        if !form.value(stats).value.is_finite() {
            return;
        }
        let Slopes { by_residual, by_noise, by_log_dist } = form.slopes(stats);
        let (by_residual, by_noise) = (share * by_residual, share * by_noise);
        let by_log_dist = share * by_log_dist;
        let (sigma2, per_row) = (stats.noise_var, effective.sqrt().recip());
        let g = residual.signum() * by_residual * sigma2.sqrt() * per_row;
        let h = if stats.dist_sq > 0.0 { by_log_dist / stats.dist_sq * per_row } else { 0.0 };
        // Leaving a row out makes it longer, but does not turn it.
        let stretch = if norm_sq > 0.0 { (own_dist_sq / norm_sq).sqrt() } else { 0.0 };
        self.by_target_mean += g;
        self.by_noise += by_noise * sigma2 / (effective - fit.sample().used).sqrt();
        if let Some(noise) = valuer.noise() {
            self.by_variance += by_noise * sigma2 * per_row;
            let root = fit.sample().n.sqrt();
            let z: Vec<f64> = (0..self.z.len()).map(|k| root * work.cell(i, k)).collect();
            let left_out = weight.and_then(|weight| own(fit, norm_sq, residual, weight));
            let (stretch, shift) = weight.map_or((1.0, 0.0), |weight| seen_by_others(fit, norm_sq, weight));
            let zeta: Vec<f64> = z.iter().map(|z| stretch * z).collect();
            let c = if fit.intercept() { 1.0 } else { 0.0 };
            self.by_mean_of_others += g * (c + shift);
            self.by_coef_of_others.iter_mut().zip(&zeta).for_each(|(sum, zeta)| *sum += g * zeta);
            if let Some(view) = noise.view(left_out.map(|own| (own, z.as_slice()))) {
                let seen =
                    RowNoise::of(&view, (&zeta, shift), &noise.times(&zeta), own_dist_sq, fit.intercept());
                self.with_inputs += h * seen.with_inputs;
            }
        }
        for k in 0..self.z.len() {
            self.z[k] = stretch * work.cell(i, k);
            self.by_coef[k] += g * self.z[k];
            self.by_centre[k] += h * self.z[k];
        }
        for k in 0..self.z.len() {
            let hz = h * self.z[k];
            let column = &mut self.by_shape.col_as_slice_mut(k)[k..];
            column.iter_mut().zip(&self.z[k..]).for_each(|(cell, z)| *cell += hz * z);
        }
    }

    /// The standard deviation of `m` times the sum.
    fn deviation(&self, intercept: Intercept, noise: Option<&NoiseShape>) -> f64 {
        let square = |numbers: &[f64]| numbers.iter().map(|number| number * number).sum::<f64>();
        let is_centred = if intercept == Intercept::None { 0.0 } else { 1.0 };
        let shape: f64 = (0..self.z.len())
            .map(|k| {
                let column = self.by_shape.col_as_slice(k);
                column[k].powi(2) + 2.0 * square(&column[k + 1..])
            })
            .sum();
        let from_fit = is_centred * self.by_target_mean.powi(2) + square(&self.by_coef);
        let from_inputs = is_centred * 4.0 * square(&self.by_centre) + 2.0 * shape;
        let Some(noise) = noise.and_then(|noise| noise.view(None)) else {
            return (from_fit + 2.0 * self.by_noise.powi(2) + from_inputs).sqrt();
        };
        let (mean, coef) = (self.by_mean_of_others, &self.by_coef_of_others);
        let from_fit =
            noise.form(coef, &noise.times(coef), coef) + 2.0 * mean * noise.second_along(coef) + mean * mean;
        let with_fit = self.by_variance * (noise.third_along(coef) + mean * noise.third());
        let from_noise = self.by_noise.powi(2) * (noise.fourth() - 1.0);
        let variances = [from_fit.max(0.0), from_noise, from_inputs];
        total_variance(variances, with_fit, -self.by_variance * self.with_inputs).sqrt()
    }
}
