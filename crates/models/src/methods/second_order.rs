//! `second-order`: a classifier that is refitted on each set.

use super::shared::*;
use crate::method::{MakeLogistic, Makes, Method};
use crate::reference::ExtraPass;
use crate::second_order;
use dshap_catalogue::options::{Q, REFIT_INTERCEPT, RIDGE, SEED, SHIFT, SMALL_RIDGE, SPREAD, UTILITY};
use dshap_catalogue::{Default, Given, Measures, MethodEntry, MethodKind, OptionEntry, Parts, Rule, Takes};

const PARTS: Parts = Parts {
    two_labels: &[
        "potential",
        "penalty",
        "correction",
        "dist_sq",
        "prob",
        "weight",
        "given_label",
        "label_prob",
        "predicted",
    ],
    // Of one softmax model; models of one label each have no common `dist_sq`.
    more_labels: &["potential", "penalty", "correction", "dist_sq", "given_label", "label_prob", "predicted"],
    ..Parts::NONE
};

/// The method.
pub(crate) static SECOND_ORDER: Method = Method {
    entry: MethodEntry {
        name: "second-order",
        summary: "For classifiers that are refitted on each set",
        about: "The value of a row is the expected gain in utility when it joins a random set and a logistic model is \
                refitted, summed over set sizes q − 1 … m − 1 and divided by m. The utility is minus the log-loss, \
                minus the Brier score, or accuracy, over the population that the reference stands for. The closed \
                form is right to second order in 1 over the set size. Low values do not find wrong labels: \
                a row with an unlikely label can help a refitted model. With more than two labels there is one \
                softmax model under log-loss without a ridge, unless it would have more than 500 coefficients; \
                otherwise each label is separated from the rest.",
        assumes: "Sets are large relative to the number of columns.",
        kind: MethodKind::ClosedForm,
        measures: Measures::RefittedModels,
        tasks: CLASSIFICATION,
        options: &[
            TAKES_TARGET,
            TAKES_REFERENCE,
            TAKES_WEIGHT,
            TAKES_M,
            Takes::new(&Q).role(
                "in a softmax model p counts all coefficients; the default is as far above {shift} as above p + 1",
            ),
            TAKES_POSITIVE,
            TAKES_DEPENDENT,
            TAKES_NO_INTERCEPT,
            Takes::new(&RIDGE)
                .role("half of it times the squared coefficients is added to the log-loss of each set")
                .default(Default::Depends("auto; 0 with {small_ridge}, {shift} or {spread=model}")),
            Takes::new(&UTILITY).default(Default::Word("log-loss")).saved_as("utility"),
            Takes::new(&SPREAD).default(Default::Word("sandwich")).saved_as("spread"),
            Takes::new(&SMALL_RIDGE).default(Default::Number(0.0)).saved_as("small_ridge"),
            Takes::new(&SHIFT)
                .role("measured for two labels without weights")
                .default(Default::Depends("p + 1"))
                .saved_as("shift"),
            Takes::new(&SEED)
                .role("seed of references drawn for standard errors, and of sets drawn to measure the shift")
                .default(Default::Count(0))
                .saved_as("seed"),
            TAKES_STDERR,
            TAKES_PER_CLASS,
        ],
        refuses: &[(&REFIT_INTERCEPT, "each set is fitted with an intercept of its own")],
        rules: &[
            Rule {
                is_broken: |given, _| is_above_0(given, &RIDGE) && is_above_0(given, &SMALL_RIDGE),
                options: &[&SMALL_RIDGE, &RIDGE],
                why: "each says how sets are penalised",
            },
            Rule {
                is_broken: |given, _| is_above_0(given, &RIDGE) && given.is(&SPREAD, "model"),
                options: &[&SPREAD, &RIDGE],
                why: "the model does not tell the spread of penalised coefficients",
            },
            Rule {
                is_broken: |given, _| is_above_0(given, &SMALL_RIDGE) && given.is(&UTILITY, "accuracy"),
                options: &[&SMALL_RIDGE, &UTILITY],
                why: "the first order of a ridge does not tell how accuracy changes; {ridge} goes with accuracy",
            },
            Rule {
                is_broken: |given, _| {
                    given.has(&SHIFT) && given.word(&UTILITY).is_some_and(|utility| utility != "log-loss")
                },
                options: &[&SHIFT, &UTILITY],
                why: "only sums under log-loss without a ridge have a shift",
            },
            Rule {
                is_broken: |given, _| given.has(&SHIFT) && is_above_0(given, &RIDGE),
                options: &[&SHIFT, &RIDGE],
                why: "only sums under log-loss without a ridge have a shift",
            },
        ],
        parts: PARTS,
        std_errors: "the reference is a sample: a hundred references are drawn from it",
        saved: Ok(()),
        updates: NO_TASK,
        merges: NO_TASK,
        passes: "one for each step of the fit, then one or more for moments of refitted models, one over the points",
        source: "second-order expansion of refitted models; beyond the paper",
        page: "docs/refitted.md",
        example: "value patients.csv {target=diabetic} {method=second-order} {utility=accuracy} {ridge=1}",
    },
    constant: Some("gain"),
    convention: "definition",
    corrected_by: None,
    makes: Makes::Fit { linear: None, logistic: Some(MakeLogistic::Whole(second_order::valuer)) },
    needs: |_, _| Some(ExtraPass::Expansion),
    default: no_other_default,
};

/// Whether a penalty was given that is not 0.
fn is_above_0(given: &Given, option: &OptionEntry) -> bool {
    given.number(option).is_some_and(|penalty| penalty > 0.0) || given.is(option, "auto")
}

/// Whether options were given that only models without a ridge have.
pub(crate) fn is_without_ridge(given: &Given) -> bool {
    !options_without_ridge(given).is_empty()
}

/// Options that were given and that only models without a ridge have.
pub(crate) fn options_without_ridge(given: &Given) -> Vec<&'static str> {
    let tells = [
        (&SHIFT, given.has(&SHIFT)),
        (&SMALL_RIDGE, is_above_0(given, &SMALL_RIDGE)),
        (&SPREAD, given.is(&SPREAD, "model")),
    ];
    tells.into_iter().filter(|(_, is_given)| *is_given).map(|(option, _)| option.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, How};
    use dshap_catalogue::Misuse;

    fn settle(options: &[(&'static OptionEntry, &str)]) -> Result<How, Error> {
        let with = |given: Given, (option, text): &(&'static OptionEntry, &str)| {
            given.with(option, option.parse(text).expect("a value"))
        };
        How::new(&SECOND_ORDER, None, options.iter().fold(Given::new(), with))
    }

    #[test]
    fn what_a_ridge_does_not_go_with_is_refused() {
        assert!(settle(&[(&RIDGE, "1")]).is_ok());
        assert!(settle(&[(&RIDGE, "0"), (&SHIFT, "measured"), (&SPREAD, "model")]).is_ok());
        assert!(settle(&[(&RIDGE, "1"), (&UTILITY, "accuracy")]).is_ok());
        for options in [
            &[(&SMALL_RIDGE, "0.5"), (&RIDGE, "1")],
            &[(&SPREAD, "model"), (&RIDGE, "1")],
            &[(&SMALL_RIDGE, "0.5"), (&UTILITY, "accuracy")],
            &[(&SHIFT, "measured"), (&RIDGE, "1")],
            &[(&SHIFT, "3"), (&UTILITY, "brier")],
        ] {
            let Err(Error::Misuse(Misuse::Conflict { settings, .. })) = settle(options) else {
                panic!("{options:?} go together");
            };
            let names = settings.iter().map(|setting| setting.option);
            assert!(names.eq(options.iter().map(|(option, _)| option.name)), "{options:?}: {settings:?}");
        }
    }
}
