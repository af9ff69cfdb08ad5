//! Commands as a shell takes them.

use crate::args::long_name;
use dshap_catalogue::options::{BY, DECIMAL, EXCLUDE, FEATURES, ID, NO_HEADER, TARGET, TASK, WEIGHT};
use dshap_catalogue::{Given, Group, Kind, OptionEntry, Value};
use dshap_words::in_shell as quoted;

/// Options as they are typed, each after a blank, in the order of their names.
pub(crate) fn flags(given: &Given, is_wanted: impl Fn(&'static OptionEntry) -> bool) -> String {
    let mut text = String::new();
    for option in given.options().filter(|option| is_wanted(option)) {
        let Some(value) = given.value(option) else { continue };
        let name = format!(" --{}", long_name(option.name));
        let words = match value {
            Value::On => Vec::new(),
            Value::List(files) if matches!(option.takes, Kind::Files) => files.clone(),
            Value::List(names) => vec![names.join(",")],
            Value::Word(word) => vec![word.clone()],
            Value::Number(number) => vec![number.to_string()],
            Value::Count(count) => vec![count.to_string()],
            Value::Counts(counts) => {
                vec![counts.iter().map(u64::to_string).collect::<Vec<_>>().join(",")]
            }
        };
        match words.as_slice() {
            [] => text += &name,
            words => words.iter().for_each(|word| text += &format!("{name} {}", quoted(word))),
        }
    }
    text
}

/// The options that say how the columns of a table are read, the target first.
pub(crate) fn flags_of_columns(given: &Given) -> String {
    let is_target = |option: &OptionEntry| option.name == TARGET.name;
    let reads = |option: &OptionEntry| {
        let of_text = [TASK.name, NO_HEADER.name, DECIMAL.name].contains(&option.name);
        option.group == Group::Columns || of_text
    };
    flags(given, is_target) + &flags(given, |option| reads(option) && !is_target(option))
}

/// The same for `clean`, where columns that name or weight rows are columns to leave out.
pub(crate) fn flags_of_cleaning(given: &Given) -> String {
    let mut excluded = given.list(&EXCLUDE).to_vec();
    for name in [&ID, &BY, &WEIGHT].into_iter().filter_map(|option| given.word(option)) {
        if !excluded.iter().any(|known| known == name) {
            excluded.push(name.into());
        }
    }
    let given = given.clone().without(&ID).without(&BY).without(&WEIGHT);
    flags_of_columns(&match excluded.is_empty() || given.has(&FEATURES) {
        true => given,
        false => given.with(&EXCLUDE, Value::List(excluded)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dshap_catalogue::options::{EXCLUDE, MISSING, NO_HEADER, TARGET, TASK};

    #[test]
    fn options_are_spelled_as_they_are_typed() {
        let given = Given::new()
            .with(&TARGET, Value::Word("sale price".into()))
            .with(&MISSING, Value::Word("mean".into()))
            .with(&TASK, Value::Word("regression".into()))
            .with(&NO_HEADER, Value::On)
            .with(&EXCLUDE, Value::List(vec!["a".into(), "b".into()]))
            .with(&BY, Value::Word("shop".into()));
        let text = flags_of_cleaning(&given);
        for expected in [
            " --target 'sale price'",
            " --missing mean",
            " --task regression",
            " --no-header",
            " --exclude a,b,shop",
        ] {
            assert!(text.contains(expected), "{text}");
        }
        assert!(!text.contains("--by"), "{text}");
        assert!(
            flags_of_columns(&given)
                .ends_with(" --by shop --exclude a,b --missing mean --no-header --task regression")
        );
    }
}
