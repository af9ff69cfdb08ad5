//! `gaussian`: Theorem 2, exactly.

use super::shared::*;
use crate::how::How;
use crate::method::{MakeLinear, MakeLogistic, Makes, Method};
use dshap::classification::{ClassificationMethod, ClassificationValuer};
use dshap::linear::{Constant, Convention, LinearMethod, LinearValuer};
use dshap_catalogue::options::{
    CONSTANT, CONVENTION, NO_INTERCEPT, POPULATION, REFIT_INTERCEPT, RIDGE, SEMIVALUE, TEST,
};
use dshap_catalogue::{Default, Given, Measures, MethodEntry, MethodKind, Rule, Takes};

pub(super) const REFIT_RULE: Rule = Rule {
    is_broken: refits_no_intercept,
    options: &[&REFIT_INTERCEPT, &NO_INTERCEPT],
    why: "there is no intercept to refit",
};

/// The method.
pub(crate) static GAUSSIAN: Method = Method {
    entry: MethodEntry {
        name: "gaussian",
        summary: "Exact for Gaussian inputs; the default",
        about: "The value of a row is the expected drop in squared prediction error when the row joins a random set \
                of q − 1 … m − 1 others, summed over these sizes and divided by m. A positive value means the row is \
                expected to help. The closed form is exact for Gaussian inputs, a linear model and constant noise. For \
                labels it is the same gain for the least-squares problem that stands in for a logistic model, with the \
                coefficients and weights of the whole reference; with more than two labels, each is \
                separated from the rest, and the values are summed.",
        assumes: "Inputs are Gaussian. Targets follow a linear model whose noise has the same variance \
                  everywhere.",
        kind: MethodKind::ClosedForm,
        measures: Measures::SquaredError,
        tasks: PREDICTIONS,
        options: &[
            TAKES_TARGET,
            TAKES_REFERENCE,
            TAKES_PREDICTED,
            TAKES_POPULATION,
            TAKES_WEIGHT,
            TAKES_M,
            TAKES_Q,
            TAKES_POSITIVE,
            TAKES_DEPENDENT,
            TAKES_NO_INTERCEPT,
            TAKES_REFIT_INTERCEPT,
            TAKES_FIT_RIDGE.default(Default::Depends("auto; 0 with {convention=printed}")),
            Takes::new(&CONSTANT).default(Default::Word("gain")).saved_as("constant"),
            Takes::new(&CONVENTION).default(Default::Word("definition")).saved_as("convention"),
            TAKES_SEMIVALUE,
            TAKES_STDERR,
            TAKES_PER_CLASS,
            TAKES_CHECKPOINT,
        ],
        refuses: &[(&RIDGE, "the closed form of a regression has no ridge"), NO_CHECKPOINT_OF_LABELS],
        rules: &[
            REFIT_RULE,
            TEST_OR_POPULATION,
            NO_REFITTED_TESTS,
            NO_ERRORS_OF_LABELS,
            Rule {
                is_broken: |given, _| {
                    is_for_tests(given) && given.word(&CONSTANT).is_some_and(|constant| constant != "gain")
                },
                options: &[&CONSTANT, &TEST, &POPULATION],
                why: "values for test rows have the constant `gain`",
            },
            Rule {
                is_broken: |given, _| is_for_tests(given) && given.is(&CONVENTION, "printed"),
                options: &[&CONVENTION, &TEST, &POPULATION],
                why: "the paper prints values for rows like the reference only",
            },
            Rule {
                is_broken: |given, _| given.is(&CONVENTION, "authors"),
                options: &[&CONVENTION],
                why: "only the bounds of the authors' program differ from the printed ones; {convention=printed} is \
                      Theorem 2 as printed",
            },
            Rule {
                is_broken: |given, _| {
                    given.is(&CONVENTION, "printed")
                        && given.word(&CONSTANT).is_some_and(|constant| constant != "theorem")
                },
                options: &[&CONSTANT, &CONVENTION],
                why: "Theorem 2 as printed has the constant `theorem`",
            },
            Rule {
                is_broken: |given, _| {
                    is_other_semivalue(given)
                        && given.word(&CONSTANT).is_some_and(|constant| constant != "gain")
                },
                options: &[&CONSTANT, &SEMIVALUE],
                why: "semivalues other than `shapley` have the constant `gain`",
            },
            Rule {
                is_broken: |given, _| is_other_semivalue(given) && given.is(&CONVENTION, "printed"),
                options: &[&CONVENTION, &SEMIVALUE],
                why: "the paper prints Shapley values only",
            },
        ],
        parts: THEOREM_2_PARTS,
        std_errors: "the reference is a sample",
        saved: Ok(()),
        updates: REGRESSION,
        merges: REGRESSION,
        passes: "one over the reference (labels: one for each step of the fit), one over the points",
        source: "Theorem 2, Corollary 4",
        page: "docs/accuracy.md",
        example: "value wine.csv {target=quality} {bottom=20}",
    },
    constant: Some("gain"),
    convention: "definition",
    corrected_by: Some(&super::calibrated::CALIBRATED),
    makes: Makes::Fit {
        linear: Some(MakeLinear::Rows(|model, how, sizes, std_error| {
            let (constant, convention) = settings(how);
            let method = LinearMethod::Gaussian { constant, convention };
            let valuer = match model.tests() {
                Some(tests) => LinearValuer::on_tests(model.fit.clone(), sizes, None, tests)?,
                None => LinearValuer::new(model.fit.clone(), sizes, method)?,
            };
            let noise = model.noise(std_error);
            Ok(Some(Box::new(valuer.with_std_error(std_error).with_noise(noise))))
        })),
        logistic: Some(MakeLogistic::EachFit(|model, (class, fit), how, sizes| {
            if let Some(tests) = model.tests(class) {
                return ClassificationValuer::on_tests(fit, sizes, None, tests).map(Some);
            }
            let (constant, convention) = settings(how);
            let method = ClassificationMethod::Gaussian { constant, convention };
            ClassificationValuer::new(fit, sizes, method).map(Some)
        })),
    },
    needs: needs_nothing,
    default: no_other_default,
};

/// Whether set sizes are weighted in another way than Shapley's.
fn is_other_semivalue(given: &Given) -> bool {
    given.word(&SEMIVALUE).is_some_and(|semivalue| semivalue != "shapley")
}

/// The constant and the convention of these settings.
fn settings(how: &How) -> (Constant, Convention) {
    let constant = match how.given.word(&CONSTANT) {
        Some("theorem") => Constant::Theorem,
        Some(word) => match word.strip_prefix("full:").and_then(|c| c.parse().ok()) {
            Some(c) => Constant::Full(c),
            None => Constant::Gain,
        },
        None => Constant::Gain,
    };
    (constant, convention(how))
}

/// The convention of these settings.
fn convention(how: &How) -> Convention {
    super::bounds::convention(&how.given)
}
