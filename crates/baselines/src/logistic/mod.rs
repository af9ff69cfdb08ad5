//! Logistic regression: a set is worth how well its model predicts test labels.
//!
//! ```text
//! U(S) = score of the model fitted to S − score of no model
//! ```
//!
//! where the score is accuracy, or minus the mean log-loss. Without a model, only the
//! shares of the labels among the test rows are known: the prediction is the most common
//! label, or these shares. A set has no model, and is worth 0, if it has fewer than
//! `least_rows` rows or lacks one of the labels, as in the program of Ghorbani and Zou.
//!
//! The model is fitted to convergence, by Newton's method from the model of the set
//! before the last row joined or left; models of a set with one more row are fitted
//! together. It has a ridge, because small sets are separable; the intercept is not
//! penalised. With more than two classes there is one model for each against the others;
//! the most probable class is predicted, and for the log-loss probabilities are
//! normalised to add up to 1.

mod accuracy;
mod frame;
mod joined;
mod newton;
mod score;

use crate::Error;
use crate::utility::{Row, Utility, check, gather};
use dshap::Rows;
use frame::{Frame, sign};
use joined::join;
use newton::{Members, fit};
use score::TestRows;

/// How predictions are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Score {
    /// The share of test rows whose label is predicted.
    #[default]
    Accuracy,
    /// Minus the mean of `−ln P(label)`.
    LogLoss,
}

/// How a set is fitted and scored.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `n_classes` | 2 | labels are `0 … n_classes − 1` |
/// | `score` | accuracy | how predictions are scored |
/// | `least_rows` | 1 | sets of fewer rows have no model |
/// | `ridge` | 1 | `γ > 0` of `(γ/2)·Σβ²`, added to the summed log-loss |
/// | `intercept` | yes | whether there is one, never penalised |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticOptions {
    /// Number of labels.
    pub n_classes: usize,
    /// How predictions are scored.
    pub score: Score,
    /// Sets of fewer rows have no model.
    pub least_rows: usize,
    /// `γ`.
    pub ridge: f64,
    /// Whether there is an intercept.
    pub intercept: bool,
}

impl Default for LogisticOptions {
    fn default() -> Self {
        Self { n_classes: 2, score: Score::Accuracy, least_rows: 1, ridge: 1.0, intercept: true }
    }
}

/// The utility: how well a set's model predicts test labels.
#[derive(Debug, Clone)]
pub struct Logistic {
    n_features: usize,
    options: LogisticOptions,
    test: TestRows,
    /// Score of no model.
    baseline: f64,
    /// What is subtracted from features, and what they are then multiplied by.
    centre: Vec<f64>,
    scale: Vec<f64>,
    /// What is added to the diagonal of the Hessian.
    penalty: Vec<f64>,
}

/// A set of rows, and the models fitted to it.
#[derive(Debug, Clone)]
pub struct LogisticSet {
    rows: Vec<f64>,
    labels: Vec<usize>,
    /// Rows of each label.
    counts: Vec<usize>,
    /// Coefficients, model after model; of the last set that was fitted.
    beta: Vec<f64>,
    worth: f64,
}

impl LogisticSet {
    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.labels.len()
    }
}

impl Logistic {
    /// The score is measured on `test`.
    ///
    /// # Errors
    ///
    /// [`dshap::Error::NoTestRows`], [`dshap::Error::InTest`] (also for a label that is
    /// not a class), [`dshap::Error::BadOption`], [`dshap::Error::NoFeatures`].
    pub fn new(test: Rows<'_>, options: LogisticOptions) -> Result<Self, Error> {
        let n_features = test.n_features();
        check(test, n_features).map_err(Error::in_test)?;
        if !(options.ridge.is_finite() && options.ridge > 0.0) {
            return Err(Error::option(
                "the ridge must be a positive number, because small sets are separable",
            ));
        }
        if options.n_classes < 2 {
            return Err(Error::option("at least two classes are needed"));
        }
        if test.is_empty() {
            return Err(dshap::Error::NoTestRows.into());
        }
        if n_features == 0 {
            return Err(dshap::Error::NoFeatures { n_features }.into());
        }
        check_labels(test, options.n_classes).map_err(Error::in_test)?;

        let (centre, scale) = standard(test, options.intercept);
        let dim = n_features + usize::from(options.intercept);
        let mut penalty: Vec<f64> = scale.iter().map(|scale| options.ridge * scale * scale).collect();
        penalty.resize(dim, 0.0);
        let mut x = vec![0.0; n_features];
        let mut cells = Vec::with_capacity(test.len() * dim);
        for row in 0..test.len() {
            gather(test, row, &mut x);
            design(&x, &centre, &scale, options.intercept, &mut cells);
        }
        if !cells.iter().chain(&penalty).all(|cell| cell.is_finite()) {
            return Err(Error::in_test(dshap::Error::TooLarge));
        }
        let labels = test.y().iter().map(|&label| label as usize).collect();
        let test = TestRows::new(cells, dim, labels, options.n_classes, options.score);
        let baseline = test.score_of_no_model();
        Ok(Self { n_features, options, test, baseline, centre, scale, penalty })
    }

    /// With a ridge for standardised features: `(γ/2)·Σ(βⱼsⱼ)²`, given the squares of the
    /// deviations `sⱼ`.
    pub fn with_standardised_ridge(mut self, variances: &[f64]) -> Self {
        for (penalty, variance) in self.penalty.iter_mut().zip(variances) {
            *penalty *= variance;
        }
        self
    }

    /// The score without a model.
    pub fn score_without_model(&self) -> f64 {
        self.baseline
    }

    /// Columns of the model.
    fn dim(&self) -> usize {
        self.penalty.len()
    }

    /// The label that a model predicts the probability of: with one model, label 1
    /// against label 0.
    fn positive(&self, model: usize) -> usize {
        if self.test.n_models() == 1 { 1 } else { model }
    }

    /// Labels were checked when rows were added.
    fn label(&self, row: Row<'_>) -> usize {
        (row.y as usize).min(self.options.n_classes - 1)
    }

    /// Appends the row in the columns of the model.
    fn design(&self, x: &[f64], out: &mut Vec<f64>) {
        design(x, &self.centre, &self.scale, self.options.intercept, out);
    }

    /// Whether a set with these counts of labels has a model.
    fn has_model(&self, counts: &[usize]) -> bool {
        counts.iter().sum::<usize>() >= self.options.least_rows && counts.iter().all(|&count| count > 0)
    }

    /// Fits all models to some rows, starting from `beta`, and returns their utility.
    fn refit(&self, members: &Members<'_>, beta: &mut [f64]) -> f64 {
        for (model, beta) in beta.chunks_exact_mut(self.dim()).enumerate() {
            fit(members, self.positive(model), &self.penalty, beta);
        }
        self.test.score(beta) - self.baseline
    }

    /// Gains of rows that join a set with a model; `None` for a row whose model must be
    /// fitted alone.
    fn gains_together(&self, set: &LogisticSet, rows: &[Row<'_>]) -> Vec<Option<f64>> {
        let mut designs = Vec::with_capacity(rows.len() * self.dim());
        rows.iter().for_each(|row| self.design(row.x, &mut designs));
        let mut is_found = vec![true; rows.len()];
        let mut changes = Vec::with_capacity(self.test.n_models());
        for (model, beta) in set.beta.chunks_exact(self.dim()).enumerate() {
            let positive = self.positive(model);
            let Some(frame) = Frame::new(&set.rows, &set.labels, positive, &self.penalty, beta) else {
                return vec![None; rows.len()];
            };
            let signs: Vec<f64> = rows.iter().map(|&row| sign(self.label(row), positive)).collect();
            let joined = join(&frame, &designs, &signs);
            is_found.iter_mut().zip(joined.is_found).for_each(|(all, one)| *all &= one);
            changes.push(joined.changes);
        }
        let scores = self.test.scores(&set.beta, &changes);
        let gain = |(score, is_found): (f64, bool)| is_found.then_some(score - self.baseline - set.worth);
        scores.into_iter().zip(is_found).map(gain).collect()
    }
}

impl Utility for Logistic {
    type Set = LogisticSet;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn least_rows(&self) -> usize {
        self.options.least_rows
    }

    fn check(&self, rows: Rows<'_>) -> Result<(), dshap::Error> {
        check_labels(rows, self.options.n_classes)
    }

    fn empty(&self) -> LogisticSet {
        LogisticSet {
            rows: Vec::new(),
            labels: Vec::new(),
            counts: vec![0; self.options.n_classes],
            beta: vec![0.0; self.test.n_models() * self.dim()],
            worth: 0.0,
        }
    }

    fn push(&self, set: &mut LogisticSet, row: Row<'_>) {
        let label = self.label(row);
        self.design(row.x, &mut set.rows);
        set.labels.push(label);
        set.counts[label] += 1;
    }

    fn value(&self, set: &mut LogisticSet) -> f64 {
        set.worth = if self.has_model(&set.counts) {
            let members = Members::all(&set.rows, &set.labels);
            self.refit(&members, &mut set.beta)
        } else {
            0.0
        };
        set.worth
    }

    fn gain(&self, set: &LogisticSet, row: Row<'_>) -> f64 {
        let label = self.label(row);
        let mut counts = set.counts.clone();
        counts[label] += 1;
        if !self.has_model(&counts) {
            return -set.worth;
        }
        let mut design = Vec::with_capacity(self.dim());
        self.design(row.x, &mut design);
        let members = Members { more: Some((&design, label)), ..Members::all(&set.rows, &set.labels) };
        self.refit(&members, &mut set.beta.clone()) - set.worth
    }

    fn gains(&self, set: &LogisticSet, rows: &[Row<'_>]) -> Vec<f64> {
        let together = match self.has_model(&set.counts) {
            true => self.gains_together(set, rows),
            false => vec![None; rows.len()],
        };
        let either = |(gain, &row): (Option<f64>, &Row<'_>)| gain.unwrap_or_else(|| self.gain(set, row));
        together.into_iter().zip(rows).map(either).collect()
    }

    fn loss(&self, set: &LogisticSet, index: usize, _row: Row<'_>) -> f64 {
        let mut counts = set.counts.clone();
        counts[set.labels[index]] -= 1;
        if !self.has_model(&counts) {
            return set.worth;
        }
        let members = Members { without: Some(index), ..Members::all(&set.rows, &set.labels) };
        set.worth - self.refit(&members, &mut set.beta.clone())
    }

    fn is_undetermined(&self, set: &LogisticSet) -> bool {
        set.n_rows() >= self.options.least_rows && set.counts.contains(&0)
    }
}

/// Appends a row in the columns of the model.
fn design(x: &[f64], centre: &[f64], scale: &[f64], intercept: bool, out: &mut Vec<f64>) {
    let cells = x.iter().zip(centre).zip(scale);
    out.extend(cells.map(|((x, centre), scale)| (x - centre) * scale));
    out.extend(intercept.then_some(1.0));
}

fn check_labels(rows: Rows<'_>, n_classes: usize) -> Result<(), dshap::Error> {
    let is_class = |label: &f64| label.fract() == 0.0 && (0.0..n_classes as f64).contains(label);
    match rows.y().iter().position(|label| !is_class(label)) {
        Some(row) => Err(dshap::Error::NotAClass { row, n_classes }),
        None => Ok(()),
    }
}

/// Means of the features, and one over their deviations; without an intercept nothing is
/// subtracted.
fn standard(rows: Rows<'_>, is_centred: bool) -> (Vec<f64>, Vec<f64>) {
    let n = rows.len() as f64;
    let columns = (0..rows.n_features()).map(|column| {
        let cells = || rows.x().col(column).iter();
        let mean = if is_centred { cells().sum::<f64>() / n } else { 0.0 };
        let scale = (n / cells().map(|cell| (cell - mean).powi(2)).sum::<f64>()).sqrt();
        (mean, if scale.is_normal() { scale } else { 1.0 })
    });
    columns.unzip()
}
