//! How long the solves of a game between owners take. Prints JSON.
//!
//! ```text
//! measure_owners solves COLUMNS OWNERS     one Cholesky factorisation and solve for each coalition
//! ```
//!
//! Runs on `RAYON_NUM_THREADS` threads; seconds are the best of three.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use rayon::prelude::*;
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["solves", columns, owners] => solves(columns.parse()?, owners.parse()?),
        _ => Err("usage: measure_owners solves COLUMNS OWNERS".into()),
    }
}

/// A matrix of products with a clear diagonal, as moments of many rows have.
fn solves(p: usize, owners: u32) -> Result<(), Box<dyn std::error::Error>> {
    let gram = Mat::from_fn(p, p, |i, j| if i == j { p as f64 } else { 1.0 / (1 + i.abs_diff(j)) as f64 });
    let right = Mat::from_fn(p, 1, |i, _| i as f64);
    let mut seconds = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        let solved: f64 = (0..1_usize << owners)
            .into_par_iter()
            .map(|coalition| {
                let mut gram = gram.clone();
                gram[(0, 0)] += coalition as f64;
                gram.llt(Side::Lower).map(|factor| factor.solve(&right)[(0, 0)]).unwrap_or(f64::NAN)
            })
            .collect::<Vec<_>>()
            .iter()
            .sum();
        black_box(solved);
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    println!("{{\"seconds\": {seconds}}}");
    Ok(())
}
