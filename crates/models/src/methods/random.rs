//! `random`: chance.

use super::d_shapley::{NO_CHECKPOINT, NO_PER_CLASS, NO_SETS, NO_TARGET, NOT_SAVED};
use super::exact_shapley::{NO_SAMPLES, NO_STOP};
use super::shared::*;
use crate::method::{Makes, Method};
use crate::sets::Baseline;
use dshap_catalogue::options::{
    BANDWIDTH, DEPENDENT, EVERY_ROW, KERNEL, M, NO_INTERCEPT, Q, REFERENCE, REFIT_INTERCEPT, RIDGE, SCALE,
    SEED, STDERR, TEST, UTILITY, WEIGHT,
};
use dshap_catalogue::{Default, MethodEntry, MethodKind, Takes, Task};

const NO_ROW: &str = "it looks at no row";

/// The method.
pub(crate) static RANDOM: Method = Method {
    entry: MethodEntry {
        name: "random",
        summary: "Baseline: numbers drawn at random, which any method must beat",
        about: "Each row gets a number between 0 and 1, drawn at random. The rows themselves do not matter.",
        kind: MethodKind::Baseline,
        tasks: &Task::ALL,
        options: &[TAKES_TARGET, Takes::new(&SEED).default(Default::Count(0))],
        refuses: &[
            (&REFERENCE, NO_ROW),
            NO_TARGET,
            (&M, NO_ROW),
            (&Q, NO_ROW),
            (&TEST, NO_ROW),
            (&UTILITY, NO_ROW),
            (&RIDGE, NO_ROW),
            (&NO_INTERCEPT, NO_ROW),
            (&REFIT_INTERCEPT, NO_ROW),
            (&DEPENDENT, NO_ROW),
            (&KERNEL, NO_ROW),
            (&BANDWIDTH, NO_ROW),
            (&SCALE, NO_ROW),
            (&EVERY_ROW, NO_ROW),
            NO_SAMPLES,
            NO_STOP,
            (&STDERR, "the numbers mean nothing, so they have no error"),
            (&WEIGHT, NO_ROW),
            NO_PER_CLASS,
            NO_CHECKPOINT,
            NO_SETS,
        ],
        rules: &[],
        parts: "",
        std_errors: "",
        saved: NOT_SAVED,
        updates: false,
        merges: false,
        passes: "two over the points",
        source: "not a method of the paper",
        page: "docs/baselines.md",
        example: "value wine.csv {target=quality} {method=random} {seed=1}",
    },
    constant: None,
    convention: "definition",
    makes: Makes::Sets(Baseline::Random),
    needs: needs_nothing,
    default: no_other_default,
};
