//! Tables in files and in memory, fitted and valued from end to end.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the message")]

mod classification;
mod common;
mod components;
mod density;
mod density_sets;
mod ending_early;
mod fuzz;
mod in_memory;
mod neighbours;
mod properties;
mod rare_levels;
mod real_data;
mod second_order;
mod spread;
mod valuers;
