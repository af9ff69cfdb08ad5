//! Text tables without a header or with decimal commas, which only the reader's caller
//! can know.

use crate::common::{file, folder, numbers, texts, words};
use dshap_io::{Error, Note, ReadOptions, Source};
use dshap_table::{Kind, ReadAs};

const NO_HEADER: ReadOptions = ReadOptions { no_header: true, decimal_comma: false };
const COMMA: ReadOptions = ReadOptions { no_header: false, decimal_comma: true };

fn open_as(path: &str, how: ReadOptions) -> Result<Source, Error> {
    Source::open_as(&[path.to_owned()], how)
}

fn names(source: &Source) -> Vec<&str> {
    source.schema().names().collect()
}

#[test]
fn without_a_header_the_first_record_is_a_row() {
    let folder = folder();
    let source = open_as(&file(&folder, "a.csv", "1,red\n2,blue\n\n3,red\n"), NO_HEADER).unwrap();
    assert_eq!(names(&source), ["column_1", "column_2"]);
    assert_eq!(numbers(&source, "column_1").unwrap(), [Some(1.0), Some(2.0), Some(3.0)]);
    assert_eq!(source.notes(), []);
    let places = [0, 2].map(|row| source.locate(row).unwrap().to_string());
    assert!(places[0].ends_with("line 1") && places[1].ends_with("line 4"), "{places:?}");
}

#[test]
fn without_a_header_faults_are_found_where_they_are() {
    let folder = folder();
    for (text, expected) in [
        ("1,2\n3\n", "`a.csv` line 2"),
        ("1,\"2\"3\n4,5\n", "`a.csv` line 1"),
        ("1,2\n4,\"5\"6\n", "`a.csv` line 2"),
        ("1,2\n3,4\n5,6\"7\n", "`a.csv` line 3"),
    ] {
        let error = open_as(&file(&folder, "a.csv", text), NO_HEADER).unwrap_err();
        let words = words(&error, &folder);
        assert!(words.contains(expected), "{text:?}: {words}");
    }
    let mut long = "1,2\n".repeat(20_000);
    long.push_str("x,2\n");
    let source = open_as(&file(&folder, "a.csv", &long), NO_HEADER).unwrap();
    let error = numbers(&source, "column_1").unwrap_err();
    assert!(words(&error, &folder).contains("`a.csv` line 20001"), "{}", words(&error, &folder));
}

#[test]
fn without_a_header_ends_of_lines_and_of_the_table_are_recognised_too() {
    let folder = folder();
    let source = open_as(&file(&folder, "a.csv", "1,2,\n3,4,\n"), NO_HEADER).unwrap();
    assert_eq!(names(&source), ["column_1", "column_2"]);
    assert!(matches!(source.notes(), [Note::TrailingDelimiter { .. }]));
    let source = open_as(&file(&folder, "a.csv", "1,2,3\n4,5,6\nTotal\n"), NO_HEADER).unwrap();
    assert_eq!(numbers(&source, "column_1").unwrap(), [Some(1.0), Some(4.0)]);
    assert!(matches!(source.notes(), [Note::Footer { line: 3, .. }]));
    // Lines of words are rows, not further lines of a header.
    let text = "a,b\nc,d\n1,2\n3,4\n5,6\n7,8\n";
    let source = open_as(&file(&folder, "a.csv", text), NO_HEADER).unwrap();
    assert_eq!(texts(&source, "column_1", ReadAs::Text).unwrap().len(), 6);
    let parts = [file(&folder, "a.csv", "1,2\n"), file(&folder, "b.csv", "3,4\n")];
    let source = Source::open_as(&parts, NO_HEADER).unwrap();
    assert_eq!(numbers(&source, "column_2").unwrap(), [Some(2.0), Some(4.0)]);
}

#[test]
fn decimal_commas_make_numbers_and_points_do_not() {
    let folder = folder();
    let text = "a;b;c\n1,5;2,5e1;x\n-,5; 3 ;y\n;NA;z\n";
    let source = open_as(&file(&folder, "a.csv", text), COMMA).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [Some(1.5), Some(-0.5), None]);
    assert_eq!(numbers(&source, "b").unwrap(), [Some(25.0), Some(3.0), None]);
    assert_eq!(source.notes(), []);
    let source = open_as(&file(&folder, "a.csv", "a,b\n\"1,5\",\"2\"\n\"3,5\",\"4\"\n"), COMMA).unwrap();
    assert_eq!(numbers(&source, "a").unwrap(), [Some(1.5), Some(3.5)]);
    let source = open_as(&file(&folder, "a.csv", "y\n1,5\n2,5\n"), COMMA).unwrap();
    assert_eq!(numbers(&source, "y").unwrap(), [Some(1.5), Some(2.5)]);
    // A point may separate thousands, so it is not guessed at.
    let source = open_as(&file(&folder, "a.csv", "a;b\n1.234;1\n2.345;2\n"), COMMA).unwrap();
    assert_eq!(source.schema().columns[0].kind, Kind::Text);
    let mut long = "a;b\n".to_owned() + &"1,5;1\n".repeat(20_000);
    long.push_str("1.5;1\n");
    let source = open_as(&file(&folder, "a.csv", &long), COMMA).unwrap();
    let error = numbers(&source, "a").unwrap_err();
    assert!(matches!(error, Error::NotANumber { .. }), "{error}");
}

#[test]
fn both_go_together() {
    let folder = folder();
    let how = ReadOptions { no_header: true, decimal_comma: true };
    let source = open_as(&file(&folder, "a.csv", "1,5;2\n3,5;4\n"), how).unwrap();
    assert_eq!(numbers(&source, "column_1").unwrap(), [Some(1.5), Some(3.5)]);
    assert_eq!(source.notes(), []);
}
