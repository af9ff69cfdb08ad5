//! `knn-shapley`: Shapley values of a finite dataset for nearest neighbours.

use super::knn::*;
use super::shared::*;
use crate::method::{Makes, Method};
use dshap_catalogue::options::{M, Q, REFERENCE};
use dshap_catalogue::{Measures, MethodEntry, MethodKind, Parts};

const NO_SIZES: &str = "it counts sets of every size; {method=knn} has set sizes";

/// The method.
pub(crate) static KNN_SHAPLEY: Method = Method {
    entry: MethodEntry {
        name: "knn-shapley",
        summary: "Shapley values of one finite dataset for nearest neighbours, for comparison",
        about: "The Shapley value of each row in the table as it is: what the row adds to all sets of the others, \
                averaged over test rows. Sets of fewer than k rows count too, with their sums divided by k. The \
                values of one test row add up to the utility of the table, so values shrink as the table grows. For \
                numbers they depend on where 0 is: centre the target first.",
        assumes: "Nothing about how rows are distributed: the table is all there is.",
        kind: MethodKind::ClosedForm,
        measures: Measures::Neighbours,
        tasks: PREDICTIONS,
        options: &[
            TAKES_TARGET,
            TAKES_TEST,
            TAKES_K,
            TAKES_METRIC,
            TAKES_SCALE,
            TAKES_SAMPLES,
            TAKES_SEED,
            TAKES_STDERR,
        ],
        refuses: &[
            (
                &REFERENCE,
                "it values the rows of one finite dataset, and other rows have no such value; leave {reference} out to \
                 value rows against each other, or use {method=knn}, which values any row",
            ),
            (&M, NO_SIZES),
            (&Q, NO_SIZES),
            NO_WEIGHT,
            NO_POSITIVE,
            NO_RIDGE,
            NO_NO_INTERCEPT,
            NO_REFIT_INTERCEPT,
            NO_DEPENDENT,
            NO_PER_CLASS,
            NO_CHECKPOINT,
        ],
        rules: &[SAMPLES_OR_TEST],
        parts: Parts::NONE,
        std_errors: "the test rows are a sample",
        saved: Err(
            "a valuer values rows that come later, and this method values the rows of one finite dataset; \
             {method=knn} values any row",
        ),
        updates: NO_TASK,
        merges: NO_TASK,
        passes: "two over the points, which are held in memory, and one over test rows of their own",
        source: "Jia et al. 2019",
        page: "docs/neighbours.md",
        example: "value iris.csv {target=species} {method=knn-shapley} {k=3}",
    },
    constant: None,
    convention: "definition",
    corrected_by: None,
    makes: Makes::Neighbours { finite: true },
    needs: needs_nothing,
    default: no_other_default,
};
