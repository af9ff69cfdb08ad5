//! Why an experiment or a dataset could not be made.

use std::fmt;
use std::io;
use std::path::Path;

/// Something a user can choose about an experiment or a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExperimentOption {
    /// The version that takes about a minute.
    Quick,
    /// The seed.
    Seed,
    /// The number of repetitions.
    Repetitions,
    /// The folders with datasets.
    Data,
    /// Which tables two of the names mean.
    DataHandling,
    /// The panels to show.
    Only,
    /// Repetitions that D-SHAPLEY takes part in.
    DShapley,
    /// The same for single datasets.
    DShapleyOfDataset,
    /// The constant that Figure 4 shows.
    Constant,
}

impl ExperimentOption {
    /// Its name, with underscores.
    pub fn name(self) -> &'static str {
        match self {
            ExperimentOption::Quick => "quick",
            ExperimentOption::Seed => "seed",
            ExperimentOption::Repetitions => "repetitions",
            ExperimentOption::Data => "data",
            ExperimentOption::DataHandling => "data_handling",
            ExperimentOption::Only => "only",
            ExperimentOption::Constant => "constant",
            ExperimentOption::DShapley | ExperimentOption::DShapleyOfDataset => "d_shapley",
        }
    }
}

impl fmt::Display for ExperimentOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if *self == ExperimentOption::DShapleyOfDataset { " of a dataset" } else { "" };
        write!(f, "`{}`{of}", self.name())
    }
}

/// Why an experiment does not use an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unused {
    /// Nothing in the experiment is random.
    NothingRandom,
    /// The experiment reads no table.
    NoTable,
    /// The experiment has no datasets to choose from.
    NoDatasets,
    /// D-SHAPLEY takes no part in the experiment.
    NoDShapley,
    /// Neither of the two datasets that are handled in two ways is in the experiment.
    NoHandledDataset,
    /// Only Figure 4 shows a value with a constant.
    NoConstant,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unused::NothingRandom => "nothing in it is random",
            Unused::NoTable => "it reads no table",
            Unused::NoDatasets => "it has no datasets to choose from",
            Unused::NoDShapley => "D-SHAPLEY takes no part in it",
            Unused::NoHandledDataset => "neither `australian` nor `diabetes` is in it",
            Unused::NoConstant => "only fig4 shows values with a constant",
        })
    }
}

/// A setting that differs from that of earlier results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The option; none for the version of dshap.
    pub option: Option<ExperimentOption>,
    /// What it was.
    pub found: String,
    /// What it is now.
    pub wanted: String,
}

fn in_words(differences: &[Difference]) -> String {
    let words = |d: &Difference| {
        let setting = d.option.map_or("the version of dshap".to_string(), |option| option.to_string());
        format!("{setting} was {} and is now {}", d.found, d.wanted)
    };
    differences.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// Why an experiment or a dataset could not be made.
///
/// These are facts. What the user can do about them depends on the front end, so
/// `dshap-words` says it.
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

    /// A file of results is a link, and what it leads to was not named.
    #[error("`{file}` is a link, and dshap adds results only to a file of its own")]
    Link {
        /// The file.
        file: String,
    },

    /// A file could not be read or written.
    #[error("cannot use `{file}`: {reason}")]
    File {
        /// The file.
        file: String,
        /// What the operating system said.
        reason: io::Error,
    },

    /// The folder holds results of another run.
    #[error("`{file}` belongs to a run with other settings: {}", in_words(differences))]
    OtherRun {
        /// The record of that run.
        file: String,
        /// What differs.
        differences: Vec<Difference>,
    },

    /// The folder holds results that were computed on another table.
    #[error("`{file}` is not the table of `{dataset}` that the results next to `{record}` were computed on")]
    OtherData {
        /// The table.
        file: String,
        /// The dataset.
        dataset: &'static str,
        /// The record that has the digest of another table.
        record: String,
    },

    /// Results whose settings were not recorded, or cannot be read.
    #[error("`{file}` holds results, but their settings cannot be read from `{record}`: {reason}")]
    NoRecord {
        /// The results.
        file: String,
        /// Where their settings should be.
        record: String,
        /// Why they cannot be read.
        reason: String,
    },

    /// Results that have been changed since they were written.
    #[error("`{file}` is damaged in line {line}: {reason}")]
    Damaged {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },

    /// More results than the repetitions requested.
    #[error("`{file}` holds more repetitions than were asked for: line {line} begins with `{found}`")]
    MoreThanAsked {
        /// The file.
        file: String,
        /// The first line too many, counted from 1.
        line: usize,
        /// What it holds.
        found: String,
    },

    /// A repetition whose result is not a number.
    #[error("a repetition has no usable result: {reason}, in `{row}`")]
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

    /// An option that the experiment does not use.
    #[error("{experiment} does not use {option}: {why}")]
    NoUse {
        /// The experiment.
        experiment: &'static str,
        /// The option.
        option: ExperimentOption,
        /// Why.
        why: Unused,
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
    #[error("`{name}` is not a panel of {experiment}")]
    UnknownPanel {
        /// The name.
        name: String,
        /// The experiment.
        experiment: &'static str,
        /// Its panels.
        panels: Vec<&'static str>,
    },

    /// A table lacks rows or columns, or a cell does not hold a number.
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
    #[error("`{address}` did not return `{dataset}`: {reason}")]
    Format {
        /// The address.
        address: String,
        /// The dataset.
        dataset: &'static str,
        /// What is wrong, with the line.
        reason: String,
    },

    /// The parsed table is not the expected one.
    #[error("the table of `{dataset}` has the digest {found}, not {expected}")]
    Digest {
        /// The dataset.
        dataset: &'static str,
        /// The digest of what was parsed.
        found: String,
        /// The digest of the table that the published experiments use.
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
}
