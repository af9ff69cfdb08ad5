//! The command `dshap`, which the package installs.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Carries out a command line, the name of the program first; returns the exit code.
/// Signals and `--help` end the process, as they do for a program.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| dshap_cli::run(words))
}
