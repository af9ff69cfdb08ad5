//! What one format holds, another one gives back.

use std::sync::Arc;

use crate::common::{folder, open, read, write};
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;
use dshap_io::Source;
use dshap_table::{Kind, ReadAs};

const NASTY: [f64; 8] = [
    0.1,
    1e-310,
    f64::MAX,
    -0.0,
    9_007_199_254_740_992.0,
    5e-324,
    -1.234_567_890_123_456_7e-200,
    123_456_789.123_456_79,
];

fn array(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// Columns that only the typed formats can tell apart.
fn table() -> RecordBatch {
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    for text in ["red", "NA", "red", "", "é", "a,b", "x\ny", "\"q\""] {
        if text.is_empty() { dictionary.append_null() } else { _ = dictionary.append(text).unwrap() }
    }
    let texts = ["one", " two ", "3", "true", "null", "\u{1f600}", "a\\b", "c\td"];
    let decimals: Decimal128Array = (0..8).map(|i| Some(i * 125 - 300)).collect();
    RecordBatch::try_from_iter_with_nullable([
        ("f64", array(Float64Array::from(NASTY.to_vec())), true),
        ("gaps", array(NASTY.iter().map(|&v| (v > 0.0).then_some(v)).collect::<Float64Array>()), true),
        (
            "f32",
            array(NASTY.iter().map(|&v| Some((v as f32).clamp(-1e30, 1e30))).collect::<Float32Array>()),
            true,
        ),
        ("i8", array(Int8Array::from(vec![i8::MIN, -1, 0, 1, 2, 3, 4, i8::MAX])), true),
        ("i16", array(Int16Array::from(vec![i16::MIN, -1, 0, 1, 2, 3, 4, i16::MAX])), true),
        ("i32", array(Int32Array::from(vec![i32::MIN, -1, 0, 1, 2, 3, 4, i32::MAX])), true),
        ("i64", array(Int64Array::from(vec![i64::MIN, -1, 0, 1, 2, 3, (1 << 53) + 1, i64::MAX])), true),
        ("u8", array(UInt8Array::from(vec![0, 1, 2, 3, 4, 5, 6, u8::MAX])), true),
        ("u16", array(UInt16Array::from(vec![0, 1, 2, 3, 4, 5, 6, u16::MAX])), true),
        ("u32", array(UInt32Array::from(vec![0, 1, 2, 3, 4, 5, 6, u32::MAX])), true),
        ("u64", array(UInt64Array::from(vec![0, 1, 2, 3, 4, 5, (1 << 53) + 1, u64::MAX])), true),
        ("bool", array(BooleanArray::from(vec![true, false, true, false, true, false, true, true])), true),
        ("decimal", array(decimals.with_precision_and_scale(12, 3).unwrap()), true),
        ("text", array(StringArray::from(texts.to_vec())), true),
        ("large", array(LargeStringArray::from(texts.to_vec())), true),
        ("view", array(StringViewArray::from(texts.map(|text| text.repeat(5)).to_vec())), true),
        ("dict", array(dictionary.finish()), true),
    ])
    .unwrap()
}

fn numeric(table: &RecordBatch) -> RecordBatch {
    let is_number = |c: &usize| {
        let data_type = table.column(*c).data_type();
        data_type.is_numeric() || *data_type == DataType::Boolean
    };
    table.project(&(0..table.num_columns()).filter(is_number).collect::<Vec<_>>()).unwrap()
}

/// Every cell: numbers to the bit, text as text.
fn cells(source: &Source, expected: &RecordBatch) -> Vec<(String, Vec<String>)> {
    let kind = |data_type: &DataType| match data_type {
        DataType::Boolean => ReadAs::Boolean,
        data_type if data_type.is_numeric() => ReadAs::Number,
        _ => ReadAs::Text,
    };
    let fields = expected.schema_ref().fields();
    let wanted: Vec<_> = fields.iter().map(|f| (f.name().as_str(), kind(f.data_type()))).collect();
    let rows = read(source, &wanted).unwrap();
    assert_eq!(rows.len(), 1);
    wanted
        .iter()
        .zip(rows[0].columns())
        .map(|((name, read_as), array)| {
            let cells = match read_as {
                ReadAs::Text => array.as_string::<i32>().iter().map(|text| format!("{text:?}")).collect(),
                _ => {
                    let values = array.as_primitive::<Float64Type>().iter();
                    // Text holds no more digits than a float of 32 bits needs.
                    let is_narrow = *name == "f32";
                    let values = values.map(|v| v.map(|v| if is_narrow { f64::from(v as f32) } else { v }));
                    values.map(|value| format!("{:?}", value.map(f64::to_bits))).collect()
                }
            };
            ((*name).to_owned(), cells)
        })
        .collect()
}

#[test]
fn every_format_gives_back_what_it_was_given() {
    let folder = folder();
    let whole = table();
    let first = open(&write(&folder, "first.parquet", &whole)).unwrap();
    let expected = cells(&first, &whole);
    assert_eq!(expected[0].1, NASTY.map(|value| format!("{:?}", Some(value.to_bits()))));
    for name in ["a.csv", "a.ndjson", "a.jsonl", "a.parquet", "a.arrow", "a.feather", "a.ipc"] {
        let source = open(&write(&folder, name, &whole)).unwrap();
        assert_eq!(cells(&source, &whole), expected, "{name}");
    }
    let numbers = numeric(&whole);
    let expected: Vec<_> =
        expected.into_iter().filter(|(name, _)| numbers.column_by_name(name).is_some()).collect();
    let source = open(&write(&folder, "a.npy", &numbers)).unwrap();
    assert_eq!(cells(&source, &numbers), expected);
}

#[test]
fn what_is_carried_through_keeps_its_type_from_format_to_format() {
    let folder = folder();
    let whole = table();
    let mut path = write(&folder, "0.parquet", &whole);
    for name in ["1.arrow", "2.parquet", "3.feather"] {
        let source = open(&path).unwrap();
        let names: Vec<String> = source.schema().names().map(str::to_owned).collect();
        let wanted: Vec<_> = names.iter().map(|name| (name.as_str(), ReadAs::AsIs)).collect();
        let rows = read(&source, &wanted).unwrap();
        for (found, expected) in rows[0].columns().iter().zip(whole.columns()) {
            let flat = |array: &ArrayRef| match array.data_type() {
                DataType::Dictionary(_, values) => arrow_cast::cast(array, values).unwrap(),
                _ => Arc::clone(array),
            };
            assert_eq!(flat(found).data_type(), flat(expected).data_type());
            assert_eq!(&flat(found), &flat(expected));
        }
        path = write(&folder, name, &rows[0]);
    }
    let numbers = numeric(&whole);
    let source = open(&write(&folder, "a.npy", &numbers)).unwrap();
    for field in numbers.schema().fields() {
        let rows = read(&source, &[(field.name(), ReadAs::AsIs)]).unwrap();
        let expected = match field.data_type() {
            DataType::Decimal128(_, _) => DataType::Float64,
            other => other.clone(),
        };
        assert_eq!(rows[0].column(0).data_type(), &expected);
        // Missing numbers are NaN, which only a reader of numbers takes for missing.
        if expected == *field.data_type() && field.name() != "gaps" {
            assert_eq!(rows[0].column(0), numbers.column_by_name(field.name()).unwrap());
        }
    }
}

#[test]
fn kinds_survive_where_a_format_has_them() {
    let folder = folder();
    let whole = table();
    for name in ["a.parquet", "a.arrow", "a.ndjson"] {
        let source = open(&write(&folder, name, &whole)).unwrap();
        for column in &source.schema().columns {
            let data_type = whole.schema().field_with_name(&column.name).unwrap().data_type().clone();
            let expected = match data_type {
                DataType::Boolean => Kind::Boolean,
                data_type if data_type.is_numeric() => Kind::Number,
                _ => Kind::Text,
            };
            assert_eq!(column.kind, expected, "{name}: {}", column.name);
        }
    }
}
