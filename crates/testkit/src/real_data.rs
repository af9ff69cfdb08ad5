//! Real tables, which are not part of the project.

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

/// Says that a test tests nothing here, and why; fails where every test must test.
pub fn skip(why: &str) {
    let required = std::env::var_os("DSHAP_REQUIRE_DATA").is_some_and(|value| !value.is_empty());
    assert!(!required, "{why}, and `./test full` skips no test");
    println!("skipped: {why}");
}
