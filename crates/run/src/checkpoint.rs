//! The state of a fit, kept from time to time so that a killed run goes on.
//!
//! What is kept is exact, and blocks of rows are counted from the first row of
//! the table, so a run that goes on ends with the same bits.

use crate::design::LearnedDesign;
use crate::request::CheckpointFile;
use dshap::{BuilderParts, MomentsBuilder, MomentsForm, MomentsParts};
use dshap_catalogue::options::{self, DECIMAL, DEPENDENT, NO_HEADER, NO_INTERCEPT, TASK};
use dshap_catalogue::{Given, Group, OptionEntry, Task};
use dshap_io::{AtomicFile, Container, Source};
use dshap_models::linear::{FormWord, Keeper, Progress};
use dshap_models::{CheckpointDifference, Error, ExtraPass, RowCounts, RowSample, SampleCounts};
use dshap_table::{Design, DesignParts};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const KIND: &str = "checkpoint";

/// A checkpoint is read by the release that wrote it; this only tells them apart.
const VERSION: u32 = 4;

/// What a fit is of; two with the same job can take over from each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    dshap: String,
    files: Vec<JobFile>,
    /// The options that have a bearing on moments.
    options: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct JobFile {
    name: String,
    bytes: u64,
    modified: String,
    changed: String,
}

impl Job {
    pub(crate) fn new(source: &Source, given: &Given) -> Self {
        let files = source
            .stamps()
            .into_iter()
            .map(|stamp| JobFile {
                name: stamp.name,
                bytes: stamp.bytes,
                modified: stamp.modified_ns.to_string(),
                changed: stamp.changed_ns.to_string(),
            })
            .collect();
        // Whatever decides which numbers the moments sum. Dependent columns are looked for afterwards.
        let of_columns = options::all().filter(|option| option.group == Group::Columns);
        let of_columns = of_columns.filter(|option| option.name != DEPENDENT.name);
        let deciding = of_columns.chain([&TASK, &NO_INTERCEPT, &NO_HEADER, &DECIMAL]);
        let option = |option: &OptionEntry| (option.name.to_string(), format!("{:?}", given.value(option)));
        let options = deciding.map(option).collect();
        Self { dshap: env!("CARGO_PKG_VERSION").into(), files, options }
    }

    /// What differs.
    fn difference(&self, other: &Job) -> Option<CheckpointDifference> {
        if self.dshap != other.dshap {
            return Some(CheckpointDifference::Version(other.dshap.clone()));
        }
        let names = |job: &Job| job.files.iter().map(|file| file.name.clone()).collect::<Vec<_>>();
        if names(self) != names(other) {
            return Some(CheckpointDifference::Files(names(other)));
        }
        if let Some((file, _)) = self.files.iter().zip(&other.files).find(|(mine, theirs)| mine != theirs) {
            return Some(CheckpointDifference::ChangedFile(file.name.clone()));
        }
        let differs = |((_, mine), (_, theirs)): &(&(String, String), &(String, String))| mine != theirs;
        let option = self.options.iter().zip(&other.options).find(differs);
        option.map(|((name, _), _)| CheckpointDifference::Option(name.clone()))
    }
}

/// Keeps the state of a fit.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    last: Instant,
    job: Job,
    /// The design, whether the task was guessed, and the passes before the fit.
    design: Option<(Design, bool, Vec<ExtraPass>)>,
    resumed: Option<Progress>,
    n_resumed: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Document {
    job: Job,
    design: DesignParts,
    task_guessed: bool,
    extra_passes: Vec<ExtraPass>,
    n_read: u64,
    n_usable: u64,
    n_filled: u64,
    n_rows: usize,
    has_weights: bool,
    intercept: bool,
    form: Option<FormWord>,
    sample: SampleCounts,
    merged: Vec<Merged>,
}

#[derive(Serialize, Deserialize)]
struct Merged {
    level: u32,
    n_rows: usize,
    weight: f64,
    weight_sq: f64,
}

impl Checkpoint {
    /// A checkpoint at a file, which may hold the state of a killed run.
    pub(crate) fn open(file: &CheckpointFile, job: Job) -> Result<Self, Error> {
        let loaded = Self::load(&file.path, &job)?;
        let (design, resumed) = match loaded {
            Some((design, task_guessed, progress)) => {
                (Some((design, task_guessed, Vec::new())), Some(progress))
            }
            None => (None, None),
        };
        let n_resumed = resumed.as_ref().map(|progress| progress.rows.n_read);
        let (path, every, last) = (file.path.clone(), file.every, Instant::now());
        Ok(Self { path, every, last, job, design, resumed, n_resumed })
    }

    /// The design of a killed run, if there was one. Checkpoints are for regression.
    pub(crate) fn take_design(&mut self) -> Option<LearnedDesign> {
        let (design, task_guessed, extra_passes) = self.design.clone()?;
        Some(LearnedDesign { design, task: Task::Regression, task_guessed, extra_passes })
    }

    /// What is kept beside the state.
    pub(crate) fn keep_design(&mut self, design: &Design, task_guessed: bool, extra_passes: &[ExtraPass]) {
        self.design = Some((design.clone(), task_guessed, extra_passes.to_vec()));
    }

    /// Rows that a killed run had read.
    pub(crate) fn n_resumed(&self) -> Option<u64> {
        self.n_resumed
    }

    /// The state kept at `path`, or nothing if there is no such file.
    fn load(path: &Path, job: &Job) -> Result<Option<(Design, bool, Progress)>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let mut container = Container::read(path, KIND, VERSION)?;
        let name = path.display().to_string();
        let damaged = |what: String| Error::BadContents { file: name.clone(), what };
        let document: Document = serde_json::from_str(&container.document)
            .map_err(|error| damaged(format!("its document cannot be read: {error}")))?;
        if let Some(difference) = job.difference(&document.job) {
            return Err(Error::OtherCheckpoint { file: name, difference });
        }
        let design = Design::from_parts(document.design).map_err(|error| damaged(error.to_string()))?;
        let mut take = |name: &str| {
            container.take(name).ok_or_else(|| damaged(format!("its array `{name}` is missing")))
        };
        let form = document.form.map(MomentsForm::from);
        let mut merged = Vec::with_capacity(document.merged.len());
        for block in &document.merged {
            let level = block.level;
            let parts = MomentsParts {
                n_rows: block.n_rows,
                weight: block.weight,
                weight_sq: block.weight_sq,
                shift: take(&format!("{level}.shift"))?,
                offset: take(&format!("{level}.offset"))?,
                form: form.unwrap_or(MomentsForm::Products),
                lower: take(&format!("{level}.lower"))?,
                peak: None,
            };
            merged.push((level, parts));
        }
        let parts = BuilderParts {
            n_features: design.n_columns(),
            n_rows: document.n_rows,
            pending: take("pending")?,
            pending_weights: if document.has_weights { Some(take("pending.weights")?) } else { None },
            intercept: document.intercept,
            form,
            merged,
        };
        let moments = MomentsBuilder::from_parts(parts).map_err(|error| damaged(error.to_string()))?;
        let sample = RowSample::from_parts(design.n_columns(), document.sample, &take("sample")?)
            .ok_or_else(|| damaged("its sample of rows does not add up".into()))?;
        let rows =
            RowCounts { n_read: document.n_read, n_usable: document.n_usable, n_filled: document.n_filled };
        let progress = Progress { moments, sample, rows, extra_passes: document.extra_passes };
        Ok(Some((design, document.task_guessed, progress)))
    }

    fn write(&self, progress: &Progress) -> Result<(), Error> {
        let (design, task_guessed, before) = self.design.as_ref().expect("a design is learned before a fit");
        let builder = progress.moments.to_parts();
        let (sample, cells) = progress.sample.to_parts();
        let mut arrays = vec![("pending".to_string(), builder.pending), ("sample".to_string(), cells)];
        let has_weights = builder.pending_weights.is_some();
        arrays.extend(builder.pending_weights.map(|weights| ("pending.weights".to_string(), weights)));
        let mut merged = Vec::with_capacity(builder.merged.len());
        for (level, parts) in builder.merged {
            let MomentsParts { n_rows, weight, weight_sq, shift, offset, lower, .. } = parts;
            merged.push(Merged { level, n_rows, weight, weight_sq });
            arrays.push((format!("{level}.shift"), shift));
            arrays.push((format!("{level}.offset"), offset));
            arrays.push((format!("{level}.lower"), lower));
        }
        let document = Document {
            job: self.job.clone(),
            design: design.parts().clone(),
            task_guessed: *task_guessed,
            extra_passes: before.iter().chain(&progress.extra_passes).copied().collect(),
            n_read: progress.rows.n_read,
            n_usable: progress.rows.n_usable,
            n_filled: progress.rows.n_filled,
            n_rows: builder.n_rows,
            has_weights,
            intercept: builder.intercept,
            form: builder.form.map(FormWord::from),
            sample,
            merged,
        };
        let document = serde_json::to_string(&document).expect("a checkpoint has nothing JSON cannot hold");
        let container = Container { kind: KIND.into(), version: VERSION, document, arrays };
        let name = self.path.display().to_string();
        let failed = |reason| Error::Checkpoint { file: name.clone(), reason };
        // Not through a link: whoever may write to the folder could have put one there.
        let unwritten = |error| match error {
            dshap_io::Error::Write { reason, .. } => failed(reason),
            other => other.into(),
        };
        let mut file = AtomicFile::in_place_of(&self.path).map_err(unwritten)?;
        container.write(&mut file).map_err(failed)?;
        file.commit().map_err(unwritten)
    }

    /// Removes the file: the result is safe.
    pub(crate) fn remove(&self) {
        // A file that cannot be removed is recognised by the job in it.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Keeper for Checkpoint {
    fn resumed(&mut self) -> Option<Progress> {
        self.resumed.take()
    }

    fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }

    fn keep(&mut self, progress: &Progress) -> Result<(), Error> {
        self.write(progress)?;
        self.last = Instant::now();
        Ok(())
    }
}
