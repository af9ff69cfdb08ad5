//! From rows to a softmax valuer, in passes over rows that need not fit into memory.
//!
//! | pass | what is summed | what follows |
//! |---|---|---|
//! | first | moments, rows of each class | the columns, and where Newton's method starts |
//! | Newton's | loss, gradient, curvature | the next step; half of the last one if the loss grew |
//! | two more, if steps do not become small | see [`separation`](crate::classification) | an error, or Newton's method goes on |
//! | one, unless the model is trusted | `E[eeᵀ ⊗ xxᵀ]` | the spread of estimates |
//! | last | third moments | their bias |

use super::fit::{SoftmaxFit, Whitened};
use super::newton::{Newton, next_step, purified, separated};
use super::sums::{ClassSums, ClassSweep, ClassTask, symmetric};
use super::valuer::SoftmaxValuer;
use crate::blocks::BlockSums;
use crate::classification::irls::descent::LOSS_NOISE;
use crate::labels::check_classes;
use crate::second_order::options::Spread;
use crate::{Error, MomentsBuilder, Rows, Sizes};
use faer::linalg::solvers::DenseSolveCore;
use faer::{Mat, Side};
use std::sync::Arc;

/// How softmax values are computed.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `intercept` | `true` | a column of ones |
/// | `allow_dependent` | `true` | leave dependent features out instead of refusing them |
/// | `max_passes` | 100 | maximum number of passes of Newton's method |
/// | `spread` | sandwich | how the spread of estimates is known |
/// | `shift` | `p + 1` | `κ`: a set of `s` rows counts as `s − κ` rows of the limit |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SoftmaxOptions {
    /// Whether the model has an intercept.
    pub intercept: bool,
    /// Leave dependent features out; otherwise they are an error.
    pub allow_dependent: bool,
    /// Maximum number of passes of Newton's method.
    pub max_passes: usize,
    /// How the spread of estimates is known.
    pub spread: Spread,
    /// `κ`, if it is not `p + 1`.
    pub shift: Option<f64>,
}

impl Default for SoftmaxOptions {
    fn default() -> Self {
        Self {
            intercept: true,
            allow_dependent: true,
            max_passes: 100,
            spread: Spread::default(),
            shift: None,
        }
    }
}

/// A softmax valuer in progress.
#[derive(Debug)]
pub struct SoftmaxPasses {
    n_features: usize,
    n_classes: usize,
    sizes: Sizes,
    options: SoftmaxOptions,
    n_passes: usize,
    phase: Phase,
}

/// The result of a pass.
#[derive(Debug)]
pub enum SoftmaxStep {
    /// Another pass is needed.
    Again,
    /// The valuer.
    Done(Box<SoftmaxValuer>),
}

/// A pass in progress. Every pass needs the same rows in the same order.
#[derive(Debug)]
pub struct SoftmaxPass {
    n_classes: usize,
    kind: Pass,
}

#[derive(Debug)]
enum Pass {
    First { moments: Box<MomentsBuilder>, counts: Vec<usize>, shares: Vec<f64> },
    Sums(Box<BlockSums<ClassSweep>>),
}

#[derive(Debug)]
enum Phase {
    First,
    Newton(Box<Newton>),
    Border(Box<Newton>),
    Sides(Box<Newton>, Mat<f64>),
    Noise(Box<Fitted>),
    Bias(Box<Fitted>),
    /// A pass failed, or the valuer was returned.
    Over,
}

#[derive(Debug)]
struct Fitted {
    n_pushed: usize,
    columns: Arc<Whitened>,
    fit: SoftmaxFit,
    /// `H⁻¹` and `V`.
    inverse: Mat<f64>,
    spread: Mat<f64>,
}

impl SoftmaxPasses {
    /// For rows of `n_features` features and a label below `n_classes`.
    ///
    /// # Errors
    ///
    /// [`Error::BadOption`] for fewer than two classes or a shift that is not
    /// finite.
    pub fn new(
        n_features: usize,
        n_classes: usize,
        sizes: Sizes,
        options: SoftmaxOptions,
    ) -> Result<Self, Error> {
        if n_classes < 2 {
            return Err(Error::BadOption { what: "at least two classes are needed" });
        }
        if options.shift.is_some_and(|shift| !shift.is_finite()) {
            return Err(Error::BadOption { what: "the shift of set sizes must be a finite number" });
        }
        Ok(Self { n_features, n_classes, sizes, options, n_passes: 0, phase: Phase::First })
    }

    /// Passes finished so far.
    pub fn n_passes(&self) -> usize {
        self.n_passes
    }

    /// A new pass over all rows, for [`finish_pass`](Self::finish_pass).
    pub fn begin_pass(&self) -> SoftmaxPass {
        let sums = |columns: &Arc<Whitened>, theta: Mat<f64>, weight_scale: f64, task: ClassTask| {
            let columns = Arc::clone(columns);
            let sweep = ClassSweep { columns, theta, weight_scale, task };
            Pass::Sums(Box::new(BlockSums::new(self.n_features, sweep)))
        };
        let kind = match &self.phase {
            Phase::Newton(newton) => {
                let step = faer::Scale(newton.descent.share()) * &newton.step;
                sums(&newton.columns, newton.candidate(), newton.weight_scale, ClassTask::Newton { step })
            }
            Phase::Border(newton) => sums(&newton.columns, newton.step.clone(), 1.0, ClassTask::Border),
            Phase::Sides(newton, direction) => {
                sums(&newton.columns, direction.clone(), 1.0, ClassTask::Sides)
            }
            Phase::Noise(fitted) => {
                sums(&fitted.columns, fitted.fit.theta.clone(), fitted.fit.weight_scale, ClassTask::Noise)
            }
            Phase::Bias(fitted) => {
                let task = ClassTask::Bias {
                    spread: fitted.spread.clone(),
                    inverse: fitted.inverse.clone(),
                    trusts_model: self.options.spread == Spread::ModelBased,
                };
                sums(&fitted.columns, fitted.fit.theta.clone(), fitted.fit.weight_scale, task)
            }
            Phase::First | Phase::Over => Pass::First {
                moments: Box::new(MomentsBuilder::new(self.n_features)),
                counts: vec![0; self.n_classes],
                shares: vec![0.0; self.n_classes],
            },
        };
        SoftmaxPass { n_classes: self.n_classes, kind }
    }

    /// Uses a finished pass over all rows.
    ///
    /// # Errors
    ///
    /// In the first pass: [`Error::NoRows`], [`Error::EmptyClass`], [`Error::NoFeatures`],
    /// [`Error::TooFewRows`], [`Error::TooFewEffectiveRows`], [`Error::TooLarge`],
    /// [`Error::Sizes`], and [`Error::Dependent`] if that is not allowed. Later
    /// [`Error::ClassesSeparated`], [`Error::NotConverged`], and [`Error::Contradiction`]
    /// if the rows differ from those before. After an error the passes cannot go on.
    pub fn finish_pass(&mut self, pass: SoftmaxPass) -> Result<SoftmaxStep, Error> {
        self.n_passes += 1;
        let phase = std::mem::replace(&mut self.phase, Phase::Over);
        let n_pushed = pass.n_rows();
        let sums = match (&phase, pass.kind) {
            (Phase::First, Pass::First { moments, counts, shares }) => {
                let newton = Newton::start(&moments.finish()?, counts, &shares, n_pushed, self.options)?;
                SoftmaxValuer::check_sizes(newton.columns.design.dim(), self.options.shift, self.sizes)?;
                self.phase = Phase::Newton(Box::new(newton));
                return Ok(SoftmaxStep::Again);
            }
            (phase, Pass::Sums(sums)) if phase.n_pushed() == Some(n_pushed) => sums.finish()?,
            _ => return Err(Error::Contradiction { what: "a pass saw other rows than the first pass" }),
        };
        self.phase = match phase {
            Phase::Newton(newton) => self.advance(newton, sums)?,
            Phase::Border(newton) => match purified(&sums, &newton.step) {
                Some(direction) => Phase::Sides(newton, direction),
                None => self.cleared(newton)?,
            },
            Phase::Sides(newton, direction) => {
                if sums.n_against == 0 && sums.n_apart > 0 {
                    return Err(separated(&newton.columns, &direction));
                }
                self.cleared(newton)?
            }
            Phase::Noise(mut fitted) => {
                let dim = fitted.fit.dim();
                let noise = faer::Scale(1.0 / fitted.fit.n_rows() as f64) * symmetric(&sums.matrix, dim);
                fitted.spread = &fitted.inverse * noise * &fitted.inverse;
                fitted.spread = faer::Scale(0.5) * (&fitted.spread + fitted.spread.transpose());
                Phase::Bias(fitted)
            }
            Phase::Bias(fitted) => return Ok(SoftmaxStep::Done(Box::new(self.finish(*fitted, &sums)?))),
            Phase::First | Phase::Over => Phase::Over,
        };
        Ok(SoftmaxStep::Again)
    }

    fn advance(&mut self, mut newton: Box<Newton>, sums: ClassSums) -> Result<Phase, Error> {
        let limit = newton.descent.objective * (1.0 + LOSS_NOISE);
        if newton.descent.halves(sums.loss, limit) {
            return self.go_on(newton, false);
        }
        let theta = newton.candidate();
        if sums.all_apart {
            return Err(separated(&newton.columns, &theta));
        }
        let Some((step, decrement)) = next_step(&sums, theta.nrows()) else {
            // The weights have vanished along some direction: the last step.
            newton.descent.stop();
            return self.go_on(newton, true);
        };
        if newton.descent.n_accepted() > 0 && newton.descent.has_settled(decrement, sums.largest_move) {
            return self.settle(*newton, theta, sums);
        }
        let is_last_pass = self.n_passes >= self.options.max_passes;
        let is_suspect = newton.descent.is_suspect(sums.largest_move, is_last_pass);
        newton.descent.accept(sums.loss, decrement);
        (newton.theta, newton.step) = (theta, step);
        self.go_on(newton, is_suspect)
    }

    fn go_on(&self, newton: Box<Newton>, is_suspect: bool) -> Result<Phase, Error> {
        if is_suspect {
            Ok(Phase::Border(newton))
        } else if newton.descent.is_stopped() || self.n_passes >= self.options.max_passes {
            Err(Error::NotConverged { n_passes: self.n_passes })
        } else {
            Ok(Phase::Newton(newton))
        }
    }

    /// Newton's method goes on after a suspicion of separation was wrong.
    fn cleared(&self, mut newton: Box<Newton>) -> Result<Phase, Error> {
        newton.descent.clear();
        self.go_on(newton, false)
    }

    fn settle(&self, newton: Newton, theta: Mat<f64>, sums: ClassSums) -> Result<Phase, Error> {
        let n_passes = self.n_passes;
        let hessian = symmetric(&sums.matrix, theta.nrows());
        let factor = hessian.llt(Side::Lower).map_err(|_| Error::NotConverged { n_passes })?;
        let fit = SoftmaxFit {
            columns: (*newton.columns).clone(),
            dropped: newton.dropped,
            n_labels: newton.n_labels,
            theta,
            lower: factor.L().to_owned(),
            loss: sums.loss,
            n_passes,
            weight_scale: newton.weight_scale,
            effective_rows: newton.effective_rows,
        };
        Ok(fitted(fit, newton.columns, newton.n_pushed, factor.inverse(), self.options.spread))
    }

    /// For a known fit of `n_pushed` rows, with the inverse of its curvature: only
    /// moments are left to sum.
    pub(super) fn of_fit(
        fit: SoftmaxFit,
        n_pushed: usize,
        inverse: Mat<f64>,
        sizes: Sizes,
        options: SoftmaxOptions,
    ) -> Self {
        let (n_features, n_classes) = (fit.n_features(), fit.n_classes());
        let columns = Arc::new(fit.columns.clone());
        let phase = fitted(fit, columns, n_pushed, inverse, options.spread);
        Self { n_features, n_classes, sizes, options, n_passes: 0, phase }
    }

    fn finish(&self, fitted: Fitted, sums: &ClassSums) -> Result<SoftmaxValuer, Error> {
        let Fitted { fit, inverse, spread, .. } = fitted;
        let n = fit.n_rows() as f64;
        let [skew, feedback] = &sums.vectors;
        let sum = Mat::from_fn(skew.len(), 1, |k, _| -0.5 * (skew[k] + 2.0 * feedback[k]) / n);
        let bias = (&inverse * sum).col_as_slice(0).to_vec();
        SoftmaxValuer::new(fit, inverse, spread, bias, self.sizes, self.options)
    }
}

/// What is summed once there is a fit; `inverse` is that of its curvature.
fn fitted(
    fit: SoftmaxFit,
    columns: Arc<Whitened>,
    n_pushed: usize,
    inverse: Mat<f64>,
    known_by: Spread,
) -> Phase {
    let inverse = faer::Scale(fit.n_rows() as f64) * inverse;
    let inverse = faer::Scale(0.5) * (&inverse + inverse.transpose());
    let spread = inverse.clone();
    let fitted = Box::new(Fitted { n_pushed, columns, fit, inverse, spread });
    match known_by {
        Spread::ModelBased => Phase::Bias(fitted),
        Spread::Sandwich => Phase::Noise(fitted),
    }
}

impl Phase {
    /// Rows of the first pass.
    fn n_pushed(&self) -> Option<usize> {
        match self {
            Phase::Newton(newton) | Phase::Border(newton) | Phase::Sides(newton, _) => Some(newton.n_pushed),
            Phase::Noise(fitted) | Phase::Bias(fitted) => Some(fitted.n_pushed),
            Phase::First | Phase::Over => None,
        }
    }
}

impl SoftmaxPass {
    /// Adds rows; without weights each counts as one. After an error the pass
    /// must not be used further.
    ///
    /// # Errors
    ///
    /// [`Error::NotAClass`], [`Error::FeatureCount`], [`Error::NotFinite`] and
    /// [`Error::BadWeight`] with the row counted within `rows`,
    /// [`Error::TooLarge`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        check_classes(rows, self.n_classes)?;
        match &mut self.kind {
            Pass::First { moments, counts, shares } => {
                moments.push(rows)?;
                for (row, &label) in rows.y().iter().enumerate() {
                    let weight = rows.weights().map_or(1.0, |weights| weights[row]);
                    counts[label as usize] += usize::from(weight > 0.0);
                    shares[label as usize] += weight;
                }
                Ok(())
            }
            Pass::Sums(sums) => sums.push(rows),
        }
    }

    /// Rows so far, including those of weight 0.
    pub fn n_rows(&self) -> usize {
        match &self.kind {
            Pass::First { moments, .. } => moments.n_rows(),
            Pass::Sums(sums) => sums.n_rows(),
        }
    }
}
