//! Every option and every method, described once.
//!
//! An [`OptionEntry`] says what an option is called, what it may be and what it
//! means; a [`MethodEntry`] says which options a method takes and what its values
//! come with. The flags and help of the command line, the parameters of Python,
//! the checks of what goes with what, and the tables of the documentation are all
//! made from these entries.
//!
//! ```text
//! front end ──▶ Given ──▶ check(method, task) ──▶ settled Given ──▶ models
//!               what was   or a Misuse             with defaults
//!               given
//! ```
//!
//! Entries hold names (`metric`), never spellings (`--metric`, `metric=`): only
//! front ends write those. Texts name options as `{metric}` and settings as
//! `{metric=cosine}`; [`spelled`] asks the front end for the spelling.
//!
//! | file | holds |
//! |---|---|
//! | `task.rs` | what is predicted |
//! | `value.rs` | the value of an option, and what values an option takes |
//! | `option.rs` | `OptionEntry`: one option |
//! | `options/` | all options, by group |
//! | `given.rs` | `Given`: the options as given, before a method is chosen |
//! | `method.rs` | `MethodEntry`: one method |
//! | `parts.rs` | the parts that values of a method come with |
//! | `check.rs` | what goes with what |
//! | `markup.rs` | `{metric}` in texts |
//!
//! The entries of the methods stand in `dshap-models`, one file for each method,
//! beside the code that makes its valuer.

pub mod options;

mod check;
mod given;
mod markup;
mod method;
mod option;
mod parts;
mod task;
mod value;

pub use check::{Misuse, check, check_pairs, check_several, takers};
pub use given::Given;
pub use markup::spelled;
pub use method::{Default, Measures, MethodEntry, MethodKind, Rule, Takes};
pub use option::{Group, OptionEntry, Scope};
pub use parts::Parts;
pub use task::Task;
pub use value::{Kind, Setting, Value, Word};
