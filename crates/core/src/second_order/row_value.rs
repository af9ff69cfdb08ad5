//! What a row's value is summed from, expansion by expansion.

use super::nodes::NodeWeight;
use super::options::Utility;
use super::terms::{RowForm, RowTerms};
use super::valuer::{Form, SecondOrderValuer};
use crate::Sizes;
use crate::values::{Note, Part, Values};

/// All that is known of a valued row.
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

impl RowValue {
    pub(super) fn value(&self) -> f64 {
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
                // Its own curvature holds a row back, and the sums know that.
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

/// What every row gains alike because the ridge weighs less in a set that is
/// one row larger: `U(β_λ)`, and the mean of what sets fall short of it, change
/// from `λ = γ/s` to `γ/(s + 1)`. With `dU/dλ = rᵀPβ` the first is
/// `−γrᵀPβ/(s(s + 1))`.
fn free_gain(row: &RowForm, weight: &NodeWeight, utility: Utility) -> f64 {
    let expansion = &row.expansion;
    if row.fit.ridge() == 0.0 {
        return 0.0;
    }
    let pull: f64 = expansion.turn.transpose() * &expansion.pull;
    // Smoothed accuracy counts the spread of sets already.
    let mean_change = if utility == Utility::Accuracy { 0.0 } else { weight.mean_change };
    mean_change * expansion.mean_second - weight.target * (expansion.size + 1.0) * pull
}

/// The values of rows, with their parts.
pub(super) fn collect(rows: &[RowValue]) -> Values {
    let column = |field: fn(&RowValue) -> f64| -> Vec<f64> {
        rows.iter().map(|row| if row.note.is_some() { f64::NAN } else { field(row) }).collect()
    };
    let parts = SecondOrderValuer::PARTS.map(|part| {
        let cells = match part {
            Part::Potential => column(|row| row.potential),
            Part::Penalty => column(|row| row.penalty),
            Part::Correction => column(|row| row.correction),
            Part::DistSq => column(|row| row.dist_sq),
            Part::Prob => rows.iter().map(|row| row.prob).collect(),
            _ => rows.iter().map(|row| row.weight).collect(),
        };
        (part, cells)
    });
    Values {
        value: column(RowValue::value),
        parts: parts.into(),
        notes: rows.iter().enumerate().filter_map(|(i, row)| Some((i, row.note?))).collect(),
        ..Values::default()
    }
}
