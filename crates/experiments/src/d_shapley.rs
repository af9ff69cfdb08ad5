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
    let found =
        d_shapley(utility, &population, points, Sizes::new(terms.q, m), stopping(terms), &|_, _| true)?;
    Ok(found.values.value)
}

/// When D-SHAPLEY stops.
fn stopping(terms: Terms) -> Stopping {
    let max_iterations = match terms.task {
        Task::Density => MOST_DENSITY_ITERATIONS,
        Task::Regression | Task::Classification => MOST_ITERATIONS,
    };
    Stopping { seed: terms.seed, max_iterations, ..Stopping::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Part, gaussian_r};
    use faer::Mat;

    #[test]
    fn iterations_end_where_those_of_the_authors_do() {
        let most = |task| stopping(Terms { task, q: 10, m: 200, seed: 7 });
        for (task, iterations) in
            [(Task::Regression, 100_000), (Task::Classification, 100_000), (Task::Density, 10_000)]
        {
            assert_eq!(most(task).max_iterations, iterations);
            assert_eq!((most(task).seed, most(task).tolerance), (7, 0.05));
        }
    }

    /// Mean squared error on `test` of a line fitted to `rows`, through `fixed` if it is given.
    fn error(rows: &[(f64, f64)], fixed: Option<(f64, f64)>, test: &[(f64, f64)]) -> f64 {
        let n = rows.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| rows.iter().map(of).sum::<f64>() / n;
        let (x, y) = fixed.unwrap_or_else(|| (mean(&|row| row.0), mean(&|row| row.1)));
        let slope = mean(&|row| (row.0 - x) * (row.1 - y)) / mean(&|row| (row.0 - x).powi(2));
        let miss = |row: &(f64, f64)| (row.1 - y - slope * (row.0 - x)).powi(2);
        test.iter().map(miss).sum::<f64>() / test.len() as f64
    }

    /// The definition, by all sets of the reference.
    fn by_all_sets(terms: Terms, fixed: Option<(f64, f64)>, parts: [&[(f64, f64)]; 3]) -> Vec<f64> {
        let [reference, points, test] = parts;
        let value = |point: &(f64, f64)| {
            let mut total = 0.0;
            for size in terms.q - 1..terms.m {
                let sets = (0_u32..1 << reference.len()).filter(|set| set.count_ones() as usize == size);
                let gains: Vec<f64> = sets
                    .map(|set| {
                        let rows = reference.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
                        let mut rows: Vec<(f64, f64)> = rows.map(|(_, row)| *row).collect();
                        let before = error(&rows, fixed, test);
                        rows.push(*point);
                        before - error(&rows, fixed, test)
                    })
                    .collect();
                total += gains.iter().sum::<f64>() / gains.len() as f64;
            }
            total / terms.m as f64
        };
        points.iter().map(value).collect()
    }

    #[test]
    fn every_set_refits_its_intercept() {
        let table = gaussian_r(70, 1, 3);
        // Targets lie around 5, so that sets differ in their intercepts.
        let rows: Vec<(f64, f64)> = (0..70).map(|i| (table.x[(i, 0)], table.y[i] + 5.0)).collect();
        let (reference, others) = rows.split_at(10);
        let (points, test) = others.split_at(10);
        let part = |rows: &[(f64, f64)]| Part {
            x: Mat::from_fn(rows.len(), 1, |i, _| rows[i].0),
            y: rows.iter().map(|row| row.1).collect(),
        };
        let split = Split {
            reference: part(reference),
            points: part(points),
            test: part(test),
            held_out: part(test),
        };
        let terms = Terms { task: Task::Regression, q: 6, m: 8, seed: 1 };
        let found = values(terms, &split).unwrap();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| reference.iter().map(of).sum::<f64>() / 10.0;
        let known = (mean(&|row| row.0), mean(&|row| row.1));
        let away = |other: &[f64]| {
            let gap: f64 = found.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
            gap / other.iter().map(|value| value.abs()).sum::<f64>()
        };
        let parts = [reference, points, test];
        let (refitted, known) = (by_all_sets(terms, None, parts), by_all_sets(terms, Some(known), parts));
        assert!(away(&refitted) < 0.2 && away(&known) > 0.4, "{} {}", away(&refitted), away(&known));
    }
}
