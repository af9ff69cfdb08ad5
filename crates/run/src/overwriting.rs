//! Outputs must not destroy inputs.

use crate::Error;
use dshap_io::Source;
use std::path::PathBuf;

pub(crate) fn refuse_overwriting(source: &Source, outputs: &[PathBuf]) -> Result<(), Error> {
    // A file that does not exist yet has no canonical path and is no input.
    let outputs: Vec<PathBuf> = outputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_output =
        |file: &&str| std::fs::canonicalize(file).is_ok_and(|path| path.is_file() && outputs.contains(&path));
    match source.files().find(is_output) {
        Some(file) => Err(Error::OutputIsInput { file: file.into() }),
        None => Ok(()),
    }
}
