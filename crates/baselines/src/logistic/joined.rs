//! Models of a set with one more row, for many rows together.
//!
//! Each starts from the exact answer to a simpler question, in which the rows of the set
//! act by their Hessian `H` and the new row by its own loss. From there it takes steps of
//! Broyden's method, with `H` and the weight of the new row as the first guess of the
//! Hessian. A step only needs the gradient, which [`Frame`] has for all models at once,
//! and few steps are needed, because one row changes little. A model that needs many is
//! left to Newton's method.

use super::frame::Frame;
use super::newton::probability;
use crate::symmetric::{add_scaled, wide_dot};

/// The error of the margins of a finished model is below this. Newton's method stops at
/// about the same error.
const OFF_AT_MOST: f64 = 1e-11;

/// A step this much shorter than the one before may be chance and does not predict the
/// next one.
const LEAST_CONTRACTION: f64 = 1e-4;

/// Sweeps over the set before a model counts as difficult.
const MAX_SWEEPS: usize = 20;

/// Sweeps with memory allocated from the start.
const USUAL_SWEEPS: usize = 8;

/// Steps of the one-dimensional problem a model starts from; more than any takes.
const MAX_START_STEPS: usize = 60;

/// A start with this error is as good as an exact one.
const START_TOLERANCE: f64 = 1e-4;

/// Models of a set with one more row.
#[derive(Debug)]
pub(super) struct Joined {
    /// How coefficients differ from those of the set alone, model after model.
    pub(super) changes: Vec<f64>,
    /// Which of them were found.
    pub(super) is_found: Vec<bool>,
}

/// Fits the set of `frame` with each of `rows`, one at a time; `signs` are those of
/// their labels.
pub(super) fn join(frame: &Frame<'_>, rows: &[f64], signs: &[f64]) -> Joined {
    let dim = frame.dim();
    let turned = frame.turned(rows);
    let starts = rows.chunks_exact(dim).zip(turned.chunks_exact(dim)).zip(signs);
    let mut models: Vec<Model<'_>> =
        starts.map(|((x, row), &sign)| Model::new(row, sign, frame.margin(x))).collect();
    let mut places = Vec::with_capacity(rows.len());
    let mut under_way: Vec<&mut Model<'_>> = models.iter_mut().collect();
    for _ in 0..MAX_SWEEPS {
        places.clear();
        under_way.iter().for_each(|model| places.extend_from_slice(&model.place));
        let mut gradients = frame.gradients(&places);
        for (model, gradient) in under_way.iter_mut().zip(gradients.chunks_exact_mut(dim)) {
            model.step(gradient, frame.largest_norm());
        }
        under_way.retain(|model| !model.is_found);
        if under_way.is_empty() {
            break;
        }
    }
    // Models that were not found are reset, so that nobody uses them.
    under_way.into_iter().for_each(|model| model.place.fill(0.0));
    let is_found = models.iter().map(|model| model.is_found).collect();
    places.clear();
    models.iter().for_each(|model| places.extend_from_slice(&model.place));
    Joined { changes: frame.turned_back(places), is_found }
}

/// A model in progress, in the coordinates of a [`Frame`].
struct Model<'a> {
    /// The row that joined, the sign of its label, its margin under the set's model,
    /// its norm.
    row: &'a [f64],
    sign: f64,
    margin: f64,
    norm: f64,
    /// `w/(1 + w‖x̃‖²)`: by Sherman and Morrison `(I + w·x̃x̃ᵀ)⁻¹` is `I` less that
    /// times `x̃x̃ᵀ`.
    shrinkage: f64,
    place: Vec<f64>,
    /// All steps so far, one after the other, and their squared lengths.
    steps: Vec<f64>,
    squares: Vec<f64>,
    /// Length of the last step, by the first guess of the Hessian.
    length: f64,
    is_found: bool,
}

impl<'a> Model<'a> {
    fn new(row: &'a [f64], sign: f64, margin: f64) -> Self {
        let norm_sq = wide_dot(row, row);
        let signed = start(sign * margin, norm_sq);
        let prob = probability(signed);
        let weight = prob * probability(-signed);
        Self {
            row,
            sign,
            margin,
            norm: norm_sq.sqrt(),
            shrinkage: weight / (1.0 + weight * norm_sq),
            place: row.iter().map(|x| -sign * prob * x).collect(),
            steps: Vec::with_capacity(row.len() * USUAL_SWEEPS),
            squares: Vec::with_capacity(USUAL_SWEEPS),
            // Before the first: it shortens nothing.
            length: f64::MIN_POSITIVE,
            is_found: false,
        }
    }

    /// One step of Broyden's method, from the gradient of the set without the row, which
    /// is overwritten. It is the last one if the remaining error is small: about its
    /// length times the ratio of the last two. No margin moves by more than that times
    /// the largest norm of a row.
    fn step(&mut self, gradient: &mut [f64], largest_norm: f64) {
        let dim = self.row.len();
        let margin = self.margin + wide_dot(self.row, &self.place);
        add_scaled(gradient, self.sign * probability(self.sign * margin), self.row);
        let along = self.shrinkage * wide_dot(self.row, gradient);
        add_scaled(gradient, -along, self.row);
        let step = gradient;
        step.iter_mut().for_each(|cell| *cell = -*cell);
        let length = wide_dot(step, step).sqrt();

        // Every earlier step shows the error of its prediction, which was the step after
        // it.
        for (k, square) in self.squares.iter().enumerate() {
            let (before, after) = self.steps[k * dim..].split_at(dim);
            let share = wide_dot(before, step) / square;
            match after.get(..dim) {
                Some(next) => add_scaled(step, share, next),
                None => step.iter_mut().for_each(|cell| *cell /= 1.0 - share),
            }
        }
        add_scaled(&mut self.place, 1.0, step);
        self.squares.push(wide_dot(step, step));
        self.steps.extend_from_slice(step);
        let contraction = (length / self.length).clamp(LEAST_CONTRACTION, 1.0);
        self.is_found = length * contraction * largest_norm.max(self.norm) < OFF_AT_MOST;
        self.length = length;
    }
}

/// `t` with `t + norm_sq·σ(t) = signed`: the signed margin of a row after it joined a
/// set that pulls by its Hessian alone.
fn start(signed: f64, norm_sq: f64) -> f64 {
    let (mut low, mut high) = (signed - norm_sq, signed);
    let mut t = signed;
    for _ in 0..MAX_START_STEPS {
        let prob = probability(t);
        let excess = t + norm_sq * prob - signed;
        if excess > 0.0 {
            high = t
        } else {
            low = t
        }
        let newton = t - excess / (1.0 + norm_sq * prob * (1.0 - prob));
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - t).abs() < START_TOLERANCE {
            return next;
        }
        t = next;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logistic::frame::sign;
    use crate::logistic::newton::{Members, fit};

    /// A set that a line separates, with a tiny ridge, has almost no Hessian: a row that
    /// fits in is easy, one that contradicts it turns the model over.
    #[test]
    fn a_row_that_turns_the_model_over_is_left_to_others() {
        let rows = [-2.0, 1.0, -1.0, 1.0, 1.0, 1.0, 2.0, 1.0];
        let labels = [0, 0, 1, 1];
        let (penalty, mut beta) = ([1e-6, 0.0], [0.0, 0.0]);
        fit(&Members::all(&rows, &labels), 1, &penalty, &mut beta);
        let frame = Frame::new(&rows, &labels, 1, &penalty, &beta).expect("the ridge holds it");
        let joined = join(&frame, &[5.0, 1.0, 1.5, 1.0], &[sign(1, 1), sign(0, 1)]);
        assert_eq!(joined.is_found, [true, false]);
        assert_eq!(joined.changes[2..], [0.0, 0.0]);
    }

    #[test]
    fn starts_solve_their_equation() {
        for signed in [-40.0, -3.0, 0.0, 0.4, 5.0, 300.0] {
            for norm_sq in [0.0, 1e-3, 0.7, 20.0, 1e6] {
                let t = start(signed, norm_sq);
                let slope = 1.0 + norm_sq * probability(t) * probability(-t);
                let error = (t + norm_sq * probability(t) - signed) / slope;
                assert!(error.abs() < 2.0 * START_TOLERANCE, "{signed}, {norm_sq}: {t} is off by {error}");
            }
        }
    }
}
