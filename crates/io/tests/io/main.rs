//! Files in and out.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod atomic;
mod categories;
mod changes;
mod common;
mod csv;
mod fuzz;
mod interrupt;
mod ipc;
mod judge;
mod kept;
mod late;
mod memory;
mod ndjson;
mod npy;
mod overhead;
mod parquet;
mod polluted;
mod reading;
mod round_trips;
mod sink;
mod skip;
