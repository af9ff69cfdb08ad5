//! From encoded rows to what a model sees, and the utility of sets of them.

use super::options::{ridge, score};
use crate::held_rows::HeldRows;
use crate::how::{How, LogisticRidge};
use crate::observer::Observer;
use crate::{Error, density};
use dshap::Warning;
use dshap::density::{DensityFit, Kernel};
use dshap::linear::{FitOptions, LinearFit};
use dshap_baselines::{
    Centre, KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions, Score, utility_at,
};
use dshap_catalogue::Task;
use dshap_catalogue::options::{DEPENDENT, REFIT_INTERCEPT};
use dshap_table::{Design, Labels};

/// What the rows that sets are made of say about coordinates and models: the
/// columns that are kept, the centre and the scaling.
#[derive(Debug)]
pub struct Frame {
    kept: Vec<usize>,
    kind: Kind,
    warnings: Vec<Warning>,
}

#[derive(Debug)]
enum Kind {
    LeastSquares { centre: Centre, intercept: bool, ridge: f64 },
    Logistic { options: LogisticOptions, variances: Option<Vec<f64>> },
    Density { kernel: Kernel, bandwidth: f64, centre: Vec<f64>, factor: Vec<f64> },
}

/// What sets are worth, whatever the task.
#[derive(Debug)]
pub enum AnyUtility {
    /// Least squares, by the drop in squared error.
    LeastSquares(LeastSquares),
    /// Logistic models, by the gain in accuracy or the drop in log-loss.
    Logistic(Logistic),
    /// Kernel density estimates, by the drop in integrated squared error.
    Density(KernelDensity<'static>),
}

impl Frame {
    /// The frame of a task, learned from the rows that sets are made of.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] for rows that no model can be fitted to.
    pub fn of(players: &HeldRows, task: Task, how: &How, design: &Design) -> Result<Self, Error> {
        let core = |error| Error::core(error, design);
        let rows = players.rows().map_err(core)?;
        let LogisticRidge { ridge, standardised } = ridge(how, task);
        match task {
            Task::Regression => {
                let options = FitOptions {
                    intercept: how.intercept(),
                    refit_intercept: how.given.has(&REFIT_INTERCEPT),
                    allow_dependent: !how.given.is(&DEPENDENT, "error"),
                };
                // Only for the columns that depend on others, and the means.
                let fit = LinearFit::of(rows, options).map_err(core)?;
                let kept = fit.kept().to_vec();
                let mean = |cells: &[f64]| cells.iter().sum::<f64>() / cells.len() as f64;
                let centre = if options.intercept {
                    let x = kept.iter().map(|&column| mean(players.x().col_as_slice(column))).collect();
                    Centre::Means { x, y: mean(players.y()) }
                } else {
                    Centre::Origin
                };
                let intercept = options.refit_intercept;
                Ok(Self {
                    kept,
                    kind: Kind::LeastSquares { centre, intercept, ridge },
                    warnings: fit.warnings(),
                })
            }
            Task::Classification => {
                let options = LogisticOptions {
                    n_classes: design.labels().map_or(2, Labels::n_classes),
                    score: score(how),
                    least_rows: 1,
                    ridge,
                    intercept: how.intercept(),
                };
                // With a ridge, columns that depend on others do no harm.
                let kept = (0..design.n_columns()).collect();
                let variances = standardised.then(|| variances(players, options.intercept));
                Ok(Self { kept, kind: Kind::Logistic { options, variances }, warnings: Vec::new() })
            }
            Task::Density => {
                let fit = DensityFit::of(rows.x(), density::options(&how.given)).map_err(core)?;
                let warnings = fit.warnings();
                let parts = fit.to_parts();
                let kind = Kind::Density {
                    kernel: parts.kernel,
                    bandwidth: parts.bandwidth,
                    centre: parts.centre,
                    factor: parts.factor,
                };
                Ok(Self { kept: parts.kept, kind, warnings })
            }
        }
    }

    /// The task it is for.
    pub fn task(&self) -> Task {
        match self.kind {
            Kind::LeastSquares { .. } => Task::Regression,
            Kind::Logistic { .. } => Task::Classification,
            Kind::Density { .. } => Task::Density,
        }
    }

    /// Columns of the model, with its intercept if that is fitted on each set.
    pub fn dim(&self) -> usize {
        let intercept = match self.kind {
            Kind::LeastSquares { .. } => self.refits_intercept(),
            Kind::Logistic { options, .. } => options.intercept,
            Kind::Density { .. } => false,
        };
        self.kept.len() + usize::from(intercept)
    }

    /// Design columns that models see.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Whether models have an intercept, known or fitted.
    pub fn has_intercept(&self) -> bool {
        match &self.kind {
            Kind::LeastSquares { centre, intercept, .. } => *intercept || *centre != Centre::Origin,
            Kind::Logistic { options, .. } => options.intercept,
            Kind::Density { .. } => false,
        }
    }

    /// Whether a regression fits its intercept again on each set.
    pub fn refits_intercept(&self) -> bool {
        matches!(self.kind, Kind::LeastSquares { intercept: true, .. })
    }

    /// The ridge of the models; a density has none.
    pub fn ridge(&self) -> Option<f64> {
        match self.kind {
            Kind::LeastSquares { ridge, .. } => Some(ridge),
            Kind::Logistic { options, .. } => Some(options.ridge),
            Kind::Density { .. } => None,
        }
    }

    /// Whether the ridge is for standardised features.
    pub fn is_standardised(&self) -> bool {
        matches!(self.kind, Kind::Logistic { variances: Some(_), .. })
    }

    /// What is doubtful about the columns.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What a set is worth, as a word.
    pub fn utility_name(&self) -> &'static str {
        match self.kind {
            Kind::LeastSquares { .. } => "squared-error",
            Kind::Logistic { options: LogisticOptions { score: Score::Accuracy, .. }, .. } => "accuracy",
            Kind::Logistic { .. } => "log-loss",
            Kind::Density { .. } => "integrated-squared-error",
        }
    }

    /// Rows as the utility sees them.
    pub fn see(&self, rows: &HeldRows) -> HeldRows {
        let all: Vec<usize> = (0..rows.n_rows()).collect();
        let mut seen = rows.select(&all, &self.kept);
        if let Kind::Density { centre, factor, .. } = &self.kind {
            for (column, (centre, factor)) in centre.iter().zip(factor).enumerate() {
                let cells = seen.x_mut().col_as_slice_mut(column);
                cells.iter_mut().for_each(|cell| *cell = (*cell - centre) * factor);
            }
        }
        seen
    }

    /// What sets are worth, measured on `test`; sets of fewer than `least_rows` rows
    /// have no model.
    ///
    /// # Errors
    ///
    /// [`Error::Core`] or [`Error::Baseline`] for test rows that measure nothing.
    pub fn utility(&self, test: &HeldRows, least_rows: usize, design: &Design) -> Result<AnyUtility, Error> {
        let test = self.see(test);
        let rows = test.rows().map_err(|error| Error::core(error, design))?;
        let utility = match &self.kind {
            Kind::LeastSquares { centre, intercept, ridge } => {
                let centre = centre.clone();
                let options =
                    LeastSquaresOptions { least_rows, ridge: *ridge, centre, intercept: *intercept };
                LeastSquares::new(rows, options).map(AnyUtility::LeastSquares)
            }
            Kind::Logistic { options, variances } => {
                let utility = Logistic::new(rows, LogisticOptions { least_rows, ..*options });
                let standardised = |utility: Logistic| match variances {
                    Some(variances) => utility.with_standardised_ridge(variances),
                    None => utility,
                };
                utility.map(standardised).map(AnyUtility::Logistic)
            }
            Kind::Density { kernel, bandwidth, .. } => {
                KernelDensity::tested_on(rows.x(), *kernel, *bandwidth).map(AnyUtility::Density)
            }
        };
        utility.map_err(|error| Error::baseline(error, design))
    }
}

/// The variance of each column; about 0 if nothing is centred.
fn variances(rows: &HeldRows, is_centred: bool) -> Vec<f64> {
    let n = rows.n_rows() as f64;
    let variance = |column: usize| {
        let cells = rows.x().col_as_slice(column);
        let mean = if is_centred { cells.iter().sum::<f64>() / n } else { 0.0 };
        cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / n
    };
    (0..rows.x().ncols()).map(variance).collect()
}

impl AnyUtility {
    /// What sets of `rows` are worth as they grow along an order, at some marks. The
    /// rows are as [`Frame::see`] gives them; sets begin with the rows `start`.
    ///
    /// # Errors
    ///
    /// [`dshap_baselines::Error`] for rows that do not exist, or if the observer asks
    /// to stop.
    pub fn at(
        &self,
        rows: &HeldRows,
        start: &[usize],
        order: &[usize],
        marks: &[usize],
        observer: &dyn Observer,
    ) -> Result<Vec<f64>, dshap_baselines::Error> {
        let watch = |_: usize, _: usize| !observer.is_interrupted();
        let rows = rows.rows()?;
        match self {
            AnyUtility::LeastSquares(utility) => utility_at(utility, rows, start, order, marks, &watch),
            AnyUtility::Logistic(utility) => utility_at(utility, rows, start, order, marks, &watch),
            AnyUtility::Density(utility) => utility_at(utility, rows, start, order, marks, &watch),
        }
    }
}
