//! Bounds on the authors' variables: Algorithms 2 and 4 as the authors' program has them.
//!
//! Kept to reproduce the paper's numbers. After logistic regression with an intercept the
//! rows are `√W x`, without a column for the intercept, with the target `√W z`, `z = η +
//! (y − π)/W`. Both are centred by their means over the reference; coefficients and
//! residuals are those of least squares on them, and `σ²` is the mean squared residual.
//! Then the bound of [`Convention::Authors`](crate::linear::Convention::Authors), which is not
//! a valid bound. Corollary 4 to the letter is [`ClassificationValuer`](super::ClassificationValuer)
//! with a printed bound.

use super::fit::LogisticFit;
use super::valuer::{OF_FIT, check_bound};
use crate::linear::{Bound, BoundForm, FitOptions, LinearFit, LinearMethod, LinearValuer, PointStats};
use crate::valuer::go_on;
use crate::values::{Part, Values};
use crate::{BLOCK_ROWS, Error, Moments, Place, Rows, Sizes, Valuer, Warning, Watch};
use rayon::prelude::*;

/// Values by the bounds of the authors' program.
#[derive(Debug)]
pub struct AuthorsValuer {
    fit: LogisticFit,
    /// Computes distances and residuals on the authors' variables.
    linear: LinearValuer,
    form: BoundForm,
}

impl AuthorsValuer {
    /// A valuer of rows against `fit`; `moments` are the [`AuthorsMoments`](super::AuthorsMoments)
    /// of its reference.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for a fit without an intercept, or a bound that is
    /// not that of the authors' program; [`Error::Sizes`] unless `2 ≤ q ≤ m`; and as for
    /// [`LinearFit::new`].
    pub fn new(fit: LogisticFit, moments: &Moments, sizes: Sizes, bound: Bound) -> Result<Self, Error> {
        check_bound(bound, true)?;
        if !fit.intercept() {
            return Err(Error::BadOption { what: "the authors' variables need a fit with an intercept" });
        }
        let working = LinearFit::new(moments, FitOptions::default())?;
        let form = BoundForm::of_fit(&working, sizes, bound)?;
        // Its values are not used, so any sizes work.
        let any = Sizes::new(working.dim() + 3, working.dim() + 3);
        let linear = LinearValuer::new(working, any, LinearMethod::default())?;
        Ok(Self { fit, linear, form })
    }

    /// The logistic fit of the reference.
    pub fn fit(&self) -> &LogisticFit {
        &self.fit
    }

    /// Least squares on the authors' variables.
    pub fn working_fit(&self) -> &LinearFit {
        self.linear.fit()
    }

    /// Values `rows`, which are some or all of the reference rows themselves:
    /// each against least squares on the working variables without it; the
    /// logistic fit stays the same.
    ///
    /// # Errors
    ///
    /// As for [`values`](Valuer::values).
    pub fn leave_one_out(&self, rows: Rows<'_>) -> Result<Values, Error> {
        self.value_rows(rows, true)
    }

    fn value_rows(&self, rows: Rows<'_>, left_out: bool) -> Result<Values, Error> {
        self.fit.check_width(rows)?;
        crate::labels::check_labels(rows)?;
        let own = [Part::DistSq, Part::Prob, Part::Weight];
        let mut out = Values { parts: own.map(|part| (part, Vec::new())).to_vec(), ..Values::default() };
        let explain = |error: Error| match error {
            Error::NotFinite { .. } | Error::TooLarge => rows.explain_not_finite(0, rows.len()),
            other => other,
        };
        for start in (0..rows.len()).step_by(BLOCK_ROWS) {
            let part = rows.slice(start, BLOCK_ROWS.min(rows.len() - start));
            self.value_batch(part, left_out, &mut out).map_err(explain)?;
        }
        out.parts.extend(self.fit.label_parts(rows, left_out)?);
        Ok(out)
    }

    fn value_batch(&self, rows: Rows<'_>, left_out: bool, out: &mut Values) -> Result<(), Error> {
        let (x, z) = self.fit.authors_rows(rows)?;
        let working = Rows::new(x.as_ref(), &z)?;
        let own = |i: usize| rows.weights().map_or(1.0, |weights| weights[i]);
        let found = match (left_out, rows.weights()) {
            (false, _) => self.linear.values_from(working, 0)?,
            (true, None) => self.linear.leave_one_out(working, 0)?,
            (true, Some(weights)) => self.linear.leave_one_out(working.with_weights(weights)?, 0)?,
        };
        let first = out.value.len();
        let none = || vec![f64::NAN; rows.len()];
        let column = |part| found.part(part).map_or_else(none, <[f64]>::to_vec);
        let (dist_sq, resid_sq) = (column(Part::DistSq), column(Part::ResidSq));
        let value: Vec<f64> = (0..rows.len())
            .into_par_iter()
            .map(|i| {
                let noise_var = self.noise_var(dist_sq[i], resid_sq[i], left_out.then(|| own(i)));
                let stats = PointStats { dist_sq: dist_sq[i], resid_sq: resid_sq[i], noise_var };
                if stats.dist_sq.is_nan() { f64::NAN } else { self.form.value(stats) }
            })
            .collect();
        if self.form.bound().stop.is_some() {
            let kept = |i: usize| {
                let noise_var = self.noise_var(dist_sq[i], resid_sq[i], left_out.then(|| own(i)));
                let stats = PointStats { dist_sq: dist_sq[i], resid_sq: resid_sq[i], noise_var };
                self.form.truncation(stats).unwrap_or((0, f64::NAN))
            };
            let kept: Vec<(usize, f64)> = (0..rows.len()).into_par_iter().map(kept).collect();
            out.truncation.get_or_insert_default().extend(kept);
        }
        let logistic = self.fit.stats(rows)?;
        out.value.extend(value);
        out.notes.extend(found.notes.iter().map(|(i, note)| (first + i, *note)));
        out.parts[0].1.extend(dist_sq);
        out.parts[1].1.extend(logistic.iter().map(|row| row.prob));
        out.parts[2].1.extend(logistic.iter().map(|row| row.weight));
        Ok(())
    }

    /// The mean squared residual, of the other rows if one is left out, whose
    /// distance and residual under the others are given.
    fn noise_var(&self, dist_sq: f64, resid_sq: f64, own: Option<f64>) -> f64 {
        let fit = self.linear.fit();
        let n = fit.n_rows() as f64;
        let Some(w) = own.map(|own| own * self.fit.weight_scale()).filter(|&w| w > 0.0) else {
            return fit.rss() / n;
        };
        // The leverage, recovered from the left-out distance.
        let c = n / (n - w);
        let u = dist_sq / ((n - w) * c * c + dist_sq * c * w);
        let room = 1.0 - w / n - w * u;
        (fit.rss() - w * resid_sq * room).max(0.0) / (n - w)
    }
}

/// Targets are labels, 0 or 1.
impl Valuer for AuthorsValuer {
    fn values_at(&self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        go_on(watch, 0, rows.len())?;
        self.value_rows(rows, place.in_reference)
    }

    fn parts(&self) -> Vec<Part> {
        OF_FIT.to_vec()
    }

    fn sizes(&self) -> Sizes {
        self.form.sizes()
    }

    fn warnings(&self) -> Vec<Warning> {
        let mut warnings = self.fit.warnings();
        warnings.extend(self.sizes().warning());
        warnings.extend(self.form.warning());
        warnings
    }
}
