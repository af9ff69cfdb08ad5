//! `exact-shapley`: Shapley values of a finite dataset, by all sets.

use super::closed::{self, TAKES_BANDWIDTH, TAKES_EVERY_ROW, TAKES_KERNEL, TAKES_SCALE};
use super::d_shapley::*;
use super::gaussian::REFIT_RULE;
use super::shared::*;
use super::tmc_shapley::{NO_M, NO_REFERENCE};
use crate::method::{Makes, Method};
use crate::sets::Baseline;
use dshap_catalogue::options::{SAMPLES, STDERR, STOP};
use dshap_catalogue::{MethodEntry, MethodKind, OptionEntry, Task};

pub(super) const NO_SAMPLES: (&OptionEntry, &str) = (&SAMPLES, "it draws no sets");
pub(super) const NO_STOP: (&OptionEntry, &str) = (&STOP, "it draws no sets");
pub(super) const NO_STDERR: (&OptionEntry, &str) =
    (&STDERR, "nothing is drawn, so there is no error of draws");

/// The method.
pub(crate) static EXACT_SHAPLEY: Method = Method {
    entry: MethodEntry {
        name: "exact-shapley",
        summary: "Baseline: Shapley values of one finite dataset, by all sets",
        about: "A model is fitted to every set of rows, so that there can be at most 20 rows. For densities a closed \
                form takes any number of rows. The values are those that `tmc-shapley` estimates, and serve to check \
                estimates. Utility is measured on test rows.",
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
            NO_M,
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
        source: "Shapley 1953",
        page: "docs/baselines.md",
        example: "value few.csv {target=y} {method=exact-shapley} {test=held-out.csv}",
    },
    constant: None,
    convention: "definition",
    makes: Makes::Sets(Baseline::ExactShapley),
    needs: needs_nothing,
    default: no_other_default,
};
