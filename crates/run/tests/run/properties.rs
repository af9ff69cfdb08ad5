//! What must not matter: threads, formats, parts and the order of rows. And
//! that what is written can be read back.

use crate::common::{Asked, column};
use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use dshap_catalogue::options::STDERR;
use dshap_io::{Destination, Format, ScanOptions, Sink, Source};
use dshap_run::{Arrange, Collected, Summary, Unwatched, ValueRequest, Written, value};
use dshap_table::{ReadAs, Wanted};
use dshap_testkit::{Draws, Sample, assert_same_bits, on_threads};
use proptest::prelude::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const COLUMNS: [&str; 5] = ["value", "potential", "penalty", "dist_sq", "resid_sq"];

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn name(folder: &TempDir, file: &str) -> String {
    folder.path().join(file).display().to_string()
}

/// Names `x0, x1, …, y` with their columns.
fn named(sample: &Sample) -> Vec<(String, &[f64])> {
    let features = sample.columns.iter().enumerate();
    let features = features.map(|(j, column)| (format!("x{j}"), column.as_slice()));
    features.chain([("y".to_string(), sample.y.as_slice())]).collect()
}

fn write_csv(sample: &Sample, path: &str) {
    let columns = named(sample);
    let mut csv = columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",") + "\n";
    for row in 0..sample.n_rows() {
        for (j, (_, column)) in columns.iter().enumerate() {
            let comma = if j == 0 { "" } else { "," };
            let _ = write!(csv, "{comma}{}", column[row]);
        }
        csv.push('\n');
    }
    std::fs::write(path, csv).expect("writes");
}

fn write_parquet(sample: &Sample, path: &str) {
    let arrays = named(sample)
        .into_iter()
        .map(|(name, column)| (name, Arc::new(Float64Array::from(column.to_vec())) as ArrayRef));
    let rows = RecordBatch::try_from_iter(arrays).expect("columns of one length");
    let destination = Destination::File(PathBuf::from(path));
    let mut sink = Sink::create(&destination, Format::Parquet, rows.schema()).expect("begins");
    sink.write(&rows).expect("writes");
    sink.finish().expect("finishes");
}

fn run(request: &ValueRequest) -> (RecordBatch, Summary) {
    let mut collected = Collected::default();
    let summary = value(request, &Unwatched, &mut collected).expect("is valued");
    (collected.arranged(Arrange::ByRow).expect("rows fit"), summary)
}

fn request(inputs: &[String]) -> ValueRequest {
    ValueRequest::new(inputs.to_vec(), Asked::new("y").on(&STDERR).given)
}

#[track_caller]
fn assert_same_rows(found: &RecordBatch, expected: &RecordBatch, what: &str) {
    for name in COLUMNS.iter().chain(&["stderr"]) {
        assert_same_bits(&column(found, name), &column(expected, name), &format!("{name}, {what}"));
    }
}

fn sample() -> impl Strategy<Value = Sample> {
    (any::<u64>(), 1..6usize, 20..600usize, 0.1..5.0)
        .prop_map(|(seed, p, n, noise)| Sample::gaussian(seed, n, p, noise))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(24),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn threads_do_not_change_a_bit(sample in sample()) {
        let folder = folder();
        let file = name(&folder, "table.csv");
        write_csv(&sample, &file);
        let request = request(&[file]);
        let (one, _) = on_threads(1, || run(&request));
        for n in [2, 3] {
            let (more, _) = on_threads(n, || run(&request));
            assert_same_rows(&more, &one, &format!("{n} threads"));
        }
    }

    #[test]
    fn parquet_gives_the_bits_of_csv(sample in sample()) {
        let folder = folder();
        let (csv, parquet) = (name(&folder, "table.csv"), name(&folder, "table.parquet"));
        write_csv(&sample, &csv);
        write_parquet(&sample, &parquet);
        assert_same_rows(&run(&request(&[parquet])).0, &run(&request(&[csv])).0, "Parquet");
    }

    #[test]
    fn parts_give_the_bits_of_the_whole(sample in sample(), cuts in prop::collection::vec(0.0..1.0f64, 1..4)) {
        let folder = folder();
        let whole = name(&folder, "whole.csv");
        write_csv(&sample, &whole);
        let n = sample.n_rows();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| 1 + (cut * (n - 1) as f64) as usize).chain([n]).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut parts = Vec::new();
        let mut start = 0;
        for end in ends {
            let rows: Vec<usize> = (start..end).collect();
            // Every second part in another format.
            let is_csv = parts.len() % 2 == 0;
            let part = name(&folder, &format!("part-{}.{}", parts.len(), if is_csv { "csv" } else { "parquet" }));
            if is_csv { write_csv(&sample.select(&rows), &part) } else { write_parquet(&sample.select(&rows), &part) }
            parts.push(part);
            start = end;
        }
        assert_same_rows(&run(&request(&parts)).0, &run(&request(&[whole])).0, "parts");
    }

    /// Not to the bit: sums over rows are rounded in another order. With
    /// well-conditioned features that costs about n·ε = 1e-13 of a value, and
    /// the tolerance leaves four digits for the solve.
    #[test]
    fn the_order_of_rows_does_not_matter(sample in sample(), seed in any::<u64>()) {
        let order = Draws::new(seed).shuffled(sample.n_rows());
        let folder = folder();
        let (plain, shuffled) = (name(&folder, "plain.csv"), name(&folder, "shuffled.csv"));
        write_csv(&sample, &plain);
        write_csv(&sample.select(&order), &shuffled);
        let expected = column(&run(&request(&[plain])).0, "value");
        let found = column(&run(&request(&[shuffled])).0, "value");
        let spread = spread(&expected);
        for (place, &row) in order.iter().enumerate() {
            let error = (found[place] - expected[row]).abs() / spread;
            prop_assert!(error < 1e-9, "row {row}: off by {error:e} of the spread");
        }
    }

    #[test]
    fn what_is_written_is_what_is_read(sample in sample()) {
        let folder = folder();
        let file = name(&folder, "table.csv");
        write_csv(&sample, &file);
        let request = request(&[file]);
        let (expected, _) = run(&request);
        for (format, extension) in [(Format::Csv, "csv"), (Format::Parquet, "parquet"), (Format::Json, "json")] {
            let out = folder.path().join(format!("out.{extension}"));
            let mut written = Written::new(Destination::File(out.clone()), format, Arrange::ByRow);
            value(&request, &Unwatched, &mut written).expect("is valued");
            written.finish().expect("is written");
            for name in COLUMNS.iter().chain(&["stderr"]) {
                let found = if format == Format::Json { read_json(&out, name) } else { read(&out, name) };
                assert_same_bits(&found, &column(&expected, name), &format!("{name} in {extension}"));
            }
        }
    }
}

/// Far more rows than fit a block of moments, so that threads share the work.
#[test]
fn threads_do_not_change_a_bit_of_a_long_table() {
    let folder = folder();
    let (csv, parquet) = (name(&folder, "long.csv"), name(&folder, "long.parquet"));
    let sample = Sample::gaussian(41, 60_011, 7, 1.3);
    write_csv(&sample, &csv);
    write_parquet(&sample, &parquet);
    let (one, _) = on_threads(1, || run(&request(std::slice::from_ref(&csv))));
    for n in [2, 3] {
        for file in [&csv, &parquet] {
            let (more, _) = on_threads(n, || run(&request(std::slice::from_ref(file))));
            assert_same_rows(&more, &one, &format!("{n} threads"));
        }
    }
}

fn spread(values: &[f64]) -> f64 {
    let highest = values.iter().copied().fold(f64::MIN, f64::max);
    let lowest = values.iter().copied().fold(f64::MAX, f64::min);
    highest - lowest
}

fn read(path: &Path, name: &str) -> Vec<f64> {
    let source = Source::open(&[path.display().to_string()]).expect("opens");
    let wanted = [Wanted { name: name.into(), read_as: ReadAs::Number }];
    let batches = source.scan(&wanted, ScanOptions::default()).expect("has the column");
    batches.flat_map(|batch| column(&batch.expect("reads").rows, name)).collect()
}

fn read_json(path: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(path).expect("reads");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).expect("an array");
    rows.iter().map(|row| row[name].as_f64().unwrap_or(f64::NAN)).collect()
}
