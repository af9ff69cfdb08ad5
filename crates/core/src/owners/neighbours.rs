//! Nearest neighbours, from the nearest rows of each owner.
//!
//! For each test row, the `k` nearest rows of each part are kept; the `k` nearest of any
//! coalition are among them. Rows at the same distance share the places that are left. A
//! coalition with fewer than `k` rows predicts from all of them.

use super::game::Game;
use super::held::{HeldMarket, Members};
use super::linear::Parts;
use crate::neighbours::{Metric, Scale};
use crate::{Error, Rows};
use rayon::prelude::*;

/// What neighbours predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighbourTarget {
    /// The mean of numbers; utility is minus the mean squared error.
    Numbers,
    /// Labels; utility is the mean share of the neighbours that have the right one.
    Labels,
}

/// How near rows are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NeighbourGameOptions {
    /// Rows that predict.
    pub k: usize,
    /// How far apart rows are.
    pub metric: Metric,
    /// How columns are made comparable.
    pub scale: Scale,
    /// What is predicted.
    pub target: NeighbourTarget,
}

/// Rows of a part at one distance.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    distance: f64,
    count: f64,
    /// Sum of targets, or number of right labels.
    sum: f64,
}

/// The game of nearest neighbours.
#[derive(Debug, Clone)]
pub struct NeighbourGame {
    parts: Parts,
    options: NeighbourGameOptions,
    /// Per test row: its target, what nobody predicts, and the nearest runs of each part;
    /// those of the buyer last.
    tests: Vec<Test>,
}

#[derive(Debug, Clone)]
struct Test {
    target: f64,
    /// What it is worth to know only the test rows themselves.
    unknown: f64,
    runs: Vec<Vec<Run>>,
}

impl NeighbourGame {
    /// Finds the nearest rows of each part. `O(n_test · n · p)` time.
    ///
    /// # Errors
    ///
    /// [`Error::NoTestRows`], [`Error::FeatureCount`], [`Error::NotFinite`].
    pub fn new(market: &HeldMarket<'_>, options: NeighbourGameOptions) -> Result<Self, Error> {
        market.check()?;
        let space = Space::of(market, options);
        let rows = space.coordinates(market.rows);
        let own = market.own.map_or_else(Vec::new, |(rows, _)| space.coordinates(rows));
        let tests = space.coordinates(market.test);
        let p = market.rows.n_features();
        let targets = market.test.y();
        let mean = targets.iter().sum::<f64>() / targets.len() as f64;
        let share = |label: f64| {
            targets.iter().filter(|other| **other == label).count() as f64 / targets.len() as f64
        };
        let found = (0..targets.len())
            .into_par_iter()
            .map(|t| {
                let (target, x) = (targets[t], &tests[t * p..(t + 1) * p]);
                let left_out = market.test_fold.map(|folds| folds[t]);
                let says = |y: f64| match options.target {
                    NeighbourTarget::Numbers => y,
                    NeighbourTarget::Labels => f64::from(u8::from(y == target)),
                };
                let mut near = vec![Nearest::new(options.k); market.parts.n_parts() + 1];
                for (row, cells) in rows.chunks_exact(p.max(1)).enumerate() {
                    if left_out != Some(market.fold[row]) {
                        near[market.part[row]].see(space.distance(x, cells), says(market.rows.y()[row]));
                    }
                }
                if let Some((own_rows, folds)) = market.own {
                    for (row, cells) in own.chunks_exact(p.max(1)).enumerate() {
                        if left_out != Some(folds[row]) {
                            near[market.parts.n_parts()]
                                .see(space.distance(x, cells), says(own_rows.y()[row]));
                        }
                    }
                }
                let unknown = match options.target {
                    NeighbourTarget::Numbers => -(target - mean).powi(2),
                    NeighbourTarget::Labels => share(target),
                };
                Test { target, unknown, runs: near.into_iter().map(Nearest::finish).collect() }
            })
            .collect();
        Ok(Self { parts: market.parts.clone(), options, tests: found })
    }

    /// What a coalition is worth for one test row.
    fn worth(&self, test: &Test, members: &Members) -> f64 {
        let own = self.parts.n_parts();
        let mut runs: Vec<Run> =
            members.parts().chain([own]).flat_map(|part| &test.runs[part]).copied().collect();
        if runs.is_empty() {
            return test.unknown;
        }
        runs.sort_by(|one, two| one.distance.total_cmp(&two.distance));
        let (mut places, mut sum) = (self.options.k as f64, 0.0);
        let mut used = 0.0;
        for same in runs.chunk_by(|one, two| one.distance == two.distance) {
            let (count, total) = same.iter().fold((0.0, 0.0), |(n, sum), run| (n + run.count, sum + run.sum));
            let taken = places.min(count);
            sum += total * taken / count;
            (places, used) = (places - taken, used + taken);
            if places <= 0.0 {
                break;
            }
        }
        match self.options.target {
            NeighbourTarget::Numbers => -(sum / used - test.target).powi(2),
            NeighbourTarget::Labels => sum / used,
        }
    }
}

/// The nearest rows of one part, while rows are seen.
#[derive(Debug, Clone)]
struct Nearest {
    k: usize,
    /// From near to far.
    rows: Vec<Run>,
    /// Rows in them.
    count: f64,
}

impl Nearest {
    fn new(k: usize) -> Self {
        Self { k, rows: Vec::new(), count: 0.0 }
    }

    fn see(&mut self, distance: f64, says: f64) {
        let is_full = self.count >= self.k as f64;
        if is_full && self.rows.last().is_some_and(|last| distance > last.distance) {
            return;
        }
        let place = self.rows.partition_point(|run| run.distance < distance);
        match self.rows.get_mut(place).filter(|run| run.distance == distance) {
            Some(run) => (run.count, run.sum) = (run.count + 1.0, run.sum + says),
            None => self.rows.insert(place, Run { distance, count: 1.0, sum: says }),
        }
        self.count += 1.0;
        // The farthest run goes as soon as the others are enough.
        while let Some(last) = self.rows.last() {
            if self.count - last.count < self.k as f64 {
                break;
            }
            self.count -= last.count;
            self.rows.pop();
        }
    }

    fn finish(self) -> Vec<Run> {
        self.rows
    }
}

/// Columns made comparable.
struct Space {
    centre: Vec<f64>,
    scale: Vec<f64>,
    metric: Metric,
}

impl Space {
    fn of(market: &HeldMarket<'_>, options: NeighbourGameOptions) -> Self {
        let all: Vec<Rows<'_>> =
            [Some(market.rows), market.own.map(|(rows, _)| rows)].into_iter().flatten().collect();
        let n = all.iter().map(Rows::len).sum::<usize>().max(1) as f64;
        let column =
            |j: usize| all.iter().flat_map(move |rows| (0..rows.len()).map(move |i| rows.x()[(i, j)]));
        let p = market.rows.n_features();
        let (mut centre, mut scale) = (vec![0.0; p], vec![1.0; p]);
        if options.scale == Scale::Standard {
            for j in 0..p {
                centre[j] = column(j).sum::<f64>() / n;
                let spread = (column(j).map(|cell| (cell - centre[j]).powi(2)).sum::<f64>() / n).sqrt();
                // A constant column tells nothing apart.
                scale[j] = if spread > 0.0 { 1.0 / spread } else { 0.0 };
            }
        }
        Self { centre, scale, metric: options.metric }
    }

    /// Rows one after the other; for angles, of length 1.
    fn coordinates(&self, rows: Rows<'_>) -> Vec<f64> {
        let p = rows.n_features();
        let mut cells = Vec::with_capacity(rows.len() * p);
        for i in 0..rows.len() {
            cells.extend((0..p).map(|j| (rows.x()[(i, j)] - self.centre[j]) * self.scale[j]));
            if self.metric == Metric::Cosine {
                let row = &mut cells[i * p..];
                let length = row.iter().map(|cell| cell * cell).sum::<f64>().sqrt();
                row.iter_mut().for_each(|cell| *cell /= if length > 0.0 { length } else { 1.0 });
            }
        }
        cells
    }

    fn distance(&self, one: &[f64], two: &[f64]) -> f64 {
        let pairs = one.iter().zip(two);
        match self.metric {
            Metric::Manhattan => pairs.map(|(a, b)| (a - b).abs()).sum(),
            Metric::Euclidean | Metric::Cosine => pairs.map(|(a, b)| (a - b) * (a - b)).sum(),
        }
    }
}

impl Game for NeighbourGame {
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
        self.tests.len()
    }

    fn utility(&self, coalition: &Members, trace: &mut [f64]) -> Result<f64, Error> {
        for (cell, test) in trace.iter_mut().zip(&self.tests) {
            *cell = self.worth(test, coalition);
        }
        Ok(trace.iter().sum::<f64>() / self.tests.len() as f64)
    }
}
