//! Runs that end without a result, and what is left of them.

use crate::common::Asked;
use dshap_io::{Destination, Format};
use dshap_run::{Arrange, Collected, Error, Observer, Stage, Unwatched, ValueRequest, Written, value};
use dshap_testkit::Sample;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

fn write_table(folder: &Path) -> PathBuf {
    let sample = Sample::gaussian(7, 60, 2, 0.8);
    let mut text = String::from("u,v,y\n");
    for row in 0..60 {
        text += &format!("{},{},{}\n", sample.columns[0][row], sample.columns[1][row], sample.y[row]);
    }
    let path = folder.join("rows.csv");
    std::fs::write(&path, text).expect("the folder is ours");
    path
}

fn request(path: &Path) -> ValueRequest {
    ValueRequest::new(vec![path.display().to_string()], Asked::new("y").given)
}

/// Stops a run, or meddles with its input, when a stage begins.
struct Meddler<'a> {
    at: Stage,
    appends_to: Option<&'a Path>,
    stops: AtomicBool,
}

impl Observer for Meddler<'_> {
    fn begin(&self, stage: Stage, _: u64) {
        if stage != self.at {
            return;
        }
        match self.appends_to {
            Some(path) => {
                let mut file =
                    std::fs::OpenOptions::new().append(true).open(path).expect("the table is there");
                file.write_all(b"0.5,0.25,1\n").expect("the table can be written to");
            }
            None => self.stops.store(true, Ordering::Relaxed),
        }
    }
    fn advance(&self, _: u64, _: u64) {}
    fn end(&self) {}
    fn is_interrupted(&self) -> bool {
        self.stops.load(Ordering::Relaxed)
    }
}

#[test]
fn a_file_that_grows_between_the_passes_is_noticed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = write_table(folder.path());
    let meddler = Meddler { at: Stage::Value, appends_to: Some(&path), stops: false.into() };
    let error = value(&request(&path), &meddler, &mut Collected::default()).unwrap_err();
    let Error::Io(dshap_io::Error::Changed { file }) = error else { panic!("{error:?}") };
    assert_eq!(file, path.display().to_string());
}

#[test]
fn an_observer_can_stop_any_pass_and_nothing_is_left() {
    for at in [Stage::Fit, Stage::Value] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = write_table(folder.path());
        let out = folder.path().join("values.csv");
        let meddler = Meddler { at, appends_to: None, stops: false.into() };
        let mut written = Written::new(Destination::File(out), Format::Csv, Arrange::ByRow);
        let error = value(&request(&path), &meddler, &mut written).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
        drop(written);
        let files = std::fs::read_dir(folder.path()).expect("the folder is there").count();
        assert_eq!(files, 1, "only the table itself is left after {at:?}");
    }
}

#[test]
fn more_columns_than_rows_are_refused_before_pairs_of_columns_are_stored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("wide.csv");
    let n = 4_000;
    let line = |cell: fn(usize) -> String| (0..n).map(cell).collect::<Vec<_>>().join(",");
    let mut text = line(|j| format!("c{j}")) + ",y\n";
    for row in ["1.5", "2", "7"] {
        text += &format!("{},{row}\n", line(|j| (j % 7).to_string()));
    }
    std::fs::write(&path, text).expect("the folder is ours");
    let error = value(&request(&path), &Unwatched, &mut Collected::default()).unwrap_err();
    let Error::Core { error, .. } = error else { panic!("{error:?}") };
    assert!(matches!(error, dshap::Error::TooFewRows { n_rows: 3, dim: 4000, .. }), "{error:?}");
}
