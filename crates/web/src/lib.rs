//! The local web application, and the same as JSON.
//!
//! ```text
//! request ──▶ guard ──▶ operations ──▶ store: tables and valuers
//!             Host,     one entry      runs: waiting, running, done ──▶ dshap_run::value
//!             Origin,   per path       held: rows to page, chart and compare
//!             token
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `settings.rs` | address, folders and limits |
//! | `server.rs` | listens, and ends in order |
//! | `guard.rs` | which requests are answered at all; headers of every reply |
//! | `operations.rs`, `openapi.rs` | every path once: its handler, its types, its description |
//! | `handlers/` | one file for each kind of thing |
//! | `wire.rs` | what goes over the wire |
//! | `problem.rs`, `speech.rs` | errors as replies, in the words of a form |
//! | `store.rs` | tables and valuers in two folders, and nothing outside them |
//! | `why.rs` | why a row has its value, in the words of `dshap explain`; the whole report |
//! | `look.rs` | the columns of a table, at a glance |
//! | `form.rs` | options of the catalogue, as JSON gives them |
//! | `runs.rs`, `watch.rs`, `work.rs` | runs and their queue; progress and limits; what one run does |
//! | `kept.rs` | finished runs in a folder |
//! | `held.rs`, `query.rs`, `charts.rs`, `compare.rs`, `owners.rs` | rows of a finished run, and views of them |
//! | `valuers.rs` | saved valuers that are ready to value rows |
//! | `theory.rs` | curves of Theorem 2 |
//! | `assets/` | the pages: HTML, style and script, part of the program |
//!
//! There is no arithmetic on values here, and a page never needs a network.

mod charts;
mod compare;
mod form;
mod guard;
mod handlers;
mod held;
mod kept;
mod look;
mod openapi;
mod operations;
mod owners;
mod problem;
mod query;
mod runs;
mod server;
mod settings;
mod speech;
mod store;
mod theory;
mod valuers;
mod watch;
mod why;
mod wire;
mod work;

pub use server::{Server, StartError};
pub use settings::{Limits, Settings};
