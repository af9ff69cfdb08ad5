//! What the tests of experiments share.

use dshap_experiments::dataset::Library;
use dshap_experiments::{Experiment, Settings, Unwatched, run};
use std::path::{Path, PathBuf};

/// Settings of a run that takes seconds, on one simulated panel.
pub(crate) fn tiny(panel: &str) -> Settings {
    Settings {
        quick: true,
        seed: 11,
        repetitions: Some(2),
        d_shapley: Some(1),
        only: Some(vec![panel.into()]),
        ..Settings::default()
    }
}

/// The same with D-SHAPLEY where the quick version has it.
pub(crate) fn tiny_bounds(panel: &str) -> Settings {
    Settings { d_shapley: None, ..tiny(panel) }
}

/// Runs an experiment in its own folder.
pub(crate) fn done(experiment: Experiment, settings: &Settings) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run(experiment, settings, folder.path(), &Unwatched).unwrap();
    folder
}

/// A CSV file: its header, and its rows.
pub(crate) fn csv(path: &Path) -> (String, Vec<Vec<String>>) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap().to_string();
    (header, lines.map(|line| line.split(',').map(str::to_string).collect()).collect())
}

/// A cell as a number.
pub(crate) fn number(cell: &str) -> f64 {
    cell.parse().unwrap()
}

/// The folder of real data, if there is one.
pub(crate) fn data() -> Option<PathBuf> {
    dshap_testkit::real_data("")
}

/// Finds datasets in `folder` and nowhere else.
pub(crate) fn library(folder: &Path) -> Library {
    Library { folders: vec![folder.into()], cache: None }
}
