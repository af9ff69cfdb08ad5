//! Reading and writing NumPy arrays, from the outside.

use crate::common;
use std::sync::Arc;

use crate::common::{Pool, damage, file, folder, listing, numbers, open, read, texts, words};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt64Array};
use dshap_io::{Destination, Error, Format, Note, ScanOptions, Sink, Source};
use dshap_table::{Kind, ReadAs};

pub(crate) fn npy(version: u8, descr: &str, fortran_order: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}");
    let prefix = if version == 1 { 10 } else { 12 };
    while (prefix + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[test]
fn plain_arrays_have_numbered_columns_whatever_their_order() {
    let folder = folder();
    let by_row = doubles(&[1.0, 10.0, 2.0, 20.0, 3.0, f64::NAN]);
    let by_column = doubles(&[1.0, 2.0, 3.0, 10.0, 20.0, f64::NAN]);
    for (version, fortran, data) in [(1, false, &by_row), (2, false, &by_row), (3, true, &by_column)] {
        let bytes = npy(version, "'<f8'", fortran, "(3, 2)", data);
        let source = open(&file(&folder, "a.npy", bytes)).unwrap();
        assert_eq!(source.schema().names().collect::<Vec<_>>(), ["column_0", "column_1"]);
        assert!(matches!(source.notes(), [Note::NumberedColumns { .. }]));
        assert_eq!(numbers(&source, "column_0").unwrap(), [1.0, 2.0, 3.0].map(Some));
        assert_eq!(numbers(&source, "column_1").unwrap(), [Some(10.0), Some(20.0), None]);
        assert!(source.locate(2).unwrap().to_string().ends_with("a.npy` row 2"));
    }
    let source = open(&file(
        &folder,
        "no-extension",
        npy(1, "'>i4'", false, "(2,)", &[0, 0, 1, 0, 255, 255, 255, 254]),
    ))
    .unwrap();
    assert_eq!(numbers(&source, "column_0").unwrap(), [Some(256.0), Some(-2.0)]);
}

#[test]
fn blocks_and_threads_do_not_change_what_is_read() {
    let folder = folder();
    let n = 2000;
    let by_column: Vec<f64> = (0..3 * n).map(|cell| f64::from(cell) * 0.1).collect();
    let by_row: Vec<f64> =
        (0..n).flat_map(|row| [row, n + row, 2 * n + row].map(|c| f64::from(c) * 0.1)).collect();
    let c = file(&folder, "c.npy", npy(1, "'<f8'", false, "(2000, 3)", &doubles(&by_row)));
    let f = file(&folder, "f.npy", npy(1, "'<f8'", true, "(2000, 3)", &doubles(&by_column)));
    let columns = common::wanted(&[("column_2", ReadAs::Number), ("column_0", ReadAs::AsIs)]);
    let scan = |path: &str, skip_rows| -> Vec<RecordBatch> {
        let options = ScanOptions { batch_bytes: 16 * 300, skip_rows, ..ScanOptions::default() };
        open(path).unwrap().scan(&columns, options).unwrap().map(|batch| batch.unwrap().rows).collect()
    };
    for pool in Pool::all() {
        pool.install(|| {
            for skip in [0, 1, 299, 300, 1999, 2000, 3000] {
                assert_eq!(scan(&c, skip), scan(&f, skip));
            }
            let last = scan(&f, 1999);
            assert_eq!(last[0].column(0).as_ref(), &Float64Array::from(vec![by_column[3 * 2000 - 1]]));
        });
    }
}

#[test]
fn structured_arrays_keep_names_and_types() {
    let folder = folder();
    let descr = "[('i1', '|i1'), ('', '|V3'), ('u8', '<u8'), ('f4', '>f4'), ('b', '|b1'), \
                 ('s', '|S4'), (('title', 'gr\u{f6}\u{df}e'), '<U2'), ('u2', '>u2')]";
    let row = |i1: i8, u8_: u64, f4: f32, b: u8, s: &[u8; 4], u: [char; 2], u2: u16| {
        let mut bytes = vec![i1 as u8, 9, 9, 9];
        bytes.extend(u8_.to_le_bytes());
        bytes.extend(f4.to_be_bytes());
        bytes.push(b);
        bytes.extend(s);
        u.iter().for_each(|&c| bytes.extend(u32::from(c).to_le_bytes()));
        bytes.extend(u2.to_be_bytes());
        bytes
    };
    let data = [
        row(-1, u64::MAX, 0.1, 1, b"ab\0\0", ['\u{e9}', '\0'], 258),
        row(2, 0, f32::NAN, 0, b"abcd", ['\u{1f600}', 'x'], 1),
    ]
    .concat();
    let source = open(&file(&folder, "a.npy", npy(3, descr, false, "(2,)", &data))).unwrap();
    assert!(source.notes().is_empty());
    let kinds: Vec<_> = source.schema().columns.iter().map(|c| (c.name.as_str(), c.kind.clone())).collect();
    use Kind::{Boolean, Number, Text};
    let expected = [
        ("i1", Number),
        ("u8", Number),
        ("f4", Number),
        ("b", Boolean),
        ("s", Text),
        ("größe", Text),
        ("u2", Number),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(numbers(&source, "i1").unwrap(), [Some(-1.0), Some(2.0)]);
    assert_eq!(numbers(&source, "f4").unwrap(), [Some(f64::from(0.1_f32)), None]);
    assert_eq!(numbers(&source, "u2").unwrap(), [Some(258.0), Some(1.0)]);
    assert_eq!(texts(&source, "s", ReadAs::Text).unwrap(), ["ab", "abcd"].map(|t| Some(t.to_owned())));
    assert_eq!(
        texts(&source, "größe", ReadAs::AsIs).unwrap(),
        ["é", "\u{1f600}x"].map(|t| Some(t.to_owned()))
    );
    let rows = read(&source, &[("u8", ReadAs::AsIs), ("b", ReadAs::AsIs), ("b", ReadAs::Boolean)]).unwrap();
    assert_eq!(rows[0].column(0).as_ref(), &UInt64Array::from(vec![u64::MAX, 0]));
    assert_eq!(rows[0].column(1).as_ref(), &BooleanArray::from(vec![true, false]));
    assert_eq!(rows[0].column(2).as_ref(), &Float64Array::from(vec![1.0, 0.0]));
}

#[test]
fn what_is_not_read_is_refused_in_words() {
    let folder = folder();
    for (descr, shape, expected) in [
        ("'|O'", "(2,)", "holds Python objects"),
        ("'<c16'", "(2,)", "holds complex numbers"),
        ("'<f2'", "(2,)", "holds numbers of 16 bits"),
        ("'<f16'", "(2,)", "holds numbers of 128 bits"),
        ("'<M8[ns]'", "(2,)", "holds dates or times"),
        ("'<f8'", "()", "an array with 0 dimensions"),
        ("'<f8'", "(1, 2, 3)", "an array with 3 dimensions"),
        ("'<f8'", "(3, 0)", "an array with 0 columns"),
        ("[('a', '<f8', (2,))]", "(2,)", "arrays within its rows"),
        ("[('a', [('b', '<f8')])]", "(2,)", "records within its rows"),
    ] {
        let error = open(&file(&folder, "a.npy", npy(1, descr, false, shape, &[0; 64]))).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(words(&error, &folder).contains(expected), "{error}");
    }
    for (descr, shape, expected) in [
        ("'<f8'", "(9,)", "it is cut short: 9 rows of 8 bytes are more than 64 bytes"),
        ("'<f8'", "(18446744073709551615, 3)", "it is cut short"),
        ("'<f8'", "(-1,)", "not a Python dictionary"),
        ("'<q8'", "(1,)", "cells of type `<q8`"),
        ("[]", "(1,)", "it has no columns"),
        ("7", "(1,)", "the type of the array is unclear"),
    ] {
        let error = open(&file(&folder, "a.npy", npy(1, descr, false, shape, &[0; 64]))).unwrap_err();
        assert!(words(&error, &folder).contains(expected), "{error}");
    }
    for (name, bytes, expected) in [
        ("empty.npy", &b""[..], "`empty.npy` is empty"),
        ("text.npy", b"a,b\n1,2\n", "`text.npy` is not a readable NPY file"),
        ("a.npz", b"PK\x03\x04\0\0", "`a.npz` is not text; it looks like a NumPy archive"),
        ("a.pkl", b"\x80\x04\x95\0\0", "`a.pkl` is not text; it looks like a Python pickle"),
    ] {
        let error = open(&file(&folder, name, bytes)).unwrap_err();
        assert!(words(&error, &folder).starts_with(expected), "{error}");
    }
    let path = file(&folder, "inf.npy", npy(1, "'<f8'", true, "(2, 1)", &doubles(&[1.0, f64::INFINITY])));
    let error = numbers(&open(&path).unwrap(), "column_0").unwrap_err();
    assert_eq!(words(&error, &folder), "`inf.npy` row 1, column `column_0` holds `inf`, which is not finite");
    let path = file(&folder, "latin.npy", npy(1, "[('a', '|S1')]", false, "(2,)", b"a\xe9"));
    let error = texts(&open(&path).unwrap(), "a", ReadAs::Text).unwrap_err();
    assert_eq!(words(&error, &folder), "`latin.npy` row 1, column `a` is not valid UTF-8");
}

#[test]
fn several_files_may_mix_with_other_formats() {
    let folder = folder();
    let one = file(
        &folder,
        "1.npy",
        npy(1, "[('b', '<i2'), ('a', '<f8')]", false, "(1,)", &[&[7, 0][..], &doubles(&[1.5])].concat()),
    );
    let two = file(&folder, "2.csv", "a,b\n2.5,8\n");
    let source = Source::open(&[one, two]).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [Some(1.5), Some(2.5)]);
    assert_eq!(numbers(&source, "b").unwrap(), [Some(7.0), Some(8.0)]);
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let folder = folder();
    let data: Vec<u8> = (0..50_u32)
        .flat_map(|i| [&f64::from(i).to_le_bytes()[..], b"abc\0", &65_u32.to_le_bytes()].concat())
        .collect();
    let whole = npy(1, "[('a', '<f8'), ('s', '|S4'), ('u', '<U1')]", false, "(50,)", &data);
    let (n_cut, n_flipped) = damage(&folder, "a.npy", &whole);
    assert!(n_cut == 300 && n_flipped > 20, "{n_cut}, {n_flipped}");
    let (n_cut, _) = damage(&folder, "f.npy", &npy(2, "'<f8'", true, "(20, 4)", &doubles(&[0.5; 80])));
    assert_eq!(n_cut, 300);
}

fn write(folder: &tempfile::TempDir, columns: Vec<(&str, ArrayRef)>) -> Result<String, Error> {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let path = folder.path().join("out.npy");
    let mut sink = Sink::create(&Destination::File(path.clone()), Format::Npy, rows.schema())?;
    sink.write(&rows)?;
    sink.write(&rows.slice(1, 1))?;
    sink.finish()?;
    Ok(path.display().to_string())
}

#[test]
fn numbers_are_written_as_a_structured_array() {
    let folder = folder();
    let path = write(
        &folder,
        vec![
            ("row", Arc::new(UInt64Array::from(vec![0, u64::MAX]))),
            ("it's \\ü", Arc::new(Float64Array::from(vec![Some(0.1), None]))),
            ("kept", Arc::new(BooleanArray::from(vec![true, false]))),
            ("note", Arc::new(StringArray::from(vec![Some("why"), None]))),
        ],
    )
    .unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[6], 3);
    let source = open(&path).unwrap();
    assert_eq!(source.schema().names().collect::<Vec<_>>(), ["row", "it's \\ü", "kept"]);
    assert_eq!(numbers(&source, "it's \\ü").unwrap(), [Some(0.1), None, None]);
    let rows = read(&source, &[("row", ReadAs::AsIs)]).unwrap();
    assert_eq!(rows[0].column(0).as_ref(), &UInt64Array::from(vec![0, u64::MAX, u64::MAX]));

    let path = write(&folder, vec![("a", Arc::new(Int64Array::from(vec![1, 2])))]).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes[6], 1);
    let header = "{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (3,), }";
    assert!(bytes[10..].starts_with(header.as_bytes()));
    assert_eq!(bytes.len() - 3 * 8, 128);
}

#[test]
fn what_npy_cannot_hold_is_refused_and_leaves_no_file() {
    let folder = folder();
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let number: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0]));
    let error = write(&folder, vec![("a", number), ("shade", Arc::clone(&text))]).unwrap_err();
    assert_eq!(
        words(&error, &folder),
        "cannot write `out.npy`: column `shade` is not numeric, and NPY holds numbers only"
    );
    assert!(matches!(error, Error::NumbersOnly { .. }), "{error}");
    let error = write(&folder, vec![("k", Arc::new(Int64Array::from(vec![Some(1), None])))]).unwrap_err();
    assert!(words(&error, &folder).contains("row 1 has no value in column `k`"), "{error}");
    assert!(write(&folder, vec![("note", text)]).is_err());
    assert_eq!(listing(folder.path()), Vec::<String>::new());
}
