//! `knn`: nearest neighbours, in closed form.

use super::shared::*;
use crate::method::{Makes, Method};
use crate::neighbours::DEFAULT_TESTS;
use dshap::neighbours::{DEFAULT_K, DEFAULT_TOLERANCE};
use dshap_catalogue::options::{
    CHECKPOINT, DEPENDENT, K, LISTS, METRIC, NO_INTERCEPT, PER_CLASS, POSITIVE, Q, REFIT_INTERCEPT, RIDGE,
    SAMPLES, SCALE, SEED, TEST, TOLERANCE, WEIGHT,
};
use dshap_catalogue::{Default, Measures, MethodEntry, MethodKind, OptionEntry, Parts, Rule, Takes};

pub(super) const TAKES_TEST: Takes = Takes::new(&TEST)
    .role("rows that the nearest rows predict")
    .default(Default::Depends("the reference rows, each predicted by the others"));
pub(super) const TAKES_K: Takes = Takes::new(&K).default(Default::Count(DEFAULT_K as u64)).saved_as("k");
pub(super) const TAKES_METRIC: Takes = Takes::new(&METRIC).default(Default::Word("euclidean"));
pub(super) const TAKES_SCALE: Takes = Takes::new(&SCALE).default(Default::Word("std"));
pub(super) const TAKES_SAMPLES: Takes = Takes::new(&SAMPLES)
    .role("maximum number of reference rows used as test rows; if there are more, a sample is drawn")
    .default(Default::Count(DEFAULT_TESTS as u64));
pub(super) const TAKES_SEED: Takes =
    Takes::new(&SEED).role("seed of a sample of test rows").default(Default::Count(0));

type Refused = (&'static OptionEntry, &'static str);

pub(super) const NO_WEIGHT: Refused = (&WEIGHT, "reference rows count alike");
pub(super) const NO_POSITIVE: Refused = (&POSITIVE, "labels agree or differ, and none counts as 1");
pub(super) const NO_RIDGE: Refused = (&RIDGE, "neighbours have no coefficients to shrink");
pub(super) const NO_NO_INTERCEPT: Refused = (&NO_INTERCEPT, "neighbours have no intercept");
pub(super) const NO_REFIT_INTERCEPT: Refused = (&REFIT_INTERCEPT, "neighbours have no intercept");
pub(super) const NO_DEPENDENT: Refused =
    (&DEPENDENT, "only constant columns are left out, and {strict} makes that an error");
pub(super) const NO_PER_CLASS: Refused = (&PER_CLASS, "neighbours compare labels as they are");
pub(super) const NO_CHECKPOINT: Refused = (&CHECKPOINT, "nothing is fitted; the rows are read and kept");

pub(super) const SAMPLES_OR_TEST: Rule = Rule {
    is_broken: |given, _| given.has(&SAMPLES) && given.has(&TEST),
    options: &[&SAMPLES, &TEST],
    why: "{samples} limits how many reference rows are test rows, and with {test} all test rows are given",
};

/// The method.
pub(crate) static KNN: Method = Method {
    entry: MethodEntry {
        name: "knn",
        summary: "For nearest neighbours, in closed form",
        about: "A set of rows predicts each test row from its k nearest rows. Its utility is the share of them with \
                the right label, or for numbers minus the squared error of their mean, averaged over test rows. The \
                value of a row is the expected gain in utility when the row joins a random set of at least k and at \
                most m − 1 others, summed over these sizes and divided by m. Nothing is fitted, so boundaries can \
                have any shape, and there can be any number of labels. Low values find wrong labels.",
        assumes: "Nothing about how rows are distributed.",
        kind: MethodKind::ClosedForm,
        measures: Measures::Neighbours,
        tasks: PREDICTIONS,
        options: &[
            TAKES_TARGET,
            TAKES_REFERENCE,
            TAKES_TEST,
            TAKES_M,
            Takes::new(&Q)
                .role("sets of fewer than k + 1 rows never count")
                .default(Default::Depends("k + 1")),
            TAKES_K,
            TAKES_METRIC,
            TAKES_SCALE,
            TAKES_SAMPLES,
            TAKES_SEED,
            Takes::new(&TOLERANCE).default(Default::Number(DEFAULT_TOLERANCE)),
            Takes::new(&LISTS),
            TAKES_SEMIVALUE,
            TAKES_STDERR,
        ],
        refuses: &[
            NO_WEIGHT,
            NO_POSITIVE,
            NO_RIDGE,
            NO_NO_INTERCEPT,
            NO_REFIT_INTERCEPT,
            NO_DEPENDENT,
            NO_PER_CLASS,
            NO_CHECKPOINT,
        ],
        rules: &[SAMPLES_OR_TEST],
        parts: Parts::NONE,
        std_errors: "the test rows are a sample",
        saved: Ok(()),
        updates: NO_TASK,
        merges: NO_TASK,
        passes: "one over the reference, which is held in memory, one over the points, and one over test rows of their \
                 own for each block of points",
        source: "not in the paper, which has finite datasets only",
        page: "docs/neighbours.md",
        example: "value iris.csv {target=species} {method=knn} {k=3} {bottom=10}",
    },
    constant: None,
    convention: "definition",
    corrected_by: None,
    makes: Makes::Neighbours { finite: false },
    needs: needs_nothing,
    default: no_other_default,
};
