//! Reading Parquet files, from the outside.

use crate::common;
use std::sync::Arc;

use crate::common::{file, folder, numbers, open, read, texts, words};
use arrow_array::builder::{ListBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Float64Array, Int8Array, Int64Array,
    LargeStringArray, RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray, UInt64Array,
};
use dshap_io::{Error, ScanOptions, Source};
use dshap_table::{Kind, ReadAs};
use parquet::arrow::ArrowWriter;

fn bytes(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    bytes
}

fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

#[test]
fn every_type_has_its_kind_and_numbers_of_any_width_are_doubles() {
    let folder = folder();
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    dictionary.append("red").unwrap();
    dictionary.append_null();
    let mut list = ListBuilder::new(arrow_array::builder::Int32Builder::new());
    list.append_value([Some(1)]);
    list.append_value([Some(2)]);
    let decimal = Decimal128Array::from(vec![125, -50]).with_precision_and_scale(10, 2).unwrap();
    let columns = vec![
        ("i8", array(Int8Array::from(vec![1, -2]))),
        ("i64", array(Int64Array::from(vec![Some(5), None]))),
        ("u64", array(UInt64Array::from(vec![u64::MAX, 0]))),
        ("f32", array(Float32Array::from(vec![0.5, f32::NAN]))),
        ("decimal", array(decimal)),
        ("bool", array(BooleanArray::from(vec![true, false]))),
        ("text", array(StringArray::from(vec![Some("a"), None]))),
        ("large", array(LargeStringArray::from(vec!["b", "c"]))),
        ("view", array(StringViewArray::from(vec!["d", "e"]))),
        ("dict", array(dictionary.finish())),
        ("date", array(Date32Array::from(vec![0, 19_753]))),
        ("time", array(TimestampMillisecondArray::from(vec![0, 1500]))),
        ("list", array(list.finish())),
    ];
    let source = open(&file(&folder, "all.parquet", bytes(columns))).unwrap();
    let kinds: Vec<_> = source.schema().columns.iter().map(|c| c.kind.clone()).collect();
    assert_eq!(kinds[..5], vec![Kind::Number; 5]);
    assert_eq!(kinds[5], Kind::Boolean);
    assert_eq!(kinds[6..10], vec![Kind::Text; 4]);
    assert_eq!(kinds[10..12], vec![Kind::Date; 2]);
    assert!(matches!(&kinds[12], Kind::Other(name) if name.contains("List")));

    for (name, expected) in [
        ("i8", [Some(1.0), Some(-2.0)]),
        ("i64", [Some(5.0), None]),
        ("u64", [Some(18_446_744_073_709_551_615.0), Some(0.0)]),
        ("f32", [Some(0.5), None]),
        ("decimal", [Some(1.25), Some(-0.5)]),
        ("bool", [Some(1.0), Some(0.0)]),
    ] {
        assert_eq!(numbers(&source, name).unwrap(), expected, "{name}");
    }
    for (name, expected) in [
        ("text", [Some("a"), None]),
        ("large", [Some("b"), Some("c")]),
        ("view", [Some("d"), Some("e")]),
        ("dict", [Some("red"), None]),
        ("date", [Some("1970-01-01"), Some("2024-01-31")]),
    ] {
        let expected = expected.map(|text| text.map(str::to_owned));
        assert_eq!(texts(&source, name, ReadAs::Text).unwrap(), expected, "{name}");
    }
    for name in ["list", "date"] {
        let error = numbers(&source, name).unwrap_err();
        assert!(matches!(&error, Error::WrongKind { column, .. } if column == name), "{error}");
    }
    let rows = read(&source, &[("list", ReadAs::AsIs), ("i8", ReadAs::AsIs)]).unwrap();
    assert_eq!(rows[0].column(1).data_type(), &arrow_schema::DataType::Int8);
    assert_eq!(source.locate(1).unwrap().to_string(), {
        let path = folder.path().join("all.parquet");
        format!("`{}` row 1", path.display())
    });
}

#[test]
fn the_first_faulty_row_is_reported_whatever_the_order_of_columns() {
    let folder = folder();
    let columns = vec![
        ("late", array(Float64Array::from(vec![0.0, 1.0, f64::INFINITY]))),
        ("early", array(Float64Array::from(vec![0.0, f64::NEG_INFINITY, 1.0]))),
        ("text", array(StringArray::from(vec!["1", "NA", "two"]))),
        ("flag", array(Int64Array::from(vec![0, 1, 2]))),
    ];
    let source = open(&file(&folder, "a.parquet", bytes(columns))).unwrap();
    let error = read(&source, &[("late", ReadAs::Number), ("early", ReadAs::Number)]).unwrap_err();
    assert_eq!(words(&error, &folder), "`a.parquet` row 1, column `early` holds `-inf`, which is not finite");
    let error = numbers(&source, "text").unwrap_err();
    assert_eq!(words(&error, &folder), "`a.parquet` row 2, column `text` holds `two`, which is not a number");
    let error = read(&source, &[("flag", ReadAs::Boolean)]).unwrap_err();
    assert!(matches!(error, Error::NotABoolean { .. }), "{error}");
}

#[test]
fn rows_are_counted_within_the_file_across_batches() {
    let folder = folder();
    let mut values = vec![1.0; 1000];
    values[777] = f64::INFINITY;
    let path = file(&folder, "a.parquet", bytes(vec![("a", array(Float64Array::from(values)))]));
    let first = file(&folder, "first.csv", "a\n1\n2\n");
    let source = Source::open(&[first, path]).unwrap();
    let scan = |limit_rows| {
        let options = ScanOptions { batch_bytes: 800, limit_rows, ..ScanOptions::default() };
        let wanted = common::wanted(&[("a", ReadAs::Number)]);
        let scan = source.scan(&wanted, options).unwrap();
        scan.map(|batch| batch.map(|batch| batch.rows.num_rows())).collect::<Result<Vec<_>, _>>()
    };
    let error = scan(None).unwrap_err();
    assert!(words(&error, &folder).starts_with("`a.parquet` row 777, "), "{error}");
    assert_eq!(scan(Some(779)).unwrap().iter().sum::<usize>(), 779);
}

#[test]
fn csv_and_parquet_together_are_one_table() {
    let folder = folder();
    let parquet =
        bytes(vec![("on", array(Date32Array::from(vec![0]))), ("a", array(Int64Array::from(vec![3])))]);
    let parquet = file(&folder, "b.parquet", parquet);
    let csv = file(&folder, "a.csv", "a,on\n1,1970-01-02\n2,1970-01-03\n");

    let source = Source::open(&[csv.clone(), parquet.clone()]).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [1.0, 2.0, 3.0].map(Some));
    let dates = texts(&source, "on", ReadAs::AsIs).unwrap();
    assert_eq!(dates[2].as_deref(), Some("1970-01-01"));

    let source = Source::open(&[parquet.clone(), csv]).unwrap();
    let rows = read(&source, &[("on", ReadAs::AsIs)]).unwrap();
    assert_eq!(rows[0].num_rows(), 3);
    assert_eq!(rows[0].column(0).data_type(), &arrow_schema::DataType::Date32);

    let other = file(&folder, "c.csv", "a,on\n1,soon\n");
    let source = Source::open(&[parquet, other]).unwrap();
    let error = read(&source, &[("on", ReadAs::AsIs)]).unwrap_err();
    assert!(error.to_string().contains("`on` is not Date32"), "{error}");
}

#[test]
fn a_file_without_rows_or_bytes_is_refused() {
    let folder = folder();
    let none = bytes(vec![("a", array(Float64Array::from(Vec::<f64>::new())))]);
    let error = open(&file(&folder, "none.parquet", none)).unwrap_err();
    assert!(matches!(error, Error::NoRows { .. }), "{error}");
    let error = open(&file(&folder, "empty.parquet", "")).unwrap_err();
    assert!(matches!(error, Error::EmptyFile { .. }), "{error}");
    let error = open(&file(&folder, "text.parquet", "a,b\n1,2\n")).unwrap_err();
    assert!(words(&error, &folder).starts_with("`text.parquet` is not a readable Parquet file"));
}

#[test]
fn parquet_is_told_by_its_first_bytes() {
    let folder = folder();
    let whole = bytes(vec![("a", array(Float64Array::from(vec![1.5])))]);
    let source = open(&file(&folder, "table", whole)).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [Some(1.5)]);
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let folder = folder();
    let values: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.1).collect();
    let names: Vec<String> = (0..200).map(|i| format!("name {}", i % 7)).collect();
    let whole = bytes(vec![("a", array(Float64Array::from(values))), ("b", array(StringArray::from(names)))]);
    let read_all = |bytes: &[u8]| -> Result<(), Error> {
        let source = open(&file(&folder, "a.parquet", bytes))?;
        read(&source, &[("a", ReadAs::Number), ("b", ReadAs::Text)]).map(|_| ())
    };
    read_all(&whole).unwrap();
    for length in (0..whole.len()).step_by(37) {
        let error = read_all(&whole[..length]).unwrap_err();
        assert!(error.to_string().contains("a.parquet`"), "{error}");
    }
    // Flipped bytes may go unnoticed where they change a value. Anything else
    // must come back as an error. Panics inside the decoder print a trace that
    // would drown the test's own words.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let mut n_refused = 0;
    for position in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x55;
        n_refused += usize::from(read_all(&damaged).is_err());
    }
    std::panic::set_hook(hook);
    assert!(n_refused > whole.len() / 10, "{n_refused} of {}", whole.len());
}

#[test]
fn the_number_of_threads_does_not_change_what_is_read() {
    let folder = folder();
    let n_rows = 5000;
    let column = |k: usize| -> ArrayRef {
        let numbers =
            (0..n_rows).map(move |row| (!(row + k).is_multiple_of(13)).then_some((row * k) as f64 * 0.1));
        if k.is_multiple_of(3) {
            array(numbers.map(|value| value.map(|v| v.to_string())).collect::<StringArray>())
        } else {
            array(numbers.collect::<Float64Array>())
        }
    };
    let names: Vec<String> = (0..8).map(|k| format!("c{k}")).collect();
    let columns = names.iter().enumerate().map(|(k, name)| (name.as_str(), column(k))).collect();
    let path = file(&folder, "a.parquet", bytes(columns));
    let mut faulty = vec![1.0; n_rows];
    (faulty[4000], faulty[4500]) = (f64::INFINITY, f64::NEG_INFINITY);
    let ones = array(Float64Array::from(vec![1.0; n_rows]));
    let faulty: Vec<(&str, ArrayRef)> = vec![
        ("a", array(Float64Array::from(faulty[..].iter().rev().copied().collect::<Vec<_>>()))),
        ("b", ones),
        ("c", array(Float64Array::from(faulty))),
    ];
    let faulty = file(&folder, "faulty.parquet", bytes(faulty));

    let wanted = [("c7", ReadAs::Number), ("c0", ReadAs::Text), ("c3", ReadAs::Number), ("c7", ReadAs::AsIs)];
    let mut seen = Vec::new();
    for pool in common::Pool::all() {
        pool.install(|| {
            seen.push(read(&open(&path).unwrap(), &wanted).unwrap());
            let source = open(&faulty).unwrap();
            let error = read(&source, &["c", "b", "a"].map(|name| (name, ReadAs::Number))).unwrap_err();
            let expected = "`faulty.parquet` row 499, column `a` holds `-inf`, which is not finite";
            assert_eq!(words(&error, &folder), expected);
            assert_eq!(read(&source, &[]).unwrap().iter().map(|rows| rows.num_rows()).sum::<usize>(), n_rows);
        });
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
}

/// The footer counts rows for the file, for each row group and for each column of it. A
/// file in which one of these counts is wrong would lose rows, or mix them up.
#[test]
fn counts_of_rows_that_contradict_each_other_are_refused() {
    let folder = folder();
    let values: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.1).collect();
    let names: Vec<String> = (0..200).map(|i| format!("name {}", i % 7)).collect();
    let whole = bytes(vec![("a", array(Float64Array::from(values))), ("b", array(StringArray::from(names)))]);
    let read_all = |bytes: &[u8]| -> Result<Vec<RecordBatch>, Error> {
        let source = open(&file(&folder, "a.parquet", bytes))?;
        read(&source, &[("a", ReadAs::Number), ("b", ReadAs::Text)])
    };
    let expected = read_all(&whole).unwrap();
    let length = u32::from_le_bytes(whole[whole.len() - 8..whole.len() - 4].try_into().unwrap());
    let footer = whole.len() - 8 - length as usize;
    // 200 in the encoding of the footer: 7 bits at a time, doubled because it has a sign.
    let (count, fewer, zero) = ([0x90, 0x03], [0x8e, 0x03], [0x80, 0x00]);
    let places: Vec<usize> =
        (footer..whole.len() - 8).filter(|&at| whole[at..].starts_with(&count)).collect();
    let mut n_refused = 0;
    for &at in &places {
        for wrong in [fewer, zero] {
            let mut changed = whole.clone();
            changed[at..at + 2].copy_from_slice(&wrong);
            match read_all(&changed) {
                Ok(rows) => assert_eq!(rows, expected, "the count at {at} is believed"),
                Err(error) => {
                    let words = words(&error, &folder);
                    assert!(words.starts_with("`a.parquet` is not a readable Parquet file: it"), "{words}");
                    n_refused += usize::from(words.contains("rows"));
                }
            }
        }
    }
    // The file, its one row group, and two columns.
    assert!(n_refused >= 8, "{n_refused} of {}", 2 * places.len());
}
