//! What `clean` found, in words.

use crate::numbers::{counted, significant};
use dshap_cleaning::{Act, Reason, Tested, Verdict};

/// Why a row is suspicious.
pub fn clean_reason(reason: &Reason) -> String {
    match reason {
        Reason::Far { expected, deviations } => {
            let side = if *deviations > 0.0 { "above" } else { "below" };
            format!("{:.1} deviations {side} the {} expected", deviations.abs(), significant(*expected))
        }
        Reason::Improbable { prob, expected, expected_prob } => {
            format!("label has probability {prob:.2}; `{expected}` has {expected_prob:.2}")
        }
    }
}

/// A share as a percentage: `0.5 %`, `10 %`, `less than 0.1 %`.
pub fn percent(share: f64) -> String {
    match (1000.0 * share).round() / 10.0 {
        rounded if rounded == 0.0 && share > 0.0 => "less than 0.1 %".into(),
        rounded => format!("{rounded} %"),
    }
}

/// An action and its share: `drop 2 %`.
pub fn clean_action(tested: &Tested) -> String {
    format!("{} {}", tested.action.act.name(), percent(tested.action.share))
}

/// How many rows are flagged, and what is known about them; nothing if none is.
pub fn clean_flagged(n_flagged: usize, precision: Option<f64>, verdict: &Verdict) -> Option<String> {
    if n_flagged == 0 {
        return None;
    }
    let rows = counted(n_flagged as u64, "row");
    let (are, them) = if n_flagged == 1 { ("is", "it") } else { ("are", "them") };
    let look = format!("{rows} {are} worth a look");
    if !verdict.has_labels() {
        // Far targets are wrong ones or the tail of skewed noise: a table cannot tell.
        return Some(format!(
            "{look}: what others predict is far off, which can be so for a right target, too"
        ));
    }
    if !verdict.finds_wrong() {
        let theirs = if n_flagged == 1 { "its own" } else { "their own" };
        return Some(format!(
            "{look}: others suggest another label than {theirs}; where labels overlap, they do that for right ones, too"
        ));
    }
    // To a twentieth: more digits would be made up.
    Some(match precision.map(|precision| (20.0 * precision).round() / 20.0) {
        Some(0.0) => format!("{look}, but hardly any may be wrong"),
        Some(share) if n_flagged > 1 => format!("{look}; about {} of {them} may be wrong", percent(share)),
        _ => look,
    })
}

/// What to do with a table, in one or two sentences: of its `n_rows` rows, `n_acted` are those
/// that the recommendation is about.
pub fn clean_verdict(verdict: &Verdict, n_acted: usize, n_rows: usize) -> String {
    let (seem, loss) = match verdict.has_labels() {
        true => ("labels look wrong", "log-loss"),
        false => ("targets are far off", "squared error"),
    };
    let change = |tested: &Tested| {
        let word = if tested.loss_change <= 0.0 { "falls" } else { "rises" };
        let share = |number: f64| percent(number / verdict.loss.abs().max(f64::MIN_POSITIVE));
        format!(
            "{loss} on held-out rows {word} by {} ± {}",
            share(tested.loss_change.abs()),
            share(tested.loss_change_se)
        )
    };
    if let Some(chosen) = verdict.recommended {
        let rows = counted(n_acted as u64, "most suspicious row");
        let share = percent(n_acted as f64 / n_rows.max(1) as f64);
        let tested = &verdict.tested[chosen.place];
        let what = match chosen.action.act {
            Act::Drop => format!("drop the {rows} ({share})"),
            Act::Relabel => format!("give the {rows} ({share}) their likeliest labels"),
        };
        return format!(
            "recommendation: {what}; about {} of the {seem}, and {}, wrong rows included",
            percent(tested.wrong_share),
            change(tested)
        );
    }
    let likely = verdict.tested.iter().filter(|tested| tested.evidence >= verdict.evidence_needed);
    let best = likely.min_by(|one, other| one.robust_change.total_cmp(&other.robust_change));
    match best {
        None => {
            let act = if verdict.has_labels() { "dropping or relabelling" } else { "dropping" };
            format!(
                "recommendation: keep all rows; {act} suspicious ones does not clearly help predict others"
            )
        }
        Some(tested) if tested.robust_change < 0.0 => {
            let doubt = if tested.loss_agrees() { ", which may be chance" } else { "" };
            format!(
                "recommendation: keep all rows for now; some {seem}, but if you {}, {}{doubt}. Look at suspicious rows \
                 before you act",
                clean_action(tested),
                change(tested),
            )
        }
        Some(_) => format!(
            "recommendation: keep all rows; some {seem}, but dropping them does not help predict held-out rows"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_cleaning::Action;

    /// A verdict about drops alone, or about labels, with so much evidence.
    fn verdict(act: Act, evidence: f64, robust_change: f64, loss_change: f64) -> Verdict {
        let tested = Tested {
            action: Action { act, share: 0.02 },
            loss_change,
            loss_change_se: 0.01,
            robust_change,
            robust_change_se: 0.01,
            wrong_share: 0.01,
            evidence,
            helps: false,
        };
        Verdict { loss: 1.0, evidence_needed: 5.0, tested: vec![tested], recommended: None }
    }

    #[test]
    fn a_share_of_wrong_rows_is_given_only_where_there_is_evidence() {
        let with = verdict(Act::Relabel, 9.0, -0.01, 0.0);
        let flagged = |n, precision| clean_flagged(n, Some(precision), &with).expect("rows are flagged");
        assert_eq!(flagged(3, 0.01), "3 rows are worth a look, but hardly any may be wrong");
        assert_eq!(flagged(1, 0.9), "1 row is worth a look");
        assert_eq!(flagged(170, 0.34), "170 rows are worth a look; about 35 % of them may be wrong");
        assert_eq!(clean_flagged(0, None, &with), None);
        let without = verdict(Act::Relabel, 1.0, -0.01, 0.0);
        let flagged = clean_flagged(170, Some(0.34), &without).expect("rows are flagged");
        assert!(!flagged.contains('%') && flagged.contains("for right ones, too"), "{flagged}");
        let numbers = verdict(Act::Drop, 99.0, -0.01, 0.0);
        let flagged = clean_flagged(222, Some(0.9), &numbers).expect("rows are flagged");
        assert!(!flagged.contains('%'), "{flagged}");
    }

    #[test]
    fn no_verdict_contradicts_flagged_rows() {
        let none = clean_verdict(&verdict(Act::Relabel, 1.0, -0.01, 0.0), 0, 768);
        assert_eq!(
            none,
            "recommendation: keep all rows; dropping or relabelling suspicious ones does not clearly help predict others"
        );
        let unclear = clean_verdict(&verdict(Act::Drop, 9.0, -0.01, -0.003), 0, 768);
        assert!(unclear.contains("falls by 0.3 % ± 1 %, which may be chance. Look"), "{unclear}");
        let worse = clean_verdict(&verdict(Act::Drop, 9.0, -0.05, 0.04), 0, 768);
        assert!(worse.contains("rises by 4 % ± 1 %. Look"), "{worse}");
    }
}
