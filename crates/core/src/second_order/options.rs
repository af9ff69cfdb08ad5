//! Options of second-order values.

use super::nodes::SizeNodes;
use crate::classification::LogisticFit;
use crate::{Error, Sizes, Warning};

/// What a refitted model is judged by, over the population that the reference
/// stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Utility {
    /// Minus the expected `−log` of the probability of the label.
    #[default]
    LogLoss,
    /// The probability that the likelier label is the true one.
    Accuracy,
    /// Minus the expected `(y − π)²`.
    Brier,
}

/// How the spread of an estimate from a set is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Spread {
    /// From the residuals of the reference, `V = H⁻¹E[e²xxᵀ]H⁻¹`: correct even if the
    /// logistic model is wrong.
    #[default]
    Sandwich,
    /// From the model, `V = H⁻¹`, every reference label replaced by its probability: less
    /// noise from a small reference, but wrong if the model is.
    ModelBased,
}

/// How second-order values are computed.
///
/// | field | default | purpose | range |
/// |---|---|---|---|
/// | `utility` | log-loss | what a model is judged by | |
/// | `spread` | sandwich | how the spread of estimates is known | model-based only without a ridge |
/// | `small_ridge` | 0 | `γ` of a ridge for sets but not for the reference, to first order | ≥ 0; not under accuracy |
/// | `shift` | `p + 1` | `κ`: a set of `s` rows counts as `s − κ` rows of the limit | < q − ½; log-loss without the ridge of the fit |
///
/// A ridge of ordinary size is that of the fit: sets are then fitted with the
/// same `γ`, on the sum of their losses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SecondOrderOptions {
    /// What a model is judged by.
    pub utility: Utility,
    /// How the spread of estimates is known.
    pub spread: Spread,
    /// `γ`, if it is small.
    pub small_ridge: f64,
    /// `κ`, if it is not `p + 1`.
    pub shift: Option<f64>,
}

impl SecondOrderOptions {
    /// Refuses options that contradict each other or the ridge of the fit.
    pub(super) fn check(&self, ridge: f64) -> Result<(), Error> {
        let wrong = |what| Err(Error::BadOption { what });
        if !(self.small_ridge.is_finite() && self.small_ridge >= 0.0) {
            return wrong("the ridge must be a finite number of at least 0");
        }
        if self.shift.is_some_and(|shift| !shift.is_finite()) {
            return wrong("the shift of set sizes must be a finite number");
        }
        if ridge > 0.0 && self.small_ridge > 0.0 {
            return wrong("a small ridge is only for fits without a ridge");
        }
        if ridge > 0.0 && self.spread == Spread::ModelBased {
            return wrong("with a ridge, the model does not give the spread of estimates; use the sandwich");
        }
        if self.small_ridge > 0.0 && self.utility == Utility::Accuracy {
            // The effect of a ridge on smoothed accuracy is as rough as the reference, so
            // its first order says little.
            return wrong(
                "a small ridge is only for log-loss and the Brier score; for accuracy, fit with a ridge",
            );
        }
        if self.shift.is_some() && !self.is_resummed(ridge) {
            return wrong("set sizes are shifted only for log-loss and fits without a ridge");
        }
        Ok(())
    }

    /// Refuses set sizes for which the sums do not exist.
    pub(super) fn check_sizes(&self, fit: &LogisticFit, sizes: Sizes) -> Result<(), Error> {
        check_shifted(sizes, self.shift, fit.dim())
    }

    /// The sizes at which the expansion is made; one if it is the same for all.
    pub(super) fn node_sizes(&self, ridge: f64, sizes: Sizes) -> Vec<f64> {
        SizeNodes::new(sizes, self.depends_on_size(ridge)).sizes
    }

    /// `κ` for a model of `dim` columns.
    pub(super) fn shift_for(&self, dim: usize) -> f64 {
        self.shift.unwrap_or(dim as f64 + 1.0)
    }

    /// Whether the sum over set sizes has the closed form with the shift.
    pub(super) fn is_resummed(&self, ridge: f64) -> bool {
        self.utility == Utility::LogLoss && ridge == 0.0
    }

    /// Whether the expansion itself changes with the size of the sets.
    pub(super) fn depends_on_size(&self, ridge: f64) -> bool {
        self.utility == Utility::Accuracy || ridge > 0.0
    }
}

/// A warning is given if the smallest sets count as fewer rows than this after the shift.
const FEW_SHIFTED_ROWS: f64 = 5.0;

/// Refuses set sizes for which the sums do not exist, with the error about the shift if
/// that is the reason.
pub(super) fn check_shifted(sizes: Sizes, shift: Option<f64>, dim: usize) -> Result<(), Error> {
    sizes.check(dim, least_size(shift, dim)).map_err(|error| match (error, shift) {
        (Error::Sizes { min, max, least, .. }, Some(shift)) if least > dim + 1 => {
            Error::ShiftedSizes { min, max, least, shift }
        }
        (error, _) => error,
    })
}

/// A warning if a shift makes the smallest sets count as far fewer rows, or far more.
pub(super) fn shift_warning(sizes: Sizes, shift: f64) -> Option<Warning> {
    let q = sizes.min() as f64;
    let first = q - 0.5 - shift;
    (first < FEW_SHIFTED_ROWS || first > 2.0 * q).then_some(Warning::Shifted {
        min: sizes.min(),
        shift,
        first,
    })
}

/// The smallest `q` for `dim` columns: `q − ½ − κ > 0`, and sets large enough to
/// determine the coefficients.
pub(super) fn least_size(shift: Option<f64>, dim: usize) -> usize {
    let shift = shift.unwrap_or(dim as f64 + 1.0);
    ((shift + 0.5).floor().max(0.0) as usize).saturating_add(1).max(dim + 1)
}
