//! The folder of an experiment: its record, its table, its figure, its summary.

use crate::data::{Panel, Rows};
use crate::error::{Difference, ExperimentOption};
use crate::ledger::{Column, Ledger, Row, Unit};
use crate::settings::{Experiment, Settings, ShownConstant};
use crate::{Error, Watch};
use dshap_draw::Figure;
use dshap_io::AtomicFile;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Units in progress at a time, which is also what a kill can cost.
const BATCH_UNITS: usize = 8;

/// Pixels of a PNG to a unit of its SVG.
const PNG_SCALE: f32 = 2.0;

/// Raised whenever a method of the experiments changes its numbers, so that results of both
/// do not meet in one table. 2: D-SHAPLEY as in its authors' program.
const REVISION: u32 = 2;

/// What an experiment was asked to do, stored next to its results. It does not
/// contain the number of repetitions: more may be requested later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    experiment: String,
    version: String,
    /// [`REVISION`]; older records have none.
    #[serde(default)]
    revision: u32,
    quick: bool,
    seed: u64,
    handling: String,
    /// Names of the panels, if the experiment has any.
    panels: Vec<String>,
    /// Repetitions with D-SHAPLEY, as they were requested.
    d_shapley: String,
    /// The constant that Figure 4 shows.
    #[serde(default = "unnamed_constant")]
    constant: String,
    /// Digests of the tables that were read, by dataset.
    data: BTreeMap<String, String>,
}

impl Record {
    /// Settings that differ, apart from tables.
    fn differences(&self, wanted: &Record) -> Vec<Difference> {
        let both = [
            (None, self.program(), wanted.program()),
            (Some(ExperimentOption::Quick), yes_or_no(self.quick), yes_or_no(wanted.quick)),
            (Some(ExperimentOption::Seed), self.seed.to_string(), wanted.seed.to_string()),
            (Some(ExperimentOption::DataHandling), self.handling.clone(), wanted.handling.clone()),
            (Some(ExperimentOption::Only), self.panels.join(","), wanted.panels.join(",")),
            (Some(ExperimentOption::DShapley), self.d_shapley.clone(), wanted.d_shapley.clone()),
            (Some(ExperimentOption::Constant), self.constant.clone(), wanted.constant.clone()),
        ];
        both.into_iter()
            .filter(|(_, found, wanted)| found != wanted)
            .map(|(option, found, wanted)| Difference { option, found, wanted })
            .collect()
    }

    /// The program that made the results.
    fn program(&self) -> String {
        format!("{} (experiments {})", self.version, self.revision)
    }
}

/// Records from before it was an option have this constant.
fn unnamed_constant() -> String {
    ShownConstant::default().name().into()
}

fn yes_or_no(given: bool) -> String {
    if given { "given" } else { "not given" }.into()
}

/// Where the results of one experiment go.
#[derive(Debug)]
pub(crate) struct Output {
    folder: PathBuf,
    experiment: Experiment,
    record: Record,
    /// The record of earlier results, if there are any.
    found: Option<Record>,
}

impl Output {
    /// Checks that results in the folder, if there are any, come from a run with the
    /// same settings. Nothing is written yet: a run that fails before its first
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
            revision: REVISION,
            quick: settings.quick,
            seed: settings.seed,
            handling: settings.handling.name().into(),
            panels: panels.iter().map(|panel| panel.name.to_string()).collect(),
            d_shapley: settings.d_shapley_in_words(),
            constant: settings.constant.name().into(),
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

    /// Records the tables that results depend on.
    ///
    /// # Errors
    ///
    /// [`Error::OtherData`] if results in the folder come from another table.
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
        // The user named the folder, not the file: a link there may lead anywhere.
        let mut file = AtomicFile::in_place_of(&path)?;
        file.write_all(bytes).map_err(Error::file(&path))?;
        Ok(file.commit()?)
    }

    /// Does the units of `plan` that are not done yet, and returns all rows. `work`
    /// is called with the number of a unit. Several units run at a time, unless they
    /// are `timed` and need the machine to themselves.
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
                    // Only now are there results to record settings for.
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
