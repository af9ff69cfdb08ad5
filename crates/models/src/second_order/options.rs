//! How rows are valued for a model that is refitted on each set, and what follows
//! from that.

use super::SecondOrderModel;
use crate::how::How;
use crate::logistic::LogisticModel;
use crate::reference::{ExtraPass, Sums};
use dshap::Sizes;
use dshap::classification::LogisticOptions;
use dshap::second_order::{SecondOrderOptions, SecondOrderValuer, SoftmaxOptions, Spread, Utility};
use dshap_catalogue::options::{SHIFT, SMALL_RIDGE, SPREAD, UTILITY};
use dshap_catalogue::{OptionEntry, Task, Value};

/// The most coefficients, `(K − 1)p`, of one model of all labels: a row costs their
/// square. With more, each label is told from all others.
pub(super) const MOST_SOFTMAX_COEFFICIENTS: usize = 500;

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

/// The utilities by the names users know them by.
pub(super) const UTILITIES: [(&str, Utility); 3] =
    [("log-loss", Utility::LogLoss), ("accuracy", Utility::Accuracy), ("brier", Utility::Brier)];

/// The ways in which spread is known, by name.
pub(super) const SPREADS: [(&str, Spread); 2] =
    [("sandwich", Spread::Sandwich), ("model", Spread::ModelBased)];

impl SecondOrder {
    /// The settings of a method that values rows for refitted models; nothing for
    /// any other method.
    pub fn of(how: &How) -> Option<Self> {
        if (how.method.needs)(&how.given, Task::Classification) != Some(ExtraPass::Expansion) {
            return None;
        }
        Some(Self {
            utility: chosen(how, &UTILITY, &UTILITIES).unwrap_or_default(),
            spread: chosen(how, &SPREAD, &SPREADS).unwrap_or_default(),
            small_ridge: how.number(&SMALL_RIDGE),
            shift: match how.given.value(&SHIFT) {
                Some(Value::Number(shift)) => Shift::Given(*shift),
                Some(_) => Shift::Measured,
                None => Shift::Default,
            },
            seed: how.seed(),
        })
    }

    /// The options of core; `measured` is the shift if it was measured.
    pub(super) fn options(&self, measured: Option<f64>) -> SecondOrderOptions {
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

    /// The options of core with more than two labels.
    pub(super) fn softmax_options(&self, fit: LogisticOptions) -> SoftmaxOptions {
        SoftmaxOptions {
            intercept: fit.intercept,
            allow_dependent: fit.allow_dependent,
            max_passes: fit.max_passes,
            spread: self.spread,
            shift: self.options(None).shift,
        }
    }

    /// Whether more than two labels are told apart by one model of all of them.
    pub(super) fn takes_softmax(&self, n_classes: usize, dim: usize, ridge: f64) -> bool {
        let is_plain = self.utility == Utility::LogLoss && ridge == 0.0 && self.small_ridge == 0.0;
        is_plain && (n_classes - 1) * dim <= MOST_SOFTMAX_COEFFICIENTS
    }

    /// What a pass for the moments sums at most, with `n_columns` of the design and
    /// no more than `most_rows` rows.
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

    /// The default `q`: the usual one or, without a ridge, a larger one where sets of that size
    /// have no fit.
    pub(crate) fn default_min(&self, model: &LogisticModel, max: usize) -> usize {
        let usual = self.usual_min(model, max);
        match model.options.ridge == 0.0 && !model.default_q.is_first() {
            true => self.min_with_fit(model, usual, max).unwrap_or(usual),
            false => usual,
        }
    }

    /// A `q` that leaves sets enough rows for all coefficients of a model, and for the shift.
    pub(crate) fn usual_min(&self, model: &LogisticModel, max: usize) -> usize {
        let p = model.largest_dim();
        let shift = match (self.shift, &model.second_order) {
            (Shift::Given(shift), _) => Some(shift),
            (Shift::Measured, Some(expanded)) => expanded.shift(),
            _ => None,
        };
        let n_coefficients = match model.fits.len() {
            n @ 3.. if self.takes_softmax(n, p, model.options.ridge) => (n - 1) * p,
            _ => p,
        };
        let least = shift.map_or(0, |shift| SecondOrderModel::default_min_above(shift, p));
        Sizes::default_min(n_coefficients, usize::MAX).max(least).min(max).max(p + 2)
    }
}

/// What an option names, given or by default.
fn chosen<T: Copy>(how: &How, option: &'static OptionEntry, all: &[(&str, T)]) -> Option<T> {
    let Some(Value::Word(chosen)) = how.value(option) else { return None };
    all.iter().find(|(word, _)| *word == chosen).map(|(_, one)| *one)
}

/// The name of one of several things.
pub(super) fn word<T: PartialEq>(all: &[(&'static str, T)], one: &T) -> &'static str {
    all.iter().find(|(_, other)| other == one).map_or("", |(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods;
    use dshap_catalogue::{Given, Kind};

    fn how(given: Given) -> How {
        let method = methods::find("second-order").expect("a method");
        How::new(method, Some(Task::Classification), given).expect("options that go together")
    }

    #[test]
    fn settings_have_defaults() {
        assert_eq!(SecondOrder::of(&how(Given::new())), Some(SecondOrder::default()));
        let gaussian = How { method: methods::default_for(None), given: Given::new() };
        assert_eq!(SecondOrder::of(&gaussian), None);
    }

    #[test]
    fn shifts_are_a_word_or_a_number() {
        let shift = |text: &str| {
            let value = SHIFT.parse(text).ok()?;
            SecondOrder::of(&how(Given::new().with(&SHIFT, value))).map(|choice| choice.shift)
        };
        assert_eq!(shift("measured"), Some(Shift::Measured));
        assert_eq!(shift("-1.5"), Some(Shift::Given(-1.5)));
        for wrong in ["", "default", "nan", "inf"] {
            assert_eq!(shift(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_word_of_the_options_is_known() {
        let words = |option: &OptionEntry| match option.takes {
            Kind::Choice { words } => words.iter().map(|word| word.word).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        assert_eq!(words(&UTILITY), UTILITIES.map(|(word, _)| word));
        assert_eq!(words(&SPREAD), SPREADS.map(|(word, _)| word));
    }
}
