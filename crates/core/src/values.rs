//! The result: one value per row, in row order.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Values of some rows, with the parts that explain them.
///
/// Rows stay in the order they came in; [`ranking`](Values::ranking) is a view.
/// A row without a value holds NaN and has a [`Note`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values {
    /// The value of each row.
    pub value: Vec<f64>,
    /// Its standard error, if asked for.
    pub std_error: Option<Vec<f64>>,
    /// What explains the value, in the order of the output columns.
    pub parts: Vec<(Part, Vec<f64>)>,
    /// Rows without a value and why, in ascending order.
    pub notes: Vec<(usize, Note)>,
    /// For Algorithm 3, and for bounds with a stopping rule: set sizes visited, and share of the complete sum kept.
    pub truncation: Option<Vec<(usize, f64)>>,
    /// For methods that draw sets: how many were drawn, and how well that worked.
    pub draws: Option<Draws>,
}

/// How sets of reference rows were drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draws {
    /// Rounds drawn; the most of any class.
    pub n_rounds: usize,
    /// Whether the tolerance was reached, in every class.
    pub reached: bool,
    /// Share of the sets that did not determine the coefficients and were
    /// drawn again: values average over the others. The largest of any class.
    pub singular_share: f64,
}

/// A quantity that explains a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// What the row's position would gain with a residual of zero.
    Potential,
    /// What its error costs: value = potential − penalty.
    Penalty,
    /// What a row gains or loses by its pull on a refitted model: value = potential −
    /// penalty + correction.
    Correction,
    /// Squared Mahalanobis distance from the reference.
    DistSq,
    /// Squared residual under the reference fit.
    ResidSq,
    /// Target that the fit predicts, without the row if it is part of the reference.
    Predicted,
    /// Target minus prediction.
    Residual,
    /// Probability of label 1 under the reference fit.
    Prob,
    /// Weight of the row in that fit, `π(1 − π)`.
    Weight,
    /// The class that the row is given as, by its number.
    GivenLabel,
    /// Probability of that class, without the row if it is part of the reference.
    LabelProb,
    /// The most probable class, by its number.
    PredictedLabel,
    /// Logarithm of the density of the reference at the row.
    LogDensity,
    /// A density value without the constant all rows share.
    Relative,
    /// What telling a class from all others contributes to the value.
    ValueOf(usize),
    /// Probability of a class against all others.
    ProbOf(usize),
    /// The value for sets of up to this many rows, where there are several `m`.
    ValueAt(usize),
    /// The standard error of that.
    ErrorAt(usize),
}

impl Part {
    /// What is known about the label of a row.
    pub const OF_LABEL: [Part; 3] = [Part::GivenLabel, Part::LabelProb, Part::PredictedLabel];

    /// The name of the output column; classes are called by their number.
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            Part::Potential => "potential",
            Part::Penalty => "penalty",
            Part::Correction => "correction",
            Part::DistSq => "dist_sq",
            Part::ResidSq => "resid_sq",
            Part::Residual => "residual",
            Part::Prob => "prob",
            Part::Weight => "weight",
            Part::GivenLabel => "given_label",
            Part::LabelProb => "label_prob",
            Part::Predicted | Part::PredictedLabel => "predicted",
            Part::LogDensity => "log_density",
            Part::Relative => "relative",
            Part::ValueOf(class) => return format!("value_{class}").into(),
            Part::ProbOf(class) => return format!("prob_{class}").into(),
            Part::ValueAt(m) => return format!("value_m{m}").into(),
            Part::ErrorAt(m) => return format!("stderr_m{m}").into(),
        };
        name.into()
    }
}

/// Why a row has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The row alone determines a coefficient, so the other rows say nothing about its
    /// value.
    LeverageOne,
    /// The sum has no finite value for a row at the very centre (`q = p + 2`).
    Infinite,
    /// The row measures utility, so it is in no set.
    TestRow,
    /// The sum has no finite value for a row whose weight in the logistic fit
    /// is 0 (`q ≤ p + 4`).
    NoWeight,
    /// The row would move a model refitted on a small set too far for an expansion.
    TooFar,
    /// No other row of the reference has its label, so there is no model without it.
    OnlyOfLabel,
}

impl Note {
    /// The note in words, as in the output.
    pub fn text(self) -> &'static str {
        match self {
            Note::LeverageOne => "leverage 1",
            Note::TestRow => "test row",
            Note::NoWeight => "infinite at weight 0 for q ≤ p + 4",
            Note::Infinite => "infinite at distance 0 for q = p + 2",
            Note::TooFar => "too far out for second order",
            Note::OnlyOfLabel => "only row of its label",
        }
    }
}

/// What is known of one valued row, whatever the method.
pub(crate) trait Valued {
    /// Its value.
    fn value(&self) -> f64;

    /// One of the parts that the method has.
    fn part(&self, part: Part) -> f64;

    /// Why it has no value.
    fn note(&self) -> Option<Note>;
}

impl Values {
    /// The values of rows with these parts, and nothing else.
    pub(crate) fn of<R: Valued>(rows: &[R], parts: Vec<Part>) -> Self {
        let column = |part| (part, rows.iter().map(|row| row.part(part)).collect());
        Self {
            value: rows.iter().map(Valued::value).collect(),
            parts: parts.into_iter().map(column).collect(),
            notes: rows.iter().enumerate().filter_map(|(i, row)| Some((i, row.note()?))).collect(),
            ..Self::default()
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// One of the parts, if the method has it.
    pub fn part(&self, part: Part) -> Option<&[f64]> {
        self.parts.iter().find(|(have, _)| *have == part).map(|(_, column)| column.as_slice())
    }

    /// The values of `len` rows from `start` on. What is known of all rows together
    /// stays as it is.
    pub fn slice(&self, start: usize, len: usize) -> Values {
        let rows = start..start + len;
        let cut = |column: &[f64]| column[rows.clone()].to_vec();
        let notes = self.notes.iter().filter(|(row, _)| rows.contains(row));
        Values {
            value: cut(&self.value),
            std_error: self.std_error.as_deref().map(cut),
            parts: self.parts.iter().map(|(part, column)| (*part, cut(column))).collect(),
            notes: notes.map(|&(row, note)| (row - start, note)).collect(),
            truncation: self.truncation.as_ref().map(|all| all[rows.clone()].to_vec()),
            draws: self.draws,
        }
    }

    /// Row indices from the highest value to the lowest, rows without a value
    /// last. Values of a density hold a constant that may leave them few digits:
    /// where they are equal, [`Part::Relative`] tells rows apart, and then the order
    /// of the rows.
    pub fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let relative = self.part(Part::Relative).filter(|relative| relative.len() == self.len());
        let by_relative = |i: usize, j: usize| match relative {
            Some(relative) => relative[j].total_cmp(&relative[i]),
            None => Ordering::Equal,
        };
        order.sort_by(|&i, &j| {
            let (a, b) = (self.value[i], self.value[j]);
            a.is_nan().cmp(&b.is_nan()).then(b.total_cmp(&a)).then_with(|| by_relative(i, j)).then(i.cmp(&j))
        });
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranking_leaves_values_alone_and_puts_missing_ones_last() {
        let values = Values { value: vec![0.5, f64::NAN, 2.0, -1.0, 2.0], ..Values::default() };
        assert_eq!(values.ranking(), [2, 4, 0, 3, 1]);
    }

    #[test]
    fn a_shared_constant_that_swallows_digits_does_not_change_the_ranking() {
        let relative = [3e-20, 1e-20, 2e-20];
        let value = relative.iter().map(|relative| 1.0 + relative).collect();
        let values = Values { value, parts: vec![(Part::Relative, relative.to_vec())], ..Values::default() };
        assert_eq!(values.ranking(), [0, 2, 1]);
    }
}
