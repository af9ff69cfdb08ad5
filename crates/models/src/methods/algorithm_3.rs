//! `algorithm-3`: the paper's Monte Carlo, with its stopping rules.

use super::gaussian::REFIT_RULE;
use super::shared::*;
use crate::how::How;
use crate::method::{MakeLinear, Makes, Method};
use dshap::linear::{Algorithm3, LinearMethod, LinearValuer};
use dshap_catalogue::options::{RIDGE, SAMPLES, SEED, STOP, STOP_DRAWS};
use dshap_catalogue::{Default, Measures, MethodEntry, MethodKind, Parts, Takes};

/// The method.
pub(crate) static ALGORITHM_3: Method = Method {
    entry: MethodEntry {
        name: "algorithm-3",
        summary: "The paper's Monte Carlo, for comparison",
        about: "Algorithm 3 of the paper: the sum of Theorem 2 as printed, with every term estimated by draws. Its \
                stopping rules end the sum early; a warning says which share of it was kept. It takes thousands of \
                times as long as `gaussian`, which is exact.",
        assumes: "Inputs are Gaussian. Targets follow a linear model whose noise has the same variance \
                  everywhere.",
        kind: MethodKind::Drawing,
        measures: Measures::SquaredError,
        tasks: REGRESSION,
        options: &[
            TAKES_TARGET,
            TAKES_REFERENCE,
            TAKES_WEIGHT,
            TAKES_M,
            TAKES_Q,
            TAKES_DEPENDENT,
            TAKES_NO_INTERCEPT,
            TAKES_REFIT_INTERCEPT,
            Takes::new(&STOP)
                .role("the sum over set sizes stops when it moves by less (ρ₂); 0 takes all sizes")
                .default(Default::Number(0.005))
                .saved_as("stop"),
            Takes::new(&STOP_DRAWS)
                .role("draws for one set size stop when their mean moves by less (ρ₁); 0 takes all draws")
                .default(Default::Number(0.01))
                .saved_as("stop_draws"),
            Takes::new(&SAMPLES)
                .role("maximum number of draws for each set size (T)")
                .default(Default::Count(10_000))
                .saved_as("samples"),
            Takes::new(&SEED).default(Default::Count(0)).saved_as("seed"),
            TAKES_CHECKPOINT,
        ],
        refuses: &[(&RIDGE, "the sum of Theorem 2 has no ridge")],
        rules: &[REFIT_RULE],
        parts: Parts { two_labels: &[], more_labels: &[], ..FIT_PARTS },
        std_errors: "",
        saved: Ok(()),
        updates: REGRESSION,
        merges: REGRESSION,
        passes: "one over the reference, one over the points",
        source: "Algorithm 3",
        page: "docs/accuracy.md",
        example: "value wine.csv {target=quality} {method=algorithm-3} {stop=0}",
    },
    constant: Some("theorem"),
    convention: "printed",
    corrected_by: None,
    makes: Makes::Fit {
        linear: Some(MakeLinear::Rows(|model, how, sizes, _| {
            let method = LinearMethod::Algorithm3(settings(how));
            Ok(Some(Box::new(LinearValuer::new(model.fit.clone(), sizes, method)?)))
        })),
        logistic: None,
    },
    needs: needs_nothing,
    default: no_other_default,
};

/// How draws and sums stop with these settings.
fn settings(how: &How) -> Algorithm3 {
    Algorithm3 {
        inner_tolerance: how.number(&STOP_DRAWS),
        outer_tolerance: how.number(&STOP),
        max_draws: how.count(&SAMPLES),
        seed: how.seed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::Given;

    #[test]
    fn defaults_are_those_of_the_paper() {
        let how = How { method: &ALGORITHM_3, given: Given::new() };
        assert_eq!(settings(&how), Algorithm3::default());
    }
}
