//! Reading text tables, from the outside.

use crate::common;
use std::io::Write;

use crate::common::{file, folder, numbers, open, read, texts, words};
use dshap_io::{Error, Note, ScanOptions, Source};
use dshap_table::{Kind, ReadAs};

fn kinds(source: &Source) -> Vec<(String, Kind)> {
    let columns = source.schema().columns.iter();
    columns.map(|c| (c.name.clone(), c.kind.clone())).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn names_and_kinds_come_from_header_and_first_records() {
    let folder = folder();
    let text = "\u{feff} id ,shade,sold,on,empty\r\n1,red,TRUE,2024-01-31,\r\n2,,false,,NA\r\n";
    let source = open(&file(&folder, "wine.csv", text)).unwrap();
    let expected = [
        ("id", Kind::Number),
        ("shade", Kind::Text),
        ("sold", Kind::Boolean),
        ("on", Kind::Date),
        ("empty", Kind::Number),
    ];
    assert_eq!(kinds(&source), expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert!(source.notes().is_empty(), "{:?}", source.notes());
    assert_eq!(source.n_bytes(), text.len() as u64);
    assert_eq!(numbers(&source, "id").unwrap(), [Some(1.0), Some(2.0)]);
    assert_eq!(texts(&source, "on", ReadAs::AsIs).unwrap()[1].as_deref(), Some(""));
}

#[test]
fn columns_come_in_the_order_wanted_and_may_repeat() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", "a,b\n1,x\n2,y\n")).unwrap();
    let columns = [("b", ReadAs::Text), ("a", ReadAs::Number), ("a", ReadAs::AsIs)];
    let batches = read(&source, &columns).unwrap();
    assert_eq!(batches.len(), 1);
    let names: Vec<_> = batches[0].schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names, ["b", "a", "a"]);
    assert_eq!(batches[0].num_rows(), 2);
}

#[test]
fn booleans_are_zero_and_one() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", "a,b\ntrue,1\nFALSE,2\n,3\n")).unwrap();
    let rows = read(&source, &[("a", ReadAs::Boolean)]).unwrap();
    use arrow_array::{cast::AsArray, types::Float64Type};
    let values: Vec<_> = rows[0].column(0).as_primitive::<Float64Type>().iter().collect();
    assert_eq!(values, [Some(1.0), Some(0.0), None]);
    let error = read(&source, &[("b", ReadAs::Boolean)]).unwrap_err();
    assert_eq!(
        words(&error, &folder),
        "`a.csv` line 3, column `b` holds `2`, which is neither true nor false"
    );
}

#[test]
fn compression_is_told_by_the_first_bytes() {
    let folder = folder();
    let text = b"a,b\n1,x\n2,y\n";
    let (one, two) = text.split_at(6);
    let members = [gzip(one), gzip(two)].concat();
    let zstd = zstd::encode_all(&text[..], 3).unwrap();
    for (name, bytes) in [
        ("a.csv.gz", gzip(text)),
        ("members.csv.gz", members),
        ("no-extension", gzip(text)),
        ("a.csv.zst", zstd.clone()),
        ("zstd.csv", zstd),
        ("lies.csv.gz", text.to_vec()),
    ] {
        let source = open(&file(&folder, name, bytes)).unwrap();
        assert_eq!(numbers(&source, "a").unwrap(), [Some(1.0), Some(2.0)], "{name}");
    }
}

#[test]
fn a_truncated_gzip_file_is_an_error_that_says_so() {
    let folder = folder();
    let whole = gzip("a,b\n1,2\n".repeat(5000).as_bytes());
    let path = file(&folder, "a.csv.gz", &whole[..whole.len() - 20]);
    let error = open(&path).unwrap_err();
    let Error::Read { reason, .. } = &error else { panic!("{error}") };
    assert_eq!(reason.kind(), std::io::ErrorKind::UnexpectedEof, "{error}");
}

#[test]
fn faulty_files_are_refused_when_opened() {
    let folder = folder();
    for (name, bytes, expected) in [
        ("empty.csv", &b""[..], "`empty.csv` is empty"),
        ("blank.csv", b"\n\r\n\n", "`blank.csv` is empty"),
        ("header.csv", b"a,b\n", "`header.csv` has no rows"),
        ("double.csv", b"a,b,a\n1,2,3\n", "column `a` occurs more than once in `double.csv`"),
        ("zero.csv", b"a,b\n1,\x002\n", "`zero.csv` is not text"),
        (
            "excel.csv",
            b"PK\x03\x04\x00\x00",
            "`excel.csv` is not text; it looks like an Excel workbook or a zip archive",
        ),
        ("short.csv", b"a,b\n1,2\n\n\"3\n\",4\n5\n", "`short.csv` line 6 has 1 field, expected 2"),
        ("long.csv", b"a,b\n1,2,3\n4,5\n6,7\n", "`long.csv` line 2 has 3 fields, expected 2"),
        (
            "quote.csv",
            b"a,b\n1,2\n3,\"4\n5,6\n",
            "`quote.csv` line 3, a quoted field begins here and is never closed",
        ),
        ("latin.csv", b"\na,caf\xe9\n1,2\n", "`latin.csv` line 2, column `caf\u{fffd}` is not valid UTF-8"),
    ] {
        let error = open(&file(&folder, name, bytes)).unwrap_err();
        assert_eq!(words(&error, &folder), expected);
    }
}

#[test]
fn missing_files_and_folders_are_named_with_the_reason() {
    let folder = folder();
    let missing = folder.path().join("no.csv").display().to_string();
    let error = open(&missing).unwrap_err();
    assert_eq!(words(&error, &folder), "cannot read `no.csv`: no such file or directory");
    let name = folder.path().display().to_string();
    let error = open(&name).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot read `{name}`: is a directory"));
    assert!(matches!(Source::open(&[]).unwrap_err(), Error::NoInput));
}

#[test]
fn faulty_cells_are_found_on_their_line_however_far_down() {
    let folder = folder();
    // Quoted line ends make lines and rows disagree: each record takes two lines.
    let mut text = "a,b\n".to_owned();
    for _ in 0..30_000 {
        text.push_str("1,\"x\ny\"\n");
    }
    for (cell, what) in [
        ("abc", "`a.csv` line 60002, column `a` holds `abc`, which is not a number"),
        ("\"1,5\"", "`a.csv` line 60002, column `a` holds `1,5`, which is not a number"),
        ("1e999", "`a.csv` line 60002, column `a` holds `1e999`, which is not finite"),
        ("-inf", "`a.csv` line 60002, column `a` holds `-inf`, which is not finite"),
        ("1,2", "`a.csv` line 60002 has 3 fields, expected 2"),
    ] {
        let text = format!("{text}{cell},z\n1,z\n");
        let source = open(&file(&folder, "a.csv", text)).unwrap();
        let error = numbers(&source, "a").unwrap_err();
        assert_eq!(words(&error, &folder), what);
    }
}

#[test]
fn text_that_is_not_utf8_is_refused_only_when_wanted() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", b"a,b\n1,x\n2,caf\xe9\n")).unwrap();
    assert_eq!(numbers(&source, "a").unwrap().len(), 2);
    let error = texts(&source, "b", ReadAs::Text).unwrap_err();
    assert_eq!(words(&error, &folder), "`a.csv` line 3, column `b` is not valid UTF-8");
}

#[test]
fn an_unknown_column_comes_with_a_suggestion_or_a_list() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", "quality,sugar\n1,2\n")).unwrap();
    let error = numbers(&source, "qualty").unwrap_err();
    assert_eq!(words(&error, &folder), "no column `qualty` in `a.csv`");
    let suggested = |error| match error {
        Error::NoSuchColumn { available, suggestion, .. } => (available.join(" "), suggestion),
        other => panic!("{other}"),
    };
    assert_eq!(suggested(error), ("quality sugar".into(), Some("quality".into())));
    let error = numbers(&source, "alcohol").unwrap_err();
    assert_eq!(suggested(error), ("quality sugar".into(), None));
}

#[test]
fn doubtful_headers_are_noted() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", ",x\n0,1\n")).unwrap();
    assert_eq!(source.schema().names().next(), Some("column_1"));
    assert!(matches!(&source.notes()[0], Note::UnnamedColumn { name, .. } if name == "column_1"));
    let source = open(&file(&folder, "b.csv", "1.5,2\n3,4\n")).unwrap();
    assert!(matches!(source.notes(), [Note::NumericHeader { .. }]));
}

#[test]
fn a_delimiter_at_the_end_of_every_line_makes_no_column() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", "a,b,\n1,2,\n3,4,\r\n")).unwrap();
    assert_eq!(source.schema().names().collect::<Vec<_>>(), ["a", "b"]);
    assert!(matches!(source.notes(), [Note::TrailingDelimiter { .. }]), "{:?}", source.notes());
    assert_eq!(numbers(&source, "b").unwrap(), [Some(2.0), Some(4.0)]);

    // A cell that holds something makes it a column, and so does a name.
    for text in ["a,\n1,\n3,x\n", "a,\n1,\" \"\n"] {
        let source = open(&file(&folder, "b.csv", text)).unwrap();
        assert_eq!(source.schema().names().collect::<Vec<_>>(), ["a", "column_2"]);
        assert!(matches!(source.notes(), [Note::UnnamedColumn { .. }]), "{:?}", source.notes());
    }
    let source = open(&file(&folder, "c.csv", "a,b\n1,\n")).unwrap();
    assert_eq!(source.schema().names().count(), 2);

    // Rows or the header alone may end with one.
    for text in ["a,b\n1,2,\n3,4,\n", "a,b,\n1,2\n3,4\n"] {
        let source = open(&file(&folder, "d.csv", text)).unwrap();
        assert_eq!(source.schema().names().collect::<Vec<_>>(), ["a", "b"], "{text:?}");
        assert_eq!(numbers(&source, "b").unwrap(), [Some(2.0), Some(4.0)], "{text:?}");
    }
    // Rows that disagree about it are ragged, and what comes late is not lost.
    for (text, expected) in [
        ("a,b\n1,2,\n3,4\n", "`d.csv` line 2 has 3 fields, expected 2"),
        ("a,b\n1,2,\n3,4,5\n", "`d.csv` line 2 has 3 fields, expected 2"),
        ("a,b,\n1,2\n3,4,\n", "`d.csv` line 3 has 3 fields, expected 2"),
    ] {
        let error = open(&file(&folder, "d.csv", text)).unwrap_err();
        assert_eq!(words(&error, &folder), expected);
    }
    let text = format!("a,\n{}2,late\n", "1,\n".repeat(10_000));
    let source = open(&file(&folder, "e.csv", text)).unwrap();
    let error = numbers(&source, "a").unwrap_err();
    assert_eq!(
        words(&error, &folder),
        "`e.csv` line 10002 holds `late` after its last column, where earlier lines hold nothing"
    );
}

/// Reads what the table says, and what is noted about the file.
fn noted(text: &str) -> (Vec<String>, Vec<Option<f64>>, String) {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", text)).unwrap();
    let names: Vec<String> = source.schema().names().map(str::to_owned).collect();
    let last = numbers(&source, names.last().unwrap()).unwrap();
    let notes: Vec<String> = source.notes().iter().map(|note| format!("{note:?}")).collect();
    let prefix = format!("{}/", folder.path().display());
    (names, last, notes.join("; ").replace(&prefix, ""))
}

#[test]
fn ways_of_writing_a_table_are_recognised_and_stated() {
    for (text, names, note) in [
        ("a,b\rx,1\ry,2\r", ["a", "b"], "CarriageReturns { file: \"a.csv\" }"),
        ("Report\n\na,b\nx,1\ny,2\n", ["a", "b"], "Preamble { file: \"a.csv\", n_lines: 2 }"),
        ("a,b\nx,1\ny,2\n\nTotal 3\n", ["a", "b"], "Footer { file: \"a.csv\", line: 5 }"),
        ("a,b\n'x, y',1\n'z',2\n", ["a", "b"], "Quoted { file: \"a.csv\", by: '\\'' }"),
        ("a,b\n\"x \\\"y\\\", z\",1\n\"z\",2\n", ["a", "b"], "Escaped { file: \"a.csv\", by: '\\\\' }"),
        ("a b\nx 1\ny 2\n", ["a", "b"], "Delimited { file: \"a.csv\", by: ' ' }"),
        (
            "a,b\nx\"y,1\nz,2\n",
            ["a", "b"],
            r#"StrayQuote { at: Location { file: "a.csv", place: Line(2) }, column: "a", text: "x\"y" }"#,
        ),
        ("a,b\n \"x, y\" , 1\nz,2\n", ["a", "b"], ""),
    ] {
        let (found, last, notes) = noted(text);
        assert_eq!(
            (found, last),
            (names.map(str::to_owned).to_vec(), vec![Some(1.0), Some(2.0)]),
            "{text:?}"
        );
        assert_eq!(notes, note, "{text:?}");
    }
    let (names, last, notes) = noted("a,b\ncm,kg\n1,4\n2,5\n3,6\n");
    assert_eq!((names, last), (vec!["a cm".into(), "b kg".into()], vec![Some(4.0), Some(5.0), Some(6.0)]));
    assert!(notes.starts_with("SeveralHeaders { file: \"a.csv\", n_records: 2,"), "{notes}");
}

#[test]
fn a_footer_is_found_at_the_end_of_a_long_file() {
    let text = format!("a,b,c\n{}\nTotal: many\n", "1,2,3\n".repeat(30_000));
    let (_, last, notes) = noted(&text);
    assert_eq!(last.len(), 30_000);
    assert_eq!(notes, "Footer { file: \"a.csv\", line: 30003 }");
    // In the middle it is a fault, wherever that is.
    for n in [20, 20_000] {
        let folder = folder();
        let text = format!("a,b,c\n{}Total: many\n{}", "1,2,3\n".repeat(n), "1,2,3\n".repeat(30));
        let found = open(&file(&folder, "a.csv", text)).and_then(|source| numbers(&source, "a"));
        let expected = format!("`a.csv` line {} has 1 field, expected 3", n + 2);
        assert_eq!(words(&found.unwrap_err(), &folder), expected);
    }
}

#[test]
fn quotes_that_make_no_sense_are_refused_with_line_and_column() {
    let folder = folder();
    for (text, expected) in [
        (
            "a,b,c\n15,\"5\"6,10\n",
            "`a.csv` line 2, column `b` holds `\"5\"6`, where text follows the closing quote",
        ),
        (
            "a,b\n1,2\n\"\"5,1\n",
            "`a.csv` line 3, column `a` holds `\"\"5`, where text follows the closing quote",
        ),
        (
            "a,\"b\"c\n1,2\n",
            "`a.csv` line 1, column `column_2` holds `\"b\"c`, where text follows the closing quote",
        ),
        ("a,b\n1,x\n5\"6,y\n", "`a.csv` line 3, column `a` holds `5\"6`, a quote among numbers"),
    ] {
        let error = open(&file(&folder, "a.csv", text)).unwrap_err();
        assert_eq!(words(&error, &folder), expected);
    }
    // Also after the records that settle the columns, and in columns that nobody asks for.
    for (row, expected) in [
        ("1,\"x\"y", "`a.csv` line 12002, column `b` holds `\"x\"y`, where text follows the closing quote"),
        ("5\"6,x", "`a.csv` line 12002, column `a` holds `5\"6`, a quote among numbers"),
    ] {
        let text = format!("a,b\n{}{row}\n", "1,x\n".repeat(12_000));
        let source = open(&file(&folder, "a.csv", text)).unwrap();
        let error = numbers(&source, "a").unwrap_err();
        assert_eq!(words(&error, &folder), expected);
    }
}

#[test]
fn doubtful_numbers_are_noted() {
    let (_, _, notes) = noted(&format!("a,b\n{}3x,1\n", "1,2\n".repeat(20)));
    assert_eq!(
        notes,
        r#"TextAmongNumbers { at: Location { file: "a.csv", place: Line(22) }, column: "a", text: "3x" }"#
    );
    let (_, _, notes) = noted("a,b\n9007199254740993,1\n2,3\n");
    assert!(notes.starts_with("LargeIntegers { file: \"a.csv\", column: \"a\" }"), "{notes}");
    let (_, _, notes) = noted("a,b\n9007199254740992,1\n2,3\n");
    assert_eq!(notes, "");
    // A header that is missing, and one of years.
    let (_, _, notes) = noted("red,1.5,7\nblue,2.5,8\ngreen,3.5,9\n");
    assert!(notes.starts_with("NumericHeader {"), "{notes}");
    let (_, _, notes) = noted("country,2019,2020\nx,2.5,8\ny,3.5,9\n");
    assert_eq!(notes, "");
}

#[test]
fn messages_stay_short_and_tables_narrow() {
    let folder = folder();
    let text = format!("a,b\n{}{},2\n", "1,2\n".repeat(12_000), "x".repeat(1 << 20));
    let source = open(&file(&folder, "a.csv", text)).unwrap();
    let error = numbers(&source, "a").unwrap_err().to_string();
    assert!(error.len() < 400 && error.contains("xxx…`"), "{error}");
    let wide = (0..200_001).map(|i| format!("c{i}")).collect::<Vec<_>>().join(",");
    let error = open(&file(&folder, "wide.csv", format!("{wide}\n1\n"))).unwrap_err();
    assert_eq!(words(&error, &folder), "`wide.csv` has more than 200000 columns");
    let keys = (0..200_001).map(|i| format!("\"c{i}\":1")).collect::<Vec<_>>().join(",");
    let error = open(&file(&folder, "wide.ndjson", format!("{{{keys}}}\n"))).unwrap_err();
    assert_eq!(words(&error, &folder), "`wide.ndjson` has more than 200000 columns");
}

#[test]
fn several_files_are_one_table_matched_by_name() {
    let folder = folder();
    file(&folder, "part-2.csv", "b;a\n30;3\n");
    file(&folder, "part-1.csv", "a,b\n1,10\n2,20\n");
    file(&folder, "part-0.csv", "a,b\n");
    std::fs::create_dir(folder.path().join("part-9.csv")).unwrap();
    let pattern = folder.path().join("part-*.csv").display().to_string();
    let source = open(&pattern).unwrap();
    assert_eq!(source.files().count(), 3);
    assert_eq!(numbers(&source, "a").unwrap(), [1.0, 2.0, 3.0].map(Some));
    assert_eq!(numbers(&source, "b").unwrap(), [10.0, 20.0, 30.0].map(Some));
    assert!(matches!(source.notes(), [Note::NoRowsInPart { .. }]));
    let place = source.locate(2).unwrap().to_string();
    assert!(place.ends_with("part-2.csv` line 2"), "{place}");
    let place = source.locate(1).unwrap().to_string();
    assert!(place.ends_with("part-1.csv` line 3"), "{place}");
}

#[test]
fn the_order_of_files_is_the_order_given() {
    let folder = folder();
    let one = file(&folder, "1.csv", "a\n1\n");
    let two = file(&folder, "2.csv", "a\n2\n");
    let source = Source::open(&[two.clone(), one, two]).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [2.0, 1.0, 2.0].map(Some));
    assert!(matches!(source.notes(), [Note::RepeatedFile { .. }]));
}

#[test]
fn files_with_other_columns_are_refused() {
    let folder = folder();
    let one = file(&folder, "1.csv", "a,b\n1,2\n");
    let two = file(&folder, "2.csv", "a,c\n1,2\n");
    let three = file(&folder, "3.csv", "a,b,d\n1,2,3\n");
    let error = Source::open(&[one.clone(), two]).unwrap_err();
    assert_eq!(words(&error, &folder), "`2.csv` has no column `b`, which `1.csv` has");
    let error = Source::open(&[one, three]).unwrap_err();
    assert_eq!(words(&error, &folder), "`1.csv` has no column `d`, which `3.csv` has");
}

#[test]
fn patterns_that_match_nothing_or_make_no_sense_are_refused() {
    let folder = folder();
    let pattern = folder.path().join("*.csv").display().to_string();
    let error = open(&pattern).unwrap_err();
    assert_eq!(words(&error, &folder), "no file matches `*.csv`");
    let error = open("a***.csv").unwrap_err();
    assert!(matches!(error, Error::Pattern { .. }), "{error}");
}

#[test]
fn a_file_whose_name_looks_like_a_pattern_is_a_file() {
    let folder = folder();
    let source = open(&file(&folder, "a[1].csv", "a\n1\n")).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [Some(1.0)]);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_read_like_a_file() {
    let folder = folder();
    let path = folder.path().join("pipe").display().to_string();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, "a\n1\n2\n").unwrap()
    });
    let source = open(&path).unwrap();
    writer.join().unwrap();
    for _ in 0..2 {
        assert_eq!(numbers(&source, "a").unwrap(), [Some(1.0), Some(2.0)]);
    }
}

#[test]
fn a_limit_stops_before_faults_beyond_it() {
    let folder = folder();
    let path = file(&folder, "a.csv", format!("a\n{}x\n", "1\n".repeat(20_000)));
    let source = open(&path).unwrap();
    let scan = |limit_rows| {
        let options = ScanOptions { limit_rows: Some(limit_rows), ..ScanOptions::default() };
        let wanted = common::wanted(&[("a", ReadAs::Number)]);
        let batches: Result<Vec<_>, _> = source.scan(&wanted, options).unwrap().collect();
        batches.map(|batches| batches.iter().map(|batch| batch.rows.num_rows()).sum::<usize>())
    };
    assert_eq!(scan(0).unwrap(), 0);
    assert_eq!(scan(7).unwrap(), 7);
    assert_eq!(scan(20_000).unwrap(), 20_000);
    assert!(scan(20_001).is_err());
}

#[test]
fn batches_are_equally_long_and_progress_never_falls() {
    let folder = folder();
    let one = file(&folder, "1.csv", format!("a,b\n{}", "1,2\n".repeat(1000)));
    let two = file(&folder, "2.csv", format!("a,b\n{}", "3,4\n".repeat(777)));
    let source = Source::open(&[one, two]).unwrap();
    let options = ScanOptions { batch_bytes: 16 * 300, ..ScanOptions::default() };
    let wanted = common::wanted(&[("a", ReadAs::Number), ("b", ReadAs::Number)]);
    let batches: Vec<_> = source.scan(&wanted, options).unwrap().map(Result::unwrap).collect();
    let lengths: Vec<_> = batches.iter().map(|batch| batch.rows.num_rows()).collect();
    assert_eq!(lengths, [300, 300, 300, 300, 300, 277]);
    let firsts: Vec<_> = batches.iter().map(|batch| batch.first_row).collect();
    assert_eq!(firsts, [0, 300, 600, 900, 1200, 1500]);
    assert!(batches.is_sorted_by_key(|batch| batch.bytes_read));
    assert_eq!(batches[5].bytes_read, source.n_bytes());
}

#[test]
fn rows_can_be_counted_without_reading_a_column() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", "a\n1\n2\n3\n")).unwrap();
    let rows = read(&source, &[]).unwrap();
    assert_eq!(rows.iter().map(|rows| rows.num_rows()).sum::<usize>(), 3);
}

#[test]
fn digests_are_of_the_bytes_on_disk() {
    let folder = folder();
    let source = open(&file(&folder, "a.csv", "a\n1\n")).unwrap();
    let digests = source.digests().unwrap();
    assert_eq!(digests[0].bytes, 4);
    // printf 'a\n1\n' | sha256sum
    assert_eq!(digests[0].sha256, "309b0e45a73d3fc5325e2b6ed0a01ef8b9cde6b05a5633c1f893f970d52bfddc");
}

/// Set for a copy of this program that plays a part in the test below.
const PART: &str = "DSHAP_IO_TEST_PART";

#[test]
fn standard_input_is_read_like_a_file_and_more_than_once() {
    if std::env::var_os(PART).is_some() {
        let source = open("-").unwrap();
        assert_eq!(source.files().collect::<Vec<_>>(), ["standard input"]);
        for _ in 0..2 {
            assert_eq!(numbers(&source, "a").unwrap(), [Some(1.0), Some(2.0)]);
        }
        assert_eq!(source.locate(1).unwrap().to_string(), "`standard input` line 3");
        return;
    }
    let mut copy = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "csv::standard_input_is_read_like_a_file_and_more_than_once"])
        .env(PART, "reader")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    copy.stdin.take().unwrap().write_all(b"a\n1\n2\n").unwrap();
    let output = copy.wait_with_output().unwrap();
    assert!(output.status.success());
    // A name that matches no test succeeds, too.
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
