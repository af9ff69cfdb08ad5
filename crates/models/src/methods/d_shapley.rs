//! `d-shapley`: the expected gain on joining a random set, by drawing sets.

use super::baseline::*;
use super::shared::*;
use crate::method::Method;
use crate::sets::Baseline;
use dshap_catalogue::{MethodEntry, Takes};

const TAKES_OWN: [Takes; 15] =
    joined([TAKES_TARGET, TAKES_REFERENCE, TAKES_TEST, TAKES_M, TAKES_Q.tasks(PREDICTIONS)], TAKES_MODELS);
const OPTIONS: [Takes; 19] = joined(TAKES_OWN, TAKES_DRAWS);

/// The method.
pub(crate) static D_SHAPLEY: Method = method(
    MethodEntry {
        name: "d-shapley",
        summary: "Baseline: expected gain on joining a random set, by fitting models to sets",
        about: "Sets of q − 1 … m − 1 reference rows are drawn, a model is fitted to each, and the value of a row is \
                the mean gain in utility when it joins them. That is what the closed forms compute, here by Monte \
                Carlo and for models that are really refitted, by squared error, accuracy or log-loss. Utility is \
                measured on test rows, of which there should be many: rows are also valued for fitting their noise.",
        options: &OPTIONS,
        refuses: &REFUSES,
        rules: &RULES_OF_DRAWS,
        std_errors: "the draws alone",
        passes: "one over the reference, one over the points and one over test rows of their own; all are held in memory",
        source: "Ghorbani, Kim and Zou 2020",
        example: "value wine.csv {target=quality} {method=d-shapley} {test=held-out.csv} {stderr}",
        ..ENTRY
    },
    Baseline::DShapley,
);
