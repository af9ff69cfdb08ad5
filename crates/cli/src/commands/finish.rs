//! How a command ends: doubtful results are refused if asked for, else the output is completed, and only then
//! described.

use crate::failure::Failure;
use crate::speech::CommandLine;
use dshap_catalogue::Given;
use dshap_catalogue::options::{MEMORY, QUIET, STRICT, SUMMARY, THREADS};
use dshap_io::AtomicFile;
use dshap_run::Warning;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// How a run goes, whatever it does.
#[derive(Debug)]
pub(crate) struct RunOptions {
    /// The file for what ran.
    pub(crate) summary: Option<PathBuf>,
    /// Whether warnings are errors.
    pub(crate) strict: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) quiet: bool,
    /// The limit on memory, if there is one.
    pub(crate) memory: Option<u64>,
}

impl RunOptions {
    /// Those that were given.
    pub(crate) fn of(given: &Given) -> Self {
        Self {
            summary: given.word(&SUMMARY).map(PathBuf::from),
            strict: given.has(&STRICT),
            threads: given.size(&THREADS),
            quiet: given.has(&QUIET),
            memory: given.count(&MEMORY),
        }
    }

    /// Begins the file for what ran. This is done before the work, so that a folder that cannot be written to
    /// is noticed early.
    pub(crate) fn begin_record(&self) -> Result<Option<AtomicFile>, Failure> {
        let begin =
            |path: &PathBuf| AtomicFile::create(path).map_err(|error| Failure::file(SUMMARY_DOING, error));
        self.summary.as_ref().map(begin).transpose()
    }
}

/// Runs `work` on a number of threads.
pub(crate) fn in_pool(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0));
    let pool = builder.build().map_err(|error| Failure::usage(format!("cannot start threads: {error}")))?;
    pool.install(work)
}

/// What ran, with warnings as sentences.
#[derive(Serialize)]
pub(crate) struct Recorded<'a, R: Serialize> {
    #[serde(flatten)]
    pub(crate) ran: &'a R,
    pub(crate) warnings: Vec<String>,
}

impl<'a, R: Serialize> Recorded<'a, R> {
    pub(crate) fn new(ran: &'a R, warnings: &[Warning], speech: CommandLine) -> Self {
        let warnings = warnings.iter().map(|warning| dshap_words::warning(warning, &speech)).collect();
        Self { ran, warnings }
    }

    /// As JSON.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record has nothing JSON cannot hold")
    }
}

/// Refuses doubtful results if asked to. Otherwise completes the output by `finish`, which returns a few lines
/// about what was done, and then prints those.
pub(crate) fn conclude<R: Serialize>(
    recorded: &Recorded<'_, R>,
    mut record: Option<AtomicFile>,
    options: &RunOptions,
    doing: &str,
    finish: impl FnOnce() -> Result<String, Failure>,
) -> Result<(), Failure> {
    if options.strict && !recorded.warnings.is_empty() {
        return Err(Failure::Input {
            doing: doing.into(),
            causes: recorded.warnings.clone(),
            hint: Some("leave out `--strict` to accept warnings".into()),
        });
    }
    if let Some(record) = &mut record {
        write_record(&recorded.to_json(), record)?;
    }
    let described = finish()?;
    if let Some(record) = record {
        record.commit().map_err(|error| Failure::file(doing, error))?;
    }
    let mut text = if options.quiet { String::new() } else { described };
    for warning in recorded.warnings.iter().take(MOST_WARNINGS) {
        text += &format!("warning: {warning}\n");
    }
    match recorded.warnings.len().saturating_sub(MOST_WARNINGS) {
        0 => {}
        1 => text += "1 more warning: `--summary FILE` lists all\n",
        more => text += &format!("{more} more warnings: `--summary FILE` lists all\n"),
    }
    let text = crate::table::visible(&text);
    // The result is out; a closed standard error does not change that.
    let _ = std::io::stderr().write_all(text.as_bytes());
    Ok(())
}

/// More warnings are counted, not printed: nobody reads ten.
const MOST_WARNINGS: usize = 3;

const SUMMARY_DOING: &str = "cannot write the summary";

/// Writes the record but does not let it appear yet.
fn write_record(text: &str, file: &mut AtomicFile) -> Result<(), Failure> {
    // If it cannot be written, that has to be known before the result appears.
    writeln!(file, "{text}").and_then(|()| file.flush()).map_err(|error| Failure::Input {
        doing: SUMMARY_DOING.into(),
        causes: vec![format!("cannot write `{}`: {error}", file.name())],
        hint: None,
    })
}
