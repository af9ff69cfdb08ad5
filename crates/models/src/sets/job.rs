//! One baseline on rows in memory.

use super::frame::AnyUtility;
use super::options::{Baseline, stopping, tmc};
use crate::held_rows::HeldRows;
use crate::how::How;
use crate::row_valuer::Iterations;
use crate::warning::Warning;
use dshap::{Rows, Sizes, Values, Watch};
use dshap_baselines::{
    CHECK_EVERY, Error, MonteCarlo, ReferenceRows, Utility, d_shapley, d_shapley_of_reference,
    exact_density_shapley, exact_shapley_counted, is_undetermined, leave_one_out, random, tmc_shapley,
};
use dshap_catalogue::Task;

/// A larger share of sets that determine no model is a warning.
const MANY_UNDETERMINED: f64 = 0.01;

/// A baseline, and all it needs.
#[derive(Debug)]
pub struct Job<'a> {
    /// Which.
    pub baseline: Baseline,
    /// Its options.
    pub how: &'a How,
    /// What sets are worth.
    pub utility: &'a AnyUtility,
    /// Rows that sets are made of, as the utility sees them.
    pub players: &'a HeldRows,
    /// Rows to be valued by them; if there are none, the players themselves.
    pub points: Option<&'a HeldRows>,
    /// The set sizes.
    pub sizes: Sizes,
}

/// Values, and what they took.
#[derive(Debug, Clone)]
pub struct JobOutcome {
    /// The values.
    pub values: Values,
    /// What draws took; absent where nothing was drawn.
    pub iterations: Option<Iterations>,
    /// Share of the sets, large enough for a model, that determined none.
    pub undetermined_share: f64,
}

impl JobOutcome {
    fn known(values: Values) -> Self {
        Self { values, iterations: None, undetermined_share: 0.0 }
    }

    fn drawn(drawn: MonteCarlo, is_truncated: bool) -> Self {
        Self {
            values: drawn.values,
            iterations: Some(Iterations {
                n_iterations: drawn.n_iterations,
                converged: drawn.converged,
                evaluated_share: is_truncated.then_some(drawn.evaluated_share),
            }),
            undetermined_share: drawn.undetermined_share,
        }
    }

    /// What is doubtful about the values.
    pub fn warnings(&self, baseline: Baseline, how: &How, task: Task) -> Vec<Warning> {
        let tolerance = stopping(how).tolerance;
        // With a tolerance of 0 all iterations were asked for, whether means converge or not.
        let moving = self.iterations.filter(|drawn| !drawn.converged && tolerance > 0.0);
        let mut warnings: Vec<Warning> = moving
            .map(|Iterations { n_iterations, .. }| match n_iterations < 2 * CHECK_EVERY {
                true => Warning::FewIterations { n_iterations, needed: 2 * CHECK_EVERY },
                false => Warning::StillMoving { n_iterations, tolerance },
            })
            .into_iter()
            .collect();
        if baseline == Baseline::LeaveOneOut && self.undetermined_share > 0.0 {
            warnings.push(Warning::NoModelToLose);
        } else if self.undetermined_share > MANY_UNDETERMINED {
            warnings.push(Warning::SetsWithoutModel { share: self.undetermined_share, task });
        }
        warnings
    }
}

impl Job<'_> {
    /// Values the points, or the players. Iterations or rows are counted.
    ///
    /// # Errors
    ///
    /// [`Error`].
    pub fn run(&self, watch: Watch<'_>) -> Result<JobOutcome, Error> {
        match self.utility {
            AnyUtility::LeastSquares(utility) => self.by(utility, watch),
            AnyUtility::Logistic(utility) => self.by(utility, watch),
            AnyUtility::Density(utility) if self.baseline == Baseline::ExactShapley => {
                Ok(JobOutcome::known(exact_density_shapley(utility, self.players.rows()?, watch)?))
            }
            AnyUtility::Density(utility) => self.by(utility, watch),
        }
    }

    fn by<U: Utility>(&self, utility: &U, watch: Watch<'_>) -> Result<JobOutcome, Error>
    where
        U::Set: Sync,
    {
        let points = self.points.map(HeldRows::rows).transpose()?;
        value_by(self.baseline, self.how, utility, (self.players.rows()?, points), self.sizes, watch)
    }
}

/// Values rows by a baseline and any utility: the points, or the players if there are none.
///
/// # Errors
///
/// [`Error`].
pub fn value_by<U: Utility>(
    baseline: Baseline,
    how: &How,
    utility: &U,
    (players, points): (Rows<'_>, Option<Rows<'_>>),
    sizes: Sizes,
    watch: Watch<'_>,
) -> Result<JobOutcome, Error>
where
    U::Set: Sync,
{
    match baseline {
        Baseline::DShapley => {
            let reference = ReferenceRows::new(players, utility)?;
            let stopping = stopping(how);
            let drawn = match points {
                Some(points) => d_shapley(utility, &reference, points, sizes, stopping, watch)?,
                None => d_shapley_of_reference(utility, &reference, sizes, stopping, watch)?,
            };
            Ok(JobOutcome::drawn(drawn, false))
        }
        Baseline::TmcShapley => Ok(JobOutcome::drawn(tmc_shapley(utility, players, tmc(how), watch)?, true)),
        Baseline::ExactShapley => {
            let (values, undetermined_share) = exact_shapley_counted(utility, players, watch)?;
            Ok(JobOutcome { undetermined_share, ..JobOutcome::known(values) })
        }
        Baseline::LeaveOneOut => {
            let values = leave_one_out(utility, players, watch)?;
            let undetermined_share = f64::from(u8::from(is_undetermined(utility, players)?));
            Ok(JobOutcome { undetermined_share, ..JobOutcome::known(values) })
        }
        Baseline::Random => Ok(JobOutcome::known(random(players.len(), how.seed()))),
    }
}
