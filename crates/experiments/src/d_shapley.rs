//! Values by D-SHAPLEY, the baseline of the paper: it draws sets, fits models and
//! measures utilities on test rows.

use crate::Error;
use crate::data::{Split, Task};
use crate::valuing::{Terms, density_fit};
use dshap::density::Kernel;
use dshap::linear::{FitOptions, LinearFit};
use dshap::{Rows, Sizes};
use dshap_baselines::{
    Centre, KernelDensity, LeastSquares, LeastSquaresOptions, Logistic, LogisticOptions, ReferenceRows,
    Score, SmoothedDensity, Stopping, Utility, d_shapley,
};

/// The most iterations, as in the authors' program: 1 000 rounds of 100 for models with
/// coefficients, and 10 000 for densities.
const MOST_ITERATIONS: usize = 100_000;
const MOST_DENSITY_ITERATIONS: usize = 10_000;

/// The values of the points of `split`, in their order. D-SHAPLEY stops by the rule
/// of its authors, or after as many iterations as theirs.
pub(crate) fn values(terms: Terms, split: &Split) -> Result<Vec<f64>, Error> {
    if terms.task == Task::Regression {
        let fit = LinearFit::of(split.reference.rows()?, FitOptions::default());
        let fit = fit.map_err(Error::valuing("fit the reference"))?;
        if !fit.dropped().is_empty() {
            // Least squares on a set has no solution if columns depend on others.
            return values(terms, &split.with_columns(fit.kept()));
        }
    }
    let test = split.test.rows()?;
    let reference = split.reference.rows()?;
    let found = match terms.task {
        Task::Regression => {
            let means = |rows: Rows<'_>| -> (Vec<f64>, f64) {
                let n = rows.len() as f64;
                let column = |j: usize| rows.x().col(j).iter().sum::<f64>() / n;
                ((0..rows.n_features()).map(column).collect(), rows.y().iter().sum::<f64>() / n)
            };
            // As in the authors' program, each set has its own intercept. As in the closed
            // form, sets count from q − 1 rows on. Means only keep digits.
            let (x, y) = means(reference);
            let options = LeastSquaresOptions {
                least_rows: terms.q - 1,
                ridge: 0.0,
                centre: Centre::Means { x, y },
                intercept: true,
            };
            LeastSquares::new(test, options).and_then(|utility| drawn(&utility, reference, terms, split))
        }
        Task::Classification => {
            let options = LogisticOptions {
                n_classes: 2,
                score: Score::Accuracy,
                least_rows: terms.q - 1,
                ridge: 1.0,
                intercept: true,
            };
            Logistic::new(test, options).and_then(|utility| drawn(&utility, reference, terms, split))
        }
        Task::Density => {
            let fit = density_fit(&split.reference).map_err(Error::valuing("smooth the reference"))?;
            let density = SmoothedDensity::Rows(split.test.x.as_ref());
            KernelDensity::new(reference.n_features(), Kernel::Gaussian, fit.bandwidth(), density)
                .and_then(|utility| drawn(&utility, reference, terms, split))
        }
    };
    found.map_err(|source| Error::Baseline { what: "value points by D-SHAPLEY".into(), source })
}

fn drawn<U: Utility>(
    utility: &U,
    reference: Rows<'_>,
    terms: Terms,
    split: &Split,
) -> Result<Vec<f64>, dshap_baselines::Error> {
    let population = ReferenceRows::new(reference, utility)?;
    // Sets are drawn without replacement, so a small reference limits their size.
    let m = terms.m.min(reference.len() + 1);
    let points = Rows::new(split.points.x.as_ref(), &split.points.y)?;
    let max_iterations = match terms.task {
        Task::Density => MOST_DENSITY_ITERATIONS,
        Task::Regression | Task::Classification => MOST_ITERATIONS,
    };
    let stopping = Stopping { seed: terms.seed, max_iterations, ..Stopping::default() };
    let found = d_shapley(utility, &population, points, Sizes::new(terms.q, m), stopping, &|_, _| true)?;
    Ok(found.values.value)
}
