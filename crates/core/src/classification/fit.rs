//! A logistic fit to the reference, and what it says about a row.

use super::design::{Design, DesignPanel};
use super::irls::{Irls, LogisticOptions, Step};
use super::logit::Logit;
use super::parts::LogisticParts;
use crate::factor::Factor;
use crate::linear::fit::PANEL_ROWS;
use crate::packed::{pack_lower, unpack_lower};
use crate::{Error, Rows, Warning};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par, Side};
use std::sync::Arc;

/// Fewer digits than this deserve a warning.
const DIGITS_TO_WARN: u32 = 5;

/// A logistic regression fitted to the reference: `β`, and the geometry of the
/// weighted products `H = Σ W xxᵀ` there.
#[derive(Debug, Clone)]
pub struct LogisticFit {
    design: Arc<Design>,
    dropped: Vec<usize>,
    /// The feature with the smallest share of its own variation in the weighted products,
    /// and that share.
    weakest: Option<(usize, f64)>,
    n_rows: usize,
    n_positive: usize,
    /// Coefficients of the design's columns.
    beta: Vec<f64>,
    coef: Vec<f64>,
    /// `L` with `LLᵀ = H`.
    lower: Mat<f64>,
    /// The same of `H` with the ridge added, if there is one.
    penalised: Option<Mat<f64>>,
    ridge: f64,
    loss: f64,
    n_passes: usize,
    /// What a weight as given is multiplied by; `(Σw)²/Σw²`.
    weight_scale: f64,
    effective_rows: f64,
    /// `(ΣW)²/(n ΣW²)`, unless the fit comes from a file that lacks it.
    weight_share: Option<f64>,
}

/// Where Newton's method ended.
#[derive(Debug)]
pub(super) struct Solution {
    pub(super) beta: Vec<f64>,
    pub(super) loss: f64,
    /// Lower triangle, and its factor.
    pub(super) hessian: Mat<f64>,
    pub(super) factor: WeightedFactor,
    /// `Σ W` and `Σ W²`.
    pub(super) weights: [f64; 2],
}

/// `L` with `LLᵀ = H` for the columns that the weights leave independent.
#[derive(Debug)]
pub(super) struct WeightedFactor {
    lower: Mat<f64>,
    /// Columns of `H` that depend on earlier ones up to rounding, ascending.
    pub(super) dropped: Vec<usize>,
    weakest: Option<(usize, f64)>,
}

impl WeightedFactor {
    pub(super) fn new(hessian: &Mat<f64>) -> Self {
        let dim = hessian.ncols();
        let has_weight = |k: usize| hessian[(k, k)] >= f64::MIN_POSITIVE;
        // Powers of two round nothing.
        let scale: Vec<f64> = (0..dim)
            .map(|k| if has_weight(k) { hessian[(k, k)].sqrt().recip().log2().round().exp2() } else { 0.0 })
            .collect();
        let factor =
            Factor::of_products(dim, has_weight, |_| 1.0, |i, j| hessian[(i, j)] * scale[i] * scale[j]);
        let kept = &factor.kept;
        Self {
            lower: Mat::from_fn(kept.len(), kept.len(), |i, j| factor.lower[(i, j)] / scale[kept[i]]),
            dropped: factor.dropped,
            weakest: factor.weakest,
        }
    }
}

impl LogisticFit {
    /// Fits `rows` that are in memory; their targets are labels, 0 or 1.
    ///
    /// One pass for the columns, then one for each step of Newton's method, on
    /// all threads of the current pool: `O(n p²)` time each, `O(p² log n)` memory.
    ///
    /// # Errors
    ///
    /// As for [`Irls::finish_pass`] and [`PassBuilder::push`](super::PassBuilder::push).
    pub fn of(rows: Rows<'_>, options: LogisticOptions) -> Result<Self, Error> {
        let mut irls = Irls::new(rows.n_features(), options)?;
        loop {
            let mut pass = irls.begin_pass();
            pass.push(rows)?;
            if let Step::Converged(fit) = irls.finish_pass(pass)? {
                return Ok(*fit);
            }
        }
    }

    /// `None` if the products are singular even with the ridge.
    pub(super) fn new(
        design: Arc<Design>,
        dropped: Vec<usize>,
        solution: Solution,
        penalised: Option<Mat<f64>>,
        ridge: f64,
        (n_rows, n_positive): (usize, usize),
        (weight_scale, effective_rows): (f64, f64),
        n_passes: usize,
    ) -> Option<Self> {
        let Solution { beta, loss, factor, weights: [weight, squares], .. } = solution;
        // The intercept is first and depends on nothing.
        let weakest =
            factor.weakest.and_then(|(k, share)| Some((design.kept[k.checked_sub(design.first())?], share)));
        let lower = factor.lower;
        let penalised = match penalised {
            Some(penalised) => Some(penalised.llt(Side::Lower).ok()?.L().to_owned()),
            None => None,
        };
        let coef = design.coef(&beta);
        Some(Self {
            design,
            dropped,
            weakest,
            n_rows,
            n_positive,
            beta,
            coef,
            lower,
            penalised,
            ridge,
            loss,
            n_passes,
            weight_scale,
            effective_rows,
            weight_share: Some(weight * weight / (n_rows as f64 * squares)).filter(|share| share.is_finite()),
        })
    }

    /// Reference rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Reference rows of label 1.
    pub fn n_positive(&self) -> usize {
        self.n_positive
    }

    /// Features a row must have, including dropped ones.
    pub fn n_features(&self) -> usize {
        self.design.n_features
    }

    /// `p`: columns of the design, with the intercept and without dropped ones.
    pub fn dim(&self) -> usize {
        self.design.dim()
    }

    /// Whether there is an intercept.
    pub fn intercept(&self) -> bool {
        self.design.intercept
    }

    /// Features in the design, ascending.
    pub fn kept(&self) -> &[usize] {
        &self.design.kept
    }

    /// Features left out because they are constant or depend on earlier ones.
    pub fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    /// Coefficients of the kept features.
    pub fn coef(&self) -> &[f64] {
        &self.coef
    }

    /// The intercept, if there is one: the log-odds where all features are 0.
    pub fn intercept_value(&self) -> Option<f64> {
        self.design.intercept_value(&self.beta)
    }

    /// `γ`.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Whether the ridge is for standardised features.
    pub fn is_standardised(&self) -> bool {
        self.design.variance.is_some()
    }

    /// `−2 ·` the log-likelihood of the reference, without the ridge. Weights
    /// sum to the number of rows.
    pub fn deviance(&self) -> f64 {
        2.0 * self.loss
    }

    /// Passes over the reference that the fit took.
    pub fn n_passes(&self) -> usize {
        self.n_passes
    }

    /// `(Σw)² / Σw²`: the number of equally weighted rows that carry as much information.
    pub fn effective_rows(&self) -> f64 {
        self.effective_rows
    }

    /// `(ΣW)²/(n ΣW²)`: the share of the reference that rows of equal weight `W` with as much
    /// information would be. It is small when the fit is certain of most labels. `None` in
    /// a fit from an older file.
    pub fn weight_share(&self) -> Option<f64> {
        self.weight_share
    }

    /// Whether reference rows have weights that differ.
    pub fn is_weighted(&self) -> bool {
        !(self.weight_scale == 1.0 && self.effective_rows == self.n_rows as f64)
    }

    /// What is doubtful about the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !self.dropped.is_empty() {
            warnings.push(Warning::DroppedColumns { columns: self.dropped.clone() });
        }
        if let Some((column, share)) = self.weakest {
            // Two digits less, for rounding of the sums and its effects.
            let digits = (-(f64::EPSILON / share).log10() - 2.0).max(0.0) as u32;
            if digits < DIGITS_TO_WARN {
                warnings.push(Warning::IllConditioned { column, digits });
            }
        }
        warnings
    }

    pub(crate) fn design(&self) -> &Design {
        &self.design
    }

    pub(crate) fn shared_design(&self) -> Arc<Design> {
        Arc::clone(&self.design)
    }

    /// Coefficients of the design's columns.
    pub(crate) fn beta(&self) -> &[f64] {
        &self.beta
    }

    pub(crate) fn weight_scale(&self) -> f64 {
        self.weight_scale
    }

    /// `L` of the products, and of those with the ridge.
    pub(crate) fn factors(&self) -> (&Mat<f64>, Option<&Mat<f64>>) {
        (&self.lower, self.penalised.as_ref())
    }

    /// `L⁻ᵀz`.
    pub(super) fn solved_back(&self, z: &[f64]) -> Vec<f64> {
        let mut out = Mat::from_fn(z.len(), 1, |k, _| z[k]);
        solve_upper_triangular_in_place(self.lower.transpose(), out.as_mut(), Par::Seq);
        (0..z.len()).map(|k| out[(k, 0)]).collect()
    }

    /// Mean of a column of the design over the reference, weighted as the fit weights rows;
    /// 0 without an intercept. The first row of `LLᵀ` holds the products with the intercept.
    pub(super) fn weighted_mean(&self, column: usize) -> f64 {
        if self.intercept() { self.lower[(column, 0)] / self.lower[(0, 0)] } else { 0.0 }
    }

    pub(crate) fn check_width(&self, rows: Rows<'_>) -> Result<(), Error> {
        if rows.n_features() != self.n_features() {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features() });
        }
        Ok(())
    }

    /// Leaves predictions and `xᵀH⁻¹x` of `len ≤ PANEL_ROWS` rows in `work`;
    /// with `left_out` also the same of `H` with the ridge.
    pub(crate) fn solve_panel(
        &self,
        rows: Rows<'_>,
        start: usize,
        len: usize,
        left_out: bool,
        work: &mut PanelWork,
    ) -> Result<(), Error> {
        let PanelWork { panel, eta, spread, damped, .. } = work;
        self.design.fill(rows, start, len, panel);
        panel.times(&self.beta, eta);
        if let Some(penalised) = self.penalised.as_ref().filter(|_| left_out) {
            let solved = work.second.get_or_insert_with(|| self.design.panel());
            solved.x.copy_from(&panel.x);
            solve(penalised, solved, damped);
        }
        solve(&self.lower, panel, spread);
        if self.penalised.is_none() {
            *damped = *spread;
        }
        for (i, row) in work.row.iter_mut().take(len).enumerate() {
            *row = Logit::new(eta[i], rows.y()[start + i]);
        }
        let n = self.n_rows as f64;
        let finite = |cells: &[f64]| cells.iter().all(|cell| (n * cell).is_finite());
        if !finite(&eta[..len]) || !finite(&spread[..len]) {
            return Err(rows.explain_not_finite(start, len));
        }
        Ok(())
    }

    /// All numbers of the fit, from which [`from_parts`](Self::from_parts) makes
    /// the same fit again.
    pub fn to_parts(&self) -> LogisticParts {
        let (shift, offset) = self.design.centre.iter().copied().unzip();
        LogisticParts {
            n_rows: self.n_rows,
            n_positive: self.n_positive,
            n_features: self.design.n_features,
            intercept: self.design.intercept,
            kept: self.design.kept.clone(),
            dropped: self.dropped.clone(),
            weakest: self.weakest,
            shift,
            offset,
            scale: self.design.scale.clone(),
            variance: self.design.variance.clone(),
            beta: self.beta.clone(),
            lower: pack_lower(&self.lower),
            penalised: self.penalised.as_ref().map(pack_lower),
            ridge: self.ridge,
            loss: self.loss,
            n_passes: self.n_passes,
            weight_scale: self.weight_scale,
            effective_rows: self.effective_rows,
            weight_share: self.weight_share,
        }
    }

    /// A fit from its numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Contradiction`] when they cannot be the numbers of a fit.
    pub fn from_parts(parts: LogisticParts) -> Result<Self, Error> {
        parts.check()?;
        let dim = parts.beta.len();
        let contradiction = || Error::Contradiction { what: "the factor does not match the columns in size" };
        let lower = unpack_lower(&parts.lower, dim).ok_or_else(contradiction)?;
        let penalised = match &parts.penalised {
            Some(packed) => Some(unpack_lower(packed, dim).ok_or_else(contradiction)?),
            None => None,
        };
        let design = Design {
            n_features: parts.n_features,
            intercept: parts.intercept,
            kept: parts.kept,
            centre: parts.shift.into_iter().zip(parts.offset).collect(),
            scale: parts.scale,
            variance: parts.variance,
        };
        Ok(Self {
            coef: design.coef(&parts.beta),
            design: Arc::new(design),
            dropped: parts.dropped,
            weakest: parts.weakest,
            n_rows: parts.n_rows,
            n_positive: parts.n_positive,
            beta: parts.beta,
            lower,
            penalised,
            ridge: parts.ridge,
            loss: parts.loss,
            n_passes: parts.n_passes,
            weight_scale: parts.weight_scale,
            effective_rows: parts.effective_rows,
            weight_share: parts.weight_share,
        })
    }
}

/// `L⁻¹x` for each row, in place, and their squared lengths.
fn solve(lower: &Mat<f64>, panel: &mut DesignPanel, norm_sq: &mut [f64; PANEL_ROWS]) {
    solve_lower_triangular_in_place(lower.as_ref(), panel.x.as_mut().transpose_mut(), Par::Seq);
    norm_sq.fill(0.0);
    for k in 0..panel.x.ncols() {
        for (norm_sq, z) in norm_sq.iter_mut().zip(panel.x.col_as_slice(k)) {
            *norm_sq += z * z;
        }
    }
}

/// Buffers of one thread, and the results for a panel of rows.
#[derive(Debug)]
pub(crate) struct PanelWork {
    /// `L⁻¹x` afterwards.
    pub(crate) panel: DesignPanel,
    second: Option<DesignPanel>,
    eta: [f64; PANEL_ROWS],
    /// `xᵀH⁻¹x` per row.
    pub(crate) spread: [f64; PANEL_ROWS],
    /// The same of `H` with the ridge; only if rows are left out.
    pub(crate) damped: [f64; PANEL_ROWS],
    pub(crate) row: [Logit; PANEL_ROWS],
}

impl PanelWork {
    pub(crate) fn new(fit: &LogisticFit) -> Self {
        Self {
            panel: fit.design.panel(),
            second: None,
            eta: [0.0; PANEL_ROWS],
            spread: [0.0; PANEL_ROWS],
            damped: [0.0; PANEL_ROWS],
            row: [Logit::new(0.0, 0.0); PANEL_ROWS],
        }
    }

    /// The linear predictor of each row.
    pub(crate) fn eta(&self) -> &[f64; PANEL_ROWS] {
        &self.eta
    }
}
