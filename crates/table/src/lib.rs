//! From raw columns to a design matrix.
mod raw;
pub use raw::{Kind, RawColumn, RawSchema, ReadAs, Wanted};
