//! How long KNN-Shapley takes. Prints JSON.
//!
//! ```text
//! measure_baselines knn-shapley ROWS TESTS COLUMNS      test rows of their own
//! measure_baselines knn-shapley-all ROWS COLUMNS        every row a test row
//! ```
//!
//! Runs on `RAYON_NUM_THREADS` threads; seconds are the best of three.

use dshap::neighbours::{NeighbourOptions, NeighbourTask, NeighbourValuer, TestRows};
use dshap::{Rows, Sizes};
use dshap_baselines::random;
use faer::Mat;
use std::hint::black_box;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Neighbours that predict.
const K: usize = 5;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["knn-shapley", rows, tests, columns] => {
            knn_shapley(rows.parse()?, Some(tests.parse()?), columns.parse()?)?
        }
        ["knn-shapley-all", rows, columns] => knn_shapley(rows.parse()?, None, columns.parse()?)?,
        _ => {
            return Err(
                "usage: measure_baselines knn-shapley ROWS TESTS COLUMNS | knn-shapley-all ROWS COLUMNS"
                    .into(),
            );
        }
    };
    println!("{{\"seconds\": {seconds}}}");
    Ok(())
}

/// Uniform features, and a label that depends on the first.
fn table(seed: u64, n: usize, p: usize) -> (Mat<f64>, Vec<f64>) {
    let cells = random(n * (p + 1), seed).value;
    let x = Mat::from_fn(n, p, |i, j| cells[i * (p + 1) + j]);
    let label = |i: usize| f64::from(u8::from(x[(i, 0)] + 0.3 * cells[i * (p + 1) + p] > 0.65));
    let y = (0..n).map(label).collect();
    (x, y)
}

fn knn_shapley(n: usize, tests: Option<usize>, p: usize) -> Outcome<f64> {
    let (x, y) = table(1, n, p);
    let (test_x, test_y) = table(2, tests.unwrap_or(1), p);
    let all: Vec<usize> = (0..n).collect();
    let test = match tests {
        Some(_) => TestRows::Given(Rows::new(test_x.as_ref(), &test_y)?),
        None => TestRows::Reference(&all),
    };
    let task = NeighbourTask::Classification { n_classes: 2 };
    let options = NeighbourOptions { k: K, ..NeighbourOptions::new(task) };
    let valuer = NeighbourValuer::new(Rows::new(x.as_ref(), &y)?, test, Sizes::new(K + 1, n - 1), options)?;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        black_box(valuer.finite_shapley(&|_, _| true)?);
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}
