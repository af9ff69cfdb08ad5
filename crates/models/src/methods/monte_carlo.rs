//! `monte-carlo`: the paper's Algorithm 5 for densities.

use super::closed::*;
use super::shared::*;
use crate::density::PAPER_SAMPLES;
use crate::method::{Makes, Method};
use dshap::density::{Algorithm5, DensityMethod};
use dshap_catalogue::options::{SAMPLES, SEED, SETS, STDERR, SYNERGY};
use dshap_catalogue::{Default, Measures, MethodEntry, MethodKind, Parts, Takes};

/// The method.
pub(crate) static MONTE_CARLO: Method = Method {
    entry: MethodEntry {
        name: "monte-carlo",
        summary: "The paper's Monte Carlo for densities, for comparison",
        about: "Algorithm 5 of the paper: Theorem 5 with two of its integrals estimated from one draw for each \
                reference row (B = 2000 of them). With {sets} it values sets S*, as the paper has it. `closed` computes \
                the same without noise.",
        assumes: "Nothing about how rows are distributed.",
        kind: MethodKind::Drawing,
        measures: Measures::Density,
        tasks: DENSITY,
        options: &[
            TAKES_REFERENCE,
            TAKES_M,
            TAKES_KERNEL,
            TAKES_BANDWIDTH,
            TAKES_SCALE,
            TAKES_EVERY_ROW,
            Takes::new(&SAMPLES)
                .role("B, the maximum number of reference rows, each with one draw; if there are more, a sample is drawn")
                .default(Default::Count(PAPER_SAMPLES as u64)),
            Takes::new(&SEED)
                .role("seed of the draws, and of a sample of the reference")
                .default(Default::Count(0))
                .saved_as("seed"),
            Takes::new(&SETS),
            Takes::new(&SYNERGY),
        ],
        refuses: &[
            NO_TARGET,
            NO_Q,
            NO_RIDGE,
            NO_WEIGHT,
            NO_POSITIVE,
            NO_PER_CLASS,
            NO_NO_INTERCEPT,
            NO_REFIT_INTERCEPT,
            NO_DEPENDENT,
            NO_CHECKPOINT,
            (&STDERR, "Algorithm 5 has one draw for each reference row and no estimate of its error"),
        ],
        rules: SETS_RULES,
        parts: Parts::NONE,
        std_errors: "",
        saved: Ok(()),
        updates: NO_TASK,
        merges: DENSITY,
        passes: "one over the reference, of which up to {samples} rows are held in memory, and one over the points",
        source: "Algorithm 5",
        page: "docs/density.md",
        example: "value cells.csv {task=density} {method=monte-carlo} {seed=1}",
    },
    constant: None,
    convention: "definition",
    corrected_by: None,
    makes: Makes::Density(|how| DensityMethod::Algorithm5(Algorithm5 { seed: how.seed() })),
    needs: needs_nothing,
    default: no_other_default,
};
