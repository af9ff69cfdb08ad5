//! `tmc-shapley`: Shapley values of a finite dataset, by truncated chains.

use super::baseline::*;
use super::shared::joined;
use crate::method::Method;
use crate::sets::Baseline;
use dshap_catalogue::{MethodEntry, Takes};

const OPTIONS: [Takes; 17] = joined(TAKES_DATASET, TAKES_DRAWS);
const OWN_REFUSES: [Refused; 10] = joined([NO_REFERENCE, NO_M], REFUSES);

/// The method.
pub(crate) static TMC_SHAPLEY: Method = method(
    MethodEntry {
        name: "tmc-shapley",
        summary: "Baseline: Shapley values of one finite dataset, by random orders",
        about: "Rows join a set in random order, and the value of a row is the mean gain in utility when it joins. An \
                order ends early once the utility of all rows is nearly reached. Values add up to the utility of all \
                rows. Utility is measured on test rows.",
        options: &OPTIONS,
        refuses: &OWN_REFUSES,
        rules: &RULES_OF_DRAWS,
        std_errors: "the draws alone",
        source: "Ghorbani and Zou 2019",
        example: "value wine.csv {target=quality} {method=tmc-shapley} {test=held-out.csv}",
        ..ENTRY
    },
    Baseline::TmcShapley,
);
