//! Theorem 2 for given numbers.

use super::{Columns, count, evaluate_table, finite_from_zero};
use crate::Receiver;
use dshap::linear::{Constant, Convention, GaussianForm, PointStats, TargetForm, TargetStats};
use dshap::{Semivalue, Sizes};
use dshap_models::Error;

/// The numbers Theorem 2 takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegressionCase {
    /// `p`, the number of design columns.
    pub dim: usize,
    /// `q` and `m`.
    pub sizes: Sizes,
    /// Squared distance, squared residual and noise variance.
    pub stats: PointStats,
    /// `C` of the full value, if wanted.
    pub full_constant: Option<f64>,
    /// What test rows add, if `gain` is for them.
    pub tests: Option<TargetStats>,
    /// Whether the model refits its intercept on each set; `p` counts features only.
    pub refits_intercept: bool,
}

/// What Theorem 2 makes of them. A form that does not exist for these sizes is
/// absent.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RegressionForms {
    /// The expected drop in squared error (`q ≥ p + 3`).
    pub gain: Option<f64>,
    /// With Theorem 2's constant (`q ≥ p + 2`).
    pub simple: Option<f64>,
    /// The full value, given `C` (`q ≥ p + 2`).
    pub full: Option<f64>,
    /// The sum as printed, off by one (`q ≥ p + 1`).
    pub printed: Option<f64>,
}

impl RegressionCase {
    /// The plain form for numbers that are known to make sense.
    pub fn of(dim: usize, sizes: Sizes, stats: PointStats) -> Self {
        Self { dim, sizes, stats, full_constant: None, tests: None, refits_intercept: false }
    }

    /// Checks numbers as a user gives them.
    ///
    /// # Errors
    ///
    /// What is wrong with the first of them that is.
    pub fn new(
        p: f64,
        q: f64,
        m: f64,
        d2: f64,
        e2: f64,
        sigma2: f64,
        c: Option<f64>,
    ) -> Result<Self, String> {
        let (dim, min, max) = (count("p", p)?, count("q", q)?, count("m", m)?);
        finite_from_zero(&[("d2", d2), ("e2", e2), ("sigma2", sigma2)])?;
        if max < min {
            return Err(format!("m = {m} is less than q = {q}"));
        }
        if c.is_some_and(|c| !c.is_finite()) {
            return Err("C_lin is not a finite number".into());
        }
        let stats = PointStats { dist_sq: d2, resid_sq: e2, noise_var: sigma2 };
        Ok(Self { full_constant: c, ..Self::of(dim, Sizes::new(min, max), stats) })
    }

    /// With set sizes weighted by the semivalue of this name. It changes `gain`, and the
    /// other forms do not exist unless it is `shapley`.
    ///
    /// # Errors
    ///
    /// What names there are.
    pub fn with_semivalue(self, name: &str) -> Result<Self, String> {
        Ok(Self { sizes: self.sizes.with_semivalue(name.parse()?), ..self })
    }

    /// For test rows with these numbers: `b` and `tau` describe how they vary, `c` where the
    /// model is wrong about them. What is not given is that of rows like the reference. It
    /// changes `gain`, and the other forms do not exist.
    ///
    /// # Errors
    ///
    /// What is wrong with the first number that is.
    pub fn with_tests(self, b: Option<f64>, tau: Option<f64>, c: Option<f64>) -> Result<Self, String> {
        if b.is_none() && tau.is_none() && c.is_none() {
            return Ok(self);
        }
        let (a, p) = (self.stats.dist_sq, self.dim as f64);
        let (b, tau, c) = (b.unwrap_or(a), tau.unwrap_or(p), c.unwrap_or(0.0));
        finite_from_zero(&[("b", b), ("tau", tau), ("|c|", c.abs())])?;
        if a == 0.0 && b > 0.0 {
            return Err(format!("b = {b}, but it is 0 for a row at the centre (d2 = 0)"));
        }
        let stretch = if a > 0.0 { b / a } else { 0.0 };
        Ok(Self { tests: Some(TargetStats { stretch, trace: tau, score: c }), ..self })
    }

    /// With an intercept that is `known` or `refitted`. The latter changes `gain`, and the
    /// other forms do not exist.
    ///
    /// # Errors
    ///
    /// What words there are, and that test rows have no form with a refitted intercept.
    pub fn with_intercept(self, word: &str) -> Result<Self, String> {
        match word {
            "known" => Ok(self),
            "refitted" if self.tests.is_some() => {
                Err("with b, tau or c, the intercept is known: there is no closed form otherwise".into())
            }
            "refitted" => Ok(Self { refits_intercept: true, ..self }),
            _ => Err(format!("intercept is `{word}`, which is neither known nor refitted")),
        }
    }

    /// Evaluates every form.
    pub fn evaluate(&self) -> RegressionForms {
        let form = |convention| GaussianForm::new(self.dim, self.sizes, Constant::Theorem, convention).ok();
        let at =
            |form: &GaussianForm| Some(form.value_once(self.stats).value).filter(|value| value.is_finite());
        let only = |gain: Option<f64>| RegressionForms { gain, ..RegressionForms::default() };
        if let Some(tests) = self.tests {
            let form = TargetForm::new(self.dim, self.sizes).ok();
            let gain = form.map(|form| form.value_once(self.stats, tests).value);
            return only(gain.filter(|gain| gain.is_finite()));
        }
        if self.refits_intercept {
            return only(GaussianForm::refitted(self.dim, self.sizes).ok().as_ref().and_then(at));
        }
        if self.sizes.semivalue() != Semivalue::Shapley {
            let gain = GaussianForm::new(self.dim, self.sizes, Constant::Gain, Convention::Definition).ok();
            return only(gain.as_ref().and_then(at));
        }
        let simple = form(Convention::Definition);
        let with = |constant| simple.as_ref().and_then(|form| form.with_constant(constant).ok());
        RegressionForms {
            gain: with(Constant::Gain).as_ref().and_then(at),
            simple: simple.as_ref().and_then(at),
            full: self.full_constant.and_then(|c| with(Constant::Full(c))).as_ref().and_then(at),
            printed: form(Convention::Printed).as_ref().and_then(at),
        }
    }
}

const COLUMNS: Columns = Columns {
    required: &["p", "q", "m", "d2", "e2", "sigma2"],
    optional: &["C_lin", "b", "tau", "c"],
    words: &["semivalue", "intercept"],
    forms: &["gain", "simple", "full", "printed"],
};

/// Reads cases from a table with columns `p, q, m, d2, e2, sigma2` and
/// optionally `C_lin`, `semivalue`, `b`, `tau`, `c` and `intercept`; hands over the same rows with the forms added. A column
/// that has the name of a form gets `_input` behind it.
///
/// # Errors
///
/// [`Error::Io`] for tables that cannot be read, [`Error::Case`] for numbers
/// that make no sense, with their place.
pub fn regression_cases(inputs: &[String], receiver: &mut dyn Receiver) -> Result<(), Error> {
    let parse = |cells: &[f64], optional: &[Option<f64>], words: &[Option<&str>]| {
        RegressionCase::new(cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], optional[0])?
            .with_semivalue(words[0].unwrap_or("shapley"))?
            .with_tests(optional[1], optional[2], optional[3])?
            .with_intercept(words[1].unwrap_or("known"))
    };
    evaluate_table(inputs, receiver, &COLUMNS, parse, |case| {
        let forms = case.evaluate();
        vec![forms.gain, forms.simple, forms.full, forms.printed]
    })
}
