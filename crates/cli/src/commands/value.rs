//! `dshap value`.

use super::plan::{self, Target};
use crate::args::{RunArgs, ValueArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{LONG_TABLE, grouped, render, significant};
use dshap_io::{AtomicFile, Destination};
use dshap_run::{Arrange, Collected, Summary, Written};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &ValueArgs) -> Result<(), Failure> {
    let request = plan::request(args)?;
    let target = plan::target(args.output.output.as_deref(), args.output.format)?;
    let arrange = plan::arrange(&args.output);
    let doing = format!("cannot value `{}`", args.points.join("`, `"));
    let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error);
    let observer = Progress::new(args.run.quiet);
    if args.run.summary.is_some() && args.run.summary == args.output.output {
        return Err(Failure::usage("the output and the summary cannot be the same file"));
    }
    // Before the work, so that a folder that cannot be written to is known early.
    let record = args.run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;

    in_pool(args.run.threads, || match target {
        Target::Written(destination, format) => {
            let mut written = Written::new(destination.clone(), format, arrange);
            if args.run.strict && destination == Destination::Stdout {
                written = written.held();
            }
            let summary = dshap_run::value(&request, &observer, &mut written).map_err(failed)?;
            conclude(&summary, record, &args.run, &doing, || written.finish().map_err(failed))
        }
        Target::Terminal => {
            let mut collected = Collected::default();
            let summary = dshap_run::value(&request, &observer, &mut collected).map_err(failed)?;
            let show = || crate::print(&terminal_table(&collected, arrange).map_err(failed)?);
            conclude(&summary, record, &args.run, &doing, show)
        }
    })
}

/// Runs `work` on so many threads.
fn in_pool(threads: Option<u16>, work: impl FnOnce() -> Result<(), Failure> + Send) -> Result<(), Failure> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from));
    let pool = builder.build().map_err(|error| Failure::usage(format!("cannot start threads: {error}")))?;
    pool.install(work)
}

/// Refuses doubtful results if told to; else completes the output, and only
/// then says what was done.
fn conclude(
    summary: &Summary,
    mut record: Option<AtomicFile>,
    args: &RunArgs,
    doing: &str,
    finish: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    if args.strict && !summary.warnings.is_empty() {
        return Err(Failure::Input {
            doing: doing.into(),
            causes: summary.warnings.clone(),
            hint: Some("leave `--strict` out to accept warnings".into()),
        });
    }
    if let Some(record) = &mut record {
        write_summary(summary, record)?;
    }
    finish()?;
    if let Some(record) = record {
        record.commit().map_err(|error| Failure::run(doing, &error.into()))?;
    }
    let mut text = String::new();
    if !args.quiet {
        text += &describe(summary);
    }
    for warning in &summary.warnings {
        text += &format!("warning: {warning}\n");
    }
    // The values are out; a closed standard error takes nothing from them.
    let _ = std::io::stderr().write_all(text.as_bytes());
    Ok(())
}

const SUMMARY: &str = "cannot write the summary";

fn begin_summary(path: &Path) -> Result<AtomicFile, Failure> {
    AtomicFile::create(path).map_err(|error| Failure::run(SUMMARY, &error.into()))
}

fn write_summary(summary: &Summary, file: &mut AtomicFile) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(summary).expect("a summary has nothing JSON cannot hold");
    writeln!(file, "{text}").map_err(|error| Failure::Input {
        doing: SUMMARY.into(),
        causes: vec![format!("cannot write `{}`: {error}", file.name())],
        hint: None,
    })
}

/// All rows if there are few; else both ends of the ranking.
pub(crate) fn terminal_table(collected: &Collected, arrange: Arrange) -> Result<String, dshap_run::Error> {
    let mut rows = collected.arranged(arrange)?;
    if arrange == Arrange::ByRow && rows.num_rows() > LONG_TABLE {
        rows = collected.arranged(Arrange::Highest(None))?;
    }
    let between = |hidden: usize| {
        format!("  … {} rows between, by value; `-o FILE` or a pipe gives all …", grouped(hidden as u64))
    };
    Ok(render(&rows, between))
}

/// What ran, in a few lines.
pub(crate) fn describe(summary: &Summary) -> String {
    let guessed = if summary.task_guessed { " (guessed)" } else { "" };
    let how = if summary.leave_one_out {
        format!("{} rows, each valued against the others", grouped(summary.n_points))
    } else {
        format!(
            "{} rows valued against a reference of {}",
            grouped(summary.n_points),
            grouped(summary.n_reference as u64)
        )
    };
    let mut text =
        format!("{}{guessed} of `{}`, method {}: {how}\n", summary.task, summary.target, summary.method);
    text += &format!(
        "p = {}, q = {}, m = {}, noise variance {}\n",
        summary.p,
        summary.q,
        summary.m,
        significant(summary.noise_var)
    );
    if summary.reference_passes > 1 {
        let (what, times) = if summary.leave_one_out { ("table", 3) } else { ("reference", 2) };
        text +=
            &format!("the {what} was read {times} times: text columns and means take a pass of their own\n");
    }
    let spread = summary.values;
    if let (Some(lowest), Some(highest)) = (spread.lowest, spread.highest) {
        text += &format!("values from {} to {}", significant(lowest), significant(highest));
        if summary.constant.as_deref() == Some("gain") {
            let share = 100.0 * spread.n_negative as f64 / spread.n_valued as f64;
            text += &format!("; {share:.1} % of rows are expected to harm");
        }
        text.push('\n');
    }
    text
}
