//! Rows for tests of neighbours, and their utility as it is defined, without any of core's arithmetic.

use dshap::Rows;
use dshap::neighbours::{NeighbourOptions, NeighbourTask, Scale};
use dshap_testkit::Draws;
use faer::Mat;

pub(crate) const TWO_CLASSES: NeighbourTask = NeighbourTask::Classification { n_classes: 2 };
pub(crate) const THREE_CLASSES: NeighbourTask = NeighbourTask::Classification { n_classes: 3 };

/// Rows and their targets.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
}

impl Table {
    pub(crate) fn new(x: Mat<f64>, y: Vec<f64>) -> Self {
        Self { x, y }
    }

    /// `n` rows of `p` features. The target depends on the first feature: a label below
    /// `n_classes` for classification.
    pub(crate) fn drawn(draws: &mut Draws, n: usize, p: usize, task: NeighbourTask) -> Self {
        let x = Mat::from_fn(n, p, |_, _| draws.normal());
        let y = (0..n).map(|i| target(draws, x[(i, 0)], task)).collect();
        Self { x, y }
    }

    /// The same with coordinates that are small whole numbers, so that many rows are tied
    /// or equal.
    pub(crate) fn on_a_grid(draws: &mut Draws, n: usize, p: usize, width: f64, task: NeighbourTask) -> Self {
        let x = Mat::from_fn(n, p, |_, _| (draws.uniform() * width).floor());
        let y = (0..n).map(|i| target(draws, x[(i, 0)] - width / 2.0, task)).collect();
        Self { x, y }
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows::new(self.x.as_ref(), &self.y).expect("one target per row")
    }

    pub(crate) fn len(&self) -> usize {
        self.y.len()
    }

    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let x = Mat::from_fn(rows.len(), self.x.ncols(), |i, j| self.x[(rows[i], j)]);
        Self { x, y: rows.iter().map(|&row| self.y[row]).collect() }
    }

    pub(crate) fn without(&self, row: usize) -> Self {
        self.select(&(0..self.len()).filter(|&other| other != row).collect::<Vec<_>>())
    }

    /// Squared Euclidean distance of two rows, in the units given.
    pub(crate) fn dist_sq(&self, row: usize, other: &Self, other_row: usize) -> f64 {
        (0..self.x.ncols()).map(|j| (self.x[(row, j)] - other.x[(other_row, j)]).powi(2)).sum()
    }
}

fn target(draws: &mut Draws, lean: f64, task: NeighbourTask) -> f64 {
    match task {
        NeighbourTask::Regression => 1.3 * lean + 0.7 * draws.normal() + 2.0,
        NeighbourTask::Classification { n_classes } => {
            let noisy = 0.5 + 0.3 * lean + 0.4 * draws.normal();
            (noisy * n_classes as f64).floor().clamp(0.0, n_classes as f64 - 1.0)
        }
    }
}

/// Columns in the units given, so that distances can be recomputed exactly.
pub(crate) fn as_given(k: usize, task: NeighbourTask) -> NeighbourOptions {
    NeighbourOptions { k, scale: Scale::AsGiven, ..NeighbourOptions::new(task) }
}

/// Utility of targets that are sorted from near to far; sums are always divided by `k`.
pub(crate) fn utility(task: NeighbourTask, k: usize, nearest_first: &[f64], y_t: f64) -> f64 {
    let nearest = &nearest_first[..k.min(nearest_first.len())];
    match task {
        NeighbourTask::Regression => -(nearest.iter().sum::<f64>() / k as f64 - y_t).powi(2),
        _ => nearest.iter().filter(|&&y| y == y_t).count() as f64 / k as f64,
    }
}
