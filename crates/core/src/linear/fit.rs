//! Least squares on the reference, and what it says about a row.

use super::factor::Factor;
use crate::{Error, Moments, Rows, Warning};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par};

/// Rows whose distances are solved for together. Panels are always this long,
/// padded with zeros, so that the numbers of a row do not depend on which rows
/// came with it.
pub(crate) const PANEL_ROWS: usize = 256;

/// Fewer digits than this deserve a warning.
const DIGITS_TO_WARN: u32 = 5;

/// How a reference is fitted.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `intercept` | `true` | centre features and target by the reference means, which are then treated as known |
/// | `allow_dependent` | `true` | leave dependent features out instead of refusing them |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FitOptions {
    /// Centre features and target by the reference means.
    pub intercept: bool,
    /// Leave dependent features out; otherwise they are an error.
    pub allow_dependent: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self { intercept: true, allow_dependent: true }
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
    intercept: bool,
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
    degrees: usize,
}

impl LinearFit {
    /// Fits the reference whose moments are given.
    ///
    /// # Errors
    ///
    /// [`Error::NoFeatures`], [`Error::TooFewRows`], [`Error::ConstantTarget`],
    /// [`Error::NoNoise`], [`Error::TooLarge`] when an uncentred square
    /// overflows, and [`Error::Dependent`] if that is not allowed.
    pub fn new(moments: &Moments, options: FitOptions) -> Result<Self, Error> {
        let p_all = moments.n_features();
        let n = moments.n_rows();
        let product =
            |i: usize, j: usize| if options.intercept { moments.centred(i, j) } else { moments.raw(i, j) };

        // Moments about the mean exist wherever `Moments` do; without centring
        // the squared mean comes on top.
        if !(0..=p_all).all(|column| product(column, column).is_finite()) {
            return Err(Error::TooLarge);
        }
        let varies = |column: usize| {
            // What is left of a constant column after centring: each cell was
            // rounded by at most half an ulp of the mean.
            let noise = 4.0 * f64::EPSILON * moments.mean(column);
            product(column, column) > n as f64 * noise * noise
        };
        // One feature is the least a fit can have.
        let fewest = 3 + usize::from(options.intercept);
        if n < fewest {
            return Err(Error::TooFewRows { n_rows: n, dim: p_all, needed: p_all + fewest - 1 });
        }
        if options.intercept && !varies(p_all) {
            return Err(Error::ConstantTarget { value: moments.mean(p_all) });
        }
        if product(p_all, p_all) == 0.0 {
            return Err(Error::ConstantTarget { value: 0.0 });
        }
        let scale_of = |column: usize| power_of_two_near(product(column, column).sqrt().recip());
        let usable: Vec<bool> =
            (0..p_all).map(|j| product(j, j) > 0.0 && (!options.intercept || varies(j))).collect();
        let scales: Vec<f64> = (0..p_all).map(|j| if usable[j] { scale_of(j) } else { 0.0 }).collect();

        let factor = Factor::new(p_all, |j| usable[j], |i, j| product(i, j) * scales[i] * scales[j]);
        let p = factor.kept.len();
        if p == 0 {
            return Err(Error::NoFeatures { n_features: p_all });
        }
        // Leave-one-out needs a degree of freedom more than the fit itself.
        let used = p + usize::from(options.intercept);
        if n < used + 2 {
            // With fewer rows than columns elimination calls columns dependent
            // that more rows would tell apart.
            let dim = if factor.dropped.is_empty() { p } else { usable.iter().filter(|&&u| u).count() };
            return Err(Error::TooFewRows {
                n_rows: n,
                dim,
                needed: dim + 2 + usize::from(options.intercept),
            });
        }
        if !options.allow_dependent && !factor.dropped.is_empty() {
            return Err(Error::Dependent { columns: factor.dropped });
        }

        let mut target_row =
            Mat::from_fn(p, 1, |k, _| product(p_all, factor.kept[k]) * scales[factor.kept[k]]);
        solve_lower_triangular_in_place(factor.lower.as_ref(), target_row.as_mut(), Par::Seq);
        let explained: f64 = target_row.col_as_slice(0).iter().map(|l| l * l).sum();
        let total = product(p_all, p_all);
        let rss = total - explained;
        if rss <= 16.0 * (p + 1) as f64 * f64::EPSILON * total {
            return Err(Error::NoNoise);
        }

        let mut coef = target_row.clone();
        solve_upper_triangular_in_place(factor.lower.transpose(), coef.as_mut(), Par::Seq);
        let centre = |column: usize| if options.intercept { moments.mean_parts(column) } else { (0.0, 0.0) };
        Ok(Self {
            n_rows: n,
            n_features: p_all,
            intercept: options.intercept,
            centre: factor.kept.iter().map(|&j| centre(j)).collect(),
            scale: factor.kept.iter().map(|&j| scales[j]).collect(),
            target_centre: centre(p_all),
            coef: factor.kept.iter().enumerate().map(|(k, &j)| coef[(k, 0)] * scales[j]).collect(),
            target_row: target_row.col_as_slice(0).to_vec(),
            lower: factor.lower,
            kept: factor.kept,
            dropped: factor.dropped,
            weakest: factor.weakest,
            rss,
            total,
            degrees: n - used,
        })
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

    /// Whether features and target are centred by the reference means.
    pub fn intercept(&self) -> bool {
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
        self.rss / self.degrees as f64
    }

    /// Residual sum of squares on the reference.
    pub fn rss(&self) -> f64 {
        self.rss
    }

    /// `n − p − 1` when centred, else `n − p`.
    pub fn degrees_of_freedom(&self) -> usize {
        self.degrees
    }

    /// What is doubtful about the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !self.dropped.is_empty() {
            warnings.push(Warning::DroppedColumns { columns: self.dropped.clone() });
        }
        if let Some((column, share)) = self.weakest {
            let digits = digits_left(share);
            if digits < DIGITS_TO_WARN {
                warnings.push(Warning::IllConditioned { column, digits });
            }
        }
        let digits = digits_left(self.rss / self.total);
        if digits < DIGITS_TO_WARN {
            warnings.push(Warning::LittleNoise { digits });
        }
        warnings
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
}

/// Buffers of one thread.
#[derive(Debug)]
pub(crate) struct PanelWork {
    panel: Mat<f64>,
    /// `‖L⁻¹x‖²` per row.
    pub(crate) norm_sq: [f64; PANEL_ROWS],
    /// `y − xᵀβ` per row.
    pub(crate) residual: [f64; PANEL_ROWS],
}

impl PanelWork {
    pub(crate) fn new(fit: &LinearFit) -> Self {
        Self {
            panel: Mat::zeros(PANEL_ROWS, fit.dim()),
            norm_sq: [0.0; PANEL_ROWS],
            residual: [0.0; PANEL_ROWS],
        }
    }
}

/// Scaling by a power of two rounds nothing.
fn power_of_two_near(x: f64) -> f64 {
    x.log2().round().exp2()
}

/// Decimal digits that survive when only `share` of a sum of squares is left
/// after subtraction. Two are taken off for the rounding of the sum itself and
/// for what a value makes of it (measured, `docs/accuracy.md`).
fn digits_left(share: f64) -> u32 {
    (-(f64::EPSILON / share).log10() - 2.0).max(0.0) as u32
}
