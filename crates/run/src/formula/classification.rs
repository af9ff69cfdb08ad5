//! Corollary 4 for given numbers: Theorem 2 on the working variables of a
//! logistic fit.

use super::{Columns, RegressionCase, count, evaluate_table, finite_from_zero};
use crate::Receiver;
use dshap::linear::{Constant, Convention, GaussianForm};
use dshap_models::Error;

/// The numbers Corollary 4 takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassificationCase {
    /// The same row in terms of Theorem 2.
    pub working: RegressionCase,
    /// `π`, the probability of label 1 under the fit.
    pub prob: f64,
    /// Whether the label is 1.
    pub label: bool,
}

/// What it makes of them. A form that does not exist for these sizes is absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClassificationForms {
    /// The expected drop in squared error on the working variables
    /// (`q ≥ p + 3`).
    pub gain: Option<f64>,
    /// What the row's position could bring with a perfect label.
    pub potential: Option<f64>,
    /// What its label costs: gain = potential − penalty.
    pub penalty: Option<f64>,
    /// With Theorem 2's constant (`q ≥ p + 2`).
    pub simple: Option<f64>,
}

impl ClassificationCase {
    /// Checks numbers as a user gives them; `p` counts the intercept, `d2` is
    /// `W·xᵀΣ̃⁻¹x`.
    ///
    /// # Errors
    ///
    /// What is wrong with the first of them that is.
    pub fn new(p: f64, q: f64, m: f64, d2: f64, prob: f64, label: f64) -> Result<Self, String> {
        for (name, number) in [("p", p), ("q", q), ("m", m)] {
            count(name, number)?;
        }
        finite_from_zero(&[("d2", d2)])?;
        let weight = prob * (1.0 - prob);
        if !(weight > 0.0 && prob < 1.0) {
            return Err(format!("prob = {prob} is not a probability between 0 and 1"));
        }
        if label != 0.0 && label != 1.0 {
            return Err(format!("y = {label} is neither 0 nor 1"));
        }
        let off = label - prob;
        let working = RegressionCase::new(p, q, m, d2, off * off / weight, 1.0, None)?;
        Ok(Self { working, prob, label: label == 1.0 })
    }

    /// Evaluates every form.
    pub fn evaluate(&self) -> ClassificationForms {
        let RegressionCase { dim, sizes, stats, .. } = self.working;
        let form = |constant| GaussianForm::new(dim, sizes, constant, Convention::Definition).ok();
        let known = |number: f64| Some(number).filter(|number| number.is_finite());
        let gain = form(Constant::Gain).map(|form| form.value_once(stats));
        let simple = form(Constant::Theorem).map(|form| form.value_once(stats));
        ClassificationForms {
            gain: gain.and_then(|gain| known(gain.value)),
            potential: gain.and_then(|gain| known(gain.potential)),
            penalty: gain.and_then(|gain| known(gain.penalty)),
            simple: simple.and_then(|simple| known(simple.value)),
        }
    }
}

const COLUMNS: Columns = Columns {
    required: &["p", "q", "m", "d2", "prob", "y"],
    optional: &[],
    words: &[],
    forms: &["gain", "potential", "penalty", "simple"],
};

/// Reads cases from a table with columns `p, q, m, d2, prob, y`; hands over the
/// same rows with the forms added.
///
/// # Errors
///
/// As [`regression_cases`](super::regression_cases).
pub fn classification_cases(inputs: &[String], receiver: &mut dyn Receiver) -> Result<(), Error> {
    let parse = |cells: &[f64], _: &[Option<f64>], _: &[Option<&str>]| {
        ClassificationCase::new(cells[0], cells[1], cells[2], cells[3], cells[4], cells[5])
    };
    evaluate_table(inputs, receiver, &COLUMNS, parse, |case| {
        let forms = case.evaluate();
        vec![forms.gain, forms.potential, forms.penalty, forms.simple]
    })
}
