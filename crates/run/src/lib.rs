//! The passes over the data.
//!
//! Front ends fill in a request, watch through an [`Observer`] and take the rows
//! through a [`Receiver`]. Everything between is here, so that the command line
//! and every other front end compute the same bits.
//!
//! ```text
//! ValueRequest ──▶ prepare: design ──▶ fit ──▶ row valuer
//!                                               │
//!                  points: select, encode ──▶ values ──▶ output ──▶ Receiver, Summary
//!                  and carry                per batch, block or all at once
//!
//! FitRequest ──▶ design ──▶ fit ──▶ FittedValuer ──▶ update, merge, inspect
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `request.rs`, `settings.rs` | what is asked; options about columns |
//! | `guess.rs`, `design.rs` | the task; how columns become numbers |
//! | `table.rs`, `scan.rs`, `in_place.rs` | rows of a table, read in passes or used in place |
//! | `memory.rs`, `checkpoint.rs` | limits; the state of a fit that was killed |
//! | `fit.rs`, `change.rs`, `inspect.rs` | fit; update and merge; what a valuer holds |
//! | `value.rs`, `prepare.rs`, `points.rs`, `queue.rs`, `slices.rs` | the pipeline of `value` |
//! | `look.rs`, `set_aside.rs` | columns and all problems of a table; columns that are no features |
//! | `explain/` | why rows are worth what they are worth |
//! | `several_sizes.rs`, `sets.rs` | several `m` at once; sets of rows instead of rows |
//! | `output.rs`, `receiver.rs`, `summary.rs`, `quality.rs`, `run_warnings.rs`, `file_warnings.rs` | what comes out |
//! | `held_valuer.rs`, `held_table.rs` | valuers and tables in memory |
//! | `named.rs`, `owner_sums.rs`, `noise_parts.rs` | rows beside the names of their owners; moments by owner in a valuer; how residuals vary when the reference changes |
//! | `spread/` | fits whose rows lie on several machines |
//! | `formula/` | the closed forms for given numbers |
//!
//! Nothing here prints, and nothing knows how a front end spells an option.

mod at;
mod change;
mod checkpoint;
mod design;
mod explain;
mod file_warnings;
mod fit;
mod formula;
mod guess;
mod held_table;
mod held_valuer;
mod in_place;
mod inputs;
mod inspect;
mod look;
mod memory;
mod named;
mod noise_parts;
mod output;
mod owner_sums;
mod points;
mod prepare;
mod quality;
mod queue;
mod receiver;
mod request;
mod run_warnings;
mod scan;
mod set_aside;
mod sets;
mod settings;
mod several_sizes;
mod slices;
mod spread;
mod summary;
mod table;
mod teach;
mod value;

pub use change::{merge, merge_valuers, update, update_valuer};
pub use dshap_models::{
    Action, ClassFacts, ComponentFacts, DensityFacts, Error, ExtraPass, FORMAT_VERSION, Facts, FittedValuer,
    How, InputFile, Method, NeighbourFacts, Observer, Quiet, SizeChoice, Stage, Step, Unwatched, Warning,
    methods,
};
pub use explain::{Explained, explain};
pub use fit::{Fitted, Tables, fit, fit_tables};
pub use formula::{
    BoundCase, BoundForms, ClassificationCase, ClassificationForms, DensityCase, PairForms, RegressionCase,
    RegressionForms, SizeForms, SynergyForms, bound_cases, classification_cases, density_cases,
    density_constant, regression_cases,
};
pub use guess::{guess_task, settle_task};
pub use held_table::{HeldPlace, HeldTable};
pub use held_valuer::{ReadyValuer, Valued, Wanted, value_tables};
pub use inputs::{open, open_given};
pub use inspect::{ColumnFacts, Inspection, OwnersHeld, inspect};
pub use look::{ColumnLook, ColumnRole, Look, Problem, look, look_first, of_files as all_problems};
pub use memory::held_bytes;
pub use named::{NamedDesign, NamedRows, NamedTable, OpenValuer, check_memory, value_open};
pub use output::{NOTE, free_name, note_column};
pub use quality::{LabelQuality, StandingOut, quantile};
pub use receiver::{Arrange, Collected, Receiver, Written};
pub use request::{CheckpointFile, FitRequest, MergeRequest, Resources, UpdateRequest, ValueRequest};
pub use settings::reading;
pub use several_sizes::SizesUsed;
pub use spread::{GroupPlace, NextPass, SpreadFit, Work, merge_parts};
pub use summary::{FitSummary, Spread, Summary};
pub use teach::{TeachRequest, TeachSummary, teach};
pub use value::value;
