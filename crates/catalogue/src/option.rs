//! One option.

use crate::value::{Kind, Value};
use serde::Serialize;

/// An option, described once for every front end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OptionEntry {
    /// Its name, with underscores: `small_ridge`.
    pub name: &'static str,
    /// What stands for its value in help: `G`, `FILE`.
    pub placeholder: &'static str,
    /// The values it takes.
    #[serde(flatten)]
    pub takes: Kind,
    /// Where help lists it.
    pub group: Group,
    /// One line that stands alone.
    pub help: &'static str,
    /// What else there is to know; may be empty.
    pub details: &'static str,
    /// The default in words; empty if there is none or methods differ.
    pub default: &'static str,
    /// Whether it is among the few that short help lists.
    pub daily: bool,
    /// Who has a say.
    pub scope: Scope,
}

/// Whether an option goes with every method, and whether a saved valuer settles it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Goes with every method, each time rows are valued.
    Always,
    /// Goes with every method; a saved valuer settled it when it was fitted.
    Fit,
    /// Goes with the methods that list it, each time rows are valued.
    Method,
    /// Goes with the methods that list it; a saved valuer settled it when it was
    /// fitted.
    MethodFit,
}

impl OptionEntry {
    /// Whether only methods that list it take it.
    pub fn is_of_methods(&self) -> bool {
        matches!(self.scope, Scope::Method | Scope::MethodFit)
    }

    /// Whether a saved valuer settles it.
    pub fn is_fixed_by_valuer(&self) -> bool {
        matches!(self.scope, Scope::Fit | Scope::MethodFit)
    }

    /// The value that a text stands for, or what was expected.
    ///
    /// # Errors
    ///
    /// What a value has to be.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        self.takes.parse(text).ok_or_else(|| format!("expected {}", self.takes.expected()))
    }
}

/// A group of options, as help lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Which rows.
    Rows,
    /// Which column plays which role.
    Columns,
    /// The method, the fit and the set sizes.
    Method,
    /// Methods that draw.
    Draws,
    /// Classification by refitted models.
    SecondOrder,
    /// Kernel density estimates.
    Density,
    /// Nearest neighbours.
    Neighbours,
    /// Several methods on one table.
    Trial,
    /// Owners of rows.
    Owners,
    /// What owners are paid.
    Payout,
    /// What is written, and where.
    Output,
    /// Threads, memory, messages.
    Run,
}

impl Group {
    /// All of them, in the order of help.
    pub const ALL: [Group; 12] = [
        Group::Rows,
        Group::Columns,
        Group::Method,
        Group::Draws,
        Group::SecondOrder,
        Group::Density,
        Group::Neighbours,
        Group::Trial,
        Group::Owners,
        Group::Payout,
        Group::Output,
        Group::Run,
    ];

    /// The heading in help.
    pub fn heading(self) -> &'static str {
        match self {
            Group::Rows => "Rows",
            Group::Columns => "Columns",
            Group::Method => "Method",
            Group::Draws => "Methods that draw",
            Group::SecondOrder => "Refitted classifiers (second-order)",
            Group::Density => "Density",
            Group::Neighbours => "Nearest neighbours",
            Group::Trial => "Trial",
            Group::Owners => "Owners",
            Group::Payout => "Payout",
            Group::Output => "Output",
            Group::Run => "Run",
        }
    }
}
