//! `closed`: Theorem 5, with every integral in closed form.

use super::shared::*;
use crate::density::DEFAULT_SAMPLES;
use crate::method::{Makes, Method};
use dshap::density::DensityMethod;
use dshap_catalogue::options::{
    BANDWIDTH, CHECKPOINT, DEPENDENT, EVERY_ROW, KERNEL, NO_INTERCEPT, PER_CLASS, POSITIVE, Q,
    REFIT_INTERCEPT, RIDGE, SAMPLES, SCALE, SEED, SEMIVALUE, SETS, SYNERGY, TARGET, WEIGHT,
};
use dshap_catalogue::{Default, Measures, MethodEntry, MethodKind, OptionEntry, Parts, Rule, Takes};

pub(super) const TAKES_KERNEL: Takes = Takes::new(&KERNEL).tasks(DENSITY).default(Default::Word("gaussian"));
pub(super) const TAKES_BANDWIDTH: Takes =
    Takes::new(&BANDWIDTH).tasks(DENSITY).default(Default::Word("auto"));
pub(super) const TAKES_SCALE: Takes = Takes::new(&SCALE).tasks(DENSITY).default(Default::Word("std"));
pub(super) const TAKES_EVERY_ROW: Takes = Takes::new(&EVERY_ROW).tasks(DENSITY);
pub(super) const TAKES_SAMPLES: Takes = Takes::new(&SAMPLES)
    .role("maximum number of reference rows; if there are more, a sample is drawn")
    .default(Default::Count(DEFAULT_SAMPLES as u64));

type Refused = (&'static OptionEntry, &'static str);

pub(super) const NO_TARGET: Refused = (
    &TARGET,
    "every column is a feature; leave {target} out, and use {exclude} to keep the column out of the density",
);
pub(super) const NO_Q: Refused = (&Q, "an estimate can be made of any set, so sets of every size count");
pub(super) const NO_RIDGE: Refused = (&RIDGE, "use {bandwidth} to control smoothness");
pub(super) const NO_WEIGHT: Refused = (&WEIGHT, "reference rows of a density count alike");
pub(super) const NO_POSITIVE: Refused = (&POSITIVE, "a density has no labels");
pub(super) const NO_PER_CLASS: Refused = (&PER_CLASS, "a density has no labels");
pub(super) const NO_NO_INTERCEPT: Refused = (&NO_INTERCEPT, "a density has no intercept");
pub(super) const NO_REFIT_INTERCEPT: Refused = (&REFIT_INTERCEPT, "a density has no intercept");
pub(super) const NO_DEPENDENT: Refused =
    (&DEPENDENT, "only constant columns are left out, and {strict} makes that an error");
pub(super) const NO_CHECKPOINT: Refused = (&CHECKPOINT, "a density is fitted in one pass");

/// What goes with sets of rows.
pub(super) const SETS_RULES: &[Rule] = &[
    Rule {
        is_broken: |given, _| match given.list(&SYNERGY) {
            [first, second] => first == second,
            _ => given.has(&SYNERGY),
        },
        options: &[&SYNERGY],
        why: "it takes two different sets, such as {synergy=a,b}",
    },
    Rule {
        is_broken: |given, _| {
            given.has(&SETS) && given.word(&SEMIVALUE).is_some_and(|word| word != "shapley")
        },
        options: &[&SEMIVALUE, &SETS],
        why: "sets are valued by Shapley's weights only",
    },
];

/// The method.
pub(crate) static CLOSED: Method = Method {
    entry: MethodEntry {
        name: "closed",
        summary: "Exact for kernel density estimates; the default for densities",
        about: "The value of a row is the expected drop in integrated squared error of a kernel density estimate when \
                the row joins a random set of 0 … m − 1 others, averaged over these sizes. Rows are worth more where \
                others are near. All values hold the same constant, so their sign has no meaning; `relative` is the \
                value without it. Every column is a feature, and a column of text becomes one column for each level.",
        assumes: "Nothing about how rows are distributed.",
        kind: MethodKind::ClosedForm,
        measures: Measures::Density,
        tasks: DENSITY,
        options: &[
            TAKES_REFERENCE,
            TAKES_M,
            TAKES_SEMIVALUE,
            TAKES_KERNEL,
            TAKES_BANDWIDTH,
            TAKES_SCALE,
            TAKES_EVERY_ROW,
            TAKES_SAMPLES,
            Takes::new(&SEED)
                .role(
                    "seed of a sample of the reference, and of the pairs of rows that {sets} are compared by",
                )
                .default(Default::Count(0)),
            Takes::new(&SETS),
            Takes::new(&SYNERGY),
            TAKES_STDERR,
        ],
        refuses: &[
            NO_TARGET,
            NO_Q,
            NO_RIDGE,
            NO_WEIGHT,
            NO_POSITIVE,
            NO_PER_CLASS,
            NO_NO_INTERCEPT,
            NO_REFIT_INTERCEPT,
            NO_DEPENDENT,
            NO_CHECKPOINT,
        ],
        rules: SETS_RULES,
        parts: Parts { density: &["log_density", "relative"], ..Parts::NONE },
        std_errors: "the reference is a sample",
        saved: Ok(()),
        updates: NO_TASK,
        merges: DENSITY,
        passes: "one over the reference, of which up to {samples} rows are held in memory, and one over the points",
        source: "Theorem 5",
        page: "docs/density.md",
        example: "value cells.csv {task=density} {bandwidth=scott} {stderr}",
    },
    constant: None,
    convention: "definition",
    corrected_by: None,
    makes: Makes::Density(|_| DensityMethod::Closed),
    needs: needs_nothing,
    default: no_other_default,
};
