//! Columns that cannot become a design, in words.

use crate::Speech;
use crate::listing::listed;
use dshap_io::Location;
use dshap_table::{Error, Kind, closest};

/// What is wrong with a table.
pub fn table_error(error: &Error, speech: &dyn Speech) -> String {
    table_error_at(None, error, speech)
}

/// What is wrong with a table, and where: `at` is the place of [`Error::row`].
pub fn table_error_at(at: Option<&Location>, error: &Error, speech: &dyn Speech) -> String {
    let cell = |column: &str| speech.cell(at, column);
    match error {
        Error::Missing { name, .. } => format!("{} has no value", cell(name)),
        Error::UnseenLevel { name, level, .. } => {
            format!("{} holds `{level}`, which no reference row has", cell(name))
        }
        Error::NotFinite { name, .. } => format!("{} is not a finite number", cell(name)),
        Error::NotADate { name, text, .. } => format!("{} holds `{text}`, which is no date", cell(name)),
        Error::BadWeight { name, weight, .. } => {
            format!("{} holds {weight:?}; a weight is 0 or between 1e-100 and 1e100", cell(name))
        }
        Error::LargeLabel { name, label, .. } => format!(
            "{} holds the label `{label}`, which is so large that it cannot be told from the next number",
            cell(name)
        ),
        Error::UnknownLabel { row: Some(_), unknown } => format!(
            "{} holds the label `{}`, which no reference row has; the labels are {}",
            cell(&unknown.name),
            unknown.label,
            listed(&unknown.labels)
        ),
        Error::UnknownLabel { row: None, unknown } => format!(
            "target `{}` has no label `{}`; its labels are {}",
            unknown.name,
            unknown.label,
            listed(&unknown.labels)
        ),
        Error::TwoRoles { name, first, second } => format!(
            "column `{name}` is named by both {} and {}",
            speech.option(first.option()),
            speech.option(second.option())
        ),
        // The others name no cell and nothing that front ends spell differently.
        other => other.to_string(),
    }
}

/// What to do about a table error.
pub fn table_hint(error: &Error, speech: &dyn Speech) -> Option<String> {
    Some(match error {
        Error::NoSuchColumn { name, available } => {
            match closest(name, available.iter().map(String::as_str)) {
                Some(suggestion) if !are_numbers(&[suggestion.to_owned()]) => {
                    format!("did you mean `{suggestion}`?")
                }
                _ if are_numbers(available) => numbers_as_names(speech),
                suggestion => format!("did you mean `{}`?", suggestion?),
            }
        }
        Error::TwoRoles { name, .. } => format!("name `{name}` only once"),
        // Most methods for a target refuse a density, so its own method is named, too.
        Error::NoTarget { .. } => format!(
            "{}; {} with {} needs none",
            speech.name_target(),
            speech.task("density"),
            speech.method("closed")
        ),
        Error::NoFeatures { .. } => speech.check_features(),
        Error::TargetKind { kind: Kind::Text, .. } => {
            format!("use {} for text, or {}", speech.task("classification"), speech.numeric_target())
        }
        Error::TargetKind { .. } => speech.numeric_target(),
        Error::LabelKind { .. } => format!("{}, or turn it into labels first", speech.other_target()),
        Error::TooManyLabels { .. } => {
            format!("use {} for numbers, or {}", speech.task("regression"), speech.other_target())
        }
        Error::NoLabels { .. } => "check the target, and whether all rows have missing cells".into(),
        Error::OneLabel { .. } => format!(
            "add rows with another label, or {}; rows without a label or with weight 0 do not count",
            speech.other_target()
        ),
        Error::LargeLabel { name, .. } => speech.labels_as_text(name),
        Error::UnknownLabel { row: Some(_), .. } => {
            "leave such rows out, or add rows with that label to the reference".into()
        }
        Error::UnknownLabel { row: None, unknown } => {
            let labels = unknown.labels.iter().map(String::as_str);
            format!("did you mean `{}`?", closest(&unknown.label, labels)?)
        }
        Error::PositiveOfMany { .. } => format!("leave out {}", speech.option("positive")),
        Error::UnusableKind { name, kind } => leave_out_or_convert(name, kind, speech),
        Error::TooManyLevels { name, more, .. } => {
            let pool = format!("pool rare categories with {}", speech.set("rare_levels", "20"));
            let mut ways = vec![speech.leave_out(name)];
            ways.extend(speech.name_rows_by(name));
            // Where every row has a level of its own, all are rare.
            ways.extend(more.then_some(pool));
            ways.join(", or ")
        }
        Error::Missing { can_fill: false, .. } => format!(
            "{} leaves out rows with missing cells; a target or weight cannot be filled in",
            speech.set("missing", "drop")
        ),
        Error::Missing { .. } => format!(
            "{} leaves out such rows, {} fills in the mean of the column",
            speech.set("missing", "drop"),
            speech.set("missing", "mean")
        ),
        Error::UnseenLevel { .. } => {
            format!("{} sets the columns of all known levels to 0", speech.set("unseen", "zero"))
        }
        Error::AllMissing { name } => speech.leave_out(name),
        _ => return None,
    })
}

/// Whether names look like the first row of a table: nearly all are numbers.
fn are_numbers(names: &[String]) -> bool {
    let n_numbers = names.iter().filter(|name| name.trim().parse::<f64>().is_ok()).count();
    n_numbers > 0 && 4 * n_numbers >= 3 * names.len()
}

/// What to do about a table whose first row was read as its header.
pub(crate) fn numbers_as_names(speech: &dyn Speech) -> String {
    format!("names are numbers; if the file has no header, give {}", speech.option("no_header"))
}

/// What to do about a column whose cells are not numbers.
pub(crate) fn leave_out_or_convert(name: &str, kind: &Kind, speech: &dyn Speech) -> String {
    let leave_out = speech.leave_out(name);
    match kind {
        Kind::Date => match speech.dates_as_numbers() {
            Some(way) => format!("{way}; or {leave_out}"),
            None => format!("{leave_out}, or turn it into numbers first, such as days since a fixed date"),
        },
        Kind::Duration => format!("{leave_out}, or turn it into numbers first, such as hours"),
        _ => leave_out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_speech::{Angled, assert_is_house_style};
    use dshap_io::Place;
    use dshap_table::{Difference, Role, UnknownLabel};

    fn unknown(row: Option<usize>) -> Error {
        let labels = vec!["no".into(), "yes".into()];
        let unknown = UnknownLabel { name: "age".into(), label: "yess".into(), labels };
        Error::UnknownLabel { row, unknown: Box::new(unknown) }
    }

    /// Every variant about a column, each about `age`.
    fn all() -> Vec<Error> {
        let name = || "age".to_string();
        let other = || Kind::Other("list".into());
        vec![
            Error::NoSuchColumn { name: name(), available: vec!["aged".into()] },
            Error::NoTarget { available: vec![name()] },
            Error::NoFeatures { target: Some(name()) },
            Error::TwoRoles { name: name(), first: Role::Target, second: Role::Exclude },
            Error::UnusableKind { name: name(), kind: Kind::Date },
            Error::UnusableKind { name: name(), kind: Kind::Duration },
            Error::UnusableKind { name: name(), kind: other() },
            Error::TargetKind { name: name(), kind: Kind::Text },
            Error::TargetKind { name: name(), kind: Kind::Date },
            Error::LabelKind { name: name(), kind: other() },
            Error::TooManyLabels { name: name(), n_labels: 256, more: true },
            Error::TooManyLabels { name: name(), n_labels: 9, more: false },
            Error::NoLabels { name: name() },
            Error::OneLabel { name: name(), label: "x".into() },
            Error::LargeLabel { row: 1, name: name(), label: 1e16 },
            unknown(None),
            unknown(Some(1)),
            Error::PositiveOfMany { name: name(), n_labels: 3 },
            Error::TooManyLevels { name: name(), n_levels: 256, more: true },
            Error::TooManyLevels { name: name(), n_levels: 9, more: false },
            Error::Missing { row: 1, name: name(), can_fill: true },
            Error::Missing { row: 1, name: name(), can_fill: false },
            Error::UnseenLevel { row: 1, name: name(), level: "x".into() },
            Error::NotFinite { row: 1, name: name() },
            Error::NotADate { row: 1, name: name(), text: "x".into() },
            Error::BadWeight { row: 1, name: name(), weight: -1.0 },
            Error::WeightKind { name: name(), kind: Kind::Text },
            Error::AllMissing { name: name() },
            Error::Differs(Difference::Targets { first: name(), second: "size".into() }),
            Error::Differs(Difference::Feature { name: name() }),
            Error::Differs(Difference::TextFeature { name: name() }),
            Error::Differs(Difference::Pooled { name: name() }),
        ]
    }

    #[test]
    fn every_error_names_its_column_in_house_style() {
        let at = Location { file: "wine.csv".into(), place: Place::Line(3) };
        for error in all() {
            let message = table_error(&error, &Angled);
            assert!(message.contains("`age`"), "{message}");
            assert_is_house_style(&message);
            assert_is_house_style(&error.to_string());
            let placed = table_error_at(Some(&at), &error, &Angled);
            let is_placed = placed.starts_with("`wine.csv` line 3, column `age` ");
            assert_eq!(is_placed, error.row().is_some(), "{placed}");
            if let Some(hint) = table_hint(&error, &Angled) {
                assert_is_house_style(&hint);
            }
        }
    }

    #[test]
    fn errors_without_a_column_are_said_too() {
        for difference in [
            Difference::OneTarget,
            Difference::TextTarget,
            Difference::AllLevels,
            Difference::Weights,
            Difference::Means,
        ] {
            assert_is_house_style(&table_error(&Error::Differs(difference), &Angled));
        }
        let damaged = Error::Contradiction { what: "a feature has no encoding" };
        assert_eq!(table_error(&damaged, &Angled), "a feature has no encoding");
    }

    #[test]
    fn options_are_spelled_by_the_front_end() {
        let said = |error: &Error| (table_error(error, &Angled), table_hint(error, &Angled).unwrap());
        let (message, hint) =
            said(&Error::TwoRoles { name: "age".into(), first: Role::Features, second: Role::Weight });
        assert_eq!(message, "column `age` is named by both <features> and <weight>");
        assert_eq!(hint, "name `age` only once");
        let (_, hint) = said(&Error::UnusableKind { name: "age".into(), kind: Kind::Date });
        assert_eq!(hint, "<dates is days> or <dates is parts> turns dates into numbers; or <leave out age>");
        let (_, hint) = said(&Error::TargetKind { name: "age".into(), kind: Kind::Text });
        assert_eq!(hint, "use <task classification> for text, or <numeric target>");
        let (message, hint) = said(&Error::Missing { row: 0, name: "age".into(), can_fill: true });
        assert_eq!(message, "a cell of column `age` has no value");
        assert_eq!(
            hint,
            "<missing is drop> leaves out such rows, <missing is mean> fills in the mean of the column"
        );
        let (message, hint) = said(&unknown(None));
        assert_eq!(message, "target `age` has no label `yess`; its labels are `no`, `yes`");
        assert_eq!(hint, "did you mean `yes`?");
    }
}
