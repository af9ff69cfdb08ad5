//! Writing tables, from the outside.

use crate::common;
use std::path::PathBuf;
use std::sync::Arc;

use crate::common::{folder, listing, numbers, open, read, texts};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, RecordBatch, StringArray, TimestampMillisecondArray,
    UInt64Array,
};
use dshap_io::{Destination, Error, Format, Sink};
use dshap_table::{Kind, ReadAs};
use proptest::prelude::*;
use tempfile::TempDir;

fn table() -> RecordBatch {
    RecordBatch::try_from_iter([
        ("row", Arc::new(UInt64Array::from(vec![0, u64::MAX])) as ArrayRef),
        ("value", Arc::new(Float64Array::from(vec![Some(0.1), None]))),
        ("note", Arc::new(StringArray::from(vec![Some("a \"b\", c"), None]))),
        ("kept", Arc::new(BooleanArray::from(vec![true, false]))),
        ("on", Arc::new(Date32Array::from(vec![19_753, 0]))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![1500, 0]))),
    ])
    .unwrap()
}

const FORMATS: [Format; 5] = [Format::Csv, Format::Json, Format::Ndjson, Format::Parquet, Format::Arrow];

fn write(folder: &TempDir, name: &str, batches: &[RecordBatch]) -> PathBuf {
    let path = folder.path().join(name);
    let format = Format::from_extension(&path).unwrap();
    let destination = Destination::File(path.clone());
    let mut sink = Sink::create(&destination, format, batches[0].schema()).unwrap();
    for rows in batches {
        sink.write(rows).unwrap();
    }
    sink.finish().unwrap();
    path
}

#[test]
fn csv_is_what_a_spreadsheet_expects() {
    let folder = folder();
    let path = write(&folder, "a.csv", &[table()]);
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        "row,value,note,kept,on,at\n\
         0,0.1,\"a \"\"b\"\", c\",true,2024-01-31,1970-01-01T00:00:01.500\n\
         18446744073709551615,,,false,1970-01-01,1970-01-01T00:00:00\n"
    );
}

#[test]
fn json_is_an_array_with_one_object_on_each_line() {
    let folder = folder();
    let path = write(&folder, "a.json", &[table(), table().slice(1, 1)]);
    let text = std::fs::read_to_string(path).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 3);
    assert_eq!(rows[0]["value"], serde_json::json!(0.1));
    assert_eq!(rows[0]["note"], "a \"b\", c");
    assert_eq!(rows[1]["value"], serde_json::Value::Null);
    assert!(rows[1].as_object().unwrap().contains_key("note"));
    assert_eq!(rows[1]["row"], serde_json::json!(u64::MAX));
    assert_eq!(rows[0]["on"], "2024-01-31");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!((lines.len(), lines[0], lines[4]), (5, "[", "]"));
}

#[test]
fn tables_without_rows_are_still_well_formed() {
    let folder = folder();
    let none = table().slice(0, 0);
    let json = std::fs::read_to_string(write(&folder, "a.json", std::slice::from_ref(&none))).unwrap();
    assert_eq!(serde_json::from_str::<Vec<()>>(&json).unwrap(), []);
    let csv = std::fs::read_to_string(write(&folder, "a.csv", std::slice::from_ref(&none))).unwrap();
    assert_eq!(csv, "row,value,note,kept,on,at\n");
    let parquet = write(&folder, "a.parquet", &[none]).display().to_string();
    assert!(matches!(open(&parquet).unwrap_err(), Error::NoRows { .. }));
}

#[test]
fn parquet_keeps_types() {
    let folder = folder();
    let path = write(&folder, "a.parquet", &[table()]).display().to_string();
    let source = open(&path).unwrap();
    let kinds: Vec<_> = source.schema().columns.iter().map(|c| c.kind.clone()).collect();
    use Kind::{Boolean, Date, Number, Text};
    assert_eq!(kinds, [Number, Number, Text, Boolean, Date, Date]);
    let rows = read(&source, &[("on", ReadAs::AsIs), ("row", ReadAs::AsIs)]).unwrap();
    assert_eq!(rows[0].column(0), table().column(4));
    assert_eq!(rows[0].column(1), table().column(0));
}

#[test]
fn a_lone_column_of_missing_values_keeps_its_rows() {
    let folder = folder();
    let numbers_only = Float64Array::from(vec![None, Some(1.5), None]);
    let rows = RecordBatch::try_from_iter([("a", Arc::new(numbers_only) as ArrayRef)]).unwrap();
    let path = write(&folder, "a.csv", &[rows]).display().to_string();
    assert_eq!(numbers(&open(&path).unwrap(), "a").unwrap(), [None, Some(1.5), None]);
}

#[test]
fn difficult_names_survive() {
    let folder = folder();
    let one = Arc::new(Float64Array::from(vec![1.5])) as ArrayRef;
    let names = ["c", "a;b", "x|\"y\"", "line\nend", "NA", "1.5", "größe"];
    let rows = RecordBatch::try_from_iter(names.map(|name| (name, Arc::clone(&one)))).unwrap();
    let path = write(&folder, "a.csv", &[rows]).display().to_string();
    let source = open(&path).unwrap();
    assert_eq!(source.schema().names().collect::<Vec<_>>(), names);
}

#[test]
fn a_sink_that_is_dropped_leaves_nothing() {
    let folder = folder();
    for format in FORMATS {
        let destination = Destination::File(folder.path().join("out"));
        let mut sink = Sink::create(&destination, format, table().schema()).unwrap();
        sink.write(&table()).unwrap();
        drop(sink);
        assert_eq!(listing(folder.path()), Vec::<String>::new());
    }
}

#[test]
fn formats_follow_from_extensions() {
    use std::path::Path;
    for (name, expected) in [
        ("a.csv", Format::Csv),
        ("b/a.JSON", Format::Json),
        ("a.b.parquet", Format::Parquet),
        ("a.ndjson", Format::Ndjson),
        ("a.jsonl", Format::Ndjson),
        ("a.arrow", Format::Arrow),
        ("a.feather", Format::Arrow),
        ("a.ipc", Format::Arrow),
        ("a.NPY", Format::Npy),
    ] {
        assert_eq!(Format::from_extension(Path::new(name)).unwrap(), expected);
    }
    let error = Format::from_extension(Path::new("values")).unwrap_err();
    assert_eq!(error.to_string(), "cannot tell the format of `values` from its name");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_in_every_format() {
    for format in FORMATS {
        let destination = Destination::File("/dev/full".into());
        let mut sink = Sink::create(&destination, format, table().schema()).unwrap();
        let failed = (0..10_000).try_for_each(|_| sink.write(&table())).and_then(|()| sink.finish());
        let error = failed.unwrap_err();
        assert_eq!(error.to_string(), "cannot write `/dev/full`: no space left on device");
        assert!(!error.is_broken_pipe());
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_a_broken_pipe() {
    let folder = folder();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    for format in FORMATS {
        let reader = std::thread::spawn({
            let path = path.clone();
            move || drop(std::fs::File::open(path).unwrap())
        });
        let destination = Destination::File(path.clone());
        let mut sink = Sink::create(&destination, format, table().schema()).unwrap();
        reader.join().unwrap();
        let failed = sink.write(&table()).and_then(|()| sink.finish());
        let error = failed.unwrap_err();
        assert!(error.is_broken_pipe(), "{error}");
    }
    assert_eq!(listing(folder.path()), ["pipe"]);
}

#[test]
fn rows_with_other_columns_are_refused() {
    let folder = folder();
    for format in FORMATS {
        let destination = Destination::File(folder.path().join("out"));
        let mut sink = Sink::create(&destination, format, table().schema()).unwrap();
        let fewer = table().project(&[0, 1]).unwrap();
        let error = sink.write(&fewer).unwrap_err();
        assert!(matches!(error, Error::Encode { .. }), "{error}");
    }
    assert_eq!(listing(folder.path()), Vec::<String>::new());
}

/// Set for a copy of this program that plays a part in the tests below.
const PART: &str = "DSHAP_IO_TEST_PART";

fn copy_of(test: &str) -> std::process::Command {
    let mut copy = std::process::Command::new(std::env::current_exe().unwrap());
    copy.args(["--exact", &format!("sink::{test}"), "--nocapture"])
        .env(PART, "writer")
        .stdout(std::process::Stdio::piped());
    copy
}

#[test]
fn standard_output_is_complete_when_finished() {
    if std::env::var_os(PART).is_some() {
        let mut sink = Sink::create(&Destination::Stdout, Format::Csv, table().schema()).unwrap();
        sink.write(&table()).unwrap();
        sink.finish().unwrap();
        std::process::exit(0);
    }
    let output = copy_of("standard_output_is_complete_when_finished").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("false,1970-01-01,1970-01-01T00:00:00\n"), "{text}");
}

#[test]
fn standard_output_gets_arrow_as_a_stream() {
    const SEPARATOR: &[u8] = b"== begins here ==";
    if std::env::var_os(PART).is_some() {
        use std::io::Write;
        std::io::stdout().write_all(SEPARATOR).unwrap();
        let mut sink = Sink::create(&Destination::Stdout, Format::Arrow, table().schema()).unwrap();
        sink.write(&table()).unwrap();
        sink.finish().unwrap();
        std::process::exit(0);
    }
    let output = copy_of("standard_output_gets_arrow_as_a_stream").output().unwrap().stdout;
    let start = output.windows(SEPARATOR.len()).position(|window| window == SEPARATOR).unwrap();
    let stream = &output[start + SEPARATOR.len()..];
    assert!(stream.starts_with(&[0xff; 4]));
    let folder = folder();
    let source = open(&common::file(&folder, "piped", stream)).unwrap();
    assert_eq!(numbers(&source, "value").unwrap(), [Some(0.1), None]);
}

#[test]
fn standard_output_that_is_closed_is_a_broken_pipe() {
    const BROKEN_PIPE: i32 = 42;
    if std::env::var_os(PART).is_some() {
        let mut sink = Sink::create(&Destination::Stdout, Format::Json, table().schema()).unwrap();
        let error = loop {
            if let Err(error) = sink.write(&table()) {
                break error;
            }
        };
        std::process::exit(if error.is_broken_pipe() { BROKEN_PIPE } else { 1 });
    }
    let mut copy = copy_of("standard_output_that_is_closed_is_a_broken_pipe").spawn().unwrap();
    // The test runner prints something of its own first.
    let mut start = [0; 100];
    std::io::Read::read_exact(copy.stdout.as_mut().unwrap(), &mut start).unwrap();
    drop(copy.stdout.take());
    assert_eq!(copy.wait().unwrap().code(), Some(BROKEN_PIPE));
}

/// Doubles of every size, all bit patterns alike.
fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            f64::from_bits(1),
            f64::from_bits(0x000f_ffff_ffff_ffff),
            f64::EPSILON,
            1e21,
            1e-7,
            9_007_199_254_740_993.0,
            0.1 + 0.2,
        ]),
    ]
    .prop_filter("is finite", |value| value.is_finite())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z \"',;|\t\r\né√\u{1f600}]{1,6}",
        "\\PC{1,8}",
        prop::sample::select(vec!["NA", "?", "null", "\"", "\"\"", "a\r", "\n", "1e5", "true"])
            .prop_map(str::to_owned),
    ]
}

type Row = (Option<f64>, Option<String>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((prop::option::of(double()), prop::option::of(text())), 1..30)
}

fn batch(rows: &[Row]) -> RecordBatch {
    let values: Float64Array = rows.iter().map(|row| row.0).collect();
    let texts: StringArray = rows.iter().map(|row| row.1.clone()).collect();
    RecordBatch::try_from_iter([("value", Arc::new(values) as ArrayRef), ("text", Arc::new(texts))]).unwrap()
}

fn bits(values: &[Option<f64>]) -> Vec<Option<u64>> {
    values.iter().map(|value| value.map(f64::to_bits)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_written_is_read_back(rows in rows()) {
        let folder = folder();
        let expected_values: Vec<_> = rows.iter().map(|row| row.0).collect();
        let expected_texts: Vec<_> = rows.iter().map(|row| row.1.clone()).collect();
        for name in ["a.csv", "a.parquet", "a.arrow", "a.ndjson"] {
            let path = write(&folder, name, &[batch(&rows)]).display().to_string();
            let source = open(&path).unwrap();
            prop_assert_eq!(
                bits(&numbers(&source, "value").unwrap()),
                bits(&expected_values),
                "{}", name
            );
            prop_assert_eq!(
                texts(&source, "text", ReadAs::Text).unwrap(),
                expected_texts.clone(),
                "{}", name
            );
        }
    }

    #[test]
    fn numbers_in_json_are_read_back(rows in rows()) {
        let folder = folder();
        let text = std::fs::read_to_string(write(&folder, "a.json", &[batch(&rows)])).unwrap();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (found, row) in read.as_array().unwrap().iter().zip(&rows) {
            prop_assert_eq!(found["value"].as_f64().map(f64::to_bits), row.0.map(f64::to_bits));
            prop_assert_eq!(found["text"].as_str(), row.1.as_deref());
        }
    }
}

#[test]
fn text_carried_through_unread_is_unchanged() {
    let folder = folder();
    let cells = StringArray::from(vec!["", "NA", " x ", "a,b", "1.50"]);
    let ids = Float64Array::from(vec![1.0; 5]);
    let rows =
        RecordBatch::try_from_iter([("id", Arc::new(ids) as ArrayRef), ("text", Arc::new(cells.clone()))])
            .unwrap();
    let path = write(&folder, "a.csv", &[rows]).display().to_string();
    let read = read(&open(&path).unwrap(), &[("text", ReadAs::AsIs), ("id", ReadAs::Number)]);
    let read = read.unwrap();
    assert_eq!(read[0].column(0).as_string::<i32>(), &cells);
    assert_eq!(read[0].column(1).as_primitive::<Float64Type>().value(4), 1.0);
}
