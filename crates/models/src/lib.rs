//! What each method fits to a reference, how it values rows, and the valuer file.
//!
//! ```text
//! Given ──▶ How ──▶ learn(Reference) ──▶ Model ──▶ RowValuer ──▶ Values
//!                                          │ ▲
//!                                          ▼ │
//!                                       valuer file
//! ```
//!
//! A [`Method`] is described and made in one file of `methods/`. A family of
//! methods shares a [`Model`]: its fit, its facts and its part of the valuer file
//! live in one folder. Where rows come from is not known here: a [`Reference`]
//! hands them out.
//!
//! | folder or file | holds |
//! |---|---|
//! | `methods/` | all methods, one file each |
//! | `method.rs`, `how.rs` | a method; a method with its settings |
//! | `model.rs` | the trait of what is fitted |
//! | `linear/` | regression: moments and least squares |
//! | `logistic/` | classification: a logistic fit, or one for each class |
//! | `second_order/` | classification by models refitted on each set |
//! | `density/` | a smoothed reference |
//! | `neighbours/` | nearest neighbours: reference and test rows |
//! | `sets/` | baselines: models fitted to sets of rows |
//! | `row_valuer.rs` | what values the points of a run |
//! | `reference.rs`, `observer.rs` | rows to learn from; who watches |
//! | `valuer.rs`, `facts.rs`, `file/` | a fitted valuer, what is known of it, its file |
//! | `error.rs`, `warning.rs` | facts about what went wrong or is doubtful |

pub mod density;
pub mod linear;
pub mod logistic;
pub mod methods;
pub mod neighbours;
pub mod second_order;
pub mod sets;

mod columns;
mod error;
mod explanation;
mod facts;
mod file;
mod held_rows;
mod how;
mod in_memory;
mod kept_tests;
mod learn;
mod levels;
mod method;
mod model;
mod observer;
mod owner_moments;
mod owners_facts;
mod reference;
mod reservoir;
mod row_valuer;
mod sample;
mod sizes;
mod valuer;
mod warning;

pub use columns::{ColumnStats, ColumnSums};
pub use density::DensityFacts;
pub use error::{CheckpointDifference, Error, Fixed, MergeConflict, NeighbourSizesFault, Remedies};
pub use explanation::{
    Cell, Deviations, DistanceFacts, DistanceKind, FeatureFacts, NearRow, NearestAmong, NearestRows, Rank,
    RowExplanation, TargetFacts,
};
pub use facts::{ComponentFacts, Facts};
pub use file::{
    Action, Arrays, Document, FORMAT_VERSION, InputFile, Reading, Step, files_in, forgotten_again, repeated,
};
pub use held_rows::{HeldRows, slice_of};
pub use how::{AUTOMATIC_RIDGE, How, LogisticRidge, SizeChoice};
pub use in_memory::{HeldReference, value_each_other};
pub use kept_tests::{KeptTests, TestFacts};
pub use learn::learn;
pub use levels::levels_beyond;
pub use logistic::ClassFacts;
pub use method::{MakeLinear, MakeLogistic, MakeOfClass, MakeRows, MakeWhole, Makes, Method};
pub use model::{Ask, Extras, Learned, Model};
pub use neighbours::NeighbourFacts;
pub use observer::{Observer, Quiet, Stage, Unwatched};
pub use owner_moments::OwnerMoments;
pub use owners_facts::{Difference, OwnersFault, OwnersWarning};
pub use reference::{EachRows, ExtraPass, Pass, Reference, RowCounts, Share, Sums};
pub use reservoir::{NumberedSample, Reservoir};
pub use row_valuer::{CoreRows, Iterations, Outcome, RowValuer, WantsRows};
pub use sample::{LabelSample, RowSample, SampleCounts};
pub use sizes::DefaultQ;
pub use valuer::FittedValuer;
pub use warning::{Lack, RareCure, RowRole, Warning};
