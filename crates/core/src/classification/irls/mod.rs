//! Logistic regression by iteratively reweighted least squares, in passes over rows that
//! need not fit into memory.
//!
//! | pass | what is summed | what follows |
//! |---|---|---|
//! | first | [`Moments`] | the columns, and the first step: at equal probabilities the weights are equal |
//! | Newton's | loss, gradient, weighted products at the current coefficients | the next step; half of the last one if the loss grew |
//! | two more, if steps do not become small | see `separation.rs` | [`Error::Separated`], or Newton's method goes on |

pub(crate) mod descent;
pub(crate) mod newton;
pub(crate) mod setup;
mod spread;

pub use spread::{PassKind, PassPlan, PassSums, PassSumsParts};

use super::fit::{LogisticFit, Solution, WeightedFactor};
use super::separation::{BorderSweep, SideSweep, separated};
use crate::blocks::BlockSums;
use crate::labels::check_labels;
use crate::{Error, Moments, MomentsBuilder, Rows};
use descent::{Descent, LOSS_NOISE};
use faer::Mat;
use newton::{NewtonSums, NewtonSweep};
use setup::Setup;
use spread::Sums;
use std::sync::Arc;

/// How a reference is fitted.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `intercept` | `true` | a column of ones, not penalised |
/// | `ridge` | 0 | `γ`: `(γ/2)‖β‖²` is added to the summed log-loss |
/// | `standardised` | `false` | whether `β` in the ridge is that of standardised features, not of features as given |
/// | `allow_dependent` | `true` | leave dependent features out instead of refusing them |
/// | `max_passes` | 100 | maximum number of passes of Newton's method; up to two more look for separation |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticOptions {
    /// Whether the model has an intercept.
    pub intercept: bool,
    /// `γ`.
    pub ridge: f64,
    /// Whether the ridge is for standardised features: `(γ/2)Σ(βⱼsⱼ)²` with the deviations
    /// `sⱼ` of the reference (without an intercept, about 0).
    pub standardised: bool,
    /// Leave dependent features out; otherwise they are an error.
    pub allow_dependent: bool,
    /// Maximum number of passes of Newton's method.
    pub max_passes: usize,
}

impl Default for LogisticOptions {
    fn default() -> Self {
        Self { intercept: true, ridge: 0.0, standardised: false, allow_dependent: true, max_passes: 100 }
    }
}

/// Logistic regression in progress.
///
/// ```
/// use dshap::classification::{Irls, LogisticOptions, Step};
/// use dshap::Rows;
/// use faer::mat;
///
/// // Of four rows at 0 one is a 1, of four rows at 1 three are.
/// let x = mat![[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0_f64]];
/// let y = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
/// let mut irls = Irls::new(1, LogisticOptions::default())?;
/// let fit = loop {
///     let mut pass = irls.begin_pass();
///     pass.push(Rows::new(x.as_ref(), &y)?)?; // in chunks of any size
///     if let Step::Converged(fit) = irls.finish_pass(pass)? {
///         break fit;
///     }
/// };
/// assert!((fit.intercept_value().unwrap_or(0.0) - (1.0_f64 / 3.0).ln()).abs() < 1e-12);
/// assert!((fit.coef()[0] - 9.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug)]
pub struct Irls {
    n_features: usize,
    options: LogisticOptions,
    n_passes: usize,
    phase: Phase,
}

/// A pass that does not belong to the first one.
const OTHER_ROWS: Error = Error::Contradiction { what: "a pass saw other rows than the first pass" };

/// The result of a pass.
#[derive(Debug)]
pub enum Step {
    /// Another pass is needed.
    Again,
    /// The fit.
    Converged(Box<LogisticFit>),
}

/// A pass in progress. Every pass needs the same rows in the same order.
#[derive(Debug)]
pub struct PassBuilder(Pass);

#[derive(Debug)]
enum Pass {
    First { moments: Box<MomentsBuilder>, n_labels: [usize; 2] },
    Newton(BlockSums<NewtonSweep>),
    Border(BlockSums<BorderSweep>),
    Sides(BlockSums<SideSweep>),
}

#[derive(Debug)]
enum Phase {
    First,
    Newton(Box<Newton>),
    Border(Box<Newton>),
    Sides(Box<Newton>, Vec<f64>),
    /// A pass failed, or the fit was returned.
    Over,
}

#[derive(Debug)]
struct Newton {
    setup: Setup,
    /// Accepted coefficients, and the step from there.
    beta: Vec<f64>,
    step: Vec<f64>,
    descent: Descent,
}

impl Irls {
    /// For rows of `n_features` features and a label, 0 or 1.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for a ridge that is negative or not finite.
    pub fn new(n_features: usize, options: LogisticOptions) -> Result<Self, Error> {
        if !(options.ridge.is_finite() && options.ridge >= 0.0) {
            return Err(Error::BadOption { what: "the ridge must be a finite number of at least 0" });
        }
        Ok(Self { n_features, options, n_passes: 0, phase: Phase::First })
    }

    /// Passes finished so far.
    pub fn n_passes(&self) -> usize {
        self.n_passes
    }

    /// A new pass over all rows, for [`finish_pass`](Self::finish_pass).
    pub fn begin_pass(&self) -> PassBuilder {
        let n = self.n_features;
        PassBuilder(match &self.phase {
            Phase::Newton(newton) => Pass::Newton(BlockSums::new(n, newton.sweep())),
            Phase::Border(newton) => {
                let (design, direction) = (Arc::clone(&newton.setup.design), newton.step.clone());
                Pass::Border(BlockSums::new(n, BorderSweep { design, direction }))
            }
            Phase::Sides(newton, direction) => {
                let (design, direction) = (Arc::clone(&newton.setup.design), direction.clone());
                Pass::Sides(BlockSums::new(n, SideSweep { design, direction }))
            }
            Phase::First | Phase::Over => {
                Pass::First { moments: Box::new(MomentsBuilder::new(n)), n_labels: [0; 2] }
            }
        })
    }

    /// Uses a finished pass over all rows.
    ///
    /// # Errors
    ///
    /// In the first pass: [`Error::NoRows`], [`Error::OneClass`], [`Error::NoFeatures`],
    /// [`Error::TooFewRows`], [`Error::TooFewEffectiveRows`], [`Error::TooLarge`], and
    /// [`Error::Dependent`] if that is not allowed. Later [`Error::Separated`],
    /// [`Error::NotConverged`], and [`Error::Contradiction`] if the rows differ from
    /// those before. After an error the fit cannot go on.
    pub fn finish_pass(&mut self, pass: PassBuilder) -> Result<Step, Error> {
        let n_pushed = pass.n_rows();
        self.check_rows(n_pushed)?;
        match pass.finish() {
            Ok(sums) => self.finish_sums(sums),
            Err(error) => {
                self.phase = Phase::Over;
                Err(error)
            }
        }
    }

    /// As [`finish_pass`](Self::finish_pass), with the merged sums of a pass over all rows.
    ///
    /// # Errors
    ///
    /// As for [`finish_pass`](Self::finish_pass).
    pub fn finish_sums(&mut self, sums: PassSums) -> Result<Step, Error> {
        let PassSums { n_pushed, sums } = sums;
        self.check_rows(n_pushed)?;
        self.n_passes += 1;
        match (std::mem::replace(&mut self.phase, Phase::Over), sums) {
            (Phase::First, Sums::First { moments, n_labels }) => {
                let newton = Newton::start(&moments, n_labels, n_pushed, self.options)?;
                self.phase = Phase::Newton(Box::new(newton));
                Ok(Step::Again)
            }
            (Phase::Newton(newton), Sums::Newton(sums)) => self.advance(newton, sums),
            (Phase::Border(newton), Sums::Border(sums)) => {
                self.phase = match sums.purified(&newton.step) {
                    Some(direction) => Phase::Sides(newton, direction),
                    None => self.cleared(newton)?,
                };
                Ok(Step::Again)
            }
            (Phase::Sides(newton, direction), Sums::Sides(sums)) => {
                if let Some(error) = sums.verdict(&newton.setup.design, &direction) {
                    return Err(error);
                }
                self.phase = self.cleared(newton)?;
                Ok(Step::Again)
            }
            _ => Err(OTHER_ROWS),
        }
    }

    /// Refuses a pass over another number of rows than the first pass.
    fn check_rows(&mut self, n_pushed: usize) -> Result<(), Error> {
        let expected = match &self.phase {
            Phase::First => return Ok(()),
            Phase::Over => return Err(OTHER_ROWS),
            Phase::Newton(newton) | Phase::Border(newton) | Phase::Sides(newton, _) => newton.setup.n_pushed,
        };
        if n_pushed == expected {
            return Ok(());
        }
        self.phase = Phase::Over;
        Err(OTHER_ROWS)
    }

    /// Newton's method goes on after a suspicion of separation was wrong.
    fn cleared(&self, mut newton: Box<Newton>) -> Result<Phase, Error> {
        if newton.descent.is_stopped() || self.n_passes >= self.options.max_passes {
            return Err(Error::NotConverged { n_passes: self.n_passes });
        }
        newton.descent.clear();
        Ok(Phase::Newton(newton))
    }

    fn advance(&mut self, mut newton: Box<Newton>, sums: NewtonSums) -> Result<Step, Error> {
        let is_plain = self.options.ridge == 0.0;
        let setup = &newton.setup;
        let beta = newton.candidate();
        let objective = sums.loss + setup.penalty_of(&beta);
        let before = newton.descent.objective;
        if newton.descent.halves(objective, before + LOSS_NOISE * before) {
            return self.go_on(newton, false);
        }
        if is_plain && sums.all_apart {
            return Err(separated(&setup.design, &beta, setup.n_rows, 0));
        }
        let Some((step, decrement)) = setup.step(&beta, &sums) else {
            // The weights have vanished along some direction: the last step.
            newton.descent.stop();
            return self.go_on(newton, is_plain);
        };
        if newton.descent.has_settled(decrement, sums.largest_move) {
            return self.settle(*newton, beta, sums);
        }
        let is_last_pass = self.n_passes >= self.options.max_passes;
        let is_suspect = is_plain && newton.descent.is_suspect(sums.largest_move, is_last_pass);
        newton.descent.accept(objective, decrement);
        (newton.beta, newton.step) = (beta, step);
        self.go_on(newton, is_suspect)
    }

    /// Newton's method has converged: makes the fit, unless the weights make columns
    /// dependent. Those are left out, and the others go on.
    fn settle(&mut self, newton: Newton, beta: Vec<f64>, sums: NewtonSums) -> Result<Step, Error> {
        let factor = WeightedFactor::new(&sums.hessian);
        if factor.dropped.is_empty() {
            let solution =
                Solution { beta, loss: sums.loss, factor, hessian: sums.hessian, weights: sums.weights };
            let fit = newton.setup.finish(solution, self.options, self.n_passes)?;
            return Ok(Step::Converged(Box::new(fit)));
        }
        let design = &newton.setup.design;
        let columns: Vec<usize> = factor
            .dropped
            .iter()
            .filter_map(|&k| Some(design.kept[k.checked_sub(design.first())?]))
            .collect();
        if !self.options.allow_dependent {
            return Err(Error::Dependent { columns });
        }
        if columns.len() < factor.dropped.len() || columns.len() == design.kept.len() {
            // The intercept has no weight left, or no feature has.
            return Err(Error::NotConverged { n_passes: self.n_passes });
        }
        let keep = |k: &usize| factor.dropped.binary_search(k).is_err();
        let beta: Vec<f64> = (0..beta.len()).filter(keep).map(|k| beta[k]).collect();
        let reduced = Newton {
            setup: newton.setup.without(&columns),
            step: vec![0.0; beta.len()],
            beta,
            descent: newton.descent.anew(),
        };
        self.go_on(Box::new(reduced), false)
    }

    fn go_on(&mut self, newton: Box<Newton>, is_suspect: bool) -> Result<Step, Error> {
        if is_suspect {
            self.phase = Phase::Border(newton);
        } else if newton.descent.is_stopped() || self.n_passes >= self.options.max_passes {
            return Err(Error::NotConverged { n_passes: self.n_passes });
        } else {
            self.phase = Phase::Newton(newton);
        }
        Ok(Step::Again)
    }
}

impl PassBuilder {
    /// Adds rows; without weights each counts as one. After an error the pass
    /// must not be used further.
    ///
    /// # Errors
    ///
    /// [`Error::NotBinary`], [`Error::FeatureCount`], [`Error::NotFinite`] and
    /// [`Error::BadWeight`] with the row counted within `rows`,
    /// [`Error::TooLarge`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        check_labels(rows)?;
        match &mut self.0 {
            Pass::First { moments, n_labels } => {
                moments.push(rows)?;
                for (row, &label) in rows.y().iter().enumerate() {
                    let counts = rows.weights().is_none_or(|weights| weights[row] > 0.0);
                    n_labels[usize::from(label == 1.0)] += usize::from(counts);
                }
                Ok(())
            }
            Pass::Newton(sums) => sums.push(rows),
            Pass::Border(sums) => sums.push(rows),
            Pass::Sides(sums) => sums.push(rows),
        }
    }

    /// Rows so far, including those of weight 0.
    pub fn n_rows(&self) -> usize {
        match &self.0 {
            Pass::First { moments, .. } => moments.n_rows(),
            Pass::Newton(sums) => sums.n_rows(),
            Pass::Border(sums) => sums.n_rows(),
            Pass::Sides(sums) => sums.n_rows(),
        }
    }
}

impl Newton {
    /// From the first pass to the first step. If all probabilities are equal (the shares
    /// of the labels, or one half without an intercept), so are the weights, and moments
    /// are all that is needed.
    fn start(
        moments: &Moments,
        n_labels: [usize; 2],
        n_pushed: usize,
        options: LogisticOptions,
    ) -> Result<Self, Error> {
        if let Some(label) = n_labels.iter().position(|&n| n == 0) {
            return Err(Error::OneClass { label: u8::from(label == 0) });
        }
        let setup = Setup::new(moments, n_labels, n_pushed, options)?;
        let design = &setup.design;
        let (n, label) = (setup.n_rows as f64, moments.n_features());
        let share = if options.intercept { moments.mean(label) } else { 0.5 };
        let weight = share * (1.0 - share);
        let mut sums = NewtonSums {
            loss: if options.intercept {
                -n * (share * share.ln() + (1.0 - share) * (-share).ln_1p())
            } else {
                n * std::f64::consts::LN_2
            },
            gradient: vec![0.0; design.dim()],
            hessian: Mat::zeros(design.dim(), design.dim()),
            weights: [weight * n, weight * weight * n],
            all_apart: false,
            largest_move: 0.0,
        };
        let (first, scale) = (design.first(), setup.weight_scale);
        if options.intercept {
            sums.hessian[(0, 0)] = weight * n;
        }
        for (k, &column) in design.kept.iter().enumerate() {
            let unit = design.scale[k] * scale;
            sums.gradient[first + k] = unit
                * if options.intercept {
                    moments.centred(column, label)
                } else {
                    moments.raw(column, label) - 0.5 * moments.weight() * moments.mean(column)
                };
            for (l, &other) in design.kept.iter().enumerate().skip(k) {
                let product = if options.intercept {
                    moments.centred(other, column)
                } else {
                    moments.raw(other, column)
                };
                sums.hessian[(first + l, first + k)] = weight * unit * design.scale[l] * product;
            }
        }
        let mut beta = vec![0.0; design.dim()];
        if options.intercept {
            beta[0] = (share / (1.0 - share)).ln();
        }
        let objective = sums.loss;
        let singular = Error::NotConverged { n_passes: 1 };
        let (step, decrement) = setup.step(&beta, &sums).ok_or(singular)?;
        Ok(Self { setup, beta, step, descent: Descent::new(objective, decrement) })
    }

    /// The coefficients that are tried next.
    fn candidate(&self) -> Vec<f64> {
        self.beta.iter().zip(&self.step).map(|(b, step)| b + self.descent.share() * step).collect()
    }

    fn sweep(&self) -> NewtonSweep {
        NewtonSweep {
            design: Arc::clone(&self.setup.design),
            beta: self.candidate(),
            step: self.step.iter().map(|step| self.descent.share() * step).collect(),
            weight_scale: self.setup.weight_scale,
        }
    }
}
