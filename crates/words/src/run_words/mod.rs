//! What ran, in lines for people.

mod facts;

pub use facts::{
    baseline, components, far_rows, labels, measure, neighbours, noise, of_target, passes, reduced, refitted,
    ridge, sizes, smoothed, weights,
};

use crate::{counted, grouped, quartiles, significant};
use dshap_catalogue::Measures;
use dshap_models::sets::Baseline;
use dshap_run::{LabelQuality, StandingOut, Summary};

/// What ran, in a few lines.
pub fn describe(summary: &Summary) -> String {
    let facts = &summary.facts;
    let guessed = if facts.task_guessed && summary.valuer.is_none() { " (guessed)" } else { "" };
    let target = of_target(facts);
    let mut text = format!("{}{guessed}{target}, method {}: {}\n", facts.task, facts.method, valued(summary));
    if facts.described().entry.measures == Measures::Nothing {
        return text;
    }
    text += &labels(facts);
    text += &reduced(facts);
    text += &smoothed(facts);
    text += &neighbours(facts);
    text += &tests(summary);
    if summary.expected_targets {
        let target = facts.target.as_deref().unwrap_or_default();
        text +=
            &format!("rows have no `{target}`: values are those expected of a target with the usual noise\n");
    }
    text += &refitted(facts);
    text += &format!("{}{}{}{}\n", baseline(facts), sizes(facts), noise(facts), quality(summary));
    text += &label_quality(summary);
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

/// The rows that values are for, if they were given.
fn tests(summary: &Summary) -> String {
    let Some(tests) = summary.facts.tests else { return String::new() };
    let files: Vec<String> = summary.test.iter().flatten().map(|file| format!("`{}`", file.name)).collect();
    let from = if files.is_empty() { String::new() } else { format!(" of {}", files.join(", ")) };
    let without = if tests.targets { "" } else { " without targets" };
    format!("values are for the {}{from}{without}\n", counted(tests.rows as u64, "row"))
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
    match &summary.valuer {
        Some(file) => format!("{n_points} valued by `{}`, fitted to {n_reference}", file.name),
        None if !summary.leave_one_out => format!("{n_points} valued against a reference of {n_reference}"),
        None if facts.described().entry.is_of_one_dataset() => {
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

/// How well the model predicts labels, if that is known.
fn label_quality(summary: &Summary) -> String {
    let Some(LabelQuality { accuracy, constant_accuracy, log_loss, auc, .. }) = summary.left_out_labels
    else {
        return String::new();
    };
    let auc = auc.map(|auc| format!(", AUC {auc:.3}")).unwrap_or_default();
    format!(
        "on rows left out: accuracy {accuracy:.3} (most frequent label {constant_accuracy:.3}), log-loss \
         {log_loss:.3}{auc}\n"
    )
}

/// How many values stand out, and what to do next.
fn standing_out(summary: &Summary) -> String {
    let Some(StandingOut { n_rows, beyond_errors }) = summary.standing_out else { return String::new() };
    let beyond = if beyond_errors { ", by more than two standard errors" } else { "" };
    match n_rows {
        0 => format!("no value lies far below the others{beyond}\n"),
        1 => format!("1 row lies far below the others{beyond}\n"),
        n => format!("{} rows lie far below the others{beyond}\n", grouped(n)),
    }
}

/// How the values are spread.
fn spread(summary: &Summary) -> String {
    let (facts, spread) = (&summary.facts, summary.values);
    let (Some(lowest), Some(highest)) = (spread.lowest, spread.highest) else { return String::new() };
    let mut text = format!("values from {} to {}", significant(lowest), significant(highest));
    if let Some(found) = spread.quartiles.filter(|_| spread.n_valued >= FEWEST_FOR_QUARTILES) {
        let [first, _, third] = quartiles(found, spread.quartiles_of.is_none());
        let about = if spread.quartiles_of.is_some() { "about " } else { "" };
        text += &format!(", half of them between {about}{first} and {third}");
    }
    if facts.described().baseline().is_some_and(Baseline::adds_up) {
        text += &format!("; they add up to {}", significant(spread.total));
    }
    text + "\n" + &standing_out(summary)
}
