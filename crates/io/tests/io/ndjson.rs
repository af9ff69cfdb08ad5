//! Reading JSON objects, one on each line, from the outside.

use std::io::Write;

use crate::common::{Pool, damage, file, folder, numbers, open, read, texts, words};
use dshap_io::{Error, Source, Unsupported};
use dshap_table::{Kind, ReadAs};

fn kinds(source: &Source) -> Vec<(String, Kind)> {
    source.schema().columns.iter().map(|c| (c.name.clone(), c.kind.clone())).collect()
}

#[test]
fn columns_are_all_keys_and_kinds_are_those_of_their_values() {
    let folder = folder();
    let text = "\u{feff}{\"id\":1,\"shade\":\"red\",\"sold\":true}\r\n\n  \n\
                {\"on\":\"2024-01-31\", \"id\": -2.5e0 ,\"sold\":null,\"mixed\":1}\n\
                {\"list\":[1,{\"a\":\"]\"}],\"deep\":{\"x\":1},\"mixed\":\"one\",\"empty\":null}";
    let source = open(&file(&folder, "a.ndjson", text)).unwrap();
    let expected = [
        ("id", Kind::Number),
        ("shade", Kind::Text),
        ("sold", Kind::Boolean),
        ("on", Kind::Date),
        ("mixed", Kind::Text),
        ("list", Kind::Other("list".into())),
        ("deep", Kind::Other("object".into())),
        ("empty", Kind::Number),
    ];
    assert_eq!(kinds(&source), expected.map(|(name, kind)| (name.to_owned(), kind)));
    assert_eq!(numbers(&source, "id").unwrap(), [Some(1.0), Some(-2.5), None]);
    let as_text = |name, read_as| texts(&source, name, read_as).unwrap();
    let expected = |cells: [Option<&str>; 3]| cells.map(|cell| cell.map(str::to_owned));
    assert_eq!(as_text("mixed", ReadAs::Text), expected([None, Some("1"), Some("one")]));
    assert_eq!(as_text("sold", ReadAs::AsIs), expected([Some("true"), None, None]));
    assert_eq!(as_text("id", ReadAs::AsIs), expected([Some("1"), Some("-2.5e0"), None]));
    assert_eq!(as_text("list", ReadAs::AsIs)[2].as_deref(), Some("[1,{\"a\":\"]\"}]"));
    assert_eq!(source.locate(2).unwrap().to_string().split("` ").nth(1), Some("line 5"));

    for read_as in [ReadAs::Number, ReadAs::Text, ReadAs::Boolean] {
        let error = read(&source, &[("deep", read_as)]).unwrap_err();
        assert_eq!(
            words(&error, &folder),
            "`a.ndjson` line 5, column `deep` holds an object, which is not a single value"
        );
    }
}

#[test]
fn json_is_told_by_its_first_bytes_or_its_name_compressed_or_not() {
    let folder = folder();
    let text = b"\n{\"a\":1}\n{\"a\":2}\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text).unwrap();
    let gzip = gzip.finish().unwrap();
    for (name, bytes) in [
        ("a.jsonl", text.to_vec()),
        ("a.json", text.to_vec()),
        ("table", text.to_vec()),
        ("a.ndjson.gz", gzip),
        ("a.jsonl.zst", zstd::encode_all(&text[..], 3).unwrap()),
    ] {
        let source = open(&file(&folder, name, bytes)).unwrap();
        assert_eq!(numbers(&source, "a").unwrap(), [Some(1.0), Some(2.0)], "{name}");
    }
    let csv = open(&file(&folder, "odd.csv", "{a},b\n1,2\n")).unwrap();
    assert_eq!(csv.schema().names().collect::<Vec<_>>(), ["{a}", "b"]);
}

#[test]
fn strings_and_keys_are_unescaped() {
    let folder = folder();
    let text = "{\"a\\n\\u00e9\":\"x\\ty\\\"\\ud83d\\ude00\",\"NA\":\"NA\",\"\":\" \"}\n";
    let source = open(&file(&folder, "a.ndjson", text)).unwrap();
    assert_eq!(source.schema().names().collect::<Vec<_>>(), ["a\né", "NA", ""]);
    assert_eq!(texts(&source, "a\né", ReadAs::Text).unwrap(), [Some("x\ty\"\u{1f600}".to_owned())]);
    assert_eq!(texts(&source, "NA", ReadAs::Text).unwrap(), [Some("NA".to_owned())]);
    assert_eq!(texts(&source, "", ReadAs::Text).unwrap(), [Some(" ".to_owned())]);
}

#[test]
fn faulty_lines_are_refused_when_opened() {
    let folder = folder();
    for (text, expected) in [
        ("", "`a.ndjson` is empty"),
        ("\n \n", "`a.ndjson` is empty"),
        ("{}\n", "`a.ndjson` is empty"),
        (" [\n{\"a\":1}]", "`a.ndjson` is one JSON array; one object on each line is needed"),
        ("{\"a\":1}\n\n{\"a\":}\n", "`a.ndjson` line 3 is not a JSON object: expected value, at byte 6"),
        (
            "{\"a\":1}\n7\n",
            "`a.ndjson` line 2 is not a JSON object: invalid type: integer `7`, expected an object, at byte 1",
        ),
        ("{\"a\":1} x\n", "`a.ndjson` line 1 is not a JSON object: trailing characters, at byte 9"),
        ("{\"a\":1,\"a\":2}\n", "`a.ndjson` line 1 has the key `a` more than once"),
        ("{\"a\":NaN}\n", "`a.ndjson` line 1 is not a JSON object: expected value, at byte 6"),
        ("{\n\"a\":1}\n", "`a.ndjson` line 1 is not a JSON object: EOF while parsing an object, at byte 1"),
    ] {
        let error = open(&file(&folder, "a.ndjson", text)).unwrap_err();
        assert_eq!(words(&error, &folder), expected);
    }
    let error = open(&file(&folder, "a.ndjson", b"{\"a\":\"\xff\"}\n")).unwrap_err();
    assert!(words(&error, &folder).ends_with("it is not valid UTF-8"), "{error}");
    let error = open(&file(&folder, "array", "[{\"a\":1}]")).unwrap_err();
    assert!(matches!(error, Error::Unsupported { what: Unsupported::JsonArray, .. }), "{error}");
}

#[test]
fn faulty_values_are_found_on_their_line_however_far_down() {
    let folder = folder();
    let sound = "{\"a\":1,\"b\":\"x\"}\n\n".repeat(20_000);
    for (line, expected) in [
        ("{\"a\":\"2\"}", "line 40001, column `a` holds `2`, which is not a number"),
        ("{\"a\":true}", "line 40001, column `a` holds `true`, which is not a number"),
        ("{\"a\":1e999}", "line 40001, column `a` holds `1e999`, which is not finite"),
        ("{\"a\":[1]}", "line 40001, column `a` holds a list, which is not a single value"),
        ("{\"c\":1}", "line 40001 has the key `c`, which none of the first 10000 records has"),
        ("{\"b\":1,\"b\":1}", "line 40001 has the key `b` more than once"),
        ("{\"a\":1", "line 40001 is not a JSON object: EOF while parsing an object, at byte 6"),
    ] {
        let path = file(&folder, "a.ndjson", format!("{sound}{line}\n{{\"a\":1}}\n"));
        let source = open(&path).unwrap();
        for pool in Pool::all() {
            let error = pool.install(|| numbers(&source, "a")).unwrap_err();
            assert_eq!(words(&error, &folder), format!("`a.ndjson` {expected}"));
        }
    }
}

#[test]
fn numbers_are_read_to_the_last_bit() {
    let folder = folder();
    let cases =
        ["0.1", "1e-310", "1.7976931348623157e308", "-0", "9007199254740993", "5e-324", "123456789012345678"];
    let text: String = cases.iter().map(|number| format!("{{\"a\":{number}}}\n")).collect();
    let source = open(&file(&folder, "a.ndjson", text)).unwrap();
    let bits: Vec<u64> = numbers(&source, "a").unwrap().into_iter().map(|v| v.unwrap().to_bits()).collect();
    let expected: Vec<u64> = cases.iter().map(|text| text.parse::<f64>().unwrap().to_bits()).collect();
    assert_eq!(bits, expected);
}

#[test]
fn booleans_are_zero_and_one() {
    let folder = folder();
    let source =
        open(&file(&folder, "a.ndjson", "{\"a\":true}\n{\"a\":false}\n{}\n{\"a\":1}\n{\"a\":0.0}\n"))
            .unwrap();
    let rows = read(&source, &[("a", ReadAs::Boolean)]).unwrap();
    let expected = arrow_array::Float64Array::from(vec![Some(1.0), Some(0.0), None, Some(1.0), Some(0.0)]);
    assert_eq!(rows[0].column(0).as_ref(), &expected);
    let source = open(&file(&folder, "a.ndjson", "{\"a\":2}\n")).unwrap();
    let error = read(&source, &[("a", ReadAs::Boolean)]).unwrap_err();
    assert!(matches!(error, Error::NotABoolean { .. }), "{error}");
}

#[test]
fn several_files_are_one_table_matched_by_name() {
    let folder = folder();
    file(&folder, "p1.ndjson", "{\"a\":1,\"b\":10}\n");
    file(&folder, "p2.ndjson", "{\"b\":20,\"a\":2}\n{\"a\":3,\"b\":30}");
    let pattern = folder.path().join("p*.ndjson").display().to_string();
    let source = open(&pattern).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [1.0, 2.0, 3.0].map(Some));
    assert_eq!(numbers(&source, "b").unwrap(), [10.0, 20.0, 30.0].map(Some));
    let place = source.locate(2).unwrap().to_string();
    assert!(place.ends_with("p2.ndjson` line 2"), "{place}");
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let folder = folder();
    let text: String = (0..50)
        .map(|i| format!("{{\"a\":{},\"b\":\"\\u00e9 {i}\",\"c\":[{i},{{}}]}}\n", f64::from(i) * 0.1))
        .collect();
    let (_, n_flipped) = damage(&folder, "a.ndjson", text.as_bytes());
    assert!(n_flipped > 30, "{n_flipped}");
    let deep = format!("{{\"a\":{}{}}}\n", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(open(&file(&folder, "deep.ndjson", deep)).unwrap().schema().columns.len(), 1);
}
