//! Oddities beyond the beginning of a file, which is all that opening a text reads. Each is
//! noted by the pass that reads it.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, UInt64Array};
use dshap_io::{Note, ScanOptions, Source};
use dshap_table::ReadAs;

use crate::common::{Pool, file, folder, numbers, open, read, texts, wanted, write};

/// More than opening a file looks at.
const N: usize = 12_000;

/// 2^53 + 1, which no double holds.
const LARGE: i64 = 9_007_199_254_740_993;

/// Rows `x0,0`, `x1,1` and so on; of some of them the cells are others.
fn csv(n: usize, other: impl Fn(usize) -> Option<String>) -> String {
    let mut text = String::from("name,n\n");
    for i in 0..n {
        let row = other(i).unwrap_or_else(|| format!("x{},{i}", i % 3));
        let _ = writeln!(text, "{row}");
    }
    text
}

/// What is noted about the columns `name` and `n`, after a pass in small and large chunks of
/// threads.
fn noted(text: &str) -> Vec<String> {
    let folder = folder();
    let path = file(&folder, "a.csv", text);
    let prefix = format!("{}/", folder.path().display());
    let mut found: Vec<Vec<String>> = Vec::new();
    for pool in Pool::all() {
        let source = open(&path).unwrap();
        assert!(source.late_notes().is_empty(), "nothing has been read");
        // A second pass finds nothing new.
        for _ in 0..2 {
            pool.install(|| read(&source, &[("name", ReadAs::Text), ("n", ReadAs::Number)])).unwrap();
            let notes = source.late_notes();
            found.push(notes.iter().map(|note| format!("{note:?}").replace(&prefix, "")).collect());
        }
    }
    assert!(found.iter().all(|notes| *notes == found[0]), "{found:?}");
    found.remove(0)
}

#[test]
fn a_quote_in_text_is_noted_wherever_it_is() {
    for at in [N - 1, 10_001, 10_500] {
        let text = csv(N, |i| (i >= at).then(|| format!("x1\"x,{i}")));
        let line = at + 2;
        let expected = format!(
            r#"StrayQuote {{ at: Location {{ file: "a.csv", place: Line({line}) }}, column: "name", text: "x1\"x" }}"#
        );
        assert_eq!(noted(&text), [expected]);
    }
    // What opening the file has noted is not noted again.
    let text = csv(N, |i| (i == 5 || i == 11_000).then(|| format!("x1\"x,{i}")));
    assert_eq!(noted(&text), [""; 0]);
    // Quotes that are doubled within a quoted cell are none of these.
    let text = csv(N, |i| (i > 11_000).then(|| format!("\"x \"\"1\"\", \"\"\",{i}")));
    assert_eq!(noted(&text), [""; 0]);
}

#[test]
fn other_quotes_are_noted_beyond_the_beginning() {
    for quote in ['\'', '`'] {
        let n = 50_000;
        let text = csv(n, |i| (i >= n - 50).then(|| format!("{quote}x0{quote},{i}")));
        assert!(text.len() > 256 << 10);
        let [note] = &noted(&text)[..] else { panic!("one note") };
        assert!(note.starts_with("OtherQuotes {") && note.contains("place: Line(49952)"), "{note}");
        // One alone may be a quotation.
        let text = csv(n, |i| (i == n - 50).then(|| format!("{quote}x0{quote},{i}")));
        assert_eq!(noted(&text), [""; 0]);
    }
}

#[test]
fn whole_numbers_that_are_rounded_are_noted_in_text() {
    let large = |column: &str| [format!("LargeIntegers {{ file: \"a.csv\", column: \"{column}\" }}")];
    let text = csv(N, |i| (i == N - 1).then(|| format!("x1,{LARGE}")));
    assert_eq!(noted(&text), large("n"));
    // A double holds these; and a column of text rounds nothing.
    let text = csv(N, |i| (i > 11_000).then(|| format!("{LARGE},{}", LARGE - 1)));
    assert_eq!(noted(&text), [""; 0]);

    let mut text = String::new();
    for i in 0..N {
        let n = if i == N - 1 { -LARGE } else { i as i64 };
        let _ = writeln!(text, "{{\"name\":\"x\",\"n\":{n}}}");
    }
    let folder = folder();
    let source = open(&file(&folder, "a.ndjson", text)).unwrap();
    texts(&source, "name", ReadAs::Text).unwrap();
    assert_eq!(source.late_notes(), []);
    numbers(&source, "n").unwrap();
    assert_large(&source, &["n"]);
}

#[track_caller]
fn assert_large(source: &Source, columns: &[&str]) {
    let found = source.late_notes();
    let names: Vec<&str> = found
        .iter()
        .map(|note| match note {
            Note::LargeIntegers { column, .. } => column.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, columns);
}

/// Three columns: the last number of `a` and `b` is rounded, that of `c` is not.
fn integers() -> RecordBatch {
    let last = |number: i64| (0..N as i64).map(move |i| if i == N as i64 - 1 { number } else { -i });
    let columns: [(&str, ArrayRef); 3] = [
        ("a", Arc::new(Int64Array::from_iter_values(last(-LARGE)))),
        ("b", Arc::new(UInt64Array::from_iter_values(last(LARGE).map(i64::unsigned_abs)))),
        ("c", Arc::new(Int64Array::from_iter_values(last(LARGE - 1)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn whole_numbers_that_are_rounded_are_noted_in_typed_files() {
    let (folder, rows) = (folder(), integers());
    let all = [("a", ReadAs::Number), ("b", ReadAs::Number), ("c", ReadAs::Number)];
    let without_statistics = folder.path().join("plain.parquet");
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let out = std::fs::File::create(&without_statistics).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(out, rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    let mut sources = vec![
        open(&write(&folder, "a.arrow", &rows)).unwrap(),
        open(&without_statistics.display().to_string()).unwrap(),
        Source::of_batches("frame", rows.schema(), vec![rows.slice(0, 100), rows.slice(100, N - 100)])
            .unwrap(),
    ];
    // An array of three columns, one after the other.
    let cells = (0..3).flat_map(|column| {
        let array = arrow_cast::cast(rows.column(column), &arrow_schema::DataType::Int64).unwrap();
        let array = array.as_any().downcast_ref::<Int64Array>().unwrap().values().to_vec();
        array.into_iter().flat_map(i64::to_le_bytes)
    });
    let cells: Vec<u8> = cells.collect();
    let array = crate::npy::npy(1, "'<i8'", true, &format!("({N}, 3)"), &cells);
    let npy = open(&file(&folder, "a.npy", array)).unwrap();
    for (n_skipped, is_noted) in [(0, true), (N as u64 - 1, true)] {
        let options = ScanOptions { skip_rows: n_skipped, ..ScanOptions::default() };
        let names: Vec<String> = npy.schema().names().map(str::to_owned).collect();
        let columns: Vec<_> = names.iter().map(|name| (name.as_str(), ReadAs::Number)).collect();
        assert_eq!(npy.scan(&wanted(&columns), options).unwrap().filter(Result::is_ok).count(), 1);
        assert_eq!(is_noted, npy.late_notes().len() == 2, "{:?}", npy.late_notes());
    }
    for source in &mut sources {
        assert_eq!(source.notes(), []);
        read(source, &[("a", ReadAs::Text), ("c", ReadAs::Number)]).unwrap();
        assert_large(source, &[]);
        read(source, &all).unwrap();
        assert_large(source, &["a", "b"]);
    }
}
