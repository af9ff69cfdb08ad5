//! How rows are valued: the method and its settings.

use crate::method::Method;
use dshap_catalogue::options::{
    CONVENTION, DEPENDENT, M, NO_INTERCEPT, Q, REFIT_INTERCEPT, RIDGE, SEED, SEMIVALUE,
};
use dshap_catalogue::{Default as Usual, Given, OptionEntry, Task, Value, check};

/// The ridge that `auto` stands for, for standardised features. docs/accuracy.md has the
/// tables it was chosen on.
pub const AUTOMATIC_RIDGE: f64 = 1.0;

/// The ridge of logistic models.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticRidge {
    /// `γ`.
    pub ridge: f64,
    /// Whether it is for standardised features instead of features as given.
    pub standardised: bool,
}

/// A method with its settings.
#[derive(Debug, Clone)]
pub struct How {
    /// The method.
    pub method: &'static Method,
    /// The options as given; the rest is by default.
    pub given: Given,
}

impl How {
    /// A method with the options given for it, checked without the task while
    /// that is not known.
    ///
    /// # Errors
    ///
    /// [`Misuse`](crate::Error::Misuse).
    pub fn new(method: &'static Method, task: Option<Task>, given: Given) -> Result<Self, crate::Error> {
        check(&method.entry, task, &given, &crate::methods::entries())?;
        Ok(Self { method, given })
    }

    /// The value of an option, given or by default; none where the default is not a
    /// value but depends on the data.
    pub fn value(&self, option: &'static OptionEntry) -> Option<Value> {
        self.given.value(option).cloned().or_else(|| self.default(option))
    }

    /// The default of an option for this method.
    pub fn default(&self, option: &'static OptionEntry) -> Option<Value> {
        if let Some(default) = (self.method.default)(&self.given, option) {
            return Some(default);
        }
        match self.method.entry.takes(option, None)?.default {
            Usual::Number(number) => Some(Value::Number(number)),
            Usual::Count(count) => Some(Value::Count(count)),
            Usual::Word(word) => Some(Value::Word(word.into())),
            Usual::Usual | Usual::Depends(_) => None,
        }
    }

    /// A number, given or by default.
    ///
    /// # Panics
    ///
    /// If the method has no default for the option: a mistake in its entry.
    pub fn number(&self, option: &'static OptionEntry) -> f64 {
        match self.value(option) {
            Some(Value::Number(number)) => number,
            Some(Value::Count(count)) => count as f64,
            _ => panic!("method `{}` has no number `{}`", self.method.name(), option.name),
        }
    }

    /// A count, given or by default.
    ///
    /// # Panics
    ///
    /// As [`number`](Self::number).
    pub fn count(&self, option: &'static OptionEntry) -> usize {
        match self.value(option) {
            Some(Value::Count(count)) => usize::try_from(count).unwrap_or(usize::MAX),
            _ => panic!("method `{}` has no count `{}`", self.method.name(), option.name),
        }
    }

    /// The set sizes as given.
    pub fn sizes(&self) -> SizeChoice {
        SizeChoice { min: self.given.size(&Q), max: self.given.size(&M) }
    }

    /// With other set sizes; those that are absent are chosen by default.
    pub fn with_sizes(&self, sizes: SizeChoice) -> Self {
        let mut given = self.given.clone().without(&Q).without(&M);
        if let Some(q) = sizes.min {
            given = given.with(&Q, Value::Count(q as u64));
        }
        if let Some(m) = sizes.max {
            given = given.with(&M, Value::Count(m as u64));
        }
        Self { method: self.method, given }
    }

    /// With how a fit was made, as a valuer file has it.
    pub(crate) fn with_fit_options(
        self,
        intercept: bool,
        refit_intercept: bool,
        allow_dependent: bool,
    ) -> Self {
        let mut given = self.given;
        if !intercept && !given.has(&NO_INTERCEPT) && self.method.entry.takes(&NO_INTERCEPT, None).is_some() {
            given = given.with(&NO_INTERCEPT, Value::On);
        }
        if refit_intercept {
            given = given.with(&REFIT_INTERCEPT, Value::On);
        }
        if !allow_dependent {
            given = given.with(&DEPENDENT, Value::Word("error".into()));
        }
        Self { method: self.method, given }
    }

    /// The seed of everything drawn.
    pub fn seed(&self) -> u64 {
        self.given.count(&SEED).unwrap_or(0)
    }

    /// How much each set size counts.
    pub fn semivalue(&self) -> dshap::Semivalue {
        // Words that are no semivalue do not pass the catalogue.
        self.given.word(&SEMIVALUE).and_then(|word| word.parse().ok()).unwrap_or_default()
    }

    /// Whether sums are as printed in the paper.
    pub fn is_printed(&self) -> bool {
        self.given.is(&CONVENTION, "printed")
    }

    /// Whether sums are those of the paper or of its authors' program, errors included.
    pub fn is_as_published(&self) -> bool {
        self.is_printed() || self.given.is(&CONVENTION, "authors")
    }

    /// The ridge of logistic models: that given, else one that every fit exists with,
    /// unless other options ask for a model without.
    pub fn logistic_ridge(&self) -> LogisticRidge {
        let is_without = self.is_as_published() || crate::methods::is_without_ridge(&self.given);
        match self.given.number(&RIDGE) {
            Some(ridge) => LogisticRidge { ridge, standardised: false },
            None if is_without && !self.given.has(&RIDGE) => {
                LogisticRidge { ridge: 0.0, standardised: false }
            }
            None => LogisticRidge { ridge: AUTOMATIC_RIDGE, standardised: true },
        }
    }

    /// Whether the model has an intercept.
    pub fn intercept(&self) -> bool {
        !self.given.has(&NO_INTERCEPT)
    }
}

/// `q` and `m` as given; the rest is chosen by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SizeChoice {
    /// `q`, the smallest set whose utility counts.
    pub min: Option<usize>,
    /// `m`, the largest set size.
    pub max: Option<usize>,
}

impl SizeChoice {
    /// The sizes given here, else those given there.
    pub fn or(self, other: SizeChoice) -> SizeChoice {
        SizeChoice { min: self.min.or(other.min), max: self.max.or(other.max) }
    }
}
