//! `dshap value`.

use super::deliver::{Delivery, Ran};
use super::describe::{
    baseline, labels, neighbours, noise, of_target, passes, reduced, refitted, sizes, smoothed, weights,
};
use super::finish::RunOptions;
use super::plan;
use crate::args::ValueArgs;
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::{counted, grouped, significant};
use dshap_catalogue::options::CHECKPOINT;
use dshap_run::{Summary, Warning};
use std::path::PathBuf;

pub(crate) fn run(args: &ValueArgs) -> Result<(), Failure> {
    let run = RunOptions::of(&args.given);
    let request = plan::value_request(args, &run)?;
    let checkpoint = args.given.word(&CHECKPOINT).map(PathBuf::from);
    let delivery = Delivery {
        doing: format!("cannot value `{}`", args.points.join("`, `")),
        speech: CommandLine::default(),
        output: args.output.as_ref(),
        given: &args.given,
        arrange: plan::arrange(&args.given)?,
        run: &run,
        others: &[("checkpoint", checkpoint.as_ref()), ("valuer", args.valuer.as_ref())],
    };
    delivery.of(|observer, receiver| {
        // A checkpoint that cannot be written is noticed before the work.
        checkpoint.as_ref().map(|path| dshap_io::AtomicFile::create(path)).transpose()?;
        dshap_run::value(&request, observer, receiver)
    })
}

impl Ran for Summary {
    fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    fn describe(&self) -> String {
        describe(self)
    }
}

/// What ran, in a few lines.
pub(crate) fn describe(summary: &Summary) -> String {
    let facts = &summary.facts;
    let guessed = if facts.task_guessed && summary.valuer.is_none() { " (guessed)" } else { "" };
    let target = of_target(facts);
    let mut text = format!("{}{guessed}{target}, method {}: {}\n", facts.task, facts.method, valued(summary));
    if facts.method == "random" {
        return text;
    }
    text += &labels(facts);
    text += &reduced(facts);
    text += &smoothed(facts);
    text += &neighbours(facts);
    text += &refitted(facts);
    text += &format!("{}{}{}{}\n", baseline(facts), sizes(facts), noise(facts), quality(summary));
    text += &weights(facts);
    text += &passes(summary);
    if let Some(rounds) = summary.rounds {
        let were = if rounds == 1 { "was" } else { "were" };
        text += &format!("{} of sets {were} drawn\n", counted(rounds as u64, "round"));
    }
    if let Some(iterations) = summary.iterations {
        let share = summary.evaluated_share.filter(|share| *share < 1.0);
        let cut = share.map(|share| format!(", {:.0} % of their steps before truncation", 100.0 * share));
        text += &format!("{}{}\n", counted(iterations as u64, "iteration"), cut.unwrap_or_default());
    }
    text + &spread(summary)
}

/// Fewer values are seen at a glance.
const FEWEST_FOR_QUARTILES: u64 = 8;

/// How many rows were valued, and against what.
fn valued(summary: &Summary) -> String {
    let facts = &summary.facts;
    let n_valued = summary.values.n_valued;
    let n_points = match summary.n_sets {
        Some(n_sets) => format!("{} in {}", counted(summary.n_points, "row"), counted(n_sets as u64, "set")),
        // The other rows measure utility, or have a missing cell.
        None if n_valued < summary.n_points => {
            format!("{} of {}", grouped(n_valued), counted(summary.n_points, "row"))
        }
        None => counted(summary.n_points, "row"),
    };
    let n_reference = grouped(facts.n_reference as u64);
    let is_one_dataset = facts.baseline.is_some() && facts.method != "d-shapley";
    match &summary.valuer {
        Some(file) => format!("{n_points} valued by `{}`, fitted to {n_reference}", file.name),
        None if !summary.leave_one_out => format!("{n_points} valued against a reference of {n_reference}"),
        None if is_one_dataset || facts.method == "knn-shapley" => {
            format!("{n_points}, valued as one dataset")
        }
        None if summary.n_sets.is_some() => format!("{n_points}, each set valued against the other rows"),
        None => format!("{n_points}, each valued against the others"),
    }
}

/// How well the model predicts, if that is known.
fn quality(summary: &Summary) -> String {
    let shown = |r_squared: f64| format!(", R² {r_squared:.3} on rows left out");
    summary.left_out_r_squared.map(shown).unwrap_or_default()
}

/// How the values are spread.
fn spread(summary: &Summary) -> String {
    let (facts, spread) = (&summary.facts, summary.values);
    let (Some(lowest), Some(highest)) = (spread.lowest, spread.highest) else { return String::new() };
    let mut text = format!("values from {} to {}", significant(lowest), significant(highest));
    if let Some([first, _, third]) = spread.quartiles.filter(|_| spread.n_valued >= FEWEST_FOR_QUARTILES) {
        text += &format!(", half of them between {} and {}", significant(first), significant(third));
    }
    if matches!(facts.method, "tmc-shapley" | "exact-shapley") {
        text += &format!("; they add up to {}", significant(spread.total));
    }
    text + "\n"
}
