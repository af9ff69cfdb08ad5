//! `dshap fit`, `dshap update` and `dshap merge`: valuers that are saved.

use super::finish::{Recorded, RunOptions, conclude, in_pool};
use super::requests;
use crate::args::{FitArgs, MergeArgs, UpdateArgs};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::speech::CommandLine;
use crate::table::{self, counted, grouped, significant};
use dshap_catalogue::Given;
use dshap_catalogue::options::{CHECKPOINT, M, Q};
use dshap_io::{AtomicFile, Guard};
use dshap_run::{FitSummary, Fitted, MergeRequest, Resources, SizeChoice, UpdateRequest};
use dshap_words::run_words::{labels, neighbours, of_target, reduced, refitted, sizes, smoothed, weights};
use std::path::{Path, PathBuf};

pub(crate) fn fit(args: &FitArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let request = requests::fit_request(args, &run)?;
    let checkpoint = args.given.word(&CHECKPOINT).map(PathBuf::from);
    let saving = Saving {
        doing: format!("cannot fit `{}`", args.reference.join("`, `")),
        output: &args.output,
        inputs: &[],
        checkpoint: checkpoint.as_ref(),
        run: &run,
    };
    let observer = Progress::new(run.quiet);
    saving.of(|| dshap_run::fit(&request, &observer))
}

pub(crate) fn update(args: &UpdateArgs) -> Result<(), Failure> {
    let UpdateArgs { valuer, add, forget, output, given } = args;
    let run = RunOptions::of(given);
    requests::refuse_second_standard_input(&[add.as_slice(), forget.as_slice()].concat())?;
    let request = UpdateRequest {
        valuer: valuer.clone(),
        add: add.clone(),
        forget: forget.clone(),
        reading: dshap_run::reading(given),
        sizes: given_sizes(given),
        outputs: requests::outputs([Some(output), run.summary.as_ref()]),
        resources: Resources { memory: run.memory, checkpoint: None },
    };
    let saving = Saving {
        doing: format!("cannot update `{}`", valuer.display()),
        output,
        inputs: std::slice::from_ref(valuer),
        checkpoint: None,
        run: &run,
    };
    let observer = Progress::new(run.quiet);
    saving.of(|| dshap_run::update(&request, &observer))
}

pub(crate) fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let request = MergeRequest { valuers: args.valuers.clone(), sizes: given_sizes(&args.given) };
    let names: Vec<String> = args.valuers.iter().map(|path| format!("`{}`", path.display())).collect();
    let saving = Saving {
        doing: format!("cannot merge {}", names.join(", ")),
        output: &args.output,
        inputs: &args.valuers,
        checkpoint: None,
        run: &run,
    };
    saving.of(|| dshap_run::merge(&request))
}

/// The set sizes that were given.
fn given_sizes(given: &Given) -> SizeChoice {
    SizeChoice { min: given.size(&Q), max: given.size(&M) }
}

/// How a valuer is saved.
struct Saving<'a> {
    /// What is being done, for errors.
    doing: String,
    output: &'a PathBuf,
    /// Valuers that are read. The new one may replace one of them; a summary may not.
    inputs: &'a [PathBuf],
    checkpoint: Option<&'a PathBuf>,
    run: &'a RunOptions,
}

impl Saving<'_> {
    /// Makes a valuer and saves it, unless it is too doubtful.
    fn of(&self, make: impl FnOnce() -> Result<Fitted, dshap_run::Error> + Send) -> Result<(), Failure> {
        let Saving { doing, output, run, .. } = self;
        self.refuse_wrong_files()?;
        let failed = |error: dshap_run::Error| Failure::run(doing.clone(), &error, CommandLine::default());
        // A folder that cannot be written to is noticed before the work. The file itself is begun after it, so
        // that a killed run leaves no unfinished file.
        let guard = Guard::of(output).map_err(|error| failed(error.into()))?;
        for path in [Some(*output), self.checkpoint].into_iter().flatten() {
            AtomicFile::create(path).map_err(|error| failed(error.into()))?;
        }
        let record = run.begin_record()?;
        in_pool(run.threads, || {
            let fitted = make().map_err(failed)?;
            let summary = &fitted.summary;
            let recorded = Recorded::new(summary, &summary.warnings, CommandLine::default());
            conclude(&recorded, record, run, doing, || {
                let mut file = AtomicFile::create(output).map_err(|error| failed(error.into()))?;
                if !self.inputs.is_empty() {
                    // A change that another run made meanwhile would be lost.
                    file = file.unless_changed_since(guard);
                }
                let length = fitted.valuer.save(file).map_err(failed)?;
                let saved = format!("saved to `{}` ({})\n", output.display(), table::size(length));
                Ok(describe(summary) + &saved)
            })?;
            fitted.is_safe();
            Ok(())
        })
    }

    /// Refuses files that would be written twice, or replace what is read.
    fn refuse_wrong_files(&self) -> Result<(), Failure> {
        if self.output == Path::new("-") {
            return Err(Failure::usage("a valuer is saved to a file; give `-o NAME.dshap`"));
        }
        let summary = self.run.summary.as_ref();
        requests::refuse_same(&[
            ("valuer", Some(self.output)),
            ("summary", summary),
            ("checkpoint", self.checkpoint),
        ])?;
        for input in self.inputs {
            requests::refuse_same(&[("valuer that is read", Some(input)), ("summary", summary)])?;
        }
        Ok(())
    }
}

/// What was fitted, in a few lines.
fn describe(summary: &FitSummary) -> String {
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
        text += &format!("resumed from a checkpoint; {} rows had been read before\n", grouped(rows));
    }
    text + &changes(summary)
}

/// What a change of the reference did, if it was one.
fn changes(summary: &FitSummary) -> String {
    let facts = &summary.facts;
    let mut text = String::new();
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
    text
}

/// A set size after a change of the reference, and why it is what it is.
fn size(name: &str, now: usize, before: Option<usize>, is_default: bool, follows: &str) -> String {
    let before = before.filter(|before| *before != now).map(|before| format!(", was {before}"));
    let why = if is_default { follows } else { "is given" };
    format!("{name} {why}: {now}{}", before.unwrap_or_default())
}
