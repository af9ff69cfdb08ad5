//! Options of the catalogue as flags, and flags as options that were given.

use super::help;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, ValueHint};
use dshap_catalogue::options::ForOwners;
use dshap_catalogue::{Given, Kind, OptionEntry, Value, Word, options};

/// The name of an option as it is typed after two dashes: `small_ridge` is `small-ridge`.
pub(crate) fn long_name(name: &str) -> String {
    name.replace('_', "-")
}

/// The flag of an option.
pub(super) fn flag(option: &'static OptionEntry) -> Arg {
    let flag = Arg::new(option.name)
        .long(long_name(option.name))
        .help(help::short(option))
        .long_help(help::long(option))
        .help_heading(option.group.heading());
    match option.takes {
        Kind::Switch => flag.action(ArgAction::SetTrue),
        Kind::Names => with_value(flag, option).action(ArgAction::Append),
        Kind::Files => with_value(flag, option).action(ArgAction::Append).value_hint(ValueHint::FilePath),
        Kind::File => with_value(flag, option).value_hint(ValueHint::FilePath),
        // Labels such as -1.
        Kind::Text => with_value(flag, option).allow_hyphen_values(option.name == options::POSITIVE.name),
        _ => with_value(flag, option),
    }
}

/// The flag with what the option means for owners.
pub(super) fn for_owners(flag: Arg, of: &ForOwners) -> Arg {
    let flag = flag.help(help::spelled(of.help)).long_help(help::long_for_owners(of));
    match of.word {
        None => flag,
        Some(other) => {
            let meaning = |word: &Word| if word.word == other.word { other.means } else { word.means };
            flag.value_parser(choice(of.option, meaning).map(Value::Word))
        }
    }
}

fn with_value(flag: Arg, option: &'static OptionEntry) -> Arg {
    flag.value_name(option.placeholder).value_parser(parser(option))
}

fn parser(option: &'static OptionEntry) -> ValueParser {
    match option.takes {
        Kind::Choice { .. } => words(option).map(Value::Word).into(),
        // The name of a file may have a comma.
        Kind::Files => ValueParser::from(|name: &str| Ok::<_, String>(Value::List(vec![name.into()]))),
        _ => ValueParser::from(move |text: &str| option.parse(text)),
    }
}

/// The words that an option takes.
pub(super) fn words(option: &OptionEntry) -> PossibleValuesParser {
    choice(option, |word| word.means)
}

/// The words that an option takes, each with its meaning.
fn choice(option: &OptionEntry, means: impl Fn(&Word) -> &'static str) -> PossibleValuesParser {
    let words = match option.takes {
        Kind::Choice { words } => words,
        _ => &[],
    };
    PossibleValuesParser::new(words.iter().map(|word| PossibleValue::new(word.word).help(means(word))))
}

/// The options that were given on the command line.
pub(super) fn given(matches: &ArgMatches) -> Given {
    let mut given = Given::new();
    for option in options::all().filter(|option| is_given(matches, option.name)) {
        let value = match option.takes {
            Kind::Switch => Some(Value::On),
            Kind::Names | Kind::Files => Some(Value::List(names(matches, option.name))),
            _ => matches.get_one::<Value>(option.name).cloned(),
        };
        if let Some(value) = value {
            given = given.with(option, value);
        }
    }
    given
}

/// Whether the command has a flag and the user typed it.
fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.try_contains_id(name).unwrap_or(false)
        && matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// The names of a flag that may be repeated.
fn names(matches: &ArgMatches, name: &str) -> Vec<String> {
    let each = matches.get_many::<Value>(name).into_iter().flatten();
    let lists = each.filter_map(|value| match value {
        Value::List(names) => Some(names.clone()),
        _ => None,
    });
    lists.flatten().collect()
}
