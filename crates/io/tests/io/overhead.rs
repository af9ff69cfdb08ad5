//! Estimates of what a scan holds in memory.

use std::sync::Arc;

use crate::common::{Pool, folder, open, wanted, write};
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use dshap_table::ReadAs;

#[test]
fn overhead_is_estimated_from_what_a_file_is_like() {
    let folder = folder();
    let n_rows = 50_000;
    let column = |k: usize| Arc::new(Float64Array::from_iter_values((0..n_rows).map(|row| (row * k) as f64)));
    let names = ["a", "b", "c", "d"];
    let columns = names.iter().enumerate().map(|(k, &name)| (name, column(k) as ArrayRef));
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let estimate = |name: &str, columns: &[&str]| {
        let columns: Vec<_> = columns.iter().map(|&name| (name, ReadAs::Number)).collect();
        open(&write(&folder, name, &rows)).unwrap().scan_overhead(&wanted(&columns))
    };
    let body = (n_rows * 4 * 8) as u64;

    let arrow = estimate("a.arrow", &names);
    assert!((5 * body..6 * body).contains(&arrow), "{arrow}");
    assert!(estimate("a.npy", &names) >= 2 << 20);

    let (one, all) = (estimate("a.parquet", &["b"]), estimate("a.parquet", &names));
    assert!(0 < one && one < all && all < 4 * 3 * (2 << 20), "{one}, {all}");
    assert_eq!(open(&write(&folder, "a.parquet", &rows)).unwrap().scan_overhead(&[]), 0);

    for name in ["a.csv", "a.ndjson"] {
        let estimates: Vec<_> =
            Pool::all().iter().map(|pool| pool.install(|| estimate(name, &names))).collect();
        assert!(estimates[0] >= 4 << 20 && estimates.is_sorted(), "{estimates:?}");
    }
}
