//! Times sums of kernels: the cost of a value per pair of a point and a reference row. Prints JSON.
//!
//! ```text
//! density_speed POINTS ROWS COLUMNS             every kernel beside a plain loop, best of three
//! density_speed tree POINTS ROWS COLUMNS H      all rows beside the tree at bandwidth H
//! ```
//!
//! Runs on `RAYON_NUM_THREADS` threads; the plain loop on one.

use dshap::density::{
    Bandwidth, DensityFit, DensityMethod, DensityOptions, DensityValuer, Kernel, Scaling, Search,
};
use faer::Mat;
use std::hint::black_box;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tree", points, rows, columns, h] => {
            tree(points.parse()?, rows.parse()?, columns.parse()?, h.parse()?)
        }
        [points, rows, columns] => kernels(points.parse()?, rows.parse()?, columns.parse()?),
        _ => Err("usage: density_speed [tree] POINTS ROWS COLUMNS [H]".into()),
    }
}

/// Numbers near enough to a normal distribution for timing: sums of four.
fn table(seed: u64, n: usize, p: usize) -> Mat<f64> {
    let mut state = seed;
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    Mat::from_fn(n, p, |_, _| 1.7 * (number() + number() + number() + number()))
}

fn valuer(rows: &Mat<f64>, kernel: Kernel, h: f64, search: Search) -> Outcome<DensityValuer> {
    let options = DensityOptions { kernel, bandwidth: Bandwidth::Given(h), scaling: Scaling::None, search };
    Ok(DensityValuer::new(DensityFit::of(rows.as_ref(), options)?, 1000, DensityMethod::Closed)?)
}

fn best_of_three(mut work: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

fn kernels(n_points: usize, n_rows: usize, p: usize) -> Outcome<()> {
    let (points, rows) = (table(1, n_points, p), table(2, n_rows, p));
    let pairs = (n_points * n_rows) as f64;
    let nanoseconds = |seconds: f64| 1e9 * seconds / pairs;
    let h = 4.0;
    let plain = nanoseconds(best_of_three(|| {
        black_box(plain_loop(&points, &rows, h));
        Ok(())
    })?);
    let mut lines = vec![format!("\"plain loop, gaussian\": {plain:.2}")];
    for kernel in Kernel::ALL {
        for (name, with_std_error) in [("", false), (", stderr", true)] {
            let valuer = valuer(&rows, kernel, h, Search::All)?.with_std_error(with_std_error);
            let seconds = best_of_three(|| {
                black_box(valuer.values_from(points.as_ref(), 0)?);
                Ok(())
            })?;
            lines.push(format!("\"{}{name}\": {:.2}", kernel.name(), nanoseconds(seconds)));
        }
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}

/// The obvious implementation: rows in memory order, the library's exponential.
fn plain_loop(points: &Mat<f64>, rows: &Mat<f64>, h: f64) -> Vec<[f64; 2]> {
    let by_row = |x: &Mat<f64>| -> Vec<Vec<f64>> {
        (0..x.nrows()).map(|i| (0..x.ncols()).map(|j| x[(i, j)]).collect()).collect()
    };
    let (points, rows) = (by_row(points), by_row(rows));
    let sums = |point: &Vec<f64>| {
        let mut sums = [0.0; 2];
        for row in &rows {
            let mut dist_sq = 0.0;
            for (a, b) in point.iter().zip(row) {
                dist_sq += (a - b) * (a - b);
            }
            let chi = (-dist_sq / (4.0 * h * h)).exp();
            sums[0] += chi * chi;
            sums[1] += chi;
        }
        sums
    };
    points.iter().map(sums).collect()
}

fn tree(n_points: usize, n_rows: usize, p: usize, h: f64) -> Outcome<()> {
    let (points, rows) = (table(1, n_points, p), table(2, n_rows, p));
    let mut lines = Vec::new();
    for kernel in [Kernel::Gaussian, Kernel::Epanechnikov] {
        let chosen = valuer(&rows, kernel, h, Search::Auto)?.fit().has_tree();
        let seconds = |search| {
            let valuer = valuer(&rows, kernel, h, search)?;
            best_of_three(|| {
                black_box(valuer.values_from(points.as_ref(), 0)?);
                Ok(())
            })
        };
        let (all, tree) = (seconds(Search::All)?, seconds(Search::Tree)?);
        lines.push(format!(
            "\"{}\": {{\"all\": {all:.4}, \"tree\": {tree:.4}, \"auto takes the tree\": {chosen}}}",
            kernel.name()
        ));
    }
    println!("{{{}}}", lines.join(", "));
    Ok(())
}
