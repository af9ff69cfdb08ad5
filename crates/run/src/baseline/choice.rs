//! Names of baselines, and what was said about them.

use crate::Error;
use crate::density_choice::NO_RIDGE;
use crate::request::{Model, Task};
use dshap::Sizes;
use dshap_baselines::{Score, Stopping, TmcOptions};

/// A baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Expected gain on joining a random set (Ghorbani, Kim and Zou 2020).
    DShapley,
    /// Shapley values of a finite dataset, by truncated chains (Ghorbani and Zou
    /// 2019).
    TmcShapley,
    /// The same by all sets; in closed form for densities.
    ExactShapley,
    /// What all rows lose without each.
    LeaveOneOut,
    /// Chance.
    Random,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Baseline; 5] = [
        Baseline::DShapley,
        Baseline::TmcShapley,
        Baseline::ExactShapley,
        Baseline::LeaveOneOut,
        Baseline::Random,
    ];

    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            Baseline::DShapley => "d-shapley",
            Baseline::TmcShapley => "tmc-shapley",
            Baseline::ExactShapley => "exact-shapley",
            Baseline::LeaveOneOut => "loo",
            Baseline::Random => "random",
        }
    }

    /// The baseline of that name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|baseline| baseline.word() == word)
    }

    /// Whether sets are drawn.
    pub fn draws(self) -> bool {
        matches!(self, Baseline::DShapley | Baseline::TmcShapley)
    }

    /// Whether it looks at what sets are worth.
    pub(crate) fn measures(self) -> bool {
        self != Baseline::Random
    }
}

/// What labels are to be told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UtilityName {
    /// The share of test rows whose label is predicted.
    #[default]
    Accuracy,
    /// Minus the mean log-loss.
    LogLoss,
}

impl UtilityName {
    /// The word users know it by.
    pub fn word(self) -> &'static str {
        match self {
            UtilityName::Accuracy => "accuracy",
            UtilityName::LogLoss => "log-loss",
        }
    }

    pub(super) fn score(self) -> Score {
        match self {
            UtilityName::Accuracy => Score::Accuracy,
            UtilityName::LogLoss => Score::LogLoss,
        }
    }
}

/// What was said about a baseline, as far as anything was.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineChoice {
    /// Which.
    pub baseline: Baseline,
    /// What labels are told by: classification only; accuracy by default.
    pub utility: Option<UtilityName>,
    /// `γ`; 0 by default, 1 in classification.
    pub ridge: Option<f64>,
    /// Iterations at most.
    pub samples: Option<usize>,
    /// When means have come to rest.
    pub stop: Option<f64>,
    /// Seed of draws, and of the choice of test rows.
    pub seed: u64,
}

impl BaselineChoice {
    /// A baseline with everything else as by default.
    pub fn new(baseline: Baseline) -> Self {
        Self { baseline, utility: None, ridge: None, samples: None, stop: None, seed: 0 }
    }

    pub(super) fn stopping(&self) -> Stopping {
        let default = Stopping::default();
        Stopping {
            tolerance: self.stop.unwrap_or(default.tolerance),
            max_iterations: self.samples.unwrap_or(default.max_iterations),
            seed: self.seed,
        }
    }

    pub(crate) fn max_iterations(&self) -> usize {
        self.stopping().max_iterations
    }

    pub(super) fn tmc(&self) -> TmcOptions {
        TmcOptions { stopping: self.stopping(), ..TmcOptions::default() }
    }

    pub(crate) fn tolerance(&self) -> f64 {
        self.stopping().tolerance
    }

    /// Refuses what does not go together, before anything is read.
    pub(crate) fn check(&self, has_reference: bool, model: &Model) -> Result<(), Error> {
        let misplaced = |what: String| Err(Error::Misplaced { what });
        let name = self.baseline.word();
        if has_reference && self.baseline != Baseline::DShapley {
            return misplaced(format!(
                "`--reference` goes with `d-shapley` only: `{name}` values the rows of one finite dataset; \
                 rows to measure their use on are `--test FILE`"
            ));
        }
        if !self.baseline.draws() && (self.samples.is_some() || self.stop.is_some()) {
            let flag = if self.samples.is_some() { "--samples" } else { "--stop" };
            return misplaced(format!(
                "`{flag}` goes with `d-shapley` and `tmc-shapley` only: `{name}` draws no sets"
            ));
        }
        if self.baseline != Baseline::DShapley && model.sizes.max.is_some() {
            let why = match self.baseline {
                Baseline::Random => "looks at no sets",
                Baseline::LeaveOneOut => "looks at all rows, and all but one",
                _ => "counts sets of every size up to all rows",
            };
            return misplaced(format!("`--m` goes with `d-shapley` only: `{name}` {why}"));
        }
        if model.selection.weight.is_some() {
            return misplaced(format!(
                "`--weight` does not go with `{name}`: sets are of rows, which count alike"
            ));
        }
        if self.samples.is_some_and(|samples| samples < 2) {
            return misplaced("`--samples` must be 2 at least, or errors cannot be told".into());
        }
        Ok(())
    }

    /// Refuses what does not go with the task.
    pub(crate) fn check_task(&self, task: Task, model: &Model) -> Result<(), Error> {
        let misplaced = |what: String| Err(Error::Misplaced { what });
        match task {
            Task::Density if self.ridge.is_some() => {
                misplaced(format!("`--ridge` does not go with `--task density`: {NO_RIDGE}"))
            }
            Task::Density if model.sizes.min.is_some() => {
                misplaced("`--q` does not go with `--task density`: sets of every size count".into())
            }
            Task::Density if model.selection.target.is_some() => {
                misplaced("a density has no target: leave `--target` out".into())
            }
            Task::Regression | Task::Density if self.utility.is_some() => {
                misplaced("`--utility` is for classification".into())
            }
            Task::Regression | Task::Density if model.positive.is_some() => {
                misplaced("`--positive` goes with classification only".into())
            }
            Task::Classification if self.ridge == Some(0.0) => misplaced(
                "`--ridge 0` leaves small sets without a model, since they are separable: give a number above 0"
                    .into(),
            ),
            Task::Classification if model.fit.refit_intercept => misplaced(
                "`--refit-intercept` is for regression; in classification every set fits its own".into(),
            ),
            Task::Regression | Task::Classification if model.density.first_said().is_some() => {
                let flag = model.density.first_said().unwrap_or_default();
                let also = if flag == "--scale" { ", `--method knn` and `knn-shapley`" } else { "" };
                misplaced(format!("`{flag}` goes with `--task density`{also} only"))
            }
            _ => Ok(()),
        }
    }

    /// The ridge of a task.
    pub(super) fn ridge_for(&self, task: Task) -> f64 {
        self.ridge.unwrap_or(if task == Task::Classification { 1.0 } else { 0.0 })
    }

    /// The set sizes, for `p` columns and `n` rows to make sets of.
    ///
    /// D-Shapley has the defaults of the closed forms. Finite datasets count every
    /// set that has a model: with a ridge all, without one those of `q` rows. Their
    /// default is that of the closed forms, but at most half of the rows, so that
    /// sets of several sizes are left in small datasets; it is the same for all
    /// methods, which so value the same game.
    pub(crate) fn sizes(&self, task: Task, model: &Model, p: usize, n: usize, is_unseen: bool) -> Sizes {
        let max = model.sizes.max.unwrap_or(n);
        let least = match (self.baseline, task) {
            (_, Task::Density) => 1,
            (Baseline::DShapley, _) => Sizes::default_min(p, max).min(n + usize::from(is_unseen)),
            _ if self.ridge_for(task) > 0.0 => 1,
            _ => Sizes::default_min(p, n / 2).min(n),
        };
        Sizes::new(model.sizes.min.unwrap_or(least), max)
    }

    /// What is to be said about set sizes.
    pub(crate) fn doubt(&self, sizes: Sizes) -> Option<String> {
        let word = self.baseline.word();
        match self.baseline {
            Baseline::Random => None,
            Baseline::DShapley => sizes.warning().map(|few| few.describe(|_| String::new())),
            _ if sizes.count() <= 1 => Some(format!(
                "only all {} rows together have a model, so that `{word}` gives every row the same value; give more \
                 rows, or a smaller `q`",
                sizes.max()
            )),
            Baseline::LeaveOneOut => None,
            Baseline::TmcShapley | Baseline::ExactShapley => {
                sizes.warning().map(|few| few.describe(|_| String::new()))
            }
        }
    }

    /// Rows of the smallest set that has a model. D-Shapley measures what a point
    /// adds to sets of `q − 1` rows too.
    pub(crate) fn least_rows(&self, sizes: Sizes) -> usize {
        match self.baseline {
            Baseline::DShapley => sizes.min().saturating_sub(1).max(1),
            _ => sizes.min(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_baseline_has_its_word() {
        for baseline in Baseline::ALL {
            assert_eq!(Baseline::parse(baseline.word()), Some(baseline));
        }
        assert_eq!(Baseline::parse("shapley"), None);
    }

    #[test]
    fn set_sizes_follow_the_closed_forms_or_the_dataset() {
        let model = Model::new("y");
        let of = |baseline, task, n| {
            let sizes = BaselineChoice::new(baseline).sizes(task, &model, 3, n, false);
            (sizes.min(), sizes.max())
        };
        assert_eq!(of(Baseline::DShapley, Task::Regression, 100), (13, 100));
        assert_eq!(of(Baseline::TmcShapley, Task::Regression, 100), (13, 100));
        assert_eq!(of(Baseline::TmcShapley, Task::Classification, 100), (1, 100));
        let finite = [Baseline::TmcShapley, Baseline::ExactShapley, Baseline::LeaveOneOut];
        for (n, q) in [(4, 4), (8, 6), (12, 6), (20, 10), (30, 13)] {
            for baseline in finite {
                assert_eq!(of(baseline, Task::Regression, n), (q, n), "one game for all of them");
            }
        }
    }

    #[test]
    fn few_set_sizes_and_values_that_must_be_equal_are_said() {
        let said = |baseline, q, m| BaselineChoice::new(baseline).doubt(Sizes::new(q, m)).unwrap_or_default();
        for baseline in [Baseline::TmcShapley, Baseline::ExactShapley, Baseline::LeaveOneOut] {
            assert!(said(baseline, 20, 20).contains("gives every row the same value"), "{baseline:?}");
        }
        for baseline in [Baseline::DShapley, Baseline::TmcShapley, Baseline::ExactShapley] {
            assert!(said(baseline, 12, 20).contains("only 9 set sizes"), "{baseline:?}");
            assert_eq!(said(baseline, 11, 20), "");
        }
        assert_eq!((said(Baseline::LeaveOneOut, 19, 20), said(Baseline::Random, 1, 1)), Default::default());
    }

    #[test]
    fn density_sizes_start_at_one() {
        let model = Model::new("y");
        let of = |baseline, task, n| {
            let sizes = BaselineChoice::new(baseline).sizes(task, &model, 3, n, false);
            (sizes.min(), sizes.max())
        };
        assert_eq!(of(Baseline::DShapley, Task::Density, 50), (1, 50));
    }
}
