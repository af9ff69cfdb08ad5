//! What there is to say of `dshap value` by a baseline.

use super::deliver::Ran;
use crate::table::{grouped, significant};
use dshap_run::BaselineSummary;

impl Ran for BaselineSummary {
    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn describe(&self) -> String {
        describe(self)
    }
}

fn describe(summary: &BaselineSummary) -> String {
    let guessed = if summary.task_guessed { " (guessed)" } else { "" };
    let target = summary.target.as_ref().map(|target| format!(" of `{target}`")).unwrap_or_default();
    let n_points = grouped(summary.n_points);
    let n_reference = grouped(summary.n_reference as u64);
    let n_valued = summary.values.n_valued;
    let rows = match n_valued == summary.n_points {
        true => format!("{n_points} rows"),
        false => format!("{} of {n_points} rows", grouped(n_valued)),
    };
    let how = match (summary.own_reference, summary.method) {
        (false, _) => format!("{rows} valued against a reference of {n_reference}"),
        (true, "d-shapley") => format!("{rows}, each valued against the others"),
        (true, _) => format!("{rows}, valued as one dataset"),
    };
    let mut text = format!("{}{guessed}{target}, method {}: {how}\n", summary.task, summary.method);
    if summary.method == "random" {
        return text;
    }
    let n_test = grouped(summary.n_test as u64);
    let from = match summary.test_from {
        "test" => "test rows".to_string(),
        from => format!("of the {from}"),
    };
    let ridge = summary.ridge.filter(|ridge| *ridge > 0.0).map(|ridge| format!(", ridge {ridge}"));
    text += &format!(
        "utility {} on {n_test} {from}; p = {}, q = {}, m = {}{}\n",
        summary.utility,
        summary.p,
        summary.q,
        summary.m,
        ridge.unwrap_or_default()
    );
    if let Some(iterations) = summary.iterations {
        let share = summary.evaluated_share.filter(|share| *share < 1.0);
        let cut = share.map(|share| format!(", {:.0} % of their steps before truncation", 100.0 * share));
        text += &format!("{} iterations{}\n", grouped(iterations as u64), cut.unwrap_or_default());
    }
    if let (Some(lowest), Some(highest)) = (summary.values.lowest, summary.values.highest) {
        text += &format!("values from {} to {}", significant(lowest), significant(highest));
        if matches!(summary.method, "tmc-shapley" | "exact-shapley") {
            text += &format!("; they add up to {}", significant(summary.values.total));
        }
        text.push('\n');
    }
    text
}
