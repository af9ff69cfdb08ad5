//! A softmax fit to the reference, and its predictions for a row.

use crate::classification::design::{Design, DesignPanel};
use crate::linear::fit::PANEL_ROWS;
use crate::{Error, Moments, Rows, Warning};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Mat, Par, Side};

/// The columns of a softmax fit: those of a [`Design`], recombined so that the mean
/// of their products over the reference is the identity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Whitened {
    pub(super) design: Design,
    /// `L` with `LLᵀ = E[xxᵀ]`.
    pub(super) lower: Mat<f64>,
}

impl Whitened {
    /// `None` if the products are singular.
    pub(super) fn new(design: &Design, moments: &Moments) -> Option<Self> {
        let (dim, first) = (design.dim(), design.first());
        let product = |i: usize, j: usize| {
            let (k, l) = (design.kept[i], design.kept[j]);
            let sum = if design.intercept { moments.centred(k, l) } else { moments.raw(k, l) };
            design.scale[i] * design.scale[j] * sum / moments.weight()
        };
        // Centred columns are orthogonal to the intercept.
        let products = Mat::from_fn(dim, dim, |i, j| match (i.checked_sub(first), j.checked_sub(first)) {
            (Some(i), Some(j)) => product(i, j),
            (None, None) => 1.0,
            _ => 0.0,
        });
        let lower = products.llt(Side::Lower).ok()?.L().to_owned();
        Some(Self { design: design.clone(), lower })
    }

    /// Fills `panel` with `len ≤ PANEL_ROWS` rows from `start` on.
    pub(super) fn fill(&self, rows: Rows<'_>, start: usize, len: usize, panel: &mut DesignPanel) {
        self.design.fill(rows, start, len, panel);
        solve_lower_triangular_in_place(self.lower.as_ref(), panel.x.as_mut().transpose_mut(), Par::Seq);
    }
}

/// A softmax regression fitted to the reference.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftmaxFit {
    pub(super) columns: Whitened,
    pub(super) dropped: Vec<usize>,
    /// Rows of each class.
    pub(super) n_labels: Vec<usize>,
    /// `θ_k` of the recombined columns, a column for each class except the first.
    pub(super) theta: Mat<f64>,
    /// `L` with `LLᵀ = Σ R ⊗ xxᵀ`, class by class.
    pub(super) lower: Mat<f64>,
    pub(super) loss: f64,
    pub(super) n_passes: usize,
    pub(super) weight_scale: f64,
    pub(super) effective_rows: f64,
}

impl SoftmaxFit {
    /// Reference rows.
    pub fn n_rows(&self) -> usize {
        self.n_labels.iter().sum()
    }

    /// Classes.
    pub fn n_classes(&self) -> usize {
        self.n_labels.len()
    }

    /// Reference rows of each class.
    pub fn n_labels(&self) -> &[usize] {
        &self.n_labels
    }

    /// Features a row must have, including dropped ones.
    pub fn n_features(&self) -> usize {
        self.columns.design.n_features
    }

    /// `p`: columns of the design, with the intercept and without dropped ones.
    pub fn dim(&self) -> usize {
        self.columns.design.dim()
    }

    /// Whether there is an intercept.
    pub fn intercept(&self) -> bool {
        self.columns.design.intercept
    }

    /// Features in the design, ascending.
    pub fn kept(&self) -> &[usize] {
        &self.columns.design.kept
    }

    /// Features left out because they are constant or depend on earlier ones.
    pub fn dropped(&self) -> &[usize] {
        &self.dropped
    }

    /// Coefficients of the kept features for the log-odds of `class` against class 0;
    /// `None` if there is no such class.
    pub fn coef(&self, class: usize) -> Option<Vec<f64>> {
        Some(self.columns.design.coef(&self.beta(class)?))
    }

    /// The same log-odds where all features are 0, if there is an intercept.
    pub fn intercept_value(&self, class: usize) -> Option<f64> {
        self.columns.design.intercept_value(&self.beta(class)?)
    }

    /// `−2 ·` the log-likelihood of the reference.
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

    /// What is doubtful about the fit.
    pub fn warnings(&self) -> Vec<Warning> {
        match self.dropped.as_slice() {
            [] => Vec::new(),
            dropped => vec![Warning::DroppedColumns { columns: dropped.to_vec() }],
        }
    }

    /// Coefficients of the columns of the design.
    fn beta(&self, class: usize) -> Option<Vec<f64>> {
        if class >= self.n_classes() {
            return None;
        }
        let mut beta =
            Mat::from_fn(self.dim(), 1, |k, _| class.checked_sub(1).map_or(0.0, |a| self.theta[(k, a)]));
        solve_upper_triangular_in_place(self.columns.lower.transpose(), beta.as_mut(), Par::Seq);
        Some(beta.col_as_slice(0).to_vec())
    }

    pub(super) fn check(&self, rows: Rows<'_>) -> Result<(), Error> {
        if rows.n_features() != self.n_features() {
            return Err(Error::FeatureCount { found: rows.n_features(), expected: self.n_features() });
        }
        rows.check_weights()
    }
}

/// Linear predictors of a panel of rows, a slice for each class except the first.
pub(super) fn predictors(panel: &DesignPanel, theta: &Mat<f64>, out: &mut [[f64; PANEL_ROWS]]) {
    for (a, out) in out.iter_mut().enumerate() {
        panel.times(theta.col_as_slice(a), out);
    }
}

/// The softmax model of one row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClassProbabilities {
    /// Of all classes.
    pub(super) prob: Vec<f64>,
    /// One minus each of them, to full precision.
    rest: Vec<f64>,
}

impl ClassProbabilities {
    /// From the linear predictors of the classes except the first, whose predictor is 0.
    pub(super) fn new(eta: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = eta.clone().fold(0.0, f64::max);
        let mut prob: Vec<f64> = std::iter::once(0.0).chain(eta).map(|eta| (eta - largest).exp()).collect();
        let total: f64 = prob.iter().sum();
        prob.iter_mut().for_each(|prob| *prob /= total);
        let rest = |class: usize| match prob[class] {
            small if small < 0.5 => 1.0 - small,
            // Avoids differences of nearly equal numbers.
            _ => prob.iter().enumerate().filter(|(other, _)| *other != class).map(|(_, prob)| prob).sum(),
        };
        let rest = (0..prob.len()).map(rest).collect();
        Self { prob, rest }
    }

    /// `e_a = y_a − π_a` of the class after the `a`-th.
    pub(super) fn surprise(&self, a: usize, label: usize) -> f64 {
        if a + 1 == label { self.rest[label] } else { -self.prob[a + 1] }
    }

    /// `R_ab = π_a(1 − π_a)` or `−π_aπ_b`.
    pub(super) fn weight(&self, a: usize, b: usize) -> f64 {
        if a == b { self.prob[a + 1] * self.rest[a + 1] } else { -self.prob[a + 1] * self.prob[b + 1] }
    }

    /// `−log` of the probability of the label.
    pub(super) fn loss(&self, label: usize) -> f64 {
        if self.prob[label] < 0.5 { -self.prob[label].ln() } else { -(-self.rest[label]).ln_1p() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_keep_their_digits() {
        let row = ClassProbabilities::new([40.0, -3.0].into_iter());
        let tail = (-40.0_f64).exp() + (-43.0_f64).exp();
        assert!((row.surprise(0, 1) / tail - 1.0).abs() < 1e-14);
        assert!((row.loss(1) / tail - 1.0).abs() < 1e-14);
        assert!((row.weight(0, 0) / tail - 1.0).abs() < 1e-14);
        assert!((row.loss(2) - 43.0).abs() < 1e-13);
        assert_eq!(row.surprise(0, 2), -row.prob[1]);
    }
}
