//! What was asked, as a request, and the passes over the data that carry it out.
//!
//! Front ends fill in a request, watch through an [`Observer`] and take the
//! rows through a [`Receiver`]. Everything between is here, so that the command
//! line and every other front end compute the same bits.
//!
//! ```text
//! ValueRequest ──▶ survey? ──▶ moments ──▶ fit, valuer ──▶ values ──▶ Receiver
//!                  (text)      or steps      │    ▲        last pass   + Summary
//! FitRequest   ──▶ the same passes ──▶ SavedValuer: saved, updated, merged, inspected
//! ```
//!
//! Nothing here prints or knows flags.

mod baseline;
mod checkpoint;
mod choice;
mod dense;
mod density_choice;
mod density_facts;
mod error;
mod evaluate;
mod fit;
mod fitted;
mod formula;
mod general;
mod inspect;
mod look;
mod memory;
mod merge_densities;
mod neighbour_choice;
mod neighbour_facts;
mod neighbours;
mod observer;
mod output;
mod overwriting;
mod passes;
mod ready;
mod receiver;
mod reference;
mod request;
mod said;
mod sample;
mod saved;
mod second_order_choice;
mod sets;
mod summary;
mod value;
mod warnings;

pub use baseline::{
    Baseline, BaselineChoice, BaselineRequest, BaselineSummary, BaselineTables, UtilityName,
    value_by_baseline, value_tables_by_baseline,
};
pub use choice::{MethodChoice, MethodName, parse_constant};
pub use density_choice::{DEFAULT_SAMPLES, DensityChoice, parse_bandwidth};
pub use density_facts::DensityFacts;
pub use error::Error;
pub use evaluate::{
    AnyMethod, BenchRequest, Compared, Comparison, Evaluation, GivenCurves, GivenValues, MethodResult, Pair,
    Timed, Trial, compare, curves_of, evaluate,
};
pub use fit::{Fitted, fit, fit_source, fit_with_test, merge, merge_valuers, update, update_valuer};
pub use formula::{
    BoundCase, BoundForms, ClassificationCase, ClassificationForms, DensityCase, RegressionCase,
    RegressionForms, SynergyForms, bound_cases, classification_cases, density_cases, regression_cases,
};
pub use inspect::{ColumnFacts, Inspection, inspect};
pub use look::guess_task;
pub use memory::held_bytes;
pub use neighbour_choice::{DEFAULT_TESTS, NeighbourChoice, parse_metric};
pub use neighbour_facts::NeighbourFacts;
pub use observer::{Observer, Stage, Unwatched};
pub use ready::{How, Ready, Valued};
pub use receiver::{Arrange, Collected, Receiver, Written};
pub use request::{
    Against, CheckpointFile, FitRequest, MergeRequest, Method, Model, Overrides, Resources, SetsRequest,
    SizeChoice, Task, UpdateRequest, ValueRequest,
};
pub use said::Said;
pub use saved::{Action, FORMAT_VERSION, SavedValuer, Step};
pub use second_order_choice::{
    SPREADS, SecondOrder, SecondOrderFacts, SecondOrderSaid, Shift, UTILITIES, parse_shift,
};
pub use summary::{ClassFacts, ComponentFacts, ExtraPass, Facts, FitSummary, InputFile, Spread, Summary};
pub use value::value;
