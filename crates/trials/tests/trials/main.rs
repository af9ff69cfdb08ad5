//! Methods tried side by side on tables whose answers are known.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod common;
mod comparisons;
mod evaluations;
mod given_values;
mod measures;
