//! Targets that are made wrong, and looked for.

use super::bench::{AnyMethod, Bench};
use super::evaluation::Trial;
use super::orders::{RANDOM_ORDERS, Stream, add_to, at, divide, marks, seed_of};
use crate::Error;
use crate::observer::Observer;
use crate::request::Task;
use dshap_evaluate::{Curve, Detection, Experiment, Order, inject};

/// What was found, repeat by repeat.
#[derive(Default)]
pub(super) struct Detected {
    pub(super) auc: Vec<f64>,
    pub(super) f1: Vec<f64>,
    pub(super) penalty_auc: Vec<f64>,
    pub(super) penalty_f1: Vec<f64>,
    pub(super) seconds: f64,
}

/// Where wrong targets are looked for.
pub(super) struct Search<'a> {
    pub(super) bench: &'a Bench,
    pub(super) trial: Trial,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

impl Search<'_> {
    /// How many targets are made wrong each time; none of a density, or where all
    /// are the same.
    pub(super) fn n_wrong(&self) -> usize {
        if self.bench.task == Task::Density {
            return 0;
        }
        let changed = inject(self.bench.parts.players.y(), self.bench.kind(), self.trial.share(), self.seed);
        changed.is_wrong.iter().filter(|wrong| **wrong).count()
    }

    /// Makes targets wrong and looks for them among low values.
    pub(super) fn detect(
        &self,
        number: usize,
        found: &mut Detected,
        curves: &mut Vec<Curve>,
    ) -> Result<(), Error> {
        let method = self.bench.methods[number];
        let y = self.bench.parts.players.y();
        let n = y.len();
        let marks = marks(0, n);
        let mut by_value = vec![0.0; marks.len()];
        let mut by_penalty = vec![0.0; marks.len()];
        // One order by chance would say little about chance.
        let n_orders = if method == AnyMethod::CHANCE { RANDOM_ORDERS } else { 1 };
        for repeat in 0..self.trial.repeats {
            let seed = seed_of(self.seed, repeat, Stream::Noise);
            let changed = inject(y, self.bench.kind(), self.trial.share(), seed);
            for order in 0..n_orders {
                // Chance must not have the stream that chose the wrong rows.
                let own = seed_of(self.seed, n_orders * repeat + order, Stream::Method);
                let timed = self.bench.values(number, Some(&changed.y), own, self.observer)?;
                found.seconds += timed.seconds;
                let Some(value) = Detection::of(&timed.value, &changed.is_wrong) else { continue };
                found.auc.push(value.auc);
                found.f1.push(value.f1);
                add_to(&mut by_value, &at(&value.found, &marks));
                let flipped = timed.penalty.map(|penalty| penalty.iter().map(|p| -p).collect::<Vec<f64>>());
                let penalty = flipped.and_then(|flipped| Detection::of(&flipped, &changed.is_wrong));
                if let Some(penalty) = penalty {
                    found.penalty_auc.push(penalty.auc);
                    found.penalty_f1.push(penalty.f1);
                    add_to(&mut by_penalty, &at(&penalty.found, &marks));
                }
            }
        }
        let mut push = |order, mut shares: Vec<f64>, n_found: usize| {
            if n_found > 0 {
                divide(&mut shares, n_found as f64);
                let (experiment, method, n_rows) =
                    (Experiment::Detection, method.word().into(), marks.clone());
                curves.push(Curve { experiment, method, order, n_rows, height: shares });
            }
        };
        push(Order::Value, by_value, found.auc.len());
        push(Order::Penalty, by_penalty, found.penalty_auc.len());
        Ok(())
    }
}
