//! Why a row is worth what it is worth, in sentences.

use crate::{grouped, significant};
use dshap_models::{
    Cell, DistanceFacts, DistanceKind, FeatureFacts, NearRow, NearestAmong, NearestRows, Rank,
    RowExplanation, TargetFacts,
};

/// Features that are named.
const NAMED: usize = 5;

/// A feature that contributes less than this share of the distance is not worth naming.
const LEAST_SHARE: f64 = 0.02;

/// A squared distance this many times that of an average row is large, or below its inverse
/// small.
const LARGE: f64 = 2.0;

/// A residual of fewer standard deviations is nothing unusual.
const USUAL_RESIDUAL: f64 = 2.0;

/// Why a row is worth what it is worth: a sentence or two to a paragraph, the value first.
pub fn explanation(row: &RowExplanation) -> Vec<String> {
    let mut paragraphs = vec![value(row)];
    paragraphs.extend(row.target.as_ref().map(|target| predicted(target, &row.nearest)));
    paragraphs.extend(balance(row));
    paragraphs.extend(row.distance.map(|distance| distance_of(distance, &row.features)));
    paragraphs.extend(nearest(row));
    paragraphs
}

/// The value, and where it stands.
fn value(row: &RowExplanation) -> String {
    let number = row.row;
    let Some(value) = row.value else {
        let why = row.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        return format!("Row {number} has no value{why}.");
    };
    let error = row.stderr.map(|error| format!(" ± {}", significant(error))).unwrap_or_default();
    let place = row.rank.map(|rank| format!(", {}", place(rank))).unwrap_or_default();
    format!("Row {number} has the value {}{error}{place}.", significant(value))
}

/// Where a row stands among all.
fn place(Rank { n_lower, n_valued }: Rank) -> String {
    let n_higher = n_valued.saturating_sub(n_lower + 1);
    let all = grouped(n_valued);
    match (n_lower, n_higher) {
        (0, _) => format!("the lowest of {all}"),
        (_, 0) => format!("the highest of {all}"),
        (lower, higher) if lower <= higher => format!("the {} lowest of {all}", ordinal(lower + 1)),
        (_, higher) => format!("the {} highest of {all}", ordinal(higher + 1)),
    }
}

/// A number as a place in a row: 2nd, 11th.
fn ordinal(number: u64) -> String {
    let ending = match (number % 100, number % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{}{ending}", grouped(number))
}

/// What the model predicts.
fn predicted(target: &TargetFacts, nearest: &NearestRows) -> String {
    let who = match nearest.k {
        Some(1) => "its nearest row".into(),
        Some(k) => format!("its {} nearest rows", grouped(k as u64)),
        None => "the model of the other rows".into(),
    };
    match target {
        TargetFacts::Number { name, actual, predicted, residual, residual_in_deviations } => {
            let side = if *residual < 0.0 { "below" } else { "above" };
            let mut text = format!(
                "Its `{name}` is {}; {who} {} {}. It lies {} {side} that",
                plain(*actual),
                if nearest.k.is_some() && nearest.k != Some(1) { "predict" } else { "predicts" },
                significant(*predicted),
                significant(residual.abs())
            );
            if let Some(deviations) = residual_in_deviations.map(f64::abs) {
                text += &format!(", {deviations:.1} standard deviations of the noise");
                text += if deviations < USUAL_RESIDUAL { ": nothing unusual" } else { "" };
            }
            text + "."
        }
        TargetFacts::Label { name, given, given_probability, suggested } => {
            let probability = given_probability.map(percent);
            let mut text = match (nearest.k, probability) {
                (_, None) => return format!("Its `{name}` is `{given}`."),
                (Some(_), Some(share)) => format!("Its `{name}` is `{given}`, as in {share} of {who}."),
                (None, Some(share)) => {
                    format!("Its `{name}` is `{given}`, to which {who} gives a probability of {share}.")
                }
            };
            text += &match suggested {
                Some(suggested) if suggested != given => {
                    let they = if nearest.k.is_some_and(|k| k != 1) { "They suggest" } else { "It suggests" };
                    format!(" {they} `{suggested}` instead.")
                }
                Some(_) => " No other label is more probable.".into(),
                None => String::new(),
            };
            text
        }
    }
}

/// A share in percent, with as many digits as it needs.
fn percent(share: f64) -> String {
    match 100.0 * share {
        small if small > 0.0 && small < 0.1 => "less than 0.1 %".into(),
        large if large < 100.0 && large > 99.9 => "more than 99.9 %".into(),
        share => format!("{share:.1} %").replace(".0 %", " %"),
    }
}

/// What the value is made of, and what it would be otherwise.
fn balance(row: &RowExplanation) -> Option<String> {
    let parts = row.potential.zip(row.penalty).map(|(potential, penalty)| {
        format!(
            "Its position could bring {}; its error costs {}.",
            significant(potential),
            significant(penalty)
        )
    });
    let otherwise = row.value_if_predicted.map(|value| match &row.target {
        Some(TargetFacts::Label { suggested: Some(suggested), .. }) => {
            format!("Labelled `{suggested}`, it would be worth {}.", significant(value))
        }
        _ => format!("With the predicted target it would be worth {}.", significant(value)),
    });
    let sentences: Vec<String> = parts.into_iter().chain(otherwise).collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// How far the row is from others, and why.
fn distance_of(distance: DistanceFacts, features: &[FeatureFacts]) -> String {
    let DistanceFacts { squared, average, kind } = distance;
    let (squared_text, average_text) = (significant(squared), plain(average));
    let what = match kind {
        DistanceKind::Mahalanobis => "squared distance from the mean",
        DistanceKind::Weighted => "squared distance in the fit",
        DistanceKind::StandardScores => "sum of squared standard scores",
    };
    let judged = match squared / average {
        ratio if ratio > LARGE => "Its features are unusual",
        ratio if ratio < LARGE.recip() => "Its features are near the middle",
        _ => "Its features are not unusual",
    };
    let mut text = match kind {
        // Rows that the model is sure of have small weights, so a small distance says nothing.
        DistanceKind::Weighted if squared <= LARGE * average => format!(
            "Its {what}, which weights rows by how unsure the model is, is {squared_text}; an average row has \
             {average_text}."
        ),
        _ => format!("{judged}: the {what} is {squared_text}, that of an average row {average_text}."),
    };
    let worth_naming = |feature: &&FeatureFacts| feature.contribution.abs() >= LEAST_SHARE * squared.abs();
    let named: Vec<String> = features.iter().filter(worth_naming).take(NAMED).map(feature).collect();
    if !named.is_empty() {
        text += &format!(" The largest contributions: {}.", named.join("; "));
    }
    text
}

/// A feature with what it contributes.
fn feature(FeatureFacts { feature, cell, contribution }: &FeatureFacts) -> String {
    let sign = if *contribution > 0.0 { "+" } else { "−" };
    let size = significant(contribution.abs());
    match cell {
        Cell::Number { value, mean, .. } => {
            format!("`{feature}` = {} {sign}{size} (mean {})", plain(*value), significant(*mean))
        }
        Cell::Date { value } => format!("`{feature}` = {value} {sign}{size}"),
        Cell::Category { value, share } => {
            format!("`{feature}` = {value} {sign}{size} ({} of rows)", percent(*share))
        }
    }
}

/// A number as it stands in a table, unless it has many digits. A sum that is a whole number but
/// for rounding is written as one.
fn plain(number: f64) -> String {
    let text = number.to_string();
    if text.len() <= 8 {
        return text;
    }
    let rounded = significant(number);
    match rounded.split_once('.') {
        Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole.into(),
        _ => rounded,
    }
}

/// The rows most like it.
fn nearest(row: &RowExplanation) -> Option<String> {
    let NearestRows { among, k, rows } = &row.nearest;
    if rows.is_empty() {
        return None;
    }
    let which = match (among, k.is_some() || row.target.is_none()) {
        (NearestAmong::Table, true) => "The rows most like it",
        (NearestAmong::Reference, true) => "The reference rows most like it",
        (NearestAmong::Table, false) => "The rows most like it that the model predicts well",
        (NearestAmong::Reference, false) => "The reference rows most like it that the model predicts well",
    };
    let target = row.target.as_ref().map(|target| match target {
        TargetFacts::Number { name, .. } | TargetFacts::Label { name, .. } => name.as_str(),
    });
    let shown = |near: &NearRow| match (target, &near.target) {
        (Some(name), Some(target)) => format!("{} (`{name}` {})", near.row, short(target)),
        _ => near.row.to_string(),
    };
    let rows: Vec<String> = rows.iter().map(shown).collect();
    Some(format!("{which}: {}.", rows.join(", ")))
}

/// A target as text, with few digits.
fn short(target: &str) -> String {
    match target.parse::<f64>() {
        Ok(number) => plain(number),
        Err(_) => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> RowExplanation {
        RowExplanation {
            row: 17,
            method: "gaussian",
            value: Some(-0.25),
            stderr: Some(0.01),
            note: None,
            rank: Some(Rank { n_lower: 2, n_valued: 1000 }),
            potential: Some(0.5),
            penalty: Some(0.75),
            target: Some(TargetFacts::Number {
                name: "price".into(),
                actual: 12.0,
                predicted: 20.0,
                residual: -8.0,
                residual_in_deviations: Some(-4.0),
            }),
            value_if_predicted: Some(0.5),
            distance: Some(DistanceFacts { squared: 30.0, average: 10.0, kind: DistanceKind::Mahalanobis }),
            features: vec![
                FeatureFacts {
                    feature: "age".into(),
                    cell: Cell::Number { value: 97.0, mean: 40.0, std_dev: Some(12.0) },
                    contribution: 25.0,
                },
                FeatureFacts {
                    feature: "city".into(),
                    cell: Cell::Category { value: "Ulm".into(), share: 0.02 },
                    contribution: -5.0,
                },
                FeatureFacts {
                    feature: "size".into(),
                    cell: Cell::Number { value: 1.0, mean: 1.0, std_dev: None },
                    contribution: 0.1,
                },
            ],
            nearest: NearestRows {
                among: NearestAmong::Table,
                k: None,
                rows: vec![NearRow { row: 3, distance: 0.4, target: Some("19.5".into()) }],
            },
        }
    }

    #[test]
    fn a_number_that_disagrees_is_explained() {
        assert_eq!(
            explanation(&row()),
            [
                "Row 17 has the value -0.25000 ± 0.010000, the 3rd lowest of 1 000.",
                "Its `price` is 12; the model of the other rows predicts 20.000. It lies 8.0000 below that, 4.0 \
                 standard deviations of the noise.",
                "Its position could bring 0.50000; its error costs 0.75000. With the predicted target it would be \
                 worth 0.50000.",
                "Its features are unusual: the squared distance from the mean is 30.000, that of an average row \
                 10. The largest contributions: `age` = 97 +25.000 (mean 40.000); `city` = Ulm −5.0000 (2 % of \
                 rows).",
                "The rows most like it that the model predicts well: 3 (`price` 19.5).",
            ]
        );
    }

    #[test]
    fn a_label_that_disagrees_is_explained() {
        let target = |given_probability, suggested: &str| {
            let suggested = Some(suggested.to_owned());
            TargetFacts::Label { name: "kind".into(), given: "cat".into(), given_probability, suggested }
        };
        let labelled = RowExplanation { target: Some(target(Some(0.0321), "dog")), ..row() };
        let text = explanation(&labelled);
        assert_eq!(
            text[1],
            "Its `kind` is `cat`, to which the model of the other rows gives a probability of 3.2 %. It suggests \
             `dog` instead."
        );
        assert!(text[2].ends_with("Labelled `dog`, it would be worth 0.50000."), "{}", text[2]);
        let right =
            RowExplanation { target: Some(target(Some(0.9999), "cat")), value_if_predicted: None, ..row() };
        assert!(explanation(&right)[1].ends_with("of more than 99.9 %. No other label is more probable."));
    }

    #[test]
    fn a_row_without_a_value_says_why() {
        let nearest = NearestRows { rows: Vec::new(), ..row().nearest };
        let bare = RowExplanation {
            value: None,
            note: Some("missing cell".into()),
            potential: None,
            target: None,
            value_if_predicted: None,
            distance: None,
            nearest,
            ..row()
        };
        assert_eq!(explanation(&bare), ["Row 17 has no value (missing cell)."]);
    }

    #[test]
    fn places_are_counted_from_the_nearer_end() {
        let place = |n_lower| place(Rank { n_lower, n_valued: 30 });
        assert_eq!(place(0), "the lowest of 30");
        assert_eq!(place(29), "the highest of 30");
        assert_eq!(place(10), "the 11th lowest of 30");
        assert_eq!(place(28), "the 2nd highest of 30");
        assert_eq!(place(8), "the 9th lowest of 30");
    }

    #[test]
    fn whole_numbers_have_no_decimals() {
        assert_eq!(plain(3.0000000000000004), "3");
        assert_eq!(plain(-12.25), "-12.25");
        assert_eq!(plain(1.0 / 3.0), "0.33333");
    }
}
