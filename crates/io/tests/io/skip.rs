//! Passes that begin somewhere within a table.

use crate::common;
use std::sync::Arc;

use crate::common::{Pool, file, folder, wanted, words};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use dshap_io::{Scan, ScanOptions, Source};
use dshap_table::{ReadAs, Wanted};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

fn columns() -> Vec<Wanted> {
    wanted(&[("text", ReadAs::Text), ("number", ReadAs::Number), ("text", ReadAs::AsIs)])
}

fn rows(first: usize, n: usize) -> RecordBatch {
    let numbers: Float64Array =
        (first..first + n).map(|row| (row % 11 != 3).then_some(row as f64 * 0.1)).collect();
    let texts: StringArray = (first..first + n).map(|row| Some(format!("row {row}\nof all"))).collect();
    RecordBatch::try_from_iter([("number", Arc::new(numbers) as ArrayRef), ("text", Arc::new(texts))])
        .unwrap()
}

fn parquet(folder: &TempDir, name: &str, rows: &RecordBatch, group_rows: usize) -> String {
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(group_rows))
        .set_data_page_row_count_limit(7)
        .set_write_batch_size(7)
        .build();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties)).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    file(folder, name, bytes)
}

fn csv(folder: &TempDir, name: &str, rows: &RecordBatch) -> String {
    common::write(folder, name, rows)
}

fn scan(source: &Source, options: ScanOptions) -> Vec<dshap_io::Batch> {
    source.scan(&columns(), options).unwrap().map(Result::unwrap).collect()
}

fn assert_skips_agree(source: &Source, skips: impl Iterator<Item = u64>) {
    let options = ScanOptions { batch_bytes: 720, ..ScanOptions::default() };
    let all = scan(source, options.clone());
    let schema = source.arrow_schema(&columns()).unwrap();
    let joined = |batches: &[dshap_io::Batch]| {
        concat_batches(&schema, batches.iter().map(|batch| &batch.rows)).unwrap()
    };
    let whole = joined(&all);
    let n_rows = whole.num_rows() as u64;
    for skip_rows in skips.chain([0, 1, n_rows - 1, n_rows, n_rows + 1, u64::MAX]) {
        let batches = scan(source, ScanOptions { skip_rows, ..options.clone() });
        let n_left = n_rows.saturating_sub(skip_rows) as usize;
        assert_eq!(joined(&batches), whole.slice(whole.num_rows() - n_left, n_left), "skip {skip_rows}");
        if n_left == 0 {
            assert!(batches.is_empty());
            continue;
        }
        assert_eq!(batches[0].first_row, skip_rows);
        assert!(batches.is_sorted_by_key(|batch| batch.bytes_read));
        assert_eq!(batches.last().unwrap().bytes_read, source.n_bytes());
        let limited = ScanOptions { skip_rows, limit_rows: Some(5), ..options.clone() };
        let n_limited = n_left.min(5);
        assert_eq!(joined(&scan(source, limited)), whole.slice(whole.num_rows() - n_left, n_limited));
    }
}

#[test]
fn a_skip_gives_the_rest_of_every_format_alone_and_mixed() {
    let folder = folder();
    let one = parquet(&folder, "a.parquet", &rows(0, 100), 40);
    let two = csv(&folder, "b.csv", &rows(100, 90));
    let empty = csv(&folder, "c.csv", &rows(0, 0));
    let others: Vec<String> = common::TYPED_AND_TEXT
        .iter()
        .enumerate()
        .map(|(i, format)| common::write(&folder, &format!("d{i}.{format}"), &rows(190 + 50 * i, 50)))
        .collect();
    let borders = [6, 7, 8, 39, 40, 41, 79, 80, 81, 89, 90, 91, 99, 100, 101, 189, 190, 191, 239, 240, 241];
    for files in [vec![one.clone()], vec![two.clone()], [vec![one, empty, two], others.clone()].concat()] {
        let source = Source::open(&files).unwrap();
        for pool in Pool::all() {
            pool.install(|| assert_skips_agree(&source, borders.into_iter()));
        }
    }
    for path in others {
        let source = Source::open(&[path]).unwrap();
        assert_skips_agree(&source, 2..49);
    }
}

#[test]
fn a_skip_over_many_chunks_of_text_agrees() {
    let folder = folder();
    for format in ["csv", "ndjson"] {
        let path = common::write(&folder, &format!("a.{format}"), &rows(0, 120_000));
        let source = Source::open(&[path]).unwrap();
        let options = ScanOptions { batch_bytes: 1 << 20, ..ScanOptions::default() };
        let first_text = |skip_rows| {
            let options = ScanOptions { skip_rows, limit_rows: Some(1), ..options.clone() };
            let batches = scan(&source, options);
            let texts: &StringArray = batches[0].rows.column(0).as_any().downcast_ref().unwrap();
            texts.value(0).to_owned()
        };
        for row in [1, 20_000, 44_444, 99_999, 119_999] {
            assert_eq!(first_text(row), format!("row {row}\nof all"));
        }
    }
}

#[test]
fn lines_in_messages_are_right_after_a_skip() {
    let folder = folder();
    let sound = "1,\"x\ny\"\n".repeat(20_000);
    let path = file(&folder, "a.csv", format!("number,text\n{sound}oops,z\n"));
    let source = Source::open(&[path]).unwrap();
    for skip_rows in [0, 1, 19_999, 20_000] {
        let options = ScanOptions { skip_rows, ..ScanOptions::default() };
        let error = source.scan(&columns(), options).unwrap().find_map(Result::err).unwrap();
        assert_eq!(
            words(&error, &folder),
            "`a.csv` line 40002, column `number` holds `oops`, which is not a number"
        );
    }
    let options = ScanOptions { skip_rows: 20_001, ..ScanOptions::default() };
    assert_eq!(source.scan(&columns(), options).unwrap().count(), 0);
}

#[test]
fn a_scan_can_be_moved_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<Scan>();
}
