//! Which rows.

use crate::option::{Group, OptionEntry, Scope};
use crate::value::{Kind, Word};

/// Rows that stand for the distribution of the data.
pub static REFERENCE: OptionEntry = OptionEntry {
    name: "reference",
    placeholder: "FILE",
    takes: Kind::Files,
    group: Group::Rows,
    help: "Rows that stand for the distribution of the data",
    details: "Without it, each row is valued against all the others.",
    default: "",
    daily: true,
    scope: Scope::MethodFit,
};

/// Rows that measure what sets are worth.
pub static TEST: OptionEntry = OptionEntry {
    name: "test",
    placeholder: "FILE",
    takes: Kind::Files,
    group: Group::Rows,
    help: "Rows that measure what sets are worth",
    details: "They need the columns of the reference.",
    default: "",
    daily: false,
    scope: Scope::MethodFit,
};

/// Inputs without targets that a model will predict.
pub static POPULATION: OptionEntry = OptionEntry {
    name: "population",
    placeholder: "FILE",
    takes: Kind::Files,
    group: Group::Rows,
    help: "Inputs that the model will predict, without targets",
    details: "Values are for them. They need the features of the reference. With targets at hand, {test} also tells where the model is \
              wrong.",
    default: "",
    daily: false,
    scope: Scope::MethodFit,
};

/// Text tables without a header.
pub static NO_HEADER: OptionEntry = OptionEntry {
    name: "no_header",
    placeholder: "",
    takes: Kind::Switch,
    group: Group::Rows,
    help: "CSV files have no line of column names; columns are called column_1, column_2 and so on",
    details: "This concerns every CSV file of the command. Other formats name their columns themselves.",
    default: "",
    daily: false,
    scope: Scope::Always,
};

/// How text tables write numbers.
pub static DECIMAL: OptionEntry = OptionEntry {
    name: "decimal",
    placeholder: "SIGN",
    takes: Kind::Choice { words: &[Word { word: ".", means: "1.5" }, Word { word: ",", means: "1,5" }] },
    group: Group::Rows,
    help: "The decimal sign of numbers in CSV files",
    details: "With a comma, cells are separated by semicolons, tabs or bars, or by commas between quotes; `1.5` is \
              text then, because its point may separate thousands. Output always has decimal points.",
    default: ".",
    daily: false,
    scope: Scope::Always,
};

pub(super) const ALL: &[&OptionEntry] = &[&REFERENCE, &TEST, &POPULATION, &NO_HEADER, &DECIMAL];
