//! Where the reference rows of a valuer came from.

use crate::Error;
use crate::reference::RowCounts;
use dshap_io::{FileDigest, Source};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What was done with some files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The first fit.
    Fit,
    /// Rows were added.
    Add,
    /// Rows were taken away.
    Forget,
}

/// One thing that happened to a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What.
    pub action: Action,
    /// The files, with digests.
    pub files: Vec<InputFile>,
    /// Reference rows that came or went; those of weight 0 do not count.
    pub rows: u64,
    /// Rows left out for a missing cell.
    pub left_out: u64,
    /// Missing cells that a mean was put into.
    pub filled: u64,
}

impl Step {
    /// A step with the counts of its rows.
    pub fn new(action: Action, files: Vec<InputFile>, counts: RowCounts, n_rows: usize) -> Self {
        Self { action, files, rows: n_rows as u64, left_out: counts.n_left_out(), filled: counts.n_filled }
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// As the user named it.
    pub name: String,
    /// Its size on disk, if digests were asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bytes: Option<u64>,
    /// SHA-256 in hexadecimal, if asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sha256: Option<String>,
}

impl InputFile {
    /// The files of a source, with digests if asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that cannot be read.
    pub fn of(source: &Source, digests: bool) -> Result<Vec<InputFile>, Error> {
        if !digests {
            let plain = |name: &str| InputFile { name: name.into(), bytes: None, sha256: None };
            return Ok(source.files().map(plain).collect());
        }
        Ok(source.digests()?.into_iter().map(InputFile::from).collect())
    }

    /// A valuer file, with its digest if asked for.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] for a file that cannot be read.
    pub fn of_valuer(path: &Path, digest: bool) -> Result<InputFile, Error> {
        let name = path.display().to_string();
        if !digest {
            return Ok(InputFile { name, bytes: None, sha256: None });
        }
        Ok(InputFile { name, ..FileDigest::of_path(path)?.into() })
    }

    /// Whether both are known to hold the same bytes.
    pub fn same_contents(&self, other: &InputFile) -> bool {
        self.sha256.is_some() && self.sha256 == other.sha256 && self.bytes == other.bytes
    }
}

impl From<FileDigest> for InputFile {
    fn from(file: FileDigest) -> Self {
        Self { name: file.name, bytes: Some(file.bytes), sha256: Some(file.sha256) }
    }
}

/// Files that were added and not forgotten, by digest.
pub fn files_in(history: &[Step]) -> Vec<&InputFile> {
    let mut files: Vec<&InputFile> = Vec::new();
    for step in history {
        match step.action {
            Action::Fit | Action::Add => files.extend(&step.files),
            Action::Forget => {
                let is_gone = |file: &&InputFile| step.files.iter().any(|gone| gone.same_contents(file));
                files.retain(|file| !is_gone(file));
            }
        }
    }
    files
}

/// Names of files with the same contents that count twice in a history.
pub fn repeated(history: &[Step]) -> Vec<String> {
    let files = files_in(history);
    let mut names: Vec<String> = Vec::new();
    for (i, file) in files.iter().enumerate() {
        if files[..i].iter().any(|other| other.same_contents(file)) && !names.contains(&file.name) {
            names.push(file.name.clone());
        }
    }
    names
}

/// Names of files that were forgotten more often than added, though they were
/// added once.
pub fn forgotten_again(history: &[Step]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (i, step) in history.iter().enumerate().filter(|(_, step)| step.action == Action::Forget) {
        let before = &history[..i];
        let was_there = |file: &InputFile| {
            before
                .iter()
                .filter(|s| s.action == Action::Forget)
                .flat_map(|s| &s.files)
                .any(|f| f.same_contents(file))
        };
        let is_there = |file: &InputFile| files_in(before).iter().any(|other| other.same_contents(file));
        let again = step.files.iter().filter(|file| was_there(file) && !is_there(file));
        for file in again {
            if !names.contains(&file.name) {
                names.push(file.name.clone());
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(action: Action, digest: &str) -> Step {
        let file = InputFile { name: format!("{digest}.csv"), bytes: Some(1), sha256: Some(digest.into()) };
        Step { action, files: vec![file], rows: 1, left_out: 0, filled: 0 }
    }

    #[test]
    fn files_count_twice_unless_forgotten_between() {
        let (a, b) = (step(Action::Fit, "a"), step(Action::Add, "b"));
        assert_eq!(repeated(&[a.clone(), b.clone()]), Vec::<String>::new());
        assert_eq!(repeated(&[a.clone(), b.clone(), step(Action::Add, "a")]), ["a.csv"]);
        let gone = step(Action::Forget, "a");
        assert_eq!(repeated(&[a, b, gone, step(Action::Add, "a")]), Vec::<String>::new());
    }

    #[test]
    fn files_are_forgotten_once() {
        let (a, gone) = (step(Action::Fit, "a"), step(Action::Forget, "a"));
        assert_eq!(forgotten_again(&[a.clone(), gone.clone()]), Vec::<String>::new());
        assert_eq!(forgotten_again(&[a.clone(), gone.clone(), gone.clone()]), ["a.csv"]);
        let added = step(Action::Add, "a");
        assert_eq!(forgotten_again(&[a, gone.clone(), added, gone]), Vec::<String>::new());
    }
}
