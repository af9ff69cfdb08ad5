//! Options that several methods take in the same way.

use crate::reference::ExtraPass;
use dshap_catalogue::options::{
    CHECKPOINT, DEPENDENT, M, NO_INTERCEPT, PER_CLASS, POPULATION, POSITIVE, Q, REFERENCE, REFIT_INTERCEPT,
    RIDGE, SEMIVALUE, STDERR, TARGET, TEST, WEIGHT,
};
use dshap_catalogue::{Default, Given, OptionEntry, Parts, Rule, Takes, Task, Value};

pub(super) const PREDICTIONS: &[Task] = &[Task::Regression, Task::Classification];
pub(super) const REGRESSION: &[Task] = &[Task::Regression];
pub(super) const CLASSIFICATION: &[Task] = &[Task::Classification];
pub(super) const DENSITY: &[Task] = &[Task::Density];
pub(super) const NO_TASK: &[Task] = &[];

/// What a fit says about a row.
pub(super) const FIT_PARTS: Parts = Parts {
    regression: &["dist_sq", "resid_sq", "predicted", "residual"],
    two_labels: &["dist_sq", "prob", "weight", "given_label", "label_prob", "predicted"],
    more_labels: &["given_label", "label_prob", "predicted"],
    density: &[],
};
/// What a closed form of Theorem 2 says about it too.
pub(super) const THEOREM_2_PARTS: Parts = Parts {
    regression: &["potential", "penalty", "dist_sq", "resid_sq", "predicted", "residual"],
    two_labels: &[
        "potential",
        "penalty",
        "dist_sq",
        "prob",
        "weight",
        "given_label",
        "label_prob",
        "predicted",
    ],
    more_labels: &["potential", "penalty", "given_label", "label_prob", "predicted"],
    density: &[],
};

pub(super) const TAKES_REFERENCE: Takes = Takes::new(&REFERENCE);
pub(super) const TAKES_TARGET: Takes = Takes::new(&TARGET).tasks(PREDICTIONS);
pub(super) const TAKES_WEIGHT: Takes = Takes::new(&WEIGHT);
pub(super) const TAKES_M: Takes = Takes::new(&M);
pub(super) const TAKES_Q: Takes = Takes::new(&Q);
pub(super) const TAKES_POSITIVE: Takes = Takes::new(&POSITIVE).tasks(CLASSIFICATION);
pub(super) const TAKES_DEPENDENT: Takes = Takes::new(&DEPENDENT);
pub(super) const TAKES_NO_INTERCEPT: Takes = Takes::new(&NO_INTERCEPT);
pub(super) const TAKES_REFIT_INTERCEPT: Takes = Takes::new(&REFIT_INTERCEPT).tasks(REGRESSION);
pub(super) const TAKES_SEMIVALUE: Takes =
    Takes::new(&SEMIVALUE).default(Default::Word("shapley")).saved_as("semivalue");
/// Rows that a closed form is for.
pub(super) const TAKES_PREDICTED: Takes = Takes::new(&TEST)
    .role("rows like those that the model will predict; values are for them")
    .default(Default::Depends("rows like the reference"));
pub(super) const TAKES_POPULATION: Takes = Takes::new(&POPULATION);
pub(super) const TAKES_STDERR: Takes = Takes::new(&STDERR);
pub(super) const TAKES_PER_CLASS: Takes = Takes::new(&PER_CLASS).tasks(CLASSIFICATION);
pub(super) const TAKES_CHECKPOINT: Takes = Takes::new(&CHECKPOINT).tasks(REGRESSION);
pub(super) const NO_CHECKPOINT_OF_LABELS: (&OptionEntry, &str) =
    (&CHECKPOINT, "only the fit of a regression is a sum over rows that can be kept half-way");

/// A ridge of the logistic fit, whatever the method.
pub(super) const TAKES_FIT_RIDGE: Takes = Takes::new(&RIDGE)
    .tasks(CLASSIFICATION)
    .role("half of it times the squared coefficients is added to the log-loss of the fit")
    .default(Default::Depends("auto"));

/// Whether values are for given rows.
pub(super) fn is_for_tests(given: &Given) -> bool {
    given.has(&TEST) || given.has(&POPULATION)
}

pub(super) const TEST_OR_POPULATION: Rule = Rule {
    is_broken: |given, _| given.has(&TEST) && given.has(&POPULATION),
    options: &[&POPULATION, &TEST],
    why: "values are for the rows of one of them",
};
pub(super) const NO_REFITTED_TESTS: Rule = Rule {
    is_broken: |given, _| given.has(&REFIT_INTERCEPT) && is_for_tests(given),
    options: &[&REFIT_INTERCEPT, &TEST, &POPULATION],
    why: "the closed form for test rows takes the means of the reference as known",
};
pub(super) const NO_ERRORS_OF_LABELS: Rule = Rule {
    is_broken: |given, task| task == Some(Task::Classification) && given.has(&STDERR) && is_for_tests(given),
    options: &[&STDERR, &TEST, &POPULATION],
    why: "values of labels for test rows have no standard errors",
};

/// Both lists, one behind the other.
pub(super) const fn joined<T: Copy, const A: usize, const B: usize, const N: usize>(
    first: [T; A],
    second: [T; B],
) -> [T; N] {
    assert!(A > 0 && A + B == N, "a list of another length");
    let mut all = [first[0]; N];
    let mut i = 1;
    while i < N {
        all[i] = if i < A { first[i] } else { second[i - A] };
        i += 1;
    }
    all
}

/// A method that needs nothing of the reference beyond a fit.
pub(super) fn needs_nothing(_: &Given, _: Task) -> Option<ExtraPass> {
    None
}

/// A method whose defaults all stand in its entry.
pub(super) fn no_other_default(_: &Given, _: &OptionEntry) -> Option<Value> {
    None
}

/// Whether an intercept is to be refitted that there is not.
pub(super) fn refits_no_intercept(given: &Given, _: Option<Task>) -> bool {
    given.has(&REFIT_INTERCEPT) && given.has(&NO_INTERCEPT)
}
