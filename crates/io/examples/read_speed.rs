//! How fast a file is read, all columns as numbers: the best of three, as JSON.
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
    let (mut least, mut n_rows) = (f64::INFINITY, 0);
    for _ in 0..3 {
        let start = Instant::now();
        n_rows = 0;
        for batch in source.scan(&wanted, ScanOptions::default())? {
            n_rows += batch?.rows.num_rows();
        }
        least = least.min(start.elapsed().as_secs_f64());
    }
    let bytes = source.n_bytes();
    println!(r#"{{"rows": {n_rows}, "bytes": {bytes}, "seconds": {least}}}"#);
    Ok(())
}
