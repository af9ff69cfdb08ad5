//! Fits whose rows lie on several machines.
//!
//! ```text
//! SpreadFit::plan ──▶ bytes ──▶ Work on each machine: rows ──▶ part
//!        ▲                                                      │ merge_parts, anywhere
//!        └───────────────── SpreadFit::take ◀───────────────────┘
//! ```
//!
//! The driver plans a pass. Each machine sums its rows and hands over a part, which has the
//! size of the sums and not of the rows. Parts are merged in any tree, and the driver goes
//! on with the whole. It never sees a row, except those that a method keeps: nearest
//! neighbours all of them, densities a sample.
//!
//! Rows that are numbered give the bits of one machine: they come in groups of whole
//! blocks of 4096, and parts are merged like the digits of a binary counter. Other rows are
//! merged in the order of their partitions.
//!
//! | file | holds |
//! |---|---|
//! | `pass.rs` | what a pass sums, as bytes |
//! | `work.rs` | the sums of some rows |
//! | `sums.rs` | sums of every kind of pass, merged |
//! | `part.rs` | sums with their place in the table, as bytes |
//! | `fit.rs` | the driver: from pass to pass to a valuer |

mod fit;
mod part;
mod pass;
mod sums;
mod work;

pub use fit::{NextPass, SpreadFit};
pub use part::merge_parts;
pub use work::{GroupPlace, Work};

use dshap_models::Error;

fn bad(what: impl Into<String>) -> Error {
    Error::BadPart { what: what.into() }
}
