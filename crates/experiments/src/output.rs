//! The folder of an experiment: its record, its table, its figure, its summary.

use crate::data::{Panel, Rows};
use crate::error::Difference;
use crate::ledger::{Column, Ledger, Row, Unit};
use crate::settings::{Experiment, Settings};
use crate::{Error, Watch};
use dshap_draw::Figure;
use dshap_io::AtomicFile;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Units that are worked on at a time; what a kill can cost.
const BATCH_UNITS: usize = 8;

/// Pixels of a PNG to a unit of its SVG.
const PNG_SCALE: f32 = 2.0;

/// What an experiment was asked to do, kept beside its results. Repetitions are
/// not in it: more of them may be asked for later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    experiment: String,
    version: String,
    quick: bool,
    seed: u64,
    handling: String,
    /// Names of the panels, of experiments that have some.
    panels: Vec<String>,
    /// Repetitions with D-SHAPLEY, in the words they were asked for.
    d_shapley: String,
    /// Digests of the tables that were read, by dataset.
    data: BTreeMap<String, String>,
}

impl Record {
    /// Settings that differ, tables aside.
    fn differences(&self, wanted: &Record) -> Vec<Difference> {
        let both = [
            ("the version of dshap", self.version.clone(), wanted.version.clone()),
            ("--quick", yes_or_no(self.quick), yes_or_no(wanted.quick)),
            ("--seed", self.seed.to_string(), wanted.seed.to_string()),
            ("--data-handling", self.handling.clone(), wanted.handling.clone()),
            ("--only", self.panels.join(","), wanted.panels.join(",")),
            ("--d-shapley", self.d_shapley.clone(), wanted.d_shapley.clone()),
        ];
        both.into_iter()
            .filter(|(_, found, wanted)| found != wanted)
            .map(|(setting, found, wanted)| Difference { setting, found, wanted })
            .collect()
    }
}

fn yes_or_no(said: bool) -> String {
    if said { "given" } else { "not given" }.into()
}

/// Where the results of one experiment go.
#[derive(Debug)]
pub(crate) struct Output {
    folder: PathBuf,
    experiment: Experiment,
    record: Record,
    /// The record of the results that are there, if there are any.
    found: Option<Record>,
}

impl Output {
    /// Sees to it that results in the folder, if there are any, are of a run with
    /// the same settings. Nothing is written yet: a run that fails before its first
    /// results leaves the folder free for another.
    pub(crate) fn open(
        folder: &Path,
        experiment: Experiment,
        settings: &Settings,
        panels: &[Panel],
    ) -> Result<Self, Error> {
        if folder.is_file() {
            return Err(Error::NotAFolder { file: folder.display().to_string() });
        }
        let record = Record {
            experiment: experiment.name().into(),
            version: env!("CARGO_PKG_VERSION").into(),
            quick: settings.quick,
            seed: settings.seed,
            handling: settings.handling.name().into(),
            panels: panels.iter().map(|panel| panel.name.to_string()).collect(),
            d_shapley: settings.d_shapley_in_words(),
            data: BTreeMap::new(),
        };
        let mut output = Self { folder: folder.into(), experiment, record, found: None };
        if !Ledger::has_rows(&output.path("csv"))? {
            return Ok(output);
        }
        let path = output.path("json");
        let unreadable = |reason: String| Error::NoRecord {
            file: output.path("csv").display().to_string(),
            record: path.display().to_string(),
            reason,
        };
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(unreadable("there is no such file".into()));
            }
            Err(error) => return Err(Error::file(&path)(error)),
        };
        let found: Record = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        let differences = found.differences(&output.record);
        if !differences.is_empty() {
            return Err(Error::OtherRun { file: path.display().to_string(), differences });
        }
        output.found = Some(found);
        Ok(output)
    }

    /// Takes note of the tables that results depend on.
    ///
    /// # Errors
    ///
    /// [`Error::OtherData`] if results in the folder are of another table.
    pub(crate) fn uses<'a>(&mut self, rows: impl IntoIterator<Item = &'a Rows>) -> Result<(), Error> {
        for rows in rows {
            let Rows::Read(read) = rows else { continue };
            let digest = read.table.digest();
            let found = self.found.as_ref().and_then(|found| found.data.get(read.dataset));
            if self.found.is_some() && found != Some(&digest) {
                return Err(Error::OtherData {
                    file: read.file.display().to_string(),
                    dataset: read.dataset,
                    record: self.path("json").display().to_string(),
                });
            }
            self.record.data.insert(read.dataset.into(), digest);
        }
        Ok(())
    }

    fn write_record(&self) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(&self.record).expect("words and numbers only") + "\n";
        self.write("json", text.as_bytes())
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
        columns: &[Column],
        plan: &[Unit],
        timed: bool,
        watch: &dyn Watch,
        work: impl Fn(usize) -> Result<Vec<Row>, Error> + Sync,
    ) -> Result<Vec<Row>, Error> {
        std::fs::create_dir_all(&self.folder).map_err(Error::file(&self.folder))?;
        let mut ledger = Ledger::open(&self.path("csv"), columns, plan)?;
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
                if ledger.n_units() == 0 {
                    // Only now is there anything that settings could be those of.
                    self.write_record()?;
                }
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
