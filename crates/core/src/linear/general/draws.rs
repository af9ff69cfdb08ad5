//! The Monte Carlo: rounds of growing sets, and when to stop.

use super::GeneralOptions;
use super::coordinates::{Coordinates, gather};
use super::panel::{Frame, Panel, PanelWork};
use super::sets::{FixedSet, GrowingSet};
use crate::linear::fit::PANEL_ROWS;
use crate::valuer::go_on;
use crate::{Error, Watch};
use faer::MatRef;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use std::ops::Range;

/// Rounds between two looks at the errors.
const BLOCK_ROUNDS: usize = 16;

/// A set that is singular is drawn again this often.
const MAX_REDRAWS: usize = 1000;

/// The points of a run and the population they are valued against.
#[derive(Debug)]
pub(super) struct Task<'a> {
    pub(super) coordinates: &'a Coordinates,
    /// The reference and its number of rows; there may be padding.
    pub(super) reference: MatRef<'a, f64>,
    pub(super) n_rows: usize,
    /// Residuals of the reference, if the targets of drawn rows count.
    pub(super) observed: Option<&'a [f64]>,
    /// The points; the reference itself if its rows are left out in turn.
    pub(super) points: MatRef<'a, f64>,
    pub(super) is_left_out: bool,
    pub(super) frame: Frame,
    /// Residual and noise variance of each point; none for those that cannot
    /// be valued.
    pub(super) targets: Vec<Option<(f64, f64)>>,
    /// Set sizes, one of each range to be drawn per round.
    pub(super) strata: Vec<Range<usize>>,
}

/// Running means of the rounds' sums, one per point.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    mean: f64,
    sum_sq: f64,
}

/// What the rounds gave. A point's mean is that of a sum over set sizes.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) means: Vec<Mean>,
    pub(super) n_rounds: usize,
    pub(super) reached: bool,
    /// Share of sets that were singular.
    pub(super) singular_share: f64,
}

impl Mean {
    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard error after `n_rounds`.
    pub(super) fn std_error(&self, n_rounds: usize) -> f64 {
        let n = n_rounds as f64;
        (self.sum_sq / (n - 1.0) / n).sqrt()
    }

    fn push(&mut self, draw: f64, n_rounds: usize) {
        let delta = draw - self.mean;
        self.mean += delta / n_rounds as f64;
        self.sum_sq += delta * (draw - self.mean);
    }
}

impl Task<'_> {
    /// Draws rounds until the errors are small enough or the limit is reached.
    pub(super) fn run(&self, options: GeneralOptions, watch: Watch<'_>) -> Result<Drawn, Error> {
        let n_valued = self.targets.iter().flatten().count();
        let mut drawn = Drawn {
            means: vec![Mean::default(); self.targets.len()],
            n_rounds: 0,
            reached: n_valued == 0,
            singular_share: 0.0,
        };
        let mut n_singular = 0;
        while !drawn.reached && drawn.n_rounds < options.max_rounds {
            go_on(watch, drawn.n_rounds, options.max_rounds)?;
            let block = drawn.n_rounds..options.max_rounds.min(drawn.n_rounds + BLOCK_ROUNDS);
            let n_rounds = drawn.n_rounds;
            let go_on = || watch(n_rounds, options.max_rounds);
            let sums: Vec<_> =
                block.into_par_iter().map(|round| self.round(options.seed, round as u64, &go_on)).collect();
            // In the order of rounds, whichever was ready first.
            for round in sums {
                let Round { sums, n_singular: more } = round?;
                n_singular += more;
                drawn.n_rounds += 1;
                for (mean, sum) in drawn.means.iter_mut().zip(sums) {
                    mean.push(sum, drawn.n_rounds);
                }
            }
            drawn.reached = drawn.n_rounds >= options.min_rounds
                && self.is_precise(&drawn.means, drawn.n_rounds, options.tolerance);
        }
        let n_sets = (n_valued * self.strata.len() * drawn.n_rounds).max(1);
        drawn.singular_share = n_singular as f64 / n_sets as f64;
        Ok(drawn)
    }

    /// Whether the points' errors are small compared with the spread of their values; for
    /// a single point, with its value.
    fn is_precise(&self, means: &[Mean], n_rounds: usize, tolerance: f64) -> bool {
        let valued =
            || means.iter().zip(&self.targets).filter(|(_, target)| target.is_some()).map(|(m, _)| m);
        let n = valued().count() as f64;
        let error_sq = valued().map(|mean| mean.std_error(n_rounds).powi(2)).sum::<f64>() / n;
        let centre = valued().map(Mean::mean).sum::<f64>() / n;
        let spread = if n == 1.0 {
            centre.abs()
        } else {
            (valued().map(|mean| (mean.mean - centre).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
        };
        error_sq.sqrt() <= tolerance * spread
    }

    /// For each point, an unbiased estimate of the sum of its gains over all
    /// set sizes. The sets of a round are prefixes of one random order.
    fn round(&self, seed: u64, number: u64, go_on: &dyn Fn() -> bool) -> Result<Round, Error> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        let mut draw = Draw::new(self);
        let sizes: Vec<usize> =
            self.strata.iter().map(|sizes| sizes.start + below(&mut rng, sizes.len())).collect();
        let longest = sizes.last().map_or(0, |size| size + usize::from(self.is_left_out));
        let mut order: Vec<usize> = (0..self.n_rows).collect();
        shuffle_prefix(&mut order, longest, &mut rng);
        let mut spare = order.clone();

        // Left-out rows are points too, so all are needed in this order: those of a set
        // come first.
        let rows = gather(self.reference, if self.is_left_out { &order } else { &order[..longest] });
        let residuals = self.residuals(&order[..longest]);
        let (points, ids) = if self.is_left_out {
            (rows.as_ref(), order)
        } else {
            (self.points, (0..self.targets.len()).collect())
        };
        let mut set = GrowingSet::new(self.coordinates.dim(), self.observed.is_some());
        let mut n_singular = 0;
        for (stratum, &size) in self.strata.iter().zip(&sizes) {
            // With many points a round takes long, so it can be interrupted.
            if !go_on() {
                return Err(Error::Interrupted);
            }
            draw.weight = stratum.len() as f64;
            let grown = set.n_rows();
            set.push(rows.as_ref().subrows(grown, size - grown), part(&residuals, grown..size));
            let inside = if self.is_left_out { size } else { 0 };
            let outside = points.subrows(inside, points.nrows() - inside);
            draw.add(set.fit(self.coordinates), outside, &ids[inside..], false);
            if inside > 0 {
                let next = (rows.as_ref().subrows(size, 1), part(&residuals, size..size + 1));
                draw.add_inside(&set, next, points, &ids[..inside]);
            }
            n_singular += draw.pending.len();
            for _ in 0..MAX_REDRAWS {
                if draw.pending.is_empty() {
                    break;
                }
                draw.redraw(size, &mut spare, &mut rng);
            }
            if !draw.pending.is_empty() {
                return Err(Error::SingularSets { size });
            }
        }
        Ok(Round { sums: draw.sums, n_singular })
    }

    /// The residuals of these reference rows, if the targets of drawn rows count.
    fn residuals(&self, rows: &[usize]) -> Vec<f64> {
        self.observed.map_or_else(Vec::new, |residuals| rows.iter().map(|&row| residuals[row]).collect())
    }
}

/// Some of the residuals of rows, if there are any.
fn part(residuals: &[f64], rows: Range<usize>) -> &[f64] {
    residuals.get(rows).unwrap_or_default()
}

/// What a round gave.
struct Round {
    /// One per point.
    sums: Vec<f64>,
    /// Points times sizes for which the first set was singular.
    n_singular: usize,
}

/// A round in progress.
struct Draw<'a> {
    task: &'a Task<'a>,
    sums: Vec<f64>,
    /// How many set sizes the current one stands for.
    weight: f64,
    /// Points for which the current set is singular.
    pending: Vec<usize>,
    work: PanelWork,
    coef_steps: Vec<f64>,
    residuals: Vec<f64>,
}

impl<'a> Draw<'a> {
    fn new(task: &'a Task<'a>) -> Self {
        Self {
            task,
            sums: vec![0.0; task.targets.len()],
            weight: 0.0,
            pending: Vec::new(),
            work: PanelWork::new(task.coordinates),
            coef_steps: Vec::with_capacity(PANEL_ROWS),
            residuals: Vec::new(),
        }
    }

    /// Adds the gains of `points`, whose numbers are `ids`, on joining `set`.
    fn add(&mut self, set: Option<FixedSet>, points: MatRef<'_, f64>, ids: &[usize], in_set: bool) {
        let task = self.task;
        let Some(set) = set else {
            self.pending.extend(ids.iter().filter(|&&id| task.targets[id].is_some()));
            return;
        };
        for (panel, ids) in ids.chunks(PANEL_ROWS).enumerate() {
            let start = panel * PANEL_ROWS;
            let points = points.subrows(start, PANEL_ROWS.min(points.nrows() - start));
            self.coef_steps.clear();
            if task.is_left_out {
                self.coef_steps.extend(ids.iter().map(|&id| task.targets[id].map_or(0.0, |(e, _)| e)));
                self.residuals = task.residuals(ids);
            }
            let panel = Panel { points, in_set, coef_steps: &self.coef_steps, residuals: &self.residuals };
            self.work.solve(panel, &set, task.frame, task.coordinates);
            for (i, (&id, stats)) in ids.iter().zip(&self.work.stats).enumerate() {
                match (task.targets[id], stats) {
                    (None, _) => {}
                    (Some(_), None) => self.pending.push(id),
                    (Some((residual, noise_var)), Some(stats)) => {
                        let gain = match task.observed {
                            None => stats.gain(residual, noise_var).total(),
                            Some(_) => stats.observed_gain(residual, self.work.misses[i]),
                        };
                        self.sums[id] += self.weight * gain;
                    }
                }
            }
        }
    }

    /// The same for rows of the set, which `next` replaces.
    fn add_inside(
        &mut self,
        set: &GrowingSet,
        (next, residual): (MatRef<'_, f64>, &[f64]),
        points: MatRef<'_, f64>,
        ids: &[usize],
    ) {
        let mut grown = set.clone();
        grown.push(next, residual);
        let points = points.subrows(0, ids.len());
        self.add(grown.fit(self.task.coordinates), points, ids, true);
    }

    /// Tries another set of the same size for the points that still need one,
    /// so that each has its gain averaged over the sets that are not singular.
    fn redraw(&mut self, size: usize, order: &mut [usize], rng: &mut ChaCha8Rng) {
        let task = self.task;
        let n_drawn = size + usize::from(task.is_left_out);
        shuffle_prefix(order, n_drawn, rng);
        let rows = gather(task.reference, &order[..n_drawn]);
        let residuals = task.residuals(&order[..n_drawn]);
        let mut set = GrowingSet::new(task.coordinates.dim(), task.observed.is_some());
        set.push(rows.as_ref().subrows(0, size), part(&residuals, 0..size));
        let mut is_inside = vec![false; task.n_rows];
        if task.is_left_out {
            order[..size].iter().for_each(|&row| is_inside[row] = true);
        }
        let (inside, outside): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|&id| task.is_left_out && is_inside[id]);
        self.add(set.fit(task.coordinates), gather(task.points, &outside).as_ref(), &outside, false);
        if !inside.is_empty() {
            let points = gather(task.points, &inside);
            let next = (rows.as_ref().subrows(size, 1), part(&residuals, size..size + 1));
            self.add_inside(&set, next, points.as_ref(), &inside);
        }
    }
}

/// A whole number below `n`, each as likely up to one part in 2⁶⁴/n.
fn below(rng: &mut ChaCha8Rng, n: usize) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Shuffles a random sample into the first `len` of `order` (Fisher and Yates).
fn shuffle_prefix(order: &mut [usize], len: usize, rng: &mut ChaCha8Rng) {
    for i in 0..len.min(order.len().saturating_sub(1)) {
        let other = i + below(rng, order.len() - i);
        order.swap(i, other);
    }
}
