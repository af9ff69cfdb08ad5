//! `lower` and `upper`: Theorem 3.

use super::shared::*;
use crate::Error;
use crate::how::How;
use crate::linear::LinearModel;
use crate::logistic::LogisticModel;
use crate::method::{MakeLinear, MakeLogistic, Makes, Method};
use crate::model::Ask;
use crate::reference::ExtraPass;
use dshap::classification::{ClassificationMethod, ClassificationValuer};
use dshap::linear::{Bound, Convention, LinearMethod, LinearValuer, Side};
use dshap::{Sizes, Valuer};
use dshap_catalogue::options::{BOUND_C, BOUND_EDGE, CONVENTION, NO_INTERCEPT, Q, RIDGE, STOP};
use dshap_catalogue::{
    Default, Given, Measures, MethodEntry, MethodKind, OptionEntry, Rule, Takes, Task, Value,
};

/// A bound from below.
pub(crate) static LOWER: Method = Method {
    entry: MethodEntry {
        name: "lower",
        summary: "A lower bound, for any sub-Gaussian inputs",
        about: "A bound on the value from below, for inputs of any distribution whose tails are no heavier than \
                Gaussian ones. It holds for sets whose eigenvalues lie where Theorem 3 expects them, with high \
                probability. Bounds are wide: to rank rows, use `gaussian`. For labels the bound is on the value for \
                the least-squares problem that stands in for a logistic model. With {convention=printed} it is \
                Theorem 3 to the letter, with {convention=authors} that of the authors' program; neither bounds \
                anything.",
        example: "value wine.csv {target=quality} {method=lower}",
        ..ENTRY
    },
    ..METHOD
};

/// A bound from above.
pub(crate) static UPPER: Method = Method {
    entry: MethodEntry {
        name: "upper",
        summary: "An upper bound, for any sub-Gaussian inputs",
        about: "A bound on the value from above, for inputs of any distribution whose tails are no heavier than \
                Gaussian ones. It holds for sets whose eigenvalues lie where Theorem 3 expects them, with high \
                probability. Bounds are wide: to rank rows, use `gaussian`. For labels the bound is on the value for \
                the least-squares problem that stands in for a logistic model. With {convention=printed} it is \
                Theorem 3 to the letter, with {convention=authors} that of the authors' program; neither bounds \
                anything.",
        example: "value wine.csv {target=quality} {method=upper} {convention=printed} {stop=0.005}",
        ..ENTRY
    },
    ..METHOD
};

/// What both bounds have in common.
const ENTRY: MethodEntry = MethodEntry {
    name: "",
    summary: "",
    about: "",
    assumes: "The tails of inputs are no heavier than Gaussian ones; the default c and C are proved for \
              Gaussian inputs. Targets follow a linear model whose noise has the same variance everywhere.",
    kind: MethodKind::Bound,
    measures: Measures::Bound,
    tasks: PREDICTIONS,
    options: &[
        TAKES_TARGET,
        TAKES_REFERENCE,
        TAKES_WEIGHT,
        TAKES_M,
        Takes::new(&Q)
            .role("smaller sets have δ of 1 or more, where the bound says nothing")
            .default(Default::Depends("p + max(p, 10), or one more than the first size with δ below 1 if that is larger")),
        TAKES_POSITIVE,
        TAKES_DEPENDENT,
        TAKES_NO_INTERCEPT,
        Takes::new(&RIDGE)
            .tasks(REGRESSION)
            .role("added to the sum of squares of each set; the bound then covers the main term only")
            .words(&[])
            .default(Default::Number(0.0))
            .saved_as("ridge"),
        TAKES_FIT_RIDGE.default(Default::Depends("auto; 0 with {convention=printed} or {convention=authors}")),
        Takes::new(&BOUND_C)
            .role("0.5 is proved for Gaussian inputs")
            .default(Default::Depends("0.5; 1 with {convention=printed} or {convention=authors}"))
            .saved_as("c"),
        Takes::new(&BOUND_EDGE).default(Default::Number(1.0)).saved_as("C"),
        Takes::new(&CONVENTION)
            .role(
                "`printed` is the paper to the letter; `authors` is the program of its authors, which has another δ \
                 and, for labels, other variables",
            )
            .default(Default::Word("definition"))
            .saved_as("convention"),
        Takes::new(&STOP)
            .role("not for valid bounds: sums stop when a term is this small a share (0.005 in the paper); full sums without it")
            .default(Default::Depends("full sums"))
            .saved_as("stop"),
        TAKES_PER_CLASS,
        TAKES_CHECKPOINT,
    ],
    refuses: &[NO_CHECKPOINT_OF_LABELS],
    rules: &[
        Rule {
            is_broken: |given, _| given.has(&STOP) && convention(given) == Convention::Definition,
            options: &[&STOP],
            why: "only sums as printed stop early; {convention=printed} or {convention=authors} goes with it",
        },
        Rule {
            is_broken: |given, task| {
                let is_of_labels = task == Some(Task::Classification);
                is_of_labels && given.has(&NO_INTERCEPT) && convention(given) == Convention::Authors
            },
            options: &[&NO_INTERCEPT, &CONVENTION],
            why: "the authors' program fits labels with an intercept; {convention=printed} does without",
        },
    ],
    parts: FIT_PARTS,
    std_errors: "",
    saved: Ok(()),
    updates: REGRESSION,
    merges: REGRESSION,
    passes: "one over the reference (labels: one for each step of the fit, and one more for {convention=authors}), one over the points",
    source: "Theorem 3, corrected; as printed also Algorithm 4",
    page: "docs/accuracy.md",
    example: "",
};

const METHOD: Method = Method {
    entry: ENTRY,
    constant: None,
    convention: "definition",
    corrected_by: None,
    makes: Makes::Fit {
        linear: Some(MakeLinear::Rows(linear)),
        logistic: Some(MakeLogistic::Whole(logistic)),
    },
    needs: |given, task| {
        let is_on_authors_variables = task == Task::Classification && given.is(&CONVENTION, "authors");
        is_on_authors_variables.then_some(ExtraPass::Authors)
    },
    default,
};

/// The bound of these settings, if the method is one. The ridge is that of sets,
/// which only a regression has.
pub(crate) fn of(how: &How) -> Option<Bound> {
    let side = match how.method.name() {
        "lower" => Side::Lower,
        "upper" => Side::Upper,
        _ => return None,
    };
    Some(Bound {
        tail: how.number(&BOUND_C),
        edge: how.number(&BOUND_EDGE),
        ridge: how.given.number(&RIDGE).unwrap_or(0.0),
        stop: how.given.number(&STOP),
        ..Bound::new(side, convention(&how.given))
    })
}

/// The convention of these settings.
pub(super) fn convention(given: &Given) -> Convention {
    match given.word(&CONVENTION) {
        Some("printed") => Convention::Printed,
        Some("authors") => Convention::Authors,
        _ => Convention::Definition,
    }
}

/// Each convention has a `c` of its own.
fn default(given: &Given, option: &OptionEntry) -> Option<Value> {
    let convention = convention(given);
    (option.name == BOUND_C.name).then(|| Value::Number(Bound::new(Side::Lower, convention).tail))
}

fn linear(
    model: &LinearModel,
    how: &How,
    sizes: Sizes,
    _: bool,
) -> Result<Option<Box<dyn Valuer>>, dshap::Error> {
    let Some(bound) = of(how) else { return Ok(None) };
    Ok(Some(Box::new(LinearValuer::new(model.fit.clone(), sizes, LinearMethod::Bound(bound))?)))
}

fn logistic(model: &LogisticModel, ask: &Ask<'_>, sizes: Sizes) -> Result<Box<dyn Valuer>, Error> {
    match of_labels(ask.how) {
        Some(bound) if bound.convention == Convention::Authors => model.of_authors(ask, sizes, bound),
        _ => model.of_each_fit(ask, sizes, |_, (_, fit), how, sizes| {
            let Some(bound) = of_labels(how) else { return Ok(None) };
            ClassificationValuer::new(fit, sizes, ClassificationMethod::Bound(bound)).map(Some)
        }),
    }
}

/// The bound of a classification, whose ridge is that of the fit.
fn of_labels(how: &How) -> Option<Bound> {
    of(how).map(|bound| Bound { ridge: 0.0, ..bound })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::Misuse;

    fn how(method: &'static Method, options: &[(&'static OptionEntry, &str)]) -> Result<How, Error> {
        let mut given = Given::new();
        for (option, text) in options {
            given = given.with(option, option.parse(text).expect("a value"));
        }
        How::new(method, None, given)
    }

    #[test]
    fn constants_are_those_of_the_convention() {
        for (method, side) in [(&LOWER, Side::Lower), (&UPPER, Side::Upper)] {
            let plain = how(method, &[]).expect("a bound");
            assert_eq!(of(&plain), Some(Bound::new(side, Convention::Definition)));
            let printed = how(method, &[(&CONVENTION, "printed")]).expect("a bound");
            assert_eq!(of(&printed), Some(Bound::new(side, Convention::Printed)));
            let authors = how(method, &[(&CONVENTION, "authors")]).expect("a bound");
            assert_eq!(of(&authors), Some(Bound::new(side, Convention::Authors)));
            let given =
                how(method, &[(&BOUND_C, "0.25"), (&BOUND_EDGE, "2"), (&RIDGE, "3")]).expect("a bound");
            let expected =
                Bound { tail: 0.25, edge: 2.0, ridge: 3.0, ..Bound::new(side, Convention::Definition) };
            assert_eq!(of(&given), Some(expected));
            assert_eq!(of_labels(&given), Some(Bound { ridge: 0.0, ..expected }));
        }
    }

    #[test]
    fn only_printed_sums_stop() {
        for convention in ["printed", "authors"] {
            let stopped = how(&LOWER, &[(&CONVENTION, convention), (&STOP, "0.005")]).expect("a bound");
            assert_eq!(of(&stopped).and_then(|bound| bound.stop), Some(0.005));
        }
        let refused = how(&LOWER, &[(&STOP, "0.005")]);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::Conflict { .. }))));
    }
}
