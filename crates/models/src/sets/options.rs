//! Which baselines there are, and what their options mean.

use crate::how::{How, LogisticRidge};
use crate::warning::Warning;
use crate::{Error, methods};
use dshap::Sizes;
use dshap_baselines::{Score, Stopping, TmcOptions};
use dshap_catalogue::options::{M, Q, REFERENCE, RIDGE, SAMPLES, STOP, UTILITY};
use dshap_catalogue::{Given, Task, Value, check};

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
    /// Whether it draws sets.
    pub fn draws(self) -> bool {
        matches!(self, Baseline::DShapley | Baseline::TmcShapley)
    }

    /// Whether values add up to the utility of all rows.
    pub fn adds_up(self) -> bool {
        matches!(self, Baseline::TmcShapley | Baseline::ExactShapley)
    }

    /// Whether it measures what sets are worth.
    pub fn measures(self) -> bool {
        self != Baseline::Random
    }

    /// The set sizes, for `p` columns and `n` rows to make sets of. `is_unseen`:
    /// the rows that are valued are not among them.
    ///
    /// D-Shapley has the defaults of the closed forms. Finite datasets count every
    /// set that has a model: with a ridge all, without one those of `q` rows. Their
    /// default is that of the closed forms, but at most half of the rows, so that
    /// sets of several sizes are left in small datasets. It is the same for all
    /// methods, so that they value the same game.
    pub fn sizes(self, how: &How, task: Task, p: usize, n: usize, is_unseen: bool) -> Sizes {
        let choice = how.sizes();
        let max = choice.max.unwrap_or(n);
        let least = match (self, task) {
            (_, Task::Density) => 1,
            (Baseline::DShapley, _) => Sizes::default_min(p, max).min(n + usize::from(is_unseen)),
            _ if ridge(how, task).ridge > 0.0 => 1,
            _ => Sizes::default_min(p, n / 2).min(n),
        };
        Sizes::new(choice.min.unwrap_or(least), max)
    }

    /// Rows of the smallest set that has a model. D-Shapley also measures what a
    /// point adds to sets of `q − 1` rows.
    pub fn least_rows(self, sizes: Sizes) -> usize {
        match self {
            Baseline::DShapley => sizes.min().saturating_sub(1).max(1),
            _ => sizes.min(),
        }
    }

    /// Steps of its work at most, with `n` rows to make sets of.
    pub fn n_steps(self, how: &How, n: usize) -> usize {
        if self.draws() { stopping(how).max_iterations } else { n }
    }

    /// What is doubtful about set sizes; `method` is its name. Only options that it takes
    /// are worth suggesting.
    pub(super) fn size_warning(self, method: &'static str, task: Task, sizes: Sizes) -> Option<Warning> {
        let takes = |option| {
            methods::find(method).is_some_and(|method| method.entry.takes(option, Some(task)).is_some())
        };
        let few = sizes.warning().map(|_| Warning::FewSetSizes {
            n_sizes: sizes.count(),
            larger_m: takes(&M),
            smaller_q: takes(&Q),
        });
        match self {
            Baseline::Random => None,
            Baseline::DShapley => few,
            _ if sizes.count() <= 1 => Some(Warning::OnlyWholeSet { n_rows: sizes.max(), method }),
            Baseline::LeaveOneOut => None,
            Baseline::TmcShapley | Baseline::ExactShapley => few,
        }
    }
}

/// When draws end.
pub(super) fn stopping(how: &How) -> Stopping {
    let default = Stopping::default();
    Stopping {
        tolerance: how.given.number(&STOP).unwrap_or(default.tolerance),
        max_iterations: how.given.size(&SAMPLES).unwrap_or(default.max_iterations),
        seed: how.seed(),
    }
}

/// How truncated chains are drawn.
pub(super) fn tmc(how: &How) -> TmcOptions {
    TmcOptions { stopping: stopping(how), ..TmcOptions::default() }
}

/// The ridge of the models of sets: 0 by default, automatic for labels.
pub(super) fn ridge(how: &How, task: Task) -> LogisticRidge {
    match task {
        Task::Classification => how.logistic_ridge(),
        _ => LogisticRidge { ridge: how.given.number(&RIDGE).unwrap_or(0.0), standardised: false },
    }
}

/// What models of labels are judged by: accuracy by default.
pub(super) fn score(how: &How) -> Score {
    if how.given.is(&UTILITY, "log-loss") { Score::LogLoss } else { Score::Accuracy }
}

/// Refuses to value rows that are not part of the reference, where the method
/// values the rows of a finite dataset only.
pub(crate) fn refuse_unseen(how: &How) -> Result<(), Error> {
    let unseen = Given::new().with(&REFERENCE, Value::List(Vec::new()));
    Ok(check(&how.method.entry, None, &unseen, &methods::entries())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, Baseline); 5] = [
        ("d-shapley", Baseline::DShapley),
        ("tmc-shapley", Baseline::TmcShapley),
        ("exact-shapley", Baseline::ExactShapley),
        ("loo", Baseline::LeaveOneOut),
        ("random", Baseline::Random),
    ];

    fn how(baseline: Baseline) -> How {
        let (name, _) = ALL.iter().find(|(_, known)| *known == baseline).expect("all are listed");
        How { method: methods::find(name).expect("a method"), given: Given::new() }
    }

    #[test]
    fn every_baseline_has_its_method() {
        for (name, baseline) in ALL {
            assert_eq!(how(baseline).method.baseline(), Some(baseline), "{name}");
            assert_eq!(refuse_unseen(&how(baseline)).is_ok(), baseline == Baseline::DShapley, "{name}");
        }
    }

    #[test]
    fn defaults_are_those_of_the_entries() {
        for (name, baseline) in ALL.into_iter().filter(|(_, baseline)| baseline.draws()) {
            let (how, default) = (how(baseline), Stopping::default());
            assert_eq!(
                (how.number(&STOP), how.count(&SAMPLES)),
                (default.tolerance, default.max_iterations),
                "{name}"
            );
        }
    }

    #[test]
    fn set_sizes_follow_the_closed_forms_or_the_dataset() {
        let of = |baseline: Baseline, task, n| {
            let sizes = baseline.sizes(&how(baseline), task, 3, n, false);
            (sizes.min(), sizes.max())
        };
        assert_eq!(of(Baseline::DShapley, Task::Regression, 100), (13, 100));
        assert_eq!(of(Baseline::TmcShapley, Task::Regression, 100), (13, 100));
        assert_eq!(of(Baseline::TmcShapley, Task::Classification, 100), (1, 100));
        assert_eq!(of(Baseline::DShapley, Task::Density, 50), (1, 50));
        let finite = [Baseline::TmcShapley, Baseline::ExactShapley, Baseline::LeaveOneOut];
        for (n, q) in [(4, 4), (8, 6), (12, 6), (20, 10), (30, 13)] {
            for baseline in finite {
                assert_eq!(of(baseline, Task::Regression, n), (q, n), "one game for all of them");
            }
        }
    }

    #[test]
    fn few_set_sizes_and_values_that_must_be_equal_are_warnings() {
        let of = |baseline: Baseline, q, m| baseline.size_warning("it", Task::Regression, Sizes::new(q, m));
        for baseline in [Baseline::TmcShapley, Baseline::ExactShapley, Baseline::LeaveOneOut] {
            assert_eq!(of(baseline, 20, 20), Some(Warning::OnlyWholeSet { n_rows: 20, method: "it" }));
        }
        for baseline in [Baseline::DShapley, Baseline::TmcShapley, Baseline::ExactShapley] {
            let few = Warning::FewSetSizes { n_sizes: 9, larger_m: false, smaller_q: false };
            assert_eq!(of(baseline, 12, 20), Some(few), "{baseline:?}");
            assert_eq!(of(baseline, 11, 20), None);
        }
        let few = |larger_m, smaller_q| Some(Warning::FewSetSizes { n_sizes: 9, larger_m, smaller_q });
        for (name, task, expected) in [
            ("d-shapley", Task::Regression, few(true, true)),
            ("d-shapley", Task::Density, few(true, false)),
            ("tmc-shapley", Task::Regression, few(false, true)),
            ("tmc-shapley", Task::Density, few(false, false)),
        ] {
            assert_eq!(
                Baseline::DShapley.size_warning(name, task, Sizes::new(12, 20)),
                expected,
                "{name} {task:?}"
            );
        }
        assert_eq!((of(Baseline::LeaveOneOut, 19, 20), of(Baseline::Random, 1, 1)), (None, None));
    }
}
