//! Which rows.

use crate::option::{Group, OptionEntry, Scope};
use crate::value::Kind;

/// Rows that stand for the distribution of the data.
pub static REFERENCE: OptionEntry = OptionEntry {
    name: "reference",
    placeholder: "FILE",
    takes: Kind::Files,
    group: Group::Rows,
    help: "Rows that stand for the distribution of the data; repeat for several files",
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
    help: "Rows that measure what sets are worth; repeat for several files",
    details: "They need the columns of the reference.",
    default: "",
    daily: false,
    scope: Scope::MethodFit,
};

pub(super) const ALL: &[&OptionEntry] = &[&REFERENCE, &TEST];
