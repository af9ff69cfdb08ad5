//! Cross-fitted scores, flags with their expected precision, what targets should be.

use crate::examined::{Examined, Kind};
use crate::folds::{FOLDS, folds};
use crate::noise::{Residuals, share_of_wrong};
use crate::predict::{For, PER_MEDIAN, median, predict};
use crate::stack::{LEAST_PROB, mixed, weights};
use dshap::Error;
use rayon::prelude::*;

/// A label is flagged if another one has at least this share of the probability that it
/// usually has where it is given. `docs/cleaning.md` has the tables it was chosen on.
const CONFIDENT: f64 = 0.7;

/// Rows by how much their targets contradict what other rows say.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspects {
    /// How suspicious each row is. Labels: one minus the probability of the given label.
    /// Numbers: distance from the prediction, in robust standard deviations.
    pub score: Vec<f64>,
    /// What other rows predict: a number, or the number of the likeliest class.
    pub expected: Vec<f64>,
    /// The probability of the likeliest class; 1 for numbers.
    pub expected_prob: Vec<f64>,
    /// Which rows are flagged.
    pub is_flagged: Vec<bool>,
    /// The share of flagged labels that are wrong, as estimated; none if no row is flagged.
    /// None for numbers: those far off are wrong ones or the tail of skewed noise, and nothing
    /// in a table tells which.
    pub precision: Option<f64>,
    /// How many targets are wrong, as estimated.
    pub n_wrong: f64,
    /// How much each prediction counts.
    pub weights: Vec<f64>,
}

impl Suspects {
    /// Row numbers, the most suspicious first; equal scores in row order.
    pub fn ranking(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.score.len()).collect();
        order.sort_by(|&i, &j| self.score[j].total_cmp(&self.score[i]).then(i.cmp(&j)));
        order
    }
}

/// Examines rows by a model, by their neighbours, and by other predictions of the same
/// rows, made without them: a number for each row, or a probability for each class.
///
/// # Errors
///
/// [`Error`], if no model can be fitted.
pub fn find_suspects(examined: &Examined, others: &[&[f64]], seed: u64) -> Result<Suspects, Error> {
    let all: Vec<usize> = (0..examined.n_rows()).collect();
    let (model, near) = cross_fitted(examined, &examined.y, &all, seed)?;
    let predictions: Vec<&[f64]> =
        [model.as_slice(), near.as_slice()].iter().chain(others).copied().collect();
    Ok(suspects_by(&predictions, &examined.y, examined.kind))
}

/// Predictions of the rows `train` by the model and by neighbours, each from folds
/// without it.
fn cross_fitted(
    examined: &Examined,
    y: &[f64],
    train: &[usize],
    seed: u64,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let targets: Vec<f64> = train.iter().map(|&row| y[row]).collect();
    let fold = folds(&targets, examined.kind, FOLDS, seed);
    let width = examined.kind.width();
    let parts: Vec<_> = (0..FOLDS)
        .into_par_iter()
        .map(|number| {
            let rows_where = |is_in: bool| -> Vec<usize> {
                let places = (0..train.len()).filter(|&place| (fold[place] == number) == is_in);
                places.map(|place| train[place]).collect()
            };
            predict(examined, y, &rows_where(false), &rows_where(true), For::Scores)
        })
        .collect::<Result<_, Error>>()?;
    let (mut model, mut near) = (vec![0.0; train.len() * width], vec![0.0; train.len() * width]);
    for (number, part) in parts.iter().enumerate() {
        let places = (0..train.len()).filter(|&place| fold[place] == number);
        for (i, place) in places.enumerate() {
            let (from, to) = (i * width..(i + 1) * width, place * width..(place + 1) * width);
            model[to.clone()].copy_from_slice(&part.model[from.clone()]);
            near[to].copy_from_slice(&part.near[from]);
        }
    }
    Ok((model, near))
}

/// Scores of the rows `train`, and the weights of model and neighbours.
pub(crate) fn scored(examined: &Examined, y: &[f64], train: &[usize], seed: u64) -> Result<Suspects, Error> {
    let (model, near) = cross_fitted(examined, y, train, seed)?;
    let targets: Vec<f64> = train.iter().map(|&row| y[row]).collect();
    Ok(suspects_by(&[&model, &near], &targets, examined.kind))
}

/// Suspects by predictions that were made without the rows themselves.
pub fn suspects_by(predictions: &[&[f64]], y: &[f64], kind: Kind) -> Suspects {
    let weights = weights(predictions, y, kind);
    let mixed = mixed(predictions, &weights);
    match kind {
        Kind::Numbers => numbers(mixed, y, weights),
        Kind::Labels(n_classes) => labels(&mixed, y, n_classes, weights),
    }
}

fn numbers(expected: Vec<f64>, y: &[f64], weights: Vec<f64>) -> Suspects {
    let residual: Vec<f64> = y.iter().zip(&expected).map(|(y, expected)| y - expected).collect();
    let distance = residual.iter().map(|residual| residual.abs());
    let scale = PER_MEDIAN * median(&mut distance.collect::<Vec<f64>>());
    // Rows that agree exactly are no reason to suspect all others.
    let scale = if scale > 0.0 { scale } else { f64::INFINITY };
    let score: Vec<f64> = residual.iter().map(|residual| residual.abs() / scale).collect();
    let noise = Residuals::fitted(&[&residual]);
    let wrong: Vec<f64> = residual.iter().map(|&residual| noise.prob_wrong(residual)).collect();
    let is_flagged: Vec<bool> = wrong.iter().map(|prob| *prob > 0.5).collect();
    let expected_prob = vec![1.0; y.len()];
    let n_wrong = wrong.iter().sum();
    Suspects { score, expected, expected_prob, is_flagged, precision: None, n_wrong, weights }
}

fn labels(probs: &[f64], y: &[f64], n_classes: usize, weights: Vec<f64>) -> Suspects {
    let n = y.len();
    let of_row = |row: usize| &probs[row * n_classes..(row + 1) * n_classes];
    let given = |row: usize| of_row(row)[y[row] as usize];
    let expected: Vec<usize> = (0..n)
        .map(|row| {
            let likelier =
                |best: usize, class: usize| if of_row(row)[class] > of_row(row)[best] { class } else { best };
            (1..n_classes).fold(0, likelier)
        })
        .collect();
    // How probable each label usually is where it is given.
    let (mut usual, mut counts) = (vec![0.0; n_classes], vec![0.0; n_classes]);
    for row in 0..n {
        usual[y[row] as usize] += given(row);
        counts[y[row] as usize] += 1.0;
    }
    usual.iter_mut().zip(&counts).for_each(|(usual, count)| *usual /= f64::max(*count, 1.0));
    let is_above = |row: usize, share: f64| {
        let class = expected[row];
        class != y[row] as usize && of_row(row)[class] >= share * usual[class]
    };
    let is_flagged: Vec<bool> = (0..n).map(|row| is_above(row, CONFIDENT)).collect();
    let n_confident = (0..n).filter(|&row| is_above(row, 1.0)).count();
    let rate = share_of_wrong(n_confident, n, n_classes);
    let wrong: Vec<f64> = (0..n).map(|row| prob_wrong(given(row), rate, n_classes)).collect();
    let precision = mean_where(&wrong, &is_flagged);
    Suspects {
        score: (0..n).map(|row| 1.0 - given(row)).collect(),
        expected: expected.iter().map(|&class| class as f64).collect(),
        expected_prob: (0..n).map(|row| of_row(row)[expected[row]]).collect(),
        is_flagged,
        precision,
        n_wrong: wrong.iter().sum(),
        weights,
    }
}

/// The probability that a label is wrong which has the probability `prob` among labels
/// of which a share `rate` is wrong, each other label being equally likely then.
fn prob_wrong(prob: f64, rate: f64, n_classes: usize) -> f64 {
    let other = rate / (n_classes as f64 - 1.0).max(1.0);
    // The probability that it is the true label, before some were made wrong.
    let is_true = ((prob - other) / (1.0 - rate - other)).clamp(0.0, 1.0);
    1.0 - ((1.0 - rate) * is_true / prob.max(LEAST_PROB)).clamp(0.0, 1.0)
}

fn mean_where(numbers: &[f64], is_in: &[bool]) -> Option<f64> {
    let chosen: Vec<f64> = numbers.iter().zip(is_in).filter(|(_, is_in)| **is_in).map(|(n, _)| *n).collect();
    (!chosen.is_empty()).then(|| chosen.iter().sum::<f64>() / chosen.len() as f64)
}
