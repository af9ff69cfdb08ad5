//! What is known about second-order values, and what is doubtful.

use super::options::{MOST_SOFTMAX_COEFFICIENTS, SPREADS, UTILITIES, word};
use super::{SecondOrder, SecondOrderModel, Shift};
use crate::how::How;
use crate::logistic::LogisticModel;
use crate::warning::Warning;
use dshap::Sizes;
use dshap::second_order::Utility;
use serde::Serialize;

/// Up to this share of `n²` rows in a set, values of rows against each other by
/// accuracy are off by less than a tenth of their spread: a row moves the boundary by
/// a share of `1/n`, sets of `m` rows spread it by `1/√m`.
const LARGEST_SETS_BY_ACCURACY: f64 = 0.03;

/// What is known about second-order values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondOrderFacts {
    /// The models that are refitted: `logistic`, for more than two labels `softmax`
    /// or `one-vs-rest`.
    pub model: &'static str,
    /// Why each label is told from all others, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_one_vs_rest: Option<OneVsRestReason>,
    /// What a model is judged by: `log-loss`, `accuracy` or `brier`.
    pub utility: &'static str,
    /// How the spread of estimates is known: `sandwich` or `model`.
    pub spread: &'static str,
    /// The small ridge.
    pub small_ridge: f64,
    /// `κ`, where the sum over set sizes has one.
    pub shift: Option<f64>,
    /// Where it comes from: `default`, `given` or `measured`.
    pub shift_from: Option<&'static str>,
    /// Whether the default `q` is larger than usual, because smaller sets have no fit.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub larger_q: bool,
}

/// Why each label is told from all others, and not all of them by one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OneVsRestReason {
    /// One model of all labels would have too many coefficients.
    TooManyCoefficients {
        /// How many it would have.
        coefficients: usize,
        /// The most that one model may have.
        most: usize,
    },
    /// One model of all labels goes with log-loss without a ridge only.
    NotPlainLogLoss,
}

impl SecondOrderFacts {
    pub(crate) fn of(choice: SecondOrder, expanded: &SecondOrderModel, model: &LogisticModel) -> Self {
        let coefficients = (model.fits.len().max(2) - 1) * model.largest_dim();
        let why = match (expanded, choice.utility) {
            (SecondOrderModel::Binary(_) | SecondOrderModel::Softmax(_), _) => None,
            (_, Utility::LogLoss) if coefficients > MOST_SOFTMAX_COEFFICIENTS => {
                let most = MOST_SOFTMAX_COEFFICIENTS;
                Some(OneVsRestReason::TooManyCoefficients { coefficients, most })
            }
            _ => Some(OneVsRestReason::NotPlainLogLoss),
        };
        let from = match choice.shift {
            Shift::Default => "default",
            Shift::Given(_) => "given",
            Shift::Measured => "measured",
        };
        let shift = expanded.shift();
        Self {
            model: expanded.kind(),
            why_one_vs_rest: why,
            utility: word(&UTILITIES, &choice.utility),
            spread: word(&SPREADS, &choice.spread),
            small_ridge: choice.small_ridge,
            shift,
            shift_from: shift.map(|_| from),
            larger_q: false,
        }
    }
}

/// Sets too large for `n_rows` rows that are valued against each other by accuracy:
/// see `docs/refitted.md`.
pub fn large_sets(how: &How, sizes: Sizes, n_rows: usize) -> Option<Warning> {
    SecondOrder::of(how).filter(|choice| choice.utility == Utility::Accuracy)?;
    let n = n_rows as f64;
    let most = (LARGEST_SETS_BY_ACCURACY * n * n).max(n).floor();
    (sizes.max() as f64 > most).then_some(Warning::LargeSets { m: sizes.max(), n_rows, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods;
    use dshap_catalogue::options::UTILITY;
    use dshap_catalogue::{Given, Value};

    #[test]
    fn reasons_are_data_and_not_sentences() {
        let json = |reason: OneVsRestReason| serde_json::to_string(&reason).expect("plain data");
        assert_eq!(json(OneVsRestReason::NotPlainLogLoss), r#""not-plain-log-loss""#);
        assert_eq!(
            json(OneVsRestReason::TooManyCoefficients { coefficients: 600, most: 500 }),
            r#"{"too-many-coefficients":{"coefficients":600,"most":500}}"#
        );
    }

    #[test]
    fn only_accuracy_warns_of_large_sets() {
        let method = methods::find("second-order").expect("a method");
        let by = |utility: &str| {
            let given = Given::new().with(&UTILITY, Value::Word(utility.into()));
            large_sets(&How { method, given }, Sizes::new(20, 3001), 300)
        };
        assert_eq!(by("log-loss"), None);
        assert_eq!(by("accuracy"), Some(Warning::LargeSets { m: 3001, n_rows: 300, most: 2700.0 }));
    }
}
