//! From encoded rows to what a model sees, and the utility of sets of them.

use super::choice::BaselineChoice;
use crate::Error;
use crate::general::Held;
use crate::request::{Model, Task};
use dshap::Warning;
use dshap::density::{DensityFit, Kernel};
use dshap::linear::LinearFit;
use dshap_baselines::{Centre, KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions};
use dshap_table::{Design, Labels};

/// What the rows that sets are made of say about coordinates and models.
#[derive(Debug)]
pub(crate) struct Frame {
    kept: Vec<usize>,
    kind: Kind,
    warnings: Vec<Warning>,
}

#[derive(Debug)]
enum Kind {
    LeastSquares { centre: Centre, intercept: bool, ridge: f64 },
    Logistic(LogisticOptions),
    Density { kernel: Kernel, bandwidth: f64, centre: Vec<f64>, factor: Vec<f64> },
}

/// A utility of any task.
#[derive(Debug)]
pub(crate) enum AnyUtility {
    LeastSquares(LeastSquares),
    Logistic(Logistic),
    Density(KernelDensity<'static>),
}

impl Frame {
    /// The frame of a task, learned from `players`.
    pub(crate) fn of(
        players: &Held,
        task: Task,
        model: &Model,
        choice: &BaselineChoice,
        design: &Design,
    ) -> Result<Self, Error> {
        let core = |error| Error::core(error, design);
        let rows = players.rows().map_err(core)?;
        let ridge = choice.ridge_for(task);
        match task {
            Task::Regression => {
                // Only for the columns that depend on others, and the means.
                let fit = LinearFit::of(rows, model.fit).map_err(core)?;
                let kept = fit.kept().to_vec();
                let mean = |cells: &[f64]| cells.iter().sum::<f64>() / cells.len() as f64;
                let centre = if model.fit.intercept {
                    let x = kept.iter().map(|&column| mean(players.x().col_as_slice(column))).collect();
                    Centre::Means { x, y: mean(players.y()) }
                } else {
                    Centre::Origin
                };
                let intercept = model.fit.refit_intercept;
                Ok(Self {
                    kept,
                    kind: Kind::LeastSquares { centre, intercept, ridge },
                    warnings: fit.warnings(),
                })
            }
            Task::Classification => {
                let options = LogisticOptions {
                    n_classes: design.labels().map_or(2, Labels::n_classes),
                    score: choice.utility.unwrap_or_default().score(),
                    least_rows: 1,
                    ridge,
                    intercept: model.fit.intercept,
                };
                // With a ridge, columns that depend on others do no harm.
                let kept = (0..design.n_columns()).collect();
                Ok(Self { kept, kind: Kind::Logistic(options), warnings: Vec::new() })
            }
            Task::Density => {
                let fit = DensityFit::of(rows.x(), model.density.options()).map_err(core)?;
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

    pub(crate) fn task(&self) -> Task {
        match self.kind {
            Kind::LeastSquares { .. } => Task::Regression,
            Kind::Logistic(_) => Task::Classification,
            Kind::Density { .. } => Task::Density,
        }
    }

    /// Columns of the model.
    pub(crate) fn dim(&self) -> usize {
        let intercept = match self.kind {
            Kind::LeastSquares { intercept, .. } => intercept,
            Kind::Logistic(options) => options.intercept,
            Kind::Density { .. } => false,
        };
        self.kept.len() + usize::from(intercept)
    }

    pub(crate) fn ridge(&self) -> Option<f64> {
        match self.kind {
            Kind::LeastSquares { ridge, .. } => Some(ridge),
            Kind::Logistic(options) => Some(options.ridge),
            Kind::Density { .. } => None,
        }
    }

    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What a set is worth, in a word.
    pub(crate) fn utility_name(&self) -> &'static str {
        match self.kind {
            Kind::LeastSquares { .. } => "squared-error",
            Kind::Logistic(LogisticOptions { score: dshap_baselines::Score::Accuracy, .. }) => "accuracy",
            Kind::Logistic(_) => "log-loss",
            Kind::Density { .. } => "integrated-squared-error",
        }
    }

    /// Rows as the utility wants to see them.
    pub(crate) fn see(&self, rows: &Held) -> Held {
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

    /// What sets are worth, measured on `test`.
    pub(crate) fn utility(
        &self,
        test: &Held,
        least_rows: usize,
        design: &Design,
    ) -> Result<AnyUtility, Error> {
        let test = self.see(test);
        let rows = test.rows().map_err(|error| Error::core(error, design))?;
        let utility = match &self.kind {
            Kind::LeastSquares { centre, intercept, ridge } => {
                let centre = centre.clone();
                let options =
                    LeastSquaresOptions { least_rows, ridge: *ridge, centre, intercept: *intercept };
                LeastSquares::new(rows, options).map(AnyUtility::LeastSquares)
            }
            Kind::Logistic(options) => {
                Logistic::new(rows, LogisticOptions { least_rows, ..*options }).map(AnyUtility::Logistic)
            }
            Kind::Density { kernel, bandwidth, .. } => {
                KernelDensity::tested_on(rows.x(), *kernel, *bandwidth).map(AnyUtility::Density)
            }
        };
        utility.map_err(|error| Error::baseline(error, design))
    }
}
