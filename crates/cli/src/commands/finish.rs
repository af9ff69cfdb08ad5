//! How a command ends: refused if doubtful, completed, and only then told.

use crate::args::RunArgs;
use crate::failure::Failure;
use dshap_io::AtomicFile;
use serde::Serialize;
use std::io::Write;
use std::path::Path;

/// What there is to say at the end.
pub(crate) struct Saying<'a, S> {
    /// For `--summary`.
    pub(crate) record: &'a S,
    /// Doubts.
    pub(crate) warnings: &'a [String],
    /// For the eyes.
    pub(crate) text: String,
}

/// Runs `work` on so many threads.
pub(crate) fn in_pool(
    threads: Option<u16>,
    work: impl FnOnce() -> Result<(), Failure> + Send,
) -> Result<(), Failure> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from));
    let pool = builder.build().map_err(|error| Failure::usage(format!("cannot start threads: {error}")))?;
    pool.install(work)
}

/// Refuses doubtful results if told to; else completes the output, and only
/// then says what was done.
pub(crate) fn conclude<S: Serialize>(
    saying: Saying<'_, S>,
    mut record: Option<AtomicFile>,
    args: &RunArgs,
    doing: &str,
    finish: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    if args.strict && !saying.warnings.is_empty() {
        return Err(Failure::Input {
            doing: doing.into(),
            causes: saying.warnings.to_vec(),
            hint: Some("leave `--strict` out to accept warnings".into()),
        });
    }
    if let Some(record) = &mut record {
        write_summary(saying.record, record)?;
    }
    finish()?;
    if let Some(record) = record {
        record.commit().map_err(|error| Failure::run(doing, &error.into()))?;
    }
    let mut text = String::new();
    if !args.quiet {
        text += &saying.text;
    }
    for warning in saying.warnings {
        text += &format!("warning: {warning}\n");
    }
    let text = crate::table::visible(&text);
    // The result is out; a closed standard error takes nothing from it.
    let _ = std::io::stderr().write_all(text.as_bytes());
    Ok(())
}

const SUMMARY: &str = "cannot write the summary";

pub(crate) fn begin_summary(path: &Path) -> Result<AtomicFile, Failure> {
    AtomicFile::create(path).map_err(|error| Failure::run(SUMMARY, &error.into()))
}

fn write_summary(summary: &impl Serialize, file: &mut AtomicFile) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(summary).expect("a summary has nothing JSON cannot hold");
    // What cannot be written is to be known before the result appears.
    writeln!(file, "{text}").and_then(|()| file.flush()).map_err(|error| Failure::Input {
        doing: SUMMARY.into(),
        causes: vec![format!("cannot write `{}`: {error}", file.name())],
        hint: None,
    })
}
