//! What is known about a reference and a method, in lines for people.

use crate::{counted, grouped, significant};
use dshap_models::second_order::OneVsRestReason;
use dshap_models::{ComponentFacts, ExtraPass, Facts};
use dshap_run::Summary;

/// Labels that are listed.
const SHOWN_LABELS: usize = 12;

/// What is predicted, if something is.
pub fn of_target(facts: &Facts) -> String {
    facts.target.as_ref().map(|target| format!(" of `{target}`")).unwrap_or_default()
}

/// The columns and the set sizes. For a density and for a finite dataset all sizes count.
pub fn sizes(facts: &Facts) -> String {
    match &facts.density {
        _ if facts.neighbours.is_some() && facts.described().entry.is_of_one_dataset() => {
            format!("p = {}, sets of every size", facts.p)
        }
        Some(_) if facts.baseline.is_none() => {
            format!("{}, m = {}", counted(facts.p as u64, "column"), facts.m)
        }
        _ => format!("p = {}, q = {}{}, m = {}", facts.p, facts.q, why_larger(facts), facts.m),
    }
}

/// Why the default q is larger than usual, if it is.
fn why_larger(facts: &Facts) -> &'static str {
    let is_larger = facts.q_default && facts.q > facts.p + facts.p.max(10);
    let is_closed_form = facts.described().entry.is_theorem_2();
    if facts.second_order.as_ref().is_some_and(|found| found.larger_q) {
        return " (larger than usual: smaller sets often have no fit)";
    }
    match (is_larger && is_closed_form, &facts.classification) {
        (true, Some(_)) => " (larger than usual: the fit is nearly certain of most rows)",
        (true, None) => " (larger than usual: few rows have some category, one or zero)",
        (false, _) => "",
    }
}

/// The noise variance of a regression.
pub fn noise(facts: &Facts) -> String {
    match (facts.noise_var, &facts.classification) {
        (Some(noise_var), None) => format!(", noise variance {}", significant(noise_var)),
        _ => String::new(),
    }
}

/// How a reference was smoothed, if it was.
pub fn smoothed(facts: &Facts) -> String {
    let Some(density) = &facts.density else { return String::new() };
    let from = match density.bandwidth_from {
        "cross-validated" | "grid" => {
            format!("best of {} by cross-validation", density.bandwidths_tried.len())
        }
        "scott" => "by Scott's rule".into(),
        "silverman" => "by Silverman's rule".into(),
        _ => "as given".into(),
    };
    let sample = match density.sample_seed {
        None => String::new(),
        Some(seed) => {
            let rows = grouped(density.rows_used as u64);
            let all = grouped(facts.n_reference as u64);
            format!("a sample of {rows} of the {all} reference rows, seed {seed}\n")
        }
    };
    let (bandwidth, scale) = (significant(density.bandwidth), scaled(density.scale));
    format!("{} kernel, bandwidth {bandwidth} ({from}), {scale}\n{sample}", density.kernel)
}

/// How columns are made comparable.
fn scaled(scale: &str) -> &'static str {
    match scale {
        "std" => "columns divided by their standard deviations",
        _ => "columns as given",
    }
}

/// How neighbours are found and which rows they predict, if they predict any.
pub fn neighbours(facts: &Facts) -> String {
    let Some(found) = &facts.neighbours else { return String::new() };
    let rows = found.test_rows.map(|rows| grouped(rows as u64)).unwrap_or_default();
    let files: Vec<String> = found.test_files.iter().map(|file| format!("`{}`", file.name)).collect();
    let tests = match found.test_seed {
        _ if !found.test_from_reference => {
            format!("{} from {}", counted(found.test_rows.unwrap_or(0) as u64, "test row"), files.join(", "))
        }
        None => format!("all {rows} reference rows serve as test rows, each without itself"),
        Some(seed) => {
            format!(
                "a sample of {rows} reference rows serves as test rows, each without itself (seed {seed})"
            )
        }
    };
    let labels = match found.labels.is_empty() {
        true => String::new(),
        false => format!("labels {}\n", shown_labels(&found.labels, &found.label_rows)),
    };
    let near = if found.k == 1 { "nearest row".into() } else { format!("{} nearest rows", found.k) };
    let far = found.tolerance.map(|tolerance| format!("{}\n", far_rows(tolerance))).unwrap_or_default();
    format!("{labels}{near} by {} distance, {}\n{far}{tests}\n", found.metric, scaled(found.scale))
}

/// Which rows are too far from a test row to count.
pub fn far_rows(tolerance: f64) -> String {
    format!("the furthest rows with {tolerance} of all weight do not count")
}

/// What a model that is refitted on each set is judged by, if there is one.
pub fn refitted(facts: &Facts) -> String {
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
    let why = match second_order.why_one_vs_rest {
        None => String::new(),
        Some(OneVsRestReason::NotPlainLogLoss) => "; one softmax model needs log-loss without a ridge".into(),
        Some(OneVsRestReason::TooManyCoefficients { coefficients, most }) => {
            format!("; one softmax model would have {coefficients} coefficients, more than {most}")
        }
    };
    format!("a model refitted on each set, judged by {utility}; {spread} spread{small}{shift}{why}\n")
}

/// What sets of rows are measured on by a baseline, if it is one.
pub fn baseline(facts: &Facts) -> String {
    let Some(baseline) = &facts.baseline else { return String::new() };
    let n_test = baseline.n_test as u64;
    let tests = match baseline.test_from {
        "test" => counted(n_test, "test row"),
        from => format!("{} of the {from}", grouped(n_test)),
    };
    let ridge = ridge(facts).map(|ridge| format!(", {ridge}"));
    format!("utility: {} on {tests}{}; ", measure(baseline.utility), ridge.unwrap_or_default())
}

/// The ridge, if there is one.
pub fn ridge(facts: &Facts) -> Option<String> {
    let ridge = facts.ridge.filter(|ridge| *ridge > 0.0)?;
    let units = if facts.ridge_standardised { " for standardised columns (automatic)" } else { "" };
    Some(format!("ridge {ridge}{units}"))
}

/// What sets are worth, in words.
pub fn measure(utility: &str) -> &str {
    match utility {
        "squared-error" => "squared error",
        "integrated-squared-error" => "integrated squared error",
        other => other,
    }
}

/// Why there was more than one pass over a table, if there was.
pub fn passes(summary: &Summary) -> String {
    if summary.reference_passes <= 1 {
        return String::new();
    }
    let what = if summary.leave_one_out { "table" } else { "reference" };
    let times = summary.reference_passes + usize::from(summary.leave_one_out);
    let words: Vec<&str> = summary.extra_passes.iter().map(purpose).collect();
    let many = match summary.extra_passes.as_slice() {
        [ExtraPass::Steps] => "extra passes",
        [_] => "an extra pass",
        _ => "extra passes",
    };
    format!("{times} passes over the {what}: {many} for {}\n", listed(&words))
}

/// What a pass is for.
fn purpose(pass: &ExtraPass) -> &'static str {
    match pass {
        ExtraPass::Levels => "text columns and means",
        ExtraPass::Labels => "labels",
        ExtraPass::Components => "principal components",
        ExtraPass::Steps => "steps of the logistic fit",
        ExtraPass::HardColumns => "columns that are nearly combinations of others",
        ExtraPass::Calibration => "calibration",
        ExtraPass::Rows => "storing rows to draw sets from",
        ExtraPass::Authors => "the authors' variables",
        ExtraPass::Expansion => "moments of refitted models",
    }
}

/// Words as a list: "a, b and c".
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).into(),
        [before @ .., last] => format!("{} and {last}", before.join(", ")),
    }
}

/// The labels that were told apart, if there are any.
pub fn labels(facts: &Facts) -> String {
    let Some(found) = &facts.classification else { return String::new() };
    let how = match &found.positive {
        Some(positive) => format!("; `prob` is the probability of `{positive}`"),
        None if facts.second_order.as_ref().is_some_and(|facts| facts.model == "softmax") => {
            "; one softmax model for all labels".into()
        }
        None => "; one model per label against the others, values summed".into(),
    };
    let ridge = ridge(facts).map(|ridge| format!("; {ridge}"));
    let shown = shown_labels(&found.labels, &found.label_rows);
    format!("labels {shown}{how}{}\n", ridge.unwrap_or_default())
}

/// The first labels with the number of their rows.
fn shown_labels(labels: &[String], rows: &[usize]) -> String {
    let first = labels.iter().zip(rows).take(SHOWN_LABELS);
    let shown: Vec<String> =
        first.map(|(label, rows)| format!("`{label}` ({})", grouped(*rows as u64))).collect();
    let more = labels.len().saturating_sub(SHOWN_LABELS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// What columns were reduced to, if they were.
pub fn reduced(facts: &Facts) -> String {
    facts.pca.as_ref().map(|pca| format!("{}\n", components(pca))).unwrap_or_default()
}

/// What columns were reduced to.
pub fn components(pca: &ComponentFacts) -> String {
    let ComponentFacts { components, columns, explained } = pca;
    format!(
        "{components} principal components of {columns} columns, {:.1} % of their variance",
        100.0 * explained
    )
}

/// What weights do to the reference, if there are any.
pub fn weights(facts: &Facts) -> String {
    match &facts.weight {
        None => String::new(),
        Some(column) => format!(
            "weighted by `{column}`: as informative as {} rows of equal weight\n",
            grouped(facts.effective_rows.round() as u64)
        ),
    }
}
