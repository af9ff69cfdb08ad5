//! From raw columns to a design matrix.
//!
//! ```text
//! RawSchema + Selection ──▶ Roles ──▶ Survey ──▶ Design ──encode──▶ Encoded (x, y)
//!  what the file has         which     levels     learned once on    numbers only
//!  what the user named       is what   and means  the reference
//! ```
//!
//! A [`Design`] is learned on the reference and then applied, unchanged, to any other
//! rows: text columns become one-hot columns without their first level, booleans
//! become 0 and 1, and missing cells are handled by a policy. This crate knows no
//! files and no methods. Errors carry column names and row numbers within the batch;
//! the reader of the batch turns rows into lines.

mod block_sum;
mod dates;
mod design;
mod error;
mod labels;
mod merge;
mod names;
mod projection;
mod raw;
mod roles;
mod spelling;
mod suggest;
mod survey;

pub use dates::{DatesAs, date_text, days_of};
pub use design::{Design, DesignParts, Encoded, Encoding, Missing, Pooled, Unseen};
pub use error::{Difference, Error, Role, UnknownLabel};
pub use labels::Labels;
pub use merge::{Derived, MergedDesign};
pub use names::Names;
pub use projection::Projection;
pub use raw::{Kind, RawColumn, RawSchema, ReadAs, Wanted};
pub use roles::{Roles, Selection, TargetAs};
pub use spelling::{spelled, spelled_number};
pub use suggest::closest;
pub use survey::Survey;
