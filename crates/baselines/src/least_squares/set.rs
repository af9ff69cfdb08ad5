//! A set of rows and the model fitted to it.

use super::TestMoments;
use crate::symmetric;

/// After this many rank-one updates the inverse is computed again from the Gram matrix;
/// more for wide models, so that a step stays `O(p²)` on average.
const UPDATES: usize = 64;

/// A set of rows, and the least squares fit to it.
#[derive(Debug, Clone)]
pub struct LeastSquaresSet {
    n_rows: usize,
    gram: Vec<f64>,
    cross: Vec<f64>,
    /// `(X_SᵀX_S + γI)⁻¹` and the coefficients, while they belong to the set.
    inverse: Vec<f64>,
    beta: Vec<f64>,
    state: State,
    n_updates: usize,
    /// Whether no column is nearly a combination of others. Otherwise the inverse has
    /// lost digits, and updates would keep that error.
    is_clear: bool,
    /// `Gβ − c` on test rows, and the utility: valid after `measure`.
    gradient: Vec<f64>,
    worth: f64,
    scratch: Vec<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Rows have been added since anything was fitted.
    Stale,
    Fitted,
    /// The rows do not determine the coefficients.
    Undetermined,
}

impl LeastSquaresSet {
    pub(super) fn new(p: usize) -> Self {
        Self {
            n_rows: 0,
            gram: vec![0.0; p * p],
            cross: vec![0.0; p],
            inverse: Vec::new(),
            beta: vec![0.0; p],
            state: State::Stale,
            n_updates: 0,
            is_clear: true,
            gradient: vec![0.0; p],
            worth: 0.0,
            scratch: vec![0.0; p],
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn scratch(&mut self) -> &mut Vec<f64> {
        &mut self.scratch
    }

    /// The inverse and the coefficients, if there are any.
    pub(super) fn fit(&self) -> Option<(&[f64], &[f64])> {
        (self.state == State::Fitted).then_some((&self.inverse, &self.beta))
    }

    pub(super) fn gradient(&self) -> &[f64] {
        &self.gradient
    }

    /// The utility of the set.
    pub(super) fn worth(&self) -> f64 {
        self.worth
    }

    pub(super) fn add(&mut self, x: &[f64], y: f64) {
        self.n_rows += 1;
        symmetric::add_outer(&mut self.gram, 1.0, x);
        symmetric::add_scaled(&mut self.cross, y, x);
        let p = x.len();
        if self.state != State::Fitted || !self.is_clear || self.n_updates >= UPDATES.max(p) {
            self.state = State::Stale;
            return;
        }
        // Sherman and Morrison; `gradient` is free until the set is measured.
        let u = &mut self.gradient;
        symmetric::multiply(&self.inverse, x, u);
        let (leverage, residual) = (symmetric::dot(x, u), y - symmetric::dot(x, &self.beta));
        symmetric::add_outer(&mut self.inverse, -1.0 / (1.0 + leverage), u);
        symmetric::add_scaled(&mut self.beta, residual / (1.0 + leverage), u);
        self.n_updates += 1;
    }

    /// The utility of a set without a fit: 0, unless its numbers were too large to
    /// square.
    pub(super) fn worth_without_fit(&self) -> f64 {
        if self.gram.iter().chain(&self.cross).all(|cell| cell.is_finite()) { 0.0 } else { f64::NAN }
    }

    /// Fits the set unless that is done; returns whether there is a fit.
    pub(super) fn settle(&mut self, penalty: &[f64]) -> bool {
        if self.state != State::Stale {
            return self.state == State::Fitted;
        }
        let p = penalty.len();
        let mut factor = self.gram.clone();
        for (j, penalty) in penalty.iter().enumerate() {
            factor[j * p + j] += penalty;
        }
        let Some(is_clear) = symmetric::factored(&mut factor, p) else {
            self.state = State::Undetermined;
            return false;
        };
        self.is_clear = is_clear;
        self.inverse = symmetric::invert(&factor, p);
        self.beta.copy_from_slice(&self.cross);
        symmetric::solve(&factor, &mut self.beta);
        self.state = State::Fitted;
        self.n_updates = 0;
        true
    }

    /// The utility of the fit on test rows: `2βᵀc − βᵀGβ`.
    pub(super) fn measure(&mut self, test: &TestMoments) -> f64 {
        symmetric::multiply(&test.gram, &self.beta, &mut self.gradient);
        self.worth =
            2.0 * symmetric::dot(&self.beta, &test.cross) - symmetric::dot(&self.beta, &self.gradient);
        symmetric::add_scaled(&mut self.gradient, -1.0, &test.cross);
        self.worth
    }
}
