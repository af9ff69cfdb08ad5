//! How fast a file is read, all columns as numbers.
//!
//! ```text
//! RAYON_NUM_THREADS=2 cargo run --release -p dshap-io --example read_speed -- big.csv
//! ```

use std::time::Instant;

use dshap_io::{Error, ScanOptions, Source};
use dshap_table::{ReadAs, Wanted};

fn main() -> Result<(), Error> {
    let inputs: Vec<String> = std::env::args().skip(1).collect();
    let source = Source::open(&inputs)?;
    let wanted: Vec<Wanted> = source
        .schema()
        .names()
        .map(|name| Wanted { name: name.to_owned(), read_as: ReadAs::Number })
        .collect();
    for _ in 0..3 {
        let start = Instant::now();
        let mut n_rows = 0;
        for batch in source.scan(&wanted, ScanOptions::default())? {
            n_rows += batch?.rows.num_rows();
        }
        let seconds = start.elapsed().as_secs_f64();
        let megabytes = source.n_bytes() as f64 / 1e6;
        let speed = megabytes / seconds;
        println!("{n_rows} rows, {megabytes:.0} MB in {seconds:.2} s: {speed:.0} MB/s");
    }
    Ok(())
}
