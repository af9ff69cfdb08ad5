//! What `clean` found, in words.

use crate::Speech;
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

/// How many rows are suspicious, and how many of them may be wrong.
pub fn clean_flagged(n_flagged: usize, precision: f64) -> String {
    let rows = counted(n_flagged as u64, "row");
    let (are, them) = if n_flagged == 1 { ("is", "it") } else { ("are", "them") };
    // To a twentieth: more digits would be made up.
    match (20.0 * precision).round() / 20.0 {
        0.0 => format!("{rows} {are} worth a look, but hardly any may be wrong"),
        _ if n_flagged == 1 => format!("{rows} {are} worth a look"),
        share => format!("{rows} {are} worth a look; about {} of {them} may be wrong", percent(share)),
    }
}

/// What to do with a table of `n_rows` rows, in one or two sentences.
pub fn clean_verdict(verdict: &Verdict, n_rows: usize, speech: &dyn Speech) -> String {
    let (targets, loss) = match verdict.has_labels() {
        true => ("labels", "log-loss"),
        false => ("targets", "squared error"),
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
        let n_acted = counted(chosen.action.n_rows(n_rows) as u64, "most suspicious row");
        let tested = &verdict.tested[chosen.place];
        let what = match chosen.action.act {
            Act::Drop => format!("drop the {n_acted} ({})", percent(chosen.action.share)),
            Act::Relabel => {
                format!("give the {n_acted} ({}) their likeliest labels", percent(chosen.action.share))
            }
        };
        return format!(
            "recommendation: {what}; about {} of the {targets} look wrong, and {}, wrong rows included",
            percent(tested.wrong_share),
            change(tested)
        );
    }
    let likely = verdict.tested.iter().filter(|tested| tested.evidence >= verdict.evidence_needed);
    let best = likely.min_by(|one, other| one.robust_change.total_cmp(&other.robust_change));
    match best {
        None => format!("recommendation: keep all rows; nothing suggests that {targets} are wrong"),
        Some(tested) if tested.robust_change < 0.0 => format!(
            "recommendation: keep all rows for now; some {targets} look wrong, but if you {}, {}. {} lists them: look \
             before you act",
            clean_action(tested),
            change(tested),
            speech.option("mark")
        ),
        Some(_) => format!(
            "recommendation: keep all rows; some {targets} look wrong, but dropping them does not help predict \
             held-out rows"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flagged_rows_are_said_to_be_wrong_only_as_far_as_that_is_known() {
        assert_eq!(clean_flagged(3, 0.01), "3 rows are worth a look, but hardly any may be wrong");
        assert_eq!(clean_flagged(1, 0.9), "1 row is worth a look");
        assert_eq!(clean_flagged(170, 0.34), "170 rows are worth a look; about 35 % of them may be wrong");
    }
}
