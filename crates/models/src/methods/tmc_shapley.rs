//! `tmc-shapley`: Shapley values of a finite dataset, by truncated chains.

use super::closed::{self, TAKES_BANDWIDTH, TAKES_EVERY_ROW, TAKES_KERNEL, TAKES_SCALE};
use super::d_shapley::*;
use super::gaussian::REFIT_RULE;
use super::shared::*;
use crate::method::{Makes, Method};
use crate::sets::Baseline;
use dshap_catalogue::options::{M, REFERENCE};
use dshap_catalogue::{MethodEntry, MethodKind, OptionEntry, Task};

pub(super) const NO_REFERENCE: (&OptionEntry, &str) = (
    &REFERENCE,
    "it values the rows of one finite dataset; rows to measure their use on are given by {test}",
);
pub(super) const NO_M: (&OptionEntry, &str) = (&M, "it counts sets of every size up to all rows");

/// The method.
pub(crate) static TMC_SHAPLEY: Method = Method {
    entry: MethodEntry {
        name: "tmc-shapley",
        summary: "Baseline: Shapley values of one finite dataset, by random orders",
        about: "Rows join a set in random order, and the value of a row is the mean gain in utility when it joins. An \
                order ends early once the utility of all rows is nearly reached. Values add up to the utility of all \
                rows. Utility is measured on test rows.",
        kind: MethodKind::Baseline,
        tasks: &Task::ALL,
        options: &[
            TAKES_TARGET,
            TAKES_OWN_TEST,
            TAKES_FINITE_Q,
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
            TAKES_STOP,
            TAKES_SAMPLES,
            TAKES_SEED,
            TAKES_STDERR,
        ],
        refuses: &[
            NO_REFERENCE,
            NO_M,
            NO_TARGET,
            closed::NO_Q,
            closed::NO_RIDGE,
            NO_WEIGHT,
            NO_PER_CLASS,
            NO_CHECKPOINT,
            NO_SETS,
            NO_REFIT,
        ],
        rules: &[REFIT_RULE, RIDGE_RULE, NUMBER_RULE, SAMPLES_RULE],
        parts: "",
        std_errors: "the draws alone",
        saved: NOT_SAVED,
        updates: false,
        merges: false,
        passes: PASSES,
        source: "Ghorbani and Zou 2019",
        page: "docs/baselines.md",
        example: "value wine.csv {target=quality} {method=tmc-shapley} {test=held-out.csv}",
    },
    constant: None,
    convention: "definition",
    makes: Makes::Sets(Baseline::TmcShapley),
    needs: needs_nothing,
    default: no_other_default,
};
