//! Reading Arrow files and streams, from the outside.

use crate::common;
use std::sync::Arc;

use crate::common::{Pool, damage, file, folder, numbers, open, read, texts, words};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int8Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use dshap_io::{Error, Source, Unsupported};
use dshap_table::{Kind, ReadAs};

fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn rows(first: usize, n: usize) -> RecordBatch {
    let number = |row: usize| (row % 7 != 2).then_some(row as f64 * 0.1);
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    for row in first..first + n {
        match row % 5 {
            0 => dictionary.append_null(),
            rest => _ = dictionary.append(["", "red", "green", "blue", "grey"][rest]).unwrap(),
        }
    }
    let decimals = (first..first + n).map(|row| row as i128 * 25);
    let decimals: Decimal128Array = decimals.map(Some).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("f64", array((first..first + n).map(number).collect::<Float64Array>()), true),
        ("f32", array((first..first + n).map(|row| Some(row as f32 * 0.5)).collect::<Float32Array>()), true),
        ("i8", array((first..first + n).map(|row| Some(row as i8)).collect::<Int8Array>()), true),
        ("decimal", array(decimals.with_precision_and_scale(20, 2).unwrap()), true),
        ("bool", array((first..first + n).map(|row| Some(row % 3 == 0)).collect::<BooleanArray>()), true),
        ("text", array((first..first + n).map(|row| Some(format!("t{row}"))).collect::<StringArray>()), true),
        ("large", array(LargeStringArray::from_iter_values((0..n).map(|row| row.to_string()))), true),
        (
            "view",
            array(StringViewArray::from_iter_values((0..n).map(|row| format!("longer than twelve {row}")))),
            true,
        ),
        ("dict", array(dictionary.finish()), true),
        ("date", array(Date32Array::from_iter_values((0..n).map(|row| row as i32))), true),
        ("null", array(NullArray::new(n)), true),
    ])
    .unwrap()
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default().try_with_compression(compression).unwrap()
}

fn as_file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options(compression)).unwrap();
    batches.iter().for_each(|rows| writer.write(rows).unwrap());
    writer.into_inner().unwrap()
}

fn as_stream(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options(compression)).unwrap();
    batches.iter().for_each(|rows| writer.write(rows).unwrap());
    writer.into_inner().unwrap()
}

const CODECS: [Option<CompressionType>; 3] =
    [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];

#[test]
fn files_and_streams_of_every_compression_hold_the_same() {
    let folder = folder();
    let whole = rows(0, 300);
    // Slices share their dictionary, which a file has only once.
    let batches = [whole.slice(0, 100), whole.slice(100, 1), whole.slice(101, 199)];
    for codec in CODECS {
        for bytes in [as_file(&batches, codec), as_stream(&batches, codec)] {
            for name in ["a.arrow", "no-extension"] {
                let source = open(&file(&folder, name, &bytes)).unwrap();
                let kinds: Vec<_> = source.schema().columns.iter().map(|c| c.kind.clone()).collect();
                use Kind::{Boolean, Date, Number, Text};
                let expected =
                    [Number, Number, Number, Number, Boolean, Text, Text, Text, Text, Date, Number];
                assert_eq!(kinds, expected);
                for pool in Pool::all() {
                    pool.install(|| {
                        let columns: Vec<_> =
                            source.schema().names().rev_names().into_iter().collect::<Vec<_>>();
                        let columns: Vec<_> =
                            columns.iter().map(|name| (name.as_str(), ReadAs::AsIs)).collect();
                        let read = read(&source, &columns).unwrap();
                        assert_eq!(read.len(), 1);
                        for (name, _) in columns {
                            let (found, expected) =
                                (read[0].column_by_name(name).unwrap(), whole.column_by_name(name).unwrap());
                            assert_eq!(found.data_type(), expected.data_type());
                            assert_eq!(&plain(found), &plain(expected), "{name}");
                        }
                    });
                }
                assert_eq!(numbers(&source, "decimal").unwrap()[3], Some(0.75));
                assert_eq!(numbers(&source, "bool").unwrap()[..2], [Some(1.0), Some(0.0)]);
                assert_eq!(numbers(&source, "null").unwrap(), [None; 300]);
                assert_eq!(texts(&source, "dict", ReadAs::Text).unwrap()[1].as_deref(), Some("red"));
                let rows = read(&source, &[]).unwrap();
                assert_eq!(rows.iter().map(RecordBatch::num_rows).sum::<usize>(), 300);
                assert!(source.locate(299).unwrap().to_string().ends_with("` row 299"));
                assert!(source.scan_overhead(&common::wanted(&[("f64", ReadAs::Number)])) > 0);
            }
        }
    }
}

trait RevNames {
    fn rev_names(self) -> Vec<String>;
}

impl<'a, I: Iterator<Item = &'a str>> RevNames for I {
    /// Another order than that of the file.
    fn rev_names(self) -> Vec<String> {
        let mut names: Vec<_> = self.map(str::to_owned).collect();
        names.reverse();
        names
    }
}

/// Dictionaries may number their values differently.
fn plain(array: &ArrayRef) -> ArrayRef {
    match array.data_type() {
        arrow_schema::DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
        _ => Arc::clone(array),
    }
}

#[test]
fn a_stream_may_change_its_dictionaries() {
    let folder = folder();
    let batch = |values: [&str; 2]| {
        let dictionary: DictionaryArray<Int32Type> = values.into_iter().collect();
        RecordBatch::try_from_iter([
            ("a", array(dictionary)),
            ("b", array(Float64Array::from(vec![1.0, 2.0]))),
        ])
        .unwrap()
    };
    let bytes = as_stream(&[batch(["x", "y"]), batch(["z", "x"]), batch(["w", "w"])], None);
    let source = open(&file(&folder, "a.arrows", bytes)).unwrap();
    let expected = ["x", "y", "z", "x", "w", "w"].map(|text| Some(text.to_owned()));
    assert_eq!(texts(&source, "a", ReadAs::Text).unwrap(), expected);
    assert_eq!(numbers(&source, "b").unwrap().len(), 6);
}

#[test]
fn faults_are_placed_by_row() {
    let folder = folder();
    let batch =
        |values: Vec<f64>| RecordBatch::try_from_iter([("a", array(Float64Array::from(values)))]).unwrap();
    let bytes = as_file(&[batch(vec![1.0; 10]), batch(vec![f64::NAN, f64::INFINITY])], None);
    let source = open(&file(&folder, "a.arrow", bytes)).unwrap();
    let error = numbers(&source, "a").unwrap_err();
    assert_eq!(words(&error, &folder), "`a.arrow` row 11, column `a` holds `inf`, which is not finite");
}

#[test]
fn arrow_and_other_formats_together_are_one_table() {
    let folder = folder();
    let batch = RecordBatch::try_from_iter([
        ("b", array(StringArray::from(vec!["x"]))),
        ("a", array(Int8Array::from(vec![3]))),
    ])
    .unwrap();
    let arrow = file(&folder, "a.arrow", as_file(&[batch], None));
    let csv = file(&folder, "b.csv", "a,b\n1,y\n");
    let json = file(&folder, "c.ndjson", "{\"b\":\"z\",\"a\":2}\n");
    let source = Source::open(&[arrow, csv, json]).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [3.0, 1.0, 2.0].map(Some));
    let rows = read(&source, &[("a", ReadAs::AsIs)]).unwrap();
    assert_eq!(rows[0].column(0).as_ref(), &Int8Array::from(vec![3, 1, 2]));
}

#[test]
fn what_is_no_arrow_file_is_refused_in_words() {
    let folder = folder();
    let error = open(&file(&folder, "old.feather", b"FEA1\0\0\0\0")).unwrap_err();
    assert!(words(&error, &folder).contains("first version of Feather"), "{error}");
    assert!(matches!(error, Error::Unsupported { what: Unsupported::FirstFeather, .. }), "{error}");
    let error = open(&file(&folder, "empty.arrow", b"")).unwrap_err();
    assert!(matches!(error, Error::EmptyFile { .. }), "{error}");
    let error = open(&file(&folder, "text.arrow", b"a,b\n1,2\n")).unwrap_err();
    assert!(words(&error, &folder).starts_with("`text.arrow` is not a readable Arrow file"), "{error}");
    let none = open(&file(&folder, "none.arrow", as_file(&[rows(0, 0)], None))).unwrap_err();
    assert!(matches!(none, Error::NoRows { .. }), "{none}");
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let folder = folder();
    let whole = rows(0, 60);
    for codec in CODECS {
        let batches = [whole.slice(0, 40), whole.slice(40, 20)];
        let (n_cut, n_flipped) = damage(&folder, "a.arrow", &as_file(&batches, codec));
        assert!(n_cut == 300 && n_flipped > 5, "{n_cut}, {n_flipped}");
        // A stream that ends after a whole message is well-formed.
        let (n_cut, n_flipped) = damage(&folder, "b.arrows", &as_stream(&batches, codec));
        assert!(n_cut > 250 && n_flipped > 5, "{n_cut}, {n_flipped}");
    }
}
