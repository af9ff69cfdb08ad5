//! Test rows in the coordinates of a fit, and what they say about each row.

use super::TargetStats;
use crate::linear::LinearFit;
use crate::linear::fit::PANEL_ROWS;
use crate::{Error, Moments};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatRef, Par};

/// The moments of test rows, with or without their targets.
#[derive(Debug, Clone, PartialEq)]
pub struct TestMoments {
    /// Of the features and, last, the targets; for labels, of the working variables.
    pub moments: Moments,
    /// Whether the rows have targets. Those of a population without them are not used.
    pub has_targets: bool,
}

/// Test rows in coordinates `z = L⁻¹x`, in which the products of the reference rows are the
/// identity.
#[derive(Debug, Clone)]
pub struct TargetGeometry {
    /// The lower triangle of `M = mean z_t z_tᵀ`, twice, with its diagonal once:
    /// `zᵀMz` takes half of a product.
    half: Mat<f64>,
    pub(super) trace: f64,
    pub(super) mean: Vec<f64>,
    /// `mean z_t e_t`, and `mean e_t`.
    pub(super) score: Vec<f64>,
    pub(super) mean_resid: f64,
    pub(super) has_targets: bool,
    /// The same times the matrix that a ridge of the fit brings in, if rows are left out of
    /// a fit with a ridge.
    damped: Option<Mat<f64>>,
}

/// How a row is left out: its weight among weights that sum to `n`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeftOut {
    pub(crate) weight: f64,
    /// What its own products count in those of the reference: the same, times the weight of
    /// working variables.
    pub(crate) in_products: f64,
    /// Whether rows are centred by the reference, so that the centre moves.
    pub(crate) is_centred: bool,
    /// The row's residual without the row.
    pub(crate) residual: f64,
    /// `1 −` its leverage in the products, `1 − c·w·zᵀz`.
    pub(crate) room: f64,
}

/// What test rows say about the rows of a panel: `zᵀMz`, `zᵀ mean z_t` and `zᵀ mean z_t e_t`.
#[derive(Debug)]
pub(crate) struct PanelLook {
    product: Mat<f64>,
    quad: [f64; PANEL_ROWS],
    damped: [f64; PANEL_ROWS],
    mean: [f64; PANEL_ROWS],
    score: [f64; PANEL_ROWS],
}

impl TargetGeometry {
    /// Test rows seen from a regression.
    ///
    /// # Errors
    ///
    /// [`Error::FeatureCount`], [`Error::TooLarge`].
    pub fn of(fit: &LinearFit, tests: &TestMoments) -> Result<Self, Error> {
        let TestMoments { moments, has_targets } = tests;
        if moments.n_features() != fit.n_features() {
            return Err(Error::FeatureCount { expected: fit.n_features(), found: moments.n_features() });
        }
        let (lower, target_row, _) = fit.factor();
        let (products, with_target) = fit.about_centre(moments);
        let (shifts, target_shift) = fit.shifts_of(moments);
        let mut geometry = Self::whitened(lower, products, with_target, moments.weight())?;
        geometry.mean = solved(lower, &shifts);
        let dot = |other: &[f64]| other.iter().zip(target_row).map(|(a, b)| a * b).sum::<f64>();
        geometry.mean_resid = target_shift - dot(&geometry.mean);
        let fitted = geometry.times(target_row);
        geometry.score.iter_mut().zip(fitted).for_each(|(score, fitted)| *score -= fitted);
        geometry.checked(*has_targets)
    }

    /// Test rows seen from the working variables of a logistic fit: `lower` is the factor of
    /// its weighted products, and the targets of `tests` are residuals.
    ///
    /// # Errors
    ///
    /// As for [`of`](Self::of).
    pub(crate) fn of_working(
        lower: MatRef<'_, f64>,
        penalised: Option<MatRef<'_, f64>>,
        tests: &TestMoments,
    ) -> Result<Self, Error> {
        let TestMoments { moments, has_targets } = tests;
        let p = lower.nrows();
        if moments.n_features() != p {
            return Err(Error::FeatureCount { expected: p, found: moments.n_features() });
        }
        let products = Mat::from_fn(p, p, |i, j| moments.raw(i, j));
        let with_target = (0..p).map(|i| moments.raw(i, p)).collect();
        let mut geometry = Self::whitened(lower, products, with_target, moments.weight())?;
        geometry.damped = penalised.map(|penalised| {
            // zᵀLᵀ(LL'+γ)⁻¹L M z, as a symmetric form.
            let mut product = lower * geometry.full();
            solve_lower_triangular_in_place(penalised, product.as_mut(), Par::Seq);
            let mut own = lower.to_owned();
            solve_lower_triangular_in_place(penalised, own.as_mut(), Par::Seq);
            let product = own.transpose() * product;
            halved(&Mat::from_fn(p, p, |i, j| (product[(i, j)] + product[(j, i)]) / 2.0))
        });
        geometry.checked(*has_targets)
    }

    fn whitened(
        lower: MatRef<'_, f64>,
        mut products: Mat<f64>,
        with_target: Vec<f64>,
        weight: f64,
    ) -> Result<Self, Error> {
        let p = lower.nrows();
        solve_lower_triangular_in_place(lower, products.as_mut(), Par::Seq);
        let mut second = products.transpose().to_owned();
        solve_lower_triangular_in_place(lower, second.as_mut(), Par::Seq);
        let second = Mat::from_fn(p, p, |i, j| (second[(i, j)] + second[(j, i)]) / (2.0 * weight));
        let with_target: Vec<f64> = with_target.into_iter().map(|sum| sum / weight).collect();
        Ok(Self {
            trace: (0..p).map(|k| second[(k, k)]).sum(),
            half: halved(&second),
            mean: vec![0.0; p],
            score: solved(lower, &with_target),
            mean_resid: 0.0,
            has_targets: true,
            damped: None,
        })
    }

    fn checked(mut self, has_targets: bool) -> Result<Self, Error> {
        self.has_targets = has_targets;
        if !has_targets {
            self.score.fill(0.0);
            self.mean_resid = 0.0;
        }
        let numbers = self.mean.iter().chain(&self.score);
        let is_finite = self.half.as_ref().is_all_finite() && numbers.copied().all(f64::is_finite);
        if is_finite && self.mean_resid.is_finite() { Ok(self) } else { Err(Error::TooLarge) }
    }

    /// `M`.
    pub(super) fn full(&self) -> Mat<f64> {
        let p = self.half.nrows();
        Mat::from_fn(p, p, |i, j| {
            let cell = self.half[(i.max(j), i.min(j))];
            if i == j { cell } else { cell / 2.0 }
        })
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let full = self.full();
        (0..vector.len()).map(|i| vector.iter().enumerate().map(|(j, v)| full[(i, j)] * v).sum()).collect()
    }

    /// Buffers of one thread.
    pub(crate) fn look(&self) -> PanelLook {
        PanelLook {
            product: Mat::zeros(PANEL_ROWS, self.half.nrows()),
            quad: [0.0; PANEL_ROWS],
            damped: [0.0; PANEL_ROWS],
            mean: [0.0; PANEL_ROWS],
            score: [0.0; PANEL_ROWS],
        }
    }

    /// Looks at the rows of a panel, one row `z` per line.
    pub(crate) fn look_at(&self, panel: MatRef<'_, f64>, look: &mut PanelLook) {
        let PanelLook { product, quad, damped, mean, score } = look;
        quadratic(panel, &self.half, product, quad);
        if let Some(matrix) = &self.damped {
            quadratic(panel, matrix, product, damped);
        }
        mean.fill(0.0);
        score.fill(0.0);
        for k in 0..panel.ncols() {
            let (m, r) = (self.mean[k], self.score[k]);
            for (i, z) in panel.col(k).iter().enumerate() {
                mean[i] += z * m;
                score[i] += z * r;
            }
        }
    }

    /// What a row's value for the test rows depends on. `norm_sq` is `zᵀz`, `n` the number
    /// of reference rows, and `residual` that of the row under the reference.
    ///
    /// Without weight `w` of a row, with `c = n/(n−w)` if rows are centred and 1 otherwise,
    /// the products are `I − cw·zzᵀ`, the centre moves by `−kz`, `k = w/(n−w)`, and each
    /// test residual grows by `w·e₋·(1/n + zᵀz_t)`.
    #[inline]
    pub(crate) fn stats(
        &self,
        look: &PanelLook,
        i: usize,
        (n, norm_sq, residual): (f64, f64, f64),
        left_out: Option<LeftOut>,
    ) -> TargetStats {
        let (quad, mean, score) = (look.quad[i], look.mean[i], look.score[i]);
        let over = |quad: f64| if norm_sq > 0.0 { quad / norm_sq } else { 0.0 };
        let Some(LeftOut { weight: w, in_products, is_centred, residual: left_residual, room }) = left_out
        else {
            return TargetStats {
                stretch: n * over(quad),
                trace: n * self.trace,
                score: residual * n * score,
            };
        };
        let (c, k, share) = if is_centred { (n / (n - w), w / (n - w), 1.0 / n) } else { (1.0, 0.0, 0.0) };
        let moved = quad + k * norm_sq * (2.0 * mean + k * norm_sq);
        let trace = self.trace + k * (2.0 * mean + k * norm_sq) + c * in_products / room * moved;
        let grown = if self.has_targets {
            let along = if self.damped.is_some() { look.damped[i] } else { quad };
            let by_residual = share * mean + along + k * norm_sq * (share + mean);
            score + k * norm_sq * self.mean_resid + w * left_residual * by_residual
        } else {
            0.0
        };
        TargetStats {
            stretch: (n - w) * over(moved) / room,
            trace: (n - w) * trace,
            score: left_residual * (n - w) * c / room * grown,
        }
    }
}

/// `zᵀMz` of each row of a panel, from the half of `M`.
fn quadratic(panel: MatRef<'_, f64>, half: &Mat<f64>, product: &mut Mat<f64>, out: &mut [f64; PANEL_ROWS]) {
    triangular::matmul(
        product.as_mut(),
        BlockStructure::Rectangular,
        Accum::Replace,
        panel,
        BlockStructure::Rectangular,
        half.as_ref(),
        BlockStructure::TriangularLower,
        1.0,
        Par::Seq,
    );
    out.fill(0.0);
    for k in 0..panel.ncols() {
        let product = product.col_as_slice(k);
        for ((out, z), product) in out.iter_mut().zip(panel.col(k).iter()).zip(product) {
            *out += z * product;
        }
    }
}

/// The lower triangle, twice, with the diagonal once.
fn halved(full: &Mat<f64>) -> Mat<f64> {
    let p = full.nrows();
    Mat::from_fn(p, p, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => full[(i, j)],
        std::cmp::Ordering::Greater => 2.0 * full[(i, j)],
    })
}

/// `L⁻¹v`.
fn solved(lower: MatRef<'_, f64>, vector: &[f64]) -> Vec<f64> {
    let mut solved = Mat::from_fn(vector.len(), 1, |i, _| vector[i]);
    solve_lower_triangular_in_place(lower, solved.as_mut(), Par::Seq);
    solved.col_as_slice(0).to_vec()
}
