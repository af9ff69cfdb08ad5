//! Baselines over any utility.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod agree_with_core;
mod axioms;
mod chance;
mod common;
mod enumeration;
mod inputs;
mod together;
mod utilities;
