//! What `evaluate` and `compare` amount to, in words.

use crate::cleaning_words::percent;
use dshap_trials::{Comparison, Evaluation};

/// Methods whose rankings agree this much are the same for most purposes.
const SAME: f64 = 0.95;

/// Methods whose rankings agree less than this differ.
const DIFFERENT: f64 = 0.8;

fn quoted(method: &str) -> String {
    format!("`{method}`")
}

/// Which method to use, whether acting on it helps, and how sure that is. A sentence each.
pub fn evaluation_verdict(found: &Evaluation) -> Vec<String> {
    let mut text = Vec::new();
    let judgement = &found.judgement;
    match &judgement.detector {
        Some(best) => {
            let by = if best.by_penalty { "large penalties" } else { "low values" };
            let mut sentence = format!(
                "to find wrong targets, use {} and look at {by}: AUC {:.3} ± {:.3}",
                quoted(&best.method),
                best.auc,
                best.auc_std_error
            );
            if let Some(next) = &best.next {
                let next = quoted(next);
                sentence += &match best.leads_clearly {
                    true => format!(", clearly ahead of {next}"),
                    false => format!(", but not clearly ahead of {next}"),
                };
            }
            text.push(sentence);
        }
        None if found.n_wrong.is_some() => {
            text.push("no method finds wrong targets better than chance on this table".into());
        }
        None => {}
    }
    match &judgement.chooser {
        Some(best) => {
            let sure = match best.is_clear {
                true => "more than twice the spread of chance",
                false => "within the spread of chance, so this may be luck",
            };
            text.push(format!(
                "to choose rows, use {}: its curves are {} above chance, {sure}",
                quoted(&best.method),
                percent(best.advantage)
            ));
        }
        None => text.push("to choose rows, no method is better than chance on this table".into()),
    }
    if let Some(removal) = &judgement.removal {
        let word = if removal.change >= 0.0 { "raises" } else { "lowers" };
        let by_chance = if removal.by_chance >= 0.0 { "raises" } else { "lowers" };
        let advice = match removal.change > 0.0 && removal.change > removal.by_chance {
            true => "`dshap clean` tests whether that is real",
            false => "dropping low values does not help here",
        };
        text.push(format!(
            "removing the {} of lowest value by {} {word} utility by {} (at random {by_chance} it by {}): {advice}",
            percent(removal.share),
            quoted(&removal.method),
            percent(removal.change.abs()),
            percent(removal.by_chance.abs())
        ));
    }
    text
}

/// Whether it matters which method is used, and which one to use then.
pub fn comparison_verdict(found: &Comparison) -> Option<String> {
    let least = found.pairs.iter().filter_map(|pair| Some((pair.spearman?, pair)));
    let (agreement, pair) = least.reduce(|least, next| if next.0 < least.0 { next } else { least })?;
    let fastest = found.methods.iter().min_by(|one, other| one.seconds.total_cmp(&other.seconds))?;
    let (one, other) = (quoted(&pair.one), quoted(&pair.other));
    Some(if agreement >= SAME {
        format!(
            "the methods rank rows alike (Spearman at least {agreement:.2}): use {}, the fastest",
            quoted(&fastest.method)
        )
    } else if agreement >= DIFFERENT {
        format!(
            "{one} and {other} agree on most rows (Spearman {agreement:.2}) but not on all: `dshap evaluate` tells \
             which one finds more"
        )
    } else {
        format!(
            "{one} and {other} rank rows differently (Spearman {agreement:.2}): do not act on one of them before \
             `dshap evaluate` tells which one is better"
        )
    })
}
