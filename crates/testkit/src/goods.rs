//! A table with text, for tests that read files.

use crate::Draws;
use std::fmt::Write as _;

/// `n` rows of CSV with a size, a city, a price that depends on both, and a kind with two labels.
pub fn goods(seed: u64, n: usize) -> String {
    let mut draws = Draws::new(seed);
    let mut csv = String::from("size,city,price,kind\n");
    for row in 0..n {
        let (size, city) = (draws.normal(), ["rome", "oslo", "bern"][row % 3]);
        let price = 2.0 * size + (row % 3) as f64 + draws.normal();
        let kind = if price > 1.0 { "dear" } else { "cheap" };
        writeln!(csv, "{size:.6},{city},{price:.6},{kind}").expect("a string takes all");
    }
    csv
}
