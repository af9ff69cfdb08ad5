//! Point addition and removal: what sets are worth as they grow and shrink along
//! orders of the rows.

use crate::bench::Measure;
use crate::figure::{Curve, Experiment, Order};
use crate::measures::shuffled;
use dshap_models::sets::AnyUtility;
use dshap_models::{Error, Observer};
use dshap_table::Design;
use rayon::prelude::*;
use std::cmp::Ordering;

/// The most steps between the points of a curve.
pub(crate) const MOST_MARKS: usize = 100;

/// Number of random orders. The random curve is their mean, and rows of one value
/// come in these orders.
pub(crate) const RANDOM_ORDERS: usize = 10;

/// Rows times squared columns from which on fits are spared.
const CHEAP_FIT: f64 = 2e6;

/// Curves of dear fits have at least this many steps and random orders.
const FEWEST_MARKS: usize = 20;
const FEWEST_ORDERS: usize = 3;

/// How many models are fitted along curves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Steps between the points of a curve, at most.
    pub(crate) marks: usize,
    /// Number of random orders.
    pub(crate) orders: usize,
}

impl Effort {
    /// Models that are sums over rows cost little more for another row. A logistic
    /// model is fitted anew at each point, so large ones have fewer points.
    pub(crate) fn of(measure: &Measure) -> Self {
        let whole = Self { marks: MOST_MARKS, orders: RANDOM_ORDERS };
        if !matches!(measure.utility, AnyUtility::Logistic(_)) {
            return whole;
        }
        let (n, p) = (measure.seen.n_rows() as f64, measure.seen.x().ncols() as f64 + 1.0);
        let share = (CHEAP_FIT / (n * p * p)).min(1.0);
        let part = |most: usize, least: usize| ((share * most as f64) as usize).clamp(least, most);
        Self { marks: part(MOST_MARKS, FEWEST_MARKS), orders: part(RANDOM_ORDERS, FEWEST_ORDERS) }
    }
}

/// Keeps the seeds of orders, halves and noise apart.
const APART: u64 = 1_000_003;

/// Rows, and what sets of them are worth.
pub(crate) struct Orders<'a> {
    pub(crate) measure: Measure,
    pub(crate) design: &'a Design,
    /// The number of halves that rows are added to.
    pub(crate) repeats: usize,
    pub(crate) seed: u64,
    pub(crate) effort: Effort,
    pub(crate) observer: &'a dyn Observer,
}

/// A curve, which may be the mean of several runs.
pub(crate) struct Traced {
    pub(crate) curve: Curve,
    /// The mean height of each run.
    pub(crate) means: Vec<f64>,
}

impl Orders<'_> {
    /// What all rows are worth.
    pub(crate) fn whole(&self) -> Result<f64, Error> {
        let all: Vec<usize> = (0..self.n()).collect();
        Ok(self.along(&all, &[], &[0])?[0])
    }

    fn n(&self) -> usize {
        self.measure.seen.n_rows()
    }

    /// Adds rows to a random half by their values, highest first and lowest first;
    /// without values in random orders. Sets too small for a model are skipped.
    pub(crate) fn addition(&self, method: &str, value: Option<&[f64]>) -> Result<Vec<Traced>, Error> {
        let n = self.n();
        self.each_direction(value, |order, orders| {
            let first = self.measure.least_rows.saturating_sub(n / 2);
            let marks = marks(first, n - n / 2, self.effort.marks);
            let runs: Vec<(usize, &Vec<usize>)> = (0..self.repeats)
                .flat_map(|repeat| orders.iter().map(move |order| (repeat, order)))
                .collect();
            let runs = runs.into_par_iter().map(|(repeat, order)| {
                let half = &shuffled(n, seed_of(self.seed, repeat, Stream::Half))[..n / 2];
                let mut is_in = vec![false; n];
                half.iter().for_each(|&row| is_in[row] = true);
                let added: Vec<usize> = order.iter().copied().filter(|&row| !is_in[row]).collect();
                self.along(half, &added, &marks)
            });
            let runs: Vec<Vec<f64>> = runs.collect::<Result<_, Error>>()?;
            Ok(Traced::of(Experiment::Addition, method, order, marks, &runs))
        })
    }

    /// Removes rows from all rows in the same orders, while enough are left for a
    /// model.
    pub(crate) fn removal(&self, method: &str, value: Option<&[f64]>) -> Result<Vec<Traced>, Error> {
        let n = self.n();
        self.each_direction(value, |order, orders| {
            // Removing rows is adding them in the opposite order, read backwards.
            let marks = marks(0, n.saturating_sub(self.measure.least_rows), self.effort.marks);
            let left: Vec<usize> = marks.iter().rev().map(|removed| n - removed).collect();
            let runs = orders.par_iter().map(|order| {
                let backwards: Vec<usize> = order.iter().rev().copied().collect();
                let mut found = self.along(&[], &backwards, &left)?;
                found.reverse();
                Ok(found)
            });
            let runs: Vec<Vec<f64>> = runs.collect::<Result<_, Error>>()?;
            Ok(Traced::of(Experiment::Removal, method, order, marks, &runs))
        })
    }

    /// A curve from each end of the values, or the random curve without values.
    ///
    /// Rows of one value come in the random orders of chance, and the curve is the
    /// mean over them. So values that are all the same have the curves of chance.
    fn each_direction(
        &self,
        value: Option<&[f64]>,
        curve: impl Fn(Order, &[Vec<usize>]) -> Result<Traced, Error> + Sync,
    ) -> Result<Vec<Traced>, Error> {
        let n = self.n();
        let drawn = |n_orders: usize| -> Vec<Vec<usize>> {
            (0..n_orders).map(|i| shuffled(n, seed_of(self.seed, i, Stream::Order))).collect()
        };
        let Some(value) = value else {
            return Ok(vec![curve(Order::Random, &drawn(self.effort.orders))?]);
        };
        let base = drawn(if has_ties(value) { self.effort.orders } else { 1 });
        let sorted = |is_low: bool| -> Vec<Vec<usize>> {
            let mut orders = base.clone();
            orders.iter_mut().for_each(|order| order.sort_by(|&i, &j| compared(value[i], value[j], is_low)));
            orders
        };
        let (high, low) =
            rayon::join(|| curve(Order::High, &sorted(false)), || curve(Order::Low, &sorted(true)));
        Ok(vec![high?, low?])
    }

    fn along(&self, start: &[usize], order: &[usize], marks: &[usize]) -> Result<Vec<f64>, Error> {
        let found = self.measure.utility.at(&self.measure.seen, start, order, marks, self.observer);
        found.map_err(|error| Error::baseline(error, self.design))
    }
}

impl Traced {
    /// The mean of the heights of several runs.
    fn of(experiment: Experiment, method: &str, order: Order, n_rows: Vec<usize>, runs: &[Vec<f64>]) -> Self {
        let mut height = vec![0.0; n_rows.len()];
        runs.iter().for_each(|run| add_to(&mut height, run));
        divide(&mut height, runs.len() as f64);
        let means = runs.iter().map(|run| mean(run)).collect();
        Self { curve: Curve { experiment, method: method.into(), order, n_rows, height }, means }
    }
}

/// Which of two values comes first. Rows without a value, such as those of leverage
/// 1, come last from either end.
fn compared(one: f64, other: f64, is_low: bool) -> Ordering {
    match (one.is_nan(), other.is_nan()) {
        (false, false) if is_low => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
        (false, false) => other.partial_cmp(&one).unwrap_or(Ordering::Equal),
        (one, other) => one.cmp(&other),
    }
}

/// Whether some rows have the same value.
fn has_ties(value: &[f64]) -> bool {
    let mut sorted = value.to_vec();
    sorted.sort_by(|one, other| compared(*one, *other, true));
    sorted.windows(2).any(|pair| compared(pair[0], pair[1], true) == Ordering::Equal)
}

/// What random numbers are for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stream {
    /// The rows that others are added to.
    Half,
    /// Which targets are made wrong.
    Noise,
    /// A random order.
    Order,
    /// Methods that draw.
    Method,
    /// Which test rows curves are judged on.
    Judging,
}

/// The seed of one purpose and one repeat.
pub(crate) fn seed_of(seed: u64, repeat: usize, what: Stream) -> u64 {
    seed.wrapping_add(APART.wrapping_mul(5 * repeat as u64 + what as u64 + 1))
}

/// The numbers from `first` to `last`: all, or evenly spread in at most `most` steps.
pub(crate) fn marks(first: usize, last: usize, most: usize) -> Vec<usize> {
    let n = last.saturating_sub(first);
    let steps = n.clamp(1, most);
    let mut marks: Vec<usize> = (0..=steps).map(|step| last - n + step * n / steps).collect();
    marks.dedup();
    marks
}

/// The share found after each number of rows; the last one if fewer have a value.
pub(crate) fn at(found: &[f64], marks: &[usize]) -> Vec<f64> {
    marks.iter().map(|&mark| found[mark.min(found.len() - 1)]).collect()
}

pub(crate) fn add_to(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

pub(crate) fn divide(sums: &mut [f64], by: f64) {
    sums.iter_mut().for_each(|sum| *sum /= by);
}

pub(crate) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The standard deviation of several numbers; none for a single one.
pub(crate) fn std_dev(numbers: &[f64]) -> Option<f64> {
    let centre = mean(numbers);
    let squares: f64 = numbers.iter().map(|number| (number - centre).powi(2)).sum();
    (numbers.len() > 1).then(|| (squares / (numbers.len() - 1) as f64).sqrt())
}
