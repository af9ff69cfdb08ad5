//! Tables whose wrong targets are known.

use dshap::Rows;
use dshap_cleaning::{Examined, Kind};
use dshap_testkit::Draws;
use faer::Mat;

/// A table of three features.
pub(crate) struct Known {
    pub(crate) x: Mat<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) is_wrong: Vec<bool>,
}

impl Known {
    /// A linear target with normal noise of deviation 1; every `step`-th target is moved by
    /// ten deviations, up or down.
    pub(crate) fn numbers(n: usize, step: Option<usize>, seed: u64) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, 3, |_, _| draws.normal());
        let is_wrong: Vec<bool> = (0..n).map(|row| step.is_some_and(|step| row % step == 0)).collect();
        let y = (0..n).map(|row| {
            let moved = if is_wrong[row] { 10.0_f64.copysign(draws.normal()) } else { 0.0 };
            2.0 * x[(row, 0)] - x[(row, 1)] + draws.normal() + moved
        });
        let y = y.collect();
        Self { x, y, is_wrong }
    }

    /// Labels of a logistic model with slopes of size 4; every `step`-th label is another
    /// one.
    pub(crate) fn labels(n: usize, step: Option<usize>, seed: u64) -> Self {
        let mut draws = Draws::new(seed);
        let x = Mat::from_fn(n, 3, |_, _| draws.normal());
        let is_wrong: Vec<bool> = (0..n).map(|row| step.is_some_and(|step| row % step == 0)).collect();
        let y = (0..n).map(|row| {
            let odds = (4.0 * x[(row, 0)] - 4.0 * x[(row, 1)]).exp();
            let is_one = draws.uniform() < odds / (1.0 + odds);
            f64::from(u8::from(is_one != is_wrong[row]))
        });
        let y = y.collect();
        Self { x, y, is_wrong }
    }

    pub(crate) fn examined(&self, kind: Kind, seed: u64) -> Examined {
        let rows = Rows::new(self.x.as_ref(), &self.y).expect("one target per row");
        Examined::new(rows, kind, seed).expect("cells are finite")
    }
}
