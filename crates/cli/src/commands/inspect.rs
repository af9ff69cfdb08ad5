//! `dshap inspect`.

use super::finish::Recorded;
use crate::args::InspectArgs;
use crate::failure::Failure;
use crate::speech::CommandLine;
use crate::table::{counted, grouped, render, significant, size, visible};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use dshap_models::density::DensityFacts;
use dshap_models::logistic::ClassFacts;
use dshap_models::neighbours::NeighbourFacts;
use dshap_models::{Action, Facts};
use dshap_run::{Inspection, OwnersHeld};
use dshap_words::run_words::{components, far_rows, of_target, refitted, ridge};
use std::fmt::Write;
use std::sync::Arc;

/// Levels of a text feature that are listed.
const SHOWN_LEVELS: usize = 8;

pub(crate) fn run(args: &InspectArgs) -> Result<(), Failure> {
    let doing = format!("cannot inspect `{}`", args.valuer.display());
    let speech = CommandLine::default();
    let found = dshap_run::inspect(&args.valuer).map_err(|error| Failure::run(doing, &error, speech))?;
    let recorded = Recorded::new(&found, &found.warnings, speech);
    if args.json {
        return crate::print(&format!("{}\n", recorded.to_json()));
    }
    let warnings = recorded.warnings.iter().map(|warning| format!("\nwarning: {warning}\n"));
    crate::print(&visible(&(describe(&found) + &warnings.collect::<String>())))
}

/// Adds a line: what it is about, and what is known.
type Line<'a> = &'a mut dyn FnMut(&str, String);

fn describe(found: &Inspection) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<16}{value}");
    };
    line("valuer", format!("{} ({})", found.file, size(found.bytes)));
    line("format", format!("version {}, written by dshap {}", found.format_version, found.written_by));
    method(&found.facts, &mut line);
    reference(found, &mut line);
    sizes(&found.facts, &mut line);
    fitted(found, &mut line);
    cells(found, &mut line);
    let _ = write!(text, "\n{}", columns(found));
    text + &levels(found) + "\nwhere the rows came from:\n" + &history(found)
}

/// What is valued, and how.
fn method(facts: &Facts, line: Line<'_>) {
    line("task", format!("{}{}", facts.task, of_target(facts)));
    let seed = facts.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
    let ridge = ridge(facts).map(|ridge| format!(", {ridge}")).unwrap_or_default();
    let bound = facts.bound_constants.map(|(c, edge)| format!(", c = {c}, C = {edge}")).unwrap_or_default();
    let constant = facts.constant.as_ref().map(|word| format!(", constant {word}")).unwrap_or_default();
    let convention = match (&facts.density, &facts.neighbours) {
        (None, None) => format!(", convention {}", facts.convention),
        _ => String::new(),
    };
    let law = facts.semivalue.as_ref().map(|word| format!(", semivalue {word}")).unwrap_or_default();
    let targets = facts.targets.as_ref().map(|word| format!(", {word} targets")).unwrap_or_default();
    line("method", format!("{}{ridge}{targets}{bound}{constant}{law}{convention}{seed}", facts.method));
    if facts.second_order.is_some() {
        line("values", refitted(facts).trim_end().into());
    }
}

/// The rows that it was fitted to, and those that it carries.
fn reference(found: &Inspection, line: Line<'_>) {
    let facts = &found.facts;
    let effective = match &facts.weight {
        Some(column) => {
            format!(", weighted by `{column}`: {} effective", grouped(facts.effective_rows.round() as u64))
        }
        None => String::new(),
    };
    line("reference", format!("{}{effective}", counted(facts.n_reference as u64, "row")));
    if found.rows_held > 0 {
        let cells = found.rows_held as u64 * (found.columns.len() as u64 + 1);
        let bytes = facts.density.as_ref().map_or(8 * cells, |density| density.row_bytes as u64);
        line("carries", format!("{} ({})", counted(found.rows_held as u64, "row"), size(bytes)));
    }
    if let Some(owners) = &found.owners {
        line("owners", owners_held(owners));
    }
}

/// Whether a number was chosen by default.
fn chosen(by_default: bool) -> &'static str {
    if by_default { " (by default)" } else { " (given)" }
}

/// Columns and set sizes.
fn sizes(facts: &Facts, line: Line<'_>) {
    line("p", format!("{} design columns of {} features", facts.p, facts.features.len()));
    if let Some(pca) = &facts.pca {
        line("pca", components(pca));
    }
    if facts.density.is_none() {
        line("q", format!("{}{}", facts.q, chosen(facts.q_default)));
    }
    line("m", format!("{}{}", facts.m, chosen(facts.m_default)));
}

/// What only some families have, and the fit.
fn fitted(found: &Inspection, line: Line<'_>) {
    let facts = &found.facts;
    if let Some(fit) = &facts.classification {
        line("labels", labels(fit));
        line("deviance", format!("{}, fitted in {} passes", significant(fit.deviance), fit.fit_passes));
    }
    if let Some(density) = &facts.density {
        smoothing(density, line);
    }
    if let Some(found) = &facts.neighbours {
        neighbours(found, line);
    }
    if let Some(tests) = facts.tests {
        let kind = if tests.targets { "test row" } else { "row" };
        let without = if tests.targets { "" } else { " without targets" };
        line("values for", format!("{}{without}", counted(tests.rows as u64, kind)));
    }
    if let (Some(r_squared), Some(noise_var)) = (facts.r_squared, facts.noise_var) {
        line("noise variance", significant(noise_var));
        line("R²", significant(r_squared));
    }
    if let (Some(condition), Some(digits)) = (facts.condition, facts.value_digits) {
        let digits = format!("values keep about {digits} of 16 digits");
        line("condition", format!("{} ({digits})", significant(condition)));
    }
    match found.intercept_value {
        Some(value) => line("intercept", significant(value)),
        None if facts.density.is_some() || facts.neighbours.is_some() => {}
        None if facts.intercept => line("intercept", "one for each label".into()),
        None => line("intercept", "none".into()),
    }
}

/// Missing cells and levels, and what forgetting rows cost.
fn cells(found: &Inspection, line: Line<'_>) {
    line("missing cells", word(&found.missing));
    if let Some(least) = found.rare_levels {
        let pooled: Vec<String> =
            found.pooled.iter().map(|(feature, level)| format!("`{level}` of `{feature}`")).collect();
        let pools = if pooled.is_empty() { "none were found".into() } else { pooled.join(", ") };
        line("rare levels", format!("those of fewer than {}: {pools}", counted(least as u64, "row")));
    }
    let pools = if found.pooled.is_empty() { "" } else { ", where rare ones are not pooled" };
    line("unseen levels", format!("{}{pools}", word(&found.unseen)));
    if found.history.iter().any(|step| step.action == Action::Forget) {
        let digits = found.digits.unwrap_or_default();
        line("digits", format!("about {digits:.0} of 16, after rows were forgotten"));
    }
}

/// The levels of columns of text.
fn levels(found: &Inspection) -> String {
    let mut text = String::new();
    for (feature, levels) in &found.levels {
        let shown: Vec<String> =
            levels.iter().take(SHOWN_LEVELS).map(|level| level.escape_debug().to_string()).collect();
        let more = levels.len().saturating_sub(SHOWN_LEVELS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(text, "\nlevels of `{feature}`: {}{more}", shown.join(", "));
    }
    text
}

/// Where rows came from.
fn history(found: &Inspection) -> String {
    let mut text = String::new();
    for step in &found.history {
        let action = match step.action {
            Action::Fit => "fitted",
            Action::Add => "added",
            Action::Forget => "forgotten",
        };
        let _ = writeln!(text, "  {} {action}", counted(step.rows, "row"));
        for file in &step.files {
            let digest: String = file.sha256.iter().flat_map(|digest| digest.chars()).take(16).collect();
            let bytes = file.bytes.map(grouped).unwrap_or_default();
            let _ = writeln!(text, "    {}  {bytes} bytes  sha256 {}…", file.name, digest);
        }
    }
    text
}

/// The owners whose moments are kept, so that `dshap owners` needs no rows.
fn owners_held(owners: &OwnersHeld) -> String {
    let pairs = owners.rows.iter().take(SHOWN_LEVELS);
    let shown: Vec<String> =
        pairs.map(|(name, rows)| format!("{} ({})", name.escape_debug(), grouped(*rows as u64))).collect();
    let more = owners.rows.len().saturating_sub(SHOWN_LEVELS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "moments of {} in `{}`: {}{more}",
        counted(owners.rows.len() as u64, "owner"),
        owners.by,
        shown.join(", ")
    )
}

/// How a reference is smoothed, and what was tried.
fn smoothing(density: &DensityFacts, line: Line<'_>) {
    line("kernel", density.kernel.into());
    line("bandwidth", format!("{} ({})", significant(density.bandwidth), density.bandwidth_from));
    for (bandwidth, score) in &density.bandwidths_tried {
        let chosen = if *bandwidth == density.bandwidth { "  chosen" } else { "" };
        line("", format!("  {:<10} scores {}{chosen}", significant(*bandwidth), significant(*score)));
    }
    line("scale", density.scale.into());
    if let Some(seed) = density.sample_seed {
        line("sample", format!("{} rows, seed {seed}", grouped(density.rows_used as u64)));
    }
}

/// How neighbours are found, and which rows they predict.
fn neighbours(found: &NeighbourFacts, line: Line<'_>) {
    if !found.labels.is_empty() {
        line("labels", label_rows(&found.labels, &found.label_rows));
    }
    line("k", found.k.to_string());
    line("metric", found.metric.into());
    line("scale", found.scale.into());
    if let Some(tolerance) = found.tolerance {
        line("tolerance", far_rows(tolerance));
    }
    let rows = found.test_rows.map(|rows| grouped(rows as u64)).unwrap_or_default();
    let seed = found.test_seed.map(|seed| format!(", a sample, seed {seed}")).unwrap_or_default();
    line(
        "test rows",
        if found.test_from_reference {
            format!("{rows} of the reference, each without itself{seed}")
        } else {
            format!("{rows}, carried ({})", size(found.test_bytes))
        },
    );
    for file in &found.test_files {
        let digest: String = file.sha256.iter().flat_map(|digest| digest.chars()).take(16).collect();
        line(
            "",
            format!(
                "  {}  {} bytes  sha256 {digest}…",
                file.name,
                file.bytes.map(grouped).unwrap_or_default()
            ),
        );
    }
    if let Some(bytes) = found.list_bytes {
        line("lists", format!("in order of distance from each test row ({})", size(bytes)));
    }
}

/// The labels and how many rows have them.
fn labels(fit: &ClassFacts) -> String {
    let positive = fit.positive.as_ref().map(|label| format!("; positive {}", label.escape_debug()));
    format!("{}{}", label_rows(&fit.labels, &fit.label_rows), positive.unwrap_or_default())
}

fn label_rows(labels: &[String], rows: &[usize]) -> String {
    let pairs = labels.iter().zip(rows).take(SHOWN_LEVELS);
    let shown: Vec<String> =
        pairs.map(|(label, rows)| format!("{} ({})", label.escape_debug(), grouped(*rows as u64))).collect();
    let more = labels.len().saturating_sub(SHOWN_LEVELS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// A policy as the user types it.
fn word(policy: &impl serde::Serialize) -> String {
    serde_json::to_value(policy).ok().and_then(|value| value.as_str().map(String::from)).unwrap_or_default()
}

fn columns(found: &Inspection) -> String {
    let names: Vec<&str> = found.columns.iter().map(|column| column.name.as_str()).collect();
    let numbers = |of: fn(&dshap_run::ColumnFacts) -> Option<f64>| -> ArrayRef {
        Arc::new(found.columns.iter().map(of).collect::<Float64Array>())
    };
    let note = |column: &dshap_run::ColumnFacts| column.dropped.then_some("dropped");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("column", Arc::new(StringArray::from(names))),
        ("coefficient", numbers(|column| column.coefficient)),
        ("mean", numbers(|column| Some(column.mean))),
        ("std_dev", numbers(|column| Some(column.std_dev))),
        ("fill", numbers(|column| column.fill)),
        ("note", Arc::new(found.columns.iter().map(note).collect::<StringArray>())),
    ];
    let rows = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .expect("one cell per column");
    render(&rows, |hidden| format!("  … {hidden} columns between; `--json` lists all …"))
}
