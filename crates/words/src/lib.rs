//! Sentences for people.
//!
//! Crates below the front ends report facts: errors, warnings and hints are enums
//! with fields. This crate turns each fact into one sentence, for every front end.
//! What the user typed is spelled by a [`Speech`], which each front end implements.
//!
//! | file | facts of |
//! |---|---|
//! | `core_words.rs` | `dshap`: errors and warnings of the arithmetic |
//! | `table_words.rs` | `dshap-table`: columns that cannot become a design |
//! | `io_words.rs` | `dshap-io`: files that cannot be read or written |
//! | `note_words.rs` | `dshap-io`: what a reader noticed about a file |
//! | `engine_words.rs` | `dshap-models`, `dshap-catalogue`: runs, warnings, options that do not go together |
//! | `run_words/` | `dshap-run`: what ran, in lines |
//! | `explain_words.rs` | `dshap-models`: why a row is worth what it is worth |
//! | `numbers.rs` | numbers to a few digits, counts of things |
//! | `owners_words.rs` | `dshap-models`: owners, payouts and receipts |
//! | `visible.rs` | characters that are shown as escapes |
//! | `experiment_words.rs` | `dshap-experiments`, with the feature `experiments` |

mod cleaning_words;
mod core_words;
mod engine_words;
#[cfg(feature = "experiments")]
mod experiment_words;
mod explain_words;
mod io_words;
mod listing;
mod note_words;
mod numbers;
mod owners_words;
pub mod run_words;
mod shortened;
mod speech;
mod table_words;
#[cfg(test)]
mod test_speech;
mod trial_words;
mod visible;

pub use cleaning_words::{clean_action, clean_flagged, clean_reason, clean_verdict, percent};
pub use core_words::{core_error, core_hint, core_warning};
pub use engine_words::misuse;
#[cfg(feature = "experiments")]
pub use experiment_words::{experiment_error, experiment_hint};
pub use explain_words::explanation;
pub use io_words::{container_error, container_hint, io_error, io_hint};
pub use note_words::io_note;
pub use numbers::{counted, grouped, quartiles, significant};
pub use owners_words::{difference, share_of_draws};
pub use speech::{Speech, in_shell};
pub use table_words::{table_error, table_error_at, table_hint};
pub use trial_words::{comparison_verdict, evaluation_verdict};
pub use visible::{is_hidden, visible, visible_lines};

use dshap_models::{Error, Warning};
use shortened::shortened;

/// What is wrong with a run.
pub fn error(error: &Error, speech: &dyn Speech) -> String {
    shortened(engine_words::error(error, speech))
}

/// What is wrong, and what to do about it, in one sentence.
pub fn error_with_hint(error: &Error, speech: &dyn Speech) -> String {
    shortened(engine_words::with_hint(error, speech))
}

/// What to do about it.
pub fn hint(error: &Error, speech: &dyn Speech) -> Option<String> {
    engine_words::hint(error, speech).map(shortened)
}

/// What is doubtful about a result that was computed all the same.
pub fn warning(warning: &Warning, speech: &dyn Speech) -> String {
    shortened(engine_words::warning(warning, speech))
}
