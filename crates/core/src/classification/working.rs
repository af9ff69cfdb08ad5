//! The working variables of the reference fit: rows as weighted least squares sees them.
//!
//! With `π` and `W = π(1 − π)` at the reference fit, a row becomes `x̃ = √W x` with the
//! residual `e = (y − π)/√W` and noise of variance 1. Its distance is `a = x̃ᵀΣ̃⁻¹x̃`
//! with `Σ̃ = E[W xxᵀ]`. As `W → 0` the residual grows without limit while the distance
//! goes to 0; all formulas need their product `a·e² = (xᵀΣ̃⁻¹x)(y − π)²`, which stays
//! finite.

use super::fit::{LogisticFit, PanelWork};
use super::logit::Logit;
use crate::linear::PointStats;
use crate::linear::fit::PANEL_ROWS;
use crate::{BLOCK_ROWS, Error, Moments, MomentsBuilder, Rows};
use faer::Mat;
use rayon::prelude::*;

/// A leverage this close to 1 leaves no digits for the row's own coefficient.
const LEVERAGE_ROOM: f64 = 1e-10;

/// Smaller weights count as this one if distance and residual are needed separately. Only
/// their product matters then, and it is kept.
pub(super) const LEAST_WEIGHT: f64 = 1e-100;

/// Blocks of rows that are transformed together.
const BATCH_ROWS: usize = 16 * BLOCK_ROWS;

/// What the value of a row depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkingStats {
    /// `a`, the squared distance on the working variables.
    pub dist_sq: f64,
    /// `a·e²`.
    pub product: f64,
    /// `π`, the probability of label 1 under the reference fit.
    pub prob: f64,
    /// `W = π(1 − π)`.
    pub weight: f64,
}

impl WorkingStats {
    /// For linear formulas that take a distance and a residual, with noise of variance 1.
    pub fn to_point(self) -> PointStats {
        if self.product == 0.0 {
            return PointStats { dist_sq: self.dist_sq, resid_sq: 0.0, noise_var: 1.0 };
        }
        // Below this only the product matters.
        let dist_sq = self.dist_sq.max(LEAST_WEIGHT);
        PointStats { dist_sq, resid_sq: self.product / dist_sq, noise_var: 1.0 }
    }
}

/// A row under the reference fit, or under that without the row.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowGeometry {
    pub(super) row: Logit,
    /// `xᵀΣ̃⁻¹x`.
    pub(super) spread: f64,
    /// `y − π`, magnified if the row is left out.
    pub(super) surprise: f64,
    /// What `spread` was multiplied by because the row is left out.
    pub(super) stretch: f64,
    /// The effective number of reference rows.
    pub(super) effective: f64,
}

impl RowGeometry {
    pub(super) fn stats(&self) -> WorkingStats {
        WorkingStats {
            dist_sq: self.row.weight * self.spread,
            product: self.spread * self.surprise * self.surprise,
            prob: self.row.prob,
            weight: self.row.weight,
        }
    }
}

impl LogisticFit {
    /// The geometry of row `i` of a solved panel. With `own`, the weight of the row in
    /// the reference, that of the reference without it by one step of Newton's method, or
    /// `None` if the row alone determines a coefficient.
    ///
    /// Weights of rows sum to `n`. Without weight `c` of a row with leverage
    /// `h = cW·xᵀH⁻¹x` the products are `H − cW xxᵀ` and
    ///
    /// ```text
    /// xᵀΣ̃⁻¹x = (n − c)·xᵀH⁻¹x/(1 − h),      y − π becomes (y − π)/(1 − h)
    /// ```
    ///
    /// in the last of which `H` has the ridge added.
    #[inline]
    pub(super) fn geometry(&self, work: &PanelWork, i: usize, own: Option<f64>) -> Option<RowGeometry> {
        let n = self.n_rows() as f64;
        let row = work.row[i];
        // A row of weight 0 is in the table but not in the reference.
        let Some(c) = own.map(|own| own * self.weight_scale()).filter(|&c| c > 0.0) else {
            return Some(RowGeometry {
                row,
                spread: n * work.spread[i],
                surprise: row.surprise,
                stretch: 1.0,
                effective: self.effective_rows(),
            });
        };
        let room = 1.0 - c * row.weight * work.spread[i];
        let damped_room = 1.0 - c * row.weight * work.damped[i];
        if room < LEVERAGE_ROOM || damped_room < LEVERAGE_ROOM {
            return None;
        }
        let effective = if self.is_weighted() {
            (n - c) * ((n - c) / (n * (n / self.effective_rows()) - c * c))
        } else {
            n - 1.0
        };
        let stretch = (n - c) / n / room;
        Some(RowGeometry {
            row,
            spread: n * work.spread[i] * stretch,
            surprise: row.surprise / damped_room,
            stretch,
            effective,
        })
    }

    /// Statistics of rows that are not part of the reference.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::NotBinary`], [`Error::NotFinite`],
    /// [`Error::TooLarge`].
    pub fn stats(&self, rows: Rows<'_>) -> Result<Vec<WorkingStats>, Error> {
        let none = WorkingStats { dist_sq: 0.0, product: 0.0, prob: 0.0, weight: 0.0 };
        let mut out = vec![none; rows.len()];
        self.for_panels(rows, false, &mut out, |work, _, out| {
            for (i, out) in out.iter_mut().enumerate() {
                if let Some(geometry) = self.geometry(work, i, None) {
                    *out = geometry.stats();
                }
            }
        })?;
        Ok(out)
    }

    /// Squared distances of reference rows, without leaving any out; for a
    /// [`DistanceTable`](crate::linear::DistanceTable).
    ///
    /// # Errors
    ///
    /// As for [`stats`](Self::stats).
    pub fn distances(&self, rows: Rows<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.stats(rows)?.into_iter().map(|row| row.dist_sq).collect())
    }

    /// Solves all panels of `rows`, on all threads, and hands each to `then`
    /// with its first row and its part of `out`.
    pub(super) fn for_panels<T: Send>(
        &self,
        rows: Rows<'_>,
        left_out: bool,
        out: &mut [T],
        then: impl Fn(&mut PanelWork, usize, &mut [T]) + Sync,
    ) -> Result<(), Error> {
        self.check_width(rows)?;
        crate::labels::check_labels(rows)?;
        let solved = out.par_chunks_mut(PANEL_ROWS).enumerate().try_for_each_init(
            || PanelWork::new(self),
            |work, (panel, out)| {
                let start = panel * PANEL_ROWS;
                self.solve_panel(rows, start, out.len(), left_out, work)?;
                then(work, start, out);
                Ok(())
            },
        );
        // Which panel fails first is random, but the reported cell is not.
        solved.map_err(|_: Error| rows.explain_not_finite(0, rows.len()))
    }

    /// Rows of weighted least squares in the columns of the design, with their
    /// residual as the target: `√W x` and `(y − π)/√W`.
    pub(super) fn residual_rows(&self, rows: Rows<'_>) -> Result<(Mat<f64>, Vec<f64>), Error> {
        let dim = self.dim();
        let mut cells = vec![0.0; rows.len() * (dim + 1)];
        let mut lines: Vec<&mut [f64]> = cells.chunks_mut(dim + 1).collect();
        self.for_panels(rows, false, &mut lines, |work, start, lines| {
            // The solve left L⁻¹x, but the columns themselves are needed.
            self.design().fill(rows, start, lines.len(), &mut work.panel);
            for (i, line) in lines.iter_mut().enumerate() {
                let root = work.row[i].weight.max(LEAST_WEIGHT).sqrt();
                (0..dim).for_each(|k| line[k] = root * work.panel.x[(i, k)]);
                line[dim] = work.row[i].surprise / root;
            }
        })?;
        let x = Mat::from_fn(rows.len(), dim, |i, k| cells[i * (dim + 1) + k]);
        let y = (0..rows.len()).map(|i| cells[i * (dim + 1) + dim]).collect();
        Ok((x, y))
    }

    /// The authors' variables: `√W x` of the kept features, without a column
    /// for the intercept, and `√W z` with `z = η + (y − π)/W`.
    pub(super) fn authors_rows(&self, rows: Rows<'_>) -> Result<(Mat<f64>, Vec<f64>), Error> {
        let mut roots = vec![(0.0, 0.0); rows.len()];
        self.for_panels(rows, false, &mut roots, |work, _, roots| {
            for (i, out) in roots.iter_mut().enumerate() {
                let root = work.row[i].weight.max(LEAST_WEIGHT).sqrt();
                *out = (root, root * work.eta()[i] + work.row[i].surprise / root);
            }
        })?;
        let kept = self.kept();
        let x = Mat::from_fn(rows.len(), kept.len(), |i, k| roots[i].0 * rows.x()[(i, kept[k])]);
        Ok((x, roots.into_iter().map(|(_, z)| z).collect()))
    }
}

/// Moments of what a fit makes of rows, which come in chunks of any size.
#[derive(Debug)]
struct Transformed<'a> {
    fit: &'a LogisticFit,
    builder: MomentsBuilder,
    transform: Transform,
}

/// From rows to other columns and targets.
type Transform = fn(&LogisticFit, Rows<'_>) -> Result<(Mat<f64>, Vec<f64>), Error>;

impl Transformed<'_> {
    fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        rows.check_weights()?;
        for start in (0..rows.len()).step_by(BATCH_ROWS) {
            let part = rows.slice(start, BATCH_ROWS.min(rows.len() - start));
            let (x, z) = (self.transform)(self.fit, part).map_err(|error| match error {
                Error::NotFinite { row, column } => Error::NotFinite { row: start + row, column },
                Error::NotBinary { row } => Error::NotBinary { row: start + row },
                other => other,
            })?;
            let working = Rows::new(x.as_ref(), &z)?;
            match part.weights() {
                Some(weights) => self.builder.push(working.with_weights(weights)?)?,
                None => self.builder.push(working)?,
            }
        }
        Ok(())
    }
}

/// Moments of the authors' variables over the reference, for
/// [`AuthorsValuer`](super::AuthorsValuer): one more pass.
#[derive(Debug)]
pub struct AuthorsMoments<'a> {
    rows: Transformed<'a>,
}

impl<'a> AuthorsMoments<'a> {
    /// For the reference `fit` was made from.
    pub fn new(fit: &'a LogisticFit) -> Self {
        let builder = MomentsBuilder::new(fit.kept().len());
        Self { rows: Transformed { fit, builder, transform: LogisticFit::authors_rows } }
    }

    /// Adds rows of the reference, in chunks of any size.
    ///
    /// # Errors
    ///
    /// As for [`LogisticFit::stats`], and [`Error::BadWeight`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        self.rows.push(rows)
    }

    /// The moments.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::TooLarge`], and [`Error::Contradiction`] if the fit
    /// was made from another number of rows.
    pub fn finish(self) -> Result<Moments, Error> {
        let moments = self.rows.builder.finish()?;
        if moments.n_rows() != self.rows.fit.n_rows() {
            return Err(Error::Contradiction { what: "the rows are not those the fit was made from" });
        }
        Ok(moments)
    }
}

/// Moments of the working variables of test rows under the reference fit, for
/// [`ClassificationValuer::on_tests`](super::ClassificationValuer::on_tests): one pass over
/// the test rows.
#[derive(Debug)]
pub struct WorkingMoments<'a> {
    rows: Transformed<'a>,
}

impl<'a> WorkingMoments<'a> {
    /// For test rows of `fit`.
    pub fn new(fit: &'a LogisticFit) -> Self {
        let builder = MomentsBuilder::new(fit.dim()).without_intercept();
        Self { rows: Transformed { fit, builder, transform: LogisticFit::residual_rows } }
    }

    /// Adds test rows, in chunks of any size. Labels of a population without them are any.
    ///
    /// # Errors
    ///
    /// As for [`LogisticFit::stats`], and [`Error::BadWeight`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        self.rows.push(rows)
    }

    /// The moments.
    ///
    /// # Errors
    ///
    /// [`Error::NoRows`], [`Error::TooLarge`].
    pub fn finish(self) -> Result<Moments, Error> {
        self.rows.builder.finish()
    }
}
