//! `calibrated`: Theorem 2, calibrated to the distances that reference rows have.

use super::gaussian::REFIT_RULE;
use super::shared::*;
use crate::method::{MakeLinear, MakeLogistic, Makes, Method};
use crate::reference::ExtraPass;
use dshap::classification::ClassificationValuer;
use dshap::linear::LinearValuer;
use dshap_catalogue::options::RIDGE;
use dshap_catalogue::{Measures, MethodEntry, MethodKind};

/// The method.
pub(crate) static CALIBRATED: Method = Method {
    entry: MethodEntry {
        name: "calibrated",
        summary: "As gaussian, for inputs that are not Gaussian",
        about: "The closed form of `gaussian`, calibrated to the distances that reference rows really have. It is an \
                approximation, and close to `general` where inputs are far from Gaussian. It takes two to three \
                times as long as `gaussian`. Use it where a warning says that inputs are too far from Gaussian.",
        assumes: "Inputs may have any distribution, unless a few rows dominate the distances; the values are \
                  approximate. Targets follow a linear model whose noise has the same variance everywhere.",
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
            TAKES_FIT_RIDGE,
            TAKES_SEMIVALUE,
            TAKES_STDERR,
            TAKES_PER_CLASS,
            TAKES_CHECKPOINT,
        ],
        refuses: &[(&RIDGE, "the closed form of a regression has no ridge"), NO_CHECKPOINT_OF_LABELS],
        rules: &[REFIT_RULE, TEST_OR_POPULATION, NO_REFITTED_TESTS, NO_ERRORS_OF_LABELS],
        parts: THEOREM_2_PARTS,
        std_errors: "the reference is a sample",
        saved: Ok(()),
        updates: NO_TASK,
        merges: NO_TASK,
        passes: "two over the reference (labels: one for each step of the fit, and one more), one over the points",
        source: "Theorem 2 for other inputs; beyond the paper",
        page: "docs/accuracy.md",
        example: "value wine.csv {target=quality} {method=calibrated}",
    },
    constant: Some("gain"),
    convention: "definition",
    corrected_by: None,
    makes: Makes::Fit {
        linear: Some(MakeLinear::Rows(|model, _, sizes, std_error| {
            let Some(distances) = &model.distances else { return Ok(None) };
            let valuer = match model.tests() {
                Some(tests) => LinearValuer::on_tests(model.fit.clone(), sizes, Some(distances), tests)?,
                None => LinearValuer::calibrated(model.fit.clone(), sizes, distances)?,
            };
            let noise = model.noise(std_error);
            Ok(Some(Box::new(valuer.with_std_error(std_error).with_noise(noise))))
        })),
        logistic: Some(MakeLogistic::EachFit(|model, (class, fit), _, sizes| {
            let distances = model.distances.as_ref().and_then(|tables| tables.get(class));
            let Some(distances) = distances else { return Ok(None) };
            let valuer = match model.tests(class) {
                Some(tests) => ClassificationValuer::on_tests(fit, sizes, Some(distances), tests)?,
                None => ClassificationValuer::calibrated(fit, sizes, distances)?,
            };
            Ok(Some(valuer))
        })),
    },
    needs: |_, _| Some(ExtraPass::Calibration),
    default: no_other_default,
};
