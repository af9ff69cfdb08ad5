//! How every classification value compares with models that are actually refitted.
//!
//! ```text
//! refitted_truth [SETS]      prints Markdown; SETS sets are drawn for each design (8000)
//! ```
//!
//! A design is a population of 400 rows that stands for the distribution of the data and is the
//! reference of every method, so that a small reference explains nothing. Sets of 100 rows are
//! drawn from it, a logistic model is fitted to each, and once more with each of 60 of the rows
//! added. The mean gain over the sets, in minus the log-loss, in minus the Brier score and in
//! accuracy on the population, is the truth of that row. Methods value the same rows for sets of
//! 100 (`q = m = 101`). Tables hold the correlation of both over the 60 rows; its Monte Carlo error
//! is the jackknife over 20 groups of sets.

use dshap::classification::{
    ClassificationMethod, ClassificationValuer, GeneralClassificationValuer, LogisticFit, LogisticOptions,
};
use dshap::linear::{Bound, Convention, DistanceTable, GeneralOptions, Side};
use dshap::neighbours::{NeighbourOptions, NeighbourTask, NeighbourValuer, TestRows};
use dshap::second_order::{SecondOrderOptions, SecondOrderValuer, Spread, Utility};
use dshap::{Error, Rows, Sizes, Valuer};
use dshap_testkit::Draws;
use faer::Mat;
use rayon::prelude::*;

const N_ROWS: usize = 400;
const N_POINTS: usize = 60;
const SET_SIZE: usize = 100;
const N_GROUPS: usize = 20;
const RIDGE: f64 = 1.0;
const UTILITIES: [(&str, Utility); 3] =
    [("log-loss", Utility::LogLoss), ("Brier score", Utility::Brier), ("accuracy", Utility::Accuracy)];

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Rows with the intercept first, and labels.
struct Population {
    name: &'static str,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
}

impl Population {
    /// Features and log-odds of a row from draws.
    fn new(name: &'static str, seed: u64, row: impl Fn(&mut Draws) -> (Vec<f64>, f64)) -> Self {
        let mut draws = Draws::new(seed);
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for _ in 0..N_ROWS {
            let (features, eta) = row(&mut draws);
            y.push(f64::from(u8::from(draws.uniform() < 1.0 / (1.0 + (-eta).exp()))));
            x.push(std::iter::once(1.0).chain(features).collect());
        }
        Self { name, x, y }
    }

    fn all() -> Vec<Self> {
        vec![
            Self::new("Gaussian", 1, |draws| {
                let (a, b) = (draws.normal(), draws.normal());
                (vec![a, b], 0.3 + 0.9 * a - 0.6 * b)
            }),
            Self::new("correlated, p = 5", 2, |draws| {
                let common = draws.normal();
                let x: Vec<f64> = (0..4).map(|_| 0.7 * common + 0.7 * draws.normal()).collect();
                let eta = 0.2 + 0.8 * x[0] - 0.8 * x[1] + 0.4 * x[2];
                (x, eta)
            }),
            Self::new("heavy tails", 3, |draws| {
                let mut tail = || draws.normal() / (0.3 + 0.7 * draws.normal().abs()).sqrt();
                let (a, b) = (tail(), tail());
                (vec![a, b], 0.8 * a + 0.5 * b)
            }),
            Self::new("wrong model", 4, |draws| {
                let (a, b) = (draws.normal(), draws.normal());
                (vec![a, b], 0.7 * a + 0.8 * (a * b) - 0.6 * (b * b - 1.0))
            }),
            Self::new("15 % positive", 5, |draws| {
                let (a, b) = (draws.normal(), draws.normal());
                (vec![a, b], -2.0 + 0.7 * a - 0.5 * b)
            }),
            Self::new("strong effects", 6, |draws| {
                let (a, b) = (draws.normal(), draws.normal());
                (vec![a, b], 1.6 * a - 1.2 * b)
            }),
        ]
    }

    fn features(&self, rows: std::ops::Range<usize>) -> Mat<f64> {
        Mat::from_fn(rows.len(), self.x[0].len() - 1, |i, j| self.x[rows.start + i][j + 1])
    }
}

/// The fit to rows with these counts, by Newton's method; `None` if it does not converge.
fn refit(population: &Population, rows: &[usize], ridge: f64, start: &[f64]) -> Option<Vec<f64>> {
    let p = start.len();
    let mut beta = start.to_vec();
    for _ in 0..40 {
        let mut gradient: Vec<f64> = (0..p).map(|k| if k > 0 { -ridge * beta[k] } else { 0.0 }).collect();
        let mut hessian = vec![0.0; p * p];
        (1..p).for_each(|k| hessian[k * p + k] = ridge);
        for &row in rows {
            let x = &population.x[row];
            let pi = probability(x, &beta);
            let (e, w) = (population.y[row] - pi, pi * (1.0 - pi));
            for k in 0..p {
                gradient[k] += e * x[k];
                (0..=k).for_each(|l| hessian[k * p + l] += w * x[k] * x[l]);
            }
        }
        let step = solve(&mut hessian, gradient, p)?;
        beta.iter_mut().zip(&step).for_each(|(b, step)| *b += step);
        if beta.iter().any(|b| b.abs() > 1e3) {
            return None;
        }
        if step.iter().all(|step| step.abs() < 1e-9) {
            return Some(beta);
        }
    }
    None
}

/// By Cholesky's factor of the lower triangle.
fn solve(matrix: &mut [f64], mut right: Vec<f64>, p: usize) -> Option<Vec<f64>> {
    for j in 0..p {
        for i in j..p {
            let known: f64 = (0..j).map(|k| matrix[i * p + k] * matrix[j * p + k]).sum();
            let rest = matrix[i * p + j] - known;
            if i == j {
                if rest.is_nan() || rest <= 0.0 {
                    return None;
                }
                matrix[j * p + j] = rest.sqrt();
            } else {
                matrix[i * p + j] = rest / matrix[j * p + j];
            }
        }
    }
    for i in 0..p {
        let known: f64 = (0..i).map(|k| matrix[i * p + k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * p + i];
    }
    for i in (0..p).rev() {
        let known: f64 = (i + 1..p).map(|k| matrix[k * p + i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * p + i];
    }
    Some(right)
}

fn probability(x: &[f64], beta: &[f64]) -> f64 {
    let eta: f64 = x.iter().zip(beta).map(|(x, b)| x * b).sum();
    1.0 / (1.0 + (-eta).exp())
}

/// Minus log-loss, minus Brier score and accuracy on the population.
fn worth(population: &Population, beta: &[f64]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (x, &y) in population.x.iter().zip(&population.y) {
        let pi = probability(x, beta);
        sums[0] += (if y == 1.0 { pi } else { 1.0 - pi }).max(1e-300).ln();
        sums[1] -= (y - pi).powi(2);
        sums[2] += f64::from(u8::from((y == 1.0) == (pi > 0.5)));
    }
    sums.map(|sum| sum / N_ROWS as f64)
}

/// Mean gains of the points for each group of sets, and the share of sets without a fit.
fn truth(population: &Population, ridge: f64, n_sets: usize, seed: u64) -> (Vec<[Vec<f64>; 3]>, f64) {
    let p = population.x[0].len();
    let all: Vec<usize> = (0..N_ROWS).collect();
    let target = refit(population, &all, ridge, &vec![0.0; p]).unwrap_or(vec![0.0; p]);
    let per_group = n_sets / N_GROUPS;
    let groups: Vec<([Vec<f64>; 3], usize)> = (0..N_GROUPS)
        .into_par_iter()
        .map(|group| {
            let mut draws = Draws::new(seed + group as u64);
            let mut sums = [0, 1, 2].map(|_| vec![0.0; N_POINTS]);
            let mut n_fitted = 0;
            for _ in 0..per_group {
                let draw = |_| ((draws.uniform() * N_ROWS as f64) as usize).min(N_ROWS - 1);
                let mut set: Vec<usize> = (0..SET_SIZE).map(draw).collect();
                let Some(own) = refit(population, &set, ridge, &target) else { continue };
                let before = worth(population, &own);
                let mut gains = vec![[0.0; 3]; N_POINTS];
                let mut is_fitted = true;
                for (point, gain) in gains.iter_mut().enumerate() {
                    set.push(point);
                    let with = refit(population, &set, ridge, &own);
                    set.pop();
                    let Some(with) = with else {
                        is_fitted = false;
                        break;
                    };
                    let after = worth(population, &with);
                    *gain = std::array::from_fn(|utility| after[utility] - before[utility]);
                }
                if is_fitted {
                    n_fitted += 1;
                    for (utility, sums) in sums.iter_mut().enumerate() {
                        sums.iter_mut().zip(&gains).for_each(|(sum, gain)| *sum += gain[utility]);
                    }
                }
            }
            (sums.map(|sums| sums.iter().map(|sum| sum / n_fitted.max(1) as f64).collect()), n_fitted)
        })
        .collect();
    let n_fitted: usize = groups.iter().map(|group| group.1).sum();
    let without = 1.0 - n_fitted as f64 / (per_group * N_GROUPS) as f64;
    (groups.into_iter().map(|group| group.0).collect(), without)
}

/// The values of the points by every method; `None` if a method gives no values.
fn methods(population: &Population, ridge: f64) -> Outcome<Vec<(String, Option<Vec<f64>>)>> {
    let x = population.features(0..N_ROWS);
    let reference = Rows::new(x.as_ref(), &population.y)?;
    let points = reference.slice(0, N_POINTS);
    let sizes = Sizes::new(SET_SIZE + 1, SET_SIZE + 1);
    let fit = LogisticFit::of(reference, LogisticOptions { ridge, ..LogisticOptions::default() })?;
    let bound = |side| ClassificationMethod::Bound(Bound::new(side, Convention::Definition));
    let row_by_row = |method| {
        let valuer = ClassificationValuer::new(fit.clone(), sizes, method);
        match valuer.and_then(|valuer| valuer.values(points)) {
            Ok(values) => Ok(Some(values.value)),
            Err(Error::SilentBound { .. } | Error::Sizes { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    };
    let mut distances = DistanceTable::new();
    distances.add(&fit.distances(reference)?, None);
    let calibrated = ClassificationValuer::calibrated(fit.clone(), sizes, &distances)?.values(points)?.value;
    let general = GeneralClassificationValuer::new(fit.clone(), reference, sizes, GeneralOptions::default())?;
    let general = general.values(points, &|_, _| true)?.values.value;
    let task = NeighbourTask::Classification { n_classes: 2 };
    let numbers: Vec<usize> = (0..N_ROWS).collect();
    let neighbours =
        NeighbourValuer::new(reference, TestRows::Reference(&numbers), sizes, NeighbourOptions::new(task))?;
    let neighbours = neighbours.values(points)?.value;
    let mut all = vec![
        ("`gaussian`".to_string(), row_by_row(ClassificationMethod::default())?),
        ("`calibrated`".into(), Some(calibrated)),
        ("`general`".into(), Some(general)),
        ("`lower`".into(), row_by_row(bound(Side::Lower))?),
        ("`upper`".into(), row_by_row(bound(Side::Upper))?),
    ];
    for (name, utility) in UTILITIES {
        for (spread, word) in [(Spread::Sandwich, "sandwich"), (Spread::ModelBased, "model")] {
            let options = SecondOrderOptions { utility, spread, ..SecondOrderOptions::default() };
            let value = match ridge > 0.0 && spread == Spread::ModelBased {
                true => None,
                false => {
                    let valuer = SecondOrderValuer::of(fit.clone(), reference, sizes, options)?;
                    Some(valuer.values(points)?.value)
                }
            };
            all.push((format!("`second-order`, {name}, {word}"), value));
        }
    }
    all.push(("`knn`, k = 5".into(), Some(neighbours)));
    Ok(all)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (mean_a, mean_b) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let (mut aa, mut ab, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in a.iter().zip(b) {
        aa += (a - mean_a).powi(2);
        ab += (a - mean_a) * (b - mean_b);
        bb += (b - mean_b).powi(2);
    }
    ab / (aa * bb).sqrt()
}

/// The mean over all groups except one.
fn mean_without(groups: &[[Vec<f64>; 3]], utility: usize, left_out: Option<usize>) -> Vec<f64> {
    let kept = || groups.iter().enumerate().filter(|(group, _)| Some(*group) != left_out);
    let n = kept().count() as f64;
    (0..N_POINTS).map(|point| kept().map(|(_, group)| group[utility][point]).sum::<f64>() / n).collect()
}

fn main() -> Outcome<()> {
    let n_sets = std::env::args().nth(1).map_or(Ok(8000), |sets| sets.parse())?;
    let populations = Population::all();
    for ridge in [0.0, RIDGE] {
        let mut columns = Vec::new();
        for (number, population) in populations.iter().enumerate() {
            let (groups, without) = truth(population, ridge, n_sets, 1000 * (number as u64 + 1));
            eprintln!("{}, ridge {ridge}: {:.2} % of sets without a fit", population.name, 100.0 * without);
            columns.push((groups, methods(population, ridge)?));
        }
        for (utility, (name, _)) in UTILITIES.iter().enumerate() {
            let with = if ridge > 0.0 { format!("ridge {ridge}") } else { "no ridge".into() };
            println!("\n**Refitted {name}, {with}**\n");
            let names: Vec<&str> = populations.iter().map(|population| population.name).collect();
            println!("| value | {} |", names.join(" | "));
            println!("|---|{}", "---|".repeat(names.len()));
            let mut largest_error: f64 = 0.0;
            for method in 0..columns[0].1.len() {
                let cells: Vec<String> = columns
                    .iter()
                    .map(|(groups, methods)| {
                        let Some(value) = &methods[method].1 else { return "–".to_string() };
                        let all = correlation(&mean_without(groups, utility, None), value);
                        let leaving = |group| correlation(&mean_without(groups, utility, Some(group)), value);
                        let spread: f64 = (0..N_GROUPS).map(|group| (leaving(group) - all).powi(2)).sum();
                        let n = N_GROUPS as f64;
                        largest_error = largest_error.max(((n - 1.0) / n * spread).sqrt());
                        format!("{all:.2}").replace('-', "−")
                    })
                    .collect();
                println!("| {} | {} |", columns[0].1[method].0, cells.join(" | "));
            }
            println!("\nLargest Monte Carlo error: {largest_error:.3}.");
        }
    }
    Ok(())
}
