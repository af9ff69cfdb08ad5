//! Targets that are made wrong, and looked for.

use super::bench::Bench;
use super::evaluation::Trial;
use super::orders::{Stream, add_to, at, divide, marks, seed_of};
use crate::Error;
use crate::observer::Observer;
use dshap_evaluate::{Curve, Detection, Experiment, Order, inject};

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

/// Where wrong targets are looked for.
pub(super) struct Search<'a> {
    pub(super) bench: &'a Bench,
    pub(super) trial: Trial,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
}

impl Search<'_> {
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
        let marks = marks(n);
        let mut by_value = vec![0.0; marks.len()];
        let mut by_penalty = vec![0.0; marks.len()];
        for repeat in 0..self.trial.repeats {
            let seed = seed_of(self.seed, repeat, Stream::Noise);
            let changed = inject(y, self.bench.kind(), self.trial.noise, seed);
            // Chance must not have the stream that chose the wrong rows.
            let own = seed_of(self.seed, repeat, Stream::Method);
            let timed = self.bench.values(number, Some(&changed.y), own, self.observer)?;
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
            let (experiment, method, n_rows) = (Experiment::Detection, method.word().into(), marks.clone());
            curves.push(Curve { experiment, method, order, n_rows, height: shares });
        };
        push(Order::Value, by_value);
        if found.has_penalty {
            push(Order::Penalty, by_penalty);
        }
        Ok(())
    }
}
