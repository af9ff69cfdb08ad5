//! From features as given to the columns of the design.

use crate::Rows;
use crate::linear::fit::PANEL_ROWS;
use faer::Mat;

/// The columns of a logistic fit: ones, if there is an intercept, then the kept
/// features, centred by the reference means and scaled by powers of two.
///
/// With an intercept centring only changes what the intercept means; without
/// one nothing is centred. Either way coefficients for features as given are
/// those of the columns times the scale.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Design {
    pub(crate) n_features: usize,
    pub(crate) intercept: bool,
    /// Features in the design, ascending.
    pub(crate) kept: Vec<usize>,
    /// Per kept feature: what is subtracted, as a sum of two doubles.
    pub(crate) centre: Vec<(f64, f64)>,
    pub(crate) scale: Vec<f64>,
    /// Per kept feature its variance, if the ridge is for standardised features.
    pub(crate) variance: Option<Vec<f64>>,
}

/// A panel of rows in the columns of a design.
#[derive(Debug)]
pub(crate) struct DesignPanel {
    /// [`PANEL_ROWS`] rows; missing ones are zero.
    pub(crate) x: Mat<f64>,
}

impl Design {
    /// Columns, including the intercept.
    pub(crate) fn dim(&self) -> usize {
        self.kept.len() + usize::from(self.intercept)
    }

    /// What a squared coefficient of a column costs, halved, per unit of the ridge.
    pub(crate) fn cost(&self, column: usize) -> f64 {
        match column.checked_sub(self.first()) {
            // The intercept is not penalised.
            None => 0.0,
            Some(feature) => {
                let variance = self.variance.as_ref().map_or(1.0, |variance| variance[feature]);
                self.scale[feature] * self.scale[feature] * variance
            }
        }
    }

    /// Where the features begin.
    pub(crate) fn first(&self) -> usize {
        usize::from(self.intercept)
    }

    pub(crate) fn panel(&self) -> DesignPanel {
        DesignPanel { x: Mat::zeros(PANEL_ROWS, self.dim()) }
    }

    /// Fills `panel` with `len ≤ PANEL_ROWS` rows from `start` on.
    #[inline]
    pub(crate) fn fill(&self, rows: Rows<'_>, start: usize, len: usize, panel: &mut DesignPanel) {
        if self.intercept {
            let ones = panel.x.col_as_slice_mut(0);
            ones[..len].fill(1.0);
            ones[len..].fill(0.0);
        }
        for (k, &column) in self.kept.iter().enumerate() {
            let cells = panel.x.col_as_slice_mut(self.first() + k);
            let (shift, offset) = self.centre[k];
            rows.copy_centred(column, start, shift, offset, &mut cells[..len]);
            let scale = self.scale[k];
            cells[..len].iter_mut().for_each(|cell| *cell *= scale);
            cells[len..].fill(0.0);
        }
    }

    /// Coefficients of the kept features as given.
    pub(crate) fn coef(&self, beta: &[f64]) -> Vec<f64> {
        beta[self.first()..].iter().zip(&self.scale).map(|(b, scale)| b * scale).collect()
    }

    /// The linear predictor where all features are 0, if there is an intercept.
    pub(crate) fn intercept_value(&self, beta: &[f64]) -> Option<f64> {
        let reach = |(coef, &(shift, offset)): (f64, &(f64, f64))| coef * (shift + offset);
        self.intercept
            .then(|| beta[0] - self.coef(beta).into_iter().zip(&self.centre).map(reach).sum::<f64>())
    }
}

impl DesignPanel {
    /// `out = Xβ`.
    #[inline(always)]
    pub(crate) fn times(&self, beta: &[f64], out: &mut [f64; PANEL_ROWS]) {
        out.fill(0.0);
        for (k, b) in beta.iter().enumerate() {
            for (out, x) in out.iter_mut().zip(self.x.col_as_slice(k)) {
                *out += b * x;
            }
        }
    }

    /// `‖x‖₁ max|β|` of each row: errors of [`times`](Self::times), including those of
    /// `β`, are proportional to it. Columns have deviations of about 1, so no unit counts
    /// more than another.
    #[inline(always)]
    pub(crate) fn reach(&self, beta: &[f64], out: &mut [f64; PANEL_ROWS]) {
        let largest = beta.iter().fold(0.0_f64, |most, b| most.max(b.abs()));
        out.fill(0.0);
        for k in 0..beta.len() {
            for (out, x) in out.iter_mut().zip(self.x.col_as_slice(k)) {
                *out += largest * x.abs();
            }
        }
    }
}
