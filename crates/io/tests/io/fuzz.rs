//! Random and damaged files: every one is read or refused with its name, and none makes
//! the reader panic, hang or hold more memory than the file warrants.

use crate::common::{file, folder, read_all, write};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use dshap_io::Container;
use dshap_testkit::{Attack, fuzz};
use std::sync::Arc;
use tempfile::TempDir;

/// Reads a file in full, or finds out why not.
#[track_caller]
fn survives(folder: &TempDir, name: &str, bytes: &[u8]) {
    if let Err(error) = read_all(&file(folder, name, bytes)) {
        let words = error.to_string();
        assert!(words.contains(&format!("{name}`")), "{words}");
        assert!(words.len() < 2000, "a message of {} bytes", words.len());
    }
}

fn silently(attack: impl FnOnce()) {
    // Decoders of damaged files may panic, which the reader makes an error.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    attack();
    std::panic::set_hook(hook);
}

#[test]
fn csv_of_any_text() {
    const PIECES: [&str; 24] = [
        ",",
        ",",
        ",",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\"",
        "\"\"",
        "'",
        "\\",
        ";",
        "\t",
        "|",
        " ",
        "1",
        "2.5",
        "-3e-7",
        "x",
        "é",
        "NA",
        "2024-01-31",
        "\u{feff}",
        "#",
    ];
    let folder = folder();
    fuzz("csv_text", |attack| {
        let mut text = attack.text(&PIECES, 60);
        // Half of them begin well.
        if attack.below(2) == 0 {
            text = format!("a,b,c\n1,x,2\n3,y,4\n{text}");
        }
        survives(&folder, "a.csv", text.as_bytes());
    });
}

#[test]
fn csv_of_any_bytes() {
    let folder = folder();
    let clean = "id,name,size\n1,\"a, b\",2.5\n2,\"say \"\"x\"\"\",\n3,c,1e300\n".repeat(3);
    fuzz("csv_bytes", |attack| survives(&folder, "a.csv", &attack.damage(clean.as_bytes())));
}

#[test]
fn ndjson_of_any_text() {
    const PIECES: [&str; 18] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\"",
        "\"\\u0000\"",
        "1",
        "-2.5e3",
        "null",
        "true",
        "\n",
        "{\"a\":1}\n",
        "{\"a\":\"x\",\"b\":2}\n",
        " ",
        "1e999",
    ];
    let folder = folder();
    fuzz("ndjson", |attack| {
        let text = format!("{{\"a\":1,\"b\":\"x\"}}\n{}", attack.text(&PIECES, 40));
        survives(&folder, "a.ndjson", text.as_bytes());
        survives(&folder, "a.ndjson", &attack.damage(text.as_bytes()));
    });
}

fn table() -> RecordBatch {
    let n = 50;
    let column = |array: ArrayRef| array;
    RecordBatch::try_from_iter([
        (
            "number",
            column(Arc::new(
                (0..n).map(|i| (i % 7 != 0).then_some(f64::from(i) * 0.3)).collect::<Float64Array>(),
            )),
        ),
        ("whole", column(Arc::new((0..n).map(i64::from).collect::<Int64Array>()))),
        ("flag", column(Arc::new((0..n).map(|i| Some(i % 2 == 0)).collect::<BooleanArray>()))),
        ("text", column(Arc::new((0..n).map(|i| Some(format!("level {}", i % 5))).collect::<StringArray>()))),
    ])
    .unwrap()
}

fn damaged(target: &str, name: &str, rows: &RecordBatch) {
    let folder = folder();
    let whole = std::fs::read(write(&folder, name, rows)).unwrap();
    fuzz(target, |attack: &mut Attack| {
        let bytes = attack.damage(&whole);
        silently(|| survives(&folder, name, &bytes));
    });
}

#[test]
fn damaged_parquet() {
    damaged("parquet", "a.parquet", &table());
}

#[test]
fn damaged_arrow() {
    damaged("arrow", "a.arrow", &table());
}

#[test]
fn damaged_npy() {
    damaged("npy", "a.npy", &table().project(&[0, 1, 2]).unwrap());
}

/// Any container that is whole gives back what is in it; any other is refused.
#[test]
fn damaged_containers() {
    let container = Container {
        kind: "valuer".into(),
        version: 1,
        document: "{\"a\":[1,2,3],\"b\":\"x\"}".into(),
        arrays: vec![("x".into(), vec![1.0, -2.5]), ("y".into(), vec![])],
    };
    let whole = container.to_bytes().unwrap();
    let folder = folder();
    fuzz("container", |attack| {
        let path = file(&folder, "a.dshap", attack.damage(&whole));
        if let Ok(read) = Container::read(path.as_ref(), "valuer", 1) {
            assert_eq!(read, container, "damage went unnoticed");
        }
    });
}
