//! How likely held-out targets are if some of them may be wrong.
//!
//! A label that is wrong is any other one, equally likely. A number that is wrong is far
//! away: its deviation is [`WIDE`] times that of the others.

use crate::predict::{PER_MEDIAN, median};
use crate::stack::LEAST_PROB;

/// Shares of wrong targets that are tried.
const RATES: [f64; 11] = [0.0, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2];

/// How much wider wrong numbers are spread.
const WIDE: f64 = 10.0;

/// Scales that are tried, as multiples of the robust one.
const SCALES: std::ops::RangeInclusive<i32> = 14..=32;

/// What scales are multiples of.
const SCALE_STEP: f64 = 0.05;

/// The log-likelihood of labels with these probabilities, row by row, at the share of
/// wrong labels under which all of them are likeliest; and that share.
pub(crate) fn labels_likelihood(probs: &[&[f64]], n_classes: usize) -> (Vec<Vec<f64>>, f64) {
    let at = |rate: f64, prob: f64| {
        let other = rate / (n_classes as f64 - 1.0).max(1.0);
        let prob = prob.clamp(LEAST_PROB, 1.0);
        ((1.0 - rate) * prob + other * (1.0 - prob)).ln()
    };
    let total = |rate: f64| probs.iter().flat_map(|run| run.iter()).map(|&prob| at(rate, prob)).sum::<f64>();
    let rate = likeliest(RATES.into_iter().map(|rate| (total(rate), rate))).unwrap_or(0.0);
    (probs.iter().map(|run| run.iter().map(|&prob| at(rate, prob)).collect()).collect(), rate)
}

/// The first of those with the largest likelihood.
fn likeliest<T>(tried: impl Iterator<Item = (f64, T)>) -> Option<T> {
    tried.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, best)| best)
}

/// How residuals are distributed: most are normal, some far away.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Residuals {
    pub(crate) scale: f64,
    pub(crate) rate: f64,
}

impl Residuals {
    /// Under which residuals are likeliest.
    pub(crate) fn fitted(residuals: &[&[f64]]) -> Self {
        let all = || residuals.iter().flat_map(|run| run.iter().copied());
        let robust = PER_MEDIAN * median(&mut all().map(f64::abs).collect::<Vec<f64>>());
        if robust <= 0.0 {
            return Self::plain(residuals);
        }
        let tried = SCALES.flat_map(|step| {
            let scale = robust * SCALE_STEP * f64::from(step);
            RATES.map(|rate| Self { scale, rate })
        });
        let total = |tried: Self| (all().map(|residual| tried.log_density(residual)).sum::<f64>(), tried);
        likeliest(tried.map(total)).unwrap_or(Self { scale: robust, rate: 0.0 })
    }

    /// Normal, none far away.
    pub(crate) fn plain(residuals: &[&[f64]]) -> Self {
        let all = || residuals.iter().flat_map(|run| run.iter().copied());
        let mean_square =
            all().map(|residual| residual * residual).sum::<f64>() / all().count().max(1) as f64;
        Self { scale: mean_square.sqrt().max(f64::MIN_POSITIVE), rate: 0.0 }
    }

    /// Up to a constant.
    pub(crate) fn log_density(&self, residual: f64) -> f64 {
        let normal = |scale: f64| -0.5 * (residual / scale).powi(2) - scale.ln();
        let near = normal(self.scale) + (1.0 - self.rate).ln();
        if self.rate == 0.0 {
            return near;
        }
        let far = normal(WIDE * self.scale) + self.rate.ln();
        near.max(far) + (-(near - far).abs()).exp().ln_1p()
    }

    /// The probability that a number with this residual is wrong.
    pub(crate) fn prob_wrong(&self, residual: f64) -> f64 {
        if self.rate == 0.0 {
            return 0.0;
        }
        let normal = |scale: f64| -0.5 * (residual / scale).powi(2) - scale.ln();
        let odds = normal(self.scale) + (1.0 - self.rate).ln() - normal(WIDE * self.scale) - self.rate.ln();
        1.0 / (1.0 + odds.exp())
    }
}

/// The share of wrong labels, estimated from the number of rows where another label is
/// as probable as it usually is where it is given. Above it labels would say nothing.
pub(crate) fn share_of_wrong(n_confident: usize, n: usize, n_classes: usize) -> f64 {
    let most = 0.5 * (1.0 - 1.0 / n_classes.max(2) as f64);
    (n_confident as f64 / n.max(1) as f64).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_testkit::Draws;

    /// 4 000 residuals, 5 % of them ten times as wide: the rate is found within 2 of
    /// its standard errors 0.005 and the step of the grid, the scale within 5 %.
    #[test]
    fn rate_and_scale_are_found() {
        let mut draws = Draws::new(4);
        let residuals: Vec<f64> =
            (0..4000).map(|i| 3.0 * draws.normal() * if i % 20 == 0 { WIDE } else { 1.0 }).collect();
        let found = Residuals::fitted(&[&residuals]);
        assert!((found.rate - 0.05).abs() < 0.03 && (found.scale / 3.0 - 1.0).abs() < 0.06, "{found:?}");
        assert!(found.prob_wrong(60.0) > 0.99 && found.prob_wrong(1.0) < 0.02);
        let clean: Vec<f64> = (0..4000).map(|_| draws.normal()).collect();
        assert!(Residuals::fitted(&[&clean]).rate < 0.01);
    }

    #[test]
    fn labels_that_contradict_sure_predictions_are_taken_for_wrong() {
        let sure: Vec<f64> = (0..100).map(|i| if i < 5 { 0.001 } else { 0.999 }).collect();
        let (_, rate) = labels_likelihood(&[&sure], 2);
        assert_eq!(rate, 0.05);
        // As many ones as probabilities say.
        let calibrated: Vec<f64> = (0..100).map(|i| if i < 20 { 0.2 } else { 0.8 }).collect();
        assert_eq!(labels_likelihood(&[&calibrated], 2).1, 0.0);
    }
}
