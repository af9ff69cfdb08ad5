//! The state of a fit, kept from time to time so that a killed run goes on.
//!
//! What is kept is exact, and blocks of rows are counted from the first row of
//! the table, so a run that goes on ends with the same bits.

use crate::Error;
use crate::reference::RowCounts;
use crate::request::{CheckpointFile, Model};
use crate::saved::FormWord;
use crate::summary::ExtraPass;
use dshap::{BuilderParts, MomentsBuilder, MomentsForm, MomentsParts};
use dshap_io::{Container, Source};
use dshap_table::{Design, DesignParts};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const KIND: &str = "checkpoint";

/// A checkpoint is read by the release that wrote it; this only tells them apart.
const VERSION: u32 = 2;

/// How far a fit has come.
pub(crate) struct Progress {
    pub(crate) design: Design,
    pub(crate) moments: MomentsBuilder,
    pub(crate) rows: RowCounts,
    pub(crate) task_guessed: bool,
    pub(crate) extra_passes: Vec<ExtraPass>,
}

/// What a fit is of; two with the same job can take over from each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    dshap: String,
    files: Vec<JobFile>,
    /// Everything that has a bearing on moments, in words.
    model: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct JobFile {
    name: String,
    bytes: u64,
    modified: String,
    changed: String,
}

impl Job {
    pub(crate) fn new(source: &Source, model: &Model) -> Self {
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
        let selection = &model.selection;
        let word = |flag: &str, said: String| (flag.to_string(), said);
        Self {
            dshap: env!("CARGO_PKG_VERSION").into(),
            files,
            model: vec![
                word("--task", format!("{:?}", model.task)),
                word("--target", format!("{:?}", selection.target)),
                word("--features", format!("{:?}", selection.features)),
                word("--exclude", format!("{:?}", selection.exclude)),
                word("--id", format!("{:?}", selection.id)),
                word("--by", format!("{:?}", selection.by)),
                word("--categorical", format!("{:?}", selection.categorical)),
                word("--weight", format!("{:?}", selection.weight)),
                word("--missing", format!("{:?}", model.missing)),
                word("--unseen", format!("{:?}", model.unseen)),
                word("--no-intercept", format!("{:?}", model.fit.intercept)),
            ],
        }
    }

    /// What differs, in words.
    fn difference(&self, other: &Job) -> Option<String> {
        if self.dshap != other.dshap {
            return Some(format!("it was made by dshap {}", other.dshap));
        }
        let names = |job: &Job| job.files.iter().map(|file| file.name.clone()).collect::<Vec<_>>();
        if names(self) != names(other) {
            return Some(format!("its input is `{}`", names(other).join("`, `")));
        }
        if let Some((file, _)) = self.files.iter().zip(&other.files).find(|(mine, theirs)| mine != theirs) {
            return Some(format!("`{}` has changed since", file.name));
        }
        let differs = |((_, mine), (_, theirs)): &(&(String, String), &(String, String))| mine != theirs;
        let flag = self.model.iter().zip(&other.model).find(differs).map(|((flag, _), _)| flag);
        flag.map(|flag| format!("`{flag}` was another"))
    }
}

/// Keeps the state of a fit.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    last: Instant,
    job: Job,
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
    pub(crate) fn new(file: &CheckpointFile, job: Job) -> Self {
        Self { path: file.path.clone(), every: file.every, last: Instant::now(), job }
    }

    /// The state kept at `path`, or nothing if there is no such file.
    pub(crate) fn load(path: &Path, job: &Job) -> Result<Option<Progress>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let mut container = Container::read(path, KIND, VERSION)?;
        let name = path.display().to_string();
        let damaged = |what: String| Error::BadContents { file: name.clone(), what };
        let document: Document = serde_json::from_str(&container.document)
            .map_err(|error| damaged(format!("its document cannot be read: {error}")))?;
        if let Some(what) = job.difference(&document.job) {
            return Err(Error::OtherCheckpoint { file: name, what });
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
        let rows =
            RowCounts { n_read: document.n_read, n_usable: document.n_usable, n_filled: document.n_filled };
        Ok(Some(Progress {
            design,
            moments,
            rows,
            task_guessed: document.task_guessed,
            extra_passes: document.extra_passes,
        }))
    }

    /// Writes the state down if the last time is long enough ago.
    pub(crate) fn keep_if_due(&mut self, progress: impl FnOnce() -> Progress) -> Result<(), Error> {
        if self.last.elapsed() < self.every {
            return Ok(());
        }
        self.keep(&progress())?;
        self.last = Instant::now();
        Ok(())
    }

    fn keep(&self, progress: &Progress) -> Result<(), Error> {
        let builder = progress.moments.to_parts();
        let mut arrays = vec![("pending".to_string(), builder.pending)];
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
            design: progress.design.parts().clone(),
            task_guessed: progress.task_guessed,
            extra_passes: progress.extra_passes.clone(),
            n_read: progress.rows.n_read,
            n_usable: progress.rows.n_usable,
            n_filled: progress.rows.n_filled,
            n_rows: builder.n_rows,
            has_weights,
            intercept: builder.intercept,
            form: builder.form.map(FormWord::from),
            merged,
        };
        let document = serde_json::to_string(&document).expect("a checkpoint has nothing JSON cannot hold");
        let container = Container { kind: KIND.into(), version: VERSION, document, arrays };
        // A name of its own instead of an unnamed file: what a killed run
        // leaves behind is overwritten by the next one.
        let partial = self.partial();
        let write = || {
            let mut file = File::create(&partial)?;
            container.write(&mut file)?;
            file.flush()?;
            file.sync_all()?;
            fs::rename(&partial, &self.path)
        };
        write().map_err(|reason| Error::Checkpoint { file: self.path.display().to_string(), reason })
    }

    /// Removes the file: the result is safe.
    pub(crate) fn remove(&self) {
        // What cannot be removed is told from a state that fits by the job in it.
        let _ = fs::remove_file(self.partial());
        let _ = fs::remove_file(&self.path);
    }

    fn partial(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".partial");
        name.into()
    }
}
