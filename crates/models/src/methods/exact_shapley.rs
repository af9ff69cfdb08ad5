//! `exact-shapley`: Shapley values of a finite dataset, by all sets.

use super::baseline::*;
use super::shared::joined;
use crate::method::Method;
use crate::sets::Baseline;
use dshap_catalogue::{MethodEntry, Takes};

const OPTIONS: [Takes; 14] = joined(TAKES_DATASET, [TAKES_TEST_SEED]);
const OWN_REFUSES: [Refused; 13] = joined([NO_REFERENCE, NO_M, NO_SAMPLES, NO_STOP, NO_STDERR], REFUSES);

/// The method.
pub(crate) static EXACT_SHAPLEY: Method = method(
    MethodEntry {
        name: "exact-shapley",
        summary: "Baseline: Shapley values of one finite dataset, by all sets",
        about: "A model is fitted to every set of rows, so that there can be at most 20 rows. For densities a closed \
                form takes any number of rows. The values are those that `tmc-shapley` estimates, and serve to check \
                estimates. Utility is measured on test rows.",
        options: &OPTIONS,
        refuses: &OWN_REFUSES,
        source: "Shapley 1953",
        example: "value few.csv {target=y} {method=exact-shapley} {test=held-out.csv}",
        ..ENTRY
    },
    Baseline::ExactShapley,
);
