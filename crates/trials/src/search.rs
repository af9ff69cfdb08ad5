//! Targets that are made wrong, and looked for among low values.

use crate::bench::Bench;
use crate::evaluation::Trial;
use crate::figure::{Curve, Experiment, Order};
use crate::measures::{Detection, inject};
use crate::orders::{MOST_MARKS, RANDOM_ORDERS, Stream, add_to, at, divide, marks, seed_of};
use crate::steps::Steps;
use dshap_catalogue::Task;
use dshap_models::Error;
use dshap_models::sets::Baseline;

/// How well wrong targets were found, repeat by repeat.
#[derive(Default)]
pub(crate) struct Detected {
    pub(crate) auc: Vec<f64>,
    pub(crate) f1: Vec<f64>,
    pub(crate) penalty_auc: Vec<f64>,
    pub(crate) penalty_f1: Vec<f64>,
    pub(crate) seconds: f64,
}

/// Where wrong targets are looked for.
pub(crate) struct Search<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) trial: Trial,
    pub(crate) seed: u64,
    pub(crate) steps: &'a Steps<'a>,
}

impl Search<'_> {
    /// How many targets are made wrong each time: none for a density, or if all
    /// targets are the same.
    pub(crate) fn n_wrong(&self) -> usize {
        if self.bench.table.task == Task::Density {
            return 0;
        }
        let changed = inject(self.bench.parts.players.y(), self.bench.kind(), self.trial.share(), self.seed);
        changed.is_wrong.iter().filter(|wrong| **wrong).count()
    }

    /// Makes targets wrong and looks for them among low values.
    pub(crate) fn detect(
        &self,
        number: usize,
        found: &mut Detected,
        curves: &mut Vec<Curve>,
    ) -> Result<(), Error> {
        let entrant = &self.bench.methods[number];
        let y = self.bench.parts.players.y();
        let n = y.len();
        let marks = marks(0, n, MOST_MARKS);
        let mut by_value = vec![0.0; marks.len()];
        let mut by_penalty = vec![0.0; marks.len()];
        // A single random order would say little about chance.
        let is_chance = entrant.method.baseline() == Some(Baseline::Random);
        let n_orders = if is_chance { RANDOM_ORDERS } else { 1 };
        for repeat in 0..self.trial.repeats {
            let seed = seed_of(self.seed, repeat, Stream::Noise);
            let changed = inject(y, self.bench.kind(), self.trial.share(), seed);
            for order in 0..n_orders {
                // Chance must not use the stream that chose the wrong rows.
                let own = seed_of(self.seed, n_orders * repeat + order, Stream::Method);
                let timed = self.bench.values(number, Some(&changed.y), own, self.steps)?;
                self.steps.done();
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
                    (Experiment::Detection, entrant.name.clone(), marks.clone());
                curves.push(Curve { experiment, method, order, n_rows, height: shares });
            }
        };
        push(Order::Value, by_value, found.auc.len());
        push(Order::Penalty, by_penalty, found.penalty_auc.len());
        Ok(())
    }
}
