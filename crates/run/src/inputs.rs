//! Tables that are opened: no output may destroy one, and digests are taken beside
//! the work.

use crate::settings;
use dshap_catalogue::Given;
use dshap_catalogue::options::{POPULATION, TEST};
use dshap_io::{ReadOptions, Source};
use dshap_models::{Error, InputFile};
use dshap_table::Design;
use std::borrow::Cow;
use std::path::PathBuf;

/// Opens a table, unless one of its files is about to be written.
///
/// # Errors
///
/// [`Error::OutputIsInput`], [`Error::Io`].
pub fn open(files: &[String], outputs: &[PathBuf]) -> Result<Source, Error> {
    open_as(files, ReadOptions::default(), outputs)
}

/// As [`open`], with what the options say about how text files are written.
///
/// # Errors
///
/// As [`open`].
pub fn open_given(files: &[String], given: &Given, outputs: &[PathBuf]) -> Result<Source, Error> {
    open_as(files, settings::reading(given), outputs)
}

pub(crate) fn open_as(files: &[String], how: ReadOptions, outputs: &[PathBuf]) -> Result<Source, Error> {
    let source = Source::open_as(files, how)?;
    // A file that does not exist yet has no canonical path and is no input.
    let outputs: Vec<PathBuf> = outputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_output =
        |file: &&str| std::fs::canonicalize(file).is_ok_and(|path| path.is_file() && outputs.contains(&path));
    let replaced = source.files().find(is_output).map(String::from);
    match replaced {
        Some(file) => Err(Error::OutputIsInput { file }),
        None => Ok(source),
    }
}

/// Rows apart from the reference that utility is measured on.
#[derive(Debug, Clone)]
pub(crate) struct TestTable {
    pub(crate) source: Source,
    pub(crate) files: Vec<InputFile>,
    /// Whether they have targets.
    pub(crate) has_targets: bool,
}

impl TestTable {
    /// The test rows that were given as files, if any were.
    pub(crate) fn open(given: &Given, outputs: &[PathBuf], digests: bool) -> Result<Option<Self>, Error> {
        let has_targets = !given.has(&POPULATION);
        match given.list(if has_targets { &TEST } else { &POPULATION }) {
            [] => Ok(None),
            files => Self::of(open_given(files, given, outputs)?, digests, has_targets).map(Some),
        }
    }

    /// Test rows of a table at hand.
    pub(crate) fn of(source: Source, digests: bool, has_targets: bool) -> Result<Self, Error> {
        let files = InputFile::of(&source, digests)?;
        Ok(Self { source, files, has_targets })
    }

    /// How its columns become numbers.
    pub(crate) fn design<'a>(&self, design: &'a Design) -> Cow<'a, Design> {
        if self.has_targets { Cow::Borrowed(design) } else { Cow::Owned(design.without_target()) }
    }
}

/// Does some work while the digests of a source are taken. Those of a pipe are
/// taken by a thread of their own: it waits for bytes most of the time, and is not
/// waited for where the work has failed.
pub(crate) fn while_digesting<T: Send>(
    source: &Source,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<(T, Vec<InputFile>), Error> {
    if source.n_bytes_known().is_some() {
        let (done, files) = rayon::join(work, || InputFile::of(source, true));
        return Ok((done?, files?));
    }
    let pipe = source.clone();
    let digests = std::thread::spawn(move || InputFile::of(&pipe, true));
    let done = work()?;
    let files = digests.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    Ok((done, files))
}
