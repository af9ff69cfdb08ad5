//! Real tables, which are not part of the project.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file of the folder that `DSHAP_DATA` names, or of `../shared/data` beside the
/// repository. A test without its file prints that it tests nothing; with
/// `DSHAP_REQUIRE_DATA`, as `./test full` has it, it fails.
pub fn real_data(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("DSHAP_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    skip(&format!("there is no `{}`", path.display()));
    None
}

/// Says that a test tests nothing here, and why; fails where every test must test. A passing test
/// prints nothing, so the line also goes to the file that `DSHAP_SKIPPED` names; `./test` shows it.
///
/// # Panics
///
/// With `DSHAP_REQUIRE_DATA`, or if the file cannot be written.
pub fn skip(why: &str) {
    let required = std::env::var_os("DSHAP_REQUIRE_DATA").is_some_and(|value| !value.is_empty());
    assert!(!required, "{why}, and `./test full` skips no test");
    println!("skipped: {why}");
    if let Some(path) = std::env::var_os("DSHAP_SKIPPED") {
        let thread = std::thread::current();
        let line = format!("{}: {why}\n", thread.name().unwrap_or("a test"));
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("DSHAP_SKIPPED names a file");
    }
}
