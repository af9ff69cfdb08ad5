//! Least squares on the reference, and what it says about a row.

use super::gaussian::Intercept;
use super::parts::FitParts;
use crate::factor::{Reduced, condition};
use crate::moments::{View, is_hard_share};
use crate::packed::{pack_lower, unpack_lower};
use crate::{Error, Moments, MomentsBuilder, MomentsForm, Rows, Warning};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, MatRef, Par};

/// Rows whose distances are solved for together. Panels are always this long,
/// padded with zeros, so that the numbers of a row do not depend on which rows
/// came with it.
pub(crate) const PANEL_ROWS: usize = 256;

/// Fewer digits than this deserve a warning.
const DIGITS_TO_WARN: f64 = 5.0;

/// A triangle may have been merged with one made from products, which is rejected if it
/// has fewer digits left.
const DIGITS_OF_TRIANGLE: f64 = 9.0;

/// How a reference is fitted.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `intercept` | `true` | centre features and target by the reference means, which are then treated as known |
/// | `refit_intercept` | `false` | value a model that refits its intercept on each set |
/// | `allow_dependent` | `true` | leave dependent features out instead of refusing them |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitOptions {
    /// Centre features and target by the reference means.
    pub intercept: bool,
    /// Value a model that refits its intercept on each set instead of taking the means as
    /// known. Needs `intercept`.
    pub refit_intercept: bool,
    /// Leave dependent features out; otherwise they are an error.
    pub allow_dependent: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { intercept: true, refit_intercept: false, allow_dependent: true }
    }
}

/// A least-squares fit to the reference: `β`, `σ²` and the geometry of `Σ`.
///
/// Inside, columns are scaled by powers of two and the target is one more
/// column of the factor: with `z = L⁻¹x` the squared distance is `n‖z‖²` and the
/// residual `y − zᵀ(L⁻¹Xᵀy)`, so one triangular solve gives both.
#[derive(Debug, Clone)]
pub struct LinearFit {
    n_rows: usize,
    n_features: usize,
    intercept: Intercept,
    kept: Vec<usize>,
    dropped: Vec<usize>,
    weakest: Option<(usize, f64)>,
    /// Per kept feature: mean as a sum of two doubles, and the scale.
    centre: Vec<(f64, f64)>,
    scale: Vec<f64>,
    target_centre: (f64, f64),
    lower: Mat<f64>,
    /// `L⁻¹Xᵀy`.
    target_row: Vec<f64>,
    coef: Vec<f64>,
    /// Sums of squares of the target: what is left of it, and all of it.
    rss: f64,
    total: f64,
    /// How much larger rounding errors of the target are because rows were forgotten.
    target_inflation: f64,
    form: MomentsForm,
    sample: Sample,
}

/// How much information the reference rows carry. Weights are scaled to sum to their
/// number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// Rows.
    pub(crate) n: f64,
    /// Coefficients estimated, the intercept included.
    pub(crate) used: f64,
    /// What a weight as given is multiplied by.
    pub(crate) weight_scale: f64,
    /// `(Σw)² / Σw²`.
    pub(crate) effective: f64,
    pub(crate) is_weighted: bool,
}

impl Sample {
    fn of(moments: &Moments, used: usize) -> Self {
        let n = moments.n_rows() as f64;
        let effective = moments.effective_rows();
        let is_weighted = !(moments.weight() == n && effective == n);
        Self { n, used: used as f64, weight_scale: n / moments.weight(), effective, is_weighted }
    }

    /// What the residual sum of squares is divided by. With weights that are independent
    /// of the features its expectation is `σ²` times this.
    fn degrees(&self) -> f64 {
        (self.effective - self.used) * (self.n / self.effective)
    }
}

impl LinearFit {
    /// Fits the reference whose moments are given.
    ///
    /// # Errors
    ///
    /// [`Error::NoFeatures`], [`Error::TooFewRows`], [`Error::ConstantTarget`],
    /// [`Error::NoNoise`], [`Error::TooSmall`], [`Error::TooLarge`] when an uncentred square
    /// overflows, and [`Error::Dependent`] if that is not allowed.
    pub fn new(moments: &Moments, options: FitOptions) -> Result<Self, Error> {
        let p_all = moments.n_features();
        let n = moments.n_rows();
        let view = View::new(moments, options.intercept);
        if !view.is_finite() {
            return Err(Error::TooLarge);
        }
        // One feature is the least a fit can have.
        let fewest = 3 + usize::from(options.intercept);
        if n < fewest {
            return Err(Error::TooFewRows { n_rows: n, dim: p_all, needed: p_all + fewest - 1 });
        }
        if let Some(column) = (0..=p_all).find(|&column| view.is_too_small(column)) {
            return Err(Error::TooSmall { column });
        }
        let total = view.product(p_all, p_all);
        if options.intercept && !view.varies(p_all) {
            return Err(Error::ConstantTarget { value: moments.mean(p_all) });
        }
        if total == 0.0 {
            return Err(Error::ConstantTarget { value: 0.0 });
        }
        let scales = view.scales();
        let Reduced { factor, target_row, rss, rss_noise } = view.reduced(&scales);
        let p = factor.kept.len();
        if p == 0 {
            return Err(Error::NoFeatures { n_features: p_all });
        }
        // Leave-one-out needs a degree of freedom more than the fit itself.
        let used = p + usize::from(options.intercept);
        if n < used + 2 {
            // With fewer rows than columns, elimination finds columns dependent that
            // would be independent with more rows.
            let dim = if factor.dropped.is_empty() {
                p
            } else {
                scales.iter().filter(|&&scale| scale > 0.0).count()
            };
            return Err(Error::TooFewRows {
                n_rows: n,
                dim,
                needed: dim + 2 + usize::from(options.intercept),
            });
        }
        let sample = Sample::of(moments, used);
        if sample.effective < used as f64 + 2.0 {
            return Err(Error::TooFewEffectiveRows { effective: sample.effective, dim: p, needed: used + 2 });
        }
        if !options.allow_dependent && !factor.dropped.is_empty() {
            return Err(Error::Dependent { columns: factor.dropped });
        }

        if rss <= rss_noise {
            return Err(Error::NoNoise);
        }

        let mut coef = Mat::from_fn(p, 1, |k, _| target_row[k]);
        solve_upper_triangular_in_place(factor.lower.transpose(), coef.as_mut(), Par::Seq);
        let centre = |column: usize| if options.intercept { moments.mean_parts(column) } else { (0.0, 0.0) };
        Ok(Self {
            n_rows: n,
            n_features: p_all,
            intercept: match (options.intercept, options.refit_intercept) {
                (false, _) => Intercept::None,
                (true, false) => Intercept::Known,
                (true, true) => Intercept::Refitted,
            },
            centre: factor.kept.iter().map(|&j| centre(j)).collect(),
            scale: factor.kept.iter().map(|&j| scales[j]).collect(),
            target_centre: centre(p_all),
            coef: factor.kept.iter().enumerate().map(|(k, &j)| coef[(k, 0)] * scales[j]).collect(),
            target_row,
            lower: factor.lower,
            kept: factor.kept,
            dropped: factor.dropped,
            weakest: factor.weakest,
            // What reflections leave may be longer by a rounding error.
            rss: rss.min(total),
            total,
            target_inflation: moments.inflation(p_all),
            form: moments.form(),
            sample,
        })
    }

    /// Fits rows in memory. If sums of products turn out to lose too many digits, a
    /// second pass avoids them.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new) and [`Moments::of`].
    pub fn of(rows: Rows<'_>, options: FitOptions) -> Result<Self, Error> {
        let moments = |form: Option<MomentsForm>| {
            let mut builder = MomentsBuilder::new(rows.n_features());
            if !options.intercept {
                builder = builder.without_intercept();
            }
            if let Some(form) = form {
                builder = builder.with_form(form);
            }
            builder.push(rows)?;
            builder.finish()
        };
        let fit = Self::new(&moments(None)?, options)?;
        if fit.wants_triangle() {
            return Self::new(&moments(Some(MomentsForm::Triangle))?, options);
        }
        Ok(fit)
    }

    /// Whether the moments were held as products and would have kept
    /// noticeably more digits as a triangle, which the first rows did not show.
    pub fn wants_triangle(&self) -> bool {
        let weakest = self.weakest.is_some_and(|(_, share)| is_hard_share(share));
        self.form == MomentsForm::Products && (weakest || is_hard_share(self.rss / self.total))
    }

    /// How the second moments were held.
    pub fn form(&self) -> MomentsForm {
        self.form
    }

    /// Reference rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Features a row must have, dropped ones included.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// `p`: columns of the design, dropped ones not counted.
    pub fn dim(&self) -> usize {
        self.kept.len()
    }

    /// `p` of the closed forms: the columns that a model fits on each set.
    pub fn model_dim(&self) -> usize {
        self.dim() + usize::from(self.intercept == Intercept::Refitted)
    }

    /// The squared distance in the closed forms that treat a column of ones like others, for one
    /// from the mean.
    pub(crate) fn model_dist_sq(&self, dist_sq: f64) -> f64 {
        if self.intercept == Intercept::Refitted { dist_sq + 1.0 } else { dist_sq }
    }

    /// Whether features and target are centred by the reference means.
    pub fn intercept(&self) -> bool {
        self.intercept != Intercept::None
    }

    /// How the models get their intercept.
    pub fn intercept_kind(&self) -> Intercept {
        self.intercept
    }

    /// Features in the design, ascending.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Features left out because they are constant or depend on earlier ones.
    pub fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    /// Coefficients of the kept features.
    pub fn coef(&self) -> &[f64] {
        &self.coef
    }

    /// `σ²`: residual sum of squares over [`degrees_of_freedom`](Self::degrees_of_freedom).
    pub fn noise_var(&self) -> f64 {
        self.rss / self.sample.degrees()
    }

    /// Residual sum of squares on the reference; weights sum to its rows.
    pub fn rss(&self) -> f64 {
        self.rss
    }

    /// `n − p − 1` when centred, else `n − p`. With weights, `n/nₑ` times
    /// that of the [effective](Self::effective_rows) sample.
    pub fn degrees_of_freedom(&self) -> f64 {
        self.sample.degrees()
    }

    /// `nₑ = (Σw)² / Σw²`: the number of equally weighted rows that carry as much
    /// information.
    pub fn effective_rows(&self) -> f64 {
        self.sample.effective
    }

    /// Whether reference rows have weights that differ.
    pub fn is_weighted(&self) -> bool {
        self.sample.is_weighted
    }

    /// The variance of the target; without an intercept, about 0.
    pub fn target_var(&self) -> f64 {
        self.total / self.n_rows as f64
    }

    /// Share of the target's variation that the features explain.
    pub fn r_squared(&self) -> f64 {
        1.0 - self.rss / self.total
    }

    /// The intercept, if there is one: the fitted target where all features are 0.
    pub fn intercept_value(&self) -> Option<f64> {
        let reach = |(&(shift, offset), coef): (&(f64, f64), &f64)| coef * (shift + offset);
        let (shift, offset) = self.target_centre;
        self.intercept().then(|| shift + offset - self.centre.iter().zip(&self.coef).map(reach).sum::<f64>())
    }

    /// The smallest and the largest eigenvalue of `Σ⁻¹`, for features as given.
    pub fn precision_range(&self) -> (f64, f64) {
        let n = self.n_rows as f64;
        // Σ = F Fᵀ/n with F = D⁻¹L; its singular values lose fewer digits than
        // the eigenvalues of Σ would.
        let factor = Mat::from_fn(self.dim(), self.dim(), |i, j| self.lower[(i, j)] / self.scale[i]);
        match factor.singular_values() {
            Ok(values) => {
                let largest = values.iter().copied().fold(0.0, f64::max);
                let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
                (n / (largest * largest), n / (smallest * smallest))
            }
            // Does not happen with finite numbers. Zero and infinity are valid bounds.
            Err(_) => (0.0, f64::INFINITY),
        }
    }

    /// How much errors are magnified by solving with the scaled design: an
    /// estimate of its condition number in the 1-norm, `O(p²)`.
    pub fn condition(&self) -> f64 {
        condition(&self.lower)
    }

    pub(crate) fn sample(&self) -> Sample {
        self.sample
    }

    /// What is doubtful about the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !self.dropped.is_empty() {
            warnings.push(Warning::DroppedColumns { columns: self.dropped.clone() });
        }
        let (design, noise) = (self.design_digits(), self.noise_digits());
        let digits = design.min(noise) as u32;
        // The cause is little noise, unless coefficients are far larger than the target:
        // then the target depends on small differences between features.
        let is_quiet = noise < design && self.reach() < 10.0 * self.total.sqrt();
        match self.weakest {
            _ if design.min(noise) >= DIGITS_TO_WARN => {}
            Some((column, _)) if !is_quiet => warnings.push(Warning::IllConditioned { column, digits }),
            _ => warnings.push(Warning::LittleNoise { digits }),
        }
        warnings
    }

    /// Decimal digits of a value that rounding leaves, judged by the design and the
    /// noise.
    pub fn digits(&self) -> u32 {
        self.design_digits().min(self.noise_digits()) as u32
    }

    /// The size of the coefficients, for features of length 1: large where the target
    /// depends on small differences between features.
    fn reach(&self) -> f64 {
        self.coef.iter().zip(&self.scale).map(|(coef, scale)| (coef / scale).abs()).sum()
    }

    /// Digits that solving with the design leaves.
    fn design_digits(&self) -> f64 {
        let (_, share) = self.weakest.unwrap_or((0, 1.0));
        match self.form {
            MomentsForm::Products => digits_left(share, 2.0),
            // The square root of a share is about one column, the condition number about
            // all.
            MomentsForm::Triangle => {
                digits_left(self.condition().recip().min(share.sqrt()), 1.0).min(DIGITS_OF_TRIANGLE)
            }
        }
    }

    /// Digits that are left of what the features do not explain.
    fn noise_digits(&self) -> f64 {
        let reach = self.reach();
        let rss = self.rss / self.target_inflation;
        match self.form {
            MomentsForm::Products => digits_left(rss / (self.total + reach * reach), 2.0),
            MomentsForm::Triangle => digits_left(rss.sqrt() / (self.total.sqrt() + reach), 1.0),
        }
    }

    /// All numbers of the fit, from which [`from_parts`](Self::from_parts) makes
    /// the same fit again.
    pub fn to_parts(&self) -> FitParts {
        let (shift, offset) = self.centre.iter().copied().unzip();
        FitParts {
            n_rows: self.n_rows,
            n_features: self.n_features,
            intercept: self.intercept(),
            refit_intercept: self.intercept == Intercept::Refitted,
            kept: self.kept.clone(),
            dropped: self.dropped.clone(),
            weakest: self.weakest,
            shift,
            offset,
            scale: self.scale.clone(),
            target_centre: self.target_centre,
            lower: pack_lower(&self.lower),
            target_row: self.target_row.clone(),
            coef: self.coef.clone(),
            rss: self.rss,
            total: self.total,
            target_inflation: self.target_inflation,
            form: self.form,
            weight_scale: self.sample.weight_scale,
            effective_rows: self.sample.effective,
        }
    }

    /// A fit from its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be the numbers of a fit.
    pub fn from_parts(parts: FitParts) -> Result<Self, Error> {
        parts.check()?;
        let p = parts.kept.len();
        let n = parts.n_rows as f64;
        let contradiction = Error::Contradiction { what: "the factor does not match the columns in size" };
        let sample = Sample {
            n,
            used: (p + usize::from(parts.intercept)) as f64,
            weight_scale: parts.weight_scale,
            effective: parts.effective_rows,
            is_weighted: !(parts.weight_scale == 1.0 && parts.effective_rows == n),
        };
        Ok(Self {
            n_rows: parts.n_rows,
            n_features: parts.n_features,
            intercept: match (parts.intercept, parts.refit_intercept) {
                (false, _) => Intercept::None,
                (true, false) => Intercept::Known,
                (true, true) => Intercept::Refitted,
            },
            lower: unpack_lower(&parts.lower, p).ok_or(contradiction)?,
            kept: parts.kept,
            dropped: parts.dropped,
            weakest: parts.weakest,
            centre: parts.shift.into_iter().zip(parts.offset).collect(),
            scale: parts.scale,
            target_centre: parts.target_centre,
            target_row: parts.target_row,
            coef: parts.coef,
            rss: parts.rss,
            total: parts.total,
            target_inflation: parts.target_inflation,
            form: parts.form,
            sample,
        })
    }

    /// Sums of products of a set of rows about the centre of this fit, in scaled columns: of
    /// kept features with each other, and with the target.
    pub(crate) fn about_centre(&self, set: &Moments) -> (Mat<f64>, Vec<f64>) {
        let weight = set.weight();
        let (shifts, target) = self.means_beyond(set);
        let p = self.dim();
        let products = Mat::from_fn(p, p, |i, j| {
            let about_own = set.centred(self.kept[i], self.kept[j]);
            (about_own + weight * shifts[i] * shifts[j]) * self.scale[i] * self.scale[j]
        });
        let with_target = (0..p)
            .map(|i| {
                (set.centred(self.n_features, self.kept[i]) + weight * shifts[i] * target) * self.scale[i]
            })
            .collect();
        (products, with_target)
    }

    /// The mean of a set of rows about the centre of this fit: kept features as given, and the
    /// target.
    fn means_beyond(&self, set: &Moments) -> (Vec<f64>, f64) {
        let shift = |column: usize, (mean, rest): (f64, f64)| {
            let (own, own_rest) = set.mean_parts(column);
            (own - mean) + (own_rest - rest)
        };
        let shifts = self.kept.iter().zip(&self.centre).map(|(&column, &centre)| shift(column, centre));
        (shifts.collect(), shift(self.n_features, self.target_centre))
    }

    /// The same in scaled columns.
    pub(crate) fn shifts_of(&self, set: &Moments) -> (Vec<f64>, f64) {
        let (shifts, target) = self.means_beyond(set);
        (shifts.into_iter().zip(&self.scale).map(|(shift, scale)| shift * scale).collect(), target)
    }

    /// Sums of products of the columns of `other` with those of this fit, both scaled, over the
    /// rows of this fit, whose moments are given.
    pub(crate) fn products_with(&self, moments: &Moments, other: &LinearFit) -> Mat<f64> {
        let view = View::new(moments, self.intercept());
        Mat::from_fn(other.dim(), self.dim(), |i, k| {
            view.product(other.kept[i], self.kept[k]) * other.scale[i] * self.scale[k]
        })
    }

    /// Of the first row, whose panel is solved: for each kept feature its deviation `d` from
    /// the centre, and `S⁻¹d`.
    pub(super) fn pulled(&self, row: Rows<'_>, work: &PanelWork) -> Vec<(f64, f64)> {
        let mut pull = Mat::from_fn(self.dim(), 1, |k, _| work.panel[(0, k)]);
        solve_upper_triangular_in_place(self.lower.transpose(), pull.as_mut(), Par::Seq);
        let of_feature = |(k, &column): (usize, &usize)| {
            let mut deviation = [0.0];
            row.copy_centred(column, 0, self.centre[k].0, self.centre[k].1, &mut deviation);
            (deviation[0], pull[(k, 0)] * self.scale[k])
        };
        self.kept.iter().enumerate().map(of_feature).collect()
    }

    /// `L`, `L⁻¹Xᵀy` and the number of rows.
    pub(crate) fn factor(&self) -> (MatRef<'_, f64>, &[f64], f64) {
        (self.lower.as_ref(), &self.target_row, self.sample.n)
    }

    /// `‖z‖²` and the signed residual of `len ≤ PANEL_ROWS` rows from `start`
    /// on, left in `work`.
    pub(crate) fn solve_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        len: usize,
        work: &mut PanelWork,
    ) -> Result<(), Error> {
        let PanelWork { panel, norm_sq, residual } = work;
        for (k, &column) in self.kept.iter().enumerate() {
            let cells = panel.col_as_slice_mut(k);
            rows.copy_centred(column, start, self.centre[k].0, self.centre[k].1, &mut cells[..len]);
            let scale = self.scale[k];
            cells[..len].iter_mut().for_each(|cell| *cell *= scale);
            cells[len..].fill(0.0);
        }
        rows.copy_centred(
            self.n_features,
            start,
            self.target_centre.0,
            self.target_centre.1,
            &mut residual[..len],
        );
        solve_lower_triangular_in_place(self.lower.as_ref(), panel.as_mut().transpose_mut(), Par::Seq);
        pulp::Arch::new().dispatch(|| {
            norm_sq.fill(0.0);
            for (k, &l) in self.target_row.iter().enumerate() {
                let z = panel.col_as_slice(k);
                for ((norm_sq, residual), &z) in norm_sq.iter_mut().zip(residual.iter_mut()).zip(z) {
                    *norm_sq += z * z;
                    *residual -= z * l;
                }
            }
        });
        let finite = |cell: &f64| cell.is_finite();
        if !norm_sq[..len].iter().all(finite) || !residual[..len].iter().all(|e| (e * e).is_finite()) {
            return Err(rows.explain_not_finite(start, len));
        }
        Ok(())
    }

    /// The signed residuals by this fit of rows that [`solve_panel`](Self::solve_panel) of a fit
    /// with the same features has left in `work`; their target is in `column`.
    pub(super) fn residuals_of(
        &self,
        (rows, column): (Rows<'_>, usize),
        start: usize,
        out: &mut [f64],
        work: &PanelWork,
    ) {
        rows.copy_centred(column, start, self.target_centre.0, self.target_centre.1, out);
        for (k, &l) in self.target_row.iter().enumerate() {
            for (residual, &z) in out.iter_mut().zip(work.panel.col_as_slice(k)) {
                *residual -= z * l;
            }
        }
    }
}

/// Buffers of one thread.
#[derive(Debug)]
pub(crate) struct PanelWork {
    /// `L⁻¹x` per row, afterwards.
    pub(crate) panel: Mat<f64>,
    /// `‖L⁻¹x‖²` per row.
    pub(crate) norm_sq: [f64; PANEL_ROWS],
    /// `y − xᵀβ` per row.
    pub(crate) residual: [f64; PANEL_ROWS],
}

impl PanelWork {
    pub(crate) fn new(fit: &LinearFit) -> Self {
        Self::of_rows(fit, PANEL_ROWS)
    }

    /// A cell of the whitened rows.
    pub(crate) fn cell(&self, row: usize, column: usize) -> f64 {
        self.panel[(row, column)]
    }

    /// A shorter panel, which may not give the bits of a full one.
    pub(crate) fn of_rows(fit: &LinearFit, n_rows: usize) -> Self {
        Self { panel: Mat::zeros(n_rows, fit.dim()), norm_sq: [0.0; PANEL_ROWS], residual: [0.0; PANEL_ROWS] }
    }
}

/// Decimal digits that survive when only `share` is left after subtraction. Some are
/// taken off for the rounding of the sum itself and for its effect on a value (measured,
/// `docs/accuracy.md`).
fn digits_left(share: f64, taken_off: f64) -> f64 {
    (-(f64::EPSILON / share).log10() - taken_off).max(0.0)
}
