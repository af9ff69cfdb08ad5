//! What baselines have in common: models are fitted to sets of rows and judged on test rows.

use super::closed::{self, TAKES_BANDWIDTH, TAKES_EVERY_ROW, TAKES_KERNEL, TAKES_SCALE};
use super::gaussian::REFIT_RULE;
use super::shared::*;
use crate::method::{Makes, Method};
use crate::sets::Baseline;
use dshap_catalogue::options::{
    CHECKPOINT, M, PER_CLASS, REFERENCE, REFIT_INTERCEPT, RIDGE, SAMPLES, SEED, SETS, STDERR, STOP, TARGET,
    TEST, UTILITY, WEIGHT,
};
use dshap_catalogue::{Default, Measures, MethodEntry, MethodKind, OptionEntry, Parts, Rule, Takes, Task};

pub(super) const TAKES_TEST: Takes = Takes::new(&TEST)
    .role("rows that measure utility and are in no set")
    .default(Default::Depends("one reference row in five, which then has no value of its own"));
/// Test rows of a method that values one finite dataset.
pub(super) const TAKES_OWN_TEST: Takes =
    TAKES_TEST.default(Default::Depends("one row in five, which then has no value of its own"));
pub(super) const TAKES_SAMPLES: Takes =
    Takes::new(&SAMPLES).role("maximum number of iterations").default(Default::Count(10_000));
pub(super) const TAKES_STOP: Takes = Takes::new(&STOP)
    .role("draws stop when the means move by less in a hundred iterations; 0 takes all iterations")
    .default(Default::Number(0.05));
pub(super) const TAKES_SEED: Takes =
    Takes::new(&SEED).role("seed of the draws, and of the choice of test rows").default(Default::Count(0));
pub(super) const TAKES_TEST_SEED: Takes =
    Takes::new(&SEED).role("seed of the choice of test rows").default(Default::Count(0));
pub(super) const TAKES_UTILITY: Takes = Takes::new(&UTILITY)
    .tasks(CLASSIFICATION)
    .role("what models are judged by on the test rows")
    .words(&["accuracy", "log-loss"])
    .default(Default::Word("accuracy"));
pub(super) const TAKES_RIDGE: Takes = Takes::new(&RIDGE)
    .tasks(PREDICTIONS)
    .role("ridge penalty of the models fitted to sets; auto is for labels")
    .default(Default::Depends("0, and auto for labels"));
pub(super) const TAKES_FINITE_Q: Takes = TAKES_Q
    .tasks(PREDICTIONS)
    .role("smallest set that has a model; the default is the same for all finite datasets")
    .default(Default::Depends("1 with a ridge, else p + max(p, 10), at most half of the rows"));
pub(super) const TAKES_INTERCEPT: Takes = TAKES_NO_INTERCEPT.tasks(PREDICTIONS);
pub(super) const TAKES_COLUMNS: Takes = TAKES_DEPENDENT.tasks(PREDICTIONS);

pub(super) type Refused = (&'static OptionEntry, &'static str);

pub(super) const NO_TARGET: Refused = (&TARGET, "a density has no target, since every column is a feature");
pub(super) const NO_WEIGHT: Refused = (&WEIGHT, "sets are made of rows, which count alike");
pub(super) const NO_PER_CLASS: Refused = (&PER_CLASS, "a value is that of all labels together");
pub(super) const NO_CHECKPOINT: Refused = (&CHECKPOINT, "all rows are held in memory, and nothing is kept");
pub(super) const NO_SETS: Refused = (&SETS, "it values single rows");
pub(super) const NO_REFIT: Refused =
    (&REFIT_INTERCEPT, "every classifier fits the intercept of its own set, and a density has none");

pub(super) const RIDGE_RULE: Rule = Rule {
    is_broken: |given, task| task == Some(Task::Classification) && given.number(&RIDGE) == Some(0.0),
    options: &[&RIDGE],
    why: "small sets of labels are separable and have no model without a ridge; give a number above 0",
};
pub(super) const NUMBER_RULE: Rule = Rule {
    is_broken: |given, task| task == Some(Task::Regression) && given.is(&RIDGE, "auto"),
    options: &[&RIDGE],
    why: "the automatic ridge is for labels; give a number",
};
pub(super) const SAMPLES_RULE: Rule = Rule {
    is_broken: |given, _| given.count(&SAMPLES).is_some_and(|samples| samples < 2),
    options: &[&SAMPLES],
    why: "at least 2 iterations are needed for standard errors",
};

/// Options about the models.
pub(super) const TAKES_MODELS: [Takes; 10] = [
    TAKES_POSITIVE,
    TAKES_COLUMNS,
    TAKES_INTERCEPT,
    TAKES_REFIT_INTERCEPT,
    TAKES_RIDGE,
    TAKES_UTILITY,
    TAKES_KERNEL,
    TAKES_BANDWIDTH,
    TAKES_SCALE,
    TAKES_EVERY_ROW,
];
/// Options of a method that values the rows of one finite dataset.
pub(super) const TAKES_DATASET: [Takes; 13] =
    joined([TAKES_TARGET, TAKES_OWN_TEST, TAKES_FINITE_Q], TAKES_MODELS);
/// Options of a method that draws.
pub(super) const TAKES_DRAWS: [Takes; 4] = [TAKES_STOP, TAKES_SAMPLES, TAKES_SEED, TAKES_STDERR];

/// What no baseline takes.
pub(super) const REFUSES: [Refused; 8] =
    [NO_TARGET, closed::NO_Q, closed::NO_RIDGE, NO_WEIGHT, NO_PER_CLASS, NO_CHECKPOINT, NO_SETS, NO_REFIT];
pub(super) const NO_REFERENCE: Refused = (
    &REFERENCE,
    "it values the rows of one finite dataset; rows to measure their use on are given by {test}",
);
pub(super) const NO_M: Refused = (&M, "it counts sets of every size up to all rows");
pub(super) const NO_SAMPLES: Refused = (&SAMPLES, "it draws no sets");
pub(super) const NO_STOP: Refused = (&STOP, "it draws no sets");
pub(super) const NO_STDERR: Refused = (&STDERR, "nothing is drawn, so there is no error of draws");

/// Rules about the models.
pub(super) const RULES: [Rule; 3] = [REFIT_RULE, RIDGE_RULE, NUMBER_RULE];
/// The same for a method that draws.
pub(super) const RULES_OF_DRAWS: [Rule; 4] = joined(RULES, [SAMPLES_RULE]);

/// An entry without what each baseline has of its own.
pub(super) const ENTRY: MethodEntry = MethodEntry {
    name: "",
    summary: "",
    about: "",
    assumes: "Nothing about how rows are distributed. Test rows measure utility.",
    kind: MethodKind::Baseline,
    measures: Measures::TestRows,
    tasks: &Task::ALL,
    options: &[],
    refuses: &[],
    rules: &RULES,
    parts: Parts::NONE,
    std_errors: "",
    saved: Err("every value is about the rows at hand"),
    updates: NO_TASK,
    merges: NO_TASK,
    passes: "two over the points and one over test rows of their own; all are held in memory",
    source: "",
    page: "docs/baselines.md",
    example: "",
};

/// The method with this entry.
pub(super) const fn method(entry: MethodEntry, baseline: Baseline) -> Method {
    Method {
        entry,
        constant: None,
        convention: "definition",
        makes: Makes::Sets(baseline),
        corrected_by: None,
        needs: needs_nothing,
        default: no_other_default,
    }
}
