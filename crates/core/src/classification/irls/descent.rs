//! How far a step of Newton's method may go, and when there are no more steps.

/// How far the coefficients may be from the maximum, as the square of a share
/// of their own standard errors (the Newton decrement).
const DECREMENT: f64 = 1e-25;

/// Enough if rounding keeps the decrement from falling further.
const DECREMENT_ROUNDED: f64 = 1e-13;

/// The last step may not have moved any row's predictor by more than this:
/// under separation steps stay near 1 however small the decrement becomes.
const LAST_MOVE: f64 = 1e-2;

/// Steps that still move a predictor by this much after [`PATIENCE`] passes suggest
/// separation, and do so again every [`PATIENCE_MORE`] passes.
const SUSPICIOUS_MOVE: f64 = 0.5;
const PATIENCE: usize = 16;
const PATIENCE_MORE: usize = 6;

/// Rounding alone may increase a sum of losses by this share of itself.
pub(crate) const LOSS_NOISE: f64 = 1e-12;

/// If this many halvings do not help, the step is useless.
const MAX_HALVINGS: usize = 40;

/// Newton's method for any model: what is known about the coefficients accepted last,
/// and the share of the step from there that is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descent {
    /// Infinite if there is nothing to compare the next pass with.
    pub(crate) objective: f64,
    decrement: f64,
    share: f64,
    n_halvings: usize,
    n_accepted: usize,
    next_suspicion: usize,
}

impl Descent {
    pub(crate) fn new(objective: f64, decrement: f64) -> Self {
        Self { objective, decrement, share: 1.0, n_halvings: 0, n_accepted: 0, next_suspicion: PATIENCE }
    }

    /// The same method after a change of the model.
    pub(crate) fn anew(self) -> Self {
        Self { objective: f64::INFINITY, decrement: f64::INFINITY, ..self }
    }

    /// The share of the step that is tried; 0 if there is no further step.
    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Steps that were accepted.
    pub(crate) fn n_accepted(&self) -> usize {
        self.n_accepted
    }

    /// Halves the step if the objective there is above `limit`, unless it was halved
    /// often enough; returns whether it did.
    pub(crate) fn halves(&mut self, objective: f64, limit: f64) -> bool {
        let halves = objective > limit && self.n_halvings < MAX_HALVINGS;
        if halves {
            self.share *= 0.5;
            self.n_halvings += 1;
        }
        halves
    }

    /// Whether a step that moved no predictor by more than `largest_move` was the last
    /// one; `decrement` is that of the next step.
    pub(crate) fn has_settled(&self, decrement: f64, largest_move: f64) -> bool {
        let is_rounded = decrement <= DECREMENT_ROUNDED && decrement >= 0.25 * self.decrement;
        largest_move <= LAST_MOVE && (decrement <= DECREMENT || is_rounded)
    }

    /// Whether a step that moved a predictor by `largest_move` suggests separation.
    pub(crate) fn is_suspect(&self, largest_move: f64, is_last_pass: bool) -> bool {
        largest_move >= SUSPICIOUS_MOVE && (self.n_accepted >= self.next_suspicion || is_last_pass)
    }

    /// Goes on from the new coefficients.
    pub(crate) fn accept(&mut self, objective: f64, decrement: f64) {
        let n_accepted = self.n_accepted + 1;
        *self = Self { objective, decrement, share: 1.0, n_halvings: 0, n_accepted, ..*self };
    }

    /// Goes on after a suspicion of separation was wrong.
    pub(crate) fn clear(&mut self) {
        self.next_suspicion = self.n_accepted + PATIENCE_MORE;
    }

    /// Takes no further step.
    pub(crate) fn stop(&mut self) {
        self.share = 0.0;
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.share == 0.0
    }
}
