//! `dshap value`.

use super::deliver::{Delivery, Ran};
use super::inspect::components;
use super::plan;
use crate::args::{MethodArg, ValueArgs};
use crate::failure::Failure;
use crate::table::{counted, grouped, significant};
use dshap_run::{AnyMethod, BaselineRequest, ClassFacts, ExtraPass, Facts, Summary, ValueRequest};

/// Labels that are listed.
const SHOWN_LABELS: usize = 12;

pub(crate) fn run(args: &ValueArgs) -> Result<(), Failure> {
    let plan = match args.method.method.map(MethodArg::any) {
        Some(AnyMethod::Baseline(baseline)) => Plan::Baseline(plan::baseline_request(args, baseline)?),
        _ => Plan::Valuer(plan::value_request(args)?),
    };
    let checkpoint = args.checkpoint.checkpoint.as_ref();
    let delivery = Delivery {
        doing: format!("cannot value `{}`", args.points.join("`, `")),
        destination: &args.output.destination,
        arrange: plan::arrange(&args.output)?,
        run: &args.run,
        memory: args.memory.memory,
        others: &[("checkpoint", checkpoint), ("valuer", args.valuer.as_ref())],
    };
    match plan {
        Plan::Baseline(request) => {
            delivery.of(|observer, receiver| dshap_run::value_by_baseline(&request, observer, receiver))
        }
        Plan::Valuer(request) => delivery.of(|observer, receiver| {
            // That it cannot be written is known before the work.
            checkpoint.map(|path| dshap_io::AtomicFile::create(path)).transpose()?;
            dshap_run::value(&request, observer, receiver)
        }),
    }
}

/// What was meant.
enum Plan {
    /// By what is fitted to a reference.
    Valuer(ValueRequest),
    /// By fitting models to sets of rows.
    Baseline(BaselineRequest),
}

impl Ran for Summary {
    fn warnings(&self) -> &[String] {
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
    let n_points = counted(summary.n_points, "row");
    let n_reference = grouped(facts.n_reference as u64);
    let n_points = match summary.n_sets {
        None => n_points,
        Some(n_sets) => format!("{n_points} in {}", counted(n_sets as u64, "set")),
    };
    let how = match &summary.valuer {
        _ if summary.leave_one_out && summary.n_sets.is_some() => {
            format!("{n_points}, each set valued against the other rows")
        }
        _ if summary.leave_one_out => format!("{n_points}, each valued against the others"),
        None => format!("{n_points} valued against a reference of {n_reference}"),
        Some(file) => format!("{n_points} valued by `{}`, fitted to {n_reference}", file.name),
    };
    let mut text = format!("{}{guessed}{}, method {}: {how}\n", facts.task, of_target(facts), facts.method);
    text += &labels(facts);
    text += &reduced(facts);
    text += &smoothed(facts);
    text += &neighbours(facts);
    text += &refitted(facts);
    text += &format!("{}{}\n", sizes(facts), noise(facts));
    text += &weights(facts);
    if summary.reference_passes > 1 {
        let what = if summary.leave_one_out { "table" } else { "reference" };
        let times = summary.reference_passes + usize::from(summary.leave_one_out);
        let why = reasons(&summary.extra_passes);
        text += &format!("the {what} was read {times} times: {why}\n");
    }
    if let Some(rounds) = summary.rounds {
        let were = if rounds == 1 { "was" } else { "were" };
        text += &format!("{} of sets {were} drawn\n", counted(rounds as u64, "round"));
    }
    let spread = summary.values;
    if let (Some(lowest), Some(highest)) = (spread.lowest, spread.highest) {
        text += &format!("values from {} to {}", significant(lowest), significant(highest));
        if facts.constant.as_deref() == Some("gain") || facts.neighbours.is_some() {
            let share = 100.0 * spread.n_negative as f64 / spread.n_valued as f64;
            text += &format!("; {share:.1} % of rows are expected to harm");
        }
        text.push('\n');
    }
    text
}

/// What is predicted, if something is.
pub(crate) fn of_target(facts: &Facts) -> String {
    facts.target.as_ref().map(|target| format!(" of `{target}`")).unwrap_or_default()
}

/// The columns and the set sizes; of a density, and of a finite dataset, all sizes
/// count.
pub(crate) fn sizes(facts: &Facts) -> String {
    match &facts.density {
        _ if facts.method == "knn-shapley" => format!("p = {}, sets of every size", facts.p),
        Some(_) => format!("{} columns, m = {}", facts.p, facts.m),
        None => format!("p = {}, q = {}, m = {}", facts.p, facts.q, facts.m),
    }
}

fn noise(facts: &Facts) -> String {
    match (facts.noise_var, &facts.classification) {
        (Some(noise_var), None) => format!(", noise variance {}", significant(noise_var)),
        _ => String::new(),
    }
}

/// How a reference was smoothed, if it was.
pub(crate) fn smoothed(facts: &Facts) -> String {
    let Some(density) = &facts.density else { return String::new() };
    let from = match density.bandwidth_from {
        "cross-validated" => format!("the best of {} by cross-validation", density.bandwidths_tried.len()),
        "scott" => "by Scott's rule".into(),
        "silverman" => "by Silverman's rule".into(),
        _ => "as given".into(),
    };
    let scale = match density.scale {
        "std" => "columns over their standard deviations",
        _ => "columns as they are",
    };
    let sample = match density.sample_seed {
        None => String::new(),
        Some(seed) => {
            let rows = grouped(density.rows_used as u64);
            let all = grouped(facts.n_reference as u64);
            format!("a sample of {rows} of the {all} reference rows, seed {seed}\n")
        }
    };
    let bandwidth = significant(density.bandwidth);
    format!("{} kernel, bandwidth {bandwidth} ({from}), {scale}\n{sample}", density.kernel)
}

/// How neighbours are found and whom they predict, if they do.
pub(crate) fn neighbours(facts: &Facts) -> String {
    let Some(found) = &facts.neighbours else { return String::new() };
    let scale = match found.scale {
        "std" => "columns over their standard deviations",
        _ => "columns as they are",
    };
    let rows = found.test_rows.map(|rows| grouped(rows as u64)).unwrap_or_default();
    let files: Vec<String> = found.test_files.iter().map(|file| format!("`{}`", file.name)).collect();
    let tests = match found.test_seed {
        _ if !found.test_from_reference => {
            let rows = counted(found.test_rows.unwrap_or(0) as u64, "test row");
            format!("{rows} of {}", files.join(", "))
        }
        None => format!("all {rows} reference rows are test rows, each without itself"),
        Some(seed) => {
            format!("a sample of {rows} reference rows are test rows, each without itself (seed {seed})")
        }
    };
    let near = if found.k == 1 { "the nearest row".into() } else { format!("the {} nearest rows", found.k) };
    let label_rows = found.labels.iter().zip(&found.label_rows);
    let shown: Vec<String> = label_rows
        .take(SHOWN_LABELS)
        .map(|(label, rows)| format!("`{label}` ({})", grouped(*rows as u64)))
        .collect();
    let more = found.labels.len().saturating_sub(SHOWN_LABELS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let labels =
        if shown.is_empty() { String::new() } else { format!("labels {}{more}\n", shown.join(", ")) };
    format!("{labels}{near} by {} distance, {scale}\n{tests}\n", found.metric)
}

/// What a model that is refitted on each set is judged by, if one is.
pub(crate) fn refitted(facts: &Facts) -> String {
    let Some(second_order) = &facts.second_order else { return String::new() };
    let small = match second_order.small_ridge {
        0.0 => String::new(),
        ridge => format!(", small ridge {ridge}"),
    };
    let shift = match (second_order.shift, second_order.shift_from) {
        (Some(shift), Some("default")) => format!(", κ = p + 1 = {shift}"),
        (Some(shift), Some(from)) => format!(", κ = {} ({from})", significant(shift)),
        _ => String::new(),
    };
    let (utility, spread) = (second_order.utility, second_order.spread);
    let why = second_order.why_one_vs_rest.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
    format!("refitted on each set, judged by {utility}; spread from the {spread}{small}{shift}{why}\n")
}

/// Why a table was read more often than it need be.
fn reasons(passes: &[ExtraPass]) -> String {
    let word = |pass: &ExtraPass| match pass {
        ExtraPass::Levels => "text columns and means",
        ExtraPass::Labels => "labels",
        ExtraPass::Components => "principal components",
        ExtraPass::Steps => "steps of the logistic fit",
        ExtraPass::HardColumns => "columns nearly the same as others",
        ExtraPass::Calibration => "calibration",
        ExtraPass::Rows => "keeping rows to draw sets from",
        ExtraPass::Authors => "the authors' variables",
        ExtraPass::Expansion => "moments of refitted models",
    };
    match passes {
        [pass @ (ExtraPass::Calibration | ExtraPass::Rows)] => {
            format!("{} takes a pass of its own", word(pass))
        }
        [pass] => format!("{} take a pass of their own", word(pass)),
        _ => {
            let words: Vec<_> = passes.iter().map(word).collect();
            let (last, before) = words.split_last().map_or(("", &[][..]), |(last, before)| (*last, before));
            format!("{} and {last} take passes of their own", before.join(", "))
        }
    }
}

/// The labels that were told apart, if there are any.
pub(crate) fn labels(facts: &Facts) -> String {
    let Some(ClassFacts { labels, label_rows, positive, .. }) = &facts.classification else {
        return String::new();
    };
    let rows = labels.iter().zip(label_rows);
    let shown: Vec<String> = rows
        .take(SHOWN_LABELS)
        .map(|(label, rows)| format!("`{label}` ({})", grouped(*rows as u64)))
        .collect();
    let more = labels.len().saturating_sub(SHOWN_LABELS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let how = match positive {
        Some(positive) => format!("; `prob` is that of `{positive}`"),
        None if facts.second_order.as_ref().is_some_and(|facts| facts.model == "softmax") => {
            "; one softmax model tells them apart".into()
        }
        None => "; each is told from all others, and the values are summed".into(),
    };
    let ridge = facts.ridge.filter(|ridge| *ridge > 0.0).map(|ridge| format!("; ridge {ridge}"));
    format!("labels {}{more}{how}{}\n", shown.join(", "), ridge.unwrap_or_default())
}

/// What columns were reduced to, if they were.
pub(crate) fn reduced(facts: &Facts) -> String {
    facts.pca.as_ref().map(|pca| format!("{}\n", components(pca))).unwrap_or_default()
}

/// What weights do to the reference, if there are any.
pub(crate) fn weights(facts: &Facts) -> String {
    match &facts.weight {
        None => String::new(),
        Some(column) => format!(
            "weighted by `{column}`: an effective sample of {} rows\n",
            grouped(facts.effective_rows.round() as u64)
        ),
    }
}
