//! Why an experiment or a dataset could not be made.

use std::io;
use std::path::Path;

/// A setting that differs from that of results at hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The setting.
    pub setting: &'static str,
    /// What it was.
    pub found: String,
    /// What it is now.
    pub wanted: String,
}

fn in_words(differences: &[Difference]) -> String {
    let words = |d: &Difference| format!("{} was {}, is now {}", d.setting, d.found, d.wanted);
    differences.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Why an experiment or a dataset could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A method could not value or fit rows.
    #[error("{what}")]
    Valuation {
        /// What was being done.
        what: String,
        /// Why it failed.
        source: dshap::Error,
    },

    /// A method that draws sets could not value rows.
    #[error("cannot {what}")]
    Baseline {
        /// What was being done.
        what: String,
        /// Why it failed.
        source: dshap_baselines::Error,
    },

    /// A table could not be read or written.
    #[error(transparent)]
    Table(#[from] dshap_io::Error),

    /// A figure could not be drawn.
    #[error(transparent)]
    Figure(#[from] dshap_draw::Error),

    /// A file could not be read or written.
    #[error("cannot use `{file}`: {reason}")]
    File {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: io::Error,
    },

    /// The folder holds results of another run.
    #[error("`{file}` is of a run with other settings: {}", in_words(differences))]
    OtherRun {
        /// The file that tells.
        file: String,
        /// What differs.
        differences: Vec<Difference>,
    },

    /// The folder holds results that were computed on another table.
    #[error("`{file}` is not the table of `{dataset}` that the results beside `{record}` were computed on")]
    OtherData {
        /// The table.
        file: String,
        /// The dataset.
        dataset: &'static str,
        /// The record that has the digest of another table.
        record: String,
    },

    /// Results whose settings nobody wrote down, or not in a way that can be read.
    #[error("`{file}` holds results, but their settings cannot be read from `{record}`: {reason}")]
    NoRecord {
        /// The results.
        file: String,
        /// Where their settings should be.
        record: String,
        /// Why they cannot be read.
        reason: String,
    },

    /// Results that are not as they were written.
    #[error("`{file}` is damaged in line {line}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// Results beyond the repetitions asked for.
    #[error("`{file}` holds more repetitions than were asked for: line {line} begins with `{found}`")]
    MoreThanAsked {
        /// The file.
        file: String,
        /// The first line too many, counted from 1.
        line: usize,
        /// What it holds.
        found: String,
    },

    /// A repetition whose result is no number.
    #[error("a repetition has no result: {reason}, in `{row}`")]
    NoNumber {
        /// The row.
        row: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A file where a folder should be.
    #[error("`{file}` is a file, not a folder")]
    NotAFolder {
        /// The file.
        file: String,
    },

    /// A setting that the experiment has no use for.
    #[error("{experiment} has no use for {setting}: {why}")]
    NoUse {
        /// The experiment.
        experiment: &'static str,
        /// The setting.
        setting: &'static str,
        /// Why.
        why: &'static str,
    },

    /// No file of a dataset was found.
    #[error("dataset `{dataset}` was not found; looked for {}", tried.join(", "))]
    NotFound {
        /// The dataset.
        dataset: &'static str,
        /// The files that were tried.
        tried: Vec<String>,
        /// Whether it can be downloaded.
        can_be_downloaded: bool,
    },

    /// There is no dataset of that name.
    #[error("there is no dataset `{name}`")]
    UnknownDataset {
        /// The name.
        name: String,
    },

    /// There is no panel of that name in the experiment.
    #[error("`{name}` is no panel of {experiment}")]
    UnknownPanel {
        /// The name.
        name: String,
        /// The experiment.
        experiment: &'static str,
        /// Its panels.
        panels: Vec<&'static str>,
    },

    /// A table lacks rows or columns, or a cell holds no number.
    #[error("`{file}` is not the table it should be: {reason}")]
    WrongTable {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },

    /// A dataset whose features were computed from images, not downloaded.
    #[error("`{dataset}` cannot be downloaded: {why}")]
    NotOffered {
        /// The dataset.
        dataset: &'static str,
        /// Why not.
        why: &'static str,
    },

    /// A download failed.
    #[error("cannot get `{address}`: {reason}")]
    Download {
        /// The address.
        address: String,
        /// Why it failed.
        reason: String,
    },

    /// What was downloaded is not in the format of its source.
    #[error("what `{address}` gave is not `{dataset}`: {reason}")]
    Format {
        /// The address.
        address: String,
        /// The dataset.
        dataset: &'static str,
        /// What is wrong, with the line.
        reason: String,
    },

    /// The parsed table is another one than expected.
    #[error("the table of `{dataset}` has the digest {found}, not {expected}")]
    Digest {
        /// The dataset.
        dataset: &'static str,
        /// The digest of what was parsed.
        found: String,
        /// The digest of the table that the experiments are known on.
        expected: &'static str,
    },
}

impl Error {
    /// A valuation that failed while doing `what`.
    pub(crate) fn valuing(what: impl Into<String>) -> impl FnOnce(dshap::Error) -> Error {
        let what = what.into();
        move |source| Error::Valuation { what: format!("cannot {what}"), source }
    }

    /// A file that failed.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let file = path.display().to_string();
        move |reason| Error::File { file, reason }
    }

    /// What to try next, if there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::OtherRun { .. } | Error::OtherData { .. } | Error::NotAFolder { .. } => {
                Some("choose another folder with `-o`".into())
            }
            Error::NoRecord { file, .. } => {
                Some(format!("choose another folder with `-o`, or move `{file}` away"))
            }
            Error::Damaged { file, .. } => {
                Some(format!("mend the line, or move `{file}` away to begin anew"))
            }
            Error::MoreThanAsked { .. } => {
                Some("ask for as many `--repetitions` as it holds, or choose another folder with `-o`".into())
            }
            Error::NotFound { dataset, can_be_downloaded: true, .. } => Some(format!(
                "name the folder that holds it with `--data DIR`, or run `dshap dataset {dataset}`"
            )),
            Error::NotFound { .. } => {
                Some("name the folder that holds it with `--data DIR`, or leave it out with `--only`".into())
            }
            Error::NotOffered { .. } => {
                Some("`dshap experiment` takes a table of it from the folder of `--data DIR`".into())
            }
            Error::UnknownDataset { .. } => Some("`dshap dataset --list` names them all".into()),
            Error::UnknownPanel { panels, .. } => Some(format!("its panels are {}", panels.join(", "))),
            Error::Download { .. } => {
                Some("`--from URL` takes a copy from elsewhere; a local file will do, too".into())
            }
            Error::Digest { .. } => Some("`--unchecked` keeps the table all the same".into()),
            _ => None,
        }
    }
}
