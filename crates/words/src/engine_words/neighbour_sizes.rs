//! Set sizes of which none counts with nearest neighbours, in words.

use super::counted;
use crate::Speech;
use dshap_models::{NeighbourSizesFault, Remedies};

/// Why no set size counts.
pub(super) fn neighbour_sizes(fault: &NeighbourSizesFault) -> String {
    let NeighbourSizesFault { k, q, m, m_default, n_reference, n_rows, .. } = *fault;
    let apart = match (fault.without_test, fault.without_point) {
        (false, false) => String::new(),
        (true, false) => format!(" ({n_reference} without the test row)"),
        (false, true) => format!(" ({n_reference} without the row that is valued)"),
        (true, true) => format!(" ({n_reference} without the test row and the row that is valued)"),
    };
    let drawn = format!("sets are drawn from {}{apart}", counted(n_rows, "reference row"));
    let least = q.saturating_sub(1);
    if k > n_rows {
        return format!("{drawn}, too few for {}", nearest(k));
    }
    if least > n_rows {
        return format!(
            "{drawn}, too few for q = {q}: a row joins sets of {} or more",
            counted(least, "row")
        );
    }
    let default = if m_default { ", the number of reference rows," } else { "" };
    let joined = counted(m.saturating_sub(1), "row");
    let needed = if k == least { nearest(k) } else { format!("q = {q}") };
    format!("m = {m}{default} is too small: a row joins sets of at most {joined}, too few for {needed}")
}

/// What makes sets that count.
pub(super) fn neighbour_sizes_hint(fault: &NeighbourSizesFault, speech: &dyn Speech) -> String {
    let Remedies { k, q, m, rows, k_and_q, m_and_rows } = fault.remedies;
    let at_most = |name: &str, most: usize| format!("{} to at most {most}", speech.option(name));
    let at_least = |name: &str, least: usize| format!("{} to at least {least}", speech.option(name));
    let rows_at_least = |n: usize| format!("give at least {}", counted(n, "reference row"));
    let mut helps = Vec::new();
    helps.extend(k.map(|k| format!("set {}", at_most("k", k))));
    helps.extend(q.map(|q| format!("set {}", at_most("q", q))));
    helps.extend(m.map(|m| format!("set {}", at_least("m", m))));
    helps.extend(rows.map(rows_at_least));
    helps.extend(k_and_q.map(|(k, q)| format!("set {} and {}", at_most("k", k), at_most("q", q))));
    helps.extend(m_and_rows.map(|(m, n)| format!("set {} and {}", at_least("m", m), rows_at_least(n))));
    helps.join(", or ")
}

/// The rows that predict.
pub(super) fn nearest(k: usize) -> String {
    if k == 1 { "the nearest row".into() } else { format!("the {k} nearest rows") }
}
