//! `loo`: what all rows lose without each.

use super::closed::{self, TAKES_BANDWIDTH, TAKES_EVERY_ROW, TAKES_KERNEL, TAKES_SCALE};
use super::d_shapley::*;
use super::exact_shapley::{NO_SAMPLES, NO_STDERR, NO_STOP};
use super::gaussian::REFIT_RULE;
use super::shared::*;
use super::tmc_shapley::NO_REFERENCE;
use crate::method::{Makes, Method};
use crate::sets::Baseline;
use dshap_catalogue::options::M;
use dshap_catalogue::{MethodEntry, MethodKind, Task};

/// The method.
pub(crate) static LOO: Method = Method {
    entry: MethodEntry {
        name: "loo",
        summary: "Baseline: what all rows lose without each (leave-one-out)",
        about: "The value of a row is the utility of all rows less that of all but this one. One model is fitted for \
                each row, which is fast. Rows that are nearly the same hide each other: each can be missed while the \
                other is there. Utility is measured on test rows.",
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
            TAKES_TEST_SEED,
        ],
        refuses: &[
            NO_REFERENCE,
            (&M, "it compares all rows with all but one"),
            NO_SAMPLES,
            NO_STOP,
            NO_STDERR,
            NO_TARGET,
            closed::NO_Q,
            closed::NO_RIDGE,
            NO_WEIGHT,
            NO_PER_CLASS,
            NO_CHECKPOINT,
            NO_SETS,
            NO_REFIT,
        ],
        rules: &[REFIT_RULE, RIDGE_RULE, NUMBER_RULE],
        parts: "",
        std_errors: "",
        saved: NOT_SAVED,
        updates: false,
        merges: false,
        passes: PASSES,
        source: "Cook 1977",
        page: "docs/baselines.md",
        example: "value wine.csv {target=quality} {method=loo} {test=held-out.csv}",
    },
    constant: None,
    convention: "definition",
    makes: Makes::Sets(Baseline::LeaveOneOut),
    needs: needs_nothing,
    default: no_other_default,
};
