//! What a row's value is summed from, expansion by expansion.

use super::nodes::NodeWeight;
use super::options::Utility;
use super::terms::{RowForm, RowTerms};
use super::valuer::Form;
use crate::Sizes;
use crate::values::{Note, Part, Valued};

/// Everything known about a valued row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RowValue {
    potential: f64,
    penalty: f64,
    correction: f64,
    pub(super) dist_sq: f64,
    pub(super) prob: f64,
    pub(super) weight: f64,
    /// By how much the row moves its own log-odds in the smallest set.
    pub(super) moves: f64,
    pub(super) note: Option<Note>,
}

impl Valued for RowValue {
    fn value(&self) -> f64 {
        if self.note.is_some() { f64::NAN } else { self.sum() }
    }

    fn part(&self, part: Part) -> f64 {
        let known = |cell: f64| if self.note.is_some() { f64::NAN } else { cell };
        match part {
            Part::Potential => known(self.potential),
            Part::Penalty => known(self.penalty),
            Part::Correction => known(self.correction),
            Part::DistSq => known(self.dist_sq),
            Part::Prob => self.prob,
            _ => self.weight,
        }
    }

    fn note(&self) -> Option<Note> {
        self.note
    }
}

impl RowValue {
    /// The sum of its parts, whether it is a value or not.
    pub(super) fn sum(&self) -> f64 {
        self.potential - self.penalty + self.correction
    }

    /// Adds what one expansion contributes.
    pub(super) fn add(
        &mut self,
        node: usize,
        terms: &RowTerms,
        form: &Form,
        row: &RowForm,
        sizes: Sizes,
        utility: Utility,
    ) {
        let smallest = sizes.min() as f64;
        match form {
            Form::Resummed { sizes: shifted, .. } => {
                let m = sizes.max() as f64;
                // A row's own curvature limits its move, and the sums include that.
                self.moves = terms.pull / (smallest + terms.dist_sq);
                let (s1, s2) = shifted.sums(terms.dist_sq);
                self.potential = 0.5 * terms.spread * (s1 + s2) / m;
                self.penalty = -0.5 * terms.second_square * s2 / m;
                self.correction = (0.5 * terms.third_linear + terms.ridge) * s2 / m;
            }
            Form::Nodes(weights) => {
                let weight = &weights[node];
                if node == 0 {
                    self.moves = terms.pull / smallest;
                }
                self.potential +=
                    weight.third * terms.third_position - weight.mean_second * terms.mean_second;
                self.potential += free_gain(row, weight, utility);
                self.penalty -= weight.second * terms.second_square;
                self.correction += weight.first * terms.first
                    + weight.second * (terms.second_linear + 2.0 * terms.ridge)
                    + weight.third * terms.third_linear;
            }
        }
        if row.fit.ridge() == 0.0 {
            (self.dist_sq, self.prob, self.weight) = (terms.dist_sq, terms.prob, terms.weight);
        }
    }
}

/// What every row gains because the ridge matters less in a set with one more row:
/// `U(β_λ)`, and the mean shortfall of sets, change from `λ = γ/s` to `γ/(s + 1)`. With
/// `dU/dλ = rᵀPβ` the first is `−γrᵀPβ/(s(s + 1))`.
fn free_gain(row: &RowForm, weight: &NodeWeight, utility: Utility) -> f64 {
    let expansion = &row.expansion;
    if row.fit.ridge() == 0.0 {
        return 0.0;
    }
    let pull: f64 = expansion.turn.transpose() * &expansion.pull;
    // Smoothed accuracy already includes the spread of sets.
    let mean_change = if utility == Utility::Accuracy { 0.0 } else { weight.mean_change };
    mean_change * expansion.mean_second - weight.target * (expansion.size + 1.0) * pull
}
