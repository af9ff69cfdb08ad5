//! Point addition and removal, and detection of wrong targets.

use super::bench::{AnyMethod, Bench, Timed};
use super::evaluation::Trial;
use crate::Error;
use crate::baseline::{AnyUtility, Baseline};
use crate::general::Held;
use crate::observer::Observer;
use crate::receiver::Receiver;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use dshap_evaluate::{Detection, inject, ranking, shuffled};
use std::sync::Arc;

/// Points of a curve, at most.
const MOST_MARKS: usize = 100;

/// Random orders whose mean is the random curve.
const RANDOM_ORDERS: u64 = 10;

/// Keeps the seeds of orders, halves and noise apart.
const APART: u64 = 1_000_003;

/// A curve of the output.
pub(super) struct Curve {
    experiment: &'static str,
    method: &'static str,
    order: &'static str,
    n_rows: Vec<usize>,
    utility: Option<Vec<f64>>,
    found: Option<Vec<f64>>,
}

/// Sums over repeats.
#[derive(Default)]
pub(super) struct Detected {
    pub(super) n: f64,
    pub(super) auc: f64,
    pub(super) f1: f64,
    pub(super) penalty_auc: f64,
    pub(super) penalty_f1: f64,
    pub(super) has_penalty: bool,
    pub(super) seconds: f64,
}

impl Detected {
    pub(super) fn mean(&self, sum: f64) -> Option<f64> {
        (self.n > 0.0).then(|| sum / self.n)
    }
}

pub(super) struct Curves<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) utility: AnyUtility,
    /// The rows as the utility sees them.
    pub(super) seen: Held,
    pub(super) trial: Trial,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

impl Curves<'_> {
    /// What all rows are worth.
    pub(super) fn whole(&self) -> Result<f64, Error> {
        let all: Vec<usize> = (0..self.seen.n_rows()).collect();
        Ok(self.along(&all, &[], &[0])?[0])
    }

    fn along(&self, start: &[usize], order: &[usize], marks: &[usize]) -> Result<Vec<f64>, Error> {
        let found = self.utility.at(&self.seen, start, order, marks, self.observer);
        found.map_err(|error| Error::baseline(error, &self.bench.design))
    }

    fn seed_of(&self, repeat: usize, what: u64) -> u64 {
        self.seed.wrapping_add(APART.wrapping_mul(4 * repeat as u64 + what + 1))
    }

    /// Adds rows to a random half, and takes rows away from all, by their values
    /// from either end; chance in random orders. Returns the means of the curves.
    pub(super) fn orders(
        &self,
        method: AnyMethod,
        timed: &Timed,
        whole: f64,
        curves: &mut Vec<Curve>,
    ) -> Result<[f64; 4], Error> {
        let n = self.seen.n_rows();
        let is_chance = method == AnyMethod::Baseline(Baseline::Random);
        // Rows without a value, such as those of leverage 1, come last from either end.
        let ends = |value: &[f64]| {
            let flipped: Vec<f64> = value.iter().map(|value| -value).collect();
            let with_rest = |mut order: Vec<usize>| {
                order.extend((0..n).filter(|&row| value[row].is_nan()));
                order
            };
            [with_rest(ranking(value)), with_rest(ranking(&flipped))]
        };
        let directions: Vec<(&'static str, Vec<Vec<usize>>)> = if is_chance {
            let drawn = (0..RANDOM_ORDERS).map(|i| shuffled(n, self.seed_of(i as usize, 2))).collect();
            vec![("random", drawn)]
        } else {
            let [high, low] = ends(&timed.value);
            vec![("high", vec![high]), ("low", vec![low])]
        };
        let mut means = Vec::new();
        for (order_name, orders) in &directions {
            let n_added = n - n / 2;
            let marks = marks(n_added);
            let mut addition = vec![0.0; marks.len()];
            for repeat in 0..self.trial.repeats {
                let half = &shuffled(n, self.seed_of(repeat, 0))[..n / 2];
                let mut is_in = vec![false; n];
                half.iter().for_each(|&row| is_in[row] = true);
                for order in orders {
                    let added: Vec<usize> = order.iter().copied().filter(|&row| !is_in[row]).collect();
                    add_to(&mut addition, &self.along(half, &added, &marks)?);
                }
            }
            divide(&mut addition, (self.trial.repeats * orders.len()) as f64);
            means.push(mean(&addition) / whole);
            let [experiment, method] = ["addition", method.word()];
            let order = *order_name;
            let utility = Some(addition);
            curves.push(Curve { experiment, method, order, n_rows: marks, utility, found: None });

            // Taking rows away is adding them in the opposite order, read backwards.
            let marks = self::marks(n.saturating_sub(1));
            let mut removal = vec![0.0; marks.len()];
            for order in orders {
                let backwards: Vec<usize> = order.iter().rev().copied().collect();
                let left: Vec<usize> = marks.iter().rev().map(|removed| n - removed).collect();
                let mut found = self.along(&[], &backwards, &left)?;
                found.reverse();
                add_to(&mut removal, &found);
            }
            divide(&mut removal, orders.len() as f64);
            means.push(mean(&removal) / whole);
            let utility = Some(removal);
            curves.push(Curve { experiment: "removal", method, order, n_rows: marks, utility, found: None });
        }
        // Chance has one order, whichever end.
        let of = |direction: usize, what: usize| means[(2 * direction + what) % means.len()];
        Ok([of(0, 0), of(1, 0), of(0, 1), of(1, 1)])
    }

    /// Makes targets wrong and looks for them among low values.
    pub(super) fn detect(
        &self,
        method: AnyMethod,
        found: &mut Detected,
        curves: &mut Vec<Curve>,
    ) -> Result<(), Error> {
        let n = self.bench.parts.players.n_rows();
        let marks = marks(n);
        let mut by_value = vec![0.0; marks.len()];
        let mut by_penalty = vec![0.0; marks.len()];
        for repeat in 0..self.trial.repeats {
            let seed = self.seed_of(repeat, 1);
            let mut noisy = self.bench.parts.players.clone();
            let changed = inject(noisy.y(), self.bench.kind(), self.trial.noise, seed);
            noisy.y_mut().copy_from_slice(&changed.y);
            // Chance must not have the stream that chose the wrong rows.
            let timed = self.bench.values(method, &noisy, self.seed_of(repeat, 3), self.observer)?;
            found.seconds += timed.seconds;
            let Some(value) = Detection::of(&timed.value, &changed.is_wrong) else { continue };
            found.n += 1.0;
            found.auc += value.auc;
            found.f1 += value.f1;
            add_to(&mut by_value, &at(&value.found, &marks));
            let flipped = timed.penalty.map(|penalty| penalty.iter().map(|p| -p).collect::<Vec<f64>>());
            if let Some(penalty) = flipped.and_then(|flipped| Detection::of(&flipped, &changed.is_wrong)) {
                found.has_penalty = true;
                found.penalty_auc += penalty.auc;
                found.penalty_f1 += penalty.f1;
                add_to(&mut by_penalty, &at(&penalty.found, &marks));
            }
        }
        let mut push = |order, mut shares: Vec<f64>| {
            divide(&mut shares, found.n.max(1.0));
            let (experiment, method, n_rows) = ("detection", method.word(), marks.clone());
            curves.push(Curve { experiment, method, order, n_rows, utility: None, found: Some(shares) });
        };
        push("value", by_value);
        if found.has_penalty {
            push("penalty", by_penalty);
        }
        Ok(())
    }
}

/// `0 … n`, all or evenly spread.
fn marks(n: usize) -> Vec<usize> {
    let steps = n.clamp(1, MOST_MARKS);
    let mut marks: Vec<usize> = (0..=steps).map(|step| step * n / steps).collect();
    marks.dedup();
    marks
}

/// The share found after so many rows; the last one where fewer have a value.
fn at(found: &[f64], marks: &[usize]) -> Vec<f64> {
    marks.iter().map(|&mark| found[mark.min(found.len() - 1)]).collect()
}

fn add_to(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
}

fn divide(sums: &mut [f64], by: f64) {
    sums.iter_mut().for_each(|sum| *sum /= by);
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

pub(super) fn hand_over(curves: &[Curve], whole: f64, receiver: &mut dyn Receiver) -> Result<(), Error> {
    let lengths = || curves.iter().map(|curve| curve.n_rows.len());
    let words = |word: fn(&Curve) -> &'static str| -> ArrayRef {
        let cells =
            curves.iter().zip(lengths()).flat_map(|(curve, len)| std::iter::repeat_n(word(curve), len));
        Arc::new(StringArray::from(cells.collect::<Vec<_>>()))
    };
    let numbers = |of: &dyn Fn(&Curve, usize) -> Option<f64>| -> ArrayRef {
        let cells = curves.iter().flat_map(|curve| (0..curve.n_rows.len()).map(move |i| (curve, i)));
        Arc::new(cells.map(|(curve, i)| of(curve, i)).collect::<Float64Array>())
    };
    let n_rows =
        UInt64Array::from_iter_values(curves.iter().flat_map(|c| c.n_rows.iter().map(|&n| n as u64)));
    let utility = |curve: &Curve, i: usize| curve.utility.as_ref().map(|utility| utility[i]);
    let columns: [(&str, ArrayRef); 7] = [
        ("experiment", words(|curve| curve.experiment)),
        ("method", words(|curve| curve.method)),
        ("order", words(|curve| curve.order)),
        ("n_rows", Arc::new(n_rows)),
        ("utility", numbers(&utility)),
        ("relative", numbers(&|curve, i| utility(curve, i).map(|utility| utility / whole))),
        ("found", numbers(&|curve, i| curve.found.as_ref().map(|found| found[i]))),
    ];
    let nullable = columns.map(|(name, array)| (name, array, true));
    let batch = RecordBatch::try_from_iter_with_nullable(nullable).expect("all columns are as long");
    receiver.begin(&batch.schema())?;
    receiver.rows(batch)
}
