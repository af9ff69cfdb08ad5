//! A model and the neighbours, fitted to some rows and asked about others.
//!
//! A prediction is a number, or a probability for each class; those of several rows
//! stand one after the other.

use crate::examined::{ASKED, Examined, Kind};
use dshap::classification::{LogisticFit, LogisticOptions};
use dshap::linear::{FitOptions, LinearFit};
use dshap::{Error, Rows};
use dshap_models::AUTOMATIC_RIDGE;
use faer::Mat;

/// Residuals beyond this many robust deviations have bounded influence on a score.
const HUBER: f64 = 1.345;

/// Reweighted fits of a bounded influence.
const HUBER_STEPS: usize = 8;

/// The standard deviation of a normal variable whose median distance from 0 is 1.
pub(crate) const PER_MEDIAN: f64 = 1.482_602_218_505_602;

/// Predictions by two predictors.
pub(crate) struct Both {
    pub(crate) model: Vec<f64>,
    pub(crate) near: Vec<f64>,
}

/// What predictions are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// To find wrong targets: wrong targets of other rows should not matter.
    Scores,
    /// To measure what rows do to an ordinary model.
    Losses,
}

/// Predicts the rows `at` from the rows `train` with targets `y`.
pub(crate) fn predict(
    examined: &Examined,
    y: &[f64],
    train: &[usize],
    at: &[usize],
    purpose: For,
) -> Result<Both, Error> {
    let x = Mat::from_fn(train.len(), examined.x.ncols(), |i, j| examined.x[(train[i], j)]);
    let targets: Vec<f64> = train.iter().map(|&row| y[row]).collect();
    let model = match examined.kind {
        Kind::Numbers => linear(examined, &x, &targets, at, purpose)?,
        Kind::Labels(n_classes) => logistic(examined, &x, &targets, at, n_classes)?,
    };
    Ok(Both { model, near: neighbours(examined, y, train, at, purpose) })
}

/// A linear predictor.
struct Line {
    intercept: f64,
    coef: Vec<(usize, f64)>,
}

impl Line {
    fn at(&self, examined: &Examined, row: usize) -> f64 {
        self.intercept + self.coef.iter().map(|&(j, coef)| coef * examined.x[(row, j)]).sum::<f64>()
    }
}

fn linear(
    examined: &Examined,
    x: &Mat<f64>,
    y: &[f64],
    at: &[usize],
    purpose: For,
) -> Result<Vec<f64>, Error> {
    let rows = Rows::new(x.as_ref(), y)?;
    let line_of = |rows: Rows<'_>| -> Result<Line, Error> {
        let fit = LinearFit::of(rows, FitOptions::default())?;
        let coef = fit.kept().iter().copied().zip(fit.coef().iter().copied()).collect();
        Ok(Line { intercept: fit.intercept_value().unwrap_or(0.0), coef })
    };
    let mut line = line_of(rows)?;
    if purpose == For::Scores {
        for _ in 0..HUBER_STEPS {
            let reach = |i: usize| line.coef.iter().map(|&(j, coef)| coef * x[(i, j)]).sum::<f64>();
            let far: Vec<f64> = (0..y.len()).map(|i| (y[i] - line.intercept - reach(i)).abs()).collect();
            let limit = HUBER * PER_MEDIAN * median(&mut far.clone());
            if limit <= 0.0 {
                break;
            }
            let weights: Vec<f64> =
                far.iter().map(|far| if *far > limit { limit / far } else { 1.0 }).collect();
            line = line_of(rows.with_weights(&weights)?)?;
        }
    }
    Ok(at.iter().map(|&row| line.at(examined, row)).collect())
}

/// One model, or one for each class against the others, whose probabilities are divided
/// by their sum. A class that no row has, or every row, needs no model.
fn logistic(
    examined: &Examined,
    x: &Mat<f64>,
    y: &[f64],
    at: &[usize],
    n_classes: usize,
) -> Result<Vec<f64>, Error> {
    let options =
        LogisticOptions { ridge: AUTOMATIC_RIDGE, standardised: true, ..LogisticOptions::default() };
    let mut probs = vec![0.0; at.len() * n_classes];
    let first = if n_classes == 2 { 1 } else { 0 };
    for class in first..n_classes {
        let labels: Vec<f64> = y.iter().map(|&label| f64::from(u8::from(label == class as f64))).collect();
        let n_positive = labels.iter().filter(|label| **label == 1.0).count();
        let line = if n_positive == 0 || n_positive == labels.len() {
            // Laplace's rule of succession.
            let share = (n_positive as f64 + 1.0) / (labels.len() as f64 + 2.0);
            Line { intercept: (share / (1.0 - share)).ln(), coef: Vec::new() }
        } else {
            let fit = LogisticFit::of(Rows::new(x.as_ref(), &labels)?, options)?;
            let coef = fit.kept().iter().copied().zip(fit.coef().iter().copied()).collect();
            Line { intercept: fit.intercept_value().unwrap_or(0.0), coef }
        };
        for (place, &row) in at.iter().enumerate() {
            probs[place * n_classes + class] = 1.0 / (1.0 + (-line.at(examined, row)).exp());
        }
    }
    for probs in probs.chunks_exact_mut(n_classes) {
        if n_classes == 2 {
            probs[0] = 1.0 - probs[1];
        } else {
            let sum: f64 = probs.iter().sum();
            let share = |prob: f64| if sum > 0.0 { prob / sum } else { 1.0 / n_classes as f64 };
            probs.iter_mut().for_each(|prob| *prob = share(*prob));
        }
    }
    Ok(probs)
}

/// The nearest training rows: the shares of their labels, with the shares among all
/// training rows as one more neighbour; or the mean of their numbers, and for scores the
/// median.
fn neighbours(examined: &Examined, y: &[f64], train: &[usize], at: &[usize], purpose: For) -> Vec<f64> {
    let mut is_trained = vec![false; y.len()];
    train.iter().for_each(|&row| is_trained[row] = true);
    let nearest = |row: usize| {
        let found = examined.near[row].iter().map(|&other| other as usize);
        found.filter(|&other| is_trained[other]).take(ASKED).map(|other| y[other]).collect::<Vec<f64>>()
    };
    let n_train = train.len().max(1) as f64;
    match examined.kind {
        Kind::Numbers => {
            let mean = train.iter().map(|&row| y[row]).sum::<f64>() / n_train;
            let number = |row: usize| {
                let mut near = nearest(row);
                match (near.is_empty(), purpose) {
                    (true, _) => mean,
                    (false, For::Scores) => median(&mut near),
                    (false, For::Losses) => near.iter().sum::<f64>() / near.len() as f64,
                }
            };
            at.iter().map(|&row| number(row)).collect()
        }
        Kind::Labels(n_classes) => {
            let mut shares = vec![0.0; n_classes];
            train.iter().for_each(|&row| shares[y[row] as usize] += 1.0 / n_train);
            let mut probs = Vec::with_capacity(at.len() * n_classes);
            for &row in at {
                let near = nearest(row);
                let mut of_row = shares.clone();
                near.iter().for_each(|label| of_row[*label as usize] += 1.0);
                probs.extend(of_row.iter().map(|count| count / (near.len() as f64 + 1.0)));
            }
            probs
        }
    }
}

/// The median; of an even number the mean of the two in the middle. 0 of nothing.
pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    let n = numbers.len();
    if n == 0 {
        return 0.0;
    }
    numbers.sort_unstable_by(f64::total_cmp);
    0.5 * (numbers[(n - 1) / 2] + numbers[n / 2])
}
