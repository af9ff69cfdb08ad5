//! What was said about second-order values, and what it comes to.

use crate::memory::Sums;
use dshap::classification::LogisticOptions;
use dshap::second_order::{SecondOrderOptions, SecondOrderValuer, SoftmaxOptions, Spread, Utility};
use serde::Serialize;

/// The most coefficients, `(K − 1)p`, of one model of all labels: a row costs their
/// square. With more, each label is told from all others.
pub(crate) const MOST_SOFTMAX_COEFFICIENTS: usize = 500;

/// How rows are valued for a model that is refitted on each set.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SecondOrder {
    /// What a model is judged by.
    pub utility: Utility,
    /// How the spread of estimates is known.
    pub spread: Spread,
    /// `γ` of a ridge that sets are fitted with and the reference is not.
    pub small_ridge: f64,
    /// `κ`: how many rows fewer a set seems to have than it has.
    pub shift: Shift,
    /// Seed of standard errors, and of sets drawn to measure the shift.
    pub seed: u64,
}

/// Where the shift of set sizes comes from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Shift {
    /// `p + 1`.
    #[default]
    Default,
    /// A number.
    Given(f64),
    /// From a learning curve of the reference.
    Measured,
}

/// What was said about second-order values, as far as anything was.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SecondOrderSaid {
    /// What a model is judged by.
    pub utility: Option<Utility>,
    /// How the spread of estimates is known.
    pub spread: Option<Spread>,
    /// A small ridge.
    pub small_ridge: Option<f64>,
    /// The shift of set sizes.
    pub shift: Option<Shift>,
}

impl SecondOrderSaid {
    /// The first option that only second-order values have, if one was given.
    pub fn first_said(&self) -> Option<&'static str> {
        let said = [
            ("--utility", self.utility.is_some()),
            ("--spread", self.spread.is_some()),
            ("--small-ridge", self.small_ridge.is_some()),
            ("--shift", self.shift.is_some()),
        ];
        said.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// All that can be said about a choice.
    pub(crate) fn of(choice: SecondOrder) -> Self {
        Self {
            utility: Some(choice.utility),
            spread: Some(choice.spread),
            small_ridge: Some(choice.small_ridge),
            shift: Some(choice.shift),
        }
    }

    /// The choice, with defaults for what was not said.
    pub(crate) fn settle(&self, seed: Option<u64>) -> Result<SecondOrder, String> {
        if let Some(ridge) = self.small_ridge.filter(|ridge| !(0.0..f64::INFINITY).contains(ridge)) {
            return Err(format!("`--small-ridge` is {ridge}; expected a number of at least 0"));
        }
        if let Some(Shift::Given(shift)) = self.shift.filter(|shift| !shift.is_finite()) {
            return Err(format!("`--shift` is {shift}; expected `measured` or a number"));
        }
        Ok(SecondOrder {
            utility: self.utility.unwrap_or_default(),
            spread: self.spread.unwrap_or_default(),
            small_ridge: self.small_ridge.unwrap_or_default(),
            shift: self.shift.unwrap_or_default(),
            seed: seed.unwrap_or_default(),
        })
    }
}

impl Shift {
    fn is_finite(self) -> bool {
        !matches!(self, Shift::Given(shift) if !shift.is_finite())
    }
}

impl SecondOrder {
    /// What core is to do, `shift` being the measured one if it was measured.
    pub(crate) fn options(&self, measured: Option<f64>) -> SecondOrderOptions {
        SecondOrderOptions {
            utility: self.utility,
            spread: self.spread,
            small_ridge: self.small_ridge,
            shift: match self.shift {
                Shift::Default => None,
                Shift::Given(shift) => Some(shift),
                Shift::Measured => measured,
            },
        }
    }

    /// Whether more than two labels are told apart by one model of all of them.
    pub(crate) fn takes_softmax(&self, n_classes: usize, dim: usize, ridge: f64) -> bool {
        let is_plain = self.utility == Utility::LogLoss && ridge == 0.0 && self.small_ridge == 0.0;
        is_plain && (n_classes - 1) * dim <= MOST_SOFTMAX_COEFFICIENTS
    }

    /// What a pass for the moments sums at most: `n_columns` of the design, and no
    /// more than so many rows.
    pub(crate) fn sums(&self, n_classes: usize, n_columns: usize, ridge: f64, most_rows: u64) -> Sums {
        if n_classes > 2 && self.takes_softmax(n_classes, n_columns + 1, ridge) {
            return Sums { n_blocks: 1, n_squares: n_classes * n_classes };
        }
        let n_models = if n_classes > 2 { n_classes } else { 1 };
        let depends_on_size = self.utility == Utility::Accuracy || ridge > 0.0;
        let n_sizes = if depends_on_size { SecondOrderValuer::most_expansions(most_rows) } else { 1 };
        // Fits for each size have rows of their own, moments share them.
        let n_blocks = n_models * if ridge > 0.0 { n_sizes } else { 1 };
        Sums { n_blocks: n_blocks + 1, n_squares: n_models * n_sizes + 1 }
    }

    /// What core is to do with more than two labels.
    pub(crate) fn softmax_options(&self, fit: LogisticOptions) -> SoftmaxOptions {
        SoftmaxOptions {
            intercept: fit.intercept,
            allow_dependent: fit.allow_dependent,
            max_passes: fit.max_passes,
            spread: self.spread,
            shift: self.options(None).shift,
        }
    }

    /// What does not go together with the ridge of a fit, in words.
    pub(crate) fn refuse_with_ridge(&self, ridge: f64) -> Result<(), String> {
        let is_resummed = self.utility == Utility::LogLoss && ridge == 0.0;
        match () {
            () if ridge > 0.0 && self.small_ridge > 0.0 => Err(
                "`--ridge` and `--small-ridge` are two ways to say how sets are fitted; leave one of them out"
                    .into(),
            ),
            () if ridge > 0.0 && self.spread == Spread::ModelBased => Err(
                "`--spread model` does not go with `--ridge`: the model says nothing of the spread of \
                 penalised estimates; leave `--spread` out"
                    .into(),
            ),
            () if self.small_ridge > 0.0 && self.utility == Utility::Accuracy => Err(
                "`--small-ridge` is for log-loss and the Brier score: what a ridge changes of accuracy is not told by \
                 its first order; `--ridge` goes with accuracy"
                    .into(),
            ),
            () if self.shift != Shift::Default && !is_resummed => Err(
                "`--shift` goes with `--utility log-loss` without `--ridge` only: other sums over set sizes \
                 have no shift"
                    .into(),
            ),
            () => Ok(()),
        }
    }
}

/// The utilities by the words users know them by.
pub const UTILITIES: [(&str, Utility); 3] =
    [("log-loss", Utility::LogLoss), ("accuracy", Utility::Accuracy), ("brier", Utility::Brier)];

/// The same of the ways in which spread is known.
pub const SPREADS: [(&str, Spread); 2] = [("sandwich", Spread::Sandwich), ("model", Spread::ModelBased)];

/// The shift that a word stands for: `measured` or a number.
///
/// # Errors
///
/// What was expected instead.
pub fn parse_shift(text: &str) -> Result<Shift, String> {
    match (text, text.parse::<f64>()) {
        ("measured", _) => Ok(Shift::Measured),
        (_, Ok(number)) if number.is_finite() => Ok(Shift::Given(number)),
        _ => Err("expected measured or a number, such as 6.5".into()),
    }
}

/// The word for one of some things.
pub(crate) fn word<T: PartialEq>(all: &[(&'static str, T)], one: &T) -> &'static str {
    all.iter().find(|(_, other)| other == one).map_or("", |(word, _)| word)
}

/// What is known about second-order values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SecondOrderFacts {
    /// The models that are refitted: `logistic`, for more than two labels `softmax`
    /// or `one-vs-rest`.
    pub model: &'static str,
    /// Why each label is told from all others, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_one_vs_rest: Option<String>,
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
}

impl SecondOrderFacts {
    pub(crate) fn of(
        choice: SecondOrder,
        model: &'static str,
        shift: Option<f64>,
        (n_classes, dim): (usize, usize),
    ) -> Self {
        let n_coefficients = (n_classes.max(2) - 1) * dim;
        let why = match choice.utility {
            _ if model != "one-vs-rest" => None,
            Utility::LogLoss if n_coefficients > MOST_SOFTMAX_COEFFICIENTS => Some(format!(
                "one model of all labels would have {n_coefficients} coefficients, more than {MOST_SOFTMAX_COEFFICIENTS}"
            )),
            _ => Some("one model of all labels goes with log-loss without a ridge only".into()),
        };
        let from = match choice.shift {
            Shift::Default => "default",
            Shift::Given(_) => "given",
            Shift::Measured => "measured",
        };
        Self {
            model,
            why_one_vs_rest: why,
            utility: word(&UTILITIES, &choice.utility),
            spread: word(&SPREADS, &choice.spread),
            small_ridge: choice.small_ridge,
            shift,
            shift_from: shift.map(|_| from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_a_word_or_a_number() {
        assert_eq!(parse_shift("measured"), Ok(Shift::Measured));
        assert_eq!(parse_shift("-1.5"), Ok(Shift::Given(-1.5)));
        for wrong in ["", "default", "nan", "inf"] {
            assert!(parse_shift(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_a_ridge_does_not_go_with_is_refused() {
        let plain = SecondOrder::default();
        assert_eq!(plain.refuse_with_ridge(1.0), Ok(()));
        for (choice, ridge) in [
            (SecondOrder { small_ridge: 0.5, ..plain }, 1.0),
            (SecondOrder { spread: Spread::ModelBased, ..plain }, 1.0),
            (SecondOrder { small_ridge: 0.5, utility: Utility::Accuracy, ..plain }, 0.0),
            (SecondOrder { shift: Shift::Measured, ..plain }, 1.0),
            (SecondOrder { shift: Shift::Given(3.0), utility: Utility::Brier, ..plain }, 0.0),
        ] {
            assert!(choice.refuse_with_ridge(ridge).is_err(), "{choice:?}");
        }
    }
}
