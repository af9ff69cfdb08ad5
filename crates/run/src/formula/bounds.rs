//! Theorem 3 for given numbers.

use super::{Columns, count, evaluate_table, finite_from_zero};
use crate::Receiver;
use dshap::Sizes;
use dshap::linear::{Bound, BoundForm, Convention, PointStats, Side};
use dshap_models::Error;

/// The numbers Theorem 3 takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundCase {
    /// `p`, the number of design columns.
    pub dim: usize,
    /// `q` and `m`.
    pub sizes: Sizes,
    /// `γ`.
    pub ridge: f64,
    /// The smallest and the largest eigenvalue of `Σ⁻¹`.
    pub lambda: (f64, f64),
    /// `c`.
    pub tail: f64,
    /// `C`.
    pub edge: f64,
    /// Squared distance, squared residual and noise variance.
    pub stats: PointStats,
    /// `ρ` of Algorithm 4, where published sums stop; full sums without it.
    pub stop: Option<f64>,
}

/// What Theorem 3 makes of them; infinite where a bound says nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundForms {
    /// The valid lower bound.
    pub lower: f64,
    /// The valid upper bound.
    pub upper: f64,
    /// The lower bound as printed, to the letter.
    pub printed_lower: f64,
    /// The upper bound as printed, to the letter.
    pub printed_upper: f64,
    /// The lower bound as in the authors' program, with `γλ` as printed.
    pub authors_lower: f64,
    /// The upper bound as in the authors' program, with `γλ` as printed.
    pub authors_upper: f64,
}

impl BoundCase {
    /// Checks numbers as a user gives them, in the order `p, q, m, gamma,
    /// lambda_min, lambda_max, c, C, d2, e2, sigma2`.
    ///
    /// # Errors
    ///
    /// What is wrong with the first of them that is.
    pub fn new(numbers: [f64; 11]) -> Result<Self, String> {
        let [p, q, m, gamma, lambda_min, lambda_max, c, edge, d2, e2, sigma2] = numbers;
        let (dim, min, max) = (count("p", p)?, count("q", q)?, count("m", m)?);
        finite_from_zero(&[
            ("gamma", gamma),
            ("lambda_min", lambda_min),
            ("lambda_max", lambda_max),
            ("c", c),
            ("C", edge),
            ("d2", d2),
            ("e2", e2),
            ("sigma2", sigma2),
        ])?;
        if max < min {
            return Err(format!("m = {m} is less than q = {q}"));
        }
        if min < 2 {
            return Err("q = 1 leaves the empty set, of which the bound says nothing".into());
        }
        if lambda_max < lambda_min {
            return Err(format!("lambda_max = {lambda_max} is less than lambda_min = {lambda_min}"));
        }
        if c == 0.0 {
            return Err("c = 0 makes every bound infinite".into());
        }
        let stats = PointStats { dist_sq: d2, resid_sq: e2, noise_var: sigma2 };
        let lambda = (lambda_min, lambda_max);
        Ok(Self { dim, sizes: Sizes::new(min, max), ridge: gamma, lambda, tail: c, edge, stats, stop: None })
    }

    /// With the stopping rule of Algorithm 4 in the sums that are printed.
    ///
    /// # Errors
    ///
    /// That `stop` is not a finite number of at least 0.
    pub fn with_stop(self, stop: Option<f64>) -> Result<Self, String> {
        if let Some(stop) = stop {
            finite_from_zero(&[("stop", stop)])?;
        }
        Ok(Self { stop, ..self })
    }

    /// Evaluates both bounds in all conventions. Valid bounds are full sums.
    pub fn evaluate(&self) -> BoundForms {
        let value = |side, convention| {
            let stop = self.stop.filter(|_| convention != Convention::Definition);
            let (tail, edge, ridge) = (self.tail, self.edge, self.ridge);
            let bound = Bound { tail, edge, ridge, stop, ..Bound::new(side, convention) };
            let form = BoundForm::new(self.dim, self.sizes, bound, self.lambda);
            form.expect("the sizes were checked").value(self.stats)
        };
        BoundForms {
            lower: value(Side::Lower, Convention::Definition),
            upper: value(Side::Upper, Convention::Definition),
            printed_lower: value(Side::Lower, Convention::Printed),
            printed_upper: value(Side::Upper, Convention::Printed),
            authors_lower: value(Side::Lower, Convention::Authors),
            authors_upper: value(Side::Upper, Convention::Authors),
        }
    }
}

const COLUMNS: Columns = Columns {
    required: &["p", "q", "m", "gamma", "lambda_min", "lambda_max", "c", "C", "d2", "e2", "sigma2"],
    optional: &["stop"],
    words: &[],
    forms: &["lower", "upper", "printed_lower", "printed_upper", "authors_lower", "authors_upper"],
};

/// Reads cases from a table with columns `p, q, m, gamma, lambda_min,
/// lambda_max, c, C, d2, e2, sigma2` and optionally `stop`; hands over the same
/// rows with the bounds added.
///
/// # Errors
///
/// As [`regression_cases`](super::regression_cases).
pub fn bound_cases(inputs: &[String], receiver: &mut dyn Receiver) -> Result<(), Error> {
    let parse = |cells: &[f64], optional: &[Option<f64>], _: &[Option<&str>]| {
        let case = BoundCase::new(cells.try_into().expect("as many cells as columns are required"))?;
        case.with_stop(optional[0])
    };
    evaluate_table(inputs, receiver, &COLUMNS, parse, |case| {
        let forms = case.evaluate();
        let valid = [forms.lower, forms.upper];
        let published = [forms.printed_lower, forms.printed_upper, forms.authors_lower, forms.authors_upper];
        valid.into_iter().chain(published).map(Some).collect()
    })
}
