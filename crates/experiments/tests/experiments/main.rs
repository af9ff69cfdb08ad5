//! The paper's experiments and their datasets.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod closed_figures;
mod common;
mod datasets;
mod point_addition;
mod resumed;
mod times;
