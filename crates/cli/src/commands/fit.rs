//! `dshap fit`, `dshap update` and `dshap merge`: valuers that last.

use super::finish::{Saying, begin_summary, conclude, in_pool};
use super::value::{labels, neighbours, of_target, reduced, refitted, sizes, smoothed, weights};
use super::{plan, said};
use crate::args::{FitArgs, MergeArgs, RunArgs, UpdateArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::table::{self, counted, grouped, significant};
use dshap_io::AtomicFile;
use dshap_run::{FitSummary, Fitted, MergeRequest, Resources, UpdateRequest};
use std::path::{Path, PathBuf};

pub(crate) fn fit(args: &FitArgs) -> Result<(), Failure> {
    let request = plan::fit_request(args)?;
    let checkpoint = args.checkpoint.checkpoint.as_ref();
    let doing = format!("cannot fit `{}`", args.reference.join("`, `"));
    let observer = Progress::new(args.run.quiet);
    save(&args.output, &[], &args.run, checkpoint, &doing, || dshap_run::fit(&request, &observer))
}

pub(crate) fn update(args: &UpdateArgs) -> Result<(), Failure> {
    let UpdateArgs { valuer, add, forget, output, sizes, memory, run } = args;
    if add.iter().chain(forget).filter(|name| *name == "-").count() > 1 {
        return Err(Failure::usage("standard input `-` can be read only once"));
    }
    let request = UpdateRequest {
        valuer: valuer.clone(),
        add: add.clone(),
        forget: forget.clone(),
        sizes: said::sizes(sizes),
        outputs: plan::outputs([Some(output), run.summary.as_ref()]),
        resources: Resources { memory: memory.memory, checkpoint: None },
    };
    let doing = format!("cannot update `{}`", valuer.display());
    let observer = Progress::new(run.quiet);
    save(output, std::slice::from_ref(valuer), run, None, &doing, || dshap_run::update(&request, &observer))
}

pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let request = MergeRequest { valuers: args.valuers.clone(), sizes: said::sizes(&args.sizes) };
    let names: Vec<String> = args.valuers.iter().map(|path| format!("`{}`", path.display())).collect();
    let doing = format!("cannot merge {}", names.join(", "));
    save(&args.output, &args.valuers, &args.run, None, &doing, || dshap_run::merge(&request))
}

/// Makes a valuer and saves it.
fn save(
    output: &PathBuf,
    inputs: &[PathBuf],
    run: &RunArgs,
    checkpoint: Option<&PathBuf>,
    doing: &str,
    make: impl FnOnce() -> Result<Fitted, dshap_run::Error> + Send,
) -> Result<(), Failure> {
    if output == Path::new("-") {
        return Err(Failure::usage("a valuer is saved to a file; give `-o NAME.dshap`"));
    }
    let written = [("valuer", Some(output)), ("summary", run.summary.as_ref()), ("checkpoint", checkpoint)];
    plan::refuse_same(&written)?;
    // A valuer may replace the one it was made of; a summary may not.
    for input in inputs {
        plan::refuse_same(&[("valuer that is read", Some(input)), ("summary", run.summary.as_ref())])?;
    }
    let failed = |error: dshap_run::Error| Failure::run(doing, &error);
    // Before the work, so that a folder that cannot be written to is known
    // early; but a killed run should not leave an unfinished file behind.
    for path in [Some(output), checkpoint].into_iter().flatten() {
        AtomicFile::create(path).map_err(|error| failed(error.into()))?;
    }
    let record = run.summary.as_ref().map(|path| begin_summary(path)).transpose()?;
    in_pool(run.threads, || {
        let fitted = make().map_err(failed)?;
        let length = fitted.valuer.to_container().to_bytes().map_or(0, |bytes| bytes.len() as u64);
        let text = describe(&fitted.summary, output, length);
        let saying = Saying { record: &fitted.summary, warnings: &fitted.summary.warnings, text };
        conclude(saying, record, run, doing, || {
            let file = AtomicFile::create(output).map_err(|error| failed(error.into()))?;
            fitted.valuer.save(file).map(|_| ()).map_err(failed)
        })?;
        fitted.is_safe();
        Ok(())
    })
}

/// What was fitted, in a few lines.
fn describe(summary: &FitSummary, output: &Path, length: u64) -> String {
    let facts = &summary.facts;
    let guessed = if facts.task_guessed && summary.history.len() == 1 { " (guessed)" } else { "" };
    let mut text = format!(
        "{}{guessed}{}, method {}: a reference of {}\n",
        facts.task,
        of_target(facts),
        facts.method,
        counted(facts.n_reference as u64, "row")
    );
    text += &labels(facts);
    text += &reduced(facts);
    text += &smoothed(facts);
    text += &neighbours(facts);
    text += &refitted(facts);
    text += &sizes(facts);
    if let (Some(r_squared), Some(noise_var)) = (facts.r_squared, facts.noise_var) {
        let noise_var = significant(noise_var);
        text += &format!(", noise variance {noise_var}, R² {}", significant(r_squared));
    }
    if let Some(fit) = &facts.classification {
        text += &format!(", fitted in {} passes", fit.fit_passes);
    }
    text.push('\n');
    text += &weights(facts);
    if let Some(rows) = summary.resumed_rows {
        text += &format!("went on from a checkpoint; {} rows had been read before\n", grouped(rows));
    }
    if summary.history.len() > 1 {
        let (m, q) = summary.sizes_before.unzip();
        let m = size("m", facts.m, m, facts.m_default, "follows the number of rows");
        let q = size("q", facts.q, q, facts.q_default, "follows p and m");
        match facts.density {
            Some(_) => text += &format!("{m}\n"),
            None => text += &format!("{m}; {q}\n"),
        }
    }
    if !summary.new_levels.is_empty() {
        text += &format!("new levels: {}\n", summary.new_levels.join(", "));
    }
    if !summary.lost_levels.is_empty() {
        text += &format!("levels that no row has any more: {}\n", summary.lost_levels.join(", "));
    }
    if let Some(digits) = summary.digits {
        text += &format!("after forgetting rows, the moments keep about {digits:.0} of 16 digits\n");
    }
    text + &format!("saved to `{}` ({})\n", output.display(), table::size(length))
}

/// A set size after a change of the reference, and why it is what it is.
fn size(name: &str, now: usize, before: Option<usize>, is_default: bool, follows: &str) -> String {
    let before = before.filter(|before| *before != now).map(|before| format!(", was {before}"));
    let before = before.unwrap_or_default();
    if is_default {
        format!("{name} {follows}: {now}{before}")
    } else {
        format!("{name} is given: {now}{before}")
    }
}
