//! From a logistic fit to a second-order valuer, in passes over rows that need not fit
//! into memory.
//!
//! | passes | what is summed |
//! |---|---|
//! | as many as Newton's method takes, if the fit has a ridge | fits with the ridge of sets of a few sizes |
//! | two under log-loss, three with a ridge or under the Brier score, five under accuracy | moments of the expansion |

use super::expansion::ExpansionBuilder;
use super::options::SecondOrderOptions;
use super::sums::JointSweep;
use super::terms::RowForm;
use super::valuer::SecondOrderValuer;
use crate::blocks::BlockSums;
use crate::classification::{Irls, LogisticFit, LogisticOptions, PassBuilder, Step};
use crate::labels::check_labels;
use crate::{Error, Rows, Sizes};
use std::sync::Arc;

/// A second-order valuer in progress.
///
/// ```
/// use dshap::classification::{LogisticFit, LogisticOptions};
/// use dshap::second_order::{SecondOrderOptions, SecondOrderPasses, SecondOrderStep};
/// use dshap::{Rows, Sizes, Valuer};
/// use faer::mat;
///
/// let x = mat![[0.0], [0.0], [0.0], [0.0], [1.0], [1.0], [1.0], [1.0_f64]];
/// let y = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0];
/// let rows = Rows::new(x.as_ref(), &y)?;
/// let fit = LogisticFit::of(rows, LogisticOptions::default())?;
/// let mut passes = SecondOrderPasses::new(fit, Sizes::new(30, 100), SecondOrderOptions::default())?;
/// let valuer = loop {
///     let mut pass = passes.begin_pass();
///     pass.push(rows)?; // in chunks of any size
///     if let SecondOrderStep::Done(valuer) = passes.finish_pass(pass)? {
///         break valuer;
///     }
/// };
/// // By symmetry both ways of being unlikely are worth the same.
/// let values = valuer.values(Rows::new(mat![[0.0], [1.0_f64]].as_ref(), &[1.0, 0.0])?)?;
/// assert!((values.value[0] / values.value[1] - 1.0).abs() < 1e-9);
/// # Ok::<(), dshap::Error>(())
/// ```
#[derive(Debug)]
pub struct SecondOrderPasses {
    fit: Arc<LogisticFit>,
    sizes: Sizes,
    options: SecondOrderOptions,
    /// The sizes at which the expansion is made.
    node_sizes: Vec<f64>,
    n_passes: usize,
    /// Rows of a pass, including those of weight 0.
    n_pushed: Option<usize>,
    phase: Phase,
}

/// The result of a pass.
#[derive(Debug)]
pub enum SecondOrderStep {
    /// Another pass is needed.
    Again,
    /// The valuer.
    Done(Box<SecondOrderValuer>),
}

/// A pass in progress. Every pass needs the rows of the fit, in the same order.
#[derive(Debug)]
pub struct SecondOrderPass(Pass);

#[derive(Debug)]
enum Pass {
    Refits { builders: Vec<Option<PassBuilder>>, n_rows: usize },
    Sums(BlockSums<JointSweep>),
}

#[derive(Debug)]
enum Phase {
    Refits(Vec<Refit>),
    Sums(Vec<ExpansionBuilder>),
    /// A pass failed, or the valuer was returned.
    Over,
}

/// The reference fitted with the ridge for sets of one size.
#[derive(Debug)]
enum Refit {
    UnderWay(Box<Irls>),
    Fitted(Arc<LogisticFit>),
}

impl SecondOrderPasses {
    /// For the rows `fit` was made from.
    ///
    /// # Errors
    ///
    /// [`Error::Sizes`] when the sums do not exist for these sizes, [`Error::BadOption`]
    /// for options that contradict each other.
    pub fn new(fit: LogisticFit, sizes: Sizes, options: SecondOrderOptions) -> Result<Self, Error> {
        options.check(fit.ridge())?;
        options.check_sizes(&fit, sizes)?;
        let node_sizes = options.node_sizes(fit.ridge(), sizes);
        let fit = Arc::new(fit);
        let phase = if fit.ridge() > 0.0 {
            // γ on the sum over a set of s + 1 rows is γ/(s + 1) on the mean.
            let n = fit.n_rows() as f64;
            let refit = |s: &f64| {
                let ridge = fit.ridge() / (s + 1.0) * n;
                let logistic = LogisticOptions {
                    intercept: fit.intercept(),
                    ridge,
                    standardised: fit.is_standardised(),
                    ..LogisticOptions::default()
                };
                Ok(Refit::UnderWay(Box::new(Irls::new(fit.n_features(), logistic)?)))
            };
            Phase::Refits(node_sizes.iter().map(refit).collect::<Result<_, Error>>()?)
        } else {
            let build = |&s: &f64| ExpansionBuilder::new(Arc::clone(&fit), s, &options);
            Phase::Sums(node_sizes.iter().map(build).collect::<Result<_, Error>>()?)
        };
        Ok(Self { fit, sizes, options, node_sizes, n_passes: 0, n_pushed: None, phase })
    }

    /// Number of expansions made together.
    pub fn n_expansions(&self) -> usize {
        self.node_sizes.len()
    }

    /// Passes finished so far.
    pub fn n_passes(&self) -> usize {
        self.n_passes
    }

    /// A new pass over all rows, for [`finish_pass`](Self::finish_pass).
    pub fn begin_pass(&self) -> SecondOrderPass {
        SecondOrderPass(match &self.phase {
            Phase::Refits(refits) => {
                let begin = |refit: &Refit| match refit {
                    Refit::UnderWay(irls) => Some(irls.begin_pass()),
                    Refit::Fitted(_) => None,
                };
                Pass::Refits { builders: refits.iter().map(begin).collect(), n_rows: 0 }
            }
            Phase::Sums(builders) => {
                let task = |builder: &ExpansionBuilder| Some((Arc::clone(&builder.fit), builder.task()?));
                let tasks = builders.iter().filter_map(task).collect();
                let sweep = JointSweep { spread: self.options.spread, tasks };
                Pass::Sums(BlockSums::new(self.fit.n_features(), sweep))
            }
            Phase::Over => Pass::Refits { builders: Vec::new(), n_rows: 0 },
        })
    }

    /// Uses a finished pass over all rows.
    ///
    /// # Errors
    ///
    /// As for [`Irls::finish_pass`] if the fit has a ridge, [`Error::NoRows`],
    /// [`Error::TooLarge`], and [`Error::Contradiction`] if the rows differ from those
    /// before. After an error the passes cannot go on.
    pub fn finish_pass(&mut self, pass: SecondOrderPass) -> Result<SecondOrderStep, Error> {
        self.n_passes += 1;
        let phase = std::mem::replace(&mut self.phase, Phase::Over);
        let n_rows = pass.n_rows();
        let is_same = *self.n_pushed.get_or_insert(n_rows) == n_rows && n_rows >= self.fit.n_rows();
        match (phase, pass.0) {
            (Phase::Refits(refits), Pass::Refits { builders, .. }) if is_same => {
                self.phase = self.advance(refits, builders)?;
                Ok(SecondOrderStep::Again)
            }
            (Phase::Sums(mut expansions), Pass::Sums(sums)) if is_same => {
                for (builder, sums) in expansions.iter_mut().zip(sums.finish()?) {
                    builder.take(sums);
                }
                // All expansions have the same stages.
                if expansions.iter().any(|builder| builder.task().is_some()) {
                    self.phase = Phase::Sums(expansions);
                    return Ok(SecondOrderStep::Again);
                }
                Ok(SecondOrderStep::Done(Box::new(self.finish(expansions))))
            }
            _ if n_rows == 0 => Err(Error::NoRows),
            _ => Err(Error::Contradiction { what: "the rows are not those the fit was made from" }),
        }
    }

    fn advance(&self, refits: Vec<Refit>, builders: Vec<Option<PassBuilder>>) -> Result<Phase, Error> {
        let step = |(refit, builder): (Refit, Option<PassBuilder>)| match (refit, builder) {
            (Refit::UnderWay(mut irls), Some(builder)) => Ok(match irls.finish_pass(builder)? {
                Step::Again => Refit::UnderWay(irls),
                Step::Converged(fit) => Refit::Fitted(Arc::new(*fit)),
            }),
            (refit, _) => Ok(refit),
        };
        let refits = refits.into_iter().zip(builders).map(step).collect::<Result<Vec<_>, Error>>()?;
        let fitted = |refit: &Refit| match refit {
            Refit::Fitted(fit) => Some(Arc::clone(fit)),
            Refit::UnderWay(_) => None,
        };
        let Some(fits) = refits.iter().map(fitted).collect::<Option<Vec<_>>>() else {
            return Ok(Phase::Refits(refits));
        };
        let build = |(fit, &s): (Arc<LogisticFit>, &f64)| ExpansionBuilder::new(fit, s, &self.options);
        Ok(Phase::Sums(fits.into_iter().zip(&self.node_sizes).map(build).collect::<Result<_, _>>()?))
    }

    fn finish(&self, expansions: Vec<ExpansionBuilder>) -> SecondOrderValuer {
        let row_form = |builder: ExpansionBuilder| {
            let (fit, expansion) = builder.finish();
            RowForm::new(fit, expansion, self.options)
        };
        let rows = expansions.into_iter().map(row_form).collect();
        SecondOrderValuer::new(Arc::clone(&self.fit), self.sizes, self.options, rows)
    }
}

impl SecondOrderPass {
    /// Adds rows; without weights each counts as one. After an error the pass
    /// must not be used further.
    ///
    /// # Errors
    ///
    /// As for [`PassBuilder::push`].
    pub fn push(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        check_labels(rows)?;
        match &mut self.0 {
            Pass::Refits { builders, n_rows } => {
                *n_rows += rows.len();
                builders.iter_mut().flatten().try_for_each(|builder| builder.push(rows))
            }
            Pass::Sums(sums) => sums.push(rows),
        }
    }

    /// Rows so far, including those of weight 0.
    pub fn n_rows(&self) -> usize {
        match &self.0 {
            Pass::Refits { n_rows, .. } => *n_rows,
            Pass::Sums(sums) => sums.n_rows(),
        }
    }
}
