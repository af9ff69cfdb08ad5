//! What is known about a baseline.

use super::SetsModel;
use serde::Serialize;

/// What is known about a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineFacts {
    /// What a set is worth: `squared-error`, `accuracy`, `log-loss` or
    /// `integrated-squared-error`; `none` where nothing is measured.
    pub utility: &'static str,
    /// Whether the points are the rows that sets are made of.
    pub own_reference: bool,
    /// Rows that utility is measured on.
    pub n_test: usize,
    /// Where those come from: `test`, `reference`, `points` or `none`.
    pub test_from: &'static str,
}

impl BaselineFacts {
    /// The facts of a model, for points that are its reference or not.
    pub(super) fn of(model: &SetsModel, own_reference: bool) -> Self {
        let mut facts = Self {
            utility: model.frame.as_ref().map_or("none", |frame| frame.utility_name()),
            own_reference,
            n_test: model.parts.test.n_rows(),
            test_from: model.parts.test_from,
        };
        facts.set_own_reference(own_reference);
        facts
    }

    /// Says whether the points are the rows that sets are made of. A run knows that
    /// better than the model.
    pub fn set_own_reference(&mut self, own_reference: bool) {
        self.own_reference = own_reference;
        if matches!(self.test_from, "points" | "reference") {
            self.test_from = if own_reference { "points" } else { "reference" };
        }
    }
}
