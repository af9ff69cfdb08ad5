//! `loo`: what all rows lose without each.

use super::baseline::*;
use super::shared::joined;
use crate::method::Method;
use crate::sets::Baseline;
use dshap_catalogue::options::M;
use dshap_catalogue::{MethodEntry, Takes};

const OPTIONS: [Takes; 14] = joined(TAKES_DATASET, [TAKES_TEST_SEED]);
const NO_SIZES: Refused = (&M, "it compares all rows with all but one");
const OWN_REFUSES: [Refused; 13] = joined([NO_REFERENCE, NO_SIZES, NO_SAMPLES, NO_STOP, NO_STDERR], REFUSES);

/// The method.
pub(crate) static LOO: Method = method(
    MethodEntry {
        name: "loo",
        summary: "Baseline: what all rows lose without each (leave-one-out)",
        about: "The value of a row is the utility of all rows less that of all but this one. One model is fitted for \
                each row, which is fast. Rows that are nearly the same hide each other: each can be missed while the \
                other is there. Utility is measured on test rows.",
        options: &OPTIONS,
        refuses: &OWN_REFUSES,
        source: "Cook 1977",
        example: "value wine.csv {target=quality} {method=loo} {test=held-out.csv}",
        ..ENTRY
    },
    Baseline::LeaveOneOut,
);
