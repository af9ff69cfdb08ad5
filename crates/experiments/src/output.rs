//! The folder of an experiment: its record, its table, its figure, its summary.

use crate::ledger::{Ledger, Row, Unit};
use crate::settings::{Experiment, Settings};
use crate::{Error, Watch};
use dshap_draw::Figure;
use dshap_io::AtomicFile;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Units that are worked on at a time; what a kill can cost.
const BATCH_UNITS: usize = 8;

/// Pixels of a PNG to a unit of its SVG.
const PNG_SCALE: f32 = 2.0;

/// What an experiment was asked to do, kept beside its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    experiment: String,
    version: String,
    quick: bool,
    seed: u64,
    handling: String,
    /// Everything else that results depend on, in words.
    details: Vec<String>,
}

/// Where the results of one experiment go.
#[derive(Debug)]
pub(crate) struct Output {
    folder: PathBuf,
    experiment: Experiment,
}

impl Output {
    /// Makes the folder, and sees to it that results there are of the same run.
    pub(crate) fn open(
        folder: &Path,
        experiment: Experiment,
        settings: &Settings,
        details: Vec<String>,
    ) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let output = Self { folder: folder.into(), experiment };
        let record = Record {
            experiment: experiment.name().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            quick: settings.quick,
            seed: settings.seed,
            handling: settings.handling.name().into(),
            details,
        };
        let path = output.path("json");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let found: Option<Record> = serde_json::from_str(&text).ok();
                if found.as_ref() != Some(&record) {
                    let words = |record: &Record| serde_json::to_string(record).unwrap_or_default();
                    return Err(Error::OtherRun {
                        file: path.display().to_string(),
                        found: found.as_ref().map_or("no record".into(), words),
                        wanted: words(&record),
                    });
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let text = serde_json::to_string_pretty(&record).expect("words and numbers only") + "\n";
                output.write("json", text.as_bytes())?;
            }
            Err(error) => return Err(Error::file(&path)(error)),
        }
        Ok(output)
    }

    fn path(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.experiment.name()))
    }

    fn write(&self, extension: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.path(extension);
        let mut file = AtomicFile::create(&path)?;
        file.write_all(bytes).map_err(Error::file(&path))?;
        Ok(file.commit()?)
    }

    /// Does the units of `plan` that are not done yet, and returns all rows.
    /// `work` is called with the number of a unit, several at a time unless units
    /// are `timed`: those have the machine to themselves.
    pub(crate) fn complete(
        &self,
        header: &[&str],
        plan: &[Unit],
        timed: bool,
        watch: &dyn Watch,
        work: impl Fn(usize) -> Result<Vec<Row>, Error> + Sync,
    ) -> Result<Vec<Row>, Error> {
        let mut ledger = Ledger::open(&self.path("csv"), header, plan)?;
        watch.begin(self.experiment.name(), ledger.n_units(), plan.len());
        let batch = if timed { 1 } else { BATCH_UNITS };
        while ledger.n_units() < plan.len() {
            let first = ledger.n_units();
            let next = first..plan.len().min(first + batch);
            let found: Vec<Result<Vec<Row>, Error>> =
                if timed { next.map(&work).collect() } else { next.into_par_iter().map(&work).collect() };
            for (rows, unit) in found.into_iter().zip(&plan[first..]) {
                let rows: Vec<Row> = rows?.into_iter().map(|row| [unit.key.clone(), row].concat()).collect();
                assert_eq!(rows.len(), unit.n_rows, "unit {:?} has as many rows as planned", unit.key);
                ledger.append(rows)?;
                watch.advance(ledger.n_units());
            }
        }
        watch.end();
        Ok(ledger.rows().to_vec())
    }

    /// Writes the figure, as SVG and as PNG.
    pub(crate) fn figure(&self, figure: &Figure) -> Result<(), Error> {
        self.write("svg", figure.to_svg().as_bytes())?;
        self.write("png", &figure.to_png(PNG_SCALE)?)
    }

    /// Writes the summary.
    pub(crate) fn summary(&self, text: &str) -> Result<(), Error> {
        self.write("md", text.as_bytes())
    }
}
