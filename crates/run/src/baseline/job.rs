//! One method on rows in memory.

use super::choice::{Baseline, BaselineChoice};
use super::frame::AnyUtility;
use crate::general::Held;
use crate::observer::{Observer, Stage};
use dshap::{Sizes, Values};
use dshap_baselines::{
    Error, MonteCarlo, ReferenceRows, Utility, d_shapley, d_shapley_of_reference, exact_density_shapley,
    exact_shapley_counted, is_undetermined, leave_one_out, random, tmc_shapley, utility_at,
};

/// A baseline, and all it needs.
pub(crate) struct Job<'a> {
    pub(crate) choice: &'a BaselineChoice,
    pub(crate) utility: &'a AnyUtility,
    /// Rows that sets are made of.
    pub(crate) players: &'a Held,
    /// Rows to be valued by them; the players themselves if there are none.
    pub(crate) points: Option<&'a Held>,
    pub(crate) sizes: Sizes,
}

/// Values, and what they took.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) values: Values,
    pub(crate) n_iterations: Option<usize>,
    pub(crate) converged: Option<bool>,
    pub(crate) evaluated_share: Option<f64>,
    pub(crate) undetermined_share: f64,
}

impl Outcome {
    fn known(values: Values) -> Self {
        Self { values, n_iterations: None, converged: None, evaluated_share: None, undetermined_share: 0.0 }
    }

    fn drawn(drawn: MonteCarlo, is_truncated: bool) -> Self {
        Self {
            values: drawn.values,
            n_iterations: Some(drawn.n_iterations),
            converged: Some(drawn.converged),
            evaluated_share: is_truncated.then_some(drawn.evaluated_share),
            undetermined_share: drawn.undetermined_share,
        }
    }
}

impl Job<'_> {
    /// Values the points, or the players, watched.
    pub(crate) fn run(&self, observer: &dyn Observer) -> Result<Outcome, Error> {
        let n = self.players.n_rows();
        let n_steps = match self.choice.baseline {
            Baseline::DShapley | Baseline::TmcShapley => self.choice.max_iterations(),
            Baseline::ExactShapley | Baseline::LeaveOneOut | Baseline::Random => n,
        };
        observer.begin(Stage::Draw, n_steps as u64);
        let outcome = self.run_watched(observer)?;
        observer.end();
        Ok(outcome)
    }

    fn run_watched(&self, observer: &dyn Observer) -> Result<Outcome, Error> {
        match self.utility {
            AnyUtility::LeastSquares(utility) => self.by(utility, observer),
            AnyUtility::Logistic(utility) => self.by(utility, observer),
            AnyUtility::Density(utility) if self.choice.baseline == Baseline::ExactShapley => {
                let watch = |_: usize, _: usize| !observer.is_interrupted();
                Ok(Outcome::known(exact_density_shapley(utility, self.players.rows()?, &watch)?))
            }
            AnyUtility::Density(utility) => self.by(utility, observer),
        }
    }

    fn by<U: Utility>(&self, utility: &U, observer: &dyn Observer) -> Result<Outcome, Error>
    where
        U::Set: Sync,
    {
        let watch = |done: usize, _: usize| {
            observer.advance(done as u64, done as u64);
            !observer.is_interrupted()
        };
        let rows = self.players.rows()?;
        match self.choice.baseline {
            Baseline::DShapley => {
                let reference = ReferenceRows::new(rows, utility)?;
                let (sizes, stopping) = (self.sizes, self.choice.stopping());
                let drawn = match self.points {
                    Some(points) => d_shapley(utility, &reference, points.rows()?, sizes, stopping, &watch)?,
                    None => d_shapley_of_reference(utility, &reference, sizes, stopping, &watch)?,
                };
                Ok(Outcome::drawn(drawn, false))
            }
            Baseline::TmcShapley => {
                Ok(Outcome::drawn(tmc_shapley(utility, rows, self.choice.tmc(), &watch)?, true))
            }
            Baseline::ExactShapley => {
                let (values, undetermined_share) = exact_shapley_counted(utility, rows, &watch)?;
                Ok(Outcome { undetermined_share, ..Outcome::known(values) })
            }
            Baseline::LeaveOneOut => {
                let values = leave_one_out(utility, rows, &watch)?;
                let undetermined_share = f64::from(u8::from(is_undetermined(utility, rows)?));
                Ok(Outcome { undetermined_share, ..Outcome::known(values) })
            }
            Baseline::Random => Ok(Outcome::known(random(rows.len(), self.choice.seed))),
        }
    }
}

impl AnyUtility {
    /// What sets of `rows` are worth as they grow along an order, at some marks.
    pub(crate) fn at(
        &self,
        rows: &Held,
        start: &[usize],
        order: &[usize],
        marks: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, Error> {
        let watch = |_: usize, _: usize| !observer.is_interrupted();
        let rows = rows.rows()?;
        match self {
            AnyUtility::LeastSquares(utility) => utility_at(utility, rows, start, order, marks, &watch),
            AnyUtility::Logistic(utility) => utility_at(utility, rows, start, order, marks, &watch),
            AnyUtility::Density(utility) => utility_at(utility, rows, start, order, marks, &watch),
        }
    }
}
