//! Classification by models that are fitted again for each coalition.
//!
//! There are no sufficient statistics, and one Newton step from the fit of all rows is
//! not good enough: its utilities correlate with real refits at 0.77 to 0.90 only. So each
//! coalition has a model of its own, fitted to convergence from the model of all rows.
//! With more than two classes there is one model for each class against the others, and
//! their probabilities are divided by their sum.
//!
//! A coalition whose rows lack a class has no model: it predicts the shares of the classes
//! among the test rows, as nobody does.

use super::game::Game;
use super::held::{HeldMarket, Members};
use super::linear::Parts;
use crate::{Error, Rows};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Solve;
use faer::{Accum, Mat, Par, Side};
use rayon::prelude::*;

/// How a model is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Judged {
    /// Minus the mean log-loss.
    #[default]
    LogLoss,
    /// The share of labels that are predicted.
    Accuracy,
    /// Minus the Brier score: the mean squared error of probabilities.
    Brier,
}

/// A step that changes no margin by more than this is the last: Newton's method squares
/// the error.
const SMALL_STEP: f64 = 1e-7;

/// More steps than a model with a penalty needs.
const MAX_STEPS: usize = 60;

/// Rows whose products are summed at a time.
const PANEL_ROWS: usize = 256;

/// No probability is smaller, so that one row cannot make a loss infinite.
const LEAST_PROB: f64 = 1e-15;

/// Penalties that are tried, as powers of ten of a share of the mean curvature.
const TRIED: std::ops::RangeInclusive<i32> = -6..=0;

/// Logistic regression with a ridge; the intercept is not penalised.
#[derive(Debug, Clone)]
pub struct LogisticGame {
    parts: Parts,
    folds: Vec<Fold>,
    n_classes: usize,
    dim: usize,
    judged: Judged,
    penalty: Vec<f64>,
    ridge: f64,
    n_test: usize,
    /// Shares of the classes among the test rows.
    shares: Vec<f64>,
}

/// Rows that train and test each other.
#[derive(Debug, Clone)]
struct Fold {
    parts: Vec<Block>,
    own: Block,
    test: Block,
    /// Where its test rows are in a trace.
    places: Vec<usize>,
    /// The models of all rows.
    pooled: Vec<Vec<f64>>,
}

/// Rows one after the other, each with a leading one, and their classes.
#[derive(Debug, Clone, Default)]
struct Block {
    cells: Vec<f64>,
    classes: Vec<usize>,
}

/// Columns are centred and scaled, which changes nothing but the conditioning.
struct Scaling {
    centre: Vec<f64>,
    scale: Vec<f64>,
}

impl Scaling {
    fn of(market: &HeldMarket<'_>) -> Self {
        let all: Vec<Rows<'_>> =
            [Some(market.rows), market.own.map(|(rows, _)| rows)].into_iter().flatten().collect();
        let n = all.iter().map(Rows::len).sum::<usize>().max(1) as f64;
        let column =
            |j: usize| all.iter().flat_map(move |rows| (0..rows.len()).map(move |i| rows.x()[(i, j)]));
        let p = market.rows.n_features();
        let centre: Vec<f64> = (0..p).map(|j| column(j).sum::<f64>() / n).collect();
        let scale = (0..p)
            .map(|j| {
                let spread = (column(j).map(|cell| (cell - centre[j]).powi(2)).sum::<f64>() / n).sqrt();
                if spread > 0.0 { 1.0 / spread } else { 1.0 }
            })
            .collect();
        Self { centre, scale }
    }

    fn block(&self, rows: Rows<'_>, chosen: &[usize]) -> Block {
        let mut block = Block::default();
        for &row in chosen {
            block.cells.push(1.0);
            let cell = |j: usize| (rows.x()[(row, j)] - self.centre[j]) * self.scale[j];
            block.cells.extend((0..rows.n_features()).map(cell));
            block.classes.push(rows.y()[row] as usize);
        }
        block
    }
}

impl LogisticGame {
    /// The game for labels `0 … n_classes − 1`, with the penalty `(ridge/2)|β|²` on the
    /// summed log-loss, or with one that predicts five folds best.
    ///
    /// # Errors
    ///
    /// [`Error::NoTestRows`], [`Error::FeatureCount`], [`Error::NotFinite`];
    /// [`Error::NotAClass`] for other labels.
    pub fn new(
        market: &HeldMarket<'_>,
        n_classes: usize,
        judged: Judged,
        ridge: Option<f64>,
    ) -> Result<Self, Error> {
        market.check()?;
        for rows in
            [Some(market.rows), market.own.map(|(rows, _)| rows), Some(market.test)].into_iter().flatten()
        {
            let is_class = |label: &f64| *label >= 0.0 && *label < n_classes as f64 && label.fract() == 0.0;
            if let Some(row) = rows.y().iter().position(|label| !is_class(label)) {
                return Err(Error::NotAClass { row, n_classes });
            }
        }
        let scaling = Scaling::of(market);
        let dim = market.rows.n_features() + 1;
        let mut counts = vec![0.0; n_classes];
        market.test.y().iter().for_each(|label| counts[*label as usize] += 1.0);
        let n_test = market.test.len();
        let shares = counts.iter().map(|count| count / n_test as f64).collect();
        let ridge = match ridge {
            Some(ridge) => ridge,
            None => choose(market, &scaling, n_classes),
        };
        let penalty = penalties(ridge, &scaling);
        let folds = market
            .folds()
            .into_iter()
            .map(|fold| {
                let (parts, own) = market.trained_on(fold);
                let places = market.tests_of(fold);
                let own = market.own.map_or_else(Block::default, |(rows, _)| scaling.block(rows, &own));
                Fold {
                    parts: parts.iter().map(|rows| scaling.block(market.rows, rows)).collect(),
                    own,
                    test: scaling.block(market.test, &places),
                    places,
                    pooled: Vec::new(),
                }
            })
            .collect();
        let mut game = Self {
            parts: market.parts.clone(),
            folds,
            n_classes,
            dim,
            judged,
            penalty,
            ridge,
            n_test,
            shares,
        };
        let pooled: Vec<Vec<Vec<f64>>> = game
            .folds
            .par_iter()
            .map(|fold| {
                let blocks: Vec<&Block> = fold.parts.iter().chain([&fold.own]).collect();
                let start = vec![vec![0.0; dim]; n_models(n_classes)];
                fit(&blocks, start, &game.penalty, dim)
            })
            .collect();
        game.folds.iter_mut().zip(pooled).for_each(|(fold, pooled)| fold.pooled = pooled);
        Ok(game)
    }

    /// The penalty γ.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// What a prediction is worth where the class is `class`.
    fn worth(&self, probs: &[f64], class: usize) -> f64 {
        match self.judged {
            Judged::LogLoss => probs[class].max(LEAST_PROB).ln(),
            Judged::Accuracy => {
                let most = probs.iter().fold(0.0, |most: f64, prob| most.max(*prob));
                let n_most = probs.iter().filter(|prob| **prob == most).count();
                if probs[class] == most { 1.0 / n_most as f64 } else { 0.0 }
            }
            Judged::Brier if probs.len() == 2 => -(1.0 - probs[class]).powi(2),
            Judged::Brier => {
                let error = |(c, prob): (usize, &f64)| (prob - f64::from(u8::from(c == class))).powi(2);
                -probs.iter().enumerate().map(error).sum::<f64>()
            }
        }
    }
}

/// One model for two classes, one for each of more.
fn n_models(n_classes: usize) -> usize {
    if n_classes == 2 { 1 } else { n_classes }
}

/// The class that a model tells from the others.
fn positive(model: usize, n_models: usize) -> usize {
    if n_models == 1 { 1 } else { model }
}

/// Penalties of scaled columns; none for the intercept.
fn penalties(ridge: f64, scaling: &Scaling) -> Vec<f64> {
    std::iter::once(0.0).chain(scaling.scale.iter().map(|scale| ridge * scale * scale)).collect()
}

/// The probabilities of all classes at a row.
fn probabilities(models: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    let margin = |beta: &Vec<f64>| beta.iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
    if let [beta] = models {
        let margin = margin(beta);
        return vec![logistic(-margin), logistic(margin)];
    }
    let each: Vec<f64> = models.iter().map(|beta| logistic(margin(beta))).collect();
    let sum: f64 = each.iter().sum();
    each.iter().map(|prob| if sum > 0.0 { prob / sum } else { 1.0 / each.len() as f64 }).collect()
}

/// `1/(1 + e^{−t})`.
fn logistic(t: f64) -> f64 {
    let tail = (-t.abs()).exp();
    if t >= 0.0 { 1.0 / (1.0 + tail) } else { tail / (1.0 + tail) }
}

/// `ln(1 + e^t)`.
fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// The models of some rows, from `start` on.
fn fit(blocks: &[&Block], mut start: Vec<Vec<f64>>, penalty: &[f64], dim: usize) -> Vec<Vec<f64>> {
    let n_models = start.len();
    for (model, beta) in start.iter_mut().enumerate() {
        newton(blocks, positive(model, n_models), penalty, dim, beta);
    }
    start
}

/// Newton's method with halved steps where a whole one overshoots.
fn newton(blocks: &[&Block], class: usize, penalty: &[f64], dim: usize, beta: &mut Vec<f64>) {
    let mut at = Expansion::at(blocks, class, penalty, dim, beta);
    for _ in 0..MAX_STEPS {
        let Ok(factor) = at.hessian.llt(Side::Lower) else { return };
        let step = factor.solve(&at.gradient);
        let largest = blocks
            .iter()
            .flat_map(|block| block.cells.chunks_exact(dim))
            .map(|x| x.iter().enumerate().map(|(j, x)| x * step[(j, 0)]).sum::<f64>().abs())
            .fold(0.0, f64::max);
        let moved = |length: f64| -> Vec<f64> {
            beta.iter().enumerate().map(|(j, b)| b - length * step[(j, 0)]).collect()
        };
        if largest < SMALL_STEP {
            *beta = moved(1.0);
            return;
        }
        let mut length = 1.0;
        let next = loop {
            let trial = moved(length);
            let reached = Expansion::at(blocks, class, penalty, dim, &trial);
            if reached.objective <= at.objective + 1e-13 * (1.0 + at.objective.abs()) {
                break Some((trial, reached));
            }
            length *= 0.5;
            if length < 1e-9 {
                break None;
            }
        };
        // Rounding alone keeps a step from going down: this is the end.
        let Some((trial, reached)) = next else { return };
        (*beta, at) = (trial, reached);
    }
}

/// Objective, gradient and curvature.
struct Expansion {
    objective: f64,
    gradient: Mat<f64>,
    hessian: Mat<f64>,
}

impl Expansion {
    fn at(blocks: &[&Block], class: usize, penalty: &[f64], dim: usize, beta: &[f64]) -> Self {
        let mut objective: f64 = penalty.iter().zip(beta).map(|(g, b)| 0.5 * g * b * b).sum();
        let mut gradient = Mat::from_fn(dim, 1, |j, _| penalty[j] * beta[j]);
        // A tiny penalty keeps the intercept's curvature positive where all probabilities are 0 or 1.
        let mut hessian = Mat::from_fn(dim, dim, |i, j| if i == j { penalty[j].max(1e-12) } else { 0.0 });
        let mut panel = Mat::<f64>::zeros(PANEL_ROWS, dim);
        for block in blocks {
            let chunks = block.cells.chunks(PANEL_ROWS * dim).zip(block.classes.chunks(PANEL_ROWS));
            for (cells, classes) in chunks {
                for (i, (x, &label)) in cells.chunks_exact(dim).zip(classes).enumerate() {
                    let margin: f64 = x.iter().zip(beta).map(|(x, b)| x * b).sum();
                    let is_positive = label == class;
                    objective += softplus(if is_positive { -margin } else { margin });
                    let residual = if is_positive { -logistic(-margin) } else { logistic(margin) };
                    let root = (logistic(margin) * logistic(-margin)).sqrt();
                    for (j, x) in x.iter().enumerate() {
                        gradient[(j, 0)] += residual * x;
                        panel[(i, j)] = root * x;
                    }
                }
                let panel = panel.as_ref().subrows(0, classes.len());
                triangular::matmul(
                    hessian.as_mut(),
                    BlockStructure::TriangularLower,
                    Accum::Add,
                    panel.transpose(),
                    BlockStructure::Rectangular,
                    panel,
                    BlockStructure::Rectangular,
                    1.0,
                    Par::Seq,
                );
            }
        }
        Self { objective, gradient, hessian }
    }
}

/// The penalty that predicts the folds of all rows best.
fn choose(market: &HeldMarket<'_>, scaling: &Scaling, n_classes: usize) -> f64 {
    let dim = market.rows.n_features() + 1;
    let n_folds = market.fold.iter().max().map_or(0, |last| last + 1);
    let in_fold = |fold: usize, is_in: bool| -> Vec<usize> {
        (0..market.rows.len()).filter(|&row| (market.fold[row] == fold) == is_in).collect()
    };
    let pairs: Vec<(Block, Block)> = (0..n_folds)
        .map(|fold| {
            (
                scaling.block(market.rows, &in_fold(fold, false)),
                scaling.block(market.rows, &in_fold(fold, true)),
            )
        })
        .filter(|(train, test)| !test.classes.is_empty() && has_all(&[train], n_classes))
        .collect();
    // Curvature is at most a quarter per row; the unit is that of the average column as given.
    let squares = scaling.scale.iter().map(|scale| 1.0 / (scale * scale)).sum::<f64>();
    let unit = 0.25 * market.rows.len().max(1) as f64 * squares / (dim - 1).max(1) as f64;
    let tried: Vec<(f64, f64)> = TRIED
        .into_par_iter()
        .map(|power| {
            let ridge = unit * 10_f64.powi(power);
            let penalty = penalties(ridge, scaling);
            let loss = |(train, test): &(Block, Block)| -> f64 {
                let start = vec![vec![0.0; dim]; n_models(n_classes)];
                let models = fit(&[train], start, &penalty, dim);
                let rows = test.cells.chunks_exact(dim).zip(&test.classes);
                rows.map(|(x, &class)| -probabilities(&models, x)[class].max(LEAST_PROB).ln()).sum()
            };
            (pairs.iter().map(loss).sum(), ridge)
        })
        .collect();
    let best = tried.into_iter().min_by(|one, two| one.0.total_cmp(&two.0));
    best.filter(|_| !pairs.is_empty()).map_or(1.0, |(_, ridge)| ridge)
}

/// Whether rows have every class.
fn has_all(blocks: &[&Block], n_classes: usize) -> bool {
    let mut has = vec![false; n_classes];
    blocks.iter().flat_map(|block| &block.classes).for_each(|&class| has[class] = true);
    has.into_iter().all(|has| has)
}

impl Game for LogisticGame {
    type Coalition = Members;

    fn n_owners(&self) -> usize {
        self.parts.n_owners()
    }

    fn nobody(&self) -> Members {
        Members::nobody(&self.parts)
    }

    fn join(&self, coalition: &mut Members, owner: usize) {
        coalition.join(&self.parts, owner);
    }

    fn trace_len(&self) -> usize {
        self.n_test
    }

    fn utility(&self, coalition: &Members, trace: &mut [f64]) -> Result<f64, Error> {
        for fold in &self.folds {
            let blocks: Vec<&Block> =
                coalition.parts().map(|part| &fold.parts[part]).chain([&fold.own]).collect();
            let models = has_all(&blocks, self.n_classes)
                .then(|| fit(&blocks, fold.pooled.clone(), &self.penalty, self.dim));
            let rows = fold.test.cells.chunks_exact(self.dim).zip(&fold.test.classes);
            for ((x, &class), &place) in rows.zip(&fold.places) {
                trace[place] = match &models {
                    Some(models) => self.worth(&probabilities(models, x), class),
                    None => self.worth(&self.shares, class),
                };
            }
        }
        Ok(trace.iter().sum::<f64>() / self.n_test as f64)
    }
}
