//! Point addition and removal: what sets are worth that grow and shrink by orders.

use crate::Error;
use crate::baseline::AnyUtility;
use crate::general::Held;
use crate::observer::Observer;
use dshap_evaluate::{Curve, Experiment, Order, ranking, shuffled};
use dshap_table::Design;

/// Points of a curve, at most.
const MOST_MARKS: usize = 100;

/// Random orders whose mean is the random curve.
const RANDOM_ORDERS: u64 = 10;

/// Keeps the seeds of orders, halves and noise apart.
const APART: u64 = 1_000_003;

/// Rows, and what sets of them are worth.
pub(super) struct Orders<'a> {
    pub(super) utility: AnyUtility,
    /// The rows as the utility sees them.
    pub(super) seen: Held,
    pub(super) design: &'a Design,
    /// How many halves rows are added to.
    pub(super) repeats: usize,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

impl Orders<'_> {
    /// What all rows are worth.
    pub(super) fn whole(&self) -> Result<f64, Error> {
        let all: Vec<usize> = (0..self.seen.n_rows()).collect();
        Ok(self.along(&all, &[], &[0])?[0])
    }

    /// Adds rows to a random half by their values, from either end; without values
    /// in random orders.
    pub(super) fn addition(&self, method: &str, value: Option<&[f64]>) -> Result<Vec<Curve>, Error> {
        let n = self.seen.n_rows();
        self.each_direction(value, |order, orders| {
            let marks = marks(n - n / 2);
            let mut height = vec![0.0; marks.len()];
            for repeat in 0..self.repeats {
                let half = &shuffled(n, seed_of(self.seed, repeat, Stream::Half))[..n / 2];
                let mut is_in = vec![false; n];
                half.iter().for_each(|&row| is_in[row] = true);
                for order in orders {
                    let added: Vec<usize> = order.iter().copied().filter(|&row| !is_in[row]).collect();
                    add_to(&mut height, &self.along(half, &added, &marks)?);
                }
            }
            divide(&mut height, (self.repeats * orders.len()) as f64);
            Ok(Curve {
                experiment: Experiment::Addition,
                method: method.into(),
                order,
                n_rows: marks,
                height,
            })
        })
    }

    /// Takes rows away from all in the same orders.
    pub(super) fn removal(&self, method: &str, value: Option<&[f64]>) -> Result<Vec<Curve>, Error> {
        let n = self.seen.n_rows();
        self.each_direction(value, |order, orders| {
            // Taking rows away is adding them in the opposite order, read backwards.
            let marks = marks(n.saturating_sub(1));
            let left: Vec<usize> = marks.iter().rev().map(|removed| n - removed).collect();
            let mut height = vec![0.0; marks.len()];
            for order in orders {
                let backwards: Vec<usize> = order.iter().rev().copied().collect();
                let mut found = self.along(&[], &backwards, &left)?;
                found.reverse();
                add_to(&mut height, &found);
            }
            divide(&mut height, orders.len() as f64);
            Ok(Curve { experiment: Experiment::Removal, method: method.into(), order, n_rows: marks, height })
        })
    }

    /// A curve for each end of the values, or the mean of several for chance.
    fn each_direction(
        &self,
        value: Option<&[f64]>,
        curve: impl Fn(Order, &[Vec<usize>]) -> Result<Curve, Error>,
    ) -> Result<Vec<Curve>, Error> {
        let n = self.seen.n_rows();
        let Some(value) = value else {
            let seeds = (0..RANDOM_ORDERS).map(|i| seed_of(self.seed, i as usize, Stream::Order));
            let drawn: Vec<Vec<usize>> = seeds.map(|seed| shuffled(n, seed)).collect();
            return Ok(vec![curve(Order::Random, &drawn)?]);
        };
        let flipped: Vec<f64> = value.iter().map(|value| -value).collect();
        // Rows without a value, such as those of leverage 1, come last from either end.
        let with_rest = |mut order: Vec<usize>| {
            order.extend((0..n).filter(|&row| value[row].is_nan()));
            [order]
        };
        let high = curve(Order::High, &with_rest(ranking(value)))?;
        Ok(vec![high, curve(Order::Low, &with_rest(ranking(&flipped)))?])
    }

    fn along(&self, start: &[usize], order: &[usize], marks: &[usize]) -> Result<Vec<f64>, Error> {
        let found = self.utility.at(&self.seen, start, order, marks, self.observer);
        found.map_err(|error| Error::baseline(error, self.design))
    }
}

/// What chance is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stream {
    /// The rows that others are added to.
    Half,
    /// Which targets are made wrong.
    Noise,
    /// A random order.
    Order,
    /// Methods that draw.
    Method,
}

/// The seed of one thing that is left to chance.
pub(super) fn seed_of(seed: u64, repeat: usize, what: Stream) -> u64 {
    seed.wrapping_add(APART.wrapping_mul(4 * repeat as u64 + what as u64 + 1))
}

/// `0 … n`, all or evenly spread.
pub(super) fn marks(n: usize) -> Vec<usize> {
    let steps = n.clamp(1, MOST_MARKS);
    let mut marks: Vec<usize> = (0..=steps).map(|step| step * n / steps).collect();
    marks.dedup();
    marks
}

/// The share found after so many rows; the last one where fewer have a value.
pub(super) fn at(found: &[f64], marks: &[usize]) -> Vec<f64> {
    marks.iter().map(|&mark| found[mark.min(found.len() - 1)]).collect()
}

pub(super) fn add_to(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

pub(super) fn divide(sums: &mut [f64], by: f64) {
    sums.iter_mut().for_each(|sum| *sum /= by);
}

pub(super) fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}
