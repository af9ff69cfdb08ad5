//! A category is spelled the same by every route into the program.

use std::sync::Arc;

use crate::common::{file, folder, open, texts, write};
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, DurationSecondArray, Float32Array,
    Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, UInt64Array,
};
use dshap_io::Source;
use dshap_table::{Kind, ReadAs};
use tempfile::TempDir;

fn rows(cells: ArrayRef) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([("c", cells, true)]).unwrap()
}

/// The column as a table in memory and as a file of each format that has its type.
fn sources(folder: &TempDir, cells: &ArrayRef, formats: &[&str]) -> Vec<(String, Source)> {
    let rows = rows(Arc::clone(cells));
    let memory = Source::of_batches("X", rows.schema(), vec![rows.clone()]).unwrap();
    let mut sources = vec![("memory".to_owned(), memory)];
    for format in formats {
        let path = write(folder, &format!("c.{format}"), &rows);
        sources.push((format.to_string(), open(&path).unwrap()));
    }
    sources
}

fn categories(source: &Source) -> Vec<Option<String>> {
    texts(source, "c", ReadAs::Text).unwrap()
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some(text.to_string())).collect()
}

#[test]
fn whole_numbers_have_one_spelling_by_every_route() {
    let folder = folder();
    let expected = some(&["1", "2", "10", "-3", "0"]);
    let all = &["csv", "ndjson", "parquet", "arrow", "npy"];
    let text = &["csv", "ndjson", "parquet", "arrow"];
    let whole: Vec<f64> = vec![1.0, 2.0, 10.0, -3.0, 0.0];
    let keys: Int32Array = vec![0, 1, 2, 3, 4].into();
    let columns: Vec<(ArrayRef, &[&str])> = vec![
        (Arc::new(Float64Array::from(whole.clone())), all),
        (Arc::new(Float32Array::from_iter_values(whole.iter().map(|&cell| cell as f32))), &["parquet"]),
        (Arc::new(Int64Array::from(vec![1, 2, 10, -3, 0])), text),
        (Arc::new(Int8Array::from(vec![1, 2, 10, -3, 0])), &["parquet"]),
        (Arc::new(StringArray::from(vec!["1", "2", "10", "-3", "0"])), text),
        (Arc::new(StringArray::from(vec!["1.0", "2.0", "10.00", "-3.", "-0.0"])), text),
        (Arc::new(LargeStringArray::from(vec!["1.0", "2", "10", "-3.0", "0.0"])), &[]),
        (
            Arc::new(
                Decimal128Array::from(vec![100, 200, 1000, -300, 0]).with_precision_and_scale(9, 2).unwrap(),
            ),
            &["parquet"],
        ),
        (
            Arc::new(DictionaryArray::<Int32Type>::new(
                keys.clone(),
                Arc::new(Int64Array::from(vec![1, 2, 10, -3, 0])),
            )),
            &[],
        ),
        (Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(Float64Array::from(whole)))), &[]),
    ];
    for (cells, formats) in &columns {
        for (route, source) in sources(&folder, cells, formats) {
            assert_eq!(categories(&source), expected, "{} by {route}", cells.data_type());
        }
    }
    let csv = file(&folder, "mixed.csv", "c\n1.0\n\"2.0\"\n 10.00\n-3\n0\n");
    assert_eq!(categories(&open(&csv).unwrap()), expected);
    let ndjson = "{\"c\":1.0}\n{\"c\":\"2.0\"}\n{\"c\":1e1}\n{\"c\":-3}\n{\"c\":-0.0}\n";
    assert_eq!(categories(&open(&file(&folder, "mixed.ndjson", ndjson)).unwrap()), expected);
}

#[test]
fn booleans_have_one_spelling_by_every_route() {
    let folder = folder();
    let formats = &["csv", "ndjson", "parquet", "arrow"];
    let columns: Vec<(ArrayRef, &[&str])> = vec![
        (Arc::new(BooleanArray::from(vec![true, false])), formats),
        (Arc::new(StringArray::from(vec!["True", "False"])), formats),
    ];
    for (cells, formats) in &columns {
        for (route, source) in sources(&folder, cells, formats) {
            assert_eq!(categories(&source), some(&["true", "false"]), "{} by {route}", cells.data_type());
        }
    }
}

#[test]
fn fractions_and_codes_keep_what_tells_them_apart() {
    let folder = folder();
    let codes: ArrayRef = Arc::new(StringArray::from(vec!["01", "1.10", "1.1", "1e3", "+1"]));
    for (route, source) in sources(&folder, &codes, &["csv", "ndjson", "parquet"]) {
        assert_eq!(categories(&source), some(&["01", "1.10", "1.1", "1e3", "+1"]), "by {route}");
    }
    let halves: Vec<ArrayRef> = vec![
        Arc::new(Float64Array::from(vec![0.1, 2.5])),
        Arc::new(Float32Array::from(vec![0.1, 2.5])),
        Arc::new(Decimal128Array::from(vec![100, 2500]).with_precision_and_scale(9, 3).unwrap()),
    ];
    for cells in &halves {
        for (route, source) in sources(&folder, cells, &["parquet", "csv"]) {
            let expected = if route == "csv" && cells.data_type().is_decimal() {
                some(&["0.100", "2.500"])
            } else {
                some(&["0.1", "2.5"])
            };
            assert_eq!(categories(&source), expected, "{} by {route}", cells.data_type());
        }
    }
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX, u64::MAX - 1]));
    for (route, source) in sources(&folder, &large, &["ndjson", "parquet", "csv"]) {
        let expected = some(&["18446744073709551615", "18446744073709551614"]);
        assert_eq!(categories(&source), expected, "by {route}");
    }
}

#[test]
fn lengths_of_time_are_neither_numbers_nor_dates() {
    let cells: ArrayRef = Arc::new(DurationSecondArray::from(vec![1, 2]));
    let rows = rows(cells);
    let source = Source::of_batches("X", rows.schema(), vec![rows]).unwrap();
    assert_eq!(source.schema().columns[0].kind, Kind::Duration);
}
