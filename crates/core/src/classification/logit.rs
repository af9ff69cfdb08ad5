//! The logistic model of one row, to full precision.

/// The model for a row with the linear predictor `η` and a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Logit {
    /// `π = 1/(1 + e^{−η})`.
    pub(crate) prob: f64,
    /// `y − π`.
    pub(crate) surprise: f64,
    /// `W = π(1 − π)`.
    pub(crate) weight: f64,
    /// `dW/dη = W(1 − 2π)`.
    pub(crate) weight_slope: f64,
    /// `−log` of the probability of the label.
    pub(crate) loss: f64,
}

impl Logit {
    /// Nearly equal numbers are never subtracted: with `t` the predictor towards the
    /// label, `y − π` is `±1/(1 + e^t)`.
    #[inline(always)]
    pub(crate) fn new(eta: f64, label: f64) -> Self {
        let is_one = label == 1.0;
        let small = (-eta.abs()).exp();
        let rest = 1.0 / (1.0 + small);
        // Probabilities of the likelier and of the other label.
        let (likely, unlikely) = (rest, small * rest);
        let (one, zero) = if eta >= 0.0 { (likely, unlikely) } else { (unlikely, likely) };
        let weight = likely * unlikely;
        let expected = is_one == (eta >= 0.0);
        Self {
            prob: one,
            surprise: if is_one { zero } else { -one },
            weight,
            weight_slope: weight * (zero - one),
            loss: small.ln_1p() + if expected { 0.0 } else { eta.abs() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_keep_their_digits() {
        let row = Logit::new(40.0, 1.0);
        let tail = (-40.0_f64).exp();
        for (found, exact) in [(row.surprise, tail), (row.weight, tail), (row.loss, tail)] {
            assert!((found / exact - 1.0).abs() < 1e-15, "{found:e}");
        }
        assert_eq!(Logit::new(-40.0, 0.0).surprise, -row.surprise);
        assert_eq!(Logit::new(-40.0, 1.0).loss, 40.0);
        assert_eq!(Logit::new(800.0, 1.0).weight, 0.0);
        assert!(Logit::new(800.0, 0.0).loss == 800.0 && Logit::new(800.0, 0.0).surprise == -1.0);
    }

    #[test]
    fn slopes_are_derivatives() {
        for eta in [-3.1, -0.4, 0.0, 0.7, 5.0] {
            let (below, above) = (Logit::new(eta - 1e-5, 1.0), Logit::new(eta + 1e-5, 1.0));
            let here = Logit::new(eta, 1.0);
            let slope = |f: fn(&Logit) -> f64| (f(&above) - f(&below)) / 2e-5;
            assert!((slope(|row| row.prob) - here.weight).abs() < 1e-9);
            assert!((slope(|row| row.weight) - here.weight_slope).abs() < 1e-9);
            assert!((slope(|row| row.loss) + here.surprise).abs() < 1e-9);
        }
    }
}
