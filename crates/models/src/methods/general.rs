//! `general`: Proposition 1 for any inputs, by drawing sets of reference rows.

use super::gaussian::REFIT_RULE;
use super::shared::*;
use crate::Error;
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::method::{MakeLinear, MakeLogistic, Makes, Method};
use crate::model::Ask;
use crate::observer::Stage;
use crate::reference::ExtraPass;
use crate::row_valuer::{Outcome, RowValuer, WantsRows};
use crate::warning::Warning;
use dshap::linear::{GeneralOptions, SetTargets};
use dshap::{Draws, Part, Place, Rows, Sizes, Valuer, Values, Watch};
use dshap_catalogue::options::{RIDGE, SAMPLES, SEED, STOP, TARGETS, WEIGHT};
use dshap_catalogue::{Default, Measures, MethodEntry, MethodKind, Takes, Task};
use dshap_table::Labels;

/// A larger share of sets that determine no coefficients gets a warning.
const MANY_SINGULAR: f64 = 0.01;

/// The method.
pub(crate) static GENERAL: Method = Method {
    entry: MethodEntry {
        name: "general",
        summary: "For any inputs and any ridge, by drawing sets",
        about: "Sets of reference rows are drawn, and the gain of each row is averaged over them. Nothing is assumed \
                about the distribution of the inputs, and sets can be fitted with a ridge. With {targets=observed} nothing is \
                assumed about the targets either. All rows are held in \
                memory, and it takes thousands of times as long as `gaussian`. Values are too close to zero, since \
                sets are drawn from the reference itself: by about 3p/n for p Gaussian columns and n reference rows, \
                by more with heavy tails or rare categories. For \
                labels sets are fitted by least squares with the weights of the logistic fit.",
        assumes: "Nothing about the inputs, but sets must determine the coefficients, unless there is a ridge. \
                  Targets follow a linear model whose noise has the same variance everywhere. With \
                  {targets=observed} nothing is assumed about targets.",
        kind: MethodKind::Drawing,
        measures: Measures::SquaredError,
        tasks: PREDICTIONS,
        options: &[
            TAKES_TARGET,
            TAKES_REFERENCE,
            TAKES_M,
            TAKES_Q,
            TAKES_POSITIVE,
            TAKES_DEPENDENT,
            TAKES_NO_INTERCEPT,
            TAKES_REFIT_INTERCEPT,
            Takes::new(&RIDGE)
                .tasks(REGRESSION)
                .role("added to the sum of squares of each set")
                .words(&[])
                .default(Default::Number(0.0))
                .saved_as("ridge"),
            TAKES_FIT_RIDGE,
            Takes::new(&TARGETS).tasks(REGRESSION).default(Default::Word("expected")).saved_as("targets"),
            Takes::new(&STOP)
                .role("standard errors wanted, as a share of the spread of values")
                .default(Default::Number(0.02))
                .saved_as("stop"),
            Takes::new(&SAMPLES)
                .role("maximum number of rounds of draws")
                .default(Default::Count(4096))
                .saved_as("samples"),
            Takes::new(&SEED).default(Default::Count(0)).saved_as("seed"),
            TAKES_STDERR,
            TAKES_PER_CLASS,
            TAKES_CHECKPOINT,
        ],
        refuses: &[(&WEIGHT, "sets of rows have no weights"), NO_CHECKPOINT_OF_LABELS],
        rules: &[REFIT_RULE],
        parts: FIT_PARTS,
        std_errors: "the draws alone",
        saved: Ok(()),
        updates: NO_TASK,
        merges: NO_TASK,
        passes: "two over a reference (labels: one for each step of the fit, and one more), one over the points",
        source: "Proposition 1, Corollary 4",
        page: "docs/accuracy.md",
        example: "value wine.csv {target=quality} {method=general} {ridge=1}",
    },
    constant: Some("gain"),
    convention: "definition",
    corrected_by: None,
    makes: Makes::Fit { linear: Some(MakeLinear::Draws), logistic: Some(MakeLogistic::Draws) },
    needs: |_, _| Some(ExtraPass::Rows),
    default: no_other_default,
};

/// How sets are drawn with these settings. In classification the ridge is that of
/// the fit, and sets have none.
pub(crate) fn options(how: &How, task: Task) -> GeneralOptions {
    let max_rounds = how.count(&SAMPLES);
    GeneralOptions {
        ridge: if task == Task::Regression { how.number(&RIDGE) } else { 0.0 },
        tolerance: how.number(&STOP),
        min_rounds: GeneralOptions::default().min_rounds.min(max_rounds),
        max_rounds,
        seed: how.seed(),
        targets: targets(how),
    }
}

/// Which targets drawn sets have.
pub(crate) fn targets(how: &How) -> SetTargets {
    if how.given.is(&TARGETS, "observed") { SetTargets::Observed } else { SetTargets::Expected }
}

/// What values rows by drawing sets. Rows of the reference are valued against each
/// other, and `make` makes their valuer from them as they arrive. For other rows it
/// makes one from the rows that the model holds.
///
/// # Errors
///
/// [`Error::Incomplete`] if the model holds no rows but should, [`Error::Core`] if
/// sets cannot be drawn.
pub(crate) fn rows<'a>(
    ask: Ask<'a>,
    sizes: Sizes,
    held: Option<&'a HeldRows>,
    make: impl Fn(Rows<'_>) -> Result<Box<dyn Valuer>, dshap::Error> + Send + 'a,
) -> Result<Box<dyn RowValuer + 'a>, Error> {
    let valuer = match (ask.in_reference, held) {
        (true, _) => None,
        (false, None) => return Err(ask.incomplete()),
        (false, Some(held)) => {
            let made = held.rows().and_then(&make);
            Some(made.map_err(|error| Error::core(error, ask.design))?)
        }
    };
    let n_classes = ask.design.labels().map(Labels::n_classes);
    let task = if n_classes.is_some() { Task::Classification } else { Task::Regression };
    let options = options(ask.how, task);
    Ok(Box::new(DrawnRows { ask, sizes, options, n_classes, make, valuer, doubts: Vec::new(), draws: None }))
}

/// Values all rows at once by drawing sets.
struct DrawnRows<'a, F> {
    ask: Ask<'a>,
    sizes: Sizes,
    options: GeneralOptions,
    /// Nothing for numbers.
    n_classes: Option<usize>,
    make: F,
    /// What values rows that are not the reference.
    valuer: Option<Box<dyn Valuer>>,
    /// What is doubtful about a valuer that was made from the rows themselves.
    doubts: Vec<Warning>,
    draws: Option<Draws>,
}

impl<F> DrawnRows<'_, F>
where
    F: Fn(Rows<'_>) -> Result<Box<dyn Valuer>, dshap::Error>,
{
    /// Values the rows of the reference, each against the others.
    fn against_each_other(&mut self, rows: Rows<'_>, watch: Watch<'_>) -> Result<Values, dshap::Error> {
        if self.sizes.max() > rows.len() {
            // A larger limit, that of points outside the reference, would be named otherwise.
            return Err(dshap::Error::SetsTooLarge { max: self.sizes.max(), most: rows.len() });
        }
        let valuer = (self.make)(rows)?;
        self.doubts = Warning::of_core(valuer.warnings(), self.ask.design);
        valuer.values_at(rows, Place::of_reference(0), watch)
    }
}

impl<F> RowValuer for DrawnRows<'_, F>
where
    F: Fn(Rows<'_>) -> Result<Box<dyn Valuer>, dshap::Error> + Send,
{
    fn parts(&self) -> Vec<Part> {
        match self.n_classes {
            None => vec![Part::DistSq, Part::ResidSq, Part::Predicted, Part::Residual],
            Some(2) => [&[Part::DistSq, Part::Prob, Part::Weight], Part::OF_LABEL.as_slice()].concat(),
            Some(n) if self.ask.extras.by_class => {
                let of_classes = (0..n).flat_map(|class| [Part::ValueOf(class), Part::ProbOf(class)]);
                of_classes.chain(Part::OF_LABEL).collect()
            }
            Some(_) => Part::OF_LABEL.to_vec(),
        }
    }

    fn sizes(&self) -> Sizes {
        self.sizes
    }

    fn warnings(&self) -> Vec<Warning> {
        let warnings = self.valuer.as_ref().map(|valuer| valuer.warnings()).unwrap_or_default();
        Warning::of_core(warnings, self.ask.design)
    }

    fn wants(&self) -> WantsRows {
        let n_fits = self.n_classes.filter(|n| *n > 2).unwrap_or(1);
        let n_steps = (self.options.max_rounds as u64).saturating_mul(n_fits as u64);
        WantsRows::All { stage: Stage::Draw, n_steps }
    }

    fn values(&mut self, rows: Rows<'_>, place: Place, watch: Watch<'_>) -> Result<Values, Error> {
        let values = match &self.valuer {
            Some(valuer) => valuer.values_at(rows, place, watch),
            None => self.against_each_other(rows, watch),
        };
        let values = values.map_err(|error| Error::core(error, self.ask.design))?;
        self.draws = values.draws;
        Ok(values)
    }

    fn outcome(&self) -> Outcome {
        let mut warnings = self.doubts.clone();
        if let Some(Draws { n_rounds, reached, singular_share }) = self.draws {
            if !reached {
                warnings.push(Warning::RoughDraws { n_rounds, tolerance: self.options.tolerance });
            }
            if singular_share > MANY_SINGULAR {
                let ridge_helps = self.n_classes.is_none();
                warnings.push(Warning::SingularSets { share: singular_share, ridge_helps });
            }
        }
        Outcome { draws: self.draws, warnings, ..Outcome::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::{Given, Value};

    #[test]
    fn defaults_are_those_of_the_arithmetic() {
        let how = How { method: &GENERAL, given: Given::new() };
        for task in [Task::Regression, Task::Classification] {
            assert_eq!(options(&how, task), GeneralOptions::default());
        }
    }

    #[test]
    fn sets_keep_their_targets_where_they_are_asked_to() {
        let observed = Given::new().with(&TARGETS, Value::Word("observed".into()));
        let options = options(&How { method: &GENERAL, given: observed }, Task::Regression);
        assert_eq!(options, GeneralOptions { targets: SetTargets::Observed, ..GeneralOptions::default() });
    }

    #[test]
    fn sets_of_labels_have_no_ridge() {
        let given = Given::new().with(&RIDGE, Value::Number(2.0)).with(&SAMPLES, Value::Count(5));
        let how = How { method: &GENERAL, given };
        let few = GeneralOptions { min_rounds: 5, max_rounds: 5, ..GeneralOptions::default() };
        assert_eq!(options(&how, Task::Regression), GeneralOptions { ridge: 2.0, ..few });
        assert_eq!(options(&how, Task::Classification), few);
    }
}
