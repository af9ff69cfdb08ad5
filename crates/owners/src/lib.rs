//! What each owner of rows is worth, and who is paid what.
//!
//! ```text
//! OwnersRequest ──▶ Market: tables, design, owners ──▶ game of a family ──▶ Solved
//!                                                        │                   │
//!                   row values, duplicates ──▶ Report ◀──┴── contributions ◀─┘
//!                                                │
//!                               payout ◀── table or JSON ──▶ Manifest ──▶ verify
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `request.rs` | what is asked |
//! | `report.rs`, `table.rs` | what was found, and as a table |
//! | `run.rs` | the steps, in order |
//! | `market.rs`, `roster.rs` | open tables and their design; owners and their names |
//! | `sums.rs` | moments of owners, fold by fold |
//! | `regression.rs` | the game of a regression: moments only |
//! | `held.rs` | the games of classification, neighbours and densities: rows in memory |
//! | `copies.rs`, `near.rs` | rows that occur more than once; rows that are nearly the same |
//! | `solve.rs` | a game solved, exactly or by random orders |
//! | `explain.rs` | contributions to test rows on their way out |
//! | `row_values.rs` | values of single rows, summed by owner |
//! | `saved.rs` | owners that were valued before, read again |
//! | `joint.rs` | the value of all rows of an owner together |
//! | `payout.rs`, `paid_for.rs`, `amount.rs` | a budget divided; what is paid for; exact amounts |
//! | `manifest.rs`, `seal.rs` | receipts, and whether they are right; whether a result was edited |
//!
//! The arithmetic is in `dshap::owners`. Nothing here prints, and nothing knows how a
//! front end spells an option.

mod amount;
mod copies;
mod explain;
mod held;
mod joint;
mod manifest;
mod market;
mod near;
mod own_values;
mod paid_for;
mod payout;
mod regression;
mod report;
mod request;
mod roster;
mod row_values;
mod run;
mod saved;
mod seal;
mod solve;
mod sums;
mod table;

pub use manifest::{MOST_DIFFERENCES, Manifest};
pub use payout::{Payout, PayoutLine, PayoutRequest, payout, payout_of};
pub use report::{AtSize, Interaction, Measured, OwnerLine, Report, SharedRows, Solving};
pub use request::{OpenTables, OwnersRequest};
pub use run::{owners, owners_of, owners_of_valuer};
pub use saved::{SavedOwners, holds_owners};
