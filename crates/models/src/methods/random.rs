//! `random`: chance.

use super::baseline::{ENTRY, NO_CHECKPOINT, NO_PER_CLASS, NO_SAMPLES, NO_SETS, NO_STOP, NO_TARGET, method};
use super::shared::*;
use crate::method::Method;
use crate::sets::Baseline;
use dshap_catalogue::options::{
    BANDWIDTH, DEPENDENT, EVERY_ROW, KERNEL, M, NO_INTERCEPT, Q, REFERENCE, REFIT_INTERCEPT, RIDGE, SCALE,
    SEED, STDERR, TEST, UTILITY, WEIGHT,
};
use dshap_catalogue::{Default, Measures, MethodEntry, Takes};

const NO_ROW: &str = "it looks at no row";

/// The method.
pub(crate) static RANDOM: Method = method(
    MethodEntry {
        name: "random",
        summary: "Baseline: numbers drawn at random, which any method must beat",
        about: "Each row gets a number between 0 and 1, drawn at random. The rows themselves do not matter.",
        assumes: "Nothing.",
        measures: Measures::Nothing,
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
        passes: "two over the points",
        source: "not a method of the paper",
        example: "value wine.csv {target=quality} {method=random} {seed=1}",
        ..ENTRY
    },
    Baseline::Random,
);
