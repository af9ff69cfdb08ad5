//! What `evaluate` and `compare` amount to, in words.

use crate::cleaning_words::percent;
use crate::counted;
use dshap_trials::{Compared, Comparison, ENOUGH_REPEATS, Evaluation, Pair};

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
            if (2..ENOUGH_REPEATS).contains(&found.repeats) {
                sentence += &format!("; {} runs show little, 20 show more", found.repeats);
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
        let advice = match removal.change > 0.0 && removal.change > removal.by_chance {
            true => "`dshap clean` tests whether that is real",
            false => "dropping low values does not help here",
        };
        text.push(format!(
            "removing the {} of lowest value by {} changes utility by {} (as many at random: {}): {advice}",
            percent(removal.share),
            quoted(&removal.method),
            signed(removal.change),
            signed(removal.by_chance)
        ));
    }
    text
}

/// Which methods agree, which one to use and why, and how sure that is. A sentence each.
pub fn comparison_verdict(found: &Comparison) -> Vec<String> {
    let known: Vec<(f64, &Pair)> =
        found.pairs.iter().filter_map(|pair| Some((pair.spearman?, pair))).collect();
    let Some(least) = known.iter().map(|(spearman, _)| *spearman).min_by(f64::total_cmp) else {
        return Vec::new();
    };
    let error = (1.0 / (found.n_valued.max(2) - 1) as f64).sqrt();
    let mut text = vec![match least >= SAME {
        true => format!("all methods rank rows alike (Spearman at least {least:.2})"),
        false => agreements(&known),
    }];
    text.extend(choice(found, &known, least).map(|sentence| {
        format!(
            "{sentence}; correlations from {} are known to ± {error:.2}",
            counted(found.n_valued as u64, "row")
        )
    }));
    text.push("whether acting on values helps is not tested here: `dshap evaluate` does that".into());
    text
}

/// Which methods agree and which do not.
fn agreements(known: &[(f64, &Pair)]) -> String {
    let named = |(spearman, pair): &(f64, &Pair)| {
        format!("{} and {} ({spearman:.2})", quoted(&pair.one), quoted(&pair.other))
    };
    let those = |from: f64, below: f64| {
        let pairs = known.iter().filter(|(spearman, _)| (from..below).contains(spearman));
        pairs.map(named).collect::<Vec<String>>()
    };
    let groups = [
        ("rank rows alike", those(SAME, f64::INFINITY)),
        ("agree on most rows", those(DIFFERENT, SAME)),
        ("rank rows differently", those(f64::NEG_INFINITY, DIFFERENT)),
    ];
    let sentences = groups.into_iter().filter(|(_, pairs)| !pairs.is_empty());
    sentences.map(|(what, pairs)| format!("{} {what}", pairs.join(", "))).collect::<Vec<_>>().join("; ")
}

/// Which method to use and why: the fastest of equals, or the one that agrees best with the
/// others. Two methods that differ agree equally well with each other.
fn choice(found: &Comparison, known: &[(f64, &Pair)], least: f64) -> Option<String> {
    let by_time = |one: &&Compared, other: &&Compared| one.seconds.total_cmp(&other.seconds);
    if least >= SAME {
        return found
            .methods
            .iter()
            .min_by(by_time)
            .map(|best| format!("use {}, the fastest", quoted(&best.method)));
    }
    let agreement = |method: &Compared| {
        let is_its = |(_, pair): &&(f64, &Pair)| pair.one == method.method || pair.other == method.method;
        let (sum, n) = known.iter().filter(is_its).fold((0.0, 0), |(sum, n), (one, _)| (sum + one, n + 1));
        if n == 0 { f64::NEG_INFINITY } else { sum / f64::from(n) }
    };
    if found.methods.len() < 3 {
        return Some("nothing here tells which of them is right".into());
    }
    let best = found.methods.iter().max_by(|one, other| {
        agreement(one).total_cmp(&agreement(other)).then(other.seconds.total_cmp(&one.seconds))
    })?;
    Some(format!(
        "start with {}, which agrees best with the others (Spearman {:.2} on average)",
        quoted(&best.method),
        agreement(best)
    ))
}

/// A change with its sign: `+0.4 %`, `-1.2 %`, `0 %`.
fn signed(change: f64) -> String {
    match (1000.0 * change).round() / 10.0 {
        0.0 => "0 %".into(),
        rounded => format!("{rounded:+} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(pairs: &[(&str, &str, f64)], methods: &[(&str, f64)]) -> Comparison {
        let pair = |&(one, other, spearman): &(&str, &str, f64)| Pair {
            one: one.into(),
            other: other.into(),
            spearman: Some(spearman),
            kendall: None,
            top_overlap: None,
        };
        let method = |&(method, seconds): &(&str, f64)| Compared { method: method.into(), seconds };
        Comparison {
            version: "",
            task: "regression",
            task_guessed: false,
            n_valued: 401,
            n_test: 0,
            test_from: "none",
            top: 40,
            methods: methods.iter().map(method).collect(),
            pairs: pairs.iter().map(pair).collect(),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_comparison_says_which_methods_agree_and_which_to_use() {
        let pairs = [("gaussian", "calibrated", 0.99), ("gaussian", "knn", 0.3), ("calibrated", "knn", 0.4)];
        let found = comparison(&pairs, &[("gaussian", 0.1), ("calibrated", 0.2), ("knn", 0.3)]);
        let text = comparison_verdict(&found);
        assert_eq!(
            text[0],
            "`gaussian` and `calibrated` (0.99) rank rows alike; `gaussian` and `knn` (0.30), `calibrated` and `knn` \
             (0.40) rank rows differently"
        );
        assert!(text[1].starts_with("start with `calibrated`") && text[1].ends_with("± 0.05"), "{}", text[1]);
        assert!(text[2].contains("dshap evaluate"));
        let alike = comparison(&pairs[..1], &[("gaussian", 0.1), ("calibrated", 0.2)]);
        assert!(comparison_verdict(&alike)[1].starts_with("use `gaussian`, the fastest"));
        let two = comparison(&[("gaussian", "knn", 0.3)], &[("gaussian", 0.1), ("knn", 0.3)]);
        assert!(comparison_verdict(&two)[1].starts_with("nothing here tells which"));
        assert_eq!(comparison_verdict(&comparison(&[], &[("knn", 1.0)])), Vec::<String>::new());
    }

    #[test]
    fn changes_have_signs() {
        assert_eq!([0.004, -0.012, 0.0, -0.0].map(signed), ["+0.4 %", "-1.2 %", "0 %", "0 %"]);
    }
}
